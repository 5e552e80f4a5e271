/* Threads: a group that runs one function, and the first error of several threads. */
#ifndef LEAT_BASE_THREAD_H
#define LEAT_BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

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

/*
 * Sleeps while *word is `seen`, at most timeout_ns (below 0: without end); may return early. Who
 * changes the word and then calls leat_word_wake wakes all sleepers. Costs nothing while nobody
 * sleeps, unlike a lock and a condition.
 */
void leat_word_wait(_Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns);
void leat_word_wake(_Atomic uint32_t *word);

/* Number of processors that this process may use. */
int leat_cpu_count(void);

/* Monotonic clock in nanoseconds, for rates and progress only; never for results. */
int64_t leat_clock_ns(void);

#endif
