/* The order of images: every image once an epoch, whatever the epoch, and pinned numbers. */
#include <stdlib.h>

#include "batch/images/order.h"
#include "check.h"

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* Epochs first .. first + 2 hold each image once, in different orders. */
static void every_image_once(void **state) {
    (void)state;
    static const struct {
        uint64_t seed;
        int64_t count, first_epoch;
    } cases[] = {{0, 1, 0},     {0, 2, 0},       {1, 3, 7},
                 {7, 64, 0},    {7, 257, 1},     {UINT64_MAX, 1000, 12345},
                 {3, 17092, 0}, {5, 1000003, 2}, {9, 100, INT64_C(1) << 40}};
    for (int i = 0; i < COUNT(cases); i++) {
        int64_t count = cases[i].count, same = 0;
        uint8_t *seen = calloc((size_t)count, 1);
        int64_t *before = malloc((size_t)count * sizeof *before);
        for (int e = 0; e < 3; e++) {
            int64_t epoch = cases[i].first_epoch + e;
            for (int64_t k = 0; k < count; k++) {
                int64_t image = leat_image_at(cases[i].seed, count, epoch * count + k);
                assert_in_range(image, 0, count - 1);
                assert_int_equal(seen[image]++, e);
                same += e > 0 && before[k] == image;
                before[k] = image;
            }
        }
        /* two epochs share a place or two, not their order */
        if (count > 50) assert_in_range(same, 0, 20);
        free(seen);
        free(before);
    }
}

/* Runs of positions, also over the ends of epochs, are the positions one by one. */
static void runs(void **state) {
    (void)state;
    static const struct {
        int64_t count, first, n;
    } cases[] = {{10, 0, 10}, {10, 3, 40},      {1, 5, 20},
                 {7, 6, 2},   {1000, 999, 100}, {7, (INT64_C(1) << 50) + 3, 30},
                 {7, 3, 0}};
    for (int i = 0; i < COUNT(cases); i++) {
        int64_t out[100];
        leat_image_order order = {.seed = 42, .count = cases[i].count};
        leat_images_at(&order, cases[i].first, cases[i].n, out);
        for (int64_t k = 0; k < cases[i].n; k++)
            assert_int_equal(out[k], leat_image_at(42, cases[i].count, cases[i].first + k));
    }
}

/* Batches of all runs that were ever made depend on these numbers. */
static void pinned(void **state) {
    (void)state;
    static const int64_t expected[] = {7, 0,  11, 4, 8, 3,  6, 5, 2, 10, 9, 1,
                                       1, 10, 0,  3, 8, 11, 5, 6, 2, 9,  4, 7};
    int64_t out[COUNT(expected)];
    leat_image_order order = {.seed = 7, .count = 12};
    leat_images_at(&order, 0, COUNT(expected), out);
    assert_memory_equal(out, expected, sizeof out);
    assert_int_equal(leat_image_at(7, 202599, 0), 18777);
    assert_int_equal(leat_image_at(7, 202599, 202598), 42295);
    assert_int_equal(leat_image_at(7, 202599, INT64_C(1) << 45), 47695);
    assert_int_equal(leat_image_at(8, 202599, 0), 15751);
}

/* ---- windowed ------------------------------------------------------------------------------- */

static const leat_image_order windowed[] = {
    {.seed = 0, .count = 1, .image_bytes = 192, .window_bytes = 1 << 20},
    {.seed = 1, .count = 90, .image_bytes = 1728, .window_bytes = 1 << 20},    /* one window */
    {.seed = 2, .count = 5000, .image_bytes = 12288, .window_bytes = 1 << 20}, /* chunks of 1 */
    {.seed = 3, .count = 100003, .image_bytes = 1728, .window_bytes = 1 << 20},
    {.seed = UINT64_MAX, .count = 30011, .image_bytes = 12288, .window_bytes = 8 << 20},
    {.seed = 5, .count = 300, .image_bytes = 3 << 20, .window_bytes = 1 << 20}, /* larger images */
    {.seed = 6, .count = 20480, .image_bytes = 12288, .window_bytes = 12288 << 10}, /* no rest */
};

