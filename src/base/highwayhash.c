/*
 * HighwayHash-64 (the frozen version), the hash of every chunk and block header of ArrayRecord.
 *
 * * The state is four rows of four 64-bit lanes; a packet of 32 bytes is one addition to each lane,
 * two 32 x 32 products and a shuffle of bytes between neighbouring lanes. With AVX2 a row is one
 * register, about four times as fast as the portable path, which is the reference: both give equal
 * values, and only complete packets use the fast path.
 */
#include "base/hash.h"

#include <string.h>

#if defined(__x86_64__)
#define LEAT_HIGHWAYHASH_AVX2 1
#include <immintrin.h>
#else
#define LEAT_HIGHWAYHASH_AVX2 0
#endif

#include "base/cpu.h"

#define PACKET_BYTES 32
#define CLOSING_ROUNDS 4

static const uint64_t multiply_start[2][4] = {
    {UINT64_C(0xdbe6d5d5fe4cce2f), UINT64_C(0xa4093822299f31d0), UINT64_C(0x13198a2e03707344),
     UINT64_C(0x243f6a8885a308d3)},
    {UINT64_C(0x3bd39e10cb0ef593), UINT64_C(0xc0acf169b5f18a8c), UINT64_C(0xbe5466cf34e90c6c),
     UINT64_C(0x452821e638d01377)},
};

/* "Riegeli/records\n" twice. */
static const uint64_t riegeli_key[4] = {UINT64_C(0x2f696c6567656952), UINT64_C(0x0a7364726f636572),
                                        UINT64_C(0x2f696c6567656952), UINT64_C(0x0a7364726f636572)};

static uint64_t swap_halves(uint64_t x) { return x >> 32 | x << 32; }

