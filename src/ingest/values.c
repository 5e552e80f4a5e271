/*
 * Values as text. Times never pass through floating point: microseconds come directly from the
 * decimal digits.
 */
#include "ingest/values.h"

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

static bool parse_epoch(const char *text, int64_t size_bytes, int64_t *time_us) {
    bool negative = size_bytes > 0 && text[0] == '-', over = false, rest = false;
    int64_t at = size_bytes > 0 && (negative || text[0] == '+') ? 1 : 0;
    int64_t begin = at, seconds = 0, micros = 0;
    for (int digit; at < size_bytes && (digit = digit_of(text[at])) >= 0; at++) {
        over = over || __builtin_mul_overflow(seconds, 10, &seconds) ||
               __builtin_add_overflow(seconds, digit, &seconds);
    }
    if (at == begin) return false;
    if (at < size_bytes && text[at] == '.') {
        at++;
        if (at < size_bytes && !read_fraction(text, size_bytes, &at, &micros, &rest)) return false;
    }
    if (at != size_bytes) return false;
    int64_t value = 0;
    over = over || __builtin_mul_overflow(seconds, MICROS, &value) ||
           __builtin_add_overflow(value, micros, &value);
    if (over) {
        *time_us = negative ? LEAT_TIME_PAST : LEAT_TIME_FUTURE;
        return true;
    }
    *time_us = negative ? -value - (rest ? 1 : 0) : value;
    if (*time_us == LEAT_TIME_MISSING) *time_us = LEAT_TIME_PAST;
    return true;
}

bool leat_time_of_text(const char *text, int64_t size_bytes, int64_t *time_us) {
    *time_us = LEAT_TIME_MISSING;
    trim(&text, &size_bytes);
    if (size_bytes <= 0) return true;
    return parse_iso(text, size_bytes, time_us) || parse_epoch(text, size_bytes, time_us);
}

int leat_time_to_text(int64_t time_us, char text[LEAT_TIME_TEXT_BYTES]) {
    if (time_us == LEAT_TIME_MISSING) return 0;
    if (time_us == LEAT_TIME_PAST) return snprintf(text, LEAT_TIME_TEXT_BYTES, "-infinity");
    if (time_us == LEAT_TIME_FUTURE) return snprintf(text, LEAT_TIME_TEXT_BYTES, "infinity");
    return leat_time_format(time_us, text);
}

/* ---- numbers ---- */

int64_t leat_time_of_seconds(double seconds) {
    if (isnan(seconds)) return LEAT_TIME_MISSING;
    if (fabs(seconds) > 9e12) return seconds < 0 ? LEAT_TIME_PAST : LEAT_TIME_FUTURE;
    char text[LEAT_DOUBLE_TEXT_BYTES];
    for (int digits = 15; digits <= 17; digits++) {
        /* digits counts all of them, %f those after the point */
        int whole = fabs(seconds) < 1 ? 1 : (int)floor(log10(fabs(seconds))) + 1;
        int size = leat_double_decimals(seconds, digits > whole ? digits - whole : 0, text);
        int64_t time_us;
        if (leat_double_parse(text) == seconds && leat_time_of_text(text, size, &time_us))
            return time_us;
    }
    return (int64_t)floor(seconds * 1e6);
}

static bool same_word(const char *text, int64_t size_bytes, const char *word) {
    for (int64_t i = 0; i < size_bytes; i++) {
        if (word[i] == 0 || (text[i] | 0x20) != word[i]) return false;
    }
    return word[size_bytes] == 0;
}

static bool is_missing_word(const char *text, int64_t size_bytes) {
    static const char *const words[] = {"na", "n/a", "null", "none"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (same_word(text, size_bytes, words[i])) return true;
    }
    return size_bytes == 2 && memcmp(text, "\\N", 2) == 0;
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

bool leat_rtt_parse(const char *text, int64_t size_bytes, float *rtt) {
    *rtt = NAN;
    trim(&text, &size_bytes);
    if (size_bytes <= 0 || is_missing_word(text, size_bytes)) return true;
    double value = 0;
    if (!leat_decimal_parse(text, size_bytes, 0, &value) &&
        !parse_special(text, size_bytes, &value)) {
        return false;
    }
    *rtt = (float)value;
    return true;
}

bool leat_version_parse(const char *text, int64_t size_bytes, int32_t *version) {
    *version = 0;
    trim(&text, &size_bytes);
    if (size_bytes <= 0) return true;
    bool negative = text[0] == '-';
    int64_t at = negative || text[0] == '+' ? 1 : 0, begin = at, value = 0;
    for (int digit; at < size_bytes && (digit = digit_of(text[at])) >= 0; at++) {
        value = value * 10 + digit;
        if (value > INT32_MAX) value = INT32_MAX;
    }
    if (at == begin) return false;
    if (at < size_bytes && text[at] == '.') {
        at++;
        while (at < size_bytes && text[at] == '0') at++;
    }
    *version = (int32_t)(negative ? -value : value);
    return at == size_bytes;
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
