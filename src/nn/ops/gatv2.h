/*
 * GATv2: attention of every node over its incoming edges, heads side by side. Rows are [row][step],
 * step = leat_lanes(heads * width); edges are those of graph_edges.h, lists T and S.
 *
 *     L = x W_l^T + b_l,   R = x W_r^T + b_r,   E = f W_e^T          f: features of the edge
 *     m = (L of the source + R of the target) + E,   score = att . leaky(m), of each head
 *     alpha = exp(score - largest) / (sum + 1e-16) over the edges of a target
 *     y = sum of alpha L, then + bias
 *
 * Orders (this is the specification). Products as in linear.h. A score has LEAT_LANES lanes, as
 * leat_kernels.row_dot; the sum of a softmax, and that of y (fma, from +0), are chains over the
 * edges of a target in T. With g the gradient of y and E computed again, of each head:
 *
 *     d alpha = g of the target . L of the source        with lanes, as a score
 *     d score = alpha (d alpha - chain over T of sums of alpha d alpha)    products rounded first
 *     d m     = (d score att) leaky'(m)
 *     d R     = chain over T of sums of d m
 *     d L     = chain over S: fma(alpha, g of the target, .), then + d m
 *     d x     = chain over the outputs of d L W_l, continued by that of d R W_r
 *
 * Gradients of parameters are chains that continue from what the arrays hold: att over T of
 * fma(d score, leaky(m), .), W_e over T, all others over nodes, ascending.
 * Source: Brody, Alon, Yahav, How Attentive are Graph Attention Networks?, arXiv:2105.14491; the
 * slope, 1e-16 and two weights as in PyTorch Geometric's GATv2Conv.
 */
#ifndef LEAT_NN_OPS_GATV2_H
#define LEAT_NN_OPS_GATV2_H

#include "nn/ops/graph_edges.h"
#include "nn/ops/op.h"

#define LEAT_GATV2_SLOPE 0.2f

typedef struct leat_gatv2 {
    int64_t in, heads, width;            /* at least one of each */
    const float *att;                    /* [heads][width] */
    const float *bias;                   /* [heads * width] */
    const float *left, *right;           /* [heads * width][in] */
    const float *left_bias, *right_bias; /* [heads * width] */
    const float *edge;                   /* [heads * width][LEAT_MICRO_EDGE_FEATURES] */
    float *work;                         /* leat_gatv2_work_count floats */
} leat_gatv2;

/* What forward keeps for backward. */
typedef struct leat_gatv2_kept {
    float *left, *right; /* [nodes][step] */
    float *alpha;        /* [edges of T][heads] */
} leat_gatv2_kept;

/* Floats of work space for both directions; it grows with nodes and edges (of T). -1: sizes that a
 * product refuses. */
int64_t leat_gatv2_work_count(const leat_device *device, const leat_gatv2 *layer, int64_t nodes,
                              int64_t edges);

typedef struct leat_gatv2_flow {
    const float *x; /* [nodes][leat_lanes(in)] */
    const leat_gatv2_kept *kept;
    /* Of backward alone. */
    const float *up; /* gradient of y, [nodes][step] */
    float *down;     /* gradient of x, [nodes][leat_lanes(in)]; NULL: not computed */
} leat_gatv2_flow;

/* y from x. Unused lanes of y, and of what is kept, become +0. */
LEAT_MUST_CHECK leat_code leat_gatv2_forward(const leat_device *device, const leat_gatv2 *layer,
                                             const leat_graph_edges *edges,
                                             const leat_gatv2_flow *flow, float *y,
                                             leat_error *err);

/* Of the parameters; in their shapes, added to. */
typedef struct leat_gatv2_gradient {
    float *att, *bias, *left, *right, *left_bias, *right_bias, *edge;
} leat_gatv2_gradient;
LEAT_MUST_CHECK leat_code leat_gatv2_backward(const leat_device *device, const leat_gatv2 *layer,
                                              const leat_graph_edges *edges,
                                              const leat_gatv2_flow *flow,
                                              const leat_gatv2_gradient *gradient, leat_error *err);

#endif
