/* A threshold from validation data: labels of a test decide nothing. */
#ifndef LEAT_TRAIN_EVAL_THRESHOLD_H
#define LEAT_TRAIN_EVAL_THRESHOLD_H

#include "train/eval/windows.h"

/*
 * FPR: of n benign windows, k = floor(target_fpr n); the (k + 1)-th largest of their scores, so
 * that k exceed it, and fewer where scores are equal. The product counts as a whole number if it is
 * one but for rounding. 0 <= target_fpr < 1, else LEAT_ERR_OPTION.
 * F1: of all cuts between two neighbouring scores, or below the lowest, that with the best F1, the
 * highest of equally good ones; the threshold is half-way.
 * (score, label) of windows; those without a label are left out. LEAT_ERR_INPUT: no benign window,
 * or for F1 no attack; or a score that is not finite, with its index.
 */
LEAT_MUST_CHECK leat_code leat_threshold_fit_fpr(leat_threshold *out,
                                                 const leat_eval_windows *windows,
                                                 const char *split, double target_fpr,
                                                 leat_error *err);
LEAT_MUST_CHECK leat_code leat_threshold_fit_f1(leat_threshold *out,
                                                const leat_eval_windows *windows, const char *split,
                                                leat_error *err);

#endif