/* Epochs have each image once; windows have the images of their chunks, and follow each other. */
static void windows(void **state) {
    (void)state;
    for (int i = 0; i < COUNT(windowed); i++) {
        const leat_image_order *order = &windowed[i];
        leat_image_windows cut = leat_image_windows_of(order);
        int64_t bytes = order->count * order->image_bytes, all = 0;
        int64_t *window = malloc((size_t)order->count * sizeof *window);
        assert_in_range(cut.count, 1, cut.chunk_count);
        assert_true(cut.count == cut.chunk_count || bytes <= cut.count * order->window_bytes);
        for (int64_t epoch = 0; epoch < 3; epoch++) {
            for (int64_t k = 0; k < order->count; k++) window[k] = -1;
            for (int64_t w = 0; w < cut.count; w++) {
                int64_t end = leat_image_windows_begin(&cut, w + 1), its = 0;
                for (int64_t p = leat_image_windows_begin(&cut, w); p < end; p++) {
                    int64_t first = 0, last = 0;
                    leat_image_windows_chunk(order, epoch, p, &first, &last);
                    assert_true(first >= 0 && first < last && last <= order->count);
                    assert_int_equal(first % cut.chunk_images, 0);
                    its += last - first;
                    for (int64_t k = first; k < last; k++) {
                        assert_int_equal(window[k], -1);
                        window[k] = w;
                    }
                }
                assert_in_range(its, 1,
                                order->window_bytes / order->image_bytes + 2 * cut.chunk_images);
                all += its;
            }
            for (int64_t k = 0, now = 0; k < order->count; k++) {
                int64_t position = epoch * order->count + k;
                int64_t image = leat_image_in_order(order, position);
                assert_in_range(image, 0, order->count - 1);
                assert_int_equal(window[image], leat_image_windows_at(order, position));
                assert_in_range(window[image], now, now + 1);
                now = window[image];
                window[image] = cut.count; /* taken: no other position has it */
            }
        }
        assert_int_equal(all, 3 * order->count);
        free(window);
    }
}

/* Neighbours in the file are not neighbours in the run, and the last chunk is in any window. */
static void windows_mix(void **state) {
    (void)state;
    const leat_image_order *order = &windowed[4];
    leat_image_windows cut = leat_image_windows_of(order);
    int64_t neighbours = 0, before = -10, last_in[8] = {0};
    for (int64_t k = 0; k < order->count; k++) {
        int64_t image = leat_image_in_order(order, k);
        neighbours += image == before + 1 || image == before - 1;
        before = image;
    }
    assert_in_range(neighbours, 0, 150); /* 2 of some 700 in a window: 90 are expected */
    for (int64_t e = 0; e < 400; e++) {
        for (int64_t p = 0; p < cut.chunk_count; p++) {
            int64_t first = 0, end = 0;
            leat_image_windows_chunk(order, e, p, &first, &end);
            if (end == order->count) last_in[p * 8 / cut.chunk_count]++;
        }
    }
    for (int i = 0; i < 8; i++) assert_in_range(last_in[i], 25, 80); /* 50 each, 6.6 sigma */
}

static void windowed_runs(void **state) {
    (void)state;
    for (int i = 0; i < COUNT(windowed); i++) {
        int64_t out[300], first = windowed[i].count * 5 / 2;
        leat_images_at(&windowed[i], first, COUNT(out), out);
        for (int k = 0; k < COUNT(out); k++)
            assert_int_equal(out[k], leat_image_in_order(&windowed[i], first + k));
    }
}

static void windowed_pinned(void **state) {
    (void)state;
    static const int64_t expected[] = {54921, 80761, 66905, 33277, 53719, 67368,
                                       27496, 61430, 34310, 50144, 43167, 81141};
    int64_t out[COUNT(expected)];
    leat_images_at(&windowed[3], 99997, COUNT(expected), out); /* over the end of an epoch */
    assert_memory_equal(out, expected, sizeof out);
    assert_int_equal(leat_image_in_order(&windowed[3], 0), 50558);
    assert_int_equal(leat_image_in_order(&windowed[3], INT64_C(1) << 45), 61437);
}

static void pixels(void **state) {
    (void)state;
    const float *table = leat_pixel_table();
    for (int level = 0; level < LEAT_PIXEL_LEVELS; level++) {
        volatile float unit = (float)level / 255.0f;
        volatile float centered = unit - 0.5f;
        volatile float value = centered / 0.5f;
        assert_true(table[level] == value);
    }
    assert_true(table[0] == -1.0f && table[255] == 1.0f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_image_once), cmocka_unit_test(runs),
        cmocka_unit_test(pinned),           cmocka_unit_test(windows),
        cmocka_unit_test(windows_mix),      cmocka_unit_test(windowed_runs),
        cmocka_unit_test(windowed_pinned),  cmocka_unit_test(pixels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
