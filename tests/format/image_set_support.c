/* Image data sets for tests: see image_set_support.h. */
#include "image_set_support.h"

#include <stdio.h>

#include "base/rng.h"

leat_image_entry image_entry(int64_t i, char name[64]) {
    snprintf(name, 64, "%c/%04lld.%s", (char)('a' + i / 1000), (long long)i,
             i % 3 == 0 ? "png" : "jpg");
    return (leat_image_entry){name, 1 + (int32_t)(i * 37 % 700), 1 + (int32_t)(i * 11 % 500),
                              leat_random(1, 2, (uint64_t)i)};
}

/* A slope with noise: neither constant nor equal to another image. */
void image_pixels(int64_t i, int32_t size, uint8_t *pixels) {
    for (int64_t k = 0; k < leat_image_bytes(size); k++) {
        uint64_t noise = leat_random_at((uint64_t)i + 77, (uint64_t)k);
        pixels[k] = (uint8_t)(i * 5 + k / 48 + (int64_t)(noise % 64));
    }
}

static leat_code append_all(leat_image_writer *writer, int64_t count, int32_t size, uint8_t *pixels,
                            leat_error *err) {
    for (int64_t i = 0; i < count; i++) {
        char name[64];
        const leat_image_entry entry = image_entry(i, name);
        image_pixels(i, size, pixels);
        LEAT_TRY(leat_image_writer_append(writer, &entry, pixels, err));
    }
    return LEAT_OK;
}

leat_code image_set_make(const char *dir, int64_t count, int32_t size, int64_t rejected,
                         leat_error *err) {
    leat_image_writer *writer = NULL;
    const leat_image_set *set = NULL;
    uint8_t *pixels = NULL;
    leat_code code = leat_image_writer_create(&writer, dir, size, false, err);
    if (code == LEAT_OK) code = LEAT_NEW(&pixels, leat_image_bytes(size), err);
    if (code == LEAT_OK) code = append_all(writer, count, size, pixels, err);
    if (code == LEAT_OK) code = leat_image_writer_finish(writer, rejected, &set, err);
    leat_free(pixels);
    leat_image_writer_destroy(writer);
    return code;
}
