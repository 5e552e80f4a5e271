#include "sample/tokens/windows.h"

#include "base/mem.h"
#include "base/rng.h"
#include "sample/streams.h"

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

int64_t leat_window_block(const leat_window_epoch *epoch, int64_t place) {
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
        int64_t block = leat_window_block(epoch, place);
        epoch->before[place] = before;
        before += windows->first[block + 1] - windows->first[block];
    }
    epoch->before[windows->block_count] = before;
    LEAT_ASSERT(before == anchor_count(windows));
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

leat_window leat_window_of(const leat_window_epoch *epoch, int64_t position) {
    const leat_windows *windows = epoch->windows;
    LEAT_ASSERT(epoch->epoch >= 0 && position >= 0 && position < anchor_count(windows));
    int64_t lane = position % windows->batch;
    int64_t begin = lane_begin(windows, lane), end = lane_begin(windows, lane + 1);
    int64_t at = begin + position / windows->batch;
    LEAT_ASSERT(at < end);
    /* the blocks of the lane, in windows as equal as they can be: a last one of few blocks would
     * fill its sequences from few rows */
    int64_t first = find_block(epoch, begin), blocks = find_block(epoch, end - 1) + 1 - first;
    int64_t parts = (blocks + windows->window_blocks - 1) / windows->window_blocks;
    int64_t number = ((find_block(epoch, at) - first + 1) * parts - 1) / blocks;
    leat_window out = {.lane = lane, .number = number};
    out.first_block = first + number * blocks / parts;
    out.last_block = first + (number + 1) * blocks / parts - 1;
    out.first = epoch->before[out.first_block] > begin ? epoch->before[out.first_block] : begin;
    out.end = epoch->before[out.last_block + 1] < end ? epoch->before[out.last_block + 1] : end;
    out.place = at - out.first;
    uint64_t key = leat_random(epoch->key, LEAT_STREAM_WINDOW_LANE, (uint64_t)lane);
    out.key = leat_random(key, LEAT_STREAM_WINDOW, (uint64_t)number);
    LEAT_ASSERT(out.first <= at && at < out.end);
    return out;
}

int64_t leat_window_anchor(const leat_window_epoch *epoch, const leat_window *window, int64_t t) {
    LEAT_ASSERT(t >= 0);
    uint64_t key = leat_random(window->key, LEAT_STREAM_ANCHOR, (uint64_t)t);
    int64_t at = window->first + leat_permute(key, window->end - window->first, window->place);
    int64_t place = find_block(epoch, at);
    LEAT_ASSERT(place >= window->first_block && place <= window->last_block);
    return epoch->windows->first[leat_window_block(epoch, place)] + at - epoch->before[place];
}
