/* See detector.h. */
#include "train/tasks/graphs/detector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "nn/models/gat/model.h"
#include "train/tasks/graphs/graph_feed.h"

static bool is_gat(const leat_detector *detector) {
    return detector->scoring.class == &leat_gat_class;
}

const char *leat_detector_score_name(const leat_detector *detector) {
    static const char *const names[LEAT_WINDOW_SCORES] = {"residual", "reference", "difficulty"};
    return is_gat(detector) ? "probability" : names[detector->score];
}

/* ---- Opened --------------------------------------------------------------------------------- */

static leat_code check_model(const leat_detector *self, leat_error *err) {
    const leat_run *run = self->run;
    if (!leat_graph_scores_class(run->task->model))
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "run \"%.300s\" is of a %s, which does not score windows of a bus; train "
                         "a detector with `leat train vgae` or `leat train gat`",
                         run->folder.path, run->identity.model);
    if (run->task->model != &leat_gat_class || self->score == LEAT_WINDOW_SCORE_RESIDUAL)
        return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_OPTION,
        "run \"%.300s\" is of a GAT, whose only score is its probability of an attack; "
        "leave --score out",
        run->folder.path);
}

static const leat_checkpoint *choose(leat_detector *self, int64_t step) {
    const leat_checkpoints *all = &self->run->checkpoints;
    const leat_checkpoint *best = leat_checkpoints_best(all, INT64_MAX);
    const leat_checkpoint *of = step < 0 && best != NULL ? best : leat_checkpoints_find(all, step);
    self->best = of != NULL && of == best;
    return of;
}

static bool is_lost(const leat_run_metrics *metrics, const leat_checkpoint *chosen) {
    if (metrics->best_step < 0) return false;
    const double here = chosen->measured[metrics->best_measure];
    return isnan(here) ||
           leat_value_is_better(&metrics->measures[metrics->best_measure], metrics->best, here);
}

/* Whether the run has measured a better state than that of the checkpoint that was chosen: files of
 * the best one may be lost or damaged, and then another one must not pass for it. There is no note
 * of a step that was asked for. */
static leat_code note_lost_best(leat_detector *self, bool asked, leat_error *err) {
    const leat_checkpoint *of = self->checkpoint;
    leat_run_metrics *metrics = NULL;
    leat_error why = {0};
    const leat_code code = leat_run_metrics_load(&metrics, self->run, 2, &why);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &why);
    if (code != LEAT_OK) {
        if (asked) return LEAT_OK;
        snprintf(self->note, sizeof self->note,
                 "whether step %lld is the best of the run is not known: %.200s",
                 (long long)of->step, why.message);
        return LEAT_OK;
    }
    const bool lost = is_lost(metrics, of);
    if (lost && !asked)
        snprintf(self->note, sizeof self->note,
                 "\"%.150s\": the best by %s, step %lld (%.4g), has no complete checkpoint; step "
                 "%lld is the %s of those left",
                 self->run->folder.path, metrics->measures[metrics->best_measure].name,
                 (long long)metrics->best_step, metrics->best, (long long)of->step,
                 self->best ? "best" : "last");
    if (lost) self->best = false;
    leat_run_metrics_destroy(metrics);
    return LEAT_OK;
}

static leat_code check_weights(const leat_detector *self, const leat_model *model,
                               leat_error *err) {
    leat_model_tensor tensor;
    for (int i = 0; leat_model_tensor_at(model, i, &tensor); i++) {
        if (tensor.running) continue;
        for (int64_t k = 0; k < tensor.count; k++) {
            const double weight = (double)self->parameters[tensor.offset + k];
            if (isfinite(weight)) continue;
            return leat_fail(err, LEAT_ERR_INPUT,
                             "run \"%.300s\", step %lld: weight %lld of %s is %g; use an earlier "
                             "checkpoint (--step), or train again with a smaller --learning-rate",
                             self->run->folder.path, (long long)self->checkpoint->step,
                             (long long)k, tensor.name, weight);
        }
    }
    return LEAT_OK;
}

