/*
 * A pool of threads that runs a job in numbered parts.
 *
 * Parts are assigned in ascending order. The results of a job must depend only on the numbers of
 * its parts, never on the worker or on the number of threads: a job divides its work into the same
 * parts for 1 thread and for 256, unless parts only write results that no other part sees; and
 * results that must be combined in order are combined by `take`, which is called for part 0, 1, 2,
 * ...
 *
 * A call that fails returns the error of the lowest part that failed. All parts below it have been
 * made (and taken, if there is a `take`); parts above it may have been made, but are not taken. So
 * the error never depends on scheduling.
 */
#ifndef LEAT_BASE_POOL_H
#define LEAT_BASE_POOL_H

#include "base/thread.h"

typedef struct leat_pool leat_pool;

typedef struct leat_pool_job {
    /* The number of parts; ignored if there is a `fetch`. */
    int64_t parts;
    /* The maximum number of workers, numbered 0 .. threads - 1 (0: as many as the pool has). Each
     * works on one part at a time, so `worker` may index scratch space. Worker 0 is the caller. */
    int threads;
    void *context;
    /*
     * Fetches the input of a part, if the number of parts is known only after reading: called for
     * part 0, 1, 2, ..., one at a time, by the worker that then makes the part. *more is true on
     * entry; false means that there is no such part. NULL: nothing to fetch.
     */
    leat_code (*fetch)(void *context, int worker, int64_t part, bool *more, leat_error *err);
    /* Makes a part; calls for different parts overlap. */
    leat_code (*make)(void *context, int worker, int64_t part, leat_error *err);
    /*
     * Takes what `make` left in the worker's scratch space: called in the order of the parts, one
     * at a time, by the worker that made the part. A worker waits for its turn, so at most
     * `threads` results exist. NULL: nothing to take.
     */
    leat_code (*take)(void *context, int worker, int64_t part, leat_error *err);
} leat_pool_job;

/* Starts threads - 1 threads (1 to LEAT_THREADS_MAX); if one cannot be started, the others are
 * ended. They sleep between calls, with all signals blocked except those of a crash. */
LEAT_MUST_CHECK leat_code leat_pool_create(leat_pool **out, int threads, leat_error *err);
void leat_pool_destroy(leat_pool *pool);
int leat_pool_threads(const leat_pool *pool);

/*
 * Runs a job and returns when no worker is in it any more. Allocates nothing. LEAT_ERR_BUSY: the
 * pool is already running a job, because a part calls the pool that it runs on, or because two
 * threads share the pool.
 */
LEAT_MUST_CHECK leat_code leat_pool_run(leat_pool *pool, const leat_pool_job *job, leat_error *err);

/* Whether the result of this part of the running job is still wanted; false once a lower part has
 * failed. A long part may check it, and then return any error, which is ignored. */
bool leat_pool_wants(const leat_pool *pool, int64_t part);

/* Runs one job on its own pool of job->threads threads (at least 1), or one thread per part if
 * there are fewer parts. */
LEAT_MUST_CHECK leat_code leat_pool_once(const leat_pool_job *job, leat_error *err);

#endif
