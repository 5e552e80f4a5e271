/*
 * Verification of a CAN cache: every byte is read, and every stored fact is computed again.
 *
 * Consequences of reported damage are not reported again: a split's graphs are checked only if its
 * bytes are intact, and totals only if its graphs are.
 */
#include "load/can/verify.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

/* ---- documents ------------------------------------------------------------------------------ */

/* Equal caches have equal documents, byte by byte, so they must be written that way. */
static leat_code check_form(leat_can_verify *job, leat_can_document which, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t there[32], ours[32];
    leat_error cause = {0};
    leat_sha256 sha;
    const char *name = leat_can_document_name(which);
    LEAT_TRY(leat_path_join(path, sizeof path, job->dir, name, err));
    leat_sha256_init(&sha);
    LEAT_TRY(leat_can_document_write(&job->meta, which, leat_sha256_write, &sha, err));
    leat_sha256_final(&sha, ours);
    if (leat_file_sha256(path, there, &cause) != LEAT_OK)
        return leat_checks_tell(&job->checks.findings, name, -1, &cause, err);
    if (memcmp(there, ours, sizeof ours) != 0)
        LEAT_PROBLEM(
            &job->checks.findings, name, -1,
            "its contents are equivalent, but not byte for byte what leat writes; it was edited");
    return LEAT_OK;
}

static leat_code check_documents(leat_can_verify *job, bool *good, leat_error *err) {
    leat_error cause = {0};
    const char *file = NULL;
    *good = false;
    if (leat_can_meta_load_all(&job->meta, job->dir, &file, &cause) != LEAT_OK)
        return leat_checks_tell(&job->checks.findings, file, -1, &cause, err);
    for (int i = 0; i < LEAT_CAN_DOCUMENTS; i++)
        LEAT_TRY(check_form(job, (leat_can_document)i, err));
    if (leat_can_cache_open(&job->cache, job->dir, &cause) != LEAT_OK)
        return leat_checks_tell(&job->checks.findings, LEAT_CAN_COMPLETE_NAME, -1, &cause, err);
    *good = true;
    return LEAT_OK;
}

/* ---- names ---------------------------------------------------------------------------------- */

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
            LEAT_PROBLEM(&job->checks.findings, name, -1,
                         "is not a split of this cache, but readers that take all "
                         "*" LEAT_CAN_TENSORS_SUFFIX " files would read it; remove it");
        else LEAT_NOTE(&job->checks.findings, name, -1, "does not belong to the cache");
    }
    leat_path_list_free(&names);
    return LEAT_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static leat_code check_split(leat_can_verify *job, const leat_can_meta_split *split,
                             leat_error *err) {
    int64_t before = job->checks.findings.problems;
    LEAT_TRY(leat_can_verify_bytes(job, split, err));
    if (job->checks.options.quick || job->checks.findings.problems > before) return LEAT_OK;
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
    leat_ticker_stage(&job->checks.ticker, "verifying", "bytes", total);
    int64_t before = job->checks.findings.problems;
    for (int i = 0; i < job->meta.split_count; i++)
        LEAT_TRY(check_split(job, &job->meta.splits[i], err));
    if (!job->checks.options.quick && job->checks.findings.problems == before) {
        job->report->captures = job->meta.capture_count;
        LEAT_TRY(leat_can_verify_windows(job, err));
    }
    LEAT_TRY(check_names(job, err));
    return job->checks.options.quick ? LEAT_OK : leat_can_verify_inputs(job, err);
}

leat_code leat_can_cache_verify(const char *path, const leat_verify_options *options,
                                leat_can_verify_report **out, leat_error *err) {
    leat_can_verify job = {0};
    *out = NULL;
    leat_code code = leat_checks_begin(&job.checks, options, err);
    if (code == LEAT_OK) code = LEAT_NEW(&job.report, 1, err);
    if (code == LEAT_OK) code = check(&job, path, err);
    if (code == LEAT_OK) code = leat_checks_result(&job.checks, err);
    if (code == LEAT_OK) {
        leat_findings *findings = &job.checks.findings;
        job.report->problem_count = findings->problems;
        job.report->note_count = findings->notes;
        job.report->finding_count = findings->count;
        job.report->findings = findings->items; /* owned by the report now */
        *findings = (leat_findings){0};
        *out = job.report;
    } else {
        leat_free(job.report);
    }
    leat_checks_end(&job.checks);
    leat_can_cache_close(job.cache);
    leat_can_meta_free(&job.meta);
    return code;
}

void leat_can_verify_report_destroy(leat_can_verify_report *report) {
    if (report == NULL) return;
    leat_free(report->findings);
    leat_free(report);
}
