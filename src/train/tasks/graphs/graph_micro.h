/*
 * Micro-batches of graphs (nn/micro_batch.h) from a split of a CAN cache: the graphs of a list, one
 * after the other, checked, and scaled by the cache's scaler. Any number of threads may make some
 * at once.
 */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_GRAPH_MICRO_H
#define LEAT_TRAIN_TASKS_GRAPHS_GRAPH_MICRO_H

#include "batch/graphs/pack.h"
#include "load/can/cache.h"
#include "nn/micro_batch.h"

typedef struct leat_graph_makers leat_graph_makers;

/* Cache and file outlive it. */
LEAT_MUST_CHECK leat_code leat_graph_makers_create(leat_graph_makers **out,
                                                   const leat_can_cache *cache,
                                                   const leat_graph_file *file, leat_error *err);
void leat_graph_makers_destroy(leat_graph_makers *makers);
/* For so many threads at once. */
int64_t leat_graph_makers_bytes(const leat_graph_file *file, int threads);

/* Bytes of a micro-batch of at most so much. */
int64_t leat_graph_micro_bytes(const leat_graph_limits *most);
/* A micro-batch at the beginning of memory of that size, aligned for any type, whose arrays have
 * their places behind it; nothing else of it is set. */
leat_graph_micro *leat_graph_micro_place(void *memory, const leat_graph_limits *most);
static inline int64_t *leat_graph_micro_numbers(const leat_graph_micro *micro) {
    return (int64_t *)(uintptr_t)micro->number;
}

/*
 * Fills a micro-batch whose graphs, nodes, edges and numbers are set. LEAT_ERR_CORRUPT: the cache
 * is damaged; LEAT_ERR_INPUT: a feature is not finite once it is scaled. Both name the graph.
 */
LEAT_MUST_CHECK leat_code leat_graph_micro_make(leat_graph_makers *makers, leat_graph_micro *micro,
                                                leat_error *err);

#endif
