/*
 * A mapped file whose 4 KiB pages have known XXH3-64 hashes: bytes are given out only from pages
 * that were checked, each at its first touch. One bit a page remembers that; it is set and read by
 * any number of threads without a lock.
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
    int64_t size_bytes; /* bytes under hashes, from the file's first; what follows is no business
                           of this struct */
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
 * Copies [offset, offset + size), which must lie in [0, size_bytes]. LEAT_ERR_CORRUPT or
 * LEAT_ERR_IO name file and page. Threads: any number at once.
 */
LEAT_MUST_CHECK leat_code leat_paged_read(const leat_paged *paged, int64_t offset,
                                          int64_t size_bytes, void *out, leat_error *err);

#endif
