/* Modes for floating point that a caller may have set: what is computed must not depend on them. */
#ifndef TESTS_NN_FLOAT_MODES_H
#define TESTS_NN_FLOAT_MODES_H

#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "check.h"

typedef enum float_mode { DEFAULT_MODE, UPWARD, TO_ZERO, FLUSHED, FLOAT_MODES } float_mode;

static inline void set_mode(float_mode mode) {
    static const int rounds[] = {FE_TONEAREST, FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST};
#if defined(__x86_64__)
    _mm_setcsr((_mm_getcsr() & ~0x8040u) | (mode == FLUSHED ? 0x8040 : 0));
#endif
    assert_int_equal(fesetround(rounds[mode]), 0);
}

static inline float_mode get_mode(void) {
#if defined(__x86_64__)
    if ((_mm_getcsr() & 0x8040) == 0x8040) return FLUSHED;
#endif
    return fegetround() == FE_UPWARD       ? UPWARD
           : fegetround() == FE_TOWARDZERO ? TO_ZERO
                                           : DEFAULT_MODE;
}

#endif
