/*
 * CSS Electronics' CL1000, CL2000 and CL3000. A preamble says how times are written, and when the
 * log began; then a table with a header follows. Times are dates without separators, or with those
 * that the preamble names, and may lack the year, the month or the day.
 *
 *   # Time: 20200611T081712
 *   # Value separator: ";"
 *   # Time format: 4
 *   Timestamp;Type;ID;Data
 *   11T081712003;1;18fef100;200000005f7fffaa
 *
 * Without its preamble such a table is read if its times have a T. Others may be numbers of any
 * kind, and are a csv.
 */
#include <stdio.h>

#include "base/time.h"
#include "ingest/can/read/csv.h"
#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"

#define SECOND_US INT64_C(1000000)
#define DAY_US (86400 * SECOND_US)

/* How a table is written. */
typedef struct table {
    int form;  /* what times lack: leat_can_lack, UNUSABLE, or NOT_SAID */
    char part; /* 0: not said */
    int64_t begin_us;
    bool dated;
} table;

/* Times by what they lack: YYYYMMDDhhmmsskkk without the first fields, and the number that the
 * preamble has for it. */
static const struct form {
    int digits, number;
} forms[] = {
    [LEAT_CAN_LACK_NOTHING] = {17, 6},
    [LEAT_CAN_LACK_YEAR] = {13, 5},
    [LEAT_CAN_LACK_MONTH] = {11, 4},
    [LEAT_CAN_LACK_DAY] = {9, 3},
};
enum { FORMS = sizeof forms / sizeof *forms, UNUSABLE = FORMS, NOT_SAID, DIGITS_MAX = 17 };

/* ---- times ---------------------------------------------------------------------------------- */

/* The digits of a time, right-aligned in a complete one whose other digits are 0; how many, or 0:
 * it is none. */
static int align_digits(leat_text text, char digits[DIGITS_MAX + 1]) {
    int count = 0;
    memset(digits, '0', DIGITS_MAX);
    for (int i = text.size_bytes - 1; i >= 0; i--) {
        char letter = text.data[i];
        bool is_letter = (letter | 0x20) >= 'a' && (letter | 0x20) <= 'z';
        if (letter >= '0' && letter <= '9') {
            if (count == DIGITS_MAX) return 0;
            digits[DIGITS_MAX - ++count] = letter;
        } else if (is_letter && letter != 'T') {
            return 0;
        }
    }
    return count;
}

static int number_at(const char *digits, int at, int count) {
    int value = 0;
    for (int i = 0; i < count; i++) value = value * 10 + (digits[at + i] - '0');
    return value;
}

static bool read_moment(const char *digits, leat_can_moment *moment) {
    int hour = number_at(digits, 8, 2), minute = number_at(digits, 10, 2);
    int second = number_at(digits, 12, 2), ms = number_at(digits, 14, 3);
    *moment = (leat_can_moment){.year = number_at(digits, 0, 4),
                                .month = number_at(digits, 4, 2),
                                .day = number_at(digits, 6, 2),
                                .day_us = (hour * 3600 + minute * 60 + second) * SECOND_US +
                                          ms * INT64_C(1000)};
    return hour < 24 && minute < 60 && second < 60;
}

static bool read_cell_time(const leat_can_layout *layout, leat_text cell, int64_t *us) {
    const leat_can_clock *clock = &layout->clock;
    char digits[DIGITS_MAX + 1];
    leat_can_moment moment;
    if (clock->other || align_digits(cell, digits) != forms[clock->lack].digits ||
        !read_moment(digits, &moment))
        return false;
    if (clock->lack <= LEAT_CAN_LACK_YEAR && (moment.month < 1 || moment.month > 12)) return false;
    *us = moment.day_us;
    return layout->gaps || leat_can_complete_time(clock, &moment, us);
}

/* ---- the preamble and the header ------------------------------------------------------------ */

/* "# Time: 20200611T081712"; false: it is no line of a preamble. */
static bool read_preamble_line(leat_text line, table *of) {
    line = leat_text_trim(line);
    if (line.size_bytes == 0 || line.data[0] != '#') return false;
    const char *colon = memchr(line.data, ':', (size_t)line.size_bytes);
    const char *end = line.data + line.size_bytes;
    if (colon == NULL) return true;
    leat_text key = leat_text_trim(text_between(line.data + 1, colon)),
              value = leat_text_trim(text_between(colon + 1, end));
    char digits[DIGITS_MAX + 1];
    leat_can_moment moment;
    uint32_t number;
    if (is_word(key, "Value separator") && value.size_bytes == 3) of->part = value.data[1];
    if (is_word(key, "Time format") && read_decimal(value, 2, 99, &number)) {
        of->form = UNUSABLE;
        for (int i = 0; i < FORMS; i++) {
            if (forms[i].number == (int)number) of->form = i;
        }
    }
    if (is_word(key, "Time") && align_digits(value, digits) == 14) {
        memmove(digits, digits + 3, 14);
        memset(digits + 14, '0', 3);
        of->dated = read_moment(digits, &moment) && moment.month >= 1 && moment.month <= 12 &&
                    moment.day >= 1 &&
                    moment.day <= leat_time_month_days(moment.year, moment.month);
        if (of->dated)
            of->begin_us =
                leat_time_days(moment.year, moment.month, moment.day) * DAY_US + moment.day_us;
    }
    return true;
}

