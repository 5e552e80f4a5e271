/*
 * A pool of threads: see pool.h.
 *
 * The caller of a job works on it as well, and never waits for a thread that has not begun. A call
 * stores the job, opens the door, wakes as many threads as there are places, and processes parts
 * until none are left. Then it closes the door and waits for the workers inside. A thread that
 * wakes late finds the door closed and sleeps again. So a job of a few short parts costs the caller
 * a few atomic operations and one system call, even if the machine has no idle processor.
 *
 * The door is one word: the number of places left and of workers inside. Entering moves one from
 * the first to the second, in one step, so a worker is either inside, where the job cannot change,
 * or it reads nothing of the job.
 *
 * Why the error is that of the lowest part: `next` assigns parts in ascending order, and `failed`
 * only decreases, to parts that failed. So the lowest part that fails was assigned before any
 * higher one, finds `failed` above itself, and is processed.
 *
 * A waiting thread spins for some microseconds, since calls often follow each other closely, and
 * then sleeps; if there are more threads than processors, it sleeps at once.
 */
#include "base/pool.h"

#include "base/mem.h"

#define INSIDE_ONE UINT32_C(1)
#define INSIDE_MASK UINT32_C(0x3ff)
#define PLACE_SHIFT 10
#define PLACE_ONE (UINT32_C(1) << PLACE_SHIFT)
#define PLACE_MASK (UINT32_C(0x3ff) << PLACE_SHIFT)
#define AWAITED (UINT32_C(1) << 31) /* the caller sleeps until all workers have left */
_Static_assert(LEAT_THREADS_MAX <= 0x3ff, "places are counted in ten bits");

#define NONE_FAILED INT64_MAX
enum { SPINS = 500 };

struct leat_pool {
    int threads, spins;
    leat_threads others; /* besides the caller of a job */
    atomic_bool busy, stopped;
    /* Threads without work sleep on `call`, which counts the calls. */
    _Atomic uint32_t call, door;
    atomic_int sleepers;
    /* The current job; constant while the door is open or a worker is inside. */
    leat_pool_job job;
    int workers;
    _Atomic int64_t next;
    _Atomic int64_t failed; /* the lowest failed part */
    pthread_mutex_t lock;   /* for fetching, and for the members below */
    bool ended;             /* nothing is left to fetch */
    leat_error failure;     /* of part `failed` */
    /* Workers whose part is not the next to take sleep on `turn`, which changes with `taken` and
     * `failed`. */
    _Atomic uint32_t turn;
    _Atomic int64_t taken; /* all parts before it are taken */
    atomic_int turn_sleepers;
};

/* ---- waiting ----------------------------------------------------------------------------------
 */

static void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Whether the word changed while this spun. */
static bool spin(const leat_pool *pool, const _Atomic uint32_t *word, uint32_t seen) {
    for (int i = 0; i < pool->spins; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != seen) return true;
        pause_briefly();
    }
    return atomic_load(word) != seen;
}

/* Sleeps while the word is `seen`. Code that changes the word checks `sleepers` afterwards. */
static void sleep_on(_Atomic uint32_t *word, uint32_t seen, atomic_int *sleepers) {
    atomic_fetch_add(sleepers, 1);
    leat_word_wait(word, seen, -1);
    atomic_fetch_sub(sleepers, 1);
}

/* ---- parts ------------------------------------------------------------------------------------
 */

static void next_turn(leat_pool *pool) {
    atomic_fetch_add(&pool->turn, 1);
    if (atomic_load(&pool->turn_sleepers) > 0) leat_word_wake(&pool->turn, LEAT_WAKE_ALL);
}

/* Called with the lock held. */
static void keep_failure(leat_pool *pool, int64_t part, leat_code code, const leat_error *failure) {
    if (part >= atomic_load(&pool->failed)) return;
    pool->failure = *failure;
    pool->failure.code = code;
    atomic_store(&pool->failed, part);
    next_turn(pool); /* later parts need not wait any longer */
}

