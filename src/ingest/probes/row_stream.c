/*
 * Rows that do not fit in memory: see rows.h. The columns that differ between measurements are
 * collected separately; those that can be computed (source and version, unless each measurement has
 * its own) are not stored. A full row is produced from them piece by piece, as often as the shard's
 * writer requests it.
 */
#include <stdio.h>

#include "ingest/probes/rows.h"

#define SCRATCH_BYTES 65536

leat_code leat_row_stream_begin(leat_row_stream *stream, leat_row_maker *maker,
                                const char *temp_dir, leat_error *err) {
    *stream = (leat_row_stream){.maker = maker, .temp_dir = temp_dir};
    if (maker->record_bytes < LEAT_ROW_STREAM_BYTES_MIN) {
        return leat_fail(err, LEAT_ERR_LIMIT, "no memory left for the columns of a row");
    }
    /* The last part of the block is scratch space for reading the files back. */
    stream->column_count = maker->named ? LEAT_STREAM_COLUMNS : LEAT_STREAM_SRC_OFFSETS;
    stream->column_bytes = (maker->record_bytes - SCRATCH_BYTES) / stream->column_count;
    for (int i = 0; i < stream->column_count; i++) {
        stream->column[i] = maker->record + i * stream->column_bytes;
    }
    return LEAT_OK;
}

static uint8_t *scratch_of(const leat_row_stream *stream) {
    return stream->maker->record + stream->column_count * stream->column_bytes;
}

static leat_code spill_column(leat_row_stream *stream, int column, leat_error *err) {
    if (stream->file[column] == NULL) {
        LEAT_TRY(leat_file_open_nameless(&stream->file[column], stream->temp_dir, err));
    }
    LEAT_TRY(leat_file_pwrite(stream->file[column], stream->column[column], stream->filled[column],
                              stream->spilled[column], err));
    stream->spilled[column] += stream->filled[column];
    stream->filled[column] = 0;
    return LEAT_OK;
}

static leat_code column_add(leat_row_stream *stream, int column, const void *bytes, int64_t size,
                            leat_error *err) {
    if (stream->filled[column] + size > stream->column_bytes) {
        LEAT_TRY(spill_column(stream, column, err));
    }
    memcpy(stream->column[column] + stream->filled[column], bytes, (size_t)size);
    stream->filled[column] += size;
    return LEAT_OK;
}

/* The source of a measurement, and its version, which differ from those before. */
static leat_code add_own(leat_row_stream *stream, const leat_text *src, int version,
                         leat_error *err) {
    int32_t offset = (int32_t)stream->src_bytes;
    uint8_t stored = (uint8_t)version;
    if (!stream->maker->dictionary_src) {
        LEAT_TRY(column_add(stream, LEAT_STREAM_SRC_OFFSETS, &offset, 4, err));
        LEAT_TRY(column_add(stream, LEAT_STREAM_SRC_DATA, src->data, src->size_bytes, err));
    }
    return column_add(stream, LEAT_STREAM_VERSION, &stored, 1, err);
}

static void begin_row(leat_row_stream *stream, const leat_bucket_source *probe,
                      const leat_text *src, int version, int64_t time_us) {
    stream->probe = *probe;
    stream->source = (leat_text){stream->source_text, src->size_bytes};
    memcpy(stream->source_text, src->data, (size_t)src->size_bytes);
    stream->version = version;
    stream->first_us = time_us;
}

