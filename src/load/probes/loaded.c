/* Blocks of rows, read in one piece each: see loaded.h. */
#include "load/probes/loaded.h"

#include <string.h>

/* Where the chunks of a part lie in its shard: up to where the next row's begins. */
typedef struct place {
    int64_t begin, end;
    int64_t record_bytes; /* of all records, decoded */
} place;

static leat_code find_place(const leat_dataset *dataset, int64_t shard, int64_t row,
                            int64_t row_count, place *out, leat_error *err) {
    const leat_dataset_shard *facts = &dataset->shards[shard].facts;
    leat_row_facts found;
    int64_t offset = 0;
    LEAT_TRY(leat_dataset_row_place(dataset, row, &found, &out->begin, err));
    out->end = facts->file_bytes;
    if (row + row_count < facts->first_row + facts->row_count) {
        LEAT_TRY(leat_dataset_row_place(dataset, row + row_count, &found, &offset, err));
        out->end = offset;
    }
    out->record_bytes = 0;
    if (dataset->shards[shard].is_mapped) return LEAT_OK;
    for (int64_t i = 0; i < row_count; i++) {
        LEAT_TRY(leat_dataset_row_place(dataset, row + i, &found, &offset, err));
        out->record_bytes += found.record_bytes;
    }
    return LEAT_OK;
}

leat_code leat_loaded_add(leat_loaded *loaded, int64_t shard, int64_t row, int64_t row_count,
                          leat_error *err) {
    LEAT_TRY(LEAT_GROW(&loaded->parts, &loaded->capacity, loaded->count + 1, err));
    loaded->parts[loaded->count++] =
        (leat_loaded_part){.row = row, .row_count = row_count, .shard = shard};
    return LEAT_OK;
}

leat_code leat_loaded_bytes(const leat_dataset *dataset, leat_io io, const leat_loaded_part *part,
                            int64_t *size_bytes, int64_t *chunk_bytes, leat_error *err) {
    place at;
    *size_bytes = *chunk_bytes = 0;
    if (dataset->index == NULL) return LEAT_OK;
    LEAT_TRY(find_place(dataset, part->shard, part->row, part->row_count, &at, err));
    const leat_dataset_shard *facts = &dataset->shards[part->shard].facts;
    leat_span span = leat_span_of(at.begin, at.end, facts->file_bytes);
    if (!dataset->shards[part->shard].is_mapped) {
        *size_bytes = at.record_bytes + part->row_count * (int64_t)sizeof(int64_t);
        *chunk_bytes = at.end - at.begin;
    } else {
        *size_bytes = io == LEAT_IO_MMAP ? span.end - span.begin : leat_span_bytes(&span);
    }
    return LEAT_OK;
}

/* ---- reading ------------------------------------------------------------------------------------
 */

static void drop(leat_loaded_part *part) {
    leat_free(part->bytes);
    leat_free(part->ends);
    part->bytes = NULL;
    part->ends = NULL;
}

/* Bytes that are not zeroed first: all of them are written. */
static leat_code make_room(uint8_t **bytes, int64_t size_bytes, leat_error *err) {
    int64_t capacity = 0;
    *bytes = NULL;
    return LEAT_GROW(bytes, &capacity, size_bytes, err);
}

static leat_code fetch(const leat_dataset *dataset, const leat_loaded_part *part, const place *at,
                       bool any_size, leat_error *err) {
    const leat_paged *paged = NULL;
    LEAT_TRY(leat_shard_paged(dataset, part->shard, any_size, &paged, err));
    leat_map_fetch(paged->map, at->begin, at->end);
    return LEAT_OK;
}

static leat_code read_pages(const leat_dataset *dataset, leat_loaded_part *part, const place *at,
                            bool any_size, leat_error *err) {
    int64_t file_bytes = dataset->shards[part->shard].facts.file_bytes;
    leat_span span = leat_span_of(at->begin, at->end, file_bytes);
    LEAT_TRY(make_room(&part->bytes, leat_span_bytes(&span), err));
    LEAT_TRY(leat_span_read(dataset, part->shard, &span, any_size, part->bytes, err));
    part->paged = leat_span_paged(dataset, part->shard, &span, part->bytes);
    return LEAT_OK;
}

