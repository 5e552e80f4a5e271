/* Starting threads, sleeping and waking, processors and clock: see thread.h. */
#include "base/thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/mem.h"

/* Faults caused by a thread itself must still reach it (base/map.h). */
static void block_signals(sigset_t *before) {
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, before);
}

leat_code leat_thread_start(pthread_t *thread, void *(*run)(void *), void *argument,
                            leat_error *err) {
    sigset_t before;
    int number = EAGAIN;
    block_signals(&before); /* a thread inherits the mask of the thread that starts it */
    if (!LEAT_FAULT(LEAT_FAULT_THREAD)) number = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (number == 0) return LEAT_OK;
    return leat_fail_errno(err, number,
                           "cannot start another thread: give fewer --threads, or raise the limit "
                           "on threads of this user (ulimit -u) or container");
}

leat_code leat_threads_start(leat_threads *threads, int count, void *(*run)(void *), void *argument,
                             leat_error *err) {
    threads->count = 0;
    LEAT_TRY(LEAT_NEW(&threads->handles, count, err));
    while (threads->count < count) {
        LEAT_TRY(leat_thread_start(&threads->handles[threads->count], run, argument, err));
        threads->count++;
    }
    return LEAT_OK;
}

void leat_threads_join(leat_threads *threads) {
    for (int i = 0; i < threads->count; i++) pthread_join(threads->handles[i], NULL);
    leat_free(threads->handles);
    *threads = (leat_threads){0};
}

void leat_word_wait(_Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns) {
    struct timespec limit = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, timeout_ns < 0 ? NULL : &limit, NULL, 0);
}

void leat_word_wake(_Atomic uint32_t *word, int count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

int leat_cpu_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : count > LEAT_THREADS_MAX ? LEAT_THREADS_MAX : count;
}

static int64_t read_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t leat_clock_ns(void) { return read_ns(CLOCK_MONOTONIC); }
int64_t leat_clock_boot_ns(void) { return read_ns(CLOCK_BOOTTIME); }
