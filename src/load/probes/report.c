/*
 * A report on batches: what sequences hold with the given options, compared with the same anchors
 * without packing and with chunks of 5 minutes. All numbers are sums and distributions, which
 * threads count separately and which are added at the end.
 */
#include "load/probes/report.h"

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

/* ---- the report --------------------------------------------------------------------------------
 */

leat_batch_report_options leat_batch_report_options_default(void) {
    return (leat_batch_report_options){
        .end_step = -1, .sequence_max = 16384, .read_bytes_max = INT64_C(1) << 30};
}

static leat_code check(const leat_batch_report_options *options, leat_error *err) {
    if (options->first_step < 0)
        return leat_fail(err, LEAT_ERR_OPTION, "report: first_step is %lld; it must be 0 or more",
                         (long long)options->first_step);
    if (options->end_step < 0 && options->sequence_max < 1)
        return leat_fail(err, LEAT_ERR_OPTION, "report: sequence_max is %lld; it must be 1 or more",
                         (long long)options->sequence_max);
    return LEAT_OK;
}

/* The steps to count. */
static leat_code choose_steps(const leat_loader_plan *plan,
                              const leat_batch_report_options *options, leat_batch_report *report,
                              leat_error *err) {
    int64_t batch = plan->options.batch, end = options->end_step;
    int64_t last = leat_loader_plan_end(plan);
    int64_t most = options->sequence_max / batch > 0 ? options->sequence_max / batch : 1;
    if (end < 0) end = most < last - options->first_step ? options->first_step + most : last;
    if (end > last) end = last;
    if (options->first_step >= end)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "report: no steps from %lld to %lld: the loader has %lld steps",
                         (long long)options->first_step, (long long)end - 1, (long long)last);
    report->first_step = options->first_step;
    report->end_step = end;
    return LEAT_OK;
}

static void count_rows(const leat_loader_plan *plan, leat_batch_report *report) {
    for (int64_t row = 0; row < plan->split_rows; row++) {
        int64_t contexts =
            leat_anchors_first(plan->anchors, row + 1) - leat_anchors_first(plan->anchors, row);
        leat_distribution_add(&report->row_contexts, contexts, 1);
    }
}

/* The same anchors without packing, which does not change the number of contexts per row. */
static leat_code count_unpacked(const leat_loader_plan *packed, const leat_loader_options *options,
                                leat_report_threads by, leat_batch_report *report,
                                leat_error *err) {
    leat_loader_options unpacked = *options;
    leat_loader_plan *plan = NULL;
    unpacked.sample.packing = LEAT_PACKING_NONE;
    LEAT_TRY(leat_loader_plan_create(&plan, packed->dataset, &unpacked, err));
    plan->quarantine = packed->quarantine;
    leat_code code = leat_report_sequences(plan, report->first_step, report->end_step, by,
                                           &report->unpacked, err);
    leat_loader_plan_destroy(plan);
    return code;
}

static leat_code fill(leat_batch_report *report, const leat_loader_plan *plan,
                      const leat_loader_options *options,
                      const leat_batch_report_options *report_options, leat_report_threads by,
                      leat_error *err) {
    LEAT_TRY(choose_steps(plan, report_options, report, err));
    report->epoch_sequences = plan->epoch_sequences;
    report->length = plan->sample.length;
    report->batch = plan->options.batch;
    report->is_filled =
        plan->sample.packing == LEAT_PACKING_FILL && plan->sample.sampler != LEAT_SAMPLER_ALL;
    count_rows(plan, report);
    LEAT_TRY(leat_report_first(plan, report, err));
    LEAT_TRY(
        leat_report_sequences(plan, report->first_step, report->end_step, by, &report->asked, err));
    if (report->is_filled) LEAT_TRY(count_unpacked(plan, options, by, report, err));
    else report->unpacked = report->asked;
    return leat_report_chunks(plan, report_options->read_bytes_max, by, &report->chunks, err);
}

static leat_code fill_by_threads(leat_batch_report *report, const leat_loader_plan *plan,
                                 const leat_loader_options *options,
                                 const leat_batch_report_options *report_options, leat_error *err) {
    leat_pool *pool = NULL;
    leat_ticker ticker;
    LEAT_TRY(leat_pool_create(&pool, plan->options.threads, err));
    leat_ticker_create(&ticker, report_options->progress, report_options->progress_user);
    leat_code code =
        fill(report, plan, options, report_options, (leat_report_threads){pool, &ticker}, err);
    leat_ticker_destroy(&ticker);
    leat_pool_destroy(pool);
    return code;
}

leat_code leat_batch_report_create(leat_batch_report **out, const leat_dataset *dataset,
                                   const leat_loader_options *options,
                                   const leat_batch_report_options *report_options,
                                   leat_error *err) {
    leat_batch_report_options defaults = leat_batch_report_options_default();
    leat_loader_options wanted = options != NULL ? *options : leat_loader_options_default();
    leat_batch_report *report = NULL;
    leat_loader_plan *plan = NULL;
    leat_quarantine quarantine;
    *out = NULL;
    if (report_options == NULL) report_options = &defaults;
    LEAT_TRY(check(report_options, err));
    if (report_options->end_step < 0 && !wanted.by_client && wanted.epochs == 0) wanted.epochs = 1;
    LEAT_TRY(leat_loader_plan_create(&plan, dataset, &wanted, err));
    leat_quarantine_init(&quarantine);
    plan->quarantine = &quarantine;
    leat_code code = LEAT_NEW(&report, 1, err);
    if (code == LEAT_OK) code = fill_by_threads(report, plan, &wanted, report_options, err);
    leat_quarantine_destroy(&quarantine);
    leat_loader_plan_destroy(plan);
    if (code != LEAT_OK) leat_batch_report_destroy(report);
    else *out = report;
    return code;
}

void leat_batch_report_destroy(leat_batch_report *report) { leat_free(report); }
