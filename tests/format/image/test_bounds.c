/*
 * What is accepted with a remark, what is refused by a bound, and what is never taken for a
 * picture: scans that are missing, bytes around a JPEG's segments, transparent pixels of every
 * kind, files that are small and claim or become much, and the names of other formats.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "check.h"
#include "image_libraries.h"
#include "picture_support.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define REMARK(name) (1U << LEAT_IMAGE_##name)

static void add(leat_buf *to, const void *bytes, int64_t size_bytes) {
    assert_ok(leat_buf_append(to, bytes, size_bytes, err));
}

/* Decodes, with the background, or fails with the reason and words. */
static image_pixels decode(const leat_buf *bytes, int32_t background) {
    image_pixels pixels;
    leat_image_reason reason;
    image_background = background;
    assert_ok(image_decode(bytes->data, bytes->size, &pixels, &reason, err));
    image_background = LEAT_IMAGE_DROP_ALPHA;
    return pixels;
}

static void refuse(const leat_buf *bytes, leat_image_reason expected, const char *words) {
    image_pixels pixels;
    leat_image_reason reason = LEAT_IMAGE_GOOD;
    leat_error err_now = {0};
    leat_code code = image_decode(bytes->data, bytes->size, &pixels, &reason, &err_now);
    if (code != LEAT_ERR_INPUT || reason != expected || strstr(err_now.message, words) == NULL)
        fail_msg("code %d, %s: %s", code, leat_image_reason_name(reason), err_now.message);
}

static leat_buf golden(const char *name) {
    leat_buf bytes = {0};
    int64_t size = 0;
    uint8_t *data = image_golden(name, &size);
    add(&bytes, data, size);
    leat_free(data);
    return bytes;
}

/* ---- JPEG ----------------------------------------------------------------------------------- */

/* Where the n-th scan ends, after which the end follows or the tables of the next. */
static int64_t scan_end(const leat_buf *jpeg, int scan) {
    int64_t at = 2;
    for (; at < jpeg->size - 1; at++) {
        if (jpeg->data[at] != 0xff || jpeg->data[at + 1] != 0xda || --scan >= 0) continue;
        at += 2;
        while (jpeg->data[at] != 0xff || jpeg->data[at + 1] == 0 ||
               (jpeg->data[at + 1] >= 0xd0 && jpeg->data[at + 1] <= 0xd7))
            at++;
        return at;
    }
    return -1;
}

/* The first scans alone, with a valid end: no decoder reports anything. */
static void missing_scans(void **state) {
    (void)state;
    static const char *const names[] = {"progressive.jpg", "grey_progressive.jpg",
                                        "cmyk_progressive.jpg", "three_scans.jpg"};
    for (size_t i = 0; i < COUNT(names); i++) {
        leat_buf whole = golden(names[i]);
        int scans = 0;
        while (scan_end(&whole, scans) >= 0) scans++;
        assert_true(scans > 2);
        for (int scan = 0; scan < scans; scan++) {
            leat_buf part = {0};
            add(&part, whole.data, scan_end(&whole, scan));
            if (scan == scans - 1) { /* without an end it is complete as well */
                image_pixels pixels = decode(&part, LEAT_IMAGE_DROP_ALPHA);
                assert_int_equal(pixels.header.remarks, REMARK(NO_END));
                leat_free(pixels.rgb);
            } else {
                refuse(&part, LEAT_IMAGE_TRUNCATED, "the JPEG ends after");
                add(&part, "\xff\xd9", 2);
                refuse(&part, LEAT_IMAGE_INCOMPLETE, "scans are missing at the end of the");
            }
            leat_buf_free(&part);
        }
        leat_buf_free(&whole);
    }
}

