/* metrics.jsonl as curves of few points (points.h), in one pass and bounded memory. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/lines.h"
#include "train/run/metrics.h"
#include "train/run/points.h"
#include "train/run/run_reader.h"

typedef struct curve {
    leat_run_metrics *out;
    leat_points points;
    leat_metrics_recent *recent;
    int64_t every, seen; /* of measurements, every such one is kept */
    int64_t epoch_step;  /* in which the last epoch has ended */
    const leat_task *task;
    leat_warning_state warning_state;
    leat_patience patience; /* without the state before the first step */
    leat_patience of_run;   /* with it, as the run itself counts */
} curve;

static bool any_known(const leat_value *names, const double *numbers) {
    bool any = false;
    for (int i = 0; i < leat_value_count(names); i++) any = any || !isnan(numbers[i]);
    return any;
}

static void add_seconds(leat_metrics_seconds *of, double seconds) {
    of->last[of->count++ % LEAT_METRICS_RECENT] = seconds;
}

static void add_step(curve *self, const leat_train_step *step, const json_t *line) {
    leat_run_point point = {.step = step->step, .seconds = step->seconds};
    leat_metrics_recent *recent = self->recent;
    /* a line of measurements alone, as before the first step, has neither */
    if (isnan(step->seconds) && !any_known(step->names, step->values)) return;
    memcpy(point.values, step->values, sizeof point.values);
    leat_points_add(&self->points, &point);
    recent->steps++;
    recent->step_number = step->step;
    const char *state = json_string_value(json_object_get(line, "state"));
    snprintf(recent->state, sizeof recent->state, "%s", state != NULL ? state : "");
    memcpy(recent->values, step->values, sizeof recent->values);
    for (int i = 0; i < leat_value_count(step->names); i++)
        recent->has[i] = json_object_get(line, step->names[i].name) != NULL;
    if (step->seconds > 0) add_seconds(&recent->step, step->seconds);
}

/* The line of an epoch that has ended. */
static void add_epoch(curve *self, const json_t *line) {
    leat_metrics_recent *recent = self->recent;
    int64_t epoch = 0, step = 0;
    const double seconds = json_number_value(json_object_get(line, "seconds"));
    if (leat_json_get_int(line, "epoch", 0, INT64_MAX - 1, &epoch, "metrics", NULL) != LEAT_OK ||
        leat_json_get_int(line, "step", 0, INT64_MAX, &step, "metrics", NULL) != LEAT_OK)
        return;
    recent->epochs = epoch + 1;
    /* of two that end in one step it is not known how long each took */
    recent->crowded = recent->crowded || step == self->epoch_step;
    self->epoch_step = step;
    if (seconds > 0) add_seconds(&recent->epoch, seconds);
}

static void add_measurement(curve *self, const leat_train_step *step) {
    leat_run_metrics *out = self->out;
    leat_run_measurement of = {.step = step->step};
    if (!any_known(step->measures, step->measured)) return;
    memcpy(of.values, step->measured, sizeof of.values);
    if (self->seen++ % self->every != 0) return;
    const int64_t most = self->points.most;
    if (out->measurement_count == most) {
        for (int64_t i = 0; i < most / 2; i++) out->measurements[i] = out->measurements[2 * i];
        out->measurement_count = most / 2;
        self->every *= 2;
    }
    out->measurements[out->measurement_count++] = of;
}

static leat_code add_line(curve *self, const leat_line *text, leat_error *err) {
    json_t *line = NULL;
    leat_error why = {0};
    leat_code code = leat_json_parse(text->data, text->size_bytes, "metrics", &line, &why);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &why);
    if (code != LEAT_OK) return LEAT_OK; /* not one of ours, or the last one, half written */
    leat_train_step step = leat_task_step(self->task);
    if (leat_metrics_parse(line, &step)) {
        leat_warnings_step(&self->warning_state, &step);
        if (step.step > 0) leat_patience_step(&self->patience, self->task, &step);
        leat_patience_step(&self->of_run, self->task, &step);
        add_step(self, &step, line);
        add_measurement(self, &step);
        if (step.step > self->out->last_step) self->out->last_step = step.step;
    } else {
        add_epoch(self, line);
    }
    json_decref(line);
    return LEAT_OK;
}

typedef struct stoppable {
    leat_file *file;
    const leat_metrics_reading *how;
} stoppable;

