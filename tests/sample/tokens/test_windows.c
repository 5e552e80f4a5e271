/* The windowed order: every anchor once, blocks once, windows in order and not too large. */
#include <stdlib.h>

#include "base/rng.h"
#include "sample/tokens/windows.h"
#include "sample_support.h"

enum { BLOCKS_MAX = 300 };

typedef struct shape {
    int64_t blocks, anchors_max, batch, window_blocks;
} shape;
static const shape shapes[] = {
    {1, 1, 1, 1},     {1, 50, 4, 1},    {7, 9, 1, 3},  {40, 16, 8, 4},
    {300, 20, 16, 4}, {300, 3, 256, 2}, {5, 2, 64, 1}, /* more lanes than anchors */
    {64, 400, 3, 64},                                  /* one window a lane */
};

/* Blocks of 1 to anchors_max anchors. */
static leat_windows windows_of(const shape *of, uint64_t seed, int64_t first[BLOCKS_MAX + 1]) {
    first[0] = 0;
    for (int64_t i = 0; i < of->blocks; i++)
        first[i + 1] =
            first[i] + 1 + (int64_t)(leat_random(seed, 1, (uint64_t)i) % (uint64_t)of->anchors_max);
    return (leat_windows){.first = first,
                          .block_count = of->blocks,
                          .batch = of->batch,
                          .window_blocks = of->window_blocks,
                          .seed = seed};
}

static int64_t block_of(const leat_windows *windows, int64_t anchor) {
    int64_t block = 0;
    while (windows->first[block + 1] <= anchor) block++;
    return block;
}

/* Each context number has every anchor once an epoch; none is from another window's blocks. */
static void check_epoch(leat_window_epoch *epoch, int64_t number) {
    static const int64_t contexts[] = {0, 1, 9};
    const leat_windows *windows = epoch->windows;
    int64_t count = windows->first[windows->block_count];
    uint8_t *seen = calloc((size_t)count, 1);
    assert_non_null(seen);
    leat_window_epoch_begin(epoch, number);
    for (size_t c = 0; c < sizeof contexts / sizeof *contexts; c++) {
        memset(seen, 0, (size_t)count);
        for (int64_t p = 0; p < count; p++) {
            leat_window window = leat_window_of(epoch, p);
            int64_t anchor = leat_window_anchor(epoch, &window, contexts[c]);
            assert_in_range(anchor, 0, count - 1);
            assert_int_equal(seen[anchor]++, 0);
            int64_t block = block_of(windows, anchor), at = window.first_block;
            while (at <= window.last_block && leat_window_block(epoch, at) != block) at++;
            assert_true(at <= window.last_block);
        }
    }
    free(seen);
}

static void every_anchor_once(void **state) {
    (void)state;
    int64_t first[BLOCKS_MAX + 1];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        leat_windows windows = windows_of(&shapes[i], i, first);
        leat_window_epoch epoch;
        assert_int_equal(leat_window_epoch_create(&epoch, &windows, NULL), LEAT_OK);
        for (int64_t number = 0; number < 3; number++) check_epoch(&epoch, number);
        leat_window_epoch_destroy(&epoch);
    }
}

/* A lane goes through its windows one after the other, and through each block in one of them; only
 * the block at its border is shared, with the next lane. */
static void blocks_once(void **state) {
    (void)state;
    int64_t first[BLOCKS_MAX + 1];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        leat_windows windows = windows_of(&shapes[i], 100 + i, first);
        leat_window_epoch epoch;
        assert_int_equal(leat_window_epoch_create(&epoch, &windows, NULL), LEAT_OK);
        leat_window_epoch_begin(&epoch, 5);
        int64_t count = first[windows.block_count], read = 0, last_of_lane = -1;
        for (int64_t lane = 0; lane < windows.batch && lane < count; lane++) {
            leat_window before = {.number = -1};
            int64_t small = INT64_MAX, large = 0;
            for (int64_t p = lane; p < count; p += windows.batch) {
                leat_window window = leat_window_of(&epoch, p);
                assert_int_equal(window.lane, lane);
                if (window.number == before.number) {
                    assert_int_equal(window.place, before.place + 1);
                    before = window;
                    continue;
                }
                assert_int_equal(window.number, before.number + 1);
                assert_int_equal(window.place, 0);
                if (before.number >= 0) {
                    assert_int_equal(window.first_block, before.last_block + 1);
                    assert_int_equal(window.first, before.end);
                    assert_int_equal(before.place + 1, before.end - before.first);
                } else if (lane > 0) {
                    assert_in_range(window.first_block, last_of_lane, last_of_lane + 1);
                }
                int64_t blocks = window.last_block - window.first_block + 1;
                small = blocks < small ? blocks : small;
                large = blocks > large ? blocks : large;
                read += blocks;
                before = window;
            }
            last_of_lane = before.last_block;
            assert_true(large <= windows.window_blocks && large - small <= 1);
        }
        assert_int_equal(last_of_lane, windows.block_count - 1);
        assert_in_range(read, windows.block_count, windows.block_count + windows.batch - 1);
        leat_window_epoch_destroy(&epoch);
    }
}

/* Equal numbers, whatever was asked before; others for another seed, epoch or context. */
static void pure(void **state) {
    (void)state;
    int64_t first[BLOCKS_MAX + 1], a[64], b[64];
    leat_windows windows = windows_of(&shapes[4], 1, first);
    int same_epoch = 0, same_seed = 0, same_context = 0;
    leat_window_epoch epoch, other;
    assert_int_equal(leat_window_epoch_create(&epoch, &windows, NULL), LEAT_OK);
    leat_window_epoch_begin(&epoch, 7);
    for (int64_t p = 0; p < 64; p++) {
        leat_window window = leat_window_of(&epoch, p);
        a[p] = leat_window_anchor(&epoch, &window, 2);
        same_context += leat_window_anchor(&epoch, &window, 1) == a[p];
    }
    leat_window_epoch_begin(&epoch, 8);
    for (int64_t p = 0; p < 64; p++) {
        leat_window window = leat_window_of(&epoch, p);
        same_epoch += leat_window_anchor(&epoch, &window, 2) == a[p];
    }
    leat_window_epoch_begin(&epoch, 7);
    leat_windows again = windows;
    again.seed++;
    assert_int_equal(leat_window_epoch_create(&other, &again, NULL), LEAT_OK);
    leat_window_epoch_begin(&other, 7);
    for (int64_t p = 63; p >= 0; p--) {
        leat_window window = leat_window_of(&epoch, p);
        b[p] = leat_window_anchor(&epoch, &window, 2);
        window = leat_window_of(&other, p);
        same_seed += leat_window_anchor(&other, &window, 2) == a[p];
    }
    assert_memory_equal(a, b, sizeof a);
    assert_true(same_epoch < 4 && same_seed < 4 && same_context < 8);
    leat_window_epoch_destroy(&epoch);
    leat_window_epoch_destroy(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_anchor_once),
        cmocka_unit_test(blocks_once),
        cmocka_unit_test(pure),
    };
    return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
