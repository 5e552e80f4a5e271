/*
 * Numbers as decimal text, independent of the locale: strtod and printf use the decimal point of
 * the program's locale, these functions always a full stop. (leat_float_format is in leat/base.h.)
 */
#ifndef LEAT_BASE_NUMBER_H
#define LEAT_BASE_NUMBER_H

#include "leat/base.h"

/* The double nearest to the text, as strtod reads it. */
double leat_double_parse(const char *text);
/*
 * The double nearest to a decimal text times 10^shift: [+|-]digits[.digits][e[+|-]digits] and
 * nothing else, in at most LEAT_DECIMAL_TEXT_MAX bytes. Infinite above the range of doubles.
 * Returns false, and *value 0, if the text is not a number. Fast for up to 19 digits; no locale, no
 * allocation.
 */
#define LEAT_DECIMAL_TEXT_MAX 400
bool leat_decimal_parse(const char *text, int64_t size_bytes, int shift, double *value);
/* Like "%.*g" and "%.*f" of printf; return the length. */
#define LEAT_DOUBLE_TEXT_BYTES 400 /* also for "%.*f" of any double with at most 64 decimals */
int leat_double_digits(double value, int digits, char text[LEAT_DOUBLE_TEXT_BYTES]);
int leat_double_decimals(double value, int decimals, char text[LEAT_DOUBLE_TEXT_BYTES]);
/* The fewest digits that read back as the same double. */
int leat_double_format(double value, char text[LEAT_DOUBLE_TEXT_BYTES]);
/*
 * The fewest digits that read back as the same double, or the same float, formatted like Python's
 * repr but always with a point: "30.0", "0.0003", "1.0e-08", "1.0e+16". (YAML 1.1 reads "1e-08" as
 * a string.) The value must be finite; return the length.
 */
#define LEAT_REPR_BYTES 32
int leat_double_repr(double value, char text[LEAT_REPR_BYTES]);
int leat_float_repr(float value, char text[LEAT_REPR_BYTES]);

#endif
