/* What the tests of pictures share: a picture decoded into one block, and drawn ones. */
#ifndef LEAT_TESTS_PICTURE_SUPPORT_H
#define LEAT_TESTS_PICTURE_SUPPORT_H

#include "format/image/image.h"

typedef struct image_pixels {
    uint8_t *rgb; /* leat_free; NULL after a failure */
    int32_t width, height;
    leat_image_header header;
    int64_t heap_bytes; /* the most that was in use while rows were delivered, above the start; not
                           with sanitizers */
} image_pixels;

/* What image_decode puts under transparent pixels; LEAT_IMAGE_DROP_ALPHA unless a test sets it. */
extern int32_t image_background;

/* Looks and decodes; the reason and the code are those of the first that fails. Checks the bands
 * on the way. */
leat_code image_decode(const void *bytes, int64_t size_bytes, image_pixels *out,
                       leat_image_reason *reason, leat_error *err);

/* A picture of smooth colours and noise, width * height * 3 bytes; free. */
uint8_t *image_draw(int32_t width, int32_t height, uint64_t seed);

/* A file of tests/golden/images; leat_free. */
uint8_t *image_golden(const char *name, int64_t *size_bytes);

#endif
