/*
 * The VGAE as a model (nn/model.h). A batch is graphs, whose labels are not read: the caller gives
 * benign ones; the weight of a unit is their number of nodes. Its settings are leat_vgae_settings,
 * in which the data have decided vocabulary, max_nodes and max_edges; setup.micro_batch is not
 * used.
 */
#ifndef LEAT_NN_MODELS_VGAE_MODEL_H
#define LEAT_NN_MODELS_VGAE_MODEL_H

#include "nn/micro_batch.h"
#include "nn/model.h"

extern const leat_model_class leat_vgae_class;

/* What a VGAE makes of graphs, without dropout and with the mean of the latent vectors: a function
 * of the graphs, the hidden nodes and the weights. W: leat_vgae_latent. Each may be NULL. */
typedef struct leat_vgae_output {
    float *recon;       /* [nodes][LEAT_MICRO_NODE_FEATURES] */
    float *mu;          /* [nodes][W] */
    float *logvar;      /* [nodes][W], in [-10, 10] */
    double *divergence; /* [nodes]: the sum over W, see ops/latent.h */
} leat_vgae_output;

/* Of a model of this class, for a batch within its bounds. hidden: [nodes] 1 where x and identifier
 * are hidden from it, else 0; NULL: nowhere. LEAT_ERR_BUSY: another thread computes with it. */
LEAT_MUST_CHECK leat_code leat_vgae_reconstruct(void *self, const leat_graph_micro *batch,
                                                const uint8_t *hidden, const float *parameters,
                                                const leat_vgae_output *out, leat_error *err);
/* Values of a latent vector. */
int64_t leat_vgae_latent(const void *self);

#endif
