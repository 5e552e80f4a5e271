/*
 * See leat/train_eval.h. The order is that of the promise: runs and checkpoints, calibrations and
 * thresholds from training and validation data, then the scores of tests, and only then their
 * labels.
 */
#include "train/tasks/graphs/evaluation.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "format/can_cache/can_cache.h"
#include "nn/models/gat/model.h"
#include "train/eval/threshold.h"
#include "train/run/patience.h"

void leat_evaluation_note(char note[LEAT_EVALUATION_NOTE_BYTES], const char *format, ...) {
    const size_t used = strlen(note);
    va_list args;
    if (used > 0 && used + 2 < LEAT_EVALUATION_NOTE_BYTES) memcpy(note + used, "; ", 3);
    const size_t at = strlen(note);
    va_start(args, format);
    vsnprintf(note + at, LEAT_EVALUATION_NOTE_BYTES - at, format, args);
    va_end(args);
}

/* ---- Runs ----------------------------------------------------------------------------------- */

/* The same run twice would count as two seeds, with a deviation of 0. */
static leat_code check_twins(const leat_evaluating *self, int index, leat_error *err) {
    const leat_detector *of = self->detectors[index];
    for (int i = 0; i < index; i++) {
        const leat_detector *other = self->detectors[i];
        if (strcmp(other->run->identity.run, of->run->identity.run) != 0 ||
            other->checkpoint->step != of->checkpoint->step)
            continue;
        return leat_fail(err, LEAT_ERR_OPTION,
                         "\"%.300s\" and \"%.300s\" are the same run (%.16s..., step %lld), which "
                         "would count as two seeds; name it once",
                         other->run->folder.path, of->run->folder.path, of->run->identity.run,
                         (long long)of->checkpoint->step);
    }
    return LEAT_OK;
}

void leat_evaluation_note_run(char note[LEAT_EVALUATION_NOTE_BYTES], const leat_detector *detector,
                              const char *fingerprint) {
    const leat_run *run = detector->run;
    if (detector->note[0] != 0) leat_evaluation_note(note, "%s", detector->note);
    if (strcmp(run->identity.data, fingerprint) != 0)
        leat_evaluation_note(note, "\"%.200s\" was trained on another cache (%.16s...)",
                             run->folder.path, run->identity.data);
}

static leat_code open_run(leat_evaluating *self, int index, const char *path, leat_error *err) {
    const leat_evaluation_options *options = &self->options;
    leat_detector **out = &self->detectors[index];
    LEAT_TRY(leat_detector_open(out, path, options->step, options->score, options->kernels, err));
    LEAT_TRY(check_twins(self, index, err));
    const leat_detector *of = *out;
    const leat_code code = leat_graph_context_compare(of->context, self->cache, err);
    if (code != LEAT_OK)
        return leat_error_context(err, code, "run \"%.200s\"", of->run->folder.path);
    leat_evaluation_note_run(self->note, of, self->facts.fingerprint);
    return LEAT_OK;
}

static void tell_run(leat_evaluating *self, int index) {
    const leat_detector *of = self->detectors[index];
    const leat_value *measures = of->run->task->measures;
    const int decider = leat_measure_decider(of->run->task, of->checkpoint->measured);
    const bool measured = decider >= 0;
    self->runs[index] = (leat_evaluated_run){
        .path = of->run->folder.path,
        .model = of->run->identity.model,
        .run = of->run->identity.run,
        .data = of->run->identity.data,
        .step = of->checkpoint->step,
        .state = of->checkpoint->state,
        .best = of->best,
        .measure = measured ? measures[decider].name : NULL,
        .measured = measured ? of->checkpoint->measured[decider] : NAN,
        .train_graphs = of->calibration->train_graphs,
        .val_graphs = of->calibration->residual == NULL ? 0 : of->calibration->val_benign,
        .reused = of->reused};
}

static leat_code calibrate(leat_evaluating *self, int index, leat_error *err) {
    const leat_evaluation_options *options = &self->options;
    leat_detector *of = self->detectors[index];
    leat_evaluation_method *method = &self->methods[index];
    char note[LEAT_DETECTOR_NOTE_BYTES] = "";
    const leat_scoring_work with = {self->cache, options->threads, &self->ticker};
    leat_code code = leat_detector_calibrate(of, &with, options->keep, note, err);
    if (note[0] != 0) leat_evaluation_note(self->note, "%s", note);
    if (code == LEAT_OK)
        code = leat_calibration_threshold(of->calibration, of->score, options->threshold,
                                          options->target_fpr, &method->threshold, err);
    if (code != LEAT_OK)
        return leat_error_context(err, code, "run \"%.200s\"", of->run->folder.path);
    method->name = of->run->identity.model;
    method->score = leat_detector_score_name(of);
    method->run = index;
    method->probability = of->scoring.class == &leat_gat_class;
    tell_run(self, index);
    return LEAT_OK;
}

