/*
 * The outer record of a probe row: one batch of one row, whose facts surround the measurements.
 * Only the metadata and some 40 bytes of facts are read; `measurements` is returned as a position.
 */
#include <math.h>
#include <string.h>

#include "format/probe/read.h"

#define SCRATCH_BYTES 4096 /* ours and PyArrow's metadata are below 500 */
#define NAME "probe row"

typedef struct reading {
    leat_arrow_stream stream;
    leat_probe_heap *heap;
    leat_arrow_message message;
    leat_arrow_batch batch;
} reading;

static leat_code check_facts(const leat_arrow_schema *schema, leat_error *err) {
    static const uint8_t kinds[LEAT_PROBE_FACTS] = {LEAT_ARROW_INT,       LEAT_ARROW_BINARY,
                                                    LEAT_ARROW_INT,       LEAT_ARROW_FLOAT,
                                                    LEAT_ARROW_TIMESTAMP, LEAT_ARROW_TIMESTAMP};
    for (int i = 0; i < LEAT_PROBE_FACTS; i++) {
        const leat_arrow_column *column = &schema->columns[i];
        if (!column->present && i <= LEAT_PROBE_FACT_COUNT)
            return leat_fail(err, LEAT_ERR_INPUT, NAME ": column %s is missing",
                             leat_probe_fact_names[i]);
        if (!column->present) continue;
        int kind = column->type.kind;
        bool right = kind == kinds[i] ||
                     (i == LEAT_PROBE_FACT_MEASUREMENTS && kind == LEAT_ARROW_LARGE_BINARY);
        if (!right || column->is_coded)
            return leat_fail(err, LEAT_ERR_INPUT, NAME ": column %s has type %s%s, not %s",
                             leat_probe_fact_names[i], column->is_coded ? "dictionary of " : "",
                             leat_arrow_kind_text(kind), leat_arrow_kind_text(kinds[i]));
    }
    return LEAT_OK;
}

/* The first `want` bytes of a buffer (or, want -1, only its size): of compressed ones decoded. */
static leat_code buffer_bytes(reading *r, leat_arrow_span span, int64_t want, uint8_t *out,
                              leat_error *err) {
    const uint8_t *bytes;
    if (r->batch.codec == LEAT_ARROW_CODEC_NONE) {
        LEAT_TRY(leat_view_bytes(r->stream.view, span.offset, want, out, &bytes, err));
        if (bytes != out) memcpy(out, bytes, (size_t)want);
        return LEAT_OK;
    }
    if (!r->heap) return leat_fail(err, LEAT_ERR_LIMIT, NAME ": compressed record, read in place");
    uint8_t decoded[64];
    int64_t size;
    LEAT_ASSERT(leat_view_memory(r->stream.view)); /* with a heap the record is in memory */
    bytes = leat_view_memory(r->stream.view) + span.offset;
    /* A fact's buffer has a few bytes; a longer one is not a fact. */
    LEAT_TRY(leat_arrow_decoded_size(r->batch.codec, bytes, span.size_bytes, sizeof decoded, &size,
                                     err));
    if (size < want)
        return leat_fail(err, LEAT_ERR_CORRUPT, NAME ": a buffer of %lld bytes, not %lld",
                         (long long)size, (long long)want);
    LEAT_TRY(leat_arrow_decode(r->batch.codec, bytes, span.size_bytes, decoded, size, err));
    memcpy(out, decoded, (size_t)want);
    return LEAT_OK;
}

/* Whether the one value of a column is null. */
static leat_code read_null(reading *r, const leat_arrow_array *array, bool *is_null,
                           leat_error *err) {
    uint8_t bits = 0;
    *is_null = array->null_count > 0;
    if (!*is_null || array->type.kind == LEAT_ARROW_NULL) return LEAT_OK;
    LEAT_TRY(buffer_bytes(r, array->validity, 1, &bits, err));
    if (bits & 1) return leat_fail(err, LEAT_ERR_CORRUPT, NAME ": null count and validity differ");
    return LEAT_OK;
}

