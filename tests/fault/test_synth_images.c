/*
 * Synthetic images with every allocation and every call into the file system failing in turn, once
 * and for good: an error each time, nothing half-written left, and success as soon as nothing
 * fails. An output that is replaced is the old one or the new one, complete.
 */
#include "ingest/core_support.h"
#include "ingest/ingest_support.h"

#include "image_libraries.h"
#include "leat/synth.h"
#include "points.h"

#define POINTS_MAX 2000

static leat_code write_once(const char *path, int64_t count, leat_error *err) {
    leat_synth_images_options options = leat_synth_images_options_default();
    leat_synth_images_result result;
    options.count = count;
    options.threads = 2;
    options.replace = true;
    leat_code code = leat_synth_images(path, &options, &result, err);
    assert_int_equal(result.images, code == LEAT_OK ? count : 0);
    /* a thread that another one's error stopped must not hide that error */
    assert_true(code != LEAT_ERR_CANCELLED);
    return code;
}

/* The bytes of a file, or the number of files in a folder; -1 if there is neither. */
static int64_t measure(const char *path) {
    leat_path_facts facts;
    assert_int_equal(leat_path_stat(path, &facts, NULL), LEAT_OK);
    return facts.kind == LEAT_PATH_FILE ? facts.size_bytes : dir_count(path);
}

/* `old`: the images of an output that is there before and is to be replaced; 0: there is none. */
static void sweep(const char *name, int64_t old) {
    const int64_t count = 3;
    const char *path = core_path(name);
    int64_t before = -1;
    assert_int_equal(write_once(path, count, NULL), LEAT_OK);
    const int64_t after = measure(path);
    for (int stays = 0; stays < 2; stays++) {
        leat_code code = LEAT_OK;
        bool reached = true;
        long at = 0;
        for (; reached && at < POINTS_MAX; at++) {
            leat_error err = {0};
            if (old > 0) assert_int_equal(write_once(path, old, NULL), LEAT_OK);
            else assert_int_equal(leat_path_remove_tree(path, NULL), LEAT_OK);
            before = measure(path);
            set_fault(at, stays == 1);
            code = write_once(path, count, &err);
            reached = clear_fault();
            if (code != LEAT_OK) assert_true(err.code == code && err.message[0] != 0);
            int64_t found = measure(path);
            assert_true(found == after || (code != LEAT_OK && found == before));
            /* a fault that stays may prevent clearing up */
            if (stays == 0) assert_true(dir_count(core_dir()) <= 1);
            if (stays == 1) assert_int_equal(leat_path_remove_tree(core_dir(), NULL), LEAT_OK);
            if (stays == 1) assert_int_equal(leat_path_make_dir(core_dir(), NULL), LEAT_OK);
        }
        assert_int_equal(code, LEAT_OK);
        assert_true(at > 20 && at < POINTS_MAX);
    }
    assert_int_equal(leat_path_remove_tree(path, NULL), LEAT_OK);
}

static void folder(void **state) {
    (void)state;
    sweep("x", 0);
}

static void folder_replaced(void **state) {
    (void)state;
    sweep("x", 2);
}

static void archive(void **state) {
    (void)state;
    sweep("x.zip", 0);
}

static void archive_replaced(void **state) {
    (void)state;
    sweep("x.zip", 2);
}

int main(void) {
    if (image_libraries_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folder),
        cmocka_unit_test(folder_replaced),
        cmocka_unit_test(archive),
        cmocka_unit_test(archive_replaced),
    };
    core_in_memory(INT64_C(64) << 20);
    return cmocka_run_group_tests_name("synthetic images with faults", tests, NULL, core_teardown);
}
