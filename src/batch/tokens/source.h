/*
 * Where the contexts of one sequence come from: a pure function of (seed, epoch, position), or by
 * client of (seed, step, batch row), and of nothing that happened before. In the windowed order
 * (windows.h) the contexts of a sequence come from one window.
 *
 * Context 0 is the anchor's; t = 1, 2, ... fill the rest. In an epoch of A sequences context t goes
 * through all A anchors exactly once, for every t by a permutation of its own.
 */
#ifndef LEAT_BATCH_TOKENS_SOURCE_H
#define LEAT_BATCH_TOKENS_SOURCE_H

#include "batch/tokens/windows.h"
#include "leat/batch.h"

typedef struct leat_source {
    uint64_t key;         /* of the epoch, or of the sequence by client */
    uint64_t context_key; /* from which each context's own key comes */
    int64_t first, count; /* the anchors that may be used: first .. first + count - 1 */
    int64_t position;     /* of the sequence in its epoch; by client 0 */
    int64_t epoch;        /* by client 0 */
    bool by_client;
    /* In the windowed order: where the anchors come from instead, and the sequence's place there.
     */
    const leat_window *window; /* NULL: another order; the caller's */
    int64_t place;
} leat_source;

/* Sequence number `sequence` >= 0 of all epochs; anchor_count >= 1. */
leat_source leat_source_of_epoch(uint64_t seed, int64_t anchor_count, int64_t sequence);

/* Row `batch_row` of step `step` by client: the anchors of its probe are first, ..., count >= 1. */
leat_source leat_source_of_client(uint64_t seed, int64_t first, int64_t count, int64_t step,
                                  int64_t batch_row);

/* In the windowed order: the sequence at a place of a window, whose position in its epoch is known.
 */
leat_source leat_source_of_window(const leat_window *window, int64_t place, int64_t position);

/* The anchor number of context t, and the key that its draw takes. */
int64_t leat_source_anchor(const leat_source *source, int64_t t);
uint64_t leat_source_key(const leat_source *source, int64_t t);

/* Contexts that a sequence is tried to be filled with, the anchor's included. */
int64_t leat_source_contexts_max(int32_t length);

#endif
