/* The files of a complete cache against its metadata: names, sizes and, on request, page hashes. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/pool.h"
#include "base/sink.h"
#include "format/can_cache/can_cache.h"

/* Bytes of tensors in a part of the work, and in one read. */
enum { PART_BYTES = 8 << 20, READ_BYTES = 64 << 10 };

int64_t leat_can_split_pages_bytes(const leat_can_meta_split *split) {
    return (split->file_bytes + LEAT_PAGE_BYTES - 1) / LEAT_PAGE_BYTES * (int64_t)sizeof(uint64_t);
}

leat_code leat_can_split_path(const char *dir, const leat_can_meta_split *split, const char *suffix,
                              char path[LEAT_PATH_BYTES], leat_error *err) {
    char name[LEAT_CAN_NAME_BYTES + sizeof LEAT_CAN_TENSORS_SUFFIX];
    snprintf(name, sizeof name, "%s%s", split->name, suffix);
    return leat_path_join(path, LEAT_PATH_BYTES, dir, name, err);
}

static leat_code fail_damaged(const char *path, leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%s\" has changed since it was written; " LEAT_CAN_REBUILD, path);
}

leat_code leat_can_split_hashes_load(const char *path, const leat_can_meta_split *split,
                                     uint64_t **hashes, leat_error *err) {
    int64_t expected = leat_can_split_pages_bytes(split), size_bytes = 0;
    uint8_t *bytes = NULL;
    *hashes = NULL;
    leat_code code = leat_file_load(path, expected, &bytes, &size_bytes, err);
    if (code == LEAT_ERR_NOT_FOUND)
        return leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" is missing; " LEAT_CAN_REBUILD, path);
    if (code != LEAT_OK && code != LEAT_ERR_LIMIT) return code;
    *hashes = (uint64_t *)(void *)bytes;
    if (code == LEAT_OK && size_bytes == expected &&
        leat_xxh3(bytes, expected) == split->pages_hash)
        return LEAT_OK;
    leat_free(bytes);
    *hashes = NULL;
    return fail_damaged(path, err);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static leat_code check_size(const char *dir, const leat_can_meta_split *split, const char *suffix,
                            int64_t size_bytes, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    LEAT_TRY(leat_can_split_path(dir, split, suffix, path, err));
    LEAT_TRY(leat_path_stat(path, &facts, err));
    if (facts.kind != LEAT_PATH_FILE)
        return leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\" is %s; " LEAT_CAN_REBUILD, path,
                         facts.kind == LEAT_PATH_NONE ? "missing" : "not a file");
    if (facts.size_bytes == size_bytes) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT,
                     "\"%s\" has %lld bytes, but its metadata says %lld; " LEAT_CAN_REBUILD, path,
                     (long long)facts.size_bytes, (long long)size_bytes);
}

/* ---- pages ---------------------------------------------------------------------------------- */

typedef struct pages {
    const leat_can_meta_split *split;
    const uint64_t *hashes;
    leat_file *file;
    leat_ticker *ticker;
} pages;

static leat_code check_read(const pages *of, uint8_t *bytes, int64_t offset, int64_t size,
                            leat_error *err) {
    LEAT_TRY(leat_file_pread(of->file, bytes, size, offset, err));
    for (int64_t at = 0; at < size; at += LEAT_PAGE_BYTES) {
        int64_t length = size - at < LEAT_PAGE_BYTES ? size - at : LEAT_PAGE_BYTES;
        if (leat_xxh3(bytes + at, length) == of->hashes[(offset + at) / LEAT_PAGE_BYTES]) continue;
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "\"%s\": page at byte %lld: its hash differs from the stored "
                         "one; " LEAT_CAN_REBUILD,
                         leat_file_path(of->file), (long long)(offset + at));
    }
    return LEAT_OK;
}

static leat_code check_part(void *context, int worker, int64_t part, leat_error *err) {
    const pages *of = context;
    uint8_t *bytes = NULL;
    int64_t begin = part * PART_BYTES, end = begin + PART_BYTES;
    leat_code code = LEAT_NEW(&bytes, READ_BYTES, err);
    (void)worker;
    if (end > of->split->file_bytes) end = of->split->file_bytes;
    for (int64_t at = begin; at < end && code == LEAT_OK; at += READ_BYTES)
        code = check_read(of, bytes, at, end - at < READ_BYTES ? end - at : READ_BYTES, err);
    leat_free(bytes);
    return code == LEAT_OK ? leat_ticker_step(of->ticker, end - begin, err) : code;
}

static leat_code check_pages(const char *dir, const leat_can_meta_split *split, int threads,
                             leat_ticker *ticker, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    uint64_t *hashes = NULL;
    pages of = {.split = split, .ticker = ticker};
    LEAT_TRY(leat_can_split_path(dir, split, LEAT_CAN_PAGES_SUFFIX, path, err));
    LEAT_TRY(leat_can_split_hashes_load(path, split, &hashes, err));
    of.hashes = hashes;
    leat_code code = leat_can_split_path(dir, split, LEAT_CAN_TENSORS_SUFFIX, path, err);
    if (code == LEAT_OK) code = leat_file_open(&of.file, path, LEAT_FILE_READ, err);
    if (code == LEAT_OK) {
        const leat_pool_job job = {.parts = (split->file_bytes + PART_BYTES - 1) / PART_BYTES,
                                   .threads = threads,
                                   .context = &of,
                                   .make = check_part};
        code = leat_pool_once(&job, err);
    }
    leat_file_close(of.file);
    leat_free(hashes);
    return code;
}

/* ---- the cache ------------------------------------------------------------------------------ */

leat_code leat_can_files_check(const leat_can_meta *meta, const char *dir, bool pages, int threads,
                               leat_ticker *ticker, leat_error *err) {
    int64_t total = 0;
    for (int i = 0; i < meta->split_count; i++) {
        const leat_can_meta_split *split = &meta->splits[i];
        LEAT_TRY(check_size(dir, split, LEAT_CAN_TENSORS_SUFFIX, split->file_bytes, err));
        LEAT_TRY(
            check_size(dir, split, LEAT_CAN_PAGES_SUFFIX, leat_can_split_pages_bytes(split), err));
        total += split->file_bytes;
    }
    if (pages) leat_ticker_stage(ticker, "verifying", "bytes", total);
    for (int i = 0; pages && i < meta->split_count; i++)
        LEAT_TRY(check_pages(dir, &meta->splits[i], threads, ticker, err));
    return LEAT_OK;
}
