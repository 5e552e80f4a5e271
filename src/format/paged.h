/*
 * A mapped file whose 4 KiB pages have known XXH3-64 hashes: bytes are returned only from checked
 * pages, each checked when it is first touched. One bit per page records that; it is set and read
 * by any number of threads without a lock.
 *
 * A page may also become unreadable after its check (see base/map.h). So bytes are copied out, and
 * the map is asked whether anything failed meanwhile; from the first failure on the bits no longer
 * count and every touch checks again, so that exactly the rows on failing pages are refused.
 */
#ifndef LEAT_FORMAT_PAGED_H
#define LEAT_FORMAT_PAGED_H

#include <stdatomic.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/sink.h"

typedef leat_code (*leat_page_hash_fn)(const void *context, int64_t page, uint64_t *hash,
                                       leat_error *err);

typedef struct leat_paged {
    leat_map *map;
    const uint8_t *data; /* of the map */
    int64_t size_bytes;  /* hashed bytes, from the first of the file; others are ignored */
    _Atomic uint64_t *checked;
    leat_page_hash_fn hash;
    const void *context;
} leat_paged;

/* Takes the map over on success only. size_bytes <= size of the map. */
LEAT_MUST_CHECK leat_code leat_paged_init(leat_paged *paged, leat_map *map, int64_t size_bytes,
                                          leat_page_hash_fn hash, const void *context,
                                          leat_error *err);
void leat_paged_free(leat_paged *paged);

/*
 * Copies [offset, offset + size), which must be within [0, size_bytes]. LEAT_ERR_CORRUPT or
 * LEAT_ERR_IO name file and page. Threads: any number at once.
 */
LEAT_MUST_CHECK leat_code leat_paged_read(const leat_paged *paged, int64_t offset,
                                          int64_t size_bytes, void *out, leat_error *err);

/* Bytes of the pages that were checked so far, each page once. */
int64_t leat_paged_checked_bytes(const leat_paged *paged);

/*
 * Reads single values in place, for callers that read many at once: the bytes to be read are named
 * first, then checked together, then read in place, and at the end leat_look_holds returns whether
 * everything read meanwhile may be used. If not, because a page failed meanwhile, the caller starts
 * over (the pages are then hashed again) or gives up. Only bytes that were named and checked may be
 * used; other bytes of the file may be read, because a failing page does no harm.
 */
#define LEAT_LOOK_PAGES 512
typedef struct leat_look {
    const leat_paged *paged;
    int64_t failures;
    int64_t page; /* the last one that was wanted */
    int unchecked_count;
    int64_t unchecked[LEAT_LOOK_PAGES];
} leat_look;

void leat_look_begin(leat_look *look, const leat_paged *paged);
/* Compares what was wanted and not checked before with its hashes. Codes of leat_paged_read. */
LEAT_MUST_CHECK leat_code leat_look_check(leat_look *look, leat_error *err);
LEAT_MUST_CHECK bool leat_look_holds(const leat_look *look);

/* Whether a page was checked, as far as the bit for it says. Never touches the file. */
static inline bool leat_paged_has(const leat_paged *paged, int64_t page) {
    uint64_t word = atomic_load_explicit(&paged->checked[page / 64], memory_order_relaxed);
    return (word >> (page % 64) & 1) != 0;
}

/* Bytes [offset, offset + size_bytes), size_bytes > 0, inside the file, will be read; at most
 * LEAT_LOOK_PAGES unchecked pages may be wanted before the next check. */
static inline void leat_look_want(leat_look *look, int64_t offset, int64_t size_bytes) {
    int64_t last = (int64_t)((uint64_t)(offset + size_bytes - 1) / LEAT_PAGE_BYTES);
    for (int64_t page = (int64_t)((uint64_t)offset / LEAT_PAGE_BYTES); page <= last; page++) {
        if (page == look->page) continue;
        look->page = page;
        if (look->failures == 0 && leat_paged_has(look->paged, page)) continue;
        LEAT_ASSERT(look->unchecked_count < LEAT_LOOK_PAGES);
        look->unchecked[look->unchecked_count++] = page;
    }
}

#endif
