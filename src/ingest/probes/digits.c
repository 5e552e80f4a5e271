/* Times that lost their digits: see digits.h. */
#include "ingest/probes/digits.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

/* A last digit that is worth less leaves what times of pings need. */
#define ROUNDED_US INT64_C(10000000)
/* Fewer rows may be of one time. */
enum { ROUNDED_ROWS = 3 };

void leat_digit_notes_init(leat_digit_notes *notes) {
    atomic_init(&notes->finest_us, INT64_MAX);
    atomic_init(&notes->first_us, INT64_MAX);
    atomic_init(&notes->last_us, INT64_MIN);
}

/* Whether a number may have one: all times of most files have none, and this is asked of each. */
static bool has_exponent(const leat_text *time) {
    enum { EXPONENT_BYTES = 4 }; /* E+09 */
    const char *end = time->data + time->size_bytes;
    for (int i = 1; i <= EXPONENT_BYTES && i <= time->size_bytes; i++)
        if ((end[-i] | 0x20) == 'e') return true;
    return false;
}

/* The power of ten that the last digit of a number with an exponent is worth; false if it has no
 * exponent. */
static bool last_digit(const leat_text *time, double *worth) {
    const char *end = time->data + time->size_bytes, *at = time->data;
    int fraction = 0, exponent = 0;
    bool point = false, negative = false;
    if (!has_exponent(time)) return false;
    for (; at < end && (*at | 0x20) != 'e'; at++) {
        fraction += point && *at >= '0' && *at <= '9';
        point = point || *at == '.';
    }
    if (at++ >= end) return false;
    if (at < end && (*at == '+' || *at == '-')) negative = *at++ == '-';
    for (; at < end && *at >= '0' && *at <= '9' && exponent < 100; at++)
        exponent = exponent * 10 + (*at - '0');
    *worth = pow(10, (negative ? -exponent : exponent) - fraction);
    return true;
}

void leat_digits_add(leat_digits *digits, const leat_text *time, int64_t time_us) {
    double number = 0, worth = 0;
    digits->timed++;
    if (time_us <= 0 || time_us == LEAT_TIME_FUTURE || !last_digit(time, &worth) ||
        !leat_decimal_parse(time->data, time->size_bytes, 0, &number) || !(number > 0))
        return;
    const double worth_us = worth * ((double)time_us / number); /* whatever the unit */
    if (worth_us < (double)ROUNDED_US || worth_us > 9e18) return;
    digits->rounded++;
    if ((int64_t)worth_us < digits->finest_us) digits->finest_us = (int64_t)worth_us;
    if (time_us < digits->first_us) digits->first_us = time_us;
    if (time_us > digits->last_us) digits->last_us = time_us;
}

void leat_digit_notes_add(leat_digit_notes *notes, const leat_digits *digits) {
    if (digits->timed > 0) atomic_fetch_add(&notes->timed, digits->timed);
    if (digits->rounded == 0) return;
    atomic_fetch_add(&notes->rounded, digits->rounded);
    leat_keep_least(&notes->finest_us, digits->finest_us);
    leat_keep_least(&notes->first_us, digits->first_us);
    leat_keep_most(&notes->last_us, digits->last_us);
}

leat_code leat_digit_notes_check(const leat_digit_notes *notes, const char *path,
                                 const char *column, leat_error *err) {
    const int64_t timed = atomic_load(&notes->timed), rounded = atomic_load(&notes->rounded);
    if (rounded < ROUNDED_ROWS || rounded < timed - timed / 10) return LEAT_OK;
    const double span =
        (double)atomic_load(&notes->last_us) - (double)atomic_load(&notes->first_us);
    const double most = span / (double)atomic_load(&notes->finest_us) + 1; /* different times */
    if (most > (double)rounded / 2) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\": %lld of %lld times have lost their digits, as 1.7E+09 has: the "
                     "spreadsheet that saved the file rounded column \"%.60s\"; save it again with "
                     "that column as a number without decimals, or as text",
                     path, (long long)rounded, (long long)timed, column);
}
