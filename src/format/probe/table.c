/*
 * Measurement tables decoded whole: every batch, every column that leat uses, every value checked.
 *
 * Columns are done one after the other, so decompressed buffers take the room of one column. The
 * addresses of a batch become indices first; versions, which need both addresses, come last.
 */
#include <string.h>

#include "format/probe/read.h"

#define NOT_AN_ADDRESS (-2) /* in a dictionary: an error only where it is used */
#define NULL_ENTRY (-1)

typedef struct decoder {
    leat_arrow_stream stream; /* its view is one piece of memory: `bytes` */
    const uint8_t *bytes;
    leat_arrow_schema room_for_schema;
    const leat_arrow_schema *schema;
    leat_arrow_message message;
    leat_arrow_batch batch;
    const leat_probe_read_options *options;
    bool is_row;
    int32_t given_source; /* index of options->src_addr */
    leat_measurements *out;
    leat_probe_room *room;
} decoder;

/* A column's buffers in memory, decompressed; sizes checked against rows. */
typedef struct loaded {
    leat_arrow_type type;
    int64_t rows, null_count;
    const uint8_t *validity, *values, *data; /* validity NULL: nothing is null */
    int64_t data_bytes;
    const leat_arrow_span *views; /* variadic buffers, from view_bytes */
    const uint8_t *view_bytes;
    int64_t view_count;
} loaded;

static bool is_null(const loaded *c, int64_t i) {
    if (c->type.kind == LEAT_ARROW_NULL) return true;
    return c->validity && !(c->validity[i / 8] >> (i % 8) & 1);
}

static leat_code fail_corrupt(const decoder *d, int64_t row, leat_probe_field field,
                              const char *what, leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s: measurement %lld: %s: %s", d->stream.name,
                     (long long)row, leat_probe_field_names[field], what);
}

/* ---- buffers ------------------------------------------------------------------------------ */

/* The decoded size of all buffers of a compressed batch as they state it, which a limit must allow
 * for. */
static int64_t batch_decoded_bytes(decoder *d) {
    const int64_t most = INT64_C(1) << 50; /* of claims that are no sizes */
    int64_t all = 0;
    for (int64_t i = 0; i < d->batch.buffers.count && all < most; i++) {
        leat_arrow_span span = leat_arrow_buffer(&d->message, &d->batch, i);
        int64_t said = -1;
        if (span.size_bytes < (int64_t)sizeof said) continue;
        memcpy(&said, d->bytes + span.offset, sizeof said);
        if (said < 0) said = span.size_bytes;
        all += said < most ? said : most;
    }
    return all;
}

static leat_code load_buffer(decoder *d, leat_arrow_span span, int part, const uint8_t **bytes,
                             int64_t *size, leat_error *err) {
    *bytes = d->bytes + span.offset;
    *size = span.size_bytes;
    if (d->batch.codec == LEAT_ARROW_CODEC_NONE || span.size_bytes == 0) return LEAT_OK;
    leat_probe_heap *heap = &d->room->heap;
    leat_buf *buf = &d->room->parts[part];
    leat_code code = leat_probe_heap_take(heap, d->batch.codec, *bytes, span.size_bytes, size, err);
    if (code == LEAT_ERR_LIMIT && heap->needed_bytes != NULL)
        *heap->needed_bytes = batch_decoded_bytes(d);
    LEAT_TRY(code);
    buf->size = 0;
    LEAT_TRY(leat_buf_reserve(buf, *size + 1, err));
    LEAT_TRY(leat_arrow_decode(d->batch.codec, *bytes, span.size_bytes, buf->data, *size, err));
    *bytes = buf->data;
    return LEAT_OK;
}

/* The variadic buffers of a view column: places in d->bytes, or decoded one after the other. */
static leat_code load_views(decoder *d, const leat_arrow_array *array, loaded *c, leat_error *err) {
    leat_probe_room *room = d->room;
    int64_t count = array->variadic_count, total = 0;
    LEAT_TRY(LEAT_GROW(&room->view_spans, &room->view_capacity, count, err));
    c->views = room->view_spans;
    c->view_count = count;
    c->view_bytes = d->bytes;
    for (int64_t i = 0; i < count; i++)
        room->view_spans[i] = leat_arrow_buffer(&d->message, &d->batch, array->variadic_first + i);
    if (d->batch.codec == LEAT_ARROW_CODEC_NONE) return LEAT_OK;
    room->views.size = 0;
    for (int64_t i = 0; i < count; i++) {
        leat_arrow_span *span = &room->view_spans[i];
        const uint8_t *source = d->bytes + span->offset;
        int64_t size;
        LEAT_TRY(leat_probe_heap_take(&room->heap, d->batch.codec, source, span->size_bytes, &size,
                                      err));
        LEAT_TRY(leat_buf_reserve(&room->views, size + 1, err));
        LEAT_TRY(leat_arrow_decode(d->batch.codec, source, span->size_bytes,
                                   room->views.data + total, size, err));
        span->offset = total;
        span->size_bytes = size;
        total += size;
        room->views.size = total;
    }
    c->view_bytes = room->views.data;
    return LEAT_OK;
}

