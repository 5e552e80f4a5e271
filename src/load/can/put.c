/*
 * Rows and numbers, eight at a time: see put.h.
 *
 * Memory takes the time: the source is scattered over a large file, so the bytes of the next graph
 * are prefetched while one is copied; and the destination is large, so complete cache lines are
 * written past the caches, without being read first.
 *
 * The loops exist in a portable form and for AVX2. That is worth more than its width: after other
 * code has used wide registers, some processors make each narrow instruction wait for the one
 * before it.
 */
#include "load/can/put.h"

#include <string.h>

#if defined(__x86_64__)
#define LEAT_PUT_AVX2 1
#include <immintrin.h>
#else
#define LEAT_PUT_AVX2 0
#endif

#include "base/cpu.h"

enum { LANES = 8, LINE_BYTES = 64, LINE = LINE_BYTES / 4 };
typedef float lanes __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t whole_lanes __attribute__((vector_size(32), aligned(4), may_alias));

/* Written once, compiled for both. */
#define EITHER static inline __attribute__((always_inline))

EITHER void fetch(const leat_ahead *ahead, int64_t begin, int64_t end) {
    if (end > ahead->size_bytes) end = ahead->size_bytes;
    for (int64_t at = begin; at < end; at += LINE_BYTES) {
        __builtin_prefetch(ahead->data + at, 0, 0);
    }
}

void leat_ahead_fetch(const leat_ahead *ahead) { fetch(ahead, 0, ahead->size_bytes); }

/* ---- rows ---------------------------------------------------------------------------------------
 */

EITHER void scale(float *restrict out, const float *in, const float *center, const float *by,
                  int64_t count) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        *(lanes *)(out + i) =
            (*(const lanes *)(in + i) - *(const lanes *)(center + i)) / *(const lanes *)(by + i);
    }
    for (; i < count; i++) out[i] = (in[i] - center[i]) / by[i];
}

EITHER void put_rows(float *out, const leat_put_rows *rows) {
    for (int64_t begin = 0; begin < rows->count; begin += rows->period) {
        int64_t left = rows->count - begin, count = left < rows->period ? left : rows->period;
        fetch(&rows->ahead, begin * 4, (begin + count) * 4);
        if (rows->scale != NULL)
            scale(out + begin, rows->values + begin, rows->center, rows->scale, count);
        else memcpy(out + begin, rows->values + begin, (size_t)count * 4);
    }
}

void leat_put_rows_portable(float *out, const leat_put_rows *rows) { put_rows(out, rows); }

/* ---- numbers ------------------------------------------------------------------------------------
 */

EITHER bool put_numbers(int32_t *restrict out, const int32_t *in, int64_t count, int32_t limit,
                        int32_t add) {
    /* a value out of range sets its own top bit, or that of its difference from the limit */
    whole_lanes outside = {0}, most = (whole_lanes){0} + (uint32_t)limit;
    uint32_t rest = 0;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        whole_lanes v = *(const whole_lanes *)(in + i);
        outside |= v | (most - v);
        *(whole_lanes *)(out + i) = v + (uint32_t)add;
    }
    for (; i < count; i++) {
        uint32_t v = (uint32_t)in[i];
        rest |= v | ((uint32_t)limit - v);
        out[i] = (int32_t)(v + (uint32_t)add);
    }
    for (int k = 0; k < LANES; k++) rest |= outside[k];
    return rest >> 31 == 0;
}

bool leat_put_numbers_portable(int32_t *out, const int32_t *in, int64_t count, int32_t limit,
                               int32_t add) {
    return put_numbers(out, in, count, limit, add);
}

/* ---- with AVX2 ----------------------------------------------------------------------------------
 */

#if LEAT_PUT_AVX2
#define LEAT_AVX2 __attribute__((target("avx2")))
#define LEAT_AVX2_INLINE LEAT_AVX2 static inline __attribute__((always_inline))

