/*
 * The losses of a graph autoencoder besides the divergence of its latent vectors, with their
 * gradients. Rows are [row][step], step = leat_lanes of the columns. Terms are floats; those of a
 * row are summed in double, columns ascending unless it is said, and the caller adds rows in order.
 * Unused lanes of gradients become +0. Parts are blocks of rows.
 */
#ifndef LEAT_NN_OPS_VGAE_LOSS_H
#define LEAT_NN_OPS_VGAE_LOSS_H

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

#endif
