/* See availability.h. */
#include "crowd/availability.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/machine.h"
#include "base/thread.h"

enum { HOUR = 60, DAY = 24 * HOUR };

/* ---- quiet hours ---------------------------------------------------------------------------- */

static bool is_within(int begin, int end, int minute) {
    if (begin < end) return minute >= begin && minute < end;
    return minute >= begin || minute < end; /* over midnight */
}

static bool is_quiet(const leat_quiet_hours *quiet, int minute) {
    for (int i = 0; i < quiet->count; i++)
        if (is_within(quiet->begin[i], quiet->end[i], minute)) return true;
    return false;
}

int leat_quiet_left(const leat_quiet_hours *quiet, int minute) {
    int left = 0;
    while (left < DAY && is_quiet(quiet, (minute + left) % DAY)) left++;
    return left;
}

/* "HH:MM" in minutes, up to `last`, which follows it; -1: it is not one. */
static int take_minute(const char **at, const char *last) {
    const char *text = *at;
    for (int i = 0; i < 5; i++)
        if (i == 2 ? text[i] != ':' : text[i] < '0' || text[i] > '9') return -1;
    const int hours = (text[0] - '0') * 10 + text[1] - '0';
    const int minutes = (text[3] - '0') * 10 + text[4] - '0';
    if (hours >= DAY / HOUR || minutes >= HOUR || strchr(last, text[5]) == NULL) return -1;
    *at = text[5] == 0 ? text + 5 : text + 6;
    return hours * HOUR + minutes;
}

leat_code leat_quiet_hours_parse(leat_quiet_hours *out, const char *text, leat_error *err) {
    leat_quiet_hours of = {0};
    const char *at = text;
    *out = of;
    do {
        const int begin = take_minute(&at, "-"), end = begin < 0 ? -1 : take_minute(&at, ",");
        if (end < 0 || (*at == 0 && at[-1] == ','))
            return leat_fail(err, LEAT_ERR_OPTION,
                             "quiet-hours: \"%.80s\" is not like 22:00-07:00 or "
                             "12:00-13:00,22:00-07:00",
                             text);
        if (begin == end)
            return leat_fail(err, LEAT_ERR_OPTION,
                             "quiet-hours: in \"%.80s\", %02d:%02d is both begin and end", text,
                             begin / HOUR, begin % HOUR);
        if (of.count == LEAT_QUIET_HOURS_MAX)
            return leat_fail(err, LEAT_ERR_OPTION, "quiet-hours: at most %d spans",
                             LEAT_QUIET_HOURS_MAX);
        of.begin[of.count] = begin;
        of.end[of.count++] = end;
    } while (*at != 0);
    if (leat_quiet_left(&of, 0) == DAY)
        return leat_fail(err, LEAT_ERR_OPTION, "quiet-hours: \"%.80s\" is all day", text);
    *out = of;
    return LEAT_OK;
}

/* ---- this machine --------------------------------------------------------------------------- */

static int32_t minute_now(void *of) {
    const time_t now = time(NULL);
    struct tm local;
    (void)of;
    return localtime_r(&now, &local) != NULL ? local.tm_hour * HOUR + local.tm_min : 0;
}

leat_host leat_host_own(void) {
    return (leat_host){
        .clocks = *leat_stop_clocks(NULL), .minute = minute_now, .power = LEAT_MACHINE_POWER};
}

/* ---- whether it takes units ----------------------------------------------------------------- */

static leat_availability judge(const leat_host *host, const leat_work_options *options) {
    const int minute = options->quiet.count > 0 ? host->minute(host->clocks.of) : 0;
    const int left = leat_quiet_left(&options->quiet, minute);
    if (left > 0) return (leat_availability){LEAT_UNAVAILABLE_QUIET, (minute + left) % DAY};
    if (options->pause_on_battery && leat_machine_on_battery(host->power))
        return (leat_availability){LEAT_UNAVAILABLE_BATTERY, 0};
    return (leat_availability){LEAT_AVAILABLE, 0};
}

bool leat_availability_look(leat_availability *availability, const leat_host *host,
                            const leat_work_options *options,
                            char line[LEAT_AVAILABILITY_LINE_BYTES]) {
    static const char *const over[] = {"", "the quiet hours are over", "on mains power again"};
    const leat_availability before = *availability;
    *availability = judge(host, options);
    if (availability->state == before.state && availability->end == before.end) return false;
    if (availability->state == LEAT_AVAILABLE)
        snprintf(line, LEAT_AVAILABILITY_LINE_BYTES, "%s: takes units", over[before.state]);
    else if (availability->state == LEAT_UNAVAILABLE_QUIET)
        snprintf(line, LEAT_AVAILABILITY_LINE_BYTES, "quiet hours: takes no units until %02d:%02d",
                 availability->end / HOUR, availability->end % HOUR);
    else
        snprintf(line, LEAT_AVAILABILITY_LINE_BYTES,
                 "on battery: takes no units until it is on mains power");
    return true;
}
