/*
 * The losses of a graph autoencoder besides the divergence of its latent vectors, with their
 * gradients. Rows are [row][step], step = leat_lanes of the columns. Terms are floats; those of a
 * row are summed in double, columns ascending unless it is said, and the caller adds rows in order.
 * Unused lanes of gradients become +0. Parts are blocks of rows.
 */
#ifndef LEAT_NN_OPS_VGAE_LOSS_H
#define LEAT_NN_OPS_VGAE_LOSS_H

#include "nn/micro_batch.h"
#include "nn/ops/op.h"

/* Squares of d = got - want: sums [rows]; up = (2 factor) d. */
typedef struct leat_square_loss {
    int64_t rows, columns;
    const float *got;  /* [rows][step] */
    const float *want; /* [rows][columns] */
    float factor;
} leat_square_loss;
LEAT_MUST_CHECK leat_code leat_square_loss_run(const leat_device *device,
                                               const leat_square_loss *of, float *up, double *sums,
                                               leat_error *err);

/*
 * Cross-entropy of logits [rows][step] against want [rows]: e = exp(x - largest), s = their sum
 * with LEAT_LANES lanes (lane l: columns l, l + 16, ...; then lanes i and i + 8, i + 4, i + 2,
 * i + 1); the term is log(s) - (x of want - largest). The logits become the gradient,
 * (e / s - 1 at want) factor.
 */
typedef struct leat_id_loss {
    int64_t rows, ids;
    const int32_t *want;
    float factor;
} leat_id_loss;
LEAT_MUST_CHECK leat_code leat_id_loss_run(const leat_device *device, const leat_id_loss *of,
                                           float *logits, double *terms, leat_error *err);

/*
 * Which identifiers are neighbours of a node. Positive: those of the targets of its edges in the
 * micro-batch, self-loops and parallel edges included, of the nodes with `hidden` set, or of all
 * nodes if none is. Negative: `draws` random ones for every node, without those that are positive
 * for it.
 */
typedef struct leat_neighbours {
    int64_t nodes, ids, draws;
    const int32_t *drawn;         /* [nodes][draws] */
    int32_t *first;               /* [nodes + 1] positives of each node */
    int32_t *positive;            /* [edges] identifiers */
    uint8_t *kept;                /* [nodes][draws] whether it is a negative */
    int64_t positives, negatives; /* their numbers */
} leat_neighbours;
/* Sets what is not const, in arrays of the caller's, on the calling thread. */
void leat_neighbours_set(const leat_graph_micro *batch, const uint8_t *hidden,
                         leat_neighbours *out);

/*
 * For the nodes from `node` on, with logits [rows][step]: the terms softplus(-x) of positives, and
 * softplus(x) of negatives, as often as they occur, over identifiers ascending; no identifier is
 * both. up = (count sigmoid(x)) of_negative, or (-count sigmoid(-x)) of_positive, count being how
 * often it occurs, else +0.
 */
typedef struct leat_neighbour_loss {
    const leat_neighbours *of;
    int64_t node, rows;
    const float *logits;
    float of_positive, of_negative; /* factors */
} leat_neighbour_loss;
LEAT_MUST_CHECK leat_code leat_neighbour_loss_run(const leat_device *device,
                                                  const leat_neighbour_loss *loss, float *up,
                                                  double *positives, double *negatives,
                                                  leat_error *err);

#endif
