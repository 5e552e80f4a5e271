/*
 * Many measurements of one row at once, as training draws them.
 *
 * Read one after the other, each would wait for memory four times: for its time, for the place of
 * its text, for the text, for its rtt. Here all places of a part are computed and fetched first,
 * so that the waits overlap, then all pages of fixed-width values are checked, then those of texts,
 * and the values are read where they lie. What is out of the ordinary (an empty address, another
 * version, a value that no row holds) is left to leat_probe_row_get, which knows all rules and
 * finds the words for what is wrong; so the values are the same by construction.
 */
#include <math.h>
#include <string.h>

#include "base/address.h"
#include "format/probe/read.h"

#define PART 64        /* four pages of fixed-width values each, in two halves at worst */
#define TRIES_MAX 1000 /* each follows the failure of one more page */
_Static_assert(4 * 2 * PART <= LEAT_LOOK_PAGES, "a part's pages fit in a look");

/* Texts of a part: positions in place.data of their offsets, then their own. */
typedef struct part_texts {
    int64_t offsets_at[PART], at[PART];
    int32_t bytes[PART]; /* -1: out of the ordinary */
} part_texts;

typedef struct gathering {
    leat_probe_row *row;
    bool own; /* each measurement has its own source */
    leat_record_place place;
    leat_look look;
    const int64_t *indices;
    leat_measurement *points;
    char *texts;
    /* positions in place.data of a part's values */
    int64_t time_at[PART], rtt_at[PART];
    part_texts dst, src; /* src: only if `own` */
} gathering;

static bool is_fixed(const leat_arrow_array *array, int kind, int bytes) {
    return array->type.kind == kind && array->type.bytes == bytes && array->null_count == 0;
}

/* Whether the columns are as leat writes them, whatever surrounds them. */
static bool is_simple(const leat_probe_row *row) {
    const leat_arrow_array *time = &row->columns[LEAT_PROBE_FIELD_TIME],
                           *dst = &row->columns[LEAT_PROBE_FIELD_DST],
                           *src = &row->columns[LEAT_PROBE_FIELD_SRC];
    if (row->own_sources && (row->is_coded[0] || !is_fixed(src, LEAT_ARROW_UTF8, 4))) return false;
    return row->is_direct && row->is_trusted && !row->is_coded[1] &&
           is_fixed(time, LEAT_ARROW_TIMESTAMP, 8) && time->type.unit == 2 &&
           is_fixed(dst, LEAT_ARROW_UTF8, 4) &&
           is_fixed(&row->columns[LEAT_PROBE_FIELD_RTT], LEAT_ARROW_FLOAT, 4);
}

/* Puts the texts of a measurement where they stay, or takes them away. */
static void settle_texts(char *texts, int64_t k, leat_measurement *point) {
    char *src = texts == NULL ? NULL : texts + k * LEAT_PROBE_TEXTS_BYTES;
    char *dst = texts == NULL ? NULL : src + LEAT_PROBE_TEXTS_BYTES / 2;
    if (texts == NULL) {
        point->src_size = point->dst_size = 0;
    } else {
        memcpy(src, point->src, (size_t)point->src_size + 1);
        memcpy(dst, point->dst, (size_t)point->dst_size + 1);
    }
    point->src = src;
    point->dst = dst;
}

static leat_code gather_one(gathering *g, int64_t k, leat_error *err) {
    LEAT_TRY(leat_probe_row_get(g->row, g->indices[k], &g->points[k], err));
    settle_texts(g->texts, k, &g->points[k]);
    return LEAT_OK;
}

static void fetch(const gathering *g, int64_t at) { __builtin_prefetch(g->place.data + at); }

