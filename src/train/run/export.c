/*
 * A run as a folder that other programs read: weights by PyTorch's names, what they follow from,
 * and a model card; all written beside the folder, and moved once they are complete.
 */
#include "train/run/export.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/thread.h"
#include "train/run/run_reader.h"
#include "train/step/weights.h"

#define CARD "README.md"
#define CONFIG_BYTES_MAX (1 << 20)
/* Files of weights that a model may have. */
#define FILES_MAX 4

typedef struct exporting {
    leat_exporting of;
    const leat_export_class *class;
    const char *dir;
    int tensors;                 /* that were written */
    float *parameters, *running; /* those of `of` */
    char sha256[FILES_MAX][65];  /* of the files */
} exporting;

/* MEMBER_sha256 */
static const char *hash_member(const leat_export_file *file, char out[64]) {
    const int size = snprintf(out, 64, "%s_sha256", file->member);
    LEAT_ASSERT(size < 64);
    return out;
}

static leat_code find_class(const leat_task *task, const leat_export_class **class,
                            leat_error *err) {
    int count = 0;
    *class = task->exports;
    if (*class == NULL)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                         "leat does not export runs of the model \"%s\"; their weights are the "
                         "safetensors files in the run's folder " LEAT_RUN_CHECKPOINTS,
                         task->model->name);
    while ((*class)->files[count].name != NULL) count++;
    LEAT_ASSERT(count >= 1 && count <= FILES_MAX);
    return LEAT_OK;
}

/* ---- Weights -------------------------------------------------------------------------------- */

static leat_code save_weights(exporting *self, const leat_export_file *file, char sha256[65],
                              leat_error *err) {
    static const char *const metadata[] = {"format", "pt"};
    const leat_exporting *of = &self->of;
    const size_t skip = strlen(file->prefix);
    char path[LEAT_PATH_BYTES];
    leat_weight_row *rows = NULL;
    leat_model_tensor tensor;
    int count = 0;
    LEAT_TRY(leat_path_join(path, sizeof path, self->dir, file->name, err));
    LEAT_TRY(LEAT_NEW(&rows, leat_model_tensor_count(of->model), err));
    for (int i = 0; leat_model_tensor_at(of->model, i, &tensor); i++) {
        if (strncmp(tensor.name, file->prefix, skip) != 0) continue;
        leat_weight_row *row = &rows[count++];
        snprintf(row->name, sizeof row->name, "%s", tensor.name + skip);
        row->rank = tensor.rank;
        memcpy(row->shape, tensor.shape, sizeof row->shape);
        row->values = (tensor.running ? self->running : self->parameters) + tensor.offset;
        row->count = tensor.count;
    }
    const leat_weight_file weights = {rows, count, metadata, 1};
    const leat_code code = leat_weight_file_save(path, &weights, sha256, err);
    leat_free(rows);
    self->tensors += count;
    return code;
}

/* ---- Documents ------------------------------------------------------------------------------ */

/* What the weights follow from, and their hashes. */
static void put_training(const exporting *self, const leat_run_ledger *ledger, leat_json *json) {
    const leat_run *run = self->of.run;
    const leat_export_file *file = self->class->files;
    char member[64];
    leat_json_begin_object(json);
    leat_json_member_int(json, "step", self->of.checkpoint->step);
    leat_json_member_string(json, "state", self->of.checkpoint->state);
    for (int i = 0; file[i].name != NULL; i++)
        leat_json_member_string(json, hash_member(&file[i], member), self->sha256[i]);
    leat_json_member_string(json, "run", run->identity.run);
    leat_json_member_string(json, LEAT_EXPORT_DATA, run->identity.data);
    leat_json_member_int(json, run->task->feed->many, run->identity.samples);
    leat_json_member_string(json, "kernel_class", run->identity.kernel_class);
    if (ledger->lines > 0) leat_json_member_string(json, "ledger", ledger->head);
    if (run->identity.init[0] != 0) leat_json_member_string(json, "init", run->identity.init);
    const char *name;
    json_t *value;
    json_object_foreach(run->settings, name, value)
        leat_json_member_string(json, name, json_string_value(value));
    leat_json_end_object(json);
}

