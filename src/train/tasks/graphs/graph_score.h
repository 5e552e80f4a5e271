/*
 * What a detector makes of graphs, one batch at a time or all of a split: the numbers that scores
 * are computed from. They are functions of a graph and the weights: the same bits however graphs
 * are put into batches, and for any number of threads.
 */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_GRAPH_SCORE_H
#define LEAT_TRAIN_TASKS_GRAPHS_GRAPH_SCORE_H

#include "base/ticker.h"
#include "batch/graphs/pack.h"
#include "leat/batch.h"
#include "load/can/cache.h"
#include "nn/micro_batch.h"
#include "nn/model.h"

/* What is wanted, which costs so many passes through the net. Of a VGAE, whose latent vectors are
 * their means: */
enum {
    LEAT_GRAPH_WANT_FIRST = 1,    /* 1: the error of the nodes of the first mask */
    LEAT_GRAPH_WANT_RESIDUAL = 2, /* 7: the residual of every node, hidden by its mask */
    LEAT_GRAPH_WANT_OPEN = 4,     /* 1: what it makes of graphs with no node hidden */
    /* of a GAT, whose probability is always computed: */
    LEAT_GRAPH_WANT_BLAME = 8, /* 1, backward */
};

/* A detector's model, from which any number of scorers are made. */
typedef struct leat_graph_scoring {
    const leat_model_class *class; /* of the VGAE or the GAT */
    const void *settings; /* of that class: those of the run; max_nodes, max_edges unused */
    const float *parameters;
    int wants;
    const char *kernels; /* as leat_model_setup */
} leat_graph_scoring;

/* Whether graphs can be scored with a model of this class. */
bool leat_graph_scores_class(const leat_model_class *class);
/* Numbers of identifiers, with that of unknown ones, that such settings say. */
int64_t leat_graph_vocabulary(const leat_graph_scoring *of);
/* Values of a latent vector of a VGAE with such settings; 0 of a GAT. */
int64_t leat_graph_latent(const leat_graph_scoring *of);

/* The numbers of a batch of G graphs and N nodes; what is not wanted, or of the other model, is
 * NULL. F: LEAT_MICRO_NODE_FEATURES; W: values of a latent vector. */
typedef struct leat_graph_scores {
    const leat_graph_micro *batch;
    const double *first;   /* [G] mean squared error of the nodes of the first mask */
    const float *residual; /* [N][F] x less its reconstruction */
    /* With no node hidden: mean squared error of all nodes, [G]; means of latent vectors, [N][W];
     * KL divergence, [N], the sum over W. */
    const double *difficulty;
    const float *latent;
    const double *divergence;
    int64_t width;                     /* W */
    const float *logits, *probability; /* [G][2] benign, attack; [G] of an attack */
    const float *blame;                /* [N][F] |gradient of the attack's logit x feature| */
} leat_graph_scores;

/* Memory and a model for one thread, for batches within limits. */
typedef struct leat_graph_scorer leat_graph_scorer;
LEAT_MUST_CHECK leat_code leat_graph_scorer_create(leat_graph_scorer **out,
                                                   const leat_graph_scoring *of,
                                                   const leat_graph_limits *most, leat_error *err);
void leat_graph_scorer_destroy(leat_graph_scorer *scorer);
LEAT_MUST_CHECK leat_code leat_graph_scorer_bytes(const leat_graph_scoring *of,
                                                  const leat_graph_limits *most, int64_t *bytes,
                                                  leat_error *err);
/* The numbers of a batch within the limits, whose labels are not read; they are the scorer's until
 * its next batch. LEAT_ERR_INPUT names the first graph of which a number is not finite. */
LEAT_MUST_CHECK leat_code leat_graph_scorer_run(leat_graph_scorer *scorer,
                                                const leat_graph_micro *batch,
                                                leat_graph_scores *out, leat_error *err);

/* ---- All of a split ------------------------------------------------------------------------- */

/* What splits are scored with. */
typedef struct leat_scoring_work {
    const leat_can_cache *cache;
    int threads;
    leat_ticker *ticker; /* may be NULL */
} leat_scoring_work;

/* A batch of a split has at most so much, or one graph. */
#define LEAT_GRAPH_SCORE_NODES 512
#define LEAT_GRAPH_SCORE_EDGES 2048

typedef struct leat_graph_walk {
    const leat_can_cache *cache;
    const leat_graph_file *file; /* of the split */
    leat_graph_filter graphs;    /* which of them */
    const leat_graph_scoring *scoring;
    int threads;
    leat_ticker *ticker; /* a graph is a unit of its stage; cancels. May be NULL */
    /* Called in the order of graphs, never by two threads at once. */
    leat_code (*take)(void *context, const leat_graph_scores *scores, leat_error *err);
    void *context;
} leat_graph_walk;
/* Graphs of the split that it has. */
int64_t leat_graph_walk_count(const leat_graph_walk *walk);
/* Errors of reading graphs, of scoring and of `take`. */
LEAT_MUST_CHECK leat_code leat_graph_walk_run(const leat_graph_walk *walk, leat_error *err);
/* Memory, at most: for graphs of up to `nodes` nodes and `edges` edges. */
LEAT_MUST_CHECK leat_code leat_graph_walk_bytes(const leat_graph_scoring *of, int threads,
                                                int64_t nodes, int64_t edges, int64_t *bytes,
                                                leat_error *err);

#endif
