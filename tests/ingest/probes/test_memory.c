/*
 * Plans of memory: over a grid of limits, threads and sizes, all that a plan gives out stays under
 * the limit, with room for what nobody counts; what it leaves for a compressor is no less than the
 * compressor takes; a refusal names a limit that is then accepted, and not one that is far off.
 *
 * What a part takes is counted here from the structures themselves, or measured, never asked of the
 * plan. Seen to fail with any term of the plan left out or any of its figures made smaller.
 */
/* No TSan: threads are a number in a plan here. */
#include "core_support.h"

#include <malloc.h>
#include <math.h>

#include "format/arrayrecord/internal.h"
#include "ingest/probes/memory.h"
#include "ingest/probes/rows.h"

#define MIB (INT64_C(1) << 20)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTS 0
#else
#define COUNTS 1
#endif

/* What nobody counts, for the second time, so that nobody lowers it by accident: stacks and heap
 * arenas of threads, fragmentation, libraries. tests/cli/test_memory_slow.py is what it is for. */
static int64_t uncounted(int64_t limit, int threads) {
    return 12 * MIB + limit / 32 + threads * 5 * MIB / 2;
}

static const double ratios[] = {0, 0.5, 0.9, 0.999, 1};
static const int thread_counts[] = {1, 2, 3, 8, 64, 256};

/* What a plan of the scan uses, counted here from the structures themselves. */
static int64_t scan_total(const leat_scan_memory *plan, double ratio, bool separate) {
    int buckets = leat_buckets_plan(plan->bucket_bits, ratio, separate, 1).count;
    int64_t spill = plan->pool_bytes +
                    (int64_t)(sizeof(leat_spill_encoder) + sizeof(leat_spill_texts)) +
                    buckets * (int64_t)(sizeof(leat_spill_stream) + sizeof(leat_spill_tail) + 8);
    leat_intern addresses;
    leat_intern_create(&addresses, plan->table_bytes);
    int64_t table = addresses.slot_limit * (int64_t)sizeof(leat_intern_slot);
    leat_intern_destroy(&addresses);
    /* while it grows, the table stands beside one of half its size; its limit is a power of two */
    table = plan->table_bytes > table ? plan->table_bytes * 3 / 2 : table * 3 / 2;
    return plan->source_bytes + plan->reject_bytes + plan->threads * (spill + table);
}

static void scan_plans(void **state) {
    (void)state;
    static const int64_t sources[] = {0, 1000, 5 * MIB, 150 * MIB};
    int64_t accepted = 0;
    for (int64_t limit = 8 * MIB; limit < 70000 * MIB; limit = limit * 17 / 13 + 12345) {
        for (size_t s = 0; s < 4; s++) {
            for (size_t k = 0; k < 6 * 5 * 2; k++) {
                int threads = thread_counts[k % 6];
                double ratio = ratios[k / 6 % 5];
                bool separate = k >= 30;
                int64_t least[257] = {0}, resident = 9 * MIB;
                for (int t = 1; t <= threads; t++) least[t] = sources[s] * t;
                leat_scan_memory plan;
                leat_code code =
                    leat_memory_plan_scan(&(leat_memory_limits){limit, resident, threads},
                                          &(leat_scan_sizes){least, ratio, separate}, &plan, NULL);
                if (code != LEAT_OK) {
                    assert_int_equal(code, LEAT_ERR_LIMIT);
                    assert_int_equal(plan.threads, 0);
                    continue;
                }
                accepted++;
                assert_in_range(plan.threads, 1, threads);
                assert_in_range(plan.bucket_bits, 1, 15);
                assert_true(plan.pool_bytes >= 2 * LEAT_SPILL_SLAB_BYTES_MIN);
                assert_true(plan.source_bytes >= least[plan.threads]);
                assert_true(plan.table_bytes >= 4096 * 64);
                assert_true(plan.reject_bytes >= MIB); /* to merge its runs */
                assert_true(plan.reject_bytes >= plan.threads * (INT64_C(48) << 10));
                assert_true(resident + scan_total(&plan, ratio, separate) +
                                uncounted(limit, plan.threads) <=
                            limit);
            }
        }
    }
    assert_true(accepted > 1000);
}

/* ---- compressors, measured ---- */

/* What the plan leaves for a compressor beside a record of so many bytes: so much smaller is the
 * arena than without one. */
