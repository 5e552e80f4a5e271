/* The files of a complete cache against its metadata: names, sizes and, on request, page hashes. */
#include <stdio.h>

#include "format/can_cache/can_cache.h"

int64_t leat_can_split_pages_bytes(const leat_can_meta_split *split) {
    return leat_page_hashes_bytes(split->file_bytes);
}

leat_code leat_can_split_path(const char *dir, const leat_can_meta_split *split, const char *suffix,
                              char path[LEAT_PATH_BYTES], leat_error *err) {
    char name[LEAT_CAN_NAME_BYTES + sizeof LEAT_CAN_TENSORS_SUFFIX];
    snprintf(name, sizeof name, "%s%s", split->name, suffix);
    return leat_path_join(path, LEAT_PATH_BYTES, dir, name, err);
}

leat_tensor_file leat_can_split_file(const leat_can_meta_split *split) {
    return (leat_tensor_file){split->file_bytes, split->pages_hash, LEAT_CAN_REBUILD};
}

static leat_code check_size(const char *dir, const leat_can_meta_split *split, const char *suffix,
                            int64_t size_bytes, leat_error *err) {
    char path[LEAT_PATH_BYTES];
    LEAT_TRY(leat_can_split_path(dir, split, suffix, path, err));
    return leat_file_check_size(path, size_bytes, LEAT_CAN_REBUILD, err);
}

static leat_code check_pages(const char *dir, const leat_can_meta_split *split, int threads,
                             leat_ticker *ticker, leat_error *err) {
    char path[LEAT_PATH_BYTES], pages[LEAT_PATH_BYTES];
    const leat_tensor_file file = leat_can_split_file(split);
    LEAT_TRY(leat_can_split_path(dir, split, LEAT_CAN_TENSORS_SUFFIX, path, err));
    LEAT_TRY(leat_can_split_path(dir, split, LEAT_CAN_PAGES_SUFFIX, pages, err));
    return leat_tensor_file_check(path, pages, &file, threads, ticker, err);
}

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
