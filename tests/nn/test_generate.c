/*
 * Latent vectors, statistics and images of the generator, sums of units, and the fixed features of
 * images: the same bits for all kernels and threads, and equal to what a unit computes with the
 * same numbers.
 */
/* TSan: micro-batches on a pool. */
#include <math.h>

#include "leat/nn.h"
#include "nn_support.h"

enum { WIDTH = 4, LATENT = 7, MICRO = 6, MICROS = 3, IMAGES = MICRO * MICROS };

static leat_dcgan *create(const char *kernels, int threads) {
    const leat_dcgan_options options = {WIDTH, LATENT, MICRO, threads, kernels};
    leat_dcgan *dcgan = NULL;
    assert_ok(leat_dcgan_create(&dcgan, &options, err));
    return dcgan;
}

/* ---- noise ---------------------------------------------------------------------------------- */

static void noise_is_a_function_of_its_number(void **state) {
    leat_dcgan *dcgan = create(NULL, 1);
    float all[20 * LATENT], some[20 * LATENT], other[20 * LATENT];
    (void)state;
    leat_dcgan_noise(dcgan, LEAT_NOISE_TRAINING, 5, 1000, 20, all);
    for (int first = 0; first < 20; first += 7)
        leat_dcgan_noise(dcgan, LEAT_NOISE_TRAINING, 5, 1000 + first, 20 - first < 7 ? 6 : 7,
                         some + first * LATENT);
    nn_assert_same(all, some, 20 * LATENT);
    leat_dcgan_noise(dcgan, LEAT_NOISE_FIXED, 5, 1000, 20, other);
    for (int i = 0; i < 20; i++) assert_true(all[i * LATENT] != other[i * LATENT]);
    leat_dcgan_noise(dcgan, LEAT_NOISE_TRAINING, 6, 1000, 20, other);
    for (int i = 0; i < 20; i++) assert_true(all[i * LATENT] != other[i * LATENT]);
    leat_dcgan_destroy(dcgan);
}

/* Runs depend on these numbers: they must never change. */
static void noise_is_pinned(void **state) {
    leat_dcgan *dcgan = create(NULL, 1);
    static const float want[2][3] = {{-0x1.0e7cb8p+1f, -0x1.70d816p-2f, 0x1.d058b6p-3f},
                                     {-0x1.f81b84p-3f, -0x1.d78dbep-1f, 0x1.9bc644p-3f}};
    float got[LATENT];
    (void)state;
    for (int purpose = 0; purpose < 2; purpose++) {
        leat_dcgan_noise(dcgan, (leat_noise)purpose, 42, 960, 1, got);
        nn_assert_same(got, want[purpose], 3);
    }
    leat_dcgan_destroy(dcgan);
}

/* ---- statistics and images ------------------------------------------------------------------ */

typedef struct made {
    float *parameters, *noise, *moments, *fakes;
    uint8_t *images;
} made;

/* What a unit computes from the same parameters and noise. */
static made make_unit(leat_dcgan *dcgan) {
    made m = {.parameters = nn_zeros(leat_dcgan_size(dcgan)),
              .noise = nn_zeros(IMAGES * LATENT),
              .moments = nn_zeros(MICROS * leat_dcgan_moment_count(dcgan)),
              .fakes = nn_zeros(IMAGES * LEAT_IMAGE_VALUES),
              .images = (uint8_t *)nn_zeros(IMAGES * LEAT_IMAGE_VALUES / 4)};
    leat_dcgan_result result = {
        .gradient = nn_zeros(leat_dcgan_size(dcgan)), .moments = m.moments, .fakes = m.fakes};
    leat_dcgan_init(dcgan, 3, m.parameters);
    leat_dcgan_noise(dcgan, LEAT_NOISE_FIXED, 3, 0, IMAGES, m.noise);
    assert_ok(leat_dcgan_unit(dcgan, LEAT_DCGAN_BOTH, MICROS, m.parameters, m.images, m.noise,
                              &result, err));
    return m;
}

