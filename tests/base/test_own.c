/*
 * What may be replaced of files that a user names: only what leat wrote, as a file of the same
 * kind; nothing that appears while the new file is written.
 */
#include "base/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"

static char folder[] = "/tmp/leat-own-XXXXXX";

static const char *in_folder(const char *name) {
    static char texts[8][512];
    static int next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "%s/%s", folder, name);
    return text;
}

static int setup(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(folder, NULL) != LEAT_OK;
}

static void put(const char *path, const char *text) {
    assert_ok(leat_file_save(path, text, (int64_t)strlen(text), err));
}

static void expect(const char *path, const char *text) {
    uint8_t *bytes = NULL;
    int64_t size = 0;
    assert_ok(leat_file_load(path, 4096, &bytes, &size, err));
    assert_string_equal((const char *)bytes, text);
    leat_free(bytes);
}

/* No draft is left, and no other file. */
static void expect_files(const char *path, int64_t count) {
    leat_path_list names = {0};
    assert_ok(leat_path_list_dir(path, &names, err));
    assert_int_equal(names.count, count);
    leat_path_list_free(&names);
}

#define PAGE LEAT_MARK_PAGE_BEGINS "<html lang=\"en\">\n"
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define PNG_HEAD "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0crc4"

static void marks(void **state) {
    (void)state;
#define BYTES(text) text, sizeof text - 1
    static const struct {
        const char *bytes;
        int64_t size;
        leat_mark mark;
    } cases[] = {
        {BYTES(""), LEAT_MARK_NONE},
        {BYTES(PAGE), LEAT_MARK_PAGE},
        {BYTES(LEAT_MARK_PAGE_BEGINS), LEAT_MARK_PAGE},
        {LEAT_MARK_PAGE_BEGINS, sizeof LEAT_MARK_PAGE_BEGINS - 2, LEAT_MARK_NONE},
        {BYTES("<!DOCTYPE html>\n<html>\n<!-- Written by leat. -->\n"), LEAT_MARK_NONE},
        {BYTES(" " PAGE), LEAT_MARK_NONE},
        {BYTES(LEAT_MARK_FIGURE_BEGINS ZEROS " -->\n<svg>"), LEAT_MARK_FIGURE},
        {BYTES("<svg><!-- Written by leat. -->"), LEAT_MARK_NONE},
        {BYTES("{\"format\":\"leat.state\",\"v\":1}"), LEAT_MARK_STATE},
        {BYTES("{\"format\":\"leat.states\",\"v\":1}"), LEAT_MARK_NONE},
        {BYTES("{\"v\":1,\"format\":\"leat.state\"}"), LEAT_MARK_NONE},
        {BYTES(PNG_HEAD "\0\0\0\rtEXtSoftware\0leatcrc4"), LEAT_MARK_PNG},
        {BYTES(PNG_HEAD "\0\0\0\rtEXtSoftware\0gimpcrc4"), LEAT_MARK_NONE},
        {BYTES(PNG_HEAD "\0\0\0\x0etEXtSoftware\0leatscrc4"), LEAT_MARK_NONE},
        {BYTES(PNG_HEAD "\0\0\0\1IDAT"), LEAT_MARK_NONE},
        {BYTES("PAR1"), LEAT_MARK_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(leat_own_mark((const uint8_t *)cases[i].bytes, cases[i].size),
                         cases[i].mark);
}

/* Every kind over every kind: only its own is replaced. */
static void kinds(void **state) {
    (void)state;
    static const char *const texts[] = {[LEAT_MARK_NONE] = "mine",
                                        [LEAT_MARK_PAGE] = PAGE,
                                        [LEAT_MARK_FIGURE] = LEAT_MARK_FIGURE_BEGINS ZEROS " -->\n",
                                        [LEAT_MARK_STATE] = LEAT_MARK_STATE_BEGINS "}",
                                        [LEAT_MARK_CARD] = LEAT_MARK_CARD_BEGINS "tags:\n"};
    const char *path = in_folder("kinds");
    for (int there = LEAT_MARK_NONE; there <= LEAT_MARK_CARD; there++) {
        for (int mark = LEAT_MARK_NONE; mark <= LEAT_MARK_CARD; mark++) {
            leat_error err = {0};
            const bool own = there == mark && mark != LEAT_MARK_NONE;
            if (texts[there] == NULL) continue;
            put(path, texts[there]);
            const leat_code code = own ? LEAT_OK : LEAT_ERR_EXISTS;
            assert_int_equal(leat_text_can_save(path, (leat_mark)mark, false, &err), code);
            assert_int_equal(leat_text_save(path, "new", 3, (leat_mark)mark, false, &err), code);
            assert_true(own || strstr(err.message, "--replace to overwrite it") != NULL);
            expect(path, own ? "new" : texts[there]);
            assert_ok(leat_text_can_save(path, (leat_mark)mark, true, err));
            assert_ok(leat_text_save(path, "new", 3, (leat_mark)mark, true, err));
            expect(path, "new");
        }
    }
    leat_path_discard(path);
    expect_files(folder, 0);
}

/* What happens to the name while the new file is written. */
static void meanwhile(void **state) {
    (void)state;
    static const struct {
        const char *before, *after; /* NULL: there is no file */
        leat_code code;
    } cases[] = {
        {NULL, NULL, LEAT_OK},     {NULL, "mine", LEAT_ERR_EXISTS}, {NULL, PAGE, LEAT_OK},
        {PAGE, PAGE "x", LEAT_OK}, {PAGE, "mine", LEAT_ERR_EXISTS}, {PAGE, NULL, LEAT_OK},
    };
    const char *path = in_folder("meanwhile");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int replace = 0; replace < 2; replace++) {
            leat_file *file = NULL;
            leat_path_discard(path);
            if (cases[i].before != NULL) put(path, cases[i].before);
            assert_ok(leat_file_open_output(&file, path, LEAT_MARK_PAGE, replace, err));
            assert_ok(leat_file_pwrite(file, "new", 3, 0, err));
            leat_path_discard(path);
            if (cases[i].after != NULL) put(path, cases[i].after);
            const leat_code code = replace ? LEAT_OK : cases[i].code;
            assert_int_equal(leat_file_publish(file, true, NULL), code);
            leat_file_close(file);
            expect(path, code == LEAT_OK ? "new" : cases[i].after);
            expect_files(folder, 1);
        }
    }
    leat_path_discard(path);
}

