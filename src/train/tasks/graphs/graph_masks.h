/*
 * Which nodes of a graph are hidden from a model when it is scored: seven masks that together hide
 * every node once.
 *
 * They are a function of the number of nodes alone: a keyed permutation of the nodes, dealt to the
 * masks in turn, so that their sizes differ by one at most and the first is never empty. A key with
 * the graph's number in its split would have to be known of a live window, too, and windows of one
 * bus with the same identifiers would be compared under different masks.
 */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_GRAPH_MASKS_H
#define LEAT_TRAIN_TASKS_GRAPHS_GRAPH_MASKS_H

#include "nn/micro_batch.h"

enum { LEAT_GRAPH_MASKS = 7 };

/* mask[node]: the number of the mask, 0 .. LEAT_GRAPH_MASKS - 1, that hides it; of a graph with so
 * many nodes, at least 1. */
void leat_graph_masks(int64_t nodes, uint8_t *mask);
/* The same for all graphs of a micro-batch: [batch->nodes]. */
void leat_graph_masks_of(const leat_graph_micro *batch, uint8_t *mask);

#endif
