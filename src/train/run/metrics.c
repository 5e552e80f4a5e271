/* See metrics.h. */
#include "train/run/metrics.h"

#include <math.h>
#include <string.h>

#include "base/lines.h"
#include "base/mem.h"

double leat_train_step_value(const leat_train_step *step, const char *name) {
    const double value = leat_value_get(step->names, step->values, name);
    return isnan(value) ? leat_value_get(step->measures, step->measured, name) : value;
}

/* ---- Written -------------------------------------------------------------------------------- */

static leat_code append(leat_metrics *metrics, leat_json *json, leat_error *err) {
    const char *text = NULL;
    int64_t size = 0;
    leat_code code = leat_json_finish(json, &text, &size, err);
    if (code == LEAT_OK)
        code = leat_file_pwrite(metrics->file, text, size, metrics->size_bytes, err);
    if (code == LEAT_OK) metrics->size_bytes += size;
    leat_json_destroy(json);
    return code;
}

leat_train_step leat_metrics_as_read(const leat_train_step *step) {
    leat_train_step read = *step;
    for (int i = 0; i < LEAT_STEP_VALUES_MAX; i++)
        if (!isfinite(read.values[i])) read.values[i] = NAN;
    for (int i = 0; i < LEAT_MEASURES_MAX; i++)
        if (!isfinite(read.measured[i])) read.measured[i] = NAN;
    return read;
}

/* What the lines so far say, with that of a step: so a run warns, and ends, at the same steps
 * whether or not it was interrupted. */
static void observe(leat_metrics *metrics, const leat_train_step *read) {
    leat_warnings_step(&metrics->warning_state, read);
    leat_patience_step(&metrics->patience, metrics->task, read);
    memcpy(metrics->measured, read->measured, sizeof metrics->measured);
    if (read->step == 0) memcpy(metrics->untrained, read->measured, sizeof metrics->untrained);
}

leat_code leat_metrics_step(leat_metrics *metrics, const leat_train_step *step, double rate,
                            leat_error *err) {
    leat_json *json = NULL;
    LEAT_TRY(leat_json_create(&json, true, err));
    leat_json_begin_object(json);
    leat_json_member_int(json, "step", step->step);
    if (step->step > 0) {
        for (int i = 0; i < leat_value_count(step->names); i++)
            leat_json_member_double(json, step->names[i].name, step->values[i]);
        leat_json_member_known(json, "rate", rate);
        leat_json_member_double(json, "seconds", step->seconds);
    }
    if (step->state[0] != 0) leat_json_member_string(json, "state", step->state);
    for (int i = 0; i < leat_value_count(step->measures); i++)
        leat_json_member_known(json, step->measures[i].name, step->measured[i]);
    leat_json_end_object(json);
    LEAT_TRY(append(metrics, json, err));
    const leat_train_step read = leat_metrics_as_read(step);
    observe(metrics, &read);
    return LEAT_OK;
}

leat_code leat_metrics_epoch(leat_metrics *metrics, int64_t epoch, const leat_train_step *step,
                             double seconds, leat_error *err) {
    leat_json *json = NULL;
    LEAT_TRY(leat_json_create(&json, true, err));
    leat_json_begin_object(json);
    leat_json_member_int(json, "epoch", epoch);
    leat_json_member_int(json, "step", step->step);
    leat_json_member_int(json, metrics->task->feed->many, step->samples);
    leat_json_member_double(json, "seconds", seconds);
    leat_json_member_int(json, "memory_peak_bytes", step->memory_peak_bytes);
    leat_json_end_object(json);
    return append(metrics, json, err);
}

leat_code leat_metrics_sync(leat_metrics *metrics, leat_error *err) {
    return leat_file_sync(metrics->file, err);
}

/* ---- Opened --------------------------------------------------------------------------------- */

