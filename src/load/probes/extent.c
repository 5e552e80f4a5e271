/*
 * The pages that hold one record, read from its shard instead of mapped.
 *
 * They are kept in the data set's cache, followed by one bit per page, and accessed through a
 * leat_paged like those of a mapped shard. So a page is checked when it is first touched, and a
 * damaged page fails exactly the reads that touch it, however the file is read.
 */
#include <string.h>

#include "load/probes/dataset.h"

/* Bytes of a chunk that are not records: header and framing before them, padding after them. */
#define FRAME_BYTES_MAX 1024

typedef struct span {
    int64_t begin, end; /* in the shard; begin is where a page begins */
} span;

static span pages_of(int64_t chunk_offset, int64_t record_bytes, int64_t file_bytes) {
    int64_t end = leat_ar_advance(chunk_offset, FRAME_BYTES_MAX + record_bytes);
    end = (end + LEAT_PAGE_BYTES - 1) / LEAT_PAGE_BYTES * LEAT_PAGE_BYTES;
    return (span){chunk_offset / LEAT_PAGE_BYTES * LEAT_PAGE_BYTES,
                  end < file_bytes ? end : file_bytes};
}

/* The number of words by which the bit of page 0 of the shard would precede the first word after
 * the pages. */
static int64_t words_before(const span *at) { return at->begin / LEAT_PAGE_BYTES / 64; }

static int64_t bits_bytes(const span *at) {
    int64_t last = (at->end - 1) / LEAT_PAGE_BYTES / 64;
    return (last - words_before(at) + 1) * (int64_t)sizeof(uint64_t);
}

/* Reads the part of the pages that the file has; the rest is zeros, which match no hash. */
static leat_code read_pages(const leat_dataset *dataset, int64_t shard, const span *at,
                            bool any_size, uint8_t *bytes, leat_error *err) {
    leat_file *file = NULL;
    int64_t file_bytes = 0;
    LEAT_TRY(leat_shard_file_acquire(dataset, shard, any_size, &file, &file_bytes, err));
    int64_t end = at->end < file_bytes ? at->end : file_bytes;
    leat_code code = LEAT_OK;
    if (end > at->begin) code = leat_file_pread(file, bytes, end - at->begin, at->begin, err);
    if (code == LEAT_ERR_CORRUPT) {
        /* it had these bytes when it was opened */
        code = leat_error_context(err, LEAT_ERR_IO, "the file was cut while it was open");
    }
    leat_shard_release(dataset, shard);
    return code;
}

leat_code leat_extent_read(leat_extent *extent, const leat_dataset *dataset,
                           const leat_row_facts *facts, int64_t row, int64_t chunk_offset,
                           bool any_size, leat_error *err) {
    const leat_shard *shard = &dataset->shards[facts->shard];
    span at = pages_of(chunk_offset, facts->record_bytes, shard->facts.file_bytes);
    int64_t page_bytes = at.end - at.begin;
    int64_t bits_at = (page_bytes + 7) / 8 * 8; /* words are aligned */
    leat_cached_record *record = leat_record_cache_find(dataset->cache, row);
    if (record == NULL) {
        LEAT_TRY(leat_record_cache_make(row, bits_at + bits_bytes(&at), &record, err));
        leat_code code = read_pages(dataset, facts->shard, &at, any_size, record->data, err);
        if (code != LEAT_OK) {
            leat_record_cache_release(dataset->cache, record);
            return code;
        }
        record = leat_record_cache_offer(dataset->cache, record);
    }
    extent->record = record;
    /* with the page numbers of the complete file, so that the same code reads both; computed as
     * integers, because these pointers do not point into an object */
    uintptr_t data = (uintptr_t)record->data;
    extent->paged = (leat_paged){
        .map = shard->unmapped,
        .data = (const uint8_t *)(data - (uintptr_t)at.begin),
        .size_bytes = at.end,
        .checked = (_Atomic uint64_t *)(data + (uintptr_t)bits_at -
                                        (uintptr_t)words_before(&at) * sizeof(uint64_t)),
        .hash = leat_shard_page_hash,
        .context = &shard->pages,
    };
    return LEAT_OK;
}

void leat_extent_release(leat_extent *extent, const leat_dataset *dataset) {
    leat_record_cache_release(dataset->cache, extent->record);
    *extent = (leat_extent){0};
}
