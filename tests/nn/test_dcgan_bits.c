/*
 * The bits of a DCGAN's unit, from synthetic numbers: one pinned hash for all kernels, numbers of
 * threads and floating-point modes of the caller; and one handle in two threads.
 */
/* TSan: micro-batches on a pool, two threads at one handle. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "base/thread.h"
#include "float_modes.h"
#include "leat/nn.h"
#include "nn_support.h"

enum { WIDTH = 3, LATENT = 5, MICRO = 8, MICROS = 2 };
#define UNIT_HASH UINT64_C(0x9a5a5bc58e58916d)

typedef struct arrays {
    int64_t size, running;
    float *parameters, *running_values, *noise, *first, *second;
    uint8_t *images;
    leat_dcgan_result result;
} arrays;

static leat_dcgan *create(const char *kernels, int threads) {
    const leat_dcgan_options options = {WIDTH, LATENT, MICRO, threads, kernels};
    leat_dcgan *dcgan;
    assert_ok(leat_dcgan_create(&dcgan, &options, err));
    return dcgan;
}

static void fill(const leat_dcgan *dcgan, arrays *a) {
    const int64_t values = (int64_t)MICRO * MICROS * LEAT_IMAGE_VALUES;
    a->size = leat_dcgan_size(dcgan);
    a->running = leat_dcgan_running_count(dcgan);
    a->parameters = nn_zeros(a->size);
    a->first = nn_zeros(a->size);
    a->second = nn_zeros(a->size);
    a->running_values = nn_zeros(a->running);
    leat_dcgan_init(dcgan, 11, a->parameters);
    leat_dcgan_init_running(dcgan, a->running_values);
    a->noise = nn_numbers(2, MICRO * MICROS * LATENT);
    a->images = (uint8_t *)nn_zeros(values / 4);
    for (int64_t i = 0; i < values; i++)
        a->images[i] = (uint8_t)(leat_random(3, 1, (uint64_t)i) >> 56);
    a->result = (leat_dcgan_result){.gradient = nn_zeros(a->size),
                                    .moments = nn_zeros(MICROS * leat_dcgan_moment_count(dcgan)),
                                    .logits_images = nn_zeros(MICRO * MICROS),
                                    .logits_fakes = nn_zeros(MICRO * MICROS),
                                    .fakes = nn_zeros(values)};
}

static uint64_t hash(uint64_t sum, const void *bytes, int64_t size) {
    const uint8_t *at = bytes;
    for (int64_t i = 0; i < size; i++) sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static uint64_t hash_floats(uint64_t sum, const float *values, int64_t count) {
    for (int64_t i = 0; i < count; i++) assert_false(isnan(values[i]));
    return hash(sum, values, count * (int64_t)sizeof *values);
}

/* Everything that a unit of each pass, folding and a step give; the calls are made in a mode. */
static uint64_t run_all(leat_dcgan *dcgan, float_mode mode) {
    static const leat_dcgan_pass passes[] = {LEAT_DCGAN_BOTH, LEAT_DCGAN_D, LEAT_DCGAN_G};
    const leat_adam adam = {2e-4, 0.5, 0.999, 1e-8, 0.01};
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    arrays a;
    fill(dcgan, &a);
    set_mode(mode);
    leat_dcgan_init(dcgan, 11, a.parameters);
    sum = hash_floats(sum, a.parameters, a.size);
    for (int i = 0; i < 3; i++) {
        leat_dcgan_result *r = &a.result;
        assert_ok(
            leat_dcgan_unit(dcgan, passes[i], MICROS, a.parameters, a.images, a.noise, r, err));
        const double sums[] = {r->weight, r->loss_d_images, r->loss_d_fakes, r->loss_g};
        sum = hash_floats(sum, r->gradient, a.size);
        sum = hash_floats(sum, r->moments, MICROS * leat_dcgan_moment_count(dcgan));
        sum = hash_floats(sum, r->logits_images, MICRO * MICROS);
        sum = hash_floats(sum, r->logits_fakes, MICRO * MICROS);
        sum = hash_floats(sum, r->fakes, (int64_t)MICRO * MICROS * LEAT_IMAGE_VALUES);
        sum = hash(sum, sums, sizeof sums);
        leat_dcgan_fold(dcgan, passes[i], MICROS, r->moments, a.running_values);
        assert_ok(leat_dcgan_step(dcgan,
                                  &(leat_dcgan_update){.pass = passes[i],
                                                       .adam = &adam,
                                                       .step = i + 1,
                                                       .gradient = r->gradient,
                                                       .weight = r->weight,
                                                       .parameters = a.parameters,
                                                       .first = a.first,
                                                       .second = a.second},
                                  err));
    }
    const float_mode after = get_mode();
    set_mode(DEFAULT_MODE);
    assert_int_equal(after, mode);
    sum = hash_floats(sum, a.running_values, a.running);
    sum = hash_floats(sum, a.parameters, a.size);
    sum = hash_floats(sum, a.second, a.size);
    nn_free_all();
    return sum;
}

