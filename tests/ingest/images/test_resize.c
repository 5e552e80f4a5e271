/*
 * Resizing against its definition, computed pixel by pixel in the plainest way; the fast loops and
 * those for any processor give the same; the golden results of Pillow (golden/nn), equal.
 */
#include <jansson.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/rng.h"
#include "check.h"
#include "format/image/image.h"
#include "format/safetensors/safetensors.h"
#include "golden_files.h"
#include "ingest/images/resize.h"

static uint8_t *draw(int32_t width, int32_t height, uint64_t seed) {
    uint8_t *rgb = malloc((size_t)width * (size_t)height * 3);
    assert_non_null(rgb);
    for (int64_t i = 0; i < (int64_t)width * height * 3; i++) {
        uint64_t bits = leat_random_at(seed, (uint64_t)i);
        rgb[i] =
            (uint8_t)((bits >> 8 & 7) == 0 ? (bits & 1) * 255 : bits >> 16); /* with extremes */
    }
    return rgb;
}

/* ---- the definition ------------------------------------------------------------------------- */

typedef struct side {
    int in, whole, skip;
} side;

static side side_of(int size, int in, int shorter) {
    side s = {in, (int)((double)size * in / shorter), 0};
    s.skip = (int)nearbyint((s.whole - size) / 2.0); /* halves to even */
    return s;
}

/* The weight of input pixel i for pixel `out` of the whole resized side: times 2^22, rounded. */
static int64_t weight_of(const side *s, int out, int i, double *unrounded) {
    double scale = (double)s->in / s->whole, support = scale < 1 ? 1 : scale;
    double center = (out + 0.5) * scale, sum = 0;
    int begin = (int)(center - support + 0.5), end = (int)(center + support + 0.5);
    begin = begin < 0 ? 0 : begin;
    end = end > s->in ? s->in : end;
    *unrounded = 0;
    if (i < begin || i >= end) return 0;
    for (int k = begin; k < end; k++) {
        double far = fabs((k - center + 0.5) * (1.0 / support));
        sum += far < 1 ? 1 - far : 0;
    }
    double far = fabs((i - center + 0.5) * (1.0 / support));
    *unrounded = (far < 1 ? 1 - far : 0) / sum;
    return (int64_t)(0.5 + *unrounded * (1 << 22));
}

static uint8_t round_sum(int64_t sum) {
    int64_t level = (sum + (1 << 21)) >> 22;
    return (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level);
}

/* `exact`: the sums without rounding between the passes, for the distance from the ideal. */
static void define(const uint8_t *rgb, int width, int height, int size, uint8_t *out,
                   double *exact) {
    int shorter = width < height ? width : height;
    side x = side_of(size, width, shorter), y = side_of(size, height, shorter);
    uint8_t *rows = calloc((size_t)height, (size_t)size * 3);
    double *ideal = calloc((size_t)height, (size_t)size * 3 * sizeof *ideal), weight = 0;
    int64_t *weights = calloc((size_t)(width > height ? width : height), sizeof *weights);
    assert_true(rows != NULL && ideal != NULL && weights != NULL);
    for (int i = 0; i < size; i++) {
        for (int k = 0; k < width; k++) weights[k] = weight_of(&x, x.skip + i, k, &weight);
        for (int c = 0; c < 3; c++) {
            for (int r = 0; r < height; r++) {
                int64_t sum = 0;
                for (int k = 0; k < width; k++) sum += weights[k] * rgb[(r * width + k) * 3 + c];
                rows[(r * size + i) * 3 + c] = round_sum(sum);
                ideal[(r * size + i) * 3 + c] = (double)sum / (1 << 22);
            }
        }
    }
    for (int j = 0; j < size; j++) {
        for (int k = 0; k < height; k++) weights[k] = weight_of(&y, y.skip + j, k, &weight);
        for (int at = 0; at < size * 3; at++) {
            int64_t sum = 0;
            double whole = 0;
            for (int k = 0; k < height; k++) {
                sum += weights[k] * rows[k * size * 3 + at];
                whole += (double)weights[k] / (1 << 22) * ideal[k * size * 3 + at];
            }
            out[j * size * 3 + at] = round_sum(sum);
            exact[j * size * 3 + at] = whole;
        }
    }
    free(rows);
    free(ideal);
    free(weights);
}

/* ---- cases ---------------------------------------------------------------------------------- */

static void run(leat_resize *resize, const uint8_t *rgb, int width, int height, uint8_t *out) {
    assert_ok(leat_resize_begin(resize, width, height, out, err));
    for (int y = 0; y < height; y += 16)
        leat_resize_rows(resize, rgb + (int64_t)y * width * 3, height - y < 16 ? height - y : 16);
}

