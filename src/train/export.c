/*
 * A run as a folder that other programs read: weights by PyTorch's names, with the running
 * statistics that make PyTorch's eval() give the images of `leat sample`; and back.
 */
#include "train/export.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/own.h"
#include "base/thread.h"
#include "leat/format.h"
#include "train/init.h"
#include "train/open.h"
#include "train/sampling.h"
#include "train/task.h"
#include "train/weights.h"

#define CONFIG "config.json"
#define CARD "README.md"
#define SAMPLES "samples.png"
#define CONFIG_BYTES_MAX (1 << 20)
/* A member of config.json: the images that were normalised together in training. Statistics are
 * means over such groups, so that an import without it has slightly different ones. */
#define MICRO_BATCH "micro_batch"

typedef struct exporting {
    const leat_run *run;
    const leat_checkpoint *checkpoint;
    leat_trainer *trainer;
    leat_model *model;
    const char *dir;
    float *running;     /* the state's, but G's recomputed */
    char sha256[2][65]; /* of the files of G and D */
    double deviation;
} exporting;

/* ---- Weights -------------------------------------------------------------------------------- */

static leat_code save_network(const exporting *self, const char *prefix, const char *name,
                              char sha256[65], leat_error *err) {
    static const char *const metadata[] = {"format", "pt"};
    const size_t skip = strlen(prefix);
    float *parameters = leat_trainer_state(self->trainer)->parameters;
    char path[LEAT_PATH_BYTES];
    leat_weight_row *rows = NULL;
    leat_model_tensor tensor;
    int count = 0;
    LEAT_TRY(leat_path_join(path, sizeof path, self->dir, name, err));
    LEAT_TRY(LEAT_NEW(&rows, leat_model_tensor_count(self->model), err));
    for (int i = 0; leat_model_tensor_at(self->model, i, &tensor); i++) {
        if (strncmp(tensor.name, prefix, skip) != 0) continue;
        leat_weight_row *row = &rows[count++];
        snprintf(row->name, sizeof row->name, "%s", tensor.name + skip);
        row->rank = tensor.rank;
        memcpy(row->shape, tensor.shape, sizeof row->shape);
        row->values = (tensor.running ? self->running : parameters) + tensor.offset;
        row->count = tensor.count;
    }
    const leat_weight_file file = {rows, count, metadata, 1};
    const leat_code code = leat_weight_file_save(path, &file, sha256, err);
    leat_free(rows);
    return code;
}

/* ---- Documents ------------------------------------------------------------------------------ */

static leat_code save_config(const exporting *self, leat_error *err) {
    const leat_run *run = self->run;
    const leat_dcgan_settings *settings = run->options.run.settings;
    char path[LEAT_PATH_BYTES];
    leat_json *json = NULL;
    leat_run_ledger ledger;
    LEAT_TRY(leat_path_join(path, sizeof path, self->dir, CONFIG, err));
    LEAT_TRY(leat_run_ledger_load(run, &ledger, err));
    LEAT_TRY(leat_json_create(&json, false, err));
    leat_json_begin_object(json);
    leat_json_member_string(json, "model_type", run->identity.model);
    leat_json_member_int(json, "image_size", LEAT_IMAGE_SIZE);
    leat_json_member_int(json, "channels", LEAT_IMAGE_COLORS);
    leat_json_member_int(json, "latent", settings->latent);
    leat_json_member_int(json, "width", settings->width);
    leat_json_member_int(json, MICRO_BATCH, run->options.run.micro_batch);
    leat_json_member_string(json, "generator", LEAT_EXPORT_G);
    leat_json_member_string(json, "discriminator", LEAT_EXPORT_D);
    leat_json_member_string(json, "leat_version", leat_version());
    leat_json_key(json, "training");
    leat_json_begin_object(json);
    leat_json_member_int(json, "step", self->checkpoint->step);
    leat_json_member_string(json, "state", self->checkpoint->state);
    leat_json_member_string(json, "generator_sha256", self->sha256[0]);
    leat_json_member_string(json, "discriminator_sha256", self->sha256[1]);
    leat_json_member_string(json, "run", run->identity.run);
    leat_json_member_string(json, "data", run->identity.data);
    leat_json_member_int(json, "images", run->identity.samples);
    leat_json_member_string(json, "kernel_class", run->identity.kernel_class);
    if (ledger.lines > 0) leat_json_member_string(json, "ledger", ledger.head);
    if (run->identity.init[0] != 0) leat_json_member_string(json, "init", run->identity.init);
    const char *name;
    json_t *value;
    json_object_foreach(run->settings, name, value)
        leat_json_member_string(json, name, json_string_value(value));
    leat_json_end_object(json);
    leat_json_end_object(json);
    return leat_json_save(json, path, err);
}

