/*
 * NDJSON: one object per line. Results of RIPE Atlas pings, as its API returns them; or plain
 * measurements with leat's own names (those with an event_time), as `leat cat --format ndjson`
 * writes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "ingest/probes/identity.h"
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

static bool get_time(leat_text_worker *worker, const json_t *value, int64_t *time_us) {
    leat_time_unit unit = worker->rows.options->time_unit;
    *time_us = LEAT_TIME_MISSING;
    if (is_null(value)) return true;
    if (json_is_integer(value)) {
        *time_us = leat_time_of_integer(json_integer_value(value), unit, &worker->units);
        return true;
    }
    if (json_is_real(value)) {
        *time_us = leat_time_of_real(json_real_value(value), unit, &worker->units);
        return true;
    }
    if (!json_is_string(value)) return false;
    return leat_time_read(json_string_value(value), (int64_t)json_string_length(value), unit,
                          time_us, &worker->units);
}

static bool get_version(const json_t *value, int32_t *version) {
    *version = 0;
    if (is_null(value)) return true;
    if (!json_is_integer(value)) return false;
    json_int_t found = json_integer_value(value);
    *version = found > INT32_MAX ? INT32_MAX : found < INT32_MIN ? INT32_MIN : (int32_t)found;
    return true;
}

/* A ping without an answer is null, a word, or false. */
static bool get_rtt(const json_t *value, leat_rtt_unit unit, float *rtt) {
    *rtt = NAN;
    if (is_null(value) || json_is_false(value)) return true;
    if (json_is_string(value)) { /* a number is not written as text */
        return leat_rtt_read(json_string_value(value), (int64_t)json_string_length(value), unit,
                             rtt) &&
               isnan(*rtt);
    }
    if (!json_is_number(value)) return false;
    *rtt = leat_rtt_of_number(json_number_value(value), unit);
    return true;
}

/* ---- what is noticed (notes.h) ---- */

/* Keeps the names of the members of the first object, in file and line, of those that it is called
 * for. */
static void keep_names(leat_notes *notes, leat_notes_object *first, int32_t file_index, int64_t row,
                       const json_t *object) {
    if (notes == NULL) return;
    pthread_mutex_lock(&notes->lock);
    bool later = first->known && (first->file_index < file_index ||
                                  (first->file_index == file_index && first->row <= row));
    if (!later) {
        *first = (leat_notes_object){.known = true, .file_index = file_index, .row = row};
        void *at = json_object_iter((json_t *)(uintptr_t)object);
        for (; at != NULL; at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
            size_t used = strlen(first->names);
            if (used + 2 >= sizeof first->names) break;
            snprintf(first->names + used, sizeof first->names - used, "%s%.60s",
                     used > 0 ? ", " : "", json_object_iter_key(at));
        }
    }
    pthread_mutex_unlock(&notes->lock);
}

/* Counts whether an object has the member of rtt, which may be null. */
static void note_member(leat_text_worker *worker, const json_t *object, const char *name,
                        int64_t row) {
    leat_notes *notes = worker->rows.options->notes;
    if (json_object_get(object, name) != NULL) {
        worker->with++;
        return;
    }
    if (worker->without++ == 0 && notes != NULL)
        keep_names(notes, &notes->lacking, worker->rows.file_index, row, object);
}

/* Why an rtt makes its row a reject. */
static leat_reject bad_rtt(leat_text_worker *worker, const json_t *value) {
    if (json_is_string(value))
        leat_notes_add_word(worker->rows.options->notes, json_string_value(value),
                            (int64_t)json_string_length(value));
    return LEAT_REJECT_RTT_BAD;
}

/* Below, *why is the reason to reject an object; LEAT_REJECT_COUNT if it is accepted. */

/* A plain measurement, the inverse of what leat writes. */
static leat_code add_plain(leat_text_worker *worker, const json_t *object,
                           const char *const names[LEAT_COLUMNS], leat_source_row *row,
                           leat_reject *why, leat_error *err) {
    const json_t *rtt = json_object_get(object, names[LEAT_COLUMN_RTT]);
    *why = LEAT_REJECT_LINE;
    note_member(worker, object, names[LEAT_COLUMN_RTT], row->row);
    if (!get_time(worker, json_object_get(object, names[LEAT_COLUMN_TIME]), &row->time_us) ||
        !keep_text(worker, json_object_get(object, names[LEAT_COLUMN_SRC]), &row->src) ||
        !keep_text(worker, json_object_get(object, names[LEAT_COLUMN_DST]), &row->dst) ||
        !get_version(json_object_get(object, names[LEAT_COLUMN_VERSION]), &row->ip_version))
        return LEAT_OK;
    *why = LEAT_REJECT_COUNT;
    if (get_rtt(rtt, worker->rows.options->rtt_unit, &row->rtt))
        return leat_rows_add(&worker->rows, row, err);
    *why = bad_rtt(worker, rtt);
    return LEAT_OK;
}

