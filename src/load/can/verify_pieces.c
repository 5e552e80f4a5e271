/*
 * What the checks of a CAN cache share: names of its files as findings show them, and work divided
 * into pieces whose findings are kept in their order.
 */
#include <stdio.h>

#include "load/can/verify.h"

leat_can_file_name leat_can_tensors_name(const leat_can_meta_split *split) {
    leat_can_file_name name;
    snprintf(name.text, sizeof name.text, "%s" LEAT_CAN_TENSORS_SUFFIX, split->name);
    return name;
}

leat_can_file_name leat_can_pages_name(const leat_can_meta_split *split) {
    leat_can_file_name name;
    snprintf(name.text, sizeof name.text, "%s" LEAT_CAN_PAGES_SUFFIX, split->name);
    return name;
}

leat_code leat_can_verify_tell(leat_findings *findings, const char *file, int64_t record,
                               const leat_error *cause, leat_error *err) {
    if (cause->code == LEAT_ERR_MEMORY) return leat_error_copy(err, cause);
    LEAT_PROBLEM(findings, file, record, "%s", cause->message);
    return LEAT_OK;
}

/* ---- pieces --------------------------------------------------------------------------------- */

typedef struct pieces {
    leat_can_verify *job;
    leat_can_piece_fn fn;
    void *context;
    leat_findings *findings; /* of each worker's piece */
} pieces;

static leat_code look(void *context, int worker, int64_t piece, leat_error *err) {
    pieces *all = context;
    all->findings[worker] = (leat_findings){.kept_max = all->job->options.finding_max};
    return all->fn(all->context, worker, piece, &all->findings[worker], err);
}

static leat_code take(void *context, int worker, int64_t piece, leat_error *err) {
    pieces *all = context;
    (void)piece;
    return leat_findings_append(&all->job->findings, &all->findings[worker], err);
}

leat_code leat_can_verify_pieces(leat_can_verify *job, int64_t count, leat_can_piece_fn fn,
                                 void *context, leat_error *err) {
    pieces all = {.job = job, .fn = fn, .context = context};
    leat_pool_job parts = {.parts = count, .context = &all, .make = look, .take = take};
    LEAT_TRY(LEAT_NEW(&all.findings, job->options.threads, err));
    leat_code code = leat_pool_run(job->pool, &parts, err);
    for (int i = 0; i < job->options.threads; i++) leat_findings_free(&all.findings[i]);
    leat_free(all.findings);
    return code;
}
