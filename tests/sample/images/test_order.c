/* The order of images: every image once an epoch, whatever the epoch, and pinned numbers. */
#include <stdlib.h>

#include "check.h"
#include "sample/images/order.h"

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
        leat_images_at(42, cases[i].count, cases[i].first, cases[i].n, out);
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
    leat_images_at(7, 12, 0, COUNT(expected), out);
    assert_memory_equal(out, expected, sizeof out);
    assert_int_equal(leat_image_at(7, 202599, 0), 18777);
    assert_int_equal(leat_image_at(7, 202599, 202598), 42295);
    assert_int_equal(leat_image_at(7, 202599, INT64_C(1) << 45), 47695);
    assert_int_equal(leat_image_at(8, 202599, 0), 15751);
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
        cmocka_unit_test(every_image_once),
        cmocka_unit_test(runs),
        cmocka_unit_test(pinned),
        cmocka_unit_test(pixels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
