/* What the numbers of a run warn of, on made-up series; that metrics.jsonl gives it back; and the
 * spread, on images of which it is known. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "train/run/metrics.h"
#include "train/tasks/images/dcgan_task.h"
#include "train/tasks/images/dcgan_warnings.h"
#include "train/tasks/images/image_spread.h"
#include "train/tasks/images/measure.h"
#include "train_support.h"

static leat_warning_state warning_state;

static void begin(void) { warning_state = leat_warnings_begin(leat_dcgan_warnings); }

static const leat_train_warning *warning_of(int watch) { return &warning_state.warnings[watch]; }

static leat_train_step unknown_step(int64_t number) {
    leat_train_step step = leat_task_step(&leat_dcgan_task);
    step.step = number;
    for (int i = 0; i < LEAT_STEP_VALUES_MAX; i++) step.values[i] = NAN;
    for (int i = 0; i < LEAT_MEASURES_MAX; i++) step.measured[i] = NAN;
    return step;
}

static void see_spread(int64_t number, double spread, double spread_data) {
    leat_train_step step = unknown_step(number);
    step.measured[LEAT_MEASURE_SPREAD] = spread;
    step.measured[LEAT_MEASURE_SPREAD_DATA] = spread_data;
    leat_warnings_step(&warning_state, &step);
}

static void see_loss(int64_t number, double loss_d) {
    leat_train_step step = unknown_step(number);
    step.values[0] = 0.75 * loss_d;
    step.values[1] = 0.25 * loss_d;
    leat_warnings_step(&warning_state, &step);
}

/* ---- the spread ----------------------------------------------------------------------------- */

static double spread_of(const uint8_t levels[][2], int count) {
    leat_image_spread *spread = calloc(1, sizeof *spread);
    static uint8_t image[LEAT_IMAGE_VALUES];
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < LEAT_IMAGE_VALUES; k++) image[k] = levels[i][k % 2];
        leat_image_spread_add(spread, image);
    }
    const double found = leat_image_spread_get(spread);
    free(spread);
    return found;
}

static void known_spreads(void **state) {
    (void)state;
    /* alike, whatever they show; apart in one half of the values, by 255 levels and 3 */
    static const uint8_t alike[][2] = {{7, 200}, {7, 200}, {7, 200}};
    static const uint8_t apart[][2] = {{0, 9}, {255, 9}}, back[][2] = {{255, 9}, {0, 9}};
    static const uint8_t near[][2] = {{0, 9}, {3, 9}};
    static const uint8_t four[][2] = {{10, 0}, {20, 0}, {30, 8}, {40, 8}};
    assert_true(spread_of(alike, 3) == 0);
    assert_float_equal(spread_of(apart, 2), 0.5, 1e-12);
    assert_float_equal(spread_of(near, 2), 0.5 * 3 / 255, 1e-12);
    assert_float_equal(spread_of(four, 4), 0.5 * (sqrt(125) + 4) / 127.5, 1e-12);
    assert_true(spread_of(apart, 2) == spread_of(back, 2));
    assert_true(isnan(spread_of(apart, 1)));
    assert_true(isnan(spread_of(apart, 0)));
}

/* ---- alike ---------------------------------------------------------------------------------- */

enum { LONG = 9 };

