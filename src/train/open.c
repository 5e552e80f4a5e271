/* Runs opened for reading: what they are, their checkpoints, and images of them. */
#include "train/open.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "base/ticker.h"
#include "train/sampling.h"
#include "train/task.h"

/* ---- Opened --------------------------------------------------------------------------------- */

bool leat_run_is_at(const char *path) {
    char file[LEAT_PATH_BYTES];
    leat_path_facts facts;
    return leat_path_join(file, sizeof file, path, LEAT_RUN_TRAINING, NULL) == LEAT_OK &&
           leat_path_stat(file, &facts, NULL) == LEAT_OK && facts.kind == LEAT_PATH_FILE;
}

/* The distance between the halves of the data, if it was measured. */
static leat_code read_halves(leat_run *run, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_score_reference *reference = NULL;
    run->halves = NAN;
    LEAT_TRY(leat_run_folder_join(&run->folder, LEAT_RUN_REFERENCE, path, err));
    LEAT_TRY(LEAT_NEW(&reference, 1, err));
    leat_error why = {0};
    leat_code code = leat_score_load(reference, run->identity.data, path, &why);
    if (code == LEAT_OK)
        code = leat_score_distance(&reference->half[0], &reference->half[1], &run->halves, &why);
    leat_free(reference);
    return code == LEAT_ERR_NOT_FOUND ? LEAT_OK : leat_error_copy(err, &why);
}

static leat_code list_grids(leat_run *run, leat_error *err) {
    leat_path_list names = {0};
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(run->folder.samples, &facts, err));
    if (facts.kind != LEAT_PATH_DIR) return LEAT_OK;
    LEAT_TRY(leat_path_list_dir(run->folder.samples, &names, err));
    leat_code code = LEAT_NEW(&run->grids, names.count, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++) {
        const int64_t step = leat_grid_step(names.paths[i]);
        if (step >= 0) run->grids[run->grid_count++] = step;
    }
    leat_path_list_free(&names);
    return code;
}

bool leat_run_grid_at(const leat_run *run, int index, leat_run_grid *out) {
    char name[64];
    *out = (leat_run_grid){0};
    if (index < 0 || index >= run->grid_count) return false;
    out->step = run->grids[index];
    snprintf(name, sizeof name, LEAT_GRID_NAME, (long long)out->step);
    return leat_path_join(out->path, sizeof out->path, run->folder.samples, name, NULL) == LEAT_OK;
}

static leat_code fill(leat_run *run, const char *path, leat_error *err) {
    LEAT_TRY(leat_run_folder_look(&run->folder, path, err));
    LEAT_TRY(leat_training_load(&run->folder, &run->identity, &run->options, &run->settings,
                                run->version, err));
    LEAT_TRY(leat_task_find(run->identity.model, &run->task, err));
    LEAT_TRY(leat_checkpoints_list(&run->checkpoints, run->folder.checkpoints, run->identity.run,
                                   true, err));
    LEAT_TRY(list_grids(run, err));
    return read_halves(run, err);
}

leat_code leat_run_open(leat_run **out, const char *path, leat_error *err) {
    leat_run *run = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&run, 1, err));
    leat_code code = fill(run, path, err);
    if (code != LEAT_OK) {
        leat_run_close(run);
        return code;
    }
    *out = run;
    return LEAT_OK;
}

void leat_run_close(leat_run *run) {
    if (run == NULL) return;
    json_decref(run->settings);
    leat_checkpoints_free(&run->checkpoints);
    leat_free(run->grids);
    leat_free(run);
}

void leat_run_get_facts(const leat_run *run, leat_run_facts *facts) {
    *facts = (leat_run_facts){
        .path = run->folder.path,
        .model = run->identity.model,
        .run = run->identity.run,
        .data = run->identity.data,
        .images = run->identity.samples,
        .image_size = LEAT_IMAGE_SIZE,
        .init = run->identity.init,
        .kernel_class = run->identity.kernel_class,
        .model_hash = run->identity.model_hash,
        .leat_version = run->version,
        .score_halves = run->halves,
        .checkpoint_count = (int)run->checkpoints.count,
    };
}

const char *leat_run_setting(const leat_run *run, const char *name) {
    return json_string_value(json_object_get(run->settings, name));
}

bool leat_run_setting_at(const leat_run *run, int index, const char **name, const char **value) {
    void *at = json_object_iter(run->settings);
    for (int i = 0; at != NULL && i < index; i++) at = json_object_iter_next(run->settings, at);
    *name = at == NULL || index < 0 ? NULL : json_object_iter_key(at);
    *value = *name == NULL ? NULL : json_string_value(json_object_iter_value(at));
    return *name != NULL;
}

bool leat_run_checkpoint_at(const leat_run *run, int index, leat_run_checkpoint *out) {
    *out = (leat_run_checkpoint){0};
    if (index < 0 || index >= run->checkpoints.count) return false;
    const leat_checkpoint *of = &run->checkpoints.items[index];
    *out = (leat_run_checkpoint){
        .step = of->step,
        .state = of->state,
        .score = of->score,
        .deviation = of->deviation,
        .best = of == leat_checkpoints_best(&run->checkpoints, run->task->measures, INT64_MAX)};
    return leat_checkpoint_path(run->folder.checkpoints, of->step, out->path, NULL) == LEAT_OK;
}

/* ---- Its weights ---------------------------------------------------------------------------- */

static leat_code refuse_step(const leat_run *run, int64_t step, leat_error *err) {
    leat_checkpoints all;
    /* damaged ones are left out of a run, but here they are the reason */
    LEAT_TRY(leat_checkpoints_list(&all, run->folder.checkpoints, run->identity.run, false, err));
    leat_checkpoints_free(&all);
    if (run->checkpoints.count == 0)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "run \"%.300s\" has no checkpoint yet",
                         run->folder.path);
    return leat_checkpoints_refuse(&run->checkpoints, step, 0, err);
}

