/*
 * Fields of a line: words, numbers, identifiers and payloads, as the parsers of all formats read
 * them. Nothing is allocated, and a line is parsed in place.
 */
#ifndef LEAT_INGEST_CAN_READ_FIELDS_H
#define LEAT_INGEST_CAN_READ_FIELDS_H

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "ingest/can/read/layout.h"

#define LEAT_CAN_FD_BYTES 64 /* the maximum of a CAN-FD frame */

/* Identifiers of 11 and 29 bits; the bit above these marks an error frame. */
enum {
    LEAT_CAN_ID_11_MAX = 0x7ff,
    LEAT_CAN_ID_29_MAX = 0x1fffffff,
    LEAT_CAN_ID_ERROR = 0x20000000
};

/* ---- text ----------------------------------------------------------------------------------- */

static inline leat_text text_of(const char *text) {
    return (leat_text){text, (int32_t)strlen(text)};
}

static inline leat_text text_between(const char *at, const char *end) {
    return (leat_text){at, (int32_t)(end - at)};
}

/* The text up to the next comma or the end; *at moves past the comma, or to NULL. */
static inline leat_text until_comma(const char **at, const char *end) {
    const char *begin = *at, *comma = memchr(begin, ',', (size_t)(end - begin));
    *at = comma != NULL ? comma + 1 : NULL;
    return text_between(begin, comma != NULL ? comma : end);
}

/* The next word of a text separated by blanks; empty at its end. */
static inline leat_text next_word(const char **at, const char *end) {
    while (*at < end && leat_is_blank(**at)) (*at)++;
    const char *begin = *at;
    while (*at < end && !leat_is_blank(**at)) (*at)++;
    return text_between(begin, *at);
}

static inline bool is_word(leat_text text, const char *word) {
    return (size_t)text.size_bytes == strlen(word) &&
           memcmp(text.data, word, (size_t)text.size_bytes) == 0;
}

static inline bool is_word_of_any_case(leat_text text, const char *word) {
    if ((size_t)text.size_bytes != strlen(word)) return false;
    for (int i = 0; i < text.size_bytes; i++) {
        char letter = text.data[i];
        if (letter >= 'A' && letter <= 'Z') letter = (char)(letter | 0x20);
        if (letter != word[i]) return false;
    }
    return true;
}

/* An unsigned decimal integer of at most `digits` digits, 19 at most, and up to `max`. */
static inline bool read_decimal(leat_text text, int digits, uint32_t max, uint32_t *value) {
    uint64_t found = 0;
    if (text.size_bytes < 1 || text.size_bytes > digits) return false;
    for (int i = 0; i < text.size_bytes; i++) {
        unsigned digit = (unsigned)(uint8_t)text.data[i] - '0';
        if (digit > 9) return false;
        found = found * 10 + digit;
    }
    *value = (uint32_t)found;
    return found <= max;
}

/* A whole number as tables with gaps write it, without the zeros after its point: 43.0 is 43. Other
 * texts stay as they are. */
static inline leat_text without_zeros(leat_text text) {
    int digits = 0, size = text.size_bytes;
    while (digits < size && text.data[digits] >= '0' && text.data[digits] <= '9') digits++;
    if (digits == 0 || digits == size || text.data[digits] != '.') return text;
    for (int i = digits + 1; i < size; i++) {
        if (text.data[i] != '0') return text;
    }
    return (leat_text){text.data, digits};
}

/* A number of five digits at most. */
static inline bool read_count(leat_text text, int max, int *count) {
    uint32_t value = 0;
    bool good = read_decimal(text, 5, (uint32_t)max, &value);
    *count = (int)value;
    return good;
}

/* Beyond the limit a double cannot distinguish two frames, and gaps overflow the features' float.
 */
static inline bool read_time(leat_text text, int shift, double *time) {
    return leat_decimal_parse(text.data, text.size_bytes, shift, time) &&
           fabs(*time) <= LEAT_CAN_TIME_MAX_S;
}

/* A date and time, "2023-10-19 11:31:44.000372" or with a T, taken as UTC: seconds since 1970. */
bool leat_can_read_date(leat_text text, double *time);

/* ---- hexadecimal digits ---------------------------------------------------------------------- */

/* The digit's value plus one, 0 if it is not a digit. */
static const uint8_t digit_values[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
    ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};
static inline int digit_of(char letter) { return (int)digit_values[(uint8_t)letter] - 1; }

/* The value of two digits, negative if they are not digits. */
static inline int pair_of(const char *text) {
    int high = digit_of(text[0]), low = digit_of(text[1]);
    return (high | low) < 0 ? -1 : high << 4 | low;
}

static inline bool are_digits(const char *text, int64_t size_bytes) {
    for (int64_t i = 0; i < size_bytes; i++) {
        if (digit_of(text[i]) < 0) return false;
    }
    return true;
}

