/* What runs of every model of graphs have in common. */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_GRAPH_RUN_H
#define LEAT_TRAIN_TASKS_GRAPHS_GRAPH_RUN_H

#include "train/run/train_options.h"

/* leat_train_options_default, but: batches with room for 8 graphs, of which a unit has 2, so that 2
 * threads compute at once; measured after every epoch, with a checkpoint there, and otherwise by
 * time; and so many measurements without a better one end the run.
 *
 * Steps of 16 graphs by validation on V40 (3,491 benign training graphs, 12 epochs, one seed):
 * val_loss of the VGAE .668, of 64 graphs .705; AUROC of its residuals .878 and .854. Of the GAT
 * after 4 epochs val_auroc .883 and .847, val_loss .036 and .054. */
void leat_graph_run_defaults(leat_train_options *options, int64_t patience);

#endif
