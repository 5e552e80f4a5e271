/*
 * A context's measurements as tokens. Three decisions, in this order: how many of the drawn
 * measurements fit (the longest prefix of the draw whose tokens do), their order and which of them
 * have a timestamp, and the order of the fields of each.
 */
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "batch/random_streams.h"
#include "batch/tokens/context.h"
#include "batch/tokens/fields.h"
#include "batch/tokens/write_measurement.h"

/* ---- how many fit ------------------------------------------------------------------------- */

/* Of `kept` measurements, those with a smaller rank have no timestamp. */
static int32_t unstamped_count(const leat_context *context, int32_t kept) {
    if (context->mode == LEAT_TIME_NONE) return kept;
    if (context->mode != LEAT_TIME_PARTIAL) return 0;
    int32_t lost = (int32_t)(context->lost_share * kept);
    return lost < 1 ? 1 : lost;
}

/*
 * The tokens of the first `kept` of the draw. Grows with every one of them: a measurement takes at
 * least 12, and what it does to the stamps of others saves at most 9 of these.
 */
static int64_t count_tokens(const leat_context *context, const leat_measurement *points,
                            int32_t kept) {
    int32_t unstamped = unstamped_count(context, kept);
    int64_t tokens = 0, clock_us = LEAT_CLOCK_UNSET;
    for (int32_t i = 0; i < context->count; i++) {
        int32_t rank = context->rank[i];
        if (rank >= kept) continue;
        tokens += context->base_tokens[i];
        if (rank < unstamped || !context->keeps_stamp[i]) continue;
        tokens += leat_time_tokens(points[i].time_us, clock_us);
        clock_us = points[i].time_us;
    }
    return tokens;
}

/*
 * The largest number of measurements that fits into the space, `tokens` with them. Guesses from how
 * far the last guess was off, between one that fits and one that does not.
 */
static int32_t fit(const leat_context *context, const leat_measurement *points, int64_t *tokens) {
    int64_t fits_tokens = 0, all = count_tokens(context, points, context->count);
    *tokens = all;
    if (all <= context->space) return context->count;
    int32_t fits = 0, too_many = context->count;
    int64_t mean = all / context->count, over = all - context->space;
    int32_t guess = context->count - (int32_t)(over / mean) - 1;
    while (too_many - fits > 1) {
        if (guess <= fits) guess = fits + 1;
        if (guess >= too_many) guess = too_many - 1;
        int64_t took = count_tokens(context, points, guess);
        if (took <= context->space) {
            fits = guess;
            fits_tokens = took;
            guess += 1 + (int32_t)((context->space - took) / mean);
        } else {
            too_many = guess;
            guess -= 1 + (int32_t)((took - context->space) / mean);
        }
    }
    *tokens = fits_tokens;
    return fits;
}

static void look_at(leat_context *context, const leat_measurement *points) {
    bool mixed = context->mode == LEAT_TIME_MIXED;
    uint64_t key = leat_random_at(context->key, LEAT_DRAW_STAMPS);
    for (int32_t i = 0; i < context->count; i++) {
        context->base_tokens[i] =
            leat_untimed_width(points[i].ip_version == 6, leat_rtt_failed(points[i].rtt));
        context->keeps_stamp[i] =
            !mixed || (leat_random_at(key, (uint64_t)context->rank[i]) >> 63) != 0;
    }
}

/* ---- in which order ----------------------------------------------------------------------- */

/* Puts the next candidate in time order that has a stamp; *i is where the search continues. */
static void put_stamped(leat_context *context, int32_t at, int32_t *i, int32_t unstamped,
                        int32_t kept) {
    while (context->rank[*i] < unstamped || context->rank[*i] >= kept) *i += 1;
    context->order[at] = *i;
    context->stamped[at] = true;
    *i += 1;
}

/*
 * Partial: the `lost` first of the draw, in its order, which is random, stand at random places
 * among the others, which stay in time order; all choices of places are alike. Packing none merges
 * as ping-llm does: by a fair coin until one of the two is used up, then the rest of the
 * other.
 */