static void check_case(leat_resize *resize, int width, int height, int size) {
    const size_t bytes = (size_t)size * (size_t)size * 3;
    uint8_t *rgb = draw(width, height, (uint64_t)(width * 7919 + height)), *out = malloc(bytes);
    uint8_t *expected = malloc(bytes);
    double *exact = malloc(bytes * sizeof *exact);
    assert_true(out != NULL && expected != NULL && exact != NULL);
    define(rgb, width, height, size, expected, exact);
    for (int plain = 0; plain < 2; plain++) {
        leat_resize_use_plain(resize, plain == 1);
        for (int again = 0; again < 2; again++) { /* the second time with the tables of the first */
            memset(out, 0x5a, bytes);
            run(resize, rgb, width, height, out);
            for (size_t i = 0; i < bytes; i++)
                if (out[i] != expected[i])
                    fail_msg("%d x %d to %d, plain %d: byte %zu is %d, not %d", width, height, size,
                             plain, i, out[i], expected[i]);
        }
    }
    for (size_t i = 0; i < bytes; i++) assert_true(fabs(out[i] - exact[i]) < 1.001);
    free(exact);
    free(expected);
    free(out);
    free(rgb);
}

static void as_defined(void **state) {
    (void)state;
    static const int sizes[][2] = {
        {1, 1},   {2, 1},    {1, 3},     {7, 7},    {8, 8},   {9, 8},     {16, 16},  {17, 33},
        {31, 23}, {64, 64},  {64, 65},   {63, 200}, {80, 99}, {85, 64},   {128, 64}, {5, 300},
        {300, 5}, {129, 97}, {178, 218}, {1000, 3}, {2, 999}, {333, 100}, {48, 47},  {15, 160},
    };
    static const int targets[] = {8, 11, 64};
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        leat_resize *resize = NULL;
        assert_ok(leat_resize_create(&resize, targets[t], err));
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            check_case(resize, sizes[i][0], sizes[i][1], targets[t]);
        leat_resize_destroy(resize);
    }
    leat_resize_destroy(NULL);
}

static void drawn_sizes(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 40; i++) {
        int width = 1 + (int)leat_random_below(leat_random_at(3, 3 * i), 150);
        int height = 1 + (int)leat_random_below(leat_random_at(3, 3 * i + 1), 150);
        int size = 8 + (int)leat_random_below(leat_random_at(3, 3 * i + 2), 40);
        leat_resize *resize = NULL;
        assert_ok(leat_resize_create(&resize, size, err));
        check_case(resize, width, height, size);
        leat_resize_destroy(resize);
    }
}

/* Sides and crops as torchvision computes them. */
static void sides(void **state) {
    (void)state;
    static const struct {
        int32_t size, width, height;
        leat_resize_axis x, y;
    } cases[] = {
        {64, 640, 480, {640, 85, 10}, {480, 64, 0}},
        {64, 80, 99, {80, 64, 0}, {99, 79, 8}},
        {64, 178, 218, {178, 64, 0}, {218, 78, 7}},
        {64, 31, 23, {31, 86, 11}, {23, 64, 0}},
        {64, 96, 130, {96, 64, 0}, {130, 86, 11}},
        {64, 64, 64, {64, 64, 0}, {64, 64, 0}},
        {64, 64, 67, {64, 64, 0}, {67, 67, 2}},
        {64, 69, 64, {69, 69, 2}, {64, 64, 0}},
        {8, 65500, 1, {65500, 524000, 261996}, {1, 8, 0}},
        {1024, 1, 65500, {1, 1024, 0}, {65500, 67072000, 33535488}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_resize_axis axes[2];
        leat_resize_axes(cases[i].size, cases[i].width, cases[i].height, axes);
        const leat_resize_axis *expected[2] = {&cases[i].x, &cases[i].y};
        for (int k = 0; k < 2; k++) {
            assert_int_equal(axes[k].in, expected[k]->in);
            assert_int_equal(axes[k].whole, expected[k]->whole);
            assert_int_equal(axes[k].skip, expected[k]->skip);
        }
    }
}

/* The longest sides there are, of one level: the result is that level, within the rounding of up to
 * 16,375 weights. */
static void longest_sides(void **state) {
    (void)state;
    static const int sizes[][2] = {{LEAT_IMAGE_SIDE_MAX, 1}, {1, LEAT_IMAGE_SIDE_MAX}, {65500, 9}};
    uint8_t *rgb = malloc(65500 * 9 * 3), out[8 * 8 * 3];
    assert_non_null(rgb);
    memset(rgb, 255, 65500 * 9 * 3);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int plain = 0; plain < 2; plain++) {
            leat_resize *resize = NULL;
            assert_ok(leat_resize_create(&resize, 8, err));
            leat_resize_use_plain(resize, plain == 1);
            run(resize, rgb, sizes[i][0], sizes[i][1], out);
            for (size_t k = 0; k < sizeof out; k++) assert_int_equal(out[k], 255);
            leat_resize_destroy(resize);
        }
    }
    /* a reduction of a long side by itself: both sides long, few pixels are not */
    leat_resize *resize = NULL;
    leat_resize_axis axes[2];
    leat_resize_axes(8, 8191, 8191, axes);
    assert_int_equal(axes[0].whole, 8);
    assert_ok(leat_resize_create(&resize, 8, err));
    assert_ok(leat_resize_begin(resize, 8191, 8191, out, err));
    uint8_t *band = malloc(8191 * 16 * 3);
    assert_non_null(band);
    memset(band, 255, 8191 * 16 * 3);
    for (int y = 0; y < 8191; y += 16) leat_resize_rows(resize, band, 8191 - y < 16 ? 15 : 16);
    for (size_t k = 0; k < sizeof out; k++) assert_int_equal(out[k], 255);
    free(band);
    leat_resize_destroy(resize);
    free(rgb);
}

