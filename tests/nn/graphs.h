/* Graphs for the tests of nn: made by hand or at random, and those of a golden file. */
#ifndef TESTS_NN_GRAPHS_H
#define TESTS_NN_GRAPHS_H

#include "nn/micro_batch.h"
#include "nn/ops/graph_edges.h"
#include "nn_support.h"

/* Everything is freed by nn_free_all. */
int32_t *nn_ints(int64_t count);

/* `graphs` graphs of 1 to `most` nodes with random edges, among them parallel ones, self-loops, and
 * nodes without an incoming edge; identifiers below `ids`. The first graph has one node and no
 * edge, the second one node and self-loops only, if there are so many. */
leat_graph_micro nn_graphs(uint64_t seed, int graphs, int most, int ids);
/* The batch of golden/can, from its tensors input/. */
leat_graph_micro nn_golden_graphs(nn_golden *golden);
/* The graphs of a split ("" or "test/") of golden/can/features_ref, with the numbers of
 * features_scaled_ref; and graph `at` of it alone. */
typedef struct nn_split {
    const float *node_first, *edge_first, *node_id, *index, *x, *edge_attr;
    int64_t edges;
} nn_split;
nn_split nn_split_of(const char *name, nn_golden *graphs, nn_golden *scaled);
leat_graph_micro nn_graph_of(const nn_split *of, int at);
/* With memory, and set. */
leat_graph_edges nn_graph_edges(const leat_graph_micro *batch);

/* Rows [rows][columns] as the ops take them, [rows][leat_lanes(columns)], and back. Unused lanes
 * get NaN. */
float *nn_to_rows(const float *in, int64_t rows, int64_t columns);
float *nn_from_rows(const float *in, int64_t rows, int64_t columns);

#endif
