/*
 * What this processor can run: the only place that asks it. A function compiled for an instruction
 * set is called only if leat_cpu_has() says that all of it is there. On other processors than
 * x86-64 nothing is: their baseline is all that leat uses.
 *
 * Asked with cpuid and xgetbv rather than the compiler's own builtins, because these need support
 * from its run-time library, which not every toolchain has: there they report nothing, and leat is
 * slow without any other sign of it.
 */
#ifndef LEAT_BASE_CPU_H
#define LEAT_BASE_CPU_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum leat_cpu_feature {
    LEAT_CPU_SSE41 = 1,
    LEAT_CPU_AVX = 2,
    LEAT_CPU_AVX2 = 4,
    LEAT_CPU_FMA = 8,
    LEAT_CPU_AVX512F = 16,
    LEAT_CPU_SHA = 32,
} leat_cpu_feature;

/* What the processor can run, once it was asked (leat_cpu_has); 0 until then. */
extern atomic_uint leat_cpu_known;
/* Asks the processor, and keeps the answer. */
unsigned leat_cpu_ask(void);

/* Whether the processor has all of the features, a sum of leat_cpu_feature, and the operating
 * system saves the registers that they need. The processor is asked once; after that it is a load,
 * for callers that hash a few bytes at a time. Any thread. */
static inline bool leat_cpu_has(unsigned features) {
    unsigned found = atomic_load_explicit(&leat_cpu_known, memory_order_relaxed);
    if (found == 0) found = leat_cpu_ask();
    return (found & features) == features;
}

/* ---- for tests ------------------------------------------------------------------------------- */

/* What the processor answers; 0 where it does not know the question. */
typedef struct leat_cpu_answers {
    uint32_t ecx_1, ebx_7; /* of cpuid 1, and of cpuid 7, 0 */
    uint64_t xcr0;         /* registers that the operating system saves; 0: it does not say */
} leat_cpu_answers;

/* The features that follow from the answers. */
unsigned leat_cpu_features(const leat_cpu_answers *answers);

#endif
