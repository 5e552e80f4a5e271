/* The options of a run, checked. */
#ifndef LEAT_TRAIN_OPTIONS_H
#define LEAT_TRAIN_OPTIONS_H

#include "base/error.h"
#include "leat/train.h"

/* The rows of leat_train_options_table, for tables with other defaults. */
extern const leat_setting leat_train_rows[];

/* Each option by itself; leat_plan_make and leat_plan_steps check what depends on several. */
LEAT_MUST_CHECK leat_code leat_train_options_check(const leat_train_options *options,
                                                   leat_error *err);

#endif
