/*
 * The bytes of one record, wherever they lie: in one piece of memory, or in a mapped file where
 * block headers interrupt them and pages are checked at their first touch.
 */
#ifndef LEAT_FORMAT_VIEW_H
#define LEAT_FORMAT_VIEW_H

#include "base/error.h"

typedef struct leat_view {
    int64_t size_bytes;
    void *context;
    /*
     * Bytes [offset, offset + size) of the record, 0 <= offset, offset + size <= size_bytes (the
     * caller checks): a pointer into the source where they lie together, else copied to `scratch`
     * (size bytes) and scratch returned. NULL with *err filled if they cannot be trusted or read.
     */
    const uint8_t *(*get)(void *context, int64_t offset, int64_t size_bytes, uint8_t *scratch,
                          leat_error *err);
} leat_view;

/* A record that lies in one piece; the bytes stay the caller's. */
leat_view leat_view_of(const void *bytes, int64_t size_bytes);
/* view->get as a call that fails like others: err may be NULL, *bytes is NULL on failure. */
LEAT_MUST_CHECK leat_code leat_view_bytes(const leat_view *view, int64_t offset, int64_t size_bytes,
                                          uint8_t *scratch, const uint8_t **bytes, leat_error *err);
/* The bytes of a view that leat_view_of made; NULL for any other. */
const uint8_t *leat_view_memory(const leat_view *view);

#endif
