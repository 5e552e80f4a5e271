/*
 * Verification of a CAN cache: every byte is read, and everything that is said is computed again.
 *
 * What is looked at is cut in pieces that the data alone decides, each thread takes the next one,
 * and the findings of a piece wait until those of the pieces before it are in: the report reads the
 * same for any number of threads. What follows from damage that was told is not told again: a
 * split's graphs are looked at where its bytes are right, and counts of the whole where its graphs
 * are.
 */
#include "load/can_verify.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

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

leat_code leat_can_verify_tick(leat_can_verify *job, int64_t bytes, leat_error *err) {
    return leat_ticker_add(&job->ticker, bytes) ? LEAT_OK : leat_ticker_check(&job->ticker, err);
}

/* ---- pieces --------------------------------------------------------------------------------- */

typedef struct piece {
    leat_findings findings;
    bool done;
} piece;

typedef struct pieces {
    leat_can_verify *job;
    leat_can_piece_fn fn;
    void *context;
    piece *items;
    int64_t count;
    pthread_mutex_t lock; /* of what follows, and of the job's findings */
    int64_t next, frontier;
    bool stop;
} pieces;

/* The next piece to look at; -1: none. */
static int64_t take(pieces *all) {
    pthread_mutex_lock(&all->lock);
    int64_t k = all->stop || all->next == all->count ? -1 : all->next++;
    pthread_mutex_unlock(&all->lock);
    return k;
}

static leat_code settle(pieces *all, int64_t k, leat_code code, leat_error *err) {
    pthread_mutex_lock(&all->lock);
    all->items[k].done = code == LEAT_OK;
    while (code == LEAT_OK && all->frontier < all->count && all->items[all->frontier].done) {
        code = leat_findings_append(&all->job->findings, &all->items[all->frontier].findings, err);
        all->frontier++;
    }
    if (code != LEAT_OK) all->stop = true;
    pthread_mutex_unlock(&all->lock);
    return code;
}

static leat_code look(void *context, int index, leat_error *err) {
    pieces *all = context;
    for (int64_t k = take(all); k >= 0; k = take(all)) {
        leat_findings *findings = &all->items[k].findings;
        findings->kept_max = all->job->options.finding_max;
        LEAT_TRY(settle(all, k, all->fn(all->context, index, k, findings, err), err));
    }
    return LEAT_OK;
}

leat_code leat_can_verify_pieces(leat_can_verify *job, int64_t count, leat_can_piece_fn fn,
                                 void *context, leat_error *err) {
    pieces all = {.job = job, .fn = fn, .context = context, .count = count};
    LEAT_ASSERT(count <= LEAT_CAN_PIECES_MAX);
    LEAT_TRY(LEAT_NEW(&all.items, count, err));
    pthread_mutex_init(&all.lock, NULL);
    leat_code code = leat_threads_run(job->options.threads, look, &all, err);
    for (int64_t k = 0; k < count; k++) leat_findings_free(&all.items[k].findings);
    leat_free(all.items);
    pthread_mutex_destroy(&all.lock);
    return code;
}

/* ---- documents ------------------------------------------------------------------------------ */

static leat_code add_to_hash(void *context, const void *bytes, int64_t size_bytes,
                             leat_error *err) {
    (void)err;
    leat_sha256_update(context, bytes, size_bytes);
    return LEAT_OK;
}

/* Equal caches have equal documents, byte by byte: so must they be written. */
static leat_code check_form(leat_can_verify *job, leat_can_document which, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t there[32], ours[32];
    leat_error cause = {0};
    leat_sha256 sha;
    const char *name = leat_can_document_name(which);
    LEAT_TRY(leat_path_join(path, sizeof path, job->dir, name, err));
    leat_sha256_init(&sha);
    LEAT_TRY(leat_can_document_write(&job->meta, which, add_to_hash, &sha, err));
    leat_sha256_final(&sha, ours);
    if (leat_file_sha256(path, there, &cause) != LEAT_OK)
        return leat_can_verify_tell(&job->findings, name, -1, &cause, err);
    if (memcmp(there, ours, sizeof ours) != 0)
        LEAT_PROBLEM(&job->findings, name, -1,
                     "it says the same, but not byte by byte as leat writes it: it was edited");
    return LEAT_OK;
}

