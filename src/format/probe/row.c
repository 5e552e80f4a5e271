/*
 * One probe row, read a measurement at a time or whole.
 *
 * A row may be 8 MiB of which 60 measurements are wanted. Where its columns are plain bytes in one
 * batch, opening it only finds out where they are (metadata and facts: under 2 KB at both ends of
 * the record), and each value is then fetched through the view from its own place. What an element
 * needs is checked when it is fetched: offsets inside the text, an address, a version that agrees.
 * Any other row is decoded whole at once, and single measurements come from the arrays.
 */
#include <string.h>

#include "base/address.h"
#include "format/probe/read.h"

#define SCRATCH_BYTES 4096
#define ROW "probe row"
#define NAME "measurements"

/* ---- whole rows --------------------------------------------------------------------------- */

/* src_id against the sources' texts, where the caller wants to know. */
static leat_code check_source(const leat_measurements *out, const leat_probe_row_info *info,
                              leat_error *err) {
    int32_t last = -1;
    for (int64_t i = 0; i < out->count; i++) {
        if (out->src[i] == last) continue;
        last = out->src[i];
        const leat_probe_address *src = &out->addresses[last];
        int64_t id = leat_address_src_id(src->text, src->text_bytes);
        if (id != info->src_id)
            return leat_fail(err, LEAT_ERR_INPUT,
                             ROW ": src_id %lld is not that of source \"%s\": %lld",
                             (long long)info->src_id, src->text, (long long)id);
    }
    return LEAT_OK;
}

/* Compares the row's facts with its measurements; fills in first and last if the row lacks them. */
static leat_code check_row(const leat_measurements *out, leat_probe_row_info *info, bool verify,
                           leat_error *err) {
    int64_t n = out->count;
    if (n != info->n_measurements)
        return leat_fail(err, LEAT_ERR_INPUT, ROW ": n_measurements is %lld, it has %lld",
                         (long long)info->n_measurements, (long long)n);
    if (n == 0) return LEAT_OK;
    int64_t first = out->time_us[0], last = out->time_us[n - 1];
    if ((info->has_first && info->first_us != first) || (info->has_last && info->last_us != last))
        return leat_fail(err, LEAT_ERR_INPUT,
                         ROW ": first and last timestamp are %lld and %lld us, its measurements' "
                             "%lld and %lld",
                         (long long)info->first_us, (long long)info->last_us, (long long)first,
                         (long long)last);
    info->first_us = first;
    info->last_us = last;
    LEAT_TRY(leat_probe_check_span(info, err));
    return verify ? check_source(out, info, err) : LEAT_OK;
}

/* The bytes of a view in one piece: its own, or a copy in `room`. */
static leat_code whole_record(const leat_view *view, leat_probe_room *room, const uint8_t **bytes,
                              leat_error *err) {
    *bytes = leat_view_memory(view);
    if (*bytes) return LEAT_OK;
    room->record.size = 0;
    LEAT_TRY(leat_buf_reserve(&room->record, view->size_bytes + 1, err));
    return leat_view_bytes(view, 0, view->size_bytes, room->record.data, bytes, err);
}

static void begin_heap(leat_probe_heap *heap, const leat_probe_read_options *options) {
    heap->decoded_left =
        options->max_decoded_bytes > 0 ? options->max_decoded_bytes : LEAT_PROBE_DECODED_MAX;
    heap->needed_bytes = options->needed_bytes;
}

static leat_code decode_row(const leat_view *view, const leat_probe_read_options *options,
                            leat_measurements *out, leat_probe_row_info *info, leat_error *err) {
    LEAT_TRY(leat_probe_room_get(out, err));
    leat_probe_heap *heap = &out->room->heap;
    leat_probe_outer outer;
    const uint8_t *bytes;
    leat_probe_room_clear(out);
    begin_heap(heap, options);
    LEAT_TRY(whole_record(view, out->room, &bytes, err));
    leat_view memory = leat_view_of(bytes, view->size_bytes);
    LEAT_TRY(leat_probe_outer_read(&memory, heap, &outer, err));
    const uint8_t *inner = outer.is_compressed ? heap->decoded.data : bytes;
    const leat_probe_table table = {NAME, inner + outer.measurements.offset,
                                    outer.measurements.size_bytes, true};
    LEAT_TRY(leat_probe_read_table(&table, options, out, &outer.info, err));
    leat_code code = check_row(out, &outer.info, options->verify, err);
    if (code != LEAT_OK) {
        leat_probe_room_clear(out);
        return code;
    }
    *info = outer.info;
    return LEAT_OK;
}