/* One fixed-width fact; *is_null also where the column is missing. */
static leat_code read_fact(reading *r, const leat_arrow_schema *schema, int fact, uint8_t value[8],
                           bool *is_null, leat_error *err) {
    leat_arrow_array array;
    memset(value, 0, 8);
    LEAT_TRY(leat_arrow_get_array(&r->stream, &schema->columns[fact], &r->message, &r->batch,
                                  &array, err));
    LEAT_TRY(read_null(r, &array, is_null, err));
    if (*is_null && fact <= LEAT_PROBE_FACT_COUNT)
        return leat_fail(err, LEAT_ERR_INPUT, NAME ": %s is null", leat_probe_fact_names[fact]);
    if (*is_null) return LEAT_OK;
    return buffer_bytes(r, array.values, array.type.bytes, value, err);
}

static leat_code read_time(reading *r, const leat_arrow_schema *schema, int fact, int64_t *time_us,
                           bool *is_there, leat_error *err) {
    uint8_t value[8];
    bool is_null;
    LEAT_TRY(read_fact(r, schema, fact, value, &is_null, err));
    *is_there = !is_null;
    if (!is_null && !leat_probe_time(schema->columns[fact].type, value, time_us))
        return leat_fail(err, LEAT_ERR_INPUT, NAME ": %s does not fit in microseconds",
                         leat_probe_fact_names[fact]);
    return LEAT_OK;
}

static leat_code read_span(reading *r, const leat_arrow_schema *schema, leat_probe_row_info *info,
                           leat_error *err) {
    uint8_t value[8];
    bool is_null;
    LEAT_TRY(read_fact(r, schema, LEAT_PROBE_FACT_SPAN, value, &is_null, err));
    info->has_span = !is_null;
    if (is_null) return LEAT_OK;
    if (schema->columns[LEAT_PROBE_FACT_SPAN].type.bytes != 8)
        return leat_fail(err, LEAT_ERR_INPUT, NAME ": time_span_seconds is not a double");
    memcpy(&info->time_span_seconds, value, sizeof value);
    return LEAT_OK;
}

leat_code leat_probe_heap_take(leat_probe_heap *heap, leat_arrow_codec codec, const uint8_t *bytes,
                               int64_t encoded_bytes, int64_t *size_bytes, leat_error *err) {
    leat_code code =
        leat_arrow_decoded_size(codec, bytes, encoded_bytes, heap->decoded_left, size_bytes, err);
    if (code == LEAT_OK) heap->decoded_left -= *size_bytes;
    if (code == LEAT_ERR_LIMIT && heap->needed_bytes != NULL) *heap->needed_bytes = *size_bytes;
    return code;
}

/* Decodes a compressed `measurements` into the heap. */
static leat_code decode_measurements(reading *r, leat_arrow_span span, int64_t *size_bytes,
                                     leat_error *err) {
    leat_probe_heap *heap = r->heap;
    const uint8_t *bytes = leat_view_memory(r->stream.view) + span.offset;
    LEAT_TRY(leat_probe_heap_take(heap, r->batch.codec, bytes, span.size_bytes, size_bytes, err));
    heap->decoded.size = 0;
    LEAT_TRY(leat_buf_reserve(&heap->decoded, *size_bytes + 1, err));
    return leat_arrow_decode(r->batch.codec, bytes, span.size_bytes, heap->decoded.data,
                             *size_bytes, err);
}

static leat_code read_measurements(reading *r, const leat_arrow_schema *schema,
                                   leat_probe_outer *outer, leat_error *err) {
    leat_arrow_array array;
    bool is_null;
    uint8_t bytes[16];
    int64_t first, last, size;
    LEAT_TRY(leat_arrow_get_array(&r->stream, &schema->columns[LEAT_PROBE_FACT_MEASUREMENTS],
                                  &r->message, &r->batch, &array, err));
    LEAT_TRY(read_null(r, &array, &is_null, err));
    if (is_null) return leat_fail(err, LEAT_ERR_INPUT, NAME ": measurements is null");
    LEAT_TRY(buffer_bytes(r, array.values, 2 * array.type.bytes, bytes, err));
    leat_arrow_type offset = {LEAT_ARROW_INT, array.type.bytes, 0, true};
    first = leat_probe_int(offset, bytes);
    last = leat_probe_int(offset, bytes + offset.bytes);
    outer->is_compressed = r->batch.codec != LEAT_ARROW_CODEC_NONE;
    size = array.data.size_bytes;
    if (outer->is_compressed) LEAT_TRY(decode_measurements(r, array.data, &size, err));
    if (first < 0 || last < first || last > size)
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         NAME ": measurements are bytes %lld to %lld of a buffer of %lld",
                         (long long)first, (long long)last, (long long)size);
    outer->measurements.offset = first + (outer->is_compressed ? 0 : array.data.offset);
    outer->measurements.size_bytes = last - first;
    return LEAT_OK;
}

