/* Activations and binary cross-entropy against PyTorch (shared/golden/nn), for all kernels. */
#include "nn/ops/each.h"

#include <math.h>
#include <stdio.h>

#include "nn/ops/bce.h"
#include "nn_support.h"

/* The result and the gradient of a golden file of an activation. */
static void check_activation(const char *name, bool is_tanh, float slope) {
    char file[128];
    snprintf(file, sizeof file, "ops/%s.safetensors", name);
    nn_golden *golden = nn_golden_open(file);
    int64_t n;
    const float *x = nn_golden_floats(golden, "in.x", &n),
                *up = nn_golden_floats(golden, "up.y", &n);
    leat_nn nn;
    for (int i = 0; nn_variant(i, true, &nn); i++) {
        float *y = nn_zeros(n), *down = nn_zeros(n);
        if (is_tanh) {
            assert_ok(leat_map_values(&nn, LEAT_FUNCTION_TANH, n, x, y, err));
            assert_ok(leat_tanh_backward(&nn, n, y, up, down, err));
        } else {
            assert_ok(leat_leaky(&nn, slope, n, x, y, err));
            assert_ok(leat_leaky_backward(&nn, slope, n, y, up, down, err));
        }
        nn_assert_golden(y, golden, "out.y.f64", 2e-6);
        nn_assert_golden(down, golden, "grad.x.f64", 2e-6);
    }
    nn_golden_close(golden);
    nn_free_all();
}

static void test_activations(void **state) {
    (void)state;
    check_activation("relu", false, 0);
    check_activation("leaky_relu_0.2", false, 0.2f);
    check_activation("tanh", true, 0);
}

static void test_not_finite(void **state) {
    (void)state;
    const float x[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f};
    leat_nn nn;
    for (int i = 0; nn_variant(i, false, &nn); i++) {
        float y[5];
        assert_ok(leat_leaky(&nn, 0, 5, x, y, err));
        assert_true(isnan(y[0]) && y[1] == INFINITY && y[2] == 0 && y[3] == 0 && y[4] == 0);
        assert_ok(leat_leaky(&nn, 0.2f, 5, x, y, err));
        assert_true(isnan(y[0]) && y[1] == INFINITY && y[2] == -INFINITY && y[3] == 0);
    }
}

static void check_bce(const char *name) {
    char file[128];
    snprintf(file, sizeof file, "ops/bce_with_logits.%s.safetensors", name);
    nn_golden *golden = nn_golden_open(file);
    int64_t n, one;
    const float *x = nn_golden_floats(golden, "in.x", &n),
                *t = nn_golden_floats(golden, "in.t", &n);
    const double *want = nn_golden_doubles(golden, "out.y.f64", &one);
    const float scale = nn_golden_floats(golden, "up.y", &one)[0];
    leat_nn nn;
    for (int v = 0; nn_variant(v, false, &nn); v++) {
        float *gradient = nn_zeros(n), *all = nn_zeros(n), *work = nn_zeros(2 * n);
        double loss, sum = 0;
        for (int64_t i = 0; i < n; i++) { /* targets differ from value to value */
            leat_bce(&nn, n, t[i], x, &loss, all, work);
            gradient[i] = all[i] * scale;
            leat_bce(&nn, 1, t[i], x + i, &loss, all, work);
            sum += loss;
        }
        assert_float_equal(sum / (double)n, want[0], 2e-6 * fabs(want[0]));
        nn_assert_golden(gradient, golden, "grad.x.f64", 2e-6);
        if (strcmp(name, "mixed") == 0) continue;
        leat_bce(&nn, n, t[0], x, &loss, gradient, work);
        assert_float_equal(loss, want[0], 2e-6 * fabs(want[0]));
    }
    nn_golden_close(golden);
    nn_free_all();
}

static void test_bce(void **state) {
    (void)state;
    check_bce("real");
    check_bce("fake");
    check_bce("mixed");
}

/* The gradient is the derivative of the loss. */
static void test_bce_differences(void **state) {
    (void)state;
    const leat_nn nn = {.kernels = &leat_kernels_scalar};
    float gradient[1], work[2];
    double above, below, loss;
    for (float target = 0; target <= 1; target += 0.25f)
        for (float x = -4; x <= 4; x += 0.5f) {
            const float high = x + 0.03125f, low = x - 0.03125f;
            leat_bce(&nn, 1, target, &high, &above, gradient, work);
            leat_bce(&nn, 1, target, &low, &below, gradient, work);
            leat_bce(&nn, 1, target, &x, &loss, gradient, work);
            assert_float_equal((above - below) / 0.0625, gradient[0], 1e-4);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_bce),
        cmocka_unit_test(test_bce_differences),
    };
    return cmocka_run_group_tests_name("activations and losses", tests, NULL, NULL);
}
