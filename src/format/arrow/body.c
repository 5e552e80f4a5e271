/*
 * Compressed bodies: each buffer on its own is 8 bytes of decoded size and one LZ4 or zstd frame.
 * The size comes from the file, so before anything is allocated it is checked against the caller's
 * limit, the most that LZ4 can make of that many bytes, and the size in a zstd frame itself.
 */
#if LEAT_HAVE_LZ4
#include <lz4frame.h>
#endif
#include <string.h>
#include <zstd.h>

#include "format/arrow/arrow.h"

#define PREFIX_BYTES 8
#define LZ4_RATIO_MAX 255 /* no LZ4 byte stands for more */

static leat_code bad_size(int64_t declared, int64_t size, leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "compressed buffer of %lld bytes: decoded size %lld",
                     (long long)size, (long long)declared);
}

leat_code leat_arrow_decoded_size(leat_arrow_codec codec, const uint8_t *bytes, int64_t size,
                                  int64_t limit, int64_t *size_bytes, leat_error *err) {
    int64_t declared;
    *size_bytes = 0;
    if (size == 0) return LEAT_OK;
    if (size < PREFIX_BYTES)
        return leat_fail(err, LEAT_ERR_CORRUPT, "compressed buffer of %lld bytes: truncated",
                         (long long)size);
    memcpy(&declared, bytes, sizeof declared);
    int64_t frame_bytes = size - PREFIX_BYTES;
    bool is_raw = declared == -1;
    if (is_raw) declared = frame_bytes;
    if (declared < 0) return bad_size(declared, size, err);
    *size_bytes = declared;
    if (declared > limit)
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "compressed buffer of %lld bytes: decoded size %lld exceeds the limit of "
                         "%lld bytes; raise max_decoded_bytes if you trust the file",
                         (long long)size, (long long)declared, (long long)limit);
    *size_bytes = 0;
    if (codec == LEAT_ARROW_CODEC_LZ4 && !is_raw && declared / LZ4_RATIO_MAX > size)
        return bad_size(declared, size, err);
    if (codec == LEAT_ARROW_CODEC_ZSTD && !is_raw) {
        unsigned long long told =
            ZSTD_getFrameContentSize(bytes + PREFIX_BYTES, (size_t)frame_bytes);
        if (told == ZSTD_CONTENTSIZE_ERROR ||
            (told != ZSTD_CONTENTSIZE_UNKNOWN && told != (unsigned long long)declared))
            return bad_size(declared, size, err);
    }
    *size_bytes = declared;
    return LEAT_OK;
}

static leat_code bad_frame(const char *codec, const char *why, leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s frame of a buffer: %s", codec, why);
}

#if LEAT_HAVE_LZ4
static leat_code decode_lz4(const uint8_t *bytes, int64_t size, uint8_t *out, int64_t out_bytes,
                            leat_error *err) {
    LZ4F_dctx *context;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
        return leat_fail(err, LEAT_ERR_MEMORY, "lz4 decoder: out of memory");
    int64_t taken = 0, made = 0;
    size_t more = 1;
    const char *problem = NULL;
    while (more != 0 && !problem) {
        size_t source = (size_t)(size - taken), target = (size_t)(out_bytes - made);
        more = LZ4F_decompress(context, out + made, &target, bytes + taken, &source, NULL);
        taken += (int64_t)source;
        made += (int64_t)target;
        if (LZ4F_isError(more)) problem = LZ4F_getErrorName(more);
        else if (more != 0 && source == 0 && target == 0)
            problem = "it does not give the size that is declared";
    }
    if (!problem && (made != out_bytes || taken != size))
        problem = "it does not give the size that is declared";
    LZ4F_freeDecompressionContext(context);
    return problem ? bad_frame("lz4", problem, err) : LEAT_OK;
}
#else
static leat_code decode_lz4(const uint8_t *bytes, int64_t size, uint8_t *out, int64_t out_bytes,
                            leat_error *err) {
    (void)bytes, (void)size, (void)out, (void)out_bytes;
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "lz4 frame of a buffer: leat was built without lz4; rebuild it with liblz4");
}
#endif

leat_code leat_arrow_decode(leat_arrow_codec codec, const uint8_t *bytes, int64_t size,
                            uint8_t *out, int64_t out_bytes, leat_error *err) {
    int64_t declared;
    if (size == 0) return LEAT_OK;
    memcpy(&declared, bytes, sizeof declared);
    const uint8_t *frame = bytes + PREFIX_BYTES;
    int64_t frame_bytes = size - PREFIX_BYTES;
    if (declared == -1) {
        memcpy(out, frame, (size_t)out_bytes);
        return LEAT_OK;
    }
    if (codec == LEAT_ARROW_CODEC_LZ4) return decode_lz4(frame, frame_bytes, out, out_bytes, err);
    size_t made = ZSTD_decompress(out, (size_t)out_bytes, frame, (size_t)frame_bytes);
    if (ZSTD_isError(made)) return bad_frame("zstd", ZSTD_getErrorName(made), err);
    if ((int64_t)made != out_bytes)
        return bad_frame("zstd", "it does not give the size that is declared", err);
    return LEAT_OK;
}
