/*
 * The windows of all streams: the number of nodes of each, its labels, the part that it belongs to,
 * and the order in which graphs are written. A window takes 20 bytes and its place in the order;
 * its frames are read again when its graph is built.
 */
#include <math.h>
#include <string.h>

#include "base/mt19937.h"
#include "base/pool.h"
#include "ingest/can/cache/plan.h"

/* Windows that a thread takes at a time; frames that it reads at a time if it needs all of them. */
enum { STEP_WINDOWS = 256, STEP_FRAMES = 4096 };
/* A part beyond all others. */
enum { DROPPED = LEAT_CAN_SPLITS_MAX };
enum { CODES = 32 };

int64_t leat_can_plan_bytes(int64_t windows) {
    return windows * (int64_t)(sizeof(leat_can_window) + sizeof(uint32_t));
}

int64_t leat_can_permutation_bytes(int64_t windows, const leat_can_settings *settings) {
    return settings->val_split == LEAT_VAL_RANDOM ? windows * (int64_t)sizeof(int64_t) : 0;
}

typedef struct planner planner;

typedef struct planning {
    leat_can_plan *plan;
    const leat_can_store *store;
    const leat_can_splits *splits;
    leat_can_cuts *cuts;
    leat_ticker *ticker;
    int64_t id_count;
    int64_t *step_begin; /* of each stream, in steps over all windows */
    int64_t steps;
    planner *planners; /* one per worker */
} planning;

/* What one thread works with. */
struct planner {
    leat_graph_workspace *graph;
    double *time;
    uint32_t *id;
    bool *attack;
    uint8_t *type;
    int32_t *file;
    struct seen { /* of each identifier in the current stream */
        double first_s, last_s;
        int64_t frames;
    } * seen;
};

int64_t leat_can_planner_bytes(int64_t window, int64_t ids) {
    int64_t frames = window > STEP_FRAMES ? window : STEP_FRAMES;
    int64_t frame =
        sizeof(double) + sizeof(uint32_t) + sizeof(bool) + sizeof(uint8_t) + sizeof(int32_t);
    return leat_graph_workspace_bytes(window) + frames * frame + ids * (int64_t)sizeof(struct seen);
}

/* ---- mean intervals of a stream's identifiers ----------------------------------------------- */

/* Whether the stream's pause moves this mean more than those of the identifiers before. */
static void note_pause(const struct seen *seen, uint32_t id, double mean_s,
                       leat_can_stream *stream) {
    enum { FREQUENT = 20 };
    bool across =
        seen->first_s <= stream->pause_at_s && seen->last_s >= stream->pause_at_s + stream->pause_s;
    if (seen->frames < FREQUENT || !across) return;
    double rest_s = fmax(seen->last_s - seen->first_s - stream->pause_s, 0);
    double without_s = rest_s / (double)(seen->frames - 1);
    if (stream->paused_mean_s > 0 &&
        mean_s * stream->unpaused_mean_s <= stream->paused_mean_s * without_s)
        return;
    stream->paused_id = id;
    stream->paused_mean_s = mean_s;
    stream->unpaused_mean_s = without_s;
}

static leat_code keep_intervals(planner *self, int64_t id_count, leat_can_stream *stream,
                                leat_error *err) {
    int64_t count = 0;
    for (int64_t i = 0; i < id_count; i++) count += self->seen[i].frames > 0;
    LEAT_TRY(LEAT_NEW(&stream->intervals, count, err));
    for (int64_t i = 0; i < id_count; i++) {
        const struct seen *seen = &self->seen[i];
        if (seen->frames == 0) continue;
        double mean =
            seen->frames > 1 ? (seen->last_s - seen->first_s) / (double)(seen->frames - 1) : 0;
        stream->intervals[stream->interval_count++] =
            (leat_can_interval){.id = (uint32_t)i, .frames = seen->frames, .mean_s = mean};
        note_pause(seen, (uint32_t)i, mean, stream);
    }
    return LEAT_OK;
}