static leat_code save_config(const exporting *self, leat_error *err) {
    const leat_run *run = self->of.run;
    const leat_export_file *file = self->class->files;
    char path[LEAT_PATH_BYTES];
    leat_json *json = NULL;
    leat_run_ledger ledger;
    LEAT_TRY(leat_path_join(path, sizeof path, self->dir, LEAT_EXPORT_CONFIG, err));
    LEAT_TRY(leat_run_ledger_load(run, &ledger, err));
    LEAT_TRY(leat_json_create(&json, false, err));
    leat_json_begin_object(json);
    leat_json_member_string(json, LEAT_EXPORT_MODEL, run->identity.model);
    if (self->class->config != NULL) self->class->config(&self->of, json);
    leat_json_member_int(json, LEAT_EXPORT_MICRO_BATCH, run->options.run.micro_batch);
    for (int i = 0; file[i].name != NULL; i++)
        leat_json_member_string(json, file[i].member, file[i].name);
    leat_json_member_string(json, "leat_version", leat_version());
    leat_json_key(json, LEAT_EXPORT_TRAINING);
    put_training(self, &ledger, json);
    leat_json_end_object(json);
    return leat_json_save(json, path, err);
}

/* For a model that has no words of its own. */
static leat_code put_plain(const exporting *self, leat_buf *text, leat_error *err) {
    const leat_run *run = self->of.run;
    const leat_export_file *file = self->class->files;
    LEAT_TRY(leat_buf_printf(
        text, err, "---\n\n# %s\n\nAfter step %lld of a run of leat %s:", run->identity.model,
        (long long)self->of.checkpoint->step, run->version));
    for (int i = 0; file[i].name != NULL; i++)
        LEAT_TRY(leat_buf_printf(text, err, "%s `%s`", i > 0 ? "," : "", file[i].name));
    LEAT_TRY(leat_buf_printf(text, err,
                             ".\n\n| | |\n|---|---|\n| %s of the data set | %lld |\n"
                             "| fingerprint of the data set | `%s` |\n",
                             run->task->feed->many, (long long)run->identity.samples,
                             run->identity.data));
    const char *name;
    json_t *value;
    json_object_foreach(run->settings, name, value)
        LEAT_TRY(leat_buf_printf(text, err, "| %s | %s |\n", name, json_string_value(value)));
    return LEAT_OK;
}

static leat_code put_card(const exporting *self, leat_buf *text, leat_error *err) {
    const leat_export_class *class = self->class;
    const leat_run *run = self->of.run;
    LEAT_TRY(leat_buf_printf(text, err, LEAT_MARK_CARD_BEGINS "tags:\n- leat\n- %s\n",
                             run->identity.model));
    LEAT_TRY(class->card != NULL ? class->card(&self->of, text, err) : put_plain(self, text, err));
    if (run->identity.init[0] != 0)
        LEAT_TRY(leat_buf_printf(text, err, "| hash of the initial weights | `%s` |\n",
                                 run->identity.init));
    LEAT_TRY(leat_buf_printf(text, err,
                             "| hash of the state | `%s` |\n| hash of the run | `%s` |\n",
                             self->of.checkpoint->state, run->identity.run));
    LEAT_TRY(
        leat_buf_printf(text, err,
                        "\nThe state is a function of the data set, the settings and the step: "
                        "leat gives the same bytes on any machine.\n"));
    return class->card_end != NULL ? class->card_end(&self->of, text, err) : LEAT_OK;
}

static leat_code save_card(const exporting *self, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_buf text = {0};
    LEAT_TRY(leat_path_join(path, sizeof path, self->dir, CARD, err));
    leat_code code = put_card(self, &text, err);
    if (code == LEAT_OK) code = leat_file_save(path, text.data, text.size, err);
    leat_buf_free(&text);
    return code;
}