static void test_hash(void **state) {
    (void)state;
    leat_device device;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        leat_dcgan *dcgan =
            create(device.kernels->name, device.pool == NULL ? 1 : leat_pool_threads(device.pool));
        const uint64_t found = run_all(dcgan, DEFAULT_MODE);
        leat_dcgan_destroy(dcgan);
        if (found != UNIT_HASH)
            fail_msg("%s: 0x%016llx", device.kernels->name, (unsigned long long)found);
    }
}

/* A unit is the sum of its micro-batches: the weight, 8, makes the products exact. */
static void test_sum(void **state) {
    (void)state;
    arrays a;
    leat_dcgan *dcgan = create(NULL, 2);
    fill(dcgan, &a);
    float *sum = nn_zeros(a.size);
    double losses = 0;
    for (int i = 0; i < MICROS; i++) {
        assert_ok(leat_dcgan_unit(dcgan, LEAT_DCGAN_BOTH, 1, a.parameters,
                                  a.images + (int64_t)i * MICRO * LEAT_IMAGE_VALUES,
                                  a.noise + i * MICRO * LATENT, &a.result, err));
        for (int64_t j = 0; j < a.size; j++) sum[j] += a.result.gradient[j];
        losses += a.result.loss_g;
    }
    assert_ok(leat_dcgan_unit(dcgan, LEAT_DCGAN_BOTH, MICROS, a.parameters, a.images, a.noise,
                              &a.result, err));
    nn_assert_same(a.result.gradient, sum, a.size);
    assert_true(a.result.loss_g == losses);
    leat_dcgan_destroy(dcgan);
    nn_free_all();
}

/* The caller's mode changes nothing, and is restored. */
static void test_modes(void **state) {
    (void)state;
    float_mode last = TO_ZERO;
#if defined(__x86_64__)
    last = FLUSHED;
#endif
    for (int threads = 1; threads <= 3; threads += 2) {
        for (float_mode mode = UPWARD; mode <= last; mode++) {
            set_mode(mode);
            leat_dcgan *dcgan = create(NULL, threads); /* its threads begin in this mode */
            set_mode(DEFAULT_MODE);
            const uint64_t found = run_all(dcgan, mode);
            leat_dcgan_destroy(dcgan);
            if (found != UNIT_HASH) fail_msg("mode %d, %d threads", (int)mode, threads);
        }
    }
}

static void rest(void) {
    struct timespec pause = {.tv_nsec = 1000000};
    nanosleep(&pause, NULL);
}

typedef struct rival {
    leat_dcgan *dcgan;
    arrays *a;
    atomic_bool stop;
    int failures;
} rival;

static void *compute(void *context) {
    rival *self = context;
    float *moments = calloc(MICROS, sizeof(float) * (size_t)leat_dcgan_moment_count(self->dcgan));
    float *gradient = calloc((size_t)self->a->size, sizeof(float));
    while (!atomic_load(&self->stop)) {
        leat_dcgan_result result = {.gradient = gradient, .moments = moments};
        leat_error err = {0};
        leat_code code = leat_dcgan_unit(self->dcgan, LEAT_DCGAN_D, 1, self->a->parameters,
                                         self->a->images, self->a->noise, &result, &err);
        if (code != LEAT_OK && (code != LEAT_ERR_BUSY || result.weight != 0)) self->failures++;
        rest(); /* else the other finds the handle free only by luck */
    }
    free(moments);
    free(gradient);
    return NULL;
}

