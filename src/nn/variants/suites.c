/* The suites of kernels by name: nn/kernel_suites.h. */
#include <string.h>

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

leat_code leat_suite_verify(const char *name, const char *variant, uint64_t *hash,
                            leat_error *err) {
    const leat_kernels *kernels;
    char message[300];
    int i = 0;
    while (i < ALL && strcmp(all[i].name, name) != 0) i++;
    if (i == ALL)
        return leat_fail(err, LEAT_ERR_UNSUPPORTED, "there is no suite of kernels \"%s\"", name);
    LEAT_TRY(leat_kernels_named(variant, &kernels, err));
    const uint64_t mode = leat_float_mode_begin();
    const bool right = all[i].check(kernels, message, sizeof message);
    *hash = right ? all[i].hash(kernels) : 0;
    leat_float_mode_end(mode);
    if (right) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "the kernels are wrong on this machine: %s", message);
}
