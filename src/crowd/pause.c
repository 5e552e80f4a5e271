/* See pause.h. */
#include "crowd/pause.h"

#include <time.h>

#include "base/thread.h"

enum { SLICE_MS = 50 };

leat_pause leat_pause_make(int64_t first_ms, int64_t most_ms) {
    return (leat_pause){.next_ms = first_ms,
                        .first_ms = first_ms,
                        .most_ms = most_ms,
                        .jitter = (uint64_t)leat_clock_ns()};
}

bool leat_pause_sleep(int64_t ms, const leat_stop *stop) {
    const int64_t until_ns = leat_clock_ns() + ms * 1000000;
    for (;;) {
        const int64_t left_ms = (until_ns - leat_clock_ns()) / 1000000;
        if (leat_stop_asked(stop)) return false;
        if (left_ms <= 0) return true;
        const int64_t now_ms = left_ms < SLICE_MS ? left_ms : SLICE_MS;
        nanosleep(&(struct timespec){.tv_nsec = now_ms * 1000000}, NULL);
    }
}

bool leat_pause_wait(leat_pause *pause, const leat_stop *stop) {
    /* between a half and all of it */
    pause->jitter = pause->jitter * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const int64_t half = pause->next_ms / 2;
    const int64_t ms = half + (int64_t)((pause->jitter >> 33) % (uint64_t)(half + 1));
    pause->next_ms = pause->next_ms * 2 < pause->most_ms ? pause->next_ms * 2 : pause->most_ms;
    return leat_pause_sleep(ms, stop);
}

void leat_pause_reset(leat_pause *pause) { pause->next_ms = pause->first_ms; }
