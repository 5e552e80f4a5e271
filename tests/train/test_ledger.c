/* The ledger of a run: what is written comes back, every change of a line is found, and what a
 * killed process leaves is removed. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "train/run/ledger.h"
#include "train/run/run_reader.h"
#include "train_support.h"

/* A run of which only the folder counts. */
static leat_run run;
static char path[LEAT_PATH_BYTES];

static int setup(void **state) {
    (void)state;
    snprintf(run.folder.path, sizeof run.folder.path, "%s", train_path("ledger"));
    assert_ok(leat_path_make_dir(run.folder.path, err));
    assert_ok(leat_run_folder_join(&run.folder, LEAT_RUN_LEDGER, path, err));
    leat_path_discard(path);
    return 0;
}

static void add_unit(leat_ledger *ledger, const char *kind, int64_t step, int64_t unit) {
    leat_json *json = NULL;
    assert_ok(leat_ledger_begin(ledger, kind, &json, err));
    leat_json_member_int(json, "step", step);
    if (unit >= 0) leat_json_member_int(json, "unit", unit);
    assert_ok(leat_ledger_end(ledger, json, err));
}

static void add(leat_ledger *ledger, const char *kind, int64_t step) {
    add_unit(ledger, kind, step, -1);
}

/* A beginning, and steps of two units each. */
static void write_steps(int64_t first, int64_t last) {
    leat_ledger ledger;
    assert_ok(leat_ledger_open(&ledger, path, err));
    add(&ledger, "begin", first);
    assert_ok(leat_ledger_sync(&ledger, err));
    for (int64_t step = first; step <= last; step++) {
        add_unit(&ledger, "unit", step, 0);
        add_unit(&ledger, "refused", step, 1);
        add_unit(&ledger, "unit", step, 1);
        add(&ledger, "step", step);
        assert_ok(leat_ledger_sync(&ledger, err));
    }
    leat_ledger_close(&ledger);
}

static leat_run_ledger load(void) {
    leat_run_ledger found;
    assert_ok(leat_run_ledger_load(&run, &found, err));
    return found;
}

static void it_comes_back(void **state) {
    uint8_t *text = NULL, digest[32];
    int64_t size = 0;
    char hex[65];
    leat_sha256 sha;
    (void)state;
    assert_int_equal(load().lines, 0);
    assert_string_equal(load().head, "");
    write_steps(1, 3);
    write_steps(4, 5);
    const leat_run_ledger found = load();
    assert_int_equal(found.lines, 2 + 5 * 4);
    assert_int_equal(found.steps, 5);
    assert_int_equal(found.units, 10);
    assert_int_equal(found.refused, 5);
    /* the head is what sha256sum gives for the last line */
    assert_ok(leat_file_load(path, 1 << 20, &text, &size, err));
    int64_t last = size - 2;
    while (text[last] != '\n') last--;
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, text + last + 1, size - last - 1);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, hex);
    assert_string_equal(found.head, hex);
    assert_memory_equal(text, "{\"before\":\"0000", 15);
    leat_free(text);
}

static void expect(int64_t steps, int64_t units, int64_t repeated, int64_t refused) {
    const leat_run_ledger found = load();
    assert_int_equal(found.steps, steps);
    assert_int_equal(found.units, units);
    assert_int_equal(found.repeated, repeated);
    assert_int_equal(found.refused, refused);
}

/* Steps that are taken again, because a coordinator died, count once; a rewind takes steps back. */
static void each_unit_counts_once(void **state) {
    leat_ledger ledger;
    (void)state;
    write_steps(1, 11);
    expect(11, 22, 0, 11);
    write_steps(11, 12); /* killed before the commit of 11 */
    expect(12, 24, 2, 13);
    write_steps(12, 12);
    write_steps(12, 12); /* that three times */
    expect(12, 24, 6, 15);
    assert_ok(leat_ledger_open(&ledger, path, err));
    add(&ledger, "rewind", 9);
    assert_ok(leat_ledger_sync(&ledger, err));
    leat_ledger_close(&ledger);
    expect(9, 18, 0, 15);
    write_steps(10, 11);
    expect(11, 22, 0, 17);
}

static void a_line_without_its_place(void **state) {
    static const char *const kinds[] = {"unit", "step", "rewind"};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        leat_ledger ledger;
        leat_json *json = NULL;
        leat_run_ledger found;
        leat_error why = {0};
        leat_path_discard(path);
        assert_ok(leat_ledger_open(&ledger, path, err));
        assert_ok(leat_ledger_begin(&ledger, kinds[i], &json, err));
        assert_ok(leat_ledger_end(&ledger, json, err));
        assert_ok(leat_ledger_sync(&ledger, err));
        leat_ledger_close(&ledger);
        assert_int_equal(leat_run_ledger_load(&run, &found, &why), LEAT_ERR_CORRUPT);
        assert_non_null(strstr(why.message, "line 1 does not say"));
    }
}

