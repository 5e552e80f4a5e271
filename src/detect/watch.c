/*
 * A run's detector on a running bus: leat/detect_run.h. A window is a batch of one graph, made of
 * the live graph as a loader makes it of a cache's: scaled by the run's scaler, by the same code.
 * What a graph's numbers are does not depend on the batch that it is in (graph_score.h), so that
 * scores are those of an evaluation.
 */
#include "leat/detect_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "load/can/copy.h"
#include "train/tasks/graphs/evaluation.h"
#include "train/tasks/graphs/graph_micro.h"

struct leat_watch {
    leat_detector *detector;
    leat_threshold threshold;
    leat_detect_context context;
    const char **identifiers;
    double *interval_s;
    leat_live *live;
    int64_t stride;
    leat_graph_scale scale;
    leat_graph_limits most;
    void *memory; /* of `batch` */
    leat_graph_micro *batch;
    leat_graph_scorer *scorer;
    int64_t scored; /* windows */
    leat_error why;
};

/* ---- what the run knows of its bus ----------------------------------------------------------- */

static bool is_setting(const leat_graph_context *context, const char *name, const char *value) {
    const char *text = leat_graph_context_setting(context, name);
    return text != NULL && strcmp(text, value) == 0;
}

static leat_code refuse_setting(const leat_watch *watch, const char *name, leat_error *err) {
    const char *text = leat_graph_context_setting(watch->detector->context, name);
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "run \"%.200s\" was trained on a cache with %s \"%.40s\", which this version "
                     "of leat does not follow live; use the version that trained it",
                     watch->detector->run->folder.path, name, text == NULL ? "" : text);
}

/* One of two values. */
static leat_code read_choice(const leat_watch *watch, const char *name, const char *first,
                             const char *second, bool *is_second, leat_error *err) {
    const leat_graph_context *context = watch->detector->context;
    *is_second = is_setting(context, name, second);
    if (*is_second || is_setting(context, name, first)) return LEAT_OK;
    return refuse_setting(watch, name, err);
}

/* split, sort, or split:SECONDS. */
static leat_code read_clock_steps(leat_watch *watch, leat_error *err) {
    const char *text = leat_graph_context_setting(watch->detector->context, "clock-steps");
    leat_detect_context *context = &watch->context;
    char *end = NULL;
    if (text == NULL) return refuse_setting(watch, "clock-steps", err);
    context->split = strcmp(text, "sort") != 0;
    if (!context->split || strcmp(text, "split") == 0) return LEAT_OK;
    if (strncmp(text, "split:", 6) == 0) context->pause_s = strtod(text + 6, &end);
    if (end == NULL || end == text + 6 || *end != 0 || !(context->pause_s > 0))
        return refuse_setting(watch, "clock-steps", err);
    return LEAT_OK;
}

static leat_code read_bus(leat_watch *watch, int64_t wanted, leat_error *err) {
    const char *text = leat_graph_context_setting(watch->detector->context, "bus");
    char *end = NULL;
    int64_t bus = LEAT_BUS_SEPARATE;
    if (text == NULL) return refuse_setting(watch, "bus", err);
    if (strcmp(text, "merge") == 0) bus = LEAT_BUS_MERGE;
    else if (strcmp(text, "separate") != 0) bus = strtoll(text, &end, 10);
    if (end != NULL && (end == text || *end != 0 || bus < 0 || bus > UINT16_MAX))
        return refuse_setting(watch, "bus", err);
    watch->context.bus = wanted != LEAT_WATCH_BUS_OF_RUN ? wanted : bus;
    return LEAT_OK;
}

/* Captures that are merged are sorted by time, whatever recordings they are of. Where identifiers
 * have no bus there was one, and a log of several is refused as with separate captures. */
