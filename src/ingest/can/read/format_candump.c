/* candump: the logs of -l, also with the direction of -x, and with label columns at the end; and
 * what it shows on a terminal with a time (-ta, -tA, -tz, -td). Interfaces are numbered in the
 * order in which they appear. */
#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"

/* (time) interface frame [direction]: the text of *at up to a blank; candump does not use tabs. */
static inline leat_text until_blank(const char **at, const char *end) {
    while (*at < end && **at == ' ') (*at)++;
    const char *begin = *at, *blank = memchr(begin, ' ', (size_t)(end - begin));
    *at = blank != NULL ? blank : end;
    return text_between(begin, *at);
}

/* Its time and interface; *at moves past them. */
static inline bool read_candump(const char **at, const char *end, leat_text *time,
                                leat_text *name) {
    const char *begin = *at;
    while (begin < end && *begin == ' ') begin++; /* as on a terminal */
    if (begin == end || *begin != '(') return false;
    const char *close = memchr(begin, ')', (size_t)(end - begin));
    if (close == NULL) return false;
    *time = text_between(begin + 1, close);
    *at = close + 1;
    *name = until_blank(at, end);
    return name->size_bytes > 0;
}

static void note_buses(leat_can_layout *layout, const char *text, const char *end) {
    for (const char *at = text; at < end;) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed != NULL ? feed : end;
        leat_text time, name;
        if (read_candump(&at, stop, &time, &name)) leat_can_note_bus(&layout->buses, name);
        at = stop + 1;
    }
}

static leat_text rest_of(const char *at, const char *end) {
    leat_text time, name;
    if (!read_candump(&at, end, &time, &name)) return (leat_text){NULL, 0};
    leat_text frame = until_blank(&at, end);
    if (memchr(frame.data, '#', (size_t)frame.size_bytes) == NULL) return (leat_text){NULL, 0};
    return text_between(at, end);
}

static bool lay_out(const leat_can_first_lines *of, const leat_can_line_options *options,
                    leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]) {
    (void)first;
    (void)why;
    leat_can_note_trailing(of, options, rest_of, true, false, layout);
    for (int i = 0; i < of->count; i++)
        note_buses(layout, of->lines[i].data, of->lines[i].data + of->lines[i].size_bytes);
    return true;
}

/* Seconds, or a date and time (-tA). */
static inline bool take_time(leat_text text, double *time) {
    bool date = text.size_bytes > 5 && text.data[4] == '-';
    return date ? leat_can_read_date(text, time) : read_time(text, 0, time);
}

/* On a terminal: [RX|TX flags flags] identifier [count] bytes ['letters'|remote request], where the
 * count has two digits for CAN-FD. `word` is the first of these words. False: it is none. */
static bool take_shown(leat_text word, const char *at, const char *end,
                       const leat_can_line_options *options, leat_can_line *line,
                       leat_can_reject *reason) {
    if (is_word(word, "RX") || is_word(word, "TX")) {
        until_blank(&at, end);
        until_blank(&at, end);
        word = until_blank(&at, end);
    }
    leat_text length = until_blank(&at, end);
    int count = 0, size = length.size_bytes;
    uint32_t value = 0;
    if (size < 3 || length.data[0] != '[' || length.data[size - 1] != ']') return false;
    if (!read_count((leat_text){length.data + 1, size - 2}, LEAT_CAN_FD_BYTES, &count))
        return false;
    const bool fd = size == 4, wide = word.size_bytes == 8;
    *reason = LEAT_CAN_REJECT_ID;
    if ((word.size_bytes != 3 && !wide) || !read_hex(word, &value)) return true;
    *reason = LEAT_CAN_REJECT_ERROR;
    if (value > LEAT_CAN_ID_29_MAX && value <= (LEAT_CAN_ID_ERROR | LEAT_CAN_ID_29_MAX))
        return true;
    *reason = LEAT_CAN_REJECT_ID;
    if (!leat_can_take_id(word, wide, options, line)) return true;
    while (at < end && *at == ' ') at++;
    leat_text rest = leat_text_trim(text_between(at, end));
    *reason = LEAT_CAN_REJECT_REMOTE;
    if (is_word(rest, "remote request")) return true;
    *reason = LEAT_CAN_REJECT_FD;
    if (fd && options->fd_refuse) return true;
    /* letters (-a) stand between apostrophes, and may contain any */
    const char *quote = memchr(rest.data, '\'', (size_t)rest.size_bytes);
    if (quote != NULL) rest = leat_text_trim(text_between(rest.data, quote));
    *reason = leat_can_take_bytes(rest.data, rest.data + rest.size_bytes, ' ', count, false,
                                  options, line);
    return true;
}

