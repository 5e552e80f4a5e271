/*
 * The header of a JPEG, and how many scans and markers follow it: each scan may go over the whole
 * picture, so a few bytes each would take hours.
 */
#include <string.h>

#include "format/image/parts.h"

/* Of the index of several pictures (MP Index IFD): NumberOfImages. */
#define TAG_PICTURES 0xb001

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
    MARKER_APP2 = 0xe2,
    MARKER_TEM = 0x01,
};

typedef struct jpeg_frame {
    int marker; /* 0: none yet */
    int components;
    int64_t blocks_bytes; /* of all its coefficients */
    leat_orientation orientation;
    int scans, markers; /* so far; restarts are not counted */
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
    int64_t height = leat_big_endian(segment + 1, 2), width = leat_big_endian(segment + 3, 2);
    LEAT_TRY(leat_image_check_size(width, height, reason, err));
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

static leat_code count_marker(jpeg_frame *frame, int marker, leat_image_reason *reason,
                              leat_error *err) {
    frame->scans += marker == MARKER_SOS;
    if (frame->scans > LEAT_IMAGE_SCANS_MAX)
        return leat_image_reject(reason, LEAT_IMAGE_TOO_LARGE, err, "more than %d scans",
                                 LEAT_IMAGE_SCANS_MAX);
    if (++frame->markers > LEAT_IMAGE_MARKERS_MAX)
        return leat_image_reject(reason, LEAT_IMAGE_TOO_LARGE, err, "more than %d markers",
                                 LEAT_IMAGE_MARKERS_MAX);
    return LEAT_OK;
}

/* From the data of the first scan to the end of the picture. */
static leat_code count_rest(jpeg_frame *frame, const uint8_t *bytes, int64_t size_bytes, int64_t at,
                            leat_image_reason *reason, leat_error *err) {
    while (at < size_bytes) {
        const uint8_t *found = memchr(bytes + at, 0xff, (size_t)(size_bytes - at));
        if (found == NULL || found == bytes + size_bytes - 1) break;
        const int marker = found[1];
        at = found - bytes + (marker == 0xff ? 1 : 2);
        if (marker == 0xff || marker == 0 || has_no_segment(marker)) continue;
        if (marker == MARKER_EOI) break;
        LEAT_TRY(count_marker(frame, marker, reason, err));
        if (at + 2 <= size_bytes) at += leat_big_endian(bytes + at, 2);
    }
    return LEAT_OK;
}

static void read_segment(int marker, const uint8_t *segment, int64_t segment_bytes,
                         leat_image_header *header, jpeg_frame *frame) {
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/"; /* and its NUL */
    const int64_t xmp_bytes = sizeof xmp;
    if (marker == MARKER_APP1 && segment_bytes >= 6 && memcmp(segment, "Exif\0\0", 6) == 0)
        leat_orientation_exif(&frame->orientation, segment + 6, segment_bytes - 6);
    if (marker == MARKER_APP1 && segment_bytes >= xmp_bytes &&
        memcmp(segment, xmp, sizeof xmp) == 0)
        leat_orientation_xmp(&frame->orientation, segment + xmp_bytes, segment_bytes - xmp_bytes);
    header->orientation = leat_orientation_of(&frame->orientation);
    /* the Multi-Picture Format of CIPA DC-007: the number of pictures in the file */
    if (marker == MARKER_APP2 && segment_bytes >= 4 && memcmp(segment, "MPF\0", 4) == 0 &&
        leat_tiff_number(segment + 4, segment_bytes - 4, TAG_PICTURES) > 1)
        header->remarks |= 1U << LEAT_IMAGE_SEVERAL;
}

leat_code leat_jpeg_look(const uint8_t *bytes, int64_t size_bytes, leat_image_header *header,
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
        LEAT_TRY(count_marker(&frame, marker, reason, err));
        if (at + 2 > size_bytes) break;
        int64_t segment_bytes = leat_big_endian(bytes + at, 2) - 2;
        if (segment_bytes < 0)
            return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err,
                                     "a segment of %lld bytes at byte %lld",
                                     (long long)segment_bytes + 2, (long long)at);
        const uint8_t *segment = bytes + at + 2;
        if (segment_bytes > size_bytes - at - 2) break;
        at += 2 + segment_bytes;
        if (is_frame(marker))
            LEAT_TRY(read_frame(marker, segment, segment_bytes, header, &frame, reason, err));
        read_segment(marker, segment, segment_bytes, header, &frame);
        if (marker != MARKER_SOS) continue;
        if (frame.marker == 0 || segment_bytes < 1)
            return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err, "a scan without %s header",
                                     frame.marker ? "its" : "a frame");
        LEAT_TRY(count_rest(&frame, bytes, size_bytes, at, reason, err));
        bool kept = frame.marker == MARKER_SOF2 || segment[0] < frame.components;
        leat_image_turn_header(header, false,
                               leat_jpeg_memory(header->width, kept ? frame.blocks_bytes : 0));
        return LEAT_OK;
    }
    return leat_image_reject(reason, LEAT_IMAGE_TRUNCATED, err,
                             "the JPEG ends after %lld bytes, before its first scan",
                             (long long)size_bytes);
}
