/* Pictures: golden files decode to the known pixels or are rejected for the known reason, damage is
 * never taken for a picture, and what leat writes reads back. */
#include <dlfcn.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/rng.h"
#include "check.h"
#include "image_libraries.h"
#include "leat/format.h"
#include "picture_support.h"

static const char *text_of(json_t *entry, const char *key) {
    return json_string_value(json_object_get(entry, key));
}

static int64_t number_of(json_t *entry, const char *key) {
    return json_integer_value(json_object_get(entry, key));
}

static void sha256_text(const void *bytes, int64_t size_bytes, char text[65]) {
    leat_sha256 sha;
    uint8_t digest[32];
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, bytes, size_bytes);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, text);
}

/* ---- golden files --------------------------------------------------------------------------- */

static json_t *load_index(void) {
    int64_t size = 0;
    uint8_t *text = image_golden("index.json", &size);
    json_t *index = json_loads((const char *)text, 0, NULL);
    leat_free(text);
    assert_true(json_array_size(index) > 90);
    return index;
}

static void check_good(json_t *entry, const image_pixels *pixels) {
    const char *name = text_of(entry, "file");
    char digest[65];
    sha256_text(pixels->rgb, (int64_t)pixels->width * pixels->height * 3, digest);
    if (pixels->width != number_of(entry, "width") || pixels->height != number_of(entry, "height"))
        fail_msg("%s: %d x %d", name, pixels->width, pixels->height);
    if (strcmp(digest, text_of(entry, "sha256")) != 0) fail_msg("%s: other pixels", name);
    if (pixels->heap_bytes > pixels->header.memory_bytes) fail_msg("%s: more memory", name);
}

static void golden_files(void **state) {
    (void)state;
    json_t *index = load_index(), *entry = NULL;
    size_t i = 0;
    json_array_foreach(index, i, entry) {
        const char *name = text_of(entry, "file"), *expected = text_of(entry, "reason");
        const char *what = text_of(entry, "what");
        if (text_of(entry, "library") != NULL && !LEAT_HAVE_WEBP) {
            expected = leat_image_reason_name(LEAT_IMAGE_NOT_AN_IMAGE);
            what = "a WebP, and this leat was built without libwebp; convert it";
        }
        int64_t size = 0;
        uint8_t *bytes = image_golden(name, &size);
        image_pixels pixels;
        leat_image_reason reason = LEAT_IMAGE_GOOD;
        leat_error err = {0};
        leat_code code = image_decode(bytes, size, &pixels, &reason, &err);
        if (expected == NULL) {
            if (code != LEAT_OK) fail_msg("%s: %s", name, err.message);
            check_good(entry, &pixels);
        } else if (code != LEAT_ERR_INPUT || err.message[0] == 0 ||
                   strcmp(leat_image_reason_name(reason), expected) != 0 ||
                   strstr(err.message, what) == NULL) {
            fail_msg("%s: code %d, %s: %s", name, code, leat_image_reason_name(reason),
                     err.message);
        }
        leat_free(pixels.rgb);
        leat_free(bytes);
    }
    json_decref(index);
}

/* Opened for the first file, libwebp stays open for the others. */
static void webp_stays_open(void **state) {
    (void)state;
    if (!LEAT_HAVE_WEBP) return;
    int64_t size = 0;
    uint8_t *bytes = image_golden("lossy.webp", &size);
    image_pixels pixels;
    leat_image_reason reason;
    leat_code code = image_decode(bytes, size, &pixels, &reason, NULL);
    void *library = dlopen("libwebp.so.7", RTLD_NOW | RTLD_NOLOAD);
    assert_true((code == LEAT_OK) == (library != NULL));
    if (library != NULL) dlclose(library);
    leat_free(pixels.rgb);
    leat_free(bytes);
}

/* ---- damage --------------------------------------------------------------------------------- */

typedef struct victim {
    const char *name;
    int64_t most; /* cuts at all bytes before this one, and at every 7th after it */
} victim;

static const victim victims[] = {
    {"420.jpg", 700},       {"progressive.jpg", 200},
    {"cmyk.jpg", 100},      {"three_scans.jpg", 100},
    {"restarts.jpg", 100},  {"exif_6.jpg", 150},
    {"rgb_8.png", 400},     {"exif_6_after.png", 100},
    {"palette_4.png", 300}, {"grey_16_interlaced.png", 100},
};

