/*
 * Fractions of a second without leading zeros, as a program prints them that writes seconds and
 * microseconds as two numbers: 7.1800 is then 1,800 us after 7 s. Read as a fraction, times go back
 * by just under a second wherever the number gets another digit: 7.99900, then 7.100100. Such steps
 * show it; a fraction that was written as such gets longer or shorter at any place.
 */
#include <math.h>

#include "base/number.h"
#include "ingest/can/read/context.h"

#define STEP_MIN_S 0.25 /* clocks and buffers of loggers differ by less */

static bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/* The digits of the first number of a line whose fraction is that of its time; 0: there is none. */
static int find_fraction(leat_text text, double time, bool *padded) {
    const char *at = text.data, *end = at + text.size_bytes;
    double whole, fraction = modf(fabs(time), &whole);
    while (at < end) {
        const char *point = memchr(at, '.', (size_t)(end - at));
        if (point == NULL) return 0;
        at = point + 1;
        while (at < end && is_digit(*at)) at++;
        int64_t digits = at - point - 1;
        double value = 0;
        if (point == text.data || !is_digit(point[-1]) || digits < 1 || digits > 9) continue;
        if (!leat_decimal_parse(point + 1, digits, -(int)digits, &value)) continue;
        if (fabs(value - fraction) > 1e-6) continue;
        *padded = point[1] == '0' && digits > 1;
        return (int)digits;
    }
    return 0;
}

bool leat_can_is_unpadded_step(leat_text before, double before_s, leat_text text, double time) {
    bool padded[2] = {false, false};
    if (before_s - time < STEP_MIN_S || floor(before_s) != floor(time) || time < 0) return false;
    int from = find_fraction(before, before_s, &padded[0]);
    int to = find_fraction(text, time, &padded[1]);
    return from > 0 && to > from && !padded[0] && !padded[1];
}