static int64_t planned_codec(leat_compression compression, int level, int64_t record_bytes) {
    leat_write_sizes size = {.row_limit_bytes = record_bytes - leat_rows_record_bytes(0)};
    leat_ar_options options = {.group_size = 1};
    leat_write_memory without, with;
    assert_ok(leat_memory_plan_write(&(leat_memory_limits){8192 * MIB, 0, 1}, &size, &options,
                                     &without, err));
    options.compression = compression;
    options.level = level;
    assert_ok(leat_memory_plan_write(&(leat_memory_limits){8192 * MIB, 0, 1}, &size, &options,
                                     &with, err));
    assert_int_equal(with.record_bytes, without.record_bytes);
    return without.arena_bytes - with.arena_bytes;
}

#if COUNTS
static const struct {
    leat_compression compression;
    int level;
    int letters; /* that the record is made of: what is easy to compress takes brotli most */
    int64_t record_bytes;
} codecs[] = {
    /* of each step the level that takes most */
    {LEAT_COMPRESSION_ZSTD, 3, 256, 100000},    {LEAT_COMPRESSION_ZSTD, 8, 256, 4 * MIB},
    {LEAT_COMPRESSION_ZSTD, 9, 256, 1 * MIB},   {LEAT_COMPRESSION_ZSTD, 22, 256, 1 * MIB},
    {LEAT_COMPRESSION_SNAPPY, 0, 256, 100000},  {LEAT_COMPRESSION_SNAPPY, 0, 256, 16 * MIB},
    {LEAT_COMPRESSION_BROTLI, 3, 256, 8 * MIB}, {LEAT_COMPRESSION_BROTLI, 6, 256, 4 * MIB},
    {LEAT_COMPRESSION_BROTLI, 4, 5, 8 * MIB},   {LEAT_COMPRESSION_BROTLI, 9, 5, 4 * MIB},
    {LEAT_COMPRESSION_BROTLI, 11, 2, 524288},
};

/* The heap of this program: what is taken and not given back. One thread. */
static int64_t heap_bytes, heap_most;
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

static void *counted(void *block) {
    heap_bytes += (int64_t)malloc_usable_size(block);
    if (heap_bytes > heap_most) heap_most = heap_bytes;
    return block;
}
/* Seen by the libraries too, which this program's own symbols are hidden from. */
#define SEEN __attribute__((visibility("default")))
SEEN void *malloc(size_t size) { return counted(__libc_malloc(size)); }
SEEN void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }
SEEN void *realloc(void *block, size_t size) {
    int64_t before = (int64_t)malloc_usable_size(block);
    void *grown = __libc_realloc(block, size);
    heap_bytes -= before;
    return counted(grown);
}
SEEN void free(void *block) {
    heap_bytes -= (int64_t)malloc_usable_size(block);
    __libc_free(block);
}

static leat_code count_output(void *total, const void *bytes, int64_t size_bytes, leat_error *err) {
    (void)bytes, (void)err;
    *(int64_t *)total += size_bytes;
    return LEAT_OK;
}

/* What compressing a record takes besides it: the compressor's state, and its output. */
static int64_t measure_codec(leat_compression compression, int level, const uint8_t *record,
                             int64_t size_bytes) {
    int64_t before = heap_bytes, output = 0;
    heap_most = heap_bytes;
    leat_ar_encoder *encoder = NULL;
    assert_ok(leat_ar_encoder_create(&encoder, compression, level, err));
    assert_ok(leat_ar_encoder_begin(encoder, size_bytes, count_output, &output, err));
    assert_ok(leat_ar_encoder_put(encoder, record, size_bytes, err));
    assert_ok(leat_ar_encoder_end(encoder, err));
    leat_ar_encoder_destroy(encoder);
    assert_int_equal(heap_bytes, before);
    return heap_most - before + output;
}

static void compressors(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof codecs / sizeof *codecs; k++) {
        int64_t size = codecs[k].record_bytes;
        uint8_t *record = malloc((size_t)size);
        for (int64_t i = 0; i < size; i++) {
            uint64_t bits = leat_random_at(7, (uint64_t)i);
            record[i] = (uint8_t)leat_random_below(bits, (uint64_t)codecs[k].letters);
        }
        int64_t took = measure_codec(codecs[k].compression, codecs[k].level, record, size);
        int64_t planned = planned_codec(codecs[k].compression, codecs[k].level, size);
        free(record);
        /* a sixteenth more: output that grows is copied */
        if (planned >= took + size / 16) continue;
        fail_msg("compression %d, level %d: a record of %lld bytes takes %lld, planned are %lld",
                 (int)codecs[k].compression, codecs[k].level, (long long)size, (long long)took,
                 (long long)planned);
    }
}
#else
static void compressors(void **state) {
    (void)state;
    skip(); /* a sanitizer has a heap of its own */
}
#endif

