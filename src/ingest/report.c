/* Progress told now and then, and the wish to stop: see report.h. */
#include "ingest/report.h"

#include "base/thread.h"

/* Some ten reports a second. */
#define REPORT_NS INT64_C(100000000)

void leat_reporter_init(leat_reporter *reporter, leat_report_fn report, void *context) {
    *reporter = (leat_reporter){.report = report, .context = context};
    pthread_mutex_init(&reporter->lock, NULL);
}

void leat_reporter_destroy(leat_reporter *reporter) { pthread_mutex_destroy(&reporter->lock); }

leat_code leat_reporter_tell(leat_reporter *reporter, int64_t bytes_done, int64_t rows_done,
                             leat_error *err) {
    if (reporter->report == NULL) return LEAT_OK;
    /* another thread reports: this one has work to do */
    if (pthread_mutex_trylock(&reporter->lock) != 0) return LEAT_OK;
    bool go_on = true;
    int64_t now_ns = leat_clock_ns();
    if (now_ns >= reporter->next_ns) {
        reporter->next_ns = now_ns + REPORT_NS;
        go_on = reporter->report(reporter->context, bytes_done, rows_done);
    }
    pthread_mutex_unlock(&reporter->lock);
    return go_on ? LEAT_OK : leat_fail(err, LEAT_ERR_CANCELLED, "reading the input was stopped");
}
