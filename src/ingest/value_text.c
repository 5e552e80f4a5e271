/*
 * Values as text. Times never pass through floating point: microseconds come directly from the
 * decimal digits.
 */
#include "ingest/value_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#define MICROS INT64_C(1000000)

static void trim(const char **text, int64_t *size_bytes) {
    while (*size_bytes > 0 && (**text == ' ' || **text == '\t')) {
        (*text)++;
        (*size_bytes)--;
    }
    while (*size_bytes > 0) {
        char last = (*text)[*size_bytes - 1];
        if (last != ' ' && last != '\t') break;
        (*size_bytes)--;
    }
}

static inline int digit_of(char letter) {
    unsigned digit = (unsigned)(uint8_t)letter - '0';
    return digit <= 9 ? (int)digit : -1;
}

/* ---- times ---- */

int64_t leat_time_of_ticks(int64_t ticks, int64_t per_second) {
    if (per_second > MICROS) {
        int64_t divisor = per_second / MICROS;
        int64_t whole = ticks / divisor;
        return ticks % divisor < 0 ? whole - 1 : whole;
    }
    int64_t time_us = 0;
    bool over = __builtin_mul_overflow(ticks, MICROS / per_second, &time_us);
    if (over || time_us == LEAT_TIME_MISSING) return ticks < 0 ? LEAT_TIME_PAST : LEAT_TIME_FUTURE;
    return time_us;
}

static bool read_two(const char *text, int max, int *out) {
    int high = digit_of(text[0]), low = digit_of(text[1]);
    if (high < 0 || low < 0) return false;
    *out = high * 10 + low;
    return *out <= max;
}

