/* Overlapping windows of which single ones are validation: see overlap.h. */
#include "ingest/can/cache/overlap.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

bool leat_can_has_overlap(const leat_can_settings *settings) {
    return settings->val_split == LEAT_VAL_RANDOM && settings->val_fraction > 0 &&
           settings->stride < settings->window;
}

leat_code leat_can_overlap_check(const leat_can_settings *settings, leat_error *err) {
    if (settings->allow_overlap || !leat_can_has_overlap(settings)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "--val-split random, and windows overlap (--stride %lld, --window %lld): "
                     "validation would have the frames of training; use --val-split blocks or "
                     "--stride %lld, or --allow-overlap to do it anyway",
                     (long long)settings->stride, (long long)settings->window,
                     (long long)settings->window);
}

/* Frames of validation windows, and how many of them are in training windows as well. */
typedef struct shares {
    int64_t validation, both;
} shares;

static int64_t within(int64_t from, int64_t to) { return to > from ? to - from : 0; }

/* Between the beginnings of two windows, frames are in a part as far as the latest window of it
 * goes. */
static void count_stream(const leat_can_plan *plan, const leat_can_stream *stream, shares *counts) {
    int64_t length = plan->settings->window, stride = plan->settings->stride;
    int64_t end[2] = {0, 0}; /* of the latest window of training and of validation */
    for (int64_t i = 0; i < stream->windows; i++) {
        int part = plan->windows[stream->first_window + i].part;
        int64_t begin = i * stride;
        int64_t next = i + 1 < stream->windows ? begin + stride : begin + length;
        if (part < 2) end[part] = begin + length;
        int64_t validation = end[1] < next ? end[1] : next;
        counts->validation += within(begin, validation);
        counts->both += within(begin, end[0] < validation ? end[0] : validation);
    }
}

void leat_can_overlap_warn(const leat_can_plan *plan, char *warning, size_t warning_bytes) {
    shares counts = {0};
    size_t used = strlen(warning);
    if (!leat_can_has_overlap(plan->settings)) return;
    for (int32_t i = 0; i < plan->stream_count; i++) {
        if (plan->streams[i].split == 0) count_stream(plan, &plan->streams[i], &counts);
    }
    if (counts.both == 0) return;
    snprintf(warning + used, warning_bytes - used,
             "%s%lld of the %lld frames of validation are in training windows as well, because "
             "windows overlap (--allow-overlap): its scores say little of other recordings",
             used > 0 ? "; " : "", (long long)counts.both, (long long)counts.validation);
}
