/* Activations and binary cross-entropy against PyTorch (golden/nn), for all kernels. */
#include "nn/ops/each.h"

#include <math.h>
#include <stdio.h>

#include "nn/ops/bce.h"
#include "nn_support.h"
#include "reference.h"

/* The result and the gradient of a golden file of an activation: a function, or (LEAT_FUNCTIONS)
 * a slope below 0. There is no gradient of sigmoid yet. */
static void check_activation(const char *name, leat_function function, float slope) {
    char file[128];
    snprintf(file, sizeof file, "ops/%s.safetensors", name);
    nn_golden *golden = nn_golden_open(file);
    int64_t n;
    const float *x = nn_golden_floats(golden, "in.x", &n),
                *up = nn_golden_floats(golden, "up.y", &n);
    leat_device device;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        float *y = nn_zeros(n), *down = nn_zeros(n);
        if (function != LEAT_FUNCTIONS) {
            assert_ok(leat_map_values(&device, function, n, x, y, err));
            assert_ok(leat_tanh_backward(&device, n, y, up, down, err));
        } else {
            assert_ok(leat_leaky(&device, slope, n, x, y, err));
            assert_ok(leat_leaky_backward(&device, slope, n, y, up, down, err));
        }
        nn_assert_golden(y, golden, "out.y.f64", 2e-6);
        if (function != LEAT_FUNCTION_SIGMOID) nn_assert_golden(down, golden, "grad.x.f64", 2e-6);
    }
    nn_golden_close(golden);
    nn_free_all();
}

static void test_activations(void **state) {
    (void)state;
    check_activation("relu", LEAT_FUNCTIONS, 0);
    check_activation("leaky_relu_0.2", LEAT_FUNCTIONS, 0.2f);
    check_activation("tanh", LEAT_FUNCTION_TANH, 0);
    check_activation("sigmoid", LEAT_FUNCTION_SIGMOID, 0);
}

static void test_not_finite(void **state) {
    (void)state;
    const float x[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f};
    leat_device device;
    for (int i = 0; nn_variant(i, false, &device); i++) {
        float y[5];
        assert_ok(leat_leaky(&device, 0, 5, x, y, err));
        assert_true(isnan(y[0]) && y[1] == INFINITY && y[2] == 0 && y[3] == 0 && y[4] == 0);
        assert_ok(leat_leaky(&device, 0.2f, 5, x, y, err));
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
    leat_device device;
    for (int v = 0; nn_variant(v, false, &device); v++) {
        float *gradient = nn_zeros(n), *all = nn_zeros(n), *work = nn_zeros(2 * n);
        double loss, sum = 0;
        for (int64_t i = 0; i < n; i++) { /* targets differ from value to value */
            leat_bce(&device, n, t[i], x, &loss, all, work);
            gradient[i] = all[i] * scale;
            leat_bce(&device, 1, t[i], x + i, &loss, all, work);
            sum += loss;
        }
        assert_float_equal(sum / (double)n, want[0], 2e-6 * fabs(want[0]));
        nn_assert_golden(gradient, golden, "grad.x.f64", 2e-6);
        if (strcmp(name, "mixed") == 0) continue;
        leat_bce(&device, n, t[0], x, &loss, gradient, work);
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

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double loss_of(double target, double x) {
    return double_bce(target, log1p(exp(x)), log1p(exp(-x)));
}

/* The loops' gradients are derivatives, in double; and the kernels do what the loops say. */
static void test_differences(void **state) {
    (void)state;
    const double step = 1e-6;
    for (double x = -4.03; x <= 4; x += 0.25) {
        const double above = x + step, below = x - step, y = tanh(x);
        assert_float_equal((double_leaky(above, 0.2) - double_leaky(below, 0.2)) / (2 * step),
                           double_leaky_back(double_leaky(x, 0.2), 0.2, 1), 1e-8);
        assert_float_equal((tanh(above) - tanh(below)) / (2 * step), double_tanh_back(y, 1), 1e-8);
        for (double target = 0; target <= 1; target += 0.25)
            assert_float_equal((loss_of(target, above) - loss_of(target, below)) / (2 * step),
                               double_bce_back(target, sigmoid(x), sigmoid(-x)), 1e-8);
    }
}

static void test_bits(void **state) {
    (void)state;
    enum { N = 40000 }; /* three pieces */
    leat_device device;
    for (int v = 0; nn_variant(v, true, &device); v++) {
        const float *x = nn_numbers(1, N), *up = nn_numbers(2, N);
        float *y = nn_zeros(N), *down = nn_zeros(N), *want = nn_zeros(N), *minus = nn_zeros(N);
        float *want_down = nn_zeros(N), *work = nn_zeros(2 * N), *plus = nn_zeros(N);
        float *soft = nn_zeros(2 * N);
        assert_ok(leat_leaky(&device, 0.2f, N, x, y, err));
        assert_ok(leat_leaky_backward(&device, 0.2f, N, y, up, down, err));
        for (int i = 0; i < N; i++) {
            want[i] = float_leaky(x[i], 0.2f);
            want_down[i] = float_leaky_back(want[i], 0.2f, up[i]);
        }
        nn_assert_same(y, want, N);
        nn_assert_same(down, want_down, N);
        assert_ok(leat_map_values(&device, LEAT_FUNCTION_TANH, N, x, y, err));
        assert_ok(leat_tanh_backward(&device, N, y, up, down, err));
        leat_kernels_scalar.map(LEAT_FUNCTION_TANH, N, x, want);
        for (int i = 0; i < N; i++) want_down[i] = float_tanh_back(want[i], up[i]);
        nn_assert_same(y, want, N);
        nn_assert_same(down, want_down, N);
        memcpy(y, x, sizeof *y * N);
        assert_ok(leat_add_scaled(&device, N, 1.7f, up, y, err));
        for (int i = 0; i < N; i++) want[i] = fmaf(1.7f, up[i], x[i]);
        nn_assert_same(y, want, N);
        double loss, sum = 0;
        leat_bce(&device, N, 0.75f, x, &loss, down, work);
        for (int i = 0; i < N; i++) minus[i] = -x[i];
        leat_kernels_scalar.map(LEAT_FUNCTION_SOFTPLUS, N, x, soft);
        leat_kernels_scalar.map(LEAT_FUNCTION_SOFTPLUS, N, minus, soft + N);
        leat_kernels_scalar.map(LEAT_FUNCTION_SIGMOID, N, x, plus);
        leat_kernels_scalar.map(LEAT_FUNCTION_SIGMOID, N, minus, minus);
        for (int i = 0; i < N; i++) {
            sum += (double)float_bce(0.75f, soft[i], soft[N + i]);
            want_down[i] = float_bce_back(0.75f, plus[i], minus[i]) / N;
        }
        nn_assert_same(down, want_down, N);
        assert_true(loss == sum / N);
        nn_free_all();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_activations), cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_bce),         cmocka_unit_test(test_differences),
        cmocka_unit_test(test_bits),
    };
    return cmocka_run_group_tests_name("activations and losses", tests, NULL, NULL);
}
