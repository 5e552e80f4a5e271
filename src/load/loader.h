/*
 * The loader, private part.
 *
 *   plan         what is made: rows of the data set, anchors, options. Never changes after create.
 *   maker        makes one sequence of the plan; a thread has one. (loader_maker.c)
 *   slot         one batch's memory, with its owners counted. (loader_slots.c)
 *   loader       the ring of steps at work, the threads that fill it, the caller's place.
 * (loader.c)
 *
 * Threads take numbered tickets, one a row of a step, from one counter, and fill fixed places; so
 * who makes what does not show. Position step % ring_size of the ring points to the slot of that
 * step. The thread that makes the last row of a slot marks it ready. leat_loader_next hands the
 * slot out and puts a free one in its place before it raises `limit`, below which steps may be
 * worked on. Nobody takes a lock or allocates on this way; sleeping is by leat_word_wait.
 */
#ifndef LEAT_LOAD_LOADER_H
#define LEAT_LOAD_LOADER_H

#include "load/loader_plan.h"

/* ---- loader_slots.c ---- */

typedef enum leat_slot_state {
    LEAT_SLOT_FREE,
    LEAT_SLOT_RING,  /* being filled, or waiting for leat_loader_next */
    LEAT_SLOT_HELD,  /* somebody's who was given the batch */
    LEAT_SLOT_ORPHAN /* held, and the loader is gone: the last owner frees it */
} leat_slot_state;

typedef struct leat_slot {
    leat_batch batch; /* first: a batch that comes back is its slot */
    _Atomic int state;
    _Atomic int64_t owners;
    _Atomic int64_t rows_left; /* to be made */
    _Atomic int is_ready;
    leat_made *made; /* [row_count], in the block like the arrays */
    uint8_t *block;
    int64_t block_bytes;
    /* The failure of the lowest row that failed, under the loader's lock. */
    leat_error err;
    int64_t failed_row;
} leat_slot;

typedef struct leat_slots {
    leat_slot **items;
    int64_t count, capacity;
    int64_t row_count, length;
    const int64_t *rows; /* copied to each slot */
} leat_slots;

/* Bytes that one slot takes; false if they overflow. */
bool leat_slot_bytes(int64_t row_count, int64_t length, int64_t *size_bytes);
/* A slot in state RING for the caller: one that is free, or a new one. Frees slots that are more
 * than `spare` beyond use. */
LEAT_MUST_CHECK leat_code leat_slots_take(leat_slots *slots, int64_t spare, leat_slot **out,
                                          leat_error *err);
/* Makes a slot ready to be filled for a step. */
void leat_slot_begin(leat_slot *slot, int64_t step);
/* Frees what is not held; the rest belongs to its owners. */
void leat_slots_close(leat_slots *slots);
/* The six arrays at one row, which the slot's makers may write. */
leat_arrays leat_slot_arrays(const leat_slot *slot, int64_t index);

/* ---- loader.c ---- */

typedef enum leat_count {
    LEAT_COUNT_BATCHES,
    LEAT_COUNT_SEQUENCES,
    LEAT_COUNT_MASKED,
    LEAT_COUNT_TOKENS,
    LEAT_COUNT_PADDING,
    LEAT_COUNT_SEGMENTS,
    LEAT_COUNT_MEASUREMENTS,
    LEAT_COUNT_DROPPED,
    LEAT_COUNT_STALL_NS,
    LEAT_COUNTS
} leat_count;
/* By the caller's thread alone. */
void leat_loader_count(leat_loader *loader, leat_count what, int64_t more);
LEAT_MUST_CHECK leat_code leat_loader_check_process(const leat_loader *loader, leat_error *err);

/* ---- loader_workers.c ---- */

typedef struct leat_worker {
    struct leat_loader *loader;
    pthread_t thread;
    bool is_started;
    leat_maker *maker;
    _Atomic int busy; /* looks at the ring */
    _Atomic int64_t work_ns;
    uint32_t generation;
    int64_t ticket; /* claimed; -1: none */
} leat_worker;

struct leat_loader {
    leat_plan *plan;
    int64_t process; /* that made it */
    int64_t ring_size, prefetch, memory_bytes;
    leat_slot **ring;
    leat_slots slots;
    leat_worker *workers;
    int worker_count;

    /* Of the caller's thread; read by others. */
    _Atomic int64_t step;
    _Atomic int64_t counts[LEAT_COUNTS]; /* of what was handed out */
    _Atomic int64_t waiting_since_ns;    /* 0: is not */
    int64_t payload_before;              /* of the data set, at create */

    /* Between caller and workers. */
    _Atomic int64_t limit, ticket, first_step;
    _Atomic uint32_t generation;
    _Atomic int paused, stopped;
    _Atomic uint32_t work_word, done_word;
    _Atomic int work_sleepers, done_sleepers;

    pthread_mutex_t lock; /* of the slots' failures: never taken while all goes well */
    leat_quarantine quarantine;
};

/* Starts the threads; on failure those that run are left to leat_loader_stop. */
LEAT_MUST_CHECK leat_code leat_loader_start(leat_loader *loader, int threads, leat_error *err);
void leat_loader_stop(leat_loader *loader);
/* Waits until no thread is at work, and keeps them from it until leat_loader_unpark. */
void leat_loader_park(leat_loader *loader);
void leat_loader_unpark(leat_loader *loader);
/* After `limit` was raised. */
void leat_loader_announce_work(leat_loader *loader);
/* Whether the slot is ready, waiting for it as long as timeout_ns (below 0: for ever). */
bool leat_slot_wait(leat_loader *loader, const leat_slot *slot, int64_t timeout_ns);

#endif
