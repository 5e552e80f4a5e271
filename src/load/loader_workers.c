/*
 * The threads of a loader: they take tickets and fill rows of batches.
 *
 * A worker is `busy` while it looks at the ring or makes a row. Whoever wants the ring for itself
 * (leat_loader_park) says so first and then waits until nobody is busy; a worker says that it is
 * busy first and then looks whether the ring is wanted. One of the two always sees the other. The
 * same way nobody sleeps through a change: sleepers count themselves before they compare the word
 * that every change counts up.
 */
#include <signal.h>

#include "load/loader.h"

/* ---- sleeping and waking ------------------------------------------------------------------------
 */

static void announce(_Atomic uint32_t *word, _Atomic int *sleepers) {
    atomic_fetch_add(word, 1);
    if (atomic_load(sleepers) > 0) leat_word_wake(word);
}

void leat_loader_announce_work(leat_loader *loader) {
    announce(&loader->work_word, &loader->work_sleepers);
}

static void announce_done(leat_loader *loader) {
    announce(&loader->done_word, &loader->done_sleepers);
}

/* ---- a worker -----------------------------------------------------------------------------------
 */

static int64_t step_of(const leat_worker *worker) {
    const leat_loader *loader = worker->loader;
    return atomic_load_explicit(&loader->first_step, memory_order_relaxed) +
           worker->ticket / loader->plan->row_count;
}

/* Claims a ticket unless it has one; whether its step may be worked on. */
static bool claim(leat_worker *worker) {
    leat_loader *loader = worker->loader;
    uint32_t generation = atomic_load(&loader->generation);
    if (worker->ticket < 0 || worker->generation != generation) {
        worker->generation = generation;
        worker->ticket = atomic_fetch_add_explicit(&loader->ticket, 1, memory_order_relaxed);
    }
    int64_t step = step_of(worker);
    return step < atomic_load(&loader->limit);
}

/* Busy, with a ticket to work on; false: the loader ends. */
static bool enter(leat_worker *worker) {
    leat_loader *loader = worker->loader;
    for (;;) {
        uint32_t word = atomic_load(&loader->work_word);
        if (atomic_load(&loader->stopped)) return false;
        atomic_store(&worker->busy, 1);
        bool paused = atomic_load(&loader->paused);
        if (!paused && claim(worker)) return true;
        atomic_store(&worker->busy, 0);
        if (atomic_load(&loader->paused)) announce_done(loader);
        atomic_fetch_add(&loader->work_sleepers, 1);
        leat_word_wait(&loader->work_word, word, -1);
        atomic_fetch_sub(&loader->work_sleepers, 1);
    }
}

static void leave(leat_worker *worker) {
    worker->ticket = -1;
    atomic_store(&worker->busy, 0);
    if (atomic_load(&worker->loader->paused)) announce_done(worker->loader);
}

/* Keeps the failure of the lowest row, whichever comes first. */
static void keep_failure(leat_loader *loader, leat_slot *slot, int64_t row, const leat_error *err) {
    pthread_mutex_lock(&loader->lock);
    if (slot->failed_row < 0 || row < slot->failed_row) {
        slot->failed_row = row;
        slot->err = *err;
    }
    pthread_mutex_unlock(&loader->lock);
}

static void make_row(leat_worker *worker) {
    leat_loader *loader = worker->loader;
    int64_t step = step_of(worker);
    int64_t row = worker->ticket % loader->plan->row_count;
    leat_slot *slot = loader->ring[step % loader->ring_size];
    leat_arrays arrays = leat_slot_arrays(slot, row);
    leat_error err = {0};
    leat_code code = leat_maker_make(worker->maker, step, loader->plan->rows[row], &arrays,
                                     &slot->made[row], &err);
    if (code != LEAT_OK) keep_failure(loader, slot, row, &err);
    if (atomic_fetch_sub_explicit(&slot->rows_left, 1, memory_order_acq_rel) == 1) {
        atomic_store(&slot->is_ready, 1);
        announce_done(loader);
    }
}

static void *worker_main(void *context) {
    leat_worker *worker = context;
    while (enter(worker)) {
        int64_t begun_ns = leat_clock_ns();
        make_row(worker);
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

static leat_code start_workers(leat_loader *loader, int threads, leat_error *err) {
    for (int i = 0; i < threads; i++) {
        leat_worker *worker = &loader->workers[i];
        worker->loader = loader;
        worker->ticket = -1;
        LEAT_TRY(leat_maker_create(&worker->maker, loader->plan, err));
        loader->worker_count = i + 1;
        LEAT_TRY(leat_thread_start(&worker->thread, worker_main, worker, err));
        worker->is_started = true;
    }
    return LEAT_OK;
}

leat_code leat_loader_start(leat_loader *loader, int threads, leat_error *err) {
    sigset_t before;
    LEAT_TRY(LEAT_NEW(&loader->workers, threads, err));
    block_signals(&before); /* threads begin with the mask of their maker */
    leat_code code = start_workers(loader, threads, err);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

void leat_loader_stop(leat_loader *loader) {
    atomic_store(&loader->stopped, 1);
    leat_loader_announce_work(loader);
    for (int i = 0; i < loader->worker_count; i++) {
        if (loader->workers[i].is_started) pthread_join(loader->workers[i].thread, NULL);
        leat_maker_destroy(loader->workers[i].maker);
    }
    leat_free(loader->workers);
    loader->workers = NULL;
    loader->worker_count = 0;
}

void leat_loader_park(leat_loader *loader) {
    atomic_store(&loader->paused, 1);
    for (int i = 0; i < loader->worker_count; i++) {
        while (atomic_load(&loader->workers[i].busy)) {
            uint32_t word = atomic_load(&loader->done_word);
            atomic_fetch_add(&loader->done_sleepers, 1);
            if (atomic_load(&loader->workers[i].busy)) leat_word_wait(&loader->done_word, word, -1);
            atomic_fetch_sub(&loader->done_sleepers, 1);
        }
    }
}

void leat_loader_unpark(leat_loader *loader) {
    atomic_fetch_add(&loader->generation, 1);
    atomic_store(&loader->paused, 0);
    leat_loader_announce_work(loader);
}

bool leat_slot_wait(leat_loader *loader, const leat_slot *slot, int64_t timeout_ns) {
    if (atomic_load_explicit(&slot->is_ready, memory_order_acquire)) return true;
    int64_t begun_ns = leat_clock_ns(), now_ns = begun_ns;
    atomic_store_explicit(&loader->waiting_since_ns, begun_ns, memory_order_relaxed);
    bool ready = false;
    for (;;) {
        uint32_t word = atomic_load(&loader->done_word);
        ready = atomic_load(&slot->is_ready);
        int64_t left_ns = timeout_ns < 0 ? -1 : timeout_ns - (now_ns - begun_ns);
        if (ready || (timeout_ns >= 0 && left_ns <= 0)) break;
        atomic_fetch_add(&loader->done_sleepers, 1);
        leat_word_wait(&loader->done_word, word, left_ns);
        atomic_fetch_sub(&loader->done_sleepers, 1);
        now_ns = leat_clock_ns();
    }
    leat_loader_count(loader, LEAT_COUNT_STALL_NS, leat_clock_ns() - begun_ns);
    atomic_store_explicit(&loader->waiting_since_ns, 0, memory_order_relaxed);
    return ready;
}
