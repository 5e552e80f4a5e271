/*
 * A run of one checkpoint from an exported folder, whose config.json says what it is, or from
 * weights that leat did not export, which the models that know such files are asked about in turn.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "train/run/export.h"
#include "train/run/init.h"
#include "train/run/run_reader.h"

typedef struct importing {
    const char *path;
    const char *data; /* NULL: none */
    leat_feed feed;   /* of the data */
    bool folder;
    json_t *config; /* of a folder; NULL: it has none */
    leat_run_options all;
} importing;

/* ---- Which model, with which settings ------------------------------------------------------- */

/* The micro-batch of the run that was exported, which its statistics follow from, and its unit. */
static leat_code read_micro_batch(importing *self, leat_error *err) {
    static const char unit[] = "unit-size";
    const json_t *training = json_object_get(self->config, LEAT_EXPORT_TRAINING);
    const char *text = json_string_value(json_object_get(training, unit));
    int64_t size = 0;
    if (json_object_get(self->config, LEAT_EXPORT_MICRO_BATCH) == NULL) return LEAT_OK;
    LEAT_TRY(leat_json_get_int(self->config, LEAT_EXPORT_MICRO_BATCH, 2, 1024, &size,
                               LEAT_EXPORT_CONFIG, err));
    self->all.run.micro_batch = (int32_t)size;
    self->all.run.unit_size = size;
    if (text == NULL) return LEAT_OK;
    return leat_setting_set(leat_setting_find(leat_train_options_table(), unit), &self->all.run,
                            text, err);
}

/* The model's settings from "training", which has all of them. */
static leat_code parse_settings(importing *self, leat_error *err) {
    static const char what[] = LEAT_EXPORT_TRAINING;
    const json_t *training = NULL;
    LEAT_TRY(leat_json_get_object(self->config, what, &training, LEAT_EXPORT_CONFIG, err));
    for (const leat_setting *row = self->all.task->settings()->rows; row->name != NULL; row++) {
        const char *text = NULL;
        LEAT_TRY(leat_json_get_string(training, row->name, &text, what, err));
        LEAT_TRY(leat_setting_set(row, &self->all.settings, text, err));
    }
    return LEAT_OK;
}

static leat_code read_settings(importing *self, leat_error *err) {
    leat_error why = {0};
    const leat_code code = parse_settings(self, &why);
    if (code == LEAT_OK || code == LEAT_ERR_MEMORY) return leat_error_copy(err, &why);
    return leat_fail(err, LEAT_ERR_CORRUPT, "\"%.200s/" LEAT_EXPORT_CONFIG "\" is damaged: %.200s",
                     self->path, why.message);
}

static leat_code start(importing *self, const leat_task *task, leat_error *err) {
    leat_train_options defaults;
    leat_task_options(task)->set_defaults(&defaults);
    return leat_run_options_take(&self->all, task->model->name, &defaults, err);
}

/* The settings from the shapes of the tensors; LEAT_ERR_NOT_FOUND: of another model. */
static leat_code guess(importing *self, const leat_task *task, leat_error *err) {
    const leat_export_class *class = task->exports;
    char file[LEAT_PATH_BYTES];
    leat_safetensors *tensors = NULL;
    LEAT_TRY(start(self, task, err));
    if (self->folder)
        LEAT_TRY(leat_path_join(file, sizeof file, self->path, class->files[0].name, err));
    LEAT_TRY(leat_safetensors_read(&tensors, self->folder ? file : self->path, err));
    const leat_code code =
        class->guess(tensors, self->path, !self->folder, &self->all.settings, err);
    leat_safetensors_destroy(tensors);
    if (code == LEAT_OK && self->data == NULL && class->settle != NULL)
        class->settle(&self->all.settings);
    return code;
}

/* Says what there is to import: exports by the names of their models, and what is guessed. */
static leat_code refuse_unknown(const importing *self, leat_error *err) {
    char names[100] = "", guessed[320] = "";
    size_t named = 0, used = 0;
    for (int i = 0; leat_tasks[i] != NULL; i++) {
        const leat_export_class *class = leat_tasks[i]->exports;
        const char *name = leat_tasks[i]->model->name;
        if (class == NULL) continue;
        if (named < sizeof names)
            named += (size_t)snprintf(names + named, sizeof names - named, "%s%s",
                                      named > 0 ? ", " : "", name);
        if (class->guess != NULL && used < sizeof guessed)
            used += (size_t)snprintf(guessed + used, sizeof guessed - used, "; of a %s also %s",
                                     name, class->third_party);
    }
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "\"%.100s\" holds weights of no model that leat knows; import a folder that "
                     "leat export wrote (%s)%s",
                     self->path, names, guessed);
}

/* Weights of nobody known: of the first model that knows them. */
static leat_code guess_model(importing *self, leat_error *err) {
    for (int i = 0; leat_tasks[i] != NULL; i++) {
        leat_error why = {0};
        if (leat_tasks[i]->exports == NULL || leat_tasks[i]->exports->guess == NULL) continue;
        const leat_code code = guess(self, leat_tasks[i], &why);
        if (code != LEAT_ERR_NOT_FOUND) return leat_error_copy(err, &why);
    }
    return refuse_unknown(self, err);
}

