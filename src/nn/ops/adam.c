/* One step of Adam, in pieces of the parameters. */
#include "nn/ops/adam.h"

#include <math.h>

#define PIECE 16384

typedef struct adam_job {
    const leat_device *device;
    leat_adam_step step;
    const leat_adam_weights *of;
} adam_job;

/* base^exponent by squaring: the same on every machine, unlike pow. */
static double power(double base, int64_t exponent) {
    double result = 1;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 == 1) result *= base;
        base *= base;
    }
    return result;
}

static void run_piece(void *context, int64_t part) {
    const adam_job *job = context;
    const leat_adam_weights *of = job->of;
    const int64_t at = part * PIECE;
    job->device->kernels->adam(&job->step, leat_min(PIECE, of->count - at), of->gradient + at,
                               of->weights + at, of->first + at, of->second + at);
}

leat_code leat_adam_apply(const leat_device *device, const leat_adam *adam, int64_t step,
                          const leat_adam_weights *of, leat_error *err) {
    if (!isfinite(adam->rate) || !(adam->eps >= 0 && isfinite(adam->eps)) ||
        !(adam->decay >= 0 && isfinite(adam->decay)) || !isfinite(of->gradient_factor))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "Adam: rate %g, eps %g, decay %g, factor of the gradient %g; they must be "
                         "finite, eps and decay not negative",
                         adam->rate, adam->eps, adam->decay, of->gradient_factor);
    if (step < 1 || !(adam->beta1 >= 0 && adam->beta1 < 1 && adam->beta2 >= 0 && adam->beta2 < 1))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "Adam: step %lld with betas %g and %g; steps begin at 1, betas are at "
                         "least 0 and below 1",
                         (long long)step, adam->beta1, adam->beta2);
    LEAT_ASSERT(of->count >= 0);
    LEAT_ASSERT(leat_apart(of->weights, of->count, of->first, of->count) &&
                leat_apart(of->weights, of->count, of->second, of->count) &&
                leat_apart(of->first, of->count, of->second, of->count));
    LEAT_ASSERT(leat_apart(of->gradient, of->count, of->weights, of->count) &&
                leat_apart(of->gradient, of->count, of->first, of->count) &&
                leat_apart(of->gradient, of->count, of->second, of->count));
    adam_job job = {.device = device, .of = of};
    job.step = (leat_adam_step){
        .gradient_factor = (float)of->gradient_factor,
        .keep_weight = (float)(1 - adam->rate * adam->decay),
        .more1 = (float)(1 - adam->beta1),
        .keep2 = (float)adam->beta2,
        .more2 = (float)(1 - adam->beta2),
        .size = (float)(adam->rate / (1 - power(adam->beta1, step))),
        .root = (float)sqrt(1 - power(adam->beta2, step)),
        .eps = (float)adam->eps,
    };
    return leat_device_run(device, (of->count + PIECE - 1) / PIECE, run_piece, &job, err);
}
