/*
 * Alarms: windows that alarm for one cause, with short gaps at most between them. What is told, and
 * when, is a function of the windows; gaps and the limit on alarms a minute are of bus time.
 *
 * An alarm that is held back is not forgotten while it goes on: an attack that lasts is told as
 * soon as the limit allows, however many short alarms came before it.
 */
#include "leat/detect.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"

#define MINUTE_S 60.0

/* An alarm that goes on. */
typedef struct open_alarm {
    leat_alarm alarm;
    double began_s, last_s; /* elapsed_s of its first and last frame so far */
    bool told;
} open_alarm;

struct leat_alarms {
    int64_t per_minute; /* 0: all */
    double *told_s;     /* [per_minute] when the last ones were told, as a ring */
    int64_t told_at, told_count;
    open_alarm of[LEAT_ALARMS_OPEN_MAX]; /* in the order in which they began */
    int count;
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
static bool end_alarm(leat_alarms *alarms, int at, leat_alarm_line *line) {
    open_alarm *of = &alarms->of[at];
    const bool told = of->told;
    if (told) {
        *line = line_of(alarms, &of->alarm, true);
    } else {
        alarms->counts.untold++;
        alarms->counts.held_back++;
    }
    alarms->count--;
    memmove(of, of + 1, (size_t)(alarms->count - at) * sizeof *of);
    return told;
}

/* elapsed_s of a window's first frame; a clock that steps back within it has passed no time. */
static double begin_of(const leat_alarm_window *window) {
    const double length_s = window->end_s - window->begin_s;
    return window->elapsed_s - (length_s > 0 ? length_s : 0);
}

static open_alarm *begin_alarm(leat_alarms *alarms, const leat_alarm_window *window) {
    open_alarm *of = &alarms->of[alarms->count++];
    *of = (open_alarm){.began_s = begin_of(window)};
    of->alarm = (leat_alarm){.number = ++alarms->counts.alarms,
                             .recording = window->recording,
                             .bus = window->bus,
                             .start = window->start,
                             .begin_s = window->begin_s,
                             .end_s = window->end_s,
                             .peak = window->score,
                             .peak_start = window->start,
                             .cause = window->cause};
    return of;
}

static void add_window(open_alarm *of, const leat_alarm_window *window) {
    leat_alarm *alarm = &of->alarm;
    alarm->windows++;
    if (window->end_s > alarm->end_s) alarm->end_s = window->end_s;
    of->last_s = window->elapsed_s;
    alarm->duration_s = of->last_s - of->began_s;
    if (window->score <= alarm->peak) return;
    alarm->peak = window->score;
    alarm->peak_start = window->start;
    alarm->cause = window->cause;
}

static bool is_same_cause(const leat_alarm_cause *a, const leat_alarm_cause *b) {
    return a->unknown == b->unknown && (a->unknown || strcmp(a->identifier, b->identifier) == 0);
}

static bool goes_on(const open_alarm *of, const leat_alarm_window *window) {
    return window->alarms && of->alarm.bus == window->bus &&
           of->alarm.recording == window->recording &&
           is_same_cause(&of->alarm.cause, &window->cause);
}

/* By a window that is not one of its own. */
static bool is_over(const open_alarm *of, const leat_alarm_window *window) {
    if (of->alarm.bus != window->bus) return false;
    return of->alarm.recording != window->recording ||
           begin_of(window) - of->last_s > LEAT_ALARM_GAP_S;
}

/* Ends those that are over; *same is the one that goes on, NULL: none. */
static int end_alarms(leat_alarms *alarms, const leat_alarm_window *window, open_alarm **same,
                      leat_alarm_line *lines) {
    int count = 0;
    *same = NULL;
    for (int i = 0; i < alarms->count;) {
        open_alarm *of = &alarms->of[i];
        if (goes_on(of, window)) *same = of;
        if (*same != of && is_over(of, window)) count += end_alarm(alarms, i, &lines[count]);
        else i++;
    }
    return count;
}

/* Makes room for one. */
static int end_idle(leat_alarms *alarms, leat_alarm_line *line) {
    int idle = 0;
    if (alarms->count < LEAT_ALARMS_OPEN_MAX) return 0;
    for (int i = 1; i < alarms->count; i++)
        if (alarms->of[i].last_s < alarms->of[idle].last_s) idle = i;
    return end_alarm(alarms, idle, line);
}

int leat_alarms_add(leat_alarms *alarms, const leat_alarm_window *window,
                    leat_alarm_line lines[LEAT_ALARM_LINES_MAX]) {
    open_alarm *of = NULL;
    int count = end_alarms(alarms, window, &of, lines);
    if (!window->alarms) return count;
    alarms->counts.windows++;
    if (of == NULL) {
        count += end_idle(alarms, &lines[count]);
        of = begin_alarm(alarms, window);
    }
    add_window(of, window);
    if (!of->told && may_tell(alarms, window->elapsed_s)) {
        of->told = true;
        lines[count++] = line_of(alarms, &of->alarm, false);
    }
    return count;
}

bool leat_alarms_end(leat_alarms *alarms, leat_alarm_line *line) {
    while (alarms->count > 0)
        if (end_alarm(alarms, 0, line)) return true;
    return false;
}

void leat_alarms_count(const leat_alarms *alarms, leat_alarm_counts *counts) {
    *counts = alarms->counts;
}
