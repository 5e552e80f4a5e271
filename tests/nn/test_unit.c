/* Units of a model that is not one: what any number of threads adds, and in which order. */
/* TSan: micro-batches that threads make and one takes in order. */
#include "nn/unit/unit.h"

#include <math.h>
#include <string.h>

#include "nn_support.h"

enum { SIZE = 37, MICROS = 9, SUMS = 2 };

typedef struct toy {
    float gradient[8][SIZE]; /* of each worker */
    int64_t fails_at;        /* a micro-batch; -1: none */
    leat_engine *engine;
    int64_t cancels_at;
} toy;

/* Numbers whose sum depends on the order. */
static float value_of(int64_t micro, int64_t i) {
    return (float)(1 + micro * micro) * 0.1f + (float)i * 1e-3f + (micro % 2 == 0 ? 1e4f : -1e4f);
}
static double weight_of(int64_t micro) { return (double)(1 + micro % 4); }

static leat_code make(void *context, leat_micro *micro, leat_error *err) {
    toy *self = context;
    float *gradient = self->gradient[micro->worker];
    if (micro->index == self->fails_at)
        return leat_fail(err, LEAT_ERR_INPUT, "micro-batch %lld", (long long)micro->index);
    if (micro->index == self->cancels_at) leat_engine_cancel(self->engine, true);
    for (int64_t i = 0; i < SIZE; i++) gradient[i] = value_of(micro->index, i);
    micro->gradient = gradient;
    micro->weight = weight_of(micro->index);
    for (int k = 0; k < SUMS; k++) micro->sums[k] = 0.1 * (double)(micro->index + k);
    return LEAT_OK;
}

static leat_unit_job job_of(toy *self, int64_t begin, int64_t end) {
    return (leat_unit_job){.micro_batches = MICROS,
                           .size = SIZE,
                           .begin = begin,
                           .end = end,
                           .sums = SUMS,
                           .make = make,
                           .context = self};
}

static leat_code run(toy *self, int threads, const leat_unit_job *job, float *gradient,
                     leat_unit_sums *sums, leat_error *err) {
    leat_engine engine;
    uint64_t mode = 0;
    assert_ok(leat_engine_set(&engine, "toy", "scalar", threads, err));
    assert_ok(leat_engine_start(&engine, err));
    self->engine = &engine;
    assert_ok(leat_engine_enter(&engine, &mode, err));
    leat_error other = {0};
    assert_int_equal(leat_engine_enter(&engine, &mode, &other), LEAT_ERR_BUSY);
    assert_non_null(strstr(other.message, "this toy handle"));
    const leat_code code = leat_unit_run(&engine, job, gradient, sums, err);
    leat_engine_leave(&engine, mode);
    assert_int_equal(leat_engine_enter(&engine, &mode, &other), LEAT_OK); /* it is free again */
    leat_engine_leave(&engine, mode);
    leat_engine_stop(&engine);
    return code;
}

static void test_order(void **state) {
    static const int64_t parts[][2] = {{0, SIZE}, {0, 10}, {10, SIZE}, {5, 5}};
    (void)state;
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        float want[SIZE] = {0}, got[SIZE];
        double weight = 0, sums[SUMS] = {0};
        for (int64_t m = 0; m < MICROS; m++) {
            for (int64_t i = parts[p][0]; i < parts[p][1]; i++)
                want[i] = fmaf((float)weight_of(m), value_of(m, i), want[i]);
            weight += weight_of(m);
            for (int k = 0; k < SUMS; k++) sums[k] += 0.1 * (double)(m + k) * weight_of(m);
        }
        static const int threads[] = {1, 2, 3, 8};
        for (int t = 0; t < 4; t++) {
            toy self = {.fails_at = -1, .cancels_at = -1};
            const leat_unit_job job = job_of(&self, parts[p][0], parts[p][1]);
            leat_unit_sums of;
            memset(got, 0xff, sizeof got);
            assert_ok(run(&self, threads[t], &job, got, &of, err));
            nn_assert_same(got, want, SIZE);
            assert_true(of.weight == weight && of.sums[0] == sums[0] && of.sums[1] == sums[1]);
        }
    }
}

static void assert_zero(const float *gradient, const leat_unit_sums *sums) {
    for (int i = 0; i < SIZE; i++) assert_true(gradient[i] == 0);
    assert_true(sums->weight == 0 && sums->sums[0] == 0 && sums->sums[1] == 0);
}

/* The first failure in the order of the micro-batches, whoever met it; and a cancelled unit. */
static void test_failures(void **state) {
    static const int threads[] = {1, 2, 3, 8};
    (void)state;
    for (int t = 0; t < 4; t++) {
        float gradient[SIZE];
        leat_unit_sums sums;
        toy self = {.fails_at = 4, .cancels_at = -1};
        leat_unit_job job = job_of(&self, 0, SIZE);
        assert_fails(run(&self, threads[t], &job, gradient, &sums, err), LEAT_ERR_INPUT,
                     "micro-batch 4");
        assert_zero(gradient, &sums);
        self = (toy){.fails_at = -1, .cancels_at = 0};
        assert_fails(run(&self, threads[t], &job, gradient, &sums, err), LEAT_ERR_CANCELLED,
                     "cancelled");
        assert_zero(gradient, &sums);
    }
}

static void test_refused(void **state) {
    leat_engine engine;
    (void)state;
    assert_fails(leat_engine_set(&engine, "toy", "abacus", 1, err), LEAT_ERR_OPTION, "abacus");
    assert_fails(leat_engine_set(&engine, "toy", NULL, 0, err), LEAT_ERR_OPTION, "not 0");
    assert_fails(leat_engine_set(&engine, "toy", NULL, 257, err), LEAT_ERR_OPTION, "not 257");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
