/* See alarms.h. One walk over the windows; medians need the delays in order, and so a copy. */
#include "train/eval/alarms.h"

#include <math.h>

#include "base/error.h"
#include "base/mem.h"

leat_eval_time leat_eval_time_of(const leat_eval_windows *windows) {
    leat_eval_time time = {0};
    for (int64_t i = 0; i < windows->count; i++) {
        time.seconds += windows->seconds[i];
        if (windows->label[i] == 0) time.benign_seconds += windows->seconds[i];
    }
    return time;
}

static int64_t last_frame(const leat_eval_windows *windows, int64_t i) {
    return windows->start[i] + windows->window - 1;
}

static int64_t injected_at(const leat_eval_windows *windows, int64_t i) {
    return windows->start[i] + windows->attack_first[i];
}

/* From the first injected frame of window `first` to the end of window `last`. */
static double ms_between(const leat_eval_windows *windows, int64_t first, int64_t last) {
    double seconds = windows->injected_seconds[first], after = 0;
    if (last > first) {
        for (int64_t i = first + 1; i <= last; i++) after += windows->seconds[i];
        const int64_t step = windows->window < windows->stride ? windows->window : windows->stride;
        const int64_t seen = (last - first) * step,
                      frames = last_frame(windows, last) - last_frame(windows, first);
        seconds += after * ((double)frames / (double)seen);
    }
    return 1000 * seconds;
}

leat_eval_delay leat_eval_delay_of(const leat_eval_windows *windows, int64_t first, int64_t end,
                                   double threshold) {
    leat_eval_delay delay = {
        .first_injected = -1, .alarm_start = -1, .frames = -1, .ms = (double)NAN};
    int64_t from = first; /* the first window that has it: earlier ones end before it */
    for (int64_t i = first; i < end; i++) {
        if (windows->label[i] != 1) continue;
        const int64_t at = injected_at(windows, i);
        if (delay.attacked && at >= delay.first_injected) continue;
        delay.attacked = true;
        delay.first_injected = at;
        from = i;
    }
    for (int64_t i = from; delay.attacked && i < end; i++) {
        if (!(windows->score[i] > threshold)) continue;
        delay.detected = true;
        delay.alarm_start = windows->start[i];
        delay.is_attack = windows->label[i] == 1;
        delay.frames = last_frame(windows, i) - delay.first_injected;
        delay.ms = ms_between(windows, from, i);
        break;
    }
    return delay;
}

/* ---- medians ------------------------------------------------------------------------------ */

typedef struct delays {
    double *frames, *ms; /* of those detected */
    int64_t capacity[2];
    int64_t count, detected;
} delays;

static leat_code add(delays *list, double frames, double ms, leat_error *err) {
    LEAT_TRY(LEAT_GROW(&list->frames, &list->capacity[0], list->detected + 1, err));
    LEAT_TRY(LEAT_GROW(&list->ms, &list->capacity[1], list->detected + 1, err));
    list->frames[list->detected] = frames;
    list->ms[list->detected++] = ms;
    return LEAT_OK;
}

static leat_eval_number median(double *values, const delays *list) {
    if (list->detected == 0)
        return leat_eval_undefined(list->count == 0 ? LEAT_EVAL_NO_ATTACK : LEAT_EVAL_NO_DETECTION);
    return leat_eval_defined(leat_median(values, list->detected));
}

static leat_code finish(leat_eval_detections *out, delays *list, leat_code code) {
    *out = (leat_eval_detections){0};
    if (code == LEAT_OK)
        *out = (leat_eval_detections){.count = list->count,
                                      .detected = list->detected,
                                      .median_frames = median(list->frames, list),
                                      .median_ms = median(list->ms, list)};
    leat_free(list->frames);
    leat_free(list->ms);
    return code;
}

leat_code leat_eval_captures(leat_eval_detections *out, const leat_eval_windows *windows,
                             double threshold, leat_error *err) {
    delays list = {0};
    leat_code code = LEAT_OK;
    for (int64_t first = 0, end; code == LEAT_OK && first < windows->count; first = end) {
        for (end = first + 1; end < windows->count; end++) {
            if (windows->capture[end] != windows->capture[first]) break;
        }
        const leat_eval_delay delay = leat_eval_delay_of(windows, first, end, threshold);
        if (delay.attacked) list.count++;
        if (delay.detected) code = add(&list, (double)delay.frames, delay.ms, err);
    }
    return finish(out, &list, code);
}

/* The window after the last one of the run that begins at `first`. */
static int64_t run_end(const leat_eval_windows *windows, int64_t first) {
    int64_t end = first + 1;
    while (end < windows->count && windows->label[end] == 1 &&
           windows->capture[end] == windows->capture[first] &&
           windows->start[end] - windows->start[end - 1] <= windows->stride)
        end++;
    return end;
}

leat_code leat_eval_episodes(leat_eval_detections *out, const leat_eval_windows *windows,
                             double threshold, leat_error *err) {
    delays list = {0};
    leat_code code = LEAT_OK;
    for (int64_t first = 0, end; code == LEAT_OK && first < windows->count; first = end) {
        end = first + 1;
        if (windows->label[first] != 1) continue;
        end = run_end(windows, first);
        list.count++;
        int64_t alarm = first;
        while (alarm < end && !(windows->score[alarm] > threshold)) alarm++;
        if (alarm == end) continue;
        const int64_t frames = last_frame(windows, alarm) - injected_at(windows, first);
        code = add(&list, (double)frames, ms_between(windows, first, alarm), err);
    }
    return finish(out, &list, code);
}
