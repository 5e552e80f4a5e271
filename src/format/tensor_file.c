/* Files of tensors against their sizes and page hashes: see tensor_file.h. */
#include "format/tensor_file.h"

#include "base/file.h"
#include "base/pool.h"

/* Bytes of tensors in a part of the work, and in one read. */
enum { PART_BYTES = 8 << 20, READ_BYTES = 64 << 10 };

int64_t leat_page_hashes_bytes(int64_t file_bytes) {
    int64_t pages = file_bytes / LEAT_PAGE_BYTES + (file_bytes % LEAT_PAGE_BYTES != 0);
    return pages * (int64_t)sizeof(uint64_t);
}

leat_code leat_page_hashes_load(const char *path, const leat_tensor_file *file, uint64_t **hashes,
                                leat_error *err) {
    int64_t expected = leat_page_hashes_bytes(file->file_bytes), size_bytes = 0;
    uint8_t *bytes = NULL;
    *hashes = NULL;
    leat_code code = leat_file_load(path, expected, &bytes, &size_bytes, err);
    if (code == LEAT_ERR_NOT_FOUND)
        return leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" is missing; %s", path, file->rebuild);
    if (code != LEAT_OK && code != LEAT_ERR_LIMIT) return code;
    *hashes = (uint64_t *)(void *)bytes;
    if (code == LEAT_OK && size_bytes == expected && leat_xxh3(bytes, expected) == file->pages_hash)
        return LEAT_OK;
    leat_free(bytes);
    *hashes = NULL;
    return leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" has changed since it was written; %s", path,
                     file->rebuild);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static leat_code refuse_size(const char *path, int64_t found, int64_t expected, const char *rebuild,
                             leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" has %lld bytes, but its metadata says %lld; %s",
                     path, (long long)found, (long long)expected, rebuild);
}

leat_code leat_file_check_size(const char *path, int64_t size_bytes, const char *rebuild,
                               leat_error *err) {
    leat_path_facts facts;
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE)
        return leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" is %s; %s", path,
                         facts.kind == LEAT_PATH_NONE ? "missing" : "not a file", rebuild);
    if (facts.size_bytes == size_bytes) return LEAT_OK;
    return refuse_size(path, facts.size_bytes, size_bytes, rebuild, err);
}

/* ---- pages ---------------------------------------------------------------------------------- */

typedef struct pages {
    const leat_tensor_file *of;
    const uint64_t *hashes;
    leat_file *file;
    leat_ticker *ticker;
} pages;

static leat_code check_read(const pages *job, uint8_t *bytes, int64_t offset, int64_t size,
                            leat_error *err) {
    LEAT_TRY(leat_file_pread(job->file, bytes, size, offset, err));
    for (int64_t at = 0; at < size; at += LEAT_PAGE_BYTES) {
        int64_t length = size - at < LEAT_PAGE_BYTES ? size - at : LEAT_PAGE_BYTES;
        if (leat_xxh3(bytes + at, length) == job->hashes[(offset + at) / LEAT_PAGE_BYTES]) continue;
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%s\": page at byte %lld: its hash differs from the stored one; %s",
                         leat_file_path(job->file), (long long)(offset + at), job->of->rebuild);
    }
    return LEAT_OK;
}

static leat_code check_part(void *context, int worker, int64_t part, leat_error *err) {
    const pages *job = context;
    uint8_t *bytes = NULL;
    int64_t begin = part * PART_BYTES, end = begin + PART_BYTES;
    leat_code code = LEAT_NEW(&bytes, READ_BYTES, err);
    (void)worker;
    if (end > job->of->file_bytes) end = job->of->file_bytes;
    for (int64_t at = begin; at < end && code == LEAT_OK; at += READ_BYTES)
        code = check_read(job, bytes, at, end - at < READ_BYTES ? end - at : READ_BYTES, err);
    leat_free(bytes);
    return code == LEAT_OK ? leat_ticker_step(job->ticker, end - begin, err) : code;
}

leat_code leat_tensor_file_check(const char *path, const char *pages_path,
                                 const leat_tensor_file *file, int threads, leat_ticker *ticker,
                                 leat_error *err) {
    uint64_t *hashes = NULL;
    pages job = {.of = file, .ticker = ticker};
    LEAT_TRY(leat_page_hashes_load(pages_path, file, &hashes, err));
    job.hashes = hashes;
    leat_code code = leat_file_open(&job.file, path, LEAT_FILE_READ, err);
    if (code == LEAT_OK) {
        const leat_pool_job parts = {.parts = (file->file_bytes + PART_BYTES - 1) / PART_BYTES,
                                     .threads = threads,
                                     .context = &job,
                                     .make = check_part};
        code = leat_pool_once(&parts, err);
    }
    leat_file_close(job.file);
    leat_free(hashes);
    return code;
}

/* ---- mapped --------------------------------------------------------------------------------- */

static leat_code page_hash(const void *context, int64_t page, uint64_t *hash, leat_error *err) {
    (void)err;
    *hash = ((const uint64_t *)context)[page];
    return LEAT_OK;
}

leat_code leat_tensor_file_map(leat_paged *paged, const char *path, const leat_tensor_file *file,
                               const uint64_t *hashes, leat_error *err) {
    leat_map *map = NULL;
    *paged = (leat_paged){0};
    leat_code code = leat_map_open_sized(&map, path, file->file_bytes, err);
    if (code == LEAT_ERR_NOT_FOUND)
        code = leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" is missing; %s", path, file->rebuild);
    LEAT_TRY(code);
    if (leat_map_file_bytes(map) != file->file_bytes)
        code = refuse_size(path, leat_map_file_bytes(map), file->file_bytes, file->rebuild, err);
    if (code == LEAT_OK)
        code = leat_paged_init(paged, map, file->file_bytes, page_hash, hashes, err);
    if (code != LEAT_OK) leat_map_close(map);
    return code;
}
