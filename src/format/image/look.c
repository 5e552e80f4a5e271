/*
 * The header of a picture, read by leat itself: size, orientation, and how much memory decoding
 * will take, before a library allocates any; and variants whose support differs between versions of
 * the libraries, which are rejected by all builds alike.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
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

static int64_t big_endian(const uint8_t *at, int count) {
    int64_t value = 0;
    for (int i = 0; i < count; i++) value = value << 8 | at[i];
    return value;
}

/* ---- limits --------------------------------------------------------------------------------- */

static leat_code check_size(int64_t width, int64_t height, leat_image_reason *reason,
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

/* Completes a header whose width and height are as stored. */
static void turn_header(leat_image_header *header, bool whole, int64_t decoder_bytes) {
    int64_t pixels = (int64_t)header->width * header->height;
    int64_t longest = header->width > header->height ? header->width : header->height;
    header->in_pieces = !whole && header->orientation == 1;
    header->memory_bytes = decoder_bytes + longest * 3 * LEAT_IMAGE_BAND_ROWS;
    if (!header->in_pieces) header->memory_bytes += pixels * 3;
    if (header->orientation < 5) return;
    int32_t width = header->width;
    header->width = header->height;
    header->height = width;
}

/* ---- JPEG ----------------------------------------------------------------------------------- */

enum {
    MARKER_SOF0 = 0xc0,
    MARKER_SOF2 = 0xc2,
    MARKER_DHT = 0xc4,
    MARKER_JPG = 0xc8,
    MARKER_DAC = 0xcc,
    MARKER_SOF15 = 0xcf,
    MARKER_RST0 = 0xd0,
    MARKER_RST7 = 0xd7,
    MARKER_SOI = 0xd8,
    MARKER_EOI = 0xd9,
    MARKER_SOS = 0xda,
    MARKER_APP1 = 0xe1,
    MARKER_TEM = 0x01,
};

typedef struct jpeg_frame {
    int marker; /* 0: none yet */
    int components;
    int64_t blocks_bytes; /* of all its coefficients */
    bool has_exif;
} jpeg_frame;

static const char *frame_name(int marker) {
    switch (marker) {
    case 0xc3: return "lossless";
    case 0xc5:
    case 0xc6:
    case 0xc7: return "hierarchical";
    default: return "arithmetic-coded";
    }
}

/* Memory of the coefficients of all components, in blocks of 64 two-byte numbers, rounded up to
 * whole units of interleaved blocks. */
static leat_code count_blocks(const uint8_t *components, const leat_image_header *header,
                              jpeg_frame *frame, leat_image_reason *reason, leat_error *err) {
    int wide = 1, high = 1;
    for (int i = 0; i < frame->components; i++) {
        int h = components[3 * i + 1] >> 4, v = components[3 * i + 1] & 15;
        if (h < 1 || h > 4 || v < 1 || v > 4)
            return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err,
                                     "sampling factors %d x %d are not possible", h, v);
        if (h > wide) wide = h;
        if (v > high) high = v;
    }
    int64_t across = (header->width + 8 * wide - 1) / (8 * wide);
    int64_t down = (header->height + 8 * high - 1) / (8 * high);
    frame->blocks_bytes = 0;
    for (int i = 0; i < frame->components; i++) {
        int h = components[3 * i + 1] >> 4, v = components[3 * i + 1] & 15;
        frame->blocks_bytes += across * h * down * v * 64 * 2;
    }
    return LEAT_OK;
}

static leat_code read_frame(int marker, const uint8_t *segment, int64_t size_bytes,
                            leat_image_header *header, jpeg_frame *frame, leat_image_reason *reason,
                            leat_error *err) {
    if (marker > MARKER_SOF2)
        return leat_image_reject(reason, LEAT_IMAGE_UNSUPPORTED, err, "a JPEG that is %s",
                                 frame_name(marker));
    if (frame->marker != 0)
        return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err, "two frame headers");
    if (size_bytes < 6 || size_bytes < 6 + 3 * segment[5])
        return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err,
                                 "the frame header has only %lld bytes", (long long)size_bytes);
    frame->marker = marker;
    frame->components = segment[5];
    if (segment[0] != 8)
        return leat_image_reject(reason, LEAT_IMAGE_UNSUPPORTED, err, "a JPEG of %d bits",
                                 segment[0]);
    if (frame->components != 1 && frame->components != 3 && frame->components != 4)
        return leat_image_reject(reason, LEAT_IMAGE_UNSUPPORTED, err, "a JPEG of %d components",
                                 frame->components);
    int64_t height = big_endian(segment + 1, 2), width = big_endian(segment + 3, 2);
    LEAT_TRY(check_size(width, height, reason, err));
    header->width = (int32_t)width;
    header->height = (int32_t)height;
    return count_blocks(segment + 6, header, frame, reason, err);
}

