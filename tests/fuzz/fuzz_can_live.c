/*
 * A running bus: any bytes as a log, read frame by frame, whole and in small pieces, which must
 * give the same; its windows, absences and alarms. The first two bytes are those of fuzz_can_lines:
 * the format; the options, and how small the pieces are. Of the third, windows and buses.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "ingest/text_pieces.h"
#include "leat/detect.h"
#include "leat/ingest.h"

/* ---- what comes of frames ---- */

typedef struct follower {
    leat_live *live;
    leat_alarms *alarms;
    double elapsed_s;
    int64_t windows, lines;
} follower;

static follower follow(uint8_t how) {
    static const char *const plain[] = {"123", "7FF", "12345678", "0C1"};
    static const char *const named[] = {"0:123", "1:123", "1:7FF", "0:12345678"};
    static const double intervals[] = {0.01, 0.5, 0, NAN};
    leat_detect_context context = {.identifiers = plain,
                                   .interval_s = intervals,
                                   .identifier_count = 4,
                                   .window = 3 + how % 4 * 7,
                                   .stride = 1 + how / 4 % 4 * 5,
                                   .bus = how / 16 % 4 - 2,
                                   .split = how < 128,
                                   .pause_s = how / 64 % 2 * 10};
    if (context.bus == LEAT_BUS_SEPARATE) {
        context.identifiers = named;
        context.has_bus = true;
    }
    leat_live_options options = leat_live_options_default();
    options.from = how % 5;
    follower of = {0};
    leat_code code = leat_live_create(&of.live, &context, &options, NULL);
    if (code == LEAT_OK) code = leat_alarms_create(&of.alarms, how % 3, NULL);
    LEAT_ASSERT(code == LEAT_OK);
    return of;
}

static void check_window(follower *of, const leat_live_window *window, leat_sha256 *sha) {
    const leat_graph *graph = &window->graph;
    leat_alarm_line lines[LEAT_ALARM_LINES_MAX];
    LEAT_ASSERT(graph->node_count >= 1 && window->elapsed_s >= of->elapsed_s);
    of->elapsed_s = window->elapsed_s;
    for (int32_t i = 0; i < graph->node_count * LEAT_NODE_FEATURES; i++)
        LEAT_ASSERT(isfinite(graph->x[i]));
    for (int32_t i = 0; i < graph->node_count; i++) {
        LEAT_ASSERT(window->node_id[i] >= 0 && window->node_id[i] <= 4);
        LEAT_ASSERT(strlen(window->node_name[i]) < LEAT_ALARM_IDENTIFIER_BYTES);
    }
    const size_t size = (size_t)graph->node_count * LEAT_NODE_FEATURES * sizeof(float);
    leat_sha256_update(sha, graph->x, (int64_t)size);
    leat_alarm_window scored = {.recording = window->recording,
                                .start = window->start,
                                .bus = window->bus,
                                .begin_s = window->begin_s,
                                .end_s = window->end_s,
                                .elapsed_s = window->elapsed_s,
                                .score = graph->node_count,
                                .alarms = graph->node_count % 3 != 0};
    strcpy(scored.cause.identifier, window->node_name[0]);
    of->lines += leat_alarms_add(of->alarms, &scored, lines);
    of->windows++;
}

static void take(follower *of, const leat_can_frame *frame, leat_sha256 *sha) {
    leat_live_step step;
    leat_error err = {0};
    LEAT_ASSERT(isfinite(frame->time_s) && frame->id[0] != 0 && frame->label >= -1);
    leat_sha256_update(sha, frame, sizeof *frame);
    const leat_code code = leat_live_add(of->live, frame, &step, &err);
    LEAT_ASSERT(code == LEAT_OK || (err.message[0] != 0 && step.window == NULL));
    leat_sha256_update(sha, &step.restart_s, sizeof step.restart_s);
    for (int64_t i = 0; i < step.absence_count; i++)
        LEAT_ASSERT(step.absences[i].identifier < 2 && step.absences[i].silent_s >= 0);
    if (step.window != NULL) check_window(of, step.window, sha);
}

static void finish(follower *of) {
    leat_alarm_line line;
    leat_alarm_counts alarms;
    leat_live_counts counts;
    while (leat_alarms_end(of->alarms, &line)) of->lines++;
    leat_alarms_count(of->alarms, &alarms);
    leat_live_count(of->live, &counts);
    LEAT_ASSERT(counts.windows == of->windows && alarms.windows <= of->windows);
    LEAT_ASSERT(of->lines == 2 * (alarms.alarms - alarms.held_back));
    leat_alarms_destroy(of->alarms);
    leat_live_destroy(of->live);
}

/* ---- the log ---- */

typedef struct outcome {
    uint8_t hash[32];
    leat_can_frames_counts counts;
    leat_error err;
} outcome;

static outcome run(const uint8_t *data, size_t size, int64_t piece_bytes) {
    outcome out;
    memset(&out, 0, sizeof out);
    text_pieces text = {data + 3, (int64_t)size - 3, 0, piece_bytes};
    const leat_can_frames_source source = text_pieces_source(&text);
    leat_can_frames_options options = leat_can_frames_options_default();
    options.settings.format = (leat_can_format)(data[0] % 32 % LEAT_CAN_FORMATS);
    options.settings.identifiers = (data[1] & 1) == 0 ? LEAT_IDS_CANONICAL : LEAT_IDS_WRITTEN;
    options.settings.payload = (data[1] & 2) == 0 ? LEAT_PAYLOAD_STRICT : LEAT_PAYLOAD_LENIENT;
    options.settings.fd = (data[1] & 4) == 0 ? LEAT_CAN_FD_CUT : LEAT_CAN_FD_REFUSE;
    options.settings.times = data[0] >= 224 ? LEAT_TIMES_GAP : LEAT_TIMES_AUTO;
    options.settings.no_time = data[0] / 32 % 2 == 1 ? 1000 : 0;
    if ((data[1] & 8) != 0) options.sample_lines = 1;
    leat_can_frame_reader *reader = NULL;
    leat_can_frame frame;
    leat_sha256 sha;
    bool found = true;
    leat_code code = leat_can_frames_open_source(&reader, &source, "text", &options, NULL);
    LEAT_ASSERT(code == LEAT_OK);
    follower of = follow(data[2]);
    leat_sha256_init(&sha);
    int64_t line = 0;
    for (;;) {
        code = leat_can_frames_next(reader, &frame, &found, &out.err);
        LEAT_ASSERT(code == LEAT_OK || (!found && out.err.message[0] != 0));
        if (!found) break;
        LEAT_ASSERT(frame.line > line);
        line = frame.line;
        take(&of, &frame, &sha);
    }
    leat_can_frames_count(reader, &out.counts);
    const leat_can_frames_counts *counts = &out.counts;
    LEAT_ASSERT(counts->lines == counts->frames + counts->rejected || code != LEAT_OK);
    leat_can_frames_close(reader);
    finish(&of);
    leat_sha256_final(&sha, out.hash);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    const outcome whole = run(data, size, INT64_MAX);
    const outcome apart = run(data, size, 1 + (data[1] >> 4));
    LEAT_ASSERT(memcmp(&whole, &apart, sizeof whole) == 0);
    return 0;
}
