/*
 * Numbers as decimal text, whatever the locale: strtod and printf write and expect the decimal
 * point of the program's locale, these always a full stop. (leat_float_format is in leat/base.h.)
 */
#ifndef LEAT_BASE_NUMBER_H
#define LEAT_BASE_NUMBER_H

#include "leat/base.h"

/* The double nearest to the text, as strtod reads it. */
double leat_double_parse(const char *text);
/*
 * The double nearest to a decimal text times 10^shift: [+|-]digits[.digits][e[+|-]digits], all of
 * size_bytes and nothing else, at most LEAT_DECIMAL_TEXT_MAX of them. Beyond the doubles infinite.
 * False if it is none, and *value 0. Fast for up to 19 digits; no locale, no allocation.
 */
#define LEAT_DECIMAL_TEXT_MAX 400
bool leat_decimal_parse(const char *text, int64_t size_bytes, int shift, double *value);
/* As printf writes "%.*g", and "%.*f"; return the length. */
#define LEAT_DOUBLE_TEXT_BYTES 400 /* also for "%.*f" of any double with at most 64 decimals */
int leat_double_digits(double value, int digits, char text[LEAT_DOUBLE_TEXT_BYTES]);
int leat_double_decimals(double value, int decimals, char text[LEAT_DOUBLE_TEXT_BYTES]);
/* The least digits that read back as the same double. */
int leat_double_format(double value, char text[LEAT_DOUBLE_TEXT_BYTES]);

#endif
