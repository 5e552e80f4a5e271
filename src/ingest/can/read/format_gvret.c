/* SavvyCAN's GVRET: a csv with a header of its own, times in microseconds, and padding after the
 * bytes of a frame. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ingest/can/read/csv.h"
#include "ingest/can/read/formats.h"
#include "ingest/can/read/hints.h"
#include "ingest/can/read/labels.h"

/* "Time Stamp,ID,Extended,Dir,Bus,LEN,D1,...", in any case, with blanks around names, with or
 * without Dir. */
static bool read_header(leat_text header, leat_can_layout *layout) {
    static const char *const wanted[] = {"timestamp", "id", "extended", "dir", "bus", "len", "d1"};
    const char *at = header.data, *end = at + header.size_bytes;
    for (int i = 0; i < 7; i++) {
        char name[16] = "";
        size_t size = 0;
        for (; at < end && *at != ','; at++) {
            if (*at == ' ' || *at == '\t') continue;
            if (size + 1 == sizeof name) return false;
            name[size++] = (char)(*at >= 'A' && *at <= 'Z' ? *at | 0x20 : *at);
        }
        if (i == 3) {
            layout->direction = strcmp(name, "dir") == 0;
            if (!layout->direction) i++;
        }
        if (strcmp(name, wanted[i]) != 0) return false;
        if (at < end) at++;
    }
    return true;
}

bool leat_can_is_gvret_header(leat_text line) {
    leat_can_layout layout;
    return read_header(line, &layout);
}

/* Whether frames are less than 10 us apart, on average: no bus has so many, and the times were
 * converted to another unit. */
static bool is_too_dense(const leat_can_first_lines *of) {
    enum { ENOUGH = 16 };
    double begin_us = 0, end_us = 0;
    int count = 0;
    for (int i = 1; i < of->count; i++) {
        const char *at = of->lines[i].data, *end = at + of->lines[i].size_bytes;
        if (!read_time(leat_text_trim(until_comma(&at, end)), 0, &end_us)) continue;
        if (count++ == 0) begin_us = end_us;
    }
    return count >= ENOUGH && end_us > begin_us && end_us - begin_us < 10 * (count - 1);
}

static bool lay_out(const leat_can_first_lines *of, const leat_can_line_options *options,
                    leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]) {
    (void)options;
    *first = 1;
    if (!read_header(of->lines[0], layout)) return false;
    if (!is_too_dense(of)) return true;
    snprintf(
        why, LEAT_CAN_WHY_BYTES,
        "it has the header of gvret, whose times are microseconds, but less than 10 of them lie "
        "between its frames; name their unit with --column time=1:s (or ms)");
    return false;
}

/* A label behind the data would be skipped like padding: the columns have to be named. */
static leat_code check(leat_text header, const char *path, leat_error *err) {
    leat_can_layout layout;
    leat_text cells[LEAT_CAN_COLUMNS_MAX];
    char text[64], item[80], option[LEAT_CAN_ADVICE_BYTES];
    if (!read_header(header, &layout)) return LEAT_OK;
    int count = leat_can_split_cells(header.data, header.data + header.size_bytes, ',', cells,
                                     LEAT_CAN_COLUMNS_MAX);
    for (int i = layout.direction ? 7 : 6; i < count; i++) {
        if (leat_can_label_rank(cells[i]) < 0 && !leat_can_label_like(cells[i])) continue;
        leat_text_show(text, sizeof text, cells[i].data, cells[i].size_bytes);
        snprintf(item, sizeof item, "label=%d", i + 1);
        if (strlen(text) == (size_t)cells[i].size_bytes && strpbrk(text, ",:=+") == NULL)
            snprintf(item, sizeof item, "label=%s", text);
        leat_can_advise_column("time=1:us", item, option, sizeof option);
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\": column \"%s\" looks like a label, but gvret logs have none; read "
                         "it with %s",
                         path, text, option);
    }
    return LEAT_OK;
}

/* Time Stamp,ID,Extended,[Dir,]Bus,LEN,D1,... ; text after LEN bytes is padding. */
static leat_can_reject parse(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line) {
    leat_text fields[6];
    int wanted = layout->direction ? 6 : 5;
    for (int i = 0; i < wanted; i++) {
        if (at == NULL) return LEAT_CAN_REJECT_LINE;
        fields[i] = leat_text_trim(until_comma(&at, end));
    }
    int count = 0, bus = 0;
    bool extended = is_word_of_any_case(fields[2], "true");
    if (!extended && !is_word_of_any_case(fields[2], "false")) return LEAT_CAN_REJECT_LINE;
    if (layout->direction && !is_word_of_any_case(fields[3], "rx") &&
        !is_word_of_any_case(fields[3], "tx")) {
        return LEAT_CAN_REJECT_LINE;
    }
    if (!read_count(fields[wanted - 1], LEAT_CAN_FD_BYTES, &count)) return LEAT_CAN_REJECT_LINE;
    if (!read_time(fields[0], -6, &line->time)) return LEAT_CAN_REJECT_TIME;
    if (!leat_can_take_id(fields[1], extended, options, line)) return LEAT_CAN_REJECT_ID;
    if (!read_count(fields[wanted - 2], UINT16_MAX, &bus)) return LEAT_CAN_REJECT_BUS;
    line->bus = (uint16_t)bus;
    line->attack = false;
    if (count > 0 && at == NULL) return LEAT_CAN_REJECT_LINE;
    if (count == 0) at = end;
    return leat_can_take_bytes(at, end, ',', count, true, options, line);
}

static bool find_time(const leat_can_layout *layout, const char *at, const char *end,
                      double *time) {
    (void)layout;
    return read_time(leat_text_trim(until_comma(&at, end)), -6, time);
}

const leat_can_format_lines leat_can_gvret = {
    .lay_out = lay_out, .parse = parse, .find_time = find_time, .check = check};
