/*
 * Runs that end early (train/run/patience.h), of models whose measurements are written down
 * (tenant.h): after which step is counted here again, from the list. It is the same step if the run
 * is killed after any step and resumed, or rewound to any.
 */
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "tenant.h"
#include "train/run/patience.h"
#include "train/run/session.h"
#include "train_support.h"

/* Instead of the list in src/train/tasks/tasks.c. */
const leat_task *const leat_tasks[] = {&tenant_higher_task, &tenant_lower_task,
                                       &tenant_neither_task, NULL};

enum { ROWS = 23, STEPS = TENANT_STEPS };

static const char *data(void) {
    const char *path = train_path("rows.txt");
    tenant_data(path, ROWS);
    return path;
}

static leat_train_options options_of(int64_t patience) {
    leat_train_options options = tenant_options(1);
    options.sample_every = 1;
    options.checkpoint_every = 0;
    options.checkpoint_minutes = 0;
    options.keep = STEPS;
    options.patience = patience;
    return options;
}

static leat_train_result train(const char *model, const char *run,
                               const leat_train_options *options) {
    leat_train_result result;
    assert_ok(leat_train(model, data(), train_path(run), options, &result, err));
    return result;
}

static const double fits[] = TENANT_FITS;

/* The step after which a run must end, and the best one up to it. */
static int64_t end_of(int better, int64_t patience, int64_t *best) {
    int64_t since = 0;
    *best = 0;
    for (int64_t step = 1; step <= STEPS; step++) {
        if (isnan(fits[step])) continue;
        const bool is_better =
            better > 0 ? fits[step] > fits[*best] : better < 0 && fits[step] < fits[*best];
        since = is_better ? 0 : since + 1;
        if (is_better) *best = step;
        if (since == patience) return step;
    }
    return STEPS;
}

static const struct {
    const char *model;
    int better;
} models[] = {{"higher", 1}, {"lower", -1}};

static void it_ends_where_it_must(void **state) {
    (void)state;
    for (int m = 0; m < 2; m++)
        for (int64_t patience = 1; patience <= STEPS; patience++) {
            char run[60];
            int64_t best = 0;
            const int64_t end = end_of(models[m].better, patience, &best);
            const leat_train_options options = options_of(patience);
            snprintf(run, sizeof run, "%s-%d", models[m].model, (int)patience);
            const leat_train_result result = train(models[m].model, run, &options);
            assert_int_equal(result.last_step, end);
            assert_int_equal(result.best_step, best);
            assert_int_equal(result.stopped_early, end < STEPS);
            assert_int_equal(strstr(result.note, "stopped early after step") != NULL, end < STEPS);
        }
}

static void without_patience_it_goes_on(void **state) {
    (void)state;
    const leat_train_options none = options_of(0), some = options_of(1);
    assert_int_equal(train("higher", "none", &none).last_step, STEPS);
    const leat_train_result result = train("neither", "no-best", &some);
    assert_true(result.last_step == STEPS && result.best_step == -1 && isnan(result.best));
    leat_train_options unmeasured = options_of(1);
    unmeasured.sample_every = 0;
    assert_int_equal(train("higher", "unmeasured", &unmeasured).last_step, STEPS);
}

/* ---- Interrupted ---------------------------------------------------------------------------- */

static void die(void *user, const leat_train_step *step) {
    if (step->step == *(const int64_t *)user) raise(SIGKILL);
}

