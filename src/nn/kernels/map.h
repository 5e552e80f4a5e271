/*
 * Functions of arrays, and random numbers from bits, see kernels.h. Each element depends on its own
 * inputs only, so where the vectors begin cannot show; what is left at the end of an array is
 * computed in a copy.
 */
#ifndef LEAT_NN_KERNELS_MAP_H
#define LEAT_NN_KERNELS_MAP_H

#include <string.h>

#include "functions.h"
#include "kernels.h"
#include "vec.h"

/* `what` is a constant where these are inlined. */
LEAT_INLINE vf map_one(const leat_function what, vf x) {
    switch (what) {
    case LEAT_FUNCTION_EXP: return vf_exp(x);
    case LEAT_FUNCTION_LOG: return vf_log(x);
    case LEAT_FUNCTION_TANH: return vf_tanh(x);
    case LEAT_FUNCTION_SIGMOID: return vf_sigmoid(x);
    case LEAT_FUNCTION_SOFTPLUS: return vf_softplus(x);
    case LEAT_FUNCTION_SIN: return vf_sin(x);
    case LEAT_FUNCTION_COS: return vf_cos(x);
    default: return x;
    }
}

LEAT_INLINE void map_of(const leat_function what, int64_t count, const float *in, float *out) {
    int64_t i = 0;
    for (; i + VW <= count; i += VW) vf_store(out + i, map_one(what, vf_load(in + i)));
    if (VW > 1 && i < count) {
        float rest[VW] = {0};
        memcpy(rest, in + i, (size_t)(count - i) * sizeof *rest);
        vf_store(rest, map_one(what, vf_load(rest)));
        memcpy(out + i, rest, (size_t)(count - i) * sizeof *rest);
    }
}

static void map(leat_function what, int64_t count, const float *in, float *out) {
    switch (what) {
    case LEAT_FUNCTION_EXP: map_of(LEAT_FUNCTION_EXP, count, in, out); break;
    case LEAT_FUNCTION_LOG: map_of(LEAT_FUNCTION_LOG, count, in, out); break;
    case LEAT_FUNCTION_TANH: map_of(LEAT_FUNCTION_TANH, count, in, out); break;
    case LEAT_FUNCTION_SIGMOID: map_of(LEAT_FUNCTION_SIGMOID, count, in, out); break;
    case LEAT_FUNCTION_SOFTPLUS: map_of(LEAT_FUNCTION_SOFTPLUS, count, in, out); break;
    case LEAT_FUNCTION_SIN: map_of(LEAT_FUNCTION_SIN, count, in, out); break;
    case LEAT_FUNCTION_COS: map_of(LEAT_FUNCTION_COS, count, in, out); break;
    default: break;
    }
}

static void uniform(int64_t count, const int32_t *bits, float *out) {
    const vf unit = vf_set(0x1p-24f);
    int64_t i = 0;
    for (; i + VW <= count; i += VW) vf_store(out + i, vf_mul(vf_from(vi_load(bits + i)), unit));
    for (; i < count; i++) out[i] = (float)bits[i] * 0x1p-24f; /* exact, as above */
}

static void normal(int64_t pairs, const int32_t *radius, const int32_t *angle, float *out) {
    for (int64_t first = 0; first < pairs; first += LEAT_LANES) {
        const int64_t left = pairs - first, count = left < LEAT_LANES ? left : LEAT_LANES;
        int32_t radii[LEAT_LANES] = {0}, angles[LEAT_LANES] = {0};
        float cosines[LEAT_LANES], sines[LEAT_LANES];
        memcpy(radii, radius + first, (size_t)count * sizeof *radii);
        memcpy(angles, angle + first, (size_t)count * sizeof *angles);
        for (int i = 0; i < LEAT_LANES; i += VW) {
            /* in [2^-32, 1]: the logarithm is finite and not positive */
            const vf u = vf_fma(vf_from(vi_load(radii + i)), vf_set(0x1p-31f), vf_set(0x1p-32f));
            const vf length = vf_sqrt(vf_mul(vf_log(u), vf_set(-2.0f)));
            vf sine, cosine;
            vf_sincos(vf_mul(vf_from(vi_load(angles + i)), vf_set(0x1.921fb6p-22f)), &sine,
                      &cosine);
            vf_store(cosines + i, vf_mul(length, cosine));
            vf_store(sines + i, vf_mul(length, sine));
        }
        for (int64_t i = 0; i < count; i++) {
            out[2 * (first + i)] = cosines[i];
            out[2 * (first + i) + 1] = sines[i];
        }
    }
}

#endif
