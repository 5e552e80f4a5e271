/*
 * What a DCGAN does with values and sizes that nobody should give it, through the public header
 * alone: NaN and infinity come out where they must and nowhere else, sizes are told before they are
 * taken, and handles do not disturb each other.
 */
/* TSan: two handles at once, and more threads than micro-batches. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "leat/nn.h"

enum { WIDTH = 3, LATENT = 7, MICRO = 5, MICROS = 3 };

typedef struct fixture {
    leat_dcgan *dcgan;
    int micro, micros;
    float *parameters, *noise;
    uint8_t *images;
    leat_dcgan_result result;
} fixture;

static float *floats(int64_t count) {
    float *out = calloc((size_t)count + 1, sizeof *out);
    assert_non_null(out);
    return out;
}

static fixture make(leat_dcgan_options options, int micros) {
    fixture f = {.micro = options.micro_batch, .micros = micros};
    const int64_t images = (int64_t)f.micro * micros;
    assert_ok(leat_dcgan_create(&f.dcgan, &options, err));
    f.parameters = floats(leat_dcgan_size(f.dcgan));
    leat_dcgan_init(f.dcgan, 3, f.parameters);
    f.noise = floats(images * options.latent);
    for (int64_t i = 0; i < images * options.latent; i++)
        f.noise[i] = (float)(i * 37 % 101) / 50 - 1;
    f.images = calloc((size_t)images, LEAT_IMAGE_VALUES);
    assert_non_null(f.images);
    for (int64_t i = 0; i < images * LEAT_IMAGE_VALUES; i++)
        f.images[i] = (uint8_t)((i * 7 + i / 64) % 256);
    f.result.gradient = floats(leat_dcgan_size(f.dcgan));
    f.result.moments = floats(micros * leat_dcgan_moment_count(f.dcgan));
    f.result.logits_images = floats(images);
    f.result.logits_fakes = floats(images);
    f.result.fakes = floats(images * LEAT_IMAGE_VALUES);
    return f;
}

static void release(fixture *f) {
    leat_dcgan_destroy(f->dcgan);
    free(f->parameters);
    free(f->noise);
    free(f->images);
    free(f->result.gradient);
    free(f->result.moments);
    free(f->result.logits_images);
    free(f->result.logits_fakes);
    free(f->result.fakes);
}

static fixture make_small(int threads) {
    return make((leat_dcgan_options){WIDTH, LATENT, MICRO, threads, NULL}, MICROS);
}

static void run(fixture *f, leat_dcgan_pass pass) {
    const uint8_t *images = pass == LEAT_DCGAN_G ? NULL : f->images;
    assert_ok(leat_dcgan_unit(f->dcgan, pass, f->micros, f->parameters, images, f->noise,
                              &f->result, err));
}

static int64_t finite_of(const float *values, int64_t count) {
    int64_t finite = 0;
    for (int64_t i = 0; i < count; i++) finite += isfinite(values[i]) != 0;
    return finite;
}

/* The same bits, but every NaN is equal. */
static void assert_same(const float *a, const float *b, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i])))
            fail_msg("value %lld: %a and %a", (long long)i, (double)a[i], (double)b[i]);
    }
}

static leat_parameter parameter(const fixture *f, const char *name) {
    leat_parameter out;
    for (int i = 0; leat_dcgan_parameter_at(f->dcgan, i, &out); i++) {
        if (strcmp(out.name, name) == 0) return out;
    }
    fail_msg("no parameter %s", name);
    return out;
}

/* ---- Values ---- */

/* NaN in each tensor of parameters: it reaches what depends on it, and not the rest. */
static void test_nan_parameters(void **state) {
    (void)state;
    fixture f = make_small(2);
    const int64_t g = leat_dcgan_generator_size(f.dcgan), size = leat_dcgan_size(f.dcgan);
    const int64_t images = (int64_t)MICRO * MICROS;
    leat_parameter param;
    for (int i = 0; leat_dcgan_parameter_at(f.dcgan, i, &param); i++) {
        float *value = f.parameters + param.offset + param.count / 2;
        const float before = *value;
        const bool is_g = param.offset < g;
        *value = NAN;
        run(&f, LEAT_DCGAN_BOTH);
        *value = before;
        assert_int_equal(finite_of(f.result.logits_fakes, images), 0);
        assert_true(isnan(f.result.loss_g) && isnan(f.result.loss_d_fakes));
        assert_true(finite_of(f.result.gradient, g) < g);
        assert_int_equal(finite_of(f.result.logits_images, images), is_g ? images : 0);
        assert_int_equal(isfinite(f.result.loss_d_images) != 0, is_g);
        if (!is_g)
            assert_int_equal(finite_of(f.result.fakes, images * LEAT_IMAGE_VALUES),
                             images * LEAT_IMAGE_VALUES);
        else assert_true(finite_of(f.result.fakes, LEAT_IMAGE_VALUES) < LEAT_IMAGE_VALUES);
        assert_true(f.result.weight == images);
    }
    run(&f, LEAT_DCGAN_BOTH); /* nothing of it is left in the handle */
    assert_int_equal(finite_of(f.result.gradient, size), size);
    assert_true(isfinite(f.result.loss_g));
    release(&f);
}

