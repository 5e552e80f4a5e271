/*
 * A unit of the DCGAN at full width, 32 images, against PyTorch's float64 run
 * (golden/nn/dcgan_full.json), whose inputs come from integer formulas; and its bits, which
 * are the same for all fast kernels and any number of threads.
 */
/* No TSan: minutes for the same threads as in test_dcgan.c, whose units are small. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "nn/models/dcgan/dcgan.h"
#include "nn_support.h"

enum { WIDTH = 64, LATENT = 100, MICRO = 32 };

/* Of gradient, moments, logits and fakes. A change of it changes every trained weight. */
#define UNIT_HASH UINT64_C(0x3e7de92f6e7b941b)

typedef struct fixture {
    json_t *golden;
    const json_t *want; /* its float64 results */
    leat_dcgan_shape model;
    float *parameters, *noise;
    uint8_t *images;
    leat_dcgan_result result;
} fixture;

/* ---- The inputs, as the README of the golden files says ---- */

static uint32_t mix(uint32_t h) {
    h = (h ^ h >> 16) * UINT32_C(0x85ebca6b);
    h = (h ^ h >> 13) * UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}

static uint32_t number(uint32_t tensor, int64_t index) {
    return mix(mix(tensor + UINT32_C(0x9e3779b9)) + (uint32_t)index);
}

static double doubles_at(const json_t *array, size_t index) {
    const json_t *value = json_array_get(array, index);
    assert_non_null(value);
    return json_number_value(value);
}

/* The first 8 values and their sum are those of the file. */
static void check_input(const json_t *first8, const json_t *sum, int64_t count,
                        const double *values) {
    double all = 0;
    for (int i = 0; i < 8; i++) assert_true(values[i] == doubles_at(first8, (size_t)i));
    for (int64_t i = 0; i < count; i++) all += values[i];
    assert_float_equal(all, json_number_value(sum), 1e-9 * (double)count);
}

static double *to_doubles(const float *values, int64_t count) {
    double *out = (double *)nn_zeros(2 * count);
    for (int64_t i = 0; i < count; i++) out[i] = (double)values[i];
    return out;
}

static void make_parameters(fixture *f) {
    f->parameters = nn_zeros(f->model.size);
    for (int i = 0; i < f->model.param_count; i++) {
        const leat_param *param = &f->model.params[i];
        const json_t *of = json_object_get(json_object_get(f->golden, "weights"), param->name);
        const uint32_t tensor = (uint32_t)json_integer_value(json_object_get(of, "hash_index"));
        const double base = strstr(param->name, ".bias") == NULL ? 1 : 0;
        float *out = f->parameters + param->offset;
        assert_int_equal(param->count, json_integer_value(json_object_get(of, "count")));
        for (int64_t j = 0; j < param->count; j++) {
            const uint32_t h = number(tensor, j);
            out[j] = param->rank == 4 ? (float)(((double)(h >> 8) - 8388608) * 0x1p-28)
                                      : (float)(base + ((double)(h >> 20) - 2048) * 0x1p-16);
        }
        check_input(json_object_get(of, "first8"), json_object_get(of, "sum_f64"), param->count,
                    to_doubles(out, param->count));
    }
}

static void make_images(fixture *f) {
    int64_t sum = 0, i = 0;
    f->images = (uint8_t *)nn_zeros((int64_t)MICRO * LEAT_IMAGE_VALUES / 4);
    for (uint32_t b = 0; b < MICRO; b++) {
        for (uint32_t y = 0; y < LEAT_IMAGE_SIZE; y++) {
            for (uint32_t x = 0; x < LEAT_IMAGE_SIZE; x++) {
                for (uint32_t c = 0; c < LEAT_IMAGE_COLORS; c++, i++) {
                    const uint32_t wave = (x * (1 + b % 5) + y * (1 + c) + 40 * c + 7 * b) / 2;
                    f->images[i] = (uint8_t)(wave + (number(1000, i) & 31));
                    sum += f->images[i];
                }
            }
        }
    }
    const json_t *first8 = json_object_get(f->golden, "images_first8");
    for (size_t j = 0; j < 8; j++) assert_true(f->images[j] == doubles_at(first8, j));
    assert_int_equal(sum, json_integer_value(json_object_get(f->golden, "images_sum")));
}

static void make_noise(fixture *f) {
    const int64_t count = (int64_t)MICRO * LATENT;
    f->noise = nn_zeros(count);
    for (int64_t j = 0; j < count; j++) {
        double sum = -393210;
        for (int q = 0; q < 12; q++) sum += number(2000, 12 * j + q) >> 16;
        f->noise[j] = (float)(sum * 0x1p-16);
    }
    check_input(json_object_get(f->golden, "noise_first8"),
                json_object_get(f->golden, "noise_sum_f64"), count, to_doubles(f->noise, count));
}

