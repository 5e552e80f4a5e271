/*
 * Asks the processor what it can run. See "Intel 64 and IA-32 Architectures Software Developer's
 * Manual", volume 1, 14.3 and 15.2: an instruction on wide registers needs the processor's bit, and
 * the bits of XCR0 for the registers, which the operating system sets if it saves them.
 */
#include "base/cpu.h"

#include <stddef.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

enum { SAVES_YMM = 0x6, SAVES_ZMM = 0xe6 }; /* in XCR0: with all that they extend */

#define OSXSAVE (1u << 27) /* in cpuid 1, ecx: xgetbv may be used */
#define ASKED (1u << 31)   /* in what is kept: the rest is known */

typedef struct feature {
    unsigned feature;
    uint32_t ecx_1, ebx_7; /* the bit that says so, in one of them */
    uint64_t saved;        /* bits of XCR0, all of which are needed */
} feature;

static const feature table[] = {
    {LEAT_CPU_SSE41, 1u << 19, 0, 0},           {LEAT_CPU_AVX, 1u << 28, 0, SAVES_YMM},
    {LEAT_CPU_AVX2, 0, 1u << 5, SAVES_YMM},     {LEAT_CPU_FMA, 1u << 12, 0, SAVES_YMM},
    {LEAT_CPU_AVX512F, 0, 1u << 16, SAVES_ZMM}, {LEAT_CPU_SHA, 0, 1u << 29, 0},
};

unsigned leat_cpu_features(const leat_cpu_answers *answers) {
    const uint64_t saved = (answers->ecx_1 & OSXSAVE) != 0 ? answers->xcr0 : 0;
    unsigned features = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const bool there =
            ((answers->ecx_1 & table[i].ecx_1) | (answers->ebx_7 & table[i].ebx_7)) != 0;
        if (there && (saved & table[i].saved) == table[i].saved) features |= table[i].feature;
    }
    return features;
}

#if defined(__x86_64__)
__attribute__((target("xsave"))) static uint64_t read_xcr0(void) { return _xgetbv(0); }

static unsigned ask(void) {
    leat_cpu_answers answers = {0};
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d)) answers.ecx_1 = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) answers.ebx_7 = b;
    if ((answers.ecx_1 & OSXSAVE) != 0) answers.xcr0 = read_xcr0();
    return leat_cpu_features(&answers);
}
#else
static unsigned ask(void) { return 0; }
#endif

atomic_uint leat_cpu_known;

/* Threads that ask at the same time get the same answer. */
unsigned leat_cpu_ask(void) {
    const unsigned found = ask() | ASKED;
    atomic_store_explicit(&leat_cpu_known, found, memory_order_relaxed);
    return found;
}
