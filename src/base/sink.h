/*
 * A file written front to back through one buffer, with the digests that a shard needs taken on the
 * way while the bytes are in the cache: SHA-256 of the file, XXH3-64 of each 4 KiB page.
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
    int64_t writeback_bytes; /* ask for writeback each time so much was written; 0: never */
} leat_sink_options;

typedef struct leat_sink leat_sink;

/* The file stays the caller's and must be empty and outlive the sink. */
LEAT_MUST_CHECK leat_code leat_sink_create(leat_sink **out, leat_file *file,
                                           const leat_sink_options *options, leat_error *err);
void leat_sink_destroy(leat_sink *sink);
LEAT_MUST_CHECK leat_code leat_sink_write(leat_sink *sink, const void *bytes, int64_t size_bytes,
                                          leat_error *err);
/* size_bytes zero bytes. */
LEAT_MUST_CHECK leat_code leat_sink_zeros(leat_sink *sink, int64_t size_bytes, leat_error *err);
/*
 * Another digest that is to be taken beside the file's own, of about as many bytes: they are hashed
 * together, in little more time than one of them. From leat_sink_beside on `bytes` must stay as
 * they are until leat_sink_beside_end, which takes the rest. No effect on the file.
 */
void leat_sink_beside(leat_sink *sink, leat_sha256 *sha, const void *bytes, int64_t size_bytes);
void leat_sink_beside_end(leat_sink *sink);
/* Bytes accepted so far. */
int64_t leat_sink_position(const leat_sink *sink);
/* Writes out the buffer and finishes the digests. No write may follow. */
LEAT_MUST_CHECK leat_code leat_sink_finish(leat_sink *sink, leat_error *err);
/* After finish. The hashes belong to the sink. */
void leat_sink_sha256(const leat_sink *sink, uint8_t digest[32]);
const uint64_t *leat_sink_page_hashes(const leat_sink *sink, int64_t *page_count);

#endif
