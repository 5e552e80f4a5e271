/*
 * NDJSON: one object per line. Results of RIPE Atlas pings, as its API returns them; or plain
 * measurements with leat's own names (those with an event_time), as `leat cat --format ndjson`
 * writes. A line is scanned for the members that are read (base/json_scan.h); jansson reads the
 * same lines in tests.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "ingest/probes/identity.h"
#include "ingest/probes/source_parts.h"
#include "ingest/value_text.h"

/* Longer texts are not addresses; their beginning is enough to show that. */
enum { ADDRESS_KEPT = LEAT_REJECT_TEXT_BYTES + 1 };
/* Longer words are not among those that are known. */
enum { WORD_BYTES = 512 };

/* ---- members ---- */

void leat_ndjson_map_make(leat_ndjson_map *map, const leat_source_options *options) {
    static const char *const own[LEAT_MEMBERS] = {[LEAT_MEMBER_TYPE] = "type",
                                                  [LEAT_MEMBER_TIMESTAMP] = "timestamp",
                                                  [LEAT_MEMBER_FROM] = "from",
                                                  [LEAT_MEMBER_SRC_ADDR] = "src_addr",
                                                  [LEAT_MEMBER_SRCADDR] = "srcaddr",
                                                  [LEAT_MEMBER_DST_ADDR] = "dst_addr",
                                                  [LEAT_MEMBER_ADDR] = "addr",
                                                  [LEAT_MEMBER_AF] = "af",
                                                  [LEAT_MEMBER_AVG] = "avg",
                                                  [LEAT_MEMBER_RESULT] = "result",
                                                  [LEAT_MEMBER_ERROR] = "error",
                                                  [LEAT_MEMBER_PRB_ID] = "prb_id",
                                                  [LEAT_MEMBER_MSM_ID] = "msm_id",
                                                  [LEAT_MEMBER_START] = "start",
                                                  [LEAT_MEMBER_RESPONSES] = "responses",
                                                  [LEAT_MEMBER_SOURCE] = "_source"};
    const char *columns[LEAT_COLUMNS];
    *map = (leat_ndjson_map){0};
    map->named = leat_source_names(&options->columns, columns) > LEAT_COLUMN_PROBE;
    for (int k = 0; k < LEAT_MEMBERS; k++) {
        const bool column = k < LEAT_COLUMNS;
        if (k == LEAT_MEMBER_PROBE && !map->named) continue;
        const int number = leat_json_names_add(&map->names, column ? columns[k] : own[k]);
        const uint32_t bit = UINT32_C(1) << number;
        map->slot[k] = (uint8_t)number;
        if (column) map->given[k] = leat_source_is_mapped(options, k);
        if (column) map->plain |= bit;
        if (!column || map->given[k] || k == LEAT_MEMBER_PROBE) map->atlas |= bit;
    }
    if (map->given[LEAT_COLUMN_TIME]) map->plain |= map->atlas; /* is_atlas */
    map->packet_rtt = (uint8_t)leat_json_names_add(&map->packet, "rtt");
    map->packet_dup = (uint8_t)leat_json_names_add(&map->packet, "dup");
    map->packet_mapped = map->packet_rtt;
    if (map->given[LEAT_COLUMN_RTT])
        map->packet_mapped = (uint8_t)leat_json_names_add(&map->packet, columns[LEAT_COLUMN_RTT]);
}

static inline const leat_json_slice *get(const leat_text_worker *worker, leat_member member) {
    return leat_json_field(&worker->fields, worker->json.slot[member]);
}

static inline bool has(const leat_text_worker *worker, leat_member member) {
    return get(worker, member)->kind != LEAT_JSON_MISSING;
}

static inline bool is_null(const leat_json_slice *value) {
    return value->kind == LEAT_JSON_MISSING || value->kind == LEAT_JSON_NULL;
}

