/*
 * Rotary positions: rows of heads side by side, [row][step], step = leat_lanes(heads * width). In
 * each head value j, of the first half, turns with value j + width / 2 by the angle
 * position * base^(-2 j / width):
 *
 *     y[j]             = fma(x[j], cos, -(x[j + width / 2] sin))
 *     y[j + width / 2] = fma(x[j + width / 2], cos, x[j] sin)
 *
 * The gradient turns back: the same with -sin. Angles, sines and cosines are computed in double
 * (base/portable_math.h) and rounded once, into a table. Parts are pieces of the rows.
 * Source: Su et al., RoFormer, arXiv:2104.09864; halves instead of neighbours as in Hugging Face's
 * Llama.
 */
#ifndef LEAT_NN_OPS_ROPE_H
#define LEAT_NN_OPS_ROPE_H

#include "nn/ops/op.h"

#define LEAT_ROPE_POSITIONS_MAX (INT64_C(1) << 20)
#define LEAT_ROPE_BASE_MAX 1e12

/* [position][cos, sin][width / 2], for positions 0 .. positions - 1 (at most
 * LEAT_ROPE_POSITIONS_MAX); width is even, 1 <= base <= LEAT_ROPE_BASE_MAX. In the room's mode for
 * floating point (nn/float_mode.h). */
void leat_rope_fill(int64_t positions, int64_t width, double base, float *table);

typedef struct leat_rope {
    int64_t rows, heads, width; /* at least one head; width is even, at least 2 */
    int64_t positions;          /* of the table */
    const float *table;
    const int32_t *position; /* [rows] below `positions` */
} leat_rope;

/* x is turned in place, or turned back. */
LEAT_MUST_CHECK leat_code leat_rope_forward(const leat_device *device, const leat_rope *of,
                                            float *x, leat_error *err);
LEAT_MUST_CHECK leat_code leat_rope_backward(const leat_device *device, const leat_rope *of,
                                             float *x, leat_error *err);

#endif
