/*
 * BUSMASTER's logs of CAN. A header of lines between asterisks says in which base numbers are, and
 * what times are: of the computer's clock, without the date; since the beginning; or since the
 * frame before. Several sessions may follow each other in one file, each with a header.
 *
 *   ***START DATE AND TIME 23:10:2020 23:59:58:900***
 *   ***HEX***
 *   ***SYSTEM MODE***
 *   23:59:58:9021 Rx 1 0x385 s 8 70 00 00 00 D8 7F FF 00
 *
 * The last number of a time has four digits, in units of 0.1 ms, or three, in ms; in the header it
 * is in ms.
 */
#include <stdio.h>

#include "base/time.h"
#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"

#define SECOND_US INT64_C(1000000)
#define DAY_US (86400 * SECOND_US)

/* "23:59:58:9021" as microseconds; with unit_us 0 the unit of the last number is that of its
 * digits. Hours may be more than a day has. */
static bool read_clock(leat_text text, int64_t unit_us, int64_t *us) {
    static const uint32_t maxima[] = {99999, 59, 59, 9999};
    uint32_t of[4];
    const char *at = text.data, *end = at + text.size_bytes;
    for (int i = 0; i < 4; i++) {
        const char *colon = i < 3 ? memchr(at, ':', (size_t)(end - at)) : end;
        if (colon == NULL || !read_decimal(text_between(at, colon), 5, maxima[i], &of[i]))
            return false;
        if (i == 3 && unit_us == 0) {
            if (end - at != 3 && end - at != 4) return false;
            unit_us = end - at == 3 ? 1000 : 100;
        }
        at = colon + 1;
    }
    *us = (int64_t)(of[0] * 3600 + of[1] * 60 + of[2]) * SECOND_US + of[3] * unit_us;
    return true;
}

/* ---- headers -------------------------------------------------------------------------------- */

/* What is between the asterisks of a line; false: it is another line. */
static bool read_starred(leat_text line, leat_text *inside) {
    line = leat_text_trim(line);
    if (line.size_bytes < 6 || memcmp(line.data, "***", 3) != 0) return false;
    *inside = (leat_text){line.data + 3, line.size_bytes - 3};
    while (inside->size_bytes > 0 && inside->data[inside->size_bytes - 1] == '*')
        inside->size_bytes--;
    return true;
}

/* "23:10:2020 23:59:58:900" */
static bool read_date(leat_text text, int64_t *us) {
    uint32_t of[3];
    int64_t clock_us;
    const char *at = text.data, *end = at + text.size_bytes;
    leat_text date = next_word(&at, end), clock = next_word(&at, end);
    at = date.data;
    end = at + date.size_bytes;
    for (int i = 0; i < 3; i++) {
        const char *colon = i < 2 ? memchr(at, ':', (size_t)(end - at)) : end;
        if (colon == NULL || !read_decimal(text_between(at, colon), 4, 9999, &of[i])) return false;
        at = colon + 1;
    }
    if (of[1] < 1 || of[1] > 12 || of[0] < 1 ||
        (int)of[0] > leat_time_month_days(of[2], (int)of[1]) ||
        !read_clock(clock, 1000, &clock_us) || clock_us >= DAY_US)
        return false;
    *us = leat_time_days(of[2], (int)of[1], (int)of[0]) * DAY_US + clock_us;
    return true;
}

/* What a header decides of the lines after it; those of one file have times of one kind. */
static void read_header_line(leat_text inside, leat_can_layout *layout) {
    static const char date[] = "START DATE AND TIME ";
    static const char *const modes[] = {"SYSTEM MODE", "ABSOLUTE MODE", "RELATIVE MODE"};
    leat_can_clock *clock = &layout->clock;
    int size = (int)sizeof date - 1;
    if (inside.size_bytes > size && memcmp(inside.data, date, (size_t)size) == 0) {
        leat_text value = {inside.data + size, inside.size_bytes - size};
        if ((clock->mode == 0 || clock->mode == 'S') && read_date(value, &clock->last_us))
            clock->dated = true;
    }
    if (is_word(inside, "HEX")) layout->id_unit = LEAT_CAN_UNIT_HEX;
    if (is_word(inside, "DEC")) layout->id_unit = LEAT_CAN_UNIT_DEC;
    for (int i = 0; i < 3; i++) {
        if (!is_word(inside, modes[i])) continue;
        clock->other = clock->mode != 0 && clock->mode != modes[i][0];
        if (clock->other) return;
        if (modes[i][0] != 'S') clock->dated = false;
        /* without a date from the first day on: a time is up to an hour before the one before */
        if (!clock->dated && (clock->mode == 0 || clock->mode != 'S'))
            clock->last_us = 3600 * SECOND_US;
        clock->mode = modes[i][0];
    }
}

static bool is_event(leat_text line) {
    const char *at = line.data;
    int64_t us;
    return read_clock(next_word(&at, at + line.size_bytes), 0, &us);
}