static bool fetch(leat_pool *pool, int worker, int64_t part) {
    leat_error err = {0};
    bool more = true;
    leat_code code = pool->job.fetch(pool->job.context, worker, part, &more, &err);
    if (code != LEAT_OK) keep_failure(pool, part, code, &err);
    return code == LEAT_OK && more;
}

/* The next part for a worker; false: there is none, or a lower part has failed. */
static bool take_next(leat_pool *pool, int worker, int64_t *part) {
    if (pool->job.fetch == NULL) {
        *part = atomic_fetch_add(&pool->next, 1);
        return *part < pool->job.parts && *part < atomic_load(&pool->failed);
    }
    pthread_mutex_lock(&pool->lock);
    *part = atomic_load(&pool->next);
    bool found = !pool->ended && *part < atomic_load(&pool->failed) && fetch(pool, worker, *part);
    pool->ended = !found;
    if (found) atomic_store(&pool->next, *part + 1);
    pthread_mutex_unlock(&pool->lock);
    return found;
}

/* Waits until all lower parts are taken; false: one of them has failed. */
static bool wait_for_turn(leat_pool *pool, int64_t part) {
    for (;;) {
        uint32_t seen = atomic_load(&pool->turn);
        if (part > atomic_load(&pool->failed)) return false;
        if (part == atomic_load(&pool->taken)) return true;
        if (!spin(pool, &pool->turn, seen)) sleep_on(&pool->turn, seen, &pool->turn_sleepers);
    }
}

static leat_code take_in_order(leat_pool *pool, int worker, int64_t part, leat_error *err) {
    if (!wait_for_turn(pool, part)) return LEAT_OK;
    LEAT_TRY(pool->job.take(pool->job.context, worker, part, err));
    atomic_store(&pool->taken, part + 1);
    next_turn(pool);
    return LEAT_OK;
}

static void work(leat_pool *pool, int worker) {
    const leat_pool_job *job = &pool->job;
    leat_error err;
    int64_t part = 0;
    err.message[0] = 0;
    while (take_next(pool, worker, &part)) {
        leat_code code = job->make(job->context, worker, part, &err);
        if (code == LEAT_OK && job->take != NULL) code = take_in_order(pool, worker, part, &err);
        if (code == LEAT_OK) continue;
        pthread_mutex_lock(&pool->lock);
        keep_failure(pool, part, code, &err);
        pthread_mutex_unlock(&pool->lock);
    }
}

/* ---- the door ---------------------------------------------------------------------------------
 */

/* Takes a place in the running job, with the number of a worker. */
static bool enter(leat_pool *pool, int *worker) {
    uint32_t door = atomic_load(&pool->door);
    do {
        if ((door & PLACE_MASK) == 0) return false;
    } while (!atomic_compare_exchange_weak(&pool->door, &door, door - PLACE_ONE + INSIDE_ONE));
    *worker = pool->workers - (int)((door & PLACE_MASK) >> PLACE_SHIFT);
    return true;
}

static void leave(leat_pool *pool) {
    uint32_t door = atomic_fetch_sub(&pool->door, INSIDE_ONE) - INSIDE_ONE;
    if (door == AWAITED) leat_word_wake(&pool->door, LEAT_WAKE_ALL);
}

static void open_door(leat_pool *pool) {
    LEAT_ASSERT(atomic_load(&pool->door) == 0);
    atomic_store(&pool->door, (uint32_t)(pool->workers - 1) << PLACE_SHIFT);
    atomic_fetch_add(&pool->call, 1);
    if (atomic_load(&pool->sleepers) > 0) leat_word_wake(&pool->call, pool->workers - 1);
}