/* The classes whose state dicts the two files are. */
static const char card_code[] =
    "```python\n"
    "import torch\n"
    "from safetensors.torch import load_file\n"
    "from torch import nn\n"
    "\n"
    "def up(a, b, **k):\n"
    "    return [nn.ConvTranspose2d(a, b, 4, bias=False, **k), nn.BatchNorm2d(b), nn.ReLU(True)]\n"
    "\n"
    "class Generator(nn.Module):\n"
    "    def __init__(self, w=%d, z=%d):\n"
    "        super().__init__()\n"
    "        s = dict(stride=2, padding=1)\n"
    "        self.main = nn.Sequential(\n"
    "            *up(z, 8 * w), *up(8 * w, 4 * w, **s), *up(4 * w, 2 * w, **s), *up(2 * w, w, "
    "**s),\n"
    "            nn.ConvTranspose2d(w, 3, 4, bias=False, **s), nn.Tanh())\n"
    "    def forward(self, z):  # [B, %d] -> [B, 3, 64, 64] in -1 .. 1\n"
    "        return self.main(z[:, :, None, None])\n"
    "\n"
    "generator = Generator()\n"
    "generator.load_state_dict(load_file(\"generator.safetensors\"))\n"
    "images = generator.eval()(torch.randn(16, %d))\n"
    "```\n";

static leat_code put_scores(const exporting *self, leat_buf *text, leat_error *err) {
    char score[LEAT_REPR_BYTES], halves[LEAT_REPR_BYTES];
    if (isnan(self->checkpoint->score) || isnan(self->run->halves)) return LEAT_OK;
    leat_double_repr(self->checkpoint->score, score);
    leat_double_repr(self->run->halves, halves);
    return leat_buf_printf(text, err,
                           "| score (distance from the images) | %s |\n"
                           "| the same between halves of the images | %s |\n",
                           score, halves);
}

