/* The GAT, trained on the labelled graphs of a CAN cache; a unit weighs as much as it has graphs.
 * Its row in the list of train/tasks/tasks.c. */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_GAT_TASK_H
#define LEAT_TRAIN_TASKS_GRAPHS_GAT_TASK_H

#include "leat/nn.h"
#include "train/run/task.h"
#include "train/tasks/graphs/graph_settings.h"

/* The settings of a run of it, which leat_task.settings is a table of. */
typedef struct leat_gat_row {
    leat_gat_settings model;
    leat_graph_settings graphs;
} leat_gat_row;

extern const leat_task leat_gat_task;

#endif
