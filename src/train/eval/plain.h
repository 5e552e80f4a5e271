/*
 * Plain scores of windows, which a detector must beat: how far the features of an identifier are
 * from what they were in benign training windows. A table of means and deviations, no model. The
 * definitions are those of the golden file baselines.md.
 *
 * Of each identifier: mean and population deviation (divided by n) of each feature over the nodes
 * of benign training graphs. An identifier without such a node, and unknown ones (number 0), use
 * those over all nodes, "pooled". A deviation is at least 0.05 x the pooled one, and 1 where that
 * is 0. z = |x - mean| / deviation.
 */
#ifndef LEAT_TRAIN_EVAL_PLAIN_H
#define LEAT_TRAIN_EVAL_PLAIN_H

#include "leat/base.h"

#define LEAT_PLAIN_FLOOR 0.05 /* of the pooled deviation */
#define LEAT_PLAIN_IDS_MAX (INT64_C(1) << 24)
#define LEAT_PLAIN_FEATURES_MAX 1024

/* A graph, as its cache has it: unscaled. The caller's. */
typedef struct leat_plain_graph {
    int64_t node_count;     /* N */
    const int32_t *node_id; /* [N] number of the identifier, 0 .. ids - 1; 0: unknown */
    const float *x;         /* [N, features] */
} leat_plain_graph;

/* What a run keeps: numbers alone. */
typedef struct leat_plain_table {
    int64_t ids;       /* numbers of identifiers, with 0: at least 1 */
    int64_t features;  /* F */
    int64_t graphs;    /* benign training graphs that it was made of */
    int64_t rows;      /* nodes of theirs */
    int64_t *count;    /* [ids] nodes of an identifier; 0: the pooled row is used */
    double *mean;      /* [ids, F]; of an identifier without a node the pooled ones */
    double *deviation; /* [ids, F] as z divides by it, with the floor */
    double *pooled_mean, *pooled_deviation; /* [F]; the deviation as measured, 0 for a constant */
} leat_plain_table;
/* The heap that a table takes, and a builder as well; INT64_MAX: too large. */
int64_t leat_plain_bytes(int64_t ids, int64_t features);
/* A table with memory and zeros, to be filled from what a run has kept, and then checked: counts
 * from 0, finite means, finite deviations above 0, else LEAT_ERR_CORRUPT names identifier and
 * feature. LEAT_ERR_LIMIT: sizes below 1 or above those stated. */
LEAT_MUST_CHECK leat_code leat_plain_table_create(leat_plain_table **out, int64_t ids,
                                                  int64_t features, leat_error *err);
LEAT_MUST_CHECK leat_code leat_plain_table_check(const leat_plain_table *table, leat_error *err);
void leat_plain_table_destroy(leat_plain_table *table);

/*
 * Makes a table from graphs added one at a time; memory depends on ids and features only. Means and
 * sums of squared differences are updated node by node (Welford 1962), and the pooled ones combined
 * from those of the identifiers in their order (Chan, Golub and LeVeque 1979): no large sums are
 * subtracted. So the bits depend on the order of the graphs, which is that of the cache.
 */
typedef struct leat_plain leat_plain;
LEAT_MUST_CHECK leat_code leat_plain_create(leat_plain **out, int64_t ids, int64_t features,
                                            leat_error *err);
void leat_plain_destroy(leat_plain *plain);
/* A benign training graph; its number is for messages. LEAT_ERR_INPUT names graph, node and feature
 * of a value that is not finite, or an identifier out of range; the builder is then unchanged. */
LEAT_MUST_CHECK leat_code leat_plain_add(leat_plain *plain, const leat_plain_graph *graph,
                                         int64_t number, leat_error *err);
/* The table, which the caller owns. LEAT_ERR_INPUT: no node was added. */
LEAT_MUST_CHECK leat_code leat_plain_finish(const leat_plain *plain, leat_plain_table **out,
                                            leat_error *err);
/* Makes the deviation of unknown identifiers, and of those without a row of their own, the floor in
 * place of the pooled one: nothing is known to be normal for an
 * identifier that benign training never had. */
void leat_plain_table_narrow(leat_plain_table *table);

/* Scores of one graph, each higher for what is more suspicious. */
typedef struct leat_plain_scores {
    double mean_abs_z; /* over all nodes and features */
    double max_abs_z;  /* the largest */
    int64_t max_node;  /* whose that is: the first of equal ones, by node, then feature */
    int64_t max_feature;
    double frame_count; /* the largest z of the feature `count_feature` over the nodes */
    int64_t frame_count_node;
    double unknown_identifiers; /* nodes with number 0 */
    double duration;            /* minus the seconds of the window: a flooded bus fills it faster */
} leat_plain_scores;
typedef struct leat_plain_window {
    leat_plain_graph graph;
    int64_t number;        /* of the graph, for messages */
    int64_t count_feature; /* the column with the frames of a node */
    double seconds;        /* of the window */
} leat_plain_window;
/* LEAT_ERR_INPUT as for leat_plain_add, and for a graph without nodes. */
LEAT_MUST_CHECK leat_code leat_plain_score(const leat_plain_table *table,
                                           const leat_plain_window *window, leat_plain_scores *out,
                                           leat_error *err);
/* Of the five by their names: "mean_abs_z", "max_abs_z", "frame_count", "window_duration",
 * "unknown_identifiers". */
#define LEAT_PLAIN_SCORES 5
const char *leat_plain_score_name(int index);
double leat_plain_score_value(const leat_plain_scores *scores, int index);

#endif