leat_code leat_run_load(const leat_run *run, int64_t step, int threads, const char *kernels,
                        leat_trainer **trainer, const leat_checkpoint **checkpoint,
                        leat_error *err) {
    const leat_checkpoint *of = leat_checkpoints_find(&run->checkpoints, step);
    leat_train_options options = run->options.run;
    *trainer = NULL;
    if (checkpoint != NULL) *checkpoint = of;
    if (of == NULL) return refuse_step(run, step, err);
    options.threads = threads;
    options.kernels = kernels;
    LEAT_TRY(leat_trainer_create(trainer, run->task->model, &options, NULL, err));
    leat_code code = leat_checkpoint_load(run->folder.checkpoints, of, *trainer, err);
    if (code == LEAT_OK) return LEAT_OK;
    leat_trainer_destroy(*trainer);
    *trainer = NULL;
    return code;
}

static leat_code verify(const leat_run *run, const leat_checkpoints *all, leat_trainer *trainer,
                        leat_error *err) {
    for (int64_t i = 0; i < all->count; i++)
        LEAT_TRY(leat_checkpoint_load(run->folder.checkpoints, &all->items[i], trainer, err));
    return LEAT_OK;
}

leat_code leat_run_verify(const leat_run *run, leat_error *err) {
    leat_trainer *trainer = NULL;
    leat_checkpoints all;
    LEAT_TRY(leat_checkpoints_list(&all, run->folder.checkpoints, run->identity.run, false, err));
    leat_code code = LEAT_OK;
    if (all.count > 0) code = leat_run_load(run, -1, 1, NULL, &trainer, NULL, err);
    if (code == LEAT_OK) code = verify(run, &all, trainer, err);
    leat_trainer_destroy(trainer);
    leat_checkpoints_free(&all);
    return code;
}

/* ---- Samples -------------------------------------------------------------------------------- */

leat_run_sample_options leat_run_sample_options_default(void) {
    return (leat_run_sample_options){
        .step = -1, .run_seed = true, .count = 64, .threads = leat_cpu_count()};
}

static leat_code sample(leat_trainer *trainer, const leat_run_sample_options *options,
                        uint64_t seed, uint8_t *out, double *deviation, leat_error *err) {
    const leat_model *model = leat_trainer_model(trainer);
    const float *parameters = leat_trainer_state(trainer)->parameters;
    float *statistics = NULL;
    LEAT_TRY(LEAT_NEW(&statistics, leat_generate_statistics_count(model), err));
    leat_code code = leat_generate_statistics(model, parameters, statistics, err);
    const leat_generate_from from = {.model = model,
                                     .parameters = parameters,
                                     .statistics = statistics,
                                     .seed = seed,
                                     .first = options->first,
                                     .count = options->count};
    if (code == LEAT_OK) code = leat_sampling_images(&from, out, deviation, err);
    leat_free(statistics);
    return code;
}

leat_code leat_run_sample(const leat_run *run, const leat_run_sample_options *options, uint8_t *out,
                          double *deviation, int64_t *step, leat_error *err) {
    const leat_checkpoint *of = NULL;
    leat_trainer *trainer = NULL;
    double here = NAN;
    if (deviation != NULL) *deviation = NAN;
    if (step != NULL) *step = -1;
    LEAT_TRY(leat_generate_check(run->task->model, run->folder.path, err));
    if (options->count < 1 || options->count > 1 << 24 || options->first < 0 ||
        options->first > INT64_C(1) << 32)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "%lld samples from number %lld; there may be 1 to 2^24, from 0 to 2^32",
                         (long long)options->count, (long long)options->first);
    LEAT_TRY(
        leat_run_load(run, options->step, options->threads, options->kernels, &trainer, &of, err));
    leat_code code =
        sample(trainer, options, options->run_seed ? run->options.run.seed : options->seed, out,
               &here, err);
    leat_trainer_destroy(trainer);
    if (code != LEAT_OK) return code;
    if (deviation != NULL) *deviation = here;
    if (step != NULL) *step = of->step;
    return LEAT_OK;
}

leat_code leat_run_sample_save(const leat_run *run, const leat_run_sample_options *options,
                               const char *path, int64_t columns, double *deviation, int64_t *step,
                               leat_error *err) {
    uint8_t *images = NULL;
    *deviation = NAN;
    *step = -1;
    if (options->count < 1 || options->count > 65536)
        return leat_fail(err, LEAT_ERR_OPTION, "%lld images; a grid has 1 to 65536",
                         (long long)options->count);
    LEAT_TRY(leat_file_can_save(path, LEAT_MARK_PNG, options->replace, err));
    LEAT_TRY(LEAT_NEW(&images, options->count * LEAT_IMAGE_VALUES, err));
    leat_code code = leat_run_sample(run, options, images, deviation, step, err);
    if (code == LEAT_OK && !(*deviation >= LEAT_SAMPLE_DEVIATION_MIN))
        code = leat_fail(err, LEAT_ERR_INPUT,
                         "the samples of step %lld are almost uniform (deviation %.4f, less than "
                         "%.2f), so nothing was written; use another step, or train longer",
                         (long long)*step, *deviation, LEAT_SAMPLE_DEVIATION_MIN);
    if (code == LEAT_OK)
        code = leat_image_grid_save(path, images, options->count, LEAT_IMAGE_SIZE, columns,
                                    options->replace, err);
    leat_free(images);
    return code;
}