/* MongoDB's exports have {"$numberLong": "7"} for 7, and the like for other numbers and for times:
 * the value inside, or the value itself. */
static leat_json_slice unwrap(const leat_json_slice *value) {
    leat_json_slice inside = *value;
    while (inside.kind == LEAT_JSON_OBJECT) {
        leat_json_items items = leat_json_items_of(&inside);
        leat_json_slice key, item, more;
        if (!leat_json_items_next(&items, &key, &item) ||
            leat_json_items_next(&items, NULL, &more) ||
            !(leat_json_is_text(&key, "$numberLong") || leat_json_is_text(&key, "$numberInt") ||
              leat_json_is_text(&key, "$numberDouble") || leat_json_is_text(&key, "$date")) ||
            !leat_json_is_readable(&item))
            break;
        inside = item;
    }
    return inside;
}

/* A text that lasts until the rows are flushed; false if the value is not a text. */
static bool keep_text(leat_text_worker *worker, const leat_json_slice *value, leat_text *out) {
    *out = (leat_text){NULL, -1};
    if (is_null(value)) return true;
    if (value->kind != LEAT_JSON_STRING) return false;
    if (!value->escaped) {
        *out = (leat_text){value->text,
                           value->size_bytes < ADDRESS_KEPT ? value->size_bytes : ADDRESS_KEPT};
        return true;
    }
    LEAT_ASSERT(worker->text_bytes + ADDRESS_KEPT <= LEAT_NDJSON_TEXTS);
    char *copy = worker->texts + worker->text_bytes;
    int64_t size = leat_json_read_text(value, copy, ADDRESS_KEPT);
    if (size < 0) return false;
    worker->text_bytes += size;
    *out = (leat_text){copy, (int32_t)size};
    return true;
}

/* The name of the object's probe: a text, or a number as it is written; absent if there is none.
 * False if the value is neither. */
static bool get_name(leat_text_worker *worker, leat_text *name) {
    if (!worker->json.named) return true;
    const leat_json_slice value = unwrap(get(worker, LEAT_MEMBER_PROBE));
    if (value.kind != LEAT_JSON_INTEGER && value.kind != LEAT_JSON_REAL)
        return keep_text(worker, &value, name);
    *name = (leat_text){value.text, value.size_bytes};
    return true;
}

/* A number of Atlas, which may be a text of digits, as firmware 0 and exports of databases write
 * it, or have a fraction of zeros; false if it is not a whole number. */
static bool read_whole(const leat_json_slice *wrapped, int64_t *number) {
    const leat_json_slice value = unwrap(wrapped);
    const bool plain = value.kind == LEAT_JSON_INTEGER || value.kind == LEAT_JSON_REAL;
    if (!plain && (value.kind != LEAT_JSON_STRING || value.escaped)) return false;
    return leat_whole_parse(value.text, value.size_bytes, number);
}

/* The number of the object's RIPE Atlas probe; 0: it has none. */
static uint32_t get_probe(const leat_text_worker *worker) {
    int64_t probe = 0;
    const bool known = read_whole(get(worker, LEAT_MEMBER_PRB_ID), &probe) && probe > 0 &&
                       probe <= LEAT_PROBE_NUMBER_MAX;
    return known ? (uint32_t)probe : 0;
}

/* The same of a text that is examined at once: `word` has WORD_BYTES, which is enough for a word
 * or number; -1 if it is not valid. */
static int64_t plain_text(const leat_json_slice *value, char *word, const char **text) {
    *text = value->text;
    if (!value->escaped) return value->size_bytes;
    *text = word;
    return leat_json_read_text(value, word, WORD_BYTES);
}

