/*
 * The steps of a run over graphs. Each epoch is planned into batches (batch/graphs/plan.h); a step
 * takes the next `step_batches` of them, the last one of an epoch what is left, so that no step has
 * batches of two epochs. Epochs may have any number of batches: a curriculum adds graphs, and
 * packers depend on the draw. So a step is found in a table of where the epochs begin, which is
 * filled once, epoch by epoch. Two epochs are kept planned; another one is planned again when it is
 * asked for.
 *
 * All answers are functions of the plan and the numbers asked for. Any number of threads may ask at
 * once; they wait for each other, also while one plans an epoch.
 */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_GRAPH_EPOCHS_H
#define LEAT_TRAIN_TASKS_GRAPHS_GRAPH_EPOCHS_H

#include "batch/graphs/plan.h"

/* A run has at most so many: the table has 24 bytes for each. */
#define LEAT_GRAPH_RUN_EPOCHS_MAX (INT64_C(1) << 20)

typedef struct leat_graph_epochs leat_graph_epochs;

/* Plan and sizes outlive it, and nobody else plans with that plan. LEAT_ERR_OPTION: the first epoch
 * has no batch. */
LEAT_MUST_CHECK leat_code leat_graph_epochs_create(leat_graph_epochs **out, leat_graph_plan *plan,
                                                   const leat_graph_sizes *sizes,
                                                   int64_t step_batches, leat_error *err);
void leat_graph_epochs_destroy(leat_graph_epochs *epochs);
/* At most, for a run of so many epochs, 1 or more, over so many graphs. */
int64_t leat_graph_epochs_bytes(int64_t graphs, int64_t epochs);
/* Steps that every run has, if LEAT_GRAPH_RUN_EPOCHS_MAX epochs are enough for it. */
int64_t leat_graph_epochs_steps_most(const leat_graph_epochs *epochs);

/* Steps of epochs 0 .. number - 1, at most LEAT_GRAPH_RUN_EPOCHS_MAX. */
LEAT_MUST_CHECK leat_code leat_graph_epochs_steps(leat_graph_epochs *epochs, int64_t number,
                                                  int64_t *steps, leat_error *err);

/* Batches of an epoch. */
typedef struct leat_graph_stretch {
    int64_t epoch, first, count;
} leat_graph_stretch;
/* Those of a step. LEAT_ERR_OPTION: it is above leat_graph_epochs_steps_most. */
LEAT_MUST_CHECK leat_code leat_graph_epochs_find(leat_graph_epochs *epochs, int64_t step,
                                                 leat_graph_stretch *out, leat_error *err);
/* Graphs that a run uses before the first of them. */
LEAT_MUST_CHECK leat_code leat_graph_epochs_position(leat_graph_epochs *epochs,
                                                     const leat_graph_stretch *of,
                                                     int64_t *position, leat_error *err);
/* What they hold. */
typedef struct leat_graph_contents {
    int64_t graphs, nodes, edges;
} leat_graph_contents;
LEAT_MUST_CHECK leat_code leat_graph_epochs_count(leat_graph_epochs *epochs,
                                                  const leat_graph_stretch *of,
                                                  leat_graph_contents *out, leat_error *err);
/* The graphs of a batch of the epoch, in their order, to `graphs`, which has room for as many as
 * any batch of the plan can hold. */
LEAT_MUST_CHECK leat_code leat_graph_epochs_read(leat_graph_epochs *epochs, int64_t epoch,
                                                 int64_t batch, int64_t *graphs,
                                                 leat_graph_contents *out, leat_error *err);

#endif
