/*
 * Verification: every byte of a data set is read and everything that it claims is computed again.
 *
 * A shard is a part of a job (base/pool.h). Findings are taken in the order of the shards, so that
 * the report reads the same for any number of threads.
 */
#include "load/probes/verify.h"

#include "base/mem.h"
#include "base/pool.h"
#include "format/arrayrecord/arrayrecord.h"

leat_verify_options leat_verify_options_default(void) {
    return (leat_verify_options){
        .threads = leat_cpu_count(), .finding_max = 1000, .memory_bytes = INT64_C(512) << 20};
}

/* ---- Shards ------------------------------------------------------------------------------- */

static leat_code verify_shard(void *context, int worker, int64_t k, leat_error *err) {
    leat_verify_job *job = context;
    (void)worker;
    return leat_verify_one_shard(job, &job->shards[k], err);
}

static leat_code take_findings(void *context, int worker, int64_t k, leat_error *err) {
    leat_verify_job *job = context;
    (void)worker;
    return leat_findings_append(&job->findings, &job->shards[k].findings, err);
}

/* The memory for reading a third-party file; one that cannot be opened is reported when it is read.
 */
static leat_code measure(leat_verify_job *job, leat_verify_shard *shard, leat_error *err) {
    leat_ar_reader *reader = NULL;
    leat_error cause = {0};
    int64_t need = 0, left = leat_reading_left(&job->reading);
    leat_code code = leat_ar_reader_open_within(&reader, shard->path, left, &need, &cause);
    if (code == LEAT_ERR_MEMORY) return leat_error_copy(err, &cause);
    if (code == LEAT_ERR_LIMIT && need > left) {
        return leat_reading_take(&job->reading, shard->path, need, err);
    }
    int64_t count = code == LEAT_OK ? leat_ar_reader_chunk_count(reader) : 0;
    for (int64_t i = 0; i < count; i++) {
        leat_reading_chunk chunk = {.record_count = leat_ar_reader_chunk(reader, i).record_count};
        if (leat_ar_reader_measure(reader, i, &chunk.file_bytes, &chunk.decoded_bytes, NULL) !=
            LEAT_OK) {
            continue;
        }
        leat_reading_add_chunk(&job->reading, &chunk);
        leat_reading_widen(&shard->largest, &chunk);
    }
    leat_ar_reader_close(reader);
    return LEAT_OK;
}

static leat_code measure_others(leat_verify_job *job, leat_error *err) {
    bool any = false;
    for (int64_t k = 0; k < job->shard_count && !job->options.quick; k++) {
        if (job->shards[k].rules != NULL) continue;
        any = true;
        LEAT_TRY(measure(job, &job->shards[k], err));
    }
    if (any) job->options.threads = leat_reading_share(&job->reading, job->options.threads);
    return LEAT_OK;
}

static leat_code run(leat_verify_job *job, const char *const *paths, int64_t path_count,
                     leat_error *err) {
    LEAT_TRY(leat_verify_find(job, paths, path_count, err));
    for (int64_t k = 0; k < job->shard_count; k++)
        job->shards[k].findings.kept_max = job->options.finding_max;
    LEAT_TRY(measure_others(job, err));
    leat_pool_job shards = {.parts = job->shard_count,
                            .threads = job->options.threads,
                            .context = job,
                            .make = verify_shard,
                            .take = take_findings};
    leat_ticker_stage(&job->ticker, "verifying", "bytes", job->bytes_total);
    LEAT_TRY(leat_pool_once(&shards, err));
    LEAT_TRY(leat_ticker_check(&job->ticker, err));
    if (!job->options.quick) LEAT_TRY(leat_verify_whole(job, err));
    return leat_findings_append(&job->findings, &job->folder, err);
}

static void free_job(leat_verify_job *job) {
    for (int64_t k = 0; k < job->shard_count; k++) {
        leat_findings_free(&job->shards[k].findings);
        leat_free(job->shards[k].probes);
        leat_free(job->shards[k].path);
        leat_free(job->shards[k].name);
    }
    leat_free(job->shards);
    leat_findings_free(&job->findings);
    leat_findings_free(&job->folder);
    leat_index_close(job->index);
    leat_manifest_free(&job->manifest);
    leat_reading_destroy(&job->reading);
}

static void fill_report(leat_verify_job *job, leat_verify_report *report) {
    report->ours = job->ours;
    report->shards = job->shard_count;
    for (int64_t k = 0; k < job->shard_count; k++) {
        report->rows += job->shards[k].rows;
        report->measurements += job->shards[k].measurements;
        report->file_bytes += job->shards[k].file_bytes;
    }
    report->problem_count = job->findings.problems;
    report->note_count = job->findings.notes;
    report->findings = job->findings.items;
    report->finding_count = job->findings.count;
    job->findings.items = NULL; /* the report's now */
}

leat_code leat_verify(const char *const *paths, int64_t path_count,
                      const leat_verify_options *options, leat_verify_report **out,
                      leat_error *err) {
    leat_verify_job job = {0};
    *out = NULL;
    job.options = options != NULL ? *options : leat_verify_options_default();
    if (job.options.threads < 1 || job.options.threads > LEAT_THREADS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "verify: threads is %d; it must be 1 to %d",
                         job.options.threads, LEAT_THREADS_MAX);
    if (job.options.finding_max < 1 || path_count < 1)
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "verify: finding_max is %lld and path_count is %lld; both must be at least 1",
            (long long)job.options.finding_max, (long long)path_count);
    if (job.options.memory_bytes < 0)
        return leat_fail(err, LEAT_ERR_OPTION, "verify: memory_bytes is %lld; it must be 0 or more",
                         (long long)job.options.memory_bytes);
    if (job.options.memory_bytes == 0)
        job.options.memory_bytes = leat_verify_options_default().memory_bytes;
    /* as a data set of them, so that one limit is enough to verify and to summarise */
    leat_reading_init(&job.reading, job.options.memory_bytes,
                      leat_dataset_options_default().cache_bytes);
    job.findings.kept_max = job.folder.kept_max = job.options.finding_max;
    leat_ticker_create(&job.ticker, job.options.progress, job.options.progress_user);
    leat_verify_report *report = NULL;
    leat_code code = LEAT_NEW(&report, 1, err);
    if (code == LEAT_OK) code = run(&job, paths, path_count, err);
    if (code == LEAT_OK) {
        fill_report(&job, report);
        *out = report;
    } else {
        leat_free(report);
    }
    free_job(&job);
    leat_ticker_destroy(&job.ticker);
    return code;
}

void leat_verify_report_destroy(leat_verify_report *report) {
    if (report == NULL) return;
    leat_free(report->findings);
    leat_free(report);
}
