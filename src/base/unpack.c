/* Members of packed files, one after the other: see unpack.h. */
#include "base/unpack.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/unpack_codec.h"

static const struct {
    const char *name, *suffix;
    const leat_unpack_codec *codec;
    const char *magic;                /* that all files begin with, of magic_bytes */
    int64_t magic_bytes, known_bytes; /* by so many it is known */
} codings[] = {
    [LEAT_CODING_NONE] = {"", NULL, NULL, NULL, 0, 0},
    [LEAT_CODING_GZIP] = {"gzip", ".gz", &leat_unpack_gzip, "\x1f\x8b", 2, 2},
    [LEAT_CODING_BZIP2] = {"bzip2", ".bz2", &leat_unpack_bzip2, "BZh", 3, 10},
    [LEAT_CODING_XZ] = {"xz", ".xz", &leat_unpack_xz, "\xfd\x37zXZ", 6, 6},
    [LEAT_CODING_ZSTD] = {"zstd", ".zst", &leat_unpack_zstd, "\x28\xb5\x2f\xfd", 4, 4},
};
enum { CODINGS = sizeof codings / sizeof *codings };

struct leat_unpacker {
    leat_coding coding;
    const leat_unpack_codec *calls;
    void *codec;
    bool in_member, begun; /* begun: there has been a member */
};

/* ---- which it is ---------------------------------------------------------------------------- */

/* Whether a file begins as all of a coding do, as far as it goes. */
static bool begins(leat_coding coding, const uint8_t *bytes, int64_t size_bytes) {
    const int64_t count = codings[coding].magic_bytes;
    return memcmp(bytes, codings[coding].magic,
                  (size_t)(size_bytes < count ? size_bytes : count)) == 0;
}

leat_coding leat_coding_of(const uint8_t *bytes, int64_t size_bytes) {
    static const leat_coding plain[] = {LEAT_CODING_GZIP, LEAT_CODING_XZ, LEAT_CODING_ZSTD};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (size_bytes >= codings[plain[i]].known_bytes && begins(plain[i], bytes, size_bytes))
            return plain[i];
    /* a frame to be skipped, as programs write that pack in parallel */
    if (size_bytes >= 4 && (bytes[0] & 0xf0) == 0x50 && memcmp(bytes + 1, "\x2a\x4d\x18", 3) == 0)
        return LEAT_CODING_ZSTD;
    /* a text may begin with BZh9, but not with what follows: pi, or the square root of pi */
    if (size_bytes >= codings[LEAT_CODING_BZIP2].known_bytes &&
        begins(LEAT_CODING_BZIP2, bytes, size_bytes) && bytes[3] >= '1' && bytes[3] <= '9' &&
        (memcmp(bytes + 4, "1AY&SY", 6) == 0 || memcmp(bytes + 4, "\x17rE8P\x90", 6) == 0))
        return LEAT_CODING_BZIP2;
    return LEAT_CODING_NONE;
}

const char *leat_coding_name(leat_coding coding) { return codings[coding].name; }

/* What a path says that its file is. */
static leat_coding coding_of_name(const char *path) {
    size_t size = strlen(path);
    for (int i = LEAT_CODING_NONE + 1; i < CODINGS; i++) {
        size_t suffix = strlen(codings[i].suffix);
        if (size > suffix && strcasecmp(path + size - suffix, codings[i].suffix) == 0)
            return (leat_coding)i;
    }
    return LEAT_CODING_NONE;
}

int64_t leat_coding_stem_bytes(const char *path) {
    const leat_coding coding = coding_of_name(path);
    return (int64_t)(strlen(path) -
                     (coding == LEAT_CODING_NONE ? 0 : strlen(codings[coding].suffix)));
}

bool leat_coding_is_cut(const char *path, const uint8_t *bytes, int64_t size_bytes) {
    const leat_coding coding = coding_of_name(path);
    return coding != LEAT_CODING_NONE && size_bytes > 0 &&
           size_bytes < codings[coding].known_bytes && begins(coding, bytes, size_bytes);
}

/* ---- members -------------------------------------------------------------------------------- */

leat_code leat_unpacker_create(leat_unpacker **out, leat_coding coding, int64_t memory_bytes,
                               leat_error *err) {
    LEAT_ASSERT(coding > LEAT_CODING_NONE && (int)coding < CODINGS);
    leat_unpacker *unpacker = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&unpacker, 1, err));
    unpacker->coding = coding;
    unpacker->calls = codings[coding].codec;
    leat_code code = unpacker->calls->create(
        &unpacker->codec, memory_bytes > 0 ? memory_bytes : LEAT_UNPACK_MEMORY_BYTES, err);
    if (code != LEAT_OK) {
        leat_unpacker_destroy(unpacker);
        return code;
    }
    *out = unpacker;
    return LEAT_OK;
}

void leat_unpacker_destroy(leat_unpacker *unpacker) {
    if (unpacker == NULL) return;
    unpacker->calls->destroy(unpacker->codec);
    leat_free(unpacker);
}

/* Between members: skips zero bytes, as tapes leave them, and begins the next one. */
static leat_code next_member(leat_unpacker *unpacker, leat_unpack_flow *flow, bool *ended,
                             leat_error *err) {
    while (flow->in_bytes > 0 && *flow->in == 0 && unpacker->begun) {
        flow->in++;
        flow->in_bytes--;
    }
    /* an empty file is not a packed file */
    *ended = flow->in_bytes == 0 && flow->last && unpacker->begun;
    if (*ended || (flow->in_bytes == 0 && !flow->last)) return LEAT_OK;
    LEAT_TRY(unpacker->calls->begin(unpacker->codec, err));
    unpacker->in_member = true;
    return LEAT_OK;
}

/* What follows a complete member must be another one. */
static bool is_member(leat_coding coding, const leat_unpack_flow *flow) {
    static const uint8_t first[] = {
        [LEAT_CODING_GZIP] = 0x1f, [LEAT_CODING_BZIP2] = 'B', [LEAT_CODING_XZ] = 0xfd};
    if (flow->in_bytes == 0) return true;
    if (coding != LEAT_CODING_ZSTD) return *flow->in == first[coding];
    return *flow->in == 0x28 || (*flow->in & 0xf0) == 0x50;
}

leat_code leat_unpacker_step(leat_unpacker *unpacker, leat_unpack_flow *flow, bool *ended,
                             leat_error *err) {
    *ended = false;
    if (!unpacker->in_member) {
        LEAT_TRY(next_member(unpacker, flow, ended, err));
        if (!unpacker->in_member) return LEAT_OK;
        if (unpacker->begun && !is_member(unpacker->coding, flow))
            return leat_fail(err, LEAT_ERR_CORRUPT, "data after a complete member is not %s",
                             codings[unpacker->coding].name);
        unpacker->begun = true;
    }
    bool end = false;
    const int64_t in_bytes = flow->in_bytes, out_bytes = flow->out_bytes;
    LEAT_TRY(unpacker->calls->step(unpacker->codec, flow, &end, err));
    if (end) unpacker->in_member = false;
    else if (flow->last && flow->in_bytes == 0 && in_bytes == 0 && out_bytes == flow->out_bytes)
        return leat_fail(err, LEAT_ERR_CORRUPT, "the file is truncated");
    return LEAT_OK;
}

int64_t leat_unpacker_memory_bytes(const leat_unpacker *unpacker) {
    return unpacker->calls->memory_bytes(unpacker->codec);
}
