/*
 * Exports of a DCGAN: each network in a file, by PyTorch's names, with the running statistics that
 * make PyTorch's eval() give the images of `leat sample`.
 */
#include "train/tasks/images/dcgan_export.h"

#include <inttypes.h>
#include <math.h>

#include "base/mem.h"
#include "base/number.h"
#include "leat/format.h"
#include "train/run/run_reader.h"
#include "train/step/weights.h"
#include "train/tasks/images/measure.h"

#define GENERATOR "generator.safetensors"
#define DISCRIMINATOR "discriminator.safetensors"

static void put_config(const leat_exporting *of, leat_json *json) {
    const leat_dcgan_settings *settings = of->run->options.run.settings;
    leat_json_member_int(json, "image_size", LEAT_IMAGE_SIZE);
    leat_json_member_int(json, "channels", LEAT_IMAGE_COLORS);
    leat_json_member_int(json, "latent", settings->latent);
    leat_json_member_int(json, "width", settings->width);
}

/* ---- The card ------------------------------------------------------------------------------- */

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

static leat_code put_scores(const leat_exporting *of, leat_buf *text, leat_error *err) {
    char score[LEAT_REPR_BYTES], halves[LEAT_REPR_BYTES];
    const double measured = of->checkpoint->measured[LEAT_MEASURE_SCORE];
    if (isnan(measured) || isnan(of->run->reference.value)) return LEAT_OK;
    leat_double_repr(measured, score);
    leat_double_repr(of->run->reference.value, halves);
    return leat_buf_printf(text, err,
                           "| score (distance from the images) | %s |\n"
                           "| the same between halves of the images | %s |\n",
                           score, halves);
}

static leat_code put_card(const leat_exporting *of, leat_buf *text, leat_error *err) {
    const leat_run *run = of->run;
    const leat_train_options *o = &run->options.run;
    const leat_dcgan_settings *settings = o->settings;
    LEAT_TRY(leat_buf_printf(
        text, err,
        "- unconditional-image-generation\n---\n\n"
        "# DCGAN, 64 x 64\n\n![samples](samples.png)\n\n"
        "Generator and discriminator after step %lld of a run of leat %s.\n\n"
        "| | |\n|---|---|\n| width | %d |\n| latent size | %d |\n"
        "| images of the data set | %lld |\n| fingerprint of the data set | `%s` |\n"
        "| units of a step | %lld |\n| images of a unit | %lld |\n| micro-batch | %d |\n"
        "| learning rate | %s |\n| betas of Adam | %s, %s |\n| seed | %" PRIu64 " |\n",
        (long long)of->checkpoint->step, run->version, (int)settings->width, (int)settings->latent,
        (long long)run->identity.samples, run->identity.data, (long long)o->units,
        (long long)o->unit_size, (int)o->micro_batch, leat_run_setting(run, "learning-rate"),
        leat_run_setting(run, "beta1"), leat_run_setting(run, "beta2"), o->seed));
    return put_scores(of, text, err);
}

static leat_code put_code(const leat_exporting *of, leat_buf *text, leat_error *err) {
    const leat_dcgan_settings *settings = of->run->options.run.settings;
    const int width = settings->width, latent = settings->latent;
    LEAT_TRY(leat_buf_printf(text, err, "\n## In PyTorch\n\n"));
    return leat_buf_printf(text, err, card_code, width, latent, latent, latent);
}

/* ---- Samples, and what makes them ----------------------------------------------------------- */

static leat_code save_samples(const leat_exporting *of, const char *path, leat_error *err) {
    uint8_t *images = NULL;
    double deviation = NAN;
    LEAT_TRY(LEAT_NEW(&images, LEAT_GRID_IMAGES * LEAT_IMAGE_VALUES, err));
    const leat_generate_from from = {.model = of->model,
                                     .parameters = of->parameters,
                                     .statistics = of->running,
                                     .seed = of->run->options.run.seed,
                                     .count = LEAT_GRID_IMAGES};
    leat_code code = leat_image_measure_images(&from, images, &deviation, err);
    if (code == LEAT_OK && !(deviation >= LEAT_SAMPLE_DEVIATION_MIN))
        code = leat_fail(err, LEAT_ERR_INPUT,
                         "the samples of step %lld are almost uniform (deviation %.4f); export "
                         "another checkpoint",
                         (long long)of->checkpoint->step, deviation);
    if (code == LEAT_OK)
        code = leat_image_grid_save(path, images, LEAT_GRID_IMAGES, LEAT_IMAGE_SIZE,
                                    LEAT_GRID_COLUMNS, true, err);
    leat_free(images);
    return code;
}

/* ---- Third-party weights -------------------------------------------------------------------- */

/* Of one network, as torch saves the state of a generator. */
static bool has_bare_names(const leat_safetensors *tensors) {
    const leat_tensor *first = NULL;
    return leat_weights_find(tensors, "main.0.weight", 4, NULL, &first, NULL) == LEAT_OK;
}

/* The widths of the layers follow from the generator's first weights [latent, 8 width, 4, 4]. */
static leat_code guess(const leat_safetensors *tensors, const char *path, bool whole, void *out,
                       leat_error *err) {
    static const int64_t shape[4] = {-1, -1, 4, 4};
    leat_dcgan_settings *settings = out;
    const leat_tensor *first = NULL;
    const leat_code code = leat_weights_find(tensors, whole ? "G.main.0.weight" : "main.0.weight",
                                             4, shape, &first, err);
    if (code == LEAT_ERR_NOT_FOUND && whole && has_bare_names(tensors))
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%.300s\": its names have no prefix (\"main.0.weight\"), so it holds "
                         "one network; leat imports both: a file with the prefixes \"G.\" of the "
                         "generator and \"D.\" of the discriminator, or a folder with " GENERATOR
                         " and " DISCRIMINATOR,
                         path);
    LEAT_TRY(code);
    if (first->shape[0] < 1 || first->shape[0] > 4096 || first->shape[1] % 8 != 0 ||
        first->shape[1] > 8 * 1024)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%.300s\": main.0.weight has shape %lld x %lld x 4 x 4; leat supports "
                         "1..4096 x (8 x width) x 4 x 4",
                         path, (long long)first->shape[0], (long long)first->shape[1]);
    settings->latent = (int32_t)first->shape[0];
    settings->width = (int32_t)first->shape[1] / 8;
    return LEAT_OK;
}

static const leat_export_file files[] = {
    {.name = GENERATOR, .prefix = "G.", .member = "generator"},
    {.name = DISCRIMINATOR, .prefix = "D.", .member = "discriminator"},
    {.name = NULL},
};

const leat_export_class leat_dcgan_exports = {
    .files = files,
    .extra = {.name = "samples.png", .mark = LEAT_MARK_PNG, .save = save_samples},
    .running = leat_generate_statistics,
    .config = put_config,
    .card = put_card,
    .card_end = put_code,
    .guess = guess,
    .always_guesses = true,
    .third_party = "a safetensors file with the tensors \"G.main.0.weight\", "
                   "\"D.main.0.weight\", ..., or a folder with " GENERATOR " and " DISCRIMINATOR,
    .misfit = "their width or latent size may differ from --width or --latent",
    .needed = "both networks",
};
