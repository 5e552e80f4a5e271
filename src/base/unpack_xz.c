/*
 * Streams of xz through liblzma, the only file that knows it: see unpack_codec.h. The library is
 * opened at run time with the first such file. It allocates the dictionary that a block asks for
 * (8 MiB by default, up to 1.5 GiB) unless that exceeds the limit.
 */
#include "base/library.h"
#include "base/mem.h"
#include "base/unpack_codec.h"

#if LEAT_HAVE_LZMA

#include <lzma.h>

typedef struct xz {
    lzma_stream stream;
    lzma_allocator allocator;
    uint64_t memory_bytes;
    int64_t most_bytes;
    bool started;
    void *library;
    __typeof__(&lzma_stream_decoder) decoder;
    __typeof__(&lzma_code) code;
    __typeof__(&lzma_end) end;
    __typeof__(&lzma_memusage) usage;
} xz;

static const leat_library_function functions[] = {
#define ROW(symbol, member)                                                                        \
    { #symbol, offsetof(xz, member), LEAT_LINKED(LEAT_LINK_LZMA, symbol) }
    ROW(lzma_stream_decoder, decoder),
    ROW(lzma_code, code),
    ROW(lzma_end, end),
    ROW(lzma_memusage, usage),
#undef ROW
    {0}};

static const leat_library liblzma = {.name = "liblzma",
                                     .least = "5.2",
                                     .files = {"liblzma.so.5"},
                                     .use = "xz files are read with",
                                     .package = "liblzma5",
                                     .otherwise = ", or unpack the file (unxz)",
                                     .functions = functions};

static void *on_alloc(void *user, size_t count, size_t size) {
    void *memory = NULL;
    (void)user;
    return leat_alloc(&memory, (int64_t)count, (int64_t)size, NULL) == LEAT_OK ? memory : NULL;
}

static void on_free(void *user, void *memory) {
    (void)user;
    leat_free(memory);
}

static void stop(xz *self) {
    if (self->started) self->end(&self->stream);
    self->started = false;
}

static void destroy(void *codec) {
    xz *self = codec;
    if (self == NULL) return;
    stop(self);
    leat_library_close(self->library);
    leat_free(self);
}

static leat_code create(void **out, int64_t memory_bytes, leat_error *err) {
    xz *self = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->memory_bytes = (uint64_t)memory_bytes;
    self->allocator = (lzma_allocator){.alloc = on_alloc, .free = on_free};
    leat_code code = leat_library_open(&self->library, &liblzma, self, err);
    if (code == LEAT_OK) *out = self;
    else destroy(self);
    return code;
}

static leat_code begin(void *codec, leat_error *err) {
    xz *self = codec;
    stop(self);
    self->stream = (lzma_stream)LZMA_STREAM_INIT;
    self->stream.allocator = &self->allocator;
    if (self->decoder(&self->stream, self->memory_bytes, LZMA_TELL_UNSUPPORTED_CHECK) != LZMA_OK)
        return leat_fail(err, LEAT_ERR_MEMORY, "liblzma is out of memory");
    self->started = true;
    return LEAT_OK;
}

static leat_code explain(xz *self, lzma_ret result, leat_error *err) {
    switch (result) {
    case LZMA_MEM_ERROR: return leat_fail(err, LEAT_ERR_MEMORY, "liblzma is out of memory");
    case LZMA_MEMLIMIT_ERROR:
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "unpacking it requires %lld MiB for its dictionary, but %lld MiB are left",
                         (long long)(self->usage(&self->stream) >> 20) + 1,
                         (long long)(self->memory_bytes >> 20));
    case LZMA_UNSUPPORTED_CHECK:
        return leat_fail(err, LEAT_ERR_CORRUPT, "it has a checksum of an unknown kind");
    case LZMA_OPTIONS_ERROR:
        return leat_fail(err, LEAT_ERR_CORRUPT, "it has options that liblzma does not know");
    case LZMA_FORMAT_ERROR: return leat_fail(err, LEAT_ERR_CORRUPT, "it has no header");
    default: return leat_fail(err, LEAT_ERR_CORRUPT, "liblzma cannot read it");
    }
}

static leat_code step(void *codec, leat_unpack_flow *flow, bool *end, leat_error *err) {
    xz *self = codec;
    self->stream.next_in = flow->in;
    self->stream.avail_in = (size_t)flow->in_bytes;
    self->stream.next_out = flow->out;
    self->stream.avail_out = (size_t)flow->out_bytes;
    lzma_ret result = self->code(&self->stream, LZMA_RUN);
    flow->in = self->stream.next_in;
    flow->in_bytes = (int64_t)self->stream.avail_in;
    flow->out = self->stream.next_out;
    flow->out_bytes = (int64_t)self->stream.avail_out;
    *end = result == LZMA_STREAM_END;
    int64_t used = (int64_t)self->usage(&self->stream);
    if (used > self->most_bytes) self->most_bytes = used;
    bool good = *end || result == LZMA_OK || result == LZMA_BUF_ERROR;
    return good ? LEAT_OK : explain(self, result, err);
}

static int64_t memory(const void *codec) { return ((const xz *)codec)->most_bytes; }

#else

static leat_code create(void **out, int64_t memory_bytes, leat_error *err) {
    (void)out;
    (void)memory_bytes;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "this leat was built without liblzma, which reads xz files; install it "
                     "(Debian: liblzma-dev) and build again, or unpack the file (unxz)");
}
static void destroy(void *codec) { (void)codec; }
static leat_code begin(void *codec, leat_error *err) {
    (void)codec;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED, "no liblzma");
}
static leat_code step(void *codec, leat_unpack_flow *flow, bool *end, leat_error *err) {
    (void)codec;
    (void)flow;
    *end = true;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED, "no liblzma");
}
static int64_t memory(const void *codec) {
    (void)codec;
    return 0;
}

#endif

const leat_unpack_codec leat_unpack_xz = {create, destroy, begin, step, memory};
