/* Ops that treat each value alone, in parts of the pool. The result may replace an argument, but
 * not overlap it otherwise. Slopes are not negative. */
#ifndef LEAT_NN_OPS_EACH_H
#define LEAT_NN_OPS_EACH_H

#include "nn/ops/op.h"

/* y = x above 0, slope * x below; and the gradient from y (0 counts as below). */
LEAT_MUST_CHECK leat_code leat_leaky(const leat_device *device, float slope, int64_t count,
                                     const float *x, float *y, leat_error *err);
LEAT_MUST_CHECK leat_code leat_leaky_backward(const leat_device *device, float slope, int64_t count,
                                              const float *y, const float *up, float *down,
                                              leat_error *err);
/* The gradient `up` of ReLU, then dropout with this scale (graph_random.h), from the result y: it
 * becomes up * scale where y is above 0, else +0. The bits are those of the gradients of both, one
 * after the other, and nothing is drawn. */
LEAT_MUST_CHECK leat_code leat_relu_dropout_backward(const leat_device *device, float scale,
                                                     int64_t count, const float *y, float *up,
                                                     leat_error *err);
/* A function of one number, such as tanh. */
LEAT_MUST_CHECK leat_code leat_map_values(const leat_device *device, leat_function what,
                                          int64_t count, const float *x, float *y, leat_error *err);
LEAT_MUST_CHECK leat_code leat_tanh_backward(const leat_device *device, int64_t count,
                                             const float *y, const float *up, float *down,
                                             leat_error *err);
/* sum += factor * x, as one fused multiply-add. */
LEAT_MUST_CHECK leat_code leat_add_scaled(const leat_device *device, int64_t count, float factor,
                                          const float *x, float *sum, leat_error *err);

#endif
