/* Means over pixels: what a net without a spatial size at its end has of an activation. */
#ifndef LEAT_NN_OPS_MEAN_H
#define LEAT_NN_OPS_MEAN_H

#include "nn/ops/op.h"

typedef struct leat_mean {
    int64_t images, pixels, channels; /* at least one of each */
} leat_mean;

/* rows [images][channels]: the mean of each channel of in [pixel][channel][lane], added pixel by
 * pixel. The arrays do not overlap. */
LEAT_MUST_CHECK leat_code leat_mean_pixels(const leat_device *device, const leat_mean *of,
                                           const float *in, float *rows, leat_error *err);

#endif
