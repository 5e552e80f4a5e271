/*
 * The ring: steps in progress, threads that make them, and the one caller that takes them in order.
 * The contents of a step are defined by leat_ring_work: rows of tokens, or graphs.
 *
 *   slot     one batch's memory, with its owners counted. (ring_slots.c)
 *   workers  threads that make the parts of steps. (ring_workers.c)
 *   ring     the steps ahead of the caller, and the caller's place. (ring.c)
 *
 * Threads take numbered tickets, one per part of a step, from one counter, and fill fixed places;
 * so the result does not depend on which thread makes which part. Position step % ring_size of the
 * ring points to the slot of that step. The thread that makes the last part of a slot marks it
 * ready. leat_ring_next returns the slot and puts a free one in its place before it raises `limit`,
 * below which steps may be worked on. None of this takes a lock or allocates; threads sleep with
 * leat_word_wait.
 *
 * One thread at a time calls next, wait, seek, destroy.
 */
#ifndef LEAT_LOAD_RING_H
#define LEAT_LOAD_RING_H

#include <stdatomic.h>

#include "base/mem.h"
#include "base/thread.h"

/* The upper bound of steps in an endless loader, so that no number computed from them overflows. */
#define LEAT_STEPS_MAX (INT64_C(1) << 40)
#define LEAT_PREFETCH_MAX 1024
#define LEAT_PREFETCH_AUTO_MAX 8 /* of LEAT_PREFETCH_AUTO */

/* ---- ring_slots.c ---- */

typedef enum leat_slot_state {
    LEAT_SLOT_FREE,
    LEAT_SLOT_RING,  /* being filled, or waiting for leat_ring_next */
    LEAT_SLOT_HELD,  /* owned by the receiver of the batch */
    LEAT_SLOT_ORPHAN /* held, and the ring is gone: the last owner frees it */
} leat_slot_state;

/* What every slot begins with. */
typedef struct leat_slot {
    _Atomic int state;
    _Atomic int64_t owners;
    _Atomic int64_t parts_left; /* not made yet */
    _Atomic int is_ready;
    int64_t step;
    uint8_t *block; /* the batch's arrays */
    int64_t block_bytes;
    /* The failure of the lowest part that failed, under the ring's lock. */
    leat_error err;
    int64_t failed_part;
} leat_slot;

/* What the ring's threads make. The maker is one thread's own. */
typedef struct leat_ring_work {
    const void *plan;    /* handed to the functions */
    int64_t parts;       /* of a step, each a ticket */
    int64_t slot_bytes;  /* of the struct that begins with leat_slot */
    int64_t block_bytes; /* of a batch's arrays */
    /* Sets the places of the arrays in slot->block; once per slot. */
    void (*lay_out)(const void *plan, leat_slot *slot);
    leat_code (*maker_create)(const void *plan, void **maker, leat_error *err);
    void (*maker_destroy)(void *maker);
    /* Fills the part of slot->step. Threads make parts of one slot at once. */
    leat_code (*make)(void *maker, leat_slot *slot, int64_t part, leat_error *err);
    /* Something else that is to be done where no step is: true if it was, and there may be steps to
     * work on now. NULL: there is nothing. */
    bool (*aside)(void *maker);
} leat_ring_work;

typedef struct leat_slots {
    leat_slot **items;
    int64_t count, capacity;
    const leat_ring_work *work;
} leat_slots;

/* Arrays begin on pages of their own: that suits any vector width, and registering for transfer.
 * Any size up to 2^62. */
int64_t leat_slot_array_bytes(int64_t size_bytes);
/* A slot in state RING for the caller: one that is free, or a new one. Frees slots that are more
 * than `spare` beyond use. */
LEAT_MUST_CHECK leat_code leat_slots_take(leat_slots *slots, int64_t spare, leat_slot **out,
                                          leat_error *err);
/* Frees what is not held; the rest belongs to its owners. */
void leat_slots_close(leat_slots *slots);
/* Releases a slot that was returned to the caller; from any thread, even after the ring is
 * destroyed. */
void leat_slot_retain(leat_slot *slot);
void leat_slot_release(leat_slot *slot);

/* ---- ring.c ---- */

typedef struct leat_ring leat_ring;

