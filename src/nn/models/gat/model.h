/*
 * The GAT as a model (nn/model.h). A batch is graphs with their labels; the weight of a unit is
 * their number. Its settings are leat_gat_settings, in which the data have decided vocabulary,
 * max_nodes and max_edges; setup.micro_batch is not used.
 */
#ifndef LEAT_NN_MODELS_GAT_MODEL_H
#define LEAT_NN_MODELS_GAT_MODEL_H

#include "nn/micro_batch.h"
#include "nn/model.h"

extern const leat_model_class leat_gat_class;

/* What a GAT makes of graphs, without dropout and with all identifiers; a function of the graph and
 * the weights. */
typedef struct leat_gat_scores {
    float *logits;      /* [graphs][2] benign, attack */
    float *probability; /* [graphs] of an attack */
    /* [nodes][LEAT_MICRO_NODE_FEATURES]: |gradient of the attack's logit x feature|, or NULL. */
    float *blame;
} leat_gat_scores;

/* Of a model of this class, for a batch within its bounds, whose labels are not read.
 * LEAT_ERR_BUSY: another thread computes with it. */
LEAT_MUST_CHECK leat_code leat_gat_score(void *self, const leat_graph_micro *batch,
                                         const float *parameters, const leat_gat_scores *out,
                                         leat_error *err);

#endif
