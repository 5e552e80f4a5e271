/* ln, exp, sin and cos of our own beside those of the C library. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/portable_math.h"
#include "base/rng.h"

static double unit(uint64_t stream, uint64_t i) {
    return leat_random_unit(leat_random(1, stream, i));
}

static void expect_ln(double x) {
    double got = leat_ln(x), want = log(x);
    if (!(fabs(got - want) <= 1e-14 * fabs(want))) fail_msg("ln %.17g: %.17g", x, got);
}

static void logarithms(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        expect_ln(exp(unit(1, i) * 36));
        expect_ln(exp(unit(2, i) * -36));
        /* next to 1, where ln is next to 0 */
        expect_ln(1 + unit(3, i) * 1e-6);
        expect_ln(1 - unit(4, i) * 1e-6);
    }
    for (int n = 1; n <= 2048; n++) expect_ln(n);
    expect_ln(DBL_MIN);
    expect_ln(DBL_MAX);
    assert_true(leat_ln(1) == 0);
}

static void exponentials(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        double x = unit(5, i) * 60;
        assert_true(fabs(leat_exp(x) - exp(x)) <= 1e-14 * exp(x));
    }
    assert_true(leat_exp(0) == 1);
}

static void expect_sin_cos(double x) {
    double sine = 0, cosine = 0;
    leat_sin_cos(x, &sine, &cosine);
    if (!(fabs(sine - sin(x)) <= 1e-15 && fabs(cosine - cos(x)) <= 1e-15))
        fail_msg("%.17g: sin %.17g, cos %.17g", x, sine, cosine);
}

static void angles(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 200000; i++) {
        expect_sin_cos(unit(6, i) * 7);
        expect_sin_cos(unit(7, i) * 0x1p20);
    }
    for (int n = 0; n <= 2048; n++) {
        expect_sin_cos(n);
        expect_sin_cos(n * 0x1.921fb54442d18p-1); /* multiples of pi / 4 */
    }
    expect_sin_cos(0x1p20);
    expect_sin_cos(0x1p-1022);
}

/* The same bits wherever this runs: a few of them, once and for all. */
static void bits(void **state) {
    (void)state;
    static const struct {
        double x, ln, exp;
    } cases[] = {
        {1.5, 0x1.9f323ecbf984cp-2, 0x1.1ed3fe64fc542p+2},
        {2, 0x1.62e42fefa39efp-1, 0x1.d8e64b8d4ddafp+2},
        {3, 0x1.193ea7aad030ap+0, 0x1.415e5bf6fb106p+4},
        {10, 0x1.26bb1bbb55515p+1, 0x1.5829dcf950563p+14},
        {59.9, 0x1.05ee696fa6a8p+2, 0x1.55e68ab118de1p+86},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_true(leat_ln(cases[i].x) == cases[i].ln);
        assert_true(leat_exp(cases[i].x) == cases[i].exp);
    }
    static const double angle[][3] = {
        {1.5, 0x1.feb7a9b2c6d8bp-1, 0x1.21bd54fc5f9a7p-4},
        {3, 0x1.210386db6d55bp-3, -0x1.fae04be85e5d2p-1},
        {1000, 0x1.a75cc150a206cp-1, 0x1.1ff026793f1bbp-1},
        {0x1p20, 0x1.526ccb2fc8656p-2, 0x1.e33ada92fe2aep-1},
    };
    for (size_t i = 0; i < sizeof(angle) / sizeof(*angle); i++) {
        double sine = 0, cosine = 0;
        leat_sin_cos(angle[i][0], &sine, &cosine);
        assert_true(sine == angle[i][1] && cosine == angle[i][2]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms),
        cmocka_unit_test(exponentials),
        cmocka_unit_test(angles),
        cmocka_unit_test(bits),
    };
    return cmocka_run_group_tests_name("portable math", tests, NULL, NULL);
}
