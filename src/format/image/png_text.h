/* The text chunks of a PNG: refused if they are too large, and what they say of the orientation. */
#ifndef LEAT_FORMAT_IMAGE_PNG_TEXT_H
#define LEAT_FORMAT_IMAGE_PNG_TEXT_H

#include <string.h>

#include "format/image/parts.h"

/* A chunk whose data may be cut off by the end of the bytes: have_bytes of size_bytes are there. */
typedef struct leat_png_chunk {
    const uint8_t *type, *data;
    int64_t size_bytes, have_bytes;
} leat_png_chunk;

static inline bool leat_png_is(const leat_png_chunk *chunk, const char *type) {
    return memcmp(chunk->type, type, 4) == 0;
}

/* Orientations of the last text of each kind: 1..8; 0: none. Begins as {0}. */
typedef struct leat_png_texts {
    bool has_packet;  /* a packet of XMP that is not empty, in text of any kind */
    int packet;       /* of it */
    int bytes_packet; /* of the last in iTXt, also if it is not UTF-8 */
    int exif_profile; /* of "Raw profile type exif": EXIF data in hexadecimal digits */
    int xmp_profile;  /* the same of XMP */
} leat_png_texts;

/* Takes a chunk of any type, of which others than text are nothing. LEAT_ERR_INPUT: the text is too
 * large; LEAT_ERR_MEMORY. */
LEAT_MUST_CHECK leat_code leat_png_take_text(leat_png_texts *texts, const leat_png_chunk *chunk,
                                             leat_image_reason *reason, leat_error *err);

/* leat_orientation_exif of data that may begin as those of a JPEG do, with "Exif\0\0". */
void leat_png_exif(leat_orientation *found, const uint8_t *bytes, int64_t size_bytes);

/* 1..8; `exif`: what an eXIf chunk says, which is before all of them. */
int leat_png_orientation(const leat_png_texts *texts, const leat_orientation *exif);

#endif
