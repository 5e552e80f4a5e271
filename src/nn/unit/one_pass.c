/* See one_pass.h. */
#include "nn/unit/one_pass.h"

#include <math.h>

#include "base/rng.h"
#include "nn/float_mode.h"
#include "nn/ops/adam.h"
#include "nn/ops/each.h"
#include "nn/ops/move.h"
#include "nn/ops/random.h"
#include "nn/random_streams.h"

/* Of the reference. */
#define BETA1 0.9
#define BETA2 0.999
#define EPS 1e-8
#define DECAY 1e-4
#define CLIP_NORM 1.0

int leat_one_pass_passes(const void *settings) {
    (void)settings;
    return 1;
}

void leat_one_pass_fold(const void *self, int pass, int64_t micro_batches, const float *statistics,
                        float *running) {
    (void)self;
    (void)pass;
    (void)micro_batches;
    (void)statistics;
    (void)running;
}

void leat_one_pass_init(const leat_engine *engine, const leat_param *params, int count,
                        uint64_t seed, float *parameters) {
    const uint64_t mode = leat_float_mode_begin();
    for (int i = 0; i < count; i++) {
        const leat_param *param = &params[i];
        leat_normal_values(&engine->device, leat_random(seed, LEAT_STREAM_INIT, (uint64_t)i),
                           (float)param->mean, (float)param->deviation, param->count,
                           parameters + param->offset);
    }
    leat_float_mode_end(mode);
}

double leat_one_pass_norm(int64_t size, const float *gradient, double weight) {
    LEAT_ASSERT(weight > 0 && isfinite(weight));
    return leat_unit_length(size, gradient, weight);
}

double leat_one_pass_clip(double norm) {
    const double factor = CLIP_NORM / (norm + 1e-6);
    return factor < 1 ? factor : 1;
}

/* The gradient as Adam gets it: the mean, clipped by its norm, and then the decay. */
static leat_code scale_gradient(const leat_device *device, int64_t size, float *scaled,
                                const leat_model_step *step, leat_error *err) {
    const double length = leat_one_pass_norm(size, step->gradient, step->weight);
    const float scale = (float)(leat_one_pass_clip(length) / step->weight);
    leat_clear(device, size, scaled);
    LEAT_TRY(leat_add_scaled(device, size, scale, step->gradient, scaled, err));
    return leat_add_scaled(device, size, (float)DECAY, step->parameters, scaled, err);
}

leat_code leat_one_pass_check(const leat_model_step *step, leat_error *err) {
    LEAT_ASSERT(step->pass == 0 && step->step >= 0);
    if (step->weight > 0 && isfinite(step->weight)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "a step of gradients with the total weight %g; it must be above 0 and finite",
                     step->weight);
}

leat_code leat_one_pass_step(leat_engine *engine, double rate, int64_t size, float *scaled,
                             const leat_model_step *step, leat_error *err) {
    const leat_adam adam = {.rate = rate, .beta1 = BETA1, .beta2 = BETA2, .eps = EPS};
    const leat_adam_weights weights = {.count = size,
                                       .gradient = scaled,
                                       .gradient_factor = 1,
                                       .weights = step->parameters,
                                       .first = step->first,
                                       .second = step->second};
    uint64_t mode = 0;
    LEAT_TRY(leat_one_pass_check(step, err));
    LEAT_TRY(leat_engine_enter(engine, &mode, err));
    leat_code code = scale_gradient(&engine->device, size, scaled, step, err);
    if (code == LEAT_OK)
        code = leat_adam_apply(&engine->device, &adam, step->step + 1, &weights, err);
    leat_engine_leave(engine, mode);
    return code;
}
