/* metrics.jsonl of models that do not exist: values of a step, and measurements, by any list of
 * names, written and read. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "train/run/metrics.h"
#include "train/run/points.h"
#include "train/tasks/images/dcgan_task.h"
#include "train/tasks/images/image_feed.h"
#include "train/tasks/images/measure.h"
#include "train_support.h"

static const leat_value none[] = {{0}};
static const leat_value two[] = {{.name = "link_loss", .label = "links"},
                                 {.name = "kl", .label = "divergence", .better = -1},
                                 {0}};
static const leat_value other[] = {{.name = "accuracy"}, {.name = "kl"}, {0}};
static const leat_value most[] = {
    {.name = "v0"},
    {.name = "v1"},
    {.name = "v2"},
    {.name = "v3"},
    {.name = "v4"},
    {.name = "v5"},
    {.name = "v6"},
    {.name = "v7"},
    {.name = "v8"},
    {.name = "v9"},
    {.name = "v10"},
    {.name = "v11"},
    {.name = "v12"},
    {.name = "v13"},
    {.name = "v14"},
    {.name = "v15"},
    {0},
};

/* What is measured after even steps. */
static const leat_value measured[] = {
    {.name = "auc", .better = 1},
    {.name = "m1"},
    {.name = "m2"},
    {.name = "m3"},
    {.name = "m4"},
    {.name = "m5"},
    {.name = "m6"},
    {.name = "m7"},
    {0},
};

/* A task with these lists, until the next one. */
static const leat_task *task_of(const leat_value *names, const leat_value *measures) {
    static leat_model_class model;
    static leat_task task;
    model.values = names;
    task = (leat_task){.model = &model, .feed = &leat_image_feed, .measures = measures};
    return &task;
}

static double value_of(int64_t step, int index) { return (double)step / 3 - 100.0 * index; }

static leat_train_step step_of(const leat_value *names, const leat_value *measures,
                               int64_t number) {
    leat_train_step step = leat_task_step(task_of(names, measures));
    step.step = number;
    step.samples = 8 * number;
    step.seconds = (double)number / 8;
    for (int i = 0; i < LEAT_MEASURES_MAX; i++)
        step.measured[i] = number % 2 == 0 ? value_of(number, -i) : NAN;
    for (int i = 0; i < leat_value_count(names); i++)
        step.values[i] = number == 0 ? NAN : value_of(number, i);
    return step;
}

/* Steps 0 .. `steps`, in a new file of that name. */
static const char *write_run(const leat_value *names, const leat_value *measures, int64_t steps,
                             const char *name) {
    const char *path = train_path(name);
    leat_metrics metrics;
    assert_ok(leat_metrics_open(&metrics, task_of(names, measures), path, -1, err));
    for (int64_t number = 0; number <= steps; number++) {
        const leat_train_step step = step_of(names, measures, number);
        assert_ok(leat_metrics_step(&metrics, &step, 0.5, err));
        if (number == steps) assert_ok(leat_metrics_epoch(&metrics, 0, &step, 1, err));
    }
    leat_metrics_close(&metrics);
    return path;
}

static void values_by_name(void **state) {
    const double numbers[] = {7, 8};
    const leat_train_step step = {
        .names = two, .values = {7, 8}, .measures = measured, .measured = {0.5, 9}};
    (void)state;
    assert_int_equal(leat_value_count(NULL), 0);
    assert_int_equal(leat_value_count(none), 0);
    assert_int_equal(leat_value_count(most), LEAT_STEP_VALUES_MAX);
    assert_true(leat_value_get(two, numbers, "kl") == 8);
    assert_true(isnan(leat_value_get(two, numbers, "KL")));
    assert_true(isnan(leat_value_get(none, numbers, "kl")));
    assert_true(isnan(leat_value_get(NULL, numbers, "kl")));
    assert_true(leat_train_step_value(&step, "link_loss") == 7);
    assert_true(leat_train_step_value(&step, "m1") == 9);
    assert_true(isnan(leat_train_step_value(&step, "loss_g")));
    assert_int_equal(leat_value_count(measured), LEAT_MEASURES_MAX);
}

static void lines_have_the_names_of_the_model(void **state) {
    static const struct {
        const leat_value *names, *measures;
        const char *text;
    } cases[] = {
        {none, none, "{\"step\":0}\n{\"step\":1,\"rate\":0.5,\"seconds\":0.125}\n"},
        {two, other,
         "{\"step\":0,\"accuracy\":0.0,\"kl\":100.0}\n{\"step\":1,\"link_loss\":0.3333333333333333,"
         "\"kl\":-99.66666666666667,\"rate\":0.5,\"seconds\":0.125}\n"},
    };
    (void)state;
    for (int i = 0; i < 2; i++) {
        char name[32];
        int64_t size;
        snprintf(name, sizeof name, "text-%d.jsonl", i);
        char *text = train_read(write_run(cases[i].names, cases[i].measures, 1, name), &size);
        assert_non_null(strstr(text, "{\"epoch\":0"));
        *strstr(text, "{\"epoch\":0") = 0;
        assert_string_equal(text, cases[i].text);
        leat_free(text);
    }
}