static leat_code measure_stream(planning *job, planner *self, int32_t number, leat_error *err) {
    leat_can_stream *stream = &job->plan->streams[number];
    memset(self->seen, 0, (size_t)job->id_count * sizeof *self->seen);
    leat_can_frames_out out = {.time = self->time, .id = self->id};
    double before_s = stream->first_s;
    for (int64_t at = 0; at < stream->frames; at += STEP_FRAMES) {
        int64_t count = stream->frames - at < STEP_FRAMES ? stream->frames - at : STEP_FRAMES;
        LEAT_TRY(leat_can_store_read(job->store, number, at, count, &out, err));
        LEAT_TRY(leat_ticker_step(job->ticker, 0, err));
        for (int64_t i = 0; i < count; i++) {
            struct seen *seen = &self->seen[self->id[i]];
            double pause_s = self->time[i] - before_s;
            if (pause_s > stream->pause_s) {
                stream->pause_s = pause_s;
                stream->pause_at_s = before_s;
            }
            before_s = self->time[i];
            if (seen->frames++ == 0) seen->first_s = self->time[i];
            seen->last_s = self->time[i];
        }
    }
    return keep_intervals(self, job->id_count, stream, err);
}

/* ---- windows -------------------------------------------------------------------------------- */

/* The most frequent attack of the frames, as their labels name it, or else their files; the
 * smallest code if there is a tie. 0: none is known. */
static int8_t attack_type(const planning *job, const planner *self, int64_t count) {
    bool labelled = job->plan->settings->attack_type == LEAT_ATTACK_FRAME;
    int64_t frames[CODES] = {0};
    int best = 0;
    for (int64_t i = 0; i < count; i++) {
        int code = labelled && self->type[i] != LEAT_CAN_TYPE_BY_FILE
                       ? self->type[i] - LEAT_CAN_TYPE_UNKNOWN
                       : job->splits->files[self->file[i]].attack_code;
        if (!labelled || self->attack[i]) frames[code]++;
    }
    for (int code = 1; code < CODES; code++) {
        if (frames[code] > (best == 0 ? 0 : frames[best])) best = code;
    }
    return (int8_t)best;
}

/* An attack if a frame is one; else unlabelled if a frame is; else benign. */
static void label_window(const planning *job, const planner *self, leat_can_window *window,
                         int64_t count) {
    bool unlabelled = false;
    window->attack_first = -1;
    for (int64_t i = count; i-- > 0;) {
        unlabelled = unlabelled || job->splits->files[self->file[i]].unlabelled;
        if (!self->attack[i]) continue;
        window->attack_first = (int16_t)i;
        window->attack_count++;
    }
    window->y = (int8_t)(window->attack_count > 0 ? 1 : unlabelled ? -1 : 0);
    window->attack_type = window->y < 0 ? -1 : attack_type(job, self, count);
}

static leat_code measure_window(const planning *job, planner *self, leat_can_window *window,
                                leat_error *err) {
    const leat_can_settings *settings = job->plan->settings;
    const leat_can_stream *stream = &job->plan->streams[window->stream];
    int64_t count = settings->window;
    leat_can_frames_out out = {.time = self->time,
                               .id = self->id,
                               .attack = self->attack,
                               .type = self->type,
                               .file = self->file};
    LEAT_TRY(leat_can_store_read(job->store, (int32_t)window->stream,
                                 window->number * settings->stride, count, &out, err));
    window->nodes = (uint16_t)leat_graph_node_count(self->graph, self->id, count);
    label_window(job, self, window, count);
    window->part = (uint16_t)(stream->split == 0 ? 0 : stream->split + 1);
    if (stream->split == 0 && settings->val_split == LEAT_VAL_BLOCKS) {
        int part =
            leat_can_cuts_part(&job->cuts[window->stream], self->time[0], self->time[count - 1]);
        window->part = (uint16_t)(part == 2 ? DROPPED : part);
    }
    return LEAT_OK;
}

static leat_code measure_step(planning *job, planner *self, int64_t step, leat_error *err) {
    leat_can_plan *plan = job->plan;
    int32_t number = 0, end = plan->stream_count;
    while (end - number > 1) { /* the stream of the step */
        int32_t middle = number + (end - number) / 2;
        if (job->step_begin[middle] <= step) number = middle;
        else end = middle;
    }
    const leat_can_stream *stream = &plan->streams[number];
    int64_t first = (step - job->step_begin[number]) * STEP_WINDOWS;
    int64_t count = stream->windows - first < STEP_WINDOWS ? stream->windows - first : STEP_WINDOWS;
    for (int64_t i = first; i < first + count; i++) {
        leat_can_window *window = &plan->windows[stream->first_window + i];
        *window = (leat_can_window){.stream = (uint32_t)number, .number = (uint32_t)i};
        LEAT_TRY(measure_window(job, self, window, err));
    }
    return leat_ticker_step(job->ticker, count, err);
}

static void planner_free(planner *self) {
    leat_graph_workspace_destroy(self->graph);
    leat_free(self->time);
    leat_free(self->id);
    leat_free(self->attack);
    leat_free(self->type);
    leat_free(self->file);
    leat_free(self->seen);
}