/* Bytes put into a JPEG, where no pixel depends on them, and where one may. */
static void bytes_around_segments(void **state) {
    (void)state;
    leat_buf base = golden("420.jpg");
    image_pixels want = decode(&base, LEAT_IMAGE_DROP_ALPHA);
    const int64_t pixels_bytes = (int64_t)want.width * want.height * 3;
    const struct {
        int64_t at; /* where they are put; from the end if negative */
        const char *bytes;
        uint32_t remarks;
    } cases[] = {
        {20, "xyz", REMARK(EXTRANEOUS)}, /* after the first segment, JFIF */
        /* more than the decoder reads ahead */
        {-2, "\x12\x34\x56\x12\x34\x56\x12\x34\x56\x12\x34\x56", REMARK(EXTRANEOUS)},
        {-2, "\xff\xff\xff", 0}, /* fill bytes belong there */
        {base.size, "\n", REMARK(AFTER_END)},
        {base.size, "\xff\xd8\xff", REMARK(AFTER_END)},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        leat_buf bytes = {0};
        const int64_t at = cases[i].at < 0 ? base.size + cases[i].at : cases[i].at;
        add(&bytes, base.data, at);
        add(&bytes, cases[i].bytes, (int64_t)strlen(cases[i].bytes));
        add(&bytes, base.data + at, base.size - at);
        image_pixels got = decode(&bytes, LEAT_IMAGE_DROP_ALPHA);
        assert_int_equal(got.header.remarks, cases[i].remarks);
        assert_memory_equal(got.rgb, want.rgb, (size_t)pixels_bytes);
        leat_free(got.rgb);
        leat_buf_free(&bytes);
    }
    leat_free(want.rgb);
    leat_buf_free(&base);
    /* between scans they are what a damaged scan has left over */
    leat_buf scans = golden("progressive.jpg"), bytes = {0};
    const int64_t at = scan_end(&scans, 0);
    add(&bytes, scans.data, at);
    add(&bytes, "more than is read ahead", 23);
    add(&bytes, scans.data + at, scans.size - at);
    refuse(&bytes, LEAT_IMAGE_DAMAGED, "extraneous bytes");
    leat_buf_free(&bytes);
    leat_buf_free(&scans);
}

static void jpeg_bounds(void **state) {
    (void)state;
    leat_buf base = golden("420.jpg");
    for (int after = 0; after < 2; after++) {
        for (int count = 900; count <= 1001; count += 101) {
            leat_buf bytes = {0};
            const int64_t at = after ? base.size - 2 : 2;
            add(&bytes, base.data, at);
            for (int i = 0; i < count; i++) add(&bytes, "\xff\xfe\0\2", 4);
            add(&bytes, base.data + at, base.size - at);
            if (count > 1000) {
                refuse(&bytes, LEAT_IMAGE_TOO_LARGE, "more than 1000 markers");
            } else {
                image_pixels pixels = decode(&bytes, LEAT_IMAGE_DROP_ALPHA);
                leat_free(pixels.rgb);
            }
            leat_buf_free(&bytes);
        }
    }
    leat_buf_free(&base);
}

/* Two pictures, as the index of the Multi-Picture Format says: the first is read. */
static void several_jpegs(void **state) {
    (void)state;
    static const uint8_t index[] = {0xff, 0xe2, 0, 32, 'M', 'P', 'F',  0, 'M', 'M', 0, '*',
                                    0,    0,    0, 8,  0,   1,   0xb0, 1, 0,   4,   0, 0,
                                    0,    1,    0, 0,  0,   2,   0,    0, 0,   0};
    leat_buf base = golden("444.jpg"), bytes = {0};
    image_pixels want = decode(&base, LEAT_IMAGE_DROP_ALPHA);
    add(&bytes, base.data, 2);
    add(&bytes, index, sizeof index);
    add(&bytes, base.data + 2, base.size - 2);
    add(&bytes, base.data, base.size);
    image_pixels got = decode(&bytes, LEAT_IMAGE_DROP_ALPHA);
    assert_int_equal(got.header.remarks, REMARK(SEVERAL));
    assert_memory_equal(got.rgb, want.rgb, (size_t)want.width * (size_t)want.height * 3);
    leat_free(want.rgb);
    leat_free(got.rgb);
    leat_buf_free(&base);
    leat_buf_free(&bytes);
}

/* ---- PNG ------------------------------------------------------------------------------------ */

static void put_number(uint8_t out[4], uint32_t number) {
    for (int i = 0; i < 4; i++) out[i] = (uint8_t)(number >> (24 - 8 * i));
}

static void add_chunk(leat_buf *png, const char *type, const void *data, int64_t size_bytes) {
    uint8_t number[4];
    put_number(number, (uint32_t)size_bytes);
    add(png, number, 4);
    const int64_t from = png->size;
    add(png, type, 4);
    if (size_bytes > 0) add(png, data, size_bytes);
    put_number(number, (uint32_t)crc32(0, png->data + from, (uInt)(png->size - from)));
    add(png, number, 4);
}

