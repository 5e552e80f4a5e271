/*
 * The variational autoencoder of graphs of a CAN bus: shapes, parameters, memory, and what it
 * computes of a micro-batch; can-graphs.md has the architecture. Letters: N nodes and E edges of a
 * micro-batch, W values of a node (heads x width, as many as of a latent vector), V identifiers.
 *
 *     identifiers' embedding and x -> GATv2 -> GraphNorm, ReLU, dropout -> mu, logvar -> z
 *     z -> GATv2: the reconstruction of x
 *     z of hidden nodes -> linear: their identifiers
 *     z -> twice (linear, ReLU, dropout) -> linear: the identifiers of their neighbours
 *
 * In training, nodes are hidden at random: their x is 0 and their identifier the last row of the
 * embedding, number V. The loss is a sum of means, with the shares below.
 * Source: Kipf and Welling, Variational Graph Auto-Encoders, arXiv:1611.07308.
 */
#ifndef LEAT_NN_MODELS_VGAE_VGAE_H
#define LEAT_NN_MODELS_VGAE_VGAE_H

#include "leat/nn.h"
#include "nn/ops/gatv2.h"
#include "nn/ops/linear.h"
#include "nn/ops/neighbours.h"
#include "nn/ops/vgae_loss.h"
#include "nn/params.h"
#include "nn/unit/float_layout.h"

#define LEAT_VGAE_VOCABULARY_MAX (INT64_C(1) << 24)
#define LEAT_VGAE_NODES_MAX (INT64_C(1) << 24)
#define LEAT_VGAE_EDGES_MAX (INT64_C(1) << 26)

#define LEAT_VGAE_HIDDEN 0.15f /* share of nodes that are hidden in training */
#define LEAT_VGAE_SHARE_ID 0.1
#define LEAT_VGAE_SHARE_NEIGHBOURS 0.05
#define LEAT_VGAE_SHARE_KL 0.01

enum {
    LEAT_VGAE_EMBEDDING = 32,
    LEAT_VGAE_INPUT = LEAT_VGAE_EMBEDDING + LEAT_MICRO_NODE_FEATURES,
    LEAT_VGAE_DRAWS = 32,    /* identifiers for each node, of which most are no neighbours */
    LEAT_VGAE_BLOCK = 256,   /* nodes whose V logits are in memory at a time */
    LEAT_VGAE_ALL_IDS = 256, /* above it, logits of neighbours are computed where a term needs it */
    LEAT_VGAE_VALUES_MAX = 128, /* of a node */
    LEAT_VGAE_PARAMS = 30
};

/* Places of parameters in their block. */
typedef struct leat_vgae_gat {
    int64_t att, bias, left, left_bias, right, right_bias, edge;
} leat_vgae_gat;
typedef struct leat_vgae_dense {
    int64_t weight, bias;
} leat_vgae_dense;

typedef struct leat_vgae_shape {
    int64_t heads, width, values; /* W: of a node, and of a latent vector */
    int64_t vocabulary, size;     /* V; floats of the parameters */
    leat_param params[LEAT_VGAE_PARAMS];
    int param_count;
    int64_t embedding, norm_weight, norm_bias, norm_scale;
    leat_vgae_gat encoder, decoder;
    leat_vgae_dense mean, logvar, id, neighbour[3];
} leat_vgae_shape;

/* The table of parameters, in the order and with the names of the reference's state dict.
 * LEAT_ERR_OPTION: the vocabulary is not between 1 and LEAT_VGAE_VOCABULARY_MAX. */
LEAT_MUST_CHECK leat_code leat_vgae_shape_set(leat_vgae_shape *shape, leat_vgae_size size,
                                              int64_t vocabulary, leat_error *err);

/* ---- A micro-batch -------------------------------------------------------------------------- */

/* Memory for the activations of a micro-batch, and their gradients. Rows as the ops have them. */
typedef struct leat_vgae_scratch {
    leat_graph_edges edges;
    leat_neighbours neighbours;
    leat_neighbour_terms terms; /* of a block of nodes */
    int32_t *id;                /* [N] as the embedding takes them */
    int32_t *rows, *want;       /* [N] nodes with an identifier to be found, and these */
    int32_t *drawn, *by_id;     /* [N][LEAT_VGAE_DRAWS]; work space of the embedding */
    uint8_t *hidden, *dropped;  /* [N] */
    leat_gatv2_kept encoder, decoder;
    float *input, *d_input;             /* [N][LEAT_VGAE_INPUT] */
    float *attended, *normed, *encoded; /* [N][W]: GATv2, then GraphNorm and ReLU, then dropout */
    float *graph_mean, *graph_root;     /* [N][W]: of each graph */
    float *mu, *logvar, *noise, *z;     /* [N][W] */
    float *recon, *d_recon;             /* [N][features] */
    float *dense[2], *dropped_dense[2]; /* [N][W]: of the neighbours' head */
    float *d_z, *up[2];                 /* [N][W] */
    float *block, *d_block;             /* [LEAT_VGAE_BLOCK][W] */
    float *logits;                      /* [LEAT_VGAE_BLOCK][V] */
    double *sums[2];                    /* [N] */
    float *work, *gradient;
} leat_vgae_scratch;

/* Places for at most these nodes and edges. */
void leat_vgae_lay_out(leat_vgae_scratch *scratch, const leat_vgae_shape *shape,
                       const leat_device *device, int64_t nodes, int64_t edges,
                       leat_float_layout *floats);

/* What is drawn at random; NULL: nothing is. */
typedef struct leat_vgae_random {
    const uint8_t *hidden;  /* [N] nodes that are hidden: 1, others: 0 */
    const uint8_t *dropped; /* [N] nodes whose identifier is unknown */
    const float *noise;     /* [N][W], as rows; z is mu without */
    const int32_t *drawn;   /* [N][LEAT_VGAE_DRAWS]; needed by the losses */
} leat_vgae_random;

typedef struct leat_vgae_pass {
    const leat_vgae_shape *shape;
    leat_device device;
    leat_vgae_scratch *scratch;
    const leat_graph_micro *batch;
    const float *parameters; /* [shape->size] */
    leat_vgae_random random;
    double dropout; /* share; 0 outside of training */
} leat_vgae_pass;

/* Parts of the loss, each a mean without its share; `total` has the shares. */
typedef struct leat_vgae_losses {
    double total, recon, id, neighbours, kl;
} leat_vgae_losses;

/* Up to scratch->recon; mu, logvar (not clamped yet) and z are there, too. */
LEAT_MUST_CHECK leat_code leat_vgae_forward(const leat_vgae_pass *pass, leat_error *err);
/* After it: the losses and their gradient, scratch->gradient. A mean over nothing is 0. The
 * gradient of z is that of the reconstruction, then of the identifiers, then of the neighbours. */
LEAT_MUST_CHECK leat_code leat_vgae_backward(const leat_vgae_pass *pass, leat_vgae_losses *out,
                                             leat_error *err);
/* The two heads: each adds to scratch->d_z and scratch->gradient; *loss is without its share. */
LEAT_MUST_CHECK leat_code leat_vgae_id_head(const leat_vgae_pass *pass, double *loss,
                                            leat_error *err);
LEAT_MUST_CHECK leat_code leat_vgae_neighbour_head(const leat_vgae_pass *pass, double *loss,
                                                   leat_error *err);
leat_linear leat_vgae_linear(const leat_vgae_pass *pass, const leat_vgae_dense *of, int64_t rows,
                             int64_t out, bool relu);

#endif
