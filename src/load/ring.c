/*
 * The ring's interface: create, next step, seek.
 */
#include "load/ring.h"

#include <unistd.h>

#include "leat/load.h"

bool leat_ring_budget(int64_t fixed_bytes, int64_t slot_bytes, int64_t wanted, int64_t limit_bytes,
                      int64_t *prefetch, int64_t *need_bytes) {
    bool is_auto = wanted == LEAT_PREFETCH_AUTO;
    int64_t depth = is_auto ? LEAT_PREFETCH_AUTO_MAX : wanted > 0 ? wanted : 1;
    *prefetch = *need_bytes = 0;
    if (slot_bytes > (INT64_MAX - fixed_bytes) / (LEAT_PREFETCH_MAX + 1)) return false;
    while (is_auto && depth > 1 && fixed_bytes + (depth + 1) * slot_bytes > limit_bytes) depth--;
    *prefetch = is_auto ? depth : wanted;
    *need_bytes = fixed_bytes + (depth + 1) * slot_bytes;
    return true;
}

static leat_slot **place_of(leat_ring *ring, int64_t step) {
    return &ring->places[step % ring->ring_size];
}

/* Makes a slot ready to be filled for a step. */
static void begin_slot(const leat_ring *ring, leat_slot *slot, int64_t step) {
    LEAT_ASSERT(atomic_load_explicit(&slot->state, memory_order_relaxed) == LEAT_SLOT_RING);
    slot->step = step;
    slot->err.code = LEAT_OK;
    slot->failed_part = -1;
    atomic_store_explicit(&slot->is_ready, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->parts_left, ring->work.parts, memory_order_relaxed);
}

/* No worker may be busy. */
static void begin_at(leat_ring *ring, int64_t step, int64_t end) {
    for (int64_t i = 0; i < ring->ring_size; i++) {
        begin_slot(ring, *place_of(ring, step + i), step + i);
    }
    atomic_store(&ring->step, step);
    atomic_store(&ring->first_step, step);
    atomic_store(&ring->ticket, 0);
    atomic_store(&ring->end, end);
    atomic_store(&ring->limit, step + ring->prefetch);
}

/* Steps below `limit` may be worked on from now, as far as they can be made. */
static void allow(leat_ring *ring, int64_t limit) {
    int64_t before = atomic_load(&ring->limit);
    if (limit <= before) return;
    atomic_store(&ring->limit, limit);
    if (before < atomic_load(&ring->end)) leat_ring_announce(ring);
}

void leat_ring_extend(leat_ring *ring, int64_t end) {
    LEAT_ASSERT(end >= atomic_load(&ring->end));
    atomic_store(&ring->end, end);
    leat_ring_announce(ring);
}

/* ---- made and destroyed ------------------------------------------------------------------------
 */

static leat_code fill(leat_ring *ring, int64_t end, int threads, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&ring->places, ring->ring_size, err));
    for (int64_t i = 0; i < ring->ring_size; i++) {
        LEAT_TRY(leat_slots_take(&ring->slots, 0, &ring->places[i], err));
    }
    begin_at(ring, 0, end);
    return leat_ring_start(ring, threads, err);
}

leat_code leat_ring_create(leat_ring **out, const leat_ring_work *work, int64_t prefetch,
                           int64_t end, int threads, leat_error *err) {
    leat_ring *ring = NULL;
    *out = NULL;
    LEAT_ASSERT(work->parts > 0 && prefetch >= 0 && prefetch <= LEAT_PREFETCH_MAX);
    LEAT_ASSERT(threads > 0 && threads <= LEAT_THREADS_MAX);
    LEAT_TRY(LEAT_NEW(&ring, 1, err));
    ring->work = *work;
    ring->process = getpid();
    ring->prefetch = prefetch;
    ring->ring_size = prefetch > 0 ? prefetch : 1;
    ring->slots.work = &ring->work;
    pthread_mutex_init(&ring->lock, NULL);
    leat_code code = fill(ring, end, threads, err);
    if (code != LEAT_OK) {
        leat_ring_destroy(ring);
        return code;
    }
    *out = ring;
    return LEAT_OK;
}