static leat_code read_captures(leat_watch *watch, leat_error *err) {
    leat_detect_context *context = &watch->context;
    bool merged = false;
    LEAT_TRY(read_choice(watch, "captures", "separate", "merged", &merged, err));
    if (!merged) return LEAT_OK;
    context->split = false;
    context->pause_s = 0;
    if (!context->has_bus) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "run \"%.200s\" was trained on windows that mix several buses, by --captures "
                     "merged, which cannot be followed live; ingest the logs with --captures "
                     "separate, or with --bus merge, and train it again",
                     watch->detector->run->folder.path);
}

/* As of a cache: all names are so, or none, since canonical ones have no colon. */
static bool have_bus(const leat_watch *watch) {
    const leat_graph_context *of = watch->detector->context;
    bool all = of->identifier_count > 0 && is_setting(of, "bus", "separate");
    for (int64_t i = 0; i < of->identifier_count && all; i++) {
        const char *text = of->identifiers[i].text;
        const size_t digits = strspn(text, "0123456789");
        all = digits > 0 && text[digits] == ':';
    }
    return all;
}

static leat_code read_context(leat_watch *watch, const leat_watch_options *options,
                              leat_error *err) {
    const leat_graph_context *of = watch->detector->context;
    leat_detect_context *context = &watch->context;
    bool own = false, ignore = false;
    LEAT_TRY(LEAT_NEW(&watch->identifiers, of->identifier_count, err));
    LEAT_TRY(LEAT_NEW(&watch->interval_s, of->identifier_count, err));
    for (int64_t i = 0; i < of->identifier_count; i++) {
        watch->identifiers[i] = of->identifiers[i].text;
        watch->interval_s[i] = of->identifiers[i].interval_s;
    }
    *context = (leat_detect_context){.identifiers = watch->identifiers,
                                     .interval_s = watch->interval_s,
                                     .identifier_count = of->identifier_count,
                                     .window = of->window,
                                     .stride = of->stride,
                                     .has_bus = have_bus(watch)};
    LEAT_TRY(read_choice(watch, "edge-step", "previous", "own", &own, err));
    LEAT_TRY(read_choice(watch, "self-loops", "count", "ignore", &ignore, err));
    context->graph.edge_step = own ? LEAT_EDGE_STEP_OWN : LEAT_EDGE_STEP_PREVIOUS;
    context->graph.self_loops = ignore ? LEAT_SELF_LOOPS_IGNORE : LEAT_SELF_LOOPS_COUNT;
    LEAT_TRY(read_clock_steps(watch, err));
    LEAT_TRY(read_captures(watch, err));
    LEAT_TRY(read_bus(watch, options->bus, err));
    watch->stride = options->live.stride != 0 ? options->live.stride : of->stride;
    /* one bus of several whose identifiers have theirs, or all of them mixed, cannot be told */
    if (!context->has_bus || context->bus != LEAT_BUS_MERGE) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "--bus merge: identifiers of run \"%.200s\" have their bus, as \"%.24s\"; "
                     "leave --bus out, or name one bus",
                     watch->detector->run->folder.path, watch->identifiers[0]);
}

/* ---- open, close ----------------------------------------------------------------------------- */

static leat_code make_scorer(leat_watch *watch, leat_error *err) {
    const int64_t window = watch->context.window;
    watch->most =
        (leat_graph_limits){.graphs = 1, .nodes = window, .edges = leat_graph_edge_count(window)};
    leat_graph_scale_make(&watch->scale, &watch->detector->context->scaler);
    LEAT_TRY(leat_alloc(&watch->memory, 1, leat_graph_micro_bytes(&watch->most), err));
    watch->batch = leat_graph_micro_place(watch->memory, &watch->most);
    return leat_graph_scorer_create(&watch->scorer, &watch->detector->scoring, &watch->most, err);
}