leat_code leat_probe_row_decode(const leat_view *view, const leat_probe_read_options *options,
                                leat_measurements *out, leat_probe_row_info *info,
                                leat_error *err) {
    leat_probe_read_options defaults = leat_probe_read_options_default();
    leat_probe_row_info found;
    if (!info) info = &found;
    memset(info, 0, sizeof *info);
    return decode_row(view, options ? options : &defaults, out, info, err);
}

leat_code leat_probe_record_decode(const void *record, int64_t size_bytes,
                                   const leat_probe_read_options *options, leat_measurements *out,
                                   leat_probe_row_info *info, leat_error *err) {
    leat_view view = leat_view_of(record, size_bytes);
    return leat_probe_row_decode(&view, options, out, info, err);
}

leat_code leat_probe_table_decode(const void *stream, int64_t size_bytes,
                                  const leat_probe_read_options *options, leat_measurements *out,
                                  leat_error *err) {
    leat_probe_read_options defaults = leat_probe_read_options_default();
    leat_probe_row_info info;
    if (!options) options = &defaults;
    LEAT_TRY(leat_probe_room_get(out, err));
    begin_heap(&out->room->heap, options);
    const leat_probe_table table = {"table", stream, size_bytes, false};
    return leat_probe_read_table(&table, options, out, &info, err);
}

/* ---- opening in place --------------------------------------------------------------------- */

/* The inner stream while a direct row is opened. */
typedef struct opening {
    leat_probe_row *row;
    leat_arrow_stream stream;
    leat_arrow_schema room;
    const leat_arrow_schema *schema;
    leat_arrow_message message;
    leat_arrow_batch batch;
    int64_t batches;
} opening;

/* Types that elements can be read of in place. */
static bool is_direct_type(const leat_arrow_column *column) {
    return !column->present ||
           (column->type.kind != LEAT_ARROW_NULL && !leat_arrow_is_view(column->type));
}

static leat_code open_dictionary(opening *o, bool *is_direct, leat_error *err) {
    leat_probe_row *row = o->row;
    for (int which = 0; which < 2; which++) {
        const leat_arrow_column *column = &o->schema->columns[LEAT_PROBE_FIELD_SRC + which];
        if (!column->is_coded || column->dictionary_id != o->batch.dictionary_id) continue;
        if (o->batch.is_delta || o->batch.codec != LEAT_ARROW_CODEC_NONE || o->batches > 0 ||
            row->values[which].type.kind != LEAT_ARROW_NONE) {
            *is_direct = false;
            return LEAT_OK;
        }
        LEAT_TRY(leat_arrow_get_values(&o->stream, column->type, &o->message, &o->batch,
                                       &row->values[which], err));
    }
    return LEAT_OK;
}

static leat_code open_batch(opening *o, bool *is_direct, leat_error *err) {
    leat_probe_row *row = o->row;
    if (o->batches++ > 0 || o->batch.codec != LEAT_ARROW_CODEC_NONE) {
        *is_direct = false;
        return LEAT_OK;
    }
    for (int i = 0; i < LEAT_PROBE_FIELDS; i++)
        LEAT_TRY(leat_arrow_get_array(&o->stream, &o->schema->columns[i], &o->message, &o->batch,
                                      &row->columns[i], err));
    return LEAT_OK;
}

