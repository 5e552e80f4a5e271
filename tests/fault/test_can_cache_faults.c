/*
 * Fault sweep over the documents of a CAN cache: the n-th allocation or file call fails, once or
 * from then on, until saving and loading succeed untouched. Saving that fails leaves nothing, and
 * loading that fails says so and hands out nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/can_cache_support.h"
#include "sweep.h"

static char dir[] = "/tmp/leat_can_cache_XXXXXX";
static leat_can_meta saved;

static leat_code save(const void *of, leat_error *err) {
    (void)of;
    return leat_can_meta_save(&saved, dir, err);
}

static leat_code load(const void *of, leat_error *err) {
    leat_can_meta meta;
    (void)of;
    leat_code code = leat_can_meta_load(&meta, dir, true, err);
    if (code != LEAT_OK) {
        assert_null(meta.captures);
        assert_null(meta.ids.text);
        return code;
    }
    assert_int_equal(meta.capture_count, saved.capture_count);
    assert_int_equal(meta.captures[1].interval_count, 3);
    assert_int_equal(meta.split_count, saved.split_count);
    leat_can_meta_free(&meta);
    return LEAT_OK;
}

/* Saving that failed left nothing. */
static void look_after(leat_code code) {
    leat_path_list left = {0};
    assert_int_equal(leat_path_list_dir(dir, &left, NULL), LEAT_OK);
    if (code != LEAT_OK) assert_int_equal(left.count, 0);
    leat_path_list_free(&left);
}

/* Documents that are written over are not complete meanwhile. */
static void complete_goes_first(void) {
    char path[128];
    snprintf(path, sizeof path, "%s/" LEAT_CAN_COMPLETE_NAME, dir);
    for (long n = 1; n < 10; n++) {
        leat_path_facts facts;
        assert_int_equal(save(NULL, NULL), LEAT_OK);
        set_fault(n, true);
        assert_int_not_equal(save(NULL, NULL), LEAT_OK);
        clear_fault();
        assert_int_equal(leat_path_stat(path, &facts, NULL), LEAT_OK);
        assert_int_equal(facts.kind, LEAT_PATH_NONE);
    }
}

static void all(void **state) {
    (void)state;
    assert_int_equal(can_meta_fill(&saved, NULL), LEAT_OK);
    sweep_faults(&(fault_sweep){"save", save, NULL, look_after, 20});
    sweep_faults(&(fault_sweep){"load", load, NULL, NULL, 30});
    complete_goes_first();
    leat_can_meta_free(&saved);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
    if (mkdtemp(dir) == NULL) return 1;
    int failed = cmocka_run_group_tests_name("faults of a CAN cache", tests, NULL, NULL);
    clear_fault();
    if (leat_path_remove_tree(dir, NULL) != LEAT_OK) return 1;
    return failed;
}
