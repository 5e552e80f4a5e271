/* Numbers as decimal text: see number.h. */
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double leat_double_parse(const char *text) {
    /* glibc and musl hand out the C locale as a constant: nothing is allocated */
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) return strtod(text, NULL);
    double value = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    return value;
}

/* printf's text with the point of the locale, of whatever bytes, made a full stop. */
static int point_to_stop(char *text, int size) {
    int out = 0;
    for (int i = 0; i < size; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';
        if (digit || strchr("+-eainf", text[i]) != NULL) text[out++] = text[i];
        else if (out == 0 || text[out - 1] != '.') text[out++] = '.';
    }
    text[out] = 0;
    return out;
}

int leat_double_digits(double value, int digits, char text[LEAT_DOUBLE_TEXT_BYTES]) {
    return point_to_stop(text, snprintf(text, LEAT_DOUBLE_TEXT_BYTES, "%.*g", digits, value));
}

int leat_double_decimals(double value, int decimals, char text[LEAT_DOUBLE_TEXT_BYTES]) {
    return point_to_stop(text, snprintf(text, LEAT_DOUBLE_TEXT_BYTES, "%.*f", decimals, value));
}

int leat_double_format(double value, char text[LEAT_DOUBLE_TEXT_BYTES]) {
    int size = 0;
    for (int digits = 1; digits <= 17; digits++) { /* 17 always read back */
        size = leat_double_digits(value, digits, text);
        if (leat_double_parse(text) == value) break;
    }
    return size;
}

/*
 * Measured times mostly have few decimals, and those need no trial printing: k / 10^d with d <= 3
 * and k below 2^40 is far from any midpoint of two floats (by 2^-35 relative at the least, a double
 * errs by 2^-53), so rounding it twice gives what reading the text would give. Fewer decimals are
 * tried first, so the first that reads back is the shortest. 0 if the value is none of these.
 */
static int format_by_decimals(float value, char text[LEAT_FLOAT_TEXT_BYTES]) {
    static const int scale[] = {1, 10, 100, 1000};
    double magnitude = fabs((double)value);
    if (!(magnitude < 1e6) || (magnitude != 0 && magnitude < 1e-3)) return 0;
    for (int decimals = 0; decimals < 4; decimals++) {
        long long k = llround(magnitude * scale[decimals]);
        if ((float)((double)k / scale[decimals]) != (float)magnitude) continue;
        const char *sign = signbit(value) ? "-" : "";
        if (decimals == 0) return snprintf(text, LEAT_FLOAT_TEXT_BYTES, "%s%lld", sign, k);
        return snprintf(text, LEAT_FLOAT_TEXT_BYTES, "%s%lld.%0*lld", sign, k / scale[decimals],
                        decimals, k % scale[decimals]);
    }
    return 0;
}

int leat_float_format(float value, char text[LEAT_FLOAT_TEXT_BYTES]) {
    char longer[LEAT_DOUBLE_TEXT_BYTES];
    text[0] = 0;
    if (isnan(value)) return 0;
    int size = format_by_decimals(value, text);
    for (int digits = 1; size == 0 && digits <= 9; digits++) {
        int found = leat_double_digits((double)value, digits, longer);
        if ((float)leat_double_parse(longer) == value || digits == 9) size = found;
        if (size > 0) memcpy(text, longer, (size_t)size + 1);
    }
    return size;
}
