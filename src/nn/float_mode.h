/*
 * The processor's mode for floating point: rounding to nearest, denormals kept, no traps. A host
 * program, or a library that it loads, may have set another one (-ffast-math does), and then
 * results would differ from machine to machine; so whoever enters the room sets this one and
 * restores the caller's at the end. Threads of a pool do the same for each part.
 */
#ifndef LEAT_NN_FLOAT_MODE_H
#define LEAT_NN_FLOAT_MODE_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#ifdef __FAST_MATH__
#error "-ffast-math changes the results of leat's kernels: build without it"
#endif

/* Sets the mode; returns the one before. */
static inline uint64_t leat_float_mode_begin(void) {
    uint64_t before = 0;
#if defined(__x86_64__)
    before = _mm_getcsr();
    if ((before & ~UINT64_C(0x3f)) != 0x1f80) _mm_setcsr(0x1f80); /* the low bits are flags */
#elif defined(__aarch64__)
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    if (before != 0) __asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(0)));
#endif
    return before;
}

/* Whether it is set. */
static inline bool leat_float_mode_is_set(void) {
#if defined(__x86_64__)
    return (_mm_getcsr() & ~0x3fu) == 0x1f80;
#elif defined(__aarch64__)
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode == 0;
#else
    return true;
#endif
}

static inline void leat_float_mode_end(uint64_t before) {
#if defined(__x86_64__)
    if ((before & ~UINT64_C(0x3f)) != 0x1f80) _mm_setcsr((unsigned)before);
#elif defined(__aarch64__)
    if (before != 0) __asm__ volatile("msr fpcr, %0" : : "r"(before));
#endif
    (void)before;
}

#endif
