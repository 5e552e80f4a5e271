/* See folder.h. */
#include "train/run/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "base/yaml.h"
#include "train/run/task.h"

#define LOCK_NAME ".leat.lock"
enum { TRAINING_BYTES_MAX = 1 << 20 };

/* ---- The folder ----------------------------------------------------------------------------- */

leat_code leat_run_folder_join(const leat_run_folder *folder, const char *name,
                               char path[LEAT_PATH_BYTES], leat_error *err) {
    return leat_path_join(path, LEAT_PATH_BYTES, folder->path, name, err);
}

leat_code leat_run_folder_look(leat_run_folder *folder, const char *path, leat_error *err) {
    *folder = (leat_run_folder){0};
    LEAT_TRY(leat_path_trim(path, folder->path, err));
    LEAT_TRY(leat_run_folder_join(folder, LEAT_RUN_CHECKPOINTS, folder->checkpoints, err));
    return leat_run_folder_join(folder, LEAT_RUN_SAMPLES, folder->samples, err);
}

/* Whether a name may be there before training.json is, which is the first file of a run. */
static bool is_early(const char *name) {
    return strcmp(name, LOCK_NAME) == 0 || leat_path_is_draft(name);
}

static leat_code refuse_link(const char *dir, const char *name, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    bool link = false;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, name, err));
    LEAT_TRY(leat_path_is_link(path, &link, err));
    if (!link) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%.400s\" is a link, and training would write to its target: remove it, or "
                     "replace it by what it refers to",
                     path);
}

/* Links among the names of a folder that begin so. */
static leat_code refuse_links_in(const char *dir, const char *begin, leat_error *err) {
    leat_path_list names = {0};
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(dir, &facts, err));
    if (facts.kind == LEAT_PATH_NONE) return LEAT_OK;
    LEAT_TRY(leat_path_list_dir(dir, &names, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < names.count && code == LEAT_OK; i++)
        if (strncmp(names.paths[i], begin, strlen(begin)) == 0)
            code = refuse_link(dir, names.paths[i], err);
    leat_path_list_free(&names);
    return code;
}

/* A run folder may come from somebody else: nothing is written through its links. */
static leat_code refuse_links(const leat_run_folder *folder, leat_error *err) {
    static const char *const names[] = {LEAT_RUN_TRAINING, LEAT_RUN_CONFIG,      LEAT_RUN_METRICS,
                                        LEAT_RUN_LEDGER,   LEAT_RUN_REFERENCE,   LEAT_RUN_DETECTOR,
                                        LEAT_RUN_REPORT,   LEAT_RUN_CHECKPOINTS, LEAT_RUN_SAMPLES,
                                        LEAT_RUN_REWIND};
    char rewind[LEAT_PATH_BYTES];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        LEAT_TRY(refuse_link(folder->path, names[i], err));
    LEAT_TRY(refuse_links_in(folder->path, LEAT_RUN_CALIBRATION, err));
    LEAT_TRY(refuse_links_in(folder->checkpoints, "", err));
    LEAT_TRY(refuse_links_in(folder->samples, "", err));
    LEAT_TRY(leat_run_folder_join(folder, LEAT_RUN_REWIND, rewind, err));
    return refuse_links_in(rewind, "", err);
}

static leat_code judge(leat_run_folder *folder, bool resume, leat_error *err) {
    leat_path_list names = {0};
    const char *other = NULL;
    LEAT_TRY(leat_path_list_dir(folder->path, &names, err));
    folder->exists = false;
    for (int64_t i = 0; i < names.count; i++) {
        if (strcmp(names.paths[i], LEAT_RUN_TRAINING) == 0) folder->exists = true;
        else if (other == NULL && !is_early(names.paths[i])) other = names.paths[i];
    }
    leat_code code = LEAT_OK;
    if (folder->exists && !resume)
        code =
            leat_fail(err, LEAT_ERR_EXISTS,
                      "\"%.300s\" holds a run; train with --resume to continue it, or use another "
                      "folder",
                      folder->path);
    if (!folder->exists && other != NULL)
        code =
            leat_fail(err, LEAT_ERR_EXISTS,
                      "\"%.300s\" is not empty (\"%.100s\") and does not hold a run; use another "
                      "folder",
                      folder->path, other);
    leat_path_list_free(&names);
    return code;
}

