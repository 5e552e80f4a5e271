/*
 * The header of a picture, read by leat itself: size, orientation, and how much memory decoding
 * will take, before a library allocates any; and variants whose support differs between versions of
 * the libraries, which are rejected by all builds alike. Here: limits, and which format it is;
 * look_jpeg.c and look_png.c read the formats.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/image/parts.h"

leat_code leat_image_reject(leat_image_reason *reason, leat_image_reason which, leat_error *err,
                            const char *format, ...) {
    char text[LEAT_MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *reason = which;
    return leat_fail(err, LEAT_ERR_INPUT, "%s", text);
}

leat_code leat_image_check_libraries(leat_error *err) {
    const char *missing = !LEAT_HAVE_JPEG ? "libjpeg-turbo" : !LEAT_HAVE_PNG ? "libpng" : NULL;
    if (missing == NULL) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "leat was built without %s, which images require; run scripts/install.sh and "
                     "rebuild leat",
                     missing);
}

int64_t leat_big_endian(const uint8_t *at, int count) {
    int64_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | at[i];
    return value;
}

/* ---- limits --------------------------------------------------------------------------------- */

leat_code leat_image_check_size(int64_t width, int64_t height, leat_image_reason *reason,
                                leat_error *err) {
    long long wide = width, high = height;
    if (width == 0 || height == 0)
        return leat_image_reject(reason, LEAT_IMAGE_TOO_SMALL, err,
                                 "its header says %lld x %lld pixels", wide, high);
    if (width > LEAT_IMAGE_SIDE_MAX || height > LEAT_IMAGE_SIDE_MAX)
        return leat_image_reject(reason, LEAT_IMAGE_TOO_LARGE, err,
                                 "%lld x %lld pixels; a side has at most %d", wide, high,
                                 LEAT_IMAGE_SIDE_MAX);
    if (width * height > LEAT_IMAGE_PIXELS_MAX)
        return leat_image_reject(reason, LEAT_IMAGE_TOO_LARGE, err,
                                 "%lld x %lld pixels; an image has at most %lld", wide, high,
                                 (long long)LEAT_IMAGE_PIXELS_MAX);
    return LEAT_OK;
}

void leat_image_turn_header(leat_image_header *header, bool whole, int64_t decoder_bytes) {
    int64_t pixels = (int64_t)header->width * header->height;
    int64_t longest = header->width > header->height ? header->width : header->height;
    header->in_pieces = !whole && header->orientation == 1;
    header->memory_bytes = decoder_bytes + longest * header->channels * LEAT_IMAGE_BAND_ROWS;
    if (!header->in_pieces) header->memory_bytes += pixels * header->channels;
    if (header->orientation < 5) return;
    int32_t width = header->width;
    header->width = header->height;
    header->height = width;
}

/* ---- the format ----------------------------------------------------------------------------- */

leat_code leat_image_look(const uint8_t *bytes, int64_t size_bytes, leat_image_header *header,
                          leat_image_reason *reason, leat_error *err) {
    leat_image_header found = {
        .orientation = 1, .channels = 3, .background = LEAT_IMAGE_DROP_ALPHA};
    leat_code code = LEAT_OK;
    *header = (leat_image_header){0};
    *reason = LEAT_IMAGE_GOOD;
    if (size_bytes > LEAT_IMAGE_FILE_BYTES_MAX)
        return leat_image_reject(reason, LEAT_IMAGE_TOO_LARGE, err,
                                 "a file of %lld bytes; at most %lld are read",
                                 (long long)size_bytes, (long long)LEAT_IMAGE_FILE_BYTES_MAX);
    if (size_bytes >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0)
        code = leat_jpeg_look(bytes, size_bytes, &found, reason, err);
    else if (size_bytes >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0)
        code = leat_png_look(bytes, size_bytes, &found, reason, err);
    else if (size_bytes >= 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0)
        code = leat_webp_look(bytes, size_bytes, &found, reason, err);
    else
        return leat_image_reject(reason, LEAT_IMAGE_NOT_AN_IMAGE, err, "%s",
                                 leat_image_kind(bytes, size_bytes));
    if (code == LEAT_OK) *header = found;
    return code;
}
