/*
 * Intervals of all metrics by resampling blocks of time. Windows that follow each other are alike,
 * so single windows drawn at random would give intervals that are far too narrow: blocks of
 * consecutive windows of a capture are drawn instead, with replacement (Carlstein 1986).
 */
#ifndef LEAT_TRAIN_EVAL_BOOTSTRAP_H
#define LEAT_TRAIN_EVAL_BOOTSTRAP_H

#include "train/eval/scores.h"

/*
 * The interval at 95 % of each metric of `windows` (all columns, in order of capture and start) at
 * a threshold, from the order statistics of its values over the replicates. A replicate draws as
 * many blocks as there are; draw d of replicate r is leat_random(seed, stream, r blocks + d). A
 * replicate without both classes leaves a metric undefined, and does not count for it; if more than
 * half of them do, so is the interval. Undefined, too, for its own reason, where the metric is,
 * with no replicates, and with fewer than LEAT_BOOTSTRAP_BLOCKS_MIN blocks. LEAT_ERR_OPTION:
 * options out of range; LEAT_ERR_LIMIT: more windows than can be resampled.
 */
LEAT_MUST_CHECK leat_code leat_bootstrap(const leat_eval_windows *windows,
                                         const leat_eval_ranking *ranking, double threshold,
                                         const leat_bootstrap_options *options,
                                         leat_eval_interval out[LEAT_EVAL_METRIC_COUNT],
                                         leat_error *err);
/* The heap that it takes. */
int64_t leat_bootstrap_bytes(int64_t windows, const leat_bootstrap_options *options);

#endif
