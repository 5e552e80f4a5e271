/*
 * Renews the hold of a run from a thread and connection of its own, so that a coordinator that
 * computes for a long time keeps it. It ends if another coordinator has taken over; the next write
 * of this one meets the fence.
 */
#include "base/thread.h"
#include "crowd/coordinator.h"

static bool quits(void *of) { return atomic_load(&((leat_hold_renewer *)of)->quit); }

static void *renewer_main(void *argument) {
    leat_hold_renewer *self = argument;
    const leat_coordinate_options *options = self->options;
    const int64_t every_ms = options->hold_ms / 3 > 0 ? options->hold_ms / 3 : 1;
    leat_pause rest = leat_pause_make(every_ms, every_ms);
    /* after a failure it tries again sooner: the hold runs out, also while the machine sleeps */
    leat_pause again = leat_pause_make(every_ms / 4 > 0 ? every_ms / 4 : 1, every_ms);
    const leat_stop stop = {.asked = quits, .of = self};
    leat_pg *pg = NULL;
    while (!atomic_load(&self->quit)) {
        leat_error why = {0};
        leat_code code = LEAT_OK;
        if (pg == NULL || leat_pg_broken(pg)) {
            leat_pg_close(pg);
            code = leat_pg_connect(&pg, &self->place, "leat coordinate (hold)",
                                   (int)options->hold_ms, &stop, &why);
        }
        if (code == LEAT_OK) code = leat_database_renew_hold(pg, &self->hold, &why);
        if (code == LEAT_ERR_BUSY && leat_database_is_taken(pg)) break;
        if (code == LEAT_OK) leat_pause_reset(&again);
        if (!leat_pause_wait(code == LEAT_OK ? &rest : &again, &stop)) break;
    }
    leat_pg_close(pg);
    return NULL;
}

leat_code leat_hold_renewer_start(leat_hold_renewer *renewer, leat_error *err) {
    LEAT_ASSERT(!renewer->running && renewer->hold.fence > 0); /* what is not held is not renewed */
    atomic_store(&renewer->quit, false);
    LEAT_TRY(leat_thread_start(&renewer->thread, renewer_main, renewer, err));
    renewer->running = true;
    return LEAT_OK;
}

void leat_hold_renewer_stop(leat_hold_renewer *renewer) {
    if (!renewer->running) return;
    atomic_store(&renewer->quit, true);
    pthread_join(renewer->thread, NULL);
    renewer->running = false;
}
