/*
 * Verification of an image data set: every byte is read, and every stored fact is computed again.
 * Consequences of reported damage are not reported again: the fingerprint is computed only if all
 * bytes are intact.
 */
#include <stdio.h>

#include "load/checks.h"
#include "load/images/rejected.h"

enum { READ_BYTES = 1 << 20 };

typedef struct verifying {
    leat_checks checks;
    const char *dir;
    leat_image_set set;
    leat_images_verify_report *report;
} verifying;

/* ---- images.json ---------------------------------------------------------------------------- */

/* Equal data sets have equal documents, byte by byte, so it must be written that way. */
static leat_code check_form(verifying *job, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint8_t there[32], ours[32];
    leat_error cause = {0};
    leat_sha256 sha;
    LEAT_TRY(leat_path_join(path, sizeof path, job->dir, LEAT_IMAGES_NAME, err));
    leat_sha256_init(&sha);
    LEAT_TRY(leat_image_set_write(&job->set, leat_sha256_write, &sha, err));
    leat_sha256_final(&sha, ours);
    if (leat_file_sha256(path, there, &cause) != LEAT_OK)
        return leat_checks_tell(&job->checks.findings, LEAT_IMAGES_NAME, -1, &cause, err);
    if (memcmp(there, ours, sizeof ours) != 0)
        LEAT_PROBLEM(
            &job->checks.findings, LEAT_IMAGES_NAME, -1,
            "its contents are equivalent, but not byte for byte what leat writes; it was edited");
    return LEAT_OK;
}

static leat_code check_document(verifying *job, bool *good, leat_error *err) {
    char sha256[1][65];
    leat_error cause = {0};
    const char *file = LEAT_COMPLETE_NAME;
    leat_code code = leat_complete_load(&leat_image_documents, job->dir, sha256, &cause);
    if (code == LEAT_OK) {
        file = LEAT_IMAGES_NAME;
        code = leat_image_set_load(&job->set, job->dir, &cause);
    }
    *good = code == LEAT_OK;
    if (!*good) return leat_checks_tell(&job->checks.findings, file, -1, &cause, err);
    return check_form(job, err);
}

/* ---- pixels --------------------------------------------------------------------------------- */

static leat_code hash_pixels(verifying *job, leat_file *file, uint8_t *bytes, leat_sha256 *sha,
                             leat_error *err) {
    for (int64_t at = LEAT_IMAGES_HEADER_BYTES; at < job->set.file_bytes; at += READ_BYTES) {
        int64_t left = job->set.file_bytes - at, size = left < READ_BYTES ? left : READ_BYTES;
        LEAT_TRY(leat_file_pread(file, bytes, size, at, err));
        leat_sha256_update(sha, bytes, size);
        LEAT_TRY(leat_ticker_step(&job->checks.ticker, size, err));
    }
    return LEAT_OK;
}

static leat_code check_fingerprint(verifying *job, leat_error *err) {
    char path[LEAT_PATH_BYTES], hex[65];
    uint8_t *bytes = NULL, digest[32];
    leat_file *file = NULL;
    leat_sha256 sha;
    LEAT_TRY(leat_path_join(path, sizeof path, job->dir, LEAT_IMAGES_TENSORS_NAME, err));
    LEAT_TRY(LEAT_NEW(&bytes, READ_BYTES, err));
    leat_sha256_init(&sha);
    leat_code code = leat_file_open(&file, path, LEAT_FILE_READ, err);
    if (code == LEAT_OK) code = hash_pixels(job, file, bytes, &sha, err);
    leat_file_close(file);
    leat_free(bytes);
    LEAT_TRY(code);
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, hex);
    if (strcmp(hex, job->set.fingerprint) != 0)
        LEAT_PROBLEM(&job->checks.findings, LEAT_IMAGES_TENSORS_NAME, -1,
                     "the SHA-256 of its images is %s, but images.json says %s", hex,
                     job->set.fingerprint);
    return LEAT_OK;
}

