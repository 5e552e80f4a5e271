/*
 * The edges of a micro-batch as graph attention takes them: self-loops rewritten, and sorted twice.
 *
 * Every edge from a node to itself is removed, with its features; then each node gets one, whose
 * features are the mean of those of its remaining incoming edges, summed in their order from +0 and
 * divided once; +0 if there are none. Parallel edges stay apart.
 *
 *   list T  by target, then place in the micro-batch; the new self-loop of a node is its last
 *   list S  by source, then place in T
 *
 * A sum over the edges of a node is a chain over one of these lists: nothing is scattered. Both are
 * counting sorts, on the calling thread.
 * Source: PyTorch Geometric's GATv2Conv (remove_self_loops, add_self_loops with "mean").
 */
#ifndef LEAT_NN_OPS_GRAPH_EDGES_H
#define LEAT_NN_OPS_GRAPH_EDGES_H

#include "nn/micro_batch.h"
#include "nn/ops/op.h"

enum { LEAT_EDGE_STEP = LEAT_LANES }; /* of a row of features */
_Static_assert((int)LEAT_MICRO_EDGE_FEATURES <= (int)LEAT_EDGE_STEP, "a row has all features");

/* The caller gives the arrays, of these sizes at least, with the most edges that are possible:
 * those of the micro-batch and one for each node, below 2^31. */
typedef struct leat_graph_edges {
    int64_t nodes, count;     /* set: edges of both lists */
    int32_t *target_first;    /* [nodes + 1] the edges of each target in T */
    int32_t *source_first;    /* [nodes + 1] the edges of each source in S */
    int32_t *source, *target; /* [count] nodes of the edges in T */
    int32_t *place;           /* [count] list S: places in T */
    float *features;          /* [count][LEAT_EDGE_STEP] in T; +0 after the features */
} leat_graph_edges;

/* Fills the arrays. Asserts that nodes and edges of each graph are consecutive, and that edges join
 * nodes of their graph. */
void leat_graph_edges_set(const leat_graph_micro *batch, leat_graph_edges *out);

#endif