/* Computes the positions of fixed-width values, and prefetches them. */
static void find_values(gathering *g, const int64_t *indices, int count) {
    const leat_arrow_array *columns = g->row->columns;
    int64_t time = columns[LEAT_PROBE_FIELD_TIME].values.offset;
    int64_t offsets = columns[LEAT_PROBE_FIELD_DST].values.offset;
    int64_t src_offsets = columns[LEAT_PROBE_FIELD_SRC].values.offset;
    int64_t rtt = columns[LEAT_PROBE_FIELD_RTT].values.offset;
    for (int i = 0; i < count; i++) {
        g->dst.offsets_at[i] = leat_record_place_at(&g->place, offsets + 4 * indices[i]);
        fetch(g, g->dst.offsets_at[i]);
        g->time_at[i] = leat_record_place_at(&g->place, time + 8 * indices[i]);
        fetch(g, g->time_at[i]);
        g->rtt_at[i] = leat_record_place_at(&g->place, rtt + 4 * indices[i]);
        fetch(g, g->rtt_at[i]);
    }
    for (int i = 0; g->own && i < count; i++) {
        g->src.offsets_at[i] = leat_record_place_at(&g->place, src_offsets + 4 * indices[i]);
        fetch(g, g->src.offsets_at[i]);
    }
}

static void want(gathering *g, const int64_t *at, int count, int64_t size_bytes) {
    for (int i = 0; i < count; i++) leat_record_place_want(&g->place, &g->look, at[i], size_bytes);
}

static leat_code check_values(gathering *g, int count, leat_error *err) {
    if (g->place.paged == NULL) return LEAT_OK;
    want(g, g->time_at, count, 8);
    want(g, g->dst.offsets_at, count, 8);
    want(g, g->rtt_at, count, 4);
    if (g->own) want(g, g->src.offsets_at, count, 8);
    return leat_look_check(&g->look, err);
}

/* Finds the texts of a column from their offsets, and fetches them. */
static void find_column(const gathering *g, const leat_arrow_array *column, part_texts *texts,
                        int count) {
    for (int i = 0; i < count; i++) {
        uint8_t scratch[8];
        int32_t ends[2];
        memcpy(ends, leat_record_place_bytes(&g->place, texts->offsets_at[i], 8, scratch), 8);
        bool usual = ends[0] >= 0 && ends[1] > ends[0] && ends[1] <= column->data.size_bytes &&
                     ends[1] - ends[0] <= LEAT_ADDRESS_TEXT_BYTES;
        texts->bytes[i] = usual ? ends[1] - ends[0] : -1;
        if (!usual) continue;
        texts->at[i] = leat_record_place_at(&g->place, column->data.offset + ends[0]);
        fetch(g, texts->at[i]);
    }
}

static void want_column(gathering *g, const part_texts *texts, int count) {
    for (int i = 0; i < count; i++) {
        if (texts->bytes[i] < 0) continue;
        leat_record_place_want(&g->place, &g->look, texts->at[i], texts->bytes[i]);
    }
}

static leat_code find_texts(gathering *g, int count, leat_error *err) {
    const leat_arrow_array *columns = g->row->columns;
    find_column(g, &columns[LEAT_PROBE_FIELD_DST], &g->dst, count);
    if (g->own) find_column(g, &columns[LEAT_PROBE_FIELD_SRC], &g->src, count);
    if (g->place.paged == NULL) return LEAT_OK;
    want_column(g, &g->dst, count);
    if (g->own) want_column(g, &g->src, count);
    return leat_look_check(&g->look, err);
}

/* Makes row->source that of measurement i of its part; false if it is out of the ordinary. */
static bool read_source(gathering *g, int i) {
    leat_probe_address *source = &g->row->source;
    uint8_t scratch[LEAT_ADDRESS_TEXT_BYTES];
    int32_t size = g->src.bytes[i];
    if (size < 0) return false;
    const uint8_t *text = leat_record_place_bytes(&g->place, g->src.at[i], size, scratch);
    /* neighbours have the same one as a rule */
    if (source->text_bytes == size && memcmp(source->text, text, (size_t)size) == 0) return true;
    return leat_probe_address_read(source, (const char *)text, size);
}

