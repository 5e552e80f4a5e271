/* What surrounds a unit of a DCGAN: the table of parameters as others see it, first values, running
 * statistics, the sum of units, and the step of the parameters. */
#include <math.h>

#include "base/rng.h"
#include "nn/float_mode.h"
#include "nn/models/dcgan/dcgan.h"
#include "nn/ops/adam.h"
#include "nn/ops/batchnorm.h"
#include "nn/ops/random.h"
#include "nn/random_streams.h"

leat_dcgan_options leat_dcgan_options_default(void) {
    return (leat_dcgan_options){.width = 64, .latent = 100, .micro_batch = 64, .threads = 1};
}

bool leat_dcgan_parameter_at(const leat_dcgan *dcgan, int index, leat_parameter *out) {
    const leat_dcgan_shape *model = leat_dcgan_shape_of(dcgan);
    *out = (leat_parameter){0};
    if (index < 0 || index >= model->param_count) return false;
    const leat_param *param = &model->params[index];
    *out = (leat_parameter){
        .name = param->name, .rank = param->rank, .offset = param->offset, .count = param->count};
    for (int i = 0; i < param->rank; i++) out->shape[i] = param->shape[i];
    return true;
}

int64_t leat_dcgan_size(const leat_dcgan *dcgan) { return leat_dcgan_shape_of(dcgan)->size; }

int64_t leat_dcgan_generator_size(const leat_dcgan *dcgan) {
    return leat_dcgan_shape_of(dcgan)->g_size;
}

int64_t leat_dcgan_moment_count(const leat_dcgan *dcgan) {
    return leat_dcgan_shape_moments(leat_dcgan_shape_of(dcgan));
}

int64_t leat_dcgan_running_count(const leat_dcgan *dcgan) {
    const leat_dcgan_shape *model = leat_dcgan_shape_of(dcgan);
    return 2 * (model->g_channels + model->d_channels);
}

void leat_dcgan_init(const leat_dcgan *dcgan, uint64_t seed, float *parameters) {
    const leat_dcgan_shape *model = leat_dcgan_shape_of(dcgan);
    const uint64_t mode = leat_float_mode_begin();
    for (int i = 0; i < model->param_count; i++) {
        const leat_param *param = &model->params[i];
        leat_normal_values(leat_dcgan_nn(dcgan), leat_random(seed, LEAT_STREAM_INIT, (uint64_t)i),
                           (float)param->mean, (float)param->deviation, param->count,
                           parameters + param->offset);
    }
    leat_float_mode_end(mode);
}

void leat_dcgan_init_running(const leat_dcgan *dcgan, float *running) {
    const leat_dcgan_shape *model = leat_dcgan_shape_of(dcgan);
    const int64_t g = model->g_channels, d = model->d_channels;
    for (int64_t i = 0; i < 2 * (g + d); i++)
        running[i] = (i >= g && i < 2 * g) || i >= 2 * g + d ? 1.0f : 0.0f;
}

/* In leat/nn.h an error, because the arrays are somebody else's; for the op, a broken invariant. */
static bool overlaps(const leat_adam_weights *of) {
    const float *arrays[] = {of->gradient, of->weights, of->first, of->second};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++)
            if (!leat_apart(arrays[i], of->count, arrays[j], of->count)) return true;
    }
    return false;
}

leat_code leat_dcgan_step(leat_dcgan *dcgan, const leat_dcgan_update *update, leat_error *err) {
    const leat_dcgan_shape *model = leat_dcgan_shape_of(dcgan);
    const int64_t begin = update->pass == LEAT_DCGAN_D ? model->g_size : 0;
    const int64_t end = update->pass == LEAT_DCGAN_G ? model->g_size : model->size;
    const double weight = update->weight;
    uint64_t mode = 0;
    if (!(weight > 0) || !isfinite(weight))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a step of gradients with the total weight %g; it must be above 0 and "
                         "finite",
                         weight);
    LEAT_TRY(leat_dcgan_check_pass(update->pass, err));
    const leat_adam_weights of = {.count = end - begin,
                                  .gradient = update->gradient + begin,
                                  .gradient_factor = 1 / weight,
                                  .weights = update->parameters + begin,
                                  .first = update->first + begin,
                                  .second = update->second + begin};
    if (overlaps(&of))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a step whose arrays overlap: gradient, parameters and both moments must "
                         "be different arrays");
    leat_engine *engine = leat_dcgan_engine(dcgan);
    LEAT_TRY(leat_engine_enter(engine, &mode, err));
    leat_code code = leat_adam_apply(&engine->device, update->adam, update->step, &of, err);
    leat_engine_leave(engine, mode);
    return code;
}

void leat_dcgan_add(int64_t count, const float *gradient, float *sum) {
    if (count > 0) leat_unit_add(count, gradient, sum);
}

static void fold(const leat_dcgan_layer *layers, int64_t channels, int micro_batch,
                 const float *moments, float *running) {
    for (int i = 0; i < LEAT_DCGAN_LAYERS; i++) {
        const leat_dcgan_layer *layer = &layers[i];
        if (!layer->norm) continue;
        const int64_t mean = layer->moments, variance = channels + layer->moments;
        leat_batchnorm_fold(layer->channels, layer->pixels * micro_batch, moments + mean,
                            moments + variance, running + mean, running + variance);
    }
}

void leat_dcgan_fold(const leat_dcgan *dcgan, leat_dcgan_pass pass, int micro_batches,
                     const float *moments, float *running) {
    const leat_dcgan_shape *model = leat_dcgan_shape_of(dcgan);
    const int micro_batch = leat_dcgan_micro_batch(dcgan);
    float *d_running = running + 2 * model->g_channels;
    const uint64_t mode = leat_float_mode_begin();
    for (int i = 0; i < micro_batches; i++, moments += leat_dcgan_moment_count(dcgan)) {
        const float *images = moments + 2 * model->g_channels;
        const float *fakes = images + 2 * model->d_channels;
        if (pass != LEAT_DCGAN_G) {
            fold(model->g, model->g_channels, micro_batch, moments, running);
            fold(model->d, model->d_channels, micro_batch, images, d_running);
        }
        fold(model->d, model->d_channels, micro_batch, fakes, d_running);
    }
    leat_float_mode_end(mode);
}