static double number_of(const json_t *line, const char *key) {
    const json_t *value = json_object_get(line, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

bool leat_metrics_parse(const json_t *line, leat_train_step *step) {
    if (json_object_get(line, "epoch") != NULL ||
        leat_json_get_int(line, "step", 0, INT64_MAX, &step->step, "metrics", NULL) != LEAT_OK)
        return false;
    for (int i = 0; i < leat_value_count(step->names); i++)
        step->values[i] = number_of(line, step->names[i].name);
    step->seconds = number_of(line, "seconds");
    for (int i = 0; i < leat_value_count(step->measures); i++)
        step->measured[i] = number_of(line, step->measures[i].name);
    return true;
}

static void keep(leat_metrics *metrics, const json_t *line) {
    leat_train_step step = leat_task_step(metrics->task);
    if (leat_metrics_parse(line, &step)) observe(metrics, &step);
}

/* The step of a line; -1: it is not one of ours, such as the beginning of one, or zeros that a
 * power failure has left. *metrics sees those of steps up to `last`. */
static leat_code take_line(leat_metrics *metrics, const leat_line *line, int64_t last,
                           int64_t *step, leat_error *err) {
    json_t *root = NULL;
    leat_error why = {0};
    *step = -1;
    leat_code code = leat_json_parse(line->data, line->size_bytes, "metrics", &root, &why);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &why);
    if (code != LEAT_OK) return LEAT_OK;
    if (leat_json_get_int(root, "step", 0, INT64_MAX, step, "metrics", NULL) != LEAT_OK) *step = -1;
    if (*step >= 0 && *step <= last) keep(metrics, root);
    json_decref(root);
    return LEAT_OK;
}

/* The size of the part with steps up to `last`. Lines that are not ours stay if one of ours comes
 * after them. */
static leat_code find_end(leat_metrics *metrics, const char *path, int64_t last, int64_t *end,
                          leat_error *err) {
    const leat_lines_options plain = {0};
    leat_lines *lines = NULL;
    leat_line line;
    int64_t step = -1;
    bool found = true;
    *end = 0;
    LEAT_TRY(leat_lines_open(&lines, path, &plain, err));
    leat_code code = LEAT_OK;
    while (code == LEAT_OK && found && step <= last) {
        code = leat_lines_next(lines, &line, &found, err);
        if (code == LEAT_OK && found) code = take_line(metrics, &line, last, &step, err);
        if (code == LEAT_OK && found && step >= 0 && step <= last)
            *end = leat_lines_position(lines);
    }
    leat_lines_close(lines);
    return code;
}

/* Whether the last of `end` bytes ends a line. */
static leat_code ends_line(leat_file *file, int64_t end, bool *out, leat_error *err) {
    char last = '\n';
    if (end > 0) LEAT_TRY(leat_file_pread(file, &last, 1, end - 1, err));
    *out = last == '\n';
    return LEAT_OK;
}

leat_code leat_metrics_open(leat_metrics *metrics, const leat_task *task, const char *path,
                            int64_t step, leat_error *err) {
    leat_path_facts facts;
    int64_t end = 0;
    bool whole = true;
    *metrics = (leat_metrics){.task = task,
                              .patience = leat_patience_begin(),
                              .warning_state =
                                  leat_warnings_begin(task == NULL ? NULL : task->warning_rules)};
    leat_measured_none(metrics->measured);
    leat_measured_none(metrics->untrained);
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE)
        return leat_file_open(&metrics->file, path, LEAT_FILE_NEW, err);
    LEAT_TRY(find_end(metrics, path, step, &end, err));
    LEAT_TRY(leat_file_open(&metrics->file, path, LEAT_FILE_OWN, err));
    leat_code code = leat_file_truncate(metrics->file, end, err);
    if (code == LEAT_OK) code = ends_line(metrics->file, end, &whole, err);
    if (code == LEAT_OK && !whole) code = leat_file_pwrite(metrics->file, "\n", 1, end++, err);
    metrics->size_bytes = end;
    if (code != LEAT_OK) leat_metrics_close(metrics);
    return code;
}

static leat_code copy_rest(leat_file *from, int64_t at, int64_t size, leat_file *to,
                           leat_error *err) {
    enum { PART = 65536 };
    uint8_t *bytes = NULL;
    LEAT_TRY(LEAT_NEW(&bytes, PART, err));
    leat_code code = LEAT_OK;
    for (int64_t done = 0; done < size && code == LEAT_OK; done += PART) {
        const int64_t some = size - done < PART ? size - done : PART;
        code = leat_file_pread(from, bytes, some, at + done, err);
        if (code == LEAT_OK) code = leat_file_pwrite(to, bytes, some, done, err);
    }
    leat_free(bytes);
    return code;
}

static leat_code save_rest(leat_file *from, int64_t at, int64_t size, const char *to,
                           leat_error *err) {
    leat_file *file = NULL;
    LEAT_TRY(leat_file_open_draft(&file, to, err));
    leat_code code = copy_rest(from, at, size, file, err);
    if (code == LEAT_OK) code = leat_file_publish(file, true, err);
    leat_file_close(file);
    return code;
}

leat_code leat_metrics_copy_later(const char *path, int64_t step, const char *to, bool *any,
                                  leat_error *err) {
    leat_metrics unused = {0};
    leat_path_facts facts;
    leat_file *file = NULL;
    int64_t end = 0, size = 0;
    *any = false;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return LEAT_OK;
    LEAT_TRY(find_end(&unused, path, step, &end, err));
    LEAT_TRY(leat_file_open(&file, path, LEAT_FILE_READ, err));
    leat_code code = leat_file_size(file, &size, err);
    *any = code == LEAT_OK && size > end;
    if (*any && to != NULL) code = save_rest(file, end, size - end, to, err);
    leat_file_close(file);
    return code;
}

void leat_metrics_close(leat_metrics *metrics) {
    leat_file_close(metrics->file);
    *metrics = (leat_metrics){0};
}