/* Measurements each `every` steps, of a data set with spread 0.4: below 0.1 is alike. */
static void samples_becoming_alike(void **state) {
    static const struct {
        const char *what;
        int64_t every;
        double spreads[LONG]; /* after the first step, then 0 */
        int64_t step, over;
    } cases[] = {
        {"good", 100, {0.2, 0.3, 0.35, 0.4}, 0, 0},
        {"two in a row", 100, {0.3, 0.3, 0.05, 0.04, 0.2, 0.04, 0.03, 0.2}, 0, 0},
        {"three in a row", 100, {0.3, 0.3, 0.05, 0.04, 0.03}, 500, 0},
        {"from the beginning", 100, {0.02, 0.02, 0.02, 0.02}, 300, 0},
        {"a grid of other steps", 250, {0.3, 0.02, 0.02, 0.02}, 1000, 0},
        {"at the limit", 100, {0.3, 0.1, 0.1, 0.1, 0.1}, 0, 0},
        {"growing from the beginning", 100, {0.03, 0.04, 0.05, 0.06, 0.08, 0.2}, 0, 0},
        {"growing, and then not", 100, {0.03, 0.04, 0.05, 0.06, 0.05}, 500, 0},
        {"not the first steps", 10, {0.05, 0.04, 0.03, 0.02, 0.02, 0.02}, 0, 0},
        {"over", 100, {0.05, 0.04, 0.03, 0.2, 0.2, 0.2, 0.2}, 300, 600},
        {"not over", 100, {0.05, 0.04, 0.03, 0.2, 0.2, 0.02, 0.2, 0.2}, 300, 0},
        {"over, and again", 100, {0.05, 0.04, 0.03, 0.2, 0.2, 0.2, 0.02, 0.02, 0.02}, 900, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        see_spread(0, 0.001, 0.4); /* untrained */
        for (int k = 0; k < LONG && cases[i].spreads[k] > 0; k++) {
            see_spread((k + 1) * cases[i].every, cases[i].spreads[k], 0.4);
            see_spread((k + 1) * cases[i].every + 1, NAN, NAN);
        }
        const leat_train_warning found = *warning_of(LEAT_DCGAN_WARNING_ALIKE);
        if (found.step != cases[i].step || found.over != cases[i].over)
            fail_msg("%s: step %d, over %d", cases[i].what, (int)found.step, (int)found.over);
        assert_int_equal(warning_of(LEAT_DCGAN_WARNING_WON)->step, 0);
    }
}

static void data_without_a_spread_warns_of_nothing(void **state) {
    (void)state;
    begin();
    for (int64_t step = 100; step < 1000; step += 100) {
        see_spread(step, 0.01, step % 200 == 0 ? NAN : 0);
        see_spread(step, NAN, 0.4);
    }
    assert_int_equal(warning_of(LEAT_DCGAN_WARNING_ALIKE)->step, 0);
}

/* ---- won ------------------------------------------------------------------------------------ */

static void losses(int64_t first, int64_t last, double loss) {
    for (int64_t step = first; step <= last; step++) see_loss(step, loss);
}

static void a_discriminator_that_wins(void **state) {
    const leat_train_warning *won = warning_of(LEAT_DCGAN_WARNING_WON);
    (void)state;
    begin();
    losses(0, 100, 0.7);
    losses(101, 299, 0.0009);
    losses(300, 300, 0.001); /* not below it */
    losses(301, 499, 0.0009);
    assert_int_equal(won->step, 0);
    losses(500, 500, 0);
    assert_int_equal(won->step, 500);
    losses(501, 2000, 0); /* once */
    assert_int_equal(won->step, 500);
    losses(2001, 2199, 0.5);
    losses(2200, 2200, 0);
    assert_int_equal(won->over, 0);
    losses(2201, 2400, 0.5);
    assert_int_equal(won->over, 2400);
    losses(2401, 2600, 0);
    assert_int_equal(won->step, 2600);
    assert_int_equal(won->over, 0);
    assert_int_equal(warning_of(LEAT_DCGAN_WARNING_ALIKE)->step, 0);
    begin();
    losses(0, 199, 0); /* step 0 has no loss */
    assert_int_equal(won->step, 0);
    losses(200, 200, 0);
    assert_int_equal(won->step, 200);
}

/* ---- from metrics.jsonl --------------------------------------------------------------------- */

enum { STEPS = 640, STEPS_A_GRID = 40 };

/* A run that goes wrong in both ways, and recovers in one. */
static leat_train_step step_of(int64_t number) {
    leat_train_step step = unknown_step(number);
    step.steps = STEPS;
    step.samples = 8 * number;
    step.values[0] = number > 150 && number < 420 ? 1e-5 / 3 : 0.3;
    step.values[1] = step.values[0] / 7;
    if (number % STEPS_A_GRID != 0) return step;
    step.measured[LEAT_MEASURE_SPREAD] = number < 320 ? 0.3 : 0.02 + 1e-5 * (double)(number % 7);
    step.measured[LEAT_MEASURE_SPREAD_DATA] = 0.37;
    step.measured[LEAT_MEASURE_DEVIATION] = 0.2;
    return step;
}

static void write_lines(leat_metrics *metrics, int64_t first, int64_t last) {
    for (int64_t number = first; number <= last; number++) {
        const leat_train_step step = step_of(number);
        assert_ok(leat_metrics_step(metrics, &step, 2e-4, err));
        if (number % 50 == 0) assert_ok(leat_metrics_epoch(metrics, number / 50, &step, 1, err));
    }
}

static leat_code open_lines(leat_metrics *metrics, const char *path, int64_t step,
                            leat_error *why) {
    return leat_metrics_open(metrics, &leat_dcgan_task, path, step, why);
}

static void interrupted_runs_warn_at_the_same_steps(void **state) {
    const char *path = train_path("lines.jsonl");
    leat_metrics metrics;
    (void)state;
    assert_ok(open_lines(&metrics, path, -1, err));
    write_lines(&metrics, 0, STEPS);
    const leat_warning_state whole = metrics.warning_state;
    leat_metrics_close(&metrics);
    assert_int_equal(whole.warnings[LEAT_DCGAN_WARNING_WON].step, 350);
    assert_int_equal(whole.warnings[LEAT_DCGAN_WARNING_WON].over, 619);
    assert_int_equal(whole.warnings[LEAT_DCGAN_WARNING_ALIKE].step, 400);
    /* as if it had been interrupted after each of these steps, and had gone on from each */
    for (int64_t kept = STEPS; kept >= 0; kept -= 37) {
        assert_ok(open_lines(&metrics, path, kept, err));
        const leat_train_step last = step_of(kept);
        const double spread = last.measured[LEAT_MEASURE_SPREAD];
        assert_true(metrics.measured[LEAT_MEASURE_SPREAD] == spread || isnan(spread));
        write_lines(&metrics, kept + 1, STEPS);
        for (int kind = 0; kind < LEAT_DCGAN_WARNINGS; kind++) {
            assert_int_equal(metrics.warning_state.warnings[kind].step, whole.warnings[kind].step);
            assert_int_equal(metrics.warning_state.warnings[kind].over, whole.warnings[kind].over);
            assert_int_equal(metrics.warning_state.against[kind], whole.against[kind]);
        }
        leat_metrics_close(&metrics);
    }
}

static void later_lines_are_copied(void **state) {
    const char *path = train_path("copied.jsonl"), *to = train_path("later.jsonl");
    leat_metrics metrics;
    bool any = false;
    int64_t sizes[3] = {0};
    (void)state;
    assert_ok(leat_metrics_copy_later(path, 3, to, &any, err)); /* there is no file */
    assert_false(any);
    assert_ok(open_lines(&metrics, path, -1, err));
    write_lines(&metrics, 0, 120);
    leat_metrics_close(&metrics);
    char *all = train_read(path, &sizes[0]);
    assert_ok(leat_metrics_copy_later(path, 120, to, &any, err));
    assert_false(any);
    assert_null(train_read(to, &sizes[1]));
    assert_ok(leat_metrics_copy_later(path, 50, NULL, &any, err));
    assert_true(any);
    assert_ok(leat_metrics_copy_later(path, 50, to, &any, err));
    assert_true(any);
    assert_ok(open_lines(&metrics, path, 50, err));
    leat_metrics_close(&metrics);
    char *later = train_read(to, &sizes[1]), *kept = train_read(path, &sizes[2]);
    assert_int_equal(sizes[1] + sizes[2], sizes[0]);
    assert_memory_equal(all, kept, (size_t)sizes[2]);
    assert_memory_equal(all + sizes[2], later, (size_t)sizes[1]);
    assert_memory_equal(later, "{\"step\":51,", 11);
    leat_free(all);
    leat_free(later);
    leat_free(kept);
}

/* ---- words ---------------------------------------------------------------------------------- */

static void warnings_in_words(void **state) {
    static const char *const sentences[] = {
        "the samples are becoming alike at step 300: the spread between them was below 0.25 times "
        "that between the images of the data set, at 3 measurements in a row",
        "the discriminator has won at step 300; G learns nothing any more: the loss of D was below "
        "0.001 for 200 steps"};
    char text[LEAT_WARNING_BYTES];
    (void)state;
    begin();
    for (int watch = 0; watch < LEAT_DCGAN_WARNINGS; watch++) {
        leat_train_warning warning = *warning_of(watch);
        warning.step = 300;
        assert_string_equal(leat_train_warning_text(&warning, text), sentences[watch]);
        warning.step = 12345678901;
        warning.over = 98765432101;
        leat_train_warning_text(&warning, text);
        assert_non_null(strstr(text, "step 12345678901"));
        assert_non_null(strstr(text, "(over since step 98765432101)"));
    }
    assert_string_equal(warning_of(LEAT_DCGAN_WARNING_ALIKE)->name, "alike");
    assert_string_equal(warning_of(LEAT_DCGAN_WARNING_WON)->name, "won");
    assert_null(warning_state.warnings[LEAT_DCGAN_WARNINGS].name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_spreads),
        cmocka_unit_test(samples_becoming_alike),
        cmocka_unit_test(data_without_a_spread_warns_of_nothing),
        cmocka_unit_test(a_discriminator_that_wins),
        cmocka_unit_test(interrupted_runs_warn_at_the_same_steps),
        cmocka_unit_test(later_lines_are_copied),
        cmocka_unit_test(warnings_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
