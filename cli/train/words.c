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
