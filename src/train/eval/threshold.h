/* A threshold from validation data: labels of a test decide nothing. */
#ifndef LEAT_TRAIN_EVAL_THRESHOLD_H
#define LEAT_TRAIN_EVAL_THRESHOLD_H

#include "train/eval/windows.h"

typedef enum leat_threshold_rule {
    LEAT_THRESHOLD_FPR, /* the share of benign windows that alarm */
    LEAT_THRESHOLD_F1,  /* the best F1 */
} leat_threshold_rule;
/* "fpr", "f1". */
const char *leat_threshold_rule_name(leat_threshold_rule rule);

/* With what it was fitted on, because no number of a report means anything without. */
typedef struct leat_threshold {
    double value; /* a window alarms if its score is higher */
    leat_threshold_rule rule;
    const char *split;       /* as the caller named it; not copied */
    int64_t benign, attacks; /* windows it was fitted on; the rule FPR reads only the benign ones */
    double target_fpr;       /* of the rule FPR; else NaN */
    int64_t allowed;         /* floor(target_fpr benign); 0 of the rule F1 */
    int64_t exceeding;       /* benign windows of that split with a higher score */
    double f1;               /* there; NaN: no attack */
} leat_threshold;

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

/* As members of the object that is open: "threshold", "rule", "fitted_on": {"split",
 * "benign_windows", "attack_windows"}, ...; "f1" only if it is known. */
void leat_threshold_json(leat_json *json, const leat_threshold *threshold);

#endif
