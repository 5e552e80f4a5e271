/*
 * Explains what a row of a batch holds: a separate maker makes the row again and reports every
 * context that it writes.
 */
#include <stdio.h>
#include <string.h>

#include "load/probes/loader.h"

typedef struct listener {
    const leat_loader_plan *plan;
    leat_explanation *out;
    int64_t segment_capacity, measurement_capacity, tokens;
    leat_error err; /* the first failure */
} listener;

static leat_code add_segment(listener *to, int64_t split_row, int64_t k,
                             const leat_context *context, leat_error *err) {
    leat_explanation *out = to->out;
    leat_row_facts facts;
    int64_t row = leat_loader_plan_row(to->plan, split_row);
    LEAT_TRY(leat_dataset_row(to->plan->dataset, row, &facts, err));
    LEAT_TRY(LEAT_GROW(&out->segments, &to->segment_capacity, out->segment_count + 1, err));
    out->segments[out->segment_count++] = (leat_explained_segment){
        .row = row,
        .shard = facts.shard,
        .record_index = facts.record_index,
        .src_id = facts.src_id,
        .row_measurements = facts.n_measurements,
        .context = k,
        .time_mode = leat_time_mode_name(context->mode),
        .window_first = context->offset,
        .window_count = context->window,
        .window_stride = context->stride,
        .token_first = to->tokens,
        .token_count = context->tokens,
        .measurement_first = out->measurement_count,
        .measurement_count = context->kept,
        .drawn = context->drawn,
    };
    to->tokens += context->tokens;
    return LEAT_OK;
}

static leat_code add_measurements(listener *to, const leat_context *context,
                                  const leat_measurement *points, leat_error *err) {
    leat_explanation *out = to->out;
    LEAT_TRY(LEAT_GROW(&out->measurements, &to->measurement_capacity,
                       out->measurement_count + context->kept, err));
    for (int32_t i = 0; i < context->kept; i++) {
        int32_t candidate = context->order[i];
        out->measurements[out->measurement_count++] = (leat_explained_measurement){
            .index = context->index[candidate],
            .time_us = points[candidate].time_us,
            .stamped = context->stamped[i],
            .cut = context->cut && i == context->kept - 1,
        };
    }
    return LEAT_OK;
}

static void on_context(void *user, int64_t t, int64_t row, int64_t k, const leat_context *context,
                       const leat_measurement *points) {
    listener *to = user;
    (void)t;
    if (to->err.code != LEAT_OK || context->kept == 0) return;
    leat_code code = add_segment(to, row, k, context, &to->err);
    if (code == LEAT_OK) code = add_measurements(to, context, points, &to->err);
    if (code != LEAT_OK) to->err.code = code;
}

/* ---- the row ------------------------------------------------------------------------------------
 */

static leat_code make_again(leat_maker *maker, leat_explanation *out, leat_error *err) {
    leat_made made;
    int32_t *room = NULL;
    int64_t length = out->length;
    LEAT_TRY(LEAT_NEW(&room, 4 * length, err));
    leat_arrays arrays = {
        out->inputs, room, room + length, room + 2 * length, out->segmentation, room + 3 * length};
    leat_code code = leat_maker_make(maker, out->step, out->row, &arrays, &made, err);
    leat_free(room);
    out->masked = made.is_masked;
    out->past_end = made.is_past_end;
    if (made.is_masked) {
        memcpy(out->reason, leat_maker_reason(maker), sizeof out->reason);
        out->segment_count = out->measurement_count = 0;
    }
    return code;
}

static leat_code explain(const leat_loader_plan *plan, leat_maker *maker, leat_explanation *out,
                         leat_error *err) {
    listener to = {.plan = plan, .out = out};
    leat_origin origin;
    out->length = plan->sample.length;
    LEAT_TRY(LEAT_NEW(&out->inputs, out->length, err));
    LEAT_TRY(LEAT_NEW(&out->segmentation, out->length, err));
    LEAT_TRY(leat_maker_find(maker, out->step, out->row, &origin, err));
    out->sequence = origin.sequence;
    bool in_epoch = plan->clients == NULL;
    out->epoch = in_epoch ? origin.sequence / plan->epoch_sequences : -1;
    out->position = in_epoch ? origin.sequence % plan->epoch_sequences : -1;
    out->anchor = origin.is_past_end ? -1 : leat_source_anchor(&origin.source, 0);
    leat_maker_listen(maker, on_context, &to);
    LEAT_TRY(make_again(maker, out, err));
    return to.err.code == LEAT_OK ? LEAT_OK : leat_error_copy(err, &to.err);
}

static leat_code check_place(const leat_loader_plan *plan, int64_t step, int64_t row,
                             leat_error *err) {
    int64_t end = leat_loader_plan_end(plan);
    if (step >= 0 && step < end && row >= 0 && row < plan->options.batch) return LEAT_OK;
    return leat_fail(
        err, LEAT_ERR_OPTION,
        "explain: no row %lld of step %lld: steps are 0 to %lld, and rows are 0 to %lld",
        (long long)row, (long long)step, (long long)end - 1, (long long)plan->options.batch - 1);
}

leat_code leat_loader_explain(const leat_loader *loader, int64_t step, int64_t row,
                              leat_explanation **out, leat_error *err) {
    const leat_loader_plan *plan = loader->plan;
    leat_explanation *made = NULL;
    leat_maker *maker = NULL;
    *out = NULL;
    LEAT_TRY(leat_ring_check_process(loader->steps.ring, err));
    LEAT_TRY(check_place(plan, step, row, err));
    LEAT_TRY(LEAT_NEW(&made, 1, err));
    made->step = step;
    made->row = row;
    leat_code code = leat_maker_create(&maker, plan, err);
    if (code == LEAT_OK) code = explain(plan, maker, made, err);
    leat_maker_destroy(maker);
    if (code != LEAT_OK) {
        leat_explanation_destroy(made);
        return code;
    }
    *out = made;
    return LEAT_OK;
}

void leat_explanation_destroy(leat_explanation *explanation) {
    if (explanation == NULL) return;
    leat_free(explanation->segments);
    leat_free(explanation->measurements);
    leat_free(explanation->inputs);
    leat_free(explanation->segmentation);
    leat_free(explanation);
}
