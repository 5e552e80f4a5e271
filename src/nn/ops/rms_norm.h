/*
 * Root mean square norm of rows, [row][step], step = leat_lanes(columns); unused lanes of inputs
 * may hold any numbers, those of results stay as they are.
 *
 *     scale = 1 / sqrt((x . x) / columns + eps)        of each row
 *     y     = (x scale) w
 *
 * Orders (this is the specification). An inner product has LEAT_LANES lanes, as
 * leat_kernels.row_dot. With g the gradient of y, h = x scale and p = g w, each rounded:
 *
 *     dx = scale fma(-(p . h) / columns, h, p)
 *     dw continues its chain over the rows, ascending, of fma(g, h, .)
 *
 * Parts are pieces of the rows, and for dw blocks of columns.
 * Source: Zhang and Sennrich, Root Mean Square Layer Normalization, arXiv:1910.07467.
 */
#ifndef LEAT_NN_OPS_RMS_NORM_H
#define LEAT_NN_OPS_RMS_NORM_H

#include "nn/ops/op.h"

typedef struct leat_rms_norm {
    int64_t rows, columns; /* at least one column */
    float eps;             /* above 0 */
    const float *weight;   /* [columns] */
} leat_rms_norm;

/* y may be x; scale [rows] is for backward. */
LEAT_MUST_CHECK leat_code leat_rms_norm_forward(const leat_device *device, const leat_rms_norm *of,
                                                const float *x, float *y, float *scale,
                                                leat_error *err);
/* Gradients, from that of y. */
typedef struct leat_rms_norm_gradient {
    const float *up; /* of y */
    float *weight;   /* [columns], added to */
    float *down;     /* of x; it may be up */
} leat_rms_norm_gradient;
/* x and scale are those of forward. */
LEAT_MUST_CHECK leat_code leat_rms_norm_backward(const leat_device *device, const leat_rms_norm *of,
                                                 const float *x, const float *scale,
                                                 const leat_rms_norm_gradient *gradient,
                                                 leat_error *err);

#endif
