/*
 * See png_text.h. Where several texts have an orientation, the one that counts is Pillow's: EXIF
 * data before XMP, the last packet of XMP, and one that is text before one that is not. Profiles in
 * hexadecimal digits are what ImageMagick has long written; Pillow reads those of EXIF, and those
 * of XMP count here where nothing else names an orientation.
 */
#include "format/image/png_text.h"

#include "base/inflate.h"
#include "base/json.h"
#include "base/mem.h"

/* The parts of a text chunk. */
typedef struct text_parts {
    const char *keyword; /* ends with NUL */
    const uint8_t *text, *end;
    bool deflated;
    bool international, utf8; /* iTXt; its other parts are UTF-8 */
} text_parts;

/* The byte after the next NUL; NULL if there is none. */
static const uint8_t *after_text(const uint8_t *at, const uint8_t *end) {
    const uint8_t *nul = at != NULL && at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
    return nul == NULL ? NULL : nul + 1;
}

static bool is_utf8(const uint8_t *from, const uint8_t *end) {
    return leat_json_is_utf8((const char *)from, end - from);
}

/* Takes a chunk of text apart. False: it is damaged, so that no text is read in it; what it has
 * deflated is known all the same. */
static bool split(const leat_png_chunk *chunk, text_parts *of) {
    const uint8_t *end = chunk->data + chunk->have_bytes;
    const uint8_t *at = after_text(chunk->data, end);
    *of = (text_parts){.keyword = (const char *)chunk->data, .text = at, .end = end};
    if (at == NULL || leat_png_is(chunk, "tEXt")) return at != NULL;
    if (leat_png_is(chunk, "zTXt")) {
        of->deflated = at < end;
        of->text = at + of->deflated; /* after the method, of which there is one */
        return of->deflated && at[0] == 0;
    }
    if (end - at < 2) return false;
    const uint8_t *keyword = after_text(at + 2, end); /* after the language; the keyword in it */
    of->text = after_text(keyword, end);
    if (of->text == NULL) return false;
    of->deflated = at[0] != 0;
    of->international = true;
    of->utf8 = is_utf8(at + 2, keyword - 1) && is_utf8(keyword, of->text - 1);
    return !of->deflated || at[1] == 0;
}

/* Text is hardly used, but other programs will inflate all of it. */
static leat_code check_size(const leat_png_chunk *chunk, const text_parts *of,
                            leat_image_reason *reason, leat_error *err) {
    bool more = false;
    if (chunk->size_bytes > LEAT_IMAGE_TEXT_CHUNK_MAX)
        return leat_image_reject(reason, LEAT_IMAGE_TOO_LARGE, err,
                                 "a text chunk (%.4s) of %lld bytes; at most %d are accepted",
                                 (const char *)chunk->type, (long long)chunk->size_bytes,
                                 LEAT_IMAGE_TEXT_CHUNK_MAX);
    if (!of->deflated) return LEAT_OK;
    LEAT_TRY(
        leat_inflates_beyond(of->text, of->end - of->text, LEAT_IMAGE_TEXT_CHUNK_MAX, &more, err));
    if (!more) return LEAT_OK;
    return leat_image_reject(reason, LEAT_IMAGE_TOO_LARGE, err,
                             "a text chunk (%.4s) that inflates to more than %d bytes",
                             (const char *)chunk->type, LEAT_IMAGE_TEXT_CHUNK_MAX);
}

/* ---- orientations --------------------------------------------------------------------------- */

static int of_xmp(const uint8_t *text, int64_t size_bytes) {
    leat_orientation found = {0};
    leat_orientation_xmp(&found, text, size_bytes);
    return found.xmp;
}

void leat_png_exif(leat_orientation *found, const uint8_t *bytes, int64_t size_bytes) {
    for (; size_bytes >= 6 && memcmp(bytes, "Exif\0\0", 6) == 0; size_bytes -= 6) bytes += 6;
    leat_orientation_exif(found, bytes, size_bytes);
}

static int of_exif(const uint8_t *bytes, int64_t size_bytes) {
    leat_orientation found = {0};
    leat_png_exif(&found, bytes, size_bytes);
    return found.exif;
}

