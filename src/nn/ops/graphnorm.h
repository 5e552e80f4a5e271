/*
 * GraphNorm: normalisation over the nodes of each graph, channel by channel, with a learned share
 * of the mean. Rows are [node][step], step = leat_lanes(channels).
 *
 *     o = x - mean_scale * mean,   y = weight * o / sqrt(mean of o^2 + LEAT_GRAPHNORM_EPS) + bias
 *
 * Order (this is the specification), for each graph of n nodes and each channel; a chain runs over
 * the nodes of the graph, ascending, from +0:
 *
 *     mean = (chain of sums of x) / n,       o = fma(-mean_scale, mean, x)
 *     root = sqrt((chain of fma(o, o, .)) / n + eps),   h = o / root,   y = fma(weight, h, bias)
 *
 * and with g the gradient of y:
 *
 *     e = g * weight,   m = (chain of fma(e, h, .)) / n,   q = fma(-m, h, e) / root
 *     gradient of x = fma(-mean_scale, (chain of sums of q) / n, q)
 *
 * Gradients of weight (fma(g, h, .)), bias (sums of g) and mean_scale (fma(-mean, q, .)) are chains
 * over all nodes, graph by graph, that continue from what the arrays hold.
 * Source: Cai et al., GraphNorm, arXiv:2009.03294; eps and the biased variance as in PyTorch
 * Geometric.
 */
#ifndef LEAT_NN_OPS_GRAPHNORM_H
#define LEAT_NN_OPS_GRAPHNORM_H

#include "nn/ops/op.h"

#define LEAT_GRAPHNORM_EPS 1e-5f

/* Of the parameters; each [channels], added to. */
typedef struct leat_graphnorm_gradient {
    float *weight, *bias, *mean_scale;
} leat_graphnorm_gradient;

typedef struct leat_graphnorm {
    int64_t graphs, channels;                /* at least one of each */
    const int64_t *node_first;               /* [graphs + 1], from 0; each graph has a node */
    const float *weight, *bias, *mean_scale; /* [channels] */
    float *mean, *root;               /* [graphs][step]: forward writes them, backward reads them */
    leat_graphnorm_gradient gradient; /* of backward alone */
} leat_graphnorm;

/* y from x; y may be x. Unused lanes of y are finite where those of x are. */
LEAT_MUST_CHECK leat_code leat_graphnorm_forward(const leat_device *device,
                                                 const leat_graphnorm *norm, const float *x,
                                                 float *y, leat_error *err);

/* The gradient `down` of x from that of y, `up`; they may be the same, x lies elsewhere. */
LEAT_MUST_CHECK leat_code leat_graphnorm_backward(const leat_device *device,
                                                  const leat_graphnorm *norm, const float *x,
                                                  const float *up, float *down, leat_error *err);

#endif
