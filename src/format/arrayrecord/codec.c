/*
 * The compressions of ArrayRecord behind one pair of functions: a stream of known length in, its
 * compressed bytes out through a callback; and one whole compressed stream into memory.
 *
 * What comes out must not depend on how the input was handed over (in one piece of memory, or in
 * bits of a record larger than memory), so the input is always cut into the same pieces. Decoding
 * trusts nothing in the stream: the size of the output is known beforehand.
 */
#include <string.h>
#include <zstd.h>

#include "format/arrayrecord/internal.h"

#if LEAT_HAVE_BROTLI
#include <brotli/decode.h>
#include <brotli/encode.h>
#endif
#if LEAT_HAVE_SNAPPY
#include <snappy-c.h>
#endif

#define CODEC_NONE 0x00
#define CODEC_BROTLI 0x62
#define CODEC_SNAPPY 0x73
#define CODEC_ZSTD 0x7a

/* Google's default for zstd; brotli's own default. */
#define ZSTD_WINDOW_LOG 20
#define BROTLI_WINDOW_LOG 22
/* Snappy compresses each 64 KiB on its own, and its lengths have 32 bits. */
#define SNAPPY_PART_BYTES 65536
#define SNAPPY_BYTES_MAX ((INT64_C(1) << 32) - 1)

struct leat_ar_encoder {
    leat_compression compression;
    int level;
    ZSTD_CCtx *zstd;
#if LEAT_HAVE_BROTLI
    BrotliEncoderState *brotli;
#endif
    uint8_t *out; /* compressed bytes of up to one piece */
    int64_t out_bytes;
    uint8_t *staged; /* input that is not a complete piece yet; allocated when first needed */
    int64_t staged_bytes;
    int64_t left; /* input still to be compressed */
    bool ended;   /* the stream's last piece went through */
    leat_ar_put_fn put;
    void *context;
};

uint8_t leat_ar_codec_byte(leat_compression compression) {
    switch (compression) {
    case LEAT_COMPRESSION_ZSTD: return CODEC_ZSTD;
    case LEAT_COMPRESSION_BROTLI: return CODEC_BROTLI;
    case LEAT_COMPRESSION_SNAPPY: return CODEC_SNAPPY;
    case LEAT_COMPRESSION_NONE: break;
    }
    return CODEC_NONE;
}

leat_code leat_ar_put_buf(void *buf, const void *bytes, int64_t size_bytes, leat_error *err) {
    return leat_buf_append(buf, bytes, size_bytes, err);
}

#if !LEAT_HAVE_BROTLI || !LEAT_HAVE_SNAPPY
static leat_code not_built(leat_error *err, const char *name) {
    return leat_fail(err, LEAT_ERR_UNSUPPORTED,
                     "leat was built without %s; install its library and rebuild leat", name);
}
#endif

#if LEAT_HAVE_BROTLI
/* Memory of brotli, allocated through base, with a budget if one is given. The first 16 bytes of
 * each block hold its size. */
typedef struct brotli_memory {
    int64_t left;
    bool exhausted;
} brotli_memory;
#define BROTLI_BLOCK_HEAD 16

static void *brotli_take(void *opaque, size_t size) {
    brotli_memory *memory = opaque;
    uint8_t *block = NULL;
    if (size > (size_t)memory->left ||
        leat_alloc((void **)&block, (int64_t)size + BROTLI_BLOCK_HEAD, 1, NULL) != LEAT_OK) {
        memory->exhausted = true;
        return NULL;
    }
    memory->left -= (int64_t)size;
    memcpy(block, &size, sizeof size);
    return block + BROTLI_BLOCK_HEAD;
}

static void brotli_give(void *opaque, void *pointer) {
    brotli_memory *memory = opaque;
    if (pointer == NULL) return;
    uint8_t *block = (uint8_t *)pointer - BROTLI_BLOCK_HEAD;
    size_t size = 0;
    memcpy(&size, block, sizeof size);
    memory->left += (int64_t)size;
    leat_free(block);
}
#endif

