/* Rows put into blocks, and the memory of windows: see blocks.h. */
#include "load/probes/blocks.h"

#include <math.h>

#include "load/probes/loader_plan.h"
#include "load/ring.h"

enum { WINDOW_BLOCKS_MIN = 4, LANE_BLOCKS_MIN = 16 };

#define BLOCK_BYTES_MIN (INT64_C(64) << 10)
#define BLOCK_BYTES_MAX (INT64_C(8) << 20)

static int64_t at_least(int64_t value, int64_t low) { return value > low ? value : low; }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- rows into blocks ---------------------------------------------------------------------------
 */

static leat_code record_bytes(const leat_loader_plan *plan, int64_t split_row, int64_t *out,
                              leat_error *err) {
    leat_row_facts facts;
    LEAT_TRY(leat_dataset_row(plan->dataset, leat_loader_plan_row(plan, split_row), &facts, err));
    *out = facts.record_bytes;
    return LEAT_OK;
}

/* How large blocks are to be, and how many a window has. */
static leat_code choose_sizes(leat_blocks *blocks, const leat_loader_plan *plan, int64_t *total,
                              leat_error *err) {
    int64_t batch = plan->options.batch, share = plan->options.window_bytes / batch;
    *total = 0;
    for (int64_t row = 0; row < plan->split_rows; row++) {
        int64_t bytes = 0;
        LEAT_TRY(record_bytes(plan, row, &bytes, err));
        if (!leat_add_size(*total, bytes, total))
            return leat_fail(err, LEAT_ERR_LIMIT, "loader: the rows have more than 2^63 bytes");
    }
    int64_t most = *total / LANE_BLOCKS_MIN / batch, bytes = share / WINDOW_BLOCKS_MIN;
    if (bytes > most) bytes = most;
    if (bytes > BLOCK_BYTES_MAX) bytes = BLOCK_BYTES_MAX;
    blocks->block_bytes = at_least(bytes, BLOCK_BYTES_MIN);
    return LEAT_OK;
}

/* Ends blocks before the rows that would make them too large. A block has an anchor: rows without
 * measurements go with those before them, the first ones with those after. */
static leat_code cut(leat_blocks *blocks, const leat_loader_plan *plan, leat_error *err) {
    int64_t capacity = 0, held = 0, begin = 0, anchor = 0;
    LEAT_TRY(LEAT_GROW(&blocks->first_row, &capacity, 1, err));
    blocks->first_row[0] = 0;
    for (int64_t row = 0; row < plan->split_rows; row++) {
        int64_t bytes = 0;
        LEAT_TRY(record_bytes(plan, row, &bytes, err));
        if (row > begin && held + bytes > blocks->block_bytes) {
            int64_t before = leat_anchors_first(plan->anchors, row);
            int64_t after = leat_anchors_first(plan->anchors, row + 1);
            if (before > anchor && after > before) {
                LEAT_TRY(LEAT_GROW(&blocks->first_row, &capacity, blocks->count + 2, err));
                blocks->first_row[++blocks->count] = row;
                begin = row;
                anchor = before;
                held = 0;
            }
        }
        held += bytes;
    }
    LEAT_TRY(LEAT_GROW(&blocks->first_row, &capacity, blocks->count + 2, err));
    blocks->first_row[++blocks->count] = plan->split_rows;
    LEAT_TRY(LEAT_NEW(&blocks->first_anchor, blocks->count + 1, err));
    for (int64_t i = 0; i <= blocks->count; i++)
        blocks->first_anchor[i] = leat_anchors_first(plan->anchors, blocks->first_row[i]);
    return LEAT_OK;
}

/* Split rows [at, end), as parts of one shard each. */
static leat_code add_parts(const leat_loader_plan *plan, int64_t at, int64_t end,
                           leat_loaded *loaded, leat_error *err) {
    while (at < end) {
        int64_t row = leat_loader_plan_row(plan, at),
                shard = leat_dataset_shard_of(plan->dataset, row);
        const leat_dataset_shard *facts = &plan->dataset->shards[shard].facts;
        int64_t count = facts->first_row + facts->row_count - row;
        if (count > end - at) count = end - at;
        LEAT_TRY(leat_loaded_add(loaded, shard, row, count, err));
        at += count;
    }
    return LEAT_OK;
}

leat_code leat_blocks_parts(const leat_blocks *blocks, const leat_loader_plan *plan, int64_t block,
                            leat_loaded *loaded, leat_error *err) {
    return add_parts(plan, blocks->first_row[block], blocks->first_row[block + 1], loaded, err);
}

/* ---- memory -------------------------------------------------------------------------------------
 */

/* Adds what these rows take when they are read together. */
static leat_code add_bytes(const leat_loader_plan *plan, int64_t first, int64_t end,
                           leat_loaded *loaded, int64_t *sum, int64_t *chunk_bytes_max,
                           leat_error *err) {
    loaded->count = 0;
    LEAT_TRY(add_parts(plan, first, end, loaded, err));
    for (int64_t k = 0; k < loaded->count; k++) {
        int64_t bytes = 0, chunk_bytes = 0;
        LEAT_TRY(leat_loaded_bytes(plan->dataset, plan->options.io, &loaded->parts[k], &bytes,
                                   &chunk_bytes, err));
        *sum += bytes;
        if (chunk_bytes > *chunk_bytes_max) *chunk_bytes_max = chunk_bytes;
    }
    return LEAT_OK;
}