static int64_t named_mib(const char *message) {
    const char *at = strstr(message, "at least");
    if (at == NULL) fail_msg("no limit named: %s", message);
    return strtoll(at + strlen("at least"), NULL, 10);
}

/* Limits that are no whole MiB, so that rounding has to be right. */
static void scan_refusals(void **state) {
    (void)state;
    int refused = 0;
    for (int64_t need = 0; need < 3000 * MIB; need = need * 3 / 2 + 777777) {
        for (int64_t limit = 1; limit < 4000 * MIB; limit = limit * 5 / 3 + 999999) {
            int64_t least[4] = {0, need, need * 2, need * 3};
            leat_scan_memory plan;
            leat_error err = {0};
            leat_code code =
                leat_memory_plan_scan(&(leat_memory_limits){limit, 7 * MIB + 12345, 3},
                                      &(leat_scan_sizes){least, 0.9, true}, &plan, &err);
            if (code == LEAT_OK) continue;
            refused++;
            int64_t named = named_mib(err.message) * MIB;
            assert_true(named > limit);
            assert_ok(leat_memory_plan_scan(&(leat_memory_limits){named, 7 * MIB + 12345, 3},
                                            &(leat_scan_sizes){least, 0.9, true}, &plan, err));
            assert_true(plan.table_bytes >= 4096 * 64);
            assert_true(7 * MIB + 12345 + scan_total(&plan, 0.9, true) + uncounted(named, 1) <=
                        named);
            /* the least that does is no less than 3 MiB below */
            assert_int_equal(
                leat_memory_plan_scan(&(leat_memory_limits){named - 3 * MIB, 7 * MIB + 12345, 3},
                                      &(leat_scan_sizes){least, 0.9, true}, &plan, NULL),
                LEAT_ERR_LIMIT);
        }
    }
    assert_true(refused > 50);
}

/* More memory never makes a plan worse. */
static void scan_grows(void **state) {
    (void)state;
    int64_t least[9];
    for (int t = 0; t < 9; t++) least[t] = t * 6 * MIB;
    leat_scan_memory last = {0};
    for (int64_t limit = 24 * MIB; limit <= 4096 * MIB; limit += 3 * MIB) {
        leat_scan_memory plan;
        if (leat_memory_plan_scan(&(leat_memory_limits){limit, 8 * MIB, 8},
                                  &(leat_scan_sizes){least, 0.9, true}, &plan, NULL) != LEAT_OK) {
            assert_int_equal(last.threads, 0);
            continue;
        }
        assert_true(plan.threads >= last.threads);
        last = plan;
    }
    assert_int_equal(last.threads, 8);
    assert_in_range(last.bucket_bits, 9, 15);
}

/* ---- writing ---- */

static const leat_ar_options records[] = {
    {.compression = LEAT_COMPRESSION_NONE, .level = LEAT_LEVEL_DEFAULT, .group_size = 1},
    {.compression = LEAT_COMPRESSION_ZSTD, .level = 3, .group_size = 1},
    {.compression = LEAT_COMPRESSION_ZSTD, .level = 19, .group_size = 1},
    {.compression = LEAT_COMPRESSION_BROTLI, .level = 6, .group_size = 1},
    {.compression = LEAT_COMPRESSION_SNAPPY, .level = 0, .group_size = 1},
};
static const int64_t row_limits[] = {1024, 100000, 8 * MIB, 200 * MIB, LEAT_PROBE_MEASUREMENTS_MAX};
static const leat_write_sizes sizes[] = {
    {.sources = 0},
    {.shard_bytes = 600000,
     .part_bytes = 90000,
     .shards_bytes = 900 * MIB,
     .sources = 3000,
     .generation = 100},
    {.shard_bytes = 20 * MIB,
     .part_bytes = 12 * MIB,
     .shards_bytes = 21 * MIB,
     .sources = 900000,
     .generation = 40000},
    {.shard_bytes = 900 * MIB,
     .part_bytes = 400 * MIB,
     .shards_bytes = 40000 * MIB,
     .sources = 9,
     .generation = 9},
    {.sources = 80000000, .generation = 70000000, .dataset_bytes = MIB},
    {.part_bytes = 4000, .dataset_bytes = 700 * MIB},
};

