/*
 * Convolution and transposed convolution in two dimensions, without a bias.
 *
 * Both are one geometry read in two directions. It has a wide side (the input of a convolution, the
 * output of a transposed one) and a narrow side:
 *     narrow pixel (y, x), tap (ky, kx) <-> wide pixel (y * stride - padding + ky, ...).
 *
 *                           convolution          transposed convolution
 *     leat_conv_down        forward              gradient of the input
 *     leat_conv_up          gradient of input    forward
 *     leat_conv_weight_gradient     gradient of weights  gradient of weights
 *
 * Weights are [narrow channel][wide channel][ky][kx] for both, which is how PyTorch stores them.
 * Activations lie as op.h says: [height][width][channel][lane].
 *
 * Order of the chains (this is the specification; taps outside the image are left out):
 *     down, up:  over taps (ky, then kx), then over the channels that are summed
 *     weights:   over narrow pixels (y, then x), then over images
 * Source: models.md 1; Dumoulin and Visin, A guide to convolution arithmetic (arXiv:1603.07285).
 */
#ifndef LEAT_NN_OPS_CONV_H
#define LEAT_NN_OPS_CONV_H

#include "nn/ops/op.h"

#define LEAT_CONV_KERNEL_MAX 8
#define LEAT_CONV_SIZE_MAX 65536 /* of a height, a width, a number of channels */
#define LEAT_CONV_IMAGES_MAX 65536

typedef struct leat_conv {
    int kernel, stride, padding;
    int wide_channels, wide_height, wide_width;
    int narrow_channels, narrow_height, narrow_width;
} leat_conv;

/*
 * Completes a geometry whose kernel, stride, padding, channels and one side's size are set: sizes
 * that are 0 are computed. narrow = floor((wide + 2 padding - kernel) / stride) + 1; wide =
 * (narrow - 1) stride - 2 padding + kernel. LEAT_ERR_OPTION, which names the size: out of range, or
 * sizes that do not fit each other.
 */
LEAT_MUST_CHECK leat_code leat_conv_complete(leat_conv *conv, leat_error *err);

/* leat_conv_check: whether the activations of `images` images have at most LEAT_OP_VALUES_MAX
 * values; LEAT_ERR_OPTION. Values in the weights, and in an activation of `images` images (with
 * unused lanes). */
LEAT_MUST_CHECK leat_code leat_conv_check(const leat_conv *conv, int64_t images, leat_error *err);
int64_t leat_conv_weight_count(const leat_conv *conv);
int64_t leat_conv_wide_count(const leat_conv *conv, int64_t images);
int64_t leat_conv_narrow_count(const leat_conv *conv, int64_t images);

/* Weights in the order that the kernels read: leat_conv_weight_count floats each, valid for the
 * kernels of `device`. Packed once, used for every micro-batch of a unit. */
void leat_conv_pack_down(const leat_device *device, const leat_conv *conv, const float *weights,
                         float *packed);
void leat_conv_pack_up(const leat_device *device, const leat_conv *conv, const float *weights,
                       float *packed);

/* narrow = the convolution of wide; every value is written. What is written overlaps nothing that
 * is read, here and below. */
LEAT_MUST_CHECK leat_code leat_conv_down(const leat_device *device, const leat_conv *conv,
                                         int64_t images, const float *packed_down,
                                         const float *wide, float *narrow, leat_error *err);
/* wide = the transposed convolution of narrow; every value is written. */
LEAT_MUST_CHECK leat_code leat_conv_up(const leat_device *device, const leat_conv *conv,
                                       int64_t images, const float *packed_up, const float *narrow,
                                       float *wide, leat_error *err);

/* The gradient of the weights, in the order that the kernels write, so that several calls continue
 * one chain. leat_conv_unpack_gradient puts it into the order of the weights. */
typedef struct leat_conv_gradient {
    float *values; /* [leat_conv_gradient_count] */
    bool add;      /* to them; false starts the chain */
    float *work;   /* [leat_conv_work_count] */
} leat_conv_gradient;
int64_t leat_conv_gradient_count(const leat_conv *conv);
int64_t leat_conv_work_count(const leat_device *device, const leat_conv *conv, int64_t images);
/* From the wide and the narrow side: one is an input of the layer, the other the gradient of its
 * output. */
LEAT_MUST_CHECK leat_code leat_conv_weight_gradient(const leat_device *device,
                                                    const leat_conv *conv, int64_t images,
                                                    const float *wide, const float *narrow,
                                                    const leat_conv_gradient *gradient,
                                                    leat_error *err);
void leat_conv_unpack_gradient(const leat_conv *conv, const float *gradient, float *weights);

#endif