/* ---- compressing ---- */

leat_code leat_ar_encoder_create(leat_ar_encoder **out, leat_compression compression, int level,
                                 leat_error *err) {
    *out = NULL;
    leat_ar_encoder *encoder = NULL;
    LEAT_TRY(LEAT_NEW(&encoder, 1, err));
    encoder->compression = compression;
    encoder->level = level;
    encoder->ended = true;
    leat_code code = LEAT_OK;
    encoder->out_bytes = LEAT_AR_PIECE_BYTES;
    if (compression == LEAT_COMPRESSION_ZSTD) {
        encoder->out_bytes = (int64_t)ZSTD_compressBound(LEAT_AR_PIECE_BYTES);
        encoder->zstd = ZSTD_createCCtx();
        if (encoder->zstd == NULL ||
            ZSTD_isError(ZSTD_CCtx_setParameter(encoder->zstd, ZSTD_c_compressionLevel, level)) ||
            ZSTD_isError(
                ZSTD_CCtx_setParameter(encoder->zstd, ZSTD_c_windowLog, ZSTD_WINDOW_LOG))) {
            code = leat_fail(err, LEAT_ERR_MEMORY, "cannot set up zstd at level %d", level);
        }
    } else if (compression == LEAT_COMPRESSION_SNAPPY) {
#if LEAT_HAVE_SNAPPY
        encoder->out_bytes = (int64_t)snappy_max_compressed_length(SNAPPY_PART_BYTES);
#else
        code = not_built(err, "snappy");
#endif
    } else {
#if !LEAT_HAVE_BROTLI
        code = not_built(err, "brotli");
#endif
    }
    if (code == LEAT_OK) code = leat_alloc((void **)&encoder->out, encoder->out_bytes, 1, err);
    if (code != LEAT_OK) {
        leat_ar_encoder_destroy(encoder);
        return code;
    }
    *out = encoder;
    return LEAT_OK;
}

static void end_stream(leat_ar_encoder *encoder) {
#if LEAT_HAVE_BROTLI
    if (encoder->brotli != NULL) BrotliEncoderDestroyInstance(encoder->brotli);
    encoder->brotli = NULL;
#endif
    encoder->ended = true;
}

void leat_ar_encoder_destroy(leat_ar_encoder *encoder) {
    if (encoder == NULL) return;
    end_stream(encoder);
    ZSTD_freeCCtx(encoder->zstd);
    leat_free(encoder->out);
    leat_free(encoder->staged);
    leat_free(encoder);
}

leat_code leat_ar_encoder_begin(leat_ar_encoder *encoder, int64_t size_bytes, leat_ar_put_fn put,
                                void *context, leat_error *err) {
    end_stream(encoder);
    encoder->left = size_bytes;
    encoder->staged_bytes = 0;
    encoder->ended = false;
    encoder->put = put;
    encoder->context = context;
    if (encoder->compression == LEAT_COMPRESSION_ZSTD) {
        ZSTD_CCtx_reset(encoder->zstd, ZSTD_reset_session_only);
        size_t result = ZSTD_CCtx_setPledgedSrcSize(encoder->zstd, (unsigned long long)size_bytes);
        LEAT_ASSERT(!ZSTD_isError(result));
    }
#if LEAT_HAVE_BROTLI
    if (encoder->compression == LEAT_COMPRESSION_BROTLI) {
        encoder->brotli = BrotliEncoderCreateInstance(NULL, NULL, NULL);
        if (encoder->brotli == NULL) {
            return leat_fail(err, LEAT_ERR_MEMORY, "cannot set up brotli");
        }
        uint32_t hint = size_bytes < (1 << 30) ? (uint32_t)size_bytes : 1u << 30;
        BrotliEncoderSetParameter(encoder->brotli, BROTLI_PARAM_QUALITY, (uint32_t)encoder->level);
        BrotliEncoderSetParameter(encoder->brotli, BROTLI_PARAM_LGWIN, BROTLI_WINDOW_LOG);
        BrotliEncoderSetParameter(encoder->brotli, BROTLI_PARAM_SIZE_HINT, hint);
    }
#endif
    if (encoder->compression == LEAT_COMPRESSION_SNAPPY) {
        if (size_bytes > SNAPPY_BYTES_MAX) {
            return leat_fail(err, LEAT_ERR_LIMIT,
                             "%lld bytes are too many for snappy (limit: 4 GiB - 1); use zstd",
                             (long long)size_bytes);
        }
        uint8_t length[LEAT_AR_VARINT_BYTES];
        return put(context, length, leat_ar_put_varint(length, (uint64_t)size_bytes), err);
    }
    return LEAT_OK;
}

