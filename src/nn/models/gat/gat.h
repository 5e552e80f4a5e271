/*
 * The GAT that classifies graphs of a CAN bus: shapes, parameters and memory; can-graphs.md has the
 * architecture. Letters: N nodes and G graphs of a micro-batch, T layers, W values of a layer
 * (heads x width), H hidden values of the LSTM in one direction (T W / 2).
 *
 *     identifiers' embedding and x -> T times (GATv2, ReLU, dropout)
 *     -> their outputs as a sequence through a bidirectional LSTM, scored, mixed by softmax
 *     -> mean of each graph's nodes -> twice (linear, ReLU, dropout) -> linear: two logits
 *
 * Source: Brody et al., GATv2, arXiv:2105.14491; Xu et al., jumping knowledge, arXiv:1806.03536.
 */
#ifndef LEAT_NN_MODELS_GAT_GAT_H
#define LEAT_NN_MODELS_GAT_GAT_H

#include "leat/nn.h"
#include "nn/micro_batch.h"
#include "nn/ops/class_loss.h"
#include "nn/ops/gatv2.h"
#include "nn/ops/lstm.h"
#include "nn/params.h"
#include "nn/unit/float_layout.h"

#define LEAT_GAT_VOCABULARY_MAX (INT64_C(1) << 30)
#define LEAT_GAT_NODES_MAX (INT64_C(1) << 24)
#define LEAT_GAT_EDGES_MAX (INT64_C(1) << 26)

#define LEAT_GAT_ATTACK_WEIGHT 5 /* of the weighted loss; that of benign graphs is 1 */

enum {
    LEAT_GAT_LAYERS_MAX = 3,
    LEAT_GAT_DENSE = 3, /* linear layers of the head */
    LEAT_GAT_CLASSES = 2,
    LEAT_GAT_EMBEDDING = 16,
    LEAT_GAT_INPUT = LEAT_GAT_EMBEDDING + LEAT_MICRO_NODE_FEATURES,
    LEAT_GAT_PARAMS_MAX = 1 + 7 * LEAT_GAT_LAYERS_MAX + 8 + 2 + 2 * LEAT_GAT_DENSE
};

/* Places of a layer's parameters in their block. */
typedef struct leat_gat_layer {
    int64_t in; /* values of its input */
    int64_t att, bias, left_weight, left_bias, right_weight, right_bias, edge_weight;
} leat_gat_layer;

typedef struct leat_gat_shape {
    int layers, heads, width; /* of a head */
    int64_t values, hidden;   /* W, H */
    int64_t vocabulary, size; /* floats of the parameters */
    leat_param params[LEAT_GAT_PARAMS_MAX];
    int param_count;
    int64_t embedding;
    leat_gat_layer layer[LEAT_GAT_LAYERS_MAX];
    /* of both directions: weight_ih, weight_hh, bias_ih, bias_hh */
    int64_t lstm[2][4];
    int64_t score_weight, score_bias;
    int64_t dense_weight[LEAT_GAT_DENSE], dense_bias[LEAT_GAT_DENSE];
} leat_gat_shape;

/* The table of parameters, in the order and with the names of the reference's state dict.
 * LEAT_ERR_OPTION: the vocabulary is not between 1 and LEAT_GAT_VOCABULARY_MAX. */
LEAT_MUST_CHECK leat_code leat_gat_shape_set(leat_gat_shape *shape, leat_gat_size size,
                                             int64_t vocabulary, leat_error *err);

/* ---- The head: all after the layers --------------------------------------------------------- */

/* Memory for the activations of a micro-batch, and their gradients. */
typedef struct leat_gat_head {
    float *layers, *up_layers; /* [T][N][W]: outputs of the layers; backward writes the second */
    float *gates, *cells;      /* of the LSTM */
    float *hidden, *up_hidden; /* [T][N][2 H]: its output */
    float *scores, *up_scores; /* [T][N] */
    float *mixed, *up_mixed;   /* [N][W] */
    float *dense[LEAT_GAT_DENSE + 1]; /* [G][W]: inputs of the linear layers; last the logits,
                                       * [G][LEAT_LANES] */
    float *up_dense[2];               /* in turn */
    float *ones;                      /* [T N], all 1 */
    float *lstm_work, *work;
} leat_gat_head;

