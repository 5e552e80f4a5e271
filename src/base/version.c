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

#include "base/cpu.h"
#include "leat/base.h"

/* What LEAT_KIND said when this was configured. */
#ifndef LEAT_BUILD_KIND
#define LEAT_BUILD_KIND "from source"
#endif

/* The command and libleat.so have the one that cmake/commit.cmake writes instead. In a source of
 * its own a new commit compiles and links nothing but these two. */
const char *leat_build_commit(void);
__attribute__((weak)) const char *leat_build_commit(void) { return "unknown"; }

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

static void put_commit(leat_build_item *item) { put(item, "build", "commit", leat_build_commit()); }

static void put_kind(leat_build_item *item) { put(item, "build", "kind", LEAT_BUILD_KIND); }

static void put_compiler(leat_build_item *item) {
#if defined(__clang__)
    put(item, "compiler", "clang", __clang_version__);
#else
    put(item, "compiler", "gcc", __VERSION__);
#endif
}

#if defined(__x86_64__)
static void put_feature(leat_build_item *item, const char *name, unsigned features) {
    put(item, "cpu", name,
        leat_cpu_has(features) ? "compiled in, in use" : "compiled in, not in this cpu");
}

static void put_avx2(leat_build_item *item) {
    put_feature(item, "avx2", LEAT_CPU_AVX2 | LEAT_CPU_FMA);
}

static void put_avx512(leat_build_item *item) {
    put_feature(item, "avx512", LEAT_CPU_AVX512F | LEAT_CPU_FMA);
}

static void put_sha(leat_build_item *item) {
    put_feature(item, "sha", LEAT_CPU_SSE41 | LEAT_CPU_SHA);
}
#elif defined(__aarch64__)
static void put_neon(leat_build_item *item) { put(item, "cpu", "neon", "baseline, in use"); }
#else
static void put_portable(leat_build_item *item) { put(item, "cpu", "portable", "in use"); }
#endif

static void put_zstd(leat_build_item *item) { put(item, "library", "zstd", ZSTD_versionString()); }

static void put_snappy(leat_build_item *item) {
    put(item, "library", "snappy", LEAT_HAVE_SNAPPY ? "present" : "left out");
}

static void put_lz4(leat_build_item *item) {
#if LEAT_HAVE_LZ4
    put(item, "library", "lz4", LZ4_versionString());
#else
    put(item, "library", "lz4", "left out");
#endif
}

static void put_zlib(leat_build_item *item) { put(item, "library", "zlib", zlibVersion()); }

static void put_libcrypto(leat_build_item *item) {
    put(item, "library", "libcrypto", OpenSSL_version(OPENSSL_VERSION_STRING));
}

static void put_jansson(leat_build_item *item) {
    put(item, "library", "jansson", jansson_version_str());
}

static void put_yaml(leat_build_item *item) {
#if LEAT_HAVE_YAML
    put(item, "library", "libyaml", yaml_get_version_string());
#else
    put(item, "library", "libyaml", "left out");
#endif
}

static void put_bzip2(leat_build_item *item) {
    put(item, "library", "libbz2", LEAT_HAVE_BZIP2 ? "present" : "left out");
}

static void put_microhttpd(leat_build_item *item) {
    put(item, "library", "libmicrohttpd", LEAT_HAVE_MICROHTTPD ? "present" : "left out");
}

static void (*const items[])(leat_build_item *) = {
    put_commit,    put_kind,    put_compiler,
#if defined(__x86_64__)
    put_avx2,      put_avx512,  put_sha,
#elif defined(__aarch64__)
    put_neon,
#else
    put_portable,
#endif
    put_zstd,      put_brotli,  put_snappy,   put_lz4,        put_zlib, put_xxhash,
    put_libcrypto, put_jansson, put_jpeg,     put_png,        put_zip,  put_yaml,
    put_webp,      put_lzma,    put_bzip2,    put_microhttpd,
};

bool leat_build_info(int index, leat_build_item *item) {
    memset(item, 0, sizeof *item);
    if (index < 0 || (size_t)index >= sizeof items / sizeof *items) return false;
    items[index](item);
    return true;
}