static bool is_header(leat_text line) {
    line = leat_text_trim(line);
    return line.size_bytes > 9 && memcmp(line.data, "Timestamp", 9) == 0;
}

/* The columns of "Timestamp;Lost;Type;ID;Length;Data"; false if one is not known, or lacks. */
static bool read_columns(leat_text line, leat_can_layout *layout) {
    static const struct {
        const char *name;
        int8_t column;
    } known[] = {
        {"Timestamp", LEAT_CAN_COLUMN_TIME}, {"Type", LEAT_CAN_COLUMN_EXTENDED},
        {"ID", LEAT_CAN_COLUMN_ID},          {"Data", LEAT_CAN_COLUMN_PAYLOAD},
        {"Length", LEAT_CAN_COLUMN_DLC},     {"Lost", LEAT_CAN_COLUMN_OTHER},
    };
    enum { KNOWN = sizeof known / sizeof *known, NEEDED = 4 };
    leat_text cells[KNOWN];
    int seen[KNOWN] = {0};
    int count =
        leat_can_split_cells(line.data, line.data + line.size_bytes, layout->part, cells, KNOWN);
    for (int i = 0; i < count; i++) {
        int at = 0;
        while (at < KNOWN && !is_word(cells[i], known[at].name)) at++;
        if (at == KNOWN || seen[at]++ > 0) return false;
        layout->column[i] = known[at].column;
    }
    layout->column_count = count;
    for (int i = 0; i < NEEDED; i++) {
        if (seen[i] == 0) return false;
    }
    return count > 0;
}

/* By the digits of the first row's time, where no preamble says it. */
static int find_form(const leat_can_layout *layout, leat_text row, bool preamble) {
    leat_text cells[LEAT_CAN_COLUMNS_MAX];
    char digits[DIGITS_MAX + 1];
    int count = leat_can_split_cells(row.data, row.data + row.size_bytes, layout->part, cells,
                                     LEAT_CAN_COLUMNS_MAX);
    for (int i = 0; i < layout->column_count && i < count; i++) {
        if (layout->column[i] != LEAT_CAN_COLUMN_TIME) continue;
        int size = align_digits(cells[i], digits);
        if (!preamble && memchr(cells[i].data, 'T', (size_t)cells[i].size_bytes) == NULL) break;
        for (int form = 0; form < FORMS; form++) {
            if (forms[form].digits == size) return form;
        }
    }
    return UNUSABLE;
}

static bool refuse(bool preamble, const char *what, char why[LEAT_CAN_WHY_BYTES]) {
    if (preamble) snprintf(why, LEAT_CAN_WHY_BYTES, "a log of a CL2000 %s", what);
    return false;
}

static bool lay_out(const leat_can_first_lines *of, const leat_can_line_options *options,
                    leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]) {
    (void)options;
    table found = {.form = NOT_SAID};
    while (*first < of->count && read_preamble_line(of->lines[*first], &found)) ++*first;
    bool preamble = *first > 0 && (found.part != 0 || found.form != NOT_SAID);
    if ((*first > 0 && !preamble) || *first == of->count) return false;
    leat_text header = leat_text_trim(of->lines[*first]);
    layout->part = found.part;
    if (found.part == 0 && is_header(header)) layout->part = header.data[9];
    if (!is_header(header) || !read_columns(header, layout))
        return refuse(preamble,
                      "needs the columns Timestamp, Type, ID and Data; others than Lost and Length "
                      "are not known",
                      why);
    ++*first;
    if (found.form == NOT_SAID)
        found.form = *first < of->count ? find_form(layout, of->lines[*first], preamble) : UNUSABLE;
    if (found.form == UNUSABLE)
        return refuse(preamble,
                      "needs \"# Time format:\" 3 or more: times without hours do not say when a "
                      "frame was sent",
                      why);
    layout->named = true;
    layout->id_unit = LEAT_CAN_UNIT_HEX;
    layout->clock = (leat_can_clock){.lack = (leat_can_lack)found.form,
                                     .dated = found.dated,
                                     .last_us = found.dated ? found.begin_us : 0};
    /* a time is up to an hour before the one before: never on the day before the first */
    if (!found.dated && found.form == LEAT_CAN_LACK_DAY) layout->clock.last_us = 3600 * SECOND_US;
    return true;
}

/* ---- a row ---------------------------------------------------------------------------------- */

