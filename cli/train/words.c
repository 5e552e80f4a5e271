/* The options of every run in the words of models. */
#include "train/train.h"

/* Of the DCGAN. */
const leat_setting leat_train_image_words[] = {
    {.name = "epochs", .help = "train for E epochs: ceil(E x images / images per step) steps"},
    {.name = "unit-size", .help = "images per unit, a multiple of --micro-batch"},
    {.name = "micro-batch",
     .help = "images that are normalised together; multiples of 16 are fastest"},
    {.name = "keep",
     .help = "number of recent checkpoints to keep; the one with the best score is kept as well"},
    {.name = "sample-every", .help = "steps between grids of samples with their score; 0: none"},
    {.name = "memory",
     .help = "fail if the run needs more memory than this, not counting mapped images"},
    {.name = NULL},
};

/* Of models of graphs. */
const leat_setting leat_train_graph_words[] = {
    {.name = "epochs", .help = "train for E epochs: each has all graphs once"},
    {.name = "units",
     .help = "units per step; in distributed training at most that many machines compute at once"},
    {.name = "unit-size",
     .help = "batches of graphs per unit: at most that many threads compute at once"},
    {.name = "micro-batch",
     .help = "graphs for which a batch has room, where --max-nodes and --max-edges are not set"},
    {.name = "checkpoint-every",
     .help = "steps between checkpoints; 0: only by time and where the model is measured; the last "
             "step is always saved"},
    {.name = "keep",
     .help = "number of recent checkpoints to keep; the one that validation finds best is kept as "
             "well"},
    {.name = "sample-every", .help = "epochs between measurements on validation graphs; 0: none"},
    {.name = "patience",
     .help = "end the run after N measurements in a row that are not the best so far; 0: do not"},
    {.name = "memory",
     .help = "fail if the run needs more memory than this, not counting the mapped cache"},
    {.name = NULL},
};
