/*
 * The few vector operations that the kernels are written with, for one instruction set: the file
 * that includes this defines LEAT_VEC as 1 (scalar), 128 (NEON), 256 (AVX2 and FMA) or 512
 * (AVX-512F), and is compiled for it. All kernels are written once, over these names.
 *
 * Each operation has one right answer: IEEE addition, product, quotient, root and fused
 * multiply-add, rounded to nearest even, and operations on bits. Nothing here approximates, so
 * nothing depends on the width.
 *
 * vi_round gives the nearest integer, to even between two, for |a| <= 2^22; what it gives for other
 * values differs between processors, so kernels must not use it. vf_lt and vf_le are false for NaN.
 * vi_shr copies the sign. vf_load_some and vf_store_some touch the first n < VW floats only.
 * vf_square transposes a square of VW vectors. vf_tree adds LEAT_LANES lanes, in as many vectors:
 * lanes i and i + 8, then i + 4, i + 2, i + 1. vi_draw gives the top 24 bits of splitmix64's mix
 * (base/rng.h) of x, x + DRAW_STEP, ..., of 64 bits each; these do not depend on its last xor.
 */
#ifndef LEAT_NN_KERNELS_VEC_H
#define LEAT_NN_KERNELS_VEC_H

#include <stdint.h>

#ifdef __FAST_MATH__
#error "-ffast-math changes the results of the kernels: build without it"
#endif

#define LEAT_INLINE static inline __attribute__((always_inline, unused))

/* Of splitmix64: the step of its counter, and the factors of its mix. */
#define DRAW_STEP UINT64_C(0x9e3779b97f4a7c15)
#define DRAW_MIX1 UINT64_C(0xbf58476d1ce4e5b9)
#define DRAW_MIX2 UINT64_C(0x94d049bb133111eb)

#if LEAT_VEC == 512

#include <immintrin.h>

#define VW 16         /* lanes */
typedef __m512 vf;    /* floats */
typedef __m512i vi;   /* 32-bit integers */
typedef __mmask16 vm; /* a truth value for each lane */

