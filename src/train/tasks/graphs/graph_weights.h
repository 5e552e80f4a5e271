/*
 * Weights of a detector as a file without settings: what graphids has trained, or weights of an
 * export without its config.json. Names and shapes say which model it is, of which size, and for
 * how many identifiers; what else a run has are defaults.
 */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_GRAPH_WEIGHTS_H
#define LEAT_TRAIN_TASKS_GRAPHS_GRAPH_WEIGHTS_H

#include "format/safetensors/safetensors.h"
#include "train/tasks/graphs/graph_feed.h"

/* By what a model is recognised. */
typedef struct leat_graph_weights {
    const char *model;          /* "GAT" */
    const char *attention;      /* of its first layer, [1, heads, width] */
    const char *another;        /* a name of its own, in case that one is missing */
    int64_t heads[2], width[2]; /* by size: small, large */
    int64_t embedding;          /* columns of the table of identifiers */
    int64_t rows;               /* of it, besides those of the vocabulary */
    int64_t vocabulary_max;
} leat_graph_weights;

/* The size (0 or 1) and the vocabulary. LEAT_ERR_NOT_FOUND: weights of another model;
 * LEAT_ERR_INPUT: a tensor is missing, or has a shape that leat has no network for. */
LEAT_MUST_CHECK leat_code leat_graph_weights_guess(const leat_graph_weights *of,
                                                   const leat_safetensors *tensors,
                                                   const char *path, int *size, int64_t *vocabulary,
                                                   leat_error *err);

/* What the data have to be (leat_export_class.unsaid). */
extern const char leat_graph_weights_unsaid[];

/* Where there are no data: room for 8 windows of 100 frames, none of which has more edges. */
void leat_graph_weights_settle(leat_graph_bounds *bounds);

/* Whether the cache of the feed has as many identifiers as the weights: LEAT_ERR_OPTION. */
LEAT_MUST_CHECK leat_code leat_graph_weights_check(const leat_graph_bounds *bounds,
                                                   const leat_feed *feed, leat_error *err);

#endif
