/* See init.h. */
#include "train/init.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "train/checkpoint.h"
#include "train/export.h"
#include "train/folder.h"
#include "train/weights.h"

static int parameter_count(const leat_model *model) {
    leat_model_tensor tensor;
    int count = 0;
    while (leat_model_tensor_at(model, count, &tensor) && !tensor.running) count++;
    return count;
}

static leat_code read_file(const char *path, const char *prefix, leat_trainer *trainer, int *found,
                           leat_error *err) {
    int here = 0;
    LEAT_TRY(leat_weights_read(path, prefix, leat_trainer_model(trainer),
                               leat_trainer_state(trainer), &here, err));
    *found += here;
    return LEAT_OK;
}

static leat_code read_in(const char *dir, const char *name, const char *prefix,
                         leat_trainer *trainer, int *found, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, name, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    return facts.kind == LEAT_PATH_FILE ? read_file(path, prefix, trainer, found, err) : LEAT_OK;
}

/* The last checkpoint of a run. */
static leat_code read_run(const leat_run_folder *folder, leat_trainer *trainer, int *found,
                          leat_error *err) {
    char path[LEAT_PATH_BYTES], version[LEAT_RUN_VERSION_BYTES];
    leat_identity identity;
    leat_run_options options;
    json_t *settings = NULL;
    leat_checkpoints list;
    LEAT_TRY(leat_training_load(folder, &identity, &options, &settings, version, err));
    json_decref(settings);
    LEAT_TRY(leat_checkpoints_list(&list, folder->checkpoints, identity.run, false, err));
    const leat_checkpoint *last = leat_checkpoints_find(&list, -1);
    leat_code code = LEAT_OK;
    if (last == NULL)
        code = leat_fail(err, LEAT_ERR_INPUT, "run \"%.300s\" has no checkpoint", folder->path);
    else code = leat_checkpoint_path(folder->checkpoints, last->step, path, err);
    leat_checkpoints_free(&list);
    return code == LEAT_OK ? read_file(path, "", trainer, found, err) : code;
}

static leat_code read_any(const char *path, leat_trainer *trainer, int *found, leat_error *err) {
    leat_path_facts facts;
    leat_run_folder folder;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind == LEAT_PATH_FILE) return read_file(path, "", trainer, found, err);
    if (facts.kind != LEAT_PATH_DIR)
        return leat_fail(err, LEAT_ERR_NOT_FOUND,
                         "\"%.300s\" is not a run, an exported folder or a safetensors file", path);
    LEAT_TRY(leat_run_folder_look(&folder, path, err));
    if (leat_run_is_at(path)) return read_run(&folder, trainer, found, err);
    LEAT_TRY(read_in(path, LEAT_EXPORT_G, "G.", trainer, found, err));
    return read_in(path, LEAT_EXPORT_D, "D.", trainer, found, err);
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

leat_code leat_init_load(const char *path, leat_trainer *trainer, char sha256[65],
                         leat_error *err) {
    const int wanted = parameter_count(leat_trainer_model(trainer));
    int found = 0;
    sha256[0] = 0;
    leat_code code = read_any(path, trainer, &found, err);
    if (code == LEAT_ERR_INPUT)
        return leat_error_context(err, code,
                                  "initial weights (their width or latent size may differ from "
                                  "--width or --latent)");
    LEAT_TRY(code);
    if (found != wanted)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "initial weights \"%.300s\": contains only %d of %d parameters; both "
                         "networks are required, named as in a checkpoint (\"G.main.0.weight\")",
                         path, found, wanted);
    hash_weights(trainer, sha256);
    return LEAT_OK;
}