/* A link stays one, and what it leads to counts; a dangling one is replaced itself. */
static void links(void **state) {
    (void)state;
    char link[512], target[512];
    struct stat found;
    snprintf(link, sizeof link, "%s", in_folder("link"));
    snprintf(target, sizeof target, "%s", in_folder("target"));
    assert_int_equal(symlink("target", link), 0);
    put(target, "mine");
    assert_int_equal(leat_text_save(link, "new", 3, LEAT_MARK_PAGE, false, NULL), LEAT_ERR_EXISTS);
    expect(target, "mine");
    put(target, PAGE);
    assert_ok(leat_text_save(link, "new", 3, LEAT_MARK_PAGE, false, err));
    expect(target, "new");
    assert_true(lstat(link, &found) == 0 && S_ISLNK(found.st_mode));
    leat_path_discard(target);
    assert_ok(leat_text_save(link, "new", 3, LEAT_MARK_PAGE, false, err));
    assert_true(lstat(link, &found) == 0 && S_ISREG(found.st_mode));
    leat_path_discard(link);
}

/* ---- folders of figures ---- */

static leat_code save_folder(const char *path, bool replace, const char *table, leat_error *err) {
    char figure[256], hex[65];
    leat_text_folder *figures = NULL;
    leat_text_sha256(table, (int64_t)strlen(table), hex);
    snprintf(figure, sizeof figure, LEAT_MARK_FIGURE_BEGINS "%s" LEAT_MARK_FIGURE_CONTINUES, hex);
    leat_code code = leat_text_folder_create(&figures, path, replace, err);
    if (code == LEAT_OK)
        code = leat_text_folder_add(figures, "f.svg", figure, (int64_t)strlen(figure), err);
    if (code == LEAT_OK)
        code = leat_text_folder_add(figures, "f.csv", table, (int64_t)strlen(table), err);
    if (code == LEAT_OK) code = leat_text_folder_publish(figures, err);
    leat_text_folder_destroy(figures);
    return code;
}