static void memory_as_estimated(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    static const int cases[][3] = {
        {64, 640, 480}, {64, 65500, 100}, {8, 100, 65500}, {1024, 3000, 2000}, {64, 10, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int size = cases[i][0], width = cases[i][1], height = cases[i][2];
        uint8_t *out = malloc((size_t)size * (size_t)size * 3);
        struct mallinfo2 before = mallinfo2();
        leat_resize *resize = NULL;
        assert_ok(leat_resize_create(&resize, size, err));
        assert_ok(leat_resize_begin(resize, width, height, out, err));
        struct mallinfo2 now = mallinfo2();
        size_t used = now.uordblks + now.hblkhd - before.uordblks - before.hblkhd;
        size_t most = (size_t)leat_resize_memory(size, width, height);
        if (used > most + 200 || used < most / 20)
            fail_msg("%d x %d to %d: %zu of %zu bytes", width, height, size, used, most);
        leat_resize_destroy(resize);
        free(out);
    }
}

/* ---- golden files --------------------------------------------------------------------------- */

typedef struct receiver {
    leat_resize *resize;
} receiver;

static leat_code take_rows(void *context, const uint8_t *rgb, int32_t rows, leat_error *err) {
    (void)err;
    leat_resize_rows(((receiver *)context)->resize, rgb, rows);
    return LEAT_OK;
}

static void read_golden(const char *name, uint8_t out[64 * 64 * 3]) {
    char path[512];
    uint8_t *bytes = NULL;
    int64_t size = 0;
    leat_image_header header;
    leat_image_reason reason;
    receiver to = {0};
    snprintf(path, sizeof path, "%s/%s",
             strncmp(name, "blood", 5) == 0 ? "data/images" : "golden/nn", name);
    path[strcspn(path, "|")] = 0;
    assert_ok(leat_file_load(golden_path(path), INT64_C(1) << 20, &bytes, &size, err));
    assert_ok(leat_image_look(bytes, size, &header, &reason, err));
    assert_ok(leat_resize_create(&to.resize, 64, err));
    assert_ok(leat_resize_begin(to.resize, header.width, header.height, out, err));
    assert_ok(leat_image_decode(bytes, size, &header, take_rows, &to, &reason, err));
    leat_resize_destroy(to.resize);
    leat_free(bytes);
}

/* All 19 files decoded and resized: not within one level of Pillow's result, but equal to it. */
static void golden_results(void **state) {
    (void)state;
    static const int64_t shape[] = {64, 64, 3};
    leat_safetensors *golden = NULL;
    leat_map *map = NULL;
    const char *file = golden_path("golden/nn/images.safetensors");
    assert_ok(leat_map_open(&map, file, err));
    assert_ok(leat_safetensors_read(&golden, file, err));
    int compared = 0;
    for (int64_t i = 0; i < leat_safetensors_count(golden); i++) {
        const leat_tensor *tensor = NULL;
        const char *name = leat_safetensors_at(golden, i)->name;
        uint8_t out[64 * 64 * 3];
        assert_ok(leat_safetensors_find(golden, name, LEAT_DTYPE_U8, 3, shape, &tensor, err));
        if (strcmp(name, "images/exif6.jpg") == 0) continue; /* not turned: the other one is */
        read_golden(name, out);
        const uint8_t *expected = leat_map_data(map) + tensor->offset;
        if (memcmp(out, expected, sizeof out) != 0) fail_msg("%s differs", name);
        compared++;
    }
    assert_int_equal(compared, 19);
    leat_safetensors_destroy(golden);
    leat_map_close(map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_defined),
        cmocka_unit_test(drawn_sizes),
        cmocka_unit_test(sides),
        cmocka_unit_test(longest_sides),
        cmocka_unit_test(memory_as_estimated),
        cmocka_unit_test(golden_results),
    };
    return cmocka_run_group_tests_name("resizing", tests, NULL, NULL);
}
