/*
 * Faults of a DCGAN's handle: each allocation and start of a thread fails in turn, and nothing is
 * left; once a handle is made, units and steps allocate nothing and start no thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "count.h"
#include "leat/nn.h"
#include "points.h"

enum { MICROS = 3, MICRO = 2, LATENT = 5 };

static leat_dcgan_options options_of(int threads) {
    return (leat_dcgan_options){
        .width = 2, .latent = LATENT, .micro_batch = MICRO, .threads = threads};
}

/* The calls that creating a handle takes; each of them fails once, or from then on. */
static long sweep(const leat_dcgan_options *options, bool stays) {
    long at = 0;
    for (bool reached = true; reached; at++) {
        leat_dcgan *dcgan = (leat_dcgan *)&at;
        leat_error err = {0};
        set_fault(at, stays);
        leat_code code = leat_dcgan_create(&dcgan, options, &err);
        reached = clear_fault();
        assert_int_equal(err.code, code);
        if (!reached) {
            assert_int_equal(code, LEAT_OK);
            leat_dcgan_destroy(dcgan);
            continue;
        }
        assert_null(dcgan);
        if (atomic_load(&fault_kind) == LEAT_FAULT_THREAD) {
            assert_int_equal(code, LEAT_ERR_IO);
            assert_non_null(strstr(err.message, "cannot start another thread"));
        } else {
            assert_int_equal(atomic_load(&fault_kind), LEAT_FAULT_ALLOC);
            assert_int_equal(code, LEAT_ERR_MEMORY);
            assert_non_null(strstr(err.message, "cannot allocate"));
        }
    }
    return at - 1;
}

static void creating(void **state) {
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        const leat_dcgan_options options = options_of(threads);
        int64_t bytes = 0;
        assert_int_equal(leat_dcgan_bytes(&options, &bytes, NULL), LEAT_OK);
        const long calls = sweep(&options, false); /* and what is allocated once for good */
        assert_true(calls >= 3 + threads);
        /* blocks are not on the heap, where a leak checker looks: they are counted */
        const int64_t before = count_live();
        count_restart();
        for (int i = 0; i < 20; i++) assert_int_equal(sweep(&options, i % 2 == 1), calls);
        assert_int_equal(count_live(), before);
        /* what was told is what is taken, but for the handle itself */
        assert_in_range(count_peak() - before, bytes, bytes + 4096);
    }
}

/* ---- Units ---- */

typedef struct arrays {
    float *parameters, *first, *second, *noise;
    uint8_t *images;
    leat_dcgan_result result;
} arrays;

static void *zeros(int64_t count, size_t item) {
    void *out = calloc((size_t)count, item);
    assert_non_null(out);
    return out;
}

static arrays make_arrays(const leat_dcgan *dcgan) {
    const int64_t size = leat_dcgan_size(dcgan);
    arrays a = {
        .parameters = zeros(size, sizeof(float)),
        .first = zeros(size, sizeof(float)),
        .second = zeros(size, sizeof(float)),
        .noise = zeros(MICROS * MICRO * LATENT, sizeof(float)),
        .images = zeros((int64_t)MICROS * MICRO * LEAT_IMAGE_VALUES, 1),
    };
    a.result.gradient = zeros(size, sizeof(float));
    a.result.moments = zeros(MICROS * leat_dcgan_moment_count(dcgan), sizeof(float));
    leat_dcgan_init(dcgan, 1, a.parameters);
    for (int i = 0; i < MICROS * MICRO * LATENT; i++) a.noise[i] = (float)(i % 7) - 3;
    for (int i = 0; i < MICROS * MICRO * LEAT_IMAGE_VALUES; i++) a.images[i] = (uint8_t)(i * 31);
    return a;
}

static void free_arrays(arrays *a) {
    free(a->parameters);
    free(a->first);
    free(a->second);
    free(a->noise);
    free(a->images);
    free(a->result.gradient);
    free(a->result.moments);
}

static void units(void **state) {
    (void)state;
    static const leat_dcgan_pass passes[] = {LEAT_DCGAN_BOTH, LEAT_DCGAN_D, LEAT_DCGAN_G};
    const leat_adam adam = {2e-4, 0.5, 0.999, 1e-8, 0};
    for (int threads = 1; threads <= 2; threads++) {
        const leat_dcgan_options options = options_of(threads);
        leat_dcgan *dcgan = NULL;
        int64_t step = 0;
        assert_int_equal(leat_dcgan_create(&dcgan, &options, NULL), LEAT_OK);
        arrays a = make_arrays(dcgan);
        set_fault(0, true); /* every call fails */
        for (int unit = 0; unit < 2; unit++) {
            for (size_t p = 0; p < sizeof passes / sizeof *passes; p++) {
                for (int micros = 1; micros <= MICROS; micros += MICROS - 1) {
                    assert_int_equal(leat_dcgan_unit(dcgan, passes[p], micros, a.parameters,
                                                     a.images, a.noise, &a.result, NULL),
                                     LEAT_OK);
                    assert_int_equal(
                        leat_dcgan_step(dcgan,
                                        &(leat_dcgan_update){.pass = passes[p],
                                                             .adam = &adam,
                                                             .step = ++step,
                                                             .gradient = a.result.gradient,
                                                             .weight = a.result.weight,
                                                             .parameters = a.parameters,
                                                             .first = a.first,
                                                             .second = a.second},
                                        NULL),
                        LEAT_OK);
                }
            }
        }
        assert_int_equal(atomic_load(&fault_seen), 0);
        clear_fault();
        free_arrays(&a);
        leat_dcgan_destroy(dcgan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(creating), cmocka_unit_test(units)};
    return cmocka_run_group_tests_name("faults of the DCGAN", tests, NULL, NULL);
}
