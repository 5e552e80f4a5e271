/* One step of Adam, in pieces of the parameters. */
#include "nn/ops/adam.h"

#include <math.h>

#define PIECE 16384

typedef struct adam_job {
    const leat_nn *nn;
    leat_adam_step step;
    int64_t count;
    const float *gradient;
    float *weights, *first, *second;
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
    const int64_t at = part * PIECE;
    job->nn->kernels->adam(&job->step, leat_min(PIECE, job->count - at), job->gradient + at,
                           job->weights + at, job->first + at, job->second + at);
}

leat_code leat_adam_apply(const leat_nn *nn, const leat_adam *adam, int64_t step,
                          double gradient_factor, int64_t count, const float *gradient,
                          float *weights, float *first, float *second, leat_error *err) {
    if (!isfinite(adam->rate) || !(adam->eps >= 0 && isfinite(adam->eps)) ||
        !(adam->decay >= 0 && isfinite(adam->decay)) || !isfinite(gradient_factor))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "Adam: rate %g, eps %g, decay %g, factor of the gradient %g; they must be "
                         "finite, eps and decay not negative",
                         adam->rate, adam->eps, adam->decay, gradient_factor);
    if (step < 1 || !(adam->beta1 >= 0 && adam->beta1 < 1 && adam->beta2 >= 0 && adam->beta2 < 1))
        return leat_fail(err, LEAT_ERR_OPTION,
                         "Adam: step %lld with betas %g and %g; steps begin at 1, betas are at "
                         "least 0 and below 1",
                         (long long)step, adam->beta1, adam->beta2);
    adam_job job = {.nn = nn,
                    .count = count,
                    .gradient = gradient,
                    .weights = weights,
                    .first = first,
                    .second = second};
    job.step = (leat_adam_step){
        .gradient_factor = (float)gradient_factor,
        .keep_weight = (float)(1 - adam->rate * adam->decay),
        .more1 = (float)(1 - adam->beta1),
        .keep2 = (float)adam->beta2,
        .more2 = (float)(1 - adam->beta2),
        .size = (float)(adam->rate / (1 - power(adam->beta1, step))),
        .root = (float)sqrt(1 - power(adam->beta2, step)),
        .eps = (float)adam->eps,
    };
    return leat_nn_run(nn, (count + PIECE - 1) / PIECE, run_piece, &job, err);
}