static leat_code save_extra(const exporting *self, leat_error *err) {
    const leat_export_extra *extra = &self->class->extra;
    char path[LEAT_PATH_BYTES];
    if (extra->name == NULL) return LEAT_OK;
    LEAT_TRY(leat_path_join(path, sizeof path, self->dir, extra->name, err));
    return extra->save(&self->of, path, err);
}

/* ---- The folder ----------------------------------------------------------------------------- */

/* File number `index` of an export; NULL: there are fewer. */
static const char *file_at(const leat_export_class *class, int index) {
    for (const leat_export_file *file = class->files; file->name != NULL; file++)
        if (index-- == 0) return file->name;
    const char *const rest[] = {LEAT_EXPORT_CONFIG, CARD, class->extra.name};
    return index < 3 ? rest[index] : NULL;
}

/* Where an export goes. */
typedef struct target {
    char path[LEAT_PATH_BYTES]; /* without links */
    bool exists;
    const char *taken; /* the first of our files that it has; NULL: none */
} target;

static leat_code find_folder(const leat_export_class *class, const char *dir, target *out,
                             leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    const char *name;
    out->taken = NULL;
    LEAT_TRY(leat_path_trim(dir, out->path, err));
    LEAT_TRY(leat_path_stat(out->path, &facts, err));
    out->exists = facts.kind != LEAT_PATH_NONE;
    if (!out->exists) return LEAT_OK;
    if (facts.kind != LEAT_PATH_DIR)
        return leat_fail(err, LEAT_ERR_EXISTS, "\"%.300s\" is not a folder", out->path);
    LEAT_TRY(leat_path_real(dir, out->path, err));
    for (int i = 0; out->taken == NULL && (name = file_at(class, i)) != NULL; i++) {
        LEAT_TRY(leat_path_join(path, sizeof path, out->path, name, err));
        LEAT_TRY(leat_path_stat(path, &facts, err));
        if (facts.kind != LEAT_PATH_NONE) out->taken = name;
    }
    return LEAT_OK;
}

static leat_code set_running(exporting *self, const float *running, leat_error *err) {
    const leat_exporting *of = &self->of;
    const int64_t count = of->model->sizes.running;
    LEAT_TRY(LEAT_NEW(&self->running, count, err));
    memcpy(self->running, running, (size_t)count * sizeof(float));
    self->of.running = self->running;
    if (self->class->running == NULL) return LEAT_OK;
    return self->class->running(of->model, of->parameters, self->running, err);
}

static leat_code save_all(exporting *self, leat_error *err) {
    const leat_export_file *file = self->class->files;
    LEAT_TRY(leat_path_make_dir(self->dir, err));
    LEAT_TRY(save_extra(self, err));
    for (int i = 0; file[i].name != NULL; i++)
        LEAT_TRY(save_weights(self, &file[i], self->sha256[i], err));
    const int tensors = leat_model_tensor_count(self->of.model);
    LEAT_ASSERT(self->tensors == tensors); /* each is in one file */
    LEAT_TRY(save_config(self, err));
    return save_card(self, err);
}

/* To a name that was free when the export began, and still is. */
static leat_code move_new(const char *from, const char *to, leat_error *err) {
    return leat_own_rename(from, to, LEAT_MARK_NONE, err);
}

/* Writes all files to a new folder beside it, and moves them there once they are complete. */
static leat_code publish(exporting *self, const target *to, bool replace, leat_error *err) {
    char draft[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_draft(draft, to->path, err));
    self->dir = draft;
    leat_code code = save_all(self, err);
    if (code == LEAT_OK)
        code = !to->exists ? leat_path_move_dir(draft, to->path, err)
               : replace   ? leat_path_move_files(draft, to->path, CARD, err)
                           : leat_path_move_files_by(move_new, draft, to->path, CARD, err);
    if (leat_path_remove_tree(draft, NULL) != LEAT_OK) {
        /* the files are there, or the first error counts */
    }
    return code;
}

