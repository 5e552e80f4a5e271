/*
 * Files that appear whole or not at all: the names of their drafts, what is never touched on the
 * way, permissions, and what is left of those who were killed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#include "check.h"

static char folder[512];

static const char *in_folder(const char *name) {
    static char texts[8][1024];
    static int next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "%s/%s", folder, name);
    return text;
}

/* What a name stands for: the first file in it if it is a folder; "" if there is none. */
static const char *content_of(const char *path) {
    static char text[256];
    leat_path_facts facts;
    uint8_t *bytes = NULL;
    int64_t size_bytes = 0;
    char file[512];
    text[0] = 0;
    assert_ok(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return text;
    snprintf(file, sizeof file, "%s%s", path, facts.kind == LEAT_PATH_DIR ? "/file" : "");
    assert_ok(leat_file_load(file, sizeof text - 1, &bytes, &size_bytes, err));
    memcpy(text, bytes, (size_t)size_bytes + 1);
    leat_free(bytes);
    return text;
}

/* A name that is a link stays one: what it leads to is replaced. What is no file stays as it is. */
static void drafts_of_no_file(void **state) {
    (void)state;
    char link[300], target[300];
    struct stat found;
    leat_error err = {0};
    snprintf(link, sizeof link, "%s", in_folder("draft_link"));
    snprintf(target, sizeof target, "%s", in_folder("draft_target"));
    assert_ok(leat_file_save(target, "old", 3, err));
    assert_int_equal(symlink("draft_target", link), 0);
    assert_ok(leat_file_save(link, "new", 3, err));
    assert_true(lstat(link, &found) == 0 && S_ISLNK(found.st_mode));
    assert_string_equal(content_of(target), "new");
    assert_int_equal(unlink(link), 0);
    static const char *const others[] = {"draft_fifo", "draft_folder", "draft_device"};
    assert_int_equal(mkfifo(in_folder(others[0]), 0600), 0);
    assert_int_equal(mkdir(in_folder(others[1]), 0700), 0);
    assert_int_equal(symlink("/dev/null", in_folder(others[2])), 0);
    for (int i = 0; i < 3; i++) {
        const char *path = in_folder(others[i]);
        assert_int_equal(leat_file_save(path, "new", 3, &err), LEAT_ERR_EXISTS);
        assert_non_null(strstr(err.message, "give the path of a file to write"));
        assert_int_equal(leat_text_can_save(path, LEAT_MARK_NONE, true, NULL), LEAT_ERR_EXISTS);
        assert_true(stat(path, &found) == 0 && !S_ISREG(found.st_mode));
        leat_path_discard(in_folder(others[i]));
    }
}

/* What the draft in a folder holds, its name into `name`; NULL: there is none. */
static const char *draft_in(const char *folder, char name[300]) {
    leat_path_list names = {0};
    assert_ok(leat_path_list_dir(in_folder(folder), &names, err));
    name[0] = 0;
    for (int64_t i = 0; i < names.count; i++)
        if (names.paths[i][0] == '.') snprintf(name, 300, "%s", names.paths[i]);
    leat_path_list_free(&names);
    if (name[0] == 0) return NULL;
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return content_of(in_folder(path));
}

static void drafts(void **state) {
    (void)state;
    leat_file *file = NULL;
    char name[300];
    assert_ok(leat_path_make_dir(in_folder("drafts"), err));
    for (int durable = 0; durable < 2; durable++) {
        assert_ok(leat_file_save(in_folder("drafts/draft"), "old", 3, err));
        assert_ok(leat_file_open_draft(&file, in_folder("drafts/draft"), err));
        assert_ok(leat_file_pwrite(file, "new", 3, 0, err));
        assert_string_equal(content_of(in_folder("drafts/draft")), "old");
        assert_string_equal(draft_in("drafts", name), "new");
        assert_true(leat_path_is_draft(name));
        assert_ok(leat_file_publish(file, durable, err));
        assert_string_equal(leat_file_path(file), in_folder("drafts/draft"));
        leat_file_close(file);
        assert_string_equal(content_of(in_folder("drafts/draft")), "new");
        assert_null(draft_in("drafts", name));
    }
    /* closed before it is published, it is nowhere */
    assert_ok(leat_file_open_draft(&file, in_folder("drafts/draft"), err));
    assert_ok(leat_file_pwrite(file, "never", 5, 0, err));
    leat_file_close(file);
    assert_string_equal(content_of(in_folder("drafts/draft")), "new");
    assert_null(draft_in("drafts", name));
}

/* What has another file's name with ".tmp", the name that drafts once had, is not touched: not a
 * file, and not what a link of that name leads to. */
static void drafts_of_others(void **state) {
    (void)state;
    leat_file *file = NULL;
    assert_ok(leat_path_make_dir(in_folder("others"), err));
    assert_ok(leat_file_save(in_folder("others/a.tmp"), "mine", 4, err));
    assert_ok(leat_file_save(in_folder("others/precious"), "gold", 4, err));
    assert_int_equal(symlink("precious", in_folder("others/b.tmp")), 0);
    for (int i = 0; i < 2; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s", in_folder(i == 0 ? "others/a" : "others/b"));
        assert_ok(leat_file_save(path, "new", 3, err));
        assert_ok(leat_file_open_draft(&file, path, err));
        leat_file_close(file);
        assert_ok(leat_text_can_save(path, LEAT_MARK_NONE, true, err));
    }
    assert_string_equal(content_of(in_folder("others/a.tmp")), "mine");
    assert_string_equal(content_of(in_folder("others/precious")), "gold");
    /* a new file of ours takes a name from a link, and leaves alone what the link leads to */
    assert_ok(leat_file_open(&file, in_folder("others/b.tmp"), LEAT_FILE_CREATE, err));
    leat_file_close(file);
    assert_string_equal(content_of(in_folder("others/precious")), "gold");
    assert_int_equal(leat_file_open(&file, in_folder("others/.."), LEAT_FILE_CREATE, NULL),
                     LEAT_ERR_EXISTS);
}

/* Two who write one file at once do not meet; the last one has it. */
static void two_drafts(void **state) {
    (void)state;
    leat_file *files[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        assert_ok(leat_file_open_draft(&files[i], in_folder("two"), err));
        assert_ok(leat_file_pwrite(files[i], i == 0 ? "first" : "second", 5 + i, 0, err));
    }
    for (int i = 1; i >= 0; i--) {
        assert_ok(leat_file_publish(files[i], false, err));
        leat_file_close(files[i]);
        assert_string_equal(content_of(in_folder("two")), i == 0 ? "first" : "second");
    }
}

/* Asking whether a file could be written makes none. */
static void asking_touches_nothing(void **state) {
    (void)state;
    struct stat before, after;
    leat_error err = {0};
    assert_ok(leat_path_make_dir(in_folder("asked"), err));
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, in_folder("asked"), old, 0), 0);
    assert_int_equal(stat(in_folder("asked"), &before), 0);
    assert_ok(leat_text_can_save(in_folder("asked/page.html"), LEAT_MARK_NONE, true, err));
    assert_int_equal(stat(in_folder("asked"), &after), 0);
    assert_memory_equal(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim);
    assert_int_equal(
        leat_text_can_save(in_folder("asked/no/page.html"), LEAT_MARK_NONE, true, &err),
        LEAT_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "page.html"));
}

