/*
 * Cursors: one row opened, a few of its measurements read, or all of it.
 *
 * A row of an uncompressed shard of ours lies in the mapped file, cut every 64 KiB by a block
 * header and otherwise in one piece; where a byte of it lies is arithmetic. Reading one goes
 * through a view that copies the bytes out of checked pages, so a row of 8 MiB costs what is looked
 * at. Records that had to be decoded are a view on memory.
 */
#include <string.h>

#include "load/dataset.h"

struct leat_row {
    const leat_dataset *dataset;
    leat_io io;
    bool is_open;
    leat_row_facts facts;
    leat_view view;
    leat_probe_row probe;
    /* mapped: the shard, and the record's chunk in it */
    const leat_paged *paged;
    leat_ar_chunk chunk;
    int64_t first; /* stream byte of the chunk where the record begins */
    /* not mapped */
    leat_cached_record *record;
    leat_buf copy; /* the record in one piece, when it was asked for */
};

leat_code leat_row_create(leat_row **out, const leat_dataset *dataset, leat_error *err) {
    *out = NULL;
    LEAT_TRY(LEAT_NEW(out, 1, err));
    (*out)->dataset = dataset;
    return LEAT_OK;
}

void leat_row_set_io(leat_row *cursor, leat_io io) { cursor->io = io; }

/* Ends the open row; the room for the next one stays. */
static void close_row(leat_row *cursor) {
    if (cursor->is_open) leat_probe_row_close(&cursor->probe);
    leat_record_cache_release(cursor->dataset->cache, cursor->record);
    cursor->record = NULL;
    cursor->paged = NULL;
    cursor->is_open = false;
    cursor->facts = (leat_row_facts){0};
    cursor->copy.size = 0;
}

void leat_row_destroy(leat_row *cursor) {
    if (cursor == NULL) return;
    close_row(cursor);
    leat_buf_free(&cursor->copy);
    leat_free(cursor);
}

/* ---- views on mapped shards ---------------------------------------------------------------------
 */

static const uint8_t *get_file_bytes(void *context, int64_t offset, int64_t size_bytes,
                                     uint8_t *scratch, leat_error *err) {
    const leat_row *cursor = context;
    if (leat_paged_read(cursor->paged, offset, size_bytes, scratch, err) != LEAT_OK) return NULL;
    return scratch;
}

static const uint8_t *get_record_bytes(void *context, int64_t offset, int64_t size_bytes,
                                       uint8_t *scratch, leat_error *err) {
    const leat_row *cursor = context;
    int64_t done = 0;
    while (done < size_bytes) {
        int64_t at = 0;
        int64_t size = leat_ar_fragment(cursor->chunk.begin, cursor->first + offset + done,
                                        size_bytes - done, &at);
        if (leat_paged_read(cursor->paged, at, size, scratch + done, err) != LEAT_OK) return NULL;
        done += size;
    }
    return scratch;
}

static leat_code open_mapped(leat_row *cursor, int64_t row, leat_error *err) {
    leat_index_row indexed;
    int64_t size_bytes = 0;
    int64_t file_bytes = cursor->dataset->shards[cursor->facts.shard].facts.file_bytes;
    LEAT_TRY(leat_index_row_in(cursor->dataset->index, cursor->facts.shard, row, &indexed, err));
    LEAT_TRY(leat_shard_paged(cursor->dataset, cursor->facts.shard, &cursor->paged, err));
    leat_ar_bytes bytes = {get_file_bytes, cursor, file_bytes};
    LEAT_TRY(leat_ar_chunk_read(&bytes, indexed.chunk_offset, file_bytes, &cursor->chunk, err));
    if (cursor->chunk.record_count != 1) {
        return leat_fail(err, LEAT_ERR_CORRUPT, "chunk at byte %lld has %lld records, must have 1",
                         (long long)indexed.chunk_offset, (long long)cursor->chunk.record_count);
    }
    LEAT_TRY(leat_ar_chunk_record(&bytes, &cursor->chunk, 0, &cursor->first, &size_bytes, err));
    cursor->view = (leat_view){size_bytes, cursor, get_record_bytes};
    return LEAT_OK;
}

static leat_code open_record(leat_row *cursor, int64_t row, leat_error *err) {
    LEAT_TRY(leat_dataset_record(cursor->dataset, row, &cursor->record, err));
    cursor->view = leat_view_of(cursor->record->data, cursor->record->size_bytes);
    return LEAT_OK;
}

