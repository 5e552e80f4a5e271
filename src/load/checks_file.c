/* Verification of a file of tensors: sizes, page hashes and header; see checks.h. */
#include <string.h>

#include "base/file.h"
#include "load/checks.h"

enum { READ_BYTES = 1 << 20 };

typedef struct checking {
    leat_checks *checks;
    const leat_checks_file *of;
    leat_file *file;
    uint64_t *hashes;
    int64_t piece_bytes; /* whole reads */
    uint8_t **buffers;   /* one per thread */
    int64_t *read_bytes;
} checking;

/* ---- the file of page hashes ---------------------------------------------------------------- */

static leat_code load_hashes(checking *job, leat_error *err) {
    const leat_checks_file *of = job->of;
    leat_findings *findings = &job->checks->findings;
    int64_t expected = leat_page_hashes_bytes(of->stated.file_bytes), size_bytes = 0;
    char path[LEAT_PATH_BYTES];
    leat_error cause = {0};
    LEAT_TRY(leat_path_join(path, sizeof path, of->dir, of->pages_name, err));
    leat_code code = leat_file_load(path, expected, (uint8_t **)&job->hashes, &size_bytes, &cause);
    if (code != LEAT_OK && code != LEAT_ERR_LIMIT)
        return leat_checks_tell(findings, of->pages_name, -1, &cause, err);
    if (code == LEAT_ERR_LIMIT || size_bytes != expected) {
        LEAT_PROBLEM(findings, of->pages_name, -1,
                     "it does not have the %lld bytes of the hashes of %lld pages",
                     (long long)expected, (long long)expected / 8);
    } else if (leat_xxh3(job->hashes, expected) != of->stated.pages_hash) {
        LEAT_PROBLEM(findings, of->pages_name, -1,
                     "its XXH3-64 differs from the metadata's; the file is damaged");
    } else {
        *job->read_bytes += expected;
        return LEAT_OK;
    }
    leat_free(job->hashes);
    job->hashes = NULL;
    return LEAT_OK;
}

/* ---- pages ---------------------------------------------------------------------------------- */

/* Adjacent damaged pages are reported together. */
typedef struct damage {
    int64_t begin, end; /* bytes; equal: none */
} damage;

static void tell_damage(const checking *job, damage *at, leat_findings *findings) {
    if (at->end > at->begin)
        LEAT_PROBLEM(findings, job->of->name, -1,
                     "bytes %lld to %lld: damaged, by the hashes of their pages",
                     (long long)at->begin, (long long)at->end - 1);
    *at = (damage){0};
}

static leat_code check_read(const checking *job, uint8_t *bytes, int64_t offset, damage *at,
                            leat_findings *findings, leat_error *err) {
    int64_t left = job->of->stated.file_bytes - offset;
    int64_t size = left < READ_BYTES ? left : READ_BYTES;
    leat_error cause = {0};
    if (leat_file_pread(job->file, bytes, size, offset, &cause) != LEAT_OK)
        return leat_checks_tell(findings, job->of->name, -1, &cause, err);
    for (int64_t page = 0; page < size; page += LEAT_PAGE_BYTES) {
        int64_t length = size - page < LEAT_PAGE_BYTES ? size - page : LEAT_PAGE_BYTES;
        int64_t begin = offset + page;
        if (leat_xxh3(bytes + page, length) == job->hashes[begin / LEAT_PAGE_BYTES]) {
            tell_damage(job, at, findings);
        } else {
            if (at->end == at->begin) at->begin = begin;
            at->end = begin + length;
        }
    }
    return LEAT_OK;
}

static leat_code check_piece(void *context, int thread, int64_t piece, leat_findings *findings,
                             leat_error *err) {
    checking *job = context;
    int64_t begin = piece * job->piece_bytes, end = begin + job->piece_bytes;
    damage at = {0};
    if (end > job->of->stated.file_bytes) end = job->of->stated.file_bytes;
    if (job->buffers[thread] == NULL) LEAT_TRY(LEAT_NEW(&job->buffers[thread], READ_BYTES, err));
    for (int64_t offset = begin; offset < end; offset += READ_BYTES)
        LEAT_TRY(check_read(job, job->buffers[thread], offset, &at, findings, err));
    tell_damage(job, &at, findings);
    return leat_ticker_step(&job->checks->ticker, end - begin, err);
}

