/*
 * The options of a run: those that every run has, and the settings of its model, which are one list
 * of names in a run's files, in its hash and in what people write.
 */
#ifndef LEAT_TRAIN_RUN_TRAIN_OPTIONS_H
#define LEAT_TRAIN_RUN_TRAIN_OPTIONS_H

#include "base/error.h"
#include "leat/train.h"
#include "train/step/feed.h"

/* The rows of leat_train_options_table, for tables with other defaults. */
extern const leat_setting leat_train_rows[];

typedef struct leat_task leat_task; /* task.h */

/* The options of a run with memory of their own for the model's settings. `run.settings` is the
 * address of `settings`, so it is not copied by assignment (leat_run_options_take). */
typedef struct leat_run_options {
    const leat_task *task;
    leat_train_options run;
    leat_setting_memory settings;
} leat_run_options;

/* A copy of the options of a run of `model`, of whose settings NULL are the defaults.
 * LEAT_ERR_OPTION: there is no such model. */
LEAT_MUST_CHECK leat_code leat_run_options_take(leat_run_options *out, const char *model,
                                                const leat_train_options *options, leat_error *err);

/* Each option by itself; leat_feed_plan and leat_feed_steps check what depends on several. */
LEAT_MUST_CHECK leat_code leat_run_options_check(const leat_run_options *options, leat_error *err);

/* Sets what the data decide and nobody has set (leat_feed_class.settle), and checks it by itself.
 * Between leat_feed_open and leat_feed_plan, where a run is trained. */
LEAT_MUST_CHECK leat_code leat_run_options_settle(leat_run_options *options, const leat_feed *feed,
                                                  leat_error *err);

/* An option, and the struct that its row's place is in. */
typedef struct leat_run_option {
    const leat_setting *row;
    const void *of;
} leat_run_option;
/* Number `index`, from 0, in the order of a run's files and hash (leat_task); false after the
 * last. */
bool leat_run_option_at(const leat_run_options *options, int index, leat_run_option *out);
/* Its value as leat_setting_get has it. */
static inline const char *leat_run_option_get(const leat_run_option *option,
                                              char text[LEAT_SETTING_BYTES]) {
    return leat_setting_get(option->row, option->of, text);
}

/* The model's "learning-rate"; NaN: it has none. */
double leat_run_learning_rate(const leat_run_options *options);

/* The row of a name in either table, and the struct of these options that it is in; NULL: neither
 * has it. */
const leat_setting *leat_run_option_find(leat_run_options *options, const char *name, void **of);

#endif