static leat_code feed_zstd(leat_ar_encoder *encoder, const uint8_t *piece, int64_t size_bytes,
                           bool last, leat_error *err) {
    ZSTD_inBuffer in = {piece, (size_t)size_bytes, 0};
    for (;;) {
        ZSTD_outBuffer out = {encoder->out, (size_t)encoder->out_bytes, 0};
        size_t result =
            ZSTD_compressStream2(encoder->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(result)) {
            return leat_fail(err, LEAT_ERR_MEMORY, "cannot compress with zstd: %s",
                             ZSTD_getErrorName(result));
        }
        if (out.pos > 0) {
            LEAT_TRY(encoder->put(encoder->context, encoder->out, (int64_t)out.pos, err));
        }
        if (last ? result == 0 : in.pos == in.size) return LEAT_OK;
    }
}

#if LEAT_HAVE_BROTLI
static leat_code feed_brotli(leat_ar_encoder *encoder, const uint8_t *piece, int64_t size_bytes,
                             bool last, leat_error *err) {
    size_t in_left = (size_t)size_bytes;
    const uint8_t *in = piece;
    for (;;) {
        size_t out_left = (size_t)encoder->out_bytes;
        uint8_t *out = encoder->out;
        if (!BrotliEncoderCompressStream(encoder->brotli,
                                         last ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS,
                                         &in_left, &in, &out_left, &out, NULL)) {
            return leat_fail(err, LEAT_ERR_MEMORY, "cannot compress with brotli");
        }
        if (out > encoder->out) {
            LEAT_TRY(encoder->put(encoder->context, encoder->out, out - encoder->out, err));
        }
        bool more = BrotliEncoderHasMoreOutput(encoder->brotli);
        if (last ? BrotliEncoderIsFinished(encoder->brotli) : in_left == 0 && !more) break;
    }
    return LEAT_OK;
}
#endif

#if LEAT_HAVE_SNAPPY
/* Each part is compressed alone and loses the length before it: what remains, put together after
 * the whole length, is what the library makes of the whole input. */
static leat_code feed_snappy(leat_ar_encoder *encoder, const uint8_t *piece, int64_t size_bytes,
                             leat_error *err) {
    for (int64_t at = 0; at < size_bytes; at += SNAPPY_PART_BYTES) {
        int64_t part = size_bytes - at < SNAPPY_PART_BYTES ? size_bytes - at : SNAPPY_PART_BYTES;
        size_t out_bytes = (size_t)encoder->out_bytes;
        snappy_status status = snappy_compress((const char *)piece + at, (size_t)part,
                                               (char *)encoder->out, &out_bytes);
        LEAT_ASSERT(status == SNAPPY_OK);
        int length = leat_ar_varint_bytes((uint64_t)part);
        LEAT_TRY(encoder->put(encoder->context, encoder->out + length, (int64_t)out_bytes - length,
                              err));
    }
    return LEAT_OK;
}
#endif