LEAT_INLINE vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
LEAT_INLINE void vf_store(float *p, vf x) { _mm512_storeu_ps(p, x); }
LEAT_INLINE vf vf_load_some(const float *p, int n) {
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
LEAT_INLINE void vf_store_some(float *p, vf x, int n) {
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), x);
}
LEAT_INLINE vf vf_set(float x) { return _mm512_set1_ps(x); }
LEAT_INLINE vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
LEAT_INLINE vf vf_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
LEAT_INLINE vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
LEAT_INLINE vf vf_div(vf a, vf b) { return _mm512_div_ps(a, b); }
LEAT_INLINE vf vf_sqrt(vf a) { return _mm512_sqrt_ps(a); }
LEAT_INLINE vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
LEAT_INLINE vi vi_load(const int32_t *p) { return _mm512_loadu_si512(p); }
LEAT_INLINE void vi_store(int32_t *p, vi x) { _mm512_storeu_si512(p, x); }
LEAT_INLINE vi vi_set(int32_t x) { return _mm512_set1_epi32(x); }
LEAT_INLINE vi vi_add(vi a, vi b) { return _mm512_add_epi32(a, b); }
LEAT_INLINE vi vi_sub(vi a, vi b) { return _mm512_sub_epi32(a, b); }
LEAT_INLINE vi vi_and(vi a, vi b) { return _mm512_and_si512(a, b); }
LEAT_INLINE vi vi_or(vi a, vi b) { return _mm512_or_si512(a, b); }
LEAT_INLINE vi vi_xor(vi a, vi b) { return _mm512_xor_si512(a, b); }
LEAT_INLINE vi vi_shl(vi a, int n) { return _mm512_slli_epi32(a, (unsigned)n); }
LEAT_INLINE vi vi_shr(vi a, int n) { return _mm512_srai_epi32(a, (unsigned)n); }
LEAT_INLINE vm vi_eq(vi a, vi b) { return _mm512_cmpeq_epi32_mask(a, b); }
LEAT_INLINE vm vi_gt(vi a, vi b) { return _mm512_cmpgt_epi32_mask(a, b); }
LEAT_INLINE vi vi_bits(vf a) { return _mm512_castps_si512(a); }
LEAT_INLINE vf vf_bits(vi a) { return _mm512_castsi512_ps(a); }
LEAT_INLINE vi vi_round(vf a) { return _mm512_cvtps_epi32(a); }
LEAT_INLINE vf vf_from(vi a) { return _mm512_cvtepi32_ps(a); }
LEAT_INLINE vm vf_lt(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
LEAT_INLINE vm vf_le(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
LEAT_INLINE vm vf_nan(vf a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q); }
LEAT_INLINE vf vf_pick(vm m, vf yes, vf no) { return _mm512_mask_blend_ps(m, no, yes); }
LEAT_INLINE vi vi_pick(vm m, vi yes, vi no) { return _mm512_mask_blend_epi32(m, no, yes); }

LEAT_INLINE float vf_tree(const vf *x) {
    const __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x[0]), 1));
    const __m256 a = _mm256_add_ps(_mm512_castps512_ps256(x[0]), high);
    const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_shuffle_ps(c, c, 1)));
}
LEAT_INLINE __m512i vl_times(__m512i x, uint64_t factor) { /* the low 64 bits */
    const __m512i low = _mm512_set1_epi64((int64_t)factor), high = _mm512_srli_epi64(low, 32);
    const __m512i cross = _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(x, 32), low),
                                           _mm512_mul_epu32(x, high));
    return _mm512_add_epi64(_mm512_mul_epu32(x, low), _mm512_slli_epi64(cross, 32));
}
LEAT_INLINE __m256i vl_draw(__m512i x) {
    x = vl_times(_mm512_xor_si512(x, _mm512_srli_epi64(x, 30)), DRAW_MIX1);
    x = vl_times(_mm512_xor_si512(x, _mm512_srli_epi64(x, 27)), DRAW_MIX2);
    return _mm512_cvtepi64_epi32(_mm512_srli_epi64(x, 40));
}
LEAT_INLINE vi vi_draw(uint64_t x) {
    const __m512i eight =
        _mm512_set_epi64((int64_t)(7 * DRAW_STEP), (int64_t)(6 * DRAW_STEP),
                         (int64_t)(5 * DRAW_STEP), (int64_t)(4 * DRAW_STEP),
                         (int64_t)(3 * DRAW_STEP), (int64_t)(2 * DRAW_STEP), (int64_t)DRAW_STEP, 0);
    const __m512i low = _mm512_add_epi64(_mm512_set1_epi64((int64_t)x), eight);
    const __m512i high = _mm512_add_epi64(low, _mm512_set1_epi64((int64_t)(8 * DRAW_STEP)));
    return _mm512_inserti64x4(_mm512_castsi256_si512(vl_draw(low)), vl_draw(high), 1);
}

/* Four rows at a time: each 128-bit quarter of x becomes a transposed 4 x 4 square. */
LEAT_INLINE void vf_quarters(vf x[4]) {
    const __m512 a = _mm512_unpacklo_ps(x[0], x[1]), b = _mm512_unpackhi_ps(x[0], x[1]);
    const __m512 c = _mm512_unpacklo_ps(x[2], x[3]), d = _mm512_unpackhi_ps(x[2], x[3]);
    x[0] = _mm512_shuffle_ps(a, c, 0x44);
    x[1] = _mm512_shuffle_ps(a, c, 0xee);
    x[2] = _mm512_shuffle_ps(b, d, 0x44);
    x[3] = _mm512_shuffle_ps(b, d, 0xee);
}
LEAT_INLINE void vf_square(vf x[VW]) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) vf_quarters(x + 4 * i);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) { /* row 4 q + i: quarter q of rows i, 4 + i, 8 + i, 12 + i */
        const __m512 a = _mm512_shuffle_f32x4(x[i], x[4 + i], 0x88);
        const __m512 b = _mm512_shuffle_f32x4(x[i], x[4 + i], 0xdd);
        const __m512 c = _mm512_shuffle_f32x4(x[8 + i], x[12 + i], 0x88);
        const __m512 d = _mm512_shuffle_f32x4(x[8 + i], x[12 + i], 0xdd);
        x[i] = _mm512_shuffle_f32x4(a, c, 0x88);
        x[8 + i] = _mm512_shuffle_f32x4(a, c, 0xdd);
        x[4 + i] = _mm512_shuffle_f32x4(b, d, 0x88);
        x[12 + i] = _mm512_shuffle_f32x4(b, d, 0xdd);
    }
}