/* With the statistics of a micro-batch, evaluation and training are the same. */
static void images_are_those_of_a_unit(void **state) {
    leat_dcgan *dcgan = create(NULL, 2);
    made m = make_unit(dcgan);
    const int64_t count = leat_dcgan_statistics_count(dcgan);
    float *statistics = nn_zeros(count), *images = nn_zeros(IMAGES * LEAT_IMAGE_VALUES);
    (void)state;
    for (int b = 0; b < MICROS; b++) {
        const float *noise = m.noise + b * MICRO * LATENT;
        assert_ok(leat_dcgan_statistics(dcgan, 1, m.parameters, noise, statistics, err));
        nn_assert_same(statistics, m.moments + b * leat_dcgan_moment_count(dcgan), count);
        assert_ok(leat_dcgan_generate(dcgan, 1, m.parameters, statistics, noise, images, err));
        nn_assert_same(images, m.fakes + b * MICRO * LEAT_IMAGE_VALUES, MICRO * LEAT_IMAGE_VALUES);
    }
    leat_dcgan_destroy(dcgan);
    nn_free_all();
}

static void statistics_are_pooled(void **state) {
    leat_dcgan *dcgan = create(NULL, 1);
    made m = make_unit(dcgan);
    const int64_t count = leat_dcgan_statistics_count(dcgan), channels = count / 2;
    float *statistics = nn_zeros(count);
    (void)state;
    assert_ok(leat_dcgan_statistics(dcgan, MICROS, m.parameters, m.noise, statistics, err));
    for (int64_t c = 0; c < channels; c++) {
        double mean = 0, variance = 0;
        for (int b = 0; b < MICROS; b++)
            mean += m.moments[b * leat_dcgan_moment_count(dcgan) + c] / (double)MICROS;
        for (int b = 0; b < MICROS; b++) {
            const float *moments = m.moments + b * leat_dcgan_moment_count(dcgan);
            variance += (moments[channels + c] + pow(moments[c] - mean, 2)) / MICROS;
        }
        assert_float_equal(statistics[c], mean, 1e-6 * (1 + fabs(mean)));
        assert_float_equal(statistics[channels + c], variance, 1e-6 * (1 + variance));
    }
    leat_dcgan_destroy(dcgan);
    nn_free_all();
}

/* Two micro-batches whose images trade places. */
static void an_image_does_not_depend_on_the_others(void **state) {
    leat_dcgan *dcgan = create(NULL, 1);
    made m = make_unit(dcgan);
    float *statistics = nn_zeros(leat_dcgan_statistics_count(dcgan));
    float *images = nn_zeros(IMAGES * LEAT_IMAGE_VALUES), *noise = nn_zeros(IMAGES * LATENT);
    float *turned = nn_zeros(IMAGES * LEAT_IMAGE_VALUES);
    (void)state;
    assert_ok(leat_dcgan_statistics(dcgan, MICROS, m.parameters, m.noise, statistics, err));
    for (int i = 0; i < IMAGES; i++)
        memcpy(noise + i * LATENT, m.noise + (IMAGES - 1 - i) * LATENT, sizeof(float) * LATENT);
    assert_ok(leat_dcgan_generate(dcgan, MICROS, m.parameters, statistics, m.noise, images, err));
    assert_ok(leat_dcgan_generate(dcgan, MICROS, m.parameters, statistics, noise, turned, err));
    for (int i = 0; i < IMAGES; i++)
        nn_assert_same(images + i * LEAT_IMAGE_VALUES,
                       turned + (IMAGES - 1 - i) * LEAT_IMAGE_VALUES, LEAT_IMAGE_VALUES);
    leat_dcgan_destroy(dcgan);
    nn_free_all();
}

static void bits_do_not_depend_on_kernels_and_threads(void **state) {
    float *first = NULL, *first_statistics = NULL;
    leat_device device;
    (void)state;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        leat_dcgan *dcgan =
            create(device.kernels->name, device.pool != NULL ? leat_pool_threads(device.pool) : 1);
        made m = make_unit(dcgan);
        const int64_t count = leat_dcgan_statistics_count(dcgan);
        float *statistics = nn_zeros(count), *images = nn_zeros(IMAGES * LEAT_IMAGE_VALUES);
        assert_ok(leat_dcgan_statistics(dcgan, MICROS, m.parameters, m.noise, statistics, err));
        assert_ok(
            leat_dcgan_generate(dcgan, MICROS, m.parameters, statistics, m.noise, images, err));
        if (i == 0) {
            first = images;
            first_statistics = statistics;
        }
        nn_assert_same(images, first, IMAGES * LEAT_IMAGE_VALUES);
        nn_assert_same(statistics, first_statistics, count);
        leat_dcgan_destroy(dcgan);
    }
    nn_free_all();
}

