/*
 * Members of bzip2 through libbz2, the only file that knows it: see unpack_codec.h. The library is
 * opened at run time with the first such file: its file has another name in Debian
 * (libbz2.so.1.0) than elsewhere (libbz2.so.1).
 */
#include "base/library.h"
#include "base/mem.h"
#include "base/unpack_codec.h"

/* For blocks of 900 kB, the largest. */
enum { BZIP2_BYTES = 4 << 20 };

static int64_t memory(const void *codec) {
    (void)codec;
    return BZIP2_BYTES;
}

#if LEAT_HAVE_BZIP2

#include <bzlib.h>

typedef struct bzip2 {
    bz_stream stream;
    bool started;
    void *library;
    __typeof__(&BZ2_bzDecompressInit) init;
    __typeof__(&BZ2_bzDecompress) decompress;
    __typeof__(&BZ2_bzDecompressEnd) end;
} bzip2;

static const leat_library_function functions[] = {
#define ROW(symbol, member)                                                                        \
    { #symbol, offsetof(bzip2, member), LEAT_LINKED(LEAT_LINK_BZIP2, symbol) }
    ROW(BZ2_bzDecompressInit, init),
    ROW(BZ2_bzDecompress, decompress),
    ROW(BZ2_bzDecompressEnd, end),
#undef ROW
    {0}};

static const leat_library libbz2 = {.name = "libbz2",
                                    .least = "1.0",
                                    .files = {"libbz2.so.1.0", "libbz2.so.1"},
                                    .use = "bzip2 files are read with",
                                    .package = "libbz2-1.0",
                                    .otherwise = ", or unpack the file (bunzip2)",
                                    .functions = functions};

static void *on_alloc(void *user, int count, int size) {
    void *memory = NULL;
    (void)user;
    return leat_alloc(&memory, count, size, NULL) == LEAT_OK ? memory : NULL;
}

static void on_free(void *user, void *memory) {
    (void)user;
    leat_free(memory);
}

static void stop(bzip2 *self) {
    if (self->started) self->end(&self->stream);
    self->started = false;
}

static void destroy(void *codec) {
    bzip2 *self = codec;
    if (self == NULL) return;
    stop(self);
    leat_library_close(self->library);
    leat_free(self);
}

static leat_code create(void **out, int64_t memory_bytes, leat_error *err) {
    bzip2 *self = NULL;
    (void)memory_bytes;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    leat_code code = leat_library_open(&self->library, &libbz2, self, err);
    if (code == LEAT_OK) *out = self;
    else destroy(self);
    return code;
}

static leat_code begin(void *codec, leat_error *err) {
    bzip2 *self = codec;
    stop(self);
    self->stream = (bz_stream){.bzalloc = on_alloc, .bzfree = on_free};
    if (self->init(&self->stream, 0, 0) != BZ_OK)
        return leat_fail(err, LEAT_ERR_MEMORY, "libbz2 is out of memory");
    self->started = true;
    return LEAT_OK;
}

static leat_code step(void *codec, leat_unpack_flow *flow, bool *end, leat_error *err) {
    bzip2 *self = codec;
    self->stream.next_in = (char *)(uintptr_t)flow->in;
    self->stream.avail_in = (unsigned)flow->in_bytes;
    self->stream.next_out = (char *)flow->out;
    self->stream.avail_out = (unsigned)flow->out_bytes;
    int result = self->decompress(&self->stream);
    flow->in = (const uint8_t *)self->stream.next_in;
    flow->in_bytes = self->stream.avail_in;
    flow->out = (uint8_t *)self->stream.next_out;
    flow->out_bytes = self->stream.avail_out;
    *end = result == BZ_STREAM_END;
    if (*end || result == BZ_OK) return LEAT_OK;
    if (result == BZ_MEM_ERROR) return leat_fail(err, LEAT_ERR_MEMORY, "libbz2 is out of memory");
    return leat_fail(err, LEAT_ERR_CORRUPT, "libbz2 cannot read it");
}

#else

static leat_code create(void **out, int64_t memory_bytes, leat_error *err) {
    (void)out;
    (void)memory_bytes;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "this leat was built without libbz2, which reads bzip2 files; install it "
                     "(Debian: libbz2-dev) and build again, or unpack the file (bunzip2)");
}
static void destroy(void *codec) { (void)codec; }
static leat_code begin(void *codec, leat_error *err) {
    (void)codec;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED, "no libbz2");
}
static leat_code step(void *codec, leat_unpack_flow *flow, bool *end, leat_error *err) {
    (void)codec;
    (void)flow;
    *end = true;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED, "no libbz2");
}

#endif

const leat_unpack_codec leat_unpack_bzip2 = {create, destroy, begin, step, memory};