static bool lay_out(const leat_can_first_lines *of, const leat_can_line_options *options,
                    leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]) {
    (void)options;
    static const char maker[] = "BUSMASTER ", protocol[] = "PROTOCOL ";
    bool made = false, other = false, header = true;
    for (int i = 0; i < of->count && !is_event(of->lines[i]); i++) {
        leat_text inside;
        const bool starred = read_starred(of->lines[i], &inside);
        header = header && starred; /* others are lines of the log that cannot be read */
        *first += header;
        if (!starred) continue;
        made = made || is_word(inside, "[START LOGGING SESSION]") ||
               (inside.size_bytes > 10 && memcmp(inside.data, maker, 10) == 0);
        other = other || (inside.size_bytes > 9 && memcmp(inside.data, protocol, 9) == 0 &&
                          !is_word(inside, "PROTOCOL CAN"));
        read_header_line(inside, layout);
    }
    if (!made) return false;
    layout->gaps = layout->clock.mode == 'R';
    layout->clock.lack = LEAT_CAN_LACK_DAY;
    bool good = !other && layout->id_unit != LEAT_CAN_UNIT_NONE && layout->clock.mode != 0;
    if (!good)
        snprintf(why, LEAT_CAN_WHY_BYTES, "%s",
                 other ? "a log of BUSMASTER for another protocol than CAN does not have frames; "
                         "log CAN"
                       : "a log of BUSMASTER needs the lines ***HEX*** or ***DEC***, and "
                         "***SYSTEM MODE***, ***ABSOLUTE MODE*** or ***RELATIVE MODE***; write "
                         "them before its first frame");
    return good;
}

/* ---- a line --------------------------------------------------------------------------------- */

/* Microseconds: gaps as they are, other times with their day. */
static bool read_line_time(const leat_can_layout *layout, leat_text text, int64_t *us) {
    const leat_can_clock *clock = &layout->clock;
    leat_can_moment moment = {0};
    if (clock->other || !read_clock(text, 0, &moment.day_us)) return false;
    *us = moment.day_us;
    if (layout->gaps || (clock->mode == 'A' && *us >= DAY_US)) return true;
    return *us < DAY_US && leat_can_complete_time(clock, &moment, us);
}

static leat_can_reject take_data(const leat_can_layout *layout, leat_text data, int count, bool fd,
                                 const leat_can_line_options *options, leat_can_line *line) {
    const char *at = data.data, *end = at + data.size_bytes;
    leat_can_reject reason = LEAT_CAN_TAKEN;
    if (!leat_can_is_decimal(layout)) {
        reason = leat_can_take_bytes(at, end, ' ', count, false, options, line);
        /* all bytes have two digits: one with less is the end of a line that is cut */
        bool cut = data.size_bytes > 0 && digit_of(end[-1]) >= 0 &&
                   (data.size_bytes == 1 || leat_is_blank(end[-2]));
        if (cut && options->strict && reason == LEAT_CAN_TAKEN) return LEAT_CAN_REJECT_PAYLOAD;
    } else {
        reason = leat_can_take_decimals(at, end, count, false, options, line);
    }
    return reason == LEAT_CAN_TAKEN && fd && options->fd_refuse ? LEAT_CAN_REJECT_FD : reason;
}

static leat_can_reject parse(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line) {
    leat_text inside;
    int64_t us;
    int bus = 0, count = 0;
    if (read_starred(text_between(at, end), &inside)) return LEAT_CAN_REJECT_EVENT;
    line->attack = false;
    if (!read_line_time(layout, next_word(&at, end), &us)) return LEAT_CAN_REJECT_TIME;
    line->time = (double)us / SECOND_US;
    leat_text direction = next_word(&at, end), channel = next_word(&at, end);
    leat_text id = next_word(&at, end), type = next_word(&at, end);
    if (!is_word(direction, "Rx") && !is_word(direction, "Tx")) return LEAT_CAN_REJECT_LINE;
    if (!read_count(channel, UINT16_MAX, &bus)) return LEAT_CAN_REJECT_BUS;
    line->bus = (uint16_t)bus;
    if (type.size_bytes >= 3 && memcmp(type.data, "ERR", 3) == 0) return LEAT_CAN_REJECT_ERROR;
    bool fd = is_word(type, "s-fd") || is_word(type, "x-fd");
    bool remote = is_word(type, "sr") || is_word(type, "xr");
    if (!fd && !remote && !is_word(type, "s") && !is_word(type, "x")) return LEAT_CAN_REJECT_LINE;
    if (!leat_can_take_based_id(id, leat_can_is_decimal(layout), type.data[0] == 'x', options,
                                line))
        return LEAT_CAN_REJECT_ID;
    if (remote) return LEAT_CAN_REJECT_REMOTE;
    if (!read_count(next_word(&at, end), fd ? LEAT_CAN_FD_BYTES : 15, &count))
        return LEAT_CAN_REJECT_LINE;
    if (!fd && count > LEAT_CAN_BYTES) count = LEAT_CAN_BYTES;
    return take_data(layout, leat_text_trim(text_between(at, end)), count, fd, options, line);
}

static bool find_time(const leat_can_layout *layout, const char *at, const char *end,
                      double *time) {
    int64_t us = 0;
    bool found = read_line_time(layout, next_word(&at, end), &us);
    *time = (double)us / SECOND_US;
    return found;
}

static void follow(leat_can_layout *layout, const char *at, const char *end) {
    leat_text inside;
    int64_t us;
    if (read_starred(text_between(at, end), &inside)) {
        read_header_line(inside, layout);
        return;
    }
    if (layout->gaps || !read_line_time(layout, next_word(&at, end), &us)) return;
    leat_text direction = next_word(&at, end); /* a damaged time must not decide those after it */
    if (is_word(direction, "Rx") || is_word(direction, "Tx")) layout->clock.last_us = us;
}

const leat_can_format_lines leat_can_busmaster = {
    .lay_out = lay_out, .parse = parse, .find_time = find_time, .follow = follow};
