/*
 * How a memory limit is divided. Pure arithmetic on sizes: the share of each part of the ingest
 * that keeps the whole process within the limit, libraries included.
 */
#ifndef LEAT_INGEST_PROBES_MEMORY_H
#define LEAT_INGEST_PROBES_MEMORY_H

#include "ingest/probes/partition.h"

/* What both plans divide: --memory, less what the process already takes, among at most so many
 * threads. */
typedef struct leat_memory_limits {
    int64_t limit_bytes, resident_bytes;
    int threads;
} leat_memory_limits;

/* What decides how much memory the scan takes. */
typedef struct leat_scan_sizes {
    const int64_t *source_min; /* [t]: what the sources require with t threads, t = 1..threads */
    double train_ratio;
    bool separate_splits;
} leat_scan_sizes;

/* The scan: sources decode, workers partition. */
typedef struct leat_scan_memory {
    int threads;
    int bucket_bits;
    int64_t pool_bytes;   /* of each worker's spills, at least one slab; half of it is shared */
    int64_t source_bytes; /* for the sources, as leat_source_options.memory_bytes */
    int64_t table_bytes;  /* leat_intern_create, per worker */
    int64_t reject_bytes; /* of the reject log */
} leat_scan_memory;

/* Uses fewer threads if the full number does not fit; LEAT_ERR_LIMIT with the smallest sufficient
 * limit if not even one does. */
LEAT_MUST_CHECK leat_code leat_memory_plan_scan(const leat_memory_limits *limits,
                                                const leat_scan_sizes *sizes,
                                                leat_scan_memory *plan, leat_error *err);

/* What decides how much memory the write takes; all zero if the data are not known yet. */
typedef struct leat_write_sizes {
    int64_t row_limit_bytes; /* of a row's serialised measurements */
    int64_t shard_bytes;     /* what the index of the largest shard takes while it is written */
    int64_t part_bytes;      /* and while it waits for the disk */
    int64_t shards_bytes;    /* of all shards at once */
    int64_t sources;         /* definitions in the bucket that has most of them */
    int64_t generation;      /* and in the largest generation of a stream */
    int64_t dataset_bytes;   /* what the complete index and manifest take at the end */
} leat_write_sizes;

/* The write: workers sort buckets and write shards. */
typedef struct leat_write_memory {
    int threads;
    int64_t arena_bytes;  /* per worker, to sort in */
    int64_t sources;      /* per worker, definitions that may be loaded at once */
    int64_t record_bytes; /* per worker, to build a row in */
    int queue_length;     /* shards that may wait for the disk */
} leat_write_memory;

/* LEAT_ERR_LIMIT names the smallest sufficient limit. */
LEAT_MUST_CHECK leat_code leat_memory_plan_write(const leat_memory_limits *limits,
                                                 const leat_write_sizes *sizes,
                                                 const leat_ar_options *record,
                                                 leat_write_memory *plan, leat_error *err);

#endif
