/* The loss of a VGAE as plain loops in double, written from the formulas alone: for finite
 * differences. For few nodes. */
#ifndef TESTS_NN_VGAE_DOUBLE_H
#define TESTS_NN_VGAE_DOUBLE_H

#include <math.h>

#include "base/rng.h"
#include "check.h"
#include "nn/models/vgae/vgae.h"
#include "nn/ops/graph_random.h"
#include "nn/ops/graphnorm.h"
#include "nn/ops/latent.h"
#include "nn/random_streams.h"

enum { VD_NODES = 48, VD_EDGES = 200, VD_WIDE = 80, VD_IDS = 400 };
typedef double vd_rows[VD_NODES * VD_WIDE];

/* What the loss is a function of, besides its parameters. */
typedef struct vd_case {
    const leat_vgae_shape *shape;
    const leat_graph_micro *batch;
    const leat_vgae_random *random;
    double dropout;
} vd_case;

static void vd_linear(int64_t rows, int64_t in, int64_t out, const double *w, const double *b,
                      const double *x, double *y) {
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t o = 0; o < out; o++) {
            double sum = b[o];
            for (int64_t i = 0; i < in; i++) sum += x[r * in + i] * w[o * in + i];
            y[r * out + o] = sum;
        }
    }
}

/* The edges that end in a node, without self-loops, and a new self-loop with their mean. */
static int64_t vd_incoming(const leat_graph_micro *g, int64_t node, int64_t *source,
                           double (*features)[LEAT_MICRO_EDGE_FEATURES]) {
    int64_t n = 0;
    for (int64_t e = 0; e < g->edges; e++) {
        if (g->target[e] != node || g->source[e] == node) continue;
        for (int f = 0; f < LEAT_MICRO_EDGE_FEATURES; f++)
            features[n][f] = (double)g->edge_attr[e * LEAT_MICRO_EDGE_FEATURES + f];
        source[n++] = g->source[e];
    }
    for (int f = 0; f < LEAT_MICRO_EDGE_FEATURES; f++) {
        features[n][f] = 0;
        for (int64_t k = 0; k < n; k++) features[n][f] += features[k][f] / (double)n;
    }
    source[n] = node;
    return n + 1;
}

static double vd_score(const double *att, const double *edge, int64_t width, const double *left,
                       const double *right, const double *features) {
    double score = 0;
    for (int64_t c = 0; c < width; c++) {
        double m = left[c] + right[c];
        for (int f = 0; f < LEAT_MICRO_EDGE_FEATURES; f++)
            m += features[f] * edge[c * LEAT_MICRO_EDGE_FEATURES + f];
        score += att[c] * (m > 0 ? m : m * (double)LEAT_GATV2_SLOPE);
    }
    return score;
}

static void vd_attention(const leat_graph_micro *g, const leat_vgae_gat *at, const double *p,
                         int64_t in, int64_t heads, int64_t width, const double *x, double *y) {
    static vd_rows left, right;
    static double features[VD_EDGES + 1][LEAT_MICRO_EDGE_FEATURES], share[VD_EDGES + 1];
    static int64_t source[VD_EDGES + 1];
    const int64_t out = heads * width;
    vd_linear(g->nodes, in, out, p + at->left, p + at->left_bias, x, left);
    vd_linear(g->nodes, in, out, p + at->right, p + at->right_bias, x, right);
    for (int64_t i = 0; i < g->nodes; i++) {
        const int64_t n = vd_incoming(g, i, source, features);
        for (int64_t c = 0; c < out; c++) y[i * out + c] = p[at->bias + c];
        for (int64_t h = 0; h < out; h += width) {
            double sum = 0;
            for (int64_t k = 0; k < n; k++) {
                share[k] = exp(
                    vd_score(p + at->att + h, p + at->edge + h * LEAT_MICRO_EDGE_FEATURES, width,
                             left + source[k] * out + h, right + i * out + h, features[k]));
                sum += share[k];
            }
            for (int64_t k = 0; k < n; k++)
                for (int64_t c = h; c < h + width; c++)
                    y[i * out + c] += share[k] / sum * left[source[k] * out + c];
        }
    }
}