static bool get_time(leat_text_worker *worker, const leat_json_slice *wrapped, int64_t *time_us) {
    const leat_json_slice plain = unwrap(wrapped), *value = &plain;
    leat_time_unit unit = worker->rows.options->time_unit;
    char word[WORD_BYTES];
    const char *text;
    int64_t whole = 0;
    double real = 0;
    *time_us = LEAT_TIME_MISSING;
    switch (value->kind) {
    case LEAT_JSON_MISSING:
    case LEAT_JSON_NULL: return true;
    case LEAT_JSON_INTEGER:
        if (!leat_json_read_int(value, &whole)) return false;
        *time_us = leat_time_of_integer(whole, unit, &worker->units);
        return true;
    case LEAT_JSON_REAL:
        if (!leat_json_read_double(value, &real)) return false;
        *time_us = leat_time_of_real(real, unit, &worker->units);
        return true;
    case LEAT_JSON_STRING: break;
    default: return false;
    }
    const int64_t size = plain_text(value, word, &text);
    return size >= 0 && leat_time_read(text, size, unit, time_us, &worker->units);
}

/* Firmware 0 of RIPE Atlas probes and exports of databases write numbers as texts. */
static bool get_version(const leat_json_slice *wrapped, int32_t *version) {
    const leat_json_slice plain = unwrap(wrapped), *value = &plain;
    char word[WORD_BYTES];
    const char *text;
    int64_t found = 0;
    *version = 0;
    if (is_null(value)) return true;
    if (value->kind == LEAT_JSON_STRING) {
        const int64_t size = plain_text(value, word, &text);
        return size >= 0 && leat_version_parse(text, size, version);
    }
    /* programs that have missing numbers write whole ones as 4.0 */
    if (value->kind == LEAT_JSON_REAL)
        return leat_version_parse(value->text, value->size_bytes, version);
    if (!leat_json_read_int(value, &found)) return false;
    *version = found > INT32_MAX ? INT32_MAX : found < INT32_MIN ? INT32_MIN : (int32_t)found;
    return true;
}

/* An rtt in its own unit, NaN if the ping was not answered: null, a word, or false. Otherwise the
 * reason why it is not one: LEAT_REJECT_LINE if the value itself cannot be read. */
static leat_reject get_answer(const leat_json_slice *wrapped, double *answer) {
    const leat_json_slice plain = unwrap(wrapped), *value = &plain;
    char word[WORD_BYTES];
    const char *text;
    float missing;
    *answer = NAN;
    if (is_null(value) || value->kind == LEAT_JSON_FALSE) return LEAT_REJECT_COUNT;
    if (value->kind == LEAT_JSON_STRING) {
        const int64_t size = plain_text(value, word, &text);
        if (size < 0) return LEAT_REJECT_LINE;
        if (leat_decimal_parse(text, size, 0, answer))
            return isfinite(*answer) ? LEAT_REJECT_COUNT : LEAT_REJECT_RTT_BAD;
        *answer = NAN;
        return leat_rtt_parse(text, size, &missing) && isnan(missing) ? LEAT_REJECT_COUNT
                                                                      : LEAT_REJECT_RTT_BAD;
    }
    if (value->kind == LEAT_JSON_INFINITE) return LEAT_REJECT_LINE;
    if (value->kind != LEAT_JSON_INTEGER && value->kind != LEAT_JSON_REAL)
        return LEAT_REJECT_RTT_BAD;
    return leat_json_read_double(value, answer) ? LEAT_REJECT_COUNT : LEAT_REJECT_LINE;
}

/* The rtt of a measurement, which is counted. */
static leat_reject get_rtt(leat_text_worker *worker, const leat_json_slice *value, float *rtt) {
    double answer;
    const leat_reject why = get_answer(value, &answer);
    *rtt = why == LEAT_REJECT_COUNT ? leat_text_rtt(worker, answer) : NAN;
    return why;
}

/* ---- what is noticed (notes.h) ---- */

/* Keeps the names of the members of the first object, in file and line, of those that it is called
 * for. */
