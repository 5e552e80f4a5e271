/*
 * One line of a vehicle log as a frame. Every format has a fast path for the fixed widths that its
 * usual writers produce, and a general path for everything that the format allows. Nothing is
 * allocated, and a line is parsed in place.
 */
#include <string.h>

#include "ingest/can/read/pieces.h"
#include "ingest/can/read/table.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "pairs of hex digits are little endian");

/* Identifiers of 11 and 29 bits. */
enum { ID_11_MAX = 0x7ff, ID_29_MAX = 0x1fffffff, ID_ERROR = 0x20000000 };

/* ---- hex ---- */

/* The value of two digits, negative if they are not digits. */
static inline int pair_of(const char *text) {
    int high = digit_of(text[0]), low = digit_of(text[1]);
    return (high | low) < 0 ? -1 : high << 4 | low;
}

/* Up to 16 digits at once, in pairs; bytes after them are 0. False if one is not a digit. */
static inline bool read_pairs(const char *text, int64_t size_bytes, int16_t out[LEAT_CAN_BYTES]) {
    typedef uint8_t lane16 __attribute__((vector_size(16)));
    typedef uint16_t lane8 __attribute__((vector_size(16)));
    char padded[16];
    if (size_bytes != 16) {
        memset(padded, '0', sizeof padded);
        memcpy(padded, text, (size_t)size_bytes);
        text = padded;
    }
    lane16 letters;
    memcpy(&letters, text, sizeof letters);
    lane16 digit = letters - '0', six = (letters | 0x20) - 'a';
    lane16 is_digit = (lane16)(digit <= 9), is_six = (lane16)(six <= 5), good = is_digit | is_six;
    uint64_t all[2];
    memcpy(all, &good, sizeof all);
    if ((all[0] & all[1]) != UINT64_MAX) return false;
    lane8 pairs = (lane8)((digit & is_digit) | ((six + 10) & is_six));
    pairs = (pairs << 4 | pairs >> 8) & 0xff;
    memcpy(out, &pairs, sizeof pairs);
    return true;
}

/* ---- identifiers ---- */

static bool read_hex(leat_text text, uint32_t *value) {
    if (text.size_bytes < 1 || text.size_bytes > 8) return false;
    uint32_t found = 0;
    int all = 0;
    for (int i = 0; i < text.size_bytes; i++) {
        int digit = digit_of(text.data[i]);
        all |= digit;
        found = found << 4 | ((uint32_t)digit & 15);
    }
    *value = found;
    return all >= 0;
}

/* 0x26 */
static bool read_prefixed(leat_text text, uint32_t *value) {
    bool prefixed = text.size_bytes > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x';
    return prefixed && read_hex((leat_text){text.data + 2, text.size_bytes - 2}, value);
}

static void write_id(uint32_t value, int digits, char id[LEAT_CAN_ID_BYTES]) {
    memset(id, 0, LEAT_CAN_ID_BYTES);
    for (int i = digits - 1; i >= 0; i--) {
        id[i] = "0123456789ABCDEF"[value & 15];
        value >>= 4;
    }
}

/* What `identifiers written` keeps: it goes into JSON and tables, so bytes that need escaping are
 * not allowed. */
static bool keep_id(leat_text text, char id[LEAT_CAN_ID_BYTES]) {
    if (text.size_bytes < 1 || text.size_bytes > LEAT_CAN_ID_BYTES) return false;
    memset(id, 0, LEAT_CAN_ID_BYTES);
    for (int i = 0; i < text.size_bytes; i++) {
        if (text.data[i] <= ' ' || text.data[i] > '~') return false;
        id[i] = text.data[i];
    }
    return true;
}

static inline bool take_id(leat_text text, bool extended, const leat_can_line_options *options,
                           leat_can_line *line) {
    if (!options->canonical) return keep_id(text, line->id);
    uint32_t value;
    if (!read_hex(text, &value) && !read_prefixed(text, &value)) return false;
    if (value > ID_29_MAX) return false;
    write_id(value, extended || value > ID_11_MAX ? 8 : 3, line->id);
    return true;
}