/* Data bytes: pairs, optionally separated by full stops, as cansend accepts them; after eight of
 * them a DLC above 8 may be written as "_9".."_F". */
static leat_can_reject take_data(leat_text data, bool fd, const leat_can_line_options *options,
                                 leat_can_line *line) {
    char pairs[2 * LEAT_CAN_FD_BYTES];
    if (!fd && data.size_bytes > 2 && data.data[data.size_bytes - 2] == '_' &&
        digit_of(data.data[data.size_bytes - 1]) > 8) {
        data.size_bytes -= 2;
    }
    bool stops = data.size_bytes > 2 && data.size_bytes % 3 == 2 &&
                 data.size_bytes < 3 * LEAT_CAN_FD_BYTES && data.data[2] == '.';
    for (int i = 2; stops && i < data.size_bytes; i += 3) stops = data.data[i] == '.';
    if (stops) {
        int count = (data.size_bytes + 1) / 3;
        for (int i = 0; i < count; i++) memcpy(pairs + 2 * i, data.data + 3 * i, 2);
        data = (leat_text){pairs, 2 * count};
    }
    return leat_can_take_run(data, fd, options, line);
}

/* identifier#data, identifier##flags data (CAN-FD), identifier#R (a remote frame) */
static leat_can_reject take_frame(leat_text frame, const leat_can_line_options *options,
                                  leat_can_line *line) {
    const char *end = frame.data + frame.size_bytes;
    const char *sharp = memchr(frame.data, '#', (size_t)frame.size_bytes);
    if (sharp == NULL) return LEAT_CAN_REJECT_LINE;
    leat_text id = text_between(frame.data, sharp);
    uint32_t value = 0;
    if ((id.size_bytes != 3 && id.size_bytes != 8) || !read_hex(id, &value)) {
        return LEAT_CAN_REJECT_ID;
    }
    if (value > LEAT_CAN_ID_29_MAX && value <= (LEAT_CAN_ID_ERROR | LEAT_CAN_ID_29_MAX))
        return LEAT_CAN_REJECT_ERROR;
    if (!leat_can_take_id(id, id.size_bytes == 8, options, line)) return LEAT_CAN_REJECT_ID;
    const char *at = sharp + 1;
    if (at < end && (*at == 'R' || *at == 'r')) return LEAT_CAN_REJECT_REMOTE;
    bool fd = at < end && *at == '#';
    if (fd) {
        if (end - at < 2 || digit_of(at[1]) < 0) return LEAT_CAN_REJECT_LINE;
        at += 2;
    }
    return take_data(text_between(at, end), fd, options, line);
}

static leat_can_reject parse(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line) {
    leat_text time, name;
    if (!read_candump(&at, end, &time, &name)) return LEAT_CAN_REJECT_LINE;
    leat_text frame = until_blank(&at, end);
    leat_can_reject label = LEAT_CAN_TAKEN, shown = LEAT_CAN_TAKEN;
    const bool logged = memchr(frame.data, '#', (size_t)frame.size_bytes) != NULL;
    if (logged) {
        leat_text rest = leat_text_trim(text_between(at, end)); /* candump -x adds the direction */
        label = leat_can_take_trailing(rest, layout->trailing_labels, true, options, line);
        if (label == LEAT_CAN_REJECT_LINE) return label;
    } else {
        line->attack = false;
        if (!take_shown(frame, at, end, options, line, &shown)) return LEAT_CAN_REJECT_LINE;
    }
    if (!take_time(time, &line->time)) return LEAT_CAN_REJECT_TIME;
    if (!find_bus(&layout->buses, name, &line->bus)) return LEAT_CAN_REJECT_BUS;
    if (!logged) return shown;
    leat_can_reject reason = take_frame(frame, options, line);
    return reason == LEAT_CAN_TAKEN ? label : reason;
}

static bool find_time(const leat_can_layout *layout, const char *at, const char *end,
                      double *time) {
    (void)layout;
    leat_text cell = {NULL, 0}, name;
    (void)read_candump(&at, end, &cell, &name);
    return cell.data != NULL && take_time(cell, time);
}

static leat_text find_label(const leat_can_layout *layout, const char *at, const char *end) {
    return leat_can_find_trailing(layout, at, end, rest_of, true);
}

const leat_can_format_lines leat_can_candump = {.lay_out = lay_out,
                                                .parse = parse,
                                                .find_time = find_time,
                                                .find_label = find_label,
                                                .note_buses = note_buses};
