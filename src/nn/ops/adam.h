/*
 * Adam and AdamW, with bias correction.
 *
 *     g = gradient * gradient_factor
 *     w = w (1 - rate * decay)                           decay 0: Adam
 *     m = m + (g - m) (1 - beta1),   v = beta2 v + (1 - beta2) g^2
 *     w = w - rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
 *
 * The numbers of a step are computed in double precision and rounded once.
 * Source: Kingma and Ba, arXiv:1412.6980; Loshchilov and Hutter, arXiv:1711.05101.
 */
#ifndef LEAT_NN_OPS_ADAM_H
#define LEAT_NN_OPS_ADAM_H

#include "leat/nn.h"
#include "nn/ops/op.h"

/* What a step changes: `count` weights with their moments, which begin as 0. No array
 * overlaps another. */
typedef struct leat_adam_weights {
    int64_t count;
    const float *gradient;           /* [count] */
    double gradient_factor;          /* it is multiplied by this first */
    float *weights, *first, *second; /* [count] */
} leat_adam_weights;

/* Step `step` (1, 2, ...). LEAT_ERR_OPTION: a step below 1, betas outside [0, 1), a value that is
 * not finite, a negative eps or decay. */
LEAT_MUST_CHECK leat_code leat_adam_apply(const leat_device *device, const leat_adam *adam,
                                          int64_t step, const leat_adam_weights *of,
                                          leat_error *err);

#endif