static leat_code open_columns(opening *o, const leat_probe_read_options *options, bool *is_direct,
                              leat_error *err) {
    leat_probe_row *row = o->row;
    LEAT_TRY(leat_probe_schema_read(&o->stream, leat_probe_field_names, &o->room, &o->schema, err));
    LEAT_TRY(leat_probe_check_columns(NAME, o->schema, options->src_addr != NULL, err));
    for (int i = 0; i < LEAT_PROBE_FIELDS; i++)
        *is_direct = *is_direct && is_direct_type(&o->schema->columns[i]);
    while (*is_direct) {
        LEAT_TRY(leat_arrow_next(&o->stream, &o->message, err));
        if (o->message.header == LEAT_ARROW_END) break;
        if (o->message.header == LEAT_ARROW_SCHEMA)
            return leat_fail(err, LEAT_ERR_CORRUPT, NAME ": a second schema");
        LEAT_TRY(leat_arrow_read_batch(&o->stream, o->schema, &o->message, &o->batch, err));
        if (o->message.header == LEAT_ARROW_DICTIONARY_BATCH)
            LEAT_TRY(open_dictionary(o, is_direct, err));
        else LEAT_TRY(open_batch(o, is_direct, err));
    }
    if (*is_direct && row->columns[LEAT_PROBE_FIELD_TIME].rows != row->info.n_measurements)
        return leat_fail(err, LEAT_ERR_INPUT, ROW ": n_measurements is %lld, it has %lld",
                         (long long)row->info.n_measurements,
                         (long long)row->columns[LEAT_PROBE_FIELD_TIME].rows);
    row->info.has_src_addr = o->schema->columns[LEAT_PROBE_FIELD_SRC].present;
    row->info.has_ip_version = o->schema->columns[LEAT_PROBE_FIELD_VERSION].present;
    row->is_coded[0] = o->schema->columns[LEAT_PROBE_FIELD_SRC].is_coded;
    row->is_coded[1] = o->schema->columns[LEAT_PROBE_FIELD_DST].is_coded;
    return LEAT_OK;
}

static leat_code open_given_source(leat_probe_row *row, const char *given, leat_error *err) {
    if (row->info.has_src_addr) return LEAT_OK;
    if (!leat_probe_address_read(&row->source, given, (int64_t)strlen(given)))
        return leat_fail(err, LEAT_ERR_OPTION,
                         NAME ": the given source \"%.64s\" is not an address", given);
    row->has_source = true;
    return LEAT_OK;
}

static leat_code time_at(leat_probe_row *row, int64_t index, int64_t *time_us, leat_error *err);

/* first and last if the row lacks them; then its span. */
static leat_code open_times(leat_probe_row *row, leat_error *err) {
    leat_probe_row_info *info = &row->info;
    int64_t n = info->n_measurements;
    if (n == 0) return LEAT_OK;
    if (!info->has_first) LEAT_TRY(time_at(row, 0, &info->first_us, err));
    if (!info->has_last) LEAT_TRY(time_at(row, n - 1, &info->last_us, err));
    return leat_probe_check_span(info, err);
}

static leat_code open_direct(leat_probe_row *row, const leat_probe_read_options *options,
                             bool *is_direct, leat_error *err) {
    uint8_t scratch[SCRATCH_BYTES];
    leat_probe_outer outer;
    LEAT_TRY(leat_probe_outer_read(&row->view, NULL, &outer, err));
    *is_direct = true; /* so far */
    row->info = outer.info;
    opening o; /* not zeroed: its space for a schema is seldom used */
    o.row = row;
    o.batches = 0;
    memset(&o.stream, 0, sizeof o.stream);
    o.stream.view = &row->view;
    o.stream.name = NAME;
    o.stream.begin = o.stream.position = outer.measurements.offset;
    o.stream.end = outer.measurements.offset + outer.measurements.size_bytes;
    o.stream.scratch = scratch;
    o.stream.scratch_bytes = sizeof scratch;
    LEAT_TRY(open_columns(&o, options, is_direct, err));
    if (!*is_direct) return LEAT_OK;
    row->is_direct = true;
    if (options->src_addr) LEAT_TRY(open_given_source(row, options->src_addr, err));
    LEAT_TRY(open_times(row, err));
    if (!options->verify || row->info.n_measurements == 0) return LEAT_OK;
    leat_measurement measurement;
    LEAT_TRY(leat_probe_row_get(row, 0, &measurement, err));
    int64_t id = leat_address_src_id(measurement.src, measurement.src_size);
    if (id == row->info.src_id) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT, ROW ": src_id %lld is not that of its source: %lld",
                     (long long)row->info.src_id, (long long)id);
}

leat_code leat_probe_row_open(leat_probe_row *row, const leat_view *view,
                              const leat_probe_read_options *options, leat_error *err) {
    leat_probe_read_options defaults = leat_probe_read_options_default();
    if (!options) options = &defaults;
    memset(row, 0, sizeof *row);
    row->view = *view;
    row->is_trusted = options->trusted;
    bool is_direct = false;
    leat_error reason; /* separate: what prevents reading in place is not a failure */
    leat_code code = open_direct(row, options, &is_direct, &reason);
    /* Not for reading in place: compressed, or metadata larger than the stack's room for them. */
    if (code == LEAT_ERR_LIMIT || (code == LEAT_OK && !is_direct)) {
        row->is_direct = false;
        code = leat_probe_row_decode(view, options, &row->decoded, &row->info, &reason);
    }
    if (code == LEAT_OK) return LEAT_OK;
    leat_probe_row_close(row);
    return leat_error_copy(err, &reason);
}