/* Decodes the records one by one; those that fail are left out. */
static leat_code decode(const leat_dataset *dataset, leat_loaded_part *part,
                        const leat_ar_reader *reader, int64_t room_bytes, leat_error *err) {
    leat_dataset *ours = (leat_dataset *)(uintptr_t)dataset; /* to count */
    leat_ar_record record = {0};
    leat_code code = LEAT_OK;
    int64_t size = 0;
    for (int64_t i = 0; i < part->row_count; i++) {
        leat_row_facts facts;
        int64_t offset = 0;
        code = leat_dataset_row_place(dataset, part->row + i, &facts, &offset, err);
        if (code == LEAT_OK) code = leat_ar_reader_read_at(reader, offset, &record, err);
        if (code == LEAT_ERR_MEMORY) break;
        if (code == LEAT_OK && record.size_bytes <= room_bytes - size) {
            memcpy(part->bytes + size, record.data, (size_t)record.size_bytes);
            size += record.size_bytes;
        }
        part->ends[i] = size;
        code = LEAT_OK;
    }
    leat_ar_record_free(&record);
    atomic_fetch_add_explicit(&ours->payload_bytes, size, memory_order_relaxed);
    return code;
}

/* The chunks of a part as they are in the file; *chunks is the caller's. */
static leat_code read_chunks(const leat_dataset *dataset, const leat_loaded_part *part,
                             const place *at, bool any_size, uint8_t **chunks, leat_error *err) {
    const leat_ar_reader *reader = NULL;
    LEAT_TRY(make_room(chunks, at->end - at->begin, err));
    LEAT_TRY(leat_shard_reader_acquire(dataset, part->shard, any_size, &reader, err));
    leat_code code = leat_ar_reader_pread(reader, *chunks, at->end - at->begin, at->begin, err);
    leat_shard_release(dataset, part->shard);
    return code;
}

static leat_code read_records(const leat_dataset *dataset, leat_loaded_part *part, const place *at,
                              bool any_size, leat_error *err) {
    uint8_t *chunks = NULL;
    leat_ar_reader *reader = NULL;
    leat_code code = read_chunks(dataset, part, at, any_size, &chunks, err);
    if (code == LEAT_OK) code = leat_ar_reader_open_piece(&reader, chunks, at->begin, at->end, err);
    if (code == LEAT_OK) code = LEAT_NEW(&part->ends, part->row_count, err);
    if (code == LEAT_OK) code = make_room(&part->bytes, at->record_bytes, err);
    if (code == LEAT_OK) code = decode(dataset, part, reader, at->record_bytes, err);
    leat_ar_reader_close(reader);
    leat_free(chunks);
    return code;
}

static leat_code read_part(const leat_dataset *dataset, leat_loaded_part *part, leat_io io,
                           bool any_size, leat_error *err) {
    place at;
    if (dataset->index == NULL) return LEAT_OK;
    LEAT_TRY(find_place(dataset, part->shard, part->row, part->row_count, &at, err));
    if (!dataset->shards[part->shard].is_mapped)
        return read_records(dataset, part, &at, any_size, err);
    if (io == LEAT_IO_MMAP) return fetch(dataset, part, &at, any_size, err);
    return read_pages(dataset, part, &at, any_size, err);
}

leat_code leat_loaded_read(leat_loaded *loaded, const leat_dataset *dataset, leat_io io,
                           bool any_size, leat_error *err) {
    for (int64_t i = 0; i < loaded->count; i++) {
        leat_error why = {0};
        leat_code code = read_part(dataset, &loaded->parts[i], io, any_size, &why);
        if (code == LEAT_OK) continue;
        drop(&loaded->parts[i]);
        if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &why);
    }
    return LEAT_OK;
}

void leat_loaded_free(leat_loaded *loaded) {
    for (int64_t i = 0; i < loaded->count; i++) drop(&loaded->parts[i]);
    leat_free(loaded->parts);
    *loaded = (leat_loaded){0};
}

/* ---- found --------------------------------------------------------------------------------------
 */

const leat_loaded_part *leat_loaded_find(const leat_loaded *loaded, int64_t row) {
    for (int64_t i = 0; i < loaded->count; i++) {
        const leat_loaded_part *part = &loaded->parts[i];
        if (row >= part->row && row < part->row + part->row_count)
            return part->bytes == NULL ? NULL : part;
    }
    return NULL;
}

bool leat_loaded_record(const leat_loaded_part *part, int64_t row, leat_view *view) {
    int64_t i = row - part->row, begin = i > 0 ? part->ends[i - 1] : 0;
    if (part->ends[i] == begin) return false;
    *view = leat_view_of(part->bytes + begin, part->ends[i] - begin);
    return true;
}