/* Every beginning of a file is rejected, most of them as truncated, except that of a JPEG which
 * lacks nothing but the marker of its end. */
static void cut_anywhere(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof victims / sizeof *victims; i++) {
        int64_t size = 0, truncated = 0, tried = 0;
        uint8_t *whole = image_golden(victims[i].name, &size);
        const bool jpeg = strstr(victims[i].name, ".jpg") != NULL;
        for (int64_t cut = 0; cut < size; cut += cut < victims[i].most ? 1 : 7, tried++) {
            image_pixels pixels;
            leat_image_reason reason = LEAT_IMAGE_GOOD;
            leat_error err = {0};
            uint8_t *bytes = malloc((size_t)cut + 1); /* exactly as many, for the sanitizer */
            assert_non_null(bytes);
            memcpy(bytes, whole, (size_t)cut);
            leat_code code = image_decode(bytes, cut, &pixels, &reason, &err);
            if (jpeg && cut >= size - 2) {
                assert_int_equal(code, LEAT_OK);
                assert_int_equal(pixels.header.remarks, 1U << LEAT_IMAGE_NO_END);
                leat_free(pixels.rgb);
            } else if (code != LEAT_ERR_INPUT || reason == LEAT_IMAGE_GOOD)
                fail_msg("%s, %d bytes: code %d: %s", victims[i].name, (int)cut, code, err.message);
            truncated += reason == LEAT_IMAGE_TRUNCATED;
            free(bytes);
        }
        assert_true(truncated > tried * 9 / 10);
        leat_free(whole);
    }
}

/* A changed bit gives a picture of the same or another size, or a reason; and of a PNG, whose
 * checksums cover everything but the magic and the lengths, always a reason. */
static void flipped_bits(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof victims / sizeof *victims; i++) {
        int64_t size = 0, rejected = 0;
        uint8_t *bytes = image_golden(victims[i].name, &size);
        bool png = strstr(victims[i].name, ".png") != NULL;
        for (uint64_t draw = 0; draw < 150; draw++) {
            image_pixels pixels;
            leat_image_reason reason = LEAT_IMAGE_GOOD;
            leat_error err = {0};
            uint64_t bit = leat_random_below(leat_random_at(i + 1, draw), (uint64_t)size * 8);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            leat_code code = image_decode(bytes, size, &pixels, &reason, &err);
            bool known = code == LEAT_OK || (code == LEAT_ERR_INPUT && reason != LEAT_IMAGE_GOOD);
            if (!known || (png && code == LEAT_OK))
                fail_msg("%s, bit %d: code %d: %s", victims[i].name, (int)bit, code, err.message);
            rejected += code != LEAT_OK;
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            leat_free(pixels.rgb);
        }
        assert_true(rejected > 10);
        leat_free(bytes);
    }
}

static leat_code refuse_third(void *context, const uint8_t *rgb, int32_t rows, leat_error *err) {
    int *calls = context;
    (void)rgb, (void)rows;
    if (++*calls < 3) return LEAT_OK;
    *err = (leat_error){LEAT_ERR_NO_SPACE, "enough"};
    return LEAT_ERR_NO_SPACE;
}

