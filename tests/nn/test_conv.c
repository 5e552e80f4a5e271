/*
 * Convolutions against plain loops, bit for bit, for all kernels and numbers of threads; against
 * PyTorch (golden/nn); and the loops' gradients against finite differences in double.
 */
/* TSan: parts of an op on a pool. */
#include "nn_support.h"
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct shape {
    int images, wide, narrow, height, width, kernel, stride, padding;
} shape;

static leat_conv geometry(const shape *s) {
    leat_conv conv = {.kernel = s->kernel,
                      .stride = s->stride,
                      .padding = s->padding,
                      .wide_channels = s->wide,
                      .narrow_channels = s->narrow,
                      .wide_height = s->height,
                      .wide_width = s->width};
    assert_ok(leat_conv_complete(&conv, err));
    return conv;
}

/* Everything that an op of one geometry gives, in PyTorch's layouts. */
typedef struct results {
    float *down, *up, *weights;
} results;

static results run(const leat_device *device, const leat_conv *g, int images, const float *w,
                   const float *wide, const float *narrow, const float *start) {
    const int P = g->wide_height * g->wide_width, p = g->narrow_height * g->narrow_width;
    float *packed = nn_zeros(leat_conv_weight_count(g));
    float *wide_in = nn_to_lanes(wide, images, g->wide_channels, P);
    float *narrow_in = nn_to_lanes(narrow, images, g->narrow_channels, p);
    float *wide_out = nn_zeros(leat_conv_wide_count(g, images));
    float *narrow_out = nn_zeros(leat_conv_narrow_count(g, images));
    float *gradient = nn_zeros(leat_conv_gradient_count(g));
    float *work = nn_zeros(leat_conv_work_count(device, g, images));
    results out = {.weights = nn_zeros(leat_conv_weight_count(g))};
    memset(wide_out, 0xff, sizeof(float) * (size_t)leat_conv_wide_count(g, images));
    memset(narrow_out, 0xff, sizeof(float) * (size_t)leat_conv_narrow_count(g, images));
    memset(gradient, 0xff, sizeof(float) * (size_t)leat_conv_gradient_count(g));
    leat_conv_pack_down(device, g, w, packed);
    assert_ok(leat_conv_down(device, g, images, packed, wide_in, narrow_out, err));
    leat_conv_pack_up(device, g, w, packed);
    assert_ok(leat_conv_up(device, g, images, packed, narrow_in, wide_out, err));
    leat_conv_gradient chain = {gradient, false, work};
    assert_ok(leat_conv_weight_gradient(device, g, images, wide_in, narrow_in, &chain, err));
    chain.add = true;
    if (start != NULL)
        assert_ok(leat_conv_weight_gradient(device, g, images, wide_in, narrow_in, &chain, err));
    leat_conv_unpack_gradient(g, gradient, out.weights);
    out.down = nn_from_lanes(narrow_out, images, g->narrow_channels, p);
    out.up = nn_from_lanes(wide_out, images, g->wide_channels, P);
    return out;
}

