/*
 * Synthetic data with every allocation and every call into the file system failing in turn, once
 * and for good: an error each time, nothing half-written left, and success as soon as nothing
 * fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "leat/synth.h"
#include "points.h"

#define POINTS_MAX 2000

static leat_code write_once(const char *path, int64_t measurements, leat_error *err) {
    leat_synth_probes_options options = leat_synth_probes_options_default();
    leat_synth_probes_result result;
    options.measurements = measurements;
    options.probes = 100;
    options.rows_per_file = 1000;
    options.threads = 2;
    options.replace = true;
    leat_code code = leat_synth_probes(path, &options, &result, err);
    assert_int_equal(result.measurements, code == LEAT_OK ? measurements : 0);
    return code;
}

/* What is in the folder: nothing, or the output whole. */
static void check_left(const char *folder, const char *name, int64_t whole_bytes) {
    leat_path_list names = {0};
    leat_path_facts facts;
    char path[256];
    assert_int_equal(leat_path_list_dir(folder, &names, NULL), LEAT_OK);
    assert_true(names.count <= 1);
    if (names.count == 1) {
        assert_string_equal(names.paths[0], name);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        assert_int_equal(leat_path_stat(path, &facts, NULL), LEAT_OK);
        if (facts.kind == LEAT_PATH_FILE) assert_int_equal(facts.size_bytes, whole_bytes);
    }
    leat_path_list_free(&names);
}

static void sweep(const char *name) {
    char folder[64], path[128];
    leat_path_facts facts = {0};
    leat_error err = {0};
    snprintf(folder, sizeof folder, "/tmp/leat-fault-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    set_fault(-1, false);
    leat_code code = write_once(path, 3000, &err);
    if (code == LEAT_ERR_UNSUPPORTED) skip();
    assert_int_equal(code, LEAT_OK);
    assert_int_equal(leat_path_stat(path, &facts, NULL), LEAT_OK);
    for (int stays = 0; stays < 2; stays++) {
        long at = 0;
        for (; at < POINTS_MAX; at++) {
            assert_int_equal(leat_path_remove_tree(path, NULL), LEAT_OK);
            err = (leat_error){0};
            set_fault(at, stays == 1);
            code = write_once(path, 3000, &err);
            bool reached = clear_fault();
            if (!reached) break;
            if (code != LEAT_OK) assert_true(err.code == code && err.message[0] != 0);
            /* a thread that another one's error stopped must not hide that error */
            assert_true(code != LEAT_ERR_CANCELLED);
            /* a fault that stays may keep us from clearing up */
            if (stays == 0) check_left(folder, name, facts.size_bytes);
        }
        assert_int_equal(code, LEAT_OK);
        assert_true(at > 5 && at < POINTS_MAX);
    }
    assert_int_equal(leat_path_remove_tree(folder, NULL), LEAT_OK);
}

static void test_csv(void **state) {
    (void)state;
    sweep("x.csv");
}

static void test_parquet(void **state) {
    (void)state;
    sweep("x.parquet");
}

static void test_folder(void **state) {
    (void)state;
    sweep("x");
}

/* How many measurements the folder at `path` was made of, by its parts; -1 if there is none. */
static int64_t measurements_of(const char *path) {
    leat_path_list names = {0};
    if (leat_path_list_dir(path, &names, NULL) != LEAT_OK) return -1;
    int64_t count = names.count;
    leat_path_list_free(&names);
    return 1000 * count;
}

/* A folder that is replaced is the old one or the new one, and whole, wherever a fault strikes; so
 * too where the file system cannot exchange two folders. */
static void test_replace(void **state) {
    (void)state;
    char folder[64], path[128];
    leat_error err = {0};
    snprintf(folder, sizeof folder, "/tmp/leat-fault-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x", folder);
    set_fault(-1, false);
    leat_code code = write_once(path, 2000, &err);
    if (code == LEAT_ERR_UNSUPPORTED) skip();
    for (int stays = 0; stays < 2; stays++) {
        bool reached = true;
        for (long at = 0; reached; at++) {
            if (measurements_of(path) != 2000)
                assert_int_equal(write_once(path, 2000, NULL), LEAT_OK);
            set_fault(at, stays == 1);
            code = write_once(path, 3000, NULL);
            reached = clear_fault();
            int64_t found = measurements_of(path);
            assert_true(found == 3000 || (code != LEAT_OK && found == 2000));
            if (stays == 0) check_left(folder, "x", 0);
        }
        assert_int_equal(code, LEAT_OK);
    }
    assert_int_equal(leat_path_remove_tree(folder, NULL), LEAT_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_parquet),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_replace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
