/* See model.h: units of batches that are made one by one, norms, tensors, and the step. */
#include "nn/models/dcgan/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "nn/kernel_suites.h"
#include "nn/micro_batch.h"

enum { LOSS_D_IMAGES, LOSS_D_FAKES, LOSS_G, SUMS };
enum { NORM_D, NORM_G, NORMS };
_Static_assert(SUMS <= LEAT_UNIT_SUMS_MAX && NORMS <= LEAT_MODEL_NORMS_MAX, "of any model");

static const leat_value values[SUMS + NORMS + 1] = {
    [LOSS_D_IMAGES] = {"loss_d_images", "D, real", 0, "Losses", "binary cross-entropy", "D loss"},
    [LOSS_D_FAKES] = {"loss_d_fakes", "D, generated", 0, "Losses", "binary cross-entropy",
                      "D loss"},
    [LOSS_G] = {"loss_g", "G", 0, "Losses", "binary cross-entropy", "G loss"},
    [SUMS + NORM_D] = {"norm_d", "D", 0, "Gradients", "norm of the mean gradient", NULL},
    [SUMS + NORM_G] = {"norm_g", "G", 0, "Gradients", "norm of the mean gradient", NULL},
};

typedef struct model {
    leat_dcgan *dcgan;
    leat_dcgan_schedule schedule;
    leat_adam adam;
    int threads;
    int64_t noise_count; /* floats of a micro-batch's latent vectors */
    float *noise;        /* [threads][noise_count] */
} model;

leat_dcgan *leat_dcgan_of_model(void *self) { return ((model *)self)->dcgan; }

/* ---- Memory --------------------------------------------------------------------------------- */

static leat_dcgan_options options_of(const leat_model_setup *setup) {
    const leat_dcgan_settings *settings = setup->settings;
    const int64_t micro_batch = setup->micro_batch;
    return (leat_dcgan_options){.width = settings->width,
                                .latent = settings->latent,
                                .micro_batch =
                                    micro_batch > INT32_MAX ? INT32_MAX : (int)micro_batch,
                                .threads = setup->threads,
                                .kernels = setup->kernels};
}

static leat_code sizes_of(const leat_model_setup *setup, leat_model_sizes *out, leat_error *err) {
    const leat_dcgan_options options = options_of(setup);
    leat_dcgan_shape of;
    *out = (leat_model_sizes){0};
    LEAT_TRY(leat_dcgan_bytes(&options, &out->bytes, err));
    LEAT_TRY(leat_dcgan_shape_set(&of, options.width, options.latent, err));
    out->parameters = of.size;
    out->running = 2 * (of.g_channels + of.d_channels);
    out->statistics = leat_dcgan_shape_moments(&of);
    out->bytes += (int64_t)sizeof(model) +
                  (int64_t)setup->threads * setup->micro_batch * of.latent * (int64_t)sizeof(float);
    return LEAT_OK;
}

static void destroy(void *self) {
    model *of = self;
    if (of == NULL) return;
    leat_dcgan_destroy(of->dcgan);
    leat_free(of->noise);
    leat_free(of);
}

static leat_code create(void **self, const leat_model_setup *setup, leat_error *err) {
    const leat_dcgan_settings *settings = setup->settings;
    const leat_dcgan_options options = options_of(setup);
    model *of = NULL;
    *self = NULL;
    LEAT_TRY(LEAT_NEW(&of, 1, err));
    of->schedule = settings->schedule;
    of->threads = options.threads;
    of->noise_count = (int64_t)options.micro_batch * options.latent;
    of->adam = (leat_adam){.rate = settings->learning_rate,
                           .beta1 = settings->beta1,
                           .beta2 = settings->beta2,
                           .eps = 1e-8};
    leat_code code = leat_dcgan_create(&of->dcgan, &options, err);
    if (code == LEAT_OK) code = LEAT_NEW(&of->noise, options.threads * of->noise_count, err);
    if (code != LEAT_OK) {
        destroy(of);
        return code;
    }
    *self = of;
    return LEAT_OK;
}

/* ---- What it is made of --------------------------------------------------------------------- */

#define WEIGHT ".weight"

/* Statistics of a normalisation have the place of its weight among the normalised channels of its
 * network, whose means come first. */
static bool running_tensor(const leat_dcgan_shape *of, int index, leat_model_tensor *out) {
    const int64_t channels[2] = {of->g_channels, of->d_channels};
    int64_t at[2] = {0, 0};
    int found = 0;
    for (int i = 0; i < of->param_count; i++) {
        const leat_param *param = &of->params[i];
        const int stem = (int)strlen(param->name) - (int)strlen(WEIGHT);
        const int network = param->name[0] == 'G' ? 0 : 1;
        /* a normalisation has one, of rank 1 */
        if (param->rank != 1 || stem < 0 || strcmp(param->name + stem, WEIGHT) != 0) continue;
        if (found++ != index / 2) {
            at[network] += param->count;
            continue;
        }
        const int64_t begin = network == 0 ? 0 : 2 * channels[0];
        snprintf(out->name, sizeof out->name, "%.*s.running_%s", stem, param->name,
                 index % 2 == 0 ? "mean" : "var");
        out->running = true;
        out->rank = 1;
        out->offset = begin + (index % 2) * channels[network] + at[network];
        out->shape[0] = out->count = param->count;
        LEAT_ASSERT(out->offset + out->count <= 2 * (channels[0] + channels[1]));
        return true;
    }
    return false;
}

