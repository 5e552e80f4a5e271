/*
 * The first sequences of a report, segment by segment: they are made once more, because what counts
 * sequences keeps sums alone.
 */
#include "load/probes/report.h"

typedef struct listener {
    const leat_loader_plan *plan;
    leat_report_sequence *out;
    leat_error err; /* the first failure */
} listener;

static leat_code add_segment(listener *to, int64_t split_row, int64_t k,
                             const leat_context *context, leat_error *err) {
    leat_report_sequence *out = to->out;
    leat_row_facts facts;
    int64_t row = leat_loader_plan_row(to->plan, split_row), begin = out->tokens;
    out->tokens += context->tokens;
    if (out->segment_count++ >= LEAT_REPORT_SEGMENTS) return LEAT_OK;
    LEAT_TRY(leat_dataset_row(to->plan->dataset, row, &facts, err));
    out->segments[out->segment_count - 1] = (leat_report_segment){
        .row = row, .src_id = facts.src_id, .context = k, .begin = begin, .end = out->tokens};
    return LEAT_OK;
}

static void on_context(void *user, int64_t t, int64_t row, int64_t k, const leat_context *context,
                       const leat_measurement *points) {
    listener *to = user;
    (void)t;
    (void)points;
    if (to->err.code != LEAT_OK || context->kept == 0) return;
    leat_code code = add_segment(to, row, k, context, &to->err);
    if (code != LEAT_OK) to->err.code = code;
}

static leat_code add_sequence(listener *to, leat_maker *maker, int32_t *room,
                              leat_batch_report *report, int64_t batch_row, leat_error *err) {
    leat_arrays arrays = leat_arrays_in(room, report->length);
    leat_made made;
    leat_report_sequence *out = &report->first[report->first_count];
    to->out = out;
    LEAT_TRY(leat_maker_make(maker, report->first_step, batch_row, &arrays, &made, err));
    if (to->err.code != LEAT_OK) return leat_error_copy(err, &to->err);
    if (made.is_past_end) return LEAT_OK;
    /* what was drawn before the damage was met is not in the sequence */
    if (made.is_masked) *out = (leat_report_sequence){.is_masked = true};
    out->sequence = report->first_step * report->batch + batch_row;
    report->first_count++;
    return LEAT_OK;
}

leat_code leat_report_first(const leat_loader_plan *plan, leat_batch_report *report,
                            leat_error *err) {
    listener to = {.plan = plan};
    leat_maker *maker = NULL;
    int32_t *room = NULL;
    int64_t count =
        plan->row_count < LEAT_REPORT_SEQUENCES ? plan->row_count : LEAT_REPORT_SEQUENCES;
    leat_code code = leat_maker_create(&maker, plan, err);
    if (code == LEAT_OK) code = LEAT_NEW(&room, LEAT_ARRAYS * report->length, err);
    if (code == LEAT_OK) leat_maker_listen(maker, on_context, &to);
    for (int64_t i = 0; i < count && code == LEAT_OK; i++)
        code = add_sequence(&to, maker, room, report, plan->rows[i], err);
    leat_free(room);
    leat_maker_destroy(maker);
    return code;
}
