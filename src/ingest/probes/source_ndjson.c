/*
 * NDJSON: one object per line. Results of RIPE Atlas pings, as its API returns them; or plain
 * measurements with leat's own names (those with an event_time), as `leat cat --format ndjson`
 * writes.
 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "ingest/probes/source_parts.h"
#include "ingest/values.h"

/* A tree takes some hundred bytes per value, so a hostile line could take much memory: lines with
 * more values than this are rejected. A ping has about 25, plus 2 per packet. */
enum { VALUES_MAX = 32768 };
/* Longer texts are not addresses; their beginning is enough to show that. */
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

/* Copies a text to a buffer that lasts until the rows are flushed; false if the value is not a
 * text. */
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
    if (json_is_string(value)) { /* a word for a missing value; a number is not written as text */
        return leat_rtt_parse(json_string_value(value), (int64_t)json_string_length(value), rtt) &&
               isnan(*rtt);
    }
    if (!json_is_number(value)) return false;
    *rtt = (float)json_number_value(value);
    return true;
}

/* A plain measurement, the inverse of what leat writes. */
static bool take_plain(leat_text_worker *worker, const json_t *object,
                       const char *const names[LEAT_COLUMNS], leat_source_row *row) {
    return get_time(json_object_get(object, names[LEAT_COLUMN_TIME]), &row->time_us) &&
           keep_text(worker, json_object_get(object, names[LEAT_COLUMN_SRC]), &row->src) &&
           keep_text(worker, json_object_get(object, names[LEAT_COLUMN_DST]), &row->dst) &&
           get_version(json_object_get(object, names[LEAT_COLUMN_VERSION]), &row->ip_version) &&
           get_rtt(json_object_get(object, names[LEAT_COLUMN_RTT]), &row->rtt);
}

/* The fields shared by all measurements of an Atlas result. `from` is the address that Atlas saw;
 * src_addr is the probe's own view of its address, often a private one. */
static bool take_atlas(leat_text_worker *worker, const json_t *object, leat_source_row *row) {
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

/* Below, *why is the reason to reject an object; LEAT_REJECT_COUNT if it is accepted. */

/* One measurement per result: its average, or a failure. */
static leat_code add_average(leat_text_worker *worker, const json_t *object, leat_source_row *row,
                             leat_reject *why, leat_error *err) {
    *why = LEAT_REJECT_LINE;
    if (!get_rtt(json_object_get(object, "avg"), &row->rtt)) return LEAT_OK;
    if (json_object_get(object, "error") != NULL) row->rtt = NAN;
    *why = LEAT_REJECT_COUNT;
    return leat_rows_add(&worker->rows, row, err);
}

/* Adds an answer to those of the result, and counts the equal ones before it. As stored: all
 * failures are equal. */
static leat_code count_twins(leat_text_worker *worker, float rtt, uint32_t *twin, leat_error *err) {
    float stored = rtt > 0 ? rtt : rtt == 0 ? 0 : -1;
    const float *answers = (const float *)(const void *)worker->answers.data;
    int64_t count = worker->answers.size / (int64_t)sizeof stored;
    *twin = 0;
    for (int64_t i = 0; i < count; i++) *twin += answers[i] == stored;
    return leat_buf_append(&worker->answers, &stored, sizeof stored, err);
}

/* One measurement per packet; a second answer to the same packet ("dup") is not one. All packets
 * are checked before the first is added, so that a result is accepted or rejected as a whole. */
static leat_code add_packets(leat_text_worker *worker, const json_t *object, leat_source_row *row,
                             leat_reject *why, leat_error *err) {
    const json_t *packets = json_object_get(object, "result");
    *why = LEAT_REJECT_LINE;
    if (!is_null(packets) && !json_is_array(packets)) return LEAT_OK;
    size_t count = json_array_size(packets), measured = 0;
    if (count == 0) return add_average(worker, object, row, why, err);
    for (size_t i = 0; i < count; i++) {
        const json_t *packet = json_array_get(packets, i);
        if (!json_is_object(packet) || !get_rtt(json_object_get(packet, "rtt"), &row->rtt)) {
            return LEAT_OK;
        }
        measured += json_object_get(packet, "dup") == NULL;
    }
    *why = measured > 0 ? LEAT_REJECT_COUNT : LEAT_REJECT_DUPLICATES;
    worker->answers.size = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *packet = json_array_get(packets, i);
        if (json_object_get(packet, "dup") == NULL &&
            get_rtt(json_object_get(packet, "rtt"), &row->rtt)) {
            LEAT_TRY(count_twins(worker, row->rtt, &row->twin, err));
            LEAT_TRY(leat_rows_add(&worker->rows, row, err));
        }
    }
    return LEAT_OK;
}

