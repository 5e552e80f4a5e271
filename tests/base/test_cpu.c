/*
 * What the processor can run: what follows from its answers, and the answers of the one that the
 * tests run on against what Linux knows of it.
 */
#include "base/cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define OSXSAVE (1u << 27)
#define AVX (1u << 28)
#define FMA (1u << 12)
#define SSE41 (1u << 19)
#define AVX2 (1u << 5)
#define AVX512F (1u << 16)
#define SHA (1u << 29)
#define ALL_1 (OSXSAVE | AVX | FMA | SSE41)
#define ALL_7 (AVX2 | AVX512F | SHA)
#define NARROW (LEAT_CPU_SSE41 | LEAT_CPU_SHA)
#define WIDE (NARROW | LEAT_CPU_AVX | LEAT_CPU_AVX2 | LEAT_CPU_FMA)

static const struct {
    leat_cpu_answers answers;
    unsigned features;
} cases[] = {
    {{0, 0, 0}, 0},
    {{SSE41, 0, 0}, LEAT_CPU_SSE41},
    {{ALL_1, ALL_7, 0xe7}, WIDE | LEAT_CPU_AVX512F},
    /* the operating system does not save all registers */
    {{ALL_1, ALL_7, 0x7}, WIDE},
    {{ALL_1, ALL_7, 0x67}, WIDE},
    {{ALL_1, ALL_7, 0xe3}, NARROW},
    {{ALL_1, ALL_7, 0x3}, NARROW},
    {{ALL_1, ALL_7, 0}, NARROW},
    {{ALL_1 & ~OSXSAVE, ALL_7, 0xe7}, NARROW},
    /* processors that have one and not another */
    {{OSXSAVE | AVX, 0, 0x7}, LEAT_CPU_AVX},
    {{OSXSAVE | AVX | FMA, AVX2, 0x7}, LEAT_CPU_AVX | LEAT_CPU_AVX2 | LEAT_CPU_FMA},
    {{SSE41, SHA, 0}, NARROW},
    /* a bit of the other register */
    {{AVX2 | AVX512F, FMA | SSE41, 0xe7}, 0},
};

static void follows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(leat_cpu_features(&cases[i].answers), cases[i].features);
}

/* Whether the first processor has the word among its flags; -1: Linux does not say. */
static int has_flag(const char *word) {
    static char line[1 << 14];
    char padded[32];
    int found = -1;
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL) return -1;
    snprintf(padded, sizeof padded, " %s ", word);
    while (found < 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "flags", 5) != 0) continue;
        char *end = strchr(line, '\n');
        if (end != NULL) *end = ' ';
        found = strstr(line, padded) != NULL;
    }
    fclose(file);
    return found;
}

/* Linux takes a flag away where it does not save the registers. */
static void is_what_linux_knows(void **state) {
    static const struct {
        const char *flag;
        unsigned feature;
    } known[] = {
        {"sse4_1", LEAT_CPU_SSE41}, {"avx", LEAT_CPU_AVX},         {"avx2", LEAT_CPU_AVX2},
        {"fma", LEAT_CPU_FMA},      {"avx512f", LEAT_CPU_AVX512F}, {"sha_ni", LEAT_CPU_SHA},
    };
    unsigned all = 0;
    (void)state;
    if (has_flag("fpu") != 1) skip(); /* not x86 */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(leat_cpu_has(known[i].feature), has_flag(known[i].flag));
        if (has_flag(known[i].flag) == 1) all |= known[i].feature;
    }
    assert_true(leat_cpu_has(0));
    assert_true(leat_cpu_has(all));
    assert_int_equal(leat_cpu_has(WIDE | LEAT_CPU_AVX512F), all == (WIDE | LEAT_CPU_AVX512F));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(follows),
                                       cmocka_unit_test(is_what_linux_knows)};
    return cmocka_run_group_tests_name("processor", tests, NULL, NULL);
}
