/* The VGAE, trained on the benign graphs of a CAN cache; a unit weighs as much as it has nodes.
 * Its row in the list of train/tasks/tasks.c. */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_VGAE_TASK_H
#define LEAT_TRAIN_TASKS_GRAPHS_VGAE_TASK_H

#include "leat/nn.h"
#include "train/run/task.h"
#include "train/tasks/graphs/graph_settings.h"

/* The settings of a run of it, which leat_task.settings is a table of. */
typedef struct leat_vgae_row {
    leat_vgae_settings model;
    leat_graph_settings graphs;
} leat_vgae_row;

extern const leat_task leat_vgae_task;

#endif