static leat_code planner_new(planner *self, const planning *job, leat_error *err) {
    int64_t window = job->plan->settings->window;
    int64_t frames = window > STEP_FRAMES ? window : STEP_FRAMES;
    *self = (planner){0};
    LEAT_TRY(leat_graph_workspace_create(&self->graph, window, err));
    LEAT_TRY(LEAT_NEW(&self->time, frames, err));
    LEAT_TRY(LEAT_NEW(&self->id, frames, err));
    LEAT_TRY(LEAT_NEW(&self->attack, frames, err));
    LEAT_TRY(LEAT_NEW(&self->type, frames, err));
    LEAT_TRY(LEAT_NEW(&self->file, frames, err));
    return LEAT_NEW(&self->seen, job->id_count, err);
}

/* Parts are the streams first, then the steps. */
static leat_code measure(void *context, int worker, int64_t part, leat_error *err) {
    planning *job = context;
    planner *self = &job->planners[worker];
    int32_t streams = job->plan->stream_count;
    return part < streams ? measure_stream(job, self, (int32_t)part, err)
                          : measure_step(job, self, part - streams, err);
}

static leat_code measure_all(planning *job, int threads, leat_error *err) {
    leat_pool_job parts = {.parts = job->plan->stream_count + job->steps,
                           .threads = threads,
                           .context = job,
                           .make = measure};
    LEAT_TRY(LEAT_NEW(&job->planners, threads, err));
    leat_code code = LEAT_OK;
    for (int i = 0; i < threads && code == LEAT_OK; i++)
        code = planner_new(&job->planners[i], job, err);
    if (code == LEAT_OK) code = leat_pool_once(&parts, err);
    for (int i = 0; i < threads; i++) planner_free(&job->planners[i]);
    leat_free(job->planners);
    return code;
}

/* ---- dropped windows, and the outcome of frames --------------------------------------------- */

/* A window across a boundary is dropped, and so is the first one after it; then frames are counted.
 */
static void settle_stream(leat_can_plan *plan, leat_can_stream *stream) {
    int64_t length = plan->settings->window, stride = plan->settings->stride;
    int64_t covered = 0, kept = 0, covered_to = 0, kept_to = 0;
    int before = -1;
    for (int64_t i = 0; i < stream->windows; i++) {
        leat_can_window *window = &plan->windows[stream->first_window + i];
        int64_t begin = i * stride, end = begin + length;
        int part = window->part;
        if (i > 0 && part != before) window->part = DROPPED;
        before = part;
        covered += end - (begin > covered_to ? begin : covered_to);
        covered_to = end;
        if (window->part == DROPPED) {
            plan->windows_dropped++;
            continue;
        }
        kept += end - (begin > kept_to ? begin : kept_to);
        kept_to = end;
    }
    stream->dropped = covered - kept;
    stream->tail = stream->frames - covered_to;
    stream->between = covered_to - covered;
}

/* ---- order ---------------------------------------------------------------------------------- */

/* By nodes, otherwise in their present order: a stable counting sort of the windows of one part. */
static leat_code order_part(leat_can_plan *plan, int part, int64_t *at, leat_error *err) {
    int64_t *begin = NULL;
    LEAT_TRY(LEAT_NEW(&begin, LEAT_WINDOW_MAX + 2, err));
    for (int64_t i = 0; i < plan->window_count; i++) {
        if (plan->windows[i].part == part) begin[plan->windows[i].nodes + 1]++;
    }
    for (int i = 1; i < LEAT_WINDOW_MAX + 2; i++) begin[i] += begin[i - 1];
    int64_t first = *at;
    *at += begin[LEAT_WINDOW_MAX + 1];
    for (int64_t i = 0; i < plan->window_count; i++) {
        const leat_can_window *window = &plan->windows[i];
        if (window->part == part) plan->order[first + begin[window->nodes]++] = (uint32_t)i;
    }
    leat_free(begin);
    return LEAT_OK;
}

/* The reference's choice: the first of a random permutation of all training graphs in order. */
static leat_code choose_random(leat_can_plan *plan, leat_error *err) {
    int64_t graphs = 0;
    LEAT_TRY(order_part(plan, 0, &graphs, err));
    if (graphs == 0) return LEAT_OK;
    int64_t *permutation = NULL;
    LEAT_TRY(LEAT_NEW(&permutation, graphs, err));
    leat_code code = leat_mt19937_permutation(plan->settings->seed, graphs, permutation, err);
    int64_t chosen = (int64_t)((double)graphs * plan->settings->val_fraction);
    for (int64_t i = 0; i < chosen && code == LEAT_OK; i++)
        plan->windows[plan->order[permutation[i]]].part = 1;
    leat_free(permutation);
    return code;
}

