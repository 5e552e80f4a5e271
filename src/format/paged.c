/* Bytes of a mapped file, returned only from checked pages: see paged.h. */
#include "format/paged.h"

#include <string.h>

/* Each try but the last follows the failure of one more page while the bytes were copied. */
#define TRIES_MAX 1000

leat_code leat_paged_init(leat_paged *paged, leat_map *map, int64_t size_bytes,
                          leat_page_hash_fn hash, const void *context, leat_error *err) {
    LEAT_ASSERT(size_bytes >= 0 && size_bytes <= leat_map_size(map));
    int64_t page_count = (size_bytes + LEAT_PAGE_BYTES - 1) / LEAT_PAGE_BYTES;
    *paged = (leat_paged){0};
    LEAT_TRY(LEAT_NEW(&paged->checked, (page_count + 63) / 64, err));
    paged->map = map;
    paged->data = leat_map_data(map);
    paged->size_bytes = size_bytes;
    paged->hash = hash;
    paged->context = context;
    return LEAT_OK;
}

void leat_paged_free(leat_paged *paged) {
    leat_free((void *)paged->checked);
    leat_map_close(paged->map);
    *paged = (leat_paged){0};
}

/* How often the map has failed before anything that follows, after everything that was read. */
static int64_t failures_now(const leat_paged *paged) {
    atomic_thread_fence(memory_order_acquire); /* no read of the map may move behind the question */
    return leat_map_failures(paged->map);
}

/* Compares one page with its hash and remembers that it is good. */
static leat_code check_page(const leat_paged *paged, int64_t page, leat_error *err) {
    uint64_t expected = 0;
    LEAT_TRY(paged->hash(paged->context, page, &expected, err));
    int64_t begin = page * LEAT_PAGE_BYTES;
    int64_t left = paged->size_bytes - begin;
    int64_t size = left < LEAT_PAGE_BYTES ? left : LEAT_PAGE_BYTES;
    if (leat_xxh3(paged->data + begin, size) == expected) {
        atomic_fetch_or_explicit(&paged->checked[page / 64], UINT64_C(1) << (page % 64),
                                 memory_order_relaxed);
        return LEAT_OK;
    }
    if (leat_map_failures(paged->map) > 0) {
        return leat_fail(err, LEAT_ERR_IO,
                         "\"%s\": page at byte %lld cannot be read: the disk failed, or the file "
                         "was truncated while it was open",
                         leat_map_path(paged->map), (long long)begin);
    }
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%s\": page at byte %lld: hash mismatch; the file is damaged; run the "
                     "ingest again with --replace",
                     leat_map_path(paged->map), (long long)begin);
}

static leat_code check_range(const leat_paged *paged, int64_t offset, int64_t size_bytes,
                             bool trust_bits, leat_error *err) {
    int64_t last = (offset + size_bytes - 1) / LEAT_PAGE_BYTES;
    for (int64_t page = offset / LEAT_PAGE_BYTES; page <= last; page++) {
        if (trust_bits && leat_paged_has(paged, page)) continue;
        LEAT_TRY(check_page(paged, page, err));
    }
    return LEAT_OK;
}

leat_code leat_paged_read(const leat_paged *paged, int64_t offset, int64_t size_bytes, void *out,
                          leat_error *err) {
    LEAT_ASSERT(offset >= 0 && size_bytes >= 0 && offset <= paged->size_bytes - size_bytes);
    if (size_bytes == 0) return LEAT_OK;
    for (int try = 0; try < TRIES_MAX; try++) {
        int64_t failures = leat_map_failures(paged->map);
        leat_code code = check_range(paged, offset, size_bytes, failures == 0, err);
        if (code == LEAT_OK) {
            memcpy(out, paged->data + offset, (size_t)size_bytes);
            /* no failure since before the check: what was copied is what was checked */
            if (failures_now(paged) == failures) return LEAT_OK;
        } else if (failures_now(paged) == failures) {
            memset(out, 0, (size_t)size_bytes);
            return code;
        }
    }
    memset(out, 0, (size_t)size_bytes);
    return leat_map_check(paged->map, err);
}

int64_t leat_paged_checked_bytes(const leat_paged *paged) {
    int64_t words = (paged->size_bytes + 64 * LEAT_PAGE_BYTES - 1) / (64 * LEAT_PAGE_BYTES);
    int64_t pages = 0;
    for (int64_t i = 0; i < words; i++) {
        pages +=
            __builtin_popcountll(atomic_load_explicit(&paged->checked[i], memory_order_relaxed));
    }
    return pages * LEAT_PAGE_BYTES;
}

/* ---- looks ---- */

void leat_look_begin(leat_look *look, const leat_paged *paged) {
    look->paged = paged;
    look->failures = leat_map_failures(paged->map);
    look->page = -1;
    look->unchecked_count = 0;
}

bool leat_look_holds(const leat_look *look) { return failures_now(look->paged) == look->failures; }

/* Bytes of the next page that are fetched while one is hashed; the processor goes on by itself. */
#define AHEAD_BYTES 2048

leat_code leat_look_check(leat_look *look, leat_error *err) {
    const leat_paged *paged = look->paged;
    int count = look->unchecked_count;
    look->unchecked_count = 0;
    /* all page faults first: only what is mapped can be fetched ahead */
    for (int i = 0; i < count; i++) {
        (void)*(const volatile uint8_t *)(paged->data + look->unchecked[i] * LEAT_PAGE_BYTES);
    }
    for (int i = 0; i < count; i++) {
        const uint8_t *next =
            paged->data + look->unchecked[i + 1 < count ? i + 1 : i] * LEAT_PAGE_BYTES;
        for (int at = 0; at < AHEAD_BYTES; at += 64) __builtin_prefetch(next + at);
        LEAT_TRY(check_page(paged, look->unchecked[i], err));
    }
    return LEAT_OK;
}
