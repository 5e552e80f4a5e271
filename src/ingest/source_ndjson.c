/*
 * NDJSON: one object a line. Results of RIPE Atlas pings, as its API gives them; or plain
 * measurements with our own names (those with an event_time), as `leat cat --format ndjson` writes.
 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "ingest/source_parts.h"
#include "ingest/values.h"

/* A tree takes some hundred bytes a value, so that a hostile line could take much memory: lines
 * with more values than this are set aside. A ping has some 25 and 2 for each packet. */
enum { VALUES_MAX = 32768 };
/* Longer texts are no addresses; their beginning says so as well. */
enum { ADDRESS_KEPT = LEAT_REJECT_TEXT_BYTES + 1 };

static bool is_small(const leat_line *line) {
    int64_t values = 0;
    for (int64_t i = 0; i < line->size_bytes; i++) {
        char letter = line->data[i];
        values += letter == ',' || letter == '[' || letter == '{';
    }
    return values <= VALUES_MAX;
}

static bool is_null(const json_t *value) { return value == NULL || json_is_null(value); }

/* Copies a text to where it stays until the rows are flushed; false if the value is no text. */
static bool keep_text(leat_text_worker *worker, const json_t *value, leat_text *out) {
    *out = (leat_text){NULL, -1};
    if (is_null(value)) return true;
    if (!json_is_string(value)) return false;
    size_t size = json_string_length(value);
    if (size > ADDRESS_KEPT) size = ADDRESS_KEPT;
    LEAT_ASSERT(worker->text_bytes + (int64_t)size <= LEAT_NDJSON_TEXTS);
    char *copy = worker->texts + worker->text_bytes;
    memcpy(copy, json_string_value(value), size);
    worker->text_bytes += (int64_t)size;
    *out = (leat_text){copy, (int32_t)size};
    return true;
}

static bool get_time(const json_t *value, int64_t *time_us) {
    *time_us = LEAT_TIME_MISSING;
    if (is_null(value)) return true;
    if (json_is_integer(value)) {
        *time_us = leat_time_of_ticks(json_integer_value(value), 1);
        return true;
    }
    if (json_is_real(value)) {
        *time_us = leat_time_of_seconds(json_real_value(value));
        return true;
    }
    if (!json_is_string(value)) return false;
    return leat_time_of_text(json_string_value(value), (int64_t)json_string_length(value), time_us);
}

static bool get_version(const json_t *value, int32_t *version) {
    *version = 0;
    if (is_null(value)) return true;
    if (!json_is_integer(value)) return false;
    json_int_t found = json_integer_value(value);
    *version = found > INT32_MAX ? INT32_MAX : found < INT32_MIN ? INT32_MIN : (int32_t)found;
    return true;
}

static bool get_rtt(const json_t *value, float *rtt) {
    *rtt = NAN;
    if (is_null(value)) return true;
    if (!json_is_number(value)) return false;
    *rtt = (float)json_number_value(value);
    return true;
}

/* A plain measurement, the inverse of what leat writes. */
static bool take_plain(leat_text_worker *worker, const json_t *object,
                       const char *const names[LEAT_FIELDS], leat_row *row) {
    return get_time(json_object_get(object, names[LEAT_FIELD_TIME]), &row->time_us) &&
           keep_text(worker, json_object_get(object, names[LEAT_FIELD_SRC]), &row->src) &&
           keep_text(worker, json_object_get(object, names[LEAT_FIELD_DST]), &row->dst) &&
           get_version(json_object_get(object, names[LEAT_FIELD_VERSION]), &row->ip_version) &&
           get_rtt(json_object_get(object, names[LEAT_FIELD_RTT]), &row->rtt);
}

/* What all measurements of an Atlas result share. `from` is the address that Atlas saw; src_addr
 * the one that the probe believes to have, often a private one. */