/* Admits no more workers, and waits until all have left. */
static void close_door(leat_pool *pool) {
    uint32_t door = atomic_fetch_and(&pool->door, ~PLACE_MASK) & ~PLACE_MASK;
    while ((door & INSIDE_MASK) != 0) {
        if (!spin(pool, &pool->door, door)) {
            uint32_t awaited = door | AWAITED;
            if (atomic_compare_exchange_strong(&pool->door, &door, awaited))
                leat_word_wait(&pool->door, awaited, -1);
        }
        door = atomic_load(&pool->door);
    }
    atomic_store(&pool->door, 0);
}

static void *thread_main(void *argument) {
    leat_pool *pool = argument;
    uint32_t seen = 0;
    while (!atomic_load(&pool->stopped)) {
        uint32_t call = atomic_load(&pool->call);
        int worker = 0;
        if (call == seen) {
            if (!spin(pool, &pool->call, seen)) sleep_on(&pool->call, seen, &pool->sleepers);
            continue;
        }
        seen = call;
        if (!enter(pool, &worker)) continue;
        work(pool, worker);
        leave(pool);
    }
    return NULL;
}

/* ---- the pool ---------------------------------------------------------------------------------
 */

leat_code leat_pool_create(leat_pool **out, int threads, leat_error *err) {
    LEAT_ASSERT(threads >= 1 && threads <= LEAT_THREADS_MAX);
    leat_pool *pool = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&pool, 1, err));
    pool->threads = threads;
    pool->spins = threads <= leat_cpu_count() ? SPINS : 0;
    pthread_mutex_init(&pool->lock, NULL);
    leat_code code = leat_threads_start(&pool->others, threads - 1, thread_main, pool, err);
    if (code == LEAT_OK) *out = pool;
    else leat_pool_destroy(pool);
    return code;
}

void leat_pool_destroy(leat_pool *pool) {
    if (pool == NULL) return;
    LEAT_ASSERT(!atomic_load(&pool->busy));
    atomic_store(&pool->stopped, true);
    atomic_fetch_add(&pool->call, 1);
    leat_word_wake(&pool->call, LEAT_WAKE_ALL);
    leat_threads_join(&pool->others);
    pthread_mutex_destroy(&pool->lock);
    leat_free(pool);
}

int leat_pool_threads(const leat_pool *pool) { return pool->threads; }

bool leat_pool_wants(const leat_pool *pool, int64_t part) {
    return part <= atomic_load(&pool->failed);
}

static int count_workers(const leat_pool *pool, const leat_pool_job *job) {
    int workers = pool->threads;
    if (job->threads > 0 && job->threads < workers) workers = job->threads;
    if (job->fetch == NULL && job->parts < workers) workers = (int)job->parts;
    return workers > 0 ? workers : 1;
}

leat_code leat_pool_run(leat_pool *pool, const leat_pool_job *job, leat_error *err) {
    if (atomic_exchange(&pool->busy, true))
        return leat_fail(err, LEAT_ERR_BUSY,
                         "pool: a job is already running on this pool of %d threads; a part must "
                         "not call the pool that it runs on",
                         pool->threads);
    pool->job = *job;
    pool->workers = count_workers(pool, job);
    pool->ended = false;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->taken, 0);
    atomic_store(&pool->failed, NONE_FAILED);
    if (pool->workers > 1) open_door(pool);
    work(pool, 0);
    if (pool->workers > 1) close_door(pool);
    leat_code code = LEAT_OK;
    if (atomic_load(&pool->failed) != NONE_FAILED) code = leat_error_copy(err, &pool->failure);
    atomic_store(&pool->busy, false);
    return code;
}

leat_code leat_pool_once(const leat_pool_job *job, leat_error *err) {
    leat_pool *pool = NULL;
    int threads = job->threads;
    if (job->fetch == NULL && job->parts < threads) threads = (int)job->parts;
    LEAT_TRY(leat_pool_create(&pool, threads > 0 ? threads : 1, err));
    leat_code code = leat_pool_run(pool, job, err);
    leat_pool_destroy(pool);
    return code;
}