static leat_code read_part(void *user, void *bytes, int64_t size_bytes, int64_t *got,
                           leat_error *err) {
    const stoppable *from = user;
    const leat_metrics_reading *how = from->how;
    *got = 0;
    if (how->stop != NULL && how->stop(how->user))
        return leat_fail(err, LEAT_ERR_CANCELLED, "cancelled");
    return leat_file_read(from->file, bytes, size_bytes, got, err);
}

static void close_part(void *user) { leat_file_close(((stoppable *)user)->file); }

static leat_code read_all(curve *self, const char *path, const leat_metrics_reading *how,
                          leat_error *err) {
    const leat_lines_options plain = {0};
    stoppable from = {.how = how};
    const leat_lines_source source = {.context = &from, .read = read_part, .close = close_part};
    leat_lines *lines = NULL;
    leat_line line;
    bool found = true;
    LEAT_TRY(leat_file_open(&from.file, path, LEAT_FILE_PLAIN, err));
    LEAT_TRY(leat_lines_open_source(&lines, &source, path, &plain, err));
    leat_code code = leat_lines_next(lines, &line, &found, err);
    while (code == LEAT_OK && found) {
        code = add_line(self, &line, err);
        if (code == LEAT_OK) code = leat_lines_next(lines, &line, &found, err);
    }
    leat_lines_close(lines);
    return code;
}

static leat_code fill(curve *self, const char *path, const leat_metrics_reading *how,
                      leat_error *err) {
    leat_run_metrics *out = self->out;
    leat_path_facts facts;
    LEAT_TRY(leat_points_create(&self->points, how->most, err));
    LEAT_TRY(LEAT_NEW(&out->measurements, self->points.most, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_NONE) LEAT_TRY(read_all(self, path, how, err));
    out->points = self->points.points;
    out->point_count = self->points.count;
    self->points.points = NULL;
    out->best_measure = self->patience.decider;
    out->best_step = self->patience.best_step;
    out->best = self->patience.best;
    self->recent->since = self->of_run.since;
    memcpy(out->warnings, self->warning_state.warnings, sizeof out->warnings);
    return LEAT_OK;
}

leat_code leat_metrics_read(leat_run_metrics **out, const leat_task *task, const char *path,
                            const leat_metrics_reading *how, leat_error *err) {
    leat_metrics_recent unused;
    leat_run_metrics *metrics = NULL;
    *out = NULL;
    if (how->most < 2 || how->most > 1 << 24)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "the number of points must be between 2 and 2^24, not %lld",
                         (long long)how->most);
    LEAT_TRY(LEAT_NEW(&metrics, 1, err));
    metrics->names = task->model->values;
    metrics->measures = task->measures;
    curve self = {.out = metrics,
                  .recent = how->recent != NULL ? how->recent : &unused,
                  .every = 1,
                  .epoch_step = -1,
                  .task = task,
                  .warning_state = leat_warnings_begin(task->warning_rules),
                  .patience = leat_patience_begin(),
                  .of_run = leat_patience_begin()};
    *self.recent = (leat_metrics_recent){0};
    const leat_code code = fill(&self, path, how, err);
    leat_points_free(&self.points);
    if (code == LEAT_OK) *out = metrics;
    else leat_run_metrics_destroy(metrics);
    return code;
}

leat_code leat_run_metrics_read(leat_run_metrics **out, const leat_run *run,
                                const leat_metrics_reading *how, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    *out = NULL;
    LEAT_TRY(leat_run_folder_join(&run->folder, LEAT_RUN_METRICS, path, err));
    return leat_metrics_read(out, run->task, path, how, err);
}

leat_code leat_run_metrics_load(leat_run_metrics **out, const leat_run *run, int64_t most,
                                leat_error *err) {
    return leat_run_metrics_read(out, run, &(leat_metrics_reading){.most = most}, err);
}

/* ---- Seconds of the last ones --------------------------------------------------------------- */

double leat_metrics_seconds_median(const leat_metrics_seconds *of) {
    double sorted[LEAT_METRICS_RECENT];
    const int64_t count = of->count < LEAT_METRICS_RECENT ? of->count : LEAT_METRICS_RECENT;
    memcpy(sorted, of->last, sizeof sorted);
    return leat_median(sorted, count);
}

void leat_run_metrics_destroy(leat_run_metrics *metrics) {
    if (metrics == NULL) return;
    leat_free(metrics->points);
    leat_free(metrics->measurements);
    leat_free(metrics);
}
