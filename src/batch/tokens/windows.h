/*
 * The windowed order of an epoch: every anchor once, as in the global order, but near in time where
 * it is near in the files, so that a host reads each block of rows once an epoch, in one piece.
 *
 * Blocks are runs of consecutive rows. An epoch puts all blocks into a random order, which lays the
 * anchors on a line. The line is cut into as many lanes as a batch has rows, of equal numbers of
 * anchors (or one more): lane r is what row r of the batches takes in this epoch. A lane is cut
 * into windows of `window_blocks` consecutive blocks or fewer, and each window is permuted. What
 * fills a sequence comes from the window of its anchor.
 *
 * A pure function of (blocks, batch, window_blocks, seed, position). Memory: 8 bytes a block, the
 * same again for each leat_window_epoch, and 16 for each block of a leat_window.
 */
#ifndef LEAT_BATCH_TOKENS_WINDOWS_H
#define LEAT_BATCH_TOKENS_WINDOWS_H

#include "leat/batch.h"

/* What an order needs to know of the data; read by any number of threads. */
typedef struct leat_windows {
    const int64_t *first; /* [block_count + 1] anchors before each block, in the order of files */
    int64_t block_count;  /* none is without anchors */
    int64_t batch;        /* rows of the global batch, which are the lanes */
    int64_t window_blocks;
    uint64_t seed;
} leat_windows;

/* The order of the blocks in one epoch; read by any number of threads while it stays. */
typedef struct leat_window_epoch {
    const leat_windows *windows;
    int64_t epoch;   /* -1: none yet */
    uint64_t key;    /* of the epoch */
    int64_t *before; /* [block_count + 1] anchors before each block, in the order of the epoch */
} leat_window_epoch;

LEAT_MUST_CHECK leat_code leat_window_epoch_create(leat_window_epoch *out,
                                                   const leat_windows *windows, leat_error *err);
void leat_window_epoch_destroy(leat_window_epoch *epoch);
/* Orders the blocks for an epoch, if they are not in this order already. */
void leat_window_epoch_begin(leat_window_epoch *epoch, int64_t number);
/* A window: what the sequences of one lane are made from for some steps. Refers to its
 * leat_windows, but not to the epoch's order. */
typedef struct leat_window {
    const leat_windows *windows;
    int64_t epoch, lane, number; /* number: of the lane's windows */
    int64_t first, end;          /* its anchors on the line, one for each of its sequences */
    int64_t *blocks;             /* [block_count] in the order of the epoch */
    int64_t *before;             /* [block_count + 1] where each begins on the line */
    int64_t block_count, block_capacity, before_capacity;
    uint64_t epoch_key, key;
} leat_window;

/* Fills *window ({0}, or filled before) with that of position 0 <= position < anchors in the epoch,
 * and *place with the sequence's place in it, 0 <= *place < end - first. Position p is row
 * p % batch of the batch that p / batch is, for the first epoch. */
LEAT_MUST_CHECK leat_code leat_window_find(const leat_window_epoch *epoch, int64_t position,
                                           leat_window *window, int64_t *place, leat_error *err);
void leat_window_free(leat_window *window);
/* Anchor t of the sequence at a place: t = 0 is its own; for each t, every anchor of the window
 * once. */
int64_t leat_window_anchor(const leat_window *window, int64_t place, int64_t t);

#endif