leat_code leat_row_stream_add(leat_row_stream *stream, const leat_bucket_source *probe,
                              const uint8_t *record, leat_error *err) {
    const leat_row_maker *maker = stream->maker;
    int64_t time_us = 0;
    memcpy(&time_us, record, 8);
    int32_t size = record[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_LENGTH;
    int version = record[LEAT_SPILL_FACTS_AT] & LEAT_SPILL_V6 ? 6 : 4;
    leat_text src = leat_rows_source(probe, record);
    int64_t n = stream->count + 1;
    if (n > 1 && leat_probe_measurements_bytes(n, stream->src_bytes + src.size_bytes,
                                               stream->dst_bytes + size,
                                               maker->dictionary_src) > maker->limit_bytes) {
        LEAT_TRY(leat_row_stream_flush(stream, err));
    }
    if (stream->count == 0) begin_row(stream, probe, &src, version, time_us);
    if (stream->version != version) stream->version = 0;
    if (maker->named && maker->dictionary_src &&
        leat_text_compare(src.data, src.size_bytes, stream->source.data,
                          stream->source.size_bytes) != 0)
        return leat_rows_two_sources(probe, &stream->source, &src, err);
    int32_t offset = (int32_t)stream->dst_bytes;
    LEAT_TRY(column_add(stream, LEAT_STREAM_TIME, record, 8, err));
    LEAT_TRY(column_add(stream, LEAT_STREAM_DST_OFFSETS, &offset, 4, err));
    LEAT_TRY(column_add(stream, LEAT_STREAM_DST_DATA, record + LEAT_SPILL_TEXT_AT, size, err));
    LEAT_TRY(column_add(stream, LEAT_STREAM_RTT, record + LEAT_SPILL_RTT_AT, 4, err));
    if (maker->named) LEAT_TRY(add_own(stream, &src, version, err));
    stream->count++;
    stream->src_bytes += src.size_bytes;
    stream->dst_bytes += size;
    stream->last_us = time_us;
    return LEAT_OK;
}

/* ---- producing the record ---- */

typedef struct output {
    const leat_row_stream *stream;
    leat_ar_put_fn put;
    void *context;
} output;

static leat_code put_stored(const output *out, leat_stream_column column, leat_error *err) {
    const leat_row_stream *stream = out->stream;
    uint8_t *scratch = scratch_of(stream);
    for (int64_t at = 0; at < stream->spilled[column]; at += SCRATCH_BYTES) {
        int64_t left = stream->spilled[column] - at;
        int64_t step = left < SCRATCH_BYTES ? left : SCRATCH_BYTES;
        LEAT_TRY(leat_file_pread(stream->file[column], scratch, step, at, err));
        LEAT_TRY(out->put(out->context, scratch, step, err));
    }
    return out->put(out->context, stream->column[column], stream->filled[column], err);
}

/* The same bytes `count` times. */
static leat_code put_repeated(const output *out, const void *bytes, int64_t size, int64_t count,
                              leat_error *err) {
    uint8_t *scratch = scratch_of(out->stream);
    int64_t fit = SCRATCH_BYTES / size;
    for (int64_t i = 0; i < fit && i < count; i++) memcpy(scratch + i * size, bytes, (size_t)size);
    for (int64_t done = 0; done < count; done += fit) {
        int64_t step = count - done < fit ? count - done : fit;
        LEAT_TRY(out->put(out->context, scratch, step * size, err));
    }
    return LEAT_OK;
}

static leat_code put_src_offsets(const output *out, leat_error *err) {
    const leat_row_stream *stream = out->stream;
    uint8_t *scratch = scratch_of(stream);
    int64_t filled = 0;
    for (int64_t i = 0; i <= stream->count; i++) {
        int32_t offset = (int32_t)(i * stream->source.size_bytes);
        memcpy(scratch + filled, &offset, 4);
        filled += 4;
        if (filled == SCRATCH_BYTES || i == stream->count) {
            LEAT_TRY(out->put(out->context, scratch, filled, err));
            filled = 0;
        }
    }
    return LEAT_OK;
}

static leat_code put_column(const output *out, int column, leat_error *err) {
    const leat_row_stream *stream = out->stream;
    const leat_row_maker *maker = stream->maker;
    uint8_t version = (uint8_t)stream->version, zero = 0;
    switch (column) {
    case LEAT_PROBE_EVENT_TIME: return put_stored(out, LEAT_STREAM_TIME, err);
    case LEAT_PROBE_DST_OFFSETS: return put_stored(out, LEAT_STREAM_DST_OFFSETS, err);
    case LEAT_PROBE_DST_DATA: return put_stored(out, LEAT_STREAM_DST_DATA, err);
    case LEAT_PROBE_RTT: return put_stored(out, LEAT_STREAM_RTT, err);
    case LEAT_PROBE_IP_VERSION:
        if (maker->named) return put_stored(out, LEAT_STREAM_VERSION, err);
        return put_repeated(out, &version, 1, stream->count, err);
    case LEAT_PROBE_SRC_OFFSETS:
        if (maker->dictionary_src) return put_repeated(out, &zero, 1, stream->count, err);
        if (maker->named) return put_stored(out, LEAT_STREAM_SRC_OFFSETS, err);
        return put_src_offsets(out, err);
    default:
        if (maker->dictionary_src) return LEAT_OK;
        if (maker->named) return put_stored(out, LEAT_STREAM_SRC_DATA, err);
        return put_repeated(out, stream->source.data, stream->source.size_bytes, stream->count,
                            err);
    }
}

static leat_code produce_row(void *context, leat_ar_put_fn put, void *put_context,
                             leat_error *err) {
    static const uint8_t zeros[64];
    const leat_row_stream *stream = context;
    const leat_probe_plan *plan = &stream->maker->plan;
    output out = {.stream = stream, .put = put, .context = put_context};
    for (int i = 0; i < plan->piece_count; i++) {
        const leat_probe_piece *piece = &plan->pieces[i];
        if (piece->column < 0) {
            LEAT_TRY(put(put_context, plan->frame + piece->frame, piece->size_bytes, err));
        } else {
            LEAT_TRY(put_column(&out, piece->column, err));
        }
        LEAT_ASSERT(piece->pad_bytes <= (int32_t)sizeof zeros);
        if (piece->pad_bytes > 0) LEAT_TRY(put(put_context, zeros, piece->pad_bytes, err));
    }
    return LEAT_OK;
}

leat_code leat_row_stream_flush(leat_row_stream *stream, leat_error *err) {
    if (stream->count == 0) return LEAT_OK;
    leat_row_maker *maker = stream->maker;
    const bool own_sources = maker->named && !maker->dictionary_src;
    int32_t end = (int32_t)stream->dst_bytes, src_end = (int32_t)stream->src_bytes;
    LEAT_TRY(column_add(stream, LEAT_STREAM_DST_OFFSETS, &end, 4, err));
    if (own_sources) LEAT_TRY(column_add(stream, LEAT_STREAM_SRC_OFFSETS, &src_end, 4, err));
    leat_probe_facts facts = {
        .src_id = stream->probe.src_id,
        .n_measurements = stream->count,
        .first_us = stream->first_us,
        .last_us = stream->last_us,
        .dst_bytes = stream->dst_bytes,
        .src_size = stream->source.size_bytes,
        .own_sources = own_sources,
        .src_bytes = stream->src_bytes,
    };
    memcpy(facts.src, stream->source.data, (size_t)stream->source.size_bytes);
    LEAT_TRY(leat_probe_plan_row(&facts, maker->dictionary_src, &maker->plan, err));
    const leat_ar_stream record = {maker->plan.record_bytes, produce_row, stream};
    LEAT_TRY(leat_shard_writer_append_stream(maker->shards, &facts, stream->version, &record, err));
    stream->count = 0;
    stream->src_bytes = stream->dst_bytes = 0;
    memset(stream->filled, 0, sizeof stream->filled);
    memset(stream->spilled, 0, sizeof stream->spilled);
    return LEAT_OK;
}

void leat_row_stream_end(leat_row_stream *stream) {
    for (int i = 0; i < LEAT_STREAM_COLUMNS; i++) {
        if (stream->file[i] == NULL) continue;
        leat_file_close(stream->file[i]);
        stream->file[i] = NULL;
    }
}
