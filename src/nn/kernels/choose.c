/* Which variants were built, and which of them this processor runs. */
#include "kernels.h"

#include <stddef.h>
#include <string.h>

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
    /* also asks the operating system whether it saves the wide registers */
    __builtin_cpu_init();
    if (kernels == &leat_kernels_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (kernels == &leat_kernels_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
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