static leat_code check_pixels(verifying *job, leat_error *err) {
    const leat_image_set *set = &job->set;
    const leat_checks_file file = {job->dir, LEAT_IMAGES_TENSORS_NAME, LEAT_IMAGES_PAGES_NAME,
                                   leat_image_set_file(set)};
    uint8_t header[LEAT_IMAGES_HEADER_BYTES];
    bool intact = false, same = false;
    LEAT_TRY(leat_checks_tensor_file(&job->checks, &file, &job->report->file_bytes, &intact, err));
    if (!intact) return LEAT_OK;
    job->report->images = set->count;
    LEAT_TRY(leat_image_set_header(set->count, set->size, header, err));
    LEAT_TRY(leat_checks_header(&job->checks, &file, header, sizeof header, &same, err));
    if (!same)
        LEAT_PROBLEM(&job->checks.findings, file.name, -1,
                     "its header is not that of %lld images of %d x %d", (long long)set->count,
                     set->size, set->size);
    return check_fingerprint(job, err);
}

/* ---- rejected.csv --------------------------------------------------------------------------- */

static leat_code check_reject(void *context, const leat_rejected_line *line, leat_error *err) {
    verifying *job = context;
    (void)err;
    if (!line->good)
        LEAT_PROBLEM(&job->checks.findings, LEAT_REJECTED_NAME, line->number,
                     "is not a record with file, reason and what");
    else if (line->reason < 0)
        LEAT_PROBLEM(&job->checks.findings, LEAT_REJECTED_NAME, line->number, "unknown reason");
    return LEAT_OK;
}

/* No hash covers it, but images.json has the number of its records. */
static leat_code check_rejected(verifying *job, leat_error *err) {
    int64_t count = 0;
    leat_error cause = {0};
    leat_code code = leat_rejected_read(job->dir, check_reject, job, &count, &cause);
    if (code != LEAT_OK)
        return leat_checks_tell(&job->checks.findings, LEAT_REJECTED_NAME, -1, &cause, err);
    job->report->rejected = count;
    if (count != job->set.rejected)
        LEAT_PROBLEM(&job->checks.findings, LEAT_REJECTED_NAME, -1,
                     "lists %lld files, but images.json says %lld", (long long)count,
                     (long long)job->set.rejected);
    return LEAT_OK;
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_ours(const char *name) {
    static const char *const names[] = {LEAT_IMAGES_NAMES("")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return strcmp(name, LEAT_WORK_NAME ".lock") == 0;
}

static leat_code check_names(verifying *job, leat_error *err) {
    leat_path_list names = {0};
    LEAT_TRY(leat_path_list_dir(job->dir, &names, err));
    for (int64_t i = 0; i < names.count; i++) {
        const char *name = names.paths[i];
        if (is_ours(name)) continue;
        if (strcmp(name, LEAT_WORK_NAME) == 0)
            LEAT_NOTE(&job->checks.findings, name, -1,
                      "is the work of an ingest that is running or was interrupted");
        else if (leat_path_has_suffix(name, LEAT_TENSORS_SUFFIX))
            LEAT_PROBLEM(&job->checks.findings, name, -1,
                         "is not a file of this data set, but readers that take all "
                         "*" LEAT_TENSORS_SUFFIX " files would read it; remove it");
        else LEAT_NOTE(&job->checks.findings, name, -1, "does not belong to the data set");
    }
    leat_path_list_free(&names);
    return LEAT_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static leat_code check(verifying *job, leat_error *err) {
    bool good = false;
    LEAT_TRY(leat_images_check_at(job->dir, true, err));
    LEAT_TRY(check_document(job, &good, err));
    if (good) {
        leat_ticker_stage(&job->checks.ticker, "verifying", "bytes", 2 * job->set.file_bytes);
        LEAT_TRY(check_pixels(job, err));
        LEAT_TRY(check_rejected(job, err));
    }
    return check_names(job, err);
}

leat_code leat_images_verify(const char *path, const leat_verify_options *options,
                             leat_images_verify_report **out, leat_error *err) {
    verifying job = {.dir = path};
    *out = NULL;
    leat_code code = leat_checks_begin(&job.checks, options, err);
    if (code == LEAT_OK) code = LEAT_NEW(&job.report, 1, err);
    if (code == LEAT_OK) code = check(&job, err);
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
    leat_image_set_free(&job.set);
    return code;
}

void leat_images_verify_report_destroy(leat_images_verify_report *report) {
    if (report == NULL) return;
    leat_free(report->findings);
    leat_free(report);
}
