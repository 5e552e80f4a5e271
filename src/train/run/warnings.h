/*
 * What the numbers of a run warn of: a function of the lines of metrics.jsonl in their order. So a
 * run that was interrupted warns at the same steps as one that was not, and so does whoever reads
 * it. A warning arises when a condition has held for some numbers in a row, and is over when it has
 * not held for as many. A task lists its own.
 */
#ifndef LEAT_TRAIN_RUN_WARNINGS_H
#define LEAT_TRAIN_RUN_WARNINGS_H

#include "leat/train.h"

enum { LEAT_WARNING_MEMORY = 4 };

/* What a step says of a condition. */
typedef struct leat_warning_look {
    bool counts; /* false: the step does not have the numbers, and nothing changes */
    bool holds;
    bool ripe; /* the warning may arise at this step, if it has held for long enough */
} leat_warning_look;

typedef struct leat_warning_rule {
    const char *name;       /* NULL ends a list */
    const char *what, *why; /* "the norm is large" at step 7 ": it was above 3" */
    int64_t most;           /* numbers in a row that it takes to arise, and to be over */
    /* Of a step from 1, its numbers by name, as metrics.jsonl gives them back: an infinite one is
     * missing. The memory is the rule's own in this run, at first zeros. */
    leat_warning_look (*look)(const leat_train_step *step, double memory[LEAT_WARNING_MEMORY]);
} leat_warning_rule;

typedef struct leat_warning_state {
    const leat_warning_rule *warning_rules;
    leat_train_warning warnings[LEAT_WARNINGS_MAX]; /* in the order of the list */
    int64_t against[LEAT_WARNINGS_MAX]; /* numbers in a row that contradict the warning's state */
    double memory[LEAT_WARNINGS_MAX][LEAT_WARNING_MEMORY];
} leat_warning_state;

/* At the beginning of a run. `warning_rules` NULL, as an empty list: nothing. */
leat_warning_state leat_warnings_begin(const leat_warning_rule *warning_rules);
/* Takes the numbers of a step. */
void leat_warnings_step(leat_warning_state *warning_state, const leat_train_step *step);

#endif
