/*
 * Days and dates: see time.h. Years begin in March here, so that a leap day is the last day of its
 * year; 400 years have 146097 days, and March 1 of year 0 is day -719468.
 */
#include "base/time.h"

#include <stdio.h>
#include <string.h>

#define US_PER_DAY INT64_C(86400000000)
#define ERA_DAYS 146097
#define ERA_BEGIN 719468

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

int64_t leat_time_days(int64_t year, int month, int day) {
    int64_t y = month > 2 ? year : year - 1, era = floor_div(y, 400), of_era = y - era * 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - ERA_BEGIN;
}

int leat_time_month_days(int64_t year, int month) {
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

void leat_time_date(int64_t days, int64_t *year, int *month, int *day) {
    int64_t shifted = days + ERA_BEGIN, era = floor_div(shifted, ERA_DAYS);
    int64_t of_era = shifted - era * ERA_DAYS;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t march_month = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * march_month + 2) / 5) + 1;
    *month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
    *year = year_of_era + era * 400 + (*month <= 2 ? 1 : 0);
}

int leat_time_format(int64_t us, char text[LEAT_TIME_TEXT_BYTES]) {
    int64_t days = floor_div(us, US_PER_DAY), rest = us - days * US_PER_DAY, year;
    int month, day;
    leat_time_date(days, &year, &month, &day);
    return snprintf(text, LEAT_TIME_TEXT_BYTES, "%04lld-%02d-%02dT%02d:%02d:%02d.%06dZ",
                    (long long)year, month, day, (int)(rest / 3600000000),
                    (int)(rest / 60000000 % 60), (int)(rest / 1000000 % 60), (int)(rest % 1000000));
}

/* `count` digits as a number, or -1. */
static int64_t digits(const char *text, size_t count) {
    int64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

bool leat_time_parse(const char *text, int64_t *us) {
    static const char after_year[] =
        "-..-..T..:..:.........Z"; /* the dots are digits and one dot */
    size_t size = strlen(text), tail = sizeof(after_year) - 1;
    *us = 0;
    if (size < tail + 4 || size > tail + 6 || (size > tail + 4 && text[0] == '0')) return false;
    const char *at = text + size - tail;
    for (size_t i = 0; i < tail; i++) {
        if (after_year[i] != '.' && at[i] != after_year[i]) return false;
    }
    int64_t year = digits(text, size - tail), month = digits(at + 1, 2), day = digits(at + 4, 2);
    int64_t hour = digits(at + 7, 2), minute = digits(at + 10, 2), second = digits(at + 13, 2);
    int64_t micro = digits(at + 16, 6);
    if (year < 1970 || month < 1 || month > 12 || day < 1 || at[15] != '.') return false;
    if (day > leat_time_month_days(year, (int)month) || hour < 0 || hour > 23 || minute < 0 ||
        minute > 59 || second < 0 || second > 59 || micro < 0) {
        return false;
    }
    int64_t days = leat_time_days(year, (int)month, (int)day);
    int64_t in_day = ((hour * 60 + minute) * 60 + second) * 1000000 + micro;
    int64_t value = 0;
    if (__builtin_mul_overflow(days, US_PER_DAY, &value)) return false;
    if (__builtin_add_overflow(value, in_day, &value)) return false;
    *us = value;
    return true;
}
