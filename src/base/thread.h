/* Threads: a group that runs one function, and the first error of several threads. */
#ifndef LEAT_BASE_THREAD_H
#define LEAT_BASE_THREAD_H

#include <pthread.h>

#include "base/error.h"

#define LEAT_THREADS_MAX 256

/*
 * Runs fn(context, index) for index 0..count-1, each in a thread of its own (the caller's is one),
 * and waits for all. Returns the error of the lowest index that failed. A thread that cannot be
 * started is an error; those started are still waited for, so fn must look at a shared stop flag.
 */
typedef leat_code (*leat_thread_fn)(void *context, int index, leat_error *err);
LEAT_MUST_CHECK leat_code leat_threads_run(int count, leat_thread_fn fn, void *context,
                                           leat_error *err);

/* Starts one thread, which the caller joins. */
LEAT_MUST_CHECK leat_code leat_thread_start(pthread_t *thread, void *(*run)(void *), void *argument,
                                            leat_error *err);

/* Number of processors that this process may use. */
int leat_cpu_count(void);

/* Monotonic clock in nanoseconds, for rates and progress only; never for results. */
int64_t leat_clock_ns(void);

#endif
