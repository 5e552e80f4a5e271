/* Identifiers and payloads: see fields.h. Fixed widths, which the usual writers of logs produce,
 * have a fast path. */
#include "ingest/can/read/fields.h"

#include <stdio.h>

#include "base/time.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "pairs of hex digits are little endian");

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

/* ---- dates ---- */

/* Decimal digits as a number, -1 if one is not. */
static int read_digits(const char *text, int count) {
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

bool leat_can_read_date(leat_text text, double *time) {
    enum { DATE_BYTES = 19 };
    static const char form[DATE_BYTES + 1] = "....-..-.. ..:..:..";
    if (text.size_bytes < DATE_BYTES) return false;
    for (int i = 0; i < DATE_BYTES; i++) {
        char wanted = form[i], got = text.data[i];
        if (wanted != '.' && got != wanted && !(wanted == ' ' && got == 'T')) return false;
    }
    const char *at = text.data;
    int year = read_digits(at, 4), month = read_digits(at + 5, 2), day = read_digits(at + 8, 2);
    int hour = read_digits(at + 11, 2), minute = read_digits(at + 14, 2);
    int second = read_digits(at + 17, 2);
    bool good = year >= 0 && month >= 1 && month <= 12 && day >= 1 &&
                day <= leat_time_month_days(year, month) && hour >= 0 && hour < 24 && minute >= 0 &&
                minute < 60 && second >= 0 && second <= 60;
    if (!good) return false;
    int64_t whole = leat_time_days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    int rest = text.size_bytes - DATE_BYTES;
    if (rest == 1 || rest > 10 || (rest > 0 && text.data[DATE_BYTES] != '.')) return false;
    /* the fraction stays decimal: the sum is the nearest number to what is written */
    char digits[40];
    int64_t shown = whole < 0 ? 0 : whole;
    int size = snprintf(digits, sizeof digits, "%lld%.*s", (long long)shown, rest, at + DATE_BYTES);
    if (!read_time((leat_text){digits, size}, 0, time)) return false;
    *time += (double)(whole - shown);
    return true;
}

/* ---- identifiers ---- */

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

bool leat_can_take_id(leat_text text, bool extended, const leat_can_line_options *options,
                      leat_can_line *line) {
    if (!options->canonical) return keep_id(text, line->id);
    uint32_t value;
    if (!read_hex(text, &value)) {
        if (!read_prefixed(text, &value)) return false;
        line->marks |= LEAT_CAN_MARK_PREFIXED;
    }
    if (value > LEAT_CAN_ID_29_MAX) return false;
    write_id(value, extended || value > LEAT_CAN_ID_11_MAX ? 8 : 3, line->id);
    return true;
}

leat_text leat_can_id_digits(leat_text text, bool *wide, bool *hex) {
    const int size = text.size_bytes;
    const char first = size > 1 ? text.data[0] : 0, last = size > 1 ? text.data[size - 1] : 0;
    const bool prefixed = size > 2 && first == '0' && (text.data[1] | 0x20) == 'x';
    *wide = (last | 0x20) == 'x' && size > (prefixed ? 3 : first == '0' ? 2 : 1); /* not 0x */
    *hex = prefixed || first == '$' || (last | 0x20) == 'h';
    const int before = prefixed ? 2 : first == '$' ? 1 : 0;
    const int after = *wide || (!prefixed && first != '$' && (last | 0x20) == 'h') ? 1 : 0;
    return (leat_text){text.data + before, size - before - after};
}

bool leat_can_take_table_id(leat_text text, bool extended, const leat_can_line_options *options,
                            leat_can_line *line) {
    bool wide = false, hex = false;
    uint32_t value = 0;
    if (leat_can_take_id(text, extended, options, line)) return true;
    if (!options->canonical || !read_hex(leat_can_id_digits(text, &wide, &hex), &value))
        return false;
    if (hex) line->marks |= LEAT_CAN_MARK_PREFIXED;
    return leat_can_put_id(value, extended || wide, line);
}

bool leat_can_put_id(uint32_t value, bool extended, leat_can_line *line) {
    if (value > LEAT_CAN_ID_29_MAX) return false;
    write_id(value, extended || value > LEAT_CAN_ID_11_MAX ? 8 : 3, line->id);
    return true;
}

bool leat_can_take_based_id(leat_text text, bool decimal, bool wide,
                            const leat_can_line_options *options, leat_can_line *line) {
    uint32_t value = 0;
    const uint32_t max = wide ? LEAT_CAN_ID_29_MAX : LEAT_CAN_ID_11_MAX;
    if (decimal) return read_decimal(text, 10, max, &value) && leat_can_put_id(value, wide, line);
    if ((!read_hex(text, &value) && !read_prefixed(text, &value)) || value > max) return false;
    return leat_can_take_id(text, wide, options, line);
}

/* ---- payloads ---- */

/* Two characters or fewer, read as graphids does: a hexadecimal number with an optional
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

leat_can_reject leat_can_take_run(leat_text run, bool fd, const leat_can_line_options *options,
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
    line->size_bytes = (uint8_t)(size < 2 * LEAT_CAN_FD_BYTES ? (size + 1) / 2 : LEAT_CAN_FD_BYTES);
    return LEAT_CAN_TAKEN;
}

bool leat_can_take_byte(leat_text text, bool strict, int16_t *byte) {
    text = leat_text_trim(text);
    bool digits =
        (text.size_bytes == 1 || text.size_bytes == 2) && are_digits(text.data, text.size_bytes);
    if (strict && !digits) return false;
    *byte = text.size_bytes <= 2 ? piece_value(text.data, text.size_bytes) : 0;
    return true;
}

int leat_can_fd_length(int dlc) {
    static const uint8_t lengths[] = {12, 16, 20, 24, 32, 48, 64};
    return dlc >= 9 && dlc <= 15 ? lengths[dlc - 9] : dlc;
}

leat_can_reject leat_can_take_bytes(const char *at, const char *end, char part, int count,
                                    bool more, const leat_can_line_options *options,
                                    leat_can_line *line) {
    memset(line->bytes, 0, sizeof line->bytes);
    line->size_bytes = (uint8_t)count;
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
        if (part == ',' && count == 0 && at == NULL && leat_text_trim(text).size_bytes == 0) break;
        int16_t byte = 0;
        good = leat_can_take_byte(text, options->strict, &byte) && good;
        if (seen < LEAT_CAN_BYTES) line->bytes[seen] = byte;
        if (++seen > LEAT_CAN_FD_BYTES) return LEAT_CAN_REJECT_LINE;
    }
    if (seen != count && (more || seen != leat_can_fd_length(count))) return LEAT_CAN_REJECT_LINE;
    if (!good) return LEAT_CAN_REJECT_PAYLOAD;
    if (seen > LEAT_CAN_BYTES) line->marks |= LEAT_CAN_MARK_CUT;
    return seen > LEAT_CAN_BYTES && options->fd_refuse ? LEAT_CAN_REJECT_FD : LEAT_CAN_TAKEN;
}

leat_can_reject leat_can_take_decimals(const char *at, const char *end, int count, bool more,
                                       const leat_can_line_options *options, leat_can_line *line) {
    memset(line->bytes, 0, sizeof line->bytes);
    line->size_bytes = (uint8_t)count;
    bool good = true;
    int seen = 0;
    while (seen < count || !more) {
        int value = 0;
        leat_text word = next_word(&at, end);
        if (word.size_bytes == 0) break;
        good = read_count(word, UINT8_MAX, &value) && good;
        if (seen < LEAT_CAN_BYTES) line->bytes[seen] = (int16_t)value;
        if (++seen > LEAT_CAN_FD_BYTES) return LEAT_CAN_REJECT_LINE;
    }
    if (seen != count && (more || seen != leat_can_fd_length(count))) return LEAT_CAN_REJECT_LINE;
    if (!good) return LEAT_CAN_REJECT_PAYLOAD;
    if (seen > LEAT_CAN_BYTES) line->marks |= LEAT_CAN_MARK_CUT;
    return seen > LEAT_CAN_BYTES && options->fd_refuse ? LEAT_CAN_REJECT_FD : LEAT_CAN_TAKEN;
}
