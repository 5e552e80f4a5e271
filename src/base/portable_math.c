/*
 * exp and ln of the C library differ in the last bit between versions and machines, and so would
 * everything computed from them. These use only + - * / of IEEE doubles, which are the same
 * everywhere (the build forbids contraction).
 */
#include "base/portable_math.h"

#include <stdint.h>
#include <string.h>

static const double ln_2 = 0x1.62e42fefa39efp-1;

/* x = 2^exponent * f, f in [sqrt(1/2), sqrt(2)); ln f = 2 (z + z^3/3 + z^5/5 + ...), with
 * z = (f - 1) / (f + 1), |z| < 0.172: eleven terms leave less than 2e-18. */
double leat_ln(double x) {
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof(bits));
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    double f = 0;
    memcpy(&f, &bits, sizeof(f));
    if (f > 0x1.6a09e667f3bcdp+0) {
        f *= 0.5;
        exponent++;
    }
    double z = (f - 1) / (f + 1), square = z * z, sum = 0;
    for (int i = 21; i >= 1; i -= 2) sum = sum * square + 1.0 / i;
    return exponent * ln_2 + 2 * z * sum;
}

/* e^x = 2^k e^r, r in [-ln 2 / 2, ln 2 / 2]: sixteen terms of the series leave less than 1e-20. */
double leat_exp(double x) {
    int k = (int)(x * (1 / ln_2) + 0.5);
    double r = x - k * ln_2, sum = 1;
    for (int i = 15; i >= 1; i--) sum = 1 + sum * r / i;
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double scale = 0;
    memcpy(&scale, &bits, sizeof(scale));
    return scale * sum;
}
