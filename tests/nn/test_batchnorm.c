/*
 * Batch normalisation with its activation against plain loops, bit for bit, and against PyTorch
 * (golden/nn); the loops' gradients against finite differences in double.
 */
/* TSan: pieces of a sum on a pool. */
#include "nn/ops/batchnorm.h"

#include <stdio.h>

#include "nn_support.h"
#include "reference.h"

typedef struct results {
    float *mean, *variance, *y, *down, *w, *shift;
} results;

static leat_batchnorm sizes(int64_t pixels, int64_t channels, int64_t images, float eps,
                            float slope, bool training) {
    return (leat_batchnorm){.pixels = pixels,
                            .channels = channels,
                            .images = images,
                            .eps = eps,
                            .slope = slope,
                            .training = training};
}

static results run(const leat_device *device, leat_batchnorm bn, const float *w, const float *shift,
                   const float *x, const float *up, const float *mean, const float *variance) {
    const int N = (int)bn.images, C = (int)bn.channels, P = (int)bn.pixels;
    const int64_t count = leat_lanes(N) * C * P;
    results out = {nn_zeros(C), nn_zeros(C), NULL, NULL, nn_zeros(C), nn_zeros(C)};
    float *in = nn_to_lanes(x, N, C, P), *y = nn_zeros(count), *g = nn_to_lanes(up, N, C, P);
    bn.weight = w;
    bn.shift = shift;
    bn.mean = out.mean;
    bn.variance = out.variance;
    bn.work = nn_zeros(leat_batchnorm_work_count(&bn));
    if (!bn.training) {
        memcpy(out.mean, mean, sizeof *mean * (size_t)C);
        memcpy(out.variance, variance, sizeof *mean * (size_t)C);
    }
    assert_ok(leat_batchnorm_forward(device, &bn, in, y, err));
    out.y = nn_from_lanes(y, N, C, P);
    assert_ok(leat_batchnorm_backward(device, &bn, in, g, g, out.w, out.shift, err));
    out.down = nn_from_lanes(g, N, C, P);
    return out;
}

static void test_bits(void **state) {
    (void)state;
    static const struct {
        int images, channels, pixels;
        float slope;
    } shapes[] = {{1, 1, 1, 1},      {2, 3, 5, 0},    {16, 2, 64, 0.2f},
                  {17, 5, 65, 0.2f}, {33, 1, 129, 0}, {8, 20, 16, 1},
                  {3, 33, 7, 0.2f},  {32, 4, 256, 0}, {70, 2, 3, 0.2f}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const int N = shapes[s].images, C = shapes[s].channels, P = shapes[s].pixels;
        const int count = N * C * P;
        leat_batchnorm bn = sizes(P, C, N, 1e-5f, shapes[s].slope, true);
        const float *x = nn_numbers(1, count), *up = nn_numbers(2, count);
        const float *w = nn_numbers(3, C), *shift = nn_numbers(4, C);
        float *off = nn_zeros(count), *g = nn_zeros(count);
        results want = {nn_zeros(C),     nn_zeros(C), nn_zeros(count),
                        nn_zeros(count), nn_zeros(C), nn_zeros(C)};
        float_norm(N, C, P, bn.eps, bn.slope, w, shift, x, want.mean, want.variance, off, want.y);
        float_norm_back(N, C, P, bn.eps, bn.slope, w, shift, off, want.variance, up, g, want.down,
                        want.w, want.shift);
        leat_device device;
        for (int i = 0; nn_variant(i, true, &device); i++) {
            results got = run(&device, bn, w, shift, x, up, NULL, NULL);
            nn_assert_same(got.mean, want.mean, C);
            nn_assert_same(got.variance, want.variance, C);
            nn_assert_same(got.y, want.y, count);
            nn_assert_same(got.down, want.down, count);
            nn_assert_same(got.w, want.w, C);
            nn_assert_same(got.shift, want.shift, C);
        }
        nn_free_all();
    }
}

enum { N = 3, C = 2, P = 4, COUNT = N * C * P };

static double loss(const double *x, const double *w, const double *shift, const double *up) {
    double mean[C], variance[C], off[COUNT], y[COUNT], sum = 0;
    double_norm(N, C, P, 1e-5, 0.2, w, shift, x, mean, variance, off, y);
    for (int i = 0; i < COUNT; i++) sum += y[i] * up[i];
    return sum;
}

