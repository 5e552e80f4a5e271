/*
 * WebP through libwebp, the only file that knows it. The library is opened when images are read, so
 * that leat runs without it; the header is read by leat itself (RIFF container, RFC 9649), so a
 * picture's size and memory are known without the library, and the same on every machine.
 *
 * The library decodes a whole picture at once, into RGBA rows that leat flattens.
 */
#include <stdio.h>
#include <string.h>

#include "base/library.h"
#include "format/image/parts.h"

enum { RIFF_BYTES = 12, CHUNK_HEAD_BYTES = 8 };
enum { FLAG_ANIMATION = 0x02, FLAG_ALPHA = 0x10 };

#if LEAT_HAVE_WEBP

#include <pthread.h>
#include <webp/decode.h>

/* ---- the header ----------------------------------------------------------------------------- */

typedef struct webp_facts {
    int64_t canvas_width, canvas_height; /* of an extended file; 0: it is a simple one */
    int64_t width, height;               /* of the picture */
    int64_t lossless_bytes;              /* of what is coded without loss: pixels or alpha */
    bool alpha, animated, has_xmp;
    leat_orientation orientation;
} webp_facts;

static int64_t number(const uint8_t *at, int count) {
    int64_t value = 0;
    for (int i = count; i-- > 0;) value = value << 8 | at[i];
    return value;
}

static void read_exif(webp_facts *facts, const uint8_t *data, int64_t size_bytes) {
    const int skipped = size_bytes >= 6 && memcmp(data, "Exif\0\0", 6) == 0 ? 6 : 0;
    leat_orientation_exif(&facts->orientation, data + skipped, size_bytes - skipped);
}

/* have_bytes of the chunk's size_bytes are there. */
static void read_chunk(webp_facts *facts, const uint8_t *type, const uint8_t *data,
                       int64_t size_bytes, int64_t have_bytes) {
    if (memcmp(type, "VP8X", 4) == 0 && have_bytes >= 10) {
        facts->animated = (data[0] & FLAG_ANIMATION) != 0;
        facts->alpha = facts->alpha || (data[0] & FLAG_ALPHA) != 0;
        facts->canvas_width = number(data + 4, 3) + 1;
        facts->canvas_height = number(data + 7, 3) + 1;
    } else if (memcmp(type, "VP8 ", 4) == 0 && have_bytes >= 10 &&
               memcmp(data + 3, "\x9d\x01\x2a", 3) == 0) {
        facts->width = number(data + 6, 2) & 0x3fff;
        facts->height = number(data + 8, 2) & 0x3fff;
    } else if (memcmp(type, "VP8L", 4) == 0 && have_bytes >= 5 && data[0] == 0x2f) {
        const int64_t bits = number(data + 1, 4);
        facts->width = (bits & 0x3fff) + 1;
        facts->height = (bits >> 14 & 0x3fff) + 1;
        facts->alpha = facts->alpha || (bits >> 28 & 1) != 0;
        facts->lossless_bytes += size_bytes;
    } else if (memcmp(type, "ALPH", 4) == 0) {
        facts->alpha = true;
        facts->lossless_bytes += size_bytes;
    } else if (memcmp(type, "EXIF", 4) == 0 && have_bytes == size_bytes) {
        read_exif(facts, data, size_bytes);
    } else if (memcmp(type, "XMP ", 4) == 0 && have_bytes == size_bytes && !facts->has_xmp) {
        facts->has_xmp = true; /* libwebp gives the first */
        leat_orientation_xmp(&facts->orientation, data, size_bytes);
    }
}

/* Frame, coefficients and the rows above of the lossy decoder; of the lossless one a picture of
 * four bytes a pixel, and the Huffman codes: a group of codes for as few as 16 pixels, of as little
 * as two bytes, with tables of 6 KiB. */
static int64_t memory_of(const webp_facts *facts) {
    enum { GROUP_BYTES = 6 << 10, GROUPS_MAX = 1 << 16 };
    const int64_t pixels = facts->width * facts->height;
    int64_t bytes = (INT64_C(1) << 20) + facts->width * 64;
    if (facts->lossless_bytes == 0) return bytes;
    int64_t groups = facts->lossless_bytes / 2;
    if (groups > pixels / 16) groups = pixels / 16;
    if (groups > GROUPS_MAX) groups = GROUPS_MAX;
    return bytes + pixels * 5 + groups * GROUP_BYTES;
}

static leat_code check(const webp_facts *facts, leat_image_reason *reason, leat_error *err) {
    if (facts->animated)
        return leat_image_reject(reason, LEAT_IMAGE_UNSUPPORTED, err,
                                 "an animated WebP; convert its frames to PNG, for example with "
                                 "anim_dump");
    if (facts->width == 0)
        return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err, "a WebP without a picture");
    LEAT_TRY(leat_image_check_size(facts->width, facts->height, reason, err));
    if (facts->canvas_width == 0 ||
        (facts->canvas_width == facts->width && facts->canvas_height == facts->height))
        return LEAT_OK;
    return leat_image_reject(reason, LEAT_IMAGE_DAMAGED, err, "two sizes in its headers");
}

