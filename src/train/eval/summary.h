/*
 * The summary of one split: what a detector, or a plain score, is worth on all of its windows, and
 * on those of each attack type, vehicle and capture.
 */
#ifndef LEAT_TRAIN_EVAL_SUMMARY_H
#define LEAT_TRAIN_EVAL_SUMMARY_H

#include "train/eval/alarms.h"
#include "train/eval/bootstrap.h"

typedef struct leat_eval_options {
    double threshold; /* a window alarms if its score is higher; finite */
    bool probability; /* scores are probabilities of an attack: ECE exists */
    leat_bootstrap_options bootstrap;
} leat_eval_options;

#define LEAT_EVAL_GROUPS_MAX 65536
/*
 * All columns of `windows`, in any order; n log n of their number, times the groups that a window
 * is in, beside the replicates. LEAT_ERR_INPUT as leat_eval_sorted_create, and for a split without
 * a labelled window; LEAT_ERR_OPTION: threshold, bootstrap; LEAT_ERR_LIMIT: groups.
 */
LEAT_MUST_CHECK leat_code leat_eval_summary_create(leat_eval_summary **out,
                                                   const leat_eval_windows *windows,
                                                   const leat_eval_options *options,
                                                   leat_error *err);
void leat_eval_summary_destroy(leat_eval_summary *summary);
/* The most heap that it takes, beside the groups, with what sorting takes in libc; INT64_MAX: more
 * than can be counted. */
int64_t leat_eval_summary_bytes(int64_t windows, const leat_eval_options *options);

#endif
