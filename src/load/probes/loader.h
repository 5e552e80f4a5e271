/*
 * The loader of sequences, private part.
 *
 *   plan    what is made: rows of the data set, anchors, options. Never changes after create.
 *   maker   makes one sequence of the plan; a thread has one. (loader_maker.c)
 *   slot    one batch's arrays, a row of them a part of its step. (loader_slot.c)
 *   ring    threads that fill slots ahead of the caller. (ring.h)
 *   loader  all of them, and what was returned so far. (loader.c)
 */
#ifndef LEAT_LOAD_PROBES_LOADER_H
#define LEAT_LOAD_PROBES_LOADER_H

#include "load/probes/loader_plan.h"
#include "load/stepped.h"

/* ---- loader_slot.c ---- */

typedef struct leat_token_slot {
    leat_slot slot;
    leat_batch batch;
    leat_made *made; /* [row_count], in the block like the arrays */
} leat_token_slot;

/* Bytes of the arrays of a batch; false if they overflow. */
bool leat_token_slot_bytes(int64_t row_count, int64_t length, int64_t *size_bytes);
/* What the ring of a plan makes. */
leat_ring_work leat_token_work(const leat_loader_plan *plan);

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
    LEAT_COUNTS
} leat_count;

struct leat_loader {
    leat_loader_plan *plan;
    leat_stepped steps;
    int64_t prefetch, memory_bytes;
    _Atomic int64_t counts[LEAT_COUNTS]; /* of what was returned */
    int64_t payload_before;              /* of the data set, at create */
    leat_quarantine quarantine;
    leat_readahead *ahead; /* in the windowed order; else NULL */
};

#endif
