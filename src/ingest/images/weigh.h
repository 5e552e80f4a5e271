/*
 * The inner loops of resizing: 16 bytes at once are weighted sums of others. They are written with
 * vectors of 16 bytes, which every compiler here turns into instructions that all processors of its
 * target have; for x86-64 the sums are written with SSE2, which belongs to every x86-64 processor
 * and has an instruction that multiplies and adds pairs.
 */
#ifndef LEAT_INGEST_IMAGES_WEIGH_H
#define LEAT_INGEST_IMAGES_WEIGH_H

#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    LEAT_WEIGH_LANES = 16,
    LEAT_WEIGH_BITS = 22,     /* of the weights, as in Pillow: their sum is 2^22 */
    LEAT_WEIGH_LOW_BITS = 15, /* of a weight's low part */
};

typedef uint8_t leat_sixteen __attribute__((vector_size(LEAT_WEIGH_LANES)));

/* Rows and columns of 16 x 16 bytes exchanged. One step moves row r to 2 r, and 8 + r to 2 r + 1,
 * byte by byte; four of them are all. */
#define LEAT_WEIGH_LOW(a, b)                                                                       \
    __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define LEAT_WEIGH_HIGH(a, b)                                                                      \
    __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LEAT_WEIGH_PAIR(r)                                                                         \
    to[2 * (r)] = LEAT_WEIGH_LOW(from[r], from[(r) + 8]);                                          \
    to[2 * (r) + 1] = LEAT_WEIGH_HIGH(from[r], from[(r) + 8]);

static inline void leat_weigh_step(const leat_sixteen from[16], leat_sixteen to[16]) {
    LEAT_WEIGH_PAIR(0)
    LEAT_WEIGH_PAIR(1)
    LEAT_WEIGH_PAIR(2)
    LEAT_WEIGH_PAIR(3)
    LEAT_WEIGH_PAIR(4)
    LEAT_WEIGH_PAIR(5)
    LEAT_WEIGH_PAIR(6)
    LEAT_WEIGH_PAIR(7)
}

static inline void leat_weigh_exchange(leat_sixteen block[16]) {
    leat_sixteen other[16];
    leat_weigh_step(block, other);
    leat_weigh_step(other, block);
    leat_weigh_step(block, other);
    leat_weigh_step(other, block);
}

/*
 * out[i] = sum over t < count of from[t * stride + i] * weight t, rounded to a whole byte.
 * `weights` were packed by the function of the same name; count is even. Every sum is below 2^31,
 * because the weights are not negative and add up to about 2^22.
 */
typedef void (*leat_weigh_fn)(const uint8_t *from, int64_t stride, const uint32_t *weights,
                              int32_t count, uint8_t out[LEAT_WEIGH_LANES]);

/* ---- for any processor ---------------------------------------------------------------------- */

static inline void leat_weigh_plain(const uint8_t *from, int64_t stride, const uint32_t *weights,
                                    int32_t count, uint8_t out[LEAT_WEIGH_LANES]) {
    uint32_t sums[LEAT_WEIGH_LANES];
    for (int i = 0; i < LEAT_WEIGH_LANES; i++) sums[i] = UINT32_C(1) << (LEAT_WEIGH_BITS - 1);
    for (int32_t t = 0; t < count; t++, from += stride) {
        const uint32_t weight = weights[t];
        for (int i = 0; i < LEAT_WEIGH_LANES; i++) sums[i] += from[i] * weight;
    }
    for (int i = 0; i < LEAT_WEIGH_LANES; i++) out[i] = (uint8_t)(sums[i] >> LEAT_WEIGH_BITS);
}

/* ---- SSE2 ----------------------------------------------------------------------------------- */

#if defined(__SSE2__)

/* Two weights as two words: their low parts, then their high parts, 16 bits each. */
static inline void leat_weigh_sse2_pack(uint32_t *weights, int32_t count) {
    const uint32_t low = (UINT32_C(1) << LEAT_WEIGH_LOW_BITS) - 1;
    for (int32_t t = 0; t < count; t += 2) {
        uint32_t a = weights[t], b = weights[t + 1];
        weights[t] = (a & low) | (b & low) << 16;
        weights[t + 1] = a >> LEAT_WEIGH_LOW_BITS | b >> LEAT_WEIGH_LOW_BITS << 16;
    }
}

/* Four sums of low parts and of high parts as whole, rounded numbers. */
static inline __m128i leat_weigh_sse2_round(__m128i low, __m128i high) {
    __m128i half = _mm_set1_epi32(1 << (LEAT_WEIGH_BITS - 1));
    __m128i sum =
        _mm_add_epi32(_mm_add_epi32(low, half), _mm_slli_epi32(high, LEAT_WEIGH_LOW_BITS));
    return _mm_srli_epi32(sum, LEAT_WEIGH_BITS);
}

static inline void leat_weigh_sse2(const uint8_t *from, int64_t stride, const uint32_t *weights,
                                   int32_t count, uint8_t out[LEAT_WEIGH_LANES]) {
    const __m128i zero = _mm_setzero_si128();
    __m128i low0 = zero, low1 = zero, low2 = zero, low3 = zero;
    __m128i high0 = zero, high1 = zero, high2 = zero, high3 = zero;
    for (int32_t t = 0; t < count; t += 2, from += 2 * stride) {
        __m128i a = _mm_loadu_si128((const void *)from);
        __m128i b = _mm_loadu_si128((const void *)(from + stride));
        __m128i low = _mm_set1_epi32((int32_t)weights[t]);
        __m128i high = _mm_set1_epi32((int32_t)weights[t + 1]);
        __m128i ab = _mm_unpacklo_epi8(a, b), cd = _mm_unpackhi_epi8(a, b);
        __m128i x0 = _mm_unpacklo_epi8(ab, zero), x1 = _mm_unpackhi_epi8(ab, zero);
        __m128i x2 = _mm_unpacklo_epi8(cd, zero), x3 = _mm_unpackhi_epi8(cd, zero);
        low0 = _mm_add_epi32(low0, _mm_madd_epi16(x0, low));
        low1 = _mm_add_epi32(low1, _mm_madd_epi16(x1, low));
        low2 = _mm_add_epi32(low2, _mm_madd_epi16(x2, low));
        low3 = _mm_add_epi32(low3, _mm_madd_epi16(x3, low));
        high0 = _mm_add_epi32(high0, _mm_madd_epi16(x0, high));
        high1 = _mm_add_epi32(high1, _mm_madd_epi16(x1, high));
        high2 = _mm_add_epi32(high2, _mm_madd_epi16(x2, high));
        high3 = _mm_add_epi32(high3, _mm_madd_epi16(x3, high));
    }
    __m128i first =
        _mm_packs_epi32(leat_weigh_sse2_round(low0, high0), leat_weigh_sse2_round(low1, high1));
    __m128i second =
        _mm_packs_epi32(leat_weigh_sse2_round(low2, high2), leat_weigh_sse2_round(low3, high3));
    _mm_storeu_si128((void *)out, _mm_packus_epi16(first, second));
}

#endif
#endif
