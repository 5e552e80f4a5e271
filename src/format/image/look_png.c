/*
 * The header of a PNG, and what its chunks say before any is inflated: what decides pixels and
 * memory, and what is too much of something. No chunk is read beyond its head but small ones.
 */
#include <string.h>

#include "format/image/parts.h"
#include "format/image/png_text.h"

enum {
    MAGIC_BYTES = 8,
    HEADER_END = 33, /* magic, and the chunk IHDR of 13 bytes */
    CHUNK_BYTES = 12 /* of a chunk without data: length, type, checksum */
};
/* Pictures of one colour may be packed as tightly as the format allows, 1,032:1; below this size
 * they do no harm. */
#define RATIO_BYTES_MIN (INT64_C(8) << 20)

/* What was found on the way through the chunks. */
typedef struct png_chunks {
    leat_image_header *header;
    leat_image_reason *reason;
    int64_t others;       /* chunks that hold no pixels */
    int64_t pixels_bytes; /* of all IDAT, deflated, as far as they are there */
    leat_orientation exif;
    leat_png_texts texts;
    bool ended;
} png_chunks;

static bool is(const leat_png_chunk *chunk, const char *type) { return leat_png_is(chunk, type); }

/* ---- chunks --------------------------------------------------------------------------------- */

static leat_code read_chunk(png_chunks *chunks, const leat_png_chunk *chunk, leat_error *err) {
    leat_image_header *header = chunks->header;
    const bool whole = chunk->have_bytes == chunk->size_bytes;
    if (is(chunk, "IDAT")) chunks->pixels_bytes += chunk->have_bytes;
    /* pictures after the first of an animation hold pixels too */
    bool other = !is(chunk, "IDAT") && !is(chunk, "fdAT") && !is(chunk, "fcTL");
    if (other && ++chunks->others > LEAT_IMAGE_MARKERS_MAX)
        return leat_image_reject(chunks->reason, LEAT_IMAGE_TOO_LARGE, err,
                                 "more than %d chunks that hold no pixels", LEAT_IMAGE_MARKERS_MAX);
    LEAT_TRY(leat_png_take_text(&chunks->texts, chunk, chunks->reason, err));
    if (is(chunk, "tRNS")) header->channels = 4;
    if (is(chunk, "acTL") && chunk->have_bytes >= 4 && leat_big_endian(chunk->data, 4) > 1)
        header->remarks |= 1U << LEAT_IMAGE_SEVERAL;
    if (is(chunk, "eXIf") && whole) leat_png_exif(&chunks->exif, chunk->data, chunk->size_bytes);
    header->orientation = leat_png_orientation(&chunks->texts, &chunks->exif);
    chunks->ended = is(chunk, "IEND");
    return LEAT_OK;
}

static leat_code read_chunks(png_chunks *chunks, const uint8_t *bytes, int64_t size_bytes,
                             leat_error *err) {
    for (int64_t at = MAGIC_BYTES; at <= size_bytes - CHUNK_BYTES + 4 && !chunks->ended;) {
        const int64_t left = size_bytes - at - 8;
        leat_png_chunk chunk = {.type = bytes + at + 4, .data = bytes + at + 8};
        chunk.size_bytes = leat_big_endian(bytes + at, 4);
        chunk.have_bytes = chunk.size_bytes < left ? chunk.size_bytes : left;
        LEAT_TRY(read_chunk(chunks, &chunk, err));
        at += CHUNK_BYTES + chunk.size_bytes;
    }
    return LEAT_OK;
}

/* ---- the header ----------------------------------------------------------------------------- */

/* Of a pixel of this colour type; 0: there is no such type. */
static int samples_of(int colour) {
    static const int samples[] = {1, 0, 3, 1, 2, 0, 4};
    return colour < (int)(sizeof samples / sizeof *samples) ? samples[colour] : 0;
}

/* Of the pixels inflated, with a filter for each row. */
static int64_t raw_bytes(const uint8_t *bytes) {
    const int64_t width = leat_big_endian(bytes + 16, 4), height = leat_big_endian(bytes + 20, 4);
    return height * ((width * samples_of(bytes[25]) * bytes[24] + 7) / 8 + 1);
}

/* `whole`: no bytes follow these. What ends too early is refused in any case, but inflated first
 * unless it is here. */
static leat_code check_ratio(const png_chunks *chunks, const uint8_t *bytes, int64_t size_bytes,
                             bool whole, leat_error *err) {
    const int64_t raw = raw_bytes(bytes);
    if (raw < RATIO_BYTES_MIN || raw <= chunks->pixels_bytes * LEAT_IMAGE_RATIO_MAX) return LEAT_OK;
    if (!chunks->ended && !whole) return LEAT_OK;
    if (!chunks->ended)
        return leat_image_reject(chunks->reason, LEAT_IMAGE_TRUNCATED, err,
                                 "the PNG ends after %lld bytes, too few for its pixels",
                                 (long long)size_bytes);
    return leat_image_reject(chunks->reason, LEAT_IMAGE_TOO_LARGE, err,
                             "%lld bytes of pixels in %lld bytes; at most %d:1 is inflated",
                             (long long)raw, (long long)chunks->pixels_bytes, LEAT_IMAGE_RATIO_MAX);
}

leat_code leat_png_look(const uint8_t *bytes, int64_t size_bytes, leat_image_header *header,
                        leat_image_reason *reason, leat_error *err) {
    png_chunks chunks = {.header = header, .reason = reason};
    if (size_bytes < HEADER_END)
        return leat_image_reject(reason, LEAT_IMAGE_TRUNCATED, err,
                                 "the PNG ends after %lld bytes, in its header",
                                 (long long)size_bytes);
    if (memcmp(bytes + 8, "\0\0\0\rIHDR", 8) != 0)
        return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err,
                                 "the PNG does not begin with its header");
    int64_t width = leat_big_endian(bytes + 16, 4), height = leat_big_endian(bytes + 20, 4);
    LEAT_TRY(leat_image_check_size(width, height, reason, err));
    header->format = LEAT_IMAGE_PNG;
    header->width = (int32_t)width;
    header->height = (int32_t)height;
    if ((bytes[25] & 4) != 0) header->channels = 4; /* colour types with alpha */
    LEAT_TRY(read_chunks(&chunks, bytes, size_bytes, err));
    LEAT_TRY(check_ratio(&chunks, bytes, size_bytes, false, err));
    bool interlaced = bytes[28] != 0;
    leat_image_turn_header(header, interlaced, leat_png_memory(header->width));
    return LEAT_OK;
}

leat_code leat_png_check_bytes(const uint8_t *bytes, int64_t size_bytes, leat_image_reason *reason,
                               leat_error *err) {
    leat_image_header header = {0};
    png_chunks chunks = {.header = &header, .reason = reason};
    LEAT_TRY(read_chunks(&chunks, bytes, size_bytes, err));
    return check_ratio(&chunks, bytes, size_bytes, true, err);
}

int64_t leat_png_pixels_end(const uint8_t *bytes, int64_t size_bytes) {
    int64_t end = 0;
    for (int64_t at = MAGIC_BYTES; at <= size_bytes - CHUNK_BYTES;) {
        const bool pixels = memcmp(bytes + at + 4, "IDAT", 4) == 0;
        at += CHUNK_BYTES + leat_big_endian(bytes + at, 4);
        if (pixels) end = at;
        else if (end > 0) break;
    }
    return end < size_bytes ? end : size_bytes;
}
