/*
 * The self-test of the kernels, for every variant that runs here; its hash; and that it catches
 * kernels that are wrong on purpose.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "nn/kernel_suites.h"
#include "nn/kernels/suite.h"

/* Of every variant on every machine. Changes only with the cases of suite.c, or with a kernel's
 * results, which changes every trained weight. */
#define SUITE_HASH UINT64_C(0x987ed34e963da973)

static void every_variant(void **state) {
    (void)state;
    const leat_kernels *kernels;
    int ran = 0;
    for (int i = 0; (kernels = leat_kernels_at(i)) != NULL; i++) {
        if (!leat_kernels_supported(kernels)) {
            print_message("%s: built, not run\n", kernels->name);
            continue;
        }
        char message[300];
        uint64_t hash;
        if (!leat_kernels_check(kernels, &hash, message, sizeof message)) fail_msg("%s", message);
        assert_string_equal(message, "");
        if (hash != SUITE_HASH) fail_msg("%s: the hash is %016" PRIx64, kernels->name, hash);
        ran++;
    }
    assert_true(ran >= 1);
    assert_true(leat_kernels_supported(&leat_kernels_scalar));
}

/* The class of a model: the hash of its only suite; of several, or of none, a hash of their lines,
 * whatever their order. */
static void classes(void **state) {
    static const char *const core[] = {LEAT_SUITE_CORE, NULL};
    static const char *const unknown[] = {LEAT_SUITE_CORE, "no", NULL};
    static const char *const both[] = {"rows", "core"}, *const turned[] = {"core", "rows"};
    static const uint64_t hashes[] = {1, 0xabc}, turned_hashes[] = {0xabc, 1};
    char class[LEAT_KERNEL_CLASS_BYTES], one[LEAT_KERNEL_CLASS_BYTES];
    (void)state;
    snprintf(one, sizeof one, "%016" PRIx64, SUITE_HASH);
    assert_ok(leat_kernel_class(core, NULL, class, err));
    assert_string_equal(class, one);
    assert_fails(leat_kernel_class(unknown, NULL, class, err), LEAT_ERR_UNSUPPORTED, "\"no\"");
    leat_kernel_class_of(both, hashes, 1, class);
    assert_string_equal(class, "0000000000000001");
    /* sha256("core 0000000000000abc\nrows 0000000000000001\n"), and of nothing */
    leat_kernel_class_of(both, hashes, 2, class);
    assert_string_equal(class, "3ec90ef5e68f679d");
    leat_kernel_class_of(turned, turned_hashes, 2, class);
    assert_string_equal(class, "3ec90ef5e68f679d");
    leat_kernel_class_of(both, hashes, 0, class);
    assert_string_equal(class, "e3b0c44298fc1c14");
}

/* ---- kernels that are wrong ---- */

/* Sums even and odd k by themselves, and adds the two sums: what a faster kernel might do. */
static void tile_two_sums(const leat_tile *t) {
    for (int r = 0; r < t->rows; r++) {
        for (int column = 0; column < t->columns; column++) {
            float *c = t->c + r * t->c_step + column, sum[2] = {t->add ? *c : 0.0f, 0.0f};
            for (int tap = 0; tap < t->taps; tap++) {
                const float *a = t->a + t->a_tap[tap], *b = t->b + t->b_tap[tap];
                for (int64_t k = 0; k < t->depth; k++)
                    sum[k & 1] = fmaf(a[k * t->a_step + r], b[k * t->b_step + column], sum[k & 1]);
            }
            *c = sum[0] + sum[1];
        }
    }
}

/* Rounds the product before it is added. */
static void tile_not_fused(const leat_tile *t) {
    for (int r = 0; r < t->rows; r++) {
        for (int column = 0; column < t->columns; column++) {
            float *c = t->c + r * t->c_step + column, sum = t->add ? *c : 0.0f;
            for (int tap = 0; tap < t->taps; tap++) {
                const float *a = t->a + t->a_tap[tap], *b = t->b + t->b_tap[tap];
                for (int64_t k = 0; k < t->depth; k++) {
                    const float product = a[k * t->a_step + r] * b[k * t->b_step + column];
                    sum += product;
                }
            }
            *c = sum;
        }
    }
}

/* Writes one element too many. */
static void tile_too_wide(const leat_tile *t) {
    leat_kernels_scalar.tile(t);
    t->c[t->columns] = 0.0f;
}

