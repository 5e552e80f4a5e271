/*
 * PEAK's trace files (.trc) of versions 1.0 to 2.1: PCAN-View, PCAN-Explorer, PCAN-Trace, and what
 * python-can writes. Lines that begin with a semicolon are comments; those at the beginning say the
 * version and, from 2.0 on, the columns. Times are milliseconds since the beginning of the trace,
 * whose date is not used.
 *
 *   1)      1059.9  Rx         0300  7  00 00 00 00 04 00 00                      (1.1)
 *   5      1334.416 FD 1      0500 Tx -  9    01 02 03 04 05 06 07 08 09 0A 0B 0C (2.1)
 *
 * Four digits are an identifier of 11 bits, eight one of 29. Some writers fill all of them up to
 * eight: where the first lines have such ones up to 7FF, and none of four digits, the width says
 * nothing.
 */
#include <stdio.h>

#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"

/* The letters of 2.x for the columns, of which layout->column has one each; those of 1.x have the
 * same meanings, but for their type, which is in the place of the direction. */
typedef struct version {
    const char *name, *columns; /* NULL: the header says */
} version;
static const version versions[] = {
    {"1.0", "NOIlD"},    {"1.1", "NOdIlD"}, {"1.2", "NOBdIlD"},
    {"1.3", "NOBdIRlD"}, {"2.0", NULL},     {"2.1", NULL},
};
enum { VERSIONS = sizeof versions / sizeof *versions };

static bool is_comment(leat_text line) {
    const char *at = line.data, *end = at + line.size_bytes;
    leat_text word = next_word(&at, end);
    return word.size_bytes > 0 && word.data[0] == ';';
}

static bool has_column(const leat_can_layout *layout, char letter) {
    for (int i = 0; i < layout->column_count; i++) {
        if (layout->column[i] == letter) return true;
    }
    return false;
}

/* ---- the header ----------------------------------------------------------------------------- */

/* What is after ";$NAME=", without blanks; false if it is another line. */
static bool read_key(leat_text line, const char *name, leat_text *value) {
    line = leat_text_trim(line);
    int size = (int)strlen(name);
    if (line.size_bytes < size || memcmp(line.data, name, (size_t)size) != 0) return false;
    *value = leat_text_trim((leat_text){line.data + size, line.size_bytes - size});
    return true;
}

static void set_columns(const char *letters, leat_can_layout *layout) {
    layout->column_count = (int32_t)strlen(letters);
    for (int i = 0; i < layout->column_count; i++) layout->column[i] = (int8_t)letters[i];
}

/* "N,O,T,B,I,d,R,L,D": known letters, each once; the bytes are last, and the type, which says what
 * the others are, comes before all but number and time. */
static bool read_columns(leat_text list, leat_can_layout *layout) {
    static const char known[] = "NOTBIdRLlD";
    char letters[sizeof known] = "";
    int count = 0;
    const char *at = list.data, *end = at + list.size_bytes;
    while (at != NULL) {
        leat_text letter = leat_text_trim(until_comma(&at, end));
        if (letter.size_bytes != 1 || count == (int)sizeof known - 1) return false;
        if (letter.data[0] == 0 || strchr(known, letter.data[0]) == NULL) return false;
        if (strchr(letters, letter.data[0]) != NULL) return false;
        letters[count++] = letter.data[0];
    }
    set_columns(letters, layout);
    bool begins = strncmp(letters, "NOT", 3) == 0 || strncmp(letters, "OT", 2) == 0;
    return begins && letters[count - 1] == 'D' && strchr(letters, 'I') != NULL &&
           has_column(layout, 'L') != has_column(layout, 'l');
}

/* Reads the comments before the first line; false if they are not those of a trace. Only the first
 * version has traces that do not name it (`named`). */