/* What the receiver of rows returns comes back, and is not a reason against the picture. */
static void receiver_fails(void **state) {
    (void)state;
    static const char *const names[] = {"440.jpg",   "exif_1.jpg", "exif_6.jpg",
                                        "gamma.png", "exif_6.png", "exif_6_after.png"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t size = 0;
        uint8_t *bytes = image_golden(names[i], &size);
        leat_image_header header;
        leat_image_reason reason = LEAT_IMAGE_DAMAGED;
        int calls = 0;
        assert_ok(leat_image_look(bytes, size, &header, &reason, err));
        int bands = (header.height + LEAT_IMAGE_BAND_ROWS - 1) / LEAT_IMAGE_BAND_ROWS;
        if (bands < 3) calls = 3 - bands;
        assert_fails(leat_image_decode(bytes, size, &header, refuse_third, &calls, &reason, err),
                     LEAT_ERR_NO_SPACE, "enough");
        assert_int_equal(reason, LEAT_IMAGE_GOOD);
        leat_free(bytes);
    }
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Decoding takes no more than the estimate from the header. The smallest takes 8 KiB in Debian 13.
 */
static void memory_as_estimated(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    static const int32_t sizes[][2] = {{16, 16}, {640, 480}, {3000, 40}, {1500, 1100}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int32_t width = sizes[i][0], height = sizes[i][1];
        uint8_t *rgb = image_draw(width, height, i);
        leat_buf jpeg = {0};
        leat_png *png = NULL;
        assert_ok(leat_jpeg_encode(rgb, width, height, 90, &jpeg, err));
        assert_ok(leat_png_encode(&png, rgb, width, height, err));
        for (int format = 0; format < 2; format++) {
            image_pixels pixels;
            leat_image_reason reason = LEAT_IMAGE_GOOD;
            int64_t size = jpeg.size;
            const uint8_t *bytes = format == 0 ? jpeg.data : leat_png_bytes(png, &size);
            assert_ok(image_decode(bytes, size, &pixels, &reason, err));
            assert_true(pixels.header.in_pieces);
            if (pixels.heap_bytes < 4096 || pixels.heap_bytes > pixels.header.memory_bytes)
                fail_msg("%d x %d, format %d: %lld of %lld bytes", width, height, format,
                         (long long)pixels.heap_bytes, (long long)pixels.header.memory_bytes);
            leat_free(pixels.rgb);
        }
        leat_png_destroy(png);
        leat_buf_free(&jpeg);
        free(rgb);
    }
}

/* Files whose pixels or coefficients must be kept say so. */
static void memory_of_whole_pictures(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool in_pieces;
        int64_t least; /* beyond a plain file's */
    } cases[] = {
        {"420.jpg", true, 0},
        {"progressive.jpg", true, 2 * 1 * 6 * 128},
        {"three_scans.jpg", true, 3 * 2 * 6 * 128},
        {"exif_6.jpg", false, 19 * 37 * 3},
        {"exif_7_progressive.jpg", false, 2 * 1 * 6 * 128 + 19 * 13 * 3},
        {"rgb_8.png", true, 0},
        {"rgb_8_interlaced.png", false, 11 * 7 * 3},
        {"exif_6.png", false, 20 * 35 * 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t size = 0;
        uint8_t *bytes = image_golden(cases[i].name, &size);
        leat_image_header header;
        leat_image_reason reason;
        assert_ok(leat_image_look(bytes, size, &header, &reason, err));
        assert_int_equal(header.in_pieces, cases[i].in_pieces);
        int64_t plain = (INT64_C(256) << 10) + (int64_t)header.width * 3 * LEAT_IMAGE_BAND_ROWS;
        assert_true(header.memory_bytes >= plain + cases[i].least);
        assert_true(header.memory_bytes < plain + cases[i].least + 50000);
        leat_free(bytes);
    }
}

/* ---- writing -------------------------------------------------------------------------------- */

static void png_reads_back(void **state) {
    (void)state;
    static const int32_t sizes[][2] = {{1, 1}, {17, 1}, {1, 40}, {300, 200}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int32_t width = sizes[i][0], height = sizes[i][1];
        uint8_t *rgb = image_draw(width, height, i);
        leat_png *png = NULL, *again = NULL;
        image_pixels pixels;
        leat_image_reason reason;
        int64_t size = 0, size_again = 0;
        assert_ok(leat_png_encode(&png, rgb, width, height, err));
        assert_ok(leat_png_encode(&again, rgb, width, height, err));
        const uint8_t *bytes = leat_png_bytes(png, &size);
        assert_memory_equal(bytes, leat_png_bytes(again, &size_again), (size_t)size);
        assert_int_equal(size, size_again);
        assert_ok(image_decode(bytes, size, &pixels, &reason, err));
        assert_int_equal(pixels.width, width);
        assert_int_equal(pixels.height, height);
        assert_memory_equal(pixels.rgb, rgb, (size_t)width * (size_t)height * 3);
        leat_free(pixels.rgb);
        leat_png_destroy(png);
        leat_png_destroy(again);
        free(rgb);
    }
    leat_png_destroy(NULL);
}

static void png_saved(void **state) {
    (void)state;
    char path[LEAT_PATH_BYTES - 10], folder[LEAT_PATH_BYTES];
    uint8_t *rgb = image_draw(9, 5, 1), *bytes = NULL;
    leat_png *png = NULL;
    int64_t size = 0, saved = 0;
    snprintf(path, sizeof path, "%s/test_image_%d.png", LEAT_BINARY_DIR, (int)getpid());
    assert_ok(leat_png_save(path, rgb, 9, 5, false, err));
    assert_ok(leat_png_encode(&png, rgb, 9, 5, err));
    const uint8_t *expected = leat_png_bytes(png, &size);
    assert_ok(leat_file_load(path, 1 << 20, &bytes, &saved, err));
    assert_int_equal(saved, size);
    assert_memory_equal(bytes, expected, (size_t)size);
    leat_free(bytes);
    assert_ok(leat_png_save(path, rgb, 9, 5, false, err)); /* its own */
    snprintf(folder, sizeof folder, "%s/x.png", path);
    assert_fails(leat_png_save(folder, rgb, 9, 5, false, err), LEAT_ERR_EXISTS, "x.png");
    /* a picture of somebody else */
    bytes = image_golden("rgb_8.png", &saved);
    assert_ok(leat_file_save(path, bytes, saved, err));
    assert_fails(leat_png_save(path, rgb, 9, 5, false, err), LEAT_ERR_EXISTS, "a PNG that leat");
    free(bytes);
    assert_ok(leat_png_save(path, rgb, 9, 5, true, err));
    assert_ok(leat_text_can_save(path, LEAT_MARK_PNG, false, err));
    leat_path_discard(path);
    leat_png_destroy(png);
    free(rgb);
}

static void sizes_refused(void **state) {
    (void)state;
    static const int32_t sizes[][2] = {{0, 5}, {5, 0}, {-1, 5}, {65501, 1}, {1, 65501}};
    uint8_t pixel[3] = {0};
    leat_png *png = NULL;
    leat_buf out = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int32_t width = sizes[i][0], height = sizes[i][1];
        assert_fails(leat_png_encode(&png, pixel, width, height, err), LEAT_ERR_OPTION, "a side");
        assert_null(png);
        assert_fails(leat_jpeg_encode(pixel, width, height, 90, &out, err), LEAT_ERR_OPTION,
                     "not possible");
    }
    assert_fails(leat_png_encode(&png, pixel, 8193, 8192, err), LEAT_ERR_OPTION,
                 "at most 67108864");
    assert_fails(leat_jpeg_encode(pixel, 1, 1, 0, &out, err), LEAT_ERR_OPTION, "quality 0");
    assert_fails(leat_jpeg_encode(pixel, 1, 1, 101, &out, err), LEAT_ERR_OPTION, "quality 101");
    assert_null(out.data);
}

