/*
 * Cursors: one row opened, a few of its measurements read, or all of it.
 *
 * A row of an uncompressed shard written by leat is in the mapped file, cut every 64 KiB by a block
 * header and otherwise in one piece; where a byte of it lies is arithmetic. Reading one goes
 * through a view that copies the bytes out of checked pages, so a row of 8 MiB costs what is looked
 * at. Records that had to be decoded are a view on memory.
 */
#include <string.h>

#include "load/probes/loaded.h"

struct leat_row {
    const leat_dataset *dataset;
    leat_io io;
    bool any_size; /* of shards: see leat_shard_paged */
    bool is_open;
    leat_row_facts facts;
    leat_view view;
    leat_probe_row probe;
    leat_record_place place;    /* mapped, or its pages read: what the view is on */
    leat_extent extent;         /* its pages read: they */
    leat_cached_record *record; /* decoded */
    leat_buf copy;              /* the record in one piece, when it was asked for */
    bool keeps_texts;
    leat_buf texts; /* of the measurements that were gathered last */
};

leat_code leat_row_create(leat_row **out, const leat_dataset *dataset, leat_error *err) {
    *out = NULL;
    LEAT_TRY(LEAT_NEW(out, 1, err));
    (*out)->dataset = dataset;
    return LEAT_OK;
}

void leat_row_set_io(leat_row *cursor, leat_io io, bool any_size) {
    cursor->io = io;
    cursor->any_size = any_size;
}

void leat_row_close(leat_row *cursor) {
    if (cursor->is_open) leat_probe_row_close(&cursor->probe);
    leat_record_cache_release(cursor->dataset->cache, cursor->record);
    leat_extent_release(&cursor->extent, cursor->dataset);
    cursor->record = NULL;
    cursor->place.paged = NULL;
    cursor->is_open = false;
    cursor->facts = (leat_row_facts){0};
    cursor->copy.size = 0;
}

void leat_row_destroy(leat_row *cursor) {
    if (cursor == NULL) return;
    leat_row_close(cursor);
    leat_buf_free(&cursor->copy);
    leat_buf_free(&cursor->texts);
    leat_free(cursor);
}

/* ---- opening ------------------------------------------------------------------------------ */

static const uint8_t *get_file_bytes(void *context, int64_t offset, int64_t size_bytes,
                                     uint8_t *scratch, leat_error *err) {
    if (leat_paged_read(context, offset, size_bytes, scratch, err) != LEAT_OK) return NULL;
    return scratch;
}

/* The record's position computed from its chunk, for chunks that leat did not write. */
static leat_code find_record(leat_row *cursor, int64_t *size_bytes, leat_error *err) {
    leat_record_place *place = &cursor->place;
    /* get_file_bytes does not write through its context */
    leat_ar_bytes bytes = {get_file_bytes, (void *)(uintptr_t)place->paged,
                           place->paged->size_bytes};
    leat_ar_chunk chunk;
    LEAT_TRY(leat_ar_chunk_read(&bytes, place->begin, bytes.size_bytes, &chunk, err));
    if (chunk.record_count != 1) {
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "chunk at byte %lld has %lld records; it must have 1",
                         (long long)place->begin, (long long)chunk.record_count);
    }
    return leat_ar_chunk_record(&bytes, &chunk, 0, &place->first, size_bytes, err);
}

/* Whether measurements of a row may have different sources: where probes have names. */
static bool has_own_sources(const leat_row *cursor) { return cursor->dataset->facts.probe != NULL; }

/* Opens the record that the view is on: one written by leat without parsing it. */
static leat_code open_probe(leat_row *cursor, leat_error *err) {
    int64_t needed = 0;
    leat_probe_read_options options =
        leat_dataset_read_options(cursor->dataset, cursor->facts.src_id, &needed);
    options.trusted = cursor->dataset->index != NULL;
    leat_code code = leat_probe_row_open(&cursor->probe, &cursor->view, &options, err);
    if (code == LEAT_ERR_LIMIT) code = leat_dataset_row_too_large(cursor->dataset, needed, err);
    cursor->is_open = code == LEAT_OK;
    /* a dictionary has one source */
    cursor->probe.own_sources = has_own_sources(cursor) && !cursor->probe.is_coded[0];
    return code;
}