static bool read_header(const leat_can_first_lines *of, leat_can_layout *layout, int *first,
                        bool *named, char why[LEAT_CAN_WHY_BYTES]) {
    leat_text name = {"1.0", 3}, columns = {NULL, 0};
    int i = 0;
    *named = false;
    for (; *first < of->count && is_comment(of->lines[*first]); (*first)++) {
        leat_text line = of->lines[*first];
        if (read_key(line, ";$FILEVERSION=", &name)) *named = true;
        else read_key(line, ";$COLUMNS=", &columns);
    }
    while (i < VERSIONS && !is_word(name, versions[i].name)) i++;
    if (*first == 0) return false;
    if (i == VERSIONS) {
        char shown[32];
        leat_text_show(shown, sizeof shown, name.data, name.size_bytes);
        snprintf(why, LEAT_CAN_WHY_BYTES,
                 "version %s of PEAK's trace files is not read (1.0 to 2.1); save it as 2.1",
                 shown);
        return false;
    }
    if (versions[i].columns != NULL) {
        set_columns(versions[i].columns, layout);
        return true;
    }
    if (columns.data != NULL && read_columns(columns, layout)) return true;
    snprintf(why, LEAT_CAN_WHY_BYTES,
             "a trace of PEAK of version %s needs a line \";$COLUMNS=\" with known columns: N, O, "
             "T, B, I, d, R, L or l, and D",
             versions[i].name);
    return false;
}

/* ---- a line --------------------------------------------------------------------------------- */

/* The columns of a line that are used; what it does not have is empty. */
typedef struct trace_line {
    leat_text number, time, type, bus, id, direction, length;
    const char *data; /* up to the line's end */
} trace_line;

static void split_line(const leat_can_layout *layout, const char *at, const char *end,
                       trace_line *out) {
    *out = (trace_line){.data = end};
    for (int i = 0; i < layout->column_count; i++) {
        leat_text word = {end, 0};
        while (at < end && leat_is_blank(*at)) at++;
        if (layout->column[i] == 'D') out->data = at;
        else word = next_word(&at, end);
        switch (layout->column[i]) {
        case 'N': out->number = word; break;
        case 'O': out->time = word; break;
        case 'T': out->type = word; break;
        case 'B': out->bus = word; break;
        case 'I': out->id = word; break;
        case 'd': out->direction = word; break;
        case 'L':
        case 'l': out->length = word; break;
        default: break; /* R, which is reserved, and the bytes */
        }
    }
}

/* "5", and in 1.x "5)". */
static bool is_number(const leat_can_layout *layout, leat_text text) {
    bool closed = text.size_bytes > 0 && text.data[text.size_bytes - 1] == ')';
    int digits = text.size_bytes - closed;
    for (int i = 0; i < digits; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return false;
    }
    return digits > 0 && closed != has_column(layout, 'T');
}

/* What the type of 2.x says of a line. */
static leat_can_reject read_type(leat_text type, bool *fd) {
    static const char *const fd_types[] = {"FD", "FB", "FE", "BI"};
    static const char *const events[] = {"ST", "EC", "EV"};
    for (int i = 0; i < 4; i++) *fd = *fd || is_word(type, fd_types[i]);
    if (*fd || is_word(type, "DT")) return LEAT_CAN_TAKEN;
    for (int i = 0; i < 3; i++) {
        if (is_word(type, events[i])) return LEAT_CAN_REJECT_EVENT;
    }
    if (is_word(type, "ER")) return LEAT_CAN_REJECT_ERROR;
    return is_word(type, "RR") ? LEAT_CAN_REJECT_REMOTE : LEAT_CAN_REJECT_LINE;
}

/* The same of the types of 1.x, and of words in the place of the bytes. */
static leat_can_reject read_old_type(const leat_can_layout *layout, const trace_line *of,
                                     const char *end) {
    const char *at = of->data;
    leat_text word = next_word(&at, end), type = of->direction;
    if (is_word(type, "Warng") || is_word(of->id, "FFFFFFFF")) return LEAT_CAN_REJECT_EVENT;
    if (is_word(type, "Error") || is_word(word, "ERROR")) return LEAT_CAN_REJECT_ERROR;
    if (has_column(layout, 'd') && !is_word(type, "Rx") && !is_word(type, "Tx"))
        return LEAT_CAN_REJECT_LINE;
    return is_word(word, "RTR") ? LEAT_CAN_REJECT_REMOTE : LEAT_CAN_TAKEN;
}

static bool take_id(const leat_can_layout *layout, leat_text id,
                    const leat_can_line_options *options, leat_can_line *line) {
    enum { NARROW_DIGITS = 4 };
    uint32_t value;
    bool wide = id.size_bytes > NARROW_DIGITS;
    if (!read_hex(id, &value)) return false;
    if (layout->id_padded && !wide) return false; /* the width says something after all */
    return leat_can_take_id(id, wide && !layout->id_padded, options, line);
}