bool leat_can_take_id(leat_text text, bool extended, const leat_can_line_options *options,
                      leat_can_line *line) {
    return take_id(text, extended, options, line);
}

bool leat_can_put_id(uint32_t value, bool extended, leat_can_line *line) {
    if (value > ID_29_MAX) return false;
    write_id(value, extended || value > ID_11_MAX ? 8 : 3, line->id);
    return true;
}

/* ---- payloads ---- */

/* Two characters or fewer, read like the reference system: a hexadecimal number with an optional
 * sign; anything else is 0. */
static int16_t piece_value(const char *piece, int size_bytes) {
    bool sign = size_bytes == 2 && (piece[0] == '+' || piece[0] == '-');
    if (size_bytes == 2 && !sign) {
        int value = pair_of(piece);
        return (int16_t)(value < 0 ? 0 : value);
    }
    int value = size_bytes > 0 ? digit_of(piece[sign ? 1 : 0]) : 0;
    if (value < 0) return 0;
    return (int16_t)(sign && piece[0] == '-' ? -value : value);
}

/* The same for the next two characters of UTF-8; no byte of one beyond ASCII is a digit. */
static int16_t next_piece(const char **at, const char *end) {
    char piece[2];
    int size = 0;
    while (size < 2 && *at < end) {
        piece[size++] = *(*at)++;
        while (*at < end && ((uint8_t) * *at & 0xc0) == 0x80) (*at)++;
    }
    return piece_value(piece, size);
}

static bool are_digits(const char *text, int64_t size_bytes) {
    for (int64_t i = 0; i < size_bytes; i++) {
        if (digit_of(text[i]) < 0) return false;
    }
    return true;
}

/* A run of hex digits without separators. `fd`: marked as CAN-FD. */
static leat_can_reject take_run(leat_text run, bool fd, const leat_can_line_options *options,
                                leat_can_line *line) {
    const char *text = run.data;
    int64_t size = run.size_bytes, read = size < 16 ? size : 16;
    fd = fd || size > 2 * LEAT_CAN_BYTES;
    bool whole = size % 2 == 0 && size <= 2 * LEAT_CAN_FD_BYTES &&
                 read_pairs(text, read, line->bytes) && are_digits(text + read, size - read);
    if (!whole && options->strict) return LEAT_CAN_REJECT_PAYLOAD;
    if (fd && options->fd_refuse) return LEAT_CAN_REJECT_FD;
    if (size > 2 * LEAT_CAN_BYTES) line->marks |= LEAT_CAN_MARK_CUT;
    const char *at = text, *end = text + size;
    for (int i = 0; !whole && i < LEAT_CAN_BYTES; i++) line->bytes[i] = next_piece(&at, end);
    return LEAT_CAN_TAKEN;
}

leat_can_reject leat_can_take_run(leat_text run, const leat_can_line_options *options,
                                  leat_can_line *line) {
    return take_run(run, false, options, line);
}

/* One byte in a column of its own: a single digit is valid too. */
static bool take_byte(leat_text text, bool strict, int16_t *byte) {
    text = trim(text);
    bool digits =
        (text.size_bytes == 1 || text.size_bytes == 2) && are_digits(text.data, text.size_bytes);
    if (strict && !digits) return false;
    *byte = text.size_bytes <= 2 ? piece_value(text.data, text.size_bytes) : 0;
    return true;
}

bool leat_can_take_byte(leat_text text, bool strict, int16_t *byte) {
    return take_byte(text, strict, byte);
}

/* The lengths of CAN-FD frames by their DLC from 9 on; some logs have the DLC, some the length. */
int leat_can_fd_length(int dlc) {
    static const uint8_t lengths[] = {12, 16, 20, 24, 32, 48, 64};
    return dlc >= 9 && dlc <= 15 ? lengths[dlc - 9] : dlc;
}

/*
 * `count` bytes separated by `part`, a comma or blanks; with `more` other text may follow them,
 * else nothing may. LEAT_CAN_REJECT_LINE if there are fewer or more.
 */
