/* Threads, and waiting until another thread changes a word. For work in parts see base/pool.h. */
#ifndef LEAT_BASE_THREAD_H
#define LEAT_BASE_THREAD_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"

#define LEAT_THREADS_MAX 256

/* Starts one thread, which the caller joins. All signals except those of a crash are blocked in it:
 * signals sent to the program go to the program's own threads. */
LEAT_MUST_CHECK leat_code leat_thread_start(pthread_t *thread, void *(*run)(void *), void *argument,
                                            leat_error *err);

/* Threads that do the same work; {0}: none. */
typedef struct leat_threads {
    pthread_t *handles;
    int count;
} leat_threads;
/* Starts them. After a failure, those that were started run: tell them to end, and join them. */
LEAT_MUST_CHECK leat_code leat_threads_start(leat_threads *threads, int count, void *(*run)(void *),
                                             void *argument, leat_error *err);
/* Waits until all have ended; nothing if there are none. */
void leat_threads_join(leat_threads *threads);

/*
 * Sleeps while *word is `seen`, at most timeout_ns (negative: no limit); may return early. A thread
 * that changes the word and then calls leat_word_wake wakes that many sleepers. Costs nothing while
 * no thread sleeps, unlike a mutex and a condition variable.
 */
#define LEAT_WAKE_ALL INT_MAX
void leat_word_wait(_Atomic uint32_t *word, uint32_t seen, int64_t timeout_ns);
void leat_word_wake(_Atomic uint32_t *word, int count);

/* Number of processors that this process may use. */
int leat_cpu_count(void);

/* Monotonic clock in nanoseconds, only for rates and progress; never for results. */
int64_t leat_clock_ns(void);
/* The same, but it runs on while the machine sleeps. */
int64_t leat_clock_boot_ns(void);

#endif
