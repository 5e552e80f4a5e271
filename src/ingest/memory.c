/* Sharing out the memory limit: see memory.h. The figures are measured, with some room: peak
 * resident sets are checked against the limit by the tests of the ingest. */
#include "ingest/memory.h"

#include "ingest/rows.h"

#define MIB (INT64_C(1) << 20)
/* What nobody counts: stacks, heap arenas of threads, fragmentation, page tables of the libraries.
 */
#define SLACK_BYTES (12 * MIB)
#define THREAD_BYTES (2 * MIB)
#define BUCKET_BITS_MAX 11
#define BUCKET_BITS_MIN 6
#define BLOCK_BYTES_MAX 32768
#define REJECT_BYTES_MIN (1 * MIB)
#define TABLE_BYTES_MIN (256 << 10)

static int64_t slack_of(int64_t limit) { return SLACK_BYTES + limit / 32; }

static int64_t spill_bytes(int bits, int32_t block_bytes, double train_ratio, bool separate) {
    return leat_spill_memory_bytes(leat_buckets_plan(bits, train_ratio, separate, 1).count,
                                   block_bytes);
}

/* What is left for tables, spill and rejects with so many threads; negative: it does not fit. */
static int64_t scan_rest(int64_t limit, int64_t resident, int threads, int64_t source_bytes) {
    return limit - resident - slack_of(limit) - source_bytes - threads * THREAD_BYTES;
}

static int64_t scan_least(int threads, double train_ratio, bool separate) {
    int64_t spill = spill_bytes(BUCKET_BITS_MIN, LEAT_SPILL_BLOCK_MIN, train_ratio, separate);
    return REJECT_BYTES_MIN + threads * (spill + TABLE_BYTES_MIN * 3 / 2);
}

leat_code leat_memory_plan_scan(int64_t limit, int64_t resident, int threads,
                                const int64_t *source_min, double train_ratio, bool separate_splits,
                                leat_scan_memory *plan, leat_error *err) {
    *plan = (leat_scan_memory){0};
    int t = threads;
    while (t > 1 && scan_rest(limit, resident, t, source_min[t]) <
                        2 * scan_least(t, train_ratio, separate_splits)) {
        t--;
    }
    int64_t rest = scan_rest(limit, resident, t, source_min[t]);
    int64_t least = scan_least(t, train_ratio, separate_splits);
    if (rest < least) {
        /* The slack grows with the limit: only 31 of 32 bytes more are of use. */
        int64_t missing = (least - rest) + (least - rest) / 31 + 2;
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "a memory limit of %lld MiB is too little: these inputs need at least "
                         "%lld MiB",
                         (long long)(limit / MIB), (long long)((limit + missing) / MIB + 1));
    }
    plan->threads = t;
    plan->reject_bytes = rest / 16 > REJECT_BYTES_MIN ? rest / 16 : REJECT_BYTES_MIN;
    int64_t source_more = rest / 8;
    plan->source_bytes = source_min[t] + source_more;
    rest -= plan->reject_bytes + source_more;
    plan->bucket_bits = BUCKET_BITS_MAX;
    plan->block_bytes = LEAT_SPILL_BLOCK_MIN;
    while (plan->bucket_bits > BUCKET_BITS_MIN &&
           t * spill_bytes(plan->bucket_bits, plan->block_bytes, train_ratio, separate_splits) >
               rest * 2 / 5) {
        plan->bucket_bits--;
    }
    while (
        plan->block_bytes < BLOCK_BYTES_MAX &&
        t * spill_bytes(plan->bucket_bits, plan->block_bytes * 2, train_ratio, separate_splits) <=
            rest * 3 / 10) {
        plan->block_bytes *= 2;
    }
    rest -= t * spill_bytes(plan->bucket_bits, plan->block_bytes, train_ratio, separate_splits);
    plan->table_bytes = rest / t * 2 / 3;
    return LEAT_OK;
}

/* What a compressor keeps besides the record: its state, and room for its output. */
static int64_t codec_bytes(const leat_ar_options *record, int64_t record_bytes) {
    int64_t output = record_bytes + record_bytes / 8;
    switch (record->compression) {
    case LEAT_COMPRESSION_NONE: return 0;
    case LEAT_COMPRESSION_SNAPPY: return output + 1 * MIB;
    case LEAT_COMPRESSION_ZSTD: return output + (record->level < 10 ? 8 : 48) * MIB;
    case LEAT_COMPRESSION_BROTLI: return output + 48 * MIB;
    }
    return 0;
}

leat_code leat_memory_plan_write(int64_t limit, int64_t resident, int threads,
                                 int64_t row_limit_bytes, int64_t shard_bytes,
                                 const leat_ar_options *record, leat_write_memory *plan,
                                 leat_error *err) {
    *plan = (leat_write_memory){0};
    int64_t rest = limit - resident - slack_of(limit);
    /* Sorting in less than this makes thousands of runs out of a bucket that was meant to fit. */
    int64_t arena_min = 2 * MIB;
    int64_t least = arena_min + leat_rows_record_bytes_of_arena(arena_min) + shard_bytes;
    for (int t = threads; t >= 1; t--) {
        int64_t each = (rest - rest / 16) / t - THREAD_BYTES - shard_bytes;
        int64_t whole = leat_rows_record_bytes(row_limit_bytes);
        /* Either a whole row of the largest size fits beside the arena, or the arena is so small
         * that no row made of it is larger than what is left. */
        int64_t arena = each - whole - codec_bytes(record, whole);
        int64_t small = arena_min;
        while (small + small / 16 + leat_rows_record_bytes_of_arena(small + small / 16) +
                   codec_bytes(record, leat_rows_record_bytes_of_arena(small + small / 16)) <=
               each) {
            small += small / 16;
        }
        plan->arena_bytes = arena > small ? arena : small;
        plan->record_bytes = arena > small ? whole : leat_rows_record_bytes_of_arena(small);
        int64_t used =
            plan->arena_bytes + plan->record_bytes + codec_bytes(record, plan->record_bytes);
        if (used > each) continue;
        plan->threads = t;
        int64_t queue = shard_bytes > 0 ? rest / 16 / shard_bytes : LEAT_PUBLISHER_QUEUE;
        plan->queue_length = queue < 1                      ? 1
                             : queue > LEAT_PUBLISHER_QUEUE ? LEAT_PUBLISHER_QUEUE
                                                            : (int)queue;
        return LEAT_OK;
    }
    *plan = (leat_write_memory){0};
    int64_t need = resident + SLACK_BYTES +
                   (least + codec_bytes(record, least) + THREAD_BYTES) * 17 / 15 + MIB;
    return leat_fail(err, LEAT_ERR_LIMIT,
                     "a memory limit of %lld MiB is too little to write these rows: give at least "
                     "%lld MiB, or more shards",
                     (long long)(limit / MIB), (long long)(need * 33 / 32 / MIB + 1));
}