void leat_ring_destroy(leat_ring *ring) {
    if (ring == NULL || ring->process != getpid()) return;
    leat_ring_stop(ring);
    leat_slots_close(&ring->slots);
    leat_free(ring->places);
    pthread_mutex_destroy(&ring->lock);
    leat_free(ring);
}

leat_code leat_ring_check_process(const leat_ring *ring, leat_error *err) {
    if (ring->process == getpid()) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the loader was created before fork, by process %lld, which has its threads; "
                     "open the data set and the loader in the child",
                     (long long)ring->process);
}

/* ---- steps --------------------------------------------------------------------------------------
 */

bool leat_ring_wait(leat_ring *ring, int64_t timeout_ms) {
    int64_t step = leat_ring_step(ring);
    allow(ring, step + 1);
    int64_t most_ms = INT64_MAX / 1000000;
    int64_t timeout_ns = timeout_ms < 0 || timeout_ms > most_ms ? -1 : timeout_ms * 1000000;
    return leat_slot_wait(ring, *place_of(ring, step), timeout_ns);
}

leat_code leat_ring_next(leat_ring *ring, leat_slot **out, leat_error *err) {
    leat_slot *fresh = NULL;
    *out = NULL;
    int64_t step = leat_ring_step(ring);
    leat_slot **place = place_of(ring, step);
    leat_slot *slot = *place;
    allow(ring, step + 1); /* without prefetch it begins now */
    bool is_ready = leat_slot_wait(ring, slot, -1);
    LEAT_ASSERT(is_ready && slot->step == step);
    LEAT_ASSERT(atomic_load_explicit(&slot->parts_left, memory_order_relaxed) == 0);
    if (slot->failed_part >= 0) return leat_error_copy(err, &slot->err);
    LEAT_TRY(leat_slots_take(&ring->slots, ring->ring_size + 1, &fresh, err));
    begin_slot(ring, fresh, step + ring->ring_size);
    *place = fresh;
    atomic_store(&ring->step, step + 1);
    allow(ring, step + 1 + ring->prefetch);
    LEAT_ASSERT(atomic_load_explicit(&slot->state, memory_order_relaxed) == LEAT_SLOT_RING);
    atomic_store_explicit(&slot->owners, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->state, LEAT_SLOT_HELD, memory_order_release);
    *out = slot;
    return LEAT_OK;
}

void leat_ring_seek(leat_ring *ring, int64_t step, int64_t end) {
    LEAT_ASSERT(atomic_load(&ring->paused)); /* between park and unpark the ring is the caller's */
    LEAT_ASSERT(step >= 0 && step <= end && end <= LEAT_STEPS_MAX);
    begin_at(ring, step, end);
    leat_ring_unpark(ring);
}

/* ---- what others may ask ------------------------------------------------------------------------
 */

int64_t leat_ring_step(const leat_ring *ring) {
    return atomic_load_explicit(&ring->step, memory_order_relaxed);
}

int64_t leat_ring_stall_ns(const leat_ring *ring) {
    int64_t since_ns = atomic_load_explicit(&ring->waiting_since_ns, memory_order_relaxed);
    int64_t stall_ns = atomic_load_explicit(&ring->stall_ns, memory_order_relaxed);
    int64_t waits_ns = since_ns == 0 ? 0 : leat_clock_ns() - since_ns;
    return waits_ns > 0 ? stall_ns + waits_ns : stall_ns; /* the clock may have gone back */
}

int64_t leat_ring_work_ns(const leat_ring *ring) {
    int64_t work_ns = 0;
    for (int i = 0; i < ring->worker_count; i++) {
        work_ns += atomic_load_explicit(&ring->workers[i].work_ns, memory_order_relaxed);
    }
    return work_ns;
}
