/*
 * Decoded records kept for reuse, within a bound on their bytes: a row of 8 MiB is decompressed
 * once for all contexts that are drawn from it one after the other. Least recently used go first;
 * what a cursor holds is never freed under it.
 */
#ifndef LEAT_LOAD_PROBES_RECORD_CACHE_H
#define LEAT_LOAD_PROBES_RECORD_CACHE_H

#include "base/mem.h"

typedef struct leat_record_cache leat_record_cache;

typedef struct leat_cached_record {
    uint8_t *data; /* written by its creator, before it is shared */
    int64_t size_bytes;
    /* private */
    int64_t row, used;
    int users;
    bool listed;
} leat_cached_record;

LEAT_MUST_CHECK leat_code leat_record_cache_create(leat_record_cache **out, int64_t bytes_max,
                                                   leat_error *err);
/* No record may be held any more. */
void leat_record_cache_destroy(leat_record_cache *cache);
int64_t leat_record_cache_bytes_max(const leat_record_cache *cache);
/* The record of a row, held for the caller, or NULL if it is not there. */
leat_cached_record *leat_record_cache_find(leat_record_cache *cache, int64_t row);
/* Copies bytes into a record held for the caller; it is kept for other threads if there is space.
 */
LEAT_MUST_CHECK leat_code leat_record_cache_add(leat_record_cache *cache, int64_t row,
                                                const uint8_t *bytes, int64_t size_bytes,
                                                leat_cached_record **out, leat_error *err);
/* The same in two steps: a record of zeros, held for the caller, which may be written to; it is
 * freed by release, or shared with other threads, one of which may have been faster: the caller
 * then holds that record. */
LEAT_MUST_CHECK leat_code leat_record_cache_make(int64_t row, int64_t size_bytes,
                                                 leat_cached_record **out, leat_error *err);
leat_cached_record *leat_record_cache_offer(leat_record_cache *cache, leat_cached_record *record);
/* NULL accepted. */
void leat_record_cache_release(leat_record_cache *cache, leat_cached_record *record);

#endif