/* No record that comes out of the arena or under the row limit may pass record_bytes, and all of it
 * together not the limit; nor may what the end takes, when the rest has gone. */
static void check_write_plan(const leat_write_memory *plan, int64_t limit, int64_t resident,
                             int threads, const leat_write_sizes *size,
                             const leat_ar_options *record) {
    assert_in_range(plan->threads, 1, threads);
    assert_in_range(plan->queue_length, 1, LEAT_PUBLISHER_QUEUE);
    assert_true(plan->arena_bytes >= 2 * MIB);
    assert_true(plan->sources >= leat_bucket_sources_min(size->generation));
    int64_t whole = leat_rows_record_bytes(size->row_limit_bytes);
    int64_t of_arena = leat_rows_record_bytes_of_arena(plan->arena_bytes);
    assert_true(plan->record_bytes >= (whole < of_arena ? whole : of_arena));
    assert_true(plan->record_bytes >= LEAT_ROW_STREAM_BYTES_MIN);
    int64_t tables =
        plan->sources * (int64_t)(sizeof(leat_bucket_source) + 8 + sizeof(leat_bucket_group));
    /* no more definitions than there are, and some quarter for them */
    assert_true(plan->sources <= leat_bucket_sources_min(size->sources));
    int64_t worker =
        plan->arena_bytes + plan->record_bytes + tables + (int64_t)sizeof(leat_spill_decoder);
    if (record->compression != LEAT_COMPRESSION_NONE)
        worker += planned_codec(record->compression, record->level, plan->record_bytes);
    assert_true(tables * 10 <= worker * 3 ||
                plan->sources == leat_bucket_sources_min(size->generation));
    int64_t index = plan->threads * size->shard_bytes + plan->queue_length * size->part_bytes;
    if (index > size->shards_bytes) index = size->shards_bytes;
    /* bounds of the index that are low, or not known yet, are not believed */
    int64_t rest = limit - resident - uncounted(limit, plan->threads);
    if (index < rest / 16) index = rest / 16;
    assert_true(plan->threads * worker + index <= rest);
    assert_true(resident + size->dataset_bytes + uncounted(limit, 0) <= limit);
}

/* A limit that will do for one worker: the smallest arena, one shard that is written and one that
 * waits, or all shards, and what nobody counts. */
static int64_t enough_mib(const leat_write_sizes *size, const leat_ar_options *record) {
    int64_t record_bytes = leat_rows_record_bytes_of_arena(2 * MIB + 2 * MIB / 16);
    int64_t least = leat_bucket_sources_min(size->generation);
    int64_t tables = least * (int64_t)(sizeof(leat_bucket_source) + 8 + sizeof(leat_bucket_group));
    int64_t index = size->shard_bytes + size->part_bytes;
    if (index > size->shards_bytes) index = size->shards_bytes;
    int64_t rest = 3 * MIB + record_bytes + tables + index + MIB;
    if (record->compression != LEAT_COMPRESSION_NONE)
        rest += planned_codec(record->compression, record->level, record_bytes);
    if (rest < size->dataset_bytes) rest = size->dataset_bytes;
    return (rest + rest / 4 + uncounted(rest + rest / 4, 1) + 9 * MIB) / MIB + 3;
}

static void write_plans(void **state) {
    (void)state;
    int64_t accepted = 0, refused = 0;
    for (int64_t limit = 8 * MIB; limit < 70000 * MIB; limit = limit * 19 / 13 + 54321) {
        for (size_t k = 0; k < 5 * 5 * 6 * 6; k++) {
            const leat_ar_options *record = &records[k % 5];
            leat_write_sizes size = sizes[k / 25 % 6];
            size.row_limit_bytes = row_limits[k / 5 % 5];
            int threads = thread_counts[k / 150];
            int64_t resident = 9 * MIB + 4321;
            leat_write_memory plan;
            leat_error err = {0};
            leat_code code = leat_memory_plan_write(&(leat_memory_limits){limit, resident, threads},
                                                    &size, record, &plan, &err);
            if (code == LEAT_OK) {
                accepted++;
                check_write_plan(&plan, limit, resident, threads, &size, record);
                continue;
            }
            refused++;
            assert_int_equal(code, LEAT_ERR_LIMIT);
            assert_int_equal(plan.threads, 0);
            int64_t named = named_mib(err.message);
            assert_true(named * MIB > limit);
            assert_ok(leat_memory_plan_write(&(leat_memory_limits){named * MIB, resident, threads},
                                             &size, record, &plan, err));
            check_write_plan(&plan, named * MIB, resident, threads, &size, record);
            assert_true(named <= enough_mib(&size, record));
            assert_int_equal(
                leat_memory_plan_write(&(leat_memory_limits){(named - 1) * MIB, resident, threads},
                                       &size, record, &plan, NULL),
                LEAT_ERR_LIMIT);
        }
    }
    assert_true(accepted > 1000 && refused > 1000);
}

