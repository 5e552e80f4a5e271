/*
 * Pauses between tries: they grow, with jitter, so that many machines that lost the same server do
 * not come back at the same moment. Only when something is done depends on it, never what.
 */
#ifndef LEAT_CROWD_PAUSE_H
#define LEAT_CROWD_PAUSE_H

#include "base/error.h"
#include "crowd/stop.h"

typedef struct leat_pause {
    int64_t next_ms; /* of the next pause, before jitter */
    int64_t first_ms, most_ms;
    uint64_t jitter;
} leat_pause;

leat_pause leat_pause_make(int64_t first_ms, int64_t most_ms);
/* Waits, and doubles the next one. If the machine has slept, the wait is over at once and the next
 * one is the first again: a network that was away is there now. False: stopped (`stop` may be
 * NULL). */
bool leat_pause_wait(leat_pause *pause, const leat_stop *stop);
/* After a success. */
void leat_pause_reset(leat_pause *pause);
/* Waits a time without jitter, in slices, or until the machine has slept. False: stopped. */
bool leat_pause_sleep(int64_t ms, const leat_stop *stop);

#endif