static leat_code feed(leat_ar_encoder *encoder, const uint8_t *piece, int64_t size_bytes,
                      leat_error *err) {
    static const uint8_t nothing[1] = {0};
    if (size_bytes == 0) piece = nothing;
    LEAT_ASSERT(!encoder->ended && size_bytes <= encoder->left);
    encoder->left -= size_bytes;
    bool last = encoder->left == 0;
    encoder->ended = last;
    switch (encoder->compression) {
    case LEAT_COMPRESSION_ZSTD: return feed_zstd(encoder, piece, size_bytes, last, err);
#if LEAT_HAVE_BROTLI
    case LEAT_COMPRESSION_BROTLI: return feed_brotli(encoder, piece, size_bytes, last, err);
#endif
#if LEAT_HAVE_SNAPPY
    case LEAT_COMPRESSION_SNAPPY: return feed_snappy(encoder, piece, size_bytes, err);
#endif
    default: break;
    }
    LEAT_ASSERT(!"a compression that this build has");
    return LEAT_ERR_UNSUPPORTED;
}

leat_code leat_ar_encoder_put(leat_ar_encoder *encoder, const void *bytes, int64_t size_bytes,
                              leat_error *err) {
    const uint8_t *at = bytes;
    if (size_bytes > encoder->left - encoder->staged_bytes) {
        return leat_fail(err, LEAT_ERR_INPUT, "the record has more bytes than announced");
    }
    while (size_bytes > 0) {
        int64_t piece = encoder->left < LEAT_AR_PIECE_BYTES ? encoder->left : LEAT_AR_PIECE_BYTES;
        if (encoder->staged_bytes == 0 && size_bytes >= piece) {
            LEAT_TRY(feed(encoder, at, piece, err));
            at += piece;
            size_bytes -= piece;
            continue;
        }
        if (encoder->staged == NULL) {
            LEAT_TRY(leat_alloc((void **)&encoder->staged, LEAT_AR_PIECE_BYTES, 1, err));
        }
        int64_t step = piece - encoder->staged_bytes;
        if (step > size_bytes) step = size_bytes;
        memcpy(encoder->staged + encoder->staged_bytes, at, (size_t)step);
        encoder->staged_bytes += step;
        at += step;
        size_bytes -= step;
        if (encoder->staged_bytes == piece) {
            encoder->staged_bytes = 0;
            LEAT_TRY(feed(encoder, encoder->staged, piece, err));
        }
    }
    return LEAT_OK;
}

leat_code leat_ar_put_encoder(void *encoder, const void *bytes, int64_t size_bytes,
                              leat_error *err) {
    return leat_ar_encoder_put(encoder, bytes, size_bytes, err);
}

leat_code leat_ar_encoder_end(leat_ar_encoder *encoder, leat_error *err) {
    if (encoder->left > 0) {
        return leat_fail(err, LEAT_ERR_INPUT, "the record has fewer bytes than announced");
    }
    leat_code code = encoder->ended ? LEAT_OK : feed(encoder, NULL, 0, err);
    end_stream(encoder);
    return code;
}

/* ---- decompressing ---- */

struct leat_ar_decoder {
    ZSTD_DCtx *zstd; /* made when first needed */
};

leat_code leat_ar_decoder_create(leat_ar_decoder **out, leat_error *err) {
    *out = NULL;
    leat_ar_decoder *decoder = NULL;
    LEAT_TRY(LEAT_NEW(&decoder, 1, err));
    *out = decoder;
    return LEAT_OK;
}

void leat_ar_decoder_destroy(leat_ar_decoder *decoder) {
    if (decoder == NULL) return;
    ZSTD_freeDCtx(decoder->zstd);
    leat_free(decoder);
}

static leat_code bad_stream(leat_error *err, const char *codec, const char *what) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "%s data %s", codec, what);
}

/*
 * One frame, decoded straight into the output: its window, whatever size it says, is the output
 * itself. A block of at least 4 bytes gives at most 128 KiB, which bounds what is allocated for a
 * frame that does not know its size.
 */
