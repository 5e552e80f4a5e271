/* Which variants were built, and which of them this processor runs. */
#include "kernels.h"

#include <stddef.h>
#include <string.h>

#include "base/cpu.h"

static const leat_kernels *const variants[] = {
    &leat_kernels_scalar,
#if defined(__x86_64__)
    &leat_kernels_avx2,
    &leat_kernels_avx512,
#elif defined(__aarch64__)
    &leat_kernels_neon,
#endif
};

const leat_kernels *leat_kernels_at(int index) {
    return index >= 0 && (size_t)index < sizeof variants / sizeof *variants ? variants[index]
                                                                            : NULL;
}

bool leat_kernels_supported(const leat_kernels *kernels) {
#if defined(__x86_64__)
    if (kernels == &leat_kernels_avx2) return leat_cpu_has(LEAT_CPU_AVX2 | LEAT_CPU_FMA);
    if (kernels == &leat_kernels_avx512) return leat_cpu_has(LEAT_CPU_AVX512F | LEAT_CPU_FMA);
#endif
    return kernels != NULL;
}

const leat_kernels *leat_kernels_find(const char *name) {
    const leat_kernels *found = NULL, *next;
    for (int i = 0; (next = leat_kernels_at(i)) != NULL; i++) {
        if (name != NULL ? strcmp(name, next->name) == 0 : leat_kernels_supported(next))
            found = next;
    }
    return found;
}
