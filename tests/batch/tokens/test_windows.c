/* The windowed order: every anchor once, blocks once, windows in order and not too large. */
#include <stdlib.h>

#include "base/rng.h"
#include "batch/tokens/windows.h"
#include "batch_support.h"

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

static int64_t find(const leat_window_epoch *epoch, int64_t position, leat_window *window) {
    int64_t place = -1;
    assert_int_equal(leat_window_find(epoch, position, window, &place, NULL), LEAT_OK);
    assert_in_range(place, 0, window->end - window->first - 1);
    return place;
}

/* Each context number has every anchor once an epoch; none is from another window's blocks. */
static void check_epoch(leat_window_epoch *epoch, int64_t number) {
    static const int64_t contexts[] = {0, 1, 9};
    const leat_windows *windows = epoch->windows;
    int64_t count = windows->first[windows->block_count];
    assert_in_range(count, 1, INT32_MAX); /* gcc 14 warns without */
    uint8_t *seen = calloc((size_t)count, 1);
    leat_window window = {0};
    assert_non_null(seen);
    leat_window_epoch_begin(epoch, number);
    for (size_t c = 0; c < sizeof contexts / sizeof *contexts; c++) {
        memset(seen, 0, (size_t)count);
        for (int64_t p = 0; p < count; p++) {
            int64_t place = find(epoch, p, &window);
            int64_t anchor = leat_window_anchor(&window, place, contexts[c]);
            assert_in_range(anchor, 0, count - 1);
            assert_int_equal(seen[anchor]++, 0);
            int64_t block = block_of(windows, anchor), at = 0;
            while (at < window.block_count && window.blocks[at] != block) at++;
            assert_true(at < window.block_count);
        }
    }
    leat_window_free(&window);
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

/* What the last sequence of a lane was made from. */
typedef struct walk {
    int64_t number, place, end, sequences, last_block;
    int64_t small, large; /* windows, in blocks */
    int64_t read;         /* blocks, of all lanes */
} walk;

/* The window after another of the lane, or the first one, which may begin with the block that ended
 * the lane before. */
static void check_next(const leat_window *window, int64_t lane, walk *at) {
    if (at->number >= 0) {
        assert_int_equal(window->first, at->end);
        assert_int_equal(at->place + 1, at->sequences);
        assert_int_not_equal(window->blocks[0], at->last_block);
    } else if (lane > 0) {
        assert_int_equal(window->first, at->end);
    }
    at->small = window->block_count < at->small ? window->block_count : at->small;
    at->large = window->block_count > at->large ? window->block_count : at->large;
    at->read += window->block_count;
}

/* A lane goes through its windows one after the other, and through each block in one of them; only
 * the block at its border is shared, with the next lane. */
static void blocks_once(void **state) {
    (void)state;
    int64_t first[BLOCKS_MAX + 1];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        leat_windows windows = windows_of(&shapes[i], 100 + i, first);
        leat_window_epoch epoch;
        leat_window window = {0};
        walk at = {0};
        int64_t count = first[windows.block_count];
        assert_int_equal(leat_window_epoch_create(&epoch, &windows, NULL), LEAT_OK);
        leat_window_epoch_begin(&epoch, 5);
        for (int64_t lane = 0; lane < windows.batch && lane < count; lane++) {
            at.number = -1;
            at.small = INT64_MAX;
            at.large = 0;
            for (int64_t p = lane; p < count; p += windows.batch) {
                int64_t place = find(&epoch, p, &window);
                assert_int_equal(window.lane, lane);
                assert_int_equal(window.epoch, 5);
                assert_int_equal(place, window.number == at.number ? at.place + 1 : 0);
                if (window.number != at.number) {
                    assert_int_equal(window.number, at.number + 1);
                    check_next(&window, lane, &at);
                }
                at.number = window.number;
                at.place = place;
                at.end = window.end;
                at.sequences = window.end - window.first;
                at.last_block = window.blocks[window.block_count - 1];
            }
            assert_true(at.large <= windows.window_blocks && at.large - at.small <= 1);
        }
        assert_int_equal(at.end, count);
        assert_in_range(at.read, windows.block_count, windows.block_count + windows.batch - 1);
        leat_window_free(&window);
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
    leat_window window = {0};
    assert_int_equal(leat_window_epoch_create(&epoch, &windows, NULL), LEAT_OK);
    leat_window_epoch_begin(&epoch, 7);
    for (int64_t p = 0; p < 64; p++) {
        int64_t place = find(&epoch, p, &window);
        a[p] = leat_window_anchor(&window, place, 2);
        same_context += leat_window_anchor(&window, place, 1) == a[p];
    }
    leat_window_epoch_begin(&epoch, 8);
    for (int64_t p = 0; p < 64; p++) {
        int64_t place = find(&epoch, p, &window);
        same_epoch += leat_window_anchor(&window, place, 2) == a[p];
    }
    leat_window_epoch_begin(&epoch, 7);
    leat_windows again = windows;
    again.seed++;
    assert_int_equal(leat_window_epoch_create(&other, &again, NULL), LEAT_OK);
    leat_window_epoch_begin(&other, 7);
    for (int64_t p = 63; p >= 0; p--) {
        int64_t place = find(&epoch, p, &window);
        b[p] = leat_window_anchor(&window, place, 2);
        place = find(&other, p, &window);
        same_seed += leat_window_anchor(&window, place, 2) == a[p];
    }
    assert_memory_equal(a, b, sizeof a);
    assert_true(same_epoch < 4 && same_seed < 4 && same_context < 8);
    leat_window_free(&window);
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
