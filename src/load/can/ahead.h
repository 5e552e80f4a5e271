/*
 * Reading ahead in the windowed order: threads that fetch the window of the batches in work, and
 * the one after it, into the page cache, in large pieces. Windows are fetched one after the other,
 * and no batch of a window is made before it is there, so at most two of them are wanted in memory
 * at a time. It is a hint: a page that the system dropped again is read when it is touched.
 */
#ifndef LEAT_LOAD_CAN_AHEAD_H
#define LEAT_LOAD_CAN_AHEAD_H

#include "load/can/file.h"
#include "sample/graphs/plan.h"

typedef struct leat_graph_ahead leat_graph_ahead;

/* What threads take besides, in bytes. */
int64_t leat_graph_ahead_bytes(void);
/* Begins at window 0. `file` and `plan`, which has windows, must outlive it; `epochs` 0: no end. */
LEAT_MUST_CHECK leat_code leat_graph_ahead_create(leat_graph_ahead **out,
                                                  const leat_graph_file *file,
                                                  const leat_graph_plan *plan, uint64_t seed,
                                                  int64_t epochs, leat_error *err);
void leat_graph_ahead_destroy(leat_graph_ahead *ahead);
/* Returns when the window of an epoch is fetched. Any thread. */
void leat_graph_ahead_need(leat_graph_ahead *ahead, int64_t epoch, int64_t window);
/* Goes on with this window; not while a thread is in leat_graph_ahead_need. */
void leat_graph_ahead_seek(leat_graph_ahead *ahead, int64_t epoch, int64_t window);
/* Nanoseconds that threads have waited, all together. */
int64_t leat_graph_ahead_wait_ns(const leat_graph_ahead *ahead);

#endif