static leat_can_reject parse(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line) {
    if (is_comment(text_between(at, end))) return LEAT_CAN_REJECT_EVENT;
    trace_line of;
    int bus = 0, count = 0;
    bool fd = false, typed = has_column(layout, 'T');
    split_line(layout, at, end, &of);
    line->attack = false;
    if (has_column(layout, 'N') && !is_number(layout, of.number)) return LEAT_CAN_REJECT_LINE;
    if (!read_time(of.time, -3, &line->time)) return LEAT_CAN_REJECT_TIME;
    leat_can_reject kind = typed ? read_type(of.type, &fd) : read_old_type(layout, &of, end);
    if (kind != LEAT_CAN_TAKEN) return kind;
    if (has_column(layout, 'd') && !is_word(of.direction, "Rx") && !is_word(of.direction, "Tx"))
        return LEAT_CAN_REJECT_LINE;
    if (has_column(layout, 'B') && !read_count(of.bus, UINT16_MAX, &bus))
        return LEAT_CAN_REJECT_BUS;
    line->bus = (uint16_t)bus;
    if (!take_id(layout, of.id, options, line)) return LEAT_CAN_REJECT_ID;
    if (!read_count(of.length, has_column(layout, 'l') && fd ? LEAT_CAN_FD_BYTES : 15, &count))
        return LEAT_CAN_REJECT_LINE;
    if (fd && has_column(layout, 'L')) count = leat_can_fd_length(count);
    if (!fd && count > LEAT_CAN_BYTES) count = LEAT_CAN_BYTES;
    leat_text data = leat_text_trim(text_between(of.data, end));
    leat_can_reject reason = leat_can_take_bytes(data.data, data.data + data.size_bytes, ' ', count,
                                                 false, options, line);
    return reason == LEAT_CAN_TAKEN && fd && options->fd_refuse ? LEAT_CAN_REJECT_FD : reason;
}

static bool find_time(const leat_can_layout *layout, const char *at, const char *end,
                      double *time) {
    trace_line of;
    split_line(layout, at, end, &of);
    return read_time(of.time, -3, time);
}

/* ---- the layout ----------------------------------------------------------------------------- */

/* Whether the first lines have frames at all; notes whether the width of their identifiers says
 * nothing (see above). */
static bool note_width(const leat_can_first_lines *of, int first, leat_can_layout *layout) {
    bool narrow = false, padded = false, frames = false;
    for (int i = first; i < of->count; i++) {
        leat_text text = of->lines[i];
        leat_can_line_options options = {.canonical = true};
        trace_line parts;
        leat_can_line line;
        uint32_t value;
        const char *end = text.data + text.size_bytes;
        if (parse(layout, &options, text.data, end, &line) != LEAT_CAN_TAKEN) continue;
        frames = true;
        split_line(layout, text.data, end, &parts);
        narrow = narrow || parts.id.size_bytes <= 4;
        padded = padded || (parts.id.size_bytes == 8 && read_hex(parts.id, &value) &&
                            value <= LEAT_CAN_ID_11_MAX);
    }
    layout->id_padded = padded && !narrow;
    if (layout->id_padded) layout->doubts |= LEAT_CAN_DOUBT_WIDTH;
    return frames;
}

static bool lay_out(const leat_can_first_lines *of, const leat_can_line_options *options,
                    leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]) {
    (void)options;
    bool named = false;
    if (!read_header(of, layout, first, &named, why)) return false;
    return note_width(of, *first, layout) || named; /* any file may begin with a semicolon */
}

/* Traces that were put together have a header each, whose columns hold for the lines after it; of
 * one whose columns are not known, no line can be read. */
static void follow(leat_can_layout *layout, const char *at, const char *end) {
    leat_text line = text_between(at, end), value;
    int i = 0;
    if (!is_comment(line)) return;
    if (read_key(line, ";$COLUMNS=", &value)) {
        if (!read_columns(value, layout)) layout->column_count = 0;
        return;
    }
    if (!read_key(line, ";$FILEVERSION=", &value)) return;
    while (i < VERSIONS && !is_word(value, versions[i].name)) i++;
    set_columns(i < VERSIONS && versions[i].columns != NULL ? versions[i].columns : "", layout);
}

const leat_can_format_lines leat_can_trc = {
    .lay_out = lay_out, .parse = parse, .find_time = find_time, .follow = follow};