static leat_code check_kind(leat_run_folder *folder, leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(folder->path, &facts, err));
    folder->created = facts.kind == LEAT_PATH_NONE;
    if (folder->created || facts.kind == LEAT_PATH_DIR) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_EXISTS, "\"%.300s\" is not a folder", folder->path);
}

leat_code leat_run_folder_check(const char *path, bool resume, leat_error *err) {
    leat_run_folder folder = {0};
    LEAT_TRY(leat_run_folder_look(&folder, path, err));
    LEAT_TRY(check_kind(&folder, err));
    return folder.created ? LEAT_OK : judge(&folder, resume, err);
}

/* A process that ends may remove the lock, or the folder, between two steps of this one. */
static leat_code take_lock(leat_run_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_run_folder_join(folder, LOCK_NAME, path, err));
    leat_code code = LEAT_ERR_NOT_FOUND;
    for (int i = 0; i < 20 && code == LEAT_ERR_NOT_FOUND; i++) {
        code = leat_path_make_dir(folder->path, err);
        if (code == LEAT_OK) code = leat_lock_try(&folder->lock, path, err);
    }
    if (code != LEAT_ERR_BUSY) return code;
    return leat_fail(err, code,
                     "another process trains in \"%.300s\"; wait until it ends, or stop it",
                     folder->path);
}

/* A folder that this run has created and in which nothing is. */
static void remove_empty(const leat_run_folder *folder) {
    if (folder->created && leat_path_remove_dir(folder->path, NULL) != LEAT_OK) {
        /* something is in it */
    }
}

static leat_code remove_drafts_in(const char *dir, leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(dir, &facts, err));
    return facts.kind == LEAT_PATH_DIR ? leat_path_remove_drafts(dir, err) : LEAT_OK;
}

leat_code leat_run_folder_open(leat_run_folder *folder, const char *path, bool resume,
                               leat_error *err) {
    LEAT_TRY(leat_run_folder_look(folder, path, err));
    LEAT_TRY(check_kind(folder, err));
    leat_code code = take_lock(folder, err);
    if (code != LEAT_OK) {
        remove_empty(folder);
        return code;
    }
    code = judge(folder, resume, err);
    if (code == LEAT_OK) code = refuse_links(folder, err);
    /* what a killed process was writing */
    if (code == LEAT_OK) code = leat_path_remove_drafts(folder->path, err);
    if (code == LEAT_OK) code = remove_drafts_in(folder->samples, err);
    if (code == LEAT_OK && folder->created) code = leat_path_sync_parent(folder->path, err);
    if (code != LEAT_OK) leat_run_folder_close(folder);
    return code;
}

void leat_run_folder_clear(const leat_run_folder *folder) {
    static const char *const files[] = {LEAT_RUN_TRAINING, LEAT_RUN_CONFIG,    LEAT_RUN_METRICS,
                                        LEAT_RUN_LEDGER,   LEAT_RUN_REFERENCE, LEAT_RUN_DETECTOR};
    if (folder->lock.file == NULL || folder->exists) return;
    LEAT_ASSERT(folder->path[0] != 0); /* what is removed is below it */
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[LEAT_PATH_BYTES];
        if (leat_run_folder_join(folder, files[i], path, NULL) == LEAT_OK) leat_path_discard(path);
    }
    if (leat_path_remove_tree(folder->checkpoints, NULL) != LEAT_OK ||
        leat_path_remove_tree(folder->samples, NULL) != LEAT_OK) {
        /* what is left has no training.json: it is no run */
    }
}

void leat_run_folder_close(leat_run_folder *folder) {
    if (folder->lock.file == NULL) return;
    leat_lock_release(&folder->lock);
    remove_empty(folder);
}

/* ---- config.yaml ---------------------------------------------------------------------------- */

