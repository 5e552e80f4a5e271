/*
 * The transformer as a model (nn/model.h). A batch is sequences of tokens (micro_batch.h); the
 * weight of a unit is its number of targets. A step is AdamW with betas 0.9 and 0.999, eps 1e-8,
 * and a decay of 0.01 on all matrices, of the mean gradient, clipped by its norm to 1:
 *
 *     g = mean gradient * min(1, 1 / (its norm + 1e-6))
 *
 * at the rate that the schedule has for it. setup.micro_batch: the most sequences of a micro-batch.
 */
#ifndef LEAT_NN_MODELS_TRANSFORMER_MODEL_H
#define LEAT_NN_MODELS_TRANSFORMER_MODEL_H

#include "nn/micro_batch.h"
#include "nn/model.h"
#include "nn/ops/schedule.h"

extern const leat_model_class leat_transformer_class;

typedef struct leat_transformer_size {
    int64_t layers, width, heads, kv_heads, head_width, mlp, vocabulary;
    int64_t length;   /* the most rows of a sequence, and positions */
    double rope_base; /* of rotary positions */
} leat_transformer_size;

/* "tiny", "small" or "base", for the tokens of latency measurements; false: there is no such size.
 */
bool leat_transformer_size_named(const char *name, leat_transformer_size *out);

typedef struct leat_transformer_settings {
    leat_transformer_size size;
    leat_schedule schedule;
    double dropout; /* share, of what attention and gated unit add to a row */
} leat_transformer_settings;

/* Logits [T][vocabulary], without dropout; T: rows of the batch, whose targets are not read. Errors
 * as a unit's. LEAT_ERR_BUSY: another thread computes with it. */
LEAT_MUST_CHECK leat_code leat_transformer_logits(void *self, const leat_token_micro *batch,
                                                  const float *parameters, float *out,
                                                  leat_error *err);

#endif
