/*
 * Alarms: windows that alarm one after the other for the same identifier. What is told, and when,
 * is a function of the windows; the limit on alarms a minute counts bus time.
 *
 * An alarm that is held back is not forgotten while it goes on: an attack that lasts is told as
 * soon as the limit allows, however many short alarms came before it.
 */
#include "leat/detect.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"

#define MINUTE_S 60.0

/* The alarm of a capture that goes on. */
typedef struct open_alarm {
    leat_alarm alarm;
    bool open, told;
    bool known; /* the slot is that of alarm.bus */
} open_alarm;

struct leat_alarms {
    int64_t per_minute; /* 0: all */
    double *told_s;     /* [per_minute] when the last ones were told, as a ring */
    int64_t told_at, told_count;
    open_alarm of[LEAT_LIVE_BUSES_MAX]; /* of each bus */
    leat_alarm_counts counts;
};

int32_t leat_feature_byte(int32_t feature) {
    const bool byte = feature >= 0 && feature < 3 * LEAT_CAN_BYTES; /* mean, std, range */
    return byte ? feature % LEAT_CAN_BYTES : -1;
}

leat_code leat_alarms_create(leat_alarms **out, int64_t per_minute, leat_error *err) {
    leat_alarms *alarms = NULL;
    *out = NULL;
    if (per_minute < 0 || per_minute > LEAT_ALARMS_PER_MINUTE_MAX)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "--alarms-per-minute must be between 0 (all of them) and %d, not %lld",
                         LEAT_ALARMS_PER_MINUTE_MAX, (long long)per_minute);
    LEAT_TRY(LEAT_NEW(&alarms, 1, err));
    alarms->per_minute = per_minute;
    const leat_code code = LEAT_NEW(&alarms->told_s, per_minute, err);
    if (code != LEAT_OK) leat_alarms_destroy(alarms);
    else *out = alarms;
    return code;
}

void leat_alarms_destroy(leat_alarms *alarms) {
    if (alarms == NULL) return;
    leat_free(alarms->told_s);
    leat_free(alarms);
}

/* Whether another alarm may be told now; if so, it counts as told. */
static bool may_tell(leat_alarms *alarms, double elapsed_s) {
    if (alarms->per_minute == 0) return true;
    const bool full = alarms->told_count == alarms->per_minute;
    if (full && elapsed_s - alarms->told_s[alarms->told_at] < MINUTE_S) return false;
    alarms->told_s[alarms->told_at] = elapsed_s;
    alarms->told_at = (alarms->told_at + 1) % alarms->per_minute;
    alarms->told_count += !full;
    return true;
}

static leat_alarm_line line_of(leat_alarms *alarms, const leat_alarm *alarm, bool ended) {
    const leat_alarm_line line = {
        .ended = ended, .alarm = *alarm, .held_back = alarms->counts.untold};
    alarms->counts.untold = 0;
    return line;
}

/* Returns whether there is a line. */
static bool end_alarm(leat_alarms *alarms, open_alarm *of, leat_alarm_line *line) {
    of->open = false;
    if (of->told) {
        *line = line_of(alarms, &of->alarm, true);
        return true;
    }
    alarms->counts.untold++;
    alarms->counts.held_back++;
    return false;
}

static void begin_alarm(leat_alarms *alarms, open_alarm *of, const leat_alarm_window *window) {
    of->open = true;
    of->told = false;
    of->alarm = (leat_alarm){.number = ++alarms->counts.alarms,
                             .recording = window->recording,
                             .bus = window->bus,
                             .start = window->start,
                             .begin_s = window->begin_s,
                             .end_s = window->end_s,
                             .peak = window->score,
                             .peak_start = window->start,
                             .cause = window->cause};
}

static void add_window(leat_alarm *alarm, const leat_alarm_window *window) {
    alarm->windows++;
    if (window->end_s > alarm->end_s) alarm->end_s = window->end_s;
    if (window->score <= alarm->peak) return;
    alarm->peak = window->score;
    alarm->peak_start = window->start;
    alarm->cause = window->cause;
}

/* That of a bus; of more buses than leat_live has, they share the last one. */
static open_alarm *find_open(leat_alarms *alarms, int32_t bus) {
    int at = 0;
    while (at < LEAT_LIVE_BUSES_MAX - 1 && alarms->of[at].known && alarms->of[at].alarm.bus != bus)
        at++;
    if (!alarms->of[at].known) alarms->of[at].alarm.bus = bus;
    alarms->of[at].known = true;
    return &alarms->of[at];
}

int leat_alarms_add(leat_alarms *alarms, const leat_alarm_window *window,
                    leat_alarm_line lines[2]) {
    open_alarm *of = find_open(alarms, window->bus);
    int count = 0;
    const bool same = of->open && window->alarms && of->alarm.bus == window->bus &&
                      of->alarm.recording == window->recording &&
                      strcmp(of->alarm.cause.identifier, window->cause.identifier) == 0;
    if (of->open && !same) count += end_alarm(alarms, of, &lines[count]);
    if (!window->alarms) return count;
    alarms->counts.windows++;
    if (!same) begin_alarm(alarms, of, window);
    add_window(&of->alarm, window);
    if (!of->told && may_tell(alarms, window->elapsed_s)) {
        of->told = true;
        lines[count++] = line_of(alarms, &of->alarm, false);
    }
    return count;
}

bool leat_alarms_end(leat_alarms *alarms, leat_alarm_line *line) {
    for (int i = 0; i < LEAT_LIVE_BUSES_MAX; i++) {
        if (alarms->of[i].open && end_alarm(alarms, &alarms->of[i], line)) return true;
    }
    return false;
}

void leat_alarms_count(const leat_alarms *alarms, leat_alarm_counts *counts) {
    *counts = alarms->counts;
}