static leat_code take_object(leat_text_worker *worker, const leat_line *line, const json_t *object,
                             leat_reject *why, leat_error *err) {
    const leat_source_options *options = worker->rows.options;
    const char *names[LEAT_COLUMNS];
    leat_source_names(&options->columns, names);
    leat_source_row row = {.row = line->number};
    *why = LEAT_REJECT_LINE;
    if (json_object_get(object, names[LEAT_COLUMN_TIME]) != NULL) {
        if (!take_plain(worker, object, names, &row)) return LEAT_OK;
        *why = LEAT_REJECT_COUNT;
        return leat_rows_add(&worker->rows, &row, err);
    }
    const json_t *type = json_object_get(object, "type");
    if (!json_is_string(type) || strcmp(json_string_value(type), "ping") != 0) {
        *why = LEAT_REJECT_NOT_PING;
        return LEAT_OK;
    }
    if (!take_atlas(worker, object, &row)) return LEAT_OK;
    return options->per_packet ? add_packets(worker, object, &row, why, err)
                               : add_average(worker, object, &row, why, err);
}

/* Whether the byte at `at` can continue a word. */
static bool is_letter(const leat_line *line, int64_t at) {
    char letter = at >= 0 && at < line->size_bytes ? (char)(line->data[at] | 0x20) : 0;
    return letter >= 'a' && letter <= 'z';
}

/*
 * Programs write NaN for a missing number, which JSON does not have: each one outside a text
 * becomes an empty text, a missing value of the same length. False if there is none. The beginning
 * of the line is kept for rejected.csv.
 */
static bool replace_nan(leat_text_worker *worker, leat_line *line) {
    static const char empty[] = "\"\" ";
    bool inside = false, found = false;
    for (int64_t i = 0; i < line->size_bytes; i++) {
        if (line->data[i] == '"') inside = !inside;
        if (inside && line->data[i] == '\\') i++;
        if (inside || line->size_bytes - i < 3 || memcmp(line->data + i, "NaN", 3) != 0) continue;
        if (is_letter(line, i - 1) || is_letter(line, i + 3)) continue;
        if (!found) {
            int64_t kept = line->size_bytes;
            if (kept > LEAT_REJECT_TEXT_BYTES) kept = LEAT_REJECT_TEXT_BYTES;
            memcpy(worker->head, line->data, (size_t)kept);
        }
        found = true;
        memcpy(line->data + i, empty, 3);
        i += 2;
    }
    return found;
}

leat_code leat_ndjson_take(leat_text_worker *worker, leat_line *line, leat_error *err) {
    if (worker->text_bytes + 2 * ADDRESS_KEPT > LEAT_NDJSON_TEXTS) {
        LEAT_TRY(leat_rows_flush(&worker->rows, err));
        worker->text_bytes = 0;
    }
    json_t *object = NULL;
    leat_error cause = {0};
    leat_reject why = LEAT_REJECT_LINE;
    leat_code code = LEAT_OK;
    bool readable = line->fault == LEAT_LINE_GOOD && is_small(line), replaced = false;
    if (readable) code = leat_json_parse(line->data, line->size_bytes, "line", &object, &cause);
    if (code != LEAT_OK && code != LEAT_ERR_MEMORY && replace_nan(worker, line)) {
        replaced = true;
        code = leat_json_parse(line->data, line->size_bytes, "line", &object, &cause);
    }
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &cause);
    code = LEAT_OK;
    if (json_is_object(object)) code = take_object(worker, line, object, &why, err);
    json_decref(object);
    if (code != LEAT_OK || why == LEAT_REJECT_COUNT) return code;
    const char *shown = replaced ? worker->head : line->data;
    int64_t shown_bytes = line->size_bytes;
    if (replaced && shown_bytes > LEAT_REJECT_TEXT_BYTES) shown_bytes = LEAT_REJECT_TEXT_BYTES;
    return leat_text_reject(worker, line->number, why, shown, shown_bytes, err);
}
