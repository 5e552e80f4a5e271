/* Windows of one capture. See lane.h. */
#include "detect/lane.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"

/* ---- memory ---------------------------------------------------------------------------------- */

enum {
    FRAME_BYTES = sizeof(double) + sizeof(uint32_t) + LEAT_CAN_BYTES * sizeof(int16_t) +
                  LEAT_CAN_FRAME_ID_BYTES + sizeof(int8_t) + sizeof(int64_t)
};

int64_t leat_lane_bytes(int64_t window) { return 2 * window * (int64_t)FRAME_BYTES; }

leat_code leat_lane_make(leat_lane *lane, int32_t bus, int64_t window, leat_error *err) {
    *lane = (leat_lane){.bus = bus};
    leat_code code = LEAT_NEW(&lane->time, 2 * window, err);
    if (code == LEAT_OK) code = LEAT_NEW(&lane->id, 2 * window, err);
    if (code == LEAT_OK) code = LEAT_NEW(&lane->bytes, 2 * window, err);
    if (code == LEAT_OK) code = LEAT_NEW(&lane->text, 2 * window, err);
    if (code == LEAT_OK) code = LEAT_NEW(&lane->label, 2 * window, err);
    if (code == LEAT_OK) code = LEAT_NEW(&lane->line, 2 * window, err);
    if (code != LEAT_OK) leat_lane_free(lane);
    return code;
}

void leat_lane_free(leat_lane *lane) {
    leat_free(lane->time);
    leat_free(lane->id);
    leat_free(lane->bytes);
    leat_free(lane->text);
    leat_free(lane->label);
    leat_free(lane->line);
    *lane = (leat_lane){0};
}

leat_code leat_lane_scratch_make(leat_lane_scratch *scratch, const leat_detect_context *context,
                                 leat_error *err) {
    const int64_t window = context->window;
    *scratch = (leat_lane_scratch){0};
    leat_code code = leat_graph_workspace_create(&scratch->workspace, window, err);
    if (code == LEAT_OK) code = LEAT_NEW(&scratch->id, window, err);
    if (code == LEAT_OK) code = LEAT_NEW(&scratch->unknown, window, err);
    if (code == LEAT_OK) code = LEAT_NEW(&scratch->node_id, window, err);
    if (code == LEAT_OK) code = LEAT_NEW(&scratch->node_name, window, err);
    if (code != LEAT_OK) leat_lane_scratch_free(scratch);
    return code;
}

void leat_lane_scratch_free(leat_lane_scratch *scratch) {
    leat_graph_workspace_destroy(scratch->workspace);
    leat_free(scratch->id);
    leat_free(scratch->unknown);
    leat_free(scratch->node_id);
    leat_free(scratch->node_name);
    *scratch = (leat_lane_scratch){0};
}

/* ---- unknown identifiers --------------------------------------------------------------------- */

/* Shell's sort: qsort may allocate. */
static void sort_texts(const leat_lane *lane, uint32_t *frames, int64_t count) {
    static const int32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        for (int64_t i = gaps[g]; i < count; i++) {
            const uint32_t frame = frames[i];
            int64_t to = i;
            for (; to >= gaps[g] && strcmp(lane->text[lane->begin + frames[to - gaps[g]]],
                                           lane->text[lane->begin + frame]) > 0;
                 to -= gaps[g])
                frames[to] = frames[to - gaps[g]];
            frames[to] = frame;
        }
    }
}

/* Numbers the identifiers of a window: unknown ones after the known ones, by their text. */
static void number_ids(const leat_lane *lane, leat_lane_scratch *scratch) {
    const leat_detect_context *context = scratch->context;
    const uint32_t *id = lane->id + lane->begin;
    int64_t unknown = 0;
    memcpy(scratch->id, id, (size_t)context->window * sizeof *id);
    for (int64_t i = 0; i < context->window; i++) {
        if (id[i] == LEAT_NAME_UNKNOWN) scratch->unknown[unknown++] = (uint32_t)i;
    }
    sort_texts(lane, scratch->unknown, unknown);
    uint32_t number = (uint32_t)context->identifier_count;
    for (int64_t i = 0; i < unknown; i++) {
        const uint32_t *frame = &scratch->unknown[i];
        const bool same = i > 0 && strcmp(lane->text[lane->begin + frame[0]],
                                          lane->text[lane->begin + frame[-1]]) == 0;
        if (i > 0 && !same) number++;
        scratch->id[*frame] = number;
    }
}

/* ---- a window -------------------------------------------------------------------------------- */

