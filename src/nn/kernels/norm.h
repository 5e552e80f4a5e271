/*
 * The kernels of normalisation over pixels and images, channel by channel, see kernels.h. A sum of
 * a channel has LEAT_LANES lanes: lane l adds the images l, l + 16, ... of a pixel, pixel by pixel.
 */
#ifndef LEAT_NN_KERNELS_NORM_H
#define LEAT_NN_KERNELS_NORM_H

#include "kernels.h"
#include "vec.h"

_Static_assert(LEAT_LANES % VW == 0, "the lanes of a sum are whole vectors");

/* For each lane of the last 16 all bits or none: whether there is such an image. */
LEAT_INLINE void lane_mask(int64_t images, int32_t mask[LEAT_LANES]) {
    const int64_t used = (images - 1) % LEAT_LANES + 1;
    for (int lane = 0; lane < LEAT_LANES; lane++) mask[lane] = lane < used ? -1 : 0;
}

/* x with unused lanes 0: +0 added to a sum that began at +0 changes nothing. */
LEAT_INLINE vf masked(vf x, bool last, const int32_t *mask) {
    return last ? vf_bits(vi_and(vi_bits(x), vi_load(mask))) : x;
}

/* x if it is above 0, else its share `slope`; 0 for a slope of 0, also of -infinity. */
LEAT_INLINE vf leaky_of(vf x, vf slope) {
    const vf zero = vf_set(0.0f);
    const vm flat = vf_le(slope, zero);
    const vf low = vf_pick(flat, vf_pick(vf_nan(x), x, zero), vf_mul(x, slope));
    return vf_pick(vf_lt(zero, x), x, low);
}

/* The gradient of leaky_of at a value of x, or of the result, whose sign is the same. */
LEAT_INLINE vf leaky_back_of(vf x, vf slope, vf up) {
    const vf zero = vf_set(0.0f), low = vf_pick(vf_le(slope, zero), zero, vf_mul(up, slope));
    return vf_pick(vf_lt(zero, x), up, low);
}

static void sums(int64_t pixels, int64_t channels, int64_t images, const float *x, float *lanes) {
    int32_t mask[LEAT_LANES];
    lane_mask(images, mask);
    for (int64_t p = 0; p < pixels; p++) {
        for (int64_t c = 0; c < channels; c++) {
            for (int64_t n = 0; n < images; n += LEAT_LANES, x += LEAT_LANES) {
                for (int v = 0; v < LEAT_LANES; v += VW) {
                    float *sum = lanes + c * LEAT_LANES + v;
                    const vf value = masked(vf_load(x + v), n + LEAT_LANES > images, mask + v);
                    vf_store(sum, vf_add(vf_load(sum), value));
                }
            }
        }
    }
}

static void squares(int64_t pixels, int64_t channels, int64_t images, const float *x,
                    const float *mean, float *lanes) {
    int32_t mask[LEAT_LANES];
    lane_mask(images, mask);
    for (int64_t p = 0; p < pixels; p++) {
        for (int64_t c = 0; c < channels; c++) {
            const vf center = vf_set(mean[c]);
            for (int64_t n = 0; n < images; n += LEAT_LANES, x += LEAT_LANES) {
                for (int v = 0; v < LEAT_LANES; v += VW) {
                    float *sum = lanes + c * LEAT_LANES + v;
                    const vf off =
                        masked(vf_sub(vf_load(x + v), center), n + LEAT_LANES > images, mask + v);
                    vf_store(sum, vf_fma(off, off, vf_load(sum)));
                }
            }
        }
    }
}

static void norm(const leat_normalization *norm, int64_t pixels, int64_t channels, int64_t lanes,
                 const float *x, float *y) {
    const vf slope = vf_set(norm->slope);
    const bool linear = norm->slope == 1.0f;
    for (int64_t p = 0; p < pixels; p++) {
        for (int64_t c = 0; c < channels; c++) {
            const vf mean = vf_set(norm->mean[c]), scale = vf_set(norm->scale[c]);
            const vf shift = vf_set(norm->shift[c]);
            for (int64_t n = 0; n < lanes; n += VW, x += VW, y += VW) {
                const vf out = vf_fma(vf_sub(vf_load(x), mean), scale, shift);
                vf_store(y, linear ? out : leaky_of(out, slope));
            }
        }
    }
}

static void norm_sums(const leat_normalization *norm, int64_t pixels, int64_t channels,
                      int64_t images, const float *x, const float *up, float *ones,
                      float *products) {
    int32_t mask[LEAT_LANES];
    const vf slope = vf_set(norm->slope);
    lane_mask(images, mask);
    for (int64_t p = 0; p < pixels; p++) {
        for (int64_t c = 0; c < channels; c++) {
            const vf mean = vf_set(norm->mean[c]), scale = vf_set(norm->scale[c]);
            const vf shift = vf_set(norm->shift[c]);
            for (int64_t n = 0; n < images; n += LEAT_LANES, x += LEAT_LANES, up += LEAT_LANES) {
                const bool last = n + LEAT_LANES > images;
                for (int v = 0; v < LEAT_LANES; v += VW) {
                    float *one = ones + c * LEAT_LANES + v,
                          *product = products + c * LEAT_LANES + v;
                    const vf off = masked(vf_sub(vf_load(x + v), mean), last, mask + v);
                    const vf out = vf_fma(off, scale, shift);
                    const vf gradient =
                        masked(leaky_back_of(out, slope, vf_load(up + v)), last, mask + v);
                    vf_store(one, vf_add(vf_load(one), gradient));
                    vf_store(product, vf_fma(gradient, off, vf_load(product)));
                }
            }
        }
    }
}

static void norm_back(const leat_normalization *norm, int64_t pixels, int64_t channels,
                      int64_t lanes, const float *x, const float *up, float *down) {
    const vf slope = vf_set(norm->slope), zero = vf_set(0.0f);
    for (int64_t p = 0; p < pixels; p++) {
        for (int64_t c = 0; c < channels; c++) {
            const vf mean = vf_set(norm->mean[c]), scale = vf_set(norm->scale[c]);
            const vf shift = vf_set(norm->shift[c]), one = vf_set(norm->ones[c]);
            const vf product = vf_sub(zero, vf_set(norm->products[c]));
            for (int64_t n = 0; n < lanes; n += VW, x += VW, up += VW, down += VW) {
                const vf off = vf_sub(vf_load(x), mean);
                const vf out = vf_fma(off, scale, shift);
                const vf gradient = vf_sub(leaky_back_of(out, slope, vf_load(up)), one);
                vf_store(down, vf_mul(scale, vf_fma(off, product, gradient)));
            }
        }
    }
}

#endif
