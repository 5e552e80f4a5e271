/* Where a record is damaged: for the quarantine list, so that it does not depend on which thread
 * found the damage. */
#include "load/probes/dataset.h"

/* Bytes of a chunk before its record: the chunk's header and the framing, at most. */
#define FRONT_BYTES_MAX 56

/* The first damaged page of those that hold the record's chunk; -1: none. */
static int64_t find_bad_page(const leat_dataset *dataset, int64_t shard, const leat_index_row *row,
                             leat_error *why) {
    const leat_paged *paged = NULL;
    int64_t begin = row->chunk_offset / LEAT_PAGE_BYTES * LEAT_PAGE_BYTES;
    int64_t end = leat_ar_advance(row->chunk_offset, FRONT_BYTES_MAX + row->record_bytes);
    if (leat_shard_paged(dataset, shard, true, &paged, why) != LEAT_OK) return 0;
    if (end > paged->size_bytes) end = paged->size_bytes;
    for (int64_t at = begin; at < end; at += LEAT_PAGE_BYTES) {
        uint8_t byte = 0;
        if (leat_paged_read(paged, at, 1, &byte, why) != LEAT_OK) return at;
    }
    return -1;
}

int64_t leat_dataset_damaged_byte(const leat_dataset *dataset, int64_t row, leat_error *why) {
    leat_cached_record *record = NULL;
    leat_index_row indexed;
    int64_t shard = leat_dataset_shard_of(dataset, row);
    if (dataset->index == NULL) return -1;
    if (leat_index_row_in(dataset->index, shard, row, &indexed, why) != LEAT_OK) return -1;
    if (dataset->shards[shard].is_mapped) return find_bad_page(dataset, shard, &indexed, why);
    if (leat_dataset_record(dataset, row, true, &record, why) != LEAT_OK)
        return indexed.chunk_offset;
    leat_record_cache_release(dataset->cache, record);
    return -1;
}
