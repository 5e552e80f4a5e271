/*
 * Machines that exchange bytes have the bits of one alone: trainers that only meet through what
 * exchange.h writes, for every codec; and bytes that are damaged are refused by name.
 */
/* No TSan: one thread. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "train/step/exchange.h"
#include "train_support.h"

#define RUN "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
enum { STEPS = 3 };

typedef struct side {
    leat_trainer *trainer;
    leat_exchange *exchange;
} side;

static side make_side(const leat_train_options *options, const leat_samples *samples) {
    side of = {.trainer = train_create(options, samples)};
    leat_error err = {0};
    assert_int_equal(leat_exchange_create(&of.exchange, of.trainer, options, RUN, &err), LEAT_OK);
    return of;
}

static void free_side(side *of) {
    leat_exchange_destroy(of->exchange);
    train_destroy(of->trainer);
}

/* A step of `owner` whose units two others compute, in the wrong order. */
static void step_apart(side *owner, side workers[2], int64_t units) {
    const leat_exchange_sizes sizes = leat_exchange_get_sizes(owner->exchange);
    uint8_t *weights = malloc((size_t)sizes.weights);
    uint8_t *payloads = malloc((size_t)(sizes.payload * units));
    char hash[65], of_unit[65];
    leat_step_numbers numbers;
    leat_error err = {0};
    assert_ok(leat_exchange_put_weights(owner->exchange, weights, hash, err));
    for (int64_t k = units - 1; k >= 0; k--) {
        side *worker = &workers[k % 2];
        const int64_t step = leat_trainer_state(owner->trainer)->step;
        assert_int_equal(leat_exchange_take_weights(worker->exchange, step, weights, hash, &err),
                         LEAT_OK);
        assert_int_equal(
            leat_exchange_compute(worker->exchange, k, payloads + k * sizes.payload, of_unit, &err),
            LEAT_OK);
    }
    for (int64_t k = 0; k < units; k++) {
        leat_unit_numbers unit;
        char why[LEAT_EXCHANGE_WORDS_BYTES];
        assert_int_equal(leat_exchange_read(owner->exchange, k, payloads + k * sizes.payload,
                                            sizes.payload, &unit, &err),
                         LEAT_OK);
        assert_true(leat_exchange_is_sound(owner->exchange, &unit, NULL, why));
        assert_ok(leat_trainer_add(owner->trainer, k, &unit, err));
    }
    assert_int_equal(leat_trainer_end(owner->trainer, &numbers, &err), LEAT_OK);
    free(weights);
    free(payloads);
}

static void apart_is_alone(void **state) {
    const leat_codec codecs[][2] = {{LEAT_CODEC_F32, LEAT_CODEC_F32},
                                    {LEAT_CODEC_BF16, LEAT_CODEC_BF16},
                                    {LEAT_CODEC_INT8, LEAT_CODEC_BF16}};
    const leat_samples samples = train_samples(20);
    (void)state;
    for (int64_t units = 1; units <= 3; units++) {
        for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
            leat_train_options options = train_small();
            char alone[65], apart[65];
            options.units = units;
            options.codec_up = codecs[i][0];
            options.codec_down = codecs[i][1];
            leat_trainer *one = train_create(&options, &samples);
            side owner = make_side(&options, &samples);
            side workers[2] = {make_side(&options, &samples), make_side(&options, &samples)};
            train_steps(one, STEPS, alone);
            for (int s = 0; s < STEPS; s++) step_apart(&owner, workers, units);
            leat_trainer_hash(owner.trainer, apart);
            assert_string_equal(apart, alone);
            train_destroy(one);
            free_side(&owner);
            free_side(&workers[0]);
            free_side(&workers[1]);
        }
    }
}

