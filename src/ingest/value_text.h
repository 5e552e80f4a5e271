/* Values as text: what CSV and NDJSON contain, and what rejected.csv shows. Nothing here depends on
 * a locale. */
#ifndef LEAT_INGEST_VALUE_TEXT_H
#define LEAT_INGEST_VALUE_TEXT_H

#include "base/time.h"
#include "ingest/source.h"

/*
 * Readers take the complete text, with optional blanks around a number or time, and return false if
 * it is invalid. An empty text is a missing value.
 */

/* A whole number, which may have a fraction of zeros or an exponent ("4", "4.0", "1.7e+09"),
 * clamped to 64 bits; false: it is not one, or empty. */
bool leat_whole_parse(const char *text, int64_t size_bytes, int64_t *value);
/*
 * "2019-04-24 20:00:00[.fraction][Z|+hh[:mm]|+hhmm]" with a space or T in between, UTC without a
 * zone; or a decimal number since 1970 in the given unit, which may have an exponent.
 * LEAT_TIME_UNIT_AUTO: seconds if it has a fraction; a whole number below 10^11 is seconds, below
 * 10^14 milliseconds, below 10^17 microseconds, else nanoseconds, and bit 1 << leat_time_unit of
 * *units is set (NULL: not wanted). Fractions of a microsecond are floored; outside the 64-bit
 * range: LEAT_TIME_PAST or LEAT_TIME_FUTURE.
 */
bool leat_time_read(const char *text, int64_t size_bytes, leat_time_unit unit, int64_t *time_us,
                    uint8_t *units);
/* The same with LEAT_TIME_UNIT_AUTO. */
bool leat_time_of_text(const char *text, int64_t size_bytes, int64_t *time_us);
/* The same of a JSON number, as if its shortest text were read; and of a whole number, where the
 * ends of the 64-bit range are no times. */
int64_t leat_time_of_real(double number, leat_time_unit unit, uint8_t *units);
int64_t leat_time_of_integer(int64_t number, leat_time_unit unit, uint8_t *units);
/* Whole seconds, or ticks at `per_second` (1, 1000, 1000000, 1000000000). */
int64_t leat_time_of_ticks(int64_t ticks, int64_t per_second);
/* The double nearest to the decimal text, in milliseconds, rounded to float; accepts "nan" and
 * "inf". The words that programs write for a missing value are one: NA, N/A, NULL, None, NaN, \\N;
 * and so are those for a lost ping: -, *, timeout, false, U, x. */
bool leat_rtt_read(const char *text, int64_t size_bytes, leat_rtt_unit unit, float *rtt);
/* The same of milliseconds. */
bool leat_rtt_parse(const char *text, int64_t size_bytes, float *rtt);
/* The same in the unit of the text, as written; NaN: missing. */
bool leat_rtt_number(const char *text, int64_t size_bytes, double *number);
float leat_rtt_of_number(double value, leat_rtt_unit unit);
/* A whole number, clamped to 32 bits; 0: it is missing, or a word for a missing value. */
bool leat_version_parse(const char *text, int64_t size_bytes, int32_t *version);

/* Returns the length; a missing value becomes an empty text. */
int leat_time_to_text(int64_t time_us, char text[LEAT_TIME_TEXT_BYTES]);

/* Appends a field of rejected.csv, quoted if necessary, and with a leading apostrophe if a
 * spreadsheet could interpret it as a formula: before "=", "+", "-", "@", TAB and CR unless the
 * field is a decimal number, and before an apostrophe. Text longer than max_bytes is truncated. */
LEAT_MUST_CHECK leat_code leat_csv_append(leat_buf *buf, const char *text, int64_t size_bytes,
                                          int64_t max_bytes, leat_error *err);

#endif