static void figures(void **state) {
    (void)state;
    char dir[512], file[600];
    static const char *const foreign[] = {"notes.txt", "f.csv", "f.svg", "g.csv", "g.svg"};
    snprintf(dir, sizeof dir, "%s", in_folder("figures"));
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        const bool ours = foreign[i][0] == 'f';
        snprintf(file, sizeof file, "%s/%s", dir, foreign[i]);
        assert_ok(save_folder(dir, false, "x,y\n1,2\n", err));
        assert_ok(save_folder(dir, false, "x,y\n3,4\n", err)); /* its own */
        put(file, "mine");
        assert_int_equal(save_folder(dir, false, "x,y\n5,6\n", NULL), LEAT_ERR_EXISTS);
        expect(file, "mine");
        expect_files(dir, ours ? 2 : 3);
        assert_ok(save_folder(dir, true, "x,y\n5,6\n", err));
        if (!ours) expect(file, "mine");
        else if (i == 1) expect(file, "x,y\n5,6\n");
        assert_ok(leat_path_remove_tree(dir, err));
    }
    expect_files(folder, 0);
}

/* A file that appears in the folder after it was checked. */
static void figures_meanwhile(void **state) {
    (void)state;
    static const char *const names[] = {"f.csv", "f.svg"};
    for (int i = 0; i < 2; i++) {
        char dir[512], file[600];
        leat_text_folder *figures = NULL;
        snprintf(dir, sizeof dir, "%s", in_folder("figures"));
        snprintf(file, sizeof file, "%s/%s", dir, names[i]);
        assert_ok(leat_path_make_dir(dir, err));
        assert_ok(leat_text_folder_create(&figures, dir, false, err));
        assert_ok(leat_text_folder_add(figures, names[i], "new", 3, err));
        put(file, "mine");
        assert_int_equal(leat_text_folder_publish(figures, NULL), LEAT_ERR_EXISTS);
        leat_text_folder_destroy(figures);
        expect(file, "mine");
        assert_ok(leat_path_remove_tree(dir, err));
    }
}

/* For what is shown to others: the file of this name itself, of a folder that is no link. */
static void within(void **state) {
    char dir[512], link[512];
    leat_file *file;
    int64_t size;
    (void)state;
    snprintf(dir, sizeof dir, "%s", in_folder("dir"));
    snprintf(link, sizeof link, "%s", in_folder("link"));
    assert_ok(leat_path_make_dir(dir, err));
    put(in_folder("dir/file"), "mine");
    assert_int_equal(mkfifo(in_folder("dir/pipe"), 0600), 0);
    assert_int_equal(symlink(in_folder("dir/file"), in_folder("dir/link")), 0);
    assert_int_equal(symlink(dir, link), 0);
    assert_ok(leat_file_open_within(&file, dir, "file", err));
    assert_ok(leat_file_size(file, &size, err));
    assert_int_equal(size, 4);
    leat_file_close(file);
    assert_fails(leat_file_open_within(&file, dir, "pipe", err), LEAT_ERR_INPUT, "dir/pipe");
    assert_fails(leat_file_open_within(&file, dir, "link", err), LEAT_ERR_INPUT, "is a link");
    assert_fails(leat_file_open_within(&file, link, "file", err), LEAT_ERR_INPUT, "is a link");
    assert_fails(leat_file_open_within(&file, dir, "none", err), LEAT_ERR_NOT_FOUND, "dir/none");
    assert_fails(leat_file_open_within(&file, in_folder("no"), "file", err), LEAT_ERR_NOT_FOUND,
                 "cannot open");
    assert_null(file);
}

/* What nobody writes to is not waited for. */
static void plain(void **state) {
    leat_file *file;
    (void)state;
    assert_fails(leat_file_open(&file, in_folder("dir/pipe"), LEAT_FILE_PLAIN, err), LEAT_ERR_INPUT,
                 "not a regular file");
    assert_null(file);
    assert_fails(leat_file_open(&file, in_folder("dir"), LEAT_FILE_PLAIN, err), LEAT_ERR_INPUT,
                 "not a regular file");
    assert_ok(leat_file_open(&file, in_folder("dir/link"), LEAT_FILE_PLAIN, err));
    leat_file_close(file);
    expect(in_folder("dir/pipe"), "");
    assert_ok(leat_path_remove_tree(in_folder("dir"), err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks),  cmocka_unit_test(kinds),   cmocka_unit_test(meanwhile),
        cmocka_unit_test(links),  cmocka_unit_test(figures), cmocka_unit_test(figures_meanwhile),
        cmocka_unit_test(within), cmocka_unit_test(plain),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
