/* The order of images, for loops over many positions. */
#ifndef LEAT_SAMPLE_IMAGES_ORDER_H
#define LEAT_SAMPLE_IMAGES_ORDER_H

#include "leat/sample.h"

/* leat_image_at of positions first .. first + n - 1, into out[0 .. n - 1]. */
void leat_images_at(uint64_t seed, int64_t count, int64_t first, int64_t n, int64_t *out);

#endif
