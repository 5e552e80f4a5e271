/*
 * Kernels that treat each value alone, see kernels.h. A rest shorter than a vector is copied into
 * one, so that it takes the same way.
 */
#ifndef LEAT_NN_KERNELS_EACH_H
#define LEAT_NN_KERNELS_EACH_H

#include <string.h>

#include "norm.h"

static void leaky(float slope, int64_t count, const float *x, float *y) {
    int64_t i = 0;
    for (; i + VW <= count; i += VW) vf_store(y + i, leaky_of(vf_load(x + i), vf_set(slope)));
    if (i == count) return;
    float in[VW] = {0}, out[VW];
    const size_t rest = sizeof *x * (size_t)(count - i);
    memcpy(in, x + i, rest);
    leaky(slope, VW, in, out);
    memcpy(y + i, out, rest);
}

static void leaky_back(float slope, int64_t count, const float *y, const float *up, float *down) {
    int64_t i = 0;
    for (; i + VW <= count; i += VW)
        vf_store(down + i, leaky_back_of(vf_load(y + i), vf_set(slope), vf_load(up + i)));
    if (i == count) return;
    float value[VW] = {0}, in[VW] = {0}, out[VW];
    const size_t rest = sizeof *y * (size_t)(count - i);
    memcpy(value, y + i, rest);
    memcpy(in, up + i, rest);
    leaky_back(slope, VW, value, in, out);
    memcpy(down + i, out, rest);
}

static void tanh_back(int64_t count, const float *y, const float *up, float *down) {
    int64_t i = 0;
    for (; i + VW <= count; i += VW) {
        const vf value = vf_load(y + i);
        const vf slope = vf_fma(vf_sub(vf_set(0.0f), value), value, vf_set(1.0f));
        vf_store(down + i, vf_mul(vf_load(up + i), slope));
    }
    if (i == count) return;
    float value[VW] = {0}, in[VW] = {0}, out[VW];
    const size_t rest = sizeof *y * (size_t)(count - i);
    memcpy(value, y + i, rest);
    memcpy(in, up + i, rest);
    tanh_back(VW, value, in, out);
    memcpy(down + i, out, rest);
}

static void add_scaled(int64_t count, float factor, const float *x, float *sum) {
    int64_t i = 0;
    for (; i + VW <= count; i += VW)
        vf_store(sum + i, vf_fma(vf_set(factor), vf_load(x + i), vf_load(sum + i)));
    if (i == count) return;
    float in[VW] = {0}, out[VW] = {0};
    const size_t rest = sizeof *x * (size_t)(count - i);
    memcpy(in, x + i, rest);
    memcpy(out, sum + i, rest);
    add_scaled(VW, factor, in, out);
    memcpy(sum + i, out, rest);
}

static void adam(const leat_adam_step *step, int64_t count, const float *gradient, float *weights,
                 float *first, float *second) {
    int64_t i = 0;
    const vf factor = vf_set(step->gradient_factor), size = vf_set(-step->size);
    const vf more1 = vf_set(step->more1), more2 = vf_set(step->more2), keep2 = vf_set(step->keep2);
    const vf root = vf_set(step->root), eps = vf_set(step->eps), keep = vf_set(step->keep_weight);
    for (; i + VW <= count; i += VW) {
        const vf g = vf_mul(vf_load(gradient + i), factor);
        const vf old1 = vf_load(first + i), w = vf_mul(vf_load(weights + i), keep);
        const vf m = vf_fma(vf_sub(g, old1), more1, old1);
        const vf v = vf_fma(vf_load(second + i), keep2, vf_mul(vf_mul(more2, g), g));
        const vf divisor = vf_add(vf_div(vf_sqrt(v), root), eps);
        vf_store(first + i, m);
        vf_store(second + i, v);
        vf_store(weights + i, vf_fma(size, vf_div(m, divisor), w));
    }
    if (i == count) return;
    float g[VW] = {0}, w[VW] = {0}, m[VW] = {0}, v[VW] = {0};
    const size_t rest = sizeof *weights * (size_t)(count - i);
    memcpy(g, gradient + i, rest);
    memcpy(w, weights + i, rest);
    memcpy(m, first + i, rest);
    memcpy(v, second + i, rest);
    adam(step, VW, g, w, m, v);
    memcpy(weights + i, w, rest);
    memcpy(first + i, m, rest);
    memcpy(second + i, v, rest);
}

#endif
