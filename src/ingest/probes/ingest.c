/* `leat ingest probes` as a function: checks the options, runs the steps in order, one exit path.
 * See job.h. */
#include <stdio.h>
#include <string.h>

#include "base/thread.h"
#include "ingest/probes/job.h"

static void fill_result(leat_job *job) {
    leat_probes_ingest_result *result = job->result;
    const leat_job_state *state = &job->state;
    result->files = job->inputs.count;
    result->skipped = job->inputs.skipped;
    result->rows_read = state->rows_read;
    result->bytes_spilled = state->bytes_spilled;
    result->duplicates = state->duplicates;
    if (job->options->duplicates == LEAT_DUPLICATES_DROP)
        result->duplicates_dropped = state->duplicates;
    result->reject_reasons = 0;
    result->rejected = 0;
    for (int i = 0; i < LEAT_REJECT_COUNT; i++) {
        if (state->rejected[i] == 0) continue;
        result->reject_reason[result->reject_reasons] = leat_reject_text((leat_reject)i);
        result->reject_count[result->reject_reasons++] = state->rejected[i];
        result->rejected += state->rejected[i];
    }
    result->mapped = state->mapped;
    result->rtt_unit = leat_rtt_unit_of(job->options);
    result->rtt_unit_from_name =
        job->options->rtt_unit == LEAT_RTT_UNIT_AUTO && job->options->column_rtt != NULL &&
        leat_rtt_unit_of_name(job->options->column_rtt) != LEAT_RTT_UNIT_AUTO;
    result->warning_count = state->warnings.count;
    memcpy(result->warnings, state->warnings.text, sizeof result->warnings);
    leat_job_warn_rejected(job, result->rejected_warning, sizeof result->rejected_warning);
    result->memory_peak_bytes = leat_rss_peak_bytes();
    result->seconds_total = leat_job_seconds(job, leat_clock_ns());
}

/* A run with --strict has no rejected rows, whichever run read the inputs. */
static leat_code check_strict(const leat_job *job, leat_error *err) {
    int64_t all = 0;
    int most = 0;
    for (int i = 0; i < LEAT_REJECT_COUNT; i++) {
        all += job->state.rejected[i];
        if (job->state.rejected[i] > job->state.rejected[most]) most = i;
    }
    if (!job->options->strict || all == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "--strict: the interrupted run has rejected %lld rows (%s: %lld); run without "
                     "--strict, or use --strict --replace to stop at the first",
                     (long long)all, leat_reject_text(most), (long long)job->state.rejected[most]);
}

/* An earlier run has completed the data set, and it is in place by now. */
static leat_code run_finished(leat_job *job, leat_error *err) {
    bool finished = false;
    LEAT_TRY(leat_job_is_finished(job, &finished, err));
    if (!finished) return leat_ingest_folder_refuse(&job->folder, err);
    if (job->reader != LEAT_PROBES_READER)
        return leat_fail(
            err, LEAT_ERR_EXISTS,
            "the data set in \"%s\" is of these inputs and options, but was made by reading rules "
            "%lld of another version; use --replace to rebuild it, or keep it as it is",
            job->folder.out, (long long)job->reader);
    LEAT_TRY(check_strict(job, err));
    if (job->options->verify) LEAT_TRY(leat_job_verify_contents(job, "the data set", err));
    job->result->was_complete = !job->folder.published;
    job->result->resumed = true;
    job->result->seconds_scan = leat_job_seconds(job, leat_clock_ns());
    return leat_job_count(job, err);
}

/* From the journal on, the data set is complete: it only has to be moved into place. */
static leat_code publish(leat_job *job, leat_error *err) {
    LEAT_TRY(leat_job_folder_commit(&job->folder, &job->state, err));
    job->committed = true;
    leat_code code = leat_job_folder_publish(&job->folder, err);
    if (code == LEAT_OK) return LEAT_OK;
    return leat_error_context(err, code,
                              "the data set is complete; use --resume to move it into place");
}

/* Before a scan the hashes are computed, for run.json; before a scan is reused they are compared.
 */
static leat_code verify(leat_job *job, leat_error *err) {
    if (job->state.scanned) return leat_job_verify_contents(job, "the interrupted ingest", err);
    return leat_inputs_hash(&job->inputs, job->options->threads, &job->ticker, err);
}

