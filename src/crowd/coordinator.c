/* What all files of the coordinator ask of it, and tell its caller. */
#include "crowd/coordinator.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void leat_coordinator_say(const leat_coordinator *self, const char *format, ...) {
    char line[2 * LEAT_PG_URL_BYTES];
    va_list args;
    if (self->options->say == NULL) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    self->options->say(self->options->user, line);
}

bool leat_coordinator_stopped(leat_coordinator *self) {
    const leat_train_options *train = &self->options->train;
    const leat_session *session = &self->session;
    if (self->stopped || train->progress == NULL) return self->stopped;
    const leat_progress progress = {"training", "steps", leat_trainer_state(session->trainer)->step,
                                    session->steps};
    self->stopped = !train->progress(train->user, &progress);
    return self->stopped;
}

leat_code leat_coordinator_units(const leat_coordinator *self, int64_t step, int64_t *units,
                                 leat_error *err) {
    *units = 0;
    if (step < 0 || step >= self->session.steps) return LEAT_OK;
    return leat_feed_units(&self->session.feed, step, units, err);
}

void leat_coordinator_say_blockers(leat_coordinator *self) {
    char line[LEAT_BLOCKER_LINE_BYTES];
    if (leat_hold_renewer_hear(&self->renewer, line)) leat_coordinator_say(self, "%s", line);
}

bool leat_coordinator_is_new(const leat_coordinator *self) {
    const leat_session *session = &self->session;
    return !session->folder.exists && session->taken == 0 && session->saved_step < 0;
}

bool leat_coordinator_is_local(const leat_coordinator *self) {
    return strcmp(self->options->url, LEAT_LOCAL_URL) == 0;
}
