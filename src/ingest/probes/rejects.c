/* What is said of inputs of which most rows, or all, were rejected: the commonest reason, and what
 * to do about it. */
#include <stdio.h>

#include "ingest/probes/job.h"

static int commonest(const leat_job_state *state) {
    int most = 0;
    for (int i = 1; i < LEAT_REJECT_COUNT; i++) {
        if (state->rejected[i] > state->rejected[most]) most = i;
    }
    return most;
}

/* A reason may have a cause that all of its rows share. */
static const char *cause(const leat_job_state *state, int reason) {
    int64_t half = state->rejected[reason] / 2;
    switch (reason) {
    case LEAT_REJECT_TIME_RANGE:
        if (state->late_ms > half)
            return "the times look like milliseconds, but must be seconds since 1970 or ISO 8601; "
                   "divide them by 1000";
        if (state->late_far > half)
            return "the times look like microseconds or nanoseconds, but must be seconds since "
                   "1970 or ISO 8601; convert them";
        return "times must be seconds since 1970 or ISO 8601";
    case LEAT_REJECT_LINE:
        return "lines must have as many fields as the header, and valid times and numbers; use "
               "--strict to stop at the first that does not";
    case LEAT_REJECT_RTT_BAD:
        return "an rtt must be a number, or empty if the ping failed; use --strict to stop at the "
               "first that is not";
    case LEAT_REJECT_NOT_PING:
        return "they are not results of ping, which are the only ones that leat reads";
    default: return "use --strict to stop at the first";
    }
}

leat_code leat_job_check_not_empty(const leat_job *job, leat_error *err) {
    const leat_job_state *state = &job->state;
    if (state->measurements > 0) return LEAT_OK;
    if (state->rows_read == 0) {
        return leat_fail(err, LEAT_ERR_INPUT, "no rows in %lld input file%s (first: \"%s\")",
                         (long long)job->inputs.count, job->inputs.count == 1 ? "" : "s",
                         job->inputs.items[0].path);
    }
    int most = commonest(state);
    return leat_fail(err, LEAT_ERR_INPUT, "none of %lld rows is a measurement (%s: %lld); %s",
                     (long long)state->rows_read, leat_reject_text(most),
                     (long long)state->rejected[most], cause(state, most));
}

void leat_job_warn_rejected(const leat_job *job, char *text, int64_t size_bytes) {
    const leat_job_state *state = &job->state;
    int64_t all = 0;
    for (int i = 0; i < LEAT_REJECT_COUNT; i++) all += state->rejected[i];
    text[0] = 0;
    if (all <= state->rows_read / 2) return;
    int most = commonest(state);
    snprintf(text, (size_t)size_bytes,
             "%lld of %lld rows were rejected, %lld of them as %s: %s; see \"%.200s/rejected.csv\"",
             (long long)all, (long long)state->rows_read, (long long)state->rejected[most],
             leat_reject_text(most), cause(state, most), job->folder.out);
}
