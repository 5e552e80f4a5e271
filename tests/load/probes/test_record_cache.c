/* The cache of decoded records: what it finds, what it drops, what it must keep. */
/* TSan: several threads read one cache of records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "load/probes/record_cache.h"
#include "threads.h"

/* Adds row `row` as `size` bytes of its number, held. */
static leat_cached_record *add(leat_record_cache *cache, int64_t row, int64_t size) {
    uint8_t bytes[2000];
    leat_cached_record *record = NULL;
    memset(bytes, (int)row, sizeof(bytes));
    if (leat_record_cache_add(cache, row, bytes, size, &record, NULL) != LEAT_OK) return NULL;
    return record;
}

static bool has(leat_record_cache *cache, int64_t row) {
    leat_cached_record *record = leat_record_cache_find(cache, row);
    leat_record_cache_release(cache, record);
    return record != NULL;
}

static void holds(void **state) {
    (void)state;
    leat_record_cache *cache = NULL;
    assert_int_equal(leat_record_cache_create(&cache, 1000, NULL), LEAT_OK);
    assert_false(has(cache, 1));
    leat_cached_record *one = add(cache, 1, 400);
    assert_int_equal(one->size_bytes, 400);
    leat_cached_record *two = add(cache, 2, 400);
    /* no room without dropping what is held: handed out, but not kept */
    leat_cached_record *three = add(cache, 3, 400);
    assert_int_equal(three->data[399], 3);
    leat_record_cache_release(cache, three);
    assert_false(has(cache, 3));
    assert_true(has(cache, 1));
    assert_true(has(cache, 2));
    assert_int_equal(one->data[399], 1);
    /* the one that is free goes, though it was used last */
    leat_record_cache_release(cache, two);
    assert_true(has(cache, 2));
    three = add(cache, 3, 400);
    assert_false(has(cache, 2));
    assert_true(has(cache, 1));
    leat_record_cache_release(cache, three);
    leat_record_cache_release(cache, one);
    /* least recently used first */
    assert_true(has(cache, 1));
    leat_record_cache_release(cache, add(cache, 4, 400));
    assert_true(has(cache, 1));
    assert_false(has(cache, 3));
    /* the same row again is the same record */
    leat_cached_record *again = add(cache, 1, 400);
    leat_cached_record *found = leat_record_cache_find(cache, 1);
    assert_ptr_equal(again, found);
    leat_record_cache_release(cache, again);
    leat_record_cache_release(cache, found);
    /* larger than all of the cache: drops nothing */
    leat_record_cache_release(cache, add(cache, 5, 1001));
    assert_false(has(cache, 5));
    assert_true(has(cache, 1));
    leat_record_cache_release(cache, add(cache, 6, 0));
    assert_true(has(cache, 6));
    leat_record_cache_release(cache, NULL);
    leat_record_cache_destroy(cache);
    leat_record_cache_destroy(NULL);
}

static void many_small(void **state) {
    (void)state;
    leat_record_cache *cache = NULL;
    assert_int_equal(leat_record_cache_create(&cache, 1 << 20, NULL), LEAT_OK);
    for (int64_t row = 0; row < 1000; row++) leat_record_cache_release(cache, add(cache, row, 1));
    int kept = 0;
    for (int64_t row = 0; row < 1000; row++) kept += has(cache, row);
    assert_int_equal(kept, 256);
    assert_true(has(cache, 999));
    leat_record_cache_destroy(cache);
}

static leat_code member(void *context, int index, leat_error *err) {
    leat_record_cache *cache = context;
    for (int64_t k = 0; k < 5000; k++) {
        int64_t row = (int64_t)(leat_random(1, (uint64_t)index, (uint64_t)k) % 20);
        leat_cached_record *record = leat_record_cache_find(cache, row);
        if (record == NULL) record = add(cache, row, 100 + row);
        bool good = record != NULL && record->size_bytes == 100 + row && record->data[0] == row &&
                    record->data[99 + row] == row;
        leat_record_cache_release(cache, record);
        if (!good) return leat_fail(err, LEAT_ERR_CORRUPT, "row %d", (int)row);
    }
    return LEAT_OK;
}

static void threads(void **state) {
    (void)state;
    leat_record_cache *cache = NULL;
    assert_int_equal(leat_record_cache_create(&cache, 800, NULL), LEAT_OK);
    assert_int_equal(run_threads(4, member, cache, NULL), LEAT_OK);
    leat_record_cache_destroy(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds),
        cmocka_unit_test(many_small),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
