/*
 * What Kvaser's CanKing writes: a header, and a line of text for each frame. Bytes and identifiers
 * are hexadecimal or decimal numbers, as the window was set up; no line says which, but hexadecimal
 * identifiers have all eight digits, and bytes two.
 *
 *   Chn Identifier Flg   DLC  D0...1...2...3...4...5...6..D7       Time     Dir
 *    0    000007E8         8  03  59  02  FF  00  00  00  00     395.000970 R
 *    0    18FEF100 X       1  10                                 395.001200 R
 *    0    00000000            ErrorFrame                         395.095270 R
 *   Logging stopped.
 */
#include <stdio.h>

#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"

/* ---- a line --------------------------------------------------------------------------------- */

/* The parts of a line; those it does not have are empty. */
typedef struct parts {
    leat_text channel, id, flags, length, data, time, direction;
    bool error;
} parts;

static bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/* The last word of a text, which is cut off. */
static leat_text last_word(leat_text *text) {
    *text = leat_text_trim(*text);
    int begin = text->size_bytes;
    while (begin > 0 && !leat_is_blank(text->data[begin - 1])) begin--;
    leat_text word = {text->data + begin, text->size_bytes - begin};
    text->size_bytes = begin;
    return word;
}

/* Flags are words of letters between the identifier and the length. */
static parts split_line(const char *at, const char *end) {
    parts of = {{end, 0}, {end, 0}, {end, 0}, {end, 0}, {end, 0}, {end, 0}, {end, 0}, false};
    leat_text rest = text_between(at, end);
    of.direction = last_word(&rest);
    of.time = last_word(&rest);
    end = rest.data + rest.size_bytes;
    of.channel = next_word(&at, end);
    of.id = next_word(&at, end);
    leat_text word = next_word(&at, end);
    of.flags = (leat_text){word.data, 0};
    while (word.size_bytes > 0 && !is_digit(word.data[0])) {
        of.error = of.error || is_word_of_any_case(word, "errorframe");
        of.flags = text_between(of.flags.data, word.data + word.size_bytes);
        word = next_word(&at, end);
    }
    of.length = word;
    of.data = leat_text_trim(text_between(at < end ? at : end, end));
    return of;
}

/* X: 29 bits; R: a remote frame; F and B: CAN FD, and its bit rate. False: others. */
static bool read_flags(leat_text flags, bool *wide, bool *remote, bool *fd) {
    *wide = *remote = *fd = false;
    for (int i = 0; i < flags.size_bytes; i++) {
        switch (flags.data[i]) {
        case 'X':
        case 'x': *wide = true; break;
        case 'R':
        case 'r': *remote = true; break;
        case 'F':
        case 'B': *fd = true; break;
        case ' ':
        case '\t': break;
        default: return false;
        }
    }
    return true;
}

/* Two digits each, if they are hexadecimal. */
static bool are_bytes(const leat_can_layout *layout, leat_text data) {
    const char *at = data.data, *end = at + data.size_bytes;
    for (leat_text word; (word = next_word(&at, end)).size_bytes > 0;) {
        if (!leat_can_is_decimal(layout) && word.size_bytes != 2) return false;
    }
    return true;
}

/* Lines that begin with a letter: the header, and what CanKing says. */
static bool is_remark(leat_text line) {
    line = leat_text_trim(line);
    char letter = line.size_bytes > 0 ? (char)(line.data[0] | 0x20) : 0;
    return letter >= 'a' && letter <= 'z';
}

