/*
 * What the numbers of a run warn of: a function of the lines of metrics.jsonl in their order. So a
 * run that was interrupted warns at the same steps as one that was not, and so does whoever reads
 * it. A warning arises when a condition has held for some numbers in a row, and is over when it has
 * not held for as many.
 */
#ifndef LEAT_TRAIN_WATCH_H
#define LEAT_TRAIN_WATCH_H

#include "leat/train.h"

/* All zeros at the beginning of a run. */
typedef struct leat_watch {
    leat_train_warning warnings[LEAT_TRAIN_WARNINGS];
    int64_t against[LEAT_TRAIN_WARNINGS]; /* numbers in a row that contradict the warning's state */
    double spreads[LEAT_WARNING_ALIKE_MEASUREMENTS]; /* the last ones */
} leat_watch;

/* All that a step warns of: its numbers by name; those that its model has not are not counted. */
void leat_watch_step(leat_watch *watch, const leat_train_step *step);

/* D's loss in a step: on images and on fakes. */
void leat_watch_loss(leat_watch *watch, int64_t step, double loss_d);
/* The spread between samples and that between the data's images, after a step. NaN is not counted,
 * and neither is what precedes the first step. */
void leat_watch_spread(leat_watch *watch, int64_t step, double spread, double spread_data);

#endif