/* Whether a setting is left out: of the two ends of a run, the one that is not set. */
static bool is_unset(const leat_setting *row, const leat_run_options *options) {
    if (strcmp(row->name, "steps") == 0) return options->run.steps == 0;
    return strcmp(row->name, "epochs") == 0 && options->run.epochs == 0;
}

/* Whether a setting is kept with the run. */
static bool is_kept(const leat_setting *row, const leat_run_options *options) {
    return leat_identity_keeps(row) && !is_unset(row, options);
}

static leat_code put_yaml(leat_buf *text, const leat_setting *row, const char *value,
                          leat_error *err) {
    char real[LEAT_REPR_BYTES];
    if (row->kind == LEAT_SETTING_REAL) {
        leat_double_repr(leat_double_parse(value), real);
        value = real;
    }
    return leat_buf_printf(text, err, "%s: %s\n", row->name, value);
}

/* The initial weights, as a YAML text in single quotes. Without this line, --config would begin
 * another run in silence. */
static leat_code put_init(leat_buf *text, const leat_identity *identity, leat_error *err) {
    if (identity->init[0] == 0) return LEAT_OK;
    LEAT_TRY(leat_buf_printf(text, err, "# hash of these weights: %s\ninit: '", identity->init));
    for (const char *at = identity->init_path; *at != 0; at++)
        LEAT_TRY(leat_buf_append(text, *at == '\'' ? "''" : at, *at == '\'' ? 2 : 1, err));
    return leat_buf_printf(text, err, "'\n");
}

static leat_code save_config(const leat_run_folder *folder, const leat_identity *identity,
                             const leat_run_options *options, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_buf text = {0};
    leat_run_option option;
    leat_code code = leat_buf_printf(
        &text, err, "# settings of this run, for leat train %s --config\n", identity->model);
    if (code == LEAT_OK) code = put_init(&text, identity, err);
    for (int i = 0; code == LEAT_OK && leat_run_option_at(options, i, &option); i++) {
        char value[LEAT_SETTING_BYTES];
        if (is_kept(option.row, options))
            code = put_yaml(&text, option.row, leat_run_option_get(&option, value), err);
    }
    if (code == LEAT_OK) code = leat_run_folder_join(folder, LEAT_RUN_CONFIG, path, err);
    if (code == LEAT_OK) code = leat_file_save(path, text.data, text.size, err);
    leat_buf_free(&text);
    return code;
}

/* ---- Kept of a step ------------------------------------------------------------------------- */

enum { KEPT_NAME_BYTES = 64 };

static void kept_name(const char *ending, int64_t step, char name[KEPT_NAME_BYTES]) {
    snprintf(name, KEPT_NAME_BYTES, "step-%09lld%s", (long long)step, ending);
}

leat_code leat_run_kept_path(const leat_run_folder *folder, const char *ending, int64_t step,
                             char path[LEAT_PATH_BYTES], leat_error *err) {
    char name[KEPT_NAME_BYTES];
    kept_name(ending, step, name);
    return leat_path_join(path, LEAT_PATH_BYTES, folder->samples, name, err);
}

int64_t leat_run_kept_step(const char *name, const char *ending) {
    char same[KEPT_NAME_BYTES];
    if (ending == NULL || strncmp(name, "step-", 5) != 0) return -1;
    const int64_t step = strtoll(name + 5, NULL, 10);
    kept_name(ending, step, same);
    return strcmp(name, same) == 0 ? step : -1;
}

/* ---- training.json -------------------------------------------------------------------------- */

static void put_settings(leat_json *json, const leat_run_options *options) {
    leat_run_option option;
    leat_json_begin_object(json);
    for (int i = 0; leat_run_option_at(options, i, &option); i++) {
        char value[LEAT_SETTING_BYTES];
        if (is_kept(option.row, options))
            leat_json_member_string(json, option.row->name, leat_run_option_get(&option, value));
    }
    leat_json_end_object(json);
}

