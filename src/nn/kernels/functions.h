/*
 * exp, log, tanh, sigmoid, softplus, sin and cos of vectors, within 2 ulp of the true value for
 * every float (tests/nn/tool_kernels.c compares all of them). Only IEEE operations and fused
 * multiply-adds, in the order that is written here, so that every instruction set gives the same
 * bits. Denormals are kept, as arguments and as results; a NaN gives a NaN.
 *
 * Each function reduces its argument exactly or with a constant in two or three floats, and
 * evaluates one polynomial by Horner's rule. The polynomials minimize the largest relative error of
 * the function on its interval (linear programming on 400 Chebyshev nodes against 40-digit values);
 * the coefficients were rounded to float one after the other from the lowest, the rest fitted again
 * each time. The error that remains is given as a power of two: half an ulp is 2^-25 to 2^-24.
 */
#ifndef LEAT_NN_KERNELS_FUNCTIONS_H
#define LEAT_NN_KERNELS_FUNCTIONS_H

#include "vec.h"

#define FUNCTION_INFINITY 0x7f800000 /* as bits */
#define FUNCTION_NAN 0x7fc00000
#define FUNCTION_SIGN INT32_MIN
/* ln 2 in two floats, the first of 15 bits: its products with integers up to 2^9 are exact. */
#define FUNCTION_LN2 0x1.62e4p-1f
#define FUNCTION_LN2_LOW 0x1.7f7d1cp-20f

LEAT_INLINE vf vf_abs(vf x) { return vf_bits(vi_and(vi_bits(x), vi_set(INT32_MAX))); }
LEAT_INLINE vi vf_sign(vf x) { return vi_and(vi_bits(x), vi_set(FUNCTION_SIGN)); }
/* The smaller of x and the bound; the bound for a NaN. */
LEAT_INLINE vf vf_below(vf x, float bound) {
    return vf_pick(vf_lt(x, vf_set(bound)), x, vf_set(bound));
}
/* 2^n for -126 <= n <= 127. */
LEAT_INLINE vf vf_power(vi n) { return vf_bits(vi_shl(vi_add(n, vi_set(127)), 23)); }

/*
 * exp for -104 <= x <= 89, as a float and what is missing to the true value, where that is not a
 * denormal: x = n ln 2 + r with |r| <= 0.3468.
 */
LEAT_INLINE vf vf_exp_within(vf x, vf *missing) {
    const vi n = vi_round(vf_mul(x, vf_set(0x1.715476p+0f)));
    const vf turns = vf_from(n);
    const vf high = vf_fma(turns, vf_set(-FUNCTION_LN2), x); /* exact */
    const vf r = vf_fma(turns, vf_set(-FUNCTION_LN2_LOW), high);
    /* exp(r) = 1 + r + r^2 p(r), 2^-28.2 */
    vf p = vf_set(0x1.6a4c8ep-10f);
    p = vf_fma(p, r, vf_set(0x1.123988p-7f));
    p = vf_fma(p, r, vf_set(0x1.5558bp-5f));
    p = vf_fma(p, r, vf_set(0x1.555492p-3f));
    p = vf_fma(p, r, vf_set(0x1.fffffcp-2f));
    /* 1 + r in two floats, because an ulp of r is worth a quarter of one of the result */
    const vf sum = vf_add(vf_set(1.0f), high);
    vf low = vf_sub(high, vf_sub(sum, vf_set(1.0f)));
    low = vf_fma(turns, vf_set(-FUNCTION_LN2_LOW), low);
    low = vf_fma(vf_mul(r, r), p, low);
    const vf y = vf_add(sum, low);
    /* in two factors, because 2^n may be neither a normal float nor finite; only the last rounds */
    const vi half = vi_shr(n, 1);
    const vf first = vf_power(half), second = vf_power(vi_sub(n, half));
    *missing = vf_mul(vf_mul(vf_sub(low, vf_sub(y, sum)), first), second);
    return vf_mul(vf_mul(y, first), second);
}

LEAT_INLINE vf vf_exp(vf x) {
    /* the bounds give infinity and 0 as all arguments beyond them do */
    vf bounded = vf_below(x, 89.0f);
    bounded = vf_pick(vf_lt(bounded, vf_set(-104.0f)), vf_set(-104.0f), bounded);
    vf missing;
    return vf_pick(vf_nan(x), x, vf_exp_within(bounded, &missing));
}