#elif LEAT_VEC == 256

#include <immintrin.h>

#define VW 8
typedef __m256 vf;
typedef __m256i vi;
typedef __m256i vm; /* all bits of a lane, or none */

LEAT_INLINE vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
LEAT_INLINE void vf_store(float *p, vf x) { _mm256_storeu_ps(p, x); }
LEAT_INLINE __m256i vf_first(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
LEAT_INLINE vf vf_load_some(const float *p, int n) { return _mm256_maskload_ps(p, vf_first(n)); }
LEAT_INLINE void vf_store_some(float *p, vf x, int n) { _mm256_maskstore_ps(p, vf_first(n), x); }
LEAT_INLINE vf vf_set(float x) { return _mm256_set1_ps(x); }
LEAT_INLINE vf vf_add(vf a, vf b) { return _mm256_add_ps(a, b); }
LEAT_INLINE vf vf_sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
LEAT_INLINE vf vf_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
LEAT_INLINE vf vf_div(vf a, vf b) { return _mm256_div_ps(a, b); }
LEAT_INLINE vf vf_sqrt(vf a) { return _mm256_sqrt_ps(a); }
LEAT_INLINE vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
LEAT_INLINE vi vi_load(const int32_t *p) { return _mm256_loadu_si256((const __m256i *)p); }
LEAT_INLINE void vi_store(int32_t *p, vi x) { _mm256_storeu_si256((__m256i *)p, x); }
LEAT_INLINE vi vi_set(int32_t x) { return _mm256_set1_epi32(x); }
LEAT_INLINE vi vi_add(vi a, vi b) { return _mm256_add_epi32(a, b); }
LEAT_INLINE vi vi_sub(vi a, vi b) { return _mm256_sub_epi32(a, b); }
LEAT_INLINE vi vi_and(vi a, vi b) { return _mm256_and_si256(a, b); }
LEAT_INLINE vi vi_or(vi a, vi b) { return _mm256_or_si256(a, b); }
LEAT_INLINE vi vi_xor(vi a, vi b) { return _mm256_xor_si256(a, b); }
LEAT_INLINE vi vi_shl(vi a, int n) { return _mm256_slli_epi32(a, n); }
LEAT_INLINE vi vi_shr(vi a, int n) { return _mm256_srai_epi32(a, n); }
LEAT_INLINE vm vi_eq(vi a, vi b) { return _mm256_cmpeq_epi32(a, b); }
LEAT_INLINE vm vi_gt(vi a, vi b) { return _mm256_cmpgt_epi32(a, b); }
LEAT_INLINE vi vi_bits(vf a) { return _mm256_castps_si256(a); }
LEAT_INLINE vf vf_bits(vi a) { return _mm256_castsi256_ps(a); }
LEAT_INLINE vi vi_round(vf a) { return _mm256_cvtps_epi32(a); }
LEAT_INLINE vf vf_from(vi a) { return _mm256_cvtepi32_ps(a); }
LEAT_INLINE vm vf_lt(vf a, vf b) { return vi_bits(_mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
LEAT_INLINE vm vf_le(vf a, vf b) { return vi_bits(_mm256_cmp_ps(a, b, _CMP_LE_OQ)); }
LEAT_INLINE vm vf_nan(vf a) { return vi_bits(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)); }
LEAT_INLINE vf vf_pick(vm m, vf yes, vf no) { return _mm256_blendv_ps(no, yes, vf_bits(m)); }
LEAT_INLINE vi vi_pick(vm m, vi yes, vi no) { return _mm256_blendv_epi8(no, yes, m); }

LEAT_INLINE float vf_tree(const vf *x) {
    const __m256 a = _mm256_add_ps(x[0], x[1]);
    const __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 c = _mm_add_ps(b, _mm_movehl_ps(b, b));
    return _mm_cvtss_f32(_mm_add_ss(c, _mm_shuffle_ps(c, c, 1)));
}
LEAT_INLINE __m256i vl_times(__m256i x, uint64_t factor) { /* the low 64 bits */
    const __m256i low = _mm256_set1_epi64x((int64_t)factor), high = _mm256_srli_epi64(low, 32);
    const __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), low),
                                           _mm256_mul_epu32(x, high));
    return _mm256_add_epi64(_mm256_mul_epu32(x, low), _mm256_slli_epi64(cross, 32));
}
LEAT_INLINE __m256i vl_draw(__m256i x) {
    x = vl_times(_mm256_xor_si256(x, _mm256_srli_epi64(x, 30)), DRAW_MIX1);
    x = vl_times(_mm256_xor_si256(x, _mm256_srli_epi64(x, 27)), DRAW_MIX2);
    return _mm256_srli_epi64(x, 40);
}
LEAT_INLINE vi vi_draw(uint64_t x) {
    const __m256i four = _mm256_set_epi64x((int64_t)(3 * DRAW_STEP), (int64_t)(2 * DRAW_STEP),
                                           (int64_t)DRAW_STEP, 0);
    const __m256i low = _mm256_add_epi64(_mm256_set1_epi64x((int64_t)x), four);
    const __m256i high = _mm256_add_epi64(low, _mm256_set1_epi64x((int64_t)(4 * DRAW_STEP)));
    const __m256 both = _mm256_shuffle_ps(_mm256_castsi256_ps(vl_draw(low)),
                                          _mm256_castsi256_ps(vl_draw(high)), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(both), 0xd8);
}