static leat_metrics_recent recent;

static leat_code read_run(leat_run_metrics **found, const leat_task *task, const char *path,
                          int64_t most, leat_error *err) {
    return leat_metrics_read(found, task, path,
                             &(leat_metrics_reading){.most = most, .recent = &recent}, err);
}

static void check(const leat_run_metrics *found, const leat_value *names, int64_t steps) {
    assert_ptr_equal(found->names, names);
    assert_int_equal(found->last_step, steps);
    assert_int_equal(found->point_count, steps);
    assert_int_equal(found->measurement_count, steps / 2 + 1);
    for (int64_t i = 0; i <= steps / 2; i++) {
        assert_int_equal(found->measurements[i].step, 2 * i);
        for (int k = 0; k < leat_value_count(measured); k++)
            assert_true(found->measurements[i].values[k] == value_of(2 * i, -k));
    }
    for (int64_t i = 0; i < steps; i++) {
        const leat_run_point *point = &found->points[i];
        assert_int_equal(point->step, i + 1);
        assert_true(point->seconds == (double)(i + 1) / 8);
        for (int k = 0; k < leat_value_count(names); k++)
            assert_true(point->values[k] == value_of(i + 1, k));
    }
    for (int kind = 0; kind < LEAT_WARNINGS_MAX; kind++)
        assert_int_equal(found->warnings[kind].step, 0);
}

static void what_is_written_is_read(void **state) {
    const leat_value *const lists[] = {none, two, most};
    (void)state;
    for (int i = 0; i < 3; i++) {
        char name[32];
        leat_run_metrics *found;
        snprintf(name, sizeof name, "read-%d.jsonl", i);
        const char *path = write_run(lists[i], measured, 9, name);
        assert_ok(read_run(&found, task_of(lists[i], measured), path, 10, err));
        check(found, lists[i], 9);
        leat_run_metrics_destroy(found);
        /* a point is the mean of steps that follow each other: 1 .. 4, 5 .. 8, 9 */
        assert_ok(read_run(&found, task_of(lists[i], measured), path, 4, err));
        assert_int_equal(found->point_count, 3);
        assert_int_equal(found->points[0].step, 4);
        for (int k = 0; k < leat_value_count(lists[i]); k++) {
            assert_float_equal(found->points[0].values[k], 2.5 / 3 - 100.0 * k, 1e-9);
            assert_float_equal(found->points[2].values[k], value_of(9, k), 1e-9);
        }
        leat_run_metrics_destroy(found);
    }
}

static void names_that_one_side_alone_has(void **state) {
    const char *path = write_run(two, measured, 3, "sides.jsonl");
    leat_run_metrics *found;
    (void)state;
    assert_ok(read_run(&found, task_of(other, none), path, 10, err));
    assert_int_equal(found->point_count, 3);
    assert_int_equal(found->measurement_count, 0);
    for (int i = 0; i < 3; i++) {
        assert_true(isnan(found->points[i].values[0])); /* accuracy: no line has it */
        assert_true(!recent.has[0] && recent.has[1]);
        assert_true(found->points[i].values[1] == value_of(i + 1, 1));
    }
    leat_run_metrics_destroy(found);
    assert_ok(read_run(&found, task_of(none, none), path, 10, err));
    assert_int_equal(found->point_count, 3);
    assert_true(found->points[2].seconds == 0.375);
    leat_run_metrics_destroy(found);
}

/* The keys of a line are all different, and a figure has an axis. */
static void a_model_has_names_of_its_own(void **state) {
    static const char *const taken[] = {"step",  "rate",   "seconds",          "state",
                                        "epoch", "images", "memory_peak_bytes"};
    const leat_value *const lists[] = {leat_dcgan_task.model->values, leat_dcgan_task.measures};
    const char *names[sizeof taken / sizeof *taken + LEAT_STEP_VALUES_MAX + LEAT_MEASURES_MAX];
    int count = 0;
    (void)state;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) names[count++] = taken[i];
    for (int i = 0; i < 2; i++) {
        assert_in_range(leat_value_count(lists[i]), 1,
                        i == 0 ? LEAT_STEP_VALUES_MAX : LEAT_MEASURES_MAX);
        for (const leat_value *of = lists[i]; of->name != NULL; of++) {
            assert_non_null(of->label);
            assert_true((of->figure == NULL) == (of->axis == NULL));
            names[count++] = of->name;
        }
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++) assert_string_not_equal(names[i], names[k]);
}

/* Holds where the first value or measurement is infinite. */
static leat_warning_look is_infinite(const leat_train_step *step,
                                     double memory[LEAT_WARNING_MEMORY]) {
    (void)memory;
    return (leat_warning_look){
        .counts = true, .holds = isinf(step->values[0]) || isinf(step->measured[0]), .ripe = true};
}

/* A line has no infinite number: so a run that goes on does not know it, nor one that is resumed.
 */