static leat_code decode_zstd(leat_ar_decoder *decoder, const uint8_t *in, int64_t in_bytes,
                             int64_t out_bytes, leat_buf *out, leat_error *err) {
    static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    if (in_bytes < 4 || memcmp(in, magic, 4) != 0) {
        return bad_stream(err, "zstd", "does not begin with a frame");
    }
    size_t frame = ZSTD_findFrameCompressedSize(in, (size_t)in_bytes);
    if (ZSTD_isError(frame)) return bad_stream(err, "zstd", ZSTD_getErrorName(frame));
    if (frame != (size_t)in_bytes) return bad_stream(err, "zstd", "continues after its frame");
    unsigned long long said = ZSTD_getFrameContentSize(in, (size_t)in_bytes);
    if (said != ZSTD_CONTENTSIZE_UNKNOWN && said != (unsigned long long)out_bytes) {
        return bad_stream(err, "zstd", "is not as long as its chunk says");
    }
    if (out_bytes > (in_bytes / 4 + 1) * (128 << 10)) {
        return bad_stream(err, "zstd", "is too short for its contents");
    }
    if (decoder->zstd == NULL) decoder->zstd = ZSTD_createDCtx();
    if (decoder->zstd == NULL) return leat_fail(err, LEAT_ERR_MEMORY, "cannot set up zstd");
    LEAT_TRY(leat_buf_reserve(out, out_bytes, err));
    size_t got =
        ZSTD_decompressDCtx(decoder->zstd, out->data, (size_t)out_bytes, in, (size_t)in_bytes);
    if (ZSTD_isError(got)) return bad_stream(err, "zstd", ZSTD_getErrorName(got));
    if (got != (size_t)out_bytes) return bad_stream(err, "zstd", "is shorter than its chunk says");
    return LEAT_OK;
}

#if LEAT_HAVE_BROTLI
/* The output grows while it is decoded, because a few bytes of brotli may expand to any size. */
static leat_code run_brotli(BrotliDecoderState *state, const uint8_t *in, int64_t in_bytes,
                            int64_t out_bytes, leat_buf *out, leat_error *err) {
    size_t in_left = (size_t)in_bytes;
    int64_t done = 0, room = in_bytes < out_bytes / 8 ? 8 * in_bytes : out_bytes;
    for (;;) {
        LEAT_TRY(leat_buf_reserve(out, room, err));
        size_t out_left = (size_t)(room - done);
        uint8_t *at = out->data + done;
        BrotliDecoderResult result =
            BrotliDecoderDecompressStream(state, &in_left, &in, &out_left, &at, NULL);
        done = at - out->data;
        if (result == BROTLI_DECODER_RESULT_SUCCESS) break;
        if (result == BROTLI_DECODER_RESULT_ERROR) {
            return bad_stream(err, "brotli",
                              BrotliDecoderErrorString(BrotliDecoderGetErrorCode(state)));
        }
        if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) {
            return bad_stream(err, "brotli", "is truncated");
        }
        if (room == out_bytes) return bad_stream(err, "brotli", "is longer than its chunk says");
        room = room > out_bytes / 2 ? out_bytes : 2 * room;
    }
    if (in_left > 0) return bad_stream(err, "brotli", "continues after its stream");
    if (done != out_bytes) return bad_stream(err, "brotli", "is shorter than its chunk says");
    return LEAT_OK;
}

/* log2 of the window, from the first bits of a stream; 30 if they do not contain it. */
static int window_bits(const uint8_t *in, int64_t in_bytes) {
    unsigned head = in_bytes > 0 ? in[0] : 0, next = in_bytes > 1 ? in[1] : 0x3f;
    if ((head & 1) == 0) return 16;
    if ((head >> 1 & 7) != 0) return 17 + (int)(head >> 1 & 7);
    if ((head >> 4 & 7) == 0) return 17;
    if ((head >> 4 & 7) != 1) return 8 + (int)(head >> 4 & 7);
    int large = (int)(next & 0x3f); /* beyond RFC 7932 */
    return large < 30 ? large : 30;
}

