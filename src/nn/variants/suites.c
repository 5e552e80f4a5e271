/* The suites of kernels by name: leat/nn.h. */
#include <string.h>

#include "leat/nn.h"
#include "nn/float_mode.h"
#include "nn/kernel_suites.h"
#include "nn/kernels/suite.h"
#include "nn/ops/op.h"

static const struct {
    const char *name;
    bool (*check)(const leat_kernels *kernels, char *message, size_t size);
    uint64_t (*hash)(const leat_kernels *kernels);
} all[] = {
    {LEAT_SUITE_CORE, leat_kernels_check, leat_kernels_hash},
    {LEAT_SUITE_ROWS, leat_rows_check, leat_rows_hash},
    {LEAT_SUITE_SEGMENTS, leat_segments_check, leat_segments_hash},
};
enum { ALL = sizeof all / sizeof *all };

const char *leat_kernel_suite_at(int index) {
    return index >= 0 && index < ALL ? all[index].name : NULL;
}

leat_code leat_kernels_verify(const char *variant, uint64_t *hash, leat_error *err) {
    return leat_kernel_suite_verify(LEAT_SUITE_CORE, variant, hash, err);
}

leat_code leat_kernel_suite_verify(const char *suite, const char *variant, uint64_t *hash,
                                   leat_error *err) {
    const leat_kernels *kernels;
    char message[300];
    int i = 0;
    *hash = 0;
    while (i < ALL && strcmp(all[i].name, suite) != 0) i++;
    if (i == ALL)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED, "there is no suite of kernels \"%s\"", suite);
    LEAT_TRY(leat_kernels_named(variant, &kernels, err));
    const uint64_t mode = leat_float_mode_begin();
    const bool right = all[i].check(kernels, message, sizeof message);
    if (right) *hash = all[i].hash(kernels);
    leat_float_mode_end(mode);
    if (right) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "the kernels are wrong on this machine: %s", message);
}
