/*
 * What parts of the library take at most, by counted bytes: reading and writing large documents, a
 * loader, and sizes of networks that are only told. The same by the resident set, as the system
 * counts it, is in format/test_large_slow.c and load/probes/test_loader_process_slow.c.
 */
#include "base/mem.h"
#include "count.h"
#include "format/ar_support.h"
#include "format/large_support.h"
#include "format/safetensors/safetensors.h"
#include "leat/nn.h"
#include "load/loader_support.h"
#include "points.h"

#define MIB (INT64_C(1) << 20)

/* What has been taken since count_restart, at most, beyond what was there before. */
static int64_t taken(int64_t before) { return count_peak() - before; }

/* All that base takes is counted, and uncounted when it is given back. */
static void counting(void **state) {
    (void)state;
    const int64_t before = count_live();
    void *plain = NULL, *block = NULL;
    int64_t *items = NULL, capacity = 0;
    count_restart();
    assert_ok(leat_alloc(&plain, 1000, 1000, err));
    assert_in_range(count_live() - before, 1000000, 1010000);
    assert_ok(leat_block_alloc(&block, 8 * MIB, err));
    assert_in_range(count_live() - before, 1000000 + 8 * MIB, 1010000 + 8 * MIB);
    assert_int_equal(leat_rss_bytes(), count_live());
    leat_block_free(block, 8 * MIB);
    leat_free(plain);
    assert_int_equal(count_live(), before);
    assert_in_range(taken(before), 1000000 + 8 * MIB, 1010000 + 8 * MIB);
    assert_int_equal(leat_rss_peak_bytes(), count_peak());
    count_restart();
    assert_ok(LEAT_GROW(&items, &capacity, 1000, err));
    assert_ok(LEAT_GROW(&items, &capacity, 100000, err));
    assert_in_range(count_live() - before, 800000, 810000);
    assert_in_range(taken(before), 808000,
                    820000); /* the smaller one is there while it is copied */
    leat_free(items);
    assert_int_equal(count_live(), before);
}

static void headers(void **state) {
    (void)state;
    const int64_t max = LEAT_SAFETENSORS_HEADER_MAX, before = count_live();
    count_restart();
    large_headers_refused();
    if (taken(before) > 3 * max)
        fail_msg("%lld bytes for headers of %lld", (long long)taken(before), (long long)max);
    assert_int_equal(count_live(), before);
}

static void documents(void **state) {
    (void)state;
    leat_can_meta meta, again;
    int64_t written = 0;
    large_meta_fill(&meta);
    int64_t before = count_live();
    count_restart();
    assert_ok(leat_can_document_write(&meta, LEAT_CAN_METADATA, large_count, &written, err));
    assert_true(written > 10 * MIB);
    if (taken(before) > MIB)
        fail_msg("%lld bytes to write %lld", (long long)taken(before), (long long)written);
    assert_ok(leat_can_meta_save(&meta, ar_dir(), err));
    assert_int_equal(count_live(), before);
    count_restart();
    assert_ok(leat_can_meta_load(&again, ar_dir(), true, err));
    if (taken(before) > 3 * written)
        fail_msg("%lld bytes to read %lld", (long long)taken(before), (long long)written);
    large_meta_check(&again);
    leat_can_meta_free(&again);
    assert_int_equal(count_live(), before);
    leat_can_meta_free(&meta);
}

/* Large batches: what they take is what was declared, and does not grow with threads. */
static void loader(void **state) {
    (void)state;
    char path[256];
    make_options data = loader_data_options(LEAT_COMPRESSION_NONE);
    loader_make("plain", &data, path);
    const int64_t at_first = count_live();
    leat_dataset *dataset = loader_open(path);
    for (int threads = 1; threads <= 8; threads *= 8) {
        leat_loader_options options = loader_large_options(threads);
        leat_loader_counters counters;
        const int64_t before = count_live(), slot = INT64_C(64) * 4096 * 24;
        count_restart();
        leat_loader *made = loader_create(dataset, &options);
        for (int i = 0; i < 30; i++) leat_batch_release(loader_next(made));
        leat_loader_get_counters(made, &counters);
        assert_true(counters.memory_bytes <= options.memory_bytes);
        assert_true(count_live() - before >= counters.prefetch * slot);
        assert_true(taken(before) <= counters.memory_bytes);
        leat_loader_destroy(made);
    }
    leat_dataset_close(dataset);
    assert_int_equal(count_live(), at_first);
}

/* Windows too, read or decoded. */
static void windows(void **state) {
    (void)state;
    for (int c = 0; c < 2; c++) {
        char path[256];
        make_options data =
            loader_data_options(c == 0 ? LEAT_COMPRESSION_NONE : LEAT_COMPRESSION_ZSTD);
        leat_loader_options options = loader_options();
        leat_loader_counters counters;
        loader_make(c == 0 ? "read" : "decoded", &data, path);
        const int64_t at_first = count_live();
        leat_dataset *dataset = loader_open(path);
        options.window_bytes = MIB;
        options.io = LEAT_IO_PREAD;
        const int64_t before = count_live();
        count_restart();
        leat_loader *made = loader_create(dataset, &options);
        for (int i = 0; i < 150; i++) leat_batch_release(loader_next(made));
        leat_loader_get_counters(made, &counters);
        if (taken(before) > counters.memory_bytes)
            fail_msg("%lld bytes of %lld", (long long)taken(before),
                     (long long)counters.memory_bytes);
        assert_true(taken(before) > 6000 * 60); /* the largest row was held */
        leat_loader_destroy(made);
        leat_dataset_close(dataset);
        assert_int_equal(count_live(), at_first);
    }
}

/* Sizes that no machine has are told without being taken. */
static void networks(void **state) {
    (void)state;
    leat_dcgan_options options = {1024, 4096, 1024, 256, NULL};
    int64_t bytes = 0;
    const int64_t before = count_live();
    count_restart();
    assert_ok(leat_dcgan_bytes(&options, &bytes, err));
    assert_true(bytes > INT64_C(10000) << 30);
    assert_true(taken(before) < MIB);
    assert_int_equal(count_live(), before);
}

static int teardown(void **state) {
    ar_dir_remove();
    return loader_teardown(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting), cmocka_unit_test(headers), cmocka_unit_test(documents),
        cmocka_unit_test(loader),   cmocka_unit_test(windows), cmocka_unit_test(networks),
    };
    return cmocka_run_group_tests_name("counted memory", tests, NULL, teardown);
}
