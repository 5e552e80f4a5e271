/*
 * From raw batches to buckets: checks each measurement, rejects bad ones, and appends the rest to
 * the bucket of its probe: of its source, or of its probe's name. Buckets are ranges of src_id, one
 * set for each split, so that any number of them can later be sorted and written at once.
 */
#ifndef LEAT_INGEST_PROBES_PARTITION_H
#define LEAT_INGEST_PROBES_PARTITION_H

#include "ingest/probes/census.h"
#include "ingest/probes/identity.h"
#include "ingest/probes/intern.h"
#include "ingest/probes/notes.h"
#include "ingest/probes/spill.h"
#include "ingest/source.h"

/* Ranges of src_id: bucket base[split] + (src_id >> (60 - bits[split])); a split without buckets
 * has bits -1. With the ordered split all sources are in the buckets of train, unseparated. */
typedef struct leat_buckets {
    int bits[LEAT_SPLITS];
    int base[LEAT_SPLITS];
    int count;
    /* Neighbouring buckets, 2^group_shift of them, share one file per worker: once all of a group
     * is written as shards, its files are emptied, long before the ingest ends. */
    int group_shift, group_count;
} leat_buckets;

#define LEAT_GROUPS_MAX 16

/* At most 2^bits_max buckets for the larger split. separate: each split has its own buckets.
 * workers: of the scan, each with one file per group. */
leat_buckets leat_buckets_plan(int bits_max, double train_ratio, bool separate, int workers);
/* Buckets of one group; the last group may have fewer. */
int leat_buckets_in_group(const leat_buckets *buckets, int group);
static inline int leat_buckets_of(const leat_buckets *buckets, leat_split split, int64_t src_id) {
    return buckets->base[split] + (int)(src_id >> (LEAT_SRC_ID_BITS - buckets->bits[split]));
}

typedef struct leat_partition_worker {
    leat_intern table;
    leat_spill spills[LEAT_GROUPS_MAX]; /* of the groups */
    leat_spill_pool pool;               /* theirs */
    leat_census_log log;
    leat_census_log pairs; /* identity.h; opened for the first */
    leat_buf text;         /* of a rejected row */
    int64_t aside_row;     /* the last one, */
    int32_t aside_file;    /* and its file; -1: none yet */
    int64_t measurements;
    /* Times out of range that may be in another unit: of this century if they are milliseconds; or
     * too large even for that, which microseconds and nanoseconds are. */
    int64_t late_ms, late_far;
    leat_batch_notes noted; /* of the current batch */
    uint64_t hashes[LEAT_BATCH_ROWS];
    /* Padded: workers' counters must not share a cache line. */
    char pad[64];
} leat_partition_worker;

typedef struct leat_partition {
    leat_buckets buckets;
    uint64_t seed;
    double train_ratio;
    bool separate_splits, zero_address;
    bool named; /* probes are told apart by names, not by addresses */
    leat_address_rule address;
    leat_reject_log *rejects;
    leat_notes *notes;
    const char *temp_dir;
    leat_identity_set identities; /* of all workers */
    leat_partition_worker *workers;
    int worker_count;
} leat_partition;

/* Times are accepted up to the end of the year 9999, the last that ISO 8601 and Python can
 * represent. */
#define LEAT_TIME_END_US (INT64_C(253402300800) * 1000000)

/* A leat_batch_fn with a leat_partition as its context. */
LEAT_MUST_CHECK leat_code leat_partition_batch(void *context, int worker,
                                               const leat_raw_batch *batch, leat_error *err);

#endif
