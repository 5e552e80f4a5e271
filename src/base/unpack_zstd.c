/* Frames of zstd: see unpack_codec.h. A frame says how large its window is, which is most of the
 * memory that unpacking it takes. */
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/mem.h"
#include "base/unpack_codec.h"

/* Memory besides the window: the state and the buffers of a block. HEADER_BYTES: of the longest
 * header of a frame. */
enum { ZSTD_BYTES = 512 << 10, WINDOW_LOG_LEAST = 10, WINDOW_LOG_MOST = 30, HEADER_BYTES = 18 };

typedef struct frames {
    ZSTD_DCtx *context;
    int window_log;               /* of the largest window allowed */
    uint8_t header[HEADER_BYTES]; /* the first bytes of the frame */
    int64_t header_bytes;         /* read so far */
    int64_t window_bytes;
} frames;

static void destroy(void *codec) {
    frames *self = codec;
    if (self != NULL) ZSTD_freeDCtx(self->context);
    leat_free(self);
}

static leat_code create(void **out, int64_t memory_bytes, leat_error *err) {
    frames *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->window_log = WINDOW_LOG_LEAST;
    while (self->window_log < WINDOW_LOG_MOST &&
           (INT64_C(2) << self->window_log) + ZSTD_BYTES <= memory_bytes)
        self->window_log++;
    self->context = ZSTD_createDCtx();
    if (self->context == NULL || ZSTD_isError(ZSTD_DCtx_setParameter(
                                     self->context, ZSTD_d_windowLogMax, self->window_log))) {
        destroy(self);
        return leat_fail(err, LEAT_ERR_MEMORY, "zstd cannot start");
    }
    *out = self;
    return LEAT_OK;
}

static leat_code begin(void *codec, leat_error *err) {
    frames *self = codec;
    self->header_bytes = 0;
    if (!ZSTD_isError(ZSTD_DCtx_reset(self->context, ZSTD_reset_session_only))) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_MEMORY, "zstd cannot be reset");
}

/* The window of a frame, from its header (RFC 8878, 3.1.1.1); 0: it is not there, or is skipped. */
static int64_t window_of(const uint8_t *frame, int64_t size_bytes) {
    if (size_bytes < 6 || frame[0] != 0x28) return 0;
    if ((frame[4] & 0x20) == 0) {
        int64_t base = INT64_C(1) << (10 + (frame[5] >> 3));
        return base + base / 8 * (frame[5] & 7);
    }
    static const int dictionary_bytes[] = {0, 1, 2, 4}, content_bytes[] = {1, 2, 4, 8};
    int at = 5 + dictionary_bytes[frame[4] & 3], count = content_bytes[frame[4] >> 6];
    int64_t size = count == 2 ? 256 : 0;
    if (size_bytes < at + count) return 0;
    for (int i = 0; i < count && i < 7; i++) size += (int64_t)frame[at + i] << 8 * i;
    return size;
}

/* Notes the window of a frame that begins with what was read of it and `in`. */
static void note_window(frames *self, const uint8_t *in, int64_t in_bytes) {
    uint8_t header[HEADER_BYTES];
    if (self->header_bytes == HEADER_BYTES) return;
    int64_t more = HEADER_BYTES - self->header_bytes;
    if (more > in_bytes) more = in_bytes;
    memcpy(header, self->header, (size_t)self->header_bytes);
    if (more > 0) memcpy(header + self->header_bytes, in, (size_t)more);
    int64_t window = window_of(header, self->header_bytes + more);
    int64_t rounded = INT64_C(1) << WINDOW_LOG_LEAST; /* the limit is a power of two */
    while (rounded < window) rounded *= 2;
    if (rounded > self->window_bytes) self->window_bytes = rounded;
}

static void keep_header(frames *self, const uint8_t *in, int64_t in_bytes) {
    for (int64_t i = 0; i < in_bytes && self->header_bytes < HEADER_BYTES; i++)
        self->header[self->header_bytes++] = in[i];
}

static leat_code step(void *codec, leat_unpack_flow *flow, bool *end, leat_error *err) {
    frames *self = codec;
    note_window(self, flow->in, flow->in_bytes);
    ZSTD_inBuffer in = {flow->in, (size_t)flow->in_bytes, 0};
    ZSTD_outBuffer out = {flow->out, (size_t)flow->out_bytes, 0};
    size_t result = ZSTD_decompressStream(self->context, &out, &in);
    keep_header(self, flow->in, (int64_t)in.pos);
    flow->in += in.pos;
    flow->in_bytes -= (int64_t)in.pos;
    flow->out += out.pos;
    flow->out_bytes -= (int64_t)out.pos;
    *end = result == 0;
    if (!ZSTD_isError(result)) return LEAT_OK;
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation:
        return leat_fail(err, LEAT_ERR_MEMORY, "zstd is out of memory");
    case ZSTD_error_frameParameter_windowTooLarge:
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "unpacking it requires a window of %lld MiB, but there is memory for %lld "
                         "MiB",
                         (long long)(self->window_bytes >> 20),
                         (long long)((INT64_C(1) << self->window_log) >> 20));
    default: return leat_fail(err, LEAT_ERR_CORRUPT, "%s", ZSTD_getErrorName(result));
    }
}

static int64_t memory(const void *codec) {
    return ((const frames *)codec)->window_bytes + ZSTD_BYTES;
}

const leat_unpack_codec leat_unpack_zstd = {create, destroy, begin, step, memory};