static void test_bits(void **state) {
    (void)state;
    static const shape shapes[] = {
        {1, 1, 1, 1, 1, 1, 1, 0},    {1, 3, 5, 4, 4, 4, 2, 1},    {2, 13, 17, 6, 4, 4, 2, 1},
        {17, 3, 14, 8, 8, 4, 2, 1},  {33, 6, 15, 4, 4, 4, 1, 0},  {5, 29, 1, 4, 4, 4, 1, 0},
        {16, 32, 33, 5, 7, 3, 1, 1}, {3, 7, 2, 9, 8, 5, 3, 2},    {2, 3, 4, 7, 5, 2, 3, 0},
        {8, 300, 20, 2, 2, 2, 1, 1}, {2, 20, 520, 3, 3, 2, 1, 0}, {2, 2, 3, 3, 3, 8, 1, 4},
        {70, 14, 28, 2, 3, 1, 2, 0}, {1, 64, 64, 4, 4, 4, 2, 1},  {4, 2, 2, 6, 6, 2, 2, 3},
        {32, 12, 24, 8, 8, 4, 2, 1}, {5, 1, 9, 7, 9, 4, 2, 1},    {2, 300, 600, 2, 2, 3, 1, 1},
        {3, 2, 40, 8, 6, 6, 3, 1},   {20, 3, 70, 4, 4, 4, 4, 0},  {2, 3, 300, 10, 8, 4, 2, 3},
        {9, 4, 5, 9, 10, 8, 2, 0},   {4, 3, 64, 16, 16, 4, 2, 1},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const leat_conv g = geometry(&shapes[s]);
        const int images = shapes[s].images;
        const int64_t many = images * (int64_t)g.wide_channels * g.wide_height * g.wide_width;
        const int64_t few = images * (int64_t)g.narrow_channels * g.narrow_height * g.narrow_width;
        const float *w = nn_numbers(1, leat_conv_weight_count(&g)), *wide = nn_numbers(2, many);
        const float *narrow = nn_numbers(3, few);
        results want = {nn_zeros(few), nn_zeros(many), nn_zeros(leat_conv_weight_count(&g))};
        float_down(&g, images, w, wide, want.down);
        float_up(&g, images, w, narrow, want.up);
        float_weights(&g, images, wide, narrow, want.weights);
        float_weights(&g, images, wide, narrow, want.weights);
        leat_device device;
        for (int i = 0; nn_variant(i, true, &device); i++) {
            results got = run(&device, &g, images, w, wide, narrow, want.weights);
            nn_assert_same(got.down, want.down, few);
            nn_assert_same(got.up, want.up, many);
            nn_assert_same(got.weights, want.weights, leat_conv_weight_count(&g));
        }
        nn_free_all();
    }
}

/* The derivative of sum(up * f(x)) by a value of x is what the gradient says. */
static void test_differences(void **state) {
    (void)state;
    const leat_conv g = geometry(&(shape){2, 3, 4, 5, 6, 4, 2, 1});
    double w[4 * 3 * 16], wide[2 * 3 * 30], narrow[2 * 4 * 6], out[2 * 4 * 6], gradient[192] = {0};
    double back[2 * 3 * 30];
    for (int i = 0; i < 192; i++) w[i] = nn_numbers(1, 192)[i];
    for (int i = 0; i < 180; i++) wide[i] = nn_numbers(2, 180)[i];
    for (int i = 0; i < 48; i++) narrow[i] = nn_numbers(3, 48)[i];
    assert_int_equal(g.narrow_height * g.narrow_width, 6);
    double_weights(&g, 2, wide, narrow, gradient);
    double_up(&g, 2, w, narrow, back);
    for (int i = 0; i < 192 + 180; i++) {
        double *x = i < 192 ? &w[i] : &wide[i - 192], old = *x, at[2];
        for (int side = 0; side < 2; side++) {
            *x = old + (side == 0 ? -1e-3 : 1e-3);
            double_down(&g, 2, w, wide, out);
            at[side] = 0;
            for (int j = 0; j < 48; j++) at[side] += out[j] * narrow[j];
        }
        *x = old;
        assert_float_equal((at[1] - at[0]) / 2e-3, i < 192 ? gradient[i] : back[i - 192], 1e-9);
    }
    nn_free_all();
}