static leat_code open_watch(leat_watch *watch, const char *run, const leat_watch_options *options,
                            leat_error *err) {
    const leat_evaluation_options *of = &options->detector;
    LEAT_TRY(leat_evaluation_check(of, err));
    LEAT_TRY(leat_settings_check(leat_watch_options_table(), options, err));
    LEAT_TRY(leat_detector_open(&watch->detector, run, of->step, of->score, of->kernels, err));
    LEAT_TRY(leat_detector_calibrate(watch->detector, &(leat_scoring_work){.threads = 1}, false,
                                     NULL, err));
    LEAT_TRY(leat_calibration_threshold(watch->detector->calibration, of->score, of->threshold,
                                        of->target_fpr, &watch->threshold, err));
    LEAT_TRY(read_context(watch, options, err));
    LEAT_TRY(leat_live_create(&watch->live, &watch->context, &options->live, err));
    return make_scorer(watch, err);
}

leat_code leat_watch_open(leat_watch **out, const char *run, const leat_watch_options *options,
                          leat_error *err) {
    leat_watch *watch = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&watch, 1, err));
    const leat_code code = open_watch(watch, run, options, err);
    if (code == LEAT_OK) *out = watch;
    else leat_watch_close(watch);
    return code;
}

void leat_watch_close(leat_watch *watch) {
    if (watch == NULL) return;
    leat_graph_scorer_destroy(watch->scorer);
    leat_free(watch->memory);
    leat_live_destroy(watch->live);
    leat_free(watch->identifiers);
    leat_free(watch->interval_s);
    leat_detector_close(watch->detector);
    leat_free(watch);
}

static int64_t memory_of(const leat_watch *watch) {
    int64_t scorer = 0;
    const leat_code code =
        leat_graph_scorer_bytes(&watch->detector->scoring, &watch->most, &scorer, NULL);
    LEAT_ASSERT(code == LEAT_OK); /* one was made */
    return (int64_t)sizeof *watch + leat_live_bytes(&watch->context, 1) +
           leat_graph_micro_bytes(&watch->most) + scorer;
}

void leat_watch_get_facts(const leat_watch *watch, leat_watch_facts *facts) {
    const leat_detector *detector = watch->detector;
    *facts = (leat_watch_facts){
        .path = detector->run->folder.path,
        .model = detector->run->identity.model,
        .run = detector->run->identity.run,
        .step = detector->checkpoint->step,
        .state = detector->checkpoint->state,
        .score = leat_detector_score_name(detector),
        .threshold = watch->threshold,
        .window = watch->context.window,
        .stride = watch->stride,
        .bus = watch->context.bus,
        .identifiers = watch->context.identifier_count,
        .memory_bytes = memory_of(watch),
        .note = detector->note,
    };
    for (int64_t i = 0; i < facts->identifiers; i++) facts->timed += watch->interval_s[i] > 0;
}

const char *leat_watch_setting(const leat_watch *watch, const char *name) {
    return leat_graph_context_setting(watch->detector->context, name);
}

const char *leat_watch_identifier(const leat_watch *watch, int64_t index) {
    LEAT_ASSERT(index >= 0 && index < watch->context.identifier_count);
    return watch->identifiers[index];
}

void leat_watch_count(const leat_watch *watch, leat_live_counts *counts) {
    leat_live_count(watch->live, counts);
}

/* ---- a window -------------------------------------------------------------------------------- */

/* The micro-batch, whose reader may not write it. */
#define WRITABLE(type, array) ((type *)(uintptr_t)(array))

static bool is_finite(const float *values, int64_t count) {
    bool finite = true;
    for (int64_t i = 0; i < count; i++) finite = finite && isfinite(values[i]);
    return finite;
}

