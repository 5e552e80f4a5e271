/*
 * What the runs of a second model (tenant.h) do not show: steps of two passes, options without a
 * value, and what a feed need not check, because it is checked of every feed.
 */
/* No TSan: the threads are those of test_tenant.c. */
#include <stddef.h>

#include "apart.h"
#include "tenant.h"
#include "train_support.h"

/* Instead of the list in src/train/tasks/tasks.c. */
static leat_model_class turns_class;
static leat_feed_class turns_feed;
static leat_task turns_task;
const leat_task *const leat_tasks[] = {&tenant_task, &turns_task, NULL};

static const char *data(void) {
    const char *path = train_path("rows.txt");
    tenant_data(path, 23);
    return path;
}

/* ---- Two passes a step ---------------------------------------------------------------------- */

/* A model whose steps have two passes, if an option that has no value is not there. */
typedef struct turns_settings {
    tenant_settings linear;
    bool joint;
} turns_settings;

static int passes_of_turns(const void *settings) {
    return ((const turns_settings *)settings)->joint ? 1 : 2;
}

static int units_of_turns[2]; /* that were computed, of each pass */

static leat_code unit_of_turns(void *self, int pass, const leat_unit_batches *batches,
                               const float *parameters, leat_unit_numbers *out, leat_error *err) {
    units_of_turns[pass]++;
    LEAT_TRY(tenant_task.model->unit(self, pass, batches, parameters, out, err));
    if (pass == 0) return LEAT_OK;
    out->sums[1] = out->sums[0];
    out->sums[0] = 0;
    return LEAT_OK;
}

static void set_turns_defaults(void *of) {
    turns_settings *settings = of;
    *settings = (turns_settings){0};
    tenant_settings_table()->set_defaults(&settings->linear);
}

static const leat_setting_table *turns_table(void) {
    static const leat_setting rows[] = {{.name = "joint",
                                         .kind = LEAT_SETTING_FLAG,
                                         .place = offsetof(turns_settings, joint),
                                         .help = "one pass a step"},
                                        {.name = NULL}};
    static const leat_setting_table table = {"a model with turns", rows, sizeof(turns_settings),
                                             set_turns_defaults};
    return &table;
}

/* Its feed does not say that it repeats samples. */
static leat_code plan_of_turns(leat_feed *feed, const leat_train_options *options,
                               leat_error *why) {
    const leat_code code = tenant_task.feed->plan(feed, options, why);
    feed->repeats = false;
    return code;
}

static void make_turns(void) {
    static const leat_value values[] = {
        {.name = "loss"}, {.name = "second"}, {.name = "norm"}, {.name = NULL}};
    turns_class = *tenant_task.model;
    turns_class.name = "turns";
    turns_class.values = values;
    turns_class.sums = 2;
    turns_class.passes = passes_of_turns;
    turns_class.one_pass = "--joint";
    turns_class.unit = unit_of_turns;
    turns_feed = *tenant_task.feed;
    turns_feed.plan = plan_of_turns;
    turns_task = (leat_task){.model = &turns_class, .feed = &turns_feed, .settings = turns_table};
}

static leat_train_result train_turns(const char *run, const leat_train_options *options) {
    leat_train_result result;
    assert_ok(leat_train("turns", data(), train_path(run), options, &result, err));
    return result;
}

/* Asks for an end after some steps. */
static bool until(void *user, const leat_progress *progress) {
    return strcmp(progress->stage, "training") != 0 || progress->done < *(const int64_t *)user;
}

/* Stopped and resumed as one with one pass; the estimate knows both passes. */
static void a_step_of_two_passes_is_a_step(void **state) {
    leat_train_options options = tenant_options(1), three = tenant_options(3);
    leat_train_estimate estimate;
    leat_train_result result;
    int64_t stop = 3;
    (void)state;
    const leat_train_result whole = train_turns("turns", &three);
    assert_int_equal(units_of_turns[0], units_of_turns[1]);
    const char *run = train_path("turns stopped");
    options.progress = until;
    options.user = &stop;
    assert_fails(leat_train("turns", data(), run, &options, &result, err), LEAT_ERR_CANCELLED,
                 "after step 3 of 9");
    options.resume = true;
    options.progress = NULL;
    assert_string_equal(train_turns("turns stopped", &options).state, whole.state);
    units_of_turns[0] = units_of_turns[1] = 0;
    assert_ok(leat_train_plan("turns", data(), &three, true, &estimate, err));
    assert_true(units_of_turns[0] > 0 && units_of_turns[1] == units_of_turns[0]);
}