static void test_differences(void **state) {
    (void)state;
    double values[COUNT + 2 * C], up[COUNT], mean[C], variance[C], off[COUNT], y[COUNT], g[COUNT];
    double down[COUNT + 2 * C], *x = values, *w = x + COUNT, *shift = w + C;
    for (int i = 0; i < COUNT + 2 * C; i++) values[i] = nn_numbers(5, COUNT + 2 * C)[i];
    for (int i = 0; i < COUNT; i++) up[i] = nn_numbers(6, COUNT)[i];
    double_norm(N, C, P, 1e-5, 0.2, w, shift, x, mean, variance, off, y);
    double_norm_back(N, C, P, 1e-5, 0.2, w, shift, off, variance, up, g, down, down + COUNT,
                     down + COUNT + C);
    for (int i = 0; i < COUNT + 2 * C; i++) {
        const double old = values[i], step = 1e-6;
        values[i] = old + step;
        const double above = loss(x, w, shift, up);
        values[i] = old - step;
        const double below = loss(x, w, shift, up);
        values[i] = old;
        assert_float_equal((above - below) / (2 * step), down[i], 1e-6);
    }
    nn_free_all();
}

static void check_golden(const char *name, leat_batchnorm bn, double share, double weight_share) {
    char file[128];
    snprintf(file, sizeof file, "ops/batchnorm2d.%s.safetensors", name);
    nn_golden *golden = nn_golden_open(file);
    int64_t n;
    const float *x = nn_golden_floats(golden, "in.x", &n),
                *w = nn_golden_floats(golden, "in.w", &n);
    const float *b = nn_golden_floats(golden, "in.b", &n);
    const float *up = nn_golden_floats(golden, "up.y", &n);
    float *mean = nn_golden_floats(golden, "in.running_mean", &n);
    float *variance = nn_golden_floats(golden, "in.running_var", &n);
    leat_device device;
    for (int i = 0; nn_variant(i, false, &device); i++) {
        results got = run(&device, bn, w, b, x, up, mean, variance);
        nn_assert_golden(got.y, golden, "out.y.f64", share);
        nn_assert_golden(got.down, golden, "grad.x.f64", share);
        nn_assert_golden(got.w, golden, "grad.w.f64", weight_share);
        nn_assert_golden(got.shift, golden, "grad.b.f64", 2e-6);
        if (!bn.training) continue;
        const float *old_mean = nn_golden_floats(golden, "in.running_mean", &n);
        const float *old_variance = nn_golden_floats(golden, "in.running_var", &n);
        memcpy(mean, old_mean, sizeof *mean * (size_t)n);
        memcpy(variance, old_variance, sizeof *mean * (size_t)n);
        leat_batchnorm_fold(n, bn.pixels * bn.images, got.mean, got.variance, mean, variance);
        nn_assert_golden(mean, golden, "out.running_mean.f64", 2e-6);
        nn_assert_golden(variance, golden, "out.running_var.f64", 2e-6);
    }
    nn_golden_close(golden);
    nn_free_all();
}

static void test_golden(void **state) {
    (void)state;
    const float eps = 1e-5f;
    check_golden("train.8x6x5x5", sizes(25, 6, 8, eps, 1, true), 2e-6, 2e-6);
    check_golden("train.4x3x1x1", sizes(1, 3, 4, eps, 1, true), 2e-6, 2e-6);
    /* the share is of the deviation, which the mean is 1,000 times: the README of golden/nn */
    check_golden("train.offset.16x4x6x6", sizes(36, 4, 16, eps, 1, true), 6e-5, 6e-5);
    check_golden("train.constant.4x3x2x2", sizes(4, 3, 4, eps, 1, true), 1e-5, 2e-6);
    check_golden("eval.8x6x5x5", sizes(25, 6, 8, eps, 1, false), 2e-6, 2e-6);
}

static void test_refused(void **state) {
    (void)state;
    const leat_device device = {.kernels = &leat_kernels_scalar};
    leat_batchnorm bn = sizes(0, 3, 2, 1e-5f, 1, true);
    assert_fails(leat_batchnorm_forward(&device, &bn, NULL, NULL, err), LEAT_ERR_OPTION,
                 "of 0 pixels, 3 channels, 2 images");
    bn = sizes(INT64_MAX / 2, 3, 2, 1e-5f, 1, true);
    assert_fails(leat_batchnorm_forward(&device, &bn, NULL, NULL, err), LEAT_ERR_OPTION,
                 "2^40 values");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("batch normalisation", tests, NULL, NULL);
}
