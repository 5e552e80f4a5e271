/*
 * Reading ahead in the windowed order: threads that read, for each row of this host, the window
 * that its next sequences are made from, and the one after that.
 *
 * A row of the batch goes through windows one after the other; each serves a known range of steps.
 * A window is admitted, its blocks are read by any of the threads, it is taken once for each of its
 * sequences, and freed when the last one was made. Windows are admitted by the step at which they
 * are needed. Half of the memory is for the windows in use, one of each row; the other half is for
 * the next ones, which therefore never keep a window out that somebody waits for. A window in use
 * for which there is no memory after all is not read: its rows are, one by one, as in the global
 * order.
 */
#ifndef LEAT_LOAD_PROBES_READAHEAD_H
#define LEAT_LOAD_PROBES_READAHEAD_H

#include "batch/tokens/windows.h"
#include "load/probes/loaded.h"

struct leat_loader_plan;
typedef struct leat_readahead leat_readahead;

/* Begins at step 0. The plan, whose order is windowed, must outlive it. */
LEAT_MUST_CHECK leat_code leat_readahead_create(leat_readahead **out,
                                                const struct leat_loader_plan *plan,
                                                leat_error *err);
void leat_readahead_destroy(leat_readahead *ahead);
/* Its threads; the most that windows take in memory, or in the page cache if shards are mapped;
 * what the threads take besides. */
int leat_readahead_threads(const struct leat_loader_plan *plan);
int64_t leat_readahead_window_bytes(const struct leat_loader_plan *plan);
int64_t leat_readahead_thread_bytes(const struct leat_loader_plan *plan);

/* What a sequence is made from. */
typedef struct leat_taken {
    const leat_window *window;
    int64_t place;             /* of the sequence in it */
    const leat_loaded *blocks; /* [window->block_count] */
    void *held;                /* for leat_readahead_return */
} leat_taken;

/*
 * The window of row `part` of the host at a step that is not past the end, once it is read. Every
 * sequence from the step of the last seek on is taken once and returned once; any thread.
 */
LEAT_MUST_CHECK leat_code leat_readahead_take(leat_readahead *ahead, int64_t part, int64_t step,
                                              leat_taken *taken, leat_error *err);
void leat_readahead_return(leat_readahead *ahead, int64_t part, const leat_taken *taken);
/* Begins again at a step; not while a window is taken. */
void leat_readahead_seek(leat_readahead *ahead, int64_t step);
/* Nanoseconds that takers have waited, all together. */
int64_t leat_readahead_wait_ns(const leat_readahead *ahead);

#endif
