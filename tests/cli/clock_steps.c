/*
 * Clocks that are set back, for a process that has this preloaded (test_clock_slow.py):
 *
 *   LEAT_CLOCKS=wall     the time of day goes back by an hour at every fifth call
 *   LEAT_CLOCKS=steady   and the clock that never goes back does, by 30 s at every 20th call
 *   LEAT_CLOCKS=fast     a second of the clock for durations is ten minutes
 *   LEAT_CLOCKS=far      the time of day is an hour or ten years ahead or late, in turns (also
 *                        tests/crowd/test_clocks_slow.py)
 *
 * The first two are never ahead of the true time, so that who waits until one does not wait for
 * ever.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_long wall_calls, steady_calls;
static bool is_steady, is_far, is_fast;

__attribute__((constructor)) static void begin(void) {
    const char *which = getenv("LEAT_CLOCKS");
    is_steady = which != NULL && strcmp(which, "steady") == 0;
    is_fast = which != NULL && strcmp(which, "fast") == 0;
    is_far = which != NULL && strcmp(which, "far") == 0;
}

/* What the time of day is off by at its n-th call. */
static long shift(long n) {
    static const long hour = 3600, years = 10 * 31557600L;
    const long far[] = {hour, -years, -hour, years};
    return is_far ? far[n % 4] : -hour * (n / 5 % 50);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    long failed = syscall(SYS_clock_gettime, clock, now);
    if (failed != 0) return -1;
    if (clock == CLOCK_MONOTONIC && is_fast) {
        const long long ns = (now->tv_sec * 1000000000LL + now->tv_nsec) * 600;
        *now = (struct timespec){ns / 1000000000, ns % 1000000000};
    }
    if (clock == CLOCK_REALTIME && !is_fast) now->tv_sec += shift(atomic_fetch_add(&wall_calls, 1));
    if (clock != CLOCK_MONOTONIC || !is_steady) return 0;
    now->tv_sec -= 30 * (atomic_fetch_add(&steady_calls, 1) / 20 % 8);
    if (now->tv_sec < 1) now->tv_sec = 1;
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL) *out = now.tv_sec;
    return now.tv_sec;
}
