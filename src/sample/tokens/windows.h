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
 * A pure function of (blocks, batch, window_blocks, seed, position). Memory: 8 bytes a block, and
 * the same again for each leat_window_epoch.
 */
#ifndef LEAT_SAMPLE_TOKENS_WINDOWS_H
#define LEAT_SAMPLE_TOKENS_WINDOWS_H

#include "leat/sample.h"

/* What an order needs to know of the data; read by any number of threads. */
typedef struct leat_windows {
    const int64_t *first; /* [block_count + 1] anchors before each block, in the order of files */
    int64_t block_count;  /* none is without anchors */
    int64_t batch;        /* rows of the global batch, which are the lanes */
    int64_t window_blocks;
    uint64_t seed;
} leat_windows;

/* The order of the blocks in one epoch; belongs to one thread. */
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
/* The block, in the order of files, at a place of the epoch's order. */
int64_t leat_window_block(const leat_window_epoch *epoch, int64_t place);

/* Where a sequence of an epoch is: places on the line, first <= place < end. */
typedef struct leat_window {
    int64_t lane, number;            /* of the epoch, of the lane */
    int64_t first, end, place;       /* of the window's anchors; the sequence's place among them */
    int64_t first_block, last_block; /* of the epoch's order */
    uint64_t key;
} leat_window;

/* The window of position 0 <= position < anchors in the epoch. Position p is row p % batch of the
 * batch that p / batch is, for the first epoch. */
leat_window leat_window_of(const leat_window_epoch *epoch, int64_t position);
/* Anchor t of the sequence: t = 0 is its own; for each t, every anchor of a window once. */
int64_t leat_window_anchor(const leat_window_epoch *epoch, const leat_window *window, int64_t t);

#endif
