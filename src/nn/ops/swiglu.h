/*
 * The gated unit of a transformer, value by value:
 *
 *     y = (gate s) x,   s = sigmoid(gate)
 *
 * With g the gradient of y, products from left to right as they stand, each rounded:
 *
 *     d gate = (g x) (s fma(gate, 1 - s, 1)),   d x = g (gate s)
 *
 * Parts are pieces of the array.
 * Source: Shazeer, GLU Variants Improve Transformer, arXiv:2002.05202.
 */
#ifndef LEAT_NN_OPS_SWIGLU_H
#define LEAT_NN_OPS_SWIGLU_H

#include "nn/ops/op.h"

/* y may be gate or x. */
LEAT_MUST_CHECK leat_code leat_swiglu_forward(const leat_device *device, int64_t count,
                                              const float *gate, const float *x, float *y,
                                              leat_error *err);
/* gate and x are replaced by their gradients. */
LEAT_MUST_CHECK leat_code leat_swiglu_backward(const leat_device *device, int64_t count,
                                               float *gate, float *x, const float *up,
                                               leat_error *err);

#endif
