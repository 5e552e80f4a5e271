/*
 * K of every row in a byte (the samplers that draw windows give a row at most 16 contexts; `all`
 * takes four), and the number of anchors before every 64th row. An anchor is found by a table that
 * leads to the block of 64 rows or close to it, and a walk through the block eight rows at a time.
 */
#include <string.h>

#include "base/mem.h"
#include "batch/tokens/anchors.h"
#include "batch/tokens/fields.h"

enum {
    BLOCK_ROWS = 64,
    WINDOW_CONTEXTS_MAX = 16,
    WINDOW_CONTEXT_ROWS = 30, /* measurements for each context of a large row */
    MEASUREMENT_TOKENS = 30,  /* what decides that a row is small */
};

struct leat_anchors {
    int64_t row_count, count, blocks;
    int64_t *before; /* [blocks + 1] anchors before each block */
    int32_t *hint;   /* [count >> hint_shift, + 1] the block of anchor i << hint_shift */
    int hint_shift;
    uint8_t *narrow; /* K of every row, zeros up to a whole block; NULL if wide */
    uint32_t *wide;
};

int64_t leat_small_row(int32_t length) { return length / MEASUREMENT_TOKENS; }

int64_t leat_row_tokens_max(int64_t n, int ip_version) {
    /* one absolute time, then differences */
    int32_t each = leat_untimed_width(ip_version != 4, false) + LEAT_WIDTH_DELTA4;
    return LEAT_WIDTH_TIME - LEAT_WIDTH_DELTA4 + each * n;
}

int64_t leat_contexts_of_row(const leat_sampler_options *options, int64_t n, int ip_version) {
    if (n <= 0) return 0;
    if (options->sampler == LEAT_SAMPLER_ALL || n < leat_small_row(options->length)) {
        return (leat_row_tokens_max(n, ip_version) + options->length - 1) / options->length;
    }
    int64_t contexts = (n + WINDOW_CONTEXT_ROWS - 1) / WINDOW_CONTEXT_ROWS;
    return contexts > WINDOW_CONTEXTS_MAX ? WINDOW_CONTEXTS_MAX : contexts;
}

static leat_code count_rows(leat_anchors *self, const leat_sampler_options *options,
                            leat_row_size_fn row_size, void *user, leat_error *err) {
    for (int64_t row = 0; row < self->row_count; row++) {
        int64_t n = 0;
        int ip_version = 0;
        LEAT_TRY(row_size(user, row, &n, &ip_version, err));
        if (n < 0 || n > LEAT_ROW_MEASUREMENTS_MAX) {
            return leat_fail(err, LEAT_ERR_CORRUPT,
                             "row %lld has %lld measurements; it must have 0 to %d", (long long)row,
                             (long long)n, LEAT_ROW_MEASUREMENTS_MAX);
        }
        int64_t contexts = leat_contexts_of_row(options, n, ip_version);
        if (self->narrow != NULL) {
            LEAT_ASSERT(contexts <= WINDOW_CONTEXTS_MAX);
            self->narrow[row] = (uint8_t)contexts;
        } else {
            self->wide[row] = (uint32_t)contexts;
        }
        if (row % BLOCK_ROWS == 0) self->before[row / BLOCK_ROWS] = self->count;
        self->count += contexts; /* rows are fewer than 2^31, contexts of a row too */
    }
    self->before[self->blocks] = self->count;
    return LEAT_OK;
}

/* The last block that begins at or before the anchor, between two that enclose it. */
static int64_t search_block(const leat_anchors *self, int64_t anchor, int64_t low, int64_t high) {
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (self->before[middle] <= anchor) low = middle;
        else high = middle - 1;
    }
    return low;
}

