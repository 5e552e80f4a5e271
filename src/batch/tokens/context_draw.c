/*
 * Which measurements a context may hold: a window of the row, and in it candidates in the order in
 * which they are drawn, as many as could be needed if all were of the smallest kind. How many are
 * taken is decided when they are known (context_write.c): always the first ones of the draw.
 */
#include "batch/random_streams.h"
#include "batch/tokens/anchors.h"
#include "batch/tokens/context.h"
#include "batch/tokens/fields.h"
#include "batch/tokens/log_uniform.h"

#include "base/error.h"
#include "base/rng.h"

static uint64_t draw(const leat_context *context, int what) {
    return leat_random_at(context->key, (uint64_t)what);
}

static uint64_t draw_below(const leat_context *context, int what, int64_t bound) {
    return leat_random_below(draw(context, what), (uint64_t)bound);
}

static leat_time_mode draw_mode(const leat_context *context) {
    static const leat_time_mode modes[2][3] = {
        {LEAT_TIME_FULL, LEAT_TIME_PARTIAL, LEAT_TIME_NONE},
        {LEAT_TIME_FULL, LEAT_TIME_NONE, LEAT_TIME_MIXED},
    };
    const leat_sampler_options *options = &context->options;
    if (options->sampler == LEAT_SAMPLER_ALL) return LEAT_TIME_FULL;
    int percent = (int)draw_below(context, LEAT_DRAW_MODE, 100), which = 0;
    while (which < 2 && percent >= options->timestamp_modes[which]) {
        percent -= options->timestamp_modes[which++];
    }
    return modes[options->sampler == LEAT_SAMPLER_PLAN2][which];
}

/*
 * More measurements than this cannot be needed: one beyond what fits if all are of the smallest
 * kind: failed and, if it is stamped, with a difference of one byte; in the partial mode at most
 * one, or the drawn share of them, have no stamp.
 */
static int64_t candidates_max(const leat_context *context, int ip_version) {
    double each = leat_untimed_width(ip_version == 6, true), space = context->space;
    if (context->mode == LEAT_TIME_FULL) each += LEAT_WIDTH_DELTA1;
    if (context->mode == LEAT_TIME_PARTIAL) {
        each += LEAT_WIDTH_DELTA1 * (1 - context->lost_share);
        space += LEAT_WIDTH_DELTA1;
    }
    int64_t most = (int64_t)(space / each) + 1;
    return most < context->capacity ? most : context->capacity;
}

/* Measurements that typically fill the space, for the strides of plan2. */
static int64_t typical_count(const leat_context *context, int ip_version) {
    int32_t each = leat_untimed_width(ip_version != 4, false);
    if (context->mode == LEAT_TIME_FULL) each += LEAT_WIDTH_DELTA1;
    if (context->mode == LEAT_TIME_MIXED) each += LEAT_WIDTH_DELTA1 / 2; /* half are stamped */
    return context->space > each ? context->space / each : 1;
}

/* ---- ranks and places --------------------------------------------------------------------- */

/* Every place of the window, in random order: a Fisher-Yates shuffle of the ranks. */
static void take_all(leat_context *context, int32_t count) {
    uint64_t key = draw(context, LEAT_DRAW_PLACES);
    for (int32_t i = 0; i < count; i++) {
        int32_t j = (int32_t)leat_random_below(leat_random_at(key, (uint64_t)i), (uint64_t)i + 1);
        context->rank[i] = context->rank[j];
        context->rank[j] = i;
    }
    for (int32_t i = 0; i < count; i++) context->index[i] = context->offset + i;
}

/* `count` of a window that is at most twice as large: a shuffle that stops after `count` swaps. */
static void take_many(leat_context *context, int32_t count) {
    uint64_t key = draw(context, LEAT_DRAW_PLACES);
    int32_t window = (int32_t)context->window, taken = 0, *place = context->place;
    for (int32_t i = 0; i < window; i++) place[i] = i;
    for (int32_t i = 0; i < count; i++) {
        int32_t j = i + (int32_t)leat_random_below(leat_random_at(key, (uint64_t)i),
                                                   (uint64_t)(window - i));
        int32_t held = place[i];
        place[i] = place[j];
        place[j] = held;
    }
    for (int32_t i = 0; i < count; i++) context->candidate[i] = place[i];
    for (int32_t i = 0; i < window; i++) place[i] = -1;
    for (int32_t i = 0; i < count; i++) place[context->candidate[i]] = i;
    for (int32_t i = 0; i < window; i++) {
        if (place[i] < 0) continue;
        context->index[taken] = context->offset + i;
        context->rank[taken++] = place[i];
    }
}

/*
 * `count` of a window more than twice as large: places are drawn, again if they were drawn before.
 * They go into lists by their share of the window, about one to a list, each kept ascending: this
 * finds what was drawn before, and sorts.
 */
