/* An image data set as the samples of a run. */
#ifndef LEAT_TRAIN_DATA_H
#define LEAT_TRAIN_DATA_H

#include "base/mem.h"
#include "format/image_set/image_set.h"
#include "leat/load_images.h"
#include "train/model.h"

typedef struct leat_data {
    leat_images *images;
    leat_samples samples;
} leat_data;

/* LEAT_ERR_INPUT: `path` holds data of another kind, which the message names. */
LEAT_MUST_CHECK leat_code leat_data_open(leat_data *data, const char *path, leat_error *err);
void leat_data_close(leat_data *data);

/* Appends the list of the samples, which leat_data_difference compares others with: images.json. */
LEAT_MUST_CHECK leat_code leat_data_list(const leat_data *data, leat_buf *list, leat_error *err);
/* In what data differ from those with this list, which may come from anywhere, in words for the
 * owner of `data`. LEAT_ERR_CORRUPT, LEAT_ERR_UNSUPPORTED: it is no such list. */
#define LEAT_DATA_WORDS_BYTES LEAT_IMAGES_DIFFERENCE_BYTES
LEAT_MUST_CHECK leat_code leat_data_difference(const leat_data *data, const uint8_t *list,
                                               int64_t list_bytes,
                                               char words[LEAT_DATA_WORDS_BYTES], leat_error *err);

#endif