/* n ln 2 + log(1 + f) for -1/4 <= f <= 1/2 and integers n. */
LEAT_INLINE vf vf_log_sum(vf n, vf f) {
    /* log(1 + f) = f - f^2 / 2 + f^3 p(f), 2^-30.0 */
    vf p = vf_set(0x1.34283p-5f);
    p = vf_fma(p, f, vf_set(-0x1.75074ap-4f));
    p = vf_fma(p, f, vf_set(0x1.df193ap-4f));
    p = vf_fma(p, f, vf_set(-0x1.04acc6p-3f));
    p = vf_fma(p, f, vf_set(0x1.2463b6p-3f));
    p = vf_fma(p, f, vf_set(-0x1.5519dep-3f));
    p = vf_fma(p, f, vf_set(0x1.999762p-3f));
    p = vf_fma(p, f, vf_set(-0x1.00006ep-2f));
    p = vf_fma(p, f, vf_set(0x1.55555ap-2f));
    p = vf_fma(p, f, vf_set(-0.5f));
    /* n ln 2 + f in two floats */
    const vf whole = vf_mul(n, vf_set(FUNCTION_LN2)), sum = vf_add(whole, f);
    vf low = vf_sub(f, vf_sub(sum, whole));
    low = vf_fma(n, vf_set(FUNCTION_LN2_LOW), low);
    return vf_add(sum, vf_fma(p, vf_mul(f, f), low));
}

/* -infinity for 0, NaN below. */
LEAT_INLINE vf vf_log(vf x) {
    const vm denormal = vf_lt(x, vf_set(0x1p-126f));
    const vf normal = vf_pick(denormal, vf_mul(x, vf_set(0x1p23f)), x);
    /* x = 2^n (1 + f) with 3/4 <= 1 + f < 3/2 */
    const vi above = vi_sub(vi_bits(normal), vi_set(0x3f400000));
    const vi n = vi_sub(vi_shr(above, 23), vi_pick(denormal, vi_set(23), vi_set(0)));
    const vi rest = vi_add(vi_and(above, vi_set(0x007fffff)), vi_set(0x3f400000));
    vf y = vf_log_sum(vf_from(n), vf_sub(vf_bits(rest), vf_set(1.0f)));
    y = vf_pick(vf_lt(x, vf_bits(vi_set(FUNCTION_INFINITY))), y, x); /* infinity and NaN */
    y = vf_pick(vf_lt(x, vf_set(0.0f)), vf_bits(vi_set(FUNCTION_NAN)), y);
    const vm zero = vi_eq(vi_and(vi_bits(x), vi_set(INT32_MAX)), vi_set(0));
    return vf_pick(zero, vf_bits(vi_set(FUNCTION_INFINITY | FUNCTION_SIGN)), y);
}

LEAT_INLINE vf vf_tanh(vf x) {
    const vf a = vf_abs(x), square = vf_mul(a, a);
    /* tanh(a) = a + a^3 p(a^2), 2^-27.7 on a <= 0.625; above, where tanh > 1/2, from exp */
    vf p = vf_set(-0x1.750ce2p-8f);
    p = vf_fma(p, square, vf_set(0x1.51f8cep-6f));
    p = vf_fma(p, square, vf_set(-0x1.b835a4p-5f));
    p = vf_fma(p, square, vf_set(0x1.1106f6p-3f));
    p = vf_fma(p, square, vf_set(-0x1.555532p-2f));
    const vf small = vf_fma(vf_mul(a, square), p, a);
    vf missing;
    const vf power = vf_exp_within(vf_below(vf_add(a, a), 40.0f), &missing);
    const vf ratio = vf_div(vf_set(2.0f), vf_add(power, vf_set(1.0f)));
    const vf large = vf_sub(vf_set(1.0f), ratio);
    const vf y = vf_pick(vf_lt(a, vf_set(0.625f)), small, large);
    return vf_pick(vf_nan(x), x, vf_bits(vi_or(vi_bits(y), vf_sign(x))));
}

/* exp(-|x|), see vf_exp_within; something finite for a NaN. */
LEAT_INLINE vf vf_exp_minus(vf x, vf *missing) {
    return vf_exp_within(vf_sub(vf_set(0.0f), vf_below(vf_abs(x), 104.0f)), missing);
}

