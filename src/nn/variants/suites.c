/* The suites of kernels by name: leat/nn.h. */
#include <stdatomic.h>
#include <string.h>

#include "leat/nn.h"
#include "nn/float_mode.h"
#include "nn/kernel_suites.h"
#include "nn/kernels/suite.h"
#include "nn/ops/op.h"

static const struct {
    const char *name;
    bool (*check)(const leat_kernels *kernels, uint64_t *hash, char *message, size_t size);
} all[] = {
    {LEAT_SUITE_CORE, leat_kernels_check},
    {LEAT_SUITE_ROWS, leat_rows_check},
    {LEAT_SUITE_SEGMENTS, leat_segments_check},
    {LEAT_SUITE_TOKENS, leat_tokens_check},
};
enum { ALL = sizeof all / sizeof *all, VARIANTS_MAX = 4 };

const char *leat_kernel_suite_at(int index) {
    return index >= 0 && index < ALL ? all[index].name : NULL;
}

leat_code leat_kernels_verify(const char *variant, uint64_t *hash, leat_error *err) {
    return leat_kernel_suite_verify(LEAT_SUITE_CORE, variant, hash, err);
}

static leat_code find(const char *suite, const char *variant, int *index,
                      const leat_kernels **kernels, leat_error *err) {
    *index = 0;
    while (*index < ALL && strcmp(all[*index].name, suite) != 0) ++*index;
    if (*index == ALL)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED, "there is no suite of kernels \"%s\"", suite);
    return leat_kernels_named(variant, kernels, err);
}

static leat_code run(int index, const leat_kernels *kernels, uint64_t *hash, leat_error *err) {
    char message[300];
    const uint64_t mode = leat_float_mode_begin();
    const bool right = all[index].check(kernels, hash, message, sizeof message);
    leat_float_mode_end(mode);
    if (right) return LEAT_OK;
    *hash = 0;
    return leat_fail(err, LEAT_ERR_CORRUPT, "the kernels are wrong on this machine: %s", message);
}

leat_code leat_kernel_suite_verify(const char *suite, const char *variant, uint64_t *hash,
                                   leat_error *err) {
    const leat_kernels *kernels;
    int index;
    *hash = 0;
    LEAT_TRY(find(suite, variant, &index, &kernels, err));
    return run(index, kernels, hash, err);
}

leat_code leat_kernel_suite_once(const char *suite, const char *variant, uint64_t *hash,
                                 leat_error *err) {
    static struct {
        atomic_bool passed;
        _Atomic uint64_t hash;
    } seen[ALL][VARIANTS_MAX];
    const leat_kernels *kernels;
    int index, v = 0;
    *hash = 0;
    LEAT_TRY(find(suite, variant, &index, &kernels, err));
    while (leat_kernels_at(v) != kernels) v++;
    LEAT_ASSERT(v < VARIANTS_MAX);
    if (atomic_load(&seen[index][v].passed)) {
        *hash = atomic_load(&seen[index][v].hash);
        return LEAT_OK;
    }
    LEAT_TRY(run(index, kernels, hash, err));
    atomic_store(&seen[index][v].hash, *hash); /* threads that meet here store the same */
    atomic_store(&seen[index][v].passed, true);
    return LEAT_OK;
}
