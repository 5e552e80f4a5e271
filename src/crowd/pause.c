/* See pause.h. */
#include "crowd/pause.h"

#include <time.h>

#include "base/thread.h"

enum { SLICE_MS = 50 };

static int64_t awake_ns(void *of) { return (void)of, leat_clock_ns(); }
static int64_t boot_ns(void *of) { return (void)of, leat_clock_boot_ns(); }

const leat_clocks *leat_stop_clocks(const leat_stop *stop) {
    static const leat_clocks own = {awake_ns, boot_ns, NULL};
    return stop != NULL && stop->clocks != NULL ? stop->clocks : &own;
}

leat_pause leat_pause_make(int64_t first_ms, int64_t most_ms) {
    return (leat_pause){.next_ms = first_ms,
                        .first_ms = first_ms,
                        .most_ms = most_ms,
                        .jitter = (uint64_t)leat_clock_ns()};
}

/* The rest of the time, until it is over, the caller wants an end, or the machine has slept. */
typedef enum ending { OVER, STOPPED, SLEPT } ending;

static ending wait_ms(int64_t ms, const leat_stop *stop) {
    const leat_clocks *clocks = leat_stop_clocks(stop);
    const int64_t until_ns = clocks->boot_ns(clocks->of) + ms * 1000000;
    const int64_t asleep_ns = leat_asleep_ns(clocks);
    for (;;) {
        const int64_t left_ms = (until_ns - clocks->boot_ns(clocks->of)) / 1000000;
        if (leat_stop_asked(stop)) return STOPPED;
        if (leat_asleep_ns(clocks) - asleep_ns > LEAT_SLEPT_NS) return SLEPT;
        if (left_ms <= 0) return OVER;
        const int64_t now_ms = left_ms < SLICE_MS ? left_ms : SLICE_MS;
        nanosleep(&(struct timespec){.tv_nsec = now_ms * 1000000}, NULL);
    }
}

bool leat_pause_sleep(int64_t ms, const leat_stop *stop) { return wait_ms(ms, stop) != STOPPED; }

bool leat_pause_wait(leat_pause *pause, const leat_stop *stop) {
    /* between a half and all of it */
    pause->jitter = pause->jitter * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const int64_t half = pause->next_ms / 2;
    const int64_t ms = half + (int64_t)((pause->jitter >> 33) % (uint64_t)(half + 1));
    pause->next_ms = pause->next_ms * 2 < pause->most_ms ? pause->next_ms * 2 : pause->most_ms;
    const ending how = wait_ms(ms, stop);
    if (how == SLEPT) leat_pause_reset(pause);
    return how != STOPPED;
}

void leat_pause_reset(leat_pause *pause) { pause->next_ms = pause->first_ms; }