/* The state of a trainer, which is that of a checkpoint of the run. */
static leat_code export_it(const leat_run *run, const leat_checkpoint *checkpoint,
                           leat_trainer *trainer, const target *to, bool replace, leat_error *err) {
    const leat_train_state *state = leat_trainer_state(trainer);
    exporting self = {.of = {.run = run,
                             .checkpoint = checkpoint,
                             .model = leat_trainer_model(trainer),
                             .parameters = state->parameters},
                      .class = run->task->exports,
                      .parameters = state->parameters};
    leat_code code = set_running(&self, state->running, err);
    if (code == LEAT_OK) code = publish(&self, to, replace, err);
    leat_free(self.running);
    return code;
}

/* ---- What is there already ------------------------------------------------------------------ */

static leat_code load_config(const char *dir, json_t **root, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    leat_path_facts facts;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, LEAT_EXPORT_CONFIG, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE) return LEAT_OK;
    LEAT_TRY(leat_file_load(path, CONFIG_BYTES_MAX, &text, &size, err));
    const leat_code code = leat_json_parse((const char *)text, size, path, root, err);
    leat_free(text);
    return code;
}

leat_code leat_export_load_config(const char *dir, bool tolerant, json_t **root, leat_error *err) {
    leat_error why = {0};
    *root = NULL;
    const leat_code code = load_config(dir, root, &why);
    if (tolerant && (code == LEAT_ERR_CORRUPT || code == LEAT_ERR_INPUT || code == LEAT_ERR_LIMIT))
        return LEAT_OK; /* somebody else's */
    return leat_error_copy(err, &why);
}

const char *leat_export_config_model(const json_t *root) {
    if (!json_is_string(json_object_get(root, "leat_version"))) return NULL;
    return json_string_value(json_object_get(root, LEAT_EXPORT_MODEL));
}

static bool says(const json_t *root, const char *name, const char *value) {
    const json_t *training = json_object_get(root, LEAT_EXPORT_TRAINING);
    const char *found = json_string_value(json_object_get(training, name));
    return found != NULL && strcmp(found, value) == 0;
}

/* Weights, by their hash in config.json. */
static leat_code check_weights(const json_t *root, const char *member, const char *path,
                               leat_error *err) {
    leat_path_facts facts;
    uint8_t digest[32];
    char hex[65];
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return LEAT_OK;
    if (facts.kind == LEAT_PATH_FILE) {
        LEAT_TRY(leat_file_sha256(path, digest, err));
        leat_sha256_hex(digest, hex);
        if (says(root, member, hex)) return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_EXISTS, "\"%.300s\" is not what config.json says", path);
}

/* Whether the file `path` of an export is leat's still: weights by `member`, others by `mark`. */
static leat_code check_file(const json_t *root, const char *member, leat_mark mark,
                            const char *path, leat_error *err) {
    leat_error why = {0};
    const leat_code code =
        member != NULL ? check_weights(root, member, path, &why) : leat_own_check(path, mark, &why);
    if (code == LEAT_ERR_EXISTS)
        return leat_fail(err, LEAT_ERR_EXISTS,
                         "--export: \"%.300s\" is not recognised as a file that leat wrote; "
                         "use another folder, or --replace to overwrite it",
                         path);
    return code == LEAT_OK ? LEAT_OK : leat_error_copy(err, &why);
}

