/*
 * When an attack is noticed, from windows (score, label, capture, start, attack_first, seconds,
 * injected_seconds) in
 * order of capture and start, all with a label. A frame is seen when the window that it is in ends.
 */
#ifndef LEAT_TRAIN_EVAL_ALARMS_H
#define LEAT_TRAIN_EVAL_ALARMS_H

#include "train/eval/windows.h"

/* Bus time, in seconds: the sum over windows, in their order. */
typedef struct leat_eval_time {
    double seconds, benign_seconds;
} leat_eval_time;
leat_eval_time leat_eval_time_of(const leat_eval_windows *windows);

/*
 * From the first injected frame of a capture (the smallest start + attack_first) to the end of the
 * first alarming window that ends at that frame or later. Such a window need not have an injected
 * frame: is_attack says whether it has. The time is that of the frames to the end of the window
 * with the first injected frame, and then the mean time of a frame in the windows up to the
 * alarming one.
 */
typedef struct leat_eval_delay {
    bool attacked, detected;
    int64_t first_injected; /* frame of the capture; -1: not attacked */
    int64_t alarm_start;    /* of the alarming window; -1: none */
    bool is_attack;
    int64_t frames; /* -1: not detected */
    double ms;      /* NaN: not detected */
} leat_eval_delay;
/* Of windows first .. end - 1, which are all windows of one capture. */
leat_eval_delay leat_eval_delay_of(const leat_eval_windows *windows, int64_t first, int64_t end,
                                   double threshold);

/*
 * Captures with an attack; or episodes: runs of windows with an attack in which each begins at most
 * `stride` frames after the one before. An episode is detected if one of its windows alarms, and
 * its delay is from its first injected frame to the end of the first of them. Medians are over
 * those detected; of an even number the mean of the two in the middle.
 */
typedef struct leat_eval_detections {
    int64_t count, detected;
    leat_eval_number median_frames, median_ms;
} leat_eval_detections;
LEAT_MUST_CHECK leat_code leat_eval_captures(leat_eval_detections *out,
                                             const leat_eval_windows *windows, double threshold,
                                             leat_error *err);
LEAT_MUST_CHECK leat_code leat_eval_episodes(leat_eval_detections *out,
                                             const leat_eval_windows *windows, double threshold,
                                             leat_error *err);

#endif
