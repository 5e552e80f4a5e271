/* What the files of this folder share. */
#ifndef LEAT_FORMAT_IMAGE_PARTS_H
#define LEAT_FORMAT_IMAGE_PARTS_H

#include "format/image/image.h"

/* Sets *reason and fails with LEAT_ERR_INPUT. */
LEAT_MUST_CHECK leat_code leat_image_reject(leat_image_reason *reason, leat_image_reason which,
                                            leat_error *err, const char *format, ...)
    LEAT_PRINTF(4, 5);

/* What looks at the header of each format: as leat_image_look, which sets what all have in common.
 */
LEAT_MUST_CHECK leat_code leat_jpeg_look(const uint8_t *bytes, int64_t size_bytes,
                                         leat_image_header *header, leat_image_reason *reason,
                                         leat_error *err);
LEAT_MUST_CHECK leat_code leat_png_look(const uint8_t *bytes, int64_t size_bytes,
                                        leat_image_header *header, leat_image_reason *reason,
                                        leat_error *err);
/* At least 12 bytes, which begin as a WebP. Without libwebp, it is not an image. */
LEAT_MUST_CHECK leat_code leat_webp_look(const uint8_t *bytes, int64_t size_bytes,
                                         leat_image_header *header, leat_image_reason *reason,
                                         leat_error *err);
/* Rejects a size that is not read. */
LEAT_MUST_CHECK leat_code leat_image_check_size(int64_t width, int64_t height,
                                                leat_image_reason *reason, leat_error *err);
/* Completes a header whose width and height are as stored. */
void leat_image_turn_header(leat_image_header *header, bool whole, int64_t decoder_bytes);
/* A number of `count` bytes, up to 7. */
int64_t leat_big_endian(const uint8_t *at, int count);
/* What bytes that are not a picture seem to be, in words, and what to do. */
const char *leat_image_kind(const uint8_t *bytes, int64_t size_bytes);

/* The number of a tag in the first directory of a block of TIFF; 0: it is not a single whole one;
 * -1: there is none, or the block is damaged. */
int64_t leat_tiff_number(const uint8_t *tiff, int64_t size_bytes, int tag);
/* What a file says of its orientation; begins as {0}. */
typedef struct leat_orientation {
    bool has_exif; /* later blocks do not count */
    int exif;      /* 1..8, 1 also for a number that is none of these; 0: none */
    int xmp;       /* 1..8; 0: none */
} leat_orientation;
/* A block of TIFF, as an EXIF segment holds it after "Exif\0\0". */
void leat_orientation_exif(leat_orientation *found, const uint8_t *tiff, int64_t size_bytes);
/* A packet of XMP, which counts if EXIF data does not name an orientation, and instead of packets
 * before it. */
void leat_orientation_xmp(leat_orientation *found, const uint8_t *text, int64_t size_bytes);
/* 1..8; 1 if there is none. */
int leat_orientation_of(const leat_orientation *found);

/* One file being decoded. */
typedef struct leat_image_job {
    const uint8_t *bytes;
    int64_t size_bytes;
    leat_image_header *header;
    int32_t width, height; /* as stored, before it is turned */
    uint8_t *pixels;       /* of the whole picture, or of a band if it is decoded in pieces, with
                              header->channels bytes each until they are flattened */
    leat_image_rows_fn rows;
    void *context;
    leat_image_reason *reason;
} leat_image_job;

/* Decoders fill job->pixels with the whole picture as stored, or call job->rows for each band if
 * the header says that it is decoded in pieces. */
LEAT_MUST_CHECK leat_code leat_jpeg_decode(const leat_image_job *job, leat_error *err);
LEAT_MUST_CHECK leat_code leat_png_decode(const leat_image_job *job, leat_error *err);
LEAT_MUST_CHECK leat_code leat_webp_decode(const leat_image_job *job, leat_error *err);

/* Rejects a PNG that leat_png_look has accepted, of which these are all bytes, and which they
 * cannot be enough for: nothing of it is inflated. */
LEAT_MUST_CHECK leat_code leat_png_check_bytes(const uint8_t *bytes, int64_t size_bytes,
                                               leat_image_reason *reason, leat_error *err);
/* Where the chunks with the pixels of a PNG end; 0 if it has none. */
int64_t leat_png_pixels_end(const uint8_t *bytes, int64_t size_bytes);

/* Makes RGB of `count` RGBA pixels, in place, as header->background says, and remarks on those that
 * are transparent. Nothing is to be done if header->channels is 3. */
void leat_image_flatten(leat_image_header *header, uint8_t *pixels, int64_t count);

/* Memory that the decoders take besides job->pixels: of a JPEG with blocks_bytes of coefficients
 * that must be kept (0: none). */
int64_t leat_jpeg_memory(int32_t width, int64_t blocks_bytes);
int64_t leat_png_memory(int32_t width);

/* Text of a library for a message: printable, and not longer than fits. */
#define LEAT_IMAGE_TEXT_BYTES 200

#endif
