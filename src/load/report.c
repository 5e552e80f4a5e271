/*
 * A report on batches: what sequences hold as they are asked for, beside the same anchors without
 * packing, and beside chunks of 5 minutes. All numbers are sums and distributions, which threads
 * count apart and add up at the end.
 */
#include "load/report.h"

#include <string.h>

const char *leat_span_scale_name(int scale) {
    static const char *const names[] = {"single", "seconds", "minutes", "hours", "days", "weeks"};
    return scale >= 0 && scale < LEAT_SPAN_SCALES ? names[scale] : "";
}

const char *leat_time_mode_name(int mode) {
    static const char *const names[] = {
        [LEAT_TIME_FULL] = "full",
        [LEAT_TIME_PARTIAL] = "partial",
        [LEAT_TIME_NONE] = "none",
        [LEAT_TIME_MIXED] = "mixed",
    };
    return mode >= 0 && mode < LEAT_TIME_MODES ? names[mode] : "";
}

/* ---- a pass by several threads --------------------------------------------------------------- */

void leat_report_pass_begin(leat_report_pass *pass, int64_t first, int64_t end,
                            const leat_batch_report_options *options) {
    memset(pass, 0, sizeof *pass);
    pass->first = first;
    pass->end = end;
    pass->options = options;
    atomic_store(&pass->next, first);
    atomic_store(&pass->failed, end);
    pthread_mutex_init(&pass->lock, NULL);
}

bool leat_report_pass_take(leat_report_pass *pass, int64_t *part) {
    *part = atomic_fetch_add(&pass->next, 1);
    return *part < atomic_load(&pass->failed);
}

void leat_report_pass_done(leat_report_pass *pass, int64_t part, const leat_error *failure) {
    const leat_batch_report_options *options = pass->options;
    pthread_mutex_lock(&pass->lock);
    if (failure != NULL && part < atomic_load(&pass->failed)) {
        atomic_store(&pass->failed, part);
        pass->failure = *failure;
    }
    leat_progress progress = {pass->what, pass->unit, ++pass->done, pass->end - pass->first};
    if (options->progress != NULL && !pass->is_cancelled)
        pass->is_cancelled = !options->progress(options->progress_user, &progress);
    if (pass->is_cancelled) atomic_store(&pass->failed, pass->first);
    pthread_mutex_unlock(&pass->lock);
}

leat_code leat_report_pass_end(leat_report_pass *pass, leat_error *err) {
    pthread_mutex_destroy(&pass->lock);
    if (pass->is_cancelled) return leat_fail(err, LEAT_ERR_CANCELLED, "report: cancelled");
    if (pass->failure.code != LEAT_OK) return leat_error_copy(err, &pass->failure);
    return LEAT_OK;
}

/* ---- the report --------------------------------------------------------------------------------
 */

leat_batch_report_options leat_batch_report_options_default(void) {
    return (leat_batch_report_options){
        .end_step = -1, .sequence_max = 16384, .read_bytes_max = INT64_C(1) << 30};
}

static leat_code check(const leat_batch_report_options *options, leat_error *err) {
    if (options->first_step < 0)
        return leat_fail(err, LEAT_ERR_OPTION, "report: first_step is %lld; it is 0 or more",
                         (long long)options->first_step);
    if (options->end_step < 0 && options->sequence_max < 1)
        return leat_fail(err, LEAT_ERR_OPTION, "report: sequence_max is %lld; it is 1 or more",
                         (long long)options->sequence_max);
    return LEAT_OK;
}

/* Which steps there are to count. */
static leat_code choose_steps(const leat_plan *plan, const leat_batch_report_options *options,
                              leat_batch_report *report, leat_error *err) {
    int64_t batch = plan->options.batch, end = options->end_step;
    int64_t last = leat_plan_end(plan);
    int64_t most = options->sequence_max / batch > 0 ? options->sequence_max / batch : 1;
    if (end < 0) end = most < last - options->first_step ? options->first_step + most : last;
    if (end > last) end = last;
    if (options->first_step >= end)
        return leat_fail(err, LEAT_ERR_OPTION, "report: no steps from %lld to %lld: there are %lld",
                         (long long)options->first_step, (long long)end - 1, (long long)last);
    report->first_step = options->first_step;
    report->end_step = end;
    return LEAT_OK;
}

static void count_rows(const leat_plan *plan, leat_batch_report *report) {
    for (int64_t row = 0; row < plan->split_rows; row++) {
        int64_t contexts =
            leat_anchors_first(plan->anchors, row + 1) - leat_anchors_first(plan->anchors, row);
        leat_dist_add(&report->row_contexts, contexts, 1);
    }
}

/* The same anchors without packing: how many contexts a row has does not depend on it. */
static leat_code count_unpacked(const leat_dataset *dataset, const leat_loader_options *options,
                                const leat_batch_report_options *report_options,
                                leat_quarantine *quarantine, leat_batch_report *report,
                                leat_error *err) {
    leat_loader_options unpacked = *options;
    leat_plan *plan = NULL;
    unpacked.sample.packing = LEAT_PACKING_NONE;
    LEAT_TRY(leat_plan_create(&plan, dataset, &unpacked, err));
    plan->quarantine = quarantine;
    leat_code code = leat_report_sequences(plan, report->first_step, report->end_step,
                                           report_options, &report->unpacked, err);
    leat_plan_destroy(plan);
    return code;
}

static leat_code fill(leat_batch_report *report, const leat_plan *plan,
                      const leat_loader_options *options,
                      const leat_batch_report_options *report_options, leat_error *err) {
    LEAT_TRY(choose_steps(plan, report_options, report, err));
    report->epoch_sequences = plan->epoch_sequences;
    report->length = plan->sample.length;
    report->batch = plan->options.batch;
    report->is_filled =
        plan->sample.packing == LEAT_PACKING_FILL && plan->sample.sampler != LEAT_SAMPLER_ALL;
    count_rows(plan, report);
    LEAT_TRY(leat_report_sequences(plan, report->first_step, report->end_step, report_options,
                                   &report->asked, err));
    if (report->is_filled)
        LEAT_TRY(
            count_unpacked(plan->dataset, options, report_options, plan->quarantine, report, err));
    else report->unpacked = report->asked;
    return leat_report_chunks(plan, report_options, &report->chunks, err);
}

leat_code leat_batch_report_create(leat_batch_report **out, const leat_dataset *dataset,
                                   const leat_loader_options *options,
                                   const leat_batch_report_options *report_options,
                                   leat_error *err) {
    leat_batch_report_options defaults = leat_batch_report_options_default();
    leat_loader_options wanted = options != NULL ? *options : leat_loader_options_default();
    leat_batch_report *report = NULL;
    leat_plan *plan = NULL;
    leat_quarantine quarantine;
    *out = NULL;
    if (report_options == NULL) report_options = &defaults;
    LEAT_TRY(check(report_options, err));
    if (report_options->end_step < 0 && !wanted.by_client && wanted.epochs == 0) wanted.epochs = 1;
    LEAT_TRY(leat_plan_create(&plan, dataset, &wanted, err));
    leat_quarantine_init(&quarantine);
    plan->quarantine = &quarantine;
    leat_code code = LEAT_NEW(&report, 1, err);
    if (code == LEAT_OK) code = fill(report, plan, &wanted, report_options, err);
    leat_quarantine_destroy(&quarantine);
    leat_plan_destroy(plan);
    if (code != LEAT_OK) leat_batch_report_destroy(report);
    else *out = report;
    return code;
}

void leat_batch_report_destroy(leat_batch_report *report) { leat_free(report); }
