/* See run_steps.h. */
#include "crowd/run_steps.h"

static leat_code check_number(const leat_database_run *run, int64_t most, leat_error *err) {
    if (run->steps >= 1 && run->steps <= most) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "this machine cannot work on \"%.64s\": it has %lld steps, and a run with its "
                     "settings and data has 1 to %lld",
                     run->name, (long long)run->steps, (long long)most);
}

leat_code leat_run_steps_plan(leat_feed *feed, const leat_train_options *options,
                              const leat_database_run *run, leat_error *err) {
    leat_train_options planned = *options;
    LEAT_TRY(check_number(run, LEAT_CROWD_STEPS_MAX, err));
    planned.epochs = 0; /* the run may have been continued since its settings were written */
    planned.steps = 2 * run->steps;
    LEAT_TRY(leat_feed_plan(feed, &planned, err));
    LEAT_TRY(check_number(run, feed->steps_most, err));
    leat_feed_end(feed, planned.steps < feed->steps_most ? planned.steps : feed->steps_most);
    return LEAT_OK;
}

leat_code leat_run_steps_check(const leat_feed *feed, const leat_database_run *run,
                               leat_error *err) {
    if (run->steps >= 1 && run->steps <= feed->end) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "\"%.64s\" has %lld steps now, and this process has counted its memory for up "
                     "to %lld; start it again to work on it",
                     run->name, (long long)run->steps, (long long)feed->end);
}
