/*
 * The spread between images: for each value of an image (a colour of a pixel) the standard
 * deviation over the images, then the mean of these deviations, on the scale -1 .. 1. Images that
 * are all alike have 0, whatever they show. Sums of whole numbers, so that the result is a function
 * of the set of images alone.
 */
#ifndef LEAT_TRAIN_TASKS_IMAGES_IMAGE_SPREAD_H
#define LEAT_TRAIN_TASKS_IMAGES_IMAGE_SPREAD_H

#include "leat/train.h"

typedef struct leat_image_spread {
    int64_t count;
    int64_t sum[LEAT_IMAGE_VALUES], squares[LEAT_IMAGE_VALUES];
} leat_image_spread;

/* An image of LEAT_IMAGE_VALUES levels. */
void leat_image_spread_add(leat_image_spread *spread, const uint8_t *levels);
/* NaN of fewer than two images. */
double leat_image_spread_get(const leat_image_spread *spread);

#endif
