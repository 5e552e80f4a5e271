/* Files written from front to back and hashed on the way: see sink.h. */
#include "base/sink.h"

#include <string.h>

struct leat_sink {
    leat_file *file;
    leat_sink_options options;
    uint8_t *buffer;
    int64_t hashed;  /* of those in the buffer, by the SHA-256 */
    int64_t filled;  /* bytes in the buffer */
    int64_t flushed; /* bytes written to the file */
    int64_t asked;   /* bytes whose writeback was asked for */
    leat_sha256 sha;
    uint8_t digest[32];
    uint64_t *pages;
    int64_t page_count, page_capacity;
    bool finished;
    leat_sha256 *beside; /* another digest, NULL: none */
    const uint8_t *beside_bytes;
    int64_t beside_size;
};

leat_code leat_sink_create(leat_sink **out, leat_file *file, const leat_sink_options *options,
                           leat_error *err) {
    *out = NULL;
    leat_sink *sink = NULL;
    LEAT_TRY(LEAT_NEW(&sink, 1, err));
    sink->file = file;
    sink->options = *options;
    if (sink->options.buffer_bytes == 0) sink->options.buffer_bytes = 256 << 10;
    LEAT_ASSERT(sink->options.buffer_bytes % LEAT_PAGE_BYTES == 0);
    leat_sha256_init(&sink->sha);
    leat_code code = leat_block_alloc((void **)&sink->buffer, sink->options.buffer_bytes, err);
    if (code != LEAT_OK) {
        leat_free(sink);
        return code;
    }
    *out = sink;
    return LEAT_OK;
}

void leat_sink_destroy(leat_sink *sink) {
    if (sink == NULL) return;
    leat_block_free(sink->buffer, sink->options.buffer_bytes);
    leat_free(sink->pages);
    leat_free(sink);
}

static leat_code hash_pages(leat_sink *sink, const uint8_t *bytes, int64_t size_bytes,
                            leat_error *err) {
    int64_t count = (size_bytes + LEAT_PAGE_BYTES - 1) / LEAT_PAGE_BYTES;
    LEAT_TRY(LEAT_GROW(&sink->pages, &sink->page_capacity, sink->page_count + count, err));
    for (int64_t at = 0; at < size_bytes; at += LEAT_PAGE_BYTES) {
        int64_t size = size_bytes - at < LEAT_PAGE_BYTES ? size_bytes - at : LEAT_PAGE_BYTES;
        sink->pages[sink->page_count++] = leat_xxh3(bytes + at, size);
    }
    return LEAT_OK;
}

/* Adds the new bytes in the buffer to the digest, and as many bytes to the second digest. */
static void hash_pending(leat_sink *sink) {
    const uint8_t *bytes = sink->buffer + sink->hashed;
    int64_t size = sink->options.want_sha256 ? sink->filled - sink->hashed : 0;
    int64_t beside = sink->beside_size < size ? sink->beside_size : size;
    if (beside > 0) {
        leat_sha256_update2(&sink->sha, bytes, size, sink->beside, sink->beside_bytes, beside);
        sink->beside_bytes += beside;
        sink->beside_size -= beside;
    } else {
        leat_sha256_update(&sink->sha, bytes, size);
    }
    sink->hashed = sink->filled;
}

void leat_sink_beside(leat_sink *sink, leat_sha256 *sha, const void *bytes, int64_t size_bytes) {
    LEAT_ASSERT(sink->beside == NULL);
    hash_pending(sink);
    sink->beside = sha;
    sink->beside_bytes = bytes;
    sink->beside_size = size_bytes;
}

void leat_sink_beside_end(leat_sink *sink) {
    hash_pending(sink);
    leat_sha256_update(sink->beside, sink->beside_bytes, sink->beside_size);
    sink->beside = NULL;
    sink->beside_size = 0;
}

/* Writes the buffer; all but the last call write whole pages. */
static leat_code flush(leat_sink *sink, leat_error *err) {
    if (sink->filled == 0) return LEAT_OK;
    hash_pending(sink);
    if (sink->options.want_page_hashes) {
        LEAT_TRY(hash_pages(sink, sink->buffer, sink->filled, err));
    }
    LEAT_TRY(leat_file_pwrite(sink->file, sink->buffer, sink->filled, sink->flushed, err));
    sink->flushed += sink->filled;
    sink->filled = 0;
    sink->hashed = 0;
    int64_t step = sink->options.writeback_bytes;
    if (step > 0 && sink->flushed - sink->asked >= step) {
        leat_file_start_writeback(sink->file, sink->asked, sink->flushed - sink->asked);
        sink->asked = sink->flushed;
    }
    return LEAT_OK;
}

leat_code leat_sink_write(leat_sink *sink, const void *bytes, int64_t size_bytes, leat_error *err) {
    LEAT_ASSERT(!sink->finished);
    const uint8_t *from = bytes;
    while (size_bytes > 0) {
        int64_t room = sink->options.buffer_bytes - sink->filled;
        int64_t step = size_bytes < room ? size_bytes : room;
        memcpy(sink->buffer + sink->filled, from, (size_t)step);
        sink->filled += step;
        from += step;
        size_bytes -= step;
        if (sink->filled == sink->options.buffer_bytes) LEAT_TRY(flush(sink, err));
    }
    return LEAT_OK;
}

leat_code leat_sink_zeros(leat_sink *sink, int64_t size_bytes, leat_error *err) {
    LEAT_ASSERT(!sink->finished);
    while (size_bytes > 0) {
        int64_t room = sink->options.buffer_bytes - sink->filled;
        int64_t step = size_bytes < room ? size_bytes : room;
        memset(sink->buffer + sink->filled, 0, (size_t)step);
        sink->filled += step;
        size_bytes -= step;
        if (sink->filled == sink->options.buffer_bytes) LEAT_TRY(flush(sink, err));
    }
    return LEAT_OK;
}

int64_t leat_sink_position(const leat_sink *sink) { return sink->flushed + sink->filled; }

leat_code leat_sink_finish(leat_sink *sink, leat_error *err) {
    LEAT_ASSERT(!sink->finished);
    LEAT_TRY(flush(sink, err));
    if (sink->options.writeback_bytes > 0 && sink->flushed > sink->asked) {
        leat_file_start_writeback(sink->file, sink->asked, sink->flushed - sink->asked);
    }
    leat_sha256_final(&sink->sha, sink->digest);
    sink->finished = true;
    return LEAT_OK;
}

void leat_sink_sha256(const leat_sink *sink, uint8_t digest[32]) {
    LEAT_ASSERT(sink->finished);
    memcpy(digest, sink->digest, 32);
}

const uint64_t *leat_sink_page_hashes(const leat_sink *sink, int64_t *page_count) {
    LEAT_ASSERT(sink->finished);
    *page_count = sink->page_count;
    return sink->pages;
}