static leat_code take_weights(leat_detector *self, leat_trainer *trainer, leat_error *err) {
    const leat_model *model = leat_trainer_model(trainer);
    LEAT_TRY(LEAT_NEW(&self->parameters, model->sizes.parameters, err));
    memcpy(self->parameters, leat_trainer_state(trainer)->parameters,
           sizeof *self->parameters * (size_t)model->sizes.parameters);
    return check_weights(self, model, err);
}

static leat_code fill(leat_detector *self, const char *run, int64_t step, const char *kernels,
                      leat_error *err) {
    leat_trainer *trainer = NULL;
    LEAT_TRY(leat_run_open(&self->run, run, err));
    LEAT_TRY(check_model(self, err));
    if (self->run->identity.data[0] == 0)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "run \"%.200s\" has imported weights, and no data to score windows with: "
                         "import them again, with --data CACHE",
                         self->run->folder.path);
    const leat_checkpoint *of = choose(self, step);
    LEAT_TRY(leat_run_load(self->run, of == NULL ? step : of->step, 1, kernels, &trainer,
                           &self->checkpoint, err));
    leat_code code = take_weights(self, trainer, err);
    leat_trainer_destroy(trainer);
    if (code == LEAT_OK) code = note_lost_best(self, step >= 0, err);
    if (code != LEAT_OK) return code;
    self->scoring =
        (leat_graph_scoring){.class = self->run->task->model,
                             .settings = self->run->options.run.settings,
                             .parameters = self->parameters,
                             .wants = leat_calibration_wants(self->run->task->model, self->score),
                             .kernels = kernels};
    LEAT_TRY(leat_graph_context_load(&self->context, self->run->folder.path, err));
    return leat_graph_context_check(self->context, self->run->folder.path, self->run->identity.data,
                                    err);
}

leat_code leat_detector_open(leat_detector **out, const char *run, int64_t step,
                             leat_window_score score, const char *kernels, leat_error *err) {
    leat_detector *self = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->score = score;
    const leat_code code = fill(self, run, step, kernels, err);
    if (code == LEAT_OK) *out = self;
    else leat_detector_close(self);
    return code;
}

void leat_detector_close(leat_detector *detector) {
    if (detector == NULL) return;
    leat_calibration_destroy(detector->calibration);
    leat_graph_context_destroy(detector->context);
    leat_free(detector->parameters);
    leat_run_close(detector->run);
    leat_free(detector);
}

/* ---- Calibrated ----------------------------------------------------------------------------- */

/* Whether another one can be made in its place; otherwise the reason would be the same again. */
static bool can_replace(leat_code code) {
    return code != LEAT_OK && code != LEAT_ERR_MEMORY && code != LEAT_ERR_IO;
}

static leat_code check_cache(const leat_detector *self, const leat_can_cache *cache,
                             const leat_error *why, leat_error *err) {
    leat_can_facts facts = {0};
    if (cache != NULL) leat_can_cache_get_facts(cache, &facts);
    if (cache != NULL && strcmp(facts.fingerprint, self->run->identity.data) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "there is no calibration of step %lld (%.300s); run `leat eval %.200s "
                     "DIR/NAME-%.16s --split val --step %lld`, with the path of the cache that the "
                     "run was trained on",
                     (long long)self->checkpoint->step, why->message, self->run->folder.path,
                     self->run->identity.data, (long long)self->checkpoint->step);
}

/* Those of steps that have no checkpoint any more. */
static void remove_old(const leat_run *run) {
    leat_path_list names = {0};
    if (leat_path_list_dir(run->folder.path, &names, NULL) != LEAT_OK) return;
    for (int64_t i = 0; i < names.count; i++) {
        static const char begin[] = LEAT_RUN_CALIBRATION;
        char name[LEAT_CALIBRATION_NAME_BYTES], path[LEAT_PATH_BYTES];
        if (strncmp(names.paths[i], begin, strlen(begin)) != 0) continue;
        const int64_t step = strtoll(names.paths[i] + strlen(begin), NULL, 10);
        leat_calibration_name(step, name);
        if (strcmp(name, names.paths[i]) != 0) continue;
        if (leat_checkpoints_find(&run->checkpoints, step) != NULL) continue;
        if (leat_run_folder_join(&run->folder, name, path, NULL) == LEAT_OK)
            leat_path_discard(path);
    }
    leat_path_list_free(&names);
}