/* A process that is killed after a step, before its checkpoint is written. */
static void train_and_die(const char *model, const char *run, leat_train_options options,
                          int64_t step) {
    int status = 0;
    options.stepped = die;
    options.user = &step;
    const char *from = data();
    const pid_t child = fork();
    if (child == 0) {
        leat_train_result result;
        _exit(leat_train(model, from, run, &options, &result, NULL) == LEAT_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void resumed_anywhere_it_ends_there(void **state) {
    enum { PATIENCE = 3 };
    (void)state;
    for (int m = 0; m < 2; m++) {
        leat_train_options options = options_of(PATIENCE);
        char run[60];
        snprintf(run, sizeof run, "%s-whole", models[m].model);
        const leat_train_result whole = train(models[m].model, run, &options);
        assert_true(whole.stopped_early);
        options.resume = true;
        for (int64_t step = 1; step <= whole.last_step; step++) {
            snprintf(run, sizeof run, "%s-killed-%d", models[m].model, (int)step);
            char path[300];
            snprintf(path, sizeof path, "%s", train_path(run));
            train_and_die(models[m].model, path, options, step);
            const leat_train_result result = train(models[m].model, run, &options);
            assert_int_equal(result.last_step, whole.last_step);
            assert_int_equal(result.best_step, whole.best_step);
            assert_string_equal(result.state, whole.state);
            if (isnan(fits[step])) continue; /* it has no checkpoint */
            /* rewound to it, and trained again */
            options.rewind = step;
            const leat_train_result again = train(models[m].model, run, &options);
            assert_string_equal(again.state, whole.state);
            assert_true(again.last_step == whole.last_step && again.stopped_early);
            options.rewind = -1;
        }
    }
}

/* A run that has ended early says so, and takes no step; with more patience it goes on. */
static void it_stays_ended(void **state) {
    int64_t best = 0;
    leat_train_options options = options_of(2);
    (void)state;
    const leat_train_result ended = train("higher", "ended", &options);
    options.resume = true;
    const leat_train_result same = train("higher", "ended", &options);
    assert_true(same.first_step == ended.last_step && same.last_step == ended.last_step);
    assert_true(same.stopped_early);
    assert_non_null(strstr(same.note, "stopped early after step"));
    assert_string_equal(same.state, ended.state);
    options.patience = 5;
    const leat_train_result more = train("higher", "ended", &options);
    assert_int_equal(more.first_step, ended.last_step);
    assert_int_equal(more.last_step, end_of(1, 5, &best));
    options.patience = 1; /* it has been as patient already */
    assert_int_equal(train("higher", "ended", &options).last_step, more.last_step);
    options.patience = 0;
    const leat_train_result all = train("higher", "ended", &options);
    assert_true(all.last_step == STEPS && !all.stopped_early);
    leat_train_options plain = options_of(0);
    assert_string_equal(train("higher", "plain", &plain).state, all.state);
}

/* A coordinator that finds a later state in its database: another one took the steps to it, and
 * died before it measured it. */
static void a_state_that_arrives_is_measured(void **state) {
    enum { PATIENCE = 3, ARRIVED = 2 };
    const leat_train_options options = options_of(PATIENCE);
    leat_train_result result;
    leat_step_numbers numbers;
    leat_session session;
    int64_t best = 0;
    (void)state;
    const int64_t end = end_of(1, PATIENCE, &best);
    assert_int_equal(best, ARRIVED); /* it would be missed */
    assert_ok(leat_session_begin(&session, "higher", data(), &options, &result, err));
    assert_ok(leat_session_open(&session, train_path("arrived"), err));
    assert_ok(leat_session_start(&session, err));
    for (int i = 0; i < ARRIVED; i++) assert_ok(leat_trainer_step(session.trainer, &numbers, err));
    assert_ok(leat_session_arrived(&session, err));
    assert_int_equal(session.saved_step, ARRIVED);
    while (leat_session_goes_on(&session)) {
        assert_ok(leat_trainer_step(session.trainer, &numbers, err));
        assert_ok(leat_session_stepped(&session, &numbers, 0, err));
    }
    assert_ok(leat_session_finish(&session, err));
    leat_session_close(&session);
    assert_true(result.last_step == end && result.best_step == best && result.stopped_early);
}

/* ---- Which measure decides ------------------------------------------------------------------ */

static void the_first_known_measure_decides(void **state) {
    static const leat_value measures[] = {
        {.name = "a", .better = 1}, {.name = "b", .better = 0}, {.name = "c", .better = -1}, {0}};
    const leat_task task = {.measures = measures, .saved_measures = 3};
    leat_train_step step = leat_task_step(NULL);
    leat_patience patience = leat_patience_begin();
    (void)state;
    leat_measured_none(step.measured);
    assert_int_equal(leat_measure_decider(&task, step.measured), -1);
    step.measured[1] = 3;
    leat_patience_step(&patience, &task, &step);
    assert_true(patience.decider == -1 && patience.since == 0);
    step.measured[2] = 2;
    step.step = 1;
    leat_patience_step(&patience, &task, &step);
    assert_true(patience.decider == 2 && patience.best == 2 && patience.best_step == 1);
    step.step = 2;
    step.measured[2] = NAN; /* beside another: it was not finite */
    leat_patience_step(&patience, &task, &step);
    assert_true(patience.since == 1 && patience.best_step == 1);
    step.measured[0] = 1;
    step.measured[2] = 1;
    assert_int_equal(leat_measure_decider(&task, step.measured), 0);
    leat_patience_step(&patience, &task, &step);
    assert_true(patience.decider == 2 && patience.since == 0 && patience.best == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_ends_where_it_must),
        cmocka_unit_test(without_patience_it_goes_on),
        cmocka_unit_test(resumed_anywhere_it_ends_there),
        cmocka_unit_test(it_stays_ended),
        cmocka_unit_test(a_state_that_arrives_is_measured),
        cmocka_unit_test(the_first_known_measure_decides),
    };
    return cmocka_run_group_tests(tests, NULL, train_teardown);
}
