/*
 * How many steps of a run a worker believes. Their number comes from the database, and a step of a
 * run over graphs is found by planning all epochs before it, with some memory for each. So a worker
 * counts its memory for the steps that the run has when it joins, and as many again in case it is
 * continued, and refuses others.
 */
#ifndef LEAT_CROWD_RUN_STEPS_H
#define LEAT_CROWD_RUN_STEPS_H

#include "crowd/database.h"
#include "train/step/feed.h"

/* No options give a run more. */
#define LEAT_CROWD_STEPS_MAX (INT64_C(1) << 40)

/* leat_feed_plan with the options of the run, and leat_feed_end. LEAT_ERR_OPTION also if the run
 * has no such number of steps, or these data do not have them. */
LEAT_MUST_CHECK leat_code leat_run_steps_plan(leat_feed *feed, const leat_train_options *options,
                                              const leat_database_run *run, leat_error *err);
/* Of the same run, which may have been continued: LEAT_ERR_OPTION if it has more steps than memory
 * was counted for. */
LEAT_MUST_CHECK leat_code leat_run_steps_check(const leat_feed *feed, const leat_database_run *run,
                                               leat_error *err);

#endif
