/*
 * A running bus (leat/detect.h): each frame finds the recording and the lane it belongs to, as
 * ingest's store does (ingest/can/store/spill.c), and whoever is missing is told.
 */
#include "leat/detect.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "detect/absences.h"
#include "detect/lane.h"
#include "detect/names.h"
#include "graph/recording.h"

/* Bus time, by the frames of all buses, or of those that are looked at. */
typedef struct live_clock {
    bool runs;
    double before_s; /* time of the frame before */
    double latest_s; /* since the recording began, or the clock fell */
} live_clock;

struct leat_live {
    leat_detect_context context; /* identifiers and interval_s are the handle's own */
    leat_live_options options;
    char (*identifiers)[LEAT_ALARM_IDENTIFIER_BYTES];
    const char **identifier;
    double *interval_s;
    leat_names names;
    leat_absences absences;
    leat_lane_scratch scratch;
    leat_lane lanes[LEAT_LIVE_BUSES_MAX];
    int lane_count, lane; /* the one of the frame before */
    int64_t recording;
    live_clock clock; /* of any bus */
    live_clock heard; /* without frames that are left out */
    leat_live_window window;
    leat_live_counts counts;
};

leat_live_options leat_live_options_default(void) {
    return (leat_live_options){.overdue_intervals = 10, .overdue_floor_s = 1};
}

/* ---- create, destroy ------------------------------------------------------------------------- */

static leat_code check(const leat_detect_context *context, const leat_live_options *options,
                       leat_error *err) {
    if (context->window < LEAT_WINDOW_MIN || context->window > LEAT_WINDOW_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "window must be between %d and %d frames, not %lld",
                         LEAT_WINDOW_MIN, LEAT_WINDOW_MAX, (long long)context->window);
    const int64_t stride = options->stride != 0 ? options->stride : context->stride;
    if (stride < 1 || stride > INT32_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "stride must be between 1 and %d frames, not %lld",
                         INT32_MAX, (long long)stride);
    if (options->from < 0)
        return leat_fail(err, LEAT_ERR_OPTION, "from must be at least 0, not %lld",
                         (long long)options->from);
    if (!(options->overdue_intervals >= 1 && options->overdue_floor_s >= 0))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "an identifier is overdue after %g intervals and %g s; use at least 1 "
                         "interval and 0 s",
                         options->overdue_intervals, options->overdue_floor_s);
    if (context->identifier_count < 0 || context->identifier_count > INT32_MAX / 4)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "identifier_count must be between 0 and %d, not %lld", INT32_MAX / 4,
                         (long long)context->identifier_count);
    return LEAT_OK;
}

/* Texts and intervals of the caller. */
static leat_code copy_context(leat_live *live, const leat_detect_context *context,
                              leat_error *err) {
    const int64_t count = context->identifier_count;
    live->context = *context;
    LEAT_TRY(LEAT_NEW(&live->identifiers, count, err));
    LEAT_TRY(LEAT_NEW(&live->identifier, count, err));
    LEAT_TRY(LEAT_NEW(&live->interval_s, count, err));
    for (int64_t i = 0; i < count; i++) {
        const size_t size = strlen(context->identifiers[i]);
        LEAT_ASSERT(size < sizeof *live->identifiers); /* by leat_names_make */
        memcpy(live->identifiers[i], context->identifiers[i], size);
        live->identifier[i] = live->identifiers[i];
        live->interval_s[i] = context->interval_s != NULL ? context->interval_s[i] : 0;
    }
    live->context.identifiers = live->identifier;
    live->context.interval_s = live->interval_s;
    live->scratch.context = &live->context;
    live->scratch.stride = live->options.stride;
    return LEAT_OK;
}

leat_code leat_live_create(leat_live **out, const leat_detect_context *context,
                           const leat_live_options *options, leat_error *err) {
    leat_live *live = NULL;
    *out = NULL;
    LEAT_TRY(check(context, options, err));
    LEAT_TRY(LEAT_NEW(&live, 1, err));
    live->options = *options;
    if (options->stride == 0) live->options.stride = context->stride;
    leat_code code = leat_lane_scratch_make(&live->scratch, context, err);
    if (code == LEAT_OK) code = leat_names_make(&live->names, context, err);
    if (code == LEAT_OK) code = copy_context(live, context, err);
    if (code == LEAT_OK) code = leat_absences_make(&live->absences, &live->context, options, err);
    if (code != LEAT_OK) {
        leat_live_destroy(live);
        return code;
    }
    *out = live;
    return LEAT_OK;
}

void leat_live_destroy(leat_live *live) {
    if (live == NULL) return;
    for (int i = 0; i < live->lane_count; i++) leat_lane_free(&live->lanes[i]);
    leat_lane_scratch_free(&live->scratch);
    leat_absences_free(&live->absences);
    leat_names_free(&live->names);
    leat_free(live->identifiers);
    leat_free(live->identifier);
    leat_free(live->interval_s);
    leat_free(live);
}

int64_t leat_live_bytes(const leat_detect_context *context, int64_t buses) {
    const int64_t count = context->identifier_count, window = context->window;
    if (buses > LEAT_LIVE_BUSES_MAX) buses = LEAT_LIVE_BUSES_MAX;
    const int64_t scratch =
        2 * (int64_t)sizeof(uint32_t) + (int64_t)sizeof(int32_t) + (int64_t)sizeof(char *);
    const int64_t identifier =
        LEAT_ALARM_IDENTIFIER_BYTES + (int64_t)sizeof(char *) + (int64_t)sizeof(double);
    enum { BLOCKS = 12, LANE_BLOCKS = 6, BLOCK_BYTES = 32 }; /* what the heap adds to each */
    return (int64_t)sizeof(leat_live) + leat_graph_workspace_bytes(window) + window * scratch +
           leat_names_bytes(count) + count * identifier + leat_absences_bytes(count) +
           BLOCKS * BLOCK_BYTES + buses * (leat_lane_bytes(window) + LANE_BLOCKS * BLOCK_BYTES);
}

