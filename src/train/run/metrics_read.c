/*
 * metrics.jsonl as curves of few points, in one pass and bounded memory: points are means of `span`
 * steps, and whenever there are too many, neighbours are merged and the span is doubled.
 */
#include <math.h>
#include <string.h>

#include "base/lines.h"
#include "train/run/metrics.h"
#include "train/run/run_reader.h"

typedef struct curve {
    leat_run_metrics *out;
    int64_t most;
    int64_t span;        /* steps of a point */
    int64_t in_last;     /* steps in the last point so far */
    int64_t every, seen; /* of measurements, every such one is kept */
    const leat_task *task;
    leat_warning_state warning_state;
    leat_patience patience;
} curve;

static void add_to(leat_run_point *to, const leat_run_point *more, double share) {
    to->step = more->step;
    to->seconds += (more->seconds - to->seconds) * share;
    for (int i = 0; i < LEAT_STEP_VALUES_MAX; i++)
        to->values[i] += (more->values[i] - to->values[i]) * share;
}

static bool any_known(const leat_value *names, const double *numbers) {
    bool any = false;
    for (int i = 0; i < leat_value_count(names); i++) any = any || !isnan(numbers[i]);
    return any;
}

static void add_step(curve *self, const leat_train_step *step) {
    leat_run_metrics *out = self->out;
    leat_run_point point = {.step = step->step, .seconds = step->seconds};
    /* a line of measurements alone, as before the first step, has neither */
    if (isnan(step->seconds) && !any_known(step->names, step->values)) return;
    memcpy(point.values, step->values, sizeof point.values);
    if (out->point_count > 0 && self->in_last < self->span) {
        self->in_last++;
        add_to(&out->points[out->point_count - 1], &point, 1.0 / (double)self->in_last);
        return;
    }
    if (out->point_count == self->most) { /* even, and all points are full */
        for (int64_t i = 0; i < self->most / 2; i++) {
            out->points[i] = out->points[2 * i];
            add_to(&out->points[i], &out->points[2 * i + 1], 0.5);
        }
        out->point_count = self->most / 2;
        self->span *= 2;
    }
    out->points[out->point_count++] = point;
    self->in_last = 1;
}

static void add_measurement(curve *self, const leat_train_step *step) {
    leat_run_metrics *out = self->out;
    leat_run_measurement of = {.step = step->step};
    if (!any_known(step->measures, step->measured)) return;
    memcpy(of.values, step->measured, sizeof of.values);
    if (self->seen++ % self->every != 0) return;
    if (out->measurement_count == self->most) {
        for (int64_t i = 0; i < self->most / 2; i++)
            out->measurements[i] = out->measurements[2 * i];
        out->measurement_count = self->most / 2;
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
        add_step(self, &step);
        add_measurement(self, &step);
        if (step.step > self->out->last_step) self->out->last_step = step.step;
    }
    json_decref(line);
    return LEAT_OK;
}

static leat_code read_all(curve *self, const char *path, leat_error *err) {
    const leat_lines_options plain = {0};
    leat_lines *lines = NULL;
    leat_line line;
    bool found = true;
    LEAT_TRY(leat_lines_open(&lines, path, &plain, err));
    leat_code code = leat_lines_next(lines, &line, &found, err);
    while (code == LEAT_OK && found) {
        code = add_line(self, &line, err);
        if (code == LEAT_OK) code = leat_lines_next(lines, &line, &found, err);
    }
    leat_lines_close(lines);
    return code;
}

static leat_code fill(leat_run_metrics *out, const leat_task *task, const char *path, int64_t most,
                      leat_error *err) {
    curve self = {.out = out,
                  .most = most / 2 * 2,
                  .span = 1,
                  .every = 1,
                  .task = task,
                  .warning_state = leat_warnings_begin(task->warning_rules),
                  .patience = leat_patience_begin()};
    leat_path_facts facts;
    LEAT_TRY(LEAT_NEW(&out->points, self.most, err));
    LEAT_TRY(LEAT_NEW(&out->measurements, self.most, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_NONE) LEAT_TRY(read_all(&self, path, err));
    out->best_measure = self.patience.decider;
    out->best_step = self.patience.best_step;
    out->best = self.patience.best;
    memcpy(out->warnings, self.warning_state.warnings, sizeof out->warnings);
    return LEAT_OK;
}

leat_code leat_metrics_read(leat_run_metrics **out, const leat_task *task, const char *path,
                            int64_t most, leat_error *err) {
    leat_run_metrics *metrics = NULL;
    *out = NULL;
    if (most < 2 || most > 1 << 24)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "the number of points must be between 2 and 2^24, not %lld",
                         (long long)most);
    LEAT_TRY(LEAT_NEW(&metrics, 1, err));
    metrics->names = task->model->values;
    metrics->measures = task->measures;
    leat_code code = fill(metrics, task, path, most, err);
    if (code != LEAT_OK) {
        leat_run_metrics_destroy(metrics);
        return code;
    }
    *out = metrics;
    return LEAT_OK;
}

leat_code leat_run_metrics_load(leat_run_metrics **out, const leat_run *run, int64_t most,
                                leat_error *err) {
    char path[LEAT_PATH_BYTES];
    *out = NULL;
    LEAT_TRY(leat_run_folder_join(&run->folder, LEAT_RUN_METRICS, path, err));
    return leat_metrics_read(out, run->task, path, most, err);
}

void leat_run_metrics_destroy(leat_run_metrics *metrics) {
    if (metrics == NULL) return;
    leat_free(metrics->points);
    leat_free(metrics->measurements);
    leat_free(metrics);
}
