/* SHA-256, MD5 and XXH3 through their libraries. The low-level functions of libcrypto are used on
 * purpose: their state is a plain struct, needs no allocation and may be copied. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/hash.h"

#include <openssl/md5.h>
#include <openssl/sha.h>
#include <string.h>
#include <xxhash.h>
#if LEAT_XXHASH_DISPATCH
/* Takes over names of xxhash.h. It declares functions on streams as well, so that XXH_NO_STREAM
 * must not be defined: from 0.8.2 on that takes their type away. */
#include <xxh_x86dispatch.h>

#include <immintrin.h>
#endif

#include "base/cpu.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/sha256_pair.h"

_Static_assert(sizeof(SHA256_CTX) <= sizeof(((leat_sha256 *)0)->state), "state of SHA-256 fits");

static SHA256_CTX *context_of(leat_sha256 *sha) { return (SHA256_CTX *)(void *)sha->state; }

void leat_sha256_init(leat_sha256 *sha) {
    SHA256_Init(context_of(sha));
    sha->pairs = 0;
}

void leat_sha256_update(leat_sha256 *sha, const void *bytes, int64_t size_bytes) {
    if (size_bytes > 0) SHA256_Update(context_of(sha), bytes, (size_t)size_bytes);
}

void leat_sha256_final(leat_sha256 *sha, uint8_t digest[32]) {
    SHA256_Final(digest, context_of(sha));
}

/* Bytes that the state needs to reach a block boundary. */
static int64_t to_boundary(const SHA256_CTX *context) {
    return context->num == 0 ? 0 : SHA256_CBLOCK - (int64_t)context->num;
}

static void count_blocks(SHA256_CTX *context, int64_t blocks) {
    uint64_t bits = ((uint64_t)context->Nh << 32 | context->Nl) + (uint64_t)blocks * 512;
    context->Nl = (uint32_t)bits;
    context->Nh = (uint32_t)(bits >> 32);
}

/* libcrypto hashes incomplete blocks, and everything where the processor has no instructions for
 * the pair. */
void leat_sha256_update2(leat_sha256 *a, const void *bytes_a, int64_t size_a, leat_sha256 *b,
                         const void *bytes_b, int64_t size_b) {
    SHA256_CTX *x = context_of(a), *y = context_of(b);
    const uint8_t *at_a = bytes_a, *at_b = bytes_b;
    int64_t head_a = to_boundary(x), head_b = to_boundary(y), taken = 0;
    if (head_a <= size_a && head_b <= size_b) {
        leat_sha256_update(a, at_a, head_a);
        leat_sha256_update(b, at_b, head_b);
        int64_t left_a = size_a - head_a, left_b = size_b - head_b;
        int64_t blocks = (left_a < left_b ? left_a : left_b) / SHA256_CBLOCK;
        if (a->pairs == 0) a->pairs = leat_sha256_pair_supported() ? 1 : -1;
        if (a->pairs > 0) {
            leat_sha256_pair_blocks(x->h, at_a + head_a, y->h, at_b + head_b, blocks);
            count_blocks(x, blocks);
            count_blocks(y, blocks);
            taken = blocks * SHA256_CBLOCK;
        }
    } else {
        head_a = head_b = 0;
    }
    leat_sha256_update(a, at_a + head_a + taken, size_a - head_a - taken);
    leat_sha256_update(b, at_b + head_b + taken, size_b - head_b - taken);
}

void leat_sha256_hex(const uint8_t digest[32], char text[65]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 32; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[64] = 0;
}

void leat_sha256_of(const void *bytes, int64_t size_bytes, uint8_t digest[32]) {
    leat_sha256 sha;
    leat_sha256_init(&sha);
    leat_sha256_update(&sha, bytes, size_bytes);
    leat_sha256_final(&sha, digest);
}

void leat_sha256_hex_of(const void *bytes, int64_t size_bytes, char text[65]) {
    uint8_t digest[32];
    leat_sha256_of(bytes, size_bytes, digest);
    leat_sha256_hex(digest, text);
}

leat_code leat_sha256_write(void *sha, const void *bytes, int64_t size_bytes, leat_error *err) {
    (void)err;
    leat_sha256_update(sha, bytes, size_bytes);
    return LEAT_OK;
}

bool leat_sha256_parse(const char *text, uint8_t digest[32]) {
    if (strlen(text) != 64) return false;
    for (int i = 0; i < 64; i++) {
        char c = text[i];
        int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (value < 0) return false;
        digest[i / 2] = (uint8_t)(i % 2 == 0 ? value << 4 : digest[i / 2] | value);
    }
    return true;
}

void leat_md5(const void *bytes, int64_t size_bytes, uint8_t digest[16]) {
    MD5_CTX context;
    MD5_Init(&context);
    MD5_Update(&context, bytes, (size_t)size_bytes);
    MD5_Final(digest, &context);
}

/* The functions that the library dispatches to leave values in the upper halves of the vector
 * registers. Until they are cleared, each change between old and VEX encoded instructions, as in
 * fmaf called from plain SSE2 code, costs some seventy cycles on recent Intel processors. */
#if LEAT_XXHASH_DISPATCH
__attribute__((target("avx"))) static void clear_upper_halves(void) { _mm256_zeroupper(); }

static void leave_vectors(void) {
    if (leat_cpu_has(LEAT_CPU_AVX)) clear_upper_halves();
}
#else
static void leave_vectors(void) {}
#endif

uint64_t leat_xxh3(const void *bytes, int64_t size_bytes) {
    const uint64_t hash = XXH3_64bits(bytes, (size_t)size_bytes);
    leave_vectors();
    return hash;
}

/* The library aligns its state, whose size may differ between versions, so it also allocates it. */
static XXH3_state_t *xxh3_of(const leat_xxh3_run *run) { return (XXH3_state_t *)(uintptr_t)run; }

leat_code leat_xxh3_create(leat_xxh3_run **out, leat_error *err) {
    XXH3_state_t *state = LEAT_FAULT(LEAT_FAULT_ALLOC) ? NULL : XXH3_createState();
    *out = (leat_xxh3_run *)state;
    if (state == NULL) return leat_fail(err, LEAT_ERR_MEMORY, "out of memory: a state of XXH3");
    leat_xxh3_begin(*out);
    return LEAT_OK;
}

void leat_xxh3_destroy(leat_xxh3_run *run) {
    if (run != NULL) XXH3_freeState(xxh3_of(run));
}

void leat_xxh3_begin(leat_xxh3_run *run) { XXH3_64bits_reset(xxh3_of(run)); }

void leat_xxh3_update(leat_xxh3_run *run, const void *bytes, int64_t size_bytes) {
    if (size_bytes <= 0) return;
    XXH3_64bits_update(xxh3_of(run), bytes, (size_t)size_bytes);
    leave_vectors();
}

uint64_t leat_xxh3_final(const leat_xxh3_run *run) {
    const uint64_t hash = XXH3_64bits_digest(xxh3_of(run));
    leave_vectors();
    return hash;
}
