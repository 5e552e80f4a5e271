/* Members of gzip through zlib: see unpack_codec.h. */
#define ZLIB_CONST
#include <zlib.h>

#include "base/mem.h"
#include "base/unpack_codec.h"

static leat_code create(void **out, int64_t memory_bytes, leat_error *err) {
    z_stream *zlib = NULL;
    (void)memory_bytes;
    LEAT_TRY(LEAT_NEW(&zlib, 1, err));
    /* 15 bits of window, 16: gzip and nothing else */
    if (inflateInit2(zlib, 15 + 16) != Z_OK) {
        leat_free(zlib);
        return leat_fail(err, LEAT_ERR_MEMORY, "zlib cannot start");
    }
    *out = zlib;
    return LEAT_OK;
}

static void destroy(void *codec) {
    if (codec != NULL) inflateEnd(codec);
    leat_free(codec);
}

static leat_code begin(void *codec, leat_error *err) {
    if (inflateReset(codec) == Z_OK) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "zlib cannot be reset");
}

static leat_code step(void *codec, leat_unpack_flow *flow, bool *end, leat_error *err) {
    z_stream *zlib = codec;
    zlib->next_in = flow->in;
    zlib->avail_in = (unsigned)flow->in_bytes;
    zlib->next_out = flow->out;
    zlib->avail_out = (unsigned)flow->out_bytes;
    int result = inflate(zlib, Z_NO_FLUSH);
    flow->in = zlib->next_in;
    flow->in_bytes = zlib->avail_in;
    flow->out = zlib->next_out;
    flow->out_bytes = zlib->avail_out;
    *end = result == Z_STREAM_END;
    if (*end || result == Z_OK || result == Z_BUF_ERROR) return LEAT_OK;
    if (result == Z_MEM_ERROR) return leat_fail(err, LEAT_ERR_MEMORY, "zlib is out of memory");
    if (result == Z_NEED_DICT) return leat_fail(err, LEAT_ERR_CORRUPT, "it requires a dictionary");
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s",
                     zlib->msg != NULL ? zlib->msg : "zlib cannot read it");
}

/* A window of 32 KiB: small change. */
static int64_t memory(const void *codec) {
    (void)codec;
    return 0;
}

const leat_unpack_codec leat_unpack_gzip = {create, destroy, begin, step, memory};
