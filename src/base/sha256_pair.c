/*
 * SHA-256 of two streams at once (FIPS 180-4, 6.2). The processor's SHA instructions wait for each
 * other within one stream; the blocks of a second stream fill the gaps, so two digests take little
 * longer than one.
 */
#include "base/sha256_pair.h"

#include "base/cpu.h"

#define BLOCK_BYTES 64

#if defined(__x86_64__)
#include <immintrin.h>

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

bool leat_sha256_pair_supported(void) { return leat_cpu_has(LEAT_CPU_SSE41 | LEAT_CPU_SHA); }

#define SHA_TARGET __attribute__((target("sha,sse4.1,ssse3")))

/* One stream's working state: words A B E F and C D G H, and sixteen words of the schedule. */
typedef struct lane {
    __m128i abef, cdgh, w[4];
} lane;

SHA_TARGET static inline lane lane_load(const uint32_t h[8]) {
    __m128i abcd = _mm_loadu_si128((const __m128i *)(const void *)h);
    __m128i efgh = _mm_loadu_si128((const __m128i *)(const void *)(h + 4));
    abcd = _mm_shuffle_epi32(abcd, 0xb1);
    efgh = _mm_shuffle_epi32(efgh, 0x1b);
    return (lane){.abef = _mm_alignr_epi8(abcd, efgh, 8),
                  .cdgh = _mm_blend_epi16(efgh, abcd, 0xf0)};
}

SHA_TARGET static inline void lane_store(const lane *self, uint32_t h[8]) {
    __m128i feba = _mm_shuffle_epi32(self->abef, 0x1b);
    __m128i dchg = _mm_shuffle_epi32(self->cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(dchg, feba, 8));
}

SHA_TARGET static inline void lane_block(lane *self, const uint8_t *block) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    for (int i = 0; i < 4; i++) {
        __m128i words = _mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i));
        self->w[i] = _mm_shuffle_epi8(words, swap);
    }
}

/* Four rounds, and the four words of the schedule that come sixteen rounds later. */
SHA_TARGET static inline void lane_rounds(lane *self, int step) {
    __m128i k = _mm_loadu_si128((const __m128i *)(const void *)(round_constants + 4 * step));
    __m128i *w = self->w;
    __m128i sum = _mm_add_epi32(w[step & 3], k);
    self->cdgh = _mm_sha256rnds2_epu32(self->cdgh, self->abef, sum);
    self->abef = _mm_sha256rnds2_epu32(self->abef, self->cdgh, _mm_shuffle_epi32(sum, 0x0e));
    if (step >= 12) return;
    __m128i next = _mm_sha256msg1_epu32(w[step & 3], w[(step + 1) & 3]);
    next = _mm_add_epi32(next, _mm_alignr_epi8(w[(step + 3) & 3], w[(step + 2) & 3], 4));
    w[step & 3] = _mm_sha256msg2_epu32(next, w[(step + 3) & 3]);
}

SHA_TARGET void leat_sha256_pair_blocks(uint32_t ha[8], const uint8_t *a, uint32_t hb[8],
                                        const uint8_t *b, int64_t blocks) {
    lane x = lane_load(ha), y = lane_load(hb);
    for (int64_t i = 0; i < blocks; i++) {
        const lane x0 = x, y0 = y;
        lane_block(&x, a + i * BLOCK_BYTES);
        lane_block(&y, b + i * BLOCK_BYTES);
#pragma GCC unroll 16
        for (int step = 0; step < 16; step++) {
            lane_rounds(&x, step);
            lane_rounds(&y, step);
        }
        x.abef = _mm_add_epi32(x.abef, x0.abef);
        x.cdgh = _mm_add_epi32(x.cdgh, x0.cdgh);
        y.abef = _mm_add_epi32(y.abef, y0.abef);
        y.cdgh = _mm_add_epi32(y.cdgh, y0.cdgh);
    }
    lane_store(&x, ha);
    lane_store(&y, hb);
}
#else
bool leat_sha256_pair_supported(void) { return false; }

void leat_sha256_pair_blocks(uint32_t ha[8], const uint8_t *a, uint32_t hb[8], const uint8_t *b,
                             int64_t blocks) {
    (void)ha, (void)a, (void)hb, (void)b, (void)blocks;
}
#endif
