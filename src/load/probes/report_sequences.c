/*
 * The contents of sequences, counted by making them: every context that a maker reports is noted,
 * and counted when the sequence is complete, since a damaged one does not count. A thread takes a
 * step at a time, so that duplicates within a batch are seen by the thread that made it.
 */
#include <stdlib.h>
#include <string.h>

#include "load/probes/report.h"

/* One context of the sequence at hand. */
typedef struct noted {
    int64_t row_measurements, window, span_us;
    int32_t kept, drawn, tokens, stamped;
    leat_time_mode mode;
    bool is_anchor, cut;
} noted;

/* A measurement of the step at hand. */
typedef struct spot {
    int64_t row, index, sequence;
} spot;

typedef struct tally {
    const leat_loader_plan *plan;
    leat_sequence_stats *stats; /* of this thread */
    leat_maker *maker;
    noted *contexts;
    int64_t context_count, context_capacity;
    spot *spots;
    int64_t spot_count, spot_capacity;
    int64_t sequence; /* at hand, in the step */
    int32_t *room;    /* six arrays of one sequence */
    leat_error err;   /* while listening */
} tally;

typedef struct job {
    const leat_loader_plan *plan;
    int64_t first; /* step, which is part 0 */
    leat_ticker *ticker;
    tally *tallies; /* one for each worker */
} job;

/* ---- one context ------------------------------------------------------------------------------
 */

static void span_of(const leat_context *context, const leat_measurement *points, noted *to) {
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (int32_t i = 0; i < context->kept; i++) {
        int64_t time_us = points[context->order[i]].time_us;
        if (time_us < first) first = time_us;
        if (time_us > last) last = time_us;
        to->stamped += context->stamped[i];
    }
    to->span_us = last - first;
}

static leat_code note(tally *to, int64_t t, int64_t split_row, const leat_context *context,
                      const leat_measurement *points, leat_error *err) {
    leat_row_facts facts;
    LEAT_TRY(leat_dataset_row(to->plan->dataset, leat_loader_plan_row(to->plan, split_row), &facts,
                              err));
    LEAT_TRY(LEAT_GROW(&to->contexts, &to->context_capacity, to->context_count + 1, err));
    LEAT_TRY(LEAT_GROW(&to->spots, &to->spot_capacity, to->spot_count + context->kept, err));
    noted *it = &to->contexts[to->context_count++];
    *it = (noted){.row_measurements = facts.n_measurements,
                  .window = context->window,
                  .kept = context->kept,
                  .drawn = context->drawn,
                  .tokens = context->tokens,
                  .mode = context->mode,
                  .is_anchor = t == 0,
                  .cut = context->cut};
    span_of(context, points, it);
    for (int32_t i = 0; i < context->kept; i++) {
        to->spots[to->spot_count++] =
            (spot){split_row, context->index[context->order[i]], to->sequence};
    }
    return LEAT_OK;
}

static void on_context(void *user, int64_t t, int64_t row, int64_t k, const leat_context *context,
                       const leat_measurement *points) {
    tally *to = user;
    (void)k;
    if (to->err.code != LEAT_OK || context->kept == 0) return;
    leat_code code = note(to, t, row, context, points, &to->err);
    if (code != LEAT_OK) to->err.code = code;
}

static leat_span_scale scale_of(const noted *it) {
    static const int64_t below_s[] = {[LEAT_SPAN_SECONDS] = 60,
                                      [LEAT_SPAN_MINUTES] = 3600,
                                      [LEAT_SPAN_HOURS] = 86400,
                                      [LEAT_SPAN_DAYS] = 604800};
    if (it->kept < 2) return LEAT_SPAN_SINGLE;
    for (int scale = LEAT_SPAN_SECONDS; scale < LEAT_SPAN_WEEKS; scale++)
        if (it->span_us < below_s[scale] * 1000000) return (leat_span_scale)scale;
    return LEAT_SPAN_WEEKS;
}