/* Everything of measurement k, i of its part. False: it is out of the ordinary. */
static bool read_point(gathering *g, int64_t k, int i) {
    const leat_probe_address *source = &g->row->source;
    const leat_probe_row_info *info = &g->row->info;
    leat_measurement *point = &g->points[k];
    uint8_t scratch[LEAT_ADDRESS_TEXT_BYTES];
    const uint8_t *text;
    int64_t index = g->indices[k], time_us;
    float rtt;
    if (g->dst.bytes[i] < 0 || (g->own && !read_source(g, i))) return false;
    memcpy(&time_us, leat_record_place_bytes(&g->place, g->time_at[i], 8, scratch), 8);
    memcpy(&rtt, leat_record_place_bytes(&g->place, g->rtt_at[i], 4, scratch), 4);
    if (time_us < 0 || isinf(rtt) || (index == 0 && time_us != info->first_us) ||
        (index == info->n_measurements - 1 && time_us != info->last_us))
        return false;
    memset(point->dst_bytes, 0, sizeof point->dst_bytes);
    text = leat_record_place_bytes(&g->place, g->dst.at[i], g->dst.bytes[i], scratch);
    int version = leat_address_parse((const char *)text, g->dst.bytes[i], point->dst_bytes);
    if (version == 0 || version != source->version) return false;
    point->time_us = time_us;
    point->ip_version = version;
    point->rtt = rtt >= 0 ? rtt + 0.0f : -1.0f;
    memcpy(point->src_bytes, source->bytes, sizeof point->src_bytes);
    point->src = point->dst = NULL;
    point->src_size = point->dst_size = 0;
    if (g->texts == NULL) return true;
    char *room = g->texts + k * LEAT_PROBE_TEXTS_BYTES;
    point->src = room;
    point->src_size = source->text_bytes;
    memcpy(room, source->text, source->text_bytes + (size_t)1);
    room += LEAT_PROBE_TEXTS_BYTES / 2;
    point->dst = room;
    point->dst_size = g->dst.bytes[i];
    memcpy(room, text, (size_t)g->dst.bytes[i]);
    room[g->dst.bytes[i]] = 0;
    return true;
}

/* Measurements [begin, begin + count) of those wanted. */
static leat_code gather_part(gathering *g, int64_t begin, int count, leat_error *err) {
    find_values(g, g->indices + begin, count);
    if (!g->own) LEAT_TRY(leat_probe_source_at(g->row, g->indices[begin], err));
    LEAT_TRY(check_values(g, count, err));
    LEAT_TRY(find_texts(g, count, err));
    for (int i = 0; i < count; i++) {
        if (!read_point(g, begin + i, i)) LEAT_TRY(gather_one(g, begin + i, err));
    }
    return LEAT_OK;
}

static leat_code gather_all(gathering *g, int64_t count, leat_error *err) {
    for (int64_t begin = 0; begin < count; begin += PART) {
        int part = count - begin < PART ? (int)(count - begin) : PART;
        LEAT_TRY(gather_part(g, begin, part, err));
    }
    return LEAT_OK;
}

leat_code leat_probe_row_gather(leat_probe_row *row, const int64_t *indices, int64_t count,
                                leat_measurement *points, char *texts, leat_error *err) {
    gathering g; /* not zeroed: room for a part */
    g.row = row;
    g.own = row->own_sources;
    g.indices = indices;
    g.points = points;
    g.texts = texts;
    if (!is_simple(row) || !leat_view_place(&row->view, &g.place)) {
        for (int64_t k = 0; k < count; k++) LEAT_TRY(gather_one(&g, k, err));
        return LEAT_OK;
    }
    if (g.place.paged == NULL) return gather_all(&g, count, err);
    for (int try = 0; try < TRIES_MAX; try++) {
        leat_look_begin(&g.look, g.place.paged);
        leat_code code = gather_all(&g, count, err);
        /* no failure since the checks: what was read is what was checked */
        if (leat_look_holds(&g.look)) return code;
    }
    return leat_map_check(g.place.paged->map, err);
}
