/*
 * A second model, and a feed for it, that no file of src knows: a linear regression on rows of
 * numbers. Its units differ in size, and so in weight and number of micro-batches, and its steps in
 * their number of units. A process with TENANT_ENDS_AT in its environment is killed by the first
 * unit whose rows begin at this position or after it.
 */
#ifndef TESTS_TRAIN_TENANT_H
#define TESTS_TRAIN_TENANT_H

#include "train/run/task.h"

enum { TENANT_INPUTS = 3 };
#define TENANT_KEPT ".line" /* of a step: a number a line */
/* What it warns of: "near", a mean distance below the first at two measurements; "steep", a norm
 * above the second in two steps. */
#define TENANT_NEAR 1.3
#define TENANT_STEEP 2.5

typedef struct tenant_settings {
    int32_t scale; /* of the first weights */
    double learning_rate;
} tenant_settings;

extern const leat_task tenant_task;
const leat_setting_table *tenant_settings_table(void);
/* The same with something measured after every step, of which a higher number, a lower one, or
 * neither is better: TENANT_FITS, by step; models "higher", "lower" and "neither". */
extern const leat_task tenant_higher_task, tenant_lower_task, tenant_neither_task;
/* The same with two numbers: of "second" the first does not exist, and a lower misfit is better,
 * the negative of TENANT_FITS; of "aside" a lower fit and a higher rank are better, each
 * TENANT_FITS.
 */
extern const leat_task tenant_second_task, tenant_aside_task;
enum { TENANT_STEPS = 9 };
/* Both the highest and the lowest are there twice, and NaN comes before them. */
#define TENANT_FITS                                                                                \
    { 0.625, NAN, 0.875, 0.25, 0.875, 0.25, 0.5, NAN, 0.375, 0.5 }

/* What an export of it has, beside config.json and README.md. */
#define TENANT_WEIGHTS "linear.safetensors"

/* Of its small runs: more than one unit, micro-batch and checkpoint. */
leat_train_options tenant_options(int32_t threads);

/* Writes a data set of `count` rows: lines of TENANT_INPUTS numbers and what follows from them. */
void tenant_data(const char *path, int64_t count);

#endif