/* Each micro-batch is normalised alone: NaN in the noise of one shows in that one only. */
static void test_nan_noise(void **state) {
    (void)state;
    fixture f = make_small(2);
    const int64_t moments = leat_dcgan_moment_count(f.dcgan);
    f.noise[(MICRO + 1) * LATENT] = NAN; /* of the second */
    run(&f, LEAT_DCGAN_BOTH);
    for (int i = 0; i < MICROS; i++) {
        assert_int_equal(finite_of(f.result.logits_fakes + i * MICRO, MICRO), i == 1 ? 0 : MICRO);
        assert_int_equal(finite_of(f.result.logits_images + i * MICRO, MICRO), MICRO);
        const int64_t finite = finite_of(f.result.moments + i * moments, moments);
        assert_true(i == 1 ? finite < moments : finite == moments);
    }
    assert_true(isnan(f.result.loss_g) && isfinite(f.result.loss_d_images));
    release(&f);
}

/* Parameters that are all the same extreme value: a result, the same for any number of threads. */
static void test_extreme_parameters(void **state) {
    (void)state;
    static const float values[] = {INFINITY, -INFINITY, 3e38f, -3e38f, 1e-40f, 0x1p-149f, 0, -0.0f};
    fixture f = make_small(1), other = make_small(4);
    const int64_t size = leat_dcgan_size(f.dcgan), images = (int64_t)MICRO * MICROS;
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        for (int64_t i = 0; i < size; i++) f.parameters[i] = other.parameters[i] = values[v];
        run(&f, LEAT_DCGAN_BOTH);
        run(&other, LEAT_DCGAN_BOTH);
        assert_same(f.result.gradient, other.result.gradient, size);
        assert_same(f.result.logits_fakes, other.result.logits_fakes, images);
        const bool tame = fabsf(values[v]) < 1;
        assert_int_equal(finite_of(f.result.gradient, size) == size, tame);
        assert_int_equal(isfinite(f.result.loss_g) != 0, tame);
    }
    release(&f);
    release(&other);
}

/* Infinity in the last layer of G: tanh of it is 1 or -1, so D sees finite images. */
static void test_infinite_image(void **state) {
    (void)state;
    fixture f = make_small(1);
    const leat_parameter last = parameter(&f, "G.main.12.weight");
    for (int64_t i = 0; i < last.count; i++)
        f.parameters[last.offset + i] = i % 2 == 0 ? 3e38f : -3e38f;
    run(&f, LEAT_DCGAN_BOTH);
    int64_t ones = 0, nan = 0;
    for (int64_t i = 0; i < (int64_t)MICRO * MICROS * LEAT_IMAGE_VALUES; i++) {
        ones += fabsf(f.result.fakes[i]) == 1;
        nan += isnan(f.result.fakes[i]);
    }
    assert_true(ones > 1000);
    assert_int_equal(isfinite(f.result.loss_d_fakes) != 0, nan == 0);
    assert_true(isfinite(f.result.loss_d_images));
    release(&f);
}

/* A step takes what it is given: NaN goes to its own weight alone. */
static void test_step(void **state) {
    (void)state;
    fixture f = make_small(2);
    const int64_t size = leat_dcgan_size(f.dcgan);
    const leat_adam adam = {2e-4, 0.5, 0.999, 1e-8, 0};
    const leat_adam wrong[] = {{2e-4, 1, 0.999, 1e-8, 0},
                               {2e-4, 0.5, -0.1, 1e-8, 0},
                               {2e-4, NAN, 0.999, 1e-8, 0},
                               {2e-4, 0.5, NAN, 1e-8, 0}};
    float *first = floats(size), *second = floats(size), *before = floats(size);
    memcpy(before, f.parameters, sizeof *before * (size_t)size);
    run(&f, LEAT_DCGAN_BOTH);
    leat_dcgan_update update = {.pass = LEAT_DCGAN_BOTH,
                                .step = 1,
                                .gradient = f.result.gradient,
                                .weight = f.result.weight,
                                .parameters = f.parameters,
                                .first = first,
                                .second = second};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        update.adam = &wrong[i];
        assert_fails(leat_dcgan_step(f.dcgan, &update, err), LEAT_ERR_OPTION, "betas");
    }
    update.adam = &adam;
    update.step = 0;
    assert_fails(leat_dcgan_step(f.dcgan, &update, err), LEAT_ERR_OPTION, "step 0");
    update.step = 1;
    update.second = first;
    assert_fails(leat_dcgan_step(f.dcgan, &update, err), LEAT_ERR_OPTION, "arrays overlap");
    update.second = f.parameters + size - 1; /* the last weight */
    assert_fails(leat_dcgan_step(f.dcgan, &update, err), LEAT_ERR_OPTION, "arrays overlap");
    update.second = second;
    assert_same(f.parameters, before, size);
    f.result.gradient[11] = NAN;
    f.result.gradient[size - 1] = INFINITY;
    update.step = INT64_MAX;
    assert_ok(leat_dcgan_step(f.dcgan, &update, err));
    assert_int_equal(finite_of(f.parameters, size), size - 2);
    assert_true(isnan(f.parameters[11]) && isnan(f.parameters[size - 1]));
    free(first);
    free(second);
    free(before);
    release(&f);
}

