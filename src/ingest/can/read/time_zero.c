/*
 * Times of exactly 0. Some loggers write one for the frames that they have sent themselves, which
 * were never received, or before their clock is set. As a time it is earlier than all others, so
 * such frames would be sorted to the front of their log. A log that counts from its beginning may
 * have one there, and so may each log of several in one file: then the times after it are near 0.
 */
#include <math.h>

#include "base/lines.h"
#include "ingest/can/read/context.h"
#include "ingest/can/read/formats.h"
#include "ingest/can/store/store.h"

#define SINCE_1970_S 1e9 /* later times count from 1970, not from the beginning of a log */

bool leat_can_is_zero_time(double before_s, double after_s) {
    if (isnan(before_s)) return !(after_s > SINCE_1970_S);
    if (before_s < 0) return !(after_s < 0); /* times around a trigger */
    return before_s - after_s > LEAT_CAN_CLOCK_FALL_S && after_s < before_s / 2;
}

bool leat_can_next_line(leat_can_layout *layout, const leat_can_line_options *options,
                        const char **at, const char *end, leat_text *text, leat_can_reject *reason,
                        leat_can_line *line) {
    while (*at < end) {
        const char *begin = *at, *feed = memchr(begin, '\n', (size_t)(end - begin));
        const char *stop = feed != NULL ? feed : end;
        *at = stop + 1;
        *text = (leat_text){begin, (int32_t)(stop - begin)};
        if (text->size_bytes > 0 && stop[-1] == '\r') text->size_bytes--;
        if (text->size_bytes == 0) continue;
        *reason = leat_can_parse_line(layout, options, text->data, text->size_bytes, line);
        leat_can_follow(layout, text->data, text->size_bytes);
        return true;
    }
    return false;
}

double leat_can_first_time(const leat_can_text *text) {
    leat_can_layout layout = *text->layout;
    const char *at = text->at;
    leat_text line_text;
    leat_can_reject reason;
    leat_can_line line;
    while (leat_can_next_line(&layout, text->options, &at, text->end, &line_text, &reason, &line)) {
        if (reason == LEAT_CAN_TAKEN && line.time != 0) return line.time;
    }
    return NAN;
}

double leat_can_last_time(const leat_can_text *text) {
    const char *end = text->end;
    while (end > text->at) {
        const char *stop = end[-1] == '\n' ? end - 1 : end;
        const char *feed =
            stop > text->at ? memrchr(text->at, '\n', (size_t)(stop - text->at)) : NULL;
        const char *begin = feed != NULL ? feed + 1 : text->at;
        const leat_can_text one = {text->layout, text->options, begin, stop};
        double time = leat_can_first_time(&one);
        if (!isnan(time)) return time;
        end = begin;
    }
    return NAN;
}

leat_code leat_can_find_first_time(const leat_input *input, const leat_can_layout *layout,
                                   const leat_can_line_options *options, double *time,
                                   leat_error *err) {
    leat_lines *lines = NULL;
    leat_lines_options reading = {.coding = input->coding};
    leat_can_layout now = *layout;
    bool found = true;
    *time = NAN;
    LEAT_TRY(leat_lines_open(&lines, input->path, &reading, err));
    leat_code code = LEAT_OK;
    while (code == LEAT_OK && found && isnan(*time)) {
        leat_line next;
        leat_can_line line;
        code = leat_lines_next(lines, &next, &found, err);
        if (code != LEAT_OK || !found || next.fault != LEAT_LINE_GOOD || next.size_bytes == 0)
            continue;
        leat_can_note_buses(&now, next.data, next.size_bytes);
        leat_can_reject reason =
            leat_can_parse_line(&now, options, next.data, next.size_bytes, &line);
        leat_can_follow(&now, next.data, next.size_bytes);
        if (reason == LEAT_CAN_TAKEN && line.time != 0) *time = line.time;
    }
    leat_lines_close(lines);
    return code;
}