static leat_code make_hints(leat_anchors *self, leat_error *err) {
    while (self->count >> self->hint_shift > self->blocks) self->hint_shift++;
    int64_t hints = (self->count >> self->hint_shift) + 1, block = 0;
    LEAT_TRY(LEAT_NEW(&self->hint, hints + 1, err));
    for (int64_t i = 0; i < hints; i++) {
        int64_t anchor = i << self->hint_shift;
        while (block + 1 < self->blocks && self->before[block + 1] <= anchor) block++;
        self->hint[i] = (int32_t)block;
    }
    self->hint[hints] = (int32_t)(self->blocks > 0 ? self->blocks - 1 : 0);
    return LEAT_OK;
}

static leat_code build(leat_anchors *self, const leat_sampler_options *options,
                       leat_row_size_fn row_size, void *user, leat_error *err) {
    self->blocks = (self->row_count + BLOCK_ROWS - 1) / BLOCK_ROWS;
    LEAT_TRY(LEAT_NEW(&self->before, self->blocks + 1, err));
    if (options->sampler == LEAT_SAMPLER_ALL) {
        LEAT_TRY(LEAT_NEW(&self->wide, self->blocks * BLOCK_ROWS, err));
    } else {
        LEAT_TRY(LEAT_NEW(&self->narrow, self->blocks * BLOCK_ROWS, err));
    }
    LEAT_TRY(count_rows(self, options, row_size, user, err));
    return make_hints(self, err);
}

leat_code leat_anchors_create(leat_anchors **out, const leat_sampler_options *options,
                              int64_t row_count, leat_row_size_fn row_size, void *user,
                              leat_error *err) {
    *out = NULL;
    LEAT_TRY(leat_sampler_options_check(options, err));
    if (row_count < 0 || row_count > INT32_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT, "%lld rows; a sampler accepts 0 to %d",
                         (long long)row_count, INT32_MAX);
    }
    leat_anchors *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->row_count = row_count;
    leat_code code = build(self, options, row_size, user, err);
    if (code != LEAT_OK) leat_anchors_destroy(self);
    else *out = self;
    return code;
}

void leat_anchors_destroy(leat_anchors *anchors) {
    if (anchors == NULL) return;
    leat_free(anchors->before);
    leat_free(anchors->hint);
    leat_free(anchors->narrow);
    leat_free(anchors->wide);
    leat_free(anchors);
}

int64_t leat_anchors_count(const leat_anchors *anchors) { return anchors->count; }

/* Continues from the first row of a block to the row that has the `rest`-th anchor of the block. */
static int64_t walk_narrow(const uint8_t *contexts, int64_t row, int64_t *rest) {
    for (;;) {
        uint64_t eight = 0;
        memcpy(&eight, contexts + row, sizeof(eight));
        int64_t sum = (int64_t)(eight * UINT64_C(0x0101010101010101) >> 56); /* at most 8 * 16 */
        if (*rest < sum) break;
        *rest -= sum;
        row += 8;
    }
    while (*rest >= contexts[row]) *rest -= contexts[row++];
    return row;
}

void leat_anchors_find(const leat_anchors *anchors, int64_t anchor, int64_t *row, int64_t *k) {
    LEAT_ASSERT(anchor >= 0 && anchor < anchors->count);
    int64_t hint = anchor >> anchors->hint_shift;
    int64_t block = search_block(anchors, anchor, anchors->hint[hint], anchors->hint[hint + 1]);
    int64_t rest = anchor - anchors->before[block], at = block * BLOCK_ROWS;
    if (anchors->narrow != NULL) {
        at = walk_narrow(anchors->narrow, at, &rest);
    } else {
        while (rest >= anchors->wide[at]) rest -= anchors->wide[at++];
    }
    *row = at;
    *k = rest;
}

int64_t leat_anchors_first(const leat_anchors *anchors, int64_t row) {
    LEAT_ASSERT(row >= 0 && row <= anchors->row_count);
    int64_t block = row / BLOCK_ROWS, first = anchors->before[block];
    for (int64_t at = block * BLOCK_ROWS; at < row; at++) {
        first += anchors->narrow != NULL ? anchors->narrow[at] : anchors->wide[at];
    }
    return first;
}