static void open_fixture(fixture *f) {
    f->golden = golden_json("golden/nn/dcgan_full.json");
    f->want = json_object_get(f->golden, "f64");
    assert_ok(leat_dcgan_shape_set(&f->model, WIDTH, LATENT, err));
    make_parameters(f);
    make_images(f);
    make_noise(f);
    f->result = (leat_dcgan_result){
        .gradient = nn_zeros(f->model.size),
        .moments = nn_zeros(leat_dcgan_shape_moments(&f->model)),
        .logits_images = nn_zeros(MICRO),
        .logits_fakes = nn_zeros(MICRO),
        .fakes = nn_zeros((int64_t)MICRO * LEAT_IMAGE_VALUES),
    };
}

static void close_fixture(fixture *f) {
    json_decref(f->golden);
    nn_free_all();
}

/* ---- The results ---- */

static double wanted(const json_t *of, const char *name) {
    const json_t *value = json_object_get(of, name);
    if (!json_is_number(value)) fail_msg("no number \"%s\"", name);
    return json_number_value(value);
}

static void check_number(const char *of, const char *name, double got, double want, double by) {
    if (!(fabs(got - want) <= by))
        fail_msg("%s: %s is %.9g, not %.9g: off by %.3g of %.3g", of, name, got, want,
                 fabs(got - want), by);
}

static void check_losses(const fixture *f) {
    const json_t *want = json_object_get(f->want, "losses");
    const leat_dcgan_result *result = &f->result;
    assert_true(result->weight == MICRO);
    check_number("loss", "of the images", result->loss_d_images / MICRO,
                 wanted(want, "loss_d_real"), 2e-6);
    check_number("loss", "of the fakes", result->loss_d_fakes / MICRO, wanted(want, "loss_d_fake"),
                 2e-6);
    check_number("loss", "of G", result->loss_g / MICRO, wanted(want, "loss_g"), 2e-6);
}

/* All values of an array of the file, within a share of the largest. */
static void check_array(const json_t *want, const float *got, double share, const char *name) {
    double values[MICRO];
    const size_t count = json_array_size(want);
    assert_in_range(count, 1, MICRO);
    for (size_t i = 0; i < count; i++) values[i] = doubles_at(want, i);
    nn_assert_close_at(got, values, (int64_t)count, share, name, __FILE__, __LINE__);
}

/*
 * One of the 524,288 inputs of D(fake).main.7, a LeakyReLU, is 9.1e-7 from 0 in float64 and falls
 * on the other side here. The term that it changes is 1.3e-3 to 1.9e-3 (rel_l2) of all of G's
 * gradients; a float64 run with the signs of this unit gives them within 4e-6. So G's may be off by
 * ten times what the README of the golden files accepts, whose runs agree on all of these signs.
 */
static void check_gradients(const fixture *f) {
    for (int i = 0; i < f->model.param_count; i++) {
        const leat_param *param = &f->model.params[i];
        const json_t *want = json_object_get(json_object_get(f->want, "grads"), param->name);
        const json_t *scale =
            json_object_get(json_object_get(f->golden, "yardstick_grads"), param->name);
        const json_t *first8 = json_object_get(want, "first8");
        const bool is_g = param->name[0] == 'G';
        const double share = is_g ? 1e-3 : 1e-4, each = is_g ? 3e-3 : 1e-3;
        double squares = 0, sum = 0;
        for (int64_t j = 0; j < param->count; j++) {
            const double value = f->result.gradient[param->offset + j] / (double)MICRO;
            squares += value * value;
            sum += fabs(value);
            if (j < 8)
                check_number(param->name, "one of the first 8", value,
                             doubles_at(first8, (size_t)j), each * wanted(scale, "max_abs"));
        }
        const double l2 = wanted(want, "l2"), abs_sum = wanted(want, "abs_sum");
        check_number(param->name, "l2", sqrt(squares), l2, share * l2);
        check_number(param->name, "abs_sum", sum, abs_sum, share * abs_sum);
    }
}

/* What a normalised layer says of its input, all channels together: mean and deviation of the
 * layer before it; and its first moments. */
static void check_layer(const fixture *f, const leat_dcgan_layer *layer, int64_t channels,
                        const float *moments, const char *name, const json_t *first_moments) {
    const json_t *want = json_object_get(json_object_get(f->want, "layers"), name);
    const float *mean = moments + layer->moments, *variance = mean + channels;
    const double deviation = wanted(want, "std");
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < layer->channels; c++) {
        sum += (double)mean[c];
        squares += (double)variance[c] + (double)mean[c] * (double)mean[c];
    }
    sum /= (double)layer->channels;
    squares /= (double)layer->channels;
    check_number(name, "mean", sum, wanted(want, "mean"), 1e-6 * deviation);
    check_number(name, "std", sqrt(squares - sum * sum), deviation, 1e-6 * deviation);
    check_array(json_array_get(first_moments, 0), mean, 2e-5, name);
    check_array(json_array_get(first_moments, 1), variance, 2e-5, name);
}

