/*
 * Renews the hold of a run from a thread and connection of its own, so that a coordinator that
 * computes for a long time keeps it. It ends if another coordinator has taken over; the next write
 * of this one meets the fence.
 */
#include "base/thread.h"
#include "crowd/coordinator.h"

static bool quits(void *of) { return atomic_load(&((leat_keeper *)of)->quit); }

static void *keeper_main(void *argument) {
    leat_keeper *self = argument;
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
        if (code == LEAT_OK) code = leat_store_renew_hold(pg, &self->hold, &why);
        if (code == LEAT_ERR_BUSY && leat_store_is_taken(pg)) break;
        if (code == LEAT_OK) leat_pause_reset(&again);
        if (!leat_pause_wait(code == LEAT_OK ? &rest : &again, &stop)) break;
    }
    leat_pg_close(pg);
    return NULL;
}

leat_code leat_keeper_start(leat_keeper *keeper, leat_error *err) {
    LEAT_ASSERT(!keeper->running && keeper->hold.fence > 0); /* what is not held is not renewed */
    atomic_store(&keeper->quit, false);
    LEAT_TRY(leat_thread_start(&keeper->thread, keeper_main, keeper, err));
    keeper->running = true;
    return LEAT_OK;
}

void leat_keeper_stop(leat_keeper *keeper) {
    if (!keeper->running) return;
    atomic_store(&keeper->quit, true);
    pthread_join(keeper->thread, NULL);
    keeper->running = false;
}