static leat_code check_pages(checking *job, leat_error *err) {
    int threads = job->checks->options.threads;
    int64_t reads = (job->of->stated.file_bytes + READ_BYTES - 1) / READ_BYTES;
    int64_t of_piece = (reads + LEAT_CHECKS_PIECES_MAX - 1) / LEAT_CHECKS_PIECES_MAX;
    job->piece_bytes = of_piece * READ_BYTES;
    LEAT_TRY(LEAT_NEW(&job->buffers, threads, err));
    leat_code code =
        leat_checks_pieces(job->checks, (reads + of_piece - 1) / of_piece, check_piece, job, err);
    for (int i = 0; i < threads; i++) leat_free(job->buffers[i]);
    leat_free(job->buffers);
    return code;
}

/* ---- both files ----------------------------------------------------------------------------- */

static leat_code check_size(const checking *job, const char *path, bool *good, leat_error *err) {
    leat_path_facts facts;
    leat_findings *findings = &job->checks->findings;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *good = facts.kind == LEAT_PATH_FILE && facts.size_bytes == job->of->stated.file_bytes;
    if (facts.kind != LEAT_PATH_FILE) LEAT_PROBLEM(findings, job->of->name, -1, "is missing");
    else if (!*good)
        LEAT_PROBLEM(findings, job->of->name, -1, "it has %lld bytes, but its metadata says %lld",
                     (long long)facts.size_bytes, (long long)job->of->stated.file_bytes);
    return LEAT_OK;
}

static leat_code check_content(checking *job, const char *path, bool *intact, leat_error *err) {
    leat_error cause = {0};
    int64_t before = job->checks->findings.problems;
    if (leat_file_open(&job->file, path, LEAT_FILE_READ, &cause) != LEAT_OK)
        return leat_checks_tell(&job->checks->findings, job->of->name, -1, &cause, err);
    leat_code code = check_pages(job, err);
    leat_file_close(job->file);
    LEAT_TRY(code);
    *job->read_bytes += job->of->stated.file_bytes;
    *intact = job->checks->findings.problems == before;
    return LEAT_OK;
}

leat_code leat_checks_tensor_file(leat_checks *checks, const leat_checks_file *file,
                                  int64_t *read_bytes, bool *intact, leat_error *err) {
    checking job = {.checks = checks, .of = file, .read_bytes = read_bytes};
    char path[LEAT_PATH_BYTES];
    bool good = false;
    *intact = false;
    LEAT_TRY(leat_path_join(path, sizeof path, file->dir, file->name, err));
    LEAT_TRY(check_size(&job, path, &good, err));
    LEAT_TRY(load_hashes(&job, err));
    leat_code code = LEAT_OK;
    if (good && job.hashes != NULL && !checks->options.quick)
        code = check_content(&job, path, intact, err);
    leat_free(job.hashes);
    return code;
}

leat_code leat_checks_header(leat_checks *checks, const leat_checks_file *file,
                             const uint8_t *header, int64_t header_bytes, bool *same,
                             leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_error cause = {0};
    leat_file *opened = NULL;
    uint8_t *bytes = NULL;
    *same = false;
    LEAT_TRY(leat_path_join(path, sizeof path, file->dir, file->name, err));
    LEAT_TRY(LEAT_NEW(&bytes, header_bytes, err));
    leat_code code = leat_file_open(&opened, path, LEAT_FILE_READ, &cause);
    if (code == LEAT_OK) code = leat_file_pread(opened, bytes, header_bytes, 0, &cause);
    *same = code == LEAT_OK && memcmp(bytes, header, (size_t)header_bytes) == 0;
    leat_file_close(opened);
    leat_free(bytes);
    if (code == LEAT_OK) return LEAT_OK;
    return leat_checks_tell(&checks->findings, file->name, -1, &cause, err);
}