static leat_code measure(leat_blocks *blocks, const leat_loader_plan *plan, leat_error *err) {
    leat_loaded loaded = {0};
    int64_t unused = 0;
    leat_code code = LEAT_NEW(&blocks->bytes, blocks->count, err);
    for (int64_t i = 0; i < blocks->count && code == LEAT_OK; i++)
        code = add_bytes(plan, blocks->first_row[i], blocks->first_row[i + 1], &loaded,
                         &blocks->bytes[i], &blocks->chunk_bytes_max, err);
    if (code == LEAT_OK && !plan->dataset->facts.compressed)
        code = add_bytes(plan, 0, plan->split_rows, &loaded, &blocks->split_bytes, &unused, err);
    leat_loaded_free(&loaded);
    return code;
}

/* Of the steps that rows of the host may be at, or need next, at the same time: the caller's and
 * those made ahead. */
static int64_t step_span(const leat_loader_plan *plan) {
    int64_t prefetch = plan->options.prefetch;
    return (prefetch == LEAT_PREFETCH_AUTO ? LEAT_PREFETCH_AUTO_MAX : prefetch) + 2;
}

/*
 * What the windows of the host's rows take together, the least of two bounds. Drawn: that many
 * blocks as an epoch puts them, in any order, four standard deviations above their mean; where they
 * take more after all, rows are read one by one (see readahead.c). Held: the lanes of an epoch have
 * each of its blocks once, and those at their ends twice, so that small data takes little, however
 * large windows may be.
 */
static int64_t expected_bytes(const leat_blocks *blocks, const leat_loader_plan *plan) {
    const int64_t anchors = blocks->first_anchor[blocks->count], batch = plan->options.batch;
    const double count = (double)blocks->count, rows = (double)plan->row_count;
    double sum = 0, squares = 0, largest = 0;
    for (int64_t i = 0; i < blocks->count; i++) {
        double bytes = (double)blocks->bytes[i];
        sum += bytes;
        squares += bytes * bytes;
        if (bytes > largest) largest = bytes;
    }
    double drawn = rows * (double)least(blocks->windows.window_blocks, blocks->count);
    double mean = sum / count, variance = squares / count - mean * mean;
    double wanted = drawn * mean + 4 * sqrt(drawn * (variance > 0 ? variance : 0));
    double epochs = 2 + floor((double)(step_span(plan) * batch) / (double)anchors);
    double held = epochs * sum + rows * largest;
    if (held < wanted) wanted = held;
    return wanted < (double)(INT64_C(1) << 60) ? (int64_t)wanted : INT64_C(1) << 60;
}

/* ---- all together -------------------------------------------------------------------------------
 */

static leat_code fill(leat_blocks *blocks, const leat_loader_plan *plan, leat_error *err) {
    int64_t total = 0;
    LEAT_TRY(choose_sizes(blocks, plan, &total, err));
    LEAT_TRY(cut(blocks, plan, err));
    int64_t mean = at_least(total / blocks->count, 1);
    int64_t share = plan->options.window_bytes / plan->options.batch;
    blocks->windows = (leat_windows){
        .first = blocks->first_anchor,
        .block_count = blocks->count,
        .batch = plan->options.batch,
        .window_blocks = at_least(share / mean, WINDOW_BLOCKS_MIN),
        .seed = plan->sample.seed,
    };
    LEAT_TRY(measure(blocks, plan, err));
    blocks->host_bytes = expected_bytes(blocks, plan);
    return LEAT_OK;
}

leat_code leat_blocks_create(leat_blocks **out, const leat_loader_plan *plan, leat_error *err) {
    leat_blocks *blocks = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&blocks, 1, err));
    leat_code code = fill(blocks, plan, err);
    if (code != LEAT_OK) {
        leat_blocks_destroy(blocks);
        return code;
    }
    *out = blocks;
    return LEAT_OK;
}

void leat_blocks_destroy(leat_blocks *blocks) {
    if (blocks == NULL) return;
    leat_free(blocks->first_row);
    leat_free(blocks->first_anchor);
    leat_free(blocks->bytes);
    leat_free(blocks);
}

int64_t leat_blocks_table_bytes(const leat_blocks *blocks) {
    return (blocks->count + 1) * (3 + 2) * (int64_t)sizeof(int64_t);
}

/* ---- windows ------------------------------------------------------------------------------------
 */

leat_code leat_blocks_window(const leat_blocks *blocks, leat_block_orders *orders, int64_t sequence,
                             leat_window *window, int64_t *place, leat_error *err) {
    int64_t anchors = blocks->first_anchor[blocks->count], number = sequence / anchors;
    leat_window_epoch *epoch = &orders->epochs[number % 2]; /* a batch may lie in two */
    if (epoch->before == NULL) LEAT_TRY(leat_window_epoch_create(epoch, &blocks->windows, err));
    leat_window_epoch_begin(epoch, number);
    return leat_window_find(epoch, sequence % anchors, window, place, err);
}

void leat_block_orders_free(leat_block_orders *orders) {
    for (int i = 0; i < 2; i++) leat_window_epoch_destroy(&orders->epochs[i]);
}
