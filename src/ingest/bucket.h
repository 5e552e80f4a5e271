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

    leat_spill_cursor *cursors; /* one per stream */
    uint32_t *first_source;     /* of each stream, in `sources` */
    int stream_count, stream;   /* the stream that is being read */
    uint8_t *block;             /* of the cursors */
    int64_t block_bytes;

    leat_bucket_source *sources;
    int64_t source_count, source_capacity;
    int64_t *order; /* of sources, sorted; then work space */
    int64_t order_capacity;
    leat_bucket_group *groups;
    int64_t group_count, group_capacity;

    uint8_t *bytes;
    int64_t byte_count;
    leat_bucket_item *items, *scratch;
    int64_t item_count;
    leat_bucket_filter filter;
} leat_bucket;

/* arena_bytes bounds bytes and items of a piece; at most 4 GiB are used. */
LEAT_MUST_CHECK leat_code leat_bucket_create(leat_bucket *bucket, int stream_count,
                                             int32_t block_bytes, uint8_t *arena,
                                             int64_t arena_bytes, leat_error *err);
void leat_bucket_destroy(leat_bucket *bucket);

/* Arena bytes that `records` measurements in `bytes` take when loaded at once. */
int64_t leat_bucket_arena_bytes(int64_t bytes, int64_t records);

/* Begins reading a bucket: stream k is bucket `index` of spills[k]. */
LEAT_MUST_CHECK leat_code leat_bucket_begin(leat_bucket *bucket, leat_spill *const *spills,
                                            int index, const leat_bucket_filter *filter,
                                            leat_error *err);
/*
 * Loads the next piece that fits and sorts it into groups. *more: there is another piece. A bucket
 * whose first piece has no more behind it is in order as a whole.
 */
LEAT_MUST_CHECK leat_code leat_bucket_load(leat_bucket *bucket, bool *more, leat_error *err);

/* The record of an item. */
static inline const uint8_t *leat_bucket_record(const leat_bucket *bucket,
                                                const leat_bucket_item *item) {
    return bucket->bytes + item->at;
}

#endif
