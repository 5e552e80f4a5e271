/*
 * The threads of a ring: they take tickets and make parts of steps.
 *
 * A worker is `busy` while it uses the ring or makes a part. A caller that needs the ring for
 * itself (leat_ring_park) announces that first and then waits until no worker is busy; a worker
 * first announces that it is busy and then checks whether the ring is wanted. So one of the two
 * always sees the other. In the same way no thread sleeps through a change: sleepers count
 * themselves before they compare the word that every change increments.
 */
#include "load/ring.h"

/* ---- sleeping and waking ------------------------------------------------------------------------
 */

static void announce(_Atomic uint32_t *word, _Atomic int *sleepers) {
    atomic_fetch_add(word, 1);
    if (atomic_load(sleepers) > 0) leat_word_wake(word, LEAT_WAKE_ALL);
}

void leat_ring_announce(leat_ring *ring) { announce(&ring->work_word, &ring->work_sleepers); }

static void announce_done(leat_ring *ring) { announce(&ring->done_word, &ring->done_sleepers); }

/* Since an earlier reading of the clock; 0 where it has gone back meanwhile. */
static int64_t since(int64_t begun_ns) {
    int64_t passed_ns = leat_clock_ns() - begun_ns;
    return passed_ns > 0 ? passed_ns : 0;
}

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
    LEAT_ASSERT(worker->ticket >= 0 && atomic_load(&worker->busy));
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
    int64_t step = step_of(worker);
    leat_slot *slot = ring->places[step % ring->ring_size];
    leat_error err = {0};
    /* a slot in the caller's hands, or of another step, is never written to */
    LEAT_ASSERT(atomic_load_explicit(&slot->state, memory_order_relaxed) == LEAT_SLOT_RING);
    LEAT_ASSERT(slot->step == step && !atomic_load(&slot->is_ready));
    leat_code code = ring->work.make(worker->maker, slot, part, &err);
    if (code != LEAT_OK) keep_failure(ring, slot, part, &err);
    int64_t parts = atomic_fetch_sub_explicit(&slot->parts_left, 1, memory_order_acq_rel);
    LEAT_ASSERT(parts >= 1 && parts <= ring->work.parts);
    if (parts == 1) {
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
        atomic_store_explicit(&worker->work_ns, work_ns + since(begun_ns), memory_order_relaxed);
    }
    return NULL;
}

/* ---- all of them --------------------------------------------------------------------------------
 */

leat_code leat_ring_start(leat_ring *ring, int threads, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&ring->workers, threads, err));
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
    int64_t now_ns = leat_clock_ns(), waited_ns = 0;
    atomic_store_explicit(&ring->waiting_since_ns, now_ns, memory_order_relaxed);
    bool ready = false;
    for (;;) {
        uint32_t word = atomic_load(&ring->done_word);
        ready = atomic_load(&slot->is_ready);
        int64_t left_ns = timeout_ns < 0 ? -1 : timeout_ns - waited_ns;
        if (ready || (timeout_ns >= 0 && left_ns <= 0)) break;
        atomic_fetch_add(&ring->done_sleepers, 1);
        leat_word_wait(&ring->done_word, word, left_ns);
        atomic_fetch_sub(&ring->done_sleepers, 1);
        waited_ns += since(now_ns);
        now_ns = leat_clock_ns();
    }
    int64_t stall_ns = atomic_load_explicit(&ring->stall_ns, memory_order_relaxed);
    atomic_store_explicit(&ring->stall_ns, stall_ns + waited_ns + since(now_ns),
                          memory_order_relaxed);
    atomic_store_explicit(&ring->waiting_since_ns, 0, memory_order_relaxed);
    return ready;
}
