/*
 * The bytes of one record, wherever they are: in one piece of memory, or in a mapped file where
 * block headers interrupt them and pages are checked at their first touch.
 */
#ifndef LEAT_FORMAT_ARRAYRECORD_VIEW_H
#define LEAT_FORMAT_ARRAYRECORD_VIEW_H

#include <string.h>

#include "format/arrayrecord/arrayrecord.h"
#include "format/paged.h"

typedef struct leat_view {
    int64_t size_bytes;
    void *context;
    /*
     * Bytes [offset, offset + size) of the record, 0 <= offset, offset + size <= size_bytes (the
     * caller checks): a pointer into the source if they are contiguous there, else copied to
     * `scratch` (size bytes) and scratch returned. NULL with *err filled if they cannot be trusted
     * or read.
     */
    const uint8_t *(*get)(void *context, int64_t offset, int64_t size_bytes, uint8_t *scratch,
                          leat_error *err);
} leat_view;

/* A record in one piece; the caller keeps ownership of the bytes. */
leat_view leat_view_of(const void *bytes, int64_t size_bytes);
/* view->get as a call that fails like others: err may be NULL, *bytes is NULL on failure. */
LEAT_MUST_CHECK leat_code leat_view_bytes(const leat_view *view, int64_t offset, int64_t size_bytes,
                                          uint8_t *scratch, const uint8_t **bytes, leat_error *err);
/* The bytes of a view that leat_view_of made; NULL for any other. */
const uint8_t *leat_view_memory(const leat_view *view);

/* ---- places ---- */

/* Where a record lies in memory: byte i of it at stream byte first + i of a chunk in a mapped file;
 * without one (paged is NULL) at data + i. */
typedef struct leat_record_place {
    const uint8_t *data; /* of the file, or the record itself */
    const leat_paged *paged;
    int64_t begin; /* of the chunk */
    int64_t first; /* stream byte of the record */
} leat_record_place;

/* A record in a mapped file. The place stays the caller's, and must outlive the view. */
leat_view leat_view_of_place(leat_record_place *place, int64_t size_bytes);
/* The place of a view that one of the two made; false for any other. */
bool leat_view_place(const leat_view *view, leat_record_place *place);

/* Byte `offset` of the record as a position in place->data. */
static inline int64_t leat_record_place_at(const leat_record_place *place, int64_t offset) {
    if (place->paged == NULL) return offset;
    return leat_ar_byte_at(place->begin, place->first + offset);
}

/* Whether a block header interrupts the size_bytes (up to 65,512) at this position. */
static inline bool leat_record_place_cut(const leat_record_place *place, int64_t at,
                                         int64_t size_bytes) {
    return place->paged != NULL &&
           (uint64_t)at % LEAT_AR_BLOCK_BYTES + (uint64_t)size_bytes > LEAT_AR_BLOCK_BYTES;
}

/* leat_look_want for a few bytes of the record; does nothing if there is no file. */
static inline void leat_record_place_want(const leat_record_place *place, leat_look *look,
                                          int64_t at, int64_t size_bytes) {
    if (place->paged == NULL) return;
    if (leat_record_place_cut(place, at, size_bytes)) size_bytes += LEAT_AR_BLOCK_HEADER_BYTES;
    leat_look_want(look, at, size_bytes);
}

/* The bytes where they lie, or put together in scratch (size_bytes) if a block header cuts them. */
static inline const uint8_t *leat_record_place_bytes(const leat_record_place *place, int64_t at,
                                                     int64_t size_bytes, uint8_t *scratch) {
    if (!leat_record_place_cut(place, at, size_bytes)) return place->data + at;
    int64_t head = LEAT_AR_BLOCK_BYTES - at % LEAT_AR_BLOCK_BYTES;
    memcpy(scratch, place->data + at, (size_t)head);
    memcpy(scratch + head, place->data + at + head + LEAT_AR_BLOCK_HEADER_BYTES,
           (size_t)(size_bytes - head));
    return scratch;
}

#endif
