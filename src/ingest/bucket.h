/*
 * One bucket of the partition, in memory or as much of it as fits: its measurements sorted by
 * (src_id, source text, time, destination text, rtt).
 */
#ifndef LEAT_INGEST_BUCKET_H
#define LEAT_INGEST_BUCKET_H

#include "ingest/census.h"
#include "ingest/spill.h"

/* A source as a stream of the bucket defines it; the same source may be defined several times. */
typedef struct leat_bucket_source {
    int64_t src_id;
    uint32_t rank; /* among the different sources of the bucket, in their order */
    uint8_t size;
    bool wanted; /* inside the range and split that is being written */
    char text[LEAT_ADDRESS_TEXT_BYTES];
} leat_bucket_source;

/* A measurement: its time and where its record lies in leat_bucket.bytes. */
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

/* What is wanted of a bucket: sources in [src_id_begin, src_id_end), and, where the buckets hold
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
    int index; /* of the bucket in them */
    int stream_count, stream;
    leat_spill_cursor cursor; /* in the stream that is being read */
    uint8_t *block;           /* of the cursor */

    /* Three tables with room for source_capacity each, in one block. */
    leat_bucket_source *sources;
    int64_t *order; /* of sources, sorted; then work space */
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

/* Bytes of the tables for so many definitions of sources. */
int64_t leat_bucket_table_bytes(int64_t definitions);
/* Definitions that the tables must hold at least, if the largest generation has so many: with them
 * those of the block that is being read. */
int64_t leat_bucket_sources_min(int64_t generation, int32_t block_bytes);

/* arena_bytes bounds bytes and items of a piece; at most 4 GiB are used. source_capacity bounds its
 * definitions, repeated ones included; at least leat_bucket_sources_min. */
LEAT_MUST_CHECK leat_code leat_bucket_create(leat_bucket *bucket, int stream_count,
                                             int32_t block_bytes, uint8_t *arena,
                                             int64_t arena_bytes, int64_t source_capacity,
                                             leat_error *err);
void leat_bucket_destroy(leat_bucket *bucket);

/* Arena bytes that `records` measurements in `bytes` take when loaded at once. */
int64_t leat_bucket_arena_bytes(int64_t bytes, int64_t records);

/* Begins reading a bucket: stream k is bucket `index` of spills[k]; spills must stay. */
void leat_bucket_begin(leat_bucket *bucket, leat_spill *const *spills, int index,
                       const leat_bucket_filter *filter);
/*
 * Loads the next piece that fits and sorts it into groups. *more: there is another piece. A bucket
 * whose first piece has no more behind it is in order as a whole.
 */
LEAT_MUST_CHECK leat_code leat_bucket_load(leat_bucket *bucket, bool *more, leat_error *err);

/* LEAT_ERR_INPUT if two sources with one src_id are not the same. */
LEAT_MUST_CHECK leat_code leat_bucket_check_same(const leat_bucket_source *a,
                                                 const leat_bucket_source *b, leat_error *err);

/* The record of an item. */
static inline const uint8_t *leat_bucket_record(const leat_bucket *bucket,
                                                const leat_bucket_item *item) {
    return bucket->bytes + item->at;
}

#endif