static leat_can_reject take_bytes(const char *at, const char *end, char part, int count, bool more,
                                  const leat_can_line_options *options, leat_can_line *line) {
    memset(line->bytes, 0, sizeof line->bytes);
    int64_t size = end - at;
    if (count > 0 && count <= LEAT_CAN_BYTES &&
        (size == 3 * count - 1 || (more && size >= 3 * count && at[3 * count - 1] == part))) {
        int all = 0;
        for (int i = 0; i < count; i++) {
            int value = pair_of(at + 3 * i);
            all |= i + 1 < count && at[3 * i + 2] != part ? -1 : value;
            line->bytes[i] = (int16_t)value;
        }
        if (all >= 0) return LEAT_CAN_TAKEN;
        memset(line->bytes, 0, sizeof line->bytes);
    }
    bool good = true;
    int seen = 0;
    while (at != NULL && (seen < count || !more)) {
        leat_text text = part == ',' ? until_comma(&at, end) : next_word(&at, end);
        if (part != ',' && text.size_bytes == 0) break;
        if (part == ',' && count == 0 && at == NULL && trim(text).size_bytes == 0) break;
        int16_t byte = 0;
        good = take_byte(text, options->strict, &byte) && good;
        if (seen < LEAT_CAN_BYTES) line->bytes[seen] = byte;
        if (++seen > LEAT_CAN_FD_BYTES) return LEAT_CAN_REJECT_LINE;
    }
    if (seen != count && (more || seen != leat_can_fd_length(count))) return LEAT_CAN_REJECT_LINE;
    if (!good) return LEAT_CAN_REJECT_PAYLOAD;
    if (seen > LEAT_CAN_BYTES) line->marks |= LEAT_CAN_MARK_CUT;
    return seen > LEAT_CAN_BYTES && options->fd_refuse ? LEAT_CAN_REJECT_FD : LEAT_CAN_TAKEN;
}

/* ---- csv ---- */

bool leat_can_field(const char **at, const char *end, leat_text *field) {
    return take_field(at, end, ',', field);
}

/* An integer, also with zeros after a decimal point, as tables with gaps write it; above 0: attack.
 */
static bool take_number_label(leat_text text, bool *attack) {
    const char *at = text.data, *end = at + text.size_bytes;
    bool negative = at < end && *at == '-', above = false;
    if (at < end && (*at == '-' || *at == '+')) at++;
    const char *begin = at;
    while (at < end && *at >= '0' && *at <= '9') above = *at++ != '0' || above;
    if (at == begin) return false;
    bool point = at < end && *at == '.';
    if (point) at++;
    while (point && at < end && *at == '0') at++;
    *attack = above && !negative;
    return at == end;
}

static inline bool take_label(leat_text text, bool *attack) {
    return take_number_label(text, attack) || leat_can_label_word(text, attack);
}

bool leat_can_take_label(leat_text text, bool *attack) { return take_label(text, attack); }

static leat_can_reject parse_csv(const leat_can_layout *layout,
                                 const leat_can_line_options *options, const char *at,
                                 const char *end, leat_can_line *line) {
    leat_text fields[LEAT_CAN_COLUMN_KINDS];
    for (int i = 0; i < layout->column_count; i++) {
        if (at == NULL || !take_field(&at, end, ',', &fields[layout->column[i]])) {
            return LEAT_CAN_REJECT_LINE;
        }
    }
    if (at != NULL) return LEAT_CAN_REJECT_LINE;
    if (!read_time(fields[LEAT_CAN_COLUMN_TIME], 0, &line->time)) return LEAT_CAN_REJECT_TIME;
    if (!take_id(fields[LEAT_CAN_COLUMN_ID], false, options, line)) return LEAT_CAN_REJECT_ID;
    line->bus = 0;
    line->attack = false;
    leat_text label = fields[LEAT_CAN_COLUMN_LABEL];
    if (layout->labelled && !take_label(label, &line->attack)) {
        return leat_can_label_missing(label) ? LEAT_CAN_REJECT_NO_LABEL : LEAT_CAN_REJECT_LABEL;
    }
    if (layout->labelled) line->marks |= leat_can_label_mark(label, line->attack);
    return take_run(fields[LEAT_CAN_COLUMN_PAYLOAD], false, options, line);
}

