/* Dividing the memory limit: see memory.h. The figures are measured, with a margin; the tests of
 * the ingest compare peak resident sets with the limit. */
#include "ingest/probes/memory.h"

#include "format/probe/overlap.h"
#include "ingest/probes/rows.h"

#define MIB (INT64_C(1) << 20)
/* Uncounted memory: stacks, heap arenas of threads, fragmentation, page tables of the libraries. */
#define SLACK_BYTES (12 * MIB)
#define THREAD_BYTES (5 * MIB / 2)
#define BUCKET_BITS_MAX 11
#define BUCKET_BITS_MIN 6
#define REJECT_BYTES_MIN (1 * MIB)
#define TABLE_BYTES_MIN (256 << 10)
#define POOL_BYTES_MIN (2 * LEAT_SPILL_SLAB_BYTES_MIN)
/* Chunks of a bucket when the pool is full, on average: fewer are encoded worse, and their last
 * ones are half empty. */
#define BUCKET_CHUNKS_MIN 4
/* Beyond any machine: the end of the search for a sufficient limit. */
#define LIMIT_MIB_MAX (INT64_C(1) << 40)

static int64_t slack_of(int64_t limit) { return SLACK_BYTES + limit / 32; }

/* What the spills of one worker take without their pool's chunks. */
static int64_t spill_bytes(int bits, double train_ratio, bool separate) {
    return leat_spill_memory_bytes(leat_buckets_plan(bits, train_ratio, separate, 1).count);
}

/* A chunk for each bucket of one worker. */
static int64_t chunk_bytes(int bits, double train_ratio, bool separate) {
    return leat_buckets_plan(bits, train_ratio, separate, 1).count *
           (int64_t)LEAT_SPILL_CHUNK_BYTES;
}

/* What is left for tables, spill and rejects with the given number of threads; negative: it does
 * not fit. */
static int64_t scan_rest(int64_t limit, int64_t resident, int threads, int64_t source_bytes) {
    return limit - resident - slack_of(limit) - source_bytes - threads * THREAD_BYTES;
}

static int64_t reject_least(int threads) {
    int64_t workers = threads * LEAT_REJECT_WORKER_BYTES_MIN;
    return workers > REJECT_BYTES_MIN ? workers : REJECT_BYTES_MIN;
}

/* What the spills and the table of one worker take at least. */
static int64_t scan_worker_least(double train_ratio, bool separate) {
    return spill_bytes(BUCKET_BITS_MIN, train_ratio, separate) + POOL_BYTES_MIN +
           TABLE_BYTES_MIN * 3 / 2;
}

static int64_t scan_least(int threads, double train_ratio, bool separate) {
    return reject_least(threads) + threads * scan_worker_least(train_ratio, separate);
}

leat_code leat_memory_plan_scan(const leat_memory_limits *limits, const leat_scan_sizes *sizes,
                                leat_scan_memory *plan, leat_error *err) {
    const int64_t limit = limits->limit_bytes, resident = limits->resident_bytes;
    const int64_t *source_min = sizes->source_min;
    const double train_ratio = sizes->train_ratio;
    const bool separate_splits = sizes->separate_splits;
    *plan = (leat_scan_memory){0};
    int t = limits->threads;
    while (t > 1 && scan_rest(limit, resident, t, source_min[t]) <
                        2 * scan_least(t, train_ratio, separate_splits)) {
        t--;
    }
    int64_t rest = scan_rest(limit, resident, t, source_min[t]);
    int64_t least = scan_least(t, train_ratio, separate_splits);
    if (rest < least) {
        /* The slack grows with the limit: only 31 of 32 further bytes are usable. */
        int64_t missing = (least - rest) + (least - rest) / 31 + 2;
        return leat_fail(
            err, LEAT_ERR_LIMIT,
            "the memory limit of %lld MiB is too low: these inputs require at least %lld MiB",
            (long long)(limit / MIB), (long long)((limit + missing) / MIB + 1));
    }
    /* Each part gets its minimum; the rest is divided. */
    int64_t more = rest - least, source_more = more / 8;
    plan->threads = t;
    plan->reject_bytes = reject_least(t) + more / 16;
    plan->source_bytes = source_min[t] + source_more;
    rest -= plan->reject_bytes + source_more;
    plan->bucket_bits = BUCKET_BITS_MAX;
    int64_t spare = rest - t * scan_worker_least(train_ratio, separate_splits);
    plan->pool_bytes = POOL_BYTES_MIN + spare / t * 2 / 5;
    while (plan->bucket_bits > BUCKET_BITS_MIN &&
           BUCKET_CHUNKS_MIN * chunk_bytes(plan->bucket_bits, train_ratio, separate_splits) >
               plan->pool_bytes) {
        plan->bucket_bits--;
    }
    rest -= t * (plan->pool_bytes + spill_bytes(plan->bucket_bits, train_ratio, separate_splits));
    plan->table_bytes = rest / t * 2 / 3;
    return LEAT_OK;
}

/* The largest measured size of a compressor's state, plus a margin: with the windows of
 * format/arrayrecord/codec.c, for bytes of any kind (brotli takes most for what compresses well).
 * The level is a known one. */