static void wrong_calls_are_refused(void **state) {
    leat_dcgan *dcgan = create(NULL, 1);
    float value = 0;
    leat_error err;
    (void)state;
    assert_int_equal(leat_dcgan_generate(dcgan, 0, &value, &value, &value, &value, &err),
                     LEAT_ERR_OPTION);
    assert_int_equal(leat_dcgan_statistics(dcgan, -1, &value, &value, &value, &err),
                     LEAT_ERR_OPTION);
    leat_dcgan_destroy(dcgan);
}

static void units_are_added(void **state) {
    float sum[3] = {1, 1e8f, -0.0f};
    const float more[3] = {0.5f, 1, -0.0f};
    (void)state;
    leat_dcgan_add(3, more, sum);
    assert_true(sum[0] == 1.5f && sum[1] == 1e8f && sum[2] == 0 && signbit(sum[2]));
}

/* ---- features ------------------------------------------------------------------------------- */

enum { PICTURES = 35 }; /* a group and a rest */

static float *pictures(void) {
    float *images = nn_numbers(11, PICTURES * LEAT_IMAGE_VALUES);
    for (int64_t i = 0; i < PICTURES * LEAT_IMAGE_VALUES; i++) images[i] = tanhf(images[i]);
    return images;
}

static void features_have_the_same_bits(void **state) {
    const float *images = pictures();
    float *first = nn_zeros(PICTURES * LEAT_IMAGE_FEATURES);
    leat_device device;
    (void)state;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        leat_features *features = NULL;
        float *out = nn_zeros(PICTURES * LEAT_IMAGE_FEATURES);
        assert_ok(leat_features_create(&features,
                                       device.pool != NULL ? leat_pool_threads(device.pool) : 1,
                                       device.kernels->name, err));
        assert_ok(leat_features_compute(features, PICTURES, images, out, err));
        if (i == 0) memcpy(first, out, sizeof(float) * PICTURES * LEAT_IMAGE_FEATURES);
        nn_assert_same(out, first, PICTURES * LEAT_IMAGE_FEATURES);
        leat_features_destroy(features);
    }
    nn_free_all();
}

/* An image alone has the features that it has among others; others have others. */
static void features_are_of_one_image(void **state) {
    const float *images = pictures();
    float *all = nn_zeros(PICTURES * LEAT_IMAGE_FEATURES), one[LEAT_IMAGE_FEATURES];
    leat_features *features = NULL;
    (void)state;
    assert_ok(leat_features_create(&features, 1, NULL, err));
    assert_ok(leat_features_compute(features, PICTURES, images, all, err));
    for (int i = 0; i < PICTURES; i += 13) {
        assert_ok(leat_features_compute(features, 1, images + i * LEAT_IMAGE_VALUES, one, err));
        nn_assert_same(one, all + i * LEAT_IMAGE_FEATURES, LEAT_IMAGE_FEATURES);
        assert_true(i == 0 || memcmp(one, all, sizeof one) != 0);
    }
    leat_features_destroy(features);
    nn_free_all();
}

/* Scores of runs are compared with each other: the features of an image never change. */
static void features_are_pinned(void **state) {
    static const float want[3] = {0x1.23f1bcp-2f, 0x1.a5f90ap-4f, -0x1.8be8f4p-5f};
    float image[LEAT_IMAGE_VALUES], out[LEAT_IMAGE_FEATURES];
    leat_features *features = NULL;
    (void)state;
    for (int i = 0; i < LEAT_IMAGE_VALUES; i++)
        image[i] = (float)((i / 192 + i % 192 / 3 * 2 + i % 3 * 40) % 256) / 128.0f - 1;
    assert_ok(leat_features_create(&features, 1, NULL, err));
    assert_ok(leat_features_compute(features, 1, image, out, err));
    nn_assert_same(out, want, 3);
    leat_features_destroy(features);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_a_function_of_its_number),
        cmocka_unit_test(noise_is_pinned),
        cmocka_unit_test(images_are_those_of_a_unit),
        cmocka_unit_test(statistics_are_pooled),
        cmocka_unit_test(an_image_does_not_depend_on_the_others),
        cmocka_unit_test(bits_do_not_depend_on_kernels_and_threads),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(units_are_added),
        cmocka_unit_test(features_have_the_same_bits),
        cmocka_unit_test(features_are_of_one_image),
        cmocka_unit_test(features_are_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