static leat_code put_card(const exporting *self, leat_buf *text, leat_error *err) {
    const leat_run *run = self->run;
    const leat_train_options *o = &run->options.run;
    const leat_dcgan_settings *of = o->settings;
    LEAT_TRY(leat_buf_printf(
        text, err,
        LEAT_MARK_CARD_BEGINS
        "tags:\n- leat\n- dcgan\n- unconditional-image-generation\n---\n\n"
        "# DCGAN, 64 x 64\n\n![samples](samples.png)\n\n"
        "Generator and discriminator after step %lld of a run of leat %s.\n\n"
        "| | |\n|---|---|\n| width | %d |\n| latent size | %d |\n"
        "| images of the data set | %lld |\n| fingerprint of the data set | `%s` |\n"
        "| units of a step | %lld |\n| images of a unit | %lld |\n| micro-batch | %d |\n"
        "| learning rate | %s |\n| betas of Adam | %s, %s |\n| seed | %" PRIu64 " |\n",
        (long long)self->checkpoint->step, run->version, (int)of->width, (int)of->latent,
        (long long)run->identity.samples, run->identity.data, (long long)o->units,
        (long long)o->unit_size, (int)o->micro_batch, leat_run_setting(run, "learning-rate"),
        leat_run_setting(run, "beta1"), leat_run_setting(run, "beta2"), o->seed));
    LEAT_TRY(put_scores(self, text, err));
    if (run->identity.init[0] != 0)
        LEAT_TRY(leat_buf_printf(text, err, "| hash of the initial weights | `%s` |\n",
                                 run->identity.init));
    LEAT_TRY(leat_buf_printf(text, err,
                             "| hash of the state | `%s` |\n| hash of the run | `%s` |\n",
                             self->checkpoint->state, run->identity.run));
    LEAT_TRY(
        leat_buf_printf(text, err,
                        "\nThe state is a function of the data set, the settings and the step: "
                        "leat gives the same bytes on any machine.\n\n## In PyTorch\n\n"));
    return leat_buf_printf(text, err, card_code, (int)of->width, (int)of->latent, (int)of->latent,
                           (int)of->latent);
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

static leat_code save_samples(exporting *self, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t *images = NULL;
    LEAT_TRY(leat_path_join(path, sizeof path, self->dir, SAMPLES, err));
    LEAT_TRY(LEAT_NEW(&images, LEAT_GRID_IMAGES * LEAT_IMAGE_VALUES, err));
    const leat_generate_from from = {.model = self->model,
                                     .parameters = leat_trainer_state(self->trainer)->parameters,
                                     .statistics = self->running,
                                     .seed = self->run->options.run.seed,
                                     .count = LEAT_GRID_IMAGES};
    leat_code code = leat_sampling_images(&from, images, &self->deviation, err);
    if (code == LEAT_OK && !(self->deviation >= LEAT_SAMPLE_DEVIATION_MIN))
        code = leat_fail(err, LEAT_ERR_INPUT,
                         "the samples of step %lld are almost uniform (deviation %.4f); export "
                         "another checkpoint",
                         (long long)self->checkpoint->step, self->deviation);
    if (code == LEAT_OK)
        code = leat_image_grid_save(path, images, LEAT_GRID_IMAGES, LEAT_IMAGE_SIZE,
                                    LEAT_GRID_COLUMNS, true, err);
    leat_free(images);
    return code;
}

/* ---- The folder ----------------------------------------------------------------------------- */

static const char *const files[] = {LEAT_EXPORT_G, LEAT_EXPORT_D, CONFIG, CARD, SAMPLES};
enum { FILES = sizeof files / sizeof *files };

/* The folder to write to, without its links, and the first of our files that it has; NULL: none. */
static leat_code find_folder(const char *dir, char out[LEAT_PATH_BYTES], bool *exists,
                             const char **taken, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    *taken = NULL;
    LEAT_TRY(leat_path_trim(dir, out, err));
    LEAT_TRY(leat_path_stat(out, &facts, err));
    *exists = facts.kind != LEAT_PATH_NONE;
    if (!*exists) return LEAT_OK;
    if (facts.kind != LEAT_PATH_DIR)
        return leat_fail(err, LEAT_ERR_EXISTS, "\"%.300s\" is not a folder", out);
    LEAT_TRY(leat_path_real(dir, out, err));
    for (int i = 0; *taken == NULL && i < FILES; i++) {
        LEAT_TRY(leat_path_join(path, sizeof path, out, files[i], err));
        LEAT_TRY(leat_path_stat(path, &facts, err));
        if (facts.kind != LEAT_PATH_NONE) *taken = files[i];
    }
    return LEAT_OK;
}

static leat_code save_all(exporting *self, leat_error *err) {
    const leat_model_sizes sizes = self->model->sizes;
    const leat_train_state *state = leat_trainer_state(self->trainer);
    LEAT_TRY(LEAT_NEW(&self->running, sizes.running, err));
    memcpy(self->running, state->running, (size_t)sizes.running * sizeof(float));
    LEAT_TRY(leat_generate_statistics(self->model, state->parameters, self->running, err));
    LEAT_TRY(leat_path_make_dir(self->dir, err));
    LEAT_TRY(save_samples(self, err));
    LEAT_TRY(save_network(self, "G.", LEAT_EXPORT_G, self->sha256[0], err));
    LEAT_TRY(save_network(self, "D.", LEAT_EXPORT_D, self->sha256[1], err));
    LEAT_TRY(save_config(self, err));
    return save_card(self, err);
}

/* To a name that was free when the export began, and still is. */
static leat_code move_new(const char *from, const char *to, leat_error *err) {
    return leat_own_rename(from, to, LEAT_MARK_NONE, err);
}

/* Writes all files to a new folder beside `dir`, and moves them there once they are complete. */
static leat_code publish(exporting *self, const char *dir, bool exists, bool replace,
                         leat_error *err) {
    char draft[LEAT_PATH_BYTES];
    LEAT_TRY(leat_path_draft(draft, dir, err));
    self->dir = draft;
    leat_code code = save_all(self, err);
    if (code == LEAT_OK)
        code = !exists   ? leat_path_move_dir(draft, dir, err)
               : replace ? leat_path_move_files(draft, dir, CARD, err)
                         : leat_path_move_files_by(move_new, draft, dir, CARD, err);
    if (leat_path_remove_tree(draft, NULL) != LEAT_OK) {
        /* the files are there, or the first error counts */
    }
    return code;
}

/* config.json of a folder; *root is NULL if there is none. */
static leat_code load_config(const char *dir, json_t **root, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t *text = NULL;
    int64_t size = 0;
    leat_path_facts facts;
    *root = NULL;
    LEAT_TRY(leat_path_join(path, sizeof path, dir, CONFIG, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE) return LEAT_OK;
    LEAT_TRY(leat_file_load(path, CONFIG_BYTES_MAX, &text, &size, err));
    const leat_code code = leat_json_parse((const char *)text, size, path, root, err);
    leat_free(text);
    return code;
}

/* config.json of a folder as far as it is one of leat's; *root is NULL if it is not. */
static leat_code load_own_config(const char *dir, json_t **root, leat_error *err) {
    leat_error why = {0};
    const leat_code code = load_config(dir, root, &why);
    if (code == LEAT_ERR_CORRUPT || code == LEAT_ERR_INPUT || code == LEAT_ERR_LIMIT)
        return LEAT_OK; /* somebody else's */
    return leat_error_copy(err, &why);
}

static bool says(const json_t *root, const char *name, const char *value) {
    const char *found = json_string_value(json_object_get(json_object_get(root, "training"), name));
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

/* Whether the files of an export of this run are leat's still; config.json is. */
static leat_code check_own(const char *dir, const json_t *root, leat_error *err) {
    static const struct {
        const char *name, *member;
        leat_mark mark;
    } rows[] = {{LEAT_EXPORT_G, "generator_sha256", LEAT_MARK_NONE},
                {LEAT_EXPORT_D, "discriminator_sha256", LEAT_MARK_NONE},
                {SAMPLES, NULL, LEAT_MARK_PNG},
                {CARD, NULL, LEAT_MARK_CARD}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[LEAT_PATH_BYTES];
        leat_error why = {0};
        LEAT_TRY(leat_path_join(path, sizeof path, dir, rows[i].name, err));
        const leat_code code = rows[i].member != NULL
                                   ? check_weights(root, rows[i].member, path, &why)
                                   : leat_own_check(path, rows[i].mark, &why);
        if (code == LEAT_ERR_EXISTS)
            return leat_fail(err, LEAT_ERR_EXISTS,
                             "--export: \"%.300s\" is not recognised as a file that leat wrote; "
                             "use another folder, or --replace to overwrite it",
                             path);
        if (code != LEAT_OK) return leat_error_copy(err, &why);
    }
    return LEAT_OK;
}

leat_code leat_export_check(const char *dir, const char run[65], bool replace, leat_error *err) {
    char folder[LEAT_PATH_BYTES];
    const char *taken = NULL;
    bool exists = false;
    json_t *root = NULL;
    LEAT_TRY(find_folder(dir, folder, &exists, &taken, err));
    if (taken == NULL || replace) return LEAT_OK;
    LEAT_TRY(load_own_config(folder, &root, err));
    const leat_code code =
        says(root, "run", run)
            ? check_own(folder, root, err)
            : leat_fail(err, LEAT_ERR_EXISTS,
                        "--export: \"%.300s\" has a file \"%s\" and is not an export of this "
                        "run; use another folder, or --replace to overwrite the files of that "
                        "export",
                        folder, taken);
    json_decref(root);
    return code;
}

leat_code leat_export_state(const char *path, leat_trainer *trainer, const char *dir, bool replace,
                            leat_error *err) {
    exporting self = {.trainer = trainer, .model = leat_trainer_model(trainer)};
    const int64_t step = leat_trainer_state(trainer)->step;
    char folder[LEAT_PATH_BYTES];
    const char *taken = NULL;
    leat_run *run = NULL;
    bool exists = false;
    LEAT_TRY(find_folder(dir, folder, &exists, &taken, err));
    LEAT_TRY(leat_run_open(&run, path, err));
    self.run = run;
    self.checkpoint = leat_checkpoints_find(&run->checkpoints, step);
    /* another run's since this one began? */
    leat_code code =
        taken != NULL ? leat_export_check(dir, run->identity.run, replace, err) : LEAT_OK;
    if (code == LEAT_OK && self.checkpoint == NULL)
        code = leat_fail(err, LEAT_ERR_NOT_FOUND, "there is no checkpoint of step %lld",
                         (long long)step);
    if (code == LEAT_OK) code = publish(&self, folder, exists, taken != NULL, err);
    leat_free(self.running);
    leat_run_close(run);
    return code;
}

leat_code leat_run_export(const char *path, int64_t step, const char *dir, bool replace,
                          leat_error *err) {
    exporting self = {0};
    char folder[LEAT_PATH_BYTES];
    const char *taken = NULL;
    leat_run *run = NULL;
    bool exists = false;
    LEAT_TRY(find_folder(dir, folder, &exists, &taken, err));
    if (taken != NULL && !replace)
        return leat_fail(err, LEAT_ERR_EXISTS,
                         "\"%.300s\" has a file \"%s\"; use --replace to overwrite the files of "
                         "an earlier export, or another folder",
                         folder, taken);
    LEAT_TRY(leat_run_open(&run, path, err));
    self.run = run;
    leat_code code = leat_generate_check(run->task->model, run->folder.path, err);
    if (code == LEAT_OK)
        code =
            leat_run_load(run, step, leat_cpu_count(), NULL, &self.trainer, &self.checkpoint, err);
    if (code == LEAT_OK) {
        self.model = leat_trainer_model(self.trainer);
        code = publish(&self, folder, exists, replace, err);
    }
    leat_free(self.running);
    leat_trainer_destroy(self.trainer);
    leat_run_close(run);
    return code;
}

/* ---- Import --------------------------------------------------------------------------------- */

static leat_code parse_config(const json_t *root, const char *path, leat_train_options *options,
                              leat_error *err) {
    int64_t micro_batch = 0;
    if (json_object_get(root, MICRO_BATCH) == NULL) return LEAT_OK;
    LEAT_TRY(leat_json_get_int(root, MICRO_BATCH, 2, 1024, &micro_batch, path, err));
    options->micro_batch = (int32_t)micro_batch;
    options->unit_size = micro_batch;
    return LEAT_OK;
}

static leat_code read_config(const char *dir, leat_train_options *options, leat_error *err) {
    json_t *root = NULL;
    LEAT_TRY(load_config(dir, &root, err));
    if (root == NULL) return LEAT_OK;
    const leat_code code = parse_config(root, CONFIG, options, err);
    json_decref(root);
    return code;
}

/* Of one network, as torch saves the state of a generator. */
static bool has_bare_names(const leat_safetensors *tensors) {
    const leat_tensor *first = NULL;
    return leat_weights_find(tensors, "main.0.weight", 4, NULL, &first, NULL) == LEAT_OK;
}

/* The widths of the layers follow from the generator's first weights [latent, 8 width, 4, 4]. */
static leat_code read_sizes(const char *path, leat_train_options *options,
                            leat_dcgan_settings *settings, leat_error *err) {
    static const int64_t shape[4] = {-1, -1, 4, 4};
    char file[LEAT_PATH_BYTES];
    leat_safetensors *tensors = NULL;
    const leat_tensor *first = NULL;
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    const bool folder = facts.kind == LEAT_PATH_DIR;
    if (folder) LEAT_TRY(leat_path_join(file, sizeof file, path, LEAT_EXPORT_G, err));
    if (folder) LEAT_TRY(read_config(path, options, err));
    LEAT_TRY(leat_safetensors_read(&tensors, folder ? file : path, err));
    leat_code code = leat_weights_find(tensors, folder ? "main.0.weight" : "G.main.0.weight", 4,
                                       shape, &first, err);
    if (code == LEAT_ERR_NOT_FOUND && !folder && has_bare_names(tensors))
        code =
            leat_fail(err, code,
                      "\"%.300s\": its names have no prefix (\"main.0.weight\"), so it holds "
                      "one network; leat imports both: a file with the prefixes \"G.\" of the "
                      "generator and \"D.\" of the discriminator, or a folder with " LEAT_EXPORT_G
                      " and " LEAT_EXPORT_D,
                      path);
    if (code == LEAT_OK && (first->shape[0] < 1 || first->shape[0] > 4096 ||
                            first->shape[1] % 8 != 0 || first->shape[1] > 8 * 1024))
        code = leat_fail(err, LEAT_ERR_INPUT,
                         "\"%.300s\": main.0.weight has shape %lld x %lld x 4 x 4; leat supports "
                         "1..4096 x (8 x width) x 4 x 4",
                         path, (long long)first->shape[0], (long long)first->shape[1]);
    if (code == LEAT_OK) {
        settings->latent = (int32_t)first->shape[0];
        settings->width = (int32_t)first->shape[1] / 8;
    }
    leat_safetensors_destroy(tensors);
    return code;
}

static leat_code import(const char *path, leat_run_folder *folder, leat_error *err) {
    leat_dcgan_settings settings = leat_dcgan_settings_default();
    leat_train_options options = leat_train_options_default();
    leat_run_options all;
    leat_checkpoint of = {.score = NAN, .deviation = NAN};
    leat_identity identity = {0};
    leat_trainer *trainer = NULL;
    LEAT_TRY(read_sizes(path, &options, &settings, err));
    options.settings = &settings;
    LEAT_TRY(leat_run_options_take(&all, leat_dcgan_task.model->name, &options, err));
    LEAT_TRY(leat_trainer_create(&trainer, all.task->model, &all.run, NULL, err));
    leat_code code = leat_init_load(path, trainer, identity.init, err);
    if (code == LEAT_OK)
        code = leat_identity_make(&identity, leat_trainer_model(trainer), NULL, &all, err);
    /* in this order: a checkpoint without training.json could be taken for another run's */
    if (code == LEAT_OK) code = leat_training_save(folder, &identity, &all, leat_version(), err);
    memcpy(of.run, identity.run, sizeof of.run);
    if (code == LEAT_OK) code = leat_checkpoint_save(folder->checkpoints, trainer, &of, err);
    leat_trainer_destroy(trainer);
    return code;
}

leat_code leat_run_import(const char *path, const char *run, leat_error *err) {
    leat_run_folder folder;
    if (leat_run_is_at(path))
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%.300s\" is a run already; to train from its weights, use --init",
                         path);
    LEAT_TRY(leat_run_folder_open(&folder, run, false, err));
    leat_code code = import(path, &folder, err);
    if (code != LEAT_OK) leat_run_folder_clear(&folder);
    leat_run_folder_close(&folder);
    return code;
}
