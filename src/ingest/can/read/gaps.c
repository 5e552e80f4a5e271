/*
 * Times that are gaps from one frame to the next, as candump -td and the relative columns of other
 * tools write them. Read as times of a clock they would be sorted, and a recording of minutes would
 * become one of a second. So a log whose times go back at more than a quarter of its frames is
 * refused, unless all of them are far from 0, where gaps begin, and farther than any gap; what
 * buses and buffers of loggers do stays under a tenth. Between a tenth and a quarter, as with gaps
 * in whole milliseconds, a log is refused if more frames fall into a second than buses can carry.
 *
 * Gaps are added up in whole nanoseconds, over all lines that have one: also those of remote and
 * error frames and of rejected lines, during which time passes as well. A line that is rejected
 * before its time is parsed is searched for it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ingest/can/read/formats.h"
#include "ingest/can/read/hints.h"
#include "ingest/can/read/scan.h"

enum {
    FRAMES_ENOUGH = 16,
    GAP_USUAL_S = 60,     /* no log has this long a gap before each of its frames */
    FRAMES_PER_S = 100000 /* more than several buses carry */
};
#define NS_PER_S INT64_C(1000000000)

leat_can_reject leat_can_parse_gap(const leat_can_layout *layout,
                                   const leat_can_line_options *options, const char *text,
                                   int64_t size_bytes, int64_t *elapsed_ns, leat_can_line *line) {
    line->time = NAN;
    leat_can_reject reason = leat_can_parse_line(layout, options, text, size_bytes, line);
    if (reason == LEAT_CAN_REJECT_TIME) return reason;
    if (isnan(line->time)) {
        double gap = -1;
        if (!leat_can_find_time(layout, text, size_bytes, &gap)) return reason;
        if (gap < 0 || gap > LEAT_CAN_GAP_MAX_S) return reason;
        line->time = gap;
    }
    bool good = line->time >= 0 && line->time <= LEAT_CAN_GAP_MAX_S;
    int64_t sum_ns = *elapsed_ns + (good ? llround(line->time * NS_PER_S) : 0);
    if (!good || sum_ns > (int64_t)LEAT_CAN_GAP_MAX_S * NS_PER_S) return LEAT_CAN_REJECT_TIME;
    *elapsed_ns = sum_ns;
    line->time = (double)sum_ns / NS_PER_S;
    return reason;
}

/* Whether times are farther from 0 than from each other, and than gaps are: those of a clock, which
 * may have been logged in parallel. */
static bool is_far_from_gaps(const leat_can_file *file) {
    return file->first_s > file->last_s - file->first_s && file->first_s > GAP_USUAL_S;
}

/* Gaps of 0, which are no times of a clock, and were rejected as such: with them, are there more
 * frames in a second than buses can carry? */
static bool has_zero_gaps(const leat_can_file *file) {
    int64_t zeros = file->rejected[LEAT_CAN_REJECT_ZERO], frames = file->frames + zeros;
    bool crowded = (double)frames > file->last_s * FRAMES_PER_S;
    return zeros > 0 && frames >= FRAMES_ENOUGH && file->frames > 0 && crowded &&
           10 * (file->earlier_times + file->zero_falls) > frames;
}

bool leat_can_looks_like_gaps(const leat_can_file *file, const leat_can_line_options *options) {
    if (options->times != LEAT_TIMES_AUTO || file->gaps || file->no_time) return false;
    if (has_zero_gaps(file)) return true;
    if (file->frames < FRAMES_ENOUGH || is_far_from_gaps(file)) return false;
    bool crowded = (double)file->frames > (file->last_s - file->first_s) * FRAMES_PER_S;
    if ((crowded ? 10 : 4) * file->earlier_times <= file->frames) return false;
    /* a log that is said to be in no order of time, unless its bus had a frame a second at most */
    return !options->any_order || 4 * file->short_times > 3 * file->frames;
}

leat_code leat_can_refuse_gaps(const leat_can_file *file, const char *path,
                               const leat_can_line_options *options, leat_error *err) {
    const int64_t zeros = file->rejected[LEAT_CAN_REJECT_ZERO];
    char how[LEAT_CAN_ADVICE_BYTES] = "--times gap", item[LEAT_CAN_LABEL_NAME_BYTES + 16];
    const char *order = options->any_order ? "--times clock" : "--clock-steps sort";
    if (file->format == LEAT_CAN_CSV && file->time_name[0] != 0) {
        snprintf(item, sizeof item, "time=%s:gap", file->time_name);
        leat_can_advise_column(options->column, item, how, sizeof how);
    }
    return leat_fail(
        err, LEAT_ERR_INPUT,
        "\"%s\": %lld of its %lld times are earlier than the one before, so they seem "
        "to be gaps between frames; use %s to add them up, or %s if they are times of a "
        "clock in no order",
        path, (long long)(file->earlier_times + file->zero_falls),
        (long long)(file->frames + zeros), how, order);
}

/* ---- fractions without leading zeros ---- */

bool leat_can_looks_unpadded(const leat_can_file *file, const leat_can_line_options *options) {
    enum { STEPS_ENOUGH = 3 };
    return options->times == LEAT_TIMES_AUTO && file->unpadded >= STEPS_ENOUGH &&
           2 * file->unpadded > file->earlier_times;
}

leat_code leat_can_refuse_unpadded(const leat_can_file *file, const char *path, leat_error *err) {
    return leat_fail(
        err, LEAT_ERR_INPUT,
        "\"%s\": its times go back by just under a second %lld times, first at line %lld, "
        "where the fraction of a second gets another digit, so its fractions seem to be written "
        "without leading zeros (1.1800 for 1.001800); write them with all digits, as %%06ld does, "
        "or use --times clock if they are right",
        path, (long long)file->unpadded, (long long)file->first_unpadded);
}
