/*
 * Pages of a shard, read instead of mapped: those of one record, kept in the data set's cache, or
 * of a block of rows (loaded.h).
 *
 * They are followed by one bit per page, and accessed through a leat_paged like those of a mapped
 * shard. So a page is checked when it is first touched, and a
 * damaged page fails exactly the reads that touch it, however the file is read.
 */
#include <string.h>

#include "load/probes/dataset.h"

/* Bytes of a chunk that are not records: header and framing before them, padding after them. */
#define FRAME_BYTES_MAX 1024

static leat_span pages_of(int64_t chunk_offset, int64_t record_bytes, int64_t file_bytes) {
    int64_t end = leat_ar_advance(chunk_offset, FRAME_BYTES_MAX + record_bytes);
    return leat_span_of(chunk_offset, end < file_bytes ? end : file_bytes, file_bytes);
}

leat_span leat_span_of(int64_t begin, int64_t end, int64_t file_bytes) {
    end = (end + LEAT_PAGE_BYTES - 1) / LEAT_PAGE_BYTES * LEAT_PAGE_BYTES;
    return (leat_span){begin / LEAT_PAGE_BYTES * LEAT_PAGE_BYTES,
                       end < file_bytes ? end : file_bytes};
}

/* The number of words by which the bit of page 0 of the shard would precede the first word after
 * the pages. */
static int64_t words_before(const leat_span *at) { return at->begin / LEAT_PAGE_BYTES / 64; }

/* Where the bits begin after the pages: words are aligned. */
static int64_t bits_at(const leat_span *at) { return (at->end - at->begin + 7) / 8 * 8; }

int64_t leat_span_bytes(const leat_span *at) {
    int64_t last = (at->end - 1) / LEAT_PAGE_BYTES / 64;
    return bits_at(at) + (last - words_before(at) + 1) * (int64_t)sizeof(uint64_t);
}

leat_code leat_span_read(const leat_dataset *dataset, int64_t shard, const leat_span *at,
                         bool any_size, uint8_t *bytes, leat_error *err) {
    leat_file *file = NULL;
    int64_t file_bytes = 0;
    LEAT_TRY(leat_shard_file_acquire(dataset, shard, any_size, &file, &file_bytes, err));
    int64_t end = at->end < file_bytes ? at->end : file_bytes;
    int64_t found = end > at->begin ? end - at->begin : 0;
    leat_code code = LEAT_OK;
    if (found > 0) code = leat_file_pread(file, bytes, found, at->begin, err);
    memset(bytes + found, 0, (size_t)(leat_span_bytes(at) - found));
    if (code == LEAT_ERR_CORRUPT) {
        /* it had these bytes when it was opened */
        code = leat_error_context(err, LEAT_ERR_IO, "the file was cut while it was open");
    }
    leat_shard_release(dataset, shard);
    return code;
}

leat_paged leat_span_paged(const leat_dataset *dataset, int64_t shard, const leat_span *at,
                           const uint8_t *bytes) {
    /* with the page numbers of the complete file, so that the same code reads both; computed as
     * integers, because these pointers do not point into an object */
    uintptr_t data = (uintptr_t)bytes;
    return (leat_paged){
        .map = dataset->shards[shard].unmapped,
        .data = (const uint8_t *)(data - (uintptr_t)at->begin),
        .size_bytes = at->end,
        .checked = (_Atomic uint64_t *)(data + (uintptr_t)bits_at(at) -
                                        (uintptr_t)words_before(at) * sizeof(uint64_t)),
        .hash = leat_shard_page_hash,
        .context = &dataset->shards[shard].pages,
    };
}

leat_code leat_extent_read(leat_extent *extent, const leat_dataset *dataset,
                           const leat_row_facts *facts, int64_t row, int64_t chunk_offset,
                           bool any_size, leat_error *err) {
    int64_t file_bytes = dataset->shards[facts->shard].facts.file_bytes;
    leat_span at = pages_of(chunk_offset, facts->record_bytes, file_bytes);
    leat_cached_record *record = leat_record_cache_find(dataset->cache, row);
    if (record == NULL) {
        LEAT_TRY(leat_record_cache_make(row, leat_span_bytes(&at), &record, err));
        leat_code code = leat_span_read(dataset, facts->shard, &at, any_size, record->data, err);
        if (code != LEAT_OK) {
            leat_record_cache_release(dataset->cache, record);
            return code;
        }
        record = leat_record_cache_offer(dataset->cache, record);
    }
    extent->record = record;
    extent->paged = leat_span_paged(dataset, facts->shard, &at, record->data);
    return LEAT_OK;
}

void leat_extent_release(leat_extent *extent, const leat_dataset *dataset) {
    leat_record_cache_release(dataset->cache, extent->record);
    *extent = (leat_extent){0};
}