static void count_context(leat_context_stats *stats, const noted *it) {
    leat_span_scale scale = scale_of(it);
    stats->contexts++;
    stats->tokens += it->tokens;
    stats->measurements += it->kept;
    stats->stamped += it->stamped;
    stats->cut += it->cut;
    stats->dropped += it->drawn - it->kept;
    stats->by_mode[it->mode]++;
    stats->by_scale[scale]++;
    stats->tokens_by_scale[scale] += it->tokens;
    leat_distribution_add(&stats->row_measurements, it->row_measurements, 1);
    leat_distribution_add(&stats->window_measurements, it->window, 1);
    leat_distribution_add(&stats->context_measurements, it->kept, 1);
    if (it->kept > 1) leat_distribution_add(&stats->span_us, it->span_us, 1);
}

/* ---- one sequence -------------------------------------------------------------------------------
 */

/* A byte belongs to the role token before it. */
static void count_tokens(leat_sequence_stats *stats, const int32_t *inputs, int32_t used) {
    static const leat_token_field fields[LEAT_TOKEN_BYTE] = {
        [LEAT_TOKEN_MEASUREMENT_START] = LEAT_TOKEN_FIELD_START,
        [LEAT_TOKEN_SRC_IPV4] = LEAT_TOKEN_FIELD_SRC,
        [LEAT_TOKEN_SRC_IPV6] = LEAT_TOKEN_FIELD_SRC,
        [LEAT_TOKEN_DST_IPV4] = LEAT_TOKEN_FIELD_DST,
        [LEAT_TOKEN_DST_IPV6] = LEAT_TOKEN_FIELD_DST,
        [LEAT_TOKEN_TIMESTAMP_ABS] = LEAT_TOKEN_FIELD_TIME,
        [LEAT_TOKEN_TIMESTAMP_DELTA1] = LEAT_TOKEN_FIELD_TIME,
        [LEAT_TOKEN_TIMESTAMP_DELTA4] = LEAT_TOKEN_FIELD_TIME,
        [LEAT_TOKEN_RTT_START] = LEAT_TOKEN_FIELD_RESULT,
        [LEAT_TOKEN_THROUGHPUT_START] = LEAT_TOKEN_FIELD_RESULT,
        [LEAT_TOKEN_FAILED] = LEAT_TOKEN_FIELD_RESULT,
    };
    leat_token_field field = LEAT_TOKEN_FIELD_START;
    for (int32_t i = 0; i < used; i++) {
        int32_t type = inputs[i] < LEAT_TOKEN_BYTE ? inputs[i] : LEAT_TOKEN_BYTE;
        if (type < LEAT_TOKEN_BYTE) field = fields[type];
        stats->tokens_by_type[type]++;
        stats->tokens_by_field[field]++;
    }
}

static void count_sequence(tally *to, const leat_made *made) {
    leat_sequence_stats *stats = to->stats;
    stats->sequences++;
    stats->masked += made->is_masked;
    stats->tokens += made->tokens;
    stats->padding += to->plan->sample.length - made->tokens;
    if (made->is_masked) return;
    leat_distribution_add(&stats->segments, made->segments, 1);
    count_tokens(stats, to->room, made->tokens);
    for (int64_t i = 0; i < to->context_count; i++) {
        const noted *it = &to->contexts[i];
        count_context(it->is_anchor ? &stats->anchors : &stats->fillers, it);
    }
}

static leat_code add_sequence(tally *to, leat_maker *maker, int64_t step, int64_t i,
                              leat_error *err) {
    int64_t spots = to->spot_count;
    leat_arrays arrays = leat_arrays_in(to->room, to->plan->sample.length);
    leat_made made;
    to->context_count = 0;
    to->sequence = i;
    LEAT_TRY(leat_maker_make(maker, step, to->plan->rows[i], &arrays, &made, err));
    if (to->err.code != LEAT_OK) return leat_error_copy(err, &to->err);
    if (made.is_masked) to->spot_count = spots;
    if (!made.is_past_end) count_sequence(to, &made);
    return LEAT_OK;
}

/* ---- one step -----------------------------------------------------------------------------------
 */

static int compare_spots(const void *a, const void *b) {
    const spot *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->index != y->index) return x->index < y->index ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static void count_repeats(tally *to) {
    qsort(to->spots, (size_t)to->spot_count, sizeof *to->spots, compare_spots);
    for (int64_t i = 1; i < to->spot_count; i++) {
        const spot *now = &to->spots[i], *before = now - 1;
        if (now->row != before->row || now->index != before->index) continue;
        to->stats->repeated_in_batch++;
        to->stats->repeated_in_sequence += now->sequence == before->sequence;
    }
}

