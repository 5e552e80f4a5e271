/* Verification in pieces: see checks.h. */
#include "load/checks.h"

leat_code leat_checks_begin(leat_checks *checks, const leat_verify_options *options,
                            leat_error *err) {
    *checks = (leat_checks){.options = options != NULL ? *options : leat_verify_options_default()};
    leat_ticker_create(&checks->ticker, checks->options.progress, checks->options.progress_user);
    checks->findings.kept_max = checks->options.finding_max;
    if (checks->options.threads < 1 || checks->options.threads > LEAT_THREADS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "verify: threads is %d; it must be 1 to %d",
                         checks->options.threads, LEAT_THREADS_MAX);
    if (checks->options.finding_max < 1)
        return leat_fail(err, LEAT_ERR_OPTION, "verify: finding_max is %lld; it must be at least 1",
                         (long long)checks->options.finding_max);
    return leat_pool_create(&checks->pool, checks->options.threads, err);
}

void leat_checks_end(leat_checks *checks) {
    leat_ticker_destroy(&checks->ticker);
    leat_pool_destroy(checks->pool);
    leat_findings_free(&checks->findings);
}

leat_code leat_checks_result(const leat_checks *checks, leat_error *err) {
    const leat_error *failure = &checks->findings.failure;
    return failure->code == LEAT_OK ? LEAT_OK : leat_error_copy(err, failure);
}

leat_code leat_checks_tell(leat_findings *findings, const char *file, int64_t record,
                           const leat_error *cause, leat_error *err) {
    if (cause->code == LEAT_ERR_MEMORY) return leat_error_copy(err, cause);
    LEAT_PROBLEM(findings, file, record, "%s", cause->message);
    return LEAT_OK;
}

/* ---- pieces --------------------------------------------------------------------------------- */

typedef struct pieces {
    leat_checks *checks;
    leat_checks_fn fn;
    void *context;
    leat_findings *findings; /* of each worker's piece */
} pieces;

static leat_code look(void *context, int worker, int64_t piece, leat_error *err) {
    pieces *all = context;
    all->findings[worker] = (leat_findings){.kept_max = all->checks->options.finding_max};
    return all->fn(all->context, worker, piece, &all->findings[worker], err);
}

static leat_code take(void *context, int worker, int64_t piece, leat_error *err) {
    pieces *all = context;
    (void)piece;
    return leat_findings_append(&all->checks->findings, &all->findings[worker], err);
}

leat_code leat_checks_pieces(leat_checks *checks, int64_t count, leat_checks_fn fn, void *context,
                             leat_error *err) {
    pieces all = {.checks = checks, .fn = fn, .context = context};
    leat_pool_job parts = {.parts = count, .context = &all, .make = look, .take = take};
    LEAT_TRY(LEAT_NEW(&all.findings, checks->options.threads, err));
    leat_code code = leat_pool_run(checks->pool, &parts, err);
    for (int i = 0; i < checks->options.threads; i++) leat_findings_free(&all.findings[i]);
    leat_free(all.findings);
    return code;
}