/* The cells of a row by their meaning; false: it has more or fewer. */
static bool cut_row(const leat_can_layout *layout, const char *at, const char *end,
                    leat_text cells[LEAT_CAN_COLUMN_KINDS]) {
    leat_text row[LEAT_CAN_COLUMNS_MAX];
    int count = leat_can_split_cells(at, end, layout->part, row, LEAT_CAN_COLUMNS_MAX);
    for (int i = 0; i < LEAT_CAN_COLUMN_KINDS; i++) cells[i] = (leat_text){end, 0};
    for (int i = 0; i < count && i < layout->column_count; i++) cells[layout->column[i]] = row[i];
    return count == layout->column_count;
}

/* 0 and 1 are received frames, 8 and 9 those that the logger has sent. */
static bool read_type(leat_text cell, bool *extended) {
    *extended = is_word(cell, "1") || is_word(cell, "9");
    return *extended || is_word(cell, "0") || is_word(cell, "8");
}

/* Frames of more than 9 bytes, of CAN FD, are only in files that other loggers' converters make;
 * some of these write the length as a hexadecimal number. */
static bool is_length(leat_text cell, int bytes) {
    uint32_t value;
    int count;
    return (read_count(cell, LEAT_CAN_FD_BYTES, &count) && count == bytes) ||
           (read_hex(cell, &value) && value == (uint32_t)bytes);
}

static leat_can_reject parse(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line) {
    leat_text cells[LEAT_CAN_COLUMN_KINDS];
    table found = {0};
    int64_t us;
    uint32_t id;
    bool wide;
    if (read_preamble_line(text_between(at, end), &found) || is_header(text_between(at, end)))
        return LEAT_CAN_REJECT_EVENT;
    line->attack = false;
    line->bus = 0;
    if (!cut_row(layout, at, end, cells)) return LEAT_CAN_REJECT_LINE;
    if (!read_cell_time(layout, cells[LEAT_CAN_COLUMN_TIME], &us)) return LEAT_CAN_REJECT_TIME;
    line->time = (double)us / SECOND_US;
    if (!read_type(cells[LEAT_CAN_COLUMN_EXTENDED], &wide)) return LEAT_CAN_REJECT_LINE;
    if (!read_hex(cells[LEAT_CAN_COLUMN_ID], &id) || (!wide && id > LEAT_CAN_ID_11_MAX) ||
        id > LEAT_CAN_ID_29_MAX ||
        !leat_can_take_id(cells[LEAT_CAN_COLUMN_ID], wide, options, line))
        return LEAT_CAN_REJECT_ID;
    leat_text data = cells[LEAT_CAN_COLUMN_PAYLOAD], length = cells[LEAT_CAN_COLUMN_DLC];
    if (memchr(layout->column, LEAT_CAN_COLUMN_DLC, (size_t)layout->column_count) != NULL &&
        !is_length(length, data.size_bytes / 2))
        return LEAT_CAN_REJECT_LINE;
    return leat_can_take_run(data, false, options, line);
}

static bool find_time(const leat_can_layout *layout, const char *at, const char *end,
                      double *time) {
    leat_text cells[LEAT_CAN_COLUMN_KINDS];
    int64_t us = 0;
    (void)cut_row(layout, at, end, cells);
    bool found = read_cell_time(layout, cells[LEAT_CAN_COLUMN_TIME], &us);
    *time = (double)us / SECOND_US;
    return found;
}

/* Files that were put together: a later preamble has another date, or says that what follows it is
 * written otherwise. */
static void follow_header(leat_can_layout *layout, leat_text line, const table *found) {
    leat_can_clock *clock = &layout->clock;
    if (is_header(line)) {
        leat_can_layout other = *layout;
        bool same = read_columns(line, &other) && other.column_count == layout->column_count &&
                    memcmp(other.column, layout->column, sizeof other.column) == 0;
        clock->other = clock->other || !same;
        return;
    }
    if (found->form != NOT_SAID) clock->other = found->form != (int)clock->lack;
    if (found->dated && clock->dated) clock->last_us = found->begin_us;
}

static void follow(leat_can_layout *layout, const char *at, const char *end) {
    leat_text cells[LEAT_CAN_COLUMN_KINDS], line = text_between(at, end);
    table found = {.form = NOT_SAID};
    int64_t us;
    bool wide;
    if (read_preamble_line(line, &found) || is_header(line)) {
        follow_header(layout, line, &found);
        return;
    }
    /* a damaged time must not decide those after it */
    if (layout->gaps || !cut_row(layout, at, end, cells) ||
        !read_type(cells[LEAT_CAN_COLUMN_EXTENDED], &wide) ||
        !read_cell_time(layout, cells[LEAT_CAN_COLUMN_TIME], &us))
        return;
    layout->clock.last_us = us;
}

const leat_can_format_lines leat_can_cl2000 = {
    .lay_out = lay_out, .parse = parse, .find_time = find_time, .follow = follow};