/* ---- Plain scores --------------------------------------------------------------------------- */

static leat_code fit_plain(leat_evaluating *self, const leat_split_windows *val, int index,
                           leat_error *err) {
    leat_evaluation_method *method = &self->methods[self->out.run_count + index];
    leat_eval_windows windows = val->windows;
    windows.score = val->plain[index];
    method->name = leat_plain_score_name(index);
    method->score = "plain";
    method->run = -1;
    if (self->options.threshold == LEAT_THRESHOLD_F1)
        return leat_threshold_fit_f1(&method->threshold, &windows, LEAT_CAN_SPLIT_VAL, err);
    return leat_threshold_fit_fpr(&method->threshold, &windows, LEAT_CAN_SPLIT_VAL,
                                  self->options.target_fpr, err);
}

static leat_code fit_all_plain(leat_evaluating *self, leat_error *err) {
    leat_split_windows val;
    LEAT_TRY(leat_split_windows_table(self->cache, &self->table, &self->ticker, err));
    LEAT_TRY(leat_split_windows_read(&val, self->cache, LEAT_CAN_SPLIT_VAL, self->table,
                                     &self->ticker, err));
    leat_code code = LEAT_OK;
    for (int i = 0; i < LEAT_PLAIN_SCORES && code == LEAT_OK; i++)
        code = fit_plain(self, &val, i, err);
    leat_split_windows_free(&val);
    if (code == LEAT_OK) return code;
    return leat_error_context(err, code, "\"%.200s\"", self->facts.path);
}

/* ---- Splits --------------------------------------------------------------------------------- */

static bool is_test(const char *split) {
    return strcmp(split, LEAT_CAN_SPLIT_TRAIN) != 0 && strcmp(split, LEAT_CAN_SPLIT_VAL) != 0;
}

static leat_code refuse_no_test(const leat_evaluating *self, leat_error *err) {
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%.300s\" has no test: there is nothing that its detectors have not seen; "
                     "ingest logs with --test as well, or look at validation with --split val",
                     self->facts.path);
}

static leat_code list_splits(leat_evaluating *self, leat_error *err) {
    leat_can_split split;
    const char *named = self->options.split;
    if (named != NULL) LEAT_TRY(leat_can_cache_find_split(self->cache, named, &split, err));
    LEAT_TRY(LEAT_NEW(&self->splits, self->facts.split_count, err));
    LEAT_TRY(LEAT_NEW(&self->own, self->facts.split_count, err));
    self->out.splits = self->splits;
    for (int i = 0; i < self->facts.split_count; i++) {
        LEAT_TRY(leat_can_cache_get_split(self->cache, i, &split, err));
        if (named == NULL ? is_test(split.name) : strcmp(split.name, named) == 0)
            self->splits[self->out.split_count++].name = split.name;
    }
    self->own_count = self->out.split_count;
    if (self->out.split_count == 0) return refuse_no_test(self, err);
    return LEAT_OK;
}

static bool is_of_cache(const leat_evaluating *self, int run) {
    return strcmp(self->detectors[run]->run->identity.data, self->facts.fingerprint) == 0;
}

/* Who has seen a split that is no test; plain scores are always made of this cache. */
static void note_no_test(leat_evaluating *self) {
    const char *named = self->options.split;
    int seen = 0;
    if (named == NULL || is_test(named)) return;
    const bool val = strcmp(named, LEAT_CAN_SPLIT_VAL) == 0;
    for (int r = 0; r < self->out.run_count; r++) seen += is_of_cache(self, r);
    if (seen == 0)
        leat_evaluation_note(self->note, "the split %s is no test: plain scores were %s it", named,
                             val ? "fitted to" : "made of");
    else
        leat_evaluation_note(self->note, "the split %s is no test: %sdetectors were %s it", named,
                             seen < self->out.run_count ? "some " : "",
                             val ? "chosen on" : "trained on");
}

#define OVERLAP                                                                                    \
    "validation windows have frames of training windows (--allow-overlap of the ingest): "         \
    "thresholds that come from them may give more false alarms than they say"

static bool is_overlap(const char *setting) {
    return setting != NULL && strcmp(setting, "true") == 0;
}

