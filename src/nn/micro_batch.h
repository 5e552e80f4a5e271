/*
 * Kinds of micro-batches: what a model computes from, and what somebody else makes for it. A model
 * names the kind that it takes, and whoever makes batches names theirs; the names must be equal.
 */
#ifndef LEAT_NN_MICRO_BATCH_H
#define LEAT_NN_MICRO_BATCH_H

#include "leat/nn.h"

/* Images as levels, in their order; their number is the model's micro-batch. What a model draws at
 * random beside image i is a function of the seed and of position + i. */
#define LEAT_MICRO_BATCH_IMAGES "images"
#define LEAT_MICRO_BATCH_POSITIONS (INT64_C(1) << 60)
typedef struct leat_image_micro {
    const uint8_t *levels; /* [image][LEAT_IMAGE_VALUES] */
    uint64_t seed;
    int64_t position; /* of the first image, below LEAT_MICRO_BATCH_POSITIONS */
} leat_image_micro;

/* Graphs of nodes with an identifier and features, and of edges with features, as one disjoint
 * union: those of graph g are node_first[g] .. node_first[g + 1] - 1, and edges likewise. An edge
 * joins nodes of its graph; edges of a graph are in order of time. What a model draws at random for
 * a graph is a function of the seed, the epoch, the purpose, the graph's number and the element, so
 * that it does not depend on how graphs are put into batches. */
#define LEAT_MICRO_BATCH_GRAPHS "graphs"
enum { LEAT_MICRO_NODE_FEATURES = 35, LEAT_MICRO_EDGE_FEATURES = 11 };
typedef struct leat_graph_micro {
    int64_t graphs, nodes, edges;           /* at least one graph, with a node each */
    const float *x;                         /* [nodes][LEAT_MICRO_NODE_FEATURES], scaled */
    const float *edge_attr;                 /* [edges][LEAT_MICRO_EDGE_FEATURES], scaled */
    const int32_t *source, *target;         /* [edges] nodes of the micro-batch */
    const int32_t *node_id;                 /* [nodes] number of the identifier; 0: unknown */
    const int64_t *node_first, *edge_first; /* [graphs + 1] */
    const int32_t *label;                   /* [graphs] 0: benign, 1: attack */
    const int64_t *number;                  /* [graphs] in their split */
    uint64_t seed;
    int64_t epoch;
} leat_graph_micro;

/* Sequences of tokens, [sequence][length]: each holds segments, one after the other and numbered by
 * what is not 0, and padding, 0. Positions begin at 0 in each segment. A row with a target_segment
 * that is not 0 has a target. What a model draws at random for a sequence is a function of the
 * seed, its epoch, the purpose, its number and the element. */
#define LEAT_MICRO_BATCH_TOKENS "tokens"
typedef struct leat_token_micro {
    int64_t sequences, length; /* at least one of each */
    const int32_t *inputs, *positions, *segments;
    const int32_t *targets, *target_segments;
    const int64_t *number, *epoch; /* [sequences] number in the epoch, and that */
    uint64_t seed;
} leat_token_micro;

#endif