static leat_code check_nulls(const decoder *d, const loaded *c, int64_t size, leat_error *err) {
    int64_t valid = 0;
    if (size >= (c->rows + 7) / 8)
        for (int64_t i = 0; i < c->rows; i++) valid += c->validity[i / 8] >> (i % 8) & 1;
    if (valid == c->rows - c->null_count) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "%s: message at byte %lld: null count %lld contradicts the validity buffer",
                     d->stream.name, (long long)d->batch.at, (long long)c->null_count);
}

static leat_code load_column(decoder *d, const leat_arrow_array *array, loaded *c,
                             leat_error *err) {
    memset(c, 0, sizeof *c);
    c->type = array->type;
    c->rows = array->rows;
    c->null_count = array->null_count;
    if (c->type.kind == LEAT_ARROW_NULL) return LEAT_OK;
    int64_t size;
    if (array->null_count > 0) {
        LEAT_TRY(load_buffer(d, array->validity, 0, &c->validity, &size, err));
        LEAT_TRY(check_nulls(d, c, size, err));
    }
    LEAT_TRY(load_buffer(d, array->values, 1, &c->values, &size, err));
    if (size < leat_arrow_values_bytes(c->type, c->rows))
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "%s: message at byte %lld: a buffer of %lld decoded bytes for %lld "
                         "values of type %s",
                         d->stream.name, (long long)d->batch.at, (long long)size,
                         (long long)c->rows, leat_arrow_kind_text(c->type.kind));
    if (leat_arrow_is_view(c->type)) return load_views(d, array, c, err);
    if (!leat_arrow_is_text(c->type)) return LEAT_OK;
    return load_buffer(d, array->data, 2, &c->data, &c->data_bytes, err);
}

static leat_code load_field(decoder *d, leat_probe_field field, loaded *c, leat_error *err) {
    leat_arrow_array array;
    LEAT_TRY(leat_arrow_get_array(&d->stream, &d->schema->columns[field], &d->message, &d->batch,
                                  &array, err));
    return load_column(d, &array, c, err);
}

/* ---- texts -------------------------------------------------------------------------------- */

/* A view: length, then the text itself if it is short, else its first 4 bytes and a place. */
static const char *view_text(const loaded *c, int64_t i, int64_t *size) {
    const uint8_t *view = c->values + 16 * i;
    int32_t fields[4]; /* length, first bytes, buffer, offset */
    memcpy(fields, view, sizeof fields);
    *size = fields[0];
    if (fields[0] < 0) return NULL;
    if (fields[0] <= 12) return (const char *)view + 4;
    if (fields[2] < 0 || fields[2] >= c->view_count || fields[3] < 0) return NULL;
    leat_arrow_span span = c->views[fields[2]];
    if (fields[3] > span.size_bytes - fields[0]) return NULL;
    const uint8_t *text = c->view_bytes + span.offset + fields[3];
    return memcmp(text, view + 4, 4) == 0 ? (const char *)text : NULL;
}

/* The text of row i (nulls: size 0); NULL if its place is impossible. */
static const char *text_at(const loaded *c, int64_t i, int64_t *size) {
    *size = 0;
    if (leat_arrow_is_view(c->type)) return is_null(c, i) ? "" : view_text(c, i, size);
    if (c->type.kind == LEAT_ARROW_NULL) return "";
    leat_arrow_type offset = {LEAT_ARROW_INT, c->type.bytes, 0, true};
    int64_t begin = leat_probe_int(offset, c->values + c->type.bytes * i);
    int64_t end = leat_probe_int(offset, c->values + c->type.bytes * (i + 1));
    if (begin < 0 || end < begin || end > c->data_bytes) return NULL;
    if (is_null(c, i)) return "";
    *size = end - begin;
    return (const char *)c->data + begin;
}

/* Addresses of a column, as indices into out->addresses, to target[0 .. rows). */
static leat_code read_texts(decoder *d, leat_probe_field field, const loaded *c, bool is_values,
                            int32_t *target, leat_error *err) {
    int32_t last = -1;
    for (int64_t i = 0; i < c->rows; i++) {
        int64_t size, row = is_values ? i : d->out->count + i;
        const char *text = text_at(c, i, &size);
        if (!text) return fail_corrupt(d, row, field, "its text is outside its buffer", err);
        const leat_probe_address *same = last >= 0 ? &d->out->addresses[last] : NULL;
        if (!same || same->text_bytes != size || memcmp(same->text, text, (size_t)size) != 0)
            LEAT_TRY(leat_probe_intern(d->out, text, size, &last, err));
        if (last < 0 && !is_values)
            return leat_probe_address_fail(d->stream.name, row, field, text, size, err);
        target[i] = last < 0 ? NOT_AN_ADDRESS : is_values && is_null(c, i) ? NULL_ENTRY : last;
    }
    return LEAT_OK;
}

