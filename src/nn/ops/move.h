/*
 * What is moved and not computed: rows of values, one for each image (or what else the lanes are),
 * into the layout of the ops and out of it. Without a spatial size that is [value][lane] (op.h);
 * lanes without an image become 0.
 */
#ifndef LEAT_NN_OPS_MOVE_H
#define LEAT_NN_OPS_MOVE_H

#include "nn/ops/op.h"

/* rows [images][values] to out [values][lanes]. Here and below, at least one of each, and the
 * arrays do not overlap. */
LEAT_MUST_CHECK leat_code leat_move_in(const leat_device *device, int64_t images, int64_t values,
                                       const float *rows, float *out, leat_error *err);
/* The same of levels, each of which becomes its number of `table`. */
typedef struct leat_levels {
    const uint8_t *rows;
    const float *table; /* [256] */
} leat_levels;
LEAT_MUST_CHECK leat_code leat_move_levels_in(const leat_device *device, int64_t images,
                                              int64_t values, leat_levels of, float *out,
                                              leat_error *err);
/* in [values][lanes] to rows [images][values]. */
LEAT_MUST_CHECK leat_code leat_move_out(const leat_device *device, int64_t images, int64_t values,
                                        const float *in, float *rows, leat_error *err);

/* out = 0; out = in. */
void leat_clear(const leat_device *device, int64_t count, float *out);
void leat_copy(const leat_device *device, int64_t count, const float *in, float *out);

#endif