/* Of this cache, and of others that runs were trained on. */
static void note_overlap(leat_evaluating *self) {
    if (is_overlap(leat_can_cache_setting(self->cache, "allow-overlap")))
        leat_evaluation_note(self->note, OVERLAP);
    for (int r = 0; r < self->out.run_count; r++) {
        const leat_detector *of = self->detectors[r];
        if (!is_of_cache(self, r) &&
            is_overlap(leat_graph_context_setting(of->context, "allow-overlap")))
            leat_evaluation_note(self->note, "\"%.200s\": its " OVERLAP, of->run->folder.path);
    }
}

static void note_split(leat_evaluating *self, int index) {
    const leat_evaluation_split *of = &self->splits[index];
    const int64_t count = of->windows.count;
    if (count == 0) leat_evaluation_note(self->note, "%s has no window", of->name);
    else if (of->unlabelled == count)
        leat_evaluation_note(self->note, "%s has no window with a label", of->name);
    if (count > 0 && of->unknown_windows == count)
        leat_evaluation_note(self->note,
                             "all identifiers of %s are unknown to the cache's training logs: "
                             "detectors see a vehicle that they know nothing about",
                             of->name);
}

/* ---- All of it ------------------------------------------------------------------------------ */

static leat_code prepare(leat_evaluating *self, const char *const *runs, int run_count,
                         const char *cache, leat_error *err) {
    if (run_count < 1 || run_count > LEAT_EVALUATION_RUNS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "%d runs: 1 to %d can be evaluated at once",
                         run_count, LEAT_EVALUATION_RUNS_MAX);
    LEAT_TRY(leat_evaluation_check(&self->options, err));
    LEAT_TRY(leat_can_cache_open(&self->cache, cache, err));
    leat_can_cache_get_facts(self->cache, &self->facts);
    LEAT_TRY(LEAT_NEW(&self->detectors, run_count, err));
    LEAT_TRY(LEAT_NEW(&self->runs, run_count, err));
    LEAT_TRY(LEAT_NEW(&self->methods, run_count + LEAT_PLAIN_SCORES, err));
    self->out.cache = self->facts.path;
    self->out.fingerprint = self->facts.fingerprint;
    self->out.dataset = self->facts.dataset;
    self->out.score = self->options.score;
    self->out.run_count = run_count;
    self->out.runs = self->runs;
    self->out.method_count = run_count + LEAT_PLAIN_SCORES;
    self->out.methods = self->methods;
    self->out.note = self->note;
    LEAT_TRY(list_splits(self, err));
    for (int i = 0; i < run_count; i++) LEAT_TRY(open_run(self, i, runs[i], err));
    note_no_test(self);
    note_overlap(self);
    return LEAT_OK;
}

static leat_code evaluate(leat_evaluating *self, leat_error *err) {
    LEAT_TRY(fit_all_plain(self, err));
    for (int i = 0; i < self->out.run_count; i++) LEAT_TRY(calibrate(self, i, err));
    for (int i = 0; i < self->out.split_count; i++) {
        LEAT_TRY(leat_evaluating_score(self, i, err));
        note_split(self, i);
    }
    leat_ticker_stage(&self->ticker, "judging", "scores",
                      (int64_t)self->out.split_count * self->out.method_count);
    for (int i = 0; i < self->out.split_count; i++) LEAT_TRY(leat_evaluating_judge(self, i, err));
    return LEAT_OK;
}

static void destroy(leat_evaluating *self) {
    for (int i = 0; i < self->own_count; i++)
        leat_evaluating_split_free(&self->own[i], self->out.method_count, self->out.run_count);
    for (int i = 0; self->detectors != NULL && i < self->out.run_count; i++)
        leat_detector_close(self->detectors[i]);
    leat_free(self->own);
    leat_free(self->splits);
    leat_free(self->methods);
    leat_free(self->runs);
    leat_free(self->detectors);
    leat_plain_table_destroy(self->table);
    leat_can_cache_close(self->cache);
    leat_ticker_destroy(&self->ticker);
    leat_free(self);
}

leat_code leat_evaluation_create(leat_evaluation **out, const char *const *runs, int run_count,
                                 const char *cache, const leat_evaluation_options *options,
                                 leat_error *err) {
    leat_evaluating *self = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->options = options != NULL ? *options : leat_evaluation_options_default();
    leat_ticker_create(&self->ticker, self->options.progress, self->options.user);
    leat_code code = prepare(self, runs, run_count, cache, err);
    if (code == LEAT_OK) code = evaluate(self, err);
    if (code == LEAT_OK) *out = &self->out;
    else destroy(self);
    return code;
}

void leat_evaluation_destroy(leat_evaluation *evaluation) {
    _Static_assert(offsetof(leat_evaluating, out) == 0, "one address");
    if (evaluation != NULL) destroy((leat_evaluating *)evaluation);
}
