/* The detectors, trained on the graphs of a CAN cache: the VGAE on benign ones, where a unit weighs
 * as much as it has nodes; the GAT on labelled ones, where it weighs as much as it has graphs.
 * Their rows in the list of train/tasks/tasks.c. */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_DETECTOR_TASKS_H
#define LEAT_TRAIN_TASKS_GRAPHS_DETECTOR_TASKS_H

#include "leat/nn.h"
#include "train/run/task.h"
#include "train/tasks/graphs/graph_settings.h"

/* The settings of a run of each, which leat_task.settings is a table of. */
typedef struct leat_vgae_row {
    leat_vgae_settings model;
    leat_graph_settings graphs;
} leat_vgae_row;
typedef struct leat_gat_row {
    leat_gat_settings model;
    leat_graph_settings graphs;
} leat_gat_row;

extern const leat_task leat_vgae_task, leat_gat_task;

#endif
