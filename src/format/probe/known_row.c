/*
 * Opening a row whose facts the index knows, without parsing anything.
 *
 * What leat writes for a row is a pure function of its facts, the size of its source's text and
 * that of all its destinations (plan.c). These two are at known positions of a record, so they are
 * read from there, the row is planned again, and the record's frame, all of it, and the head of its
 * chunk are compared with what the plan says. If they are equal, all positions follow from the
 * plan; a third-party or damaged record is left to the readers that parse.
 */
#include <string.h>

#include "format/probe/read.h"
#include "format/probe/template.h"

/* Places of the one layout (docs/probe-rows.md), from the beginning of the record. */
enum {
    INNER = sizeof leat_outer_schema + sizeof leat_outer_batch + 16,
    SCHEMA_BYTES = 4, /* in the inner stream: the size of its schema, which tells the two forms */
    PLAIN_BATCH = INNER + sizeof leat_inner_schema,
    CODED_VALUES = INNER + sizeof leat_coded_schema,
    CODED_FIXED = CODED_VALUES + sizeof leat_coded_values + 8,
    HEAD_MAX = CODED_FIXED + LEAT_PROBE_SRC_BYTES + sizeof leat_coded_batch,
    LEAST = PLAIN_BATCH + sizeof leat_inner_batch, /* no record of either form is shorter */
};
#define LINE_BYTES 64

/* Size of buffer `number` of a batch message that begins at `batch`. */
#define BUFFER_SIZE(batch, number) ((batch) + LEAT_TEMPLATE_BUFFERS + 16 * (number) + 8)
enum { PLAIN_SRC_DATA = 4, PLAIN_DST_DATA = 7, CODED_DST_DATA = 6 };

/* Whether the record has these bytes from `offset` on. */
static bool has_bytes(const leat_record_place *place, int64_t offset, const uint8_t *bytes,
                      int64_t size_bytes) {
    while (size_bytes > 0) {
        int64_t at = leat_record_place_at(place, offset), size = size_bytes;
        if (leat_record_place_cut(place, at, size))
            size = LEAT_AR_BLOCK_BYTES - at % LEAT_AR_BLOCK_BYTES;
        if (memcmp(place->data + at, bytes, (size_t)size) != 0) return false;
        offset += size;
        bytes += size;
        size_bytes -= size;
    }
    return true;
}

static int64_t number_at(const leat_record_place *place, int64_t offset, int size) {
    uint8_t scratch[8];
    int64_t value = 0;
    memcpy(&value,
           leat_record_place_bytes(place, leat_record_place_at(place, offset), size, scratch),
           (size_t)size);
    return value;
}

/* The chunk of a record that lies in a file, but for its hashes: those of the pages vouch for it.
 */
static bool is_plain_chunk(const leat_record_place *place, int64_t record_bytes) {
    uint8_t head[LEAT_AR_PLAIN_HEAD_BYTES];
    int64_t end;
    int size = leat_ar_plain_head(place->begin, record_bytes, head, &end);
    return place->first == size && has_bytes(place, 8 - size, head + 8, 8) &&
           has_bytes(place, 24 - size, head + 24, size - 24);
}

/* What a plan requires besides the facts: sizes of texts. False if there can be no plan. */
static bool read_sizes(const leat_record_place *place, int64_t record_bytes,
                       leat_probe_facts *facts, bool *coded) {
    uint32_t plain_schema;
    memcpy(&plain_schema, leat_inner_schema + SCHEMA_BYTES, sizeof plain_schema);
    *coded = number_at(place, INNER + SCHEMA_BYTES, 4) != plain_schema;
    int64_t n = facts->n_measurements, src_bytes;
    if (*coded) {
        facts->own_sources = false; /* the dictionary has one */
        src_bytes = number_at(place, CODED_VALUES + LEAT_TEMPLATE_VALUES_TEXT, 8);
        if (src_bytes < 0 || src_bytes > LEAT_PROBE_SRC_BYTES) return false;
        int64_t batch = CODED_FIXED + ((src_bytes + 7) & ~INT64_C(7));
        if (batch + (int64_t)sizeof leat_coded_batch > record_bytes) return false;
        facts->dst_bytes = number_at(place, BUFFER_SIZE(batch, CODED_DST_DATA), 8);
        uint8_t scratch[LEAT_PROBE_SRC_BYTES];
        memcpy(facts->src,
               leat_record_place_bytes(place, leat_record_place_at(place, CODED_FIXED), src_bytes,
                                       scratch),
               (size_t)src_bytes);
    } else {
        int64_t all = number_at(place, BUFFER_SIZE(PLAIN_BATCH, PLAIN_SRC_DATA), 8);
        if (all < 0) return false;
        facts->src_bytes = all;
        src_bytes = facts->own_sources ? 0 : all / n;
        if (!facts->own_sources && (src_bytes > LEAT_PROBE_SRC_BYTES || src_bytes * n != all))
            return false;
        facts->dst_bytes = number_at(place, BUFFER_SIZE(PLAIN_BATCH, PLAIN_DST_DATA), 8);
    }
    facts->src_size = (int32_t)src_bytes;
    return true;
}