/* 1 / (1 + exp(-x)), for negative x as exp(x) / (1 + exp(x)): no overflow, no lost denormals. */
LEAT_INLINE vf vf_sigmoid(vf x) {
    const vf one = vf_set(1.0f), zero = vf_set(0.0f);
    const vm negative = vf_lt(x, zero);
    vf missing;
    const vf power = vf_exp_minus(x, &missing), below = vf_add(one, power);
    const vf y = vf_div(vf_pick(negative, power, one), below);
    /* what the division lacks: (above + a) / (below + b) = y + (a - y b) / below, nearly, and
       1 / below is nearly 1 - power / 2 */
    const vf a = vf_pick(negative, missing, zero);
    const vf b = vf_add(vf_sub(power, vf_sub(below, one)), missing);
    const vf factor = vf_fma(power, vf_set(-0.5f), one);
    const vf better = vf_fma(vf_sub(a, vf_mul(y, b)), factor, y);
    return vf_pick(vf_nan(x), x, better);
}

/* log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)). */
LEAT_INLINE vf vf_softplus(vf x) {
    const vf one = vf_set(1.0f), zero = vf_set(0.0f);
    vf missing;
    const vf power = vf_exp_minus(x, &missing);
    /* 1 + power, or 2 (1 + (power - 1) / 2), where the difference is exact */
    const vm large = vf_lt(vf_set(0.5f), power);
    const vf f = vf_pick(large, vf_mul(vf_sub(power, one), vf_set(0.5f)), power);
    const vf y = vf_log_sum(vf_pick(large, one, zero), f);
    return vf_pick(vf_nan(x), x, vf_add(vf_pick(vf_lt(zero, x), x, zero), y));
}

/*
 * sin and cos for |x| <= 2^20, NaN beyond: |x| = n pi / 2 + r, |r| <= 0.8305. n is found by one
 * fused multiply-add, whose sum is an integer in its lowest bits. pi / 2 in three floats: the first
 * step is exact, because the difference is a multiple of 2^-24 below 1.
 */
LEAT_INLINE void vf_sincos(vf x, vf *sine, vf *cosine) {
    const vf a = vf_abs(x);
    const vm within = vf_le(a, vf_set(0x1p20f));
    const vf bounded = vf_pick(within, a, vf_set(0.0f));
    const vf shift = vf_set(0x1.8p23f);
    const vf shifted = vf_fma(bounded, vf_set(0x1.45f306p-1f), shift);
    const vi n = vi_bits(shifted); /* modulo 4, as 0x1.8p23f is 0 there */
    const vf turns = vf_sub(shifted, shift);
    vf r = vf_fma(turns, vf_set(-0x1.921fb6p+0f), bounded);
    r = vf_fma(turns, vf_set(0x1.777a5cp-25f), r);
    r = vf_fma(turns, vf_set(0x1.ee59dap-50f), r);
    const vf square = vf_mul(r, r);
    /* sin(r) = r + r^3 p(r^2), 2^-27.3 */
    vf p = vf_set(-0x1.9862b2p-13f);
    p = vf_fma(p, square, vf_set(0x1.110486p-7f));
    p = vf_fma(p, square, vf_set(-0x1.55553ep-3f));
    const vf s = vf_fma(vf_mul(r, square), p, r);
    /* cos(r) = 1 - r^2 / 2 + r^4 q(r^2), 2^-32.1 */
    vf q = vf_set(0x1.993bc4p-16f);
    q = vf_fma(q, square, vf_set(-0x1.6c09cp-10f));
    q = vf_fma(q, square, vf_set(0x1.555546p-5f));
    q = vf_fma(q, square, vf_set(-0.5f));
    const vf c = vf_fma(q, square, vf_set(1.0f));
    const vm odd = vi_eq(vi_and(n, vi_set(1)), vi_set(1));
    const vi two = vi_set(2);
    const vi sine_sign = vi_xor(vi_shl(vi_and(n, two), 30), vf_sign(x));
    const vi cosine_sign = vi_shl(vi_and(vi_add(n, vi_set(1)), two), 30);
    const vf none = vf_bits(vi_set(FUNCTION_NAN));
    *sine = vf_pick(within, vf_bits(vi_xor(vi_bits(vf_pick(odd, c, s)), sine_sign)), none);
    *cosine = vf_pick(within, vf_bits(vi_xor(vi_bits(vf_pick(odd, s, c)), cosine_sign)), none);
}

LEAT_INLINE vf vf_sin(vf x) {
    vf sine, cosine;
    vf_sincos(x, &sine, &cosine);
    return sine;
}

LEAT_INLINE vf vf_cos(vf x) {
    vf sine, cosine;
    vf_sincos(x, &sine, &cosine);
    return cosine;
}

#endif
