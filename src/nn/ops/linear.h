/*
 * Dense layers over rows: y = act(x W^T + b), W [out][in] as in PyTorch. Rows are [row][step] with
 * step = leat_lanes of the columns; unused lanes of inputs may hold any numbers, and so do those of
 * results.
 *
 * Orders: y is one chain over the inputs, then the bias (product.h). The gradient of x is a chain
 * over the outputs, those of W and b are chains over the rows, ascending, that continue from what
 * the arrays hold.
 */
#ifndef LEAT_NN_OPS_LINEAR_H
#define LEAT_NN_OPS_LINEAR_H

#include "nn/ops/op.h"

typedef struct leat_linear {
    int64_t rows, in, out; /* rows may be 0 */
    const float *weight;   /* [out][in] */
    const float *bias;     /* [out]; NULL: none */
    bool relu;
    float *work; /* leat_linear_work_count floats */
} leat_linear;

/* Floats of work space for both directions; more rows never need less. */
int64_t leat_linear_work_count(const leat_device *device, const leat_linear *layer);

LEAT_MUST_CHECK leat_code leat_linear_forward(const leat_device *device, const leat_linear *layer,
                                              const float *x, float *y, leat_error *err);

/* From `up`, the gradient of y before the activation: leat_leaky_backward with slope 0 gives it. */
typedef struct leat_linear_gradient {
    float *weight, *bias; /* added to; NULL: not computed */
    float *x;             /* [rows][step]; NULL: not computed */
    bool add;             /* the chain of x continues from what it holds */
} leat_linear_gradient;
LEAT_MUST_CHECK leat_code leat_linear_backward(const leat_device *device, const leat_linear *layer,
                                               const float *x, const float *up,
                                               const leat_linear_gradient *out, leat_error *err);

#endif