/* The mean difference of levels. */
static double distance(const uint8_t *a, const uint8_t *b, int64_t count) {
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) sum += abs(a[i] - b[i]);
    return (double)sum / (double)count;
}

static void jpeg_reads_back(void **state) {
    (void)state;
    const int32_t width = 178, height = 218;
    const int64_t count = (int64_t)width * height * 3;
    static const int qualities[] = {100, 90, 30};
    uint8_t *rgb = image_draw(width, height, 4);
    int64_t size_before = INT64_MAX;
    double far_before = 0;
    for (size_t i = 0; i < sizeof qualities / sizeof *qualities; i++) {
        leat_buf one = {0}, two = {0};
        image_pixels pixels;
        leat_image_reason reason;
        assert_ok(leat_jpeg_encode(rgb, width, height, qualities[i], &one, err));
        assert_ok(leat_buf_append(&two, "abc", 3, err));
        assert_ok(leat_jpeg_encode(rgb, width, height, qualities[i], &two, err));
        assert_int_equal(two.size, one.size + 3); /* it is appended */
        assert_memory_equal(two.data + 3, one.data, (size_t)one.size);
        assert_ok(image_decode(one.data, one.size, &pixels, &reason, err));
        assert_int_equal(pixels.width, width);
        double far = distance(pixels.rgb, rgb, count);
        assert_true(one.size < size_before && far > far_before && far < 10);
        size_before = one.size;
        far_before = far;
        leat_free(pixels.rgb);
        leat_buf_free(&one);
        leat_buf_free(&two);
    }
    free(rgb);
}

int main(void) {
    if (image_libraries_missing()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_files),
        cmocka_unit_test(webp_stays_open),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(receiver_fails),
        cmocka_unit_test(memory_as_estimated),
        cmocka_unit_test(memory_of_whole_pictures),
        cmocka_unit_test(png_reads_back),
        cmocka_unit_test(png_saved),
        cmocka_unit_test(sizes_refused),
        cmocka_unit_test(jpeg_reads_back),
    };
    return cmocka_run_group_tests_name("images", tests, NULL, NULL);
}
