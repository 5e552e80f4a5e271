/*
 * A file of tensors in a data set, and the file of its page hashes: XXH3-64 of each 4 KiB page,
 * little-endian, the last page as long as it is. The data set's metadata has the size of the first
 * and the hash of the second, so that every byte of both is covered.
 */
#ifndef LEAT_FORMAT_TENSOR_FILE_H
#define LEAT_FORMAT_TENSOR_FILE_H

#include "base/ticker.h"
#include "format/paged.h"

#define LEAT_TENSORS_SUFFIX ".safetensors"
#define LEAT_PAGES_SUFFIX ".pages"

/* What the metadata says about it. */
typedef struct leat_tensor_file {
    int64_t file_bytes;
    uint64_t pages_hash; /* XXH3-64 of the file of page hashes */
    const char *rebuild; /* what to do about damage, at the end of a message */
} leat_tensor_file;

/* Bytes of the page hashes of a file. */
int64_t leat_page_hashes_bytes(int64_t file_bytes);
/* Reads the page hashes from `path`; the caller frees *hashes. LEAT_ERR_CORRUPT: they are not those
 * of the metadata. */
LEAT_MUST_CHECK leat_code leat_page_hashes_load(const char *path, const leat_tensor_file *file,
                                                uint64_t **hashes, leat_error *err);
/* Checks that a file exists with this size: LEAT_ERR_CORRUPT if not. */
LEAT_MUST_CHECK leat_code leat_file_check_size(const char *path, int64_t size_bytes,
                                               const char *rebuild, leat_error *err);
/* Compares all pages with their hashes, with up to `threads` threads, and adds their bytes to the
 * ticker. LEAT_ERR_CORRUPT names the first page that differs. */
LEAT_MUST_CHECK leat_code leat_tensor_file_check(const char *path, const char *pages_path,
                                                 const leat_tensor_file *file, int threads,
                                                 leat_ticker *ticker, leat_error *err);
/* Maps the file, to be read through checked pages; `hashes` must outlive *paged (leat_paged_free).
 * LEAT_ERR_CORRUPT if it is missing or has another size. */
LEAT_MUST_CHECK leat_code leat_tensor_file_map(leat_paged *paged, const char *path,
                                               const leat_tensor_file *file, const uint64_t *hashes,
                                               leat_error *err);

#endif
