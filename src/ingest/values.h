/* Values as text: what CSV and NDJSON hold, and what rejected.csv shows. None depends on a locale.
 */
#ifndef LEAT_INGEST_VALUES_H
#define LEAT_INGEST_VALUES_H

#include "base/time.h"
#include "ingest/source.h"

/*
 * Readers take the whole text, blanks around a number or time allowed; false if it is no such
 * value. An empty text is a missing value.
 */

/* "2019-04-24 20:00:00[.fraction][Z|+hh[:mm]|+hhmm]" with a blank or T between, without zone UTC;
 * or epoch seconds, decimal. Digits behind the microsecond are floored; beyond 64 bits:
 * LEAT_TIME_PAST or LEAT_TIME_FUTURE. */
bool leat_time_of_text(const char *text, int64_t size_bytes, int64_t *time_us);
/* Seconds of a JSON number, floored to the microsecond as if its shortest text were read. */
int64_t leat_time_of_seconds(double seconds);
/* Whole seconds, or ticks of which `per_second` make one (1, 1000, 1000000, 1000000000). */
int64_t leat_time_of_ticks(int64_t ticks, int64_t per_second);
/* The double nearest to the decimal text, rounded to float; "nan", "inf" are known. */
bool leat_rtt_parse(const char *text, int64_t size_bytes, float *rtt);
/* A whole number ("4", "4.0"), clamped to 32 bits; missing is 0. */
bool leat_version_parse(const char *text, int64_t size_bytes, int32_t *version);

/* Returns the length; a missing value gives no text. */
int leat_time_to_text(int64_t time_us, char text[LEAT_TIME_TEXT_BYTES]);

/* Appends a field of CSV, in quotes where it needs them; a longer text is cut at max_bytes. */
LEAT_MUST_CHECK leat_code leat_csv_append(leat_buf *buf, const char *text, int64_t size_bytes,
                                          int64_t max_bytes, leat_error *err);

#endif
