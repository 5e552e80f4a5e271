/* `leat ingest probes` as a function: options checked, steps in order, one way out. See job.h. */
#include "base/thread.h"
#include "format/arrayrecord.h"
#include "ingest/job.h"

leat_probes_ingest_options leat_probes_ingest_options_default(void) {
    return (leat_probes_ingest_options){
        .memory_bytes = INT64_C(512) << 20,
        .threads = leat_cpu_count(),
        .train_ratio = 0.9,
        .split = LEAT_SPLIT_HASH,
        .max_row_bytes = INT64_C(8) << 20,
        .probes_per_shard = 1000,
        .record = leat_ar_options_default(),
    };
}

static leat_code check_options(const leat_probes_ingest_options *o, leat_error *err) {
    if (o->threads < 1 || o->threads > LEAT_THREADS_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION, "threads %d: give 1 to %d", o->threads,
                         LEAT_THREADS_MAX);
    }
    if (!(o->train_ratio >= 0 && o->train_ratio <= 1)) {
        return leat_fail(err, LEAT_ERR_OPTION, "train ratio %g: give 0 to 1", o->train_ratio);
    }
    if (o->max_row_bytes < 0 || (o->max_row_bytes > 0 && o->max_row_bytes < 1024)) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "largest row of %lld bytes: give at least 1024, or none",
                         (long long)o->max_row_bytes);
    }
    if (o->shards < 0 || o->shards > LEAT_SHARDS_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION, "%lld shards: give 1 to %d", (long long)o->shards,
                         LEAT_SHARDS_MAX);
    }
    if (o->shards == 0 && o->probes_per_shard < 1) {
        return leat_fail(err, LEAT_ERR_OPTION, "%lld probes per shard: give at least 1",
                         (long long)o->probes_per_shard);
    }
    if (o->record.group_size != 1) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "group size %d: probe rows stand alone in their chunks, give 1",
                         o->record.group_size);
    }
    if (o->resume && o->replace) {
        return leat_fail(err, LEAT_ERR_OPTION, "resume and replace exclude each other: give one");
    }
    return LEAT_OK;
}

/* What decides the content of the data set, in the order of the manifest. */
static leat_code describe(leat_job *job, leat_error *err) {
    const leat_probes_ingest_options *o = job->options;
    leat_manifest *manifest = &job->manifest;
    char compression[LEAT_AR_COMPRESSION_TEXT_BYTES];
    LEAT_TRY(leat_ar_compression_text(&o->record, compression, err));
    bool hash = o->split == LEAT_SPLIT_HASH;
    LEAT_TRY(leat_manifest_add_int(manifest, "seed", (int64_t)o->seed, err));
    LEAT_TRY(leat_manifest_add_real(manifest, "train_ratio", o->train_ratio, err));
    LEAT_TRY(leat_manifest_add_text(manifest, "split", hash ? "hash" : "ordered", err));
    LEAT_TRY(leat_manifest_add_int(manifest, "max_row_size", o->max_row_bytes, err));
    if (o->shards > 0) {
        LEAT_TRY(leat_manifest_add_int(manifest, "shards", o->shards, err));
    } else {
        LEAT_TRY(leat_manifest_add_int(manifest, "probes_per_shard", o->probes_per_shard, err));
    }
    LEAT_TRY(leat_manifest_add_text(manifest, "compression", compression, err));
    LEAT_TRY(leat_manifest_add_bool(manifest, "dictionary_src", o->dictionary_src, err));
    LEAT_TRY(leat_manifest_add_bool(manifest, "zero_address", o->zero_address, err));
    return leat_manifest_add_bool(manifest, "per_packet", o->per_packet, err);
}

static void fill_result(leat_job *job) {
    leat_probes_ingest_result *result = job->result;
    const leat_job_state *state = &job->state;
    result->files = job->inputs.count;
    result->rows_read = state->rows_read;
    result->bytes_spilled = state->bytes_spilled;
    result->reject_reasons = 0;
    result->rejected = 0;
    for (int i = 0; i < LEAT_REJECT_COUNT; i++) {
        if (state->rejected[i] == 0) continue;
        result->reject_reason[result->reject_reasons] = leat_reject_text((leat_reject)i);
        result->reject_count[result->reject_reasons++] = state->rejected[i];
        result->rejected += state->rejected[i];
    }
    result->memory_peak_bytes = leat_rss_peak_bytes();
    result->seconds_total = leat_job_seconds(job, leat_clock_ns());
}

/* A run with --strict has nothing set aside, whoever has read the rows. */
static leat_code check_strict(const leat_job *job, leat_error *err) {
    int64_t all = 0;
    int most = 0;
    for (int i = 0; i < LEAT_REJECT_COUNT; i++) {
        all += job->state.rejected[i];
        if (job->state.rejected[i] > job->state.rejected[most]) most = i;
    }
    if (!job->options->strict || all == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "--strict: the interrupted run has set %lld rows aside (%s: %lld): go on "
                     "without --strict, or see the first of them with --strict --replace",
                     (long long)all, leat_reject_text(most), (long long)job->state.rejected[most]);
}

