/* ln and exp of our own beside those of the C library. */
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
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms),
        cmocka_unit_test(exponentials),
        cmocka_unit_test(bits),
    };
    return cmocka_run_group_tests_name("ln and exp", tests, NULL, NULL);
}