LEAT_INLINE void vf_halves(vf x[4]) {
    const __m256 a = _mm256_unpacklo_ps(x[0], x[1]), b = _mm256_unpackhi_ps(x[0], x[1]);
    const __m256 c = _mm256_unpacklo_ps(x[2], x[3]), d = _mm256_unpackhi_ps(x[2], x[3]);
    x[0] = _mm256_shuffle_ps(a, c, 0x44);
    x[1] = _mm256_shuffle_ps(a, c, 0xee);
    x[2] = _mm256_shuffle_ps(b, d, 0x44);
    x[3] = _mm256_shuffle_ps(b, d, 0xee);
}
LEAT_INLINE void vf_square(vf x[VW]) {
    vf_halves(x);
    vf_halves(x + 4);
    for (int i = 0; i < 4; i++) {
        const __m256 low = _mm256_permute2f128_ps(x[i], x[4 + i], 0x20);
        x[4 + i] = _mm256_permute2f128_ps(x[i], x[4 + i], 0x31);
        x[i] = low;
    }
}

#elif LEAT_VEC == 128

#include <arm_neon.h>

#define VW 4
typedef float32x4_t vf;
typedef int32x4_t vi;
typedef uint32x4_t vm;

LEAT_INLINE vf vf_load(const float *p) { return vld1q_f32(p); }
LEAT_INLINE void vf_store(float *p, vf x) { vst1q_f32(p, x); }
LEAT_INLINE vf vf_load_some(const float *p, int n) {
    float all[VW] = {0};
    for (int i = 0; i < n; i++) all[i] = p[i];
    return vld1q_f32(all);
}
LEAT_INLINE void vf_store_some(float *p, vf x, int n) {
    float all[VW];
    vst1q_f32(all, x);
    for (int i = 0; i < n; i++) p[i] = all[i];
}
LEAT_INLINE vf vf_set(float x) { return vdupq_n_f32(x); }
LEAT_INLINE vf vf_add(vf a, vf b) { return vaddq_f32(a, b); }
LEAT_INLINE vf vf_sub(vf a, vf b) { return vsubq_f32(a, b); }
LEAT_INLINE vf vf_mul(vf a, vf b) { return vmulq_f32(a, b); }
LEAT_INLINE vf vf_div(vf a, vf b) { return vdivq_f32(a, b); }
LEAT_INLINE vf vf_sqrt(vf a) { return vsqrtq_f32(a); }
LEAT_INLINE vf vf_fma(vf a, vf b, vf c) { return vfmaq_f32(c, a, b); }
LEAT_INLINE vi vi_load(const int32_t *p) { return vld1q_s32(p); }
LEAT_INLINE void vi_store(int32_t *p, vi x) { vst1q_s32(p, x); }
LEAT_INLINE vi vi_set(int32_t x) { return vdupq_n_s32(x); }
LEAT_INLINE vi vi_add(vi a, vi b) { return vaddq_s32(a, b); }
LEAT_INLINE vi vi_sub(vi a, vi b) { return vsubq_s32(a, b); }
LEAT_INLINE vi vi_and(vi a, vi b) { return vandq_s32(a, b); }
LEAT_INLINE vi vi_or(vi a, vi b) { return vorrq_s32(a, b); }
LEAT_INLINE vi vi_xor(vi a, vi b) { return veorq_s32(a, b); }
LEAT_INLINE vi vi_shl(vi a, int n) { return vshlq_s32(a, vdupq_n_s32(n)); }
LEAT_INLINE vi vi_shr(vi a, int n) { return vshlq_s32(a, vdupq_n_s32(-n)); }
LEAT_INLINE vm vi_eq(vi a, vi b) { return vceqq_s32(a, b); }
LEAT_INLINE vm vi_gt(vi a, vi b) { return vcgtq_s32(a, b); }
LEAT_INLINE vi vi_bits(vf a) { return vreinterpretq_s32_f32(a); }
LEAT_INLINE vf vf_bits(vi a) { return vreinterpretq_f32_s32(a); }
LEAT_INLINE vi vi_round(vf a) { return vcvtnq_s32_f32(a); }
LEAT_INLINE vf vf_from(vi a) { return vcvtq_f32_s32(a); }
LEAT_INLINE vm vf_lt(vf a, vf b) { return vcltq_f32(a, b); }
LEAT_INLINE vm vf_le(vf a, vf b) { return vcleq_f32(a, b); }
LEAT_INLINE vm vf_nan(vf a) { return vmvnq_u32(vceqq_f32(a, a)); }
LEAT_INLINE vf vf_pick(vm m, vf yes, vf no) { return vbslq_f32(m, yes, no); }
LEAT_INLINE vi vi_pick(vm m, vi yes, vi no) { return vbslq_s32(m, yes, no); }