static int64_t codec_state_bytes(leat_compression compression, int level) {
    switch (compression) {
    case LEAT_COMPRESSION_NONE: return 0;
    case LEAT_COMPRESSION_SNAPPY: return 1 * MIB;
    case LEAT_COMPRESSION_ZSTD: return (level < 9 ? 10 : 24) * MIB;
    case LEAT_COMPRESSION_BROTLI:
        return (level < 4 ? 32 : level < 7 ? 56 : level < 10 ? 88 : 112) * MIB;
    }
    return 0;
}

/* What a compressor keeps in addition to the record: its state and output buffer. */
static int64_t codec_bytes(const leat_ar_options *record, int64_t record_bytes) {
    if (record->compression == LEAT_COMPRESSION_NONE) return 0;
    int64_t output = record_bytes + record_bytes / 8;
    return output + codec_state_bytes(record->compression, record->level);
}

/* Sorting in less than this splits a bucket that was meant to fit into thousands of runs. */
#define ARENA_BYTES_MIN (2 * MIB)

/* Divides the memory of one worker between arena and record: either a complete row of the largest
 * size fits next to the arena, or the arena is so small that no row built from it exceeds the rest.
 * False if it is too little. */
static bool share_arena(int64_t each, int64_t row_limit_bytes, const leat_ar_options *record,
                        leat_write_memory *plan) {
    int64_t whole = leat_rows_record_bytes(row_limit_bytes);
    if (whole < LEAT_ROW_STREAM_BYTES_MIN) whole = LEAT_ROW_STREAM_BYTES_MIN;
    int64_t arena = each - whole - codec_bytes(record, whole);
    int64_t small = ARENA_BYTES_MIN;
    while (small + small / 16 + leat_rows_record_bytes_of_arena(small + small / 16) +
               codec_bytes(record, leat_rows_record_bytes_of_arena(small + small / 16)) <=
           each) {
        small += small / 16;
    }
    plan->arena_bytes = arena > small ? arena : small;
    plan->record_bytes = arena > small ? whole : leat_rows_record_bytes_of_arena(small);
    return plan->arena_bytes + plan->record_bytes + codec_bytes(record, plan->record_bytes) <= each;
}

/* A plan for the given number of threads; false if it does not fit. */
static bool plan_write(int64_t limit, int64_t resident, int threads, const leat_write_sizes *sizes,
                       const leat_ar_options *record, leat_write_memory *plan) {
    int64_t rest =
        limit - resident - slack_of(limit) - leat_overlap_bytes(leat_overlap_most(limit));
    *plan = (leat_write_memory){.threads = threads, .queue_length = LEAT_PUBLISHER_QUEUE};
    if (rest < sizes->dataset_bytes) return false;
    if (sizes->part_bytes > 0 && rest / 16 / sizes->part_bytes < LEAT_PUBLISHER_QUEUE) {
        plan->queue_length = (int)(rest / 16 / sizes->part_bytes);
    }
    if (plan->queue_length < 1) plan->queue_length = 1;
    int64_t index = threads * sizes->shard_bytes + plan->queue_length * sizes->part_bytes;
    if (index > sizes->shards_bytes) index = sizes->shards_bytes;
    if (index < rest / 16) index = rest / 16;
    int64_t each = (rest - index) / threads - THREAD_BYTES - (int64_t)sizeof(leat_spill_decoder) -
                   (int64_t)sizeof(leat_overlap_worker);
    /* All definitions of a bucket, but more than a quarter does not pay off: the rest of a larger
     * one becomes runs. */
    int64_t most = each / 4 / leat_bucket_table_bytes(1);
    int64_t least = leat_bucket_sources_min(sizes->generation);
    int64_t all = leat_bucket_sources_min(sizes->sources);
    plan->sources = all < most ? all : most > least ? most : least;
    each -= leat_bucket_table_bytes(plan->sources);
    return share_arena(each, sizes->row_limit_bytes, record, plan);
}

/* The smallest limit, in MiB, with which one thread can write. */
static int64_t least_mib(int64_t resident, const leat_write_sizes *sizes,
                         const leat_ar_options *record) {
    leat_write_memory plan;
    int64_t low = 0, high = 1;
    while (high < LIMIT_MIB_MAX && !plan_write(high * MIB, resident, 1, sizes, record, &plan)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (plan_write(middle * MIB, resident, 1, sizes, record, &plan)) high = middle;
        else low = middle;
    }
    return high;
}

leat_code leat_memory_plan_write(const leat_memory_limits *limits, const leat_write_sizes *sizes,
                                 const leat_ar_options *record, leat_write_memory *plan,
                                 leat_error *err) {
    const int64_t limit = limits->limit_bytes, resident = limits->resident_bytes;
    for (int t = limits->threads; t >= 1; t--) {
        if (plan_write(limit, resident, t, sizes, record, plan)) return LEAT_OK;
    }
    *plan = (leat_write_memory){0};
    const char *or_else = "";
    if (sizes->dataset_bytes - sizes->part_bytes > limit / 4) or_else = ", or fewer shards";
    else if (sizes->shard_bytes > limit / 4) or_else = ", more shards, or larger rows";
    return leat_fail(
        err, LEAT_ERR_LIMIT,
        "the memory limit of %lld MiB is too low to write these rows; use at least %lld MiB%s",
        (long long)(limit / MIB), (long long)least_mib(resident, sizes, record), or_else);
}