static void add_deflated(leat_buf *png, const char *type, const char *before, int64_t before_bytes,
                         const uint8_t *data, int64_t size_bytes) {
    leat_buf packed = {0};
    uLongf packed_bytes = compressBound((uLong)size_bytes);
    uint8_t *out = malloc(packed_bytes);
    assert_non_null(out);
    assert_int_equal(compress2(out, &packed_bytes, data, (uLong)size_bytes, 9), Z_OK);
    if (before_bytes > 0) add(&packed, before, before_bytes);
    add(&packed, out, (int64_t)packed_bytes);
    add_chunk(png, type, packed.data, packed.size);
    leat_buf_free(&packed);
    free(out);
}

static leat_buf png_begin(int32_t width, int32_t height, int depth, int colour) {
    leat_buf png = {0};
    uint8_t header[13] = {0};
    put_number(header, (uint32_t)width);
    put_number(header + 4, (uint32_t)height);
    header[8] = (uint8_t)depth;
    header[9] = (uint8_t)colour;
    add(&png, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(&png, "IHDR", header, sizeof header);
    return png;
}

static void png_end(leat_buf *png, const uint8_t *rows, int64_t rows_bytes) {
    add_deflated(png, "IDAT", NULL, 0, rows, rows_bytes);
    add_chunk(png, "IEND", NULL, 0);
}

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6 };

/* One row of two pixels, the first of which is transparent: what is stored, and on white. */
static const struct {
    int colour, depth;
    const char *row; /* after its filter */
    int row_bytes;
    const char *transparency;
    int transparency_bytes;
    uint8_t dropped[6], on_white[6];
} transparent[] = {
    {PALETTE, 1, "\x40", 1, "\0", 1, {10, 20, 30, 40, 50, 60}, {255, 255, 255, 40, 50, 60}},
    {PALETTE, 2, "\x10", 1, "\0", 1, {10, 20, 30, 40, 50, 60}, {255, 255, 255, 40, 50, 60}},
    {PALETTE, 4, "\x01", 1, "\0", 1, {10, 20, 30, 40, 50, 60}, {255, 255, 255, 40, 50, 60}},
    {PALETTE, 8, "\0\1", 2, "\x80", 1, {10, 20, 30, 40, 50, 60}, {132, 137, 142, 40, 50, 60}},
    {GREY, 1, "\x40", 1, "\0\0", 2, {0, 0, 0, 255, 255, 255}, {255, 255, 255, 255, 255, 255}},
    {GREY, 2, "\x10", 1, "\0\0", 2, {0, 0, 0, 85, 85, 85}, {255, 255, 255, 85, 85, 85}},
    {GREY, 4, "\x12", 1, "\0\1", 2, {17, 17, 17, 34, 34, 34}, {255, 255, 255, 34, 34, 34}},
    {GREY, 8, "\7\x09", 2, "\0\7", 2, {7, 7, 7, 9, 9, 9}, {255, 255, 255, 9, 9, 9}},
    {GREY,
     16,
     "\x40\1\x40\2",
     4,
     "\x40\1",
     2,
     {64, 64, 64, 64, 64, 64},
     {255, 255, 255, 64, 64, 64}},
    {RGB, 8, "\1\2\3\4\5\6", 6, "\0\1\0\2\0\3", 6, {1, 2, 3, 4, 5, 6}, {255, 255, 255, 4, 5, 6}},
    {RGB,
     16,
     "\x41\0\x42\0\x43\1\x41\0\x42\0\x43\2",
     12,
     "\x41\0\x42\0\x43\1",
     6,
     {65, 66, 67, 65, 66, 67},
     {255, 255, 255, 65, 66, 67}},
    {GREY_ALPHA, 8, "\x09\0\x08\xff", 4, NULL, 0, {9, 9, 9, 8, 8, 8}, {255, 255, 255, 8, 8, 8}},
    {RGBA,
     8,
     "\xff\0\xff\0\4\5\6\xff",
     8,
     NULL,
     0,
     {255, 0, 255, 4, 5, 6},
     {255, 255, 255, 4, 5, 6}},
    {RGBA,
     16,
     "\x50\0\x51\0\x52\0\0\0\x53\0\x54\0\x55\0\xff\xff",
     16,
     NULL,
     0,
     {80, 81, 82, 83, 84, 85},
     {255, 255, 255, 83, 84, 85}},
};