/* ---- dictionaries ------------------------------------------------------------------------- */

/* Takes a dictionary batch into the entries of column src_addr (0) or dst_addr (1). */
static leat_code read_values(decoder *d, int which, leat_error *err) {
    leat_probe_room *room = d->room;
    leat_probe_field field = which == 0 ? LEAT_PROBE_FIELD_SRC : LEAT_PROBE_FIELD_DST;
    leat_arrow_array array;
    loaded c;
    if (d->batch.is_delta && !room->has_dictionary[which])
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "%s: message at byte %lld: extends a dictionary that does not exist",
                         d->stream.name, (long long)d->batch.at);
    LEAT_TRY(leat_arrow_get_values(&d->stream, d->schema->columns[field].type, &d->message,
                                   &d->batch, &array, err));
    LEAT_TRY(load_column(d, &array, &c, err));
    if (!d->batch.is_delta) room->entry_count[which] = 0;
    int64_t have = room->entry_count[which];
    LEAT_TRY(LEAT_GROW(&room->entries[which], &room->entry_capacity[which], have + c.rows, err));
    LEAT_TRY(read_texts(d, field, &c, true, room->entries[which] + have, err));
    room->entry_count[which] = have + c.rows;
    room->has_dictionary[which] = true;
    return LEAT_OK;
}

static leat_code read_dictionary(decoder *d, leat_error *err) {
    for (int which = 0; which < 2; which++) {
        const leat_arrow_column *column = &d->schema->columns[LEAT_PROBE_FIELD_SRC + which];
        if (column->present && column->is_coded && column->dictionary_id == d->batch.dictionary_id)
            LEAT_TRY(read_values(d, which, err));
    }
    return LEAT_OK;
}

static leat_code read_indices(decoder *d, leat_probe_field field, const loaded *c, int32_t *target,
                              leat_error *err) {
    const leat_probe_room *room = d->room;
    int which = field - LEAT_PROBE_FIELD_SRC;
    int32_t empty = -1;
    for (int64_t i = 0; i < c->rows; i++) {
        int64_t row = d->out->count + i;
        int32_t entry = NULL_ENTRY;
        if (!is_null(c, i)) {
            int64_t index = leat_probe_int(c->type, c->values + c->type.bytes * i);
            if (index < 0 || index >= room->entry_count[which])
                return fail_corrupt(d, row, field, "its index is not in the dictionary", err);
            entry = room->entries[which][index];
        }
        if (entry == NOT_AN_ADDRESS)
            return leat_fail(err, LEAT_ERR_INPUT, "%s: measurement %lld: %s is not an address",
                             d->stream.name, (long long)row, leat_probe_field_names[field]);
        if (entry == NULL_ENTRY) {
            if (empty < 0) LEAT_TRY(leat_probe_intern(d->out, "", 0, &empty, err));
            entry = empty;
        }
        target[i] = entry;
    }
    return LEAT_OK;
}

/* ---- columns ------------------------------------------------------------------------------ */

static leat_code read_addresses(decoder *d, leat_probe_field field, int32_t *target,
                                leat_error *err) {
    const leat_arrow_column *which = &d->schema->columns[field];
    loaded c;
    if (!which->present) {
        for (int64_t i = 0; i < d->batch.rows; i++) target[i] = d->given_source;
        return LEAT_OK;
    }
    LEAT_TRY(load_field(d, field, &c, err));
    return which->is_coded ? read_indices(d, field, &c, target, err)
                           : read_texts(d, field, &c, false, target, err);
}

static leat_code read_times(decoder *d, const loaded *c, int64_t *target, leat_error *err) {
    for (int64_t i = 0; i < c->rows; i++) {
        int64_t row = d->out->count + i;
        if (is_null(c, i))
            return leat_fail(err, LEAT_ERR_INPUT, "%s: measurement %lld: event_time is null",
                             d->stream.name, (long long)row);
        if (!leat_probe_time(c->type, c->values + 8 * i, &target[i]))
            return leat_fail(err, LEAT_ERR_INPUT,
                             "%s: measurement %lld: event_time does not fit in microseconds",
                             d->stream.name, (long long)row);
    }
    return LEAT_OK;
}

static leat_code read_rtts(decoder *d, float *target, leat_error *err) {
    loaded c;
    LEAT_TRY(load_field(d, LEAT_PROBE_FIELD_RTT, &c, err));
    for (int64_t i = 0; i < c.rows; i++)
        target[i] = is_null(&c, i) ? -1.0f : leat_probe_rtt(c.type, c.values + c.type.bytes * i);
    return LEAT_OK;
}

