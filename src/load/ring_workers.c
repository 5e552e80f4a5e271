/*
 * The threads of a ring: they take tickets and make parts of steps.
 *
 * A worker is `busy` while it looks at the ring or makes a part. Whoever wants the ring for itself
 * (leat_ring_park) says so first and then waits until nobody is busy; a worker says that it is
 * busy first and then looks whether the ring is wanted. One of the two always sees the other. The
 * same way nobody sleeps through a change: sleepers count themselves before they compare the word
 * that every change counts up.
 */
#include <signal.h>

#include "load/ring.h"

/* ---- sleeping and waking ------------------------------------------------------------------------
 */

static void announce(_Atomic uint32_t *word, _Atomic int *sleepers) {
    atomic_fetch_add(word, 1);
    if (atomic_load(sleepers) > 0) leat_word_wake(word);
}

void leat_ring_announce(leat_ring *ring) { announce(&ring->work_word, &ring->work_sleepers); }

static void announce_done(leat_ring *ring) { announce(&ring->done_word, &ring->done_sleepers); }

/* ---- a worker -----------------------------------------------------------------------------------
 */

static int64_t step_of(const leat_worker *worker) {
    const leat_ring *ring = worker->ring;
    return atomic_load_explicit(&ring->first_step, memory_order_relaxed) +
           worker->ticket / ring->work.parts;
}

/* Claims a ticket unless it has one; whether its step may be worked on. */
static bool claim(leat_worker *worker) {
    leat_ring *ring = worker->ring;
    uint32_t generation = atomic_load(&ring->generation);
    if (worker->ticket < 0 || worker->generation != generation) {
        worker->generation = generation;
        worker->ticket = atomic_fetch_add_explicit(&ring->ticket, 1, memory_order_relaxed);
    }
    int64_t step = step_of(worker);
    return step < atomic_load(&ring->limit) && step < atomic_load(&ring->end);
}

static void work_aside(leat_worker *worker, bool *again) {
    const leat_ring_work *work = &worker->ring->work;
    *again = work->aside != NULL && work->aside(worker->maker);
}

/* Busy, with a ticket to work on; false: the ring ends. */
static bool enter(leat_worker *worker) {
    leat_ring *ring = worker->ring;
    for (;;) {
        bool again = false;
        uint32_t word = atomic_load(&ring->work_word);
        if (atomic_load(&ring->stopped)) return false;
        atomic_store(&worker->busy, 1);
        bool paused = atomic_load(&ring->paused);
        if (!paused && claim(worker)) return true;
        if (!paused) work_aside(worker, &again);
        atomic_store(&worker->busy, 0);
        if (atomic_load(&ring->paused)) announce_done(ring);
        if (again) continue;
        atomic_fetch_add(&ring->work_sleepers, 1);
        leat_word_wait(&ring->work_word, word, -1);
        atomic_fetch_sub(&ring->work_sleepers, 1);
    }
}

static void leave(leat_worker *worker) {
    worker->ticket = -1;
    atomic_store(&worker->busy, 0);
    if (atomic_load(&worker->ring->paused)) announce_done(worker->ring);
}

/* Keeps the failure of the lowest part, whichever comes first. */
static void keep_failure(leat_ring *ring, leat_slot *slot, int64_t part, const leat_error *err) {
    pthread_mutex_lock(&ring->lock);
    if (slot->failed_part < 0 || part < slot->failed_part) {
        slot->failed_part = part;
        slot->err = *err;
    }
    pthread_mutex_unlock(&ring->lock);
}

static void make_part(leat_worker *worker) {
    leat_ring *ring = worker->ring;
    int64_t part = worker->ticket % ring->work.parts;
    leat_slot *slot = ring->places[step_of(worker) % ring->ring_size];
    leat_error err = {0};
    leat_code code = ring->work.make(worker->maker, slot, part, &err);
    if (code != LEAT_OK) keep_failure(ring, slot, part, &err);
    if (atomic_fetch_sub_explicit(&slot->parts_left, 1, memory_order_acq_rel) == 1) {
        atomic_store(&slot->is_ready, 1);
        announce_done(ring);
    }
}

