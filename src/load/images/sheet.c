/* Images as PNG, one by one and as a contact sheet. */
#include "load/images/images.h"

#include <string.h>

enum { CELL_MAX = 96, GAP = 2, GAP_LEVEL = 0x9a };
enum { COLUMNS = LEAT_IMAGES_SHEET_COLUMNS, SHOWN_MAX = COLUMNS * COLUMNS };

leat_code leat_images_save(const leat_images *images, int64_t index, const char *path, bool replace,
                           leat_error *err) {
    int32_t size = images->set.size;
    uint8_t *pixels = NULL;
    LEAT_TRY(LEAT_NEW(&pixels, leat_image_bytes(size), err));
    leat_code code = leat_images_read(images, index, pixels, err);
    if (code == LEAT_OK) code = leat_png_save(path, pixels, size, size, replace, err);
    leat_free(pixels);
    return code;
}

/* ---- a contact sheet ------------------------------------------------------------------------ */

/* The mean of `step` x `step` pixels, rounded. */
static uint8_t reduce(const uint8_t *pixels, int32_t size, int32_t step, int64_t at) {
    uint64_t sum = 0, count = (uint64_t)step * (uint64_t)step;
    for (int32_t y = 0; y < step; y++)
        for (int32_t x = 0; x < step; x++) sum += pixels[at + ((int64_t)y * size + x) * 3];
    return (uint8_t)((sum + count / 2) / count);
}

static void put_cell(const leat_images_sheet *sheet, int number, const uint8_t *pixels,
                     int32_t size, uint8_t *out) {
    int32_t step = size / sheet->cell, pitch = sheet->cell + sheet->gap;
    int64_t left = number % COLUMNS * pitch, top = number / COLUMNS * pitch;
    for (int32_t y = 0; y < sheet->cell; y++) {
        for (int32_t x = 0; x < sheet->cell; x++) {
            for (int c = 0; c < 3; c++) {
                int64_t from = ((int64_t)y * step * size + (int64_t)x * step) * 3 + c;
                out[((top + y) * sheet->width + left + x) * 3 + c] =
                    reduce(pixels, size, step, from);
            }
        }
    }
}

static leat_code fill(leat_images_sheet *sheet, const leat_images *images, uint8_t *pixels,
                      uint8_t *out, leat_error *err) {
    int64_t bytes = (int64_t)sheet->width * sheet->height * 3;
    memset(out, GAP_LEVEL, (size_t)bytes);
    for (int i = 0; i < sheet->count; i++) {
        LEAT_TRY(leat_images_read(images, sheet->images[i], pixels, err));
        put_cell(sheet, i, pixels, images->set.size, out);
    }
    return leat_png_encode(&sheet->png, out, sheet->width, sheet->height, err);
}

/* Which images, and how large the sheet is. */
static void plan(leat_images_sheet *sheet, const leat_image_set *set) {
    int32_t step = (set->size + CELL_MAX - 1) / CELL_MAX;
    sheet->count = set->count < SHOWN_MAX ? (int)set->count : SHOWN_MAX;
    for (int i = 0; i < sheet->count; i++) sheet->images[i] = set->count * i / sheet->count;
    int columns = sheet->count < COLUMNS ? sheet->count : COLUMNS;
    int rows = (sheet->count + COLUMNS - 1) / COLUMNS;
    sheet->cell = set->size / step;
    sheet->gap = GAP;
    sheet->width = columns * (sheet->cell + GAP) - GAP;
    sheet->height = rows * (sheet->cell + GAP) - GAP;
}

leat_code leat_images_sheet_create(leat_images_sheet **out, const leat_images *images,
                                   leat_error *err) {
    leat_images_sheet *sheet = NULL;
    uint8_t *pixels = NULL, *sheet_pixels = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&sheet, 1, err));
    plan(sheet, &images->set);
    leat_code code = LEAT_NEW(&pixels, leat_image_bytes(images->set.size), err);
    if (code == LEAT_OK)
        code = LEAT_NEW(&sheet_pixels, (int64_t)sheet->width * sheet->height * 3, err);
    if (code == LEAT_OK) code = fill(sheet, images, pixels, sheet_pixels, err);
    leat_free(pixels);
    leat_free(sheet_pixels);
    if (code != LEAT_OK) {
        leat_images_sheet_destroy(sheet);
        return code;
    }
    *out = sheet;
    return LEAT_OK;
}

void leat_images_sheet_destroy(leat_images_sheet *sheet) {
    if (sheet == NULL) return;
    leat_png_destroy(sheet->png);
    leat_free(sheet);
}