/* The longest name that a file system takes, in ASCII and in letters of three bytes. */
static void drafts_of_long_names(void **state) {
    (void)state;
    char name[300] = "long/";
    assert_ok(leat_path_make_dir(in_folder("long"), err));
    for (int i = 0; i < 2; i++) {
        memset(name + 5, 'x', 255);
        for (int k = 0; i == 1 && k < 85; k++) memcpy(name + 5 + 3 * k, "\xe2\x82\xac", 3);
        name[260] = 0;
        assert_ok(leat_file_save(in_folder(name), "x", 1, err));
        assert_string_equal(content_of(in_folder(name)), "x");
    }
    char draft[LEAT_PATH_BYTES];
    assert_ok(leat_path_draft(draft, name, err));
    assert_true(leat_text_clean(draft, (int64_t)strlen(draft)) == (int64_t)strlen(draft));
    name[260] = 'x';
    name[261] = 0;
    assert_int_equal(leat_text_can_save(in_folder(name), LEAT_MARK_NONE, true, NULL), LEAT_ERR_IO);
}

static mode_t mode_of(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 ? found.st_mode & 07777 : 0;
}

/* A new file has what the umask leaves, a file that is replaced keeps what it had, and few may read
 * it while it grows. */
static void permissions(void **state) {
    (void)state;
    static const mode_t modes[] = {0600, 0640, 0664, 0444};
    char path[600], name[300];
    snprintf(path, sizeof path, "%s", in_folder("rights/file"));
    mode_t umask_before = umask(0022);
    assert_ok(leat_path_make_dir(in_folder("rights"), err));
    assert_ok(leat_file_save(path, "x", 1, err));
    assert_int_equal(mode_of(path), 0644);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        leat_file *file = NULL;
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_ok(leat_file_open_draft(&file, path, err));
        assert_non_null(draft_in("rights", name));
        char draft[400];
        snprintf(draft, sizeof draft, "%s/%s", in_folder("rights"), name);
        assert_int_equal(mode_of(draft), 0600);
        assert_ok(leat_file_publish(file, false, err));
        leat_file_close(file);
        assert_int_equal(mode_of(path), modes[i]);
    }
    assert_int_equal(chmod(path, 0640), 0);
    assert_ok(leat_file_save(in_folder("rights/new"), "x", 1, err));
    leat_path_keep_access(in_folder("rights/new"), path);
    assert_int_equal(mode_of(in_folder("rights/new")), 0640);
    umask(umask_before);
}