static void put_training(leat_json *json, const leat_identity *identity,
                         const leat_run_options *options, const char *version) {
    leat_json_begin_object(json);
    leat_json_member_string(json, "format", "leat.run");
    leat_json_member_int(json, "version", 1);
    leat_json_member_string(json, "leat", version);
    leat_json_member_string(json, "run", identity->run);
    leat_json_member_string(json, "model", identity->model);
    leat_json_member_string(json, "model_hash", identity->model_hash);
    leat_json_member_string(json, "data", identity->data);
    leat_json_member_int(json, options->task->feed->many, identity->samples);
    leat_json_member_string(json, "kernel_class", identity->kernel_class);
    leat_json_member_string(json, "init", identity->init);
    if (identity->init_path[0] != 0)
        leat_json_member_string(json, "init_path", identity->init_path);
    leat_json_key(json, "settings");
    put_settings(json, options);
    leat_json_end_object(json);
}

leat_code leat_training_save(const leat_run_folder *folder, const leat_identity *identity,
                             const leat_run_options *options, const char *version,
                             leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_json *json = NULL;
    LEAT_ASSERT(identity->run[0] != 0); /* a reader compares this hash with the rest */
    LEAT_TRY(leat_run_folder_join(folder, LEAT_RUN_TRAINING, path, err));
    LEAT_TRY(leat_json_create(&json, false, err));
    put_training(json, identity, options, version);
    LEAT_TRY(leat_json_save(json, path, err));
    LEAT_TRY(save_config(folder, identity, options, err));
    LEAT_TRY(leat_path_make_dir(folder->checkpoints, err));
    if (leat_task_kept(options->task) != NULL) LEAT_TRY(leat_path_make_dir(folder->samples, err));
    return leat_path_sync_dir(folder->path, err);
}

/* What a run says of itself goes to terminals and model cards, so it must be plain. */
static bool is_plain(const char *text) {
    for (; *text != 0; text++)
        if (*text < ' ' || *text > '~') return false;
    return true;
}

static leat_code get_word(const json_t *root, const char *key, char *out, size_t size,
                          const char *path, leat_error *err) {
    const char *text = NULL;
    LEAT_TRY(leat_json_get_string(root, key, &text, path, err));
    if (strlen(text) >= size)
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: \"%s\" is too long", path, key);
    if (!is_plain(text))
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: \"%s\" is not printable ASCII", path, key);
    memcpy(out, text, strlen(text) + 1);
    return LEAT_OK;
}

static leat_code get_init_path(const json_t *root, leat_identity *of, const char *path,
                               leat_error *err) {
    const char *text = NULL;
    of->init_path[0] = 0;
    if (json_object_get(root, "init_path") == NULL) return LEAT_OK;
    LEAT_TRY(leat_json_get_string(root, "init_path", &text, path, err));
    if (strlen(text) >= sizeof of->init_path)
        return leat_fail(err, LEAT_ERR_CORRUPT, "%s: \"init_path\" is too long", path);
    memcpy(of->init_path, text, strlen(text) + 1);
    return LEAT_OK;
}

static leat_code parse_identity(const json_t *root, leat_identity *of, const char *path,
                                leat_error *err) {
    int64_t version = 0;
    LEAT_TRY(leat_json_expect_string(root, "format", "leat.run", path, err));
    LEAT_TRY(leat_json_get_int(root, "version", 1, 1, &version, path, err));
    LEAT_TRY(get_word(root, "run", of->run, sizeof of->run, path, err));
    LEAT_TRY(get_word(root, "model", of->model, sizeof of->model, path, err));
    LEAT_TRY(get_word(root, "model_hash", of->model_hash, sizeof of->model_hash, path, err));
    LEAT_TRY(get_word(root, "data", of->data, sizeof of->data, path, err));
    LEAT_TRY(get_word(root, "kernel_class", of->kernel_class, sizeof of->kernel_class, path, err));
    LEAT_TRY(get_word(root, "init", of->init, sizeof of->init, path, err));
    return get_init_path(root, of, path, err);
}

static leat_code parse_settings(const json_t *settings, const char *model,
                                leat_run_options *options, leat_error *err) {
    const leat_train_options defaults = leat_train_options_default();
    const char *name;
    json_t *value;
    LEAT_TRY(leat_run_options_take(options, model, &defaults, err));
    json_object_foreach((json_t *)(uintptr_t)settings, name, value) {
        void *of = NULL;
        const leat_setting *row = leat_run_option_find(options, name, &of);
        if (row == NULL || !leat_identity_keeps(row) || !json_is_string(value))
            return leat_fail(err, LEAT_ERR_CORRUPT, "unknown setting \"%.60s\"", name);
        LEAT_TRY(leat_setting_set(row, of, json_string_value(value), err));
    }
    return LEAT_OK;
}

