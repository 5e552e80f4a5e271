/*
 * Random numbers of graphs: masks of nodes, dropout, noise, identifiers.
 *
 * A number is a function of (seed, epoch, purpose, the graph's number in its split, element), never
 * of the graph's place in a micro-batch. So masks and noise are the same however graphs are put
 * into batches and units. Element of a row (a node of its graph, from 0, or the graph itself) and a
 * column:
 *
 *     place * 2^40 + row * columns + column
 *
 * where `place` tells apart those for which a model draws with the same purpose, such as layers.
 *
 * Rows are [row][step], step = leat_lanes(columns), unless it is said. Parts of the pool are
 * graphs.
 */
#ifndef LEAT_NN_OPS_GRAPH_RANDOM_H
#define LEAT_NN_OPS_GRAPH_RANDOM_H

#include "nn/micro_batch.h"
#include "nn/ops/op.h"

#define LEAT_GRAPH_PLACES 4096
#define LEAT_GRAPH_ELEMENTS (INT64_C(1) << 40) /* of a graph and place: rows x columns */

typedef struct leat_graph_random {
    const leat_graph_micro *batch; /* its counts, node_first, number, seed and epoch are read */
    uint64_t stream;               /* the purpose: random_streams.h */
    int place;                     /* below LEAT_GRAPH_PLACES */
    bool of_graphs;                /* a graph is a row; otherwise each of its nodes is */
    double share;                  /* of dropout: of the elements that become 0, below 1 */
} leat_graph_random;

/* The key of the numbers of graph `graph` of the batch:
 * leat_random(leat_random(seed, stream, epoch), stream, number). */
uint64_t leat_graph_key(const leat_graph_random *of, int64_t graph);

/* Which nodes are drawn: mask[node] = 1 where its uniform number, a multiple of 2^-24 in [0, 1), is
 * below share, else 0. [nodes] */
LEAT_MUST_CHECK leat_code leat_graph_mask(const leat_device *device, const leat_graph_random *of,
                                          float share, uint8_t *mask, leat_error *err);

/* Normal numbers, out [rows][step]; unused lanes become +0. The numbers of a graph are those from
 * its first element on (leat_normal_fill), and LEAT_GRAPH_ELEMENTS is even, so pairs stay pairs. */
LEAT_MUST_CHECK leat_code leat_graph_normal(const leat_device *device, const leat_graph_random *of,
                                            int64_t columns, float *out, leat_error *err);

/* Whole numbers in [0, bound), 1 <= bound < 2^31, without gaps: out [rows][columns];
 * leat_random_below of the bits of an element. */
LEAT_MUST_CHECK leat_code leat_graph_below(const leat_device *device, const leat_graph_random *of,
                                           int64_t columns, int32_t bound, int32_t *out,
                                           leat_error *err);

/* The factor of what dropout keeps: 1 / (1 - share), rounded. */
float leat_graph_dropout_scale(double share);
/* What is drawn for a share in [0, 1), without its key. */
leat_dropout leat_dropout_of(double share);
/*
 * Dropout: y = x / (1 - share) where the element is kept, else +0; [rows][step], unused lanes
 * become +0. It is kept if its top 24 bits, as a number, are below 2^24 (1 - share); the factor is
 * rounded to float first. The gradient is the same call on gradients: the same elements are drawn
 * again (after ReLU, leat_relu_dropout_backward draws none). y may be x. With a share of 0, y is x
 * and nothing is drawn. Source: Srivastava et al., Dropout, JMLR 15 (2014), with the scale in
 * training.
 */
LEAT_MUST_CHECK leat_code leat_graph_dropout(const leat_device *device, const leat_graph_random *of,
                                             int64_t columns, const float *x, float *y,
                                             leat_error *err);

#endif