LEAT_INLINE float vf_tree(const vf *x) {
    const float32x4_t a = vaddq_f32(vaddq_f32(x[0], x[2]), vaddq_f32(x[1], x[3]));
    const float32x2_t b = vadd_f32(vget_low_f32(a), vget_high_f32(a));
    return vget_lane_f32(b, 0) + vget_lane_f32(b, 1);
}
LEAT_INLINE uint64x2_t vl_times(uint64x2_t x, uint64_t factor) { /* the low 64 bits */
    const uint32x2_t low = vdup_n_u32((uint32_t)factor),
                     high = vdup_n_u32((uint32_t)(factor >> 32));
    const uint64x2_t cross = vmlal_u32(vmull_u32(vshrn_n_u64(x, 32), low), vmovn_u64(x), high);
    return vaddq_u64(vmull_u32(vmovn_u64(x), low), vshlq_n_u64(cross, 32));
}
LEAT_INLINE uint32x2_t vl_draw(uint64x2_t x) {
    x = vl_times(veorq_u64(x, vshrq_n_u64(x, 30)), DRAW_MIX1);
    x = vl_times(veorq_u64(x, vshrq_n_u64(x, 27)), DRAW_MIX2);
    return vmovn_u64(vshrq_n_u64(x, 40));
}
LEAT_INLINE vi vi_draw(uint64_t x) {
    const uint64x2_t low = vcombine_u64(vcreate_u64(x), vcreate_u64(x + DRAW_STEP));
    const uint64x2_t high = vaddq_u64(low, vdupq_n_u64(2 * DRAW_STEP));
    return vreinterpretq_s32_u32(vcombine_u32(vl_draw(low), vl_draw(high)));
}