/* Whether the files of an export of this run are leat's still; config.json is. */
static leat_code check_own(const leat_export_class *class, const char *dir, const json_t *root,
                           leat_error *err) {
    const leat_export_extra others[] = {class->extra, {.name = CARD, .mark = LEAT_MARK_CARD}};
    char path[LEAT_PATH_BYTES], member[64];
    for (const leat_export_file *file = class->files; file->name != NULL; file++) {
        LEAT_TRY(leat_path_join(path, sizeof path, dir, file->name, err));
        LEAT_TRY(check_file(root, hash_member(file, member), LEAT_MARK_NONE, path, err));
    }
    for (int i = 0; i < 2; i++) {
        if (others[i].name == NULL) continue;
        LEAT_TRY(leat_path_join(path, sizeof path, dir, others[i].name, err));
        LEAT_TRY(check_file(root, NULL, others[i].mark, path, err));
    }
    return LEAT_OK;
}

leat_code leat_export_check(const leat_task *task, const char *dir, const char run[65],
                            bool replace, leat_error *err) {
    const leat_export_class *class = NULL;
    target to;
    json_t *root = NULL;
    LEAT_TRY(find_class(task, &class, err));
    LEAT_TRY(find_folder(class, dir, &to, err));
    if (to.taken == NULL || replace) return LEAT_OK;
    LEAT_TRY(leat_export_load_config(to.path, true, &root, err));
    const leat_code code =
        says(root, "run", run)
            ? check_own(class, to.path, root, err)
            : leat_fail(err, LEAT_ERR_EXISTS,
                        "--export: \"%.300s\" has a file \"%s\" and is not an export of this "
                        "run; use another folder, or --replace to overwrite the files of that "
                        "export",
                        to.path, to.taken);
    json_decref(root);
    return code;
}

/* ---- Exported ------------------------------------------------------------------------------- */

static leat_code export_state(const leat_run *run, leat_trainer *trainer, const char *dir,
                              bool replace, leat_error *err) {
    const int64_t step = leat_trainer_state(trainer)->step;
    const leat_checkpoint *of = leat_checkpoints_find(&run->checkpoints, step);
    const leat_export_class *class = NULL;
    target to;
    LEAT_TRY(find_class(run->task, &class, err));
    LEAT_TRY(find_folder(class, dir, &to, err));
    /* another run's since this one began? */
    if (to.taken != NULL)
        LEAT_TRY(leat_export_check(run->task, dir, run->identity.run, replace, err));
    if (of == NULL)
        return leat_fail(err, LEAT_ERR_NOT_FOUND, "there is no checkpoint of step %lld",
                         (long long)step);
    return export_it(run, of, trainer, &to, to.taken != NULL, err);
}

leat_code leat_export_state(const char *path, leat_trainer *trainer, const char *dir, bool replace,
                            leat_error *err) {
    leat_run *run = NULL;
    LEAT_TRY(leat_run_open(&run, path, err));
    const leat_code code = export_state(run, trainer, dir, replace, err);
    leat_run_close(run);
    return code;
}

static leat_code export_step(const leat_run *run, int64_t step, const char *dir, bool replace,
                             leat_error *err) {
    const leat_checkpoint *of = NULL;
    const leat_export_class *class = NULL;
    leat_trainer *trainer = NULL;
    target to;
    LEAT_TRY(find_class(run->task, &class, err));
    LEAT_TRY(find_folder(class, dir, &to, err));
    if (to.taken != NULL && !replace)
        return leat_fail(err, LEAT_ERR_EXISTS,
                         "\"%.300s\" has a file \"%s\"; use --replace to overwrite the files of "
                         "an earlier export, or another folder",
                         to.path, to.taken);
    LEAT_TRY(leat_run_load(run, step, leat_cpu_count(), NULL, &trainer, &of, err));
    const leat_code code = export_it(run, of, trainer, &to, replace, err);
    leat_trainer_destroy(trainer);
    return code;
}

leat_code leat_run_export(const char *path, int64_t step, const char *dir, bool replace,
                          leat_error *err) {
    leat_run *run = NULL;
    LEAT_TRY(leat_path_check_local(dir, err));
    LEAT_TRY(leat_run_open(&run, path, err));
    const leat_code code = export_step(run, step, dir, replace, err);
    leat_run_close(run);
    return code;
}