static void check_layers(const fixture *f) {
    static const int g_number[] = {0, 3, 6, 9}, d_number[] = {2, 5, 8};
    const json_t *moments = json_object_get(f->want, "moments_first4");
    const int64_t g = f->model.g_channels, d = f->model.d_channels;
    char name[40], norm[40];
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "G.main.%d", g_number[i]);
        snprintf(norm, sizeof norm, "G.main.%d", g_number[i] + 1);
        check_layer(f, &f->model.g[i], g, f->result.moments, name,
                    json_array_get(json_object_get(moments, norm), 0));
    }
    for (int i = 0; i < 6; i++) {
        const char *of = i < 3 ? "real" : "fake";
        snprintf(name, sizeof name, "D(%s).main.%d", of, d_number[i % 3]);
        snprintf(norm, sizeof norm, "D.main.%d", d_number[i % 3] + 1);
        check_layer(f, &f->model.d[i % 3 + 1], d, f->result.moments + 2 * g + (i < 3 ? 0 : 2 * d),
                    name, json_array_get(json_object_get(moments, norm), i < 3 ? 0 : 1));
    }
}

static void check_fakes(const fixture *f) {
    const json_t *want = json_object_get(json_object_get(f->want, "layers"), "G.main.13");
    const int64_t count = (int64_t)MICRO * LEAT_IMAGE_VALUES;
    double sum = 0, squares = 0, least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        const double value = (double)f->result.fakes[i];
        sum += value;
        squares += value * value;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    sum /= (double)count;
    check_number("fakes", "mean", sum, wanted(want, "mean"), 1e-6);
    check_number("fakes", "std", sqrt(squares / (double)count - sum * sum), wanted(want, "std"),
                 1e-6);
    check_number("fakes", "min", least, wanted(want, "min"), 1e-5);
    check_number("fakes", "max", most, wanted(want, "max"), 1e-5);
    float first[8]; /* of the first color */
    for (int x = 0; x < 8; x++) first[x] = f->result.fakes[x * LEAT_IMAGE_COLORS];
    check_array(json_object_get(want, "first8"), first, 2e-5, "fakes");
}

static void add_bits(uint64_t *hash, const float *values, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        *hash = (*hash ^ bits) * UINT64_C(0x100000001b3);
    }
}

static uint64_t hash_of(const fixture *f) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    add_bits(&hash, f->result.gradient, f->model.size);
    add_bits(&hash, f->result.moments, leat_dcgan_shape_moments(&f->model));
    add_bits(&hash, f->result.logits_images, MICRO);
    add_bits(&hash, f->result.logits_fakes, MICRO);
    add_bits(&hash, f->result.fakes, (int64_t)MICRO * LEAT_IMAGE_VALUES);
    return hash;
}

static void test_full(void **state) {
    (void)state;
    fixture f;
    leat_kernel_variant variant;
    int ran = 0;
    open_fixture(&f);
    for (int i = 0; leat_kernel_variant_at(i, &variant); i++) {
        /* the plain kernels take minutes: the units of test_dcgan compare them */
        if (!variant.runs || (variant.lanes == 1 && !variant.used)) continue;
        for (int threads = 1; threads <= 2; threads++) {
            const leat_dcgan_options options = {WIDTH, LATENT, MICRO, threads, variant.name};
            leat_dcgan *dcgan;
            assert_ok(leat_dcgan_create(&dcgan, &options, err));
            assert_ok(leat_dcgan_unit(dcgan, LEAT_DCGAN_BOTH, 1, f.parameters, f.images, f.noise,
                                      &f.result, err));
            leat_dcgan_destroy(dcgan);
            check_losses(&f);
            check_array(json_object_get(f.want, "d_real"), f.result.logits_images, 2e-5, "d_real");
            check_array(json_object_get(f.want, "d_fake"), f.result.logits_fakes, 2e-5, "d_fake");
            check_gradients(&f);
            check_layers(&f);
            check_fakes(&f);
            const uint64_t hash = hash_of(&f);
            if (hash != UNIT_HASH)
                fail_msg("%s, %d threads: the hash is %016" PRIx64, variant.name, threads, hash);
            ran++;
        }
    }
    assert_true(ran >= 2);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full)};
    return cmocka_run_group_tests_name("dcgan at full width", tests, NULL, NULL);
}
