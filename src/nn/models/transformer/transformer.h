/*
 * A decoder-only transformer over tokens: shapes, parameters, memory, and what it computes of a
 * micro-batch. Letters: T rows (sequences x length) of a micro-batch, W values of a row, A = heads
 * x width of a head, V identifiers.
 *
 *     embedding -> layers -> norm -> linear: V logits
 *     layer: x + linear(attention(q, k, v of norm(x)))  then  x + linear(gated unit of norm(x))
 *
 * with root mean square norms, rotary positions of q and k, attention within segments, gated SiLU
 * units, no biases, and an output matrix that is not the embedding's. Names and layouts are those
 * of Hugging Face's Llama. There is no other unit than this one (ReLU, GELU) yet.
 *
 * Orders, beyond those of the ops: a branch is added to its row by one addition. The gradient of a
 * norm's result is one chain over the outputs of q, then k, then v, or of gate, then up; that of a
 * row is that of the residual path plus that of the norm, in one addition. The loss is the mean
 * over the rows that have a target.
 * Source: Touvron et al., LLaMA, arXiv:2302.13971.
 */
#ifndef LEAT_NN_MODELS_TRANSFORMER_TRANSFORMER_H
#define LEAT_NN_MODELS_TRANSFORMER_TRANSFORMER_H

#include "nn/micro_batch.h"
#include "nn/models/transformer/model.h"
#include "nn/ops/attention.h"
#include "nn/params.h"
#include "nn/unit/float_layout.h"

#define LEAT_TRANSFORMER_EPS 1e-6f
#define LEAT_TRANSFORMER_ROWS_MAX (INT64_C(1) << 22)

enum {
    LEAT_TRANSFORMER_LAYERS_MAX = 32,
    LEAT_TRANSFORMER_WIDTH_MAX = 4096, /* W, A, and of a gated unit */
    LEAT_TRANSFORMER_VOCABULARY_MAX = 65536,
    LEAT_TRANSFORMER_PARAMS = 3 + 9 * LEAT_TRANSFORMER_LAYERS_MAX
};

/* Places of a layer's parameters in their block. */
typedef struct leat_transformer_layer {
    int64_t q, k, v, o, gate, up, down, norm[2];
} leat_transformer_layer;

typedef struct leat_transformer_shape {
    leat_transformer_size size;
    int64_t attention, key_values; /* A; kv_heads x width of a head */
    int64_t count;                 /* floats of the parameters */
    leat_param params[LEAT_TRANSFORMER_PARAMS];
    int param_count;
    int64_t embedding, norm, output;
    leat_transformer_layer layers[LEAT_TRANSFORMER_LAYERS_MAX];
} leat_transformer_shape;

/* The table of parameters, in the order and with the names of a state dict. LEAT_ERR_OPTION names
 * the size that is out of range. */
LEAT_MUST_CHECK leat_code leat_transformer_shape_set(leat_transformer_shape *shape,
                                                     const leat_transformer_size *size,
                                                     leat_error *err);

/* ---- A micro-batch -------------------------------------------------------------------------- */

/* What a layer keeps for backward, in rows of T. The norms' results are computed again. */
typedef struct leat_transformer_kept {
    float *x, *middle; /* [T][W]: what goes in, and what the gated unit's half gets */
    float *scale[2];   /* [T] of the norms */
    float *q, *k, *v;  /* [T][A], [T][key_values]: q and k are turned */
    float *most, *sum; /* [T][heads] */
    float *y;          /* [T][A] of attention */
    float *gate, *up;  /* [T][mlp] */
} leat_transformer_kept;

typedef struct leat_transformer_scratch {
    leat_transformer_kept layers[LEAT_TRANSFORMER_LAYERS_MAX];
    float *x, *scale;              /* [T][W], [T]: after the last layer */
    float *normed, *branch;        /* [T][W] */
    float *active;                 /* [T][mlp]: of the gated unit, and its gradient */
    float *logits;                 /* [T][V], then their gradient */
    float *terms;                  /* [T] of the loss */
    float *d_x, *d_normed, *d_y;   /* [T][W], [T][W], [T][A] */
    float *d_q, *d_k, *d_v, *work; /* work: of products and attention */
    float *delta;                  /* [T][heads] */
    int32_t *by_id;
    float *gradient;
} leat_transformer_scratch;

/* Places for at most these rows. */
void leat_transformer_lay_out(leat_transformer_scratch *scratch,
                              const leat_transformer_shape *shape, const leat_device *device,
                              int64_t rows, leat_float_layout *floats);

typedef struct leat_transformer_pass {
    const leat_transformer_shape *shape;
    leat_device device;
    leat_transformer_scratch *scratch;
    const leat_token_micro *batch; /* positions below size.length */
    const float *table;            /* of rotary positions: [size.length][width of a head] */
    const float *parameters;       /* [shape->count] */
    double dropout;                /* share; 0 outside of training */
} leat_transformer_pass;

/* Up to scratch->logits. */
LEAT_MUST_CHECK leat_code leat_transformer_forward(const leat_transformer_pass *pass,
                                                   leat_error *err);
/* After it: the mean loss, the number of targets, and the gradient of the mean, scratch->gradient;
 * without a target both are 0. */
LEAT_MUST_CHECK leat_code leat_transformer_backward(const leat_transformer_pass *pass, double *loss,
                                                    int64_t *targets, leat_error *err);

#endif