static void transparent_pixels(void **state) {
    (void)state;
    static const uint8_t palette[] = {10, 20, 30, 40, 50, 60};
    for (size_t i = 0; i < COUNT(transparent); i++) {
        leat_buf png = png_begin(2, 1, transparent[i].depth, transparent[i].colour), rows = {0};
        if (transparent[i].colour == PALETTE) add_chunk(&png, "PLTE", palette, sizeof palette);
        if (transparent[i].transparency != NULL)
            add_chunk(&png, "tRNS", transparent[i].transparency, transparent[i].transparency_bytes);
        add(&rows, "\0", 1);
        add(&rows, transparent[i].row, transparent[i].row_bytes);
        png_end(&png, rows.data, rows.size);
        for (int white = 0; white < 2; white++) {
            image_pixels got = decode(&png, white ? 0xffffff : LEAT_IMAGE_DROP_ALPHA);
            const uint8_t *want = white ? transparent[i].on_white : transparent[i].dropped;
            if (memcmp(got.rgb, want, 6) != 0)
                fail_msg("case %d, white %d: %d %d %d, %d %d %d", (int)i, white, got.rgb[0],
                         got.rgb[1], got.rgb[2], got.rgb[3], got.rgb[4], got.rgb[5]);
            assert_int_equal(got.header.remarks, REMARK(TRANSPARENT));
            leat_free(got.rgb);
        }
        leat_buf_free(&rows);
        leat_buf_free(&png);
    }
}

/* Alpha that no pixel uses is no remark, and red on a background of its own. */
static void opaque_pixels(void **state) {
    (void)state;
    leat_buf png = png_begin(1, 1, 8, RGBA);
    png_end(&png, (const uint8_t *)"\0\x64\0\0\xff", 5);
    image_pixels got = decode(&png, 0x00ff00);
    assert_memory_equal(got.rgb, "\x64\0\0", 3);
    assert_int_equal(got.header.remarks, 0);
    leat_free(got.rgb);
    leat_buf_free(&png);
    png = png_begin(1, 1, 8, RGBA);
    png_end(&png, (const uint8_t *)"\0\x64\0\0\x33", 5); /* a fifth */
    got = decode(&png, 0x00ff0a);
    assert_memory_equal(got.rgb, "\x14\xcc\x08", 3);
    leat_free(got.rgb);
    leat_buf_free(&png);
}

static void low_range(void **state) {
    (void)state;
    static const struct {
        const char *row;
        uint32_t remarks;
    } cases[] = {{"\0\x1f\xff\0\x10", REMARK(LOW_RANGE)}, {"\0\x1f\xff\x20\x00", 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        leat_buf png = png_begin(2, 1, 16, GREY);
        png_end(&png, (const uint8_t *)cases[i].row, 5);
        image_pixels got = decode(&png, LEAT_IMAGE_DROP_ALPHA);
        assert_int_equal(got.header.remarks, cases[i].remarks);
        leat_free(got.rgb);
        leat_buf_free(&png);
    }
    leat_buf png = png_begin(2, 1, 8, GREY); /* dark, but not by mistake */
    png_end(&png, (const uint8_t *)"\0\1\2", 3);
    image_pixels got = decode(&png, LEAT_IMAGE_DROP_ALPHA);
    assert_int_equal(got.header.remarks, 0);
    leat_free(got.rgb);
    leat_buf_free(&png);
}

static void several_pngs(void **state) {
    (void)state;
    for (int pictures = 1; pictures <= 2; pictures++) {
        uint8_t control[8] = {0, 0, 0, (uint8_t)pictures};
        leat_buf png = png_begin(1, 1, 8, GREY);
        add_chunk(&png, "acTL", control, sizeof control);
        png_end(&png, (const uint8_t *)"\0\7", 2);
        image_pixels got = decode(&png, LEAT_IMAGE_DROP_ALPHA);
        assert_int_equal(got.header.remarks, pictures > 1 ? REMARK(SEVERAL) : 0);
        leat_free(got.rgb);
        leat_buf_free(&png);
    }
}

/* Of two blocks of EXIF data the first counts, even if it does not name an orientation. */
static void first_exif_wins(void **state) {
    (void)state;
    const char *const without = "II*\0\x08\0\0\0\0\0\0\0\0\0";
    const char *const turned = "II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0";
    for (int way = 0; way < 5; way++) {
        leat_buf png = png_begin(2, 1, 8, GREY);
        /* ways 3 and 4: as in a JPEG, once and twice, which Pillow strips */
        char marked[12 + 26] = "Exif\0\0Exif\0";
        memcpy(marked + 12, turned, 26);
        if (way > 2) add_chunk(&png, "eXIf", marked + (way == 3 ? 6 : 0), way == 3 ? 32 : 38);
        if (way == 1) add_chunk(&png, "eXIf", without, 14);
        if (way == 1 || way == 2) add_chunk(&png, "eXIf", turned, 26);
        if (way == 2) add_chunk(&png, "tEXt", "a\0b", 3);
        png_end(&png, (const uint8_t *)"\0\1\2", 3);
        leat_image_header header;
        leat_image_reason reason;
        assert_ok(leat_image_look(png.data, png.size, &header, &reason, err));
        assert_int_equal(header.orientation, way >= 2 ? 6 : 1);
        leat_buf_free(&png);
    }
}

/* ---- a PNG that becomes much ---------------------------------------------------------------- */

/* One stream of the pixels and 100 MB after them, which libpng would inflate with the last row. */
static void png_bomb(void **state) {
    (void)state;
    const int64_t much = 100 * 1000 * 1000;
    uint8_t *zeros = calloc(1, (size_t)much);
    assert_non_null(zeros);
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        for (int side = 1; side <= 8; side += 7) {
            leat_buf png = png_begin(side, side, 8, GREY);
            png.data[28] = (uint8_t)interlaced;
            put_number(png.data + 29, (uint32_t)crc32(0, png.data + 12, 17));
            const int64_t from = png.size;
            png_end(&png, zeros, 1000 * 1000);
            image_pixels got = decode(&png, LEAT_IMAGE_DROP_ALPHA);
            leat_free(got.rgb);
            png.size = from;
            png_end(&png, zeros, much);
            refuse(&png, LEAT_IMAGE_TOO_LARGE, "bytes of deflated data after its last pixel");
            leat_buf_free(&png);
        }
    }
    free(zeros);
}

