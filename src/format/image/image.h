/*
 * Pictures in JPEG and PNG files as rows of RGB bytes, and back. Each library is behind one file:
 * libjpeg-turbo behind jpeg.c, libpng behind png.c, libwebp, if leat was built with it, behind
 * webp.c. What must be known before decoding is read by
 * leat itself, from bounded headers (look.c, exif.c): format, size, orientation and the memory that
 * decoding takes.
 *
 * Pixels are 8-bit RGB. Grey is copied to three channels; palettes are resolved; alpha is dropped,
 * or blended with a background; of 16 bits the high byte is used; CMYK and YCCK are converted as r
 * = (255 - c)(255 - k) / 255, rounded, from values that are stored inverted, as all programs write
 * them. Colour profiles and gamma are ignored. The decoder's method is fixed (accurate integer DCT,
 * smooth upsampling, no smoothing of blocks), so the pixels are the same with every version of
 * libjpeg-turbo tried.
 */
#ifndef LEAT_FORMAT_IMAGE_IMAGE_H
#define LEAT_FORMAT_IMAGE_IMAGE_H

#include "base/mem.h"
#include "leat/format.h"

#define LEAT_IMAGE_FILE_BYTES_MAX (INT64_C(256) << 20)
#define LEAT_IMAGE_PIXELS_MAX (INT64_C(1) << 26)
#define LEAT_IMAGE_SIDE_MAX 65500
/* Scans of a progressive JPEG; files in use have about ten. */
#define LEAT_IMAGE_SCANS_MAX 100
/* Markers of a JPEG, restarts apart; chunks of a PNG that hold no pixels. */
#define LEAT_IMAGE_MARKERS_MAX 1000
/* Of a text chunk of a PNG, as stored and inflated. */
#define LEAT_IMAGE_TEXT_CHUNK_MAX (64 << 10)
/* Bytes that one deflated byte may become; pictures in use come to about 20. */
#define LEAT_IMAGE_RATIO_MAX 1000
/* Rows delivered at once, except at the end. */
#define LEAT_IMAGE_BAND_ROWS 16

/* No reason against a file: it is a picture that can be used. */
#define LEAT_IMAGE_GOOD LEAT_IMAGE_REASONS

typedef enum leat_image_format {
    LEAT_IMAGE_JPEG,
    LEAT_IMAGE_PNG,
    LEAT_IMAGE_WEBP
} leat_image_format;

/* Transparent pixels keep the colour that is stored. */
#define LEAT_IMAGE_DROP_ALPHA (-1)

/* What the header of a picture says. */
typedef struct leat_image_header {
    leat_image_format format;
    int32_t width, height; /* upright, 1..LEAT_IMAGE_SIDE_MAX */
    int orientation;       /* as in EXIF, 1..8; 1 if the file does not say */
    bool in_pieces;        /* decoded row by row; otherwise all of it is in memory once */
    int64_t memory_bytes;  /* that decoding takes at most, apart from the file's own bytes */
    int channels;          /* that are decoded: 4 if pixels may be transparent, otherwise 3 */
    uint32_t remarks;      /* bits 1 << leat_image_remark; leat_image_decode adds its own */
    int32_t background;    /* the caller may set it: 0xrrggbb, which transparent pixels are blended
                              with; LEAT_IMAGE_DROP_ALPHA */
} leat_image_header;

/*
 * The functions below fail in two ways. With a reason in *reason, the bytes are not a picture that
 * can be used, and the message says why, without naming the file: LEAT_ERR_INPUT. With
 * LEAT_IMAGE_GOOD there, the failure lies elsewhere: LEAT_ERR_MEMORY, or LEAT_ERR_UNSUPPORTED if
 * leat was built without the library.
 */

/* Reads the header. Looks at no more than the markers of a JPEG and the chunk headers of a PNG. */
LEAT_MUST_CHECK leat_code leat_image_look(const uint8_t *bytes, int64_t size_bytes,
                                          leat_image_header *header, leat_image_reason *reason,
                                          leat_error *err);

/* Receives the next `rows` upright rows of width * 3 bytes, without gaps. A failure stops the
 * decoding and is returned. */
typedef leat_code (*leat_image_rows_fn)(void *context, const uint8_t *rgb, int32_t rows,
                                        leat_error *err);

/* Decodes the picture whose header leat_image_look has read, and delivers it from top to bottom.
 * Rows may be delivered before damage is found: then they are to be discarded. */
LEAT_MUST_CHECK leat_code leat_image_decode(const uint8_t *bytes, int64_t size_bytes,
                                            leat_image_header *header, leat_image_rows_fn rows,
                                            void *context, leat_image_reason *reason,
                                            leat_error *err);

/* Whether the bytes are a text that describes nothing: no web page, no pointer to another file. */
bool leat_image_is_text(const uint8_t *bytes, int64_t size_bytes);

/* LEAT_ERR_UNSUPPORTED names the library that this build of leat lacks. */
LEAT_MUST_CHECK leat_code leat_image_check_libraries(leat_error *err);
/* Version of the libwebp that is found when leat runs, 0xMMmmrr; 0: none. */
int leat_webp_version(void);

/* Appends a JPEG of this quality (1..100) with subsampled colours (4:2:0) to `out`. The bytes are
 * the same for the same pixels and version of libjpeg-turbo. LEAT_ERR_OPTION: a size or quality
 * that is not possible. */
LEAT_MUST_CHECK leat_code leat_jpeg_encode(const uint8_t *rgb, int32_t width, int32_t height,
                                           int quality, leat_buf *out, leat_error *err);

#endif