static void *worker_main(void *context) {
    leat_worker *worker = context;
    while (enter(worker)) {
        int64_t begun_ns = leat_clock_ns();
        make_part(worker);
        leave(worker);
        int64_t work_ns = atomic_load_explicit(&worker->work_ns, memory_order_relaxed);
        atomic_store_explicit(&worker->work_ns, work_ns + leat_clock_ns() - begun_ns,
                              memory_order_relaxed);
    }
    return NULL;
}

/* ---- all of them --------------------------------------------------------------------------------
 */

/* Signals to the program are for the threads that it has without us; what a thread of ours does
 * wrong itself must reach it still (base/map.h). */
static void block_signals(sigset_t *before) {
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, before);
}

static leat_code start_workers(leat_ring *ring, int threads, leat_error *err) {
    for (int i = 0; i < threads; i++) {
        leat_worker *worker = &ring->workers[i];
        worker->ring = ring;
        worker->ticket = -1;
        LEAT_TRY(ring->work.maker_create(ring->work.plan, &worker->maker, err));
        ring->worker_count = i + 1;
        LEAT_TRY(leat_thread_start(&worker->thread, worker_main, worker, err));
        worker->is_started = true;
    }
    return LEAT_OK;
}

leat_code leat_ring_start(leat_ring *ring, int threads, leat_error *err) {
    sigset_t before;
    LEAT_TRY(LEAT_NEW(&ring->workers, threads, err));
    block_signals(&before); /* threads begin with the mask of their maker */
    leat_code code = start_workers(ring, threads, err);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

void leat_ring_stop(leat_ring *ring) {
    atomic_store(&ring->stopped, 1);
    leat_ring_announce(ring);
    for (int i = 0; i < ring->worker_count; i++) {
        if (ring->workers[i].is_started) pthread_join(ring->workers[i].thread, NULL);
        ring->work.maker_destroy(ring->workers[i].maker);
    }
    leat_free(ring->workers);
    ring->workers = NULL;
    ring->worker_count = 0;
}

void leat_ring_park(leat_ring *ring) {
    atomic_store(&ring->paused, 1);
    for (int i = 0; i < ring->worker_count; i++) {
        while (atomic_load(&ring->workers[i].busy)) {
            uint32_t word = atomic_load(&ring->done_word);
            atomic_fetch_add(&ring->done_sleepers, 1);
            if (atomic_load(&ring->workers[i].busy)) leat_word_wait(&ring->done_word, word, -1);
            atomic_fetch_sub(&ring->done_sleepers, 1);
        }
    }
}

void leat_ring_unpark(leat_ring *ring) {
    atomic_fetch_add(&ring->generation, 1);
    atomic_store(&ring->paused, 0);
    leat_ring_announce(ring);
}

bool leat_slot_wait(leat_ring *ring, const leat_slot *slot, int64_t timeout_ns) {
    if (atomic_load_explicit(&slot->is_ready, memory_order_acquire)) return true;
    int64_t begun_ns = leat_clock_ns(), now_ns = begun_ns;
    atomic_store_explicit(&ring->waiting_since_ns, begun_ns, memory_order_relaxed);
    bool ready = false;
    for (;;) {
        uint32_t word = atomic_load(&ring->done_word);
        ready = atomic_load(&slot->is_ready);
        int64_t left_ns = timeout_ns < 0 ? -1 : timeout_ns - (now_ns - begun_ns);
        if (ready || (timeout_ns >= 0 && left_ns <= 0)) break;
        atomic_fetch_add(&ring->done_sleepers, 1);
        leat_word_wait(&ring->done_word, word, left_ns);
        atomic_fetch_sub(&ring->done_sleepers, 1);
        now_ns = leat_clock_ns();
    }
    int64_t stall_ns = atomic_load_explicit(&ring->stall_ns, memory_order_relaxed);
    atomic_store_explicit(&ring->stall_ns, stall_ns + leat_clock_ns() - begun_ns,
                          memory_order_relaxed);
    atomic_store_explicit(&ring->waiting_since_ns, 0, memory_order_relaxed);
    return ready;
}