LEAT_INLINE void vf_square(vf x[VW]) {
    const float32x4_t a = vtrn1q_f32(x[0], x[1]), b = vtrn2q_f32(x[0], x[1]);
    const float32x4_t c = vtrn1q_f32(x[2], x[3]), d = vtrn2q_f32(x[2], x[3]);
    x[0] = vcombine_f32(vget_low_f32(a), vget_low_f32(c));
    x[1] = vcombine_f32(vget_low_f32(b), vget_low_f32(d));
    x[2] = vcombine_f32(vget_high_f32(a), vget_high_f32(c));
    x[3] = vcombine_f32(vget_high_f32(b), vget_high_f32(d));
}

#else

#include <math.h>
#include <string.h>

#define VW 1
typedef float vf;
typedef int32_t vi;
typedef int vm;

LEAT_INLINE vf vf_load(const float *p) { return *p; }
LEAT_INLINE void vf_store(float *p, vf x) { *p = x; }
LEAT_INLINE vf vf_load_some(const float *p, int n) { return n > 0 ? *p : 0.0f; }
LEAT_INLINE void vf_store_some(float *p, vf x, int n) {
    if (n > 0) *p = x;
}
LEAT_INLINE vf vf_set(float x) { return x; }
LEAT_INLINE vf vf_add(vf a, vf b) { return a + b; }
LEAT_INLINE vf vf_sub(vf a, vf b) { return a - b; }
LEAT_INLINE vf vf_mul(vf a, vf b) { return a * b; }
LEAT_INLINE vf vf_div(vf a, vf b) { return a / b; }
LEAT_INLINE vf vf_sqrt(vf a) { return sqrtf(a); } /* exact, as IEEE 754 demands */
LEAT_INLINE vf vf_fma(vf a, vf b, vf c) { return fmaf(a, b, c); }
LEAT_INLINE vi vi_load(const int32_t *p) { return *p; }
LEAT_INLINE void vi_store(int32_t *p, vi x) { *p = x; }
LEAT_INLINE vi vi_set(int32_t x) { return x; }
LEAT_INLINE vi vi_add(vi a, vi b) { return (int32_t)((uint32_t)a + (uint32_t)b); }
LEAT_INLINE vi vi_sub(vi a, vi b) { return (int32_t)((uint32_t)a - (uint32_t)b); }
LEAT_INLINE vi vi_and(vi a, vi b) { return a & b; }
LEAT_INLINE vi vi_or(vi a, vi b) { return a | b; }
LEAT_INLINE vi vi_xor(vi a, vi b) { return a ^ b; }
LEAT_INLINE vi vi_shl(vi a, int n) { return (int32_t)((uint32_t)a << n); }
LEAT_INLINE vi vi_shr(vi a, int n) { return a >> n; }
LEAT_INLINE vm vi_eq(vi a, vi b) { return a == b; }
LEAT_INLINE vm vi_gt(vi a, vi b) { return a > b; }
LEAT_INLINE vi vi_bits(vf a) {
    vi bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}
LEAT_INLINE vf vf_bits(vi a) {
    vf value;
    memcpy(&value, &a, sizeof value);
    return value;
}
LEAT_INLINE vi vi_round(vf a) { return vi_sub(vi_bits(a + 12582912.0f), 0x4b400000); }
LEAT_INLINE vf vf_from(vi a) { return (float)a; }
LEAT_INLINE vm vf_lt(vf a, vf b) { return a < b; }
LEAT_INLINE vm vf_le(vf a, vf b) { return a <= b; }
LEAT_INLINE vm vf_nan(vf a) { return a != a; }
LEAT_INLINE vf vf_pick(vm m, vf yes, vf no) { return m ? yes : no; }
LEAT_INLINE vi vi_pick(vm m, vi yes, vi no) { return m ? yes : no; }
LEAT_INLINE void vf_square(vf x[VW]) { (void)x; }
LEAT_INLINE float vf_tree(const vf *x) {
    float lanes[8];
    for (int i = 0; i < 8; i++) lanes[i] = x[i] + x[i + 8];
    for (int half = 4; half >= 1; half /= 2)
        for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
    return lanes[0];
}
LEAT_INLINE vi vi_draw(uint64_t x) {
    x = (x ^ x >> 30) * DRAW_MIX1;
    x = (x ^ x >> 27) * DRAW_MIX2;
    return (vi)(x >> 40);
}

#endif

#endif
