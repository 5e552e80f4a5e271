/* The Gregorian calendar, UTC, without leap seconds; and times as ISO 8601 text. */
#ifndef LEAT_BASE_TIME_H
#define LEAT_BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* Days of a month, 1..12. */
int leat_time_month_days(int64_t year, int month);
/* Days from 1970-01-01 to a day; negative before it. */
int64_t leat_time_days(int64_t year, int month, int day);

/* "2019-04-24T00:00:00.000000Z", NUL-terminated, for any count of microseconds since 1970; returns
 * the length. */
#define LEAT_TIME_TEXT_BYTES 40
int leat_time_format(int64_t us, char text[LEAT_TIME_TEXT_BYTES]);
/* And back, for times from 1970 on; false if the text is not exactly that. */
bool leat_time_parse(const char *text, int64_t *us);

#endif