/* The data set is complete; what has to be done is to move it to its place. */
static leat_code publish(leat_job *job, const uint8_t *finished_sha256, leat_error *err) {
    leat_code code = leat_job_folder_publish(&job->folder, finished_sha256, err);
    if (code == LEAT_OK) return LEAT_OK;
    return leat_error_context(err, code,
                              "the data set is complete, --resume moves it to its place");
}

/* An earlier run has made the data set; it is at its place, or on the way to it. */
static leat_code run_finished(leat_job *job, leat_error *err) {
    bool finished = true;
    if (job->folder.finished) LEAT_TRY(leat_job_is_finished(job, &finished, err));
    if (!finished) return leat_job_folder_refuse(&job->folder, err);
    LEAT_TRY(check_strict(job, err));
    job->result->was_complete = job->folder.finished;
    job->result->resumed = true;
    job->result->seconds_scan = leat_job_seconds(job, leat_clock_ns());
    LEAT_TRY(leat_job_count(job, err));
    return job->folder.finished ? LEAT_OK : publish(job, job->state.manifest_sha256, err);
}

static leat_code run_steps(leat_job *job, leat_error *err) {
    if (job->folder.resuming) LEAT_TRY(leat_job_state_load(job, err));
    if (job->folder.finished || job->state.publishing) return run_finished(job, err);
    LEAT_TRY(check_strict(job, err));
    job->result->resumed = job->state.scanned;
    LEAT_TRY(leat_job_folder_prepare(&job->folder, err));
    if (!job->state.scanned) {
        LEAT_TRY(leat_job_scan(job, err));
        LEAT_TRY(leat_job_state_save(job, err));
    }
    job->result->seconds_scan = leat_job_seconds(job, leat_clock_ns());
    LEAT_TRY(leat_job_write(job, err));
    LEAT_TRY(leat_job_finish(job, err));
    job->state.publishing = true;
    leat_code code = leat_job_state_save(job, err);
    job->state.publishing = code == LEAT_OK;
    LEAT_TRY(code);
    return publish(job, NULL, err);
}

static leat_job_outcome outcome_of(const leat_job *job, leat_code code) {
    if (code == LEAT_OK) return LEAT_JOB_DONE;
    /* Whoever stops a run wants to go on with it. The scan of an earlier run is not thrown away for
     * an option, a full disk or too little memory of this one, only if it is of no use. Of a data
     * set that is being moved to its place, nothing can be taken back. */
    bool of_use = job->folder.resuming && code != LEAT_ERR_CORRUPT;
    bool wanted = code == LEAT_ERR_CANCELLED || of_use || job->state.publishing;
    return wanted ? LEAT_JOB_RESUMABLE : LEAT_JOB_FAILED;
}

static leat_code run_job(leat_job *job, const char *const *paths, int64_t path_count,
                         const char *out_dir, leat_error *err) {
    LEAT_TRY(leat_inputs_find(paths, path_count, &leat_probe_inputs, &job->inputs, err));
    LEAT_TRY(LEAT_NEW(&job->input_paths, job->inputs.count, err));
    for (int64_t i = 0; i < job->inputs.count; i++) job->input_paths[i] = job->inputs.items[i].path;
    LEAT_TRY(describe(job, err));
    LEAT_TRY(leat_job_folder_open(&job->folder, out_dir, job->options, err));
    leat_error failure = {0};
    leat_code code = run_steps(job, &failure);
    leat_job_spills_close(job);
    leat_job_folder_close(&job->folder, outcome_of(job, code));
    if (code != LEAT_OK) return leat_error_copy(err, &failure);
    fill_result(job);
    return LEAT_OK;
}

leat_code leat_probes_ingest(const char *const *paths, int64_t path_count, const char *out_dir,
                             const leat_probes_ingest_options *options,
                             leat_probes_ingest_result *result, leat_error *err) {
    *result = (leat_probes_ingest_result){0};
    LEAT_TRY(check_options(options, err));
    leat_job *job = NULL;
    LEAT_TRY(LEAT_NEW(&job, 1, err));
    job->options = options;
    job->result = result;
    job->begin_ns = leat_clock_ns();
    leat_ticker_create(&job->ticker, options->progress, options->progress_user);
    leat_code code = run_job(job, paths, path_count, out_dir, err);
    leat_ticker_destroy(&job->ticker);
    leat_manifest_free(&job->manifest);
    leat_input_list_free(&job->inputs);
    leat_free(job->input_paths);
    leat_free(job);
    if (code != LEAT_OK) *result = (leat_probes_ingest_result){0};
    return code;
}