static bool tensor(const void *self, int index, leat_model_tensor *out) {
    const leat_dcgan_shape *of = leat_dcgan_shape_of(((const model *)self)->dcgan);
    return leat_params_tensor(of->params, of->param_count, index, out) ||
           running_tensor(of, index - of->param_count, out);
}

static void init(const void *self, uint64_t seed, float *parameters, float *running) {
    const leat_dcgan *dcgan = ((const model *)self)->dcgan;
    leat_dcgan_init(dcgan, seed, parameters);
    leat_dcgan_init_running(dcgan, running);
}

/* ---- A step --------------------------------------------------------------------------------- */

static int passes(const void *settings) {
    const leat_dcgan_settings *of = settings;
    return of->schedule == LEAT_DCGAN_ALTERNATING ? 2 : 1;
}

static leat_dcgan_pass pass_of(const model *self, int pass) {
    LEAT_ASSERT(pass == 0 || (pass == 1 && self->schedule == LEAT_DCGAN_ALTERNATING));
    if (self->schedule == LEAT_DCGAN_SIMULTANEOUS) return LEAT_DCGAN_BOTH;
    return pass == 0 ? LEAT_DCGAN_D : LEAT_DCGAN_G;
}

typedef struct making {
    model *self;
    const leat_unit_batches *batches;
} making;

static leat_code get(void *context, int64_t index, int worker, const uint8_t **images,
                     const float **noise, leat_error *err) {
    const making *of = context;
    const leat_dcgan *dcgan = of->self->dcgan;
    LEAT_ASSERT(worker >= 0 && worker < of->self->threads);
    float *vectors = of->self->noise + worker * of->self->noise_count;
    const void *batch = NULL;
    LEAT_TRY(of->batches->get(of->batches->context, index, worker, &batch, err));
    const leat_image_micro *from = batch;
    LEAT_ASSERT(from->levels != NULL);
    LEAT_ASSERT(from->position >= 0 && from->position < LEAT_MICRO_BATCH_POSITIONS);
    leat_dcgan_noise(dcgan, LEAT_NOISE_TRAINING, from->seed, from->position,
                     leat_dcgan_micro_batch(dcgan), vectors);
    *images = from->levels;
    *noise = vectors;
    return LEAT_OK;
}

static leat_code unit(void *self, int pass, const leat_unit_batches *batches,
                      const float *parameters, leat_unit_numbers *out, leat_error *err) {
    model *of = self;
    making making = {of, batches};
    const leat_dcgan_source source = {get, &making};
    leat_dcgan_result result = {.gradient = out->gradient, .moments = out->statistics};
    const leat_code code = leat_dcgan_unit_of(of->dcgan, pass_of(of, pass), batches->count,
                                              parameters, &source, &result, err);
    out->sums[LOSS_D_IMAGES] = result.loss_d_images;
    out->sums[LOSS_D_FAKES] = result.loss_d_fakes;
    out->sums[LOSS_G] = result.loss_g;
    out->weight = result.weight;
    return code;
}

static void fold(const void *self, int pass, int64_t micro_batches, const float *statistics,
                 float *running) {
    const model *of = self;
    LEAT_ASSERT(micro_batches >= 1 && micro_batches <= INT32_MAX);
    leat_dcgan_fold(of->dcgan, pass_of(of, pass), (int)micro_batches, statistics, running);
}

static void norm(const void *self, int pass, const float *gradient, double weight, double *norms) {
    const model *of = self;
    LEAT_ASSERT(weight > 0 && isfinite(weight)); /* of all units */
    const leat_dcgan_pass which = pass_of(of, pass);
    const int64_t size = leat_dcgan_size(of->dcgan), g = leat_dcgan_generator_size(of->dcgan);
    if (which != LEAT_DCGAN_D) norms[NORM_G] = leat_unit_length(g, gradient, weight);
    if (which != LEAT_DCGAN_G) norms[NORM_D] = leat_unit_length(size - g, gradient + g, weight);
}

static leat_code step(void *self, const leat_model_step *of, leat_error *err) {
    const model *here = self;
    const leat_dcgan_update update = {.pass = pass_of(here, of->pass),
                                      .adam = &here->adam,
                                      .step = of->step + 1,
                                      .gradient = of->gradient,
                                      .weight = of->weight,
                                      .parameters = of->parameters,
                                      .first = of->first,
                                      .second = of->second};
    return leat_dcgan_step(here->dcgan, &update, err);
}

static void cancel(void *self, bool cancelled) {
    leat_dcgan_cancel(((model *)self)->dcgan, cancelled);
}

static const char *const suites[] = {LEAT_SUITE_CORE, NULL};

const leat_model_class leat_dcgan_class = {
    .name = "dcgan",
    .identity = "leat dcgan 1",
    .batch = LEAT_MICRO_BATCH_IMAGES,
    .values = values,
    .sums = SUMS,
    .norms = NORMS,
    .suites = suites,
    .passes = passes,
    .one_pass = "--schedule simultaneous",
    .sizes = sizes_of,
    .create = create,
    .destroy = destroy,
    .tensor = tensor,
    .init = init,
    .unit = unit,
    .fold = fold,
    .norm = norm,
    .step = step,
    .cancel = cancel,
};