static leat_code add_step(tally *to, leat_maker *maker, int64_t step, leat_error *err) {
    to->spot_count = 0;
    for (int64_t i = 0; i < to->plan->row_count; i++)
        LEAT_TRY(add_sequence(to, maker, step, i, err));
    if (to->spot_count > 0) count_repeats(to);
    return LEAT_OK;
}

/* ---- all of them --------------------------------------------------------------------------------
 */

static leat_code count_step(void *context, int worker, int64_t part, leat_error *err) {
    job *work = context;
    LEAT_TRY(
        add_step(&work->tallies[worker], work->tallies[worker].maker, work->first + part, err));
    return leat_ticker_step(work->ticker, 1, err);
}

static void add_contexts(leat_context_stats *to, const leat_context_stats *from) {
    to->contexts += from->contexts;
    to->tokens += from->tokens;
    to->measurements += from->measurements;
    to->stamped += from->stamped;
    to->cut += from->cut;
    to->dropped += from->dropped;
    for (int i = 0; i < LEAT_TIME_MODES; i++) to->by_mode[i] += from->by_mode[i];
    for (int i = 0; i < LEAT_SPAN_SCALES; i++) {
        to->by_scale[i] += from->by_scale[i];
        to->tokens_by_scale[i] += from->tokens_by_scale[i];
    }
    leat_distribution_merge(&to->row_measurements, &from->row_measurements);
    leat_distribution_merge(&to->window_measurements, &from->window_measurements);
    leat_distribution_merge(&to->context_measurements, &from->context_measurements);
    leat_distribution_merge(&to->span_us, &from->span_us);
}

static void add_stats(leat_sequence_stats *to, const leat_sequence_stats *from) {
    to->sequences += from->sequences;
    to->masked += from->masked;
    to->tokens += from->tokens;
    to->padding += from->padding;
    to->repeated_in_sequence += from->repeated_in_sequence;
    to->repeated_in_batch += from->repeated_in_batch;
    for (int i = 0; i <= LEAT_TOKEN_BYTE; i++) to->tokens_by_type[i] += from->tokens_by_type[i];
    for (int i = 0; i < LEAT_TOKEN_FIELDS; i++) to->tokens_by_field[i] += from->tokens_by_field[i];
    leat_distribution_merge(&to->segments, &from->segments);
    add_contexts(&to->anchors, &from->anchors);
    add_contexts(&to->fillers, &from->fillers);
}

static leat_code make_room(job *work, int threads, leat_error *err) {
    LEAT_TRY(LEAT_NEW(&work->tallies, threads, err));
    for (int i = 0; i < threads; i++) {
        tally *to = &work->tallies[i];
        to->plan = work->plan;
        LEAT_TRY(LEAT_NEW(&to->stats, 1, err));
        LEAT_TRY(LEAT_NEW(&to->room, LEAT_ARRAYS * (int64_t)work->plan->sample.length, err));
        LEAT_TRY(leat_maker_create(&to->maker, work->plan, err));
        leat_maker_listen(to->maker, on_context, to);
    }
    return LEAT_OK;
}

leat_code leat_report_sequences(const leat_loader_plan *plan, int64_t first, int64_t end,
                                leat_report_threads by, leat_sequence_stats *stats,
                                leat_error *err) {
    job work = {.plan = plan, .first = first, .ticker = by.ticker};
    int threads = leat_pool_threads(by.pool);
    if (threads > end - first) threads = (int)(end - first);
    leat_pool_job steps = {
        .parts = end - first, .threads = threads, .context = &work, .make = count_step};
    leat_ticker_stage(by.ticker, "counting", "steps", end - first);
    leat_code code = make_room(&work, threads, err);
    if (code == LEAT_OK) code = leat_pool_run(by.pool, &steps, err);
    for (int i = 0; i < threads && work.tallies != NULL; i++) {
        tally *from = &work.tallies[i];
        if (from->stats != NULL) add_stats(stats, from->stats);
        leat_maker_destroy(from->maker);
        leat_free(from->stats);
        leat_free(from->contexts);
        leat_free(from->spots);
        leat_free(from->room);
    }
    leat_free(work.tallies);
    return code;
}
