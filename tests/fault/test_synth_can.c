/*
 * Synthetic vehicle logs with every allocation and every call into the file system failing in turn,
 * once and for good: an error each time, nothing half-written left, and success as soon as nothing
 * fails. A folder that is replaced is the old one or the new one, and whole.
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

static leat_code write_once(const char *path, int64_t frames, leat_error *err) {
    leat_synth_can_options options = leat_synth_can_options_default();
    leat_synth_can_result result;
    options.frames = frames;
    options.attacks = LEAT_SYNTH_CAN_REPLAY;
    options.threads = 2;
    options.replace = true;
    leat_code code = leat_synth_can(path, &options, &result, err);
    assert_int_equal(result.frames, code == LEAT_OK ? frames : 0);
    /* a thread that another one's error stopped must not hide that error */
    assert_true(code != LEAT_ERR_CANCELLED);
    return code;
}

/* How many bytes the files of a folder and of the folders in it have; -1 if there is none. */
static int64_t bytes_in(const char *path) {
    leat_path_list names = {0};
    char inside[512];
    leat_path_facts facts;
    int64_t sum = 0;
    if (leat_path_list_dir(path, &names, NULL) != LEAT_OK) return -1;
    for (int64_t i = 0; i < names.count; i++) {
        snprintf(inside, sizeof inside, "%s/%s", path, names.paths[i]);
        assert_int_equal(leat_path_stat(inside, &facts, NULL), LEAT_OK);
        sum += facts.kind == LEAT_PATH_DIR ? bytes_in(inside) : facts.size_bytes;
    }
    leat_path_list_free(&names);
    return sum;
}

/* There is nothing in the folder but the output. */
static void check_left(const char *folder) {
    leat_path_list names = {0};
    assert_int_equal(leat_path_list_dir(folder, &names, NULL), LEAT_OK);
    assert_true(names.count <= 1);
    if (names.count == 1) assert_string_equal(names.paths[0], "x");
    leat_path_list_free(&names);
}

/* `old`: the frames of a folder that is there before and is to be replaced; 0: there is none. */
static void sweep(int64_t old, int64_t frames) {
    char folder[64], path[128];
    int64_t old_bytes = -1, bytes;
    snprintf(folder, sizeof folder, "/tmp/leat-fault-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x", folder);
    set_fault(-1, false);
    assert_int_equal(write_once(path, frames, NULL), LEAT_OK);
    bytes = bytes_in(path);
    for (int stays = 0; stays < 2; stays++) {
        leat_code code = LEAT_OK;
        bool reached = true;
        long at = 0;
        for (; reached && at < POINTS_MAX; at++) {
            leat_error err = {0};
            if (old > 0) assert_int_equal(write_once(path, old, NULL), LEAT_OK);
            else assert_int_equal(leat_path_remove_tree(path, NULL), LEAT_OK);
            old_bytes = bytes_in(path);
            set_fault(at, stays == 1);
            code = write_once(path, frames, &err);
            reached = clear_fault();
            if (code != LEAT_OK) assert_true(err.code == code && err.message[0] != 0);
            int64_t found = bytes_in(path);
            assert_true(found == bytes || (code != LEAT_OK && found == old_bytes));
            /* a fault that stays may keep us from clearing up */
            if (stays == 0) check_left(folder);
        }
        assert_int_equal(code, LEAT_OK);
        assert_true(at > 20 && at < POINTS_MAX);
    }
    assert_int_equal(leat_path_remove_tree(folder, NULL), LEAT_OK);
}

static void test_write(void **state) {
    (void)state;
    sweep(0, 12000);
}

static void test_replace(void **state) {
    (void)state;
    sweep(5000, 12000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_replace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