static leat_can_reject parse(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line) {
    if (is_remark(text_between(at, end))) return LEAT_CAN_REJECT_EVENT;
    const parts of = split_line(at, end);
    int bus = 0, count = 0;
    bool wide, remote, fd;
    line->attack = false;
    bool ends = is_word_of_any_case(of.direction, "r") || is_word_of_any_case(of.direction, "t");
    if (!ends) return LEAT_CAN_REJECT_LINE;
    if (memchr(of.time.data, '.', (size_t)of.time.size_bytes) == NULL ||
        !read_time(of.time, 0, &line->time))
        return LEAT_CAN_REJECT_TIME;
    if (!read_count(of.channel, UINT16_MAX, &bus)) return LEAT_CAN_REJECT_BUS;
    line->bus = (uint16_t)bus;
    if (of.error) return LEAT_CAN_REJECT_ERROR;
    if (!read_flags(of.flags, &wide, &remote, &fd)) return LEAT_CAN_REJECT_LINE;
    if (!are_digits(of.id.data, of.id.size_bytes) ||
        !leat_can_take_based_id(of.id, leat_can_is_decimal(layout), wide, options, line))
        return LEAT_CAN_REJECT_ID;
    if (remote) return LEAT_CAN_REJECT_REMOTE;
    if (!read_count(of.length, fd ? LEAT_CAN_FD_BYTES : 15, &count)) return LEAT_CAN_REJECT_LINE;
    if (!fd && count > LEAT_CAN_BYTES) count = LEAT_CAN_BYTES;
    if (options->strict && !are_bytes(layout, of.data)) return LEAT_CAN_REJECT_PAYLOAD;
    const char *data = of.data.data, *stop = data + of.data.size_bytes;
    leat_can_reject reason =
        leat_can_is_decimal(layout)
            ? leat_can_take_decimals(data, stop, count, false, options, line)
            : leat_can_take_bytes(data, stop, ' ', count, false, options, line);
    return reason == LEAT_CAN_TAKEN && fd && options->fd_refuse ? LEAT_CAN_REJECT_FD : reason;
}

static bool find_time(const leat_can_layout *layout, const char *at, const char *end,
                      double *time) {
    (void)layout;
    const parts of = split_line(at, end);
    return !is_remark(text_between(at, end)) && read_time(of.time, 0, time);
}

/* ---- the layout ----------------------------------------------------------------------------- */

static bool is_header(leat_text line) {
    static const char *const names[] = {"chn", "identifier", "flg", "dlc"};
    const char *at = line.data, *end = at + line.size_bytes;
    for (int i = 0; i < 4; i++) {
        if (!is_word_of_any_case(next_word(&at, end), names[i])) return false;
    }
    return true;
}

/* Whether a line can be read so. */
static bool is_frame(const leat_can_layout *layout, leat_text text) {
    leat_can_line_options options = {.canonical = true, .strict = true};
    leat_can_line line;
    return parse(layout, &options, text.data, text.data + text.size_bytes, &line) == LEAT_CAN_TAKEN;
}

/* Which numbers the first lines have: decimal ones if these read twice as many as hexadecimal ones,
 * and hexadecimal ones if these read more, or all identifiers have eight digits. */
static bool find_base(const leat_can_first_lines *of, int first, leat_can_layout *layout,
                      bool *sure) {
    int counts[2] = {0};
    bool full = true;
    for (int i = first; i < of->count; i++) {
        leat_can_layout as = *layout;
        bool frame = false;
        for (int base = 0; base < 2; base++) {
            as.id_unit = base == 0 ? LEAT_CAN_UNIT_HEX : LEAT_CAN_UNIT_DEC;
            bool read = is_frame(&as, of->lines[i]);
            counts[base] += read;
            frame = frame || read;
        }
        const char *at = of->lines[i].data, *end = at + of->lines[i].size_bytes;
        full = full && (!frame || split_line(at, end).id.size_bytes == 8);
    }
    bool decimal = counts[1] >= 2 * counts[0] && counts[1] > 0;
    layout->id_unit = decimal ? LEAT_CAN_UNIT_DEC : LEAT_CAN_UNIT_HEX;
    *sure = decimal || counts[0] > counts[1] || full;
    return counts[0] + counts[1] > 0;
}

static bool lay_out(const leat_can_first_lines *of, const leat_can_line_options *options,
                    leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]) {
    (void)options;
    bool sure = true, named = false;
    int i = 0;
    for (; i < of->count && is_remark(of->lines[i]); i++) {
        if (!is_header(of->lines[i])) continue;
        named = true;
        *first = i + 1; /* remarks after it are listed, as those between frames are */
    }
    if (!named) *first = i;
    if (!find_base(of, *first, layout, &sure)) return named;
    if (!sure)
        snprintf(
            why, LEAT_CAN_WHY_BYTES, "%s",
            "a log of CanKing does not say whether its numbers are hexadecimal or decimal, and "
            "its first lines fit both; save it with hexadecimal identifiers of eight digits");
    return sure && (named || *first == 0);
}

const leat_can_format_lines leat_can_canking = {
    .lay_out = lay_out, .parse = parse, .find_time = find_time};
