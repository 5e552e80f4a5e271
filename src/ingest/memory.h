/*
 * How a memory limit is shared out. Pure arithmetic on sizes: what each part of the ingest may take
 * so that the whole process stays under the limit, libraries included.
 */
#ifndef LEAT_INGEST_MEMORY_H
#define LEAT_INGEST_MEMORY_H

#include "ingest/partition.h"

/* The scan: sources decode, workers partition. */
typedef struct leat_scan_memory {
    int threads;
    int bucket_bits;
    int32_t block_bytes;  /* of the spill */
    int64_t source_bytes; /* for the sources, as leat_source_options.memory_bytes */
    int64_t table_bytes;  /* leat_intern_create, per worker */
    int64_t reject_bytes; /* of the reject log */
} leat_scan_memory;

/*
 * limit: --memory. resident: what the process takes already. source_min[t]: what the sources take
 * at least with t threads, t = 1..threads. Uses fewer threads where that many do not fit;
 * LEAT_ERR_LIMIT with the least limit that would do if even one does not.
 */
LEAT_MUST_CHECK leat_code leat_memory_plan_scan(int64_t limit, int64_t resident, int threads,
                                                const int64_t *source_min, double train_ratio,
                                                bool separate_splits, leat_scan_memory *plan,
                                                leat_error *err);

/* The write: workers sort buckets and write shards. */
typedef struct leat_write_memory {
    int threads;
    int64_t arena_bytes;  /* per worker, to sort in */
    int64_t record_bytes; /* per worker, to build a row in */
    int queue_length;     /* shards that may wait for the disk */
} leat_write_memory;

/* row_limit_bytes: of the serialised measurements of a row. shard_bytes: what the index of the
 * largest shard takes in memory. */
LEAT_MUST_CHECK leat_code leat_memory_plan_write(int64_t limit, int64_t resident, int threads,
                                                 int64_t row_limit_bytes, int64_t shard_bytes,
                                                 const leat_ar_options *record,
                                                 leat_write_memory *plan, leat_error *err);

#endif