static leat_code check_documents(leat_can_verify *job, bool *good, leat_error *err) {
    leat_error cause = {0};
    const char *file = NULL;
    *good = false;
    if (leat_can_meta_load_all(&job->meta, job->dir, &file, &cause) != LEAT_OK)
        return leat_can_verify_tell(&job->findings, file, -1, &cause, err);
    for (int i = 0; i < LEAT_CAN_DOCUMENTS; i++)
        LEAT_TRY(check_form(job, (leat_can_document)i, err));
    if (leat_can_cache_open(&job->cache, job->dir, &cause) != LEAT_OK)
        return leat_can_verify_tell(&job->findings, LEAT_CAN_COMPLETE_NAME, -1, &cause, err);
    *good = true;
    return LEAT_OK;
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_ours(const leat_can_meta *meta, const char *name) {
    static const char *const names[] = {LEAT_CAN_COMPLETE_NAME, LEAT_CAN_INPUTS_NAME,
                                        "rejected.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    for (int i = 0; i < LEAT_CAN_DOCUMENTS; i++)
        if (strcmp(name, leat_can_document_name((leat_can_document)i)) == 0) return true;
    for (int i = 0; i < meta->split_count; i++) {
        if (strcmp(name, leat_can_tensors_name(&meta->splits[i]).text) == 0 ||
            strcmp(name, leat_can_pages_name(&meta->splits[i]).text) == 0)
            return true;
    }
    return false;
}

static leat_code check_names(leat_can_verify *job, leat_error *err) {
    leat_path_list names = {0};
    LEAT_TRY(leat_path_list_dir(job->dir, &names, err));
    for (int64_t i = 0; i < names.count; i++) {
        const char *name = names.paths[i];
        if (is_ours(&job->meta, name)) continue;
        if (leat_path_has_suffix(name, LEAT_CAN_TENSORS_SUFFIX))
            LEAT_PROBLEM(&job->findings, name, -1,
                         "is no split of this cache, but readers that take all "
                         "*" LEAT_CAN_TENSORS_SUFFIX " files would read it; remove it");
        else LEAT_NOTE(&job->findings, name, -1, "does not belong to the cache");
    }
    leat_path_list_free(&names);
    return LEAT_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static leat_code check_split(leat_can_verify *job, const leat_can_meta_split *split,
                             leat_error *err) {
    int64_t before = job->findings.problems;
    LEAT_TRY(leat_can_verify_bytes(job, split, err));
    if (job->options.quick || job->findings.problems > before) return LEAT_OK;
    job->report->splits++;
    job->report->graphs += split->graphs;
    job->report->nodes += split->nodes;
    job->report->edges += split->edges;
    return leat_can_verify_graphs(job, split, err);
}

static leat_code check(leat_can_verify *job, const char *path, leat_error *err) {
    bool good = false;
    LEAT_TRY(leat_can_cache_find(path, true, job->dir, err));
    LEAT_TRY(check_documents(job, &good, err));
    if (!good) return LEAT_OK;
    int64_t total = 0;
    for (int i = 0; i < job->meta.split_count; i++) total += 2 * job->meta.splits[i].file_bytes;
    leat_ticker_stage(&job->ticker, "verifying", "bytes", total);
    int64_t before = job->findings.problems;
    for (int i = 0; i < job->meta.split_count; i++)
        LEAT_TRY(check_split(job, &job->meta.splits[i], err));
    if (!job->options.quick && job->findings.problems == before) {
        job->report->captures = job->meta.capture_count;
        LEAT_TRY(leat_can_verify_windows(job, err));
    }
    LEAT_TRY(check_names(job, err));
    return job->options.quick ? LEAT_OK : leat_can_verify_inputs(job, err);
}

static leat_code check_options(const leat_verify_options *options, leat_error *err) {
    if (options->threads < 1 || options->threads > LEAT_THREADS_MAX)
        return leat_fail(err, LEAT_ERR_OPTION, "verify: threads %d is not in 1..%d",
                         options->threads, LEAT_THREADS_MAX);
    if (options->finding_max < 1)
        return leat_fail(err, LEAT_ERR_OPTION, "verify: %lld findings to keep: must be at least 1",
                         (long long)options->finding_max);
    return LEAT_OK;
}

leat_code leat_can_cache_verify(const char *path, const leat_verify_options *options,
                                leat_can_verify_report **out, leat_error *err) {
    leat_can_verify job = {.options = options != NULL ? *options : leat_verify_options_default()};
    *out = NULL;
    LEAT_TRY(check_options(&job.options, err));
    LEAT_TRY(LEAT_NEW(&job.report, 1, err));
    job.findings.kept_max = job.options.finding_max;
    leat_ticker_create(&job.ticker, job.options.progress, job.options.progress_user);
    leat_code code = check(&job, path, err);
    if (code == LEAT_OK && job.findings.failure.code != LEAT_OK)
        code = leat_error_copy(err, &job.findings.failure);
    leat_ticker_destroy(&job.ticker);
    leat_can_cache_close(job.cache);
    leat_can_meta_free(&job.meta);
    if (code != LEAT_OK) {
        leat_findings_free(&job.findings);
        leat_free(job.report);
        return code;
    }
    job.report->problem_count = job.findings.problems;
    job.report->note_count = job.findings.notes;
    job.report->findings = job.findings.items; /* the report's now */
    job.report->finding_count = job.findings.count;
    *out = job.report;
    return LEAT_OK;
}

void leat_can_verify_report_destroy(leat_can_verify_report *report) {
    if (report == NULL) return;
    leat_free(report->findings);
    leat_free(report);
}
