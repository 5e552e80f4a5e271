/*
 * Verification: every byte of a data set is read and everything that it claims is computed again.
 *
 * Shards are independent: each thread takes the next one. A shard's findings wait until those of
 * the shards before it are in, so that the report reads the same for any number of threads.
 */
#include "load/verify.h"

#include <pthread.h>

#include "base/mem.h"
#include "base/thread.h"

struct leat_verify_shared {
    pthread_mutex_t lock; /* of all that follows, and of job->findings */
    int64_t next_shard;   /* to be taken */
    int64_t frontier;     /* findings of the shards before it are in */
    int64_t bytes_done;
};

leat_verify_options leat_verify_options_default(void) {
    return (leat_verify_options){.threads = leat_cpu_count(), .finding_max = 1000};
}

/* ---- Threads ------------------------------------------------------------------------------ */

bool leat_verify_tick(leat_verify_job *job, int64_t bytes) {
    struct leat_verify_shared *shared = job->shared;
    pthread_mutex_lock(&shared->lock);
    shared->bytes_done += bytes;
    leat_progress progress = {"verifying", "bytes", shared->bytes_done, job->bytes_total};
    if (progress.done > progress.total) progress.total = progress.done;
    if (job->options.progress != NULL && !atomic_load(&job->stop) &&
        !job->options.progress(job->options.progress_user, &progress))
        atomic_store(&job->stop, true);
    pthread_mutex_unlock(&shared->lock);
    return !atomic_load(&job->stop);
}

/* Puts the findings of finished shards into the report, as far as there is no gap. */
static leat_code advance_frontier(leat_verify_job *job, leat_verify_shard *finished,
                                  leat_error *err) {
    struct leat_verify_shared *shared = job->shared;
    leat_code code = LEAT_OK;
    pthread_mutex_lock(&shared->lock);
    finished->done = true;
    while (code == LEAT_OK && shared->frontier < job->shard_count &&
           job->shards[shared->frontier].done)
        code = leat_findings_append(&job->findings, &job->shards[shared->frontier++].findings, err);
    pthread_mutex_unlock(&shared->lock);
    return code;
}

static leat_code verify_shards(void *context, int index, leat_error *err) {
    leat_verify_job *job = context;
    (void)index;
    for (;;) {
        pthread_mutex_lock(&job->shared->lock);
        int64_t k = job->shared->next_shard++;
        pthread_mutex_unlock(&job->shared->lock);
        if (k >= job->shard_count || atomic_load(&job->stop)) return LEAT_OK;
        leat_code code = leat_verify_one_shard(job, &job->shards[k], err);
        if (code == LEAT_OK) code = advance_frontier(job, &job->shards[k], err);
        if (code != LEAT_OK) {
            atomic_store(&job->stop, true);
            return code;
        }
    }
}

static leat_code run(leat_verify_job *job, const char *const *paths, int64_t path_count,
                     leat_error *err) {
    LEAT_TRY(leat_verify_find(job, paths, path_count, err));
    for (int64_t k = 0; k < job->shard_count; k++)
        job->shards[k].findings.kept_max = job->options.finding_max;
    LEAT_TRY(leat_threads_run(job->options.threads, verify_shards, job, err));
    if (atomic_load(&job->stop)) return leat_fail(err, LEAT_ERR_CANCELLED, "verify: cancelled");
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
    struct leat_verify_shared shared = {0};
    leat_verify_job job = {.shared = &shared};
    *out = NULL;
    job.options = options != NULL ? *options : leat_verify_options_default();
    if (job.options.threads < 1 || job.options.threads > LEAT_THREADS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "verify: threads %d is not in 1..%d",
                         job.options.threads, LEAT_THREADS_MAX);
    if (job.options.finding_max < 1 || path_count < 1)
        return leat_fail(err, LEAT_ERR_OPTION,
                         "verify: %lld findings to keep, %lld paths: must be "
                         "at least 1",
                         (long long)job.options.finding_max, (long long)path_count);
    job.findings.kept_max = job.folder.kept_max = job.options.finding_max;
    pthread_mutex_init(&shared.lock, NULL);
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
    pthread_mutex_destroy(&shared.lock);
    return code;
}

void leat_verify_report_destroy(leat_verify_report *report) {
    if (report == NULL) return;
    leat_free(report->findings);
    leat_free(report);
}
