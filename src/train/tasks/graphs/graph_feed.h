/*
 * The feed of rows (run/task.h) that train on graphs: the split "train" of a CAN cache
 * (leat/load_can.h), of which a row takes benign graphs alone, or all that are labelled.
 *
 * A micro-batch (leat_graph_micro) is a planned batch of an epoch (batch/graphs/plan.h), a unit is
 * options->unit_size batches that follow each other, and a step is the next options->units units of
 * its epoch: the last step of an epoch has what is left, in fewer units or a shorter last one. No
 * unit has batches of two epochs. options->micro_batch is the number of graphs for which a batch
 * has room where neither max-nodes nor max-edges is set.
 */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_GRAPH_FEED_H
#define LEAT_TRAIN_TASKS_GRAPHS_GRAPH_FEED_H

#include "leat/load_can.h"
#include "nn/micro_batch.h"
#include "train/step/feed.h"
#include "train/tasks/graphs/graph_settings.h"

/* Settings of the model that the data decide where they are 0; a run's own are above 0. */
typedef struct leat_graph_bounds {
    int64_t vocabulary;           /* numbers of identifiers, of which 0 is "unknown" */
    int64_t max_nodes, max_edges; /* of a micro-batch */
} leat_graph_bounds;

/* The feed of a row, which names &feed.class as its own. */
typedef struct leat_graph_feed {
    leat_feed_class class;    /* LEAT_GRAPH_FEED_CLASS */
    leat_graph_filter graphs; /* that it trains on */
    bool both_classes;        /* there must be benign ones among them, and attacks */
    bool weighs_nodes;        /* a unit's weight is the number of its nodes; false: of its graphs */
    size_t settings;          /* where the row's settings have their leat_graph_settings */
    void (*get)(const void *settings, leat_graph_bounds *out);
    void (*set)(void *settings, const leat_graph_bounds *of);
} leat_graph_feed;

LEAT_MUST_CHECK leat_code leat_graph_feed_open(leat_feed *feed, const char *path, leat_error *err);
void leat_graph_feed_close(void *self);
LEAT_MUST_CHECK leat_code leat_graph_feed_settle(const leat_feed *feed,
                                                 const leat_train_options *options, void *settings,
                                                 leat_error *err);
LEAT_MUST_CHECK leat_code leat_graph_feed_plan(leat_feed *feed, const leat_train_options *options,
                                               leat_error *err);
LEAT_MUST_CHECK leat_code leat_graph_feed_steps(const leat_feed *feed,
                                                const leat_train_options *options, int64_t *out,
                                                leat_error *err);
LEAT_MUST_CHECK leat_code leat_graph_feed_units(const leat_feed *feed, int64_t step, int64_t *out,
                                                leat_error *err);
LEAT_MUST_CHECK leat_code leat_graph_feed_place(const leat_feed *feed, int64_t step, int64_t unit,
                                                leat_unit_place *out, leat_error *err);
LEAT_MUST_CHECK leat_code leat_graph_feed_weight(const leat_feed *feed, const leat_unit_place *at,
                                                 double *out, leat_error *err);
LEAT_MUST_CHECK leat_code leat_graph_feed_make(const leat_feed *feed, const leat_unit_place *at,
                                               int64_t index, void *batch, leat_error *err);
/* detector.json: graph_context.h. */
LEAT_MUST_CHECK leat_code leat_graph_feed_keep(const leat_feed *feed, const char *run,
                                               leat_error *err);

/* The cache that it has opened. */
const leat_can_cache *leat_graph_feed_cache(const leat_feed *feed);
/* Numbers of its identifiers, with that of unknown ones. */
int64_t leat_graph_feed_vocabulary(const leat_feed *feed);

/* Its samples are not of one size, so they are not sent one by one, and it has no list of them. */
#define LEAT_GRAPH_FEED_CLASS                                                                      \
    {                                                                                              \
        .one = "graph", .many = "graphs", .batch = LEAT_MICRO_BATCH_GRAPHS,                        \
        .open = leat_graph_feed_open, .close = leat_graph_feed_close,                              \
        .settle = leat_graph_feed_settle, .plan = leat_graph_feed_plan,                            \
        .steps = leat_graph_feed_steps, .units = leat_graph_feed_units,                            \
        .place = leat_graph_feed_place, .weight = leat_graph_feed_weight,                          \
        .make = leat_graph_feed_make, .keep = leat_graph_feed_keep                                 \
    }

#endif