static bool is_planned(const leat_record_place *place, int64_t record_bytes,
                       leat_probe_facts *facts, leat_probe_plan *plan, bool *coded) {
    if (!read_sizes(place, record_bytes, facts, coded)) return false;
    if (leat_probe_plan_row(facts, *coded, plan, NULL) != LEAT_OK) return false;
    if (plan->record_bytes != record_bytes) return false;
    const leat_probe_piece *last = &plan->pieces[plan->piece_count - 1];
    return has_bytes(place, 0, plan->frame, plan->pieces[0].size_bytes) &&
           has_bytes(place, last->offset_bytes, plan->frame + last->frame, last->size_bytes);
}

/* Names both ends of the record to the look, fetching them at once. False if it cannot be ours. */
static bool want_ends(const leat_record_place *place, leat_look *look, int64_t record_bytes) {
    int64_t head = record_bytes < HEAD_MAX ? record_bytes : HEAD_MAX, from = -place->first;
    int64_t tail = record_bytes - LINE_BYTES;
    if (record_bytes < LEAST) return false;
    if (place->paged != NULL) {
        uint8_t unused[LEAT_AR_PLAIN_HEAD_BYTES];
        int64_t end;
        if (!leat_ar_position_legal(place->begin)) return false;
        if (record_bytes > place->paged->size_bytes) return false;
        (void)leat_ar_plain_head(place->begin, record_bytes, unused, &end);
        if (end > place->paged->size_bytes) return false;
    }
    for (int64_t at = 0; at < head; at += LINE_BYTES)
        __builtin_prefetch(place->data + leat_record_place_at(place, at));
    __builtin_prefetch(place->data + leat_record_place_at(place, record_bytes - 1));
    leat_record_place_want(place, look, leat_record_place_at(place, from), head - from);
    leat_record_place_want(place, look, leat_record_place_at(place, tail), LINE_BYTES);
    return true;
}

static leat_arrow_array array_at(leat_arrow_type type, const leat_probe_plan *plan, int column,
                                 int64_t rows) {
    leat_arrow_array array = {
        .type = type,
        .rows = rows,
        .values = {plan->column_offset[column], plan->column_bytes[column]},
    };
    return array;
}

/* Puts into *row what parsing would have found. */
static void fill_row(leat_probe_row *row, const leat_probe_facts *facts,
                     const leat_probe_plan *plan, bool coded) {
    static const leat_arrow_type time = {LEAT_ARROW_TIMESTAMP, 8, 2, false},
                                 text = {LEAT_ARROW_UTF8, 4, 0, false},
                                 byte = {LEAT_ARROW_INT, 1, 0, true},
                                 real = {LEAT_ARROW_FLOAT, 4, 0, false};
    int64_t n = facts->n_measurements;
    leat_arrow_array *columns = row->columns;
    row->info = (leat_probe_row_info){
        .src_id = facts->src_id,
        .n_measurements = n,
        .first_us = facts->first_us,
        .last_us = facts->last_us,
        .time_span_seconds = (double)(facts->last_us - facts->first_us) / 1e6,
        .has_first = true,
        .has_last = true,
        .has_span = true,
        .has_src_addr = true,
        .has_ip_version = true,
    };
    columns[LEAT_PROBE_FIELD_TIME] = array_at(time, plan, LEAT_PROBE_EVENT_TIME, n);
    columns[LEAT_PROBE_FIELD_DST] = array_at(text, plan, LEAT_PROBE_DST_OFFSETS, n);
    columns[LEAT_PROBE_FIELD_DST].data = (leat_arrow_span){plan->column_offset[LEAT_PROBE_DST_DATA],
                                                           plan->column_bytes[LEAT_PROBE_DST_DATA]};
    columns[LEAT_PROBE_FIELD_VERSION] = array_at(byte, plan, LEAT_PROBE_IP_VERSION, n);
    columns[LEAT_PROBE_FIELD_RTT] = array_at(real, plan, LEAT_PROBE_RTT, n);
    leat_arrow_array *source = &columns[LEAT_PROBE_FIELD_SRC];
    *source = array_at(coded ? byte : text, plan, LEAT_PROBE_SRC_OFFSETS, n);
    if (coded) {
        row->is_coded[0] = true;
        row->values[0] = (leat_arrow_array){.type = text,
                                            .rows = 1,
                                            .values = {CODED_FIXED - 8, 8},
                                            .data = {CODED_FIXED, facts->src_size}};
    } else {
        source->data = (leat_arrow_span){plan->column_offset[LEAT_PROBE_SRC_DATA],
                                         plan->column_bytes[LEAT_PROBE_SRC_DATA]};
    }
    row->is_direct = row->is_trusted = true;
    row->own_sources = facts->own_sources;
}

bool leat_probe_row_open_known(leat_probe_row *row, const leat_view *view,
                               const leat_probe_facts *known) {
    leat_probe_facts facts = *known;
    leat_probe_plan plan; /* not zeroed: only its frame is large */
    leat_record_place place;
    leat_look look;
    bool coded = false;
    memset(row, 0, sizeof *row);
    if (facts.n_measurements < 1 || !leat_view_place(view, &place)) return false;
    if (place.paged != NULL) leat_look_begin(&look, place.paged);
    if (!want_ends(&place, &look, view->size_bytes)) return false;
    if (place.paged != NULL) {
        if (leat_look_check(&look, NULL) != LEAT_OK) return false;
        if (!is_plain_chunk(&place, view->size_bytes)) return false;
    }
    if (!is_planned(&place, view->size_bytes, &facts, &plan, &coded)) return false;
    if (place.paged != NULL && !leat_look_holds(&look)) return false;
    row->view = *view;
    fill_row(row, &facts, &plan, coded);
    return true;
}
