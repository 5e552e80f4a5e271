/* An epoch as blocks in an order, lanes of them, windows, and anchors: see windows.h. */
#include "batch/tokens/windows.h"

#include "base/mem.h"
#include "base/rng.h"
#include "batch/random_streams.h"

static int64_t anchor_count(const leat_windows *windows) {
    return windows->first[windows->block_count];
}

leat_code leat_window_epoch_create(leat_window_epoch *out, const leat_windows *windows,
                                   leat_error *err) {
    LEAT_ASSERT(windows->block_count >= 1 && windows->batch >= 1 && windows->window_blocks >= 1);
    *out = (leat_window_epoch){.windows = windows, .epoch = -1};
    return LEAT_NEW(&out->before, windows->block_count + 1, err);
}

void leat_window_epoch_destroy(leat_window_epoch *epoch) {
    leat_free(epoch->before);
    epoch->before = NULL;
}

static int64_t block_at(const leat_window_epoch *epoch, int64_t place) {
    uint64_t key = leat_random(epoch->key, LEAT_STREAM_BLOCK, 0);
    return leat_permute(key, epoch->windows->block_count, place);
}

void leat_window_epoch_begin(leat_window_epoch *epoch, int64_t number) {
    const leat_windows *windows = epoch->windows;
    int64_t before = 0;
    if (epoch->epoch == number) return;
    epoch->epoch = number;
    epoch->key = leat_random(windows->seed, LEAT_STREAM_WINDOWED_EPOCH, (uint64_t)number);
    for (int64_t place = 0; place < windows->block_count; place++) {
        int64_t block = block_at(epoch, place);
        epoch->before[place] = before;
        before += windows->first[block + 1] - windows->first[block];
    }
    epoch->before[windows->block_count] = before;
    LEAT_ASSERT(before == windows->first[windows->block_count]);
}

/* The place in the epoch's order of the block that has this anchor of the line. */
static int64_t find_block(const leat_window_epoch *epoch, int64_t at) {
    int64_t low = 0, high = epoch->windows->block_count - 1;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (epoch->before[middle] <= at) low = middle;
        else high = middle - 1;
    }
    return low;
}

/* Where lane 0 <= lane <= batch begins on the line: the first lanes have the anchors that are left
 * over. */
static int64_t lane_begin(const leat_windows *windows, int64_t lane) {
    int64_t each = anchor_count(windows) / windows->batch;
    int64_t more = anchor_count(windows) % windows->batch;
    return lane * each + (lane < more ? lane : more);
}

/* Blocks first .. end - 1 of the epoch's order, as far as they belong to [begin, end) of the line.
 */
static leat_code take_blocks(const leat_window_epoch *epoch, leat_window *window, int64_t first,
                             int64_t end, leat_error *err) {
    int64_t count = end - first;
    LEAT_TRY(LEAT_GROW(&window->blocks, &window->block_capacity, count, err));
    LEAT_TRY(LEAT_GROW(&window->before, &window->before_capacity, count + 1, err));
    window->block_count = count;
    for (int64_t i = 0; i < count; i++) window->blocks[i] = block_at(epoch, first + i);
    for (int64_t i = 0; i <= count; i++) window->before[i] = epoch->before[first + i];
    if (window->before[0] > window->first) window->first = window->before[0];
    if (window->before[count] < window->end) window->end = window->before[count];
    return LEAT_OK;
}

leat_code leat_window_find(const leat_window_epoch *epoch, int64_t position, leat_window *window,
                           int64_t *place, leat_error *err) {
    const leat_windows *windows = epoch->windows;
    const int64_t anchors = anchor_count(windows);
    LEAT_ASSERT(epoch->epoch >= 0 && position >= 0 && position < anchors);
    int64_t lane = position % windows->batch;
    int64_t begin = lane_begin(windows, lane), end = lane_begin(windows, lane + 1);
    int64_t at = begin + position / windows->batch;
    LEAT_ASSERT(at < end);
    /* the blocks of the lane, in windows as equal as they can be: a last one of few blocks would
     * fill its sequences from few rows */
    int64_t first = find_block(epoch, begin), blocks = find_block(epoch, end - 1) + 1 - first;
    int64_t parts = (blocks + windows->window_blocks - 1) / windows->window_blocks;
    int64_t number = ((find_block(epoch, at) - first + 1) * parts - 1) / blocks;
    window->windows = windows;
    window->epoch = epoch->epoch;
    window->lane = lane;
    window->number = number;
    window->first = begin;
    window->end = end;
    LEAT_TRY(take_blocks(epoch, window, first + number * blocks / parts,
                         first + (number + 1) * blocks / parts, err));
    uint64_t key = leat_random(epoch->key, LEAT_STREAM_WINDOW_LANE, (uint64_t)lane);
    window->epoch_key = epoch->key;
    window->key = leat_random(key, LEAT_STREAM_WINDOW, (uint64_t)number);
    LEAT_ASSERT(window->first <= at && at < window->end);
    *place = at - window->first;
    return LEAT_OK;
}

void leat_window_free(leat_window *window) {
    leat_free(window->blocks);
    leat_free(window->before);
    *window = (leat_window){0};
}

int64_t leat_window_anchor(const leat_window *window, int64_t place, int64_t t) {
    int64_t count = window->end - window->first, i = 0;
    LEAT_ASSERT(t >= 0 && place >= 0 && place < count);
    uint64_t key = leat_random(window->key, LEAT_STREAM_ANCHOR, (uint64_t)t);
    int64_t at = window->first + leat_permute(key, count, place);
    while (window->before[i + 1] <= at) i++; /* a window has few blocks */
    return window->windows->first[window->blocks[i]] + at - window->before[i];
}