static leat_code decode_brotli(const leat_ar_packed *packed, leat_buf *out, leat_error *err) {
    brotli_memory memory = {.left = leat_ar_decoder_bytes(packed)};
    BrotliDecoderState *state = BrotliDecoderCreateInstance(brotli_take, brotli_give, &memory);
    if (state == NULL) return leat_fail(err, LEAT_ERR_MEMORY, "cannot set up brotli");
    /* Google's reader takes windows beyond RFC 7932's, so a file may have them. */
    BrotliDecoderSetParameter(state, BROTLI_DECODER_PARAM_LARGE_WINDOW, 1);
    leat_code code = run_brotli(state, packed->at, packed->size_bytes, packed->out_bytes, out, err);
    BrotliDecoderDestroyInstance(state);
    if (code != LEAT_OK && memory.exhausted) {
        return leat_fail(err, LEAT_ERR_MEMORY, "cannot allocate brotli's memory for %lld bytes",
                         (long long)packed->out_bytes);
    }
    return code;
}
#endif

#if LEAT_HAVE_SNAPPY
/* Three bytes of snappy expand to at most 64. */
static leat_code decode_snappy(const uint8_t *in, int64_t in_bytes, int64_t out_bytes,
                               leat_buf *out, leat_error *err) {
    size_t said = 0;
    if (snappy_uncompressed_length((const char *)in, (size_t)in_bytes, &said) != SNAPPY_OK ||
        said != (size_t)out_bytes || out_bytes / 32 > in_bytes) {
        return bad_stream(err, "snappy", "is not as long as its chunk says");
    }
    LEAT_TRY(leat_buf_reserve(out, out_bytes, err));
    size_t got = (size_t)out_bytes;
    if (snappy_uncompress((const char *)in, (size_t)in_bytes, (char *)out->data, &got) !=
            SNAPPY_OK ||
        got != (size_t)out_bytes) {
        return bad_stream(err, "snappy", "is damaged");
    }
    return LEAT_OK;
}
#endif

int64_t leat_ar_decoder_bytes(const leat_ar_packed *packed) {
    if (packed->codec_byte != CODEC_BROTLI) return INT64_C(1) << 20;
#if LEAT_HAVE_BROTLI
    int64_t window = 2 * (INT64_C(1) << window_bits(packed->at, packed->size_bytes));
    int64_t most = 3 * packed->out_bytes;
    return (window < most ? window : most) + LEAT_AR_CODE_TABLE_BYTES;
#else
    return 0;
#endif
}

leat_code leat_ar_decode(leat_ar_decoder *decoder, const leat_ar_packed *packed, leat_buf *out,
                         leat_error *err) {
    const uint8_t *in = packed->at;
    int64_t in_bytes = packed->size_bytes, out_bytes = packed->out_bytes;
    out->size = 0;
    /* the libraries are given a valid pointer even for nothing */
    LEAT_TRY(leat_buf_reserve(out, 1, err));
    leat_code code = LEAT_OK;
    switch (packed->codec_byte) {
    case CODEC_ZSTD: code = decode_zstd(decoder, in, in_bytes, out_bytes, out, err); break;
#if LEAT_HAVE_BROTLI
    case CODEC_BROTLI: code = decode_brotli(packed, out, err); break;
#else
    case CODEC_BROTLI: return not_built(err, "brotli");
#endif
#if LEAT_HAVE_SNAPPY
    case CODEC_SNAPPY: code = decode_snappy(in, in_bytes, out_bytes, out, err); break;
#else
    case CODEC_SNAPPY: return not_built(err, "snappy");
#endif
    default:
        return leat_fail(err, LEAT_ERR_CORRUPT, "compression 0x%02x is not defined by the format",
                         packed->codec_byte);
    }
    if (code == LEAT_OK) out->size = out_bytes;
    return code;
}