leat_code leat_webp_look(const uint8_t *bytes, int64_t size_bytes, leat_image_header *header,
                         leat_image_reason *reason, leat_error *err) {
    webp_facts facts = {0};
    const int64_t riff_bytes = number(bytes + 4, 4) + CHUNK_HEAD_BYTES;
    const int64_t end = riff_bytes < size_bytes ? riff_bytes : size_bytes;
    int64_t chunks = 0;
    for (int64_t at = RIFF_BYTES; at <= end - CHUNK_HEAD_BYTES;) {
        const int64_t chunk_bytes = number(bytes + at + 4, 4), left = end - at - CHUNK_HEAD_BYTES;
        if (++chunks > LEAT_IMAGE_MARKERS_MAX)
            return leat_image_reject(reason, LEAT_IMAGE_TOO_LARGE, err, "more than %d chunks",
                                     LEAT_IMAGE_MARKERS_MAX);
        read_chunk(&facts, bytes + at, bytes + at + CHUNK_HEAD_BYTES, chunk_bytes,
                   chunk_bytes < left ? chunk_bytes : left);
        at += CHUNK_HEAD_BYTES + chunk_bytes + (chunk_bytes & 1);
    }
    if (facts.width == 0 && !facts.animated && riff_bytes > size_bytes)
        return leat_image_reject(reason, LEAT_IMAGE_TRUNCATED, err,
                                 "the WebP ends after %lld bytes, before its picture",
                                 (long long)size_bytes);
    LEAT_TRY(check(&facts, reason, err));
    header->format = LEAT_IMAGE_WEBP;
    header->width = (int32_t)facts.width;
    header->height = (int32_t)facts.height;
    header->orientation = leat_orientation_of(&facts.orientation);
    header->channels = 4; /* as the library writes them */
    leat_image_turn_header(header, true, memory_of(&facts));
    return LEAT_OK;
}

/* ---- decoding ------------------------------------------------------------------------------- */

typedef struct webp_library {
    void *handle;
    bool usable;
    leat_error problem; /* if it is not usable */
    __typeof__(&WebPDecodeRGBAInto) decode;
    __typeof__(&WebPGetFeaturesInternal) features;
    __typeof__(&WebPGetDecoderVersion) version;
} webp_library;

/* Opened once for all threads and files, and never closed. */
static pthread_once_t webp_once = PTHREAD_ONCE_INIT;
static webp_library webp;

static const leat_library_function functions[] = {
#define ROW(symbol, member)                                                                        \
    { #symbol, offsetof(webp_library, member), LEAT_LINKED(LEAT_LINK_WEBP, symbol) }
    ROW(WebPDecodeRGBAInto, decode),
    ROW(WebPGetFeaturesInternal, features),
    ROW(WebPGetDecoderVersion, version),
#undef ROW
    {0}};

static const leat_library libwebp = {.name = "libwebp",
                                     .least = "1.2",
                                     .files = {"libwebp.so.7"},
                                     .use = "a WebP, which is read with",
                                     .package = "libwebp7",
                                     .otherwise = ", or convert the file to PNG or JPEG",
                                     .functions = functions};

static void open_library(void) {
    webp.usable = leat_library_open(&webp.handle, &libwebp, &webp, &webp.problem) == LEAT_OK;
}

int leat_webp_version(void) {
    pthread_once(&webp_once, open_library);
    return webp.usable ? webp.version() : 0;
}

static leat_code load(const webp_library **library, leat_image_reason *reason, leat_error *err) {
    *library = &webp;
    pthread_once(&webp_once, open_library);
    if (webp.usable) return LEAT_OK;
    return leat_image_reject(reason, LEAT_IMAGE_UNSUPPORTED, err, "%s", webp.problem.message);
}

static leat_code decode(const webp_library *library, const leat_image_job *job, leat_error *err) {
    const int64_t row_bytes = (int64_t)job->width * 4, bytes = row_bytes * job->height;
    const size_t size_bytes = (size_t)job->size_bytes;
    WebPBitstreamFeatures features;
    VP8StatusCode status =
        library->features(job->bytes, size_bytes, &features, WEBP_DECODER_ABI_VERSION);
    if (status == VP8_STATUS_OK && (features.width != job->width || features.height != job->height))
        return leat_image_reject(job->reason, LEAT_IMAGE_DAMAGED, err, "two sizes in its headers");
    if (status == VP8_STATUS_OK && library->decode(job->bytes, size_bytes, job->pixels,
                                                   (size_t)bytes, (int)row_bytes) != NULL) {
        leat_image_flatten(job->header, job->pixels, (int64_t)job->width * job->height);
        return LEAT_OK;
    }
    const int64_t riff_bytes = number(job->bytes + 4, 4) + CHUNK_HEAD_BYTES;
    if (riff_bytes > job->size_bytes)
        return leat_image_reject(job->reason, LEAT_IMAGE_TRUNCATED, err,
                                 "the WebP ends after %lld bytes", (long long)job->size_bytes);
    return leat_image_reject(job->reason, LEAT_IMAGE_DAMAGED, err,
                             "libwebp cannot decode the picture");
}

leat_code leat_webp_decode(const leat_image_job *job, leat_error *err) {
    const webp_library *library = NULL;
    LEAT_TRY(load(&library, job->reason, err));
    leat_code code = decode(library, job, err);
    if (code == LEAT_OK && number(job->bytes + 4, 4) + CHUNK_HEAD_BYTES < job->size_bytes)
        job->header->remarks |= 1U << LEAT_IMAGE_AFTER_END;
    return code;
}

#else

leat_code leat_webp_look(const uint8_t *bytes, int64_t size_bytes, leat_image_header *header,
                         leat_image_reason *reason, leat_error *err) {
    (void)header;
    return leat_image_reject(reason, LEAT_IMAGE_NOT_AN_IMAGE, err, "%s",
                             leat_image_kind(bytes, size_bytes));
}

leat_code leat_webp_decode(const leat_image_job *job, leat_error *err) {
    return leat_image_reject(job->reason, LEAT_IMAGE_NOT_AN_IMAGE, err, "a WebP");
}

int leat_webp_version(void) { return 0; }

#endif
