/*
 * Renews the hold of a run from a thread and connection of its own, so that a coordinator that
 * computes for a long time keeps it. It ends if another coordinator has taken over; the next write
 * of this one meets the fence. The same thread looks for sessions that block the coordinator
 * (blockers.h), which the coordinator itself cannot while it waits for them. Without a hold, it
 * does only that, for a coordinator that waits to take the run.
 */
#include <stdio.h>

#include "base/thread.h"
#include "crowd/coordinator.h"

/* How long it waits for a lock, and between two looks while somebody blocks. */
enum { LOCK_WAIT_MS = 2000, LOOK_MS = 1000 };

static bool quits(void *of) { return atomic_load(&((leat_hold_renewer *)of)->quit); }

static void keep_line(leat_hold_renewer *self, const char *line) {
    pthread_mutex_lock(&self->lock);
    if (line[0] != 0) snprintf(self->line, sizeof self->line, "%s", line);
    pthread_mutex_unlock(&self->lock);
}

bool leat_hold_renewer_hear(leat_hold_renewer *renewer, char line[LEAT_BLOCKER_LINE_BYTES]) {
    /* also after it was stopped: what ended the wait of the coordinator may be its last word */
    if (renewer->running) pthread_mutex_lock(&renewer->lock);
    snprintf(line, LEAT_BLOCKER_LINE_BYTES, "%s", renewer->line);
    renewer->line[0] = 0;
    if (renewer->running) pthread_mutex_unlock(&renewer->lock);
    return line[0] != 0;
}

static leat_code connect_to(leat_hold_renewer *self, const leat_stop *stop, leat_pg **pg,
                            leat_error *err) {
    char sql[64];
    leat_pg_close(*pg);
    LEAT_TRY(leat_pg_connect(pg, &self->place, "leat coordinate (hold)",
                             (int)self->options->hold_ms, stop, err));
    snprintf(sql, sizeof sql, "set lock_timeout = %d", LOCK_WAIT_MS);
    return leat_pg_script(*pg, sql, err);
}

static leat_code look(leat_hold_renewer *self, leat_pg *pg, leat_error *err) {
    const leat_code code =
        leat_blockers_look(&self->blockers, pg, &self->hold, leat_clock_ns(), err);
    keep_line(self, self->blockers.line);
    return leat_pg_broken(pg) ? code : LEAT_OK; /* nothing else depends on it */
}

static void *renewer_main(void *argument) {
    leat_hold_renewer *self = argument;
    const leat_coordinate_options *options = self->options;
    const int64_t every_ms = options->hold_ms / 3 > 0 ? options->hold_ms / 3 : 1;
    leat_pause rest = leat_pause_make(every_ms, every_ms);
    /* after a failure it tries again sooner: the hold runs out, also while the machine sleeps */
    leat_pause again = leat_pause_make(every_ms / 4 > 0 ? every_ms / 4 : 1, every_ms);
    const leat_stop stop = {.asked = quits, .of = self};
    leat_pg *pg = NULL;
    /* who connects and takes the run at once needs no second connection for it */
    if (self->hold.fence == 0) (void)leat_pause_sleep(LOOK_MS, &stop);
    while (!atomic_load(&self->quit)) {
        leat_error why = {0};
        leat_code code = LEAT_OK;
        if (pg == NULL || leat_pg_broken(pg)) code = connect_to(self, &stop, &pg, &why);
        if (code == LEAT_OK) code = look(self, pg, &why);
        if (code == LEAT_OK && self->hold.fence > 0)
            code = leat_database_renew_hold(pg, &self->hold, &why);
        if (code == LEAT_ERR_BUSY && leat_database_is_taken(pg)) break;
        if (code == LEAT_OK) leat_pause_reset(&again);
        leat_pause *const pause = code == LEAT_OK ? &rest : &again;
        const bool goes_on = self->blockers.count > 0 && every_ms > LOOK_MS
                                 ? leat_pause_sleep(LOOK_MS, &stop)
                                 : leat_pause_wait(pause, &stop);
        if (!goes_on) break;
    }
    leat_pg_close(pg);
    return NULL;
}

leat_code leat_hold_renewer_start(leat_hold_renewer *renewer, leat_error *err) {
    LEAT_ASSERT(!renewer->running);
    atomic_store(&renewer->quit, false);
    renewer->blockers = (leat_blockers){0};
    renewer->line[0] = 0;
    pthread_mutex_init(&renewer->lock, NULL);
    LEAT_TRY(leat_thread_start(&renewer->thread, renewer_main, renewer, err));
    renewer->running = true;
    return LEAT_OK;
}

void leat_hold_renewer_stop(leat_hold_renewer *renewer) {
    if (!renewer->running) return;
    atomic_store(&renewer->quit, true);
    pthread_join(renewer->thread, NULL);
    pthread_mutex_destroy(&renewer->lock);
    renewer->running = false;
}