/* The bound on the records of an arena, against bucket loading's own arithmetic. */
static void records_of_arenas(void **state) {
    (void)state;
    for (int64_t arena = 1 << 16; arena <= 64 * MIB; arena *= 3) {
        for (int dst = 2; dst <= 45; dst++) {
            for (int src = 2; src <= 45; src += 43) {
                int64_t n = 0, size = LEAT_SPILL_MEASUREMENT_BYTES + dst;
                while (leat_bucket_arena_bytes((n + 1000) * size, n + 1000) <= arena) n += 1000;
                while (leat_bucket_arena_bytes((n + 1) * size, n + 1) <= arena) n++;
                leat_probe_facts facts = {
                    .n_measurements = n, .dst_bytes = n * dst, .src_size = src};
                leat_probe_plan plan;
                assert_ok(leat_probe_plan_row(&facts, false, &plan, err));
                assert_true(plan.record_bytes <= leat_rows_record_bytes_of_arena(arena));
                assert_true(plan.record_bytes <= leat_rows_record_bytes(plan.measurements_bytes));
                assert_ok(leat_probe_plan_row(&facts, true, &plan, err));
                assert_true(plan.record_bytes <= leat_rows_record_bytes_of_arena(arena));
                assert_true(plan.record_bytes <= leat_rows_record_bytes(plan.measurements_bytes));
            }
        }
    }
}

/* Groups cover all buckets in order; their files are few. */
static void check_groups(const leat_buckets *plan, int workers) {
    int covered = 0;
    assert_in_range(plan->group_count, 1, LEAT_GROUPS_MAX);
    assert_true(plan->group_count == 1 || plan->group_count * workers <= 512);
    for (int g = 0; g < plan->group_count; g++) {
        int buckets = leat_buckets_in_group(plan, g);
        assert_true(buckets >= 1);
        assert_int_equal(covered >> plan->group_shift, g);
        assert_int_equal((covered + buckets - 1) >> plan->group_shift, g);
        covered += buckets;
    }
    assert_int_equal(covered, plan->count);
}

/* Buckets: ranges of src_id that cover everything once, a share for each split. */
static void buckets(void **state) {
    (void)state;
    for (int bits = 0; bits <= 12; bits++) {
        for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
            for (int separate = 0; separate < 2; separate++) {
                int workers = thread_counts[(bits + (int)r) % 6];
                leat_buckets plan = leat_buckets_plan(bits, ratios[r], separate, workers);
                int next = 0;
                for (int split = 0; split < LEAT_SPLITS; split++) {
                    double share = split == LEAT_SPLIT_TRAIN ? ratios[r] : 1 - ratios[r];
                    bool used = separate ? share > 0 : split == LEAT_SPLIT_TRAIN;
                    assert_int_equal(plan.bits[split] >= 0, used);
                    if (!used) continue;
                    assert_true(plan.bits[split] <= bits);
                    int count = 1 << plan.bits[split];
                    assert_int_equal(plan.base[split], next);
                    assert_int_equal(leat_buckets_of(&plan, split, 0), next);
                    assert_int_equal(leat_buckets_of(&plan, split, LEAT_SRC_ID_END - 1),
                                     next + count - 1);
                    int64_t width = LEAT_SRC_ID_END / count;
                    for (int i = 1; i < count; i++) {
                        assert_int_equal(leat_buckets_of(&plan, split, i * width - 1),
                                         next + i - 1);
                        assert_int_equal(leat_buckets_of(&plan, split, i * width), next + i);
                    }
                    next += count;
                }
                assert_int_equal(plan.count, next);
                check_groups(&plan, workers);
                assert_true(plan.count <= 2 << bits && plan.count <= UINT16_MAX);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan_plans),  cmocka_unit_test(scan_refusals),
        cmocka_unit_test(scan_grows),  cmocka_unit_test(write_plans),
        cmocka_unit_test(buckets),     cmocka_unit_test(records_of_arenas),
        cmocka_unit_test(compressors),
    };
    return cmocka_run_group_tests_name("memory plans", tests, NULL, NULL);
}