static leat_code parse(const json_t *root, leat_identity *identity, leat_run_options *options,
                       const char *path, leat_error *err) {
    const json_t *settings = NULL;
    const leat_task *task = NULL;
    leat_identity same;
    LEAT_TRY(parse_identity(root, identity, path, err));
    if (leat_train_settings_table(identity->model) == NULL)
        return leat_fail(
            err, LEAT_ERR_UNSUPPORTED,
            "\"%.300s\" is of a run of the model \"%s\", which this version of leat does "
            "not have; use the version that began it, or a newer one",
            path, identity->model);
    LEAT_TRY(leat_task_find(identity->model, &task, err));
    LEAT_TRY(
        leat_json_get_int(root, task->feed->many, 0, INT64_MAX, &identity->samples, path, err));
    LEAT_TRY(leat_json_get_object(root, "settings", &settings, path, err));
    LEAT_TRY(parse_settings(settings, identity->model, options, err));
    same = *identity;
    LEAT_TRY(leat_identity_hash(&same, options, err));
    if (strcmp(same.run, identity->run) == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "\"run\" does not match the hash of the rest");
}

leat_code leat_training_load(const leat_run_folder *folder, leat_identity *identity,
                             leat_run_options *options, json_t **settings,
                             char version[LEAT_RUN_VERSION_BYTES], leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    json_t *root = NULL;
    leat_error why = {0};
    memset(identity, 0, sizeof *identity);
    *settings = NULL;
    version[0] = 0;
    LEAT_TRY(leat_run_folder_join(folder, LEAT_RUN_TRAINING, path, err));
    leat_code code = leat_file_load(path, TRAINING_BYTES_MAX, &text, &size, &why);
    if (code == LEAT_ERR_NOT_FOUND)
        return leat_fail(err, code, "\"%.300s\" is not the folder of a run: it has no %s",
                         folder->path, LEAT_RUN_TRAINING);
    if (code != LEAT_OK) return leat_error_copy(err, &why);
    code = leat_json_parse((const char *)text, size, path, &root, &why);
    leat_free(text);
    if (code == LEAT_OK) code = parse(root, identity, options, path, &why);
    if (code == LEAT_OK) code = get_word(root, "leat", version, LEAT_RUN_VERSION_BYTES, path, &why);
    if (code == LEAT_OK) *settings = json_incref(json_object_get(root, "settings"));
    json_decref(root);
    if (code == LEAT_OK || code == LEAT_ERR_MEMORY || code == LEAT_ERR_UNSUPPORTED)
        return leat_error_copy(err, &why);
    return leat_fail(err, LEAT_ERR_CORRUPT, "\"%.200s\" is damaged: %.200s", path, why.message);
}

/* ---- settings alone ------------------------------------------------------------------------- */

leat_code leat_settings_write(const leat_run_options *options, leat_buf *out, leat_error *err) {
    leat_json *json = NULL;
    const char *text = NULL;
    int64_t size_bytes = 0;
    LEAT_TRY(leat_json_create(&json, true, err));
    put_settings(json, options);
    leat_code code = leat_json_finish(json, &text, &size_bytes, err);
    if (code == LEAT_OK) code = leat_buf_append(out, text, size_bytes + 1, err);
    leat_json_destroy(json);
    return code;
}

leat_code leat_settings_read(const char *text, const char *model, leat_run_options *options,
                             leat_error *err) {
    json_t *root = NULL;
    LEAT_TRY(leat_json_parse(text, (int64_t)strlen(text), "settings", &root, err));
    leat_code code = json_is_object(root)
                         ? parse_settings(root, model, options, err)
                         : leat_fail(err, LEAT_ERR_CORRUPT, "settings: not a JSON object");
    json_decref(root);
    return code;
}
