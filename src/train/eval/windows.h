/*
 * Windows of a bus that a detector has scored, as plain arrays: what everything in this folder is
 * computed from. Nothing here knows a model or a file. Arrays are the caller's.
 */
#ifndef LEAT_TRAIN_EVAL_WINDOWS_H
#define LEAT_TRAIN_EVAL_WINDOWS_H

#include "leat/train_eval.h"

/* Products of two numbers of windows, doubled, are whole numbers of 64 bits. */
#define LEAT_EVAL_WINDOWS_MAX (INT64_C(1) << 30)

/* Functions name the columns of leat_eval_windows that they read in their comments; the others may
 * be NULL. */

leat_eval_number leat_eval_defined(double value);
leat_eval_number leat_eval_undefined(leat_eval_reason reason);

/* Finite scores and labels -1, 0, 1 (score, label): else LEAT_ERR_INPUT names the first window that
 * has another, by its index. */
LEAT_MUST_CHECK leat_code leat_eval_check_scores(const double *score, const int32_t *label,
                                                 int64_t count, leat_error *err);

/*
 * The seconds for which the bus was observed by a window, from the steps of its edges, in their
 * order: `step` is [edges, columns], its first column the time from a frame to the next. A window
 * of W frames has W - 2 edges, and every min(W, stride) frames there is a window, so that the
 * seconds of all windows add up to the time that they cover: the sum x min(W, stride) / (W - 2).
 */
double leat_eval_window_seconds(const float *step, int64_t edges, int64_t columns, int64_t window,
                                int64_t stride);

/*
 * The seconds from a frame of the window (0 .. window - 1) to its last one, from the same steps:
 * that of edge e is the one from frame e to frame e + 1, and the last step is as long as the mean
 * of those from `frame` on, or the one before where there are none.
 */
double leat_eval_seconds_after(const float *step, int64_t edges, int64_t columns, int64_t frame);

/*
 * A copy of all columns, in order of (capture, start), of the windows with a label; to be freed
 * with leat_eval_sorted_destroy. LEAT_ERR_INPUT names the index of a window whose score is not
 * finite, whose seconds (of either kind) are negative or not finite, whose label or attack_first is
 * out of range, or whose capture and start another one has; LEAT_ERR_LIMIT: more than
 * LEAT_EVAL_WINDOWS_MAX.
 */
typedef struct leat_eval_sorted leat_eval_sorted;
LEAT_MUST_CHECK leat_code leat_eval_sorted_create(leat_eval_sorted **out,
                                                  const leat_eval_windows *windows,
                                                  leat_error *err);
void leat_eval_sorted_destroy(leat_eval_sorted *sorted);
const leat_eval_windows *leat_eval_sorted_windows(const leat_eval_sorted *sorted);
/* Without a label, which are not among the windows. */
int64_t leat_eval_sorted_unlabelled(const leat_eval_sorted *sorted);

/* As leat_eval_sorted_create for windows that come from there: their order is kept. */
LEAT_MUST_CHECK leat_code leat_eval_sorted_part(leat_eval_sorted **out,
                                                const leat_eval_windows *sorted,
                                                leat_eval_kind kind, int32_t number,
                                                leat_error *err);
/* The heap that a sorted copy of this many windows takes, and while it is made as much again. */
int64_t leat_eval_sorted_bytes(int64_t count);

#endif
