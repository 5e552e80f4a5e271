/*
 * How this build was made: the only file, apart from the one that wraps a library, that includes
 * the library's header, and only for its version.
 */
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>
#if LEAT_HAVE_BROTLI
#include <brotli/encode.h>
#endif
#if LEAT_HAVE_LZ4
#include <lz4.h>
#endif
#if LEAT_HAVE_YAML
#include <yaml.h>
#endif
#if LEAT_HAVE_JPEG
#include <jpeglib.h>
#endif
#if LEAT_HAVE_PNG
#include <png.h>
#endif
#if LEAT_HAVE_ZIP
#include <zip.h>
#endif
#if LEAT_HAVE_LZMA
#include <lzma.h>
#endif

#if LEAT_HAVE_WEBP
#include <webp/decode.h>
#endif

#include "leat/base.h"

const char *leat_version(void) { return LEAT_VERSION; }

static void put(leat_build_item *item, const char *group, const char *name, const char *value) {
    item->group = group;
    item->name = name;
    snprintf(item->value, sizeof item->value, "%s", value);
}

/* "1.0.9" from a number of 8, 12 and 12 bits, as Brotli returns it. */
static void put_brotli(leat_build_item *item) {
#if LEAT_HAVE_BROTLI
    unsigned number = BrotliEncoderVersion();
    char text[32];
    snprintf(text, sizeof text, "%u.%u.%u", number >> 24, number >> 12 & 0xfff, number & 0xfff);
    put(item, "library", "brotli", text);
#else
    put(item, "library", "brotli", "left out");
#endif
}

static void put_xxhash(leat_build_item *item) {
    unsigned number = XXH_versionNumber();
    char text[32];
    snprintf(text, sizeof text, "%u.%u.%u", number / 10000, number / 100 % 100, number % 100);
    put(item, "library", "xxhash", text);
}

/* libjpeg-turbo has no function that returns its version: this is the one leat was built with. */
static void put_jpeg(leat_build_item *item) {
#if !LEAT_HAVE_JPEG
    put(item, "library", "libjpeg-turbo", "left out");
#elif defined(LIBJPEG_TURBO_VERSION)
#define QUOTE_(text) #text
#define QUOTE(text) QUOTE_(text)
    put(item, "library", "libjpeg-turbo", QUOTE(LIBJPEG_TURBO_VERSION));
#else
    put(item, "library", "libjpeg-turbo", "another libjpeg");
#endif
}

static void put_png(leat_build_item *item) {
#if LEAT_HAVE_PNG
    put(item, "library", "libpng", png_get_libpng_ver(NULL));
#else
    put(item, "library", "libpng", "left out");
#endif
}

/* Opened only when a zip is read: this is the version whose header leat was built with. */
static void put_zip(leat_build_item *item) {
#if LEAT_HAVE_ZIP
    put(item, "library", "libzip", LIBZIP_VERSION);
#else
    put(item, "library", "libzip", "left out");
#endif
}

/* The same of libwebp, whose header has the version of its interface only. */
static void put_webp(leat_build_item *item) {
#if LEAT_HAVE_WEBP
    char text[32];
    snprintf(text, sizeof text, "interface %x.%x", WEBP_DECODER_ABI_VERSION >> 8,
             WEBP_DECODER_ABI_VERSION & 0xff);
    put(item, "library", "libwebp", text);
#else
    put(item, "library", "libwebp", "left out");
#endif
}

/* The same of liblzma; libbz2's header has no version. */
static void put_lzma(leat_build_item *item) {
#if LEAT_HAVE_LZMA
    put(item, "library", "liblzma", LZMA_VERSION_STRING);
#else
    put(item, "library", "liblzma", "left out");
#endif
}

static void put_cpu(leat_build_item *item) {
#if defined(__x86_64__)
    put(item, "cpu", "avx2",
        __builtin_cpu_supports("avx2") ? "compiled in, in use" : "compiled in, not in this cpu");
#elif defined(__aarch64__)
    put(item, "cpu", "neon", "baseline, in use");
#else
    put(item, "cpu", "portable", "in use");
#endif
}

bool leat_build_info(int index, leat_build_item *item) {
    memset(item, 0, sizeof *item);
    switch (index) {
    case 0:
#if defined(__clang__)
        put(item, "compiler", "clang", __clang_version__);
#else
        put(item, "compiler", "gcc", __VERSION__);
#endif
        return true;
    case 1: put_cpu(item); return true;
    case 2: put(item, "library", "zstd", ZSTD_versionString()); return true;
    case 3: put_brotli(item); return true;
    case 4: put(item, "library", "snappy", LEAT_HAVE_SNAPPY ? "present" : "left out"); return true;
    case 5:
#if LEAT_HAVE_LZ4
        put(item, "library", "lz4", LZ4_versionString());
#else
        put(item, "library", "lz4", "left out");
#endif
        return true;
    case 6: put(item, "library", "zlib", zlibVersion()); return true;
    case 7: put_xxhash(item); return true;
    case 8: put(item, "library", "libcrypto", OpenSSL_version(OPENSSL_VERSION_STRING)); return true;
    case 9: put(item, "library", "jansson", jansson_version_str()); return true;
    case 10: put_jpeg(item); return true;
    case 11: put_png(item); return true;
    case 12: put_zip(item); return true;
    case 13:
#if LEAT_HAVE_YAML
        put(item, "library", "libyaml", yaml_get_version_string());
#else
        put(item, "library", "libyaml", "left out");
#endif
        return true;
    case 14: put_webp(item); return true;
    case 15: put_lzma(item); return true;
    case 16: put(item, "library", "libbz2", LEAT_HAVE_BZIP2 ? "present" : "left out"); return true;
    default: return false;
    }
}