static void keep_names(leat_notes *notes, leat_notes_object *first, int32_t file_index,
                       const leat_line *line) {
    if (notes == NULL) return;
    pthread_mutex_lock(&notes->lock);
    if (leat_notes_take_first(first, file_index, line->number)) {
        const char *open = memchr(line->data, '{', (size_t)line->size_bytes);
        leat_json_slice object = {.text = open, .kind = LEAT_JSON_OBJECT}, key, value;
        object.size_bytes = (int32_t)(line->data + line->size_bytes - open);
        leat_json_items items = leat_json_items_of(&object);
        while (leat_json_items_next(&items, &key, &value)) {
            enum { NAME_BYTES = 60 };
            char name[NAME_BYTES];
            size_t used = strlen(first->names);
            if (used + 2 >= sizeof first->names) break;
            const int64_t size = leat_json_read_text(&key, name, NAME_BYTES);
            snprintf(first->names + used, sizeof first->names - used, "%s%.*s",
                     used > 0 ? ", " : "", (int)(size < 0 ? 0 : size), name);
        }
    }
    pthread_mutex_unlock(&notes->lock);
}

/* Counts whether an object has the member of rtt, which may be null. */
static void note_member(leat_text_worker *worker, const leat_line *line) {
    leat_notes *notes = worker->rows.options->notes;
    if (has(worker, LEAT_MEMBER_RTT)) {
        worker->with++;
        return;
    }
    if (worker->without++ == 0 && notes != NULL)
        keep_names(notes, &notes->lacking, worker->rows.file_index, line);
}

/* Notes the word, or other value, for which an rtt makes its row a reject. */
static void note_word(leat_text_worker *worker, const leat_line *line, const leat_json_slice *value,
                      leat_reject why) {
    char word[WORD_BYTES];
    const char *text = value->text;
    int64_t size = value->size_bytes;
    bool is_text = value->kind == LEAT_JSON_STRING;
    leat_notes *notes = worker->rows.options->notes;
    const leat_json_slice plain = unwrap(value);
    if (notes != NULL && plain.kind == LEAT_JSON_INFINITE) atomic_fetch_add(&notes->infinite, 1);
    if (why != LEAT_REJECT_RTT_BAD) return;
    if (leat_shape_is(&plain) && value == get(worker, LEAT_MEMBER_RTT)) {
        leat_notes_add_shape(notes, worker->rows.file_index, line->number, &plain);
        return;
    }
    if (is_text) size = plain_text(value, word, &text);
    leat_notes_add_word(notes, text, size);
}

/* Below, *why is the reason to reject an object; LEAT_REJECT_COUNT if it is accepted. */

/* A plain measurement, the inverse of what leat writes. */
static leat_code add_plain(leat_text_worker *worker, const leat_line *line, leat_source_row *row,
                           leat_reject *why, leat_error *err) {
    const leat_json_slice *rtt = get(worker, LEAT_MEMBER_RTT);
    *why = LEAT_REJECT_LINE;
    row->probe = get_probe(worker); /* a result of Atlas that was flattened */
    note_member(worker, line);
    if (!get_time(worker, get(worker, LEAT_MEMBER_TIME), &row->time_us) ||
        !keep_text(worker, get(worker, LEAT_MEMBER_SRC), &row->src) ||
        !keep_text(worker, get(worker, LEAT_MEMBER_DST), &row->dst) ||
        !get_name(worker, &row->name) ||
        !get_version(get(worker, LEAT_MEMBER_VERSION), &row->ip_version))
        return LEAT_OK;
    *why = get_rtt(worker, rtt, &row->rtt);
    if (*why == LEAT_REJECT_COUNT) return leat_rows_add(&worker->rows, row, err);
    note_word(worker, line, rtt, *why);
    return LEAT_OK;
}

/* ---- RIPE Atlas ---- */

static inline bool is_empty(const leat_json_slice *value) {
    return is_null(value) || (value->kind == LEAT_JSON_STRING && value->size_bytes == 0);
}