/* Another rounding in one result of all. */
static void map_one_off(leat_function what, int64_t count, const float *in, float *out) {
    leat_kernels_scalar.map(what, count, in, out);
    for (int64_t i = 0; i < count; i++) {
        if (what == LEAT_FUNCTION_SIGMOID && out[i] == 0.5f) out[i] = nextafterf(0.5f, 1.0f);
    }
}

/* Denormal results are 0, as with "flush to zero". */
static void map_flushed(leat_function what, int64_t count, const float *in, float *out) {
    leat_kernels_scalar.map(what, count, in, out);
    for (int64_t i = 0; i < count; i++) out[i] = fabsf(out[i]) < 0x1p-126f ? 0.0f : out[i];
}

static void transpose_short(int64_t rows, int64_t columns, const float *in, int64_t in_step,
                            float *out, int64_t out_step) {
    leat_kernels_scalar.transpose(rows, columns > 16 ? 16 : columns, in, in_step, out, out_step);
}

/* Swaps the two numbers of the last pair where their number is odd. */
static void normal_swapped(int64_t pairs, const int32_t *radius, const int32_t *angle, float *out) {
    leat_kernels_scalar.normal(pairs, radius, angle, out);
    if (pairs % 2 == 0) return;
    const float last = out[2 * pairs - 1];
    out[2 * pairs - 1] = out[2 * pairs - 2];
    out[2 * pairs - 2] = last;
}

/* Counts the unused lanes as images. */
static void sums_of_all_lanes(int64_t pixels, int64_t channels, int64_t images, const float *x,
                              float *lanes) {
    leat_kernels_scalar.sums(pixels, channels, (images + LEAT_LANES - 1) / LEAT_LANES * LEAT_LANES,
                             x, lanes);
}

/* Adds the images of a lane to each other before they are added to the lane. */
static void sums_of_pairs(int64_t pixels, int64_t channels, int64_t images, const float *x,
                          float *lanes) {
    float own[8 * LEAT_LANES] = {0};
    leat_kernels_scalar.sums(pixels, channels, images, x, own);
    for (int64_t i = 0; i < channels * LEAT_LANES; i++) lanes[i] += own[i];
}

/* E(x^2) - E(x)^2 needs no difference: what a faster kernel might do. */
static void squares_of_x(int64_t pixels, int64_t channels, int64_t images, const float *x,
                         const float *mean, float *lanes) {
    static const float none[16];
    (void)mean;
    leat_kernels_scalar.squares(pixels, channels, images, x, none, lanes);
}

/* (x - mean) scale + shift as x scale + (shift - mean scale), with one operation less. */
static void norm_folded(const leat_normalization *norm, int64_t pixels, int64_t channels,
                        int64_t lanes, const float *x, float *y) {
    leat_kernels_scalar.norm(norm, pixels, channels, lanes, x, y);
    for (int64_t i = 0; i < pixels * channels * lanes; i++) {
        const int64_t c = i / lanes % channels;
        const float shift = fmaf(-norm->mean[c], norm->scale[c], norm->shift[c]);
        const float out = fmaf(x[i], norm->scale[c], shift);
        y[i] = out > 0 ? out : y[i];
    }
}

/* Takes the sign of the gradient instead of that of the value. */
static void norm_sums_by_gradient(const leat_normalization *norm, int64_t pixels, int64_t channels,
                                  int64_t images, const float *x, const float *up, float *ones,
                                  float *products) {
    leat_normalization linear = *norm;
    linear.slope = 1;
    leat_kernels_scalar.norm_sums(&linear, pixels, channels, images, x, up, ones, products);
}

/* Takes the channels in one order and their numbers in the other. */
static void norm_back_turned(const leat_normalization *norm, int64_t pixels, int64_t channels,
                             int64_t lanes, const float *x, const float *up, float *down) {
    float turned[16];
    leat_normalization wrong = *norm;
    for (int64_t c = 0; c < channels; c++) turned[c] = norm->ones[channels - 1 - c];
    wrong.ones = turned;
    leat_kernels_scalar.norm_back(&wrong, pixels, channels, lanes, x, up, down);
}

/* A maximum, which loses NaN in the second argument: max(x, slope x). */
static void leaky_of_maximum(float slope, int64_t count, const float *x, float *y) {
    for (int64_t i = 0; i < count; i++) {
        const float low = x[i] * slope;
        y[i] = x[i] > low ? x[i] : low;
    }
}

