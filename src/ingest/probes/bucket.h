/*
 * One bucket of the partition, or as much of it as fits in memory: its measurements sorted by
 * (src_id, source text, time, destination text, rtt).
 */
#ifndef LEAT_INGEST_PROBES_BUCKET_H
#define LEAT_INGEST_PROBES_BUCKET_H

#include "ingest/probes/census.h"
#include "ingest/probes/spill_code.h"

/* A source as a stream of the bucket defines it; the same source may be defined several times. */
typedef struct leat_bucket_source {
    int64_t src_id;
    uint32_t rank; /* order among the distinct sources of the bucket */
    uint8_t size;
    bool wanted; /* inside the range and split being written */
    char text[LEAT_ADDRESS_TEXT_BYTES];
} leat_bucket_source;

/* A measurement: its time, and the offset of its record in leat_bucket.bytes. */
typedef struct leat_bucket_item {
    int64_t time_us;
    uint32_t at;
    uint32_t source; /* while loading: number in `sources`; after the sort: rank */
} leat_bucket_item;

/* One source's measurements in leat_bucket.items after the sort. */
typedef struct leat_bucket_group {
    const leat_bucket_source *source;
    int64_t first, count;
} leat_bucket_group;

/* The wanted part of a bucket: sources in [src_id_begin, src_id_end), and, where the buckets hold
 * both splits, texts on one side of the bound. */
typedef struct leat_bucket_filter {
    int64_t src_id_begin, src_id_end;
    bool by_bound;
    leat_split split;
    const leat_census_bound *bound;
} leat_bucket_filter;

typedef struct leat_bucket {
    uint8_t *arena; /* the caller's block: bytes at its beginning, items at its end */
    int64_t arena_bytes;

    leat_spill *const *spills;
    int index; /* the bucket's index in them */
    int stream_count, stream;
    leat_spill_cursor cursor;    /* in the stream being read */
    leat_spill_decoder *decoder; /* the cursor's */

    /* Three tables of source_capacity entries each, in one block. */
    leat_bucket_source *sources;
    int64_t *order; /* of sources, sorted; then scratch space */
    leat_bucket_group *groups;
    int64_t source_count, source_capacity;
    int64_t generation_first; /* where the stream's generation begins in `sources` */
    int64_t group_count;

    uint8_t *bytes;
    int64_t byte_count;
    leat_bucket_item *items, *scratch;
    int64_t item_count;
    leat_bucket_filter filter;
} leat_bucket;

/* Bytes of the tables for the given number of source definitions. */
int64_t leat_bucket_table_bytes(int64_t definitions);
/* The minimum number of definitions in the tables, given that of the largest generation: the tables
 * must also hold those of the block being read. */
int64_t leat_bucket_sources_min(int64_t generation);

/* arena_bytes limits the bytes and items of a piece; at most 4 GiB are used. source_capacity limits
 * its definitions, including repeated ones; at least leat_bucket_sources_min. */
LEAT_MUST_CHECK leat_code leat_bucket_create(leat_bucket *bucket, int stream_count, uint8_t *arena,
                                             int64_t arena_bytes, int64_t source_capacity,
                                             leat_error *err);
void leat_bucket_destroy(leat_bucket *bucket);

/* Arena bytes required to load `records` measurements of `bytes` bytes at once. */
int64_t leat_bucket_arena_bytes(int64_t bytes, int64_t records);

/* Begins reading a bucket: stream k is bucket `index` of spills[k]; spills must stay valid. */
void leat_bucket_begin(leat_bucket *bucket, leat_spill *const *spills, int index,
                       const leat_bucket_filter *filter);
/*
 * Loads the next piece that fits and sorts it into groups. *more: further pieces follow. If there
 * are none after the first, the complete bucket is sorted.
 */
LEAT_MUST_CHECK leat_code leat_bucket_load(leat_bucket *bucket, bool *more, leat_error *err);

/* The number of duplicates in a sorted group: measurements that equal the one before. `drop`: also
 * removes them. */
int64_t leat_bucket_duplicates(leat_bucket *bucket, leat_bucket_group *group, bool drop);

/* LEAT_ERR_INPUT if two different sources have the same src_id. */
LEAT_MUST_CHECK leat_code leat_bucket_check_same(const leat_bucket_source *a,
                                                 const leat_bucket_source *b, leat_error *err);

/* The record of an item. */
static inline const uint8_t *leat_bucket_record(const leat_bucket *bucket,
                                                const leat_bucket_item *item) {
    return bucket->bytes + item->at;
}

#endif
