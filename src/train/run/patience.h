/*
 * What the measurements of a run say of its best state, and for how long it has not become better:
 * a function of the lines of metrics.jsonl in their order, so that a run which was interrupted,
 * rewound, or computed by many machines ends early at the same step as one which was not.
 */
#ifndef LEAT_TRAIN_RUN_PATIENCE_H
#define LEAT_TRAIN_RUN_PATIENCE_H

#include "leat/train.h"

typedef struct leat_task leat_task; /* task.h */

/* The measure that decides what is best: of those that checkpoints have, the first that was
 * measured and of which a lower or a higher number is better. A run measures the same ones each
 * time. -1: none. */
int leat_measure_decider(const leat_task *task, const double measured[LEAT_MEASURES_MAX]);

typedef struct leat_patience {
    int decider; /* of the first measurement; -1: there was none */
    double best;
    int64_t best_step;
    int64_t since; /* measurements after the best one */
} leat_patience;

/* Before the first line. */
leat_patience leat_patience_begin(void);
/* Takes the numbers of a line as its reader has them: what is not finite is NaN. Of one that was
 * not measured nothing changes; task NULL, the same. */
void leat_patience_step(leat_patience *patience, const leat_task *task,
                        const leat_train_step *step);

#endif
