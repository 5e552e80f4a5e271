/*
 * Identifiers that are missing from a bus. Only those that have come since the recording began are
 * missed: the vocabulary may be of several vehicles, and a new recording may be of another one.
 * Time counts while other frames come: while nothing does, for longer than the floor, the bus is
 * silent, and nobody is missing.
 */
#ifndef LEAT_DETECT_ABSENCES_H
#define LEAT_DETECT_ABSENCES_H

#include "leat/detect.h"

typedef struct leat_absences {
    struct leat_presence {
        double limit_s;          /* infinite: its interval is not known */
        double last_s, active_s; /* its last frame: bus time, and in active_s below */
        bool seen, missing;
    } * of;                    /* [count] */
    leat_live_absence *events; /* [count + 1] */
    int64_t count, event_count, missing;
    double floor_s;
    double active_s; /* of the recording, without silence and steps back */
    double due_s;    /* nobody is overdue before */
} leat_absences;

LEAT_MUST_CHECK leat_code leat_absences_make(leat_absences *absences,
                                             const leat_detect_context *context,
                                             const leat_live_options *options, leat_error *err);
void leat_absences_free(leat_absences *absences);
int64_t leat_absences_bytes(int64_t count);
/* A new recording: all are forgotten. */
void leat_absences_restart(leat_absences *absences);
/* A frame, `passed_s` after the latest one of its recording that was added; `index`: its
 * identifier, or any number from `count` on. Fills events. */
void leat_absences_add(leat_absences *absences, const leat_detect_context *context, uint32_t index,
                       double time_s, double passed_s);

#endif
