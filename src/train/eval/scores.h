/*
 * What scores are worth against labels. A window alarms if score > threshold. Counts and ranks are
 * whole numbers, sums run by falling score: the same bits on every machine.
 */
#ifndef LEAT_TRAIN_EVAL_SCORES_H
#define LEAT_TRAIN_EVAL_SCORES_H

#include "train/eval/windows.h"

/* Windows by falling score; equal scores are one step of it. */
typedef struct leat_eval_ranking {
    int64_t count;
    int64_t *order; /* [count] index of a window; of equal scores the lower index first */
    double *score;  /* [count] in that order */
    bool *attack;   /* [count] */
} leat_eval_ranking;
/* Scores must be finite and labels 0 or 1 (leat_eval_check_scores checks the former, and lets -1
 * through, which is LEAT_ERR_INPUT here). On failure it is empty. */
LEAT_MUST_CHECK leat_code leat_eval_ranking_init(leat_eval_ranking *ranking, const double *score,
                                                 const int32_t *label, int64_t count,
                                                 leat_error *err);
/* {0} as well. */
void leat_eval_ranking_free(leat_eval_ranking *ranking);
/* The heap that a ranking of this many windows takes, and while it is made. */
int64_t leat_eval_ranking_bytes(int64_t count);

/*
 * `times` [count], by index of the window: how often each counts; NULL: once. The sum is at most
 * LEAT_EVAL_WINDOWS_MAX.
 *
 * AUROC: the share of pairs of an attack and a benign window in which the attack's score is higher,
 * ties a half; one division of whole numbers. Average precision: sum over the steps of the gain in
 * recall times the precision there (scikit-learn's, no interpolation). Either is undefined without
 * windows of both classes.
 */
leat_eval_number leat_eval_auroc(const leat_eval_ranking *ranking, const int32_t *times);
leat_eval_number leat_eval_average_precision(const leat_eval_ranking *ranking,
                                             const int32_t *times);

/* (score, label); windows without a label are not counted. */
leat_eval_counts leat_eval_count(const leat_eval_windows *windows, const int32_t *times,
                                 double threshold);

/*
 * LEAT_EVAL_PRECISION to LEAT_EVAL_REALISED_FPR; the others are left as they are. Recall needs
 * attacks, the realised false-positive rate benign windows, precision an alarm, and precision, F1
 * and MCC both classes. F1 is 2 TP / (2 TP + FP + FN), that of the benign class the same with the
 * classes exchanged, the macro one their mean. MCC is 0 if all windows alarm, or none does: the
 * limit of a decision that knows nothing (scikit-learn's).
 */
void leat_eval_rates(const leat_eval_counts *counts,
                     leat_eval_number metrics[LEAT_EVAL_METRIC_COUNT]);

/*
 * All metrics of windows (score, label without -1, seconds) at a threshold. False alarms an hour:
 * windows of the benign class that alarm, each counted, by the bus time of all windows, and by that
 * of the benign ones.
 */
void leat_eval_measure(const leat_eval_windows *windows, const leat_eval_ranking *ranking,
                       const int32_t *times, double threshold,
                       leat_eval_number metrics[LEAT_EVAL_METRIC_COUNT]);

/* ---- curves ------------------------------------------------------------------------------- */

/*
 * Points from no alarm to all, at most `most` (at least 8): each step of the ranking if there are
 * so few, and else those at which one of the two rates, or the logarithm of the number of alarms
 * (where precision changes fast), enters another cell of an even grid.
 */
int64_t leat_eval_curve(const leat_eval_ranking *ranking, int64_t most, leat_eval_point *points);

/* ---- calibration -------------------------------------------------------------------------- */

#define LEAT_EVAL_BINS 15
/*
 * Expected calibration error of probabilities in [0, 1] (else LEAT_ERR_INPUT with the index): in 15
 * bins, closed below, 1 a bin of its own, the distance of the mean probability from the share of
 * windows for which it was right (`right` 1, else 0), weighted by the number of windows. `right` is
 * the label for the probability of an attack; for that of the decision, max(p, 1 - p), whether the
 * decision was right. Undefined only without windows: one class alone can be badly calibrated, too.
 */
LEAT_MUST_CHECK leat_code leat_eval_ece(const double *probability, const int32_t *right,
                                        int64_t count, leat_eval_number *out, leat_error *err);

#endif