static void take_few(leat_context *context, int32_t count) {
    uint64_t key = draw(context, LEAT_DRAW_PLACES), number = 0;
    uint64_t window = (uint64_t)context->window;
    uint64_t lists_per_place = (uint64_t)(((unsigned __int128)count << 64) / window);
    int32_t *head = context->place, *next = context->next, taken = 0;
    int64_t *drawn = context->drawn_place;
    for (int32_t i = 0; i < count; i++) head[i] = -1;
    for (int32_t i = 0; i < count;) {
        uint64_t place = leat_random_below(leat_random_at(key, number++), window);
        int32_t *link = &head[((unsigned __int128)place * lists_per_place) >> 64];
        while (*link >= 0 && drawn[*link] < (int64_t)place) link = &next[*link];
        if (*link >= 0 && drawn[*link] == (int64_t)place) continue;
        drawn[i] = (int64_t)place;
        next[i] = *link;
        *link = i++;
    }
    for (int32_t list = 0; list < count; list++) {
        for (int32_t i = head[list]; i >= 0; i = next[i]) {
            context->index[taken] = context->offset + drawn[i];
            context->rank[taken++] = i;
        }
    }
}

static void take(leat_context *context, int64_t most) {
    int64_t count = context->window < most ? context->window : most;
    context->count = (int32_t)count;
    if (context->window == count) take_all(context, (int32_t)count);
    else if (context->window <= 2 * count) take_many(context, (int32_t)count);
    else take_few(context, (int32_t)count);
}

/* ---- windows ------------------------------------------------------------------------------ */

/* Block k of K: all measurements from floor(k n / K) on, up to the next block. */
static void draw_block(leat_context *context, int64_t n, int ip_version, int64_t k) {
    int64_t blocks = leat_contexts_of_row(&context->options, n, ip_version);
    LEAT_ASSERT(k >= 0 && k < blocks);
    context->is_block = true;
    context->offset = k * n / blocks;
    context->window = (k + 1) * n / blocks - context->offset;
    LEAT_ASSERT(context->window >= 1 && context->window <= context->capacity);
    take(context, context->window);
}

static void draw_window(leat_context *context, int64_t n, int64_t most) {
    bool whole = n < leat_small_row(context->options.length);
    context->window = whole ? n : leat_log_uniform(draw(context, LEAT_DRAW_WINDOW), n);
    context->offset = (int64_t)draw_below(context, LEAT_DRAW_OFFSET, n - context->window + 1);
    take(context, most);
}

/*
 * plan2: every stride-th measurement from a start on, in time order; strides are powers of two. The
 * start leaves space for as many as typically fit; the window ends at the last candidate, and is
 * cut to the measurements that were drawn when these are known.
 */
static void draw_strided(leat_context *context, int64_t n, int64_t typical, int64_t most) {
    int64_t times = n / typical, first = typical < n ? typical : n;
    int powers = times > 1 ? 64 - __builtin_clzll((uint64_t)times) : 1;
    int64_t stride = INT64_C(1) << draw_below(context, LEAT_DRAW_WINDOW, powers);
    int64_t typically = (first - 1) * stride + 1;
    context->is_strided = true;
    context->stride = stride;
    context->offset = (int64_t)draw_below(context, LEAT_DRAW_OFFSET, n - typically + 1);
    int64_t there = (n - 1 - context->offset) / stride + 1;
    context->count = (int32_t)(there < most ? there : most);
    context->window = (context->count - 1) * stride + 1;
    for (int32_t i = 0; i < context->count; i++) {
        context->index[i] = context->offset + i * stride;
        context->rank[i] = i;
    }
}

void leat_context_draw(leat_context *context, int64_t n, int ip_version, uint64_t key, int64_t k,
                       int32_t space, bool is_anchor) {
    const leat_sampler_options *options = &context->options;
    LEAT_ASSERT(n >= 1 && n <= LEAT_ROW_MEASUREMENTS_MAX && space >= 1 && space <= options->length);
    context->key = key;
    context->is_anchor = is_anchor;
    context->is_block = context->is_strided = false;
    context->mode = draw_mode(context);
    context->lost_share = 0.1 + 0.8 * leat_random_unit(draw(context, LEAT_DRAW_SHARE));
    context->space = space;
    context->stride = 1;
    bool small = n < leat_small_row(options->length);
    if (options->sampler == LEAT_SAMPLER_ALL || (is_anchor && small)) {
        draw_block(context, n, ip_version, k);
    } else if (options->sampler == LEAT_SAMPLER_PLAN2) {
        draw_strided(context, n, typical_count(context, ip_version),
                     candidates_max(context, ip_version));
    } else if (options->packing == LEAT_PACKING_NONE) {
        draw_window(context, n, leat_small_row(options->length));
    } else {
        draw_window(context, n, candidates_max(context, ip_version));
    }
}
