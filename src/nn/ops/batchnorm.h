/*
 * Batch normalisation with the activation that follows it, over [pixel][channel][lane] (op.h).
 *
 *     y = act(fma(x - mean, scale, shift)),   scale = weight / sqrt(variance + eps)
 *
 * In training, mean and the biased variance are of this micro-batch, and are results: who keeps
 * running statistics folds them in. In evaluation they are given.
 *
 * Order of the sums (this is the specification): pieces of LEAT_NORM_PIECE pixels; in a piece each
 * lane adds its images pixel by pixel; the lanes of the pieces are added in order; then lanes i and
 * i + 8, i + 4, i + 2, i + 1. Mean first, squares of the differences from it second.
 * Source: Ioffe and Szegedy, arXiv:1502.03167.
 */
#ifndef LEAT_NN_OPS_BATCHNORM_H
#define LEAT_NN_OPS_BATCHNORM_H

#include "nn/ops/op.h"

#define LEAT_NORM_PIECE 64

typedef struct leat_batchnorm {
    int64_t pixels, channels, images;
    float eps;
    float slope; /* of the activation below 0: 1 none, 0 ReLU, otherwise LeakyReLU; not negative */
    bool training;
    const float *weight, *shift; /* [channel] */
    float *mean, *variance;      /* [channel]; forward writes them in training, else reads them */
    float *work;                 /* [leat_batchnorm_work_count]; overlaps nothing */
} leat_batchnorm;

/* Floats of work space of either call; a function of the sizes. */
int64_t leat_batchnorm_work_count(const leat_batchnorm *bn);

/* y from x; y may be x. LEAT_ERR_OPTION: sizes below 1, or more than LEAT_OP_VALUES_MAX. */
LEAT_MUST_CHECK leat_code leat_batchnorm_forward(const leat_device *device,
                                                 const leat_batchnorm *bn, const float *x, float *y,
                                                 leat_error *err);
/*
 * The gradient `down` of x, from that of y, `up`; they may be the same, x lies elsewhere. Those of
 * weight and shift are added to what weight_gradient and shift_gradient hold, if these are not
 * NULL.
 */
LEAT_MUST_CHECK leat_code leat_batchnorm_backward(const leat_device *device,
                                                  const leat_batchnorm *bn, const float *x,
                                                  const float *up, float *down,
                                                  float *weight_gradient, float *shift_gradient,
                                                  leat_error *err);

/* Folds the moments of a micro-batch into running statistics: running = 0.9 running + 0.1 batch,
 * with the unbiased variance; `count` is the number of values of a channel (for 1, the variance
 * itself, which is 0). */
void leat_batchnorm_fold(int64_t channels, int64_t count, const float *mean, const float *variance,
                         float *running_mean, float *running_variance);

#endif
