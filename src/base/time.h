/* The Gregorian calendar, UTC, without leap seconds; and times as ISO 8601 text. (More functions
 * are in leat/base.h.) */
#ifndef LEAT_BASE_TIME_H
#define LEAT_BASE_TIME_H

#include "leat/base.h"

/* Days of a month, 1..12. */
int leat_time_month_days(int64_t year, int month);
/* The date of a day since 1970-01-01, as leat_time_days counts them. */
void leat_time_date(int64_t days, int64_t *year, int *month, int *day);
/* Parses the output of leat_time_format, for times from 1970 on; false if the text is anything
 * else. */
bool leat_time_parse(const char *text, int64_t *us);

#endif