static void states_travel(void **state) {
    const leat_samples samples = train_samples(20);
    const leat_train_options options = train_small();
    side from = make_side(&options, &samples), to = make_side(&options, &samples);
    const int64_t size = leat_exchange_get_sizes(from.exchange).state;
    uint8_t *bytes = malloc((size_t)size);
    char hash[65], is[65];
    leat_error err = {0};
    (void)state;
    train_steps(from.trainer, 2, hash);
    leat_exchange_put_state(from.exchange, bytes);
    assert_int_equal(leat_exchange_take_state(to.exchange, bytes, hash, &err), LEAT_OK);
    leat_trainer_hash(to.trainer, is);
    assert_string_equal(is, hash);
    train_steps(from.trainer, 1, hash);
    train_steps(to.trainer, 1, is);
    assert_string_equal(is, hash);
    leat_trainer_hash(from.trainer, hash);
    /* any byte */
    for (int64_t i = 0; i < size; i += i < 32 ? 1 : 997) {
        leat_exchange_put_state(from.exchange, bytes);
        bytes[i] ^= 1;
        assert_int_equal(leat_exchange_take_state(to.exchange, bytes, hash, &err),
                         LEAT_ERR_CORRUPT);
    }
    /* a step that no run can be at, with the hash of such a state */
    leat_trainer_state(from.trainer)->step = INT64_C(1) << 59;
    leat_exchange_put_state(from.exchange, bytes);
    leat_trainer_hash(from.trainer, hash);
    assert_fails(leat_exchange_take_state(to.exchange, bytes, hash, err), LEAT_ERR_CORRUPT,
                 "not the state of a run");
    free(bytes);
    free_side(&from);
    free_side(&to);
}