/* "Z", "z", "+hh", "+hhmm", "+hh:mm" or nothing. */
static bool read_zone(const char *text, int64_t size_bytes, int64_t *offset_s) {
    *offset_s = 0;
    if (size_bytes > 0 && text[0] == ' ') {
        text++;
        size_bytes--;
    }
    if (size_bytes == 0) return true;
    if (size_bytes == 1) return text[0] == 'Z' || text[0] == 'z';
    if (size_bytes == 3 && memcmp(text, "UTC", 3) == 0) return true;
    if (text[0] != '+' && text[0] != '-') return false;
    int hours = 0, minutes = 0;
    if (size_bytes < 3 || !read_two(text + 1, 23, &hours)) return false;
    if (size_bytes == 5) {
        if (!read_two(text + 3, 59, &minutes)) return false;
    } else if (size_bytes == 6) {
        if (text[3] != ':' || !read_two(text + 4, 59, &minutes)) return false;
    } else if (size_bytes != 3) {
        return false;
    }
    *offset_s = (text[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

/* Digits after a decimal point, at *at: the first six count. *rest: a later digit is not zero. */
static bool read_fraction(const char *text, int64_t size_bytes, int64_t *at, int64_t *micros,
                          bool *rest) {
    int64_t value = 0, begin = *at;
    *rest = false;
    for (; *at < size_bytes; (*at)++) {
        int digit = digit_of(text[*at]);
        if (digit < 0) break;
        if (*at - begin < 6) value = value * 10 + digit;
        else if (digit != 0) *rest = true;
    }
    if (*at == begin) return false;
    for (int64_t i = *at - begin; i < 6; i++) value *= 10;
    *micros = value;
    return true;
}

static bool parse_iso(const char *text, int64_t size_bytes, int64_t *time_us) {
    int century, year, month, day, hour, minute, second = 0;
    if (size_bytes < 16 || text[4] != '-' || text[7] != '-' || text[13] != ':') return false;
    if (text[10] != ' ' && text[10] != 'T' && text[10] != 't') return false;
    if (!read_two(text, 99, &century) || !read_two(text + 2, 99, &year)) return false;
    if (!read_two(text + 5, 12, &month) || !read_two(text + 8, 31, &day)) return false;
    if (!read_two(text + 11, 23, &hour) || !read_two(text + 14, 59, &minute)) return false;
    year += century * 100;
    if (month == 0 || day == 0 || day > leat_time_month_days(year, month)) return false;
    int64_t at = 16, micros = 0;
    if (at < size_bytes && text[at] == ':') {
        if (size_bytes < 19 || !read_two(text + 17, 59, &second)) return false;
        at = 19;
        bool rest;
        if (at < size_bytes && text[at] == '.') {
            at++;
            if (!read_fraction(text, size_bytes, &at, &micros, &rest)) return false;
        }
    }
    int64_t offset_s;
    if (!read_zone(text + at, size_bytes - at, &offset_s)) return false;
    int64_t seconds = leat_time_days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *time_us = (seconds - offset_s) * MICROS + micros;
    return true;
}

/* ---- times as numbers ---- */

/* The ends of the 64-bit range are what programs write for no time at all. */
static bool is_endless(int64_t number) { return number == INT64_MAX || number <= -INT64_MAX; }

static int64_t ticks_of(leat_time_unit unit) {
    static const int64_t ticks[] = {[LEAT_TIME_UNIT_S] = 1,
                                    [LEAT_TIME_UNIT_MS] = 1000,
                                    [LEAT_TIME_UNIT_US] = 1000000,
                                    [LEAT_TIME_UNIT_NS] = 1000000000};
    return ticks[unit];
}

/* The unit of a whole number: each covers some thousand years, those around the present included.
 */
static leat_time_unit unit_by_value(int64_t number) {
    uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    if (size < UINT64_C(100000000000)) return LEAT_TIME_UNIT_S;
    if (size < UINT64_C(100000000000000)) return LEAT_TIME_UNIT_MS;
    return size < UINT64_C(100000000000000000) ? LEAT_TIME_UNIT_US : LEAT_TIME_UNIT_NS;
}

static void note_unit(leat_time_unit unit, uint8_t *units) {
    if (units != NULL) *units |= (uint8_t)(1U << unit);
}

/* Serial days since 1899-12-30, to the nearest microsecond: a double holds no more of them. */
static int64_t time_of_excel(double days) {
    double micros = (days - 25569) * 86400e6;
    if (isnan(micros)) return LEAT_TIME_MISSING;
    if (fabs(micros) > 9e18) return micros < 0 ? LEAT_TIME_PAST : LEAT_TIME_FUTURE;
    return (int64_t)floor(micros + 0.5);
}

int64_t leat_time_of_integer(int64_t number, leat_time_unit unit, uint8_t *units) {
    if (unit == LEAT_TIME_UNIT_EXCEL) return time_of_excel((double)number);
    if (unit == LEAT_TIME_UNIT_AUTO) {
        if (is_endless(number)) return number < 0 ? LEAT_TIME_PAST : LEAT_TIME_FUTURE;
        unit = unit_by_value(number);
        note_unit(unit, units);
    }
    return leat_time_of_ticks(number, ticks_of(unit));
}

/* A decimal number. */
typedef struct decimal {
    bool negative, over; /* over: `whole` exceeds 64 bits */
    int64_t whole;
    const char *fraction; /* its digits, without zeros at the end */
    int64_t fraction_bytes;
} decimal;

/* Digits of a number with an exponent, and the largest exponent that is not rounded: larger ones
 * exceed 64 bits, or are less than a nanosecond, all the same. */
enum { MANTISSA_DIGITS = 40, EXPONENT_MAX = 99, PLAIN_BYTES = MANTISSA_DIGITS + EXPONENT_MAX + 8 };

/* The exponent at the end of a number, from its first letter on. */
static bool read_exponent(const char *text, int64_t size_bytes, int *exponent) {
    int64_t at = 1;
    const bool negative = at < size_bytes && text[at] == '-';
    if (at < size_bytes && (negative || text[at] == '+')) at++;
    if (at == size_bytes) return false;
    *exponent = 0;
    for (int digit; at < size_bytes && (digit = digit_of(text[at])) >= 0; at++)
        if (*exponent <= EXPONENT_MAX) *exponent = *exponent * 10 + digit;
    if (*exponent > EXPONENT_MAX) *exponent = EXPONENT_MAX;
    if (negative) *exponent = -*exponent;
    return at == size_bytes;
}

/* Where the exponent of a number begins; `size_bytes`: it has none. */
static int64_t find_exponent(const char *text, int64_t size_bytes) {
    int64_t at = 0;
    while (at < size_bytes && (text[at] | 0x20) != 'e') at++;
    return at;
}

/* Writes a number with an exponent without it: 1.7e+09 is 1700000000. Returns the size; 0: it is
 * not a number, or has too many digits. */
static int64_t without_exponent(const char *text, int64_t end, int64_t size_bytes,
                                char plain[PLAIN_BYTES]) {
    char digits[MANTISSA_DIGITS];
    int64_t at = 0, used = 0;
    int count = 0, whole = -1, exponent = 0;
    if (!read_exponent(text + end, size_bytes - end, &exponent)) return 0;
    if (end > 0 && (text[0] == '-' || text[0] == '+')) plain[used++] = text[at++];
    for (; at < end; at++) {
        if (text[at] == '.' && whole < 0 && count > 0) {
            whole = count;
            continue;
        }
        if (digit_of(text[at]) < 0 || count == MANTISSA_DIGITS) return 0;
        digits[count++] = text[at];
    }
    if (count == 0) return 0;
    if (whole < 0) whole = count;
    const int point = whole + exponent; /* digits before it */
    if (point <= 0) plain[used++] = '0';
    for (int i = 0; i < point; i++) plain[used++] = i < count ? digits[i] : '0';
    plain[used++] = '.';
    for (int i = point; i < 0; i++) plain[used++] = '0';
    for (int i = point > 0 ? point : 0; i < count; i++) plain[used++] = digits[i];
    return used;
}

/* `plain` is scratch space that *out may refer to. */
static bool read_decimal(const char *text, int64_t size_bytes, decimal *out,
                         char plain[PLAIN_BYTES]) {
    const int64_t end = find_exponent(text, size_bytes);
    if (end < size_bytes) {
        size_bytes = without_exponent(text, end, size_bytes, plain);
        text = plain;
    }
    *out = (decimal){.negative = size_bytes > 0 && text[0] == '-'};
    int64_t at = size_bytes > 0 && (out->negative || text[0] == '+') ? 1 : 0, begin = at;
    for (int digit; at < size_bytes && (digit = digit_of(text[at])) >= 0; at++) {
        out->over = out->over || __builtin_mul_overflow(out->whole, 10, &out->whole) ||
                    __builtin_add_overflow(out->whole, digit, &out->whole);
    }
    if (at == begin) return false;
    if (at < size_bytes && text[at] == '.') {
        out->fraction = text + ++at;
        for (; at < size_bytes && digit_of(text[at]) >= 0; at++) {
            if (text[at] != '0') out->fraction_bytes = text + at + 1 - out->fraction;
        }
    }
    return at == size_bytes;
}

bool leat_whole_parse(const char *text, int64_t size_bytes, int64_t *value) {
    char plain[PLAIN_BYTES];
    decimal number;
    trim(&text, &size_bytes);
    if (!read_decimal(text, size_bytes, &number, plain) || number.fraction_bytes > 0) return false;
    *value = number.over ? INT64_MAX : number.whole;
    if (number.negative) *value = -*value;
    return true;
}

/* Microseconds of a number of ticks, floored. */
static int64_t time_of_decimal(const decimal *number, int64_t per_second) {
    int64_t value = 0, micros = 0, places = 0, scale = 1;
    bool over = number->over, rest = false;
    for (int64_t p = per_second; p < MICROS; p *= 10) {
        bool given = places < number->fraction_bytes;
        micros = micros * 10 + (given ? digit_of(number->fraction[places]) : 0);
        places++;
        scale *= 10;
    }
    rest = number->fraction_bytes > places;
    if (per_second > MICROS) {
        value = number->whole / (per_second / MICROS);
        rest = rest || number->whole % (per_second / MICROS) != 0;
    } else {
        over = over || __builtin_mul_overflow(number->whole, scale, &value) ||
               __builtin_add_overflow(value, micros, &value);
    }
    if (over) return number->negative ? LEAT_TIME_PAST : LEAT_TIME_FUTURE;
    value = number->negative ? -value - (rest ? 1 : 0) : value;
    return value == LEAT_TIME_MISSING ? LEAT_TIME_PAST : value;
}

static bool parse_number(const char *text, int64_t size_bytes, leat_time_unit unit,
                         int64_t *time_us, uint8_t *units) {
    char plain[PLAIN_BYTES];
    decimal number;
    double days = 0;
    if (!read_decimal(text, size_bytes, &number, plain)) return false;
    if (unit == LEAT_TIME_UNIT_EXCEL) {
        if (!leat_decimal_parse(text, size_bytes, 0, &days)) return false;
        *time_us = time_of_excel(days);
        return true;
    }
    if (unit == LEAT_TIME_UNIT_AUTO && (number.fraction_bytes > 0 || number.over)) {
        unit = LEAT_TIME_UNIT_S;
        if (!number.over) note_unit(unit, units);
    }
    if (unit == LEAT_TIME_UNIT_AUTO) {
        *time_us =
            leat_time_of_integer(number.negative ? -number.whole : number.whole, unit, units);
        return true;
    }
    *time_us = time_of_decimal(&number, ticks_of(unit));
    return true;
}

bool leat_time_read(const char *text, int64_t size_bytes, leat_time_unit unit, int64_t *time_us,
                    uint8_t *units) {
    *time_us = LEAT_TIME_MISSING;
    trim(&text, &size_bytes);
    if (size_bytes <= 0) return true;
    return parse_iso(text, size_bytes, time_us) ||
           parse_number(text, size_bytes, unit, time_us, units);
}

bool leat_time_of_text(const char *text, int64_t size_bytes, int64_t *time_us) {
    return leat_time_read(text, size_bytes, LEAT_TIME_UNIT_AUTO, time_us, NULL);
}

int leat_time_to_text(int64_t time_us, char text[LEAT_TIME_TEXT_BYTES]) {
    if (time_us == LEAT_TIME_MISSING) return 0;
    if (time_us == LEAT_TIME_PAST) return snprintf(text, LEAT_TIME_TEXT_BYTES, "-infinity");
    if (time_us == LEAT_TIME_FUTURE) return snprintf(text, LEAT_TIME_TEXT_BYTES, "infinity");
    return leat_time_format(time_us, text);
}

/* ---- numbers ---- */

int64_t leat_time_of_real(double number, leat_time_unit unit, uint8_t *units) {
    if (unit == LEAT_TIME_UNIT_EXCEL) return time_of_excel(number);
    if (isnan(number)) return LEAT_TIME_MISSING;
    if (fabs(number) > 9e18) return number < 0 ? LEAT_TIME_PAST : LEAT_TIME_FUTURE;
    if (number == floor(number)) return leat_time_of_integer((int64_t)number, unit, units);
    char text[LEAT_DOUBLE_TEXT_BYTES];
    for (int digits = 15; digits <= 17; digits++) {
        /* digits counts all of them, %f those after the point */
        int whole = fabs(number) < 1 ? 1 : (int)floor(log10(fabs(number))) + 1;
        int size = leat_double_decimals(number, digits > whole ? digits - whole : 0, text);
        int64_t time_us;
        if (leat_double_parse(text) == number && leat_time_read(text, size, unit, &time_us, units))
            return time_us;
    }
    double per_second = unit == LEAT_TIME_UNIT_AUTO ? 1 : (double)ticks_of(unit);
    return (int64_t)floor(number / per_second * 1e6);
}

static bool same_word(const char *text, int64_t size_bytes, const char *word) {
    for (int64_t i = 0; i < size_bytes; i++) {
        char letter = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i];
        if (word[i] == 0 || letter != word[i]) return false;
    }
    return word[size_bytes] == 0;
}

/* What programs write for a missing value. */
static bool is_no_value(const char *text, int64_t size_bytes) {
    static const char *const words[] = {"na", "n/a", "null", "none", "nan"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (same_word(text, size_bytes, words[i])) return true;
    }
    return size_bytes == 2 && memcmp(text, "\\N", 2) == 0;
}

/* A missing value, and what programs write for a ping without an answer. */
static bool is_missing_word(const char *text, int64_t size_bytes) {
    static const char *const words[] = {"-", "*", "timeout", "false", "u", "x"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (same_word(text, size_bytes, words[i])) return true;
    }
    return is_no_value(text, size_bytes);
}

/* Words for infinite and missing numbers. */
static bool parse_special(const char *text, int64_t size_bytes, double *value) {
    bool negative = text[0] == '-';
    if (negative || text[0] == '+') {
        text++;
        size_bytes--;
    }
    if (same_word(text, size_bytes, "nan")) *value = NAN;
    else if (same_word(text, size_bytes, "inf") || same_word(text, size_bytes, "infinity"))
        *value = negative ? -INFINITY : INFINITY;
    else return false;
    return true;
}

float leat_rtt_of_number(double value, leat_rtt_unit unit) {
    if (unit == LEAT_RTT_UNIT_US) value /= 1000;
    if (unit == LEAT_RTT_UNIT_S) value *= 1000;
    if (unit == LEAT_RTT_UNIT_NS) value /= 1000000;
    return (float)value;
}

bool leat_rtt_number(const char *text, int64_t size_bytes, double *number) {
    *number = NAN;
    trim(&text, &size_bytes);
    if (size_bytes <= 0 || is_missing_word(text, size_bytes)) return true;
    double value = 0;
    if (!leat_decimal_parse(text, size_bytes, 0, &value) &&
        !parse_special(text, size_bytes, &value)) {
        return false;
    }
    *number = value;
    return true;
}

bool leat_rtt_read(const char *text, int64_t size_bytes, leat_rtt_unit unit, float *rtt) {
    double number;
    const bool good = leat_rtt_number(text, size_bytes, &number);
    *rtt = leat_rtt_of_number(number, unit);
    return good;
}

bool leat_rtt_parse(const char *text, int64_t size_bytes, float *rtt) {
    return leat_rtt_read(text, size_bytes, LEAT_RTT_UNIT_MS, rtt);
}

bool leat_version_parse(const char *text, int64_t size_bytes, int32_t *version) {
    *version = 0;
    trim(&text, &size_bytes);
    if (size_bytes <= 0 || is_no_value(text, size_bytes)) return true;
    int64_t value = 0;
    if (!leat_whole_parse(text, size_bytes, &value)) return false;
    *version = value > INT32_MAX ? INT32_MAX : value < -INT32_MAX ? -INT32_MAX : (int32_t)value;
    return true;
}

/* ---- rejected.csv ---- */

#define TEXT(name, text) [name] = (text),
static const char *const reject_texts[LEAT_REJECT_COUNT] = {LEAT_REJECTS(TEXT)};
#undef TEXT

const leat_reject_kind leat_probe_rejects = {
    .columns = "file,row,reason,event_time,src_addr,dst_addr,ip_version,rtt,line",
    .row = "row",
    .reasons = reject_texts,
    .reason_count = LEAT_REJECT_COUNT,
};

const char *leat_reject_text(leat_reject reason) {
    return (unsigned)reason < LEAT_REJECT_COUNT ? reject_texts[reason] : "unknown reason";
}

static int64_t digits_at(const char *text, int64_t size_bytes, int64_t at) {
    while (at < size_bytes && text[at] >= '0' && text[at] <= '9') at++;
    return at;
}

/* An optional sign, digits with at most one point before, among or after them, and an optional
 * exponent: "-1", "+.5", "3.", "-2.50e-07". */
static bool is_decimal(const char *text, int64_t size_bytes) {
    int64_t begin = text[0] == '+' || text[0] == '-';
    int64_t end = digits_at(text, size_bytes, begin), digits = end - begin;
    if (end < size_bytes && text[end] == '.') {
        int64_t point = end;
        end = digits_at(text, size_bytes, point + 1);
        digits += end - point - 1;
    }
    if (digits == 0) return false;
    if (end < size_bytes && (text[end] == 'e' || text[end] == 'E')) {
        begin = end + 1;
        if (begin < size_bytes && (text[begin] == '+' || text[begin] == '-')) begin++;
        end = digits_at(text, size_bytes, begin);
        if (end == begin) return false;
    }
    return end == size_bytes;
}

/* Whether a spreadsheet could interpret the text as a formula, quoted or not. A leading apostrophe
 * makes it text there. Text that already begins with one gets another, so that removing one
 * apostrophe from every cell that begins with one restores the original. */
static bool needs_apostrophe(const char *text, int64_t size_bytes) {
    return text[0] == '\'' ||
           (memchr("=+-@\t\r", text[0], 6) != NULL && !is_decimal(text, size_bytes));
}

leat_code leat_csv_append(leat_buf *buf, const char *text, int64_t size_bytes, int64_t max_bytes,
                          leat_error *err) {
    if (size_bytes > max_bytes) size_bytes = max_bytes;
    if (size_bytes <= 0) return LEAT_OK;
    bool quotes = text[0] == ' ' || text[size_bytes - 1] == ' ';
    for (int64_t i = 0; i < size_bytes && !quotes; i++) {
        quotes = text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r';
    }
    LEAT_TRY(leat_buf_reserve(buf, 2 * size_bytes + 3, err));
    if (quotes) buf->data[buf->size++] = '"';
    if (needs_apostrophe(text, size_bytes)) buf->data[buf->size++] = '\'';
    if (!quotes) return leat_buf_append(buf, text, size_bytes, err);
    for (int64_t i = 0; i < size_bytes; i++) {
        if (text[i] == '"') buf->data[buf->size++] = '"';
        buf->data[buf->size++] = (uint8_t)text[i];
    }
    buf->data[buf->size++] = '"';
    return LEAT_OK;
}

leat_code leat_reject_format(leat_buf *buf, const leat_raw_batch *batch, int64_t i,
                             leat_error *err) {
    char number[LEAT_TIME_TEXT_BYTES + LEAT_FLOAT_TEXT_BYTES];
    int size = leat_time_to_text(batch->time_us[i], number);
    LEAT_TRY(leat_buf_append(buf, number, size, err));
    const leat_text *texts[] = {&batch->src[i], &batch->dst[i]};
    for (int k = 0; k < 2; k++) {
        LEAT_TRY(leat_buf_append(buf, ",", 1, err));
        LEAT_TRY(leat_csv_append(buf, texts[k]->data, texts[k]->size_bytes, LEAT_REJECT_TEXT_BYTES,
                                 err));
    }
    LEAT_TRY(leat_buf_append(buf, ",", 1, err));
    if (batch->ip_version[i] != 0) LEAT_TRY(leat_buf_printf(buf, err, "%d", batch->ip_version[i]));
    LEAT_TRY(leat_buf_append(buf, ",", 1, err));
    size = leat_float_format(batch->rtt[i], number);
    LEAT_TRY(leat_csv_append(buf, number, size, size, err)); /* "-inf" too */
    return leat_buf_append(buf, ",", 1, err);
}

leat_code leat_reject_format_line(leat_buf *buf, const char *line, int64_t size_bytes,
                                  leat_error *err) {
    LEAT_TRY(leat_buf_append(buf, ",,,,,", 5, err));
    return leat_csv_append(buf, line, size_bytes, LEAT_REJECT_TEXT_BYTES, err);
}