static bool is_frame(int marker) {
    return marker >= MARKER_SOF0 && marker <= MARKER_SOF15 && marker != MARKER_DHT &&
           marker != MARKER_JPG && marker != MARKER_DAC;
}

static bool has_no_segment(int marker) {
    return marker == MARKER_TEM || (marker >= MARKER_RST0 && marker <= MARKER_SOI);
}

static leat_code look_at_jpeg(const uint8_t *bytes, int64_t size_bytes, leat_image_header *header,
                              leat_image_reason *reason, leat_error *err) {
    jpeg_frame frame = {0};
    int64_t at = 2;
    for (;;) {
        /* like the decoder, over anything before the next marker, and over its fill bytes */
        while (at < size_bytes && bytes[at] != 0xff) at++;
        while (at < size_bytes && bytes[at] == 0xff) at++;
        if (at >= size_bytes) break;
        int marker = bytes[at++];
        if (marker == 0 || has_no_segment(marker)) continue;
        if (marker == MARKER_EOI)
            return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err, "a JPEG without a scan");
        if (at + 2 > size_bytes) break;
        int64_t segment_bytes = big_endian(bytes + at, 2) - 2;
        if (segment_bytes < 0)
            return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err,
                                     "a segment of %lld bytes at byte %lld",
                                     (long long)segment_bytes + 2, (long long)at);
        const uint8_t *segment = bytes + at + 2;
        if (segment_bytes > size_bytes - at - 2) break;
        at += 2 + segment_bytes;
        if (is_frame(marker))
            LEAT_TRY(read_frame(marker, segment, segment_bytes, header, &frame, reason, err));
        if (marker == MARKER_APP1 && !frame.has_exif && segment_bytes >= 6 &&
            memcmp(segment, "Exif\0\0", 6) == 0) {
            frame.has_exif = true;
            header->orientation = leat_exif_orientation(segment + 6, segment_bytes - 6);
        }
        if (marker != MARKER_SOS) continue;
        if (frame.marker == 0 || segment_bytes < 1)
            return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err, "a scan without %s header",
                                     frame.marker ? "its" : "a frame");
        bool kept = frame.marker == MARKER_SOF2 || segment[0] < frame.components;
        turn_header(header, false, leat_jpeg_memory(header->width, kept ? frame.blocks_bytes : 0));
        return LEAT_OK;
    }
    return leat_image_reject(reason, LEAT_IMAGE_TRUNCATED, err,
                             "the JPEG ends after %lld bytes, before its first scan",
                             (long long)size_bytes);
}

/* ---- PNG ------------------------------------------------------------------------------------ */

static const uint8_t png_magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

/* The orientation may be in a chunk anywhere between the header and the end. */
static int png_orientation(const uint8_t *bytes, int64_t size_bytes) {
    int64_t at = sizeof png_magic;
    while (at <= size_bytes - 12) {
        int64_t chunk_bytes = big_endian(bytes + at, 4);
        if (chunk_bytes > size_bytes - at - 12) return 1;
        if (memcmp(bytes + at + 4, "eXIf", 4) == 0)
            return leat_exif_orientation(bytes + at + 8, chunk_bytes);
        at += 12 + chunk_bytes;
    }
    return 1;
}