/* One handle, two threads: a call is right, or refused. */
static void test_two_callers(void **state) {
    (void)state;
    arrays a;
    pthread_t thread;
    leat_dcgan *dcgan = create(NULL, 1);
    fill(dcgan, &a);
    assert_ok(leat_dcgan_unit(dcgan, LEAT_DCGAN_BOTH, MICROS, a.parameters, a.images, a.noise,
                              &a.result, err));
    float *right = nn_zeros(a.size);
    memcpy(right, a.result.gradient, sizeof *right * (size_t)a.size);
    rival other = {.dcgan = dcgan, .a = &a};
    assert_int_equal(pthread_create(&thread, NULL, compute, &other), 0);
    int done = 0, refused = 0;
    const int64_t end_ns = leat_clock_ns() + INT64_C(120000000000);
    while ((done < 5 || refused < 5) && leat_clock_ns() < end_ns) {
        leat_error err = {0};
        leat_code code = leat_dcgan_unit(dcgan, LEAT_DCGAN_BOTH, MICROS, a.parameters, a.images,
                                         a.noise, &a.result, &err);
        if (code == LEAT_ERR_BUSY) {
            refused++;
            rest();
            continue;
        }
        assert_int_equal(code, LEAT_OK);
        nn_assert_same(a.result.gradient, right, a.size);
        done++;
    }
    atomic_store(&other.stop, true);
    pthread_join(thread, NULL);
    leat_dcgan_destroy(dcgan);
    assert_int_equal(other.failures, 0);
    if (done < 5 || refused < 5)
        fail_msg("within 120 s %d calls came to their end and %d were refused", done, refused);
    nn_free_all();
}

static void test_refused(void **state) {
    (void)state;
    arrays a;
    leat_dcgan *dcgan = create(NULL, 1);
    fill(dcgan, &a);
    a.result.weight = 6;
    assert_fails(leat_dcgan_unit(dcgan, (leat_dcgan_pass)7, MICROS, a.parameters, a.images, a.noise,
                                 &a.result, err),
                 LEAT_ERR_OPTION, "pass 7");
    assert_true(a.result.weight == 0);
    assert_fails(
        leat_dcgan_unit(dcgan, LEAT_DCGAN_D, MICROS, a.parameters, NULL, a.noise, &a.result, err),
        LEAT_ERR_OPTION, "without images");
    static const struct {
        leat_adam adam;
        double weight;
        const char *words;
    } steps[] = {{{2e-4, 0.5, 0.999, 1e-8, 0}, 0, "total weight 0"},
                 {{2e-4, 0.5, 0.999, 1e-8, 0}, INFINITY, "total weight inf"},
                 {{NAN, 0.5, 0.999, 1e-8, 0}, 1, "rate nan"},
                 {{2e-4, 0.5, 0.999, -1, 0}, 1, "eps -1"},
                 {{2e-4, 0.5, 0.999, 1e-8, -0.1}, 1, "decay -0.1"},
                 {{2e-4, 1, 0.999, 1e-8, 0}, 1, "betas 1"}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_fails(leat_dcgan_step(dcgan,
                                     &(leat_dcgan_update){.pass = LEAT_DCGAN_BOTH,
                                                          .adam = &steps[i].adam,
                                                          .step = 1,
                                                          .gradient = a.result.gradient,
                                                          .weight = steps[i].weight,
                                                          .parameters = a.parameters,
                                                          .first = a.first,
                                                          .second = a.second},
                                     err),
                     LEAT_ERR_OPTION, steps[i].words);
    leat_dcgan_destroy(dcgan);
    nn_free_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),    cmocka_unit_test(test_sum),
        cmocka_unit_test(test_modes),   cmocka_unit_test(test_two_callers),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("bits of a dcgan", tests, NULL, NULL);
}