/* ---- a frame --------------------------------------------------------------------------------- */

static leat_code find_lane(leat_live *live, const leat_can_frame *frame, leat_error *err) {
    const bool mixed = live->context.bus == LEAT_BUS_MERGE;
    const int32_t bus = mixed ? -1 : frame->bus;
    if (live->lane < live->lane_count && live->lanes[live->lane].bus == bus) return LEAT_OK;
    int at = 0;
    while (at < live->lane_count && live->lanes[at].bus != bus) at++;
    if (at == live->lane_count) {
        if (at > 0 && !live->context.has_bus)
            return leat_fail(
                err, LEAT_ERR_INPUT,
                "line %lld is of bus %d after frames of bus %d, but the detector was "
                "trained on one bus; name the bus that it was trained on with --bus N (%d or "
                "%d)",
                (long long)frame->line, bus, live->lanes[0].bus, live->lanes[0].bus, bus);
        if (at == LEAT_LIVE_BUSES_MAX)
            return leat_fail(err, LEAT_ERR_LIMIT,
                             "line %lld is of bus %d, and there are %d others already; use --bus N",
                             (long long)frame->line, bus, LEAT_LIVE_BUSES_MAX);
        LEAT_TRY(leat_lane_make(&live->lanes[at], bus, live->context.window, err));
        leat_lane_restart(&live->lanes[at], live->recording == 0 ? live->options.from : 0);
        live->lane_count++;
    }
    live->lane = at;
    return LEAT_OK;
}

/* Whether the frame begins a new recording, by the one before it, whatever their buses. */
static leat_live_restart find_restart(const leat_live *live, double time_s) {
    const double pause_s = live->context.pause_s > 0 ? live->context.pause_s : (double)INFINITY;
    if (live->counts.frames == 0 || !live->context.split) return LEAT_LIVE_GOES_ON;
    if (leat_can_clock_falls(live->clock.before_s, time_s)) return LEAT_LIVE_STEP_BACK;
    return leat_can_clock_pauses(pause_s, live->clock.before_s, time_s) ? LEAT_LIVE_PAUSE
                                                                        : LEAT_LIVE_GOES_ON;
}

static void restart(leat_live *live, double time_s, leat_live_step *step) {
    step->restart_s = fabs(time_s - live->clock.before_s);
    if (step->restart == LEAT_LIVE_STEP_BACK) live->counts.falls++;
    else live->counts.pauses++;
    live->recording++;
    live->clock.runs = live->heard.runs = false;
    for (int i = 0; i < live->lane_count; i++) leat_lane_restart(&live->lanes[i], 0);
    leat_absences_restart(&live->absences);
}

/* Bus time since the latest frame; 0 for a frame that is earlier. A fall is followed also where it
 * begins no recording: else one frame of the far future would stop time for good. */
static double pass_time(live_clock *of, double time_s) {
    if (!of->runs || leat_can_clock_falls(of->before_s, time_s)) of->latest_s = time_s;
    const double passed_s = fmax(time_s - of->latest_s, 0);
    of->latest_s = fmax(of->latest_s, time_s);
    of->before_s = time_s;
    of->runs = true;
    return passed_s;
}

/* A frame of a bus that is looked at. Identifiers are missed by the time of such frames alone: that
 * in which others came has passed, too. */
static void take_frame(leat_live *live, const leat_can_frame *frame, leat_live_step *step) {
    leat_lane *lane = &live->lanes[live->lane];
    const uint32_t index =
        leat_names_find(&live->names, frame->id, live->context.has_bus ? frame->bus : 0);
    live->counts.frames_unknown += index == LEAT_NAME_UNKNOWN;
    if (lane->frames > 0) live->counts.steps_back += frame->time_s < lane->before_s;
    lane->before_s = frame->time_s;
    leat_absences_add(&live->absences, &live->context, index, frame->time_s,
                      pass_time(&live->heard, frame->time_s));
    step->absences = live->absences.events;
    step->absence_count = live->absences.event_count;
    if (!leat_lane_add(lane, &live->scratch, frame, index, &live->window)) return;
    live->window.recording = live->recording;
    live->window.elapsed_s = live->counts.elapsed_s;
    live->counts.windows++;
    step->window = &live->window;
}

leat_code leat_live_add(leat_live *live, const leat_can_frame *frame, leat_live_step *step,
                        leat_error *err) {
    *step = (leat_live_step){.restart = LEAT_LIVE_GOES_ON};
    LEAT_ASSERT(isfinite(frame->time_s));
    const bool used = live->context.bus < 0 || frame->bus == live->context.bus;
    if (used) LEAT_TRY(find_lane(live, frame, err));
    step->restart = find_restart(live, frame->time_s);
    if (step->restart != LEAT_LIVE_GOES_ON) restart(live, frame->time_s, step);
    live->counts.elapsed_s += pass_time(&live->clock, frame->time_s);
    live->counts.frames++;
    if (used) take_frame(live, frame, step);
    else live->counts.frames_left_out++;
    return LEAT_OK;
}

void leat_live_count(const leat_live *live, leat_live_counts *counts) {
    *counts = live->counts;
    counts->buses = live->lane_count;
    counts->missing = live->absences.missing;
}
