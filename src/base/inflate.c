/* Inflating small texts: see inflate.h. */
#include "base/inflate.h"

#include <zlib.h>

#include "base/mem.h"

static voidpf on_alloc(voidpf user, uInt count, uInt size) {
    void *memory = NULL;
    (void)user;
    return leat_alloc(&memory, count, size, NULL) == LEAT_OK ? memory : Z_NULL;
}

static void on_free(voidpf user, voidpf memory) {
    (void)user;
    leat_free(memory);
}

static leat_code check_memory(int status, leat_error *err) {
    if (status != Z_MEM_ERROR) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_MEMORY, "out of memory for inflating a text");
}

leat_code leat_inflates_beyond(const uint8_t *bytes, int64_t size_bytes, int64_t limit_bytes,
                               bool *beyond, leat_error *err) {
    uint8_t ignored[4096];
    z_stream stream = {.zalloc = on_alloc, .zfree = on_free};
    *beyond = false;
    if (size_bytes <= 0 || size_bytes > UINT32_MAX) return LEAT_OK;
    stream.next_in = (z_const Bytef *)bytes;
    stream.avail_in = (uInt)size_bytes;
    int status = inflateInit(&stream);
    for (int64_t done = 0; status == Z_OK && !*beyond;) {
        stream.next_out = ignored;
        stream.avail_out = sizeof ignored;
        status = inflate(&stream, Z_NO_FLUSH);
        done += (int64_t)(sizeof ignored - stream.avail_out);
        *beyond = done > limit_bytes;
    }
    inflateEnd(&stream);
    return check_memory(status, err);
}

leat_code leat_inflate(const uint8_t *bytes, int64_t size_bytes, uint8_t *out, int64_t out_bytes,
                       int64_t *written, leat_error *err) {
    z_stream stream = {.zalloc = on_alloc, .zfree = on_free};
    *written = 0;
    if (size_bytes <= 0 || size_bytes > UINT32_MAX || out_bytes > UINT32_MAX) return LEAT_OK;
    stream.next_in = (z_const Bytef *)bytes;
    stream.avail_in = (uInt)size_bytes;
    stream.next_out = out;
    stream.avail_out = (uInt)out_bytes;
    int status = inflateInit(&stream);
    if (status == Z_OK) status = inflate(&stream, Z_SYNC_FLUSH);
    const bool damaged = status == Z_DATA_ERROR || status == Z_NEED_DICT;
    *written = damaged ? -1 : out_bytes - stream.avail_out;
    inflateEnd(&stream);
    return check_memory(status, err);
}