static bool take_atlas(leat_text_worker *worker, const json_t *object, leat_row *row) {
    const json_t *from = json_object_get(object, "from");
    if (is_null(from) || (json_is_string(from) && json_string_length(from) == 0)) {
        from = json_object_get(object, "src_addr");
    }
    const json_t *time = json_object_get(object, "timestamp");
    return (is_null(time) || json_is_number(time)) && get_time(time, &row->time_us) &&
           keep_text(worker, from, &row->src) &&
           keep_text(worker, json_object_get(object, "dst_addr"), &row->dst) &&
           get_version(json_object_get(object, "af"), &row->ip_version);
}

/* One measurement of a result: its average, or a failure. */
static leat_code add_average(leat_text_worker *worker, const json_t *object, leat_row *row,
                             leat_error *err) {
    const json_t *average = json_object_get(object, "avg");
    row->rtt = NAN;
    if (json_is_number(average) && json_object_get(object, "error") == NULL) {
        row->rtt = (float)json_number_value(average);
    }
    return leat_rows_add(&worker->rows, row, err);
}

/* One measurement for each packet; a second answer to the same packet ("dup") is none. */
static leat_code add_packets(leat_text_worker *worker, const json_t *object, leat_row *row,
                             leat_error *err) {
    const json_t *packets = json_object_get(object, "result");
    size_t count = json_is_array(packets) ? json_array_size(packets) : 0;
    if (count == 0) return add_average(worker, object, row, err);
    for (size_t i = 0; i < count; i++) {
        const json_t *packet = json_array_get(packets, i);
        if (json_object_get(packet, "dup") != NULL) continue;
        const json_t *rtt = json_object_get(packet, "rtt");
        row->rtt = json_is_number(rtt) ? (float)json_number_value(rtt) : NAN;
        leat_row copy = *row;
        LEAT_TRY(leat_rows_add(&worker->rows, &copy, err));
    }
    return LEAT_OK;
}

static leat_code take_object(leat_text_worker *worker, leat_line *line, const json_t *object,
                             leat_error *err) {
    const leat_source_options *options = worker->rows.options;
    const char *names[LEAT_FIELDS];
    leat_source_names(&options->columns, names);
    leat_row row = {.row = line->number};
    if (json_object_get(object, names[LEAT_FIELD_TIME]) != NULL) {
        if (take_plain(worker, object, names, &row)) {
            return leat_rows_add(&worker->rows, &row, err);
        }
    } else {
        const json_t *type = json_object_get(object, "type");
        if (!json_is_string(type) || strcmp(json_string_value(type), "ping") != 0) {
            return leat_text_reject(worker, line->number, LEAT_REJECT_NOT_PING, line->data,
                                    line->size_bytes, err);
        }
        if (take_atlas(worker, object, &row)) {
            return options->per_packet ? add_packets(worker, object, &row, err)
                                       : add_average(worker, object, &row, err);
        }
    }
    return leat_text_reject(worker, line->number, LEAT_REJECT_LINE, line->data, line->size_bytes,
                            err);
}

leat_code leat_ndjson_take(leat_text_worker *worker, leat_line *line, leat_error *err) {
    if (worker->text_bytes + 2 * ADDRESS_KEPT > LEAT_NDJSON_TEXTS) {
        LEAT_TRY(leat_rows_flush(&worker->rows, err));
        worker->text_bytes = 0;
    }
    json_t *object = NULL;
    leat_error why = {0};
    leat_code code = LEAT_ERR_INPUT;
    if (line->fault == LEAT_LINE_GOOD && is_small(line)) {
        code = leat_json_parse(line->data, line->size_bytes, "line", &object, &why);
        if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &why);
    }
    if (code == LEAT_OK && json_is_object(object)) {
        code = take_object(worker, line, object, err);
    } else {
        code = leat_text_reject(worker, line->number, LEAT_REJECT_LINE, line->data,
                                line->size_bytes, err);
    }
    json_decref(object);
    return code;
}