/* A user who stops a run can resume it, although its measurements are in memory. */
static leat_code write_shards(leat_job *job, leat_error *err) {
    leat_error why = {0};
    leat_code code = leat_job_write(job, &why);
    if (code == LEAT_OK) code = leat_job_finish(job, &why);
    if (code == LEAT_ERR_CANCELLED) LEAT_TRY(leat_job_spills_write(job, err));
    return code == LEAT_OK ? LEAT_OK : leat_error_copy(err, &why);
}

static leat_code run_steps(leat_job *job, leat_error *err) {
    if (job->folder.finished) return run_finished(job, err);
    if (job->folder.resuming) LEAT_TRY(leat_job_state_load(job, err));
    LEAT_TRY(check_strict(job, err));
    job->result->resumed = job->state.scanned;
    if (job->options->verify) LEAT_TRY(verify(job, err));
    LEAT_TRY(leat_job_folder_prepare(&job->folder, err));
    if (!job->state.scanned) {
        LEAT_TRY(leat_job_scan(job, err));
        if (job->pools == NULL) LEAT_TRY(leat_job_state_save(job, err));
    }
    job->result->seconds_scan = leat_job_seconds(job, leat_clock_ns());
    LEAT_TRY(write_shards(job, err));
    return publish(job, err);
}

static leat_ingest_outcome outcome_of(const leat_job *job, leat_code code) {
    if (code == LEAT_OK) return LEAT_INGEST_DONE;
    /* A user who stops a run expects to resume it. The scan of an earlier run is not discarded
     * because of an option, a full disk or too little memory in this one, only if it is unusable.
     * Once a data set is being moved into place, nothing can be undone. */
    bool of_use = job->folder.resuming && code != LEAT_ERR_CORRUPT;
    bool wanted = code == LEAT_ERR_CANCELLED || of_use || job->committed;
    return wanted ? LEAT_INGEST_RESUMABLE : LEAT_INGEST_FAILED;
}

static leat_code run_job(leat_job *job, const char *const *paths, int64_t path_count,
                         const char *out_dir, leat_error *err) {
    LEAT_TRY(leat_inputs_find(paths, path_count, &leat_probe_inputs, &job->inputs, err));
    LEAT_TRY(LEAT_NEW(&job->input_paths, job->inputs.count, err));
    for (int64_t i = 0; i < job->inputs.count; i++) job->input_paths[i] = job->inputs.items[i].path;
    LEAT_TRY(leat_probes_options_describe(job->options, &job->manifest, err));
    LEAT_TRY(leat_job_folder_open(&job->folder, &job->output, out_dir, job->options, err));
    leat_error failure = {0};
    leat_code code = run_steps(job, &failure);
    leat_job_spills_close(job);
    leat_error left = {0};
    leat_code closed = leat_ingest_folder_close(&job->folder, outcome_of(job, code), &left);
    if (code != LEAT_OK) return leat_error_copy(err, &failure);
    if (closed != LEAT_OK)
        leat_ingest_folder_warn(&job->folder, &left, job->result->warning,
                                sizeof job->result->warning);
    fill_result(job);
    return LEAT_OK;
}

/* A user who stops a run wants to know what can be continued. */
static leat_code explain(const leat_job *job, const leat_error *why, leat_error *err) {
    if (why->code != LEAT_ERR_CANCELLED) return leat_error_copy(err, why);
    return leat_fail(err, why->code, "%s; %s", why->message,
                     job->state.scanned || job->committed
                         ? "use --resume to continue after the scan, or --replace to start over"
                         : "the scan is not complete, so --resume starts from the beginning");
}

leat_code leat_probes_ingest(const char *const *paths, int64_t path_count, const char *out_dir,
                             const leat_probes_ingest_options *options,
                             leat_probes_ingest_result *result, leat_error *err) {
    *result = (leat_probes_ingest_result){0};
    LEAT_TRY(leat_probes_options_check(options, err));
    leat_job *job = NULL;
    LEAT_TRY(LEAT_NEW(&job, 1, err));
    job->options = options;
    job->result = result;
    job->begin_ns = leat_clock_ns();
    leat_ticker_create(&job->ticker, options->progress, options->progress_user);
    leat_error why = {0};
    leat_code code = run_job(job, paths, path_count, out_dir, &why);
    if (code != LEAT_OK) code = explain(job, &why, err);
    leat_ticker_destroy(&job->ticker);
    leat_manifest_free(&job->manifest);
    leat_input_list_free(&job->inputs);
    leat_free(job->input_paths);
    leat_free(job);
    if (code != LEAT_OK) *result = (leat_probes_ingest_result){0};
    return code;
}