/* The model that leat wrote into config.json. */
static leat_code read_model(importing *self, const char *model, leat_error *err) {
    const leat_task *task = NULL;
    leat_error why = {0};
    if (leat_task_find(model, &task, &why) != LEAT_OK)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "\"%.300s\" is an export of a model that this version of leat does not "
                         "have: %.150s",
                         self->path, why.message);
    if (task->exports == NULL)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "\"%.300s\": leat does not import the model \"%s\"", self->path,
                         task->model->name);
    if (task->exports->always_guesses) return guess(self, task, err);
    LEAT_TRY(start(self, task, err));
    return read_settings(self, err);
}

static leat_code read_options(importing *self, leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(self->path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "\"%.300s\" does not exist", self->path);
    self->folder = facts.kind == LEAT_PATH_DIR;
    if (self->folder) LEAT_TRY(leat_export_load_config(self->path, false, &self->config, err));
    const char *model = leat_export_config_model(self->config);
    LEAT_TRY(model != NULL ? read_model(self, model, err) : guess_model(self, err));
    return read_micro_batch(self, err);
}

/* ---- The data ------------------------------------------------------------------------------- */

/* An export says which data it was trained on; what was guessed does not. */
static leat_code check_data(const importing *self, leat_error *err) {
    const json_t *training = json_object_get(self->config, LEAT_EXPORT_TRAINING);
    const char *data = json_string_value(json_object_get(training, LEAT_EXPORT_DATA));
    if (data == NULL || data[0] == 0 || strcmp(data, self->feed.fingerprint) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "\"%.200s\" was trained on the data %.16s..., but \"%.150s\" is %.16s...; use "
                     "the data that it was trained on",
                     self->path, data, self->data, self->feed.fingerprint);
}

static leat_code open_data(importing *self, leat_error *err) {
    leat_code code = LEAT_OK;
    if (self->data == NULL) return LEAT_OK;
    LEAT_TRY(leat_feed_open(&self->feed, self->all.task->feed, self->data, err));
    LEAT_TRY(check_data(self, err));
    /* before the plan, whose remedy is an option of training */
    if (self->all.task->exports->check != NULL)
        code = self->all.task->exports->check(&self->all.settings, &self->feed, err);
    if (code == LEAT_OK) code = leat_run_options_settle(&self->all, &self->feed, err);
    if (code == LEAT_OK) code = leat_feed_plan(&self->feed, &self->all.run, err);
    if (code != LEAT_OK) return leat_error_context(err, code, "\"%.150s\"", self->path);
    return LEAT_OK;
}

/* ---- Imported ------------------------------------------------------------------------------- */

static leat_code import(importing *self, const leat_run_folder *folder, leat_error *err) {
    const leat_run_options *all = &self->all;
    leat_checkpoint of = {0};
    leat_identity identity = {0};
    leat_trainer *trainer = NULL;
    const leat_feed *feed = self->data != NULL ? &self->feed : NULL;
    LEAT_TRY(read_options(self, err));
    LEAT_TRY(open_data(self, err));
    LEAT_TRY(leat_trainer_create(&trainer, all->task->model, &all->run, feed, err));
    leat_code code = leat_init_load(self->path, all->task, trainer, identity.init, err);
    if (code == LEAT_OK)
        code = leat_identity_make(&identity, leat_trainer_model(trainer), feed, all, err);
    /* in this order: a checkpoint without training.json could be taken for another run's */
    if (code == LEAT_OK) code = leat_training_save(folder, &identity, all, leat_version(), err);
    of.task = all->task;
    leat_measured_none(of.measured);
    memcpy(of.run, identity.run, sizeof of.run);
    if (code == LEAT_OK) code = leat_checkpoint_save(folder->checkpoints, trainer, &of, err);
    leat_trainer_destroy(trainer);
    if (code == LEAT_OK && feed != NULL && feed->class->keep != NULL)
        code = feed->class->keep(feed, folder->path, err);
    return code;
}

/* Of what is not an export: what the data are, config.json would say. */
static void tell(const importing *self, char note[LEAT_IMPORT_NOTE_BYTES]) {
    const char *unsaid = self->all.task->exports->unsaid;
    if (self->data == NULL || self->config != NULL || unsaid == NULL) return;
    snprintf(note, LEAT_IMPORT_NOTE_BYTES, "%s", unsaid);
}

leat_code leat_run_import(const char *path, const char *data, const char *run,
                          char note[LEAT_IMPORT_NOTE_BYTES], leat_error *err) {
    importing self = {.path = path, .data = data};
    leat_run_folder folder;
    if (note != NULL) note[0] = 0;
    if (leat_run_is_at(path))
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%.300s\" is a run already; to train from its weights, use --init",
                         path);
    LEAT_TRY(leat_run_folder_open(&folder, run, false, err));
    const leat_code code = import(&self, &folder, err);
    if (code == LEAT_OK && note != NULL) tell(&self, note);
    json_decref(self.config);
    leat_feed_close(&self.feed);
    if (code != LEAT_OK) leat_run_folder_clear(&folder);
    leat_run_folder_close(&folder);
    return code;
}
