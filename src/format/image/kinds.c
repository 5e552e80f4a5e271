/*
 * What a file is that is not a picture leat reads, by its contents, and what to do about it: other
 * formats, archives, and the texts that take the place of a picture when a download has failed.
 */
#include <ctype.h>
#include <string.h>

#include "base/escape.h"
#include "format/image/parts.h"

#define CONVERT "; convert it to PNG or JPEG, for example with ImageMagick: magick FILE FILE.png"

typedef struct magic {
    int offset, size;
    const char *bytes, *name;
} magic;

static const magic magics[] = {
    {0, 4, "GIF8", "a GIF" CONVERT " (FILE[0] is its first picture)"},
    {8, 4, "WEBP",
     "a WebP, and this leat was built without libwebp" CONVERT ", or dwebp FILE -o FILE.png"},
    {0, 2, "BM", "a BMP" CONVERT},
    {0, 4, "II*\0", "a TIFF" CONVERT},
    {0, 4, "MM\0*", "a TIFF" CONVERT},
    {4, 8, "ftypheic", "an HEIC, as phones write it" CONVERT ", or heif-convert FILE FILE.png"},
    {4, 8, "ftypheix", "an HEIC, as phones write it" CONVERT ", or heif-convert FILE FILE.png"},
    {4, 8, "ftyphevc", "an HEIC sequence" CONVERT ", or heif-convert FILE FILE.png"},
    {4, 8, "ftypmif1", "an HEIF" CONVERT ", or heif-convert FILE FILE.png"},
    {4, 8, "ftypmsf1", "an HEIF sequence" CONVERT ", or heif-convert FILE FILE.png"},
    {4, 8, "ftypavif", "an AVIF" CONVERT ", or avifdec FILE FILE.png"},
    {4, 8, "ftypavis", "an AVIF sequence" CONVERT ", or avifdec FILE FILE.png"},
    {4, 4, "ftyp", "a video; extract its frames as PNG or JPEG, for example with ffmpeg"},
    {4, 8, "jP  \r\n\x87\n", "a JPEG 2000" CONVERT},
    {0, 2, "\xff\x0a", "a JPEG XL" CONVERT ", or djxl FILE FILE.png"},
    {4, 4, "JXL ", "a JPEG XL" CONVERT ", or djxl FILE FILE.png"},
    {0, 4, "8BPS", "a Photoshop document" CONVERT},
    {0, 5, "%PDF-", "a PDF; extract its pictures, for example with pdfimages -png"},
    {0, 4, "PK\3\4", "a zip archive; unpack it, or ingest it by itself"},
    {0, 2, "\x1f\x8b", "gzip; unpack it"},
    {0, 4, "\0\0\1\0", "an icon" CONVERT},
    {0, 9, "SIMPLE  =", "a FITS image" CONVERT ", or Astropy"},
    {0, 4, "%!PS", "a PostScript drawing" CONVERT},
    {0, 4, "\xc5\xd0\xd3\xc6", "a PostScript drawing" CONVERT},
    {0, 6, "/* XPM", "an XPM" CONVERT},
    {0, 7, "NRRD000", "an NRRD volume; write its slices as PNG, for example with SimpleITK"},
    {0, 6, "\x93NUMPY", "a NumPy array; write its pictures as PNG, for example with Pillow"},
};

/* PBM, PGM, PPM and PAM, plain ones too: "P5\n640 480", or a comment after the first line. */
static bool is_netpbm(const uint8_t *bytes, int64_t size_bytes) {
    if (size_bytes < 4 || bytes[0] != 'P' || bytes[1] < '1' || bytes[1] > '7') return false;
    int64_t at = 2;
    while (at < size_bytes && bytes[at] < 0x80 && isspace(bytes[at])) at++;
    if (at == 2 || at == size_bytes) return false;
    return bytes[at] == '#' || isdigit(bytes[at]) ||
           (bytes[1] == '7' && size_bytes - at >= 5 && memcmp(bytes + at, "WIDTH", 5) == 0);
}

static bool looks_like_text(const uint8_t *bytes, int64_t size_bytes) {
    int64_t most = size_bytes < 512 ? size_bytes : 512;
    for (int64_t at = 0; at < most;) {
        bool control = bytes[at] < 0x20 && strchr("\t\n\r\f", bytes[at]) == NULL;
        int length = leat_utf8_length(bytes + at, size_bytes - at);
        if (bytes[at] == 0 || bytes[at] == 0x7f || control || length == 0) return false;
        at += length;
    }
    return true;
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* The beginning of a text, in lower case, without blanks before it or the mark of UTF-8. */
typedef struct beginning {
    char text[256];
} beginning;

static beginning beginning_of(const uint8_t *bytes, int64_t size_bytes) {
    beginning out = {""};
    size_t length = 0;
    int64_t at = size_bytes >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size_bytes && bytes[at] < 0x80 && isspace(bytes[at])) at++;
    for (; at < size_bytes && length < sizeof out.text - 1; at++)
        out.text[length++] = bytes[at] < 0x80 ? (char)tolower(bytes[at]) : (char)bytes[at];
    return out;
}

static bool begins(const beginning *it, const char *words) {
    return strncmp(it->text, words, strlen(words)) == 0;
}

static const char *kind_of_text(const uint8_t *bytes, int64_t size_bytes) {
    const beginning it = beginning_of(bytes, size_bytes);
    if (begins(&it, "<!doctype html") || begins(&it, "<html"))
        return "an HTML page instead of the file: the server has refused the download, asked for a "
               "login, or its quota is used up; download it again";
    if (begins(&it, "version https://git-lfs."))
        return "a Git LFS pointer, not the file itself; run `git lfs pull` in its repository";
    if (begins(&it, "<svg") || (begins(&it, "<?xml") && strstr(it.text, "<svg") != NULL))
        return "an SVG drawing" CONVERT;
    return NULL;
}

bool leat_image_is_text(const uint8_t *bytes, int64_t size_bytes) {
    return size_bytes > 0 && looks_like_text(bytes, size_bytes) &&
           strncmp(leat_image_kind(bytes, size_bytes), "text", 4) == 0;
}

const char *leat_image_kind(const uint8_t *bytes, int64_t size_bytes) {
    if (size_bytes == 0) return "empty";
    const bool text = looks_like_text(bytes, size_bytes);
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        const magic *it = &magics[i];
        /* a text may begin with two letters like these */
        if (text && it->size == 2) continue;
        if (size_bytes >= it->offset + it->size &&
            memcmp(bytes + it->offset, it->bytes, (size_t)it->size) == 0)
            return it->name;
    }
    if (is_netpbm(bytes, size_bytes)) return "a Netpbm image (PBM, PGM, PPM)" CONVERT;
    if (!text) return "neither JPEG nor PNG";
    const char *kind = kind_of_text(bytes, size_bytes);
    return kind != NULL ? kind : "text";
}