static leat_code look_at_png(const uint8_t *bytes, int64_t size_bytes, leat_image_header *header,
                             leat_image_reason *reason, leat_error *err) {
    enum { HEADER_END = 33 }; /* magic, and the chunk IHDR of 13 bytes */
    if (size_bytes < HEADER_END)
        return leat_image_reject(reason, LEAT_IMAGE_TRUNCATED, err,
                                 "the PNG ends after %lld bytes, in its header",
                                 (long long)size_bytes);
    if (memcmp(bytes + 8, "\0\0\0\rIHDR", 8) != 0)
        return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err,
                                 "the PNG does not begin with its header");
    int64_t width = big_endian(bytes + 16, 4), height = big_endian(bytes + 20, 4);
    LEAT_TRY(check_size(width, height, reason, err));
    header->format = LEAT_IMAGE_PNG;
    header->width = (int32_t)width;
    header->height = (int32_t)height;
    header->orientation = png_orientation(bytes, size_bytes);
    bool interlaced = bytes[28] != 0;
    turn_header(header, interlaced, leat_png_memory(header->width));
    return LEAT_OK;
}

/* ---- anything else -------------------------------------------------------------------------- */

typedef struct magic {
    int offset, size;
    const char *bytes, *name;
} magic;

static const magic magics[] = {
    {0, 4, "GIF8", "a GIF"},
    {8, 4, "WEBP", "a WebP"},
    {0, 2, "BM", "a BMP"},
    {0, 4, "II*\0", "a TIFF"},
    {0, 4, "MM\0*", "a TIFF"},
    {4, 8, "ftypheic", "an HEIC"},
    {4, 8, "ftypheix", "an HEIC"},
    {4, 8, "ftypmif1", "an HEIF"},
    {4, 8, "ftypavif", "an AVIF"},
    {4, 4, "ftyp", "a video"},
    {4, 8, "jP  \r\n\x87\n", "a JPEG 2000"},
    {0, 2, "\xff\x0a", "a JPEG XL"},
    {4, 4, "JXL ", "a JPEG XL"},
    {0, 5, "%PDF-", "a PDF"},
    {0, 4, "PK\3\4", "a zip archive"},
    {0, 2, "\x1f\x8b", "gzip"},
    {0, 4, "\0\0\1\0", "an icon"},
};

static bool looks_like_text(const uint8_t *bytes, int64_t size_bytes) {
    int64_t most = size_bytes < 512 ? size_bytes : 512;
    for (int64_t at = 0; at < most;) {
        bool control = bytes[at] < 0x20 && strchr("\t\n\r\f", bytes[at]) == NULL;
        int length = leat_utf8_length(bytes + at, size_bytes - at);
        if (bytes[at] == 0 || bytes[at] == 0x7f || control || length == 0) return false;
        at += length;
    }
    return true;
}

static const char *name_of(const uint8_t *bytes, int64_t size_bytes) {
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        const magic *it = &magics[i];
        if (size_bytes >= it->offset + it->size &&
            memcmp(bytes + it->offset, it->bytes, (size_t)it->size) == 0)
            return it->name;
    }
    return looks_like_text(bytes, size_bytes) ? "text" : "neither JPEG nor PNG";
}

leat_code leat_image_look(const uint8_t *bytes, int64_t size_bytes, leat_image_header *header,
                          leat_image_reason *reason, leat_error *err) {
    leat_image_header found = {.orientation = 1};
    leat_code code = LEAT_OK;
    *header = (leat_image_header){0};
    *reason = LEAT_IMAGE_GOOD;
    if (size_bytes > LEAT_IMAGE_FILE_BYTES_MAX)
        return leat_image_reject(reason, LEAT_IMAGE_TOO_LARGE, err,
                                 "a file of %lld bytes; at most %lld are read",
                                 (long long)size_bytes, (long long)LEAT_IMAGE_FILE_BYTES_MAX);
    if (size_bytes >= 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0)
        code = look_at_jpeg(bytes, size_bytes, &found, reason, err);
    else if (size_bytes >= 8 && memcmp(bytes, png_magic, sizeof png_magic) == 0)
        code = look_at_png(bytes, size_bytes, &found, reason, err);
    else
        return leat_image_reject(reason, LEAT_IMAGE_NOT_AN_IMAGE, err, "%s",
                                 size_bytes == 0 ? "empty" : name_of(bytes, size_bytes));
    if (code == LEAT_OK) *header = found;
    return code;
}
