/*
 * exp, ln, sin and cos of the C library differ in the last bit between versions and machines, and
 * so would everything computed from them. These use only + - * / of IEEE doubles, which are the
 * same everywhere (the build forbids contraction).
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

/* x = n pi / 2 + r, |r| <= pi / 4. pi / 2 has three parts of 33 bits, whose products with n up to
 * 2^20 are exact; what they leave out is below 1e-31. Nine terms of each series leave less than
 * 1e-19. */
void leat_sin_cos(double x, double *sine, double *cosine) {
    static const double part[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69};
    const int64_t n = (int64_t)(x * 0x1.45f306dc9c883p-1 + 0.5);
    const double turns = (double)n;
    const double r = ((x - turns * part[0]) - turns * part[1]) - turns * part[2];
    const double square = r * r;
    double s = 1, c = 1;
    for (int i = 18; i >= 2; i -= 2) {
        s = 1 - s * square / (i * (i + 1));
        c = 1 - c * square / (i * (i - 1));
    }
    s *= r;
    const double turned[] = {s, c, -s, -c};
    *sine = turned[n % 4];
    *cosine = turned[(n + 1) % 4];
}