/* Needs the addresses of the batch. */
static leat_code read_versions(decoder *d, uint8_t *target, leat_error *err) {
    const leat_measurements *out = d->out;
    loaded c;
    LEAT_TRY(load_field(d, LEAT_PROBE_FIELD_VERSION, &c, err));
    for (int64_t i = 0; i < c.rows; i++) {
        int64_t row = out->count + i, stored = 0;
        if (!is_null(&c, i)) {
            stored = leat_probe_int(c.type, c.values + c.type.bytes * i);
            if (stored == 0) stored = -1; /* a stored 0 is no version, not "none" */
        }
        LEAT_TRY(leat_probe_version(d->stream.name, row, out->addresses[out->src[row]].version,
                                    out->addresses[out->dst[row]].version, stored, &target[i],
                                    err));
    }
    return LEAT_OK;
}

static leat_code read_rows(decoder *d, leat_error *err) {
    leat_measurements *out = d->out;
    int64_t begin = out->count, rows = d->batch.rows;
    loaded times;
    /* Loaded before there is room for the rows: its bytes are the proof that there are so many. */
    LEAT_TRY(load_field(d, LEAT_PROBE_FIELD_TIME, &times, err));
    LEAT_TRY(leat_probe_room_grow(out, begin + rows, err));
    LEAT_TRY(read_times(d, &times, out->time_us + begin, err));
    LEAT_TRY(read_addresses(d, LEAT_PROBE_FIELD_SRC, out->src + begin, err));
    LEAT_TRY(read_addresses(d, LEAT_PROBE_FIELD_DST, out->dst + begin, err));
    LEAT_TRY(read_rtts(d, out->rtt + begin, err));
    LEAT_TRY(read_versions(d, out->ip_version + begin, err));
    for (int64_t i = begin; d->is_row && i < begin + rows; i++)
        LEAT_TRY(leat_probe_check_value(d->stream.name, i, out->time_us[i], out->rtt[i], err));
    out->count = begin + rows;
    return LEAT_OK;
}

static leat_code begin_table(decoder *d, leat_error *err) {
    const char *given = d->options->src_addr;
    LEAT_TRY(leat_probe_schema_read(&d->stream, leat_probe_field_names, &d->room_for_schema,
                                    &d->schema, err));
    LEAT_TRY(leat_probe_check_columns(d->stream.name, d->schema, given != NULL, err));
    if (!given || d->schema->columns[LEAT_PROBE_FIELD_SRC].present) return LEAT_OK;
    LEAT_TRY(leat_probe_intern(d->out, given, (int64_t)strlen(given), &d->given_source, err));
    if (d->given_source < 0)
        return leat_fail(err, LEAT_ERR_OPTION, "%s: the given source \"%.64s\" is not an address",
                         d->stream.name, given);
    return LEAT_OK;
}

static leat_code read_all(decoder *d, leat_error *err) {
    LEAT_TRY(begin_table(d, err));
    for (;;) {
        LEAT_TRY(leat_arrow_next(&d->stream, &d->message, err));
        if (d->message.header == LEAT_ARROW_END) return LEAT_OK;
        if (d->message.header == LEAT_ARROW_SCHEMA)
            return leat_fail(err, LEAT_ERR_CORRUPT, "%s: a second schema at byte %lld",
                             d->stream.name, (long long)d->message.at);
        LEAT_TRY(leat_arrow_read_batch(&d->stream, d->schema, &d->message, &d->batch, err));
        LEAT_TRY(d->message.header == LEAT_ARROW_DICTIONARY_BATCH ? read_dictionary(d, err)
                                                                  : read_rows(d, err));
    }
}

leat_code leat_probe_read_table(const leat_probe_table *table,
                                const leat_probe_read_options *options, leat_measurements *out,
                                leat_probe_row_info *info, leat_error *err) {
    leat_view view = leat_view_of(table->bytes, table->size_bytes);
    decoder d;
    d.bytes = table->bytes;
    d.options = options;
    d.is_row = table->is_row;
    d.out = out;
    d.room = out->room;
    memset(&d.stream, 0, sizeof d.stream);
    d.given_source = -1;
    d.stream.view = &view;
    d.stream.name = table->name;
    d.stream.end = table->size_bytes;
    leat_probe_room_clear(out);
    leat_code code = read_all(&d, err);
    if (code != LEAT_OK) {
        leat_probe_room_clear(out);
        return code;
    }
    info->has_src_addr = d.schema->columns[LEAT_PROBE_FIELD_SRC].present;
    info->has_ip_version = d.schema->columns[LEAT_PROBE_FIELD_VERSION].present;
    return LEAT_OK;
}
