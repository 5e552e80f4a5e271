/*
 * The steady clock of build/tests/leat_held, where LEAT_HELD_CLOCK is a number of nanoseconds: each
 * look at it is so much later than the one before. So what the command shows from time to time
 * depends on what it does, and not on how long that takes.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t step_ns; /* 0: the true clock */
static _Atomic int64_t looks;

__attribute__((constructor)) static void read_orders(void) {
    const char *orders = getenv("LEAT_HELD_CLOCK");
    if (orders != NULL) step_ns = strtoll(orders, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (clock != CLOCK_MONOTONIC || step_ns == 0)
        return (int)syscall(SYS_clock_gettime, clock, now);
    int64_t ns = 1000000000 + step_ns * atomic_fetch_add(&looks, 1);
    *now = (struct timespec){ns / 1000000000, ns % 1000000000};
    return 0;
}
