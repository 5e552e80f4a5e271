/* Verification of a CAN cache: sizes, page hashes and header of a split's files. */
#include <string.h>

#include "base/hash.h"
#include "base/sink.h"
#include "load/can/verify.h"

enum { READ_BYTES = 1 << 20 };

typedef struct checking {
    leat_can_verify *job;
    const leat_can_meta_split *split;
    const char *name; /* of the tensors' file */
    leat_file *file;
    uint64_t *hashes;
    int64_t piece_bytes; /* whole reads */
    uint8_t **buffers;   /* one per thread */
} checking;

/* ---- the file of page hashes ---------------------------------------------------------------- */

static leat_code load_hashes(checking *of, leat_error *err) {
    const leat_can_file_name name = leat_can_pages_name(of->split);
    int64_t pages = (of->split->file_bytes + LEAT_PAGE_BYTES - 1) / LEAT_PAGE_BYTES;
    int64_t expected = pages * (int64_t)sizeof(uint64_t), size_bytes = 0;
    char path[LEAT_PATH_BYTES];
    leat_error cause = {0};
    LEAT_TRY(leat_path_join(path, sizeof path, of->job->dir, name.text, err));
    leat_code code = leat_file_load(path, expected, (uint8_t **)&of->hashes, &size_bytes, &cause);
    if (code != LEAT_OK && code != LEAT_ERR_LIMIT)
        return leat_can_verify_tell(&of->job->findings, name.text, -1, &cause, err);
    if (code == LEAT_ERR_LIMIT || size_bytes != expected) {
        LEAT_PROBLEM(&of->job->findings, name.text, -1,
                     "it does not have the %lld bytes of the hashes of %lld pages",
                     (long long)expected, (long long)pages);
    } else if (leat_xxh3(of->hashes, expected) != of->split->pages_hash) {
        LEAT_PROBLEM(&of->job->findings, name.text, -1,
                     "its XXH3-64 differs from the metadata's; the file is damaged");
    } else {
        of->job->report->file_bytes += expected;
        return LEAT_OK;
    }
    leat_free(of->hashes);
    of->hashes = NULL;
    return LEAT_OK;
}

/* ---- pages ---------------------------------------------------------------------------------- */

/* Adjacent damaged pages are reported together. */
typedef struct damage {
    int64_t begin, end; /* bytes; equal: none */
} damage;

static void tell_damage(const checking *of, damage *at, leat_findings *findings) {
    if (at->end > at->begin)
        LEAT_PROBLEM(findings, of->name, -1,
                     "bytes %lld to %lld: damaged, by the hashes of their pages",
                     (long long)at->begin, (long long)at->end - 1);
    *at = (damage){0};
}

static leat_code check_read(const checking *of, uint8_t *bytes, int64_t offset, damage *at,
                            leat_findings *findings, leat_error *err) {
    int64_t left = of->split->file_bytes - offset, size = left < READ_BYTES ? left : READ_BYTES;
    leat_error cause = {0};
    if (leat_file_pread(of->file, bytes, size, offset, &cause) != LEAT_OK)
        return leat_can_verify_tell(findings, of->name, -1, &cause, err);
    for (int64_t page = 0; page < size; page += LEAT_PAGE_BYTES) {
        int64_t length = size - page < LEAT_PAGE_BYTES ? size - page : LEAT_PAGE_BYTES;
        int64_t begin = offset + page;
        if (leat_xxh3(bytes + page, length) == of->hashes[begin / LEAT_PAGE_BYTES]) {
            tell_damage(of, at, findings);
        } else {
            if (at->end == at->begin) at->begin = begin;
            at->end = begin + length;
        }
    }
    return LEAT_OK;
}

static leat_code check_piece(void *context, int thread, int64_t piece, leat_findings *findings,
                             leat_error *err) {
    checking *of = context;
    int64_t begin = piece * of->piece_bytes, end = begin + of->piece_bytes;
    damage at = {0};
    if (end > of->split->file_bytes) end = of->split->file_bytes;
    if (of->buffers[thread] == NULL) LEAT_TRY(LEAT_NEW(&of->buffers[thread], READ_BYTES, err));
    for (int64_t offset = begin; offset < end; offset += READ_BYTES)
        LEAT_TRY(check_read(of, of->buffers[thread], offset, &at, findings, err));
    tell_damage(of, &at, findings);
    return leat_ticker_step(&of->job->ticker, end - begin, err);
}

