/*
 * The latent vectors of a variational autoencoder, [row][leat_lanes(width)]: v = logvar clamped to
 * [-10, 10],
 *
 *     z = mu + exp(v / 2) noise,      divergence = -1/2 (((1 + v) - mu mu) - exp(v))
 *
 * each operation rounded. The divergence of a row is the sum of its columns, ascending, in double.
 * With g the gradient of z and f the factor of the divergence's sum:
 *
 *     d mu = g + f mu,      d logvar = (g noise) (exp(v / 2) / 2) + (f / 2) (exp(v) - 1)
 *
 * the latter +0 where logvar lies outside [-10, 10]. Unused lanes of results become +0. Parts are
 * blocks of rows. Source: Kingma and Welling, arXiv:1312.6114.
 */
#ifndef LEAT_NN_OPS_LATENT_H
#define LEAT_NN_OPS_LATENT_H

#include "nn/ops/op.h"

#define LEAT_LOGVAR_MAX 10.0f

typedef struct leat_latent {
    int64_t rows, width;
    const float *mu, *logvar;
    const float *noise; /* NULL: 0, so that z is mu */
    float factor;       /* of the sum of divergences in the loss; of backward alone */
} leat_latent;

/* z; and the divergence of each row, [rows], unless it is NULL. */
LEAT_MUST_CHECK leat_code leat_latent_forward(const leat_device *device, const leat_latent *of,
                                              float *z, double *divergence, leat_error *err);
/* d_mu and d_logvar from up, the gradient of z; d_mu may be up. */
LEAT_MUST_CHECK leat_code leat_latent_backward(const leat_device *device, const leat_latent *of,
                                               const float *up, float *d_mu, float *d_logvar,
                                               leat_error *err);

#endif
