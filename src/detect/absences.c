/* Missing identifiers. Who is overdue is asked only at the first time at which somebody can be, so
 * that a frame costs a comparison, not a walk over the vocabulary. */
#include "detect/absences.h"

#include <math.h>

#include "base/error.h"
#include "base/mem.h"

int64_t leat_absences_bytes(int64_t count) {
    return count * (int64_t)sizeof(struct leat_presence) +
           (count + 1) * (int64_t)sizeof(leat_live_absence);
}

leat_code leat_absences_make(leat_absences *absences, const leat_detect_context *context,
                             const leat_live_options *options, leat_error *err) {
    *absences = (leat_absences){.count = context->identifier_count,
                                .floor_s = options->overdue_floor_s,
                                .due_s = (double)INFINITY};
    leat_code code = LEAT_NEW(&absences->of, absences->count, err);
    if (code == LEAT_OK) code = LEAT_NEW(&absences->events, absences->count + 1, err);
    for (int64_t i = 0; i < absences->count && code == LEAT_OK; i++) {
        const double interval_s = context->interval_s != NULL ? context->interval_s[i] : 0;
        const double limit_s = fmax(interval_s * options->overdue_intervals, absences->floor_s);
        absences->of[i].limit_s = interval_s > 0 ? limit_s : (double)INFINITY;
    }
    if (code != LEAT_OK) leat_absences_free(absences);
    return code;
}

void leat_absences_free(leat_absences *absences) {
    leat_free(absences->of);
    leat_free(absences->events);
    *absences = (leat_absences){0};
}

void leat_absences_restart(leat_absences *absences) {
    for (int64_t i = 0; i < absences->count; i++)
        absences->of[i].seen = absences->of[i].missing = false;
    absences->missing = 0;
    absences->active_s = 0;
    absences->due_s = (double)INFINITY;
}

static void tell(leat_absences *absences, const leat_detect_context *context, int64_t index,
                 bool returned) {
    const struct leat_presence *of = &absences->of[index];
    absences->events[absences->event_count++] =
        (leat_live_absence){.identifier = index,
                            .returned = returned,
                            .last_s = of->last_s,
                            .silent_s = absences->active_s - of->active_s,
                            .interval_s = context->interval_s[index]};
    absences->missing += returned ? -1 : 1;
}

/* Whoever is overdue by now; and when somebody else can be. */
static void look_around(leat_absences *absences, const leat_detect_context *context) {
    absences->due_s = (double)INFINITY;
    for (int64_t i = 0; i < absences->count; i++) {
        struct leat_presence *of = &absences->of[i];
        if (!of->seen || of->missing) continue;
        const double due_s = of->active_s + of->limit_s;
        if (due_s < absences->active_s) {
            of->missing = true;
            tell(absences, context, i, false);
        } else if (due_s < absences->due_s) {
            absences->due_s = due_s;
        }
    }
}

void leat_absences_add(leat_absences *absences, const leat_detect_context *context, uint32_t index,
                       double time_s, double passed_s) {
    absences->event_count = 0;
    if (passed_s > 0 && passed_s <= absences->floor_s) absences->active_s += passed_s;
    if (index < absences->count && isfinite(absences->of[index].limit_s)) {
        struct leat_presence *of = &absences->of[index];
        if (of->missing) tell(absences, context, index, true);
        if (!of->seen || of->missing)
            absences->due_s = fmin(absences->due_s, absences->active_s + of->limit_s);
        of->seen = true;
        of->missing = false;
        of->last_s = time_s;
        of->active_s = absences->active_s;
    }
    if (absences->due_s < absences->active_s) look_around(absences, context);
}