/* The first of these members that has a value; if none has, the last that is there. */
static leat_member first_of(const leat_text_worker *worker, const leat_member *members, int count) {
    leat_member found = members[0];
    for (int i = 0; i < count; i++) {
        if (!is_empty(get(worker, members[i]))) return members[i];
        if (has(worker, members[i])) found = members[i];
    }
    return found;
}

/* The fields shared by all measurements of an Atlas result. `from` is the address that Atlas saw;
 * src_addr is the probe's own view of its address, often a private one. Firmware before 4460 has
 * other names. */
static bool take_atlas(leat_text_worker *worker, leat_source_row *row) {
    static const leat_member sources[] = {LEAT_MEMBER_FROM, LEAT_MEMBER_SRC_ADDR,
                                          LEAT_MEMBER_SRCADDR};
    static const leat_member targets[] = {LEAT_MEMBER_DST_ADDR, LEAT_MEMBER_ADDR};
    const leat_ndjson_map *map = &worker->json;
    leat_member from = map->given[LEAT_COLUMN_SRC] ? LEAT_MEMBER_SRC : first_of(worker, sources, 3);
    leat_member to = map->given[LEAT_COLUMN_DST] ? LEAT_MEMBER_DST : first_of(worker, targets, 2);
    leat_member when = map->given[LEAT_COLUMN_TIME] ? LEAT_MEMBER_TIME : LEAT_MEMBER_TIMESTAMP;
    leat_member version = map->given[LEAT_COLUMN_VERSION] ? LEAT_MEMBER_VERSION : LEAT_MEMBER_AF;
    const leat_json_slice *time = get(worker, when);
    bool own_view = map->slot[from] == map->slot[LEAT_MEMBER_SRC_ADDR] ||
                    map->slot[from] == map->slot[LEAT_MEMBER_SRCADDR];
    row->probe = get_probe(worker);
    if (row->probe != 0 && own_view) row->probe |= LEAT_PROBE_OWN_VIEW;
    /* an empty timestamp is not one that is missing */
    if (map->slot[when] == map->slot[LEAT_MEMBER_TIMESTAMP] && time->kind == LEAT_JSON_STRING &&
        time->size_bytes == 0)
        return false;
    return get_time(worker, time, &row->time_us) &&
           keep_text(worker, get(worker, from), &row->src) &&
           keep_text(worker, get(worker, to), &row->dst) && get_name(worker, &row->name) &&
           get_version(get(worker, version), &row->ip_version);
}

/* The next packet of a result: *object is whether it is one, with its members in worker->packet. */
static bool next_packet(leat_text_worker *worker, leat_json_items *packets, bool *object) {
    leat_json_slice packet;
    if (!leat_json_items_next(packets, NULL, &packet)) return false;
    *object =
        packet.kind == LEAT_JSON_OBJECT &&
        leat_json_scan(packet.text, packet.size_bytes, &worker->json.packet, &worker->packet) &&
        worker->packet.repeated == 0;
    return true;
}

/* Whether one of a result's packets has the mapped rtt. */
static bool packets_have(leat_text_worker *worker, const leat_json_slice *result) {
    leat_json_items packets = leat_json_items_of(result);
    bool object = false;
    while (next_packet(worker, &packets, &object)) {
        if (object && (worker->packet.found >> worker->json.packet_mapped & 1) != 0) return true;
    }
    return false;
}