/* GraphNorm and ReLU, in place. */
static void vd_norm(const vd_case *of, const double *p, double *x) {
    const leat_vgae_shape *shape = of->shape;
    const int64_t W = shape->values;
    for (int64_t g = 0; g < of->batch->graphs; g++) {
        const int64_t first = of->batch->node_first[g], end = of->batch->node_first[g + 1];
        const double n = (double)(end - first);
        for (int64_t c = 0; c < W; c++) {
            double mean = 0, squares = 0;
            for (int64_t i = first; i < end; i++) mean += x[i * W + c] / n;
            mean *= p[shape->norm_scale + c];
            for (int64_t i = first; i < end; i++) squares += pow(x[i * W + c] - mean, 2) / n;
            const double root = sqrt(squares + (double)LEAT_GRAPHNORM_EPS);
            for (int64_t i = first; i < end; i++) {
                const double y = p[shape->norm_weight + c] * (x[i * W + c] - mean) / root +
                                 p[shape->norm_bias + c];
                x[i * W + c] = y > 0 ? y : 0;
            }
        }
    }
}

static void vd_drop(const vd_case *of, int64_t place, double *x) {
    const leat_graph_random random = {.batch = of->batch, .stream = LEAT_STREAM_DROPOUT};
    const int64_t W = of->shape->values;
    if (of->dropout == 0) return;
    for (int64_t g = 0; g < of->batch->graphs; g++) {
        const int64_t first = of->batch->node_first[g] * W, end = of->batch->node_first[g + 1] * W;
        for (int64_t i = first; i < end; i++) {
            const uint64_t element = (uint64_t)(place * LEAT_GRAPH_ELEMENTS + i - first);
            const uint64_t bits = leat_random_at(leat_graph_key(&random, g), element) >> 40;
            x[i] = (double)bits < 0x1p24 * (1 - of->dropout) ? x[i] / (1 - of->dropout) : 0;
        }
    }
}

static bool vd_hidden(const vd_case *of, int64_t node) { return of->random->hidden[node] != 0; }
static bool vd_hides(const vd_case *of) {
    for (int64_t i = 0; i < of->batch->nodes; i++)
        if (vd_hidden(of, i)) return true;
    return false;
}

static double vd_ids(const vd_case *of, const double *logits) {
    const int64_t V = of->shape->vocabulary;
    double sum = 0, count = 0;
    for (int64_t i = 0; i < of->batch->nodes; i++) {
        double all = 0;
        if (vd_hides(of) && !vd_hidden(of, i)) continue;
        for (int64_t v = 0; v < V; v++) all += exp(logits[i * V + v]);
        sum += log(all) - logits[i * V + of->batch->node_id[i]];
        count++;
    }
    return sum / count;
}

static double vd_neighbours(const vd_case *of, const double *logits) {
    const leat_graph_micro *g = of->batch;
    const int64_t V = of->shape->vocabulary;
    double sums[2] = {0}, counts[2] = {0};
    for (int64_t i = 0; i < g->nodes; i++) {
        bool positive[VD_IDS] = {false};
        for (int64_t e = 0; e < g->edges; e++) {
            if (g->source[e] != i || (vd_hides(of) && !vd_hidden(of, i))) continue;
            const int32_t id = g->node_id[g->target[e]];
            positive[id] = true;
            sums[1] += log1p(exp(-logits[i * V + id]));
            counts[1]++;
        }
        for (int k = 0; k < LEAT_VGAE_DRAWS; k++) {
            const int32_t id = of->random->drawn[i * LEAT_VGAE_DRAWS + k];
            if (positive[id]) continue;
            sums[0] += log1p(exp(logits[i * V + id]));
            counts[0]++;
        }
    }
    return (counts[1] > 0 ? sums[1] / counts[1] : 0) + (counts[0] > 0 ? sums[0] / counts[0] : 0);
}