/* Cut anywhere, the complete lines stay, and it goes on. */
static void cut_anywhere(void **state) {
    uint8_t *text = NULL;
    int64_t size = 0;
    (void)state;
    write_steps(1, 1);
    assert_ok(leat_file_load(path, 1 << 20, &text, &size, err));
    int64_t lines = 0;
    for (int64_t cut = 0; cut <= size; cut++) {
        assert_ok(leat_file_save(path, text, cut, err));
        if (cut > 0 && text[cut - 1] == '\n') lines++;
        assert_int_equal(load().lines, lines);
        write_steps(2, 1); /* a beginning alone */
        assert_int_equal(load().lines, lines + 1);
    }
    leat_free(text);
}

static void zeros_at_the_end(void **state) {
    static const uint8_t zeros[5000];
    leat_buf text = {0};
    uint8_t *there = NULL;
    int64_t size = 0;
    (void)state;
    write_steps(1, 1);
    const int64_t lines = load().lines;
    assert_ok(leat_file_load(path, 1 << 20, &there, &size, err));
    assert_ok(leat_buf_append(&text, there, size, err));
    assert_ok(leat_buf_append(&text, zeros, sizeof zeros, err));
    assert_ok(leat_buf_append(&text, "\n", 1, err));
    assert_ok(leat_file_save(path, text.data, text.size, err));
    write_steps(2, 1);
    assert_int_equal(load().lines, lines + 1);
    leat_buf_free(&text);
    leat_free(there);
}

static void refused(const uint8_t *text, int64_t size, const char *line) {
    leat_run_ledger found;
    leat_ledger ledger;
    leat_error err = {0};
    assert_int_equal(leat_file_save(path, text, size, &err), LEAT_OK);
    assert_int_equal(leat_run_ledger_load(&run, &found, &err), LEAT_ERR_CORRUPT);
    assert_non_null(strstr(err.message, line));
    assert_int_equal(found.lines, 0);
    assert_int_equal(leat_ledger_open(&ledger, path, &err), LEAT_ERR_CORRUPT);
    assert_null(ledger.file);
}

/* A file that is somebody else's, or a line that was added: nothing of it is removed. */
static void lines_of_others(void **state) {
    uint8_t *text = NULL;
    int64_t size = 0;
    leat_buf more = {0};
    (void)state;
    refused((const uint8_t *)"mine\n", 5, "line 1 ");
    leat_path_discard(path);
    write_steps(1, 1);
    assert_ok(leat_file_load(path, 1 << 20, &text, &size, err));
    assert_ok(leat_buf_append(&more, text, size, err));
    assert_ok(leat_buf_append(&more, "{\"kind\":\"unit\"}\n", 16, err));
    refused(more.data, more.size, "line 6 ");
    leat_path_facts facts;
    assert_ok(leat_path_stat(path, &facts, err));
    assert_int_equal(facts.size_bytes, more.size);
    leat_buf_free(&more);
    leat_free(text);
}

/* Any bit of any line but the last: the line itself, or the one after it, no longer fits. */
static void every_change_is_found(void **state) {
    uint8_t *text = NULL;
    int64_t size = 0;
    (void)state;
    write_steps(1, 1);
    assert_ok(leat_file_load(path, 1 << 20, &text, &size, err));
    int64_t last = size - 2;
    while (text[last] != '\n') last--;
    for (int64_t at = 0; at < last; at++) {
        for (int bit = 0; bit < 8; bit++) {
            text[at] ^= (uint8_t)(1 << bit);
            refused(text, size, "does not follow");
            text[at] ^= (uint8_t)(1 << bit);
        }
    }
    leat_free(text);
}

/* A line that is gone, or comes twice. */
static void lines_moved(void **state) {
    uint8_t *text = NULL;
    int64_t size = 0;
    (void)state;
    write_steps(1, 1);
    assert_ok(leat_file_load(path, 1 << 20, &text, &size, err));
    const int64_t first = (uint8_t *)memchr(text, '\n', (size_t)size) - text + 1;
    const int64_t second = (uint8_t *)memchr(text + first, '\n', (size_t)(size - first)) - text + 1;
    refused(text + first, size - first, "line 1 ");
    leat_buf twice = {0};
    assert_ok(leat_buf_append(&twice, text, second, err));
    assert_ok(leat_buf_append(&twice, text + first, size - first, err));
    refused(twice.data, twice.size, "line 3 ");
    memmove(text + first, text + second, (size_t)(size - second));
    refused(text, size - (second - first), "line 2 ");
    leat_buf_free(&twice);
    leat_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_comes_back, setup),
        cmocka_unit_test_setup(each_unit_counts_once, setup),
        cmocka_unit_test_setup(a_line_without_its_place, setup),
        cmocka_unit_test_setup(cut_anywhere, setup),
        cmocka_unit_test_setup(zeros_at_the_end, setup),
        cmocka_unit_test_setup(lines_of_others, setup),
        cmocka_unit_test_setup(every_change_is_found, setup),
        cmocka_unit_test_setup(lines_moved, setup),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
