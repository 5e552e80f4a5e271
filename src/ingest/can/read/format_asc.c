/*
 * Vector's ASC: CANoe, CANalyzer, CANape, and what BUSMASTER and others export. After a header that
 * says in which base numbers are, and whether times count from the beginning or from the event
 * before, each line is an event: a frame, or something else, which is not one.
 *
 *   0.000864 1  385   Rx   d 8 70 00 00 00 0F 7F FF 00  Length = 239910 BitCount = 124 ID = 901
 *   0.001252 1  18FEE0D8x  Tx   r
 *   0.002588 CANFD   1 Rx   4B1  [name]  1 0 d 32 70 00 ...  duration length flags crc ...
 */
#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"

/* ---- the header ----------------------------------------------------------------------------- */

/* "base hex  timestamps absolute", in any order and case; false if it is another line. */
static bool read_base(leat_text line, leat_can_layout *layout) {
    const char *at = line.data, *end = at + line.size_bytes;
    if (!is_word_of_any_case(next_word(&at, end), "base")) return false;
    layout->id_unit =
        is_word_of_any_case(next_word(&at, end), "dec") ? LEAT_CAN_UNIT_DEC : LEAT_CAN_UNIT_HEX;
    if (is_word_of_any_case(next_word(&at, end), "timestamps"))
        layout->clock.mode = is_word_of_any_case(next_word(&at, end), "relative") ? 'R' : 'A';
    return true;
}

/* What a header has, whose dates may be of any language; other lines before the first event belong
 * to the log. */
static bool is_header(leat_text line) {
    static const char *const words[] = {"date",  "base", "internal", "no",
                                        "begin", "end",  "previous", NULL};
    const char *at = line.data, *end = at + line.size_bytes;
    leat_text word = next_word(&at, end);
    bool is = word.size_bytes > 1 && word.data[0] == '/' && word.data[1] == '/';
    for (int i = 0; words[i] != NULL; i++) is = is || is_word_of_any_case(word, words[i]);
    return is;
}

/* The header ends where the first event has a time. */
static bool is_event(leat_text line) {
    const char *at = line.data, *end = at + line.size_bytes;
    double time;
    leat_text word = next_word(&at, end);
    return memchr(word.data, '.', (size_t)word.size_bytes) != NULL && read_time(word, 0, &time);
}

static bool lay_out(const leat_can_first_lines *of, const leat_can_line_options *options,
                    leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]) {
    (void)options;
    (void)why;
    bool based = false, header = true;
    for (int i = 0; i < of->count && !is_event(of->lines[i]); i++) {
        based = read_base(of->lines[i], layout) || based;
        header = header && is_header(of->lines[i]);
        *first += header;
    }
    if (layout->clock.mode == 0) layout->clock.mode = 'A';
    layout->gaps = layout->clock.mode == 'R';
    return based;
}

/* Files that were put together have a header each, whose base holds for the lines after it. Those
 * whose times are of another kind cannot be read beside the others. */
static void follow(leat_can_layout *layout, const char *at, const char *end) {
    const char mode = layout->clock.mode;
    while (at < end && leat_is_blank(*at)) at++;
    if (at == end || (*at | 0x20) != 'b' || !read_base(text_between(at, end), layout)) return;
    layout->clock.other = layout->clock.mode != mode;
    layout->clock.mode = mode;
}

/* ---- a line --------------------------------------------------------------------------------- */

/* A whole number in the base of the file, up to `max`. */
static bool read_number(const leat_can_layout *layout, leat_text text, uint32_t max,
                        uint32_t *value) {
    if (leat_can_is_decimal(layout)) return read_decimal(text, 10, max, value);
    return read_hex(text, value) && *value <= max;
}

/* A DLC, which may be a hexadecimal digit in a decimal file, too. */
static bool read_dlc(const leat_can_layout *layout, leat_text text, uint32_t *dlc) {
    enum { DLC_MAX = 15 };
    return read_number(layout, text, DLC_MAX, dlc) || (read_hex(text, dlc) && *dlc <= DLC_MAX);
}

/* An identifier; an x behind it marks 29 bits. */
static bool take_id(const leat_can_layout *layout, leat_text text,
                    const leat_can_line_options *options, leat_can_line *line) {
    uint32_t value;
    bool wide = text.size_bytes > 1 && (text.data[text.size_bytes - 1] | 0x20) == 'x';
    leat_text number = {text.data, text.size_bytes - wide};
    if (!read_number(layout, number, LEAT_CAN_ID_29_MAX, &value)) return false;
    return leat_can_is_decimal(layout) || options->canonical
               ? leat_can_put_id(value, wide, line)
               : leat_can_take_id(number, wide, options, line);
}

