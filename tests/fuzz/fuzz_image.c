/*
 * Pictures of any bytes: the header is read, its EXIF data too, then the file is decoded and
 * resized as an ingest does it. Either every row is delivered, or there is a reason. Large pictures
 * are not decoded, so that each input takes little time.
 */
#include <stdlib.h>
#include <string.h>

#include "format/image/image.h"
#include "format/image/parts.h"
#include "ingest/images/resize.h"

enum { SIZE = 16, PIXELS_MAX = 1 << 18 };

typedef struct receiver {
    leat_resize *resize;
    int64_t row_bytes;
    int32_t rows;
    uint64_t sum;
} receiver;

static leat_code take(void *context, const uint8_t *rgb, int32_t rows, leat_error *err) {
    receiver *self = context;
    (void)err;
    for (int64_t i = 0; i < rows * self->row_bytes; i++) self->sum += rgb[i];
    leat_resize_rows(self->resize, rgb, rows);
    self->rows += rows;
    return LEAT_OK;
}

static void decode(const uint8_t *data, size_t size, leat_image_header *header) {
    static uint8_t pixels[SIZE * SIZE * 3];
    receiver to = {.row_bytes = (int64_t)header->width * 3};
    leat_image_reason reason = LEAT_IMAGE_GOOD;
    leat_error err = {0};
    if (leat_resize_create(&to.resize, SIZE, &err) != LEAT_OK ||
        leat_resize_begin(to.resize, header->width, header->height, pixels, &err) != LEAT_OK)
        abort();
    leat_code code = leat_image_decode(data, (int64_t)size, header, take, &to, &reason, &err);
    if (code == LEAT_OK && (to.rows != header->height || reason != LEAT_IMAGE_GOOD)) abort();
    if (code != LEAT_OK && (code != LEAT_ERR_INPUT || reason == LEAT_IMAGE_GOOD)) abort();
    if (code != LEAT_OK && err.message[0] == 0) abort();
    leat_resize_destroy(to.resize);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    leat_image_header header;
    leat_image_reason reason = LEAT_IMAGE_GOOD;
    leat_error err = {0};
    leat_orientation found = {0};
    leat_orientation_xmp(&found, data, (int64_t)size);
    if (leat_orientation_of(&found) < 1 || leat_orientation_of(&found) > 8) abort();
    leat_orientation_exif(&found, data, (int64_t)size);
    int orientation = leat_orientation_of(&found);
    if (orientation < 1 || orientation > 8) abort();
    leat_code code = leat_image_look(data, (int64_t)size, &header, &reason, &err);
    if (code != LEAT_OK && (code != LEAT_ERR_INPUT || reason == LEAT_IMAGE_GOOD)) abort();
    if (code != LEAT_OK) return 0;
    if (header.width < 1 || header.height < 1 || header.width > LEAT_IMAGE_SIDE_MAX ||
        header.height > LEAT_IMAGE_SIDE_MAX || header.memory_bytes < header.width)
        abort();
    if ((int64_t)header.width * header.height <= PIXELS_MAX) decode(data, size, &header);
    return 0;
}