/* A copy of the rows' fields: otherwise the compiler must assume that stores alias them. */
typedef struct putting {
    const float *values, *center, *scale;
    bool is_scaled;
} putting;

/* The first value is at `phase` of a period. */
LEAT_AVX2_INLINE __m256 scaled(const putting *from, __m256 values, int64_t phase) {
    if (!from->is_scaled) return values;
    values = _mm256_sub_ps(values, _mm256_loadu_ps(from->center + phase));
    return _mm256_div_ps(values, _mm256_loadu_ps(from->scale + phase));
}

/* Fewer values than a line has. */
LEAT_AVX2_INLINE void put_few(float *out, const putting *from, int64_t at, int64_t count,
                              int64_t phase) {
    static const int32_t masks[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
    for (; count > 0; at += LANES, phase += LANES, count -= LANES) {
        const int32_t *mask_at = masks + LANES - (count < LANES ? count : LANES);
        __m256i mask = _mm256_loadu_si256((const __m256i *)(const void *)mask_at);
        __m256 values = _mm256_maskload_ps(from->values + at, mask);
        _mm256_maskstore_ps(out + at, mask, scaled(from, values, phase));
    }
}

/* Line by line of the destination; partial lines are written normally. */
LEAT_AVX2_INLINE void stream(float *out, const leat_put_rows *rows, bool is_scaled) {
    const putting from = {rows->values, rows->center, rows->scale, is_scaled};
    const leat_ahead ahead = rows->ahead;
    int64_t count = rows->count, period = rows->period, fetched = 0;
    int64_t at = -((intptr_t)(uintptr_t)out / 4) & (LINE - 1);
    if (at > count) at = count;
    put_few(out, &from, 0, at, 0);
    int64_t phase = at;
    for (; at + LINE <= count; at += LINE) {
        if (fetched < ahead.size_bytes) {
            __builtin_prefetch(ahead.data + fetched, 0, 0);
            fetched += LINE_BYTES;
        }
        __m256 low = scaled(&from, _mm256_loadu_ps(from.values + at), phase);
        __m256 high = scaled(&from, _mm256_loadu_ps(from.values + at + LANES), phase + LANES);
        _mm256_stream_ps(out + at, low);
        _mm256_stream_ps(out + at + LANES, high);
        phase += LINE;
        if (phase >= period) phase -= period;
    }
    put_few(out, &from, at, count - at, phase);
    fetch(&ahead, fetched, ahead.size_bytes);
}

/* Two loops, so that neither tests a flag for every line. */
LEAT_AVX2 static void stream_rows(float *out, const leat_put_rows *rows) {
    if (rows->scale != NULL) stream(out, rows, true);
    else stream(out, rows, false);
}

LEAT_AVX2 static void put_rows_avx2(float *out, const leat_put_rows *rows) {
    if (rows->stream) stream_rows(out, rows);
    else put_rows(out, rows);
}

LEAT_AVX2 static bool put_numbers_avx2(int32_t *out, const int32_t *in, int64_t count,
                                       int32_t limit, int32_t add) {
    return put_numbers(out, in, count, limit, add);
}
#endif

void leat_put_rows_to(float *out, const leat_put_rows *rows) {
#if LEAT_PUT_AVX2
    if (leat_cpu_has(LEAT_CPU_AVX2)) {
        put_rows_avx2(out, rows);
        return;
    }
#endif
    put_rows(out, rows);
}

bool leat_put_numbers(int32_t *out, const int32_t *in, int64_t count, int32_t limit, int32_t add) {
#if LEAT_PUT_AVX2
    if (leat_cpu_has(LEAT_CPU_AVX2)) return put_numbers_avx2(out, in, count, limit, add);
#endif
    return put_numbers(out, in, count, limit, add);
}

void leat_put_settle(void) {
#if LEAT_PUT_AVX2
    _mm_sfence();
#endif
}