/* ---- hcrl, survival ---- */

/* time,identifier,DLC,bytes,flag */
static leat_can_reject parse_hcrl(const leat_can_layout *layout,
                                  const leat_can_line_options *options, const char *at,
                                  const char *end, leat_can_line *line) {
    while (end > at && is_blank(end[-1])) end--;
    leat_text time = until_comma(&at, end), id = {NULL, 0}, dlc = {NULL, 0};
    if (at != NULL) id = until_comma(&at, end);
    if (at != NULL) dlc = until_comma(&at, end);
    int count = 0;
    if (at == NULL || !read_count(trim(dlc), LEAT_CAN_FD_BYTES, &count))
        return LEAT_CAN_REJECT_LINE;
    if (!read_time(trim(time), 0, &line->time)) return LEAT_CAN_REJECT_TIME;
    if (!take_id(trim(id), false, options, line)) return LEAT_CAN_REJECT_ID;
    line->bus = 0;
    line->attack = false;
    bool flagged = true, missing = false, blanks = layout->format == LEAT_CAN_SURVIVAL;
    if (layout->labelled) {
        const char *comma = memrchr(at, ',', (size_t)(end - at));
        leat_text flag = trim(text_between(comma != NULL ? comma + 1 : at, end));
        line->attack = is_word(flag, "T");
        flagged = line->attack || is_word(flag, "R");
        missing = leat_can_label_missing(flag);
        blanks = blanks || comma == NULL; /* a column without a byte */
        end = comma != NULL ? comma : at;
    } else if (end - at >= 2 && end[-2] == ',' && (end[-1] == 'R' || end[-1] == 'T')) {
        return LEAT_CAN_REJECT_LABEL; /* the first lines had no flags */
    }
    blanks = blanks && memchr(at, ',', (size_t)(end - at)) == NULL;
    leat_can_reject reason = take_bytes(at, end, blanks ? ' ' : ',', count, false, options, line);
    if (reason == LEAT_CAN_REJECT_LINE) return reason;
    if (flagged) return reason;
    return missing ? LEAT_CAN_REJECT_NO_LABEL : LEAT_CAN_REJECT_LABEL;
}

/* ---- hcrl-text ---- */

/* Timestamp: 1479121434.850202        ID: 0350    000    DLC: 8    05 28 84 66 6d 00 00 a2 */
static leat_can_reject parse_hcrl_text(const leat_can_line_options *options, const char *at,
                                       const char *end, leat_can_line *line) {
    if (!is_word(next_word(&at, end), "Timestamp:")) return LEAT_CAN_REJECT_LINE;
    leat_text time = next_word(&at, end);
    if (!is_word(next_word(&at, end), "ID:")) return LEAT_CAN_REJECT_LINE;
    leat_text id = next_word(&at, end), flags = next_word(&at, end);
    if (!is_word(next_word(&at, end), "DLC:")) return LEAT_CAN_REJECT_LINE;
    int count = 0, kind = 0;
    if (!read_count(next_word(&at, end), LEAT_CAN_FD_BYTES, &count)) return LEAT_CAN_REJECT_LINE;
    /* three digits; the first marks a remote frame */
    if (flags.size_bytes != 3 || !read_count(flags, 111, &kind)) return LEAT_CAN_REJECT_LINE;
    if (!read_time(time, 0, &line->time)) return LEAT_CAN_REJECT_TIME;
    if (!take_id(id, false, options, line)) return LEAT_CAN_REJECT_ID;
    if (kind >= 100) return LEAT_CAN_REJECT_REMOTE;
    line->bus = 0;
    line->attack = false;
    leat_text bytes = trim(text_between(at, end));
    return take_bytes(bytes.data, bytes.data + bytes.size_bytes, ' ', count, false, options, line);
}

/* ---- gvret ---- */

