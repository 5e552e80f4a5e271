/* Groups of threads. Errors are reported by index, not by time, so that a run fails the same way.
 */
#include "base/thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/mem.h"

typedef struct run_member {
    leat_thread_fn fn;
    void *context;
    int index;
    pthread_t thread;
    bool started;
    leat_code code;
    leat_error err;
} run_member;

static void *member_main(void *argument) {
    run_member *member = argument;
    member->code = member->fn(member->context, member->index, &member->err);
    return NULL;
}

leat_code leat_thread_start(pthread_t *thread, void *(*run)(void *), void *argument,
                            leat_error *err) {
    int number = EAGAIN;
    if (!LEAT_FAULT(LEAT_FAULT_THREAD)) number = pthread_create(thread, NULL, run, argument);
    if (number == 0) return LEAT_OK;
    return leat_fail_errno(err, number,
                           "cannot start another thread: give fewer --threads, or raise the limit "
                           "on threads of this user (ulimit -u) or container");
}

leat_code leat_threads_run(int count, leat_thread_fn fn, void *context, leat_error *err) {
    LEAT_ASSERT(count >= 1 && count <= LEAT_THREADS_MAX);
    if (count == 1) return fn(context, 0, err);
    run_member *members = NULL;
    LEAT_TRY(LEAT_NEW(&members, count, err));
    leat_code code = LEAT_OK;
    for (int i = 0; i < count; i++) {
        members[i].fn = fn;
        members[i].context = context;
        members[i].index = i;
    }
    leat_error not_started = {0};
    for (int i = 1; i < count; i++) {
        members[i].started = leat_thread_start(&members[i].thread, member_main, &members[i],
                                               &not_started) == LEAT_OK;
    }
    member_main(&members[0]);
    for (int i = 1; i < count; i++) {
        if (members[i].started) pthread_join(members[i].thread, NULL);
    }
    for (int i = 0; i < count && code == LEAT_OK; i++) {
        if (members[i].code != LEAT_OK) {
            code = members[i].code;
            leat_error_copy(err, &members[i].err);
        }
    }
    if (code == LEAT_OK && not_started.code != LEAT_OK) code = leat_error_copy(err, &not_started);
    leat_free(members);
    return code;
}

void leat_word_wait(_Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns) {
    struct timespec limit = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, timeout_ns < 0 ? NULL : &limit, NULL, 0);
}

void leat_word_wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

int leat_cpu_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : count > LEAT_THREADS_MAX ? LEAT_THREADS_MAX : count;
}

int64_t leat_clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