/* A golden case: images x wide x height x width, or the narrow side for a transposed one. */
static void check_golden(const char *name, const shape *s, bool transposed, double share) {
    char file[128];
    snprintf(file, sizeof file, "ops/%s.safetensors", name);
    nn_golden *golden = nn_golden_open(file);
    int64_t count, many, few;
    leat_conv g = {.kernel = s->kernel,
                   .stride = s->stride,
                   .padding = s->padding,
                   .wide_channels = s->wide,
                   .narrow_channels = s->narrow};
    if (transposed) g.narrow_height = s->height, g.narrow_width = s->width;
    else g.wide_height = s->height, g.wide_width = s->width;
    assert_ok(leat_conv_complete(&g, err));
    const float *w = nn_golden_floats(golden, "in.w", &count);
    assert_int_equal(count, leat_conv_weight_count(&g));
    const float *x = nn_golden_floats(golden, "in.x", transposed ? &few : &many);
    const float *up = nn_golden_floats(golden, "up.y", transposed ? &many : &few);
    leat_device device;
    for (int i = 0; nn_variant(i, false, &device); i++) {
        results got =
            run(&device, &g, s->images, w, transposed ? up : x, transposed ? x : up, NULL);
        nn_assert_golden(transposed ? got.up : got.down, golden, "out.y.f64", share);
        nn_assert_golden(transposed ? got.down : got.up, golden, "grad.x.f64", share);
        nn_assert_golden(got.weights, golden, "grad.w.f64", share);
    }
    nn_golden_close(golden);
    nn_free_all();
}

static void test_golden(void **state) {
    (void)state;
    check_golden("conv2d.k4s1p0.2x5x7x6.3", &(shape){2, 5, 3, 7, 6, 4, 1, 0}, false, 2e-6);
    check_golden("conv2d.k4s1p0.4x12x4x4.1", &(shape){4, 12, 1, 4, 4, 4, 1, 0}, false, 2e-6);
    check_golden("conv2d.k4s2p1.2x3x16x16.6", &(shape){2, 3, 6, 16, 16, 4, 2, 1}, false, 2e-6);
    check_golden("conv2d.k4s2p1.2x6x8x8.12", &(shape){2, 6, 12, 8, 8, 4, 2, 1}, false, 2e-6);
    check_golden("conv2d.k4s2p1.3x5x9x7.7", &(shape){3, 5, 7, 9, 7, 4, 2, 1}, false, 2e-6);
    check_golden("conv_transpose2d.k4s1p0.2x5x3x2.7", &(shape){2, 7, 5, 3, 2, 4, 1, 0}, true, 2e-6);
    check_golden("conv_transpose2d.k4s1p0.4x10x1x1.12", &(shape){4, 12, 10, 1, 1, 4, 1, 0}, true,
                 2e-6);
    check_golden("conv_transpose2d.k4s2p1.2x12x4x4.6", &(shape){2, 6, 12, 4, 4, 4, 2, 1}, true,
                 2e-6);
    check_golden("conv_transpose2d.k4s2p1.2x6x8x8.3", &(shape){2, 3, 6, 8, 8, 4, 2, 1}, true, 2e-6);
    check_golden("conv_transpose2d.k4s2p1.3x5x5x3.7", &(shape){3, 7, 5, 5, 3, 4, 2, 1}, true, 2e-6);
}

static void test_refused(void **state) {
    (void)state;
    leat_conv g = {.kernel = 4, .stride = 2, .padding = 1, .wide_channels = 3};
    assert_fails(leat_conv_complete(&g, err), LEAT_ERR_OPTION, "number of channels 0");
    g.narrow_channels = 8;
    assert_fails(leat_conv_complete(&g, err), LEAT_ERR_OPTION, "height 0");
    g.wide_height = g.wide_width = 1;
    assert_fails(leat_conv_complete(&g, err), LEAT_ERR_OPTION, "gives 0");
    g.wide_height = g.wide_width = 8;
    g.narrow_height = 5;
    assert_fails(leat_conv_complete(&g, err), LEAT_ERR_OPTION, "gives 4, not 5");
    g.narrow_height = 0;
    g.kernel = 9;
    assert_fails(leat_conv_complete(&g, err), LEAT_ERR_OPTION, "kernel 9; it must be 1 to 8");
    g.kernel = 4;
    g.wide_height = g.wide_width = 65536;
    g.wide_channels = 65536;
    assert_ok(leat_conv_complete(&g, err));
    assert_fails(leat_conv_check(&g, 65536, err), LEAT_ERR_OPTION, "more than 2^40 values");
    assert_fails(leat_conv_check(&g, 0, err), LEAT_ERR_OPTION, "0 images");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("convolutions", tests, NULL, NULL);
}
