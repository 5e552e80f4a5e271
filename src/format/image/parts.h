/* What the files of this folder share. */
#ifndef LEAT_FORMAT_IMAGE_PARTS_H
#define LEAT_FORMAT_IMAGE_PARTS_H

#include "format/image/image.h"

/* Sets *reason and fails with LEAT_ERR_INPUT. */
LEAT_MUST_CHECK leat_code leat_image_reject(leat_image_reason *reason, leat_image_reason which,
                                            leat_error *err, const char *format, ...)
    LEAT_PRINTF(4, 5);

/* The orientation in a block of TIFF, as an EXIF segment holds it after "Exif\0\0": 1..8, and 1 if
 * it has none or is damaged in any way. */
int leat_exif_orientation(const uint8_t *tiff, int64_t size_bytes);

/* One file being decoded. */
typedef struct leat_image_job {
    const uint8_t *bytes;
    int64_t size_bytes;
    const leat_image_header *header;
    int32_t width, height; /* as stored, before it is turned */
    uint8_t *pixels;       /* of the whole picture, or of a band if it is decoded in pieces */
    leat_image_rows_fn rows;
    void *context;
    leat_image_reason *reason;
} leat_image_job;

/* Decoders fill job->pixels with the whole picture as stored, or call job->rows for each band if
 * the header says that it is decoded in pieces. */
LEAT_MUST_CHECK leat_code leat_jpeg_decode(const leat_image_job *job, leat_error *err);
LEAT_MUST_CHECK leat_code leat_png_decode(const leat_image_job *job, leat_error *err);

/* Memory that the decoders take besides job->pixels: of a JPEG with blocks_bytes of coefficients
 * that must be kept (0: none). */
int64_t leat_jpeg_memory(int32_t width, int64_t blocks_bytes);
int64_t leat_png_memory(int32_t width);

/* Text of a library for a message: printable, and not longer than fits. */
#define LEAT_IMAGE_TEXT_BYTES 200

#endif
