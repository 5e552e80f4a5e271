/* See graph_run.h. */
#include "train/tasks/graphs/graph_run.h"

void leat_graph_run_defaults(leat_train_options *options, int64_t patience) {
    *options = leat_train_options_default();
    options->micro_batch = 8;
    options->unit_size = 2;
    options->sample_every = 1;
    options->checkpoint_every = 0;
    options->patience = patience;
}