static void settle_scaler(leat_can_plan *plan) {
    plan->scale_all = true;
    if (plan->settings->scaler == LEAT_SCALER_Z_ALL) return;
    for (int64_t i = 0; i < plan->part_begin[1] && plan->scale_all; i++)
        plan->scale_all = plan->windows[plan->order[i]].y != 0;
}

const char *leat_can_plan_scaler(const leat_can_plan *plan) {
    leat_can_scaler kind = plan->settings->scaler;
    if (kind == LEAT_SCALER_NONE || plan->part_begin[1] == 0) return "none";
    if (kind == LEAT_SCALER_ROBUST_BENIGN) return plan->scale_all ? "robust_all" : "robust_benign";
    return plan->scale_all ? "z_all" : "z_benign";
}

static leat_code put_in_order(leat_can_plan *plan, int splits, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&plan->order, plan->window_count, err));
    if (plan->settings->val_split == LEAT_VAL_RANDOM) LEAT_TRY(choose_random(plan, err));
    int64_t at = 0;
    plan->part_count = splits + 1;
    for (int part = 0; part < plan->part_count; part++) {
        plan->part_begin[part] = at;
        LEAT_TRY(order_part(plan, part, &at, err));
    }
    plan->part_begin[plan->part_count] = at;
    settle_scaler(plan);
    return LEAT_OK;
}

/* ---- the complete plan ---------------------------------------------------------------------- */

static leat_code count_windows(leat_can_plan *plan, planning *job, leat_error *err) {
    int64_t length = plan->settings->window, stride = plan->settings->stride;
    LEAT_TRY(LEAT_NEW(&job->step_begin, plan->stream_count, err));
    for (int32_t i = 0; i < plan->stream_count; i++) {
        leat_can_stream *stream = &plan->streams[i];
        stream->windows = stream->frames < length ? 0 : (stream->frames - length) / stride + 1;
        stream->first_window = plan->window_count;
        plan->window_count += stream->windows;
        job->step_begin[i] = job->steps;
        job->steps += (stream->windows + STEP_WINDOWS - 1) / STEP_WINDOWS;
    }
    if (plan->window_count > UINT32_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "%lld windows are too many; a cache holds at most 2^32 - 1",
                         (long long)plan->window_count);
    }
    return LEAT_NEW(&plan->windows, plan->window_count, err);
}

static leat_code make(leat_can_plan *plan, planning *job, int threads, leat_error *err) {
    const leat_can_settings *settings = plan->settings;
    LEAT_TRY(count_windows(plan, job, err));
    LEAT_TRY(LEAT_NEW(&job->cuts, plan->stream_count, err));
    LEAT_TRY(leat_can_cuts_make(plan->streams, plan->stream_count, settings->val_fraction,
                                settings->seed, job->cuts, err));
    leat_ticker_stage(job->ticker, "planning", "windows", plan->window_count);
    LEAT_TRY(measure_all(job, threads, err));
    for (int32_t i = 0; i < plan->stream_count; i++) settle_stream(plan, &plan->streams[i]);
    return put_in_order(plan, job->splits->count, err);
}

leat_code leat_can_plan_make(leat_can_plan *plan, const leat_can_planned *of, int threads,
                             leat_ticker *ticker, leat_error *err) {
    *plan = (leat_can_plan){.settings = of->settings, .stream_count = of->stream_count};
    planning job = {.plan = plan, .store = of->store, .splits = of->splits, .ticker = ticker};
    job.id_count = leat_can_store_numbers(of->store);
    leat_code code = LEAT_NEW(&plan->streams, of->stream_count, err);
    if (code == LEAT_OK) {
        memcpy(plan->streams, of->streams, (size_t)of->stream_count * sizeof *of->streams);
        code = make(plan, &job, threads, err);
    }
    leat_free(job.step_begin);
    leat_free(job.cuts);
    if (code != LEAT_OK) leat_can_plan_free(plan);
    return code;
}

void leat_can_plan_free(leat_can_plan *plan) {
    for (int32_t i = 0; plan->streams != NULL && i < plan->stream_count; i++)
        leat_free(plan->streams[i].intervals);
    leat_free(plan->streams);
    leat_free(plan->windows);
    leat_free(plan->order);
    *plan = (leat_can_plan){0};
}