static bool is_direction(leat_text word) {
    return is_word_of_any_case(word, "rx") || is_word_of_any_case(word, "tx");
}

/* `count` data bytes in the base of the file; more text may follow. */
static leat_can_reject take_data(const leat_can_layout *layout, const char *at, const char *end,
                                 int count, const leat_can_line_options *options,
                                 leat_can_line *line) {
    return leat_can_is_decimal(layout)
               ? leat_can_take_decimals(at, end, count, true, options, line)
               : leat_can_take_bytes(at, end, ' ', count, true, options, line);
}

/* channel identifier direction d|r [dlc bytes]; `word` is the channel. */
static leat_can_reject take_classic(const leat_can_layout *layout, leat_text word, const char *at,
                                    const char *end, const leat_can_line_options *options,
                                    leat_can_line *line) {
    int channel = 0, count = 0;
    uint32_t dlc = 0;
    if (!read_count(word, UINT16_MAX, &channel)) return LEAT_CAN_REJECT_EVENT;
    leat_text id = next_word(&at, end), direction = next_word(&at, end);
    if (is_word_of_any_case(id, "errorframe")) return LEAT_CAN_REJECT_ERROR;
    if (!is_direction(direction)) return LEAT_CAN_REJECT_EVENT; /* also TxRq: what is to be sent */
    line->bus = (uint16_t)channel;
    if (!take_id(layout, id, options, line)) return LEAT_CAN_REJECT_ID;
    leat_text kind = next_word(&at, end);
    if (is_word_of_any_case(kind, "r")) return LEAT_CAN_REJECT_REMOTE;
    if (!is_word_of_any_case(kind, "d") || !read_dlc(layout, next_word(&at, end), &dlc))
        return LEAT_CAN_REJECT_LINE;
    count = dlc < LEAT_CAN_BYTES ? (int)dlc : LEAT_CAN_BYTES;
    while (at < end && leat_is_blank(*at)) at++;
    return take_data(layout, at, end, count, options, line);
}

/* channel direction identifier [name] brs esi dlc length bytes duration length flags ... */
static leat_can_reject take_fd(const leat_can_layout *layout, const char *at, const char *end,
                               const leat_can_line_options *options, leat_can_line *line) {
    enum { FLAG_REMOTE = 0x10 };
    int channel = 0, bit = 0, count = 0;
    uint32_t dlc = 0, flags = 0;
    if (!read_count(next_word(&at, end), UINT16_MAX, &channel)) return LEAT_CAN_REJECT_EVENT;
    leat_text direction = next_word(&at, end), id = next_word(&at, end);
    if (!is_direction(direction)) return LEAT_CAN_REJECT_EVENT;
    if (is_word_of_any_case(id, "errorframe")) return LEAT_CAN_REJECT_ERROR;
    line->bus = (uint16_t)channel;
    if (!take_id(layout, id, options, line)) return LEAT_CAN_REJECT_ID;
    leat_text word = next_word(&at, end);
    if (!is_word(word, "0") && !is_word(word, "1")) word = next_word(&at, end); /* behind a name */
    if (!read_count(word, 1, &bit) || !read_count(next_word(&at, end), 1, &bit) ||
        !read_dlc(layout, next_word(&at, end), &dlc) ||
        !read_count(next_word(&at, end), LEAT_CAN_FD_BYTES, &count))
        return LEAT_CAN_REJECT_LINE;
    while (at < end && leat_is_blank(*at)) at++;
    const char *behind = at;
    for (int i = 0; i < count + 2; i++) next_word(&behind, end);
    if (count == 0 && read_hex(next_word(&behind, end), &flags) && (flags & FLAG_REMOTE) != 0)
        return LEAT_CAN_REJECT_REMOTE;
    return take_data(layout, at, end, count, options, line);
}

static leat_can_reject parse(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line) {
    leat_text word = next_word(&at, end);
    line->attack = false;
    line->bus = 0;
    if (memchr(word.data, '.', (size_t)word.size_bytes) == NULL) return LEAT_CAN_REJECT_EVENT;
    if (layout->clock.other || !read_time(word, 0, &line->time)) return LEAT_CAN_REJECT_TIME;
    word = next_word(&at, end);
    if (is_word_of_any_case(word, "canfd")) return take_fd(layout, at, end, options, line);
    return take_classic(layout, word, at, end, options, line);
}

static bool find_time(const leat_can_layout *layout, const char *at, const char *end,
                      double *time) {
    return !layout->clock.other && read_time(next_word(&at, end), 0, time);
}

const leat_can_format_lines leat_can_asc = {
    .lay_out = lay_out, .parse = parse, .find_time = find_time, .follow = follow};