/* From the latent vectors on, without their divergence. */
static double vd_decode(const vd_case *of, const double *p, const double *z) {
    static vd_rows recon, dense[2];
    static double logits[VD_NODES * VD_IDS];
    const leat_vgae_shape *shape = of->shape;
    const int64_t N = of->batch->nodes, W = shape->values, F = LEAT_MICRO_NODE_FEATURES;
    double squares = 0;
    vd_attention(of->batch, &shape->decoder, p, W, 1, F, z, recon);
    for (int64_t i = 0; i < N * F; i++) squares += pow(recon[i] - (double)of->batch->x[i], 2);
    vd_linear(N, W, shape->vocabulary, p + shape->id.weight, p + shape->id.bias, z, logits);
    const double ids = vd_ids(of, logits);
    for (int k = 0; k < 2; k++) {
        const leat_vgae_dense *at = &shape->neighbour[k];
        vd_linear(N, W, W, p + at->weight, p + at->bias, k == 0 ? z : dense[0], dense[k]);
        for (int64_t i = 0; i < N * W; i++) dense[k][i] = dense[k][i] > 0 ? dense[k][i] : 0;
        vd_drop(of, 1 + k, dense[k]);
    }
    const leat_vgae_dense *last = &shape->neighbour[2];
    vd_linear(N, W, shape->vocabulary, p + last->weight, p + last->bias, dense[1], logits);
    return squares / (double)(N * F) + LEAT_VGAE_SHARE_ID * ids +
           LEAT_VGAE_SHARE_NEIGHBOURS * vd_neighbours(of, logits);
}

static double vd_loss(const vd_case *of, const double *p) {
    static vd_rows x, encoded, mu, logvar;
    const leat_vgae_shape *shape = of->shape;
    const leat_graph_micro *g = of->batch;
    const int64_t N = g->nodes, W = shape->values, F = LEAT_MICRO_NODE_FEATURES;
    double kl = 0;
    assert_true(N <= VD_NODES && W <= VD_WIDE && g->edges <= VD_EDGES);
    assert_true(shape->vocabulary <= VD_IDS);
    for (int64_t i = 0; i < N; i++) {
        const int64_t id = vd_hidden(of, i) ? shape->vocabulary : g->node_id[i];
        for (int c = 0; c < LEAT_VGAE_EMBEDDING; c++)
            x[i * LEAT_VGAE_INPUT + c] = p[shape->embedding + id * LEAT_VGAE_EMBEDDING + c];
        for (int64_t f = 0; f < F; f++)
            x[i * LEAT_VGAE_INPUT + LEAT_VGAE_EMBEDDING + f] =
                vd_hidden(of, i) ? 0 : (double)g->x[i * F + f];
    }
    vd_attention(g, &shape->encoder, p, LEAT_VGAE_INPUT, shape->heads, shape->width, x, encoded);
    vd_norm(of, p, encoded);
    vd_drop(of, 0, encoded);
    vd_linear(N, W, W, p + shape->mean.weight, p + shape->mean.bias, encoded, mu);
    vd_linear(N, W, W, p + shape->logvar.weight, p + shape->logvar.bias, encoded, logvar);
    for (int64_t i = 0; i < N * W; i++) {
        const double most = (double)LEAT_LOGVAR_MAX, v = fmax(-most, fmin(most, logvar[i]));
        kl -= 0.5 * (1 + v - mu[i] * mu[i] - exp(v));
        mu[i] += exp(v / 2) * (double)of->random->noise[i / W * leat_lanes(W) + i % W];
    }
    return vd_decode(of, p, mu) + LEAT_VGAE_SHARE_KL * kl / (double)(N * W);
}

#endif