static void name_nodes(const leat_lane *lane, leat_lane_scratch *scratch, leat_live_window *out) {
    const uint32_t known = (uint32_t)scratch->context->identifier_count;
    const uint32_t *frame = scratch->unknown;
    for (int32_t n = 0; n < out->graph.node_count; n++) {
        const uint32_t id = out->graph.node[n];
        scratch->node_id[n] = id < known ? (int32_t)id + 1 : 0;
        if (id < known) {
            scratch->node_name[n] = scratch->context->identifiers[id];
            continue;
        }
        while (scratch->id[*frame] != id) frame++;
        scratch->node_name[n] = lane->text[lane->begin + *frame];
        out->unknown++;
    }
    out->node_id = scratch->node_id;
    out->node_name = scratch->node_name;
}

static void look_at_frames(const leat_lane *lane, int64_t count, leat_live_window *out) {
    const double *time = lane->time + lane->begin;
    const int8_t *label = lane->label + lane->begin;
    bool attack = false, unlabelled = false;
    for (int64_t i = 0; i < count; i++) {
        attack = attack || label[i] > 0;
        unlabelled = unlabelled || label[i] < 0;
        out->steps_back += i > 0 && time[i] < time[i - 1];
    }
    out->y = attack ? 1 : unlabelled ? -1 : 0;
}

static void make_window(const leat_lane *lane, leat_lane_scratch *scratch, leat_live_window *out) {
    const leat_detect_context *context = scratch->context;
    const int64_t begin = lane->begin, last = begin + context->window - 1;
    *out = (leat_live_window){.bus = lane->bus,
                              .start = lane->next_start,
                              .first_line = lane->line[begin],
                              .last_line = lane->line[last],
                              .begin_s = lane->time[begin],
                              .end_s = lane->time[last]};
    number_ids(lane, scratch);
    const leat_can_frames frames = {.time = lane->time + begin,
                                    .id = scratch->id,
                                    .bytes = (const int16_t(*)[LEAT_CAN_BYTES])lane->bytes + begin,
                                    .count = context->window};
    leat_graph_make(scratch->workspace, &context->graph, &frames, &out->graph);
    look_at_frames(lane, context->window, out);
    name_nodes(lane, scratch, out);
}

/* ---- frames ---------------------------------------------------------------------------------- */

void leat_lane_restart(leat_lane *lane, int64_t from) {
    lane->frames = lane->begin = lane->end = 0;
    lane->next_start = from;
}

static void move_to_front(leat_lane *lane) {
    const size_t count = (size_t)(lane->end - lane->begin);
    const int64_t begin = lane->begin;
    memmove(lane->time, lane->time + begin, count * sizeof *lane->time);
    memmove(lane->id, lane->id + begin, count * sizeof *lane->id);
    memmove(lane->bytes, lane->bytes + begin, count * sizeof *lane->bytes);
    memmove(lane->text, lane->text + begin, count * sizeof *lane->text);
    memmove(lane->label, lane->label + begin, count * sizeof *lane->label);
    memmove(lane->line, lane->line + begin, count * sizeof *lane->line);
    lane->begin = 0;
    lane->end = (int64_t)count;
}

static void put_frame(leat_lane *lane, const leat_can_frame *frame, uint32_t index) {
    const int64_t at = lane->end++;
    lane->time[at] = frame->time_s;
    lane->id[at] = index;
    memcpy(lane->bytes[at], frame->bytes, sizeof frame->bytes);
    if (index == LEAT_NAME_UNKNOWN) memcpy(lane->text[at], frame->id, sizeof frame->id);
    lane->label[at] = frame->label;
    lane->line[at] = frame->line;
}

bool leat_lane_add(leat_lane *lane, leat_lane_scratch *scratch, const leat_can_frame *frame,
                   uint32_t index, leat_live_window *out) {
    const int64_t window = scratch->context->window;
    /* those of the window before are used up by now */
    const int64_t number = lane->frames++, kept_from = number - (lane->end - lane->begin);
    if (number < lane->next_start) return false;
    if (lane->next_start > kept_from) {
        const int64_t over = lane->next_start - kept_from, kept = lane->end - lane->begin;
        lane->begin += over < kept ? over : kept;
    }
    if (lane->end == 2 * window) move_to_front(lane);
    put_frame(lane, frame, index);
    LEAT_ASSERT(lane->end - lane->begin <= window);
    if (lane->end - lane->begin < window) return false;
    make_window(lane, scratch, out);
    lane->next_start += scratch->stride;
    return true;
}