/* Up to eight digits. */
static inline bool read_hex(leat_text text, uint32_t *value) {
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

/* ---- names and fields ------------------------------------------------------------------------ */

/* A column's name without case, blanks and punctuation: "Time Stamp" is "timestamp". Truncated. */
#define LEAT_CAN_PLAIN_BYTES 40
static inline void plain_name(leat_text name, char plain[LEAT_CAN_PLAIN_BYTES]) {
    int size = 0;
    for (int i = 0; i < name.size_bytes && size + 1 < LEAT_CAN_PLAIN_BYTES; i++) {
        char letter = name.data[i];
        if (letter >= 'A' && letter <= 'Z') letter = (char)(letter | 0x20);
        bool kept = (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
        if (kept) plain[size++] = letter;
    }
    plain[size] = 0;
}

/* The field at *at, up to `part`; *at moves past that, or to NULL after the last. Quotes around a
 * field are removed, doubled ones in it stay: no name or value in these formats contains any. False
 * if the quoting is invalid. */
static inline bool take_field(const char **at, const char *end, char part, leat_text *field) {
    const char *begin = *at;
    if (begin == end || *begin != '"') {
        const char *stop = memchr(begin, part, (size_t)(end - begin));
        *at = stop != NULL ? stop + 1 : NULL;
        *field = text_between(begin, stop != NULL ? stop : end);
        return true;
    }
    const char *quote = begin + 1;
    for (;;) {
        quote = memchr(quote, '"', (size_t)(end - quote));
        if (quote == NULL) return false;
        if (quote + 1 == end || quote[1] != '"') break;
        quote += 2;
    }
    *field = text_between(begin + 1, quote);
    if (quote + 1 != end && quote[1] != part) return false;
    *at = quote + 1 != end ? quote + 2 : NULL;
    return true;
}

/* ---- buses (buses.c) ------------------------------------------------------------------------- */

/* The number of a bus with this name; false: it has none. */
static inline bool find_bus(const leat_can_buses *buses, leat_text name, uint16_t *number) {
    for (int32_t i = 0; i < buses->count; i++) {
        if (buses->names[i].size_bytes != name.size_bytes ||
            memcmp(buses->names[i].text, name.data, (size_t)name.size_bytes) != 0)
            continue;
        *number = buses->names[i].number;
        return true;
    }
    return false;
}

/* Numbers a bus, if it is new: see leat_can_buses. */
void leat_can_note_bus(leat_can_buses *buses, leat_text name);
/* The bus in a cell of a table: a number, or where the first lines have names, one of those. A name
 * that only later lines have must differ from the first one in its digits alone, so that no two
 * share a number. */
bool leat_can_take_bus(const leat_can_buses *buses, leat_text cell, uint16_t *bus);

/* ---- identifiers and payloads (fields.c) ----------------------------------------------------- */

/* Marks one that begins with 0. */
static inline void note_padded(leat_text id, leat_can_line *line) {
    if (id.size_bytes > 1 && id.data[0] == '0') line->marks |= LEAT_CAN_MARK_PADDED;
}
/* An identifier in hexadecimal digits, also with 0x. */
bool leat_can_take_id(leat_text text, bool extended, const leat_can_line_options *options,
                      leat_can_line *line);
/* The same, and what tables have: $135 and 135h are hexadecimal as well, and an x at the end marks
 * 29 bits, as in ASC. */
bool leat_can_take_table_id(leat_text text, bool extended, const leat_can_line_options *options,
                            leat_can_line *line);
/* The digits of such an identifier, without what marks them; *wide: it has an x at the end, *hex:
 * another mark says that they are hexadecimal. */
leat_text leat_can_id_digits(leat_text text, bool *wide, bool *hex);
/* One that was written in another notation. */
bool leat_can_put_id(uint32_t value, bool extended, leat_can_line *line);
/* One in the base of its log, of at most 11 bits, or 29 if it is `wide`. */
bool leat_can_take_based_id(leat_text text, bool decimal, bool wide,
                            const leat_can_line_options *options, leat_can_line *line);

/* A payload as a run of hexadecimal digits without separators. `fd`: marked as CAN-FD. */
leat_can_reject leat_can_take_run(leat_text run, bool fd, const leat_can_line_options *options,
                                  leat_can_line *line);
/* `count` bytes separated by `part`, a comma or blanks; with `more` other text may follow them,
 * else nothing may. LEAT_CAN_REJECT_LINE if there are fewer or more. */
leat_can_reject leat_can_take_bytes(const char *at, const char *end, char part, int count,
                                    bool more, const leat_can_line_options *options,
                                    leat_can_line *line);
/* The same of decimal numbers up to 255, separated by blanks. */
leat_can_reject leat_can_take_decimals(const char *at, const char *end, int count, bool more,
                                       const leat_can_line_options *options, leat_can_line *line);
/* One byte: a single digit is valid too. */
bool leat_can_take_byte(leat_text text, bool strict, int16_t *byte);
/* The length that a DLC stands for: some logs of CAN-FD have the DLC, some the length. */
int leat_can_fd_length(int dlc);

#endif