/* ---- Sizes ---- */

static int64_t bytes_of(leat_dcgan_options options) {
    int64_t bytes = 0;
    assert_ok(leat_dcgan_bytes(&options, &bytes, err));
    return bytes;
}

/* Sizes that no machine has are told; that nothing is taken for it is in fault/test_memory.c. */
static void test_huge(void **state) {
    (void)state;
    leat_dcgan_options options = {1024, 4096, 1024, 1, NULL};
    const int64_t one = bytes_of(options);
    options.threads = 2;
    const int64_t each = bytes_of(options) - one;
    assert_true(one > INT64_C(60) << 30 && each > INT64_C(40) << 30 && each < one);
    options.threads = 256;
    assert_int_equal(bytes_of(options), one + 255 * each);
    options = leat_dcgan_options_default();
    options.threads = 256;
    assert_true(bytes_of(options) > INT64_C(10) << 30);
}

/* The largest micro-batch, on threads that divide its ops. */
static void test_large_batch(void **state) {
    (void)state;
    fixture f = make((leat_dcgan_options){1, 1, 1024, 1, NULL}, 1);
    fixture other = make((leat_dcgan_options){1, 1, 1024, 3, NULL}, 1);
    const int64_t size = leat_dcgan_size(f.dcgan);
    run(&f, LEAT_DCGAN_G); /* without images */
    run(&other, LEAT_DCGAN_G);
    assert_true(f.result.weight == 1024 && isfinite(f.result.loss_g) && f.result.loss_g > 0);
    assert_int_equal(finite_of(f.result.gradient, size), size);
    assert_same(f.result.gradient, other.result.gradient, size);
    assert_same(f.result.fakes, other.result.fakes, INT64_C(1024) * LEAT_IMAGE_VALUES);
    release(&f);
    release(&other);
}

/* ---- Threads ---- */

static void test_more_threads(void **state) {
    (void)state;
    fixture f = make_small(1), other = make_small(8); /* of which 5 have no micro-batch */
    static const leat_dcgan_pass passes[] = {LEAT_DCGAN_D, LEAT_DCGAN_G, LEAT_DCGAN_BOTH};
    const int64_t size = leat_dcgan_size(f.dcgan);
    for (size_t p = 0; p < sizeof passes / sizeof *passes; p++) {
        for (f.micros = 1; f.micros <= MICROS; f.micros++) {
            other.micros = f.micros;
            run(&f, passes[p]);
            run(&other, passes[p]);
            assert_same(f.result.gradient, other.result.gradient, size);
            assert_same(f.result.moments, other.result.moments,
                        f.micros * leat_dcgan_moment_count(f.dcgan));
            assert_true(f.result.loss_g == other.result.loss_g &&
                        f.result.loss_d_fakes == other.result.loss_d_fakes);
        }
    }
    release(&f);
    release(&other);
}

static void *run_units(void *argument) {
    fixture *f = argument;
    for (int i = 0; i < 3; i++) {
        if (leat_dcgan_unit(f->dcgan, LEAT_DCGAN_BOTH, f->micros, f->parameters, f->images,
                            f->noise, &f->result, NULL) != LEAT_OK)
            return f;
    }
    return NULL;
}

/* Two handles, each with threads of its own, at the same time. */
static void test_two_handles(void **state) {
    (void)state;
    fixture alone = make_small(1), f[2] = {make_small(2), make_small(2)};
    const int64_t size = leat_dcgan_size(alone.dcgan);
    pthread_t threads[2];
    run(&alone, LEAT_DCGAN_BOTH);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_units, &f[i]), 0);
    for (int i = 0; i < 2; i++) {
        void *failed = &f;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    for (int i = 0; i < 2; i++) {
        assert_same(f[i].result.gradient, alone.result.gradient, size);
        release(&f[i]);
    }
    release(&alone);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nan_parameters),
        cmocka_unit_test(test_nan_noise),
        cmocka_unit_test(test_extreme_parameters),
        cmocka_unit_test(test_infinite_image),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_huge),
        cmocka_unit_test(test_large_batch),
        cmocka_unit_test(test_more_threads),
        cmocka_unit_test(test_two_handles),
    };
    return cmocka_run_group_tests_name("hostile values for the DCGAN", tests, NULL, NULL);
}