/* Time Stamp,ID,Extended,[Dir,]Bus,LEN,D1,... ; text after LEN bytes is padding. */
static leat_can_reject parse_gvret(const leat_can_layout *layout,
                                   const leat_can_line_options *options, const char *at,
                                   const char *end, leat_can_line *line) {
    leat_text fields[6];
    int wanted = layout->direction ? 6 : 5;
    for (int i = 0; i < wanted; i++) {
        if (at == NULL) return LEAT_CAN_REJECT_LINE;
        fields[i] = trim(until_comma(&at, end));
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
    if (!take_id(fields[1], extended, options, line)) return LEAT_CAN_REJECT_ID;
    if (!read_count(fields[wanted - 2], UINT16_MAX, &bus)) return LEAT_CAN_REJECT_BUS;
    line->bus = (uint16_t)bus;
    line->attack = false;
    if (count > 0 && at == NULL) return LEAT_CAN_REJECT_LINE;
    if (count == 0) at = end;
    return take_bytes(at, end, ',', count, true, options, line);
}

/* ---- candump ---- */

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
    if (begin == end || *begin != '(') return false;
    const char *close = memchr(begin, ')', (size_t)(end - begin));
    if (close == NULL) return false;
    *time = text_between(begin + 1, close);
    *at = close + 1;
    *name = until_blank(at, end);
    return name->size_bytes > 0;
}

static int32_t find_bus(const leat_can_buses *buses, leat_text name) {
    for (int32_t i = 0; i < buses->count; i++) {
        if (buses->names[i].size_bytes == name.size_bytes &&
            memcmp(buses->names[i].text, name.data, (size_t)name.size_bytes) == 0) {
            return i;
        }
    }
    return -1;
}

static bool is_taken(const leat_can_buses *buses, int number) {
    for (int32_t i = 0; i < buses->count; i++) {
        if (buses->names[i].number == number) return true;
    }
    return false;
}

static void add_bus(leat_can_buses *buses, leat_text name) {
    if (buses->count == LEAT_CAN_BUSES_MAX || name.size_bytes > LEAT_CAN_BUS_NAME_MAX) return;
    int digits = 0, number = 0;
    while (digits < name.size_bytes && digits < 5) {
        char letter = name.data[name.size_bytes - 1 - digits];
        if (letter < '0' || letter > '9') break;
        digits++;
    }
    leat_text last = {name.data + name.size_bytes - digits, digits};
    if (!read_count(last, UINT16_MAX, &number) || is_taken(buses, number)) {
        for (number = 0; is_taken(buses, number); number++) continue;
    }
    memcpy(buses->names[buses->count].text, name.data, (size_t)name.size_bytes);
    buses->names[buses->count].size_bytes = (uint8_t)name.size_bytes;
    buses->names[buses->count].number = (uint16_t)number;
    buses->count++;
}

void leat_can_note_buses(leat_can_layout *layout, const char *text, int64_t size_bytes) {
    if (layout->format != LEAT_CAN_CANDUMP) return;
    const char *end = text + size_bytes;
    for (const char *at = text; at < end;) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed != NULL ? feed : end;
        leat_text time, name;
        if (read_candump(&at, stop, &time, &name) && find_bus(&layout->buses, name) < 0) {
            add_bus(&layout->buses, name);
        }
        at = stop + 1;
    }
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
    return take_run(data, fd, options, line);
}

static bool is_direction(leat_text word) { return is_word(word, "R") || is_word(word, "T"); }

/* How many words after the frame are labels: all of them, after a direction; 0: they are not. Two
 * digits are none: payloads may be padded. */
static int count_trailing_labels(leat_text rest, bool direction) {
    const char *at = rest.data, *end = at + rest.size_bytes;
    int words = 0, labels = 0;
    for (leat_text word; (word = next_word(&at, end)).size_bytes > 0; words++) {
        bool attack = false, directed = direction && words == 0;
        if (directed && is_direction(word)) continue;
        bool byte = word.size_bytes == 2 && are_digits(word.data, 2);
        if (byte || !take_label(word, &attack)) return 0;
        labels++;
    }
    return labels <= LEAT_CAN_TRAILING_LABELS_MAX ? labels : 0;
}

