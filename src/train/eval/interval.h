/*
 * Intervals of counts and rates at 95 %, for events that do not depend on each other. Windows of
 * one drive do, so that these are too narrow there; bootstrap.h resamples blocks of time instead,
 * but knows nothing about what never happened (0 of n). A report gives both.
 */
#ifndef LEAT_TRAIN_EVAL_INTERVAL_H
#define LEAT_TRAIN_EVAL_INTERVAL_H

#include "train/eval/windows.h"

/*
 * The mean of a Poisson distribution of which `count` >= 0 was seen: the exact (central) interval,
 * whose ends are those means for which as many events, or more, and as many, or fewer, have a
 * probability of 2.5 % (Garwood 1936; half a quantile of chi-square with 2 count and 2 count + 2
 * degrees of freedom). Divided by the hours it is the interval of the rate an hour.
 */
leat_eval_interval leat_interval_poisson(int64_t count);

/*
 * The share in which `count` of `all` was seen, 0 <= count <= all: the score interval (Wilson
 * 1927), which Brown, Cai and DasGupta (2001) recommend over the exact one, because that is wider
 * than it claims. `all` 0: undefined, for `if_none`.
 */
leat_eval_interval leat_interval_wilson(int64_t count, int64_t all, leat_eval_reason if_none);

#endif