static void leftover_drafts(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool is_draft;
    } cases[] = {
        {".a.leat-0123456789abcdef.tmp", true},
        {"..leat-0123456789abcdef.tmp", true},
        {"a.leat-0123456789abcdef.tmp", false},
        {".a.leat-0123456789abcdeF.tmp", false},
        {".a.leat-0123456789abcde.tmp", false},
        {".a.leat-0123456789abcdef.tmp2", false},
        {".a.leat-00123456789abcdef.tmp", false},
        {".leat-0123456789abcdef.tmp", false},
        {"a.tmp", false},
        {"", false},
    };
    leat_path_list names = {0};
    assert_ok(leat_path_make_dir(in_folder("left"), err));
    int others = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64];
        assert_int_equal(leat_path_is_draft(cases[i].name), cases[i].is_draft);
        if (cases[i].name[0] == 0) continue;
        snprintf(path, sizeof path, "left/%s", cases[i].name);
        assert_ok(leat_file_save(in_folder(path), "", 0, err));
        others += !cases[i].is_draft;
    }
    assert_ok(leat_path_remove_drafts(in_folder("left"), err));
    assert_ok(leat_path_list_dir(in_folder("left"), &names, err));
    assert_int_equal(names.count, others);
    leat_path_list_free(&names);
}

static void random_names(void **state) {
    (void)state;
    uint64_t numbers[64], all = 0, none = 0;
    for (int i = 0; i < 64; i++) {
        assert_ok(leat_random_u64(&numbers[i], err));
        all |= numbers[i];
        none |= ~numbers[i];
        for (int k = 0; k < i; k++) assert_true(numbers[i] != numbers[k]);
    }
    assert_true(all == UINT64_MAX && none == UINT64_MAX);
}

/* As many digits as there is room for, and all of them random. */
static void hexadecimal(void **state) {
    (void)state;
    for (int bytes = 1; bytes <= 41; bytes++) {
        char text[42], seen[40] = {0};
        for (int i = 0; i < 40; i++) {
            memset(text, '!', sizeof text);
            assert_ok(leat_random_hex(text, bytes, err));
            assert_int_equal(strspn(text, "0123456789abcdef"), bytes - 1);
            assert_int_equal(text[bytes - 1], 0);
            assert_int_equal(text[bytes], '!');
            for (int k = 0; k < bytes - 1; k++) seen[k] |= text[k] != '0';
        }
        for (int k = 0; k < bytes - 1; k++) assert_true(seen[k]);
    }
}

static int setup(void **state) {
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/leat-drafts-XXXXXX", base != NULL ? base : "/tmp");
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(folder, NULL) != LEAT_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drafts),
        cmocka_unit_test(drafts_of_no_file),
        cmocka_unit_test(drafts_of_others),
        cmocka_unit_test(two_drafts),
        cmocka_unit_test(asking_touches_nothing),
        cmocka_unit_test(drafts_of_long_names),
        cmocka_unit_test(permissions),
        cmocka_unit_test(leftover_drafts),
        cmocka_unit_test(random_names),
        cmocka_unit_test(hexadecimal),
    };
    return cmocka_run_group_tests_name("drafts", tests, setup, teardown);
}
