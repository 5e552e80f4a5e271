/*
 * When an attack is noticed, from windows (score, label, capture, start, attack_first, seconds,
 * injected_seconds) in
 * order of capture and start, all with a label. A frame is seen when the window that it is in ends.
 */
#ifndef LEAT_TRAIN_EVAL_ALARMS_H
#define LEAT_TRAIN_EVAL_ALARMS_H

#include "train/eval/windows.h"

leat_eval_time leat_eval_time_of(const leat_eval_windows *windows);

/* Of windows first .. end - 1, which are all windows of one capture. */
leat_eval_delay leat_eval_delay_of(const leat_eval_windows *windows, int64_t first, int64_t end,
                                   double threshold);

/* Both: leat_eval_detections. */
LEAT_MUST_CHECK leat_code leat_eval_captures(leat_eval_detections *out,
                                             const leat_eval_windows *windows, double threshold,
                                             leat_error *err);
LEAT_MUST_CHECK leat_code leat_eval_episodes(leat_eval_detections *out,
                                             const leat_eval_windows *windows, double threshold,
                                             leat_error *err);

#endif