/*
 * How many steps are made ahead, and the bytes that they take, including one that the caller holds
 * and `fixed_bytes`. `wanted` LEAT_PREFETCH_AUTO: as many as fit in limit_bytes, at most 8.
 * *need_bytes is more than limit_bytes if that is too little; false if the bytes overflow.
 */
bool leat_ring_budget(int64_t fixed_bytes, int64_t slot_bytes, int64_t wanted, int64_t limit_bytes,
                      int64_t *prefetch, int64_t *need_bytes);

/* Begins at step 0, with `prefetch` steps made ahead (0: a step is begun when it is requested);
 * steps below `end` may be made. work->plan must outlive the ring. */
LEAT_MUST_CHECK leat_code leat_ring_create(leat_ring **out, const leat_ring_work *work,
                                           int64_t prefetch, int64_t end, int threads,
                                           leat_error *err);
/* Slots held by the caller stay valid. In a forked child it does nothing: there are no workers, and
 * their work may be incomplete. */
void leat_ring_destroy(leat_ring *ring);
/* LEAT_ERR_OPTION in a forked child; any thread. */
LEAT_MUST_CHECK leat_code leat_ring_check_process(const leat_ring *ring, leat_error *err);

/* From now on steps below `end` may be made: more than before; from any thread. */
void leat_ring_extend(leat_ring *ring, int64_t end);
/* The slot of the next step, which must be below `end` at some time, the caller's until
 * leat_slot_release. A step that failed fails again until leat_ring_seek. */
LEAT_MUST_CHECK leat_code leat_ring_next(leat_ring *ring, leat_slot **out, leat_error *err);
/* Whether leat_ring_next would not wait; waits for that as long as timeout_ms (-1: for ever). */
bool leat_ring_wait(leat_ring *ring, int64_t timeout_ms);
/* Ends all work at hand; between park and seek the plan may be changed. */
void leat_ring_park(leat_ring *ring);
/* Continues a parked ring: the next step is `step`, steps below `end` may be made. */
void leat_ring_seek(leat_ring *ring, int64_t step, int64_t end);
/* There may be something to do aside; any thread. */
void leat_ring_announce(leat_ring *ring);

/* From any thread: the step of the next slot; nanoseconds that the caller has waited, including a
 * current wait, and the total that the threads have worked. */
int64_t leat_ring_step(const leat_ring *ring);
int64_t leat_ring_stall_ns(const leat_ring *ring);
int64_t leat_ring_work_ns(const leat_ring *ring);

/* ---- within the ring ---- */

typedef struct leat_worker {
    leat_ring *ring;
    pthread_t thread;
    bool is_started;
    void *maker;
    _Atomic int busy; /* looks at the ring */
    _Atomic int64_t work_ns;
    uint32_t generation;
    int64_t ticket; /* claimed; -1: none */
} leat_worker;

struct leat_ring {
    leat_ring_work work;
    int64_t process; /* that made it */
    int64_t ring_size, prefetch;
    leat_slot **places;
    leat_slots slots;
    leat_worker *workers;
    int worker_count;

    /* Of the caller's thread; read by others. */
    _Atomic int64_t step;
    _Atomic int64_t stall_ns;
    _Atomic int64_t waiting_since_ns; /* 0: is not */

    /* Between caller and workers: steps below both `limit` and `end` may be worked on. */
    _Atomic int64_t limit, end, ticket, first_step;
    _Atomic uint32_t generation;
    _Atomic int paused, stopped;
    _Atomic uint32_t work_word, done_word;
    _Atomic int work_sleepers, done_sleepers;

    pthread_mutex_t lock; /* of the slots' failures: never taken while all goes well */
};

/* ring_workers.c */
/* Starts the threads; on failure those that run are left to leat_ring_stop. */
LEAT_MUST_CHECK leat_code leat_ring_start(leat_ring *ring, int threads, leat_error *err);
void leat_ring_stop(leat_ring *ring);
void leat_ring_unpark(leat_ring *ring);
/* Whether the slot is ready, waiting for it as long as timeout_ns (below 0: for ever). */
bool leat_slot_wait(leat_ring *ring, const leat_slot *slot, int64_t timeout_ns);

#endif
