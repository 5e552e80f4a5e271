/*
 * A file written from front to back through one buffer, while the digests that a shard needs are
 * computed from the cached bytes: SHA-256 of the file, XXH3-64 of each 4 KiB page.
 */
#ifndef LEAT_BASE_SINK_H
#define LEAT_BASE_SINK_H

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"

#define LEAT_PAGE_BYTES 4096

typedef struct leat_sink_options {
    int64_t buffer_bytes;    /* a multiple of LEAT_PAGE_BYTES; 256 KiB if 0 */
    bool want_sha256;        /* of all bytes */
    bool want_page_hashes;   /* XXH3-64 of each page, the last one as long as it is */
    int64_t writeback_bytes; /* start writeback each time this many bytes were written; 0: never */
} leat_sink_options;

typedef struct leat_sink leat_sink;

/* The file is owned by the caller, must be empty and must outlive the sink. */
LEAT_MUST_CHECK leat_code leat_sink_create(leat_sink **out, leat_file *file,
                                           const leat_sink_options *options, leat_error *err);
void leat_sink_destroy(leat_sink *sink);
LEAT_MUST_CHECK leat_code leat_sink_write(leat_sink *sink, const void *bytes, int64_t size_bytes,
                                          leat_error *err);
/* size_bytes zero bytes. */
LEAT_MUST_CHECK leat_code leat_sink_zeros(leat_sink *sink, int64_t size_bytes, leat_error *err);
/*
 * A second digest to compute alongside that of the file, over about as many bytes: both are
 * computed together, in little more time than one. From leat_sink_beside on, `bytes` must not
 * change until leat_sink_beside_end, which hashes the rest. No effect on the file.
 */
void leat_sink_beside(leat_sink *sink, leat_sha256 *sha, const void *bytes, int64_t size_bytes);
void leat_sink_beside_end(leat_sink *sink);
/* Bytes accepted so far. */
int64_t leat_sink_position(const leat_sink *sink);
/* Writes the buffer and finishes the digests. No write may follow. */
LEAT_MUST_CHECK leat_code leat_sink_finish(leat_sink *sink, leat_error *err);
/* After leat_sink_finish. The hashes are owned by the sink. */
void leat_sink_sha256(const leat_sink *sink, uint8_t digest[32]);
const uint64_t *leat_sink_page_hashes(const leat_sink *sink, int64_t *page_count);

#endif