/* Whether the LSTM takes so many nodes at once. */
bool leat_gat_head_fits(const leat_gat_shape *shape, int64_t nodes);
/* Places of the head for at most `nodes` nodes, and as many graphs. */
void leat_gat_head_lay_out(leat_gat_head *head, const leat_gat_shape *shape,
                           const leat_device *device, int64_t nodes, leat_float_layout *floats);
/* Sets what never changes. */
void leat_gat_head_set(const leat_gat_head *head, const leat_gat_shape *shape, int64_t nodes);

/* One micro-batch through the net. */
typedef struct leat_gat_pass {
    const leat_gat_shape *shape;
    leat_device device;
    const leat_gat_head *head;
    const leat_graph_micro *batch;
    const float *parameters; /* [shape->size] */
    float *gradient;         /* [shape->size], added to; backward only */
    double dropout;          /* share; 0 outside of training */
} leat_gat_pass;

/* Dropout of the output of layer `layer` (below T), or, from LEAT_GAT_HEAD_PLACE on, of the head's
 * linear layers. */
#define LEAT_GAT_HEAD_PLACE 16

/* From head->layers to the logits: head->dense[LEAT_GAT_DENSE]. */
LEAT_MUST_CHECK leat_code leat_gat_head_forward(const leat_gat_pass *pass, leat_error *err);
/* From the gradient of the logits, in head->up_dense[0] as [G][LEAT_LANES], to that of the layers'
 * outputs, head->up_layers, and of the head's parameters. */
LEAT_MUST_CHECK leat_code leat_gat_head_backward(const leat_gat_pass *pass, leat_error *err);

/* ---- All of a micro-batch ------------------------------------------------------------------- */

/* What bounds a micro-batch: there are no more graphs than nodes. */
typedef struct leat_gat_bounds {
    int64_t nodes, edges;
} leat_gat_bounds;

/* Memory of one micro-batch. */
typedef struct leat_gat_memory {
    leat_graph_edges edges;
    int32_t *id, *sorted;    /* [N] identifiers as the model sees them; work of their sort */
    uint8_t *hidden_id;      /* [N] */
    float *input, *up_input; /* [N][leat_lanes(LEAT_GAT_INPUT)] */
    leat_gatv2_kept kept[LEAT_GAT_LAYERS_MAX];
    float *down; /* [N][W] gradient of a layer's input */
    float *work; /* of the layers */
    leat_gat_head head;
    float *gradient; /* [shape->size] */
} leat_gat_memory;

/* LEAT_ERR_OPTION: the bounds are too large for one product, or for the LSTM. */
LEAT_MUST_CHECK leat_code leat_gat_lay_out(leat_gat_memory *memory, const leat_gat_shape *shape,
                                           const leat_device *device, const leat_gat_bounds *bounds,
                                           leat_float_layout *floats, leat_error *err);

/* How a micro-batch is computed: with dropout and hidden identifiers, or (all 0) without. */
typedef struct leat_gat_noise {
    double dropout, id_drop;
} leat_gat_noise;

/* One micro-batch, at most as large as the bounds. */
typedef struct leat_gat_run {
    const leat_gat_shape *shape;
    leat_device device;
    const leat_gat_memory *memory;
    const leat_graph_micro *batch;
    const float *parameters;
    leat_gat_noise noise;
} leat_gat_run;

/* The logits, in memory->head.dense[LEAT_GAT_DENSE], [G][LEAT_LANES]. */
LEAT_MUST_CHECK leat_code leat_gat_forward(const leat_gat_run *run, leat_error *err);
/* After it, from the gradient of the logits, in memory->head.up_dense[0]: memory->gradient, and, in
 * memory->up_input, that of the input: of the embedding, then of x. */
LEAT_MUST_CHECK leat_code leat_gat_backward(const leat_gat_run *run, leat_error *err);

#endif