/* What little is there of a large picture is not worth inflating, with or without an end. */
static void png_without_end(void **state) {
    (void)state;
    enum { SIDE = 4096 };
    const int64_t rows_bytes = (int64_t)SIDE * (SIDE + 1);
    uint8_t *zeros = calloc(1, (size_t)rows_bytes);
    assert_non_null(zeros);
    leat_buf png = png_begin(SIDE, SIDE, 8, GREY);
    add_deflated(&png, "IDAT", NULL, 0, zeros, rows_bytes);
    refuse(&png, LEAT_IMAGE_TRUNCATED, "too few for its pixels");
    png.size -= 10; /* within the chunk */
    refuse(&png, LEAT_IMAGE_TRUNCATED, "too few for its pixels");
    leat_buf_free(&png);
    free(zeros);
}

static void png_bounds(void **state) {
    (void)state;
    enum { SIDE = 4096, TEXT = 64 << 10 };
    const int64_t rows_bytes = (int64_t)SIDE * (SIDE + 1);
    uint8_t *zeros = calloc(1, (size_t)rows_bytes);
    assert_non_null(zeros);
    leat_buf png = png_begin(SIDE, SIDE, 8, GREY);
    png_end(&png, zeros, rows_bytes);
    refuse(&png, LEAT_IMAGE_TOO_LARGE, "at most 1000:1");
    leat_buf_free(&png);
    /* a blank page of a size in use */
    png = png_begin(1000, 1000, 8, GREY);
    png_end(&png, zeros, 1000 * 1001);
    image_pixels got = decode(&png, LEAT_IMAGE_DROP_ALPHA);
    leat_free(got.rgb);
    leat_buf_free(&png);
    /* few pixels, and much after them */
    png = png_begin(8, 8, 8, GREY);
    png_end(&png, zeros, rows_bytes);
    got = decode(&png, LEAT_IMAGE_DROP_ALPHA); /* 16 KiB that are not needed */
    leat_free(got.rgb);
    leat_buf_free(&png);
    png = png_begin(8, 8, 8, GREY);
    add_deflated(&png, "IDAT", NULL, 0, zeros, 8 * 9);
    add_chunk(&png, "IDAT", zeros, 200000);
    add_chunk(&png, "IEND", NULL, 0);
    refuse(&png, LEAT_IMAGE_TOO_LARGE, "bytes of deflated data after its last pixel");
    leat_buf_free(&png);
    /* texts, as stored and inflated: one byte more than allowed, and as many as allowed */
    static const struct {
        const char *type, *before;
        int before_bytes;
    } texts[] = {{"tEXt", "k", 2},
                 {"zTXt", "k\0", 3},
                 {"iTXt", "k\0\1\0de\0k", 9},
                 {"zTXt", "XML:com.adobe.xmp\0", 19},
                 {"iTXt", "Raw profile type exif\0\1\0\0", 26}};
    for (size_t i = 0; i < 2 * COUNT(texts); i++) {
        const bool much = i % 2 == 1, plain = i / 2 == 0;
        png = png_begin(2, 1, 8, GREY);
        if (plain) add_chunk(&png, "tEXt", zeros, TEXT + much);
        else
            add_deflated(&png, texts[i / 2].type, texts[i / 2].before, texts[i / 2].before_bytes,
                         zeros, TEXT + much);
        png_end(&png, (const uint8_t *)"\0\1\2", 3);
        if (much) {
            refuse(&png, LEAT_IMAGE_TOO_LARGE, "a text chunk (");
        } else {
            got = decode(&png, LEAT_IMAGE_DROP_ALPHA);
            leat_free(got.rgb);
        }
        leat_buf_free(&png);
    }
    free(zeros);
    png = png_begin(2, 1, 8, GREY);
    for (int i = 0; i < 1001; i++) add_chunk(&png, "paDd", NULL, 0);
    png_end(&png, (const uint8_t *)"\0\1\2", 3);
    refuse(&png, LEAT_IMAGE_TOO_LARGE, "more than 1000 chunks");
    leat_buf_free(&png);
}

