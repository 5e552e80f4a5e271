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

/* What decides how much memory the write takes; all zero for data that are not known yet. */
typedef struct leat_write_sizes {
    int64_t row_limit_bytes; /* of the serialised measurements of a row */
    int64_t shard_bytes;     /* what the index of the largest shard takes while it is written */
    int64_t part_bytes;      /* and while it waits for the disk */
    int64_t shards_bytes;    /* of all shards at once */
    int64_t sources;         /* definitions in the bucket that has most of them */
    int64_t generation;      /* and in the largest generation of a stream */
    int32_t block_bytes;     /* of the spill */
    int64_t dataset_bytes;   /* what index and manifest of the whole take at the end */
} leat_write_sizes;

/* The write: workers sort buckets and write shards. */
typedef struct leat_write_memory {
    int threads;
    int64_t arena_bytes;  /* per worker, to sort in */
    int64_t sources;      /* per worker, definitions that may be loaded at once */
    int64_t record_bytes; /* per worker, to build a row in */
    int queue_length;     /* shards that may wait for the disk */
} leat_write_memory;

/* LEAT_ERR_LIMIT names the least limit that would do. */
LEAT_MUST_CHECK leat_code leat_memory_plan_write(int64_t limit, int64_t resident, int threads,
                                                 const leat_write_sizes *sizes,
                                                 const leat_ar_options *record,
                                                 leat_write_memory *plan, leat_error *err);

#endif