static leat_code check_pages(checking *of, leat_error *err) {
    int threads = of->job->options.threads;
    int64_t reads = (of->split->file_bytes + READ_BYTES - 1) / READ_BYTES;
    int64_t of_piece = (reads + LEAT_CAN_PIECES_MAX - 1) / LEAT_CAN_PIECES_MAX;
    of->piece_bytes = of_piece * READ_BYTES;
    LEAT_TRY(LEAT_NEW(&of->buffers, threads, err));
    leat_code code =
        leat_can_verify_pieces(of->job, (reads + of_piece - 1) / of_piece, check_piece, of, err);
    for (int i = 0; i < threads; i++) leat_free(of->buffers[i]);
    leat_free(of->buffers);
    return code;
}

/* ---- the header ----------------------------------------------------------------------------- */

/* Tensors of this shape have exactly one valid header, and it ends where the first of them begins.
 */
static leat_code check_header(const checking *of, leat_error *err) {
    const leat_can_meta *meta = &of->job->meta;
    const leat_can_shape shape = {of->split->graphs, of->split->nodes, of->split->edges,
                                  meta->window, meta->frames};
    const char *const metadata[] = {"format", LEAT_CAN_CACHE_FORMAT};
    leat_tensor tensors[LEAT_CAN_TENSORS];
    leat_buf header = {0};
    leat_error cause = {0};
    uint8_t *bytes = NULL;
    int64_t file_bytes = 0;
    leat_code code = leat_safetensors_plan(tensors, leat_can_tensors(&shape, tensors), metadata, 1,
                                           &header, &file_bytes, &cause);
    if (code != LEAT_OK) return leat_can_verify_tell(&of->job->findings, of->name, -1, &cause, err);
    bool same = file_bytes == of->split->file_bytes;
    if (same) code = LEAT_NEW(&bytes, header.size, err);
    if (same && code == LEAT_OK) {
        code = leat_file_pread(of->file, bytes, header.size, 0, &cause);
        if (code != LEAT_OK)
            code = leat_can_verify_tell(&of->job->findings, of->name, -1, &cause, err);
        else same = memcmp(bytes, header.data, (size_t)header.size) == 0;
    }
    if (code == LEAT_OK && !same)
        LEAT_PROBLEM(&of->job->findings, of->name, -1,
                     "its header is not that of %lld graphs, %lld nodes and %lld edges",
                     (long long)shape.graphs, (long long)shape.nodes, (long long)shape.edges);
    leat_free(bytes);
    leat_buf_free(&header);
    return code;
}

/* ---- a split -------------------------------------------------------------------------------- */

static leat_code check_size(const checking *of, const char *path, bool *good, leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    *good = facts.kind == LEAT_PATH_FILE && facts.size_bytes == of->split->file_bytes;
    if (facts.kind != LEAT_PATH_FILE) LEAT_PROBLEM(&of->job->findings, of->name, -1, "is missing");
    else if (!*good)
        LEAT_PROBLEM(&of->job->findings, of->name, -1,
                     "it has %lld bytes, but its metadata says %lld", (long long)facts.size_bytes,
                     (long long)of->split->file_bytes);
    return LEAT_OK;
}

static leat_code check_content(checking *of, const char *path, leat_error *err) {
    leat_error cause = {0};
    int64_t before = of->job->findings.problems;
    if (leat_file_open(&of->file, path, LEAT_FILE_READ, &cause) != LEAT_OK)
        return leat_can_verify_tell(&of->job->findings, of->name, -1, &cause, err);
    LEAT_TRY(check_pages(of, err));
    of->job->report->file_bytes += of->split->file_bytes;
    return of->job->findings.problems > before ? LEAT_OK : check_header(of, err);
}

leat_code leat_can_verify_bytes(leat_can_verify *job, const leat_can_meta_split *split,
                                leat_error *err) {
    const leat_can_file_name name = leat_can_tensors_name(split);
    checking of = {.job = job, .split = split, .name = name.text};
    char path[LEAT_PATH_BYTES];
    bool good = false;
    LEAT_TRY(leat_path_join(path, sizeof path, job->dir, name.text, err));
    LEAT_TRY(check_size(&of, path, &good, err));
    LEAT_TRY(load_hashes(&of, err));
    leat_code code = LEAT_OK;
    if (good && of.hashes != NULL && !job->options.quick) code = check_content(&of, path, err);
    leat_file_close(of.file);
    leat_free(of.hashes);
    return code;
}
