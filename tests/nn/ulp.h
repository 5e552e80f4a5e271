/*
 * The error of a function of the kernels in ulp: the distance between the float and the true value,
 * in units of the distance between the floats around the true value (2^-149 for denormals). The
 * true value is that of the C library in double, whose own error is below 2^-28 of such a unit.
 */
#ifndef LEAT_TESTS_NN_ULP_H
#define LEAT_TESTS_NN_ULP_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "nn/kernels/kernels.h"

static const char *const map_names[LEAT_FUNCTIONS] = {
    [LEAT_FUNCTION_EXP] = "exp",           [LEAT_FUNCTION_LOG] = "log",
    [LEAT_FUNCTION_TANH] = "tanh",         [LEAT_FUNCTION_SIGMOID] = "sigmoid",
    [LEAT_FUNCTION_SOFTPLUS] = "softplus", [LEAT_FUNCTION_SIN] = "sin",
    [LEAT_FUNCTION_COS] = "cos",
};

static inline float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* All NaN have the same bits here. */
static inline uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? 0x7fc00000 : bits;
}

static inline double true_value(leat_function what, double x) {
    switch (what) {
    case LEAT_FUNCTION_EXP: return exp(x);
    case LEAT_FUNCTION_LOG: return log(x);
    case LEAT_FUNCTION_TANH: return tanh(x);
    case LEAT_FUNCTION_SIGMOID: return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
    case LEAT_FUNCTION_SOFTPLUS: return (x > 0 ? x : 0) + log1p(exp(x > 0 ? -x : x));
    case LEAT_FUNCTION_SIN: return fabs(x) <= 0x1p20 ? sin(x) : (double)NAN;
    case LEAT_FUNCTION_COS: return fabs(x) <= 0x1p20 ? cos(x) : (double)NAN;
    default: return 0;
    }
}

/* Infinity where one of the two is NaN. What rounds to infinity counts as 2^128. */
static inline double ulp_error(float got, double truth) {
    if (got != got || truth != truth) return got != got && truth != truth ? 0 : (double)INFINITY;
    double value = got;
    if (fabs(value) > 0x1p128) value = copysign(0x1p128, value);
    if (fabs(truth) > 0x1p128) truth = copysign(0x1p128, truth);
    uint64_t bits;
    memcpy(&bits, &truth, sizeof bits);
    int64_t exponent = (int64_t)(bits >> 52 & 0x7ff) - 1023;
    if (exponent < -126) exponent = -126;
    const uint64_t scale_bits = (uint64_t)(23 - exponent + 1023) << 52;
    double scale;
    memcpy(&scale, &scale_bits, sizeof scale);
    return fabs(value - truth) * scale;
}

#endif