/* ---- RIPE Atlas ---- */

/* The names of members: those given for columns, else Atlas' own. */
typedef struct atlas_names {
    const char *time, *src, *dst, *version, *rtt; /* src, rtt: NULL if not given */
} atlas_names;

static atlas_names names_of(const leat_source_options *options) {
    const leat_source_columns *given = &options->columns;
    return (atlas_names){
        leat_source_is_mapped(options, LEAT_COLUMN_TIME) ? given->event_time : "timestamp",
        leat_source_is_mapped(options, LEAT_COLUMN_SRC) ? given->src_addr : NULL,
        leat_source_is_mapped(options, LEAT_COLUMN_DST) ? given->dst_addr : "dst_addr",
        leat_source_is_mapped(options, LEAT_COLUMN_VERSION) ? given->ip_version : "af",
        leat_source_is_mapped(options, LEAT_COLUMN_RTT) ? given->rtt : NULL};
}

/* The fields shared by all measurements of an Atlas result. `from` is the address that Atlas saw;
 * src_addr is the probe's own view of its address, often a private one. */
static bool take_atlas(leat_text_worker *worker, const json_t *object, const atlas_names *names,
                       leat_source_row *row) {
    const json_t *from = json_object_get(object, names->src != NULL ? names->src : "from");
    bool own_view = names->src != NULL && strcmp(names->src, "src_addr") == 0;
    if (names->src == NULL &&
        (is_null(from) || (json_is_string(from) && json_string_length(from) == 0))) {
        from = json_object_get(object, "src_addr");
        own_view = true;
    }
    const json_t *number_of = json_object_get(object, "prb_id");
    json_int_t probe = json_is_integer(number_of) ? json_integer_value(number_of) : 0;
    if (probe > 0 && probe <= LEAT_PROBE_NUMBER_MAX)
        row->probe = (uint32_t)probe | (own_view ? LEAT_PROBE_OWN_VIEW : 0);
    const json_t *time = json_object_get(object, names->time);
    bool number = is_null(time) || json_is_number(time) || strcmp(names->time, "timestamp") != 0;
    return number && get_time(worker, time, &row->time_us) && keep_text(worker, from, &row->src) &&
           keep_text(worker, json_object_get(object, names->dst), &row->dst) &&
           get_version(json_object_get(object, names->version), &row->ip_version);
}

/* Counts which of the given names an Atlas result has; rtt may be one of its packets. */
static void note_atlas(leat_text_worker *worker, const json_t *object, int64_t row) {
    const leat_source_options *options = worker->rows.options;
    const char *names[LEAT_COLUMNS];
    leat_notes *notes = options->notes;
    const json_t *packets = json_object_get(object, "result");
    bool by_packet = options->per_packet && json_array_size(packets) > 0;
    if (notes == NULL) return;
    leat_source_names(&options->columns, names);
    if (worker->atlas++ == 0)
        keep_names(notes, &notes->atlas_first, worker->rows.file_index, row, object);
    for (int k = 0; k < LEAT_COLUMNS; k++) {
        bool has = false;
        if (!leat_source_is_mapped(options, k)) continue;
        if (k != LEAT_COLUMN_RTT || !by_packet) has = json_object_get(object, names[k]) != NULL;
        if (k == LEAT_COLUMN_RTT) has = has || json_object_get(object, "error") != NULL;
        for (size_t i = 0; k == LEAT_COLUMN_RTT && by_packet && i < json_array_size(packets); i++)
            has = has || json_object_get(json_array_get(packets, i), names[k]) != NULL;
        if (has) atomic_fetch_add(&notes->atlas_has[k], 1);
    }
}

/* The average of the answers to a result's packets, for a result that does not state it; false if a
 * packet is invalid. */
static bool average_packets(const json_t *object, leat_rtt_unit unit, float *rtt) {
    const json_t *packets = json_object_get(object, "result");
    double sum = 0;
    int64_t answers = 0;
    *rtt = NAN;
    if (!json_is_array(packets)) return true;
    for (size_t i = 0; i < json_array_size(packets); i++) {
        const json_t *packet = json_array_get(packets, i), *value = json_object_get(packet, "rtt");
        float checked;
        if (!json_is_object(packet) || !get_rtt(value, unit, &checked)) return false;
        if (json_object_get(packet, "dup") != NULL || !json_is_number(value) || !(checked >= 0))
            continue;
        sum += json_number_value(value);
        answers++;
    }
    if (answers > 0) *rtt = leat_rtt_of_number(sum / (double)answers, unit);
    return true;
}

