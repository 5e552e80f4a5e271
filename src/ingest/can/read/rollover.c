/*
 * Times that lack their day, month or year, as some recorders write them. A time is taken for the
 * first one that is not long before the line before: a clock that is set back a little stays in its
 * day, and one that goes from 23:59 to 0:00 comes to the next. So a pause of almost a whole day,
 * month or year is not seen; nothing in such a log shows it. A day that its month does not have is
 * not taken for one of a later month.
 */
#include "base/time.h"
#include "ingest/can/read/formats.h"

#define HOUR_US INT64_C(3600000000)
#define DAY_US (24 * HOUR_US)

static int64_t day_of(int64_t us) { return us / DAY_US - (us % DAY_US < 0 ? 1 : 0); }

/* False: the month does not have that day. */
static bool place(int64_t year, int month, const leat_can_moment *moment, int64_t *us) {
    if (moment->day < 1 || moment->day > leat_time_month_days(year, month)) return false;
    *us = leat_time_days(year, month, moment->day) * DAY_US + moment->day_us;
    return true;
}

/* The `step`-th possible time, from one that is too early on; false: there is none. */
static bool try_time(const leat_can_clock *clock, const leat_can_moment *moment, int step,
                     int64_t *us) {
    int64_t year, today = day_of(clock->last_us);
    int month, day;
    leat_time_date(today, &year, &month, &day);
    switch (clock->lack) {
    case LEAT_CAN_LACK_DAY: *us = (today + step - 1) * DAY_US + moment->day_us; return true;
    case LEAT_CAN_LACK_MONTH:
        if (!clock->dated && step != 1) return false; /* how long a month is, is not known */
        month += step - 1;
        if (month < 1) return place(year - 1, 12, moment, us);
        return month > 12 ? place(year + 1, month - 12, moment, us)
                          : place(year, month, moment, us);
    case LEAT_CAN_LACK_YEAR: return place(year + step - 1, moment->month, moment, us);
    default: return step == 0 && place(moment->year, moment->month, moment, us);
    }
}

bool leat_can_complete_time(const leat_can_clock *clock, const leat_can_moment *moment,
                            int64_t *us) {
    enum { STEPS = 4 };
    static const int days[] = {
        [LEAT_CAN_LACK_YEAR] = 366, [LEAT_CAN_LACK_MONTH] = 31, [LEAT_CAN_LACK_DAY] = 1};
    int64_t begin_us = clock->last_us - (clock->lack == LEAT_CAN_LACK_DAY ? HOUR_US : DAY_US);
    for (int step = 0; step < STEPS; step++) {
        if (!try_time(clock, moment, step, us)) continue;
        if (clock->lack == LEAT_CAN_LACK_NOTHING) return true;
        if (*us >= begin_us) return *us < begin_us + days[clock->lack] * DAY_US;
    }
    return false;
}