void leat_probe_row_close(leat_probe_row *row) {
    if (!row) return;
    leat_measurements_free(&row->decoded);
    memset(row, 0, sizeof *row);
}

/* ---- single values in place --------------------------------------------------------------- */

static leat_code get(leat_probe_row *row, leat_arrow_span span, int64_t offset, int64_t size,
                     uint8_t *scratch, const uint8_t **bytes, leat_error *err) {
    return leat_view_bytes(&row->view, span.offset + offset, size, scratch, bytes, err);
}

static leat_code null_at(leat_probe_row *row, const leat_arrow_array *array, int64_t index,
                         bool *is_null, leat_error *err) {
    uint8_t scratch;
    const uint8_t *bits;
    *is_null = array->type.kind == LEAT_ARROW_NULL;
    if (*is_null || array->null_count == 0) return LEAT_OK;
    LEAT_TRY(get(row, array->validity, index / 8, 1, &scratch, &bits, err));
    *is_null = !(*bits >> (index % 8) & 1);
    return LEAT_OK;
}

/* A fixed-width value; NULL if it is null. */
static leat_code value_at(leat_probe_row *row, const leat_arrow_array *array, int64_t index,
                          uint8_t scratch[8], const uint8_t **value, leat_error *err) {
    bool is_null;
    *value = NULL;
    LEAT_TRY(null_at(row, array, index, &is_null, err));
    if (is_null) return LEAT_OK;
    return get(row, array->values, array->type.bytes * index, array->type.bytes, scratch, value,
               err);
}

static leat_code time_at(leat_probe_row *row, int64_t index, int64_t *time_us, leat_error *err) {
    const leat_arrow_array *array = &row->columns[LEAT_PROBE_FIELD_TIME];
    const leat_probe_row_info *info = &row->info;
    uint8_t scratch[8];
    const uint8_t *value;
    LEAT_TRY(value_at(row, array, index, scratch, &value, err));
    if (!value)
        return leat_fail(err, LEAT_ERR_INPUT, NAME ": measurement %lld: event_time is null",
                         (long long)index);
    if (!leat_probe_time(array->type, value, time_us))
        return leat_fail(err, LEAT_ERR_INPUT,
                         NAME ": measurement %lld: event_time does not fit in microseconds",
                         (long long)index);
    bool is_last = index == info->n_measurements - 1;
    if ((index == 0 && info->has_first && *time_us != info->first_us) ||
        (is_last && info->has_last && *time_us != info->last_us))
        return leat_fail(
            err, LEAT_ERR_INPUT, ROW ": %s timestamp is %lld us, its measurement's %lld",
            index == 0 ? "first" : "last", (long long)(index == 0 ? info->first_us : info->last_us),
            (long long)*time_us);
    return LEAT_OK;
}

/* Reads text `index` of an array into *address; *address already holding it costs no parsing. */
static leat_code text_at(leat_probe_row *row, leat_probe_field field, int64_t row_index,
                         const leat_arrow_array *array, int64_t index, leat_probe_address *address,
                         leat_error *err) {
    uint8_t scratch[64];
    const uint8_t *bytes;
    bool is_null;
    int width = array->type.bytes;
    LEAT_TRY(null_at(row, array, index, &is_null, err));
    LEAT_TRY(get(row, array->values, width * index, 2 * width, scratch, &bytes, err));
    leat_arrow_type offset = {LEAT_ARROW_INT, array->type.bytes, 0, true};
    int64_t begin = leat_probe_int(offset, bytes), end = leat_probe_int(offset, bytes + width);
    if (begin < 0 || end < begin || end > array->data.size_bytes)
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         NAME ": measurement %lld: %s: its text is outside its buffer",
                         (long long)row_index, leat_probe_field_names[field]);
    int64_t size = is_null ? 0 : end - begin, shown = size < 64 ? size : 64;
    bytes = (const uint8_t *)"";
    if (size > 0) LEAT_TRY(get(row, array->data, begin, shown, scratch, &bytes, err));
    if (address->text_bytes == size && memcmp(address->text, bytes, (size_t)shown) == 0)
        return LEAT_OK;
    if (size <= shown && leat_probe_address_read(address, (const char *)bytes, size))
        return LEAT_OK;
    memset(address, 0, sizeof *address);
    return leat_probe_address_fail(NAME, row_index, field, (const char *)bytes, shown, err);
}