static bool open_known(leat_row *cursor) {
    const leat_row_facts *facts = &cursor->facts;
    leat_probe_facts known = {.src_id = facts->src_id,
                              .n_measurements = facts->n_measurements,
                              .first_us = facts->first_us,
                              .last_us = facts->last_us,
                              .own_sources = has_own_sources(cursor)};
    cursor->is_open = cursor->view.size_bytes == facts->record_bytes &&
                      leat_probe_row_open_known(&cursor->probe, &cursor->view, &known);
    return cursor->is_open;
}

/* The pages that hold the record: in the part, in the mapped shard, or read now. */
static leat_code find_pages(leat_row *cursor, int64_t row, int64_t chunk_offset,
                            const leat_loaded_part *part, leat_error *err) {
    if (part != NULL) {
        cursor->place.paged = &part->paged;
        return LEAT_OK;
    }
    if (cursor->io == LEAT_IO_MMAP) {
        return leat_shard_paged(cursor->dataset, cursor->facts.shard, cursor->any_size,
                                &cursor->place.paged, err);
    }
    LEAT_TRY(leat_extent_read(&cursor->extent, cursor->dataset, &cursor->facts, row, chunk_offset,
                              cursor->any_size, err));
    cursor->place.paged = &cursor->extent.paged;
    return LEAT_OK;
}

static leat_code open_paged(leat_row *cursor, int64_t row, int64_t chunk_offset,
                            const leat_loaded_part *part, leat_error *err) {
    leat_record_place *place = &cursor->place;
    uint8_t head[LEAT_AR_PLAIN_HEAD_BYTES];
    int64_t size_bytes = cursor->facts.record_bytes, end;
    LEAT_TRY(find_pages(cursor, row, chunk_offset, part, err));
    place->data = place->paged->data;
    place->begin = chunk_offset;
    place->first = leat_ar_plain_head(chunk_offset, size_bytes, head, &end);
    cursor->view = leat_view_of_place(place, size_bytes);
    if (open_known(cursor)) return LEAT_OK;
    LEAT_TRY(find_record(cursor, &size_bytes, err));
    cursor->view = leat_view_of_place(place, size_bytes);
    return open_probe(cursor, err);
}

static leat_code open_record(leat_row *cursor, int64_t row, const leat_loaded_part *part,
                             leat_error *err) {
    if (part == NULL || !leat_loaded_record(part, row, &cursor->view)) {
        LEAT_TRY(leat_dataset_record(cursor->dataset, row, cursor->any_size, &cursor->record, err));
        cursor->view = leat_view_of(cursor->record->data, cursor->record->size_bytes);
    }
    if (cursor->dataset->index != NULL && open_known(cursor)) return LEAT_OK;
    return open_probe(cursor, err);
}

/* The row must agree with the index. */
static leat_code check_facts(const leat_row *cursor, leat_error *err) {
    const leat_probe_row_info *info = &cursor->probe.info;
    const leat_row_facts *facts = &cursor->facts;
    if (info->src_id == facts->src_id && info->n_measurements == facts->n_measurements &&
        (!info->has_first || info->first_us == facts->first_us) &&
        (!info->has_last || info->last_us == facts->last_us) &&
        cursor->view.size_bytes == facts->record_bytes) {
        return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "the record (src_id %lld, %lld measurements, %lld bytes) contradicts the "
                     "index (src_id %lld, %lld, %lld); run the ingest again with --replace",
                     (long long)info->src_id, (long long)info->n_measurements,
                     (long long)cursor->view.size_bytes, (long long)facts->src_id,
                     (long long)facts->n_measurements, (long long)facts->record_bytes);
}

/* Puts shard and record before a message about the open row. Shards are opened when they are first
 * touched: by then they may be another data set's, which is not damage, and must not be masked. */
static leat_code in_row(const leat_row *cursor, leat_code code, leat_error *err) {
    if (code == LEAT_OK) return code;
    bool differs = code == LEAT_ERR_CORRUPT || code == LEAT_ERR_INPUT ||
                   code == LEAT_ERR_NOT_FOUND || code == LEAT_ERR_IO;
    if (differs && leat_dataset_is_replaced(cursor->dataset))
        code = leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "the data set \"%s\" was replaced after it was opened; open it again",
                         cursor->dataset->dir);
    else if (code == LEAT_ERR_NOT_FOUND && cursor->dataset->index != NULL)
        code = leat_fail(err, code,
                         "the file is missing from \"%s\"; copy it there again, or run the ingest "
                         "again with --replace",
                         cursor->dataset->dir);
    return leat_error_context(err, code, "shard \"%s\", record %lld",
                              cursor->dataset->shards[cursor->facts.shard].name,
                              (long long)cursor->facts.record_index);
}