/* A run folder may come from somebody else: nothing is written through its links. */
static leat_code save(const leat_detector *self, const char *path, leat_error *err) {
    leat_path_facts facts;
    bool link = false;
    LEAT_TRY(leat_path_is_link(path, &link, err));
    if (link)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%.130s\" is a link, and its target would be overwritten: remove it",
                         path);
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE || facts.kind == LEAT_PATH_FILE)
        return leat_calibration_save(self->calibration, path, err);
    return leat_fail(err, LEAT_ERR_INPUT, "\"%.130s\" is not a file: remove it", path);
}

static void keep_it(const leat_detector *self, const char *path,
                    char note[LEAT_DETECTOR_NOTE_BYTES]) {
    leat_error why = {0};
    const leat_code code = save(self, path, &why);
    if (code == LEAT_OK) remove_old(self->run);
    else
        snprintf(note, LEAT_DETECTOR_NOTE_BYTES,
                 "the calibration of step %lld, without which leat detect has no threshold, could "
                 "not be kept: %.240s; then run leat eval, which keeps it",
                 (long long)self->checkpoint->step, why.message);
}

/* The one in the run's folder; *path is where it is, or would be. */
static leat_code load_kept(leat_detector *self, char path[LEAT_PATH_BYTES], leat_error *err) {
    char name[LEAT_CALIBRATION_NAME_BYTES];
    leat_calibration *of = NULL;
    leat_calibration_name(self->checkpoint->step, name);
    LEAT_TRY(leat_run_folder_join(&self->run->folder, name, path, err));
    LEAT_TRY(leat_calibration_load(&of, path, &self->scoring, self->checkpoint->state, err));
    leat_code code = LEAT_OK;
    if (strcmp(of->cache, self->run->identity.data) != 0)
        code = leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%.300s\" was made of the cache %.16s..., on which the run was not "
                         "trained",
                         path, of->cache);
    if (code == LEAT_OK) self->calibration = of;
    else leat_calibration_destroy(of);
    return code;
}

leat_code leat_detector_calibrate(leat_detector *detector, const leat_scoring_work *with, bool keep,
                                  char note[LEAT_DETECTOR_NOTE_BYTES], leat_error *err) {
    leat_detector *self = detector;
    char path[LEAT_PATH_BYTES];
    leat_error why = {0};
    LEAT_ASSERT(self->calibration == NULL && (note != NULL || !keep));
    if (note != NULL) note[0] = 0;
    const leat_code code = load_kept(self, path, &why);
    self->reused = code == LEAT_OK;
    if (!can_replace(code)) return leat_error_copy(err, &why);
    LEAT_TRY(check_cache(self, with->cache, &why, err));
    LEAT_TRY(leat_calibration_make(&self->calibration, &self->scoring, self->checkpoint->state,
                                   with, err));
    if (keep) keep_it(self, path, note);
    return LEAT_OK;
}

leat_code leat_detector_prepare(const char *run, const leat_feed *feed,
                                const leat_train_options *options, leat_ticker *ticker,
                                char note[LEAT_DETECTOR_NOTE_BYTES], leat_error *err) {
    const leat_scoring_work with = {leat_graph_feed_cache(feed), options->threads, ticker};
    leat_detector *self = NULL;
    LEAT_TRY(leat_detector_open(&self, run, -1, LEAT_WINDOW_SCORE_RESIDUAL, options->kernels, err));
    const leat_code code = leat_detector_calibrate(self, &with, true, note, err);
    leat_detector_close(self);
    return code;
}