/* ---- other files ---------------------------------------------------------------------------- */

static void kinds(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *words;
        bool text;
    } cases[] = {
        {"GIF89a..........", "a GIF; convert it to PNG or JPEG", false},
        {"....ftypheic....", "an HEIC, as phones write it; convert it", false},
        {"....ftypavif....", "an AVIF; convert it", false},
        {"BM\1\2\3\4........", "a BMP; convert it", false},
        {"BMW and others\n", "text", true},
        {"SIMPLE  =                    T / FITS", "a FITS image; convert it", false},
        {"P2\n# by hand\n2 1\n255\n7 9\n", "a Netpbm image (PBM, PGM, PPM); convert", false},
        {"P1 2 1\n0 1\n", "a Netpbm image", false},
        {"P6\n2 1\n255\n\1\2\3\4\5\6", "a Netpbm image", false},
        {"P7\nWIDTH 2\nHEIGHT 1\n", "a Netpbm image", false},
        {"P2 of the paper\n", "text", true},
        {"%!PS-Adobe-3.0 EPSF-3.0\n", "a PostScript drawing; convert it", false},
        {"/* XPM */\nstatic char *a[] = {\n", "an XPM; convert it", false},
        {"NRRD0004\ntype: float\n", "an NRRD volume; write its slices", false},
        {" \n<!DOCTYPE html><html>", "an HTML page instead of the file", false},
        {"\xef\xbb\xbf<HTML lang=de>", "an HTML page instead of the file", false},
        {"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "git lfs pull", false},
        {"<?xml version=\"1.0\"?>\n<svg xmlns=", "an SVG drawing; convert it", false},
        {"<?xml version=\"1.0\"?>\n<annotation>", "text", true},
        {"name,label\na.jpg,1\n", "text", true},
        {"\1\2\3", "neither JPEG nor PNG", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        leat_buf bytes = {0};
        add(&bytes, cases[i].bytes, (int64_t)strlen(cases[i].bytes));
        refuse(&bytes, LEAT_IMAGE_NOT_AN_IMAGE, cases[i].words);
        assert_int_equal(leat_image_is_text(bytes.data, bytes.size), cases[i].text);
        leat_buf_free(&bytes);
    }
    assert_false(leat_image_is_text((const uint8_t *)"", 0));
}

int main(void) {
    if (image_libraries_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_scans),
        cmocka_unit_test(bytes_around_segments),
        cmocka_unit_test(jpeg_bounds),
        cmocka_unit_test(several_jpegs),
        cmocka_unit_test(transparent_pixels),
        cmocka_unit_test(opaque_pixels),
        cmocka_unit_test(low_range),
        cmocka_unit_test(several_pngs),
        cmocka_unit_test(first_exif_wins),
        cmocka_unit_test(png_bounds),
        cmocka_unit_test(png_bomb),
        cmocka_unit_test(png_without_end),
        cmocka_unit_test(kinds),
    };
    return cmocka_run_group_tests_name("bounds of images", tests, NULL, NULL);
}
