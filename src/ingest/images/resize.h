/*
 * Resizing as torchvision's Resize and CenterCrop do with Pillow: the shorter side becomes S, the
 * longer one floor(S long / short), by the antialiased bilinear filter (a triangle as wide as the
 * reduction), horizontally, rounded to a byte, then vertically; then the S x S pixels in the
 * middle, of an odd rest the half that is rounded to even on the left and at the top. Smaller
 * pictures are enlarged by the same filter. Only pixels that the middle needs are computed.
 *
 * Arithmetic is Pillow's: weights are computed in double precision, in a fixed order, and rounded
 * to whole multiples of 2^-22; pixels are exact sums of integers, rounded once. So the result is
 * the same on every machine, and equal to Pillow's.
 */
#ifndef LEAT_INGEST_IMAGES_RESIZE_H
#define LEAT_INGEST_IMAGES_RESIZE_H

#include "base/mem.h"

/* One picture at a time; keeps its tables for pictures of equal size. */
typedef struct leat_resize leat_resize;

LEAT_MUST_CHECK leat_code leat_resize_create(leat_resize **out, int32_t size, leat_error *err);
void leat_resize_destroy(leat_resize *resize);
/* Memory of a leat_resize for pictures of this size at most. */
int64_t leat_resize_memory(int32_t size, int32_t width, int32_t height);

/* Begins a picture of width x height, whose result goes to `out`, S * S * 3 bytes. */
LEAT_MUST_CHECK leat_code leat_resize_begin(leat_resize *resize, int32_t width, int32_t height,
                                            uint8_t *out, leat_error *err);
/* The next 1 to 16 rows of it, width * 3 bytes each; 16 unless they are the last. After the last
 * row the result is complete. */
void leat_resize_rows(leat_resize *resize, const uint8_t *rgb, int32_t rows);

/* For tests: whether to use the code for any processor. */
void leat_resize_use_plain(leat_resize *resize, bool plain);

/*
 * How one side is resized: where it begins in the whole resized side, and the weights of each
 * pixel. For tests as well.
 */
typedef struct leat_resize_axis {
    int32_t in;    /* of the picture */
    int32_t whole; /* the resized side */
    int32_t skip;  /* pixels of it before the crop */
} leat_resize_axis;
/* Of the two sides of a picture: axes[0] the width. */
void leat_resize_axes(int32_t size, int32_t width, int32_t height, leat_resize_axis axes[2]);

#endif
