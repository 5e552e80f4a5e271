/* Decoding: whichever library reads the pixels, they are delivered upright, in bands of rows. */
#include "format/image/parts.h"

/* Where the pixel at (x, y) of the upright picture is stored: base + x * right + y * down. */
typedef struct turn {
    int64_t base, right, down; /* bytes */
} turn;

/* The eight orientations of EXIF: mirrored, turned by half, both; and the same with rows and
 * columns exchanged. */
static turn turn_of(int orientation, int32_t stored_width, int32_t stored_height) {
    const int64_t pixel = 3, row = (int64_t)stored_width * 3;
    const int64_t right_end = row - pixel, bottom = (stored_height - 1) * row;
    switch (orientation) {
    case 2: return (turn){right_end, -pixel, row};
    case 3: return (turn){right_end + bottom, -pixel, -row};
    case 4: return (turn){bottom, pixel, -row};
    case 5: return (turn){0, row, pixel};
    case 6: return (turn){bottom, -row, pixel};
    case 7: return (turn){right_end + bottom, -row, -pixel};
    case 8: return (turn){right_end, row, -pixel};
    default: return (turn){0, pixel, row};
    }
}

static leat_code deliver_turned(const leat_image_job *job, uint8_t *band, leat_error *err) {
    const leat_image_header *header = job->header;
    turn way = turn_of(header->orientation, job->width, job->height);
    const int64_t row_bytes = (int64_t)header->width * 3;
    for (int32_t y = 0; y < header->height; y += LEAT_IMAGE_BAND_ROWS) {
        int32_t left = header->height - y;
        int32_t rows = left < LEAT_IMAGE_BAND_ROWS ? left : LEAT_IMAGE_BAND_ROWS;
        for (int32_t x = 0; x < header->width; x++) {
            const uint8_t *from = job->pixels + way.base + x * way.right + y * way.down;
            uint8_t *to = band + (int64_t)x * 3;
            for (int32_t i = 0; i < rows; i++, from += way.down, to += row_bytes) {
                to[0] = from[0];
                to[1] = from[1];
                to[2] = from[2];
            }
        }
        LEAT_TRY(job->rows(job->context, band, rows, err));
    }
    return LEAT_OK;
}

static leat_code deliver_whole(const leat_image_job *job, leat_error *err) {
    const int64_t row_bytes = (int64_t)job->width * 3;
    for (int32_t y = 0; y < job->height; y += LEAT_IMAGE_BAND_ROWS) {
        int32_t left = job->height - y;
        int32_t rows = left < LEAT_IMAGE_BAND_ROWS ? left : LEAT_IMAGE_BAND_ROWS;
        LEAT_TRY(job->rows(job->context, job->pixels + y * row_bytes, rows, err));
    }
    return LEAT_OK;
}

void leat_image_flatten(leat_image_header *header, uint8_t *pixels, int64_t count) {
    const int32_t background = header->background;
    bool transparent = false;
    if (header->channels == 3) return;
    for (int64_t i = 0; i < count; i++) {
        const uint8_t *from = pixels + 4 * i;
        uint8_t *to = pixels + 3 * i;
        const int alpha = from[3];
        transparent = transparent || alpha < 255;
        for (int c = 0; c < 3; c++) {
            if (background == LEAT_IMAGE_DROP_ALPHA) {
                to[c] = from[c];
                continue;
            }
            /* divided by 255, rounded; exact for all bytes */
            int sum = from[c] * alpha + (background >> (16 - 8 * c) & 255) * (255 - alpha) + 128;
            to[c] = (uint8_t)((sum + (sum >> 8)) >> 8);
        }
    }
    if (transparent) header->remarks |= 1U << LEAT_IMAGE_TRANSPARENT;
}

static leat_code read_pixels(const leat_image_job *job, leat_error *err) {
    switch (job->header->format) {
    case LEAT_IMAGE_PNG: return leat_png_decode(job, err);
    case LEAT_IMAGE_WEBP: return leat_webp_decode(job, err);
    default: return leat_jpeg_decode(job, err);
    }
}

/* With a band of rows after the pixels, if they have to be turned. */
static leat_code decode_whole(leat_image_job *job, leat_error *err) {
    const int64_t pixels_bytes = (int64_t)job->width * job->height * job->header->channels;
    const bool turned = job->header->orientation != 1;
    int64_t band_bytes = turned ? (int64_t)job->header->width * 3 * LEAT_IMAGE_BAND_ROWS : 0;
    LEAT_TRY(leat_block_alloc((void **)&job->pixels, pixels_bytes + band_bytes, err));
    leat_code code = read_pixels(job, err);
    if (code == LEAT_OK)
        code =
            turned ? deliver_turned(job, job->pixels + pixels_bytes, err) : deliver_whole(job, err);
    leat_block_free(job->pixels, pixels_bytes + band_bytes);
    return code;
}

leat_code leat_image_decode(const uint8_t *bytes, int64_t size_bytes, leat_image_header *header,
                            leat_image_rows_fn rows, void *context, leat_image_reason *reason,
                            leat_error *err) {
    const bool exchanged = header->orientation >= 5;
    leat_image_job job = {
        .bytes = bytes,
        .size_bytes = size_bytes,
        .header = header,
        .width = exchanged ? header->height : header->width,
        .height = exchanged ? header->width : header->height,
        .rows = rows,
        .context = context,
        .reason = reason,
    };
    *reason = LEAT_IMAGE_GOOD;
    LEAT_TRY(leat_image_check_libraries(err));
    if (!header->in_pieces) return decode_whole(&job, err);
    LEAT_TRY(
        LEAT_NEW(&job.pixels, (int64_t)job.width * header->channels * LEAT_IMAGE_BAND_ROWS, err));
    leat_code code = read_pixels(&job, err);
    leat_free(job.pixels);
    return code;
}
