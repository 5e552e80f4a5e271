/*
 * What makes build/tests/leat_held of the command: leat with fault points (src/base/fault.h), which
 * waits where a test wants it, so that the test can kill it, signal it or change its files there,
 * and not at a moment that a clock chooses (held.py). With LEAT_HELD="SAY GO CALL PATTERN" it waits
 * before the CALL-th call into the file system at which a path is there that the shell pattern
 * PATTERN names: it writes a byte to the descriptor SAY, and goes on when one arrives on GO or GO
 * is closed. Other threads go on until they call, too. Another byte says that a signal is noted.
 */
#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fault.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_held;                /* it is to wait, and has not yet waited */
static int say = -1, go = -1, call_number; /* calls until it waits */
static const char *pattern;

__attribute__((constructor)) static void read_orders(void) {
    const char *orders = getenv("LEAT_HELD");
    int taken = 0;
    if (orders == NULL) return;
    if (sscanf(orders, "%d %d %d %n", &say, &go, &call_number, &taken) != 3) abort();
    pattern = orders + taken;
    atomic_store(&is_held, true);
}

static void write_byte(char byte) {
    if (say >= 0 && write(say, &byte, 1) != 1) abort();
}

static bool is_there(void) {
    glob_t found;
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0) return false;
    globfree(&found);
    return true;
}

bool leat_fault_point(leat_fault_kind kind) {
    if (kind == LEAT_FAULT_ALLOC || kind == LEAT_FAULT_THREAD || !atomic_load(&is_held))
        return false;
    int number = errno; /* the caller's */
    char byte;
    pthread_mutex_lock(&lock);
    if (atomic_load(&is_held) && is_there() && --call_number == 0) {
        write_byte('h');
        while (read(go, &byte, 1) < 0 && errno == EINTR)
            ;
        atomic_store(&is_held, false);
    }
    pthread_mutex_unlock(&lock);
    errno = number;
    return false;
}

/* Linked in place of pthread_sigmask: once the command has noted its first signal, it lets the next
 * one end it (cli/command/progress.c). */
int __real_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before) {
    int failed = __real_pthread_sigmask(how, set, before);
    if (how == SIG_UNBLOCK && sigismember(set, SIGTERM) == 1) write_byte('s');
    return failed;
}
