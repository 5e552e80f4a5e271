/* Image data sets made for tests: names, sizes and pixels that depend on a number alone. */
#ifndef LEAT_TESTS_IMAGE_SET_SUPPORT_H
#define LEAT_TESTS_IMAGE_SET_SUPPORT_H

#include "format/image_set/image_set.h"

/* Entry i: "a/0007.jpg"; the name is written to `name`. */
leat_image_entry image_entry(int64_t i, char name[64]);
/* Image i, S S 3 bytes. */
void image_pixels(int64_t i, int32_t size, uint8_t *pixels);
/* Writes a data set of images 0 .. count - 1 into a folder. */
leat_code image_set_make(const char *dir, int64_t count, int32_t size, int64_t rejected,
                         leat_error *err);

#endif
