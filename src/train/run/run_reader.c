/* Runs opened for reading: what they are, their checkpoints, and what they keep of steps. */
#include "train/run/run_reader.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "train/run/task.h"

/* ---- Opened --------------------------------------------------------------------------------- */

bool leat_run_is_at(const char *path) {
    char file[LEAT_PATH_BYTES];
    leat_path_facts facts;
    return leat_path_join(file, sizeof file, path, LEAT_RUN_TRAINING, NULL) == LEAT_OK &&
           leat_path_stat(file, &facts, NULL) == LEAT_OK && facts.kind == LEAT_PATH_FILE;
}

/* Whether there is something of this kind itself; a link is not, whatever it leads to: a run has
 * none, and what a link leads to may not be for those who see a run. */
static leat_code is_itself(const char *path, leat_path_kind kind, bool *out, leat_error *err) {
    leat_path_facts facts;
    bool link = false;
    *out = false;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != kind) return LEAT_OK;
    LEAT_TRY(leat_path_is_link(path, &link, err));
    *out = !link;
    return LEAT_OK;
}

static leat_code add_kept(leat_run *run, const char *name, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    bool is_file = false;
    const int64_t step = leat_run_kept_step(name, leat_task_kept(run->task));
    if (step < 0) return LEAT_OK;
    LEAT_TRY(leat_path_join(path, sizeof path, run->folder.samples, name, err));
    /* one that cannot be looked at, such as a link to itself, is none */
    if (is_itself(path, LEAT_PATH_FILE, &is_file, NULL) == LEAT_OK && is_file)
        run->kept[run->kept_count++] = step;
    return LEAT_OK;
}

static leat_code list_kept(leat_run *run, leat_error *err) {
    leat_path_list names = {0};
    bool is_folder = false;
    LEAT_TRY(is_itself(run->folder.samples, LEAT_PATH_DIR, &is_folder, err));
    if (!is_folder) return LEAT_OK;
    LEAT_TRY(leat_path_list_dir(run->folder.samples, &names, err));
    leat_code code = LEAT_NEW(&run->kept, names.count, err);
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++)
        code = add_kept(run, names.paths[i], err);
    leat_path_list_free(&names);
    return code;
}

bool leat_run_kept_at(const leat_run *run, int index, leat_run_kept *out) {
    *out = (leat_run_kept){0};
    if (index < 0 || index >= run->kept_count) return false;
    out->step = run->kept[index];
    return leat_run_kept_path(&run->folder, leat_task_kept(run->task), out->step, out->path,
                              NULL) == LEAT_OK;
}

/* What the data alone says, if it was measured. */
static leat_code read_reference(leat_run *run, leat_error *err) {
    const leat_measure_class *measure = run->task->measure;
    run->reference = (leat_train_reference){.value = NAN};
    if (measure == NULL || measure->reference_name == NULL) return LEAT_OK;
    run->reference.name = measure->reference_name;
    return measure->reference(&run->folder, run->identity.data, &run->reference.value, err);
}

static leat_code fill(leat_run *run, const char *path, leat_error *err) {
    LEAT_TRY(leat_run_folder_look(&run->folder, path, err));
    LEAT_TRY(leat_training_load(&run->folder, &run->identity, &run->options, &run->settings,
                                run->version, err));
    LEAT_TRY(leat_task_find(run->identity.model, &run->task, err));
    LEAT_TRY(leat_checkpoints_list(&run->checkpoints, run->task, run->folder.checkpoints,
                                   run->identity.run, true, err));
    LEAT_TRY(list_kept(run, err));
    return read_reference(run, err);
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
    leat_free(run->kept);
    leat_free(run);
}

void leat_run_get_facts(const leat_run *run, leat_run_facts *facts) {
    *facts = (leat_run_facts){
        .path = run->folder.path,
        .model = run->identity.model,
        .run = run->identity.run,
        .data = run->identity.data,
        .one = run->task->feed->one,
        .many = run->task->feed->many,
        .samples = run->identity.samples,
        .sample_size = run->task->feed->sample_size,
        .init = run->identity.init,
        .kernel_class = run->identity.kernel_class,
        .model_hash = run->identity.model_hash,
        .leat_version = run->version,
        .reference = run->reference,
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
    *out = (leat_run_checkpoint){.step = of->step,
                                 .state = of->state,
                                 .measures = run->task->measures,
                                 .best = of == leat_checkpoints_best(&run->checkpoints, INT64_MAX)};
    memcpy(out->measured, of->measured, sizeof out->measured);
    return leat_checkpoint_path(run->folder.checkpoints, of->step, out->path, NULL) == LEAT_OK;
}

/* ---- Its weights ---------------------------------------------------------------------------- */

static leat_code refuse_step(const leat_run *run, int64_t step, leat_error *err) {
    leat_checkpoints all;
    /* damaged ones are left out of a run, but here they are the reason */
    LEAT_TRY(leat_checkpoints_list(&all, run->task, run->folder.checkpoints, run->identity.run,
                                   false, err));
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
    LEAT_TRY(leat_checkpoints_list(&all, run->task, run->folder.checkpoints, run->identity.run,
                                   false, err));
    leat_code code = LEAT_OK;
    if (all.count > 0) code = leat_run_load(run, -1, 1, NULL, &trainer, NULL, err);
    if (code == LEAT_OK) code = verify(run, &all, trainer, err);
    leat_trainer_destroy(trainer);
    leat_checkpoints_free(&all);
    return code;
}
