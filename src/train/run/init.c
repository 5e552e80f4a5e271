/* See init.h. */
#include "train/run/init.h"

#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "train/run/checkpoint.h"
#include "train/run/task.h"
#include "train/step/weights.h"

static int parameter_count(const leat_model *model) {
    leat_model_tensor tensor;
    int count = 0;
    while (leat_model_tensor_at(model, count, &tensor) && !tensor.running) count++;
    return count;
}

typedef struct reading {
    const leat_task *task;
    leat_trainer *trainer;
    bool *found; /* of each parameter */
} reading;

static leat_code read_file(reading *self, const char *path, const char *prefix, leat_error *err) {
    const leat_export_class *class = self->task->exports;
    const leat_weight_names names = {prefix, class != NULL ? class->extras : NULL};
    const leat_code code = leat_weights_read(path, &names, leat_trainer_model(self->trainer),
                                             leat_trainer_state(self->trainer), self->found, err);
    if (code != LEAT_ERR_INPUT) return code;
    if (class == NULL || class->misfit == NULL)
        return leat_error_context(err, code, "initial weights");
    return leat_error_context(err, code, "initial weights (%s)", class->misfit);
}

static leat_code refuse_model(const reading *self, const char *path, const char *what,
                              const char *model, leat_error *err) {
    return leat_fail(
        err, LEAT_ERR_INPUT,
        "initial weights \"%.300s\": %s of the model \"%.40s\", but this one is \"%s\"", path, what,
        model, self->task->model->name);
}

/* The last checkpoint of a run. */
static leat_code read_run(reading *self, const leat_run_folder *folder, leat_error *err) {
    char path[LEAT_PATH_BYTES], version[LEAT_RUN_VERSION_BYTES];
    leat_identity identity;
    leat_run_options options;
    json_t *settings = NULL;
    leat_checkpoints list;
    LEAT_TRY(leat_training_load(folder, &identity, &options, &settings, version, err));
    json_decref(settings);
    if (options.task != self->task)
        return refuse_model(self, folder->path, "a run", identity.model, err);
    LEAT_TRY(
        leat_checkpoints_list(&list, self->task, folder->checkpoints, identity.run, false, err));
    const leat_checkpoint *last = leat_checkpoints_find(&list, -1);
    leat_code code = LEAT_OK;
    if (last == NULL)
        code = leat_fail(err, LEAT_ERR_INPUT, "run \"%.300s\" has no checkpoint", folder->path);
    else code = leat_checkpoint_path(folder->checkpoints, last->step, path, err);
    leat_checkpoints_free(&list);
    return code == LEAT_OK ? read_file(self, path, "", err) : code;
}

/* A folder that leat exported, of this model, or that has files with the same names. */
static leat_code read_export(reading *self, const char *dir, leat_error *err) {
    const leat_export_class *class = self->task->exports;
    json_t *config = NULL;
    LEAT_TRY(leat_export_load_config(dir, true, &config, err));
    const char *model = leat_export_config_model(config);
    leat_code code = LEAT_OK;
    if (model != NULL && strcmp(model, self->task->model->name) != 0)
        code = refuse_model(self, dir, "an export", model, err);
    json_decref(config);
    const leat_export_file *file = class != NULL ? class->files : NULL;
    for (; code == LEAT_OK && file != NULL && file->name != NULL; file++) {
        char path[LEAT_PATH_BYTES];
        leat_path_facts facts;
        LEAT_TRY(leat_path_join(path, sizeof path, dir, file->name, err));
        LEAT_TRY(leat_path_stat(path, &facts, err));
        if (facts.kind == LEAT_PATH_FILE) code = read_file(self, path, file->prefix, err);
    }
    return code;
}

static leat_code read_any(reading *self, const char *path, leat_error *err) {
    leat_path_facts facts;
    leat_run_folder folder;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_FILE) return read_file(self, path, "", err);
    if (facts.kind != LEAT_PATH_DIR)
        return leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "\"%.300s\" is not a run, an exported folder or a safetensors file", path);
    LEAT_TRY(leat_run_folder_look(&folder, path, err));
    return leat_run_is_at(path) ? read_run(self, &folder, err) : read_export(self, path, err);
}

static void hash_weights(leat_trainer *trainer, char sha256[65]) {
    const leat_model_sizes sizes = leat_trainer_model(trainer)->sizes;
    const leat_train_state *state = leat_trainer_state(trainer);
    const struct {
        const float *values;
        int64_t count;
    } parts[] = {{state->parameters, sizes.parameters}, {state->running, sizes.running}};
    uint8_t bytes[4096], digest[32];
    leat_sha256 sha;
    leat_sha256_init(&sha);
    for (int p = 0; p < 2; p++) {
        for (int64_t first = 0; first < parts[p].count; first += 1024) {
            const int64_t left = parts[p].count - first, some = left < 1024 ? left : 1024;
            leat_codec_encode(LEAT_CODEC_F32, 0, parts[p].values + first, some, bytes);
            leat_sha256_update(&sha, bytes, 4 * some);
        }
    }
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, sha256);
}

/* "both networks are required, named as in a checkpoint ("G.main.0.weight"); "G.main.1.bias" is
 * missing" */
static leat_code refuse_count(const reading *self, const char *path, int found, int wanted,
                              leat_error *err) {
    const leat_export_class *class = self->task->exports;
    const leat_model *model = leat_trainer_model(self->trainer);
    leat_model_tensor first, missing;
    int at = 0;
    while (self->found[at]) at++;
    const bool there =
        leat_model_tensor_at(model, 0, &first) && leat_model_tensor_at(model, at, &missing);
    LEAT_ASSERT(there);
    return leat_fail(err, LEAT_ERR_INPUT,
                     "initial weights \"%.200s\": contains only %d of %d parameters; %s "
                     "are required, named as in a checkpoint (\"%s\"); \"%s\" is missing",
                     path, found, wanted,
                     class != NULL && class->needed != NULL ? class->needed : "all", first.name,
                     missing.name);
}

static leat_code load(reading *self, const char *path, leat_error *err) {
    const int wanted = parameter_count(leat_trainer_model(self->trainer));
    int found = 0;
    LEAT_TRY(read_any(self, path, err));
    for (int i = 0; i < wanted; i++) found += self->found[i];
    return found == wanted ? LEAT_OK : refuse_count(self, path, found, wanted, err);
}

leat_code leat_init_load(const char *path, const leat_task *task, leat_trainer *trainer,
                         char sha256[65], leat_error *err) {
    reading self = {.task = task, .trainer = trainer};
    sha256[0] = 0;
    LEAT_TRY(LEAT_NEW(&self.found, parameter_count(leat_trainer_model(trainer)), err));
    const leat_code code = load(&self, path, err);
    leat_free(self.found);
    if (code == LEAT_OK) hash_weights(trainer, sha256);
    return code;
}
