/* Numbers as decimal text: see number.h. */
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double leat_double_parse(const char *text) {
    /* glibc and musl return the C locale as a constant: nothing is allocated */
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) return strtod(text, NULL);
    double value = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    return value;
}

/* ---- decimals of any length, exactly ---- */

/* The limit of an exponent: above it, every number that fits the text is 0 or infinite. */
enum { EXPONENT_MAX = 100000 };

static inline unsigned digit_of(char letter) { return (unsigned)(uint8_t)letter - '0'; }

/* m / d rounded once, for m from 2^53: the 128-bit quotient has at least 64 significant bits, so
 * the bits that are dropped, and whether there is a remainder, decide the last of 53. */
static double divide_exactly(uint64_t m, uint64_t d) {
    int lead = __builtin_clzll(m);
    unsigned __int128 wide = (unsigned __int128)(m << lead) << 64;
    unsigned __int128 quotient = wide / d;
    bool rest = wide % d != 0;
    uint64_t high = (uint64_t)(quotient >> 64);
    int bits = high != 0 ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)quotient);
    int cut = bits - 53;
    uint64_t top = (uint64_t)(quotient >> cut);
    unsigned __int128 half = (unsigned __int128)1 << (cut - 1);
    unsigned __int128 below = quotient & (half + half - 1);
    if (below > half || (below == half && (rest || (top & 1) != 0))) top++;
    uint64_t power = (uint64_t)(1023 + cut - 64 - lead) << 52; /* 2^(cut - 64 - lead) */
    double scale;
    memcpy(&scale, &power, sizeof scale);
    return (double)top * scale;
}

/* The cases that the fast paths cannot handle: more than 19 digits, and large powers of ten. `end`:
 * after the digits, where an exponent may follow. */
static double parse_slowly(const char *text, const char *end, int64_t exponent) {
    char copy[LEAT_DECIMAL_TEXT_MAX + 32];
    int size = (int)(end - text);
    memcpy(copy, text, (size_t)size);
    snprintf(copy + size, sizeof copy - (size_t)size, "e%lld", (long long)exponent);
    return leat_double_parse(copy);
}

/* Reads the digits after "e"; false if there are none, or anything else. */
static bool read_exponent(const char *at, const char *end, int64_t *exponent) {
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end) return false;
    *exponent = 0;
    for (; at < end; at++) {
        unsigned digit = digit_of(*at);
        if (digit > 9) return false;
        if (*exponent < EXPONENT_MAX) *exponent = *exponent * 10 + (int64_t)digit;
    }
    if (negative) *exponent = -*exponent;
    return true;
}

bool leat_decimal_parse(const char *text, int64_t size_bytes, int shift, double *value) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    *value = 0;
    if (size_bytes < 1 || size_bytes > LEAT_DECIMAL_TEXT_MAX) return false;
    const char *at = text, *end = text + size_bytes;
    bool negative = *at == '-';
    if (negative || *at == '+') at++;
    const char *begin = at;
    uint64_t m = 0; /* exact for up to 19 digits */
    for (unsigned digit; at < end && (digit = digit_of(*at)) <= 9; at++) m = m * 10 + digit;
    int64_t digits = at - begin, behind = 0, exponent = 0;
    if (at < end && *at == '.') {
        const char *point = at++;
        for (unsigned digit; at < end && (digit = digit_of(*at)) <= 9; at++) m = m * 10 + digit;
        behind = at - point - 1;
        digits += behind;
    }
    if (digits == 0) return false;
    const char *stop = at;
    if (at < end && ((*at | 0x20) != 'e' || !read_exponent(at + 1, end, &exponent))) return false;
    exponent += shift;
    int64_t power = exponent - behind; /* the number is m * 10^power */
    double found;
    if (digits <= 19 && m <= UINT64_C(1) << 53 && power >= -22 && power <= 22) {
        /* both are exact doubles, so one operation rounds once */
        found = power < 0 ? (double)m / tens[-power] : (double)m * tens[power];
    } else if (digits <= 19 && m > UINT64_C(1) << 53 && power >= -19 && power <= 0) {
        uint64_t ten = 1;
        for (int64_t i = power; i < 0; i++) ten *= 10;
        found = divide_exactly(m, ten);
    } else {
        found = parse_slowly(begin, stop, exponent);
    }
    *value = negative ? -found : found;
    return true;
}