static leat_code read_row(reading *r, const leat_arrow_schema *schema, leat_probe_outer *outer,
                          leat_error *err) {
    leat_probe_row_info *info = &outer->info;
    uint8_t value[8];
    bool is_null;
    LEAT_TRY(read_fact(r, schema, LEAT_PROBE_FACT_SRC_ID, value, &is_null, err));
    info->src_id = leat_probe_int(schema->columns[LEAT_PROBE_FACT_SRC_ID].type, value);
    LEAT_TRY(read_fact(r, schema, LEAT_PROBE_FACT_COUNT, value, &is_null, err));
    info->n_measurements = leat_probe_int(schema->columns[LEAT_PROBE_FACT_COUNT].type, value);
    if (info->n_measurements < 0)
        return leat_fail(err, LEAT_ERR_INPUT, NAME ": n_measurements is %lld",
                         (long long)info->n_measurements);
    LEAT_TRY(read_span(r, schema, info, err));
    LEAT_TRY(read_time(r, schema, LEAT_PROBE_FACT_FIRST, &info->first_us, &info->has_first, err));
    LEAT_TRY(read_time(r, schema, LEAT_PROBE_FACT_LAST, &info->last_us, &info->has_last, err));
    return read_measurements(r, schema, outer, err);
}

static leat_code read_batches(reading *r, const leat_arrow_schema *schema, leat_probe_outer *outer,
                              leat_error *err) {
    int64_t rows = 0;
    for (;;) {
        LEAT_TRY(leat_arrow_next(&r->stream, &r->message, err));
        if (r->message.header == LEAT_ARROW_END) break;
        if (r->message.header == LEAT_ARROW_SCHEMA)
            return leat_fail(err, LEAT_ERR_CORRUPT, NAME ": a second schema");
        LEAT_TRY(leat_arrow_read_batch(&r->stream, schema, &r->message, &r->batch, err));
        if (r->message.header != LEAT_ARROW_RECORD_BATCH || r->batch.rows == 0) continue;
        rows += r->batch.rows;
        if (rows > 1) break;
        LEAT_TRY(read_row(r, schema, outer, err));
    }
    if (rows != 1)
        return leat_fail(err, LEAT_ERR_INPUT, NAME ": it has %s, not one row",
                         rows == 0 ? "no row" : "several rows");
    return LEAT_OK;
}

leat_code leat_probe_outer_read(const leat_view *view, leat_probe_heap *heap,
                                leat_probe_outer *outer, leat_error *err) {
    uint8_t scratch[SCRATCH_BYTES];
    leat_arrow_schema room;
    const leat_arrow_schema *schema;
    reading r = {.heap = heap};
    r.stream.view = view;
    r.stream.name = NAME;
    r.stream.end = view->size_bytes;
    r.stream.scratch = scratch;
    r.stream.scratch_bytes = sizeof scratch;
    r.stream.heap = heap ? &heap->metadata : NULL;
    memset(outer, 0, sizeof *outer);
    LEAT_TRY(leat_probe_schema_read(&r.stream, leat_probe_fact_names, &room, &schema, err));
    LEAT_TRY(check_facts(schema, err));
    return read_batches(&r, schema, outer, err);
}

leat_code leat_probe_check_span(const leat_probe_row_info *info, leat_error *err) {
    if (!info->has_span || info->n_measurements == 0) return LEAT_OK;
    double span = ((double)info->last_us - (double)info->first_us) / 1e6;
    /* Other writers may divide differently: half a microsecond and some rounding are not a
     * contradiction. */
    double slack = 0.5e-6 + fabs(span) * 1e-12;
    if (!(fabs(info->time_span_seconds - span) <= slack))
        return leat_fail(err, LEAT_ERR_INPUT,
                         NAME ": time_span_seconds is %.6f, its times are %.6f s apart",
                         info->time_span_seconds, span);
    return LEAT_OK;
}
