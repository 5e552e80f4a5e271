/* What the tests of graph batches share. */
#ifndef LEAT_TESTS_GRAPH_SUPPORT_H
#define LEAT_TESTS_GRAPH_SUPPORT_H

#include "batch/graphs/plan.h"
#include "batch_support.h"

/* Made-up graphs; all of their arrays have room for `count`. */
typedef enum graph_kind {
    GRAPHS_WINDOWS, /* 5..68 nodes, 98 edges: windows of 100 frames */
    GRAPHS_MIXED,   /* 1..40 nodes, 0..120 edges */
    GRAPHS_LARGE,   /* of 1..300 nodes and edges, next to budgets of some hundred */
    GRAPHS_OPPOSED, /* many nodes and few edges, or few nodes and many edges */
    GRAPHS_TINY,    /* 0..3 nodes and edges: many are equal */
    GRAPHS_KINDS,
} graph_kind;

typedef struct test_graphs {
    leat_graph_sizes sizes;
    int32_t *nodes, *edges;
} test_graphs;

test_graphs make_graphs(graph_kind kind, uint64_t seed, int64_t count);
void free_graphs(test_graphs *graphs);

/* A plan that must be made. */
leat_graph_plan *plan_of(const leat_graph_batch_options *options, const leat_graph_sizes *sizes,
                         const int32_t *attack, const double *score);

/* A list of numbers in JSON, as an array that the caller frees. */
int32_t *numbers_of(const json_t *list, int64_t *count);

#endif