static uint64_t load_le64(const uint8_t *bytes) {
    uint64_t value = 0;
    memcpy(&value, bytes, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

static void init_key(leat_highwayhash *hash, const uint64_t key[4]) {
    memset(hash, 0, sizeof *hash);
    for (int i = 0; i < 4; i++) {
        hash->m0[i] = multiply_start[0][i];
        hash->m1[i] = multiply_start[1][i];
        hash->v0[i] = multiply_start[0][i] ^ key[i];
        hash->v1[i] = multiply_start[1][i] ^ swap_halves(key[i]);
    }
}

/* Byte `from` of x, moved to position `to`. */
#define MOVE(x, from, to) ((((x) >> (8 * (from))) & 0xff) << (8 * (to)))

/* Adds the zipper-merged bytes of a lane pair of `from` to the same pair of `into`. */
static inline void zip_add(const uint64_t from[2], uint64_t into[2]) {
    uint64_t even = from[0], odd = from[1];
    into[0] += MOVE(even, 3, 0) | MOVE(odd, 4, 1) | MOVE(even, 2, 2) | MOVE(even, 5, 3) |
               MOVE(odd, 6, 4) | MOVE(even, 1, 5) | MOVE(odd, 7, 6) | MOVE(even, 0, 7);
    into[1] += MOVE(odd, 3, 0) | MOVE(even, 4, 1) | MOVE(odd, 2, 2) | MOVE(odd, 5, 3) |
               MOVE(odd, 1, 4) | MOVE(even, 6, 5) | MOVE(odd, 0, 6) | MOVE(even, 7, 7);
}

static void update_lanes(leat_highwayhash *hash, const uint64_t packet[4]) {
    for (int i = 0; i < 4; i++) {
        hash->v1[i] += hash->m0[i] + packet[i];
        hash->m0[i] ^= (hash->v1[i] & 0xffffffff) * (hash->v0[i] >> 32);
        hash->v0[i] += hash->m1[i];
        hash->m1[i] ^= (hash->v0[i] & 0xffffffff) * (hash->v1[i] >> 32);
    }
    zip_add(hash->v1, hash->v0);
    zip_add(hash->v1 + 2, hash->v0 + 2);
    zip_add(hash->v0, hash->v1);
    zip_add(hash->v0 + 2, hash->v1 + 2);
}

static void packets_portable(leat_highwayhash *hash, const uint8_t *bytes, int64_t count) {
    for (int64_t i = 0; i < count; i++, bytes += PACKET_BYTES) {
        uint64_t packet[4];
        for (int lane = 0; lane < 4; lane++) packet[lane] = load_le64(bytes + 8 * lane);
        update_lanes(hash, packet);
    }
}

#if LEAT_HIGHWAYHASH_AVX2
#define LEAT_AVX2 __attribute__((target("avx2")))

/* The state in registers, one row each. */
typedef struct rows {
    __m256i v0, v1, m0, m1;
} rows;

LEAT_AVX2 static inline rows load_rows(const leat_highwayhash *hash) {
    return (rows){_mm256_loadu_si256((const __m256i *)(const void *)hash->v0),
                  _mm256_loadu_si256((const __m256i *)(const void *)hash->v1),
                  _mm256_loadu_si256((const __m256i *)(const void *)hash->m0),
                  _mm256_loadu_si256((const __m256i *)(const void *)hash->m1)};
}

LEAT_AVX2 static inline void store_rows(leat_highwayhash *hash, const rows *r) {
    _mm256_storeu_si256((__m256i *)(void *)hash->v0, r->v0);
    _mm256_storeu_si256((__m256i *)(void *)hash->v1, r->v1);
    _mm256_storeu_si256((__m256i *)(void *)hash->m0, r->m0);
    _mm256_storeu_si256((__m256i *)(void *)hash->m1, r->m1);
}

LEAT_AVX2 static inline void update_rows(rows *r, __m256i packet) {
    const __m256i zip = _mm256_setr_epi8(3, 12, 2, 5, 14, 1, 15, 0, 11, 4, 10, 13, 9, 6, 8, 7, 3,
                                         12, 2, 5, 14, 1, 15, 0, 11, 4, 10, 13, 9, 6, 8, 7);
    r->v1 = _mm256_add_epi64(r->v1, _mm256_add_epi64(r->m0, packet));
    r->m0 = _mm256_xor_si256(r->m0, _mm256_mul_epu32(r->v1, _mm256_srli_epi64(r->v0, 32)));
    r->v0 = _mm256_add_epi64(r->v0, r->m1);
    r->m1 = _mm256_xor_si256(r->m1, _mm256_mul_epu32(r->v0, _mm256_srli_epi64(r->v1, 32)));
    r->v0 = _mm256_add_epi64(r->v0, _mm256_shuffle_epi8(r->v1, zip));
    r->v1 = _mm256_add_epi64(r->v1, _mm256_shuffle_epi8(r->v0, zip));
}

LEAT_AVX2 static void packets_avx2(leat_highwayhash *hash, const uint8_t *bytes, int64_t count) {
    rows r = load_rows(hash);
    for (int64_t i = 0; i < count; i++, bytes += PACKET_BYTES) {
        update_rows(&r, _mm256_loadu_si256((const __m256i *)(const void *)bytes));
    }
    store_rows(hash, &r);
}

LEAT_AVX2 static void closing_avx2(leat_highwayhash *hash) {
    rows r = load_rows(hash);
    for (int round = 0; round < CLOSING_ROUNDS; round++) {
        __m256i crossed = _mm256_permute2x128_si256(r.v0, r.v0, 1);
        update_rows(&r, _mm256_shuffle_epi32(crossed, _MM_SHUFFLE(2, 3, 0, 1)));
    }
    store_rows(hash, &r);
}
#endif

/* The last rounds feed the state into itself, its 128-bit halves and its 32-bit halves swapped. */
static void closing_portable(leat_highwayhash *hash) {
    for (int round = 0; round < CLOSING_ROUNDS; round++) {
        uint64_t packet[4] = {swap_halves(hash->v0[2]), swap_halves(hash->v0[3]),
                              swap_halves(hash->v0[0]), swap_halves(hash->v0[1])};
        update_lanes(hash, packet);
    }
}

static void packets(leat_highwayhash *hash, const uint8_t *bytes, int64_t count, bool portable) {
#if LEAT_HIGHWAYHASH_AVX2
    if (!portable && leat_cpu_has(LEAT_CPU_AVX2)) {
        packets_avx2(hash, bytes, count);
        return;
    }
#endif
    (void)portable;
    packets_portable(hash, bytes, count);
}

static void update(leat_highwayhash *hash, const void *bytes, int64_t size_bytes, bool portable) {
    const uint8_t *at = bytes;
    if (size_bytes == 0) return;
    if (hash->tail_size > 0) {
        int64_t room = PACKET_BYTES - hash->tail_size;
        int64_t step = size_bytes < room ? size_bytes : room;
        memcpy(hash->tail + hash->tail_size, at, (size_t)step);
        hash->tail_size += step;
        at += step;
        size_bytes -= step;
        if (hash->tail_size < PACKET_BYTES) return;
        packets(hash, hash->tail, 1, portable);
        hash->tail_size = 0;
    }
    int64_t whole = size_bytes / PACKET_BYTES;
    if (whole > 0) packets(hash, at, whole, portable);
    hash->tail_size = size_bytes - whole * PACKET_BYTES;
    memcpy(hash->tail, at + whole * PACKET_BYTES, (size_t)hash->tail_size);
}

/* The last 1..31 bytes: their number goes into the state, they into a packet with gaps. */
static void absorb_tail(leat_highwayhash *hash, bool portable) {
    uint32_t size = (uint32_t)hash->tail_size;
    uint8_t packet[PACKET_BYTES] = {0};
    uint32_t quads = size & ~3u, rest = size & 3u;
    const uint8_t *last = hash->tail + quads;
    for (int i = 0; i < 4; i++) {
        hash->v0[i] += ((uint64_t)size << 32) + size;
        uint32_t low = (uint32_t)hash->v1[i], high = (uint32_t)(hash->v1[i] >> 32);
        low = low << size | low >> (32 - size);
        high = high << size | high >> (32 - size);
        hash->v1[i] = (uint64_t)high << 32 | low;
    }
    memcpy(packet, hash->tail, quads);
    if (size & 16) {
        memcpy(packet + 28, hash->tail + size - 4, 4);
    } else if (rest != 0) {
        packet[16] = last[0];
        packet[17] = last[rest >> 1];
        packet[18] = last[rest - 1];
    }
    packets(hash, packet, 1, portable);
}

static uint64_t final(leat_highwayhash *hash, bool portable) {
    if (hash->tail_size > 0) absorb_tail(hash, portable);
#if LEAT_HIGHWAYHASH_AVX2
    if (!portable && leat_cpu_has(LEAT_CPU_AVX2)) closing_avx2(hash);
    else closing_portable(hash);
#else
    closing_portable(hash);
#endif
    return hash->v0[0] + hash->v1[0] + hash->m0[0] + hash->m1[0];
}

void leat_highwayhash_init(leat_highwayhash *hash) { init_key(hash, riegeli_key); }

void leat_highwayhash_update(leat_highwayhash *hash, const void *bytes, int64_t size_bytes) {
    update(hash, bytes, size_bytes, false);
}

uint64_t leat_highwayhash_final(leat_highwayhash *hash) { return final(hash, false); }

uint64_t leat_highwayhash_of(const void *bytes, int64_t size_bytes) {
    leat_highwayhash hash;
    leat_highwayhash_init(&hash);
    leat_highwayhash_update(&hash, bytes, size_bytes);
    return leat_highwayhash_final(&hash);
}

uint64_t leat_highwayhash_portable(const uint64_t key[4], const void *bytes, int64_t size_bytes) {
    leat_highwayhash hash;
    init_key(&hash, key);
    update(&hash, bytes, size_bytes, true);
    return final(&hash, true);
}