/* What the row says of itself must be what the index says. */
static leat_code check_facts(const leat_row *cursor, leat_error *err) {
    const leat_probe_row_info *info = &cursor->probe.info;
    const leat_row_facts *facts = &cursor->facts;
    if (info->src_id == facts->src_id && info->n_measurements == facts->n_measurements &&
        (!info->has_first || info->first_us == facts->first_us) &&
        (!info->has_last || info->last_us == facts->last_us) &&
        cursor->view.size_bytes == facts->record_bytes) {
        return LEAT_OK;
    }
    return leat_fail(
        err, LEAT_ERR_CORRUPT,
        "the record (src_id %lld, %lld measurements, %lld bytes) contradicts the index "
        "(src_id %lld, %lld, %lld); ingest it again",
        (long long)info->src_id, (long long)info->n_measurements,
        (long long)cursor->view.size_bytes, (long long)facts->src_id,
        (long long)facts->n_measurements, (long long)facts->record_bytes);
}

/* Puts shard and record before a message about the open row. */
static leat_code in_row(const leat_row *cursor, leat_code code, leat_error *err) {
    if (code == LEAT_OK) return code;
    return leat_error_context(err, code, "shard \"%s\", record %lld",
                              cursor->dataset->shards[cursor->facts.shard].name,
                              (long long)cursor->facts.record_index);
}

leat_code leat_dataset_row_open(const leat_dataset *dataset, int64_t row, leat_row *cursor,
                                leat_error *err) {
    LEAT_ASSERT(cursor->dataset == dataset);
    close_row(cursor);
    LEAT_TRY(leat_dataset_row(dataset, row, &cursor->facts, err));
    leat_probe_read_options options = leat_probe_read_options_default();
    options.trusted = dataset->index != NULL;
    options.src_addr = leat_dataset_source(dataset, cursor->facts.src_id);
    bool mapped = dataset->shards[cursor->facts.shard].is_mapped && cursor->io == LEAT_IO_MMAP;
    leat_code code = mapped ? open_mapped(cursor, row, err) : open_record(cursor, row, err);
    if (code == LEAT_OK) {
        code = leat_probe_row_open(&cursor->probe, &cursor->view, &options, err);
        cursor->is_open = code == LEAT_OK;
    }
    if (code == LEAT_OK) code = check_facts(cursor, err);
    if (code != LEAT_OK) {
        code = in_row(cursor, code, err);
        close_row(cursor);
    }
    return code;
}

const leat_row_facts *leat_row_get_facts(const leat_row *cursor) {
    return cursor->is_open ? &cursor->facts : NULL;
}

static leat_code check_open(const leat_row *cursor, leat_error *err) {
    if (cursor->is_open) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "reading a row: none is open in the cursor");
}

leat_code leat_row_measurement(leat_row *cursor, int64_t i, leat_measurement *out,
                               leat_error *err) {
    *out = (leat_measurement){0};
    LEAT_TRY(check_open(cursor, err));
    if (i < 0 || i >= cursor->facts.n_measurements) {
        return leat_fail(err, LEAT_ERR_OPTION, "no measurement %lld: the row has %lld",
                         (long long)i, (long long)cursor->facts.n_measurements);
    }
    leat_code code = leat_probe_row_get(&cursor->probe, i, out, err);
    if (code == LEAT_OK) return LEAT_OK;
    *out = (leat_measurement){0};
    return in_row(cursor, code, err);
}

leat_code leat_dataset_row_decode(leat_row *cursor, leat_measurements *out, leat_error *err) {
    LEAT_TRY(check_open(cursor, err));
    leat_probe_row_info info;
    leat_probe_read_options options = leat_probe_read_options_default();
    options.src_addr = leat_dataset_source(cursor->dataset, cursor->facts.src_id);
    leat_code code = leat_probe_row_decode(&cursor->view, &options, out, &info, err);
    return in_row(cursor, code, err);
}

leat_code leat_dataset_row_record(leat_row *cursor, const uint8_t **bytes, int64_t *size_bytes,
                                  leat_error *err) {
    *bytes = NULL;
    *size_bytes = 0;
    LEAT_TRY(check_open(cursor, err));
    int64_t size = cursor->view.size_bytes;
    if (cursor->paged == NULL) {
        *bytes = cursor->record->data;
        *size_bytes = size;
        return LEAT_OK;
    }
    if (cursor->copy.size != size) {
        LEAT_TRY(leat_buf_reserve(&cursor->copy, size - cursor->copy.size, err));
        const uint8_t *got = NULL;
        leat_code code = leat_view_bytes(&cursor->view, 0, size, cursor->copy.data, &got, err);
        if (code != LEAT_OK) return in_row(cursor, code, err);
        cursor->copy.size = size;
    }
    *bytes = cursor->copy.data;
    *size_bytes = size;
    return LEAT_OK;
}
