/* Pictures for tests: see picture_support.h. */
#include "picture_support.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/rng.h"
#include "check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LEAT_TESTS_SANITIZED = 1 };
#else
enum { LEAT_TESTS_SANITIZED = 0 };
#endif

typedef struct catcher {
    image_pixels *out;
    int32_t rows;
    int64_t heap_begin;
} catcher;

static int64_t heap_bytes(void) {
    if (LEAT_TESTS_SANITIZED) return 0;
    struct mallinfo2 now = mallinfo2();
    return (int64_t)(now.uordblks + now.hblkhd);
}

static leat_code catch_rows(void *context, const uint8_t *rgb, int32_t rows, leat_error *err) {
    catcher *self = context;
    int64_t row_bytes = (int64_t)self->out->width * 3, heap = heap_bytes() - self->heap_begin;
    (void)err;
    assert_true(self->rows + rows <= self->out->height);
    assert_true(rows == LEAT_IMAGE_BAND_ROWS || self->rows + rows == self->out->height);
    memcpy(self->out->rgb + self->rows * row_bytes, rgb, (size_t)(rows * row_bytes));
    self->rows += rows;
    if (heap > self->out->heap_bytes) self->out->heap_bytes = heap;
    return LEAT_OK;
}

int32_t image_background = LEAT_IMAGE_DROP_ALPHA;

leat_code image_decode(const void *bytes, int64_t size_bytes, image_pixels *out,
                       leat_image_reason *reason, leat_error *err) {
    catcher self = {.out = out};
    *out = (image_pixels){0};
    LEAT_TRY(leat_image_look(bytes, size_bytes, &out->header, reason, err));
    out->header.background = image_background;
    out->width = out->header.width;
    out->height = out->header.height;
    LEAT_TRY(LEAT_NEW(&out->rgb, (int64_t)out->width * out->height * 3, err));
    self.heap_begin = heap_bytes();
    leat_code code =
        leat_image_decode(bytes, size_bytes, &out->header, catch_rows, &self, reason, err);
    assert_true(code != LEAT_OK || (self.rows == out->height && *reason == LEAT_IMAGE_GOOD));
    if (code == LEAT_OK) return LEAT_OK;
    leat_free(out->rgb);
    out->rgb = NULL;
    return code;
}

uint8_t *image_draw(int32_t width, int32_t height, uint64_t seed) {
    uint8_t *rgb = malloc((size_t)width * (size_t)height * 3);
    assert_non_null(rgb);
    for (int64_t i = 0; i < (int64_t)width * height * 3; i++) {
        int64_t x = i / 3 % width, y = i / 3 / width, c = i % 3;
        int64_t smooth = (x * 170 / width * (c + 1) + y * 85 / height * (3 - c)) % 240;
        rgb[i] = (uint8_t)(smooth + (int64_t)(leat_random_at(seed, (uint64_t)i) & 15));
    }
    return rgb;
}

uint8_t *image_golden(const char *name, int64_t *size_bytes) {
    char path[512];
    uint8_t *bytes = NULL;
    snprintf(path, sizeof path, LEAT_SOURCE_DIR "/tests/golden/images/%s", name);
    assert_ok(leat_file_load(path, INT64_C(1) << 20, &bytes, size_bytes, err));
    return bytes;
}
