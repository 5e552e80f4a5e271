/* Rows into the layout of the ops and back, and means over pixels, beside plain loops. */
#include <math.h>
#include <string.h>

#include "nn/ops/mean.h"
#include "nn/ops/move.h"
#include "nn_support.h"

static const struct {
    int images, values;
} sizes[] = {{1, 1}, {1, 1024}, {2, 1025}, {16, 3}, {17, 2049}, {33, 5}};

/* Of each size: all values are in their places, and lanes without an image are 0. */
static void rows_come_in_and_out(void **state) {
    leat_device device;
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t images = sizes[s].images, values = sizes[s].values;
        const int64_t lanes = leat_lanes(images);
        const float *rows = nn_numbers(3, images * values);
        float *in = nn_zeros(values * lanes), *out = nn_zeros(images * values);
        for (int i = 0; nn_variant(i, true, &device); i++) {
            for (int64_t k = 0; k < values * lanes; k++) in[k] = NAN;
            assert_ok(leat_move_in(&device, images, values, rows, in, err));
            for (int64_t k = 0; k < values; k++)
                for (int64_t n = 0; n < lanes; n++)
                    assert_true(in[k * lanes + n] == (n < images ? rows[n * values + k] : 0));
            memset(out, 0xff, sizeof *out * (size_t)(images * values));
            assert_ok(leat_move_out(&device, images, values, in, out, err));
            nn_assert_same(out, rows, images * values);
        }
        nn_free_all();
    }
}

static void levels_are_numbers_of_a_table(void **state) {
    enum { IMAGES = 3, VALUES = 1030 };
    static uint8_t levels[IMAGES * VALUES];
    const float *table = nn_numbers(5, 256);
    const int64_t lanes = leat_lanes(IMAGES);
    const leat_levels of = {levels, table};
    float *in = nn_zeros(VALUES * lanes);
    leat_device device;
    (void)state;
    for (int k = 0; k < IMAGES * VALUES; k++) levels[k] = (uint8_t)(k * 7 + k / 256);
    for (int i = 0; nn_variant(i, true, &device); i++) {
        for (int64_t k = 0; k < VALUES * lanes; k++) in[k] = NAN;
        assert_ok(leat_move_levels_in(&device, IMAGES, VALUES, of, in, err));
        for (int64_t k = 0; k < VALUES; k++)
            for (int64_t n = 0; n < lanes; n++)
                assert_true(in[k * lanes + n] == (n < IMAGES ? table[levels[n * VALUES + k]] : 0));
    }
    nn_free_all();
}

/* What unused lanes hold does not show. */
static void means_are_of_each_image(void **state) {
    enum { IMAGES = 18, PIXELS = 9, CHANNELS = 5 };
    const float *images = nn_numbers(8, IMAGES * CHANNELS * PIXELS);
    const float *in = nn_to_lanes(images, IMAGES, CHANNELS, PIXELS);
    const leat_mean of = {IMAGES, PIXELS, CHANNELS};
    float *out = nn_zeros(IMAGES * CHANNELS);
    leat_device device;
    (void)state;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        memset(out, 0xff, sizeof *out * IMAGES * CHANNELS);
        assert_ok(leat_mean_pixels(&device, &of, in, out, err));
        for (int k = 0; k < IMAGES * CHANNELS; k++) {
            float sum = 0;
            for (int p = 0; p < PIXELS; p++) sum += images[k * PIXELS + p];
            assert_true(out[k] == sum / PIXELS);
        }
    }
    nn_free_all();
}

static void values_are_cleared_and_copied(void **state) {
    leat_device device = {.kernels = &leat_kernels_scalar};
    float at[6] = {1, 2, 3, 4, 5, 6};
    (void)state;
    leat_copy(&device, 2, at, at + 3);
    leat_clear(&device, 2, at + 1);
    assert_memory_equal(at, ((const float[]){1, 0, 0, 1, 2, 6}), sizeof at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_in_and_out),
        cmocka_unit_test(levels_are_numbers_of_a_table),
        cmocka_unit_test(means_are_of_each_image),
        cmocka_unit_test(values_are_cleared_and_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
