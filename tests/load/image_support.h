/* What the tests of image data sets and their loader share. */
#ifndef TESTS_LOAD_IMAGE_SUPPORT_H
#define TESTS_LOAD_IMAGE_SUPPORT_H

#include "format/image_set_support.h"
#include "leat/load_images.h"
#include "loader_support.h"

/* Makes images 0 .. count - 1 (image_set_support.h) in the test's folder, and gives the path. */
void images_make(const char *name, int64_t count, int32_t size, char dir[256]);
leat_images *images_open(const char *dir);

/* Batch 12, 2 threads, 3 epochs. */
leat_image_loader_options images_options(void);
leat_image_loader *images_create(const leat_images *images,
                                 const leat_image_loader_options *options);
const leat_image_batch *images_next(leat_image_loader *loader);
/* Fails the test unless each row is the image of its position, put there the simplest way. */
void images_expect(const leat_image_loader_options *options, int64_t count,
                   const leat_image_batch *batch);
/* The lines of the rows of a batch in the hash of a run; to be freed. */
char *images_lines(const leat_image_batch *batch);

#endif
