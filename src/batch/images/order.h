/*
 * The order of images, for loops over many positions, and the windows of the windowed order.
 *
 * For a data set larger than memory: its images are cut, in the order of the file, into chunks of
 * as many images each, of which the last may have fewer. An epoch puts all chunks into a random
 * order, cuts that into windows of as many chunks each, or one less, and permutes the images of a
 * window. So each part of the file is wanted during one window of an epoch.
 *
 * Everything is found from a position alone: no list of images or chunks is kept.
 */
#ifndef LEAT_BATCH_IMAGES_ORDER_H
#define LEAT_BATCH_IMAGES_ORDER_H

#include "leat/batch.h"

/* leat_image_in_order of positions first .. first + n - 1, into out[0 .. n - 1]. */
void leat_images_at(const leat_image_order *order, int64_t first, int64_t n, int64_t *out);

/* How windows are cut, the same in each epoch. window_bytes is not 0. */
typedef struct leat_image_windows {
    int64_t chunk_images; /* of each chunk but the last of the file */
    int64_t chunk_count;
    int64_t count; /* windows of an epoch, 1 .. chunk_count */
} leat_image_windows;
leat_image_windows leat_image_windows_of(const leat_image_order *order);

/* Window 0 <= w <= count has the places begin(w) .. begin(w + 1) - 1 of an epoch's chunks, */
int64_t leat_image_windows_begin(const leat_image_windows *windows, int64_t window);
/* whose images are *first .. *end - 1. */
void leat_image_windows_chunk(const leat_image_order *order, int64_t epoch, int64_t place,
                              int64_t *first, int64_t *end);
/* The window of its epoch that holds a position. */
int64_t leat_image_windows_at(const leat_image_order *order, int64_t position);

#endif