/* Counts which of the given names an Atlas result has; rtt may be one of its packets. */
static void note_atlas(leat_text_worker *worker, const leat_line *line) {
    leat_notes *notes = worker->rows.options->notes;
    const leat_json_slice *result = get(worker, LEAT_MEMBER_RESULT);
    bool by_packet = worker->rows.options->per_packet && result->kind == LEAT_JSON_ARRAY &&
                     leat_json_items_count(result) > 0;
    if (notes == NULL) return;
    if (worker->atlas++ == 0) keep_names(notes, &notes->atlas_first, worker->rows.file_index, line);
    for (int k = 0; k < LEAT_COLUMNS; k++) {
        bool there = false;
        if (!worker->json.given[k]) continue;
        if (k != LEAT_COLUMN_RTT || !by_packet) there = has(worker, (leat_member)k);
        if (k == LEAT_COLUMN_RTT) there = there || has(worker, LEAT_MEMBER_ERROR);
        if (k == LEAT_COLUMN_RTT && by_packet) there = there || packets_have(worker, result);
        if (there) atomic_fetch_add(&notes->atlas_has[k], 1);
    }
}

/* The average of the answers to a result's packets, for a result that does not state it; false if a
 * packet is invalid. */
static bool average_packets(leat_text_worker *worker, float *rtt) {
    const leat_json_slice *result = get(worker, LEAT_MEMBER_RESULT);
    leat_rtt_unit unit = worker->rows.options->rtt_unit;
    double sum = 0;
    int64_t answers = 0;
    bool object = false;
    *rtt = NAN;
    if (result->kind != LEAT_JSON_ARRAY) return true;
    leat_json_items packets = leat_json_items_of(result);
    while (next_packet(worker, &packets, &object)) {
        if (!object) return false;
        const leat_json_slice *value = leat_json_field(&worker->packet, worker->json.packet_rtt);
        double answer;
        if (get_answer(value, &answer) != LEAT_REJECT_COUNT) return false;
        if ((worker->packet.found >> worker->json.packet_dup & 1) != 0 ||
            leat_lost_find(worker->rows.options->lost, answer, false) >= 0 ||
            !(leat_rtt_of_number(answer, unit) >= 0))
            continue;
        sum += answer;
        answers++;
    }
    if (answers > 0) *rtt = leat_rtt_of_number(sum / (double)answers, unit);
    return true;
}