static leat_code address_at(leat_probe_row *row, leat_probe_field field, int64_t index,
                            leat_probe_address *address, leat_error *err) {
    const leat_arrow_array *array = &row->columns[field];
    int which = field - LEAT_PROBE_FIELD_SRC;
    if (!row->is_coded[which]) return text_at(row, field, index, array, index, address, err);
    uint8_t scratch[8];
    const uint8_t *value;
    LEAT_TRY(value_at(row, array, index, scratch, &value, err));
    if (!value) {
        memset(address, 0, sizeof *address);
        return LEAT_OK;
    }
    int64_t entry = leat_probe_int(array->type, value);
    if (entry < 0 || entry >= row->values[which].rows)
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         NAME ": measurement %lld: %s: its index is not in the dictionary",
                         (long long)index, leat_probe_field_names[field]);
    return text_at(row, field, index, &row->values[which], entry, address, err);
}

leat_code leat_probe_source_at(leat_probe_row *row, int64_t index, leat_error *err) {
    bool has = row->is_trusted && row->has_source && !row->own_sources;
    if (!row->info.has_src_addr || has) return LEAT_OK;
    row->has_source = false;
    LEAT_TRY(address_at(row, LEAT_PROBE_FIELD_SRC, index, &row->source, err));
    row->has_source = true;
    return LEAT_OK;
}

static leat_code version_at(leat_probe_row *row, int64_t index, uint8_t *version, leat_error *err) {
    const leat_arrow_array *array = &row->columns[LEAT_PROBE_FIELD_VERSION];
    int src = row->source.version, dst = row->target.version;
    int64_t stored = 0;
    if (!row->is_trusted || (!src && !dst)) {
        uint8_t scratch[8];
        const uint8_t *value;
        LEAT_TRY(value_at(row, array, index, scratch, &value, err));
        if (value) {
            stored = leat_probe_int(array->type, value);
            if (stored == 0) stored = -1; /* a stored 0 is no version, not "none" */
        }
    }
    return leat_probe_version(NAME, index, src, dst, stored, version, err);
}

static leat_code get_direct(leat_probe_row *row, int64_t index, leat_measurement *out,
                            leat_error *err) {
    const leat_arrow_array *rtts = &row->columns[LEAT_PROBE_FIELD_RTT];
    uint8_t scratch[8], version;
    const uint8_t *value;
    LEAT_TRY(time_at(row, index, &out->time_us, err));
    LEAT_TRY(leat_probe_source_at(row, index, err));
    LEAT_TRY(address_at(row, LEAT_PROBE_FIELD_DST, index, &row->target, err));
    LEAT_TRY(version_at(row, index, &version, err));
    LEAT_TRY(value_at(row, rtts, index, scratch, &value, err));
    out->rtt = value ? leat_probe_rtt(rtts->type, value) : -1.0f;
    LEAT_TRY(leat_probe_check_value(NAME, index, out->time_us, out->rtt, err));
    out->ip_version = version;
    out->src = row->source.text;
    out->src_size = row->source.text_bytes;
    out->dst = row->target.text;
    out->dst_size = row->target.text_bytes;
    memcpy(out->src_bytes, row->source.bytes, sizeof out->src_bytes);
    memcpy(out->dst_bytes, row->target.bytes, sizeof out->dst_bytes);
    return LEAT_OK;
}

leat_code leat_probe_row_get(leat_probe_row *row, int64_t index, leat_measurement *out,
                             leat_error *err) {
    if (index < 0 || index >= row->info.n_measurements) {
        memset(out, 0, sizeof *out);
        return leat_fail(err, LEAT_ERR_INPUT, ROW ": no measurement %lld: it has %lld",
                         (long long)index, (long long)row->info.n_measurements);
    }
    if (!row->is_direct) {
        leat_measurements_get(&row->decoded, index, out);
        return LEAT_OK;
    }
    leat_code code = get_direct(row, index, out, err);
    if (code != LEAT_OK) memset(out, 0, sizeof *out);
    return code;
}