static void an_infinite_number_is_missing(void **state) {
    static const leat_warning_rule rules[] = {{.name = "high", .most = 1, .look = is_infinite},
                                              {.name = NULL}};
    const char *path = train_path("infinite");
    leat_metrics metrics;
    (void)state;
    leat_train_step step = step_of(two, measured, 2);
    leat_task task = *task_of(two, measured);
    task.warning_rules = rules;
    step.values[0] = step.measured[0] = INFINITY;
    assert_ok(leat_metrics_open(&metrics, &task, path, -1, err));
    assert_ok(leat_metrics_step(&metrics, &step, 0.5, err));
    for (int resumed = 0; resumed < 2; resumed++) {
        assert_int_equal(metrics.warning_state.warnings[0].step, 0);
        assert_true(isnan(metrics.measured[0]) && metrics.measured[1] == step.measured[1]);
        leat_metrics_close(&metrics);
        if (resumed == 0) assert_ok(leat_metrics_open(&metrics, &task, path, 2, err));
    }
}

/* Numbers that are missing take nothing from a mean but themselves. */
static void points_of_steps_without_numbers(void **state) {
    leat_points points;
    (void)state;
    assert_ok(leat_points_create(&points, 2, err));
    for (int64_t i = 1; i <= 8; i++) {
        leat_run_point point = {.step = i, .seconds = i == 2 ? NAN : 1, .values = {NAN}};
        point.values[0] = i == 1 || i == 6 ? INFINITY : (double)i;
        point.values[1] = NAN;
        leat_points_add(&points, &point);
    }
    assert_int_equal(points.count, 2);
    assert_int_equal(points.points[0].step, 4);
    /* not assert_float_equal, to which NaN is equal to everything */
    assert_true(fabs(points.points[0].values[0] - 3) < 1e-12);
    assert_true(fabs(points.points[1].values[0] - 20.0 / 3) < 1e-12);
    assert_true(fabs(points.points[0].seconds - 1) < 1e-12);
    assert_true(isnan(points.points[0].values[1]));
    leat_points_clear(&points);
    leat_points_add(&points, &(leat_run_point){.step = 1, .values = {5}});
    assert_int_equal(points.count, 1);
    assert_true(points.points[0].values[0] == 5);
    leat_points_free(&points);
}

/* The last step, seconds of the last ones, and epochs. */
static void what_was_last(void **state) {
    const char *path = train_path("last.jsonl");
    leat_run_metrics *found;
    leat_metrics metrics;
    (void)state;
    const leat_task *task = task_of(two, measured);
    assert_ok(leat_metrics_open(&metrics, task, path, -1, err));
    for (int64_t number = 0; number <= 30; number++) {
        leat_train_step step = step_of(two, measured, number);
        if (number == 30) step.values[1] = NAN;
        assert_ok(leat_metrics_step(&metrics, &step, 0.5, err));
        if (number % 10 == 9)
            assert_ok(leat_metrics_epoch(&metrics, number / 10, &step, (double)number, err));
    }
    assert_ok(read_run(&found, task, path, 4, err));
    leat_run_metrics_destroy(found);
    assert_int_equal(recent.steps, 30);
    assert_true(recent.values[0] == value_of(30, 0) && isnan(recent.values[1]));
    assert_true(recent.has[0] && recent.has[1]);
    assert_float_equal(leat_metrics_seconds_median(&recent.step), 20.5 / 8, 1e-12);
    assert_int_equal(recent.epochs, 3);
    assert_float_equal(leat_metrics_seconds_median(&recent.epoch), 19, 1e-12);
    assert_false(recent.crowded);
    assert_int_equal(recent.since, 0);
    const leat_train_step step = step_of(two, measured, 30);
    for (int64_t epoch = 3; epoch < 5; epoch++)
        assert_ok(leat_metrics_epoch(&metrics, epoch, &step, 1, err));
    leat_metrics_close(&metrics);
    assert_ok(read_run(&found, task, path, 4, err));
    leat_run_metrics_destroy(found);
    assert_true(recent.crowded && recent.epochs == 5);
}

static bool stops(void *user) { return --*(int *)user < 0; }

/* A pipe is not waited for, and what is long can be left. */
static void what_is_not_read(void **state) {
    leat_run_metrics *found;
    int asked = 1;
    const leat_metrics_reading how = {.most = 4, .stop = stops, .user = &asked};
    (void)state;
    const char *path = write_run(two, measured, 3, "stopped.jsonl");
    assert_int_equal(leat_metrics_read(&found, task_of(two, none), path, &how, NULL),
                     LEAT_ERR_CANCELLED);
    assert_null(found);
    path = train_path("pipe.jsonl");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(read_run(&found, task_of(two, none), path, 4, err), LEAT_ERR_INPUT,
                 "not a regular file");
    assert_null(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_by_name),
        cmocka_unit_test(lines_have_the_names_of_the_model),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(names_that_one_side_alone_has),
        cmocka_unit_test(a_model_has_names_of_its_own),
        cmocka_unit_test(an_infinite_number_is_missing),
        cmocka_unit_test(points_of_steps_without_numbers),
        cmocka_unit_test(what_was_last),
        cmocka_unit_test(what_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