/* One measurement per result: its average, or a failure. */
static leat_code add_average(leat_text_worker *worker, const leat_line *line, leat_source_row *row,
                             leat_reject *why, leat_error *err) {
    const bool given = worker->json.given[LEAT_COLUMN_RTT];
    const leat_json_slice *average = get(worker, given ? LEAT_MEMBER_RTT : LEAT_MEMBER_AVG);
    *why = LEAT_REJECT_LINE;
    if (!given && is_empty(average)) { /* NaN is empty */
        /* one that says nothing of its packets did not fail: it is not understood */
        bool told = average->kind != LEAT_JSON_MISSING || has(worker, LEAT_MEMBER_ERROR) ||
                    get(worker, LEAT_MEMBER_RESULT)->kind == LEAT_JSON_ARRAY;
        if (!told || !average_packets(worker, &row->rtt)) return LEAT_OK;
    } else {
        *why = get_rtt(worker, average, &row->rtt);
        note_word(worker, line, average, *why);
        if (*why != LEAT_REJECT_COUNT) return LEAT_OK;
    }
    if (has(worker, LEAT_MEMBER_ERROR)) row->rtt = NAN;
    else if (given) note_member(worker, line);
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
static leat_code add_packets(leat_text_worker *worker, const leat_line *line, leat_source_row *row,
                             leat_reject *why, leat_error *err) {
    const leat_ndjson_map *map = &worker->json;
    const leat_json_slice *result = get(worker, LEAT_MEMBER_RESULT);
    int64_t count = 0, measured = 0;
    bool object = false;
    *why = LEAT_REJECT_LINE;
    if (!is_null(result) && result->kind != LEAT_JSON_ARRAY) return LEAT_OK;
    if (result->kind == LEAT_JSON_ARRAY) count = leat_json_items_count(result);
    if (count == 0) return add_average(worker, line, row, why, err);
    leat_json_items packets = leat_json_items_of(result);
    while (next_packet(worker, &packets, &object)) {
        double answer;
        if (!object || get_answer(leat_json_field(&worker->packet, map->packet_mapped), &answer) !=
                           LEAT_REJECT_COUNT)
            return LEAT_OK;
        const bool endless = isinf(leat_rtt_of_number(answer, worker->rows.options->rtt_unit));
        *why = endless ? LEAT_REJECT_RTT : LEAT_REJECT_LINE;
        if (endless) return LEAT_OK;
        measured += (worker->packet.found >> map->packet_dup & 1) == 0;
    }
    *why = measured > 0 ? LEAT_REJECT_COUNT : LEAT_REJECT_DUPLICATES;
    worker->answers.size = 0;
    packets = leat_json_items_of(result);
    while (next_packet(worker, &packets, &object)) {
        if ((worker->packet.found >> map->packet_dup & 1) != 0 ||
            get_rtt(worker, leat_json_field(&worker->packet, map->packet_mapped), &row->rtt) !=
                LEAT_REJECT_COUNT)
            continue;
        LEAT_TRY(count_twins(worker, row->rtt, &row->twin, err));
        LEAT_TRY(leat_rows_add(&worker->rows, row, err));
    }
    return LEAT_OK;
}

/* Whether an object that has the member of a renamed event_time is a result of RIPE Atlas all the
 * same: by its packets, or by the numbers of its measurement or probe and what Atlas adds to them.
 * Measurements of other tools also have a type, a timestamp, and a result that is a word. */
static bool is_atlas(const leat_text_worker *worker) {
    const leat_json_slice *type = get(worker, LEAT_MEMBER_TYPE);
    const leat_json_slice *result = get(worker, LEAT_MEMBER_RESULT);
    const bool packets = result->kind == LEAT_JSON_ARRAY;
    if (type->kind != LEAT_JSON_STRING || !has(worker, LEAT_MEMBER_TIMESTAMP)) return false;
    if (packets) {
        leat_json_items items = leat_json_items_of(result);
        leat_json_slice first;
        if (leat_json_items_next(&items, NULL, &first) && first.kind == LEAT_JSON_OBJECT)
            return true;
    }
    bool plain = has(worker, LEAT_MEMBER_RTT) && !has(worker, LEAT_MEMBER_AVG);
    if (plain && !packets && leat_json_is_text(type, "ping")) return false;
    int64_t number;
    return (read_whole(get(worker, LEAT_MEMBER_MSM_ID), &number) ||
            read_whole(get(worker, LEAT_MEMBER_PRB_ID), &number)) &&
           (has(worker, LEAT_MEMBER_FROM) || has(worker, LEAT_MEMBER_AF));
}

/* Whether a ping is one of scamper, whose members mean something else. */
static bool is_scamper(const leat_text_worker *worker) {
    return get(worker, LEAT_MEMBER_START)->kind == LEAT_JSON_OBJECT &&
           get(worker, LEAT_MEMBER_RESPONSES)->kind == LEAT_JSON_ARRAY &&
           !has(worker, LEAT_MEMBER_TIMESTAMP);
}

static leat_code take_object(leat_text_worker *worker, const leat_line *line, leat_reject *why,
                             leat_error *err) {
    const leat_ndjson_map *map = &worker->json;
    leat_source_row row = {.row = line->number};
    bool timed = has(worker, LEAT_MEMBER_TIME);
    /* of several values of one member, nobody knows which is meant */
    if ((worker->fields.repeated & (timed ? map->plain : map->atlas)) != 0) return LEAT_OK;
    if (timed && !(map->given[LEAT_COLUMN_TIME] && is_atlas(worker)))
        return add_plain(worker, line, &row, why, err);
    *why = LEAT_REJECT_NOT_PING;
    if (!has(worker, LEAT_MEMBER_TYPE) && worker->rows.options->notes != NULL)
        atomic_fetch_add(&worker->rows.options->notes->plain_objects, 1);
    if (!leat_json_is_text(get(worker, LEAT_MEMBER_TYPE), "ping")) return LEAT_OK;
    if (is_scamper(worker)) {
        if (worker->rows.options->notes != NULL)
            atomic_fetch_add(&worker->rows.options->notes->scamper, 1);
        return LEAT_OK;
    }
    *why = LEAT_REJECT_LINE;
    note_atlas(worker, line);
    if (!take_atlas(worker, &row)) return LEAT_OK;
    return worker->rows.options->per_packet ? add_packets(worker, line, &row, why, err)
                                            : add_average(worker, line, &row, why, err);
}

/* Whether an object is a document of Elasticsearch, as elasticdump writes them, around another. */
static bool is_wrapped(const leat_text_worker *worker) {
    return get(worker, LEAT_MEMBER_SOURCE)->kind == LEAT_JSON_OBJECT &&
           !has(worker, LEAT_MEMBER_TIME) && !has(worker, LEAT_MEMBER_TYPE);
}

/* The end of the JSON object or array at the beginning of a text; NULL: it does not end. */
static const char *end_of_value(const char *at, const char *end) {
    int64_t depth = 0;
    bool quoted = false;
    for (; at < end; at++) {
        if (quoted && *at == '\\') at++;
        else if (*at == '"') quoted = !quoted;
        else if (!quoted && (*at == '{' || *at == '[')) depth++;
        else if (!quoted && (*at == '}' || *at == ']') && --depth == 0) return at + 1;
    }
    return NULL;
}

/* Whether a line that is not an object consists of many: rejected as one row, it would hide how
 * many there are. Of two, the end of a line may be damaged. */
static bool has_objects(leat_text_worker *worker, const leat_line *line) {
    enum { ENOUGH = 4 };
    const char *at = line->data, *end = at + line->size_bytes;
    for (int objects = 0; objects < ENOUGH; objects++) {
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == ',')) at++;
        const char *stop = at < end && *at == '{' ? end_of_value(at, end) : NULL;
        if (stop == NULL || !leat_json_scan(at, stop - at, &worker->json.names, &worker->fields))
            return false;
        at = stop;
    }
    return true;
}

