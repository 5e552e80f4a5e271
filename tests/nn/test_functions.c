/*
 * exp, log, tanh, sigmoid, softplus, sin and cos of the kernels: every 257th float with the
 * variants that run here, which must agree bit for bit; every 2,313th (each ninth of those) also
 * with the scalar variant, the specification, and against the true value, because fmaf of the C
 * library takes most of the time. make check-functions compares every float with all of them.
 * Special values are in the kernels' own suite (test_suite.c).
 */
#include <stdbool.h>

#include "check.h"
#include "ulp.h"

#define ULP_MAX 2.0

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEP = 257 * 31 }; /* ten times as slow, and nothing to find in most floats */
#else
enum { STEP = 257 };
#endif
enum { BLOCK = 4096, SCALAR_STEP = 9 * STEP };

/* The next floats with a step, from *bits on; their number. */
static int next_floats(uint64_t *bits, uint32_t step, float in[BLOCK]) {
    int count = 0;
    for (; count < BLOCK && *bits <= UINT32_MAX; *bits += step)
        in[count++] = float_of((uint32_t)*bits);
    return count;
}

static void compare(leat_function what, const leat_kernels *kernels, int count, const float *in,
                    const float *got, const float *expected) {
    for (int i = 0; i < count; i++) {
        if (bits_of(got[i]) != bits_of(expected[i])) {
            fail_msg("%s: %s(%a) is %a, not %a", kernels->name, map_names[what], (double)in[i],
                     (double)got[i], (double)expected[i]);
        }
    }
}

/* The variants beside the scalar one, at least two for a comparison. */
static void vectors_agree(void **state) {
    (void)state;
    const leat_kernels *vectors[4] = {0}, *kernels;
    int found = 0;
    for (int i = 1; (kernels = leat_kernels_at(i)) != NULL; i++) {
        if (leat_kernels_supported(kernels)) vectors[found++] = kernels;
        else print_message("%s: built, not run\n", kernels->name);
    }
    if (found < 2) {
        print_message("skipped: fewer than two variants with vectors run here\n");
        skip();
    }
    for (int what = 0; what < LEAT_FUNCTIONS; what++) {
        float in[BLOCK], expected[BLOCK], got[BLOCK];
        int count;
        for (uint64_t bits = 0; (count = next_floats(&bits, STEP, in)) > 0;) {
            vectors[0]->map((leat_function)what, count, in, expected);
            for (int v = 1; v < found; v++) {
                vectors[v]->map((leat_function)what, count, in, got);
                if (memcmp(got, expected, (size_t)count * sizeof *got) != 0)
                    compare((leat_function)what, vectors[v], count, in, got, expected);
            }
        }
    }
}

static void scalar_is_right(void **state) {
    (void)state;
    for (int what = 0; what < LEAT_FUNCTIONS; what++) {
        float in[BLOCK], expected[BLOCK], got[BLOCK];
        double worst = 0;
        int count;
        for (uint64_t bits = 0; (count = next_floats(&bits, SCALAR_STEP, in)) > 0;) {
            leat_kernels_scalar.map((leat_function)what, count, in, expected);
            const leat_kernels *kernels;
            for (int v = 1; (kernels = leat_kernels_at(v)) != NULL; v++) {
                if (!leat_kernels_supported(kernels)) continue;
                kernels->map((leat_function)what, count, in, got);
                compare((leat_function)what, kernels, count, in, got, expected);
            }
            for (int i = 0; i < count; i++) {
                const double error =
                    ulp_error(expected[i], true_value((leat_function)what, (double)in[i]));
                if (error > ULP_MAX) {
                    fail_msg("%s(%a) is %a: off by %.2f ulp", map_names[what], (double)in[i],
                             (double)expected[i], error);
                }
                if (error > worst) worst = error;
            }
        }
        print_message("%s: at most %.2f ulp\n", map_names[what], worst);
        assert_true(worst > 0.5); /* the measure sees that results are rounded */
    }
}

/* Of any length, at any address, in place; nothing else is written. */
static void any_array(void **state) {
    (void)state;
    enum { SIZE = 80 };
    const leat_kernels *kernels;
    for (int v = 0; (kernels = leat_kernels_at(v)) != NULL; v++) {
        if (!leat_kernels_supported(kernels)) continue;
        for (int what = 0; what < LEAT_FUNCTIONS; what++) {
            for (int count = 0; count <= 50; count++) {
                float in[SIZE], expected[SIZE], got[SIZE];
                for (int i = 0; i < SIZE; i++) {
                    in[i] = (float)(i + 1) * 0.13f;
                    expected[i] = got[i] = in[i];
                }
                const int first = count % 7;
                for (int i = first; i < first + count; i++)
                    leat_kernels_scalar.map((leat_function)what, 1, in + i, expected + i);
                kernels->map((leat_function)what, count, got + first, got + first);
                compare((leat_function)what, kernels, SIZE, in, got, expected);
                memset(got, 0, sizeof got);
                kernels->map((leat_function)what, count, in + first, got + first);
                for (int i = 0; i < SIZE; i++) {
                    const bool within = i >= first && i < first + count;
                    assert_int_equal(bits_of(got[i]), within ? bits_of(expected[i]) : 0);
                }
            }
        }
    }
}

/* The measure itself. */
static void ulp(void **state) {
    (void)state;
    static const struct {
        float got;
        double truth, error;
    } rows[] = {
        {1.0f, 1.0, 0},
        {0x1.000002p+0f, 1.0, 1},
        {0x1.fffffep-1f, 1.0, 0.5}, /* in units of what is above 1 */
        {0x1.fffffep-1f, 0x1.fffffcp-1, 1},
        {-0x1.000002p+0f, -1.0, 1},
        {0x1p-149f, 0, 1},
        {0.0f, 0x1.8p-149, 1.5},
        {0x1p-126f, 0x1p-126 + 0x1p-149, 1},
        {INFINITY, 1e300, 0},
        {0x1.fffffep+127f, 1e300, 0.5},
        {INFINITY, 0x1.fffffep+127, 1},
        {-INFINITY, -(double)INFINITY, 0},
        {NAN, (double)NAN, 0},
        {NAN, 1.0, (double)INFINITY},
        {1.0f, (double)NAN, (double)INFINITY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double error = ulp_error(rows[i].got, rows[i].truth);
        if (error != rows[i].error) fail_msg("row %zu: %g", i, error);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ulp),
        cmocka_unit_test(vectors_agree),
        cmocka_unit_test(scalar_is_right),
        cmocka_unit_test(any_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