/* The `count` label columns at the end of a line, after a direction if `direction`: an attack if
 * one of them says so. LEAT_CAN_REJECT_LINE: other words. Labels where the first lines have none
 * are rejected as such, since frames without them would count as benign. */
static leat_can_reject take_trailing_labels(leat_text rest, int count, bool direction,
                                            bool *attack) {
    const char *at = rest.data, *end = at + rest.size_bytes, *probe = at;
    int words = 0;
    bool good = true;
    *attack = false;
    if (direction && is_direction(next_word(&probe, end))) at = probe;
    probe = at;
    while (next_word(&probe, end).size_bytes > 0) words++;
    if (words < count) return LEAT_CAN_REJECT_NO_LABEL;
    if (words > count) {
        bool late = count == 0 && count_trailing_labels(rest, direction) > 0;
        return late ? LEAT_CAN_REJECT_LABEL : LEAT_CAN_REJECT_LINE;
    }
    for (int i = 0; i < count; i++) {
        bool one = false;
        good = take_label(next_word(&at, end), &one) && good;
        *attack = *attack || one;
    }
    return good ? LEAT_CAN_TAKEN : LEAT_CAN_REJECT_LABEL;
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
    if (value > ID_29_MAX && value <= (ID_ERROR | ID_29_MAX)) return LEAT_CAN_REJECT_ERROR;
    if (!take_id(id, id.size_bytes == 8, options, line)) return LEAT_CAN_REJECT_ID;
    const char *at = sharp + 1;
    if (at < end && (*at == 'R' || *at == 'r')) return LEAT_CAN_REJECT_REMOTE;
    bool fd = at < end && *at == '#';
    if (fd) {
        if (end - at < 2 || digit_of(at[1]) < 0) return LEAT_CAN_REJECT_LINE;
        at += 2;
    }
    return take_data(text_between(at, end), fd, options, line);
}

static leat_can_reject parse_candump(const leat_can_layout *layout,
                                     const leat_can_line_options *options, const char *at,
                                     const char *end, leat_can_line *line) {
    leat_text time, name;
    if (!read_candump(&at, end, &time, &name)) return LEAT_CAN_REJECT_LINE;
    leat_text frame = until_blank(&at, end);
    /* candump -x adds the direction */
    leat_text rest = trim(text_between(at, end));
    leat_can_reject label =
        take_trailing_labels(rest, layout->trailing_labels, true, &line->attack);
    if (label == LEAT_CAN_REJECT_LINE) return label;
    if (!read_time(time, 0, &line->time)) return LEAT_CAN_REJECT_TIME;
    int32_t bus = find_bus(&layout->buses, name);
    if (bus < 0) return LEAT_CAN_REJECT_BUS;
    line->bus = layout->buses.names[bus].number;
    leat_can_reject reason = take_frame(frame, options, line);
    return reason == LEAT_CAN_TAKEN ? label : reason;
}

/* ---- crysys ---- */

typedef struct crysys_line {
    leat_text time, id, flags, data, rest;
    int count;
} crysys_line;

/* time identifier flags DLC bytes [labels]: the bytes as words, or as one word. */
static bool read_crysys(const char *at, const char *end, crysys_line *found) {
    found->time = next_word(&at, end);
    found->id = next_word(&at, end);
    found->flags = next_word(&at, end);
    if (!read_count(next_word(&at, end), LEAT_CAN_FD_BYTES, &found->count)) return false;
    while (at < end && is_blank(*at)) at++;
    const char *begin = at, *stop = at;
    for (int i = 0; i < found->count; i++) {
        leat_text word = next_word(&at, end);
        if (word.size_bytes == 0) return false;
        stop = at;
        if (i == 0 && found->count > 1 && word.size_bytes == 2 * found->count) break;
    }
    found->data = text_between(begin, stop);
    found->rest = trim(text_between(at, end));
    return found->flags.size_bytes == 3;
}

