/* An image data set as the samples of a run. */
#ifndef LEAT_TRAIN_DATA_H
#define LEAT_TRAIN_DATA_H

#include "leat/load_images.h"
#include "train/model.h"

typedef struct leat_data {
    leat_images *images;
    leat_samples samples;
} leat_data;

/* LEAT_ERR_INPUT: `path` holds data of another kind, which the message names. */
LEAT_MUST_CHECK leat_code leat_data_open(leat_data *data, const char *path, leat_error *err);
void leat_data_close(leat_data *data);

#endif
