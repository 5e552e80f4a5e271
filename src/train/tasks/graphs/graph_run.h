/* What runs of every model of graphs have in common. */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_GRAPH_RUN_H
#define LEAT_TRAIN_TASKS_GRAPHS_GRAPH_RUN_H

#include "train/run/train_options.h"

/* leat_train_options_default, but: batches with room for 16 graphs, of which a unit has 4, so that
 * 4 threads compute at once; measured after every epoch, with a checkpoint there, and otherwise by
 * time; and so many measurements without a better one end the run. */
void leat_graph_run_defaults(leat_train_options *options, int64_t patience);

#endif