leat_code leat_dataset_row_open(const leat_dataset *dataset, int64_t row, leat_row *cursor,
                                leat_error *err) {
    return leat_dataset_row_open_in(dataset, row, cursor, NULL, err);
}

leat_code leat_dataset_row_open_in(const leat_dataset *dataset, int64_t row, leat_row *cursor,
                                   const leat_loaded_part *part, leat_error *err) {
    LEAT_ASSERT(cursor->dataset == dataset);
    leat_row_close(cursor);
    int64_t chunk_offset = 0;
    LEAT_TRY(leat_dataset_row_place(dataset, row, &cursor->facts, &chunk_offset, err));
    bool paged = dataset->shards[cursor->facts.shard].is_mapped;
    leat_code code = paged ? open_paged(cursor, row, chunk_offset, part, err)
                           : open_record(cursor, row, part, err);
    if (code == LEAT_OK) code = check_facts(cursor, err);
    if (code != LEAT_OK) {
        code = in_row(cursor, code, err);
        leat_row_close(cursor);
    }
    return code;
}

const leat_row_facts *leat_row_get_facts(const leat_row *cursor) {
    return cursor->is_open ? &cursor->facts : NULL;
}

static leat_code check_open(const leat_row *cursor, leat_error *err) {
    if (cursor->is_open) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "reading a row: no row is open in the cursor");
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

void leat_row_keep_texts(leat_row *cursor, bool keep) { cursor->keeps_texts = keep; }

static leat_code gather(leat_row *cursor, const int64_t *indices, int64_t count,
                        leat_measurement *points, leat_error *err) {
    int64_t n = cursor->facts.n_measurements, text_bytes = 0;
    LEAT_TRY(check_open(cursor, err));
    for (int64_t k = 0; k < count; k++) {
        if (indices[k] >= 0 && indices[k] < n) continue;
        return leat_fail(err, LEAT_ERR_OPTION, "no measurement %lld: the row has %lld",
                         (long long)indices[k], (long long)n);
    }
    if (cursor->keeps_texts) {
        if (!leat_mul_size(count, LEAT_PROBE_TEXTS_BYTES, &text_bytes))
            return leat_fail(err, LEAT_ERR_LIMIT, "cannot read %lld measurements at once",
                             (long long)count);
        cursor->texts.size = 0;
        LEAT_TRY(leat_buf_reserve(&cursor->texts, text_bytes, err));
    }
    char *texts = cursor->keeps_texts ? (char *)cursor->texts.data : NULL;
    leat_code code = leat_probe_row_gather(&cursor->probe, indices, count, points, texts, err);
    return in_row(cursor, code, err);
}

leat_code leat_row_gather(leat_row *cursor, const int64_t *indices, int64_t count,
                          leat_measurement *points, leat_error *err) {
    LEAT_ASSERT(count >= 0);
    leat_code code = gather(cursor, indices, count, points, err);
    if (code != LEAT_OK) memset(points, 0, (size_t)count * sizeof *points);
    return code;
}

leat_code leat_dataset_row_decode(leat_row *cursor, leat_measurements *out, leat_error *err) {
    LEAT_TRY(check_open(cursor, err));
    leat_probe_row_info info;
    int64_t needed = 0;
    leat_probe_read_options options =
        leat_dataset_read_options(cursor->dataset, cursor->facts.src_id, &needed);
    leat_code code = leat_probe_row_decode(&cursor->view, &options, out, &info, err);
    if (code == LEAT_ERR_LIMIT) code = leat_dataset_row_too_large(cursor->dataset, needed, err);
    return in_row(cursor, code, err);
}

leat_code leat_dataset_row_record(leat_row *cursor, const uint8_t **bytes, int64_t *size_bytes,
                                  leat_error *err) {
    *bytes = NULL;
    *size_bytes = 0;
    LEAT_TRY(check_open(cursor, err));
    int64_t size = cursor->view.size_bytes;
    if (cursor->record != NULL) {
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