/* What a refusal says is an option as the command line has it. */
static void an_option_without_a_value_is_named_so(void **state) {
    leat_train_options options = tenant_options(1);
    turns_settings joint;
    leat_train_result result;
    (void)state;
    set_turns_defaults(&joint);
    joint.joint = true;
    options.settings = &joint;
    train_turns("joint", &options);
    options.resume = true;
    assert_fails(leat_train("turns", data(), train_path("turns"), &options, &result, err),
                 LEAT_ERR_OPTION,
                 "joint is true here, but the run began with false; leave out --joint");
    options.settings = NULL;
    assert_fails(leat_train("turns", data(), train_path("joint"), &options, &result, err),
                 LEAT_ERR_OPTION, "joint is false here, but the run began with true; use --joint");
}

/* ---- What a feed leaves to others ----------------------------------------------------------- */

static leat_code many_steps(const leat_feed *feed, const leat_train_options *options,
                            int64_t *steps, leat_error *why) {
    (void)options;
    (void)why;
    *steps = feed->steps_most + 1;
    return LEAT_OK;
}

/* A feed is asked for a number of steps only when the options say which. */
static void a_run_has_one_end(void **state) {
    leat_train_options options = tenant_options(1);
    leat_feed_class class = *tenant_task.feed;
    leat_train_result result;
    leat_feed feed;
    int64_t steps = 1;
    (void)state;
    options.epochs = 2;
    assert_fails(leat_train("linear", data(), train_path("ends"), &options, &result, err),
                 LEAT_ERR_OPTION, "both set; use one of them");
    options.steps = options.epochs = 0;
    assert_fails(leat_train("linear", data(), train_path("ends"), &options, &result, err),
                 LEAT_ERR_OPTION, "the run has no end: set steps or epochs");
    class.steps = many_steps;
    options.steps = 1;
    assert_ok(leat_feed_open(&feed, &class, data(), err));
    assert_ok(leat_feed_plan(&feed, &options, err));
    assert_fails(leat_feed_steps(&feed, &options, &steps, err), LEAT_ERR_OPTION,
                 "1099511627777 steps: too many; with this data set and these options, a run has "
                 "at most 1099511627776");
    assert_int_equal(steps, 0);
    leat_feed_close(&feed);
}

/* Only a feed knows whether its micro-batches have samples more than once. */
static void a_feed_says_that_samples_repeat(void **state) {
    const leat_train_options options = tenant_options(1);
    leat_train_result result;
    (void)state;
    const char *few = train_path("few.txt");
    tenant_data(few, 2);
    assert_ok(leat_train("linear", few, train_path("few"), &options, &result, err));
    assert_string_equal(result.note,
                        "the data set has 2 rows, so a micro-batch of 3 has them more than once");
    assert_ok(leat_train("turns", few, train_path("few turns"), &options, &result, err));
    assert_string_equal(result.note, "");
}

static leat_code find_turns(leat_error *why) {
    const leat_task *task = NULL;
    return leat_task_find("turns", &task, why);
}

/* Two numbers of a document with one name are a broken model. */
static void a_name_is_one_number(void **state) {
    static const leat_value loss[] = {{.name = "loss"}, {.name = NULL}},
                            rate[] = {{.name = "rate"}, {.name = NULL}},
                            twice[] = {{.name = "auc"}, {.name = "auc"}, {.name = NULL}},
                            warnings[] = {{.name = "warnings"}, {.name = NULL}},
                            peak[] = {{.name = "memory_peak_bytes"}, {.name = NULL}},
                            before[] = {{.name = "auc"}, {.name = "auc_untrained"}, {.name = NULL}},
                            samples[] = {{.name = "rows"}, {.name = NULL}},
                            speed[] = {{.name = "rows_per_second"}, {.name = NULL}},
                            hash[] = {{.name = "weights_sha256"}, {.name = NULL}},
                            best[] = {{.name = "best"}, {.name = NULL}},
                            count[] = {{.name = "auc"}, {.name = "count"}, {.name = NULL}},
                            below[] = {{.name = "_fields"}, {.name = NULL}};
    const leat_value *const lists[] = {loss,    rate,  twice, warnings, peak,  before,
                                       samples, speed, hash,  best,     count, below};
    char text[600];
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        turns_task.measures = lists[i];
        turns_task.saved_measures = 1;
        const int status = run_apart(find_turns, text, sizeof text);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        assert_non_null(strstr(text, "same == 1"));
    }
    turns_task.measures = NULL;
    turns_task.saved_measures = 0;
    assert_ok(find_turns(err));
}

int main(void) {
    make_turns();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_of_two_passes_is_a_step),
        cmocka_unit_test(an_option_without_a_value_is_named_so),
        cmocka_unit_test(a_run_has_one_end),
        cmocka_unit_test(a_feed_says_that_samples_repeat),
        cmocka_unit_test(a_name_is_one_number),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