static leat_code refuse_objects(const leat_text_worker *worker, const leat_line *line,
                                leat_error *err) {
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\": line %lld has several JSON objects; write one a line: jq -c . FILE > "
                     "NEW, or for lines that end in CR alone, tr '\\r' '\\n' < FILE > NEW",
                     worker->path != NULL ? worker->path : "", (long long)line->number);
}

leat_code leat_ndjson_take(leat_text_worker *worker, leat_line *line, leat_error *err) {
    worker->records++;
    if (worker->text_bytes + 3 * ADDRESS_KEPT > LEAT_NDJSON_TEXTS) {
        LEAT_TRY(leat_rows_flush(&worker->rows, err));
        worker->text_bytes = 0;
    }
    leat_reject why = LEAT_REJECT_LINE;
    leat_line object = *line;
    bool valid = line->fault == LEAT_LINE_GOOD &&
                 leat_json_scan(line->data, line->size_bytes, &worker->json.names, &worker->fields);
    if (valid && is_wrapped(worker)) {
        const leat_json_slice inside = *get(worker, LEAT_MEMBER_SOURCE);
        object.data = line->data + (inside.text - line->data);
        object.size_bytes = inside.size_bytes;
        const uint32_t twice = worker->fields.repeated >> worker->json.slot[LEAT_MEMBER_SOURCE];
        valid = (twice & 1) == 0 && leat_json_scan(inside.text, inside.size_bytes,
                                                   &worker->json.names, &worker->fields);
    }
    if (!valid && has_objects(worker, line)) return refuse_objects(worker, line, err);
    if (valid) LEAT_TRY(take_object(worker, &object, &why, err));
    if (why == LEAT_REJECT_COUNT) return LEAT_OK;
    return leat_text_reject(worker, line->number, why, line->data, line->size_bytes, err);
}