/* 0 counts as above 0. */
static void leaky_back_of_zero(float slope, int64_t count, const float *y, const float *up,
                               float *down) {
    for (int64_t i = 0; i < count; i++) down[i] = y[i] >= 0 ? up[i] : slope * up[i];
}

/* (1 - y) (1 + y), which is more exact, but other bits. */
static void tanh_back_factors(int64_t count, const float *y, const float *up, float *down) {
    for (int64_t i = 0; i < count; i++) down[i] = up[i] * ((1 - y[i]) * (1 + y[i]));
}

/* Writes whole vectors. */
static void add_scaled_too_far(int64_t count, float factor, const float *x, float *sum) {
    leat_kernels_scalar.add_scaled(count + (count & 1), factor, x, sum);
}

/* Multiplies by 1 / root instead of dividing. */
static void adam_of_inverse(const leat_adam_step *step, int64_t count, const float *gradient,
                            float *weights, float *first, float *second) {
    const float inverse = 1 / step->root;
    for (int64_t i = 0; i < count; i++) {
        const float w = weights[i] * step->keep_weight;
        leat_kernels_scalar.adam(step, 1, gradient + i, weights + i, first + i, second + i);
        const float divisor = sqrtf(second[i]) * inverse + step->eps;
        weights[i] = fmaf(-step->size, first[i] / divisor, w);
    }
}

static void wrong_kernels_are_caught(void **state) {
    (void)state;
    leat_kernels wrong[18];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) wrong[i] = leat_kernels_scalar;
    wrong[0].tile = tile_two_sums;
    wrong[1].tile = tile_not_fused;
    wrong[2].tile = tile_too_wide;
    wrong[3].map = map_one_off;
    wrong[4].map = map_flushed;
    wrong[5].transpose = transpose_short;
    wrong[6].normal = normal_swapped;
    wrong[7].sums = sums_of_all_lanes;
    wrong[8].sums = sums_of_pairs;
    wrong[9].squares = squares_of_x;
    wrong[10].norm = norm_folded;
    wrong[11].norm_sums = norm_sums_by_gradient;
    wrong[12].norm_back = norm_back_turned;
    wrong[13].leaky = leaky_of_maximum;
    wrong[14].leaky_back = leaky_back_of_zero;
    wrong[15].tanh_back = tanh_back_factors;
    wrong[16].add_scaled = add_scaled_too_far;
    wrong[17].adam = adam_of_inverse;
    static const char *const words[] = {
        "scalar, tile: 1 x 16, 1 taps of depth 2, from 0",
        "scalar, tile: 1 x 16, 1 taps of depth 1, added",
        "scalar, tile: 1 x 16, 0 taps of depth 0, from 0: result 16 is 0x0p+0 (00000000), not",
        "scalar, function: sigmoid(0x0p+0): result 0 is 0x1.000002p-1 (3f000001), not 0x1p-1",
        "scalar, function: exp(-0x1.9p+6): result 0 is 0x0p+0",
        "scalar, transpose: 1 x 17",
        "scalar, normal numbers: 1 of them",
        "scalar, sums: 1 pixels, 1 channels, 1 images, slope 0: result 1 is",
        "scalar, sums: 2 pixels, 3 channels, 1 images, slope 0: result 16 is",
        "scalar, squares: 1 pixels, 1 channels, 1 images, slope 0: result 0 is",
        "scalar, normalisation: 1 pixels, 3 channels, 1 images, slope 0: result 0 is",
        "scalar, sums of gradients: 1 pixels, 1 channels,",
        "scalar, its gradient: 1 pixels, 3 channels, 1 images,",
        "scalar, leaky: ",
        "scalar, gradient of leaky:",
        "scalar, gradient of tanh:",
        "scalar, sum with a factor: 1 of them: result 1 is",
        "scalar, weights of Adam:",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char message[300];
        uint64_t hash;
        assert_false(leat_kernels_check(&wrong[i], &hash, message, sizeof message));
        if (strstr(message, words[i]) == NULL) fail_msg("canary %zu: %s", i, message);
        assert_int_not_equal(hash, SUITE_HASH);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant),
        cmocka_unit_test(classes),
        cmocka_unit_test(wrong_kernels_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