static void damage_is_named(void **state) {
    const leat_samples samples = train_samples(20);
    const leat_train_options options = train_small();
    side of = make_side(&options, &samples);
    const leat_exchange_sizes sizes = leat_exchange_get_sizes(of.exchange);
    uint8_t *weights = malloc((size_t)sizes.weights), *payload = malloc((size_t)sizes.payload);
    char hash[65], unit_hash[65];
    leat_unit_numbers unit;
    char why[LEAT_EXCHANGE_WORDS_BYTES];
    leat_unit_norms norms, most;
    leat_error err = {0};
    (void)state;
    assert_ok(leat_exchange_put_weights(of.exchange, weights, hash, err));
    assert_int_equal(leat_exchange_compute(of.exchange, 1, payload, unit_hash, &err), LEAT_OK);
    for (int64_t k = -1; k < 1000; k += 1000) /* none of them is one of the step */
        assert_fails(leat_exchange_read(of.exchange, k, payload, sizes.payload, &unit, err),
                     LEAT_ERR_CORRUPT, "step 1 has no unit");
    assert_int_equal(leat_exchange_read(of.exchange, 0, payload, sizes.payload, &unit, &err),
                     LEAT_ERR_INPUT);
    assert_non_null(strstr(err.message, "unit is 1 (expected 0)"));
    assert_int_equal(leat_exchange_read(of.exchange, 1, payload, sizes.payload - 1, &unit, &err),
                     LEAT_ERR_INPUT);
    assert_int_equal(leat_exchange_read(of.exchange, 1, payload, sizes.payload, &unit, &err),
                     LEAT_OK);
    leat_exchange_measure_unit(of.exchange, &unit, &norms);
    most = norms;
    assert_true(leat_exchange_is_sound(of.exchange, &unit, &most, why));
    assert_string_equal(why, "");
    most.gradient *= 0.999;
    assert_false(leat_exchange_is_sound(of.exchange, &unit, &most, why));
    assert_non_null(strstr(why, "the gradient has the norm "));
    most = (leat_unit_norms){norms.gradient, norms.statistics * 0.999};
    assert_false(leat_exchange_is_sound(of.exchange, &unit, &most, why));
    assert_non_null(strstr(why, "a statistic has the norm "));
    static const struct {
        float value;
        const char *why;
    } bad[] = {{NAN, "is not finite"},
               {-INFINITY, "is not finite"},
               {3.3e38F, "is too large to be squared"},
               {-1e30F, "is too large to be squared"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        float *const places[] = {&unit.gradient[5], &unit.statistics[1]};
        for (int k = 0; k < 2; k++) {
            const float before = *places[k];
            *places[k] = bad[i].value;
            assert_false(leat_exchange_is_sound(of.exchange, &unit, NULL, why));
            assert_non_null(strstr(why, k == 0 ? "the gradient " : "a statistic "));
            assert_non_null(strstr(why, bad[i].why));
            *places[k] = before;
        }
    }
    unit.sums[1] = INFINITY;
    assert_false(leat_exchange_is_sound(of.exchange, &unit, NULL, why));
    assert_string_equal(why, "loss_d_fakes is not finite");
    weights[7] ^= 1;
    assert_int_equal(leat_exchange_take_weights(of.exchange, 0, weights, hash, &err),
                     LEAT_ERR_CORRUPT);
    /* a result of other weights */
    train_steps(of.trainer, 1, unit_hash);
    assert_ok(leat_exchange_put_weights(of.exchange, weights, hash, err));
    assert_int_equal(leat_exchange_read(of.exchange, 1, payload, sizes.payload, &unit, &err),
                     LEAT_ERR_INPUT);
    free(weights);
    free(payload);
    free_side(&of);
}

/* A unit that is given up, and computed later, has the bits that it had. */
static void cancelled(void **state) {
    const leat_samples samples = train_samples(20);
    leat_train_options options = train_small();
    leat_error err = {0};
    (void)state;
    for (options.threads = 1; options.threads <= 3; options.threads += 2) {
        side of = make_side(&options, &samples);
        const leat_exchange_sizes sizes = leat_exchange_get_sizes(of.exchange);
        uint8_t *weights = malloc((size_t)sizes.weights), *payload = malloc((size_t)sizes.payload);
        char hash[65], before[65], after[65];
        assert_ok(leat_exchange_put_weights(of.exchange, weights, hash, err));
        assert_int_equal(leat_exchange_compute(of.exchange, 1, payload, before, &err), LEAT_OK);
        leat_exchange_cancel(of.exchange, true);
        for (int i = 0; i < 2; i++)
            assert_int_equal(leat_exchange_compute(of.exchange, 1, payload, after, &err),
                             LEAT_ERR_CANCELLED);
        leat_exchange_cancel(of.exchange, false);
        assert_int_equal(leat_exchange_compute(of.exchange, 1, payload, after, &err), LEAT_OK);
        assert_string_equal(after, before);
        free(weights);
        free(payload);
        free_side(&of);
    }
}

static void one_pass_only(void **state) {
    const leat_samples samples = train_samples(20);
    leat_train_options options = train_small();
    leat_exchange *exchange = NULL;
    leat_error err = {0};
    (void)state;
    leat_dcgan_settings own = train_small_settings();
    own.schedule = LEAT_DCGAN_ALTERNATING;
    options.settings = &own;
    leat_trainer *trainer = train_create(&options, &samples);
    assert_int_equal(leat_exchange_create(&exchange, trainer, &options, RUN, &err),
                     LEAT_ERR_OPTION);
    assert_null(exchange);
    train_destroy(trainer);
}

/* A worker has the run's hash from a database. */
static void a_hash_is_checked(void **state) {
    const leat_samples samples = train_samples(20);
    const leat_train_options options = train_small();
    leat_trainer *trainer = train_create(&options, &samples);
    leat_exchange *exchange = NULL;
    (void)state;
    const char *const others[] = {"", "0123", "0123456789abcdef0123456789abcdeF0123456789abcdef"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_fails(leat_exchange_create(&exchange, trainer, &options, others[i], err),
                     LEAT_ERR_CORRUPT, "is not the hash of a run");
        assert_null(exchange);
    }
    train_destroy(trainer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apart_is_alone),  cmocka_unit_test(states_travel),
        cmocka_unit_test(damage_is_named), cmocka_unit_test(cancelled),
        cmocka_unit_test(one_pass_only),   cmocka_unit_test(a_hash_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