/* One measurement per result: its average, or a failure. */
static leat_code add_average(leat_text_worker *worker, const json_t *object,
                             const atlas_names *names, leat_source_row *row, leat_reject *why,
                             leat_error *err) {
    leat_rtt_unit unit = worker->rows.options->rtt_unit;
    const json_t *average = json_object_get(object, names->rtt != NULL ? names->rtt : "avg");
    *why = LEAT_REJECT_LINE;
    if (names->rtt == NULL && is_null(average)) {
        /* one that says nothing of its packets did not fail: it is not understood */
        bool told = average != NULL || json_object_get(object, "error") != NULL ||
                    json_is_array(json_object_get(object, "result"));
        if (!told || !average_packets(object, unit, &row->rtt)) return LEAT_OK;
    } else if (!get_rtt(average, unit, &row->rtt)) {
        *why = bad_rtt(worker, average);
        return LEAT_OK;
    }
    if (json_object_get(object, "error") != NULL) row->rtt = NAN;
    else if (names->rtt != NULL) note_member(worker, object, names->rtt, row->row);
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
static leat_code add_packets(leat_text_worker *worker, const json_t *object,
                             const atlas_names *names, leat_source_row *row, leat_reject *why,
                             leat_error *err) {
    leat_rtt_unit unit = worker->rows.options->rtt_unit;
    const char *rtt = names->rtt != NULL ? names->rtt : "rtt";
    const json_t *packets = json_object_get(object, "result");
    *why = LEAT_REJECT_LINE;
    if (!is_null(packets) && !json_is_array(packets)) return LEAT_OK;
    size_t count = json_array_size(packets), measured = 0;
    if (count == 0) return add_average(worker, object, names, row, why, err);
    for (size_t i = 0; i < count; i++) {
        const json_t *packet = json_array_get(packets, i);
        if (!json_is_object(packet) || !get_rtt(json_object_get(packet, rtt), unit, &row->rtt)) {
            return LEAT_OK;
        }
        measured += json_object_get(packet, "dup") == NULL;
    }
    *why = measured > 0 ? LEAT_REJECT_COUNT : LEAT_REJECT_DUPLICATES;
    worker->answers.size = 0;
    for (size_t i = 0; i < count; i++) {
        const json_t *packet = json_array_get(packets, i);
        if (json_object_get(packet, "dup") == NULL &&
            get_rtt(json_object_get(packet, rtt), unit, &row->rtt)) {
            LEAT_TRY(count_twins(worker, row->rtt, &row->twin, err));
            LEAT_TRY(leat_rows_add(&worker->rows, row, err));
        }
    }
    return LEAT_OK;
}

static bool is_text(const json_t *value, const char *text) {
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

/* Whether an object that has the member of a renamed event_time is a result of RIPE Atlas all the
 * same: by its packets, or by the numbers of its measurement or probe and what Atlas adds to them.
 * Measurements of other tools also have a type, a timestamp, and a result that is a word. */
static bool is_atlas(const json_t *object, const char *rtt) {
    const json_t *type = json_object_get(object, "type"), *result;
    if (!json_is_string(type) || json_object_get(object, "timestamp") == NULL) return false;
    result = json_object_get(object, "result");
    if (json_is_array(result) && json_is_object(json_array_get(result, 0))) return true;
    bool plain = json_object_get(object, rtt) != NULL && json_object_get(object, "avg") == NULL;
    if (plain && !json_is_array(result) && is_text(type, "ping")) return false;
    return (json_is_integer(json_object_get(object, "msm_id")) ||
            json_is_integer(json_object_get(object, "prb_id"))) &&
           (json_object_get(object, "from") != NULL || json_object_get(object, "af") != NULL);
}

static leat_code take_object(leat_text_worker *worker, const leat_line *line, const json_t *object,
                             leat_reject *why, leat_error *err) {
    const leat_source_options *options = worker->rows.options;
    const char *names[LEAT_COLUMNS];
    leat_source_names(&options->columns, names);
    leat_source_row row = {.row = line->number};
    bool has_time = json_object_get(object, names[LEAT_COLUMN_TIME]) != NULL;
    if (has_time && !(leat_source_is_mapped(options, LEAT_COLUMN_TIME) &&
                      is_atlas(object, names[LEAT_COLUMN_RTT])))
        return add_plain(worker, object, names, &row, why, err);
    *why = LEAT_REJECT_NOT_PING;
    if (!is_text(json_object_get(object, "type"), "ping")) return LEAT_OK;
    *why = LEAT_REJECT_LINE;
    atlas_names atlas = names_of(options);
    note_atlas(worker, object, line->number);
    if (!take_atlas(worker, object, &atlas, &row)) return LEAT_OK;
    return options->per_packet ? add_packets(worker, object, &atlas, &row, why, err)
                               : add_average(worker, object, &atlas, &row, why, err);
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
    worker->records++;
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