static leat_can_reject parse_crysys(const leat_can_layout *layout,
                                    const leat_can_line_options *options, const char *at,
                                    const char *end, leat_can_line *line) {
    crysys_line found;
    int kind = 0;
    if (!read_crysys(at, end, &found)) return LEAT_CAN_REJECT_LINE;
    if (!read_count(found.flags, 111, &kind)) return LEAT_CAN_REJECT_LINE;
    line->bus = 0;
    leat_can_reject label =
        take_trailing_labels(found.rest, layout->trailing_labels, false, &line->attack);
    if (label == LEAT_CAN_REJECT_LINE) return label;
    if (!read_time(found.time, 0, &line->time)) return LEAT_CAN_REJECT_TIME;
    if (!take_id(found.id, false, options, line)) return LEAT_CAN_REJECT_ID;
    if (kind >= 100) return LEAT_CAN_REJECT_REMOTE;
    const char *data = found.data.data, *stop = data + found.data.size_bytes;
    bool run = found.count > 1 && memchr(data, ' ', (size_t)(stop - data)) == NULL &&
               memchr(data, '\t', (size_t)(stop - data)) == NULL;
    leat_can_reject reason = run ? take_run(found.data, false, options, line)
                                 : take_bytes(data, stop, ' ', found.count, false, options, line);
    return reason == LEAT_CAN_TAKEN ? label : reason;
}

int leat_can_trailing_labels(leat_can_format format, const char *text, int64_t size_bytes) {
    const char *at = text, *end = text + size_bytes;
    leat_text time, name;
    crysys_line found;
    if (format == LEAT_CAN_CRYSYS)
        return read_crysys(at, end, &found) ? count_trailing_labels(found.rest, false) : -1;
    if (!read_candump(&at, end, &time, &name)) return -1;
    leat_text frame = until_blank(&at, end);
    if (memchr(frame.data, '#', (size_t)frame.size_bytes) == NULL) return -1;
    return count_trailing_labels(text_between(at, end), true);
}

leat_can_reject leat_can_parse_line(const leat_can_layout *layout,
                                    const leat_can_line_options *options, const char *text,
                                    int64_t size_bytes, leat_can_line *line) {
    const char *end = text + size_bytes;
    line->marks = 0;
    switch (layout->format) {
    case LEAT_CAN_CSV:
        if (layout->table) return leat_can_parse_table(layout, options, text, end, line);
        return parse_csv(layout, options, text, end, line);
    case LEAT_CAN_HCRL:
    case LEAT_CAN_SURVIVAL: return parse_hcrl(layout, options, text, end, line);
    case LEAT_CAN_HCRL_TEXT: return parse_hcrl_text(options, text, end, line);
    case LEAT_CAN_GVRET: return parse_gvret(layout, options, text, end, line);
    case LEAT_CAN_CANDUMP: return parse_candump(layout, options, text, end, line);
    case LEAT_CAN_CRYSYS: return parse_crysys(layout, options, text, end, line);
    default: return LEAT_CAN_REJECT_LINE;
    }
}

bool leat_can_find_time(const leat_can_layout *layout, const char *text, int64_t size_bytes,
                        double *time) {
    const char *at = text, *end = text + size_bytes;
    leat_text cell = {NULL, 0}, name;
    switch (layout->format) {
    case LEAT_CAN_CSV: return leat_can_find_table_time(layout, text, end, time);
    case LEAT_CAN_HCRL:
    case LEAT_CAN_SURVIVAL:
    case LEAT_CAN_GVRET: cell = trim(until_comma(&at, end)); break;
    case LEAT_CAN_HCRL_TEXT:
        if (is_word(next_word(&at, end), "Timestamp:")) cell = next_word(&at, end);
        break;
    case LEAT_CAN_CANDUMP: (void)read_candump(&at, end, &cell, &name); break;
    case LEAT_CAN_CRYSYS: cell = next_word(&at, end); break;
    default: break;
    }
    return cell.data != NULL && read_time(cell, layout->format == LEAT_CAN_GVRET ? -6 : 0, time);
}