/* Returns whether all features are finite once they are scaled. */
static bool make_batch(leat_watch *watch, const leat_live_window *window) {
    const leat_graph *graph = &window->graph;
    leat_graph_micro *batch = watch->batch;
    const int64_t nodes = graph->node_count, edges = graph->edge_count;
    const leat_put_rows x = {.values = graph->x,
                             .center = watch->scale.x_center,
                             .scale = watch->scale.x_scale,
                             .count = nodes * LEAT_NODE_FEATURES,
                             .period = LEAT_SCALE_ROWS * LEAT_NODE_FEATURES};
    const leat_put_rows attr = {.values = graph->edge_attr,
                                .center = watch->scale.edge_center,
                                .scale = watch->scale.edge_scale,
                                .count = edges * LEAT_EDGE_FEATURES,
                                .period = LEAT_SCALE_ROWS * LEAT_EDGE_FEATURES};
    batch->graphs = 1;
    batch->nodes = nodes;
    batch->edges = edges;
    leat_put_rows_to(WRITABLE(float, batch->x), &x);
    leat_put_rows_to(WRITABLE(float, batch->edge_attr), &attr);
    memcpy(WRITABLE(int32_t, batch->source), graph->source, (size_t)edges * sizeof(int32_t));
    memcpy(WRITABLE(int32_t, batch->target), graph->target, (size_t)edges * sizeof(int32_t));
    memcpy(WRITABLE(int32_t, batch->node_id), window->node_id, (size_t)nodes * sizeof(int32_t));
    WRITABLE(int64_t, batch->node_first)[0] = WRITABLE(int64_t, batch->edge_first)[0] = 0;
    WRITABLE(int64_t, batch->node_first)[1] = nodes;
    WRITABLE(int64_t, batch->edge_first)[1] = edges;
    WRITABLE(int32_t, batch->label)[0] = 0;
    *leat_graph_micro_numbers(batch) = watch->scored++;
    return is_finite(batch->x, x.count) && is_finite(batch->edge_attr, attr.count);
}

static void put_cause(const leat_watch *watch, const leat_live_window *window,
                      const leat_scored *scored, leat_alarm_cause *cause) {
    *cause = (leat_alarm_cause){.feature = (int32_t)scored->feature,
                                .byte = leat_feature_byte((int32_t)scored->feature)};
    if (scored->node < 0) return;
    cause->unknown = window->node_id[scored->node] == 0;
    const bool prefix = watch->context.has_bus && cause->unknown;
    char bus[8] = "";
    if (prefix) snprintf(bus, sizeof bus, "%d:", (int)(uint16_t)window->bus);
    snprintf(cause->identifier, sizeof cause->identifier, "%s%s", bus,
             window->node_name[scored->node]);
}

static leat_code score_window(leat_watch *watch, const leat_live_window *window, leat_watched *out,
                              leat_error *err) {
    const leat_detector *detector = watch->detector;
    leat_graph_scores scores;
    leat_scored scored = {.score = NAN, .node = -1, .feature = -1};
    leat_code code = LEAT_OK;
    out->window = (leat_alarm_window){.recording = window->recording,
                                      .start = window->start,
                                      .bus = window->bus,
                                      .begin_s = window->begin_s,
                                      .end_s = window->end_s,
                                      .elapsed_s = window->elapsed_s};
    if (!make_batch(watch, window))
        code = leat_fail(&watch->why, LEAT_ERR_INPUT, "a feature is not finite once it is scaled");
    if (code == LEAT_OK)
        code = leat_graph_scorer_run(watch->scorer, watch->batch, &scores, &watch->why);
    if (code == LEAT_OK)
        code = leat_calibration_score(detector->calibration, &scores, 0, detector->score, &scored,
                                      &watch->why);
    /* a bus goes on after a window that has no score */
    if (code != LEAT_OK && code != LEAT_ERR_INPUT) return leat_error_copy(err, &watch->why);
    out->scored = code == LEAT_OK;
    out->why = out->scored ? "" : watch->why.message;
    if (!out->scored) scored = (leat_scored){.score = NAN, .node = -1, .feature = -1};
    out->window.score = scored.score;
    out->window.alarms = scored.score > watch->threshold.value;
    put_cause(watch, window, &scored, &out->window.cause);
    return LEAT_OK;
}

leat_code leat_watch_add(leat_watch *watch, const leat_can_frame *frame, leat_watched *out,
                         leat_error *err) {
    *out = (leat_watched){.why = ""};
    LEAT_TRY(leat_live_add(watch->live, frame, &out->live, err));
    if (out->live.window == NULL) return LEAT_OK;
    return score_window(watch, out->live.window, out, err);
}