/* ---- and back ---- */

/* Replaces the decimal point of the locale in printf's output, which may be several bytes, with a
 * full stop. */
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
    for (int digits = 1; digits <= 17; digits++) { /* 17 digits are always enough */
        size = leat_double_digits(value, digits, text);
        if (leat_double_parse(text) == value) break;
    }
    return size;
}

/*
 * Measured times mostly have few decimals, and those need no trial printing: k / 10^d with d <= 3
 * and k below 2^40 is far from any midpoint of two floats (at least 2^-35 relative, while the error
 * of a double is 2^-53), so rounding it twice gives the same result as parsing the text. Fewer
 * decimals are tried first, so the first that reads back is the shortest. Returns 0 if no such
 * decimal equals the value.
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

/* ---- for JSON and YAML ---- */

/* The significant digits of a positive number, and the power of ten of the first one. */
typedef struct decimal {
    char digits[20];
    int count, exponent;
} decimal;

static bool reads_back(const decimal *it, double value, bool narrow) {
    char text[40];
    snprintf(text, sizeof text, "%.*se%d", it->count, it->digits, it->exponent - it->count + 1);
    double read = leat_double_parse(text);
    return narrow ? (float)read == (float)value : read == value;
}

/* The nearest decimal of `count` digits. */
static decimal nearest_decimal(double value, int count) {
    char text[40];
    decimal it = {.count = count};
    snprintf(text, sizeof text, "%.*e", count - 1, value);
    int found = 0;
    for (const char *at = text; found < count; at++) /* skips the point of any locale */
        if (*at >= '0' && *at <= '9') it.digits[found++] = *at;
    it.exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    return it;
}

/* Adds one to the last digit; false if all are nines. */
static bool step_up(decimal *it) {
    int last = it->count - 1;
    while (last >= 0 && it->digits[last] == '9') it->digits[last--] = '0';
    if (last >= 0) it->digits[last]++;
    return last >= 0;
}

/*
 * The fewest digits that read back as the value, as a float if `narrow`, and of those the nearest.
 * Below a power of two, floats are twice as close as above it: the nearest decimal may read back as
 * the float below, while the next decimal up reads back as the value.
 */
static decimal shortest_decimal(double value, bool narrow) {
    decimal it = {.digits = "0", .count = 1};
    for (int count = 1; value != 0 && count <= 17; count++) { /* 17 always read back */
        it = nearest_decimal(value, count);
        if (reads_back(&it, value, narrow)) break;
        decimal above = it;
        if (!step_up(&above) || !reads_back(&above, value, narrow)) continue;
        it = above;
        break;
    }
    return it;
}

/* Formats digits like Python's repr, except that the mantissa always has a point. */
static int write_repr(const decimal *it, bool negative, char text[LEAT_REPR_BYTES]) {
    const char *sign = negative ? "-" : "";
    int whole = it->exponent + 1; /* digits before the point */
    if (whole > 16 || whole < -3)
        return snprintf(text, LEAT_REPR_BYTES, "%s%c.%se%c%02d", sign, it->digits[0],
                        it->count > 1 ? it->digits + 1 : "0", it->exponent < 0 ? '-' : '+',
                        abs(it->exponent));
    if (whole <= 0)
        return snprintf(text, LEAT_REPR_BYTES, "%s0.%.*s%s", sign, -whole, "000", it->digits);
    if (whole >= it->count)
        return snprintf(text, LEAT_REPR_BYTES, "%s%s%.*s.0", sign, it->digits, whole - it->count,
                        "0000000000000000");
    return snprintf(text, LEAT_REPR_BYTES, "%s%.*s.%s", sign, whole, it->digits,
                    it->digits + whole);
}

int leat_double_repr(double value, char text[LEAT_REPR_BYTES]) {
    decimal it = shortest_decimal(fabs(value), false);
    return write_repr(&it, signbit(value) != 0, text);
}

int leat_float_repr(float value, char text[LEAT_REPR_BYTES]) {
    decimal it = shortest_decimal(fabs((double)value), true);
    return write_repr(&it, signbit(value) != 0, text);
}