static void order_partial(leat_context *context, int32_t kept) {
    uint64_t key = leat_random_at(context->key, LEAT_DRAW_MERGE);
    bool coin = context->options.packing == LEAT_PACKING_NONE;
    int32_t lost = unstamped_count(context, kept), used = 0, i = 0;
    for (int32_t at = 0; at < kept; at++) {
        uint64_t bits = leat_random_at(key, (uint64_t)at);
        int32_t lost_left = lost - used, left = kept - at;
        bool unstamped = leat_random_below(bits, (uint64_t)left) < (uint64_t)lost_left;
        if (coin && lost_left > 0 && lost_left < left) unstamped = bits >> 63 != 0;
        if (!unstamped) {
            put_stamped(context, at, &i, lost, kept);
            continue;
        }
        context->order[at] = context->candidate[used++];
        context->stamped[at] = false;
    }
}

static void put_in_order(leat_context *context, int32_t kept) {
    bool shuffled = context->options.sampler == LEAT_SAMPLER_PLAN3;
    for (int32_t i = 0; i < context->count; i++) context->candidate[context->rank[i]] = i;
    if (context->mode == LEAT_TIME_PARTIAL) {
        order_partial(context, kept);
    } else if (context->mode == LEAT_TIME_NONE && shuffled) {
        memcpy(context->order, context->candidate, sizeof(*context->order) * (size_t)kept);
        memset(context->stamped, 0, (size_t)kept);
    } else {
        bool none = context->mode == LEAT_TIME_NONE;
        for (int32_t i = 0, at = 0; i < context->count; i++) {
            context->order[at] = i;
            context->stamped[at] = context->keeps_stamp[i] && !none;
            at += context->rank[i] < kept;
        }
    }
}

/* ---- as tokens ---------------------------------------------------------------------------- */

/* Writes the measurements in order; stops where the space ends. */
static void put_tokens(leat_context *context, const leat_measurement *points, int32_t kept,
                       leat_sequence *sequence) {
    uint64_t key = leat_random_at(context->key, LEAT_DRAW_FIELDS);
    bool content = context->options.field_order == LEAT_FIELDS_CONTENT;
    int32_t *begin = sequence->inputs + sequence->used, *end = begin + context->space;
    int32_t *at = begin, spill[LEAT_TOKENS_MAX], done = 0;
    int64_t clock_us = LEAT_CLOCK_UNSET;
    uint8_t order[LEAT_FIELDS];
    for (; done < kept && at < end; done++) {
        const leat_measurement *point = &points[context->order[done]];
        bool stamped = context->stamped[done];
        if (content) leat_tokens_content_order(point, stamped, order);
        else leat_random_fields(leat_random_at(key, (uint64_t)done), order);
        if (end - at >= LEAT_TOKENS_MAX) {
            at = leat_write_measurement(at, point, order, stamped, &clock_us);
            continue;
        }
        int64_t took = leat_write_measurement(spill, point, order, stamped, &clock_us) - spill;
        context->cut = took > end - at;
        if (context->cut) took = end - at;
        memcpy(at, spill, sizeof(*at) * (size_t)took);
        at += took;
    }
    context->kept = done;
    context->tokens = (int32_t)(at - begin);
}

void leat_context_write(leat_context *context, const leat_measurement *points,
                        leat_sequence *sequence) {
    const leat_sampler_options *options = &context->options;
    LEAT_ASSERT(context->space == sequence->length - sequence->used);
    int64_t tokens = 0;
    look_at(context, points);
    int32_t kept = fit(context, points, &tokens);
    bool meant = context->is_block || options->packing == LEAT_PACKING_NONE;
    context->full = kept < context->count;
    context->cut = false;
    context->drawn = meant ? context->count : kept;
    context->drawn_tokens =
        meant && context->full ? count_tokens(context, points, context->count) : tokens;
    bool may_cut = !context->is_anchor && options->tail == LEAT_TAIL_CUT;
    if (context->full && may_cut && tokens < context->space) kept++;
    put_in_order(context, kept);
    put_tokens(context, points, kept, sequence);
    if (!meant) context->drawn = context->kept;
    if (context->is_strided && context->drawn > 0)
        context->window = (context->drawn - 1) * context->stride + 1;
    if (context->tokens > 0) leat_sequence_end_segment(sequence, context->tokens);
    sequence->drawn += context->drawn;
    sequence->kept += context->kept;
    sequence->cut |= context->cut;
}