static void take_packet(leat_png_texts *texts, const text_parts *of, const uint8_t *text,
                        int64_t size_bytes) {
    const int found = of_xmp(text, size_bytes);
    if (of->international) texts->bytes_packet = found;
    if (of->international && !(of->utf8 && is_utf8(text, text + size_bytes))) return;
    texts->has_packet = size_bytes > 0;
    texts->packet = found;
}

static int digit_of(uint8_t letter) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = letter != 0 ? strchr(digits, letter) : NULL;
    return at != NULL ? (int)(at - digits) % 16 : -1;
}

/* A profile: an empty line, its name, its size, and lines of hexadecimal digits, which become bytes
 * in the same place. Returns their number; 0: these are others. */
static int64_t read_profile(uint8_t *text, int64_t size_bytes) {
    int64_t at = 0, count = 0;
    for (int lines = 0; lines < 3; lines++) {
        const uint8_t *end = memchr(text + at, '\n', (size_t)(size_bytes - at));
        if (end == NULL) return 0;
        at = end - text + 1;
    }
    while (at < size_bytes) {
        const int high = digit_of(text[at]);
        if (high < 0 && (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r'))) {
            at++;
            continue;
        }
        const int low = at + 1 < size_bytes ? digit_of(text[at + 1]) : -1;
        if (high < 0 || low < 0) return 0;
        text[count++] = (uint8_t)(high << 4 | low);
        at += 2;
    }
    return count;
}

typedef enum text_kind { PACKET, EXIF_PROFILE, XMP_PROFILE, OTHER } text_kind;

static text_kind kind_of(const char *keyword) {
    static const char *const keywords[] = {
        [PACKET] = "XML:com.adobe.xmp",
        [EXIF_PROFILE] = "Raw profile type exif",
        [XMP_PROFILE] = "Raw profile type xmp",
    };
    int kind = 0;
    while (kind < OTHER && strcmp(keyword, keywords[kind]) != 0) kind++;
    return (text_kind)kind;
}

/* Takes a text that is at `text`, where it may be changed. */
static void take(leat_png_texts *texts, const text_parts *of, uint8_t *text, int64_t size_bytes) {
    const text_kind kind = kind_of(of->keyword);
    if (kind == PACKET) {
        take_packet(texts, of, text, size_bytes);
    } else if (!of->international || (of->utf8 && is_utf8(text, text + size_bytes))) {
        const int64_t count = read_profile(text, size_bytes);
        if (kind == EXIF_PROFILE) texts->exif_profile = of_exif(text, count);
        else texts->xmp_profile = of_xmp(text, count);
    }
}

leat_code leat_png_take_text(leat_png_texts *texts, const leat_png_chunk *chunk,
                             leat_image_reason *reason, leat_error *err) {
    const bool whole = chunk->have_bytes == chunk->size_bytes;
    text_parts of;
    uint8_t *text = NULL;
    int64_t size_bytes = 0;
    if (!leat_png_is(chunk, "tEXt") && !leat_png_is(chunk, "zTXt") && !leat_png_is(chunk, "iTXt"))
        return LEAT_OK;
    const bool good = split(chunk, &of);
    LEAT_TRY(check_size(chunk, &of, reason, err));
    if (!good || !whole || kind_of(of.keyword) == OTHER) return LEAT_OK;
    LEAT_TRY(LEAT_NEW(&text, LEAT_IMAGE_TEXT_CHUNK_MAX, err));
    leat_code code = LEAT_OK;
    if (of.deflated) {
        code = leat_inflate(of.text, of.end - of.text, text, LEAT_IMAGE_TEXT_CHUNK_MAX, &size_bytes,
                            err);
    } else {
        size_bytes = of.end - of.text;
        memcpy(text, of.text, (size_t)size_bytes);
    }
    /* a damaged zTXt is an empty text, a damaged iTXt none */
    const bool damaged = size_bytes < 0;
    if (code == LEAT_OK && !(damaged && of.international))
        take(texts, &of, text, damaged ? 0 : size_bytes);
    leat_free(text);
    return code;
}

int leat_png_orientation(const leat_png_texts *texts, const leat_orientation *exif) {
    const int by_exif = exif->has_exif ? exif->exif : texts->exif_profile;
    const int by_xmp = texts->has_packet ? texts->packet : texts->bytes_packet;
    if (by_exif != 0) return by_exif;
    if (by_xmp != 0) return by_xmp;
    return texts->xmp_profile != 0 ? texts->xmp_profile : 1;
}
