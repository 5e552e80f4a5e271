/* Adam and AdamW against PyTorch (golden/nn), the same bits for all kernels and threads. */
#include "nn/ops/adam.h"

#include <math.h>
#include <stdio.h>

#include "nn_support.h"

static void check_golden(const char *name, leat_adam options) {
    char file[128];
    snprintf(file, sizeof file, "ops/%s.safetensors", name);
    nn_golden *golden = nn_golden_open(file);
    int64_t n, all;
    const float *start = nn_golden_floats(golden, "in.p", &n);
    const float *g = nn_golden_floats(golden, "in.g", &all);
    leat_device device;
    for (int i = 0; nn_variant(i, false, &device); i++) {
        float *w = nn_zeros(all), *first = nn_zeros(all), *second = nn_zeros(all);
        for (int64_t row = 0; row < all; row += n) { /* a row is the state after a step */
            const int64_t last = row > 0 ? row - n : 0;
            memcpy(w + row, row > 0 ? w + last : start, sizeof *w * (size_t)n);
            memcpy(first + row, first + last, sizeof *w * (size_t)n);
            memcpy(second + row, second + last, sizeof *w * (size_t)n);
            const leat_adam_weights of = {n, g + row, 1, w + row, first + row, second + row};
            assert_ok(leat_adam_apply(&device, &options, row / n + 1, &of, err));
        }
        nn_assert_golden(w, golden, "out.p.f64", 2e-6);
        nn_assert_golden(first, golden, "out.m.f64", 2e-6);
        nn_assert_golden(second, golden, "out.v.f64", 2e-6);
    }
    nn_golden_close(golden);
    nn_free_all();
}

static void test_golden(void **state) {
    (void)state;
    check_golden("adam.5steps", (leat_adam){2e-4, 0.5, 0.999, 1e-8, 0});
    check_golden("adamw.5steps", (leat_adam){3e-4, 0.9, 0.999, 1e-8, 0.01});
}

/* Every length of a rest, more than a piece, and the specification written out. */
static void test_bits(void **state) {
    (void)state;
    const leat_adam options = {1e-3, 0.9, 0.99, 1e-8, 0.1};
    static const int64_t counts[] = {1, 3, 15, 16, 17, 31, 16384, 40001};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const int64_t n = counts[c];
        const float *g = nn_numbers(1, n), *start = nn_numbers(2, n);
        float *want = nn_zeros(n), *m = nn_zeros(n), *v = nn_zeros(n);
        for (int64_t i = 0; i < n; i++) {
            const float scaled = g[i] * 0.5f;
            m[i] = fmaf(scaled - 0.0f, (float)(1 - 0.9), 0.0f);
            v[i] = fmaf(0.0f, 0.99f, (float)(1 - 0.99) * scaled * scaled);
            want[i] = fmaf(-(float)(1e-3 / (1 - 0.9)),
                           m[i] / (sqrtf(v[i]) / (float)sqrt(1 - 0.99) + 1e-8f),
                           start[i] * (float)(1 - 1e-3 * 0.1));
        }
        leat_device device;
        for (int i = 0; nn_variant(i, true, &device); i++) {
            float *w = nn_zeros(n), *first = nn_zeros(n), *second = nn_zeros(n);
            memcpy(w, start, sizeof *w * (size_t)n);
            const leat_adam_weights of = {n, g, 0.5, w, first, second};
            assert_ok(leat_adam_apply(&device, &options, 1, &of, err));
            nn_assert_same(w, want, n);
            nn_assert_same(first, m, n);
            nn_assert_same(second, v, n);
        }
        nn_free_all();
    }
}

static void test_refused(void **state) {
    (void)state;
    const leat_device device = {.kernels = &leat_kernels_scalar};
    const leat_adam good = {1e-3, 0.9, 0.99, 1e-8, 0}, bad = {1e-3, 1, 0.99, 1e-8, 0};
    const leat_adam_weights none = {.gradient_factor = 1};
    assert_fails(leat_adam_apply(&device, &good, 0, &none, err), LEAT_ERR_OPTION, "step 0");
    assert_fails(leat_adam_apply(&device, &bad, 1, &none, err), LEAT_ERR_OPTION, "betas 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("adam", tests, NULL, NULL);
}
