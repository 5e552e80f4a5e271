/* See kernel_suites.h. */
#include "nn/kernel_suites.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "nn/float_mode.h"
#include "nn/kernels/suite.h"
#include "nn/ops/op.h"

enum { LINE_BYTES = 64 };

void leat_kernel_class_of(const char *const *names, const uint64_t *hashes, int count,
                          char out[LEAT_KERNEL_CLASS_BYTES]) {
    char lines[LEAT_SUITES_MAX][LINE_BYTES], hex[65];
    uint8_t digest[32];
    leat_sha256 sha;
    LEAT_ASSERT(count >= 0 && count <= LEAT_SUITES_MAX);
    if (count == 1) {
        snprintf(out, LEAT_KERNEL_CLASS_BYTES, "%016" PRIx64, hashes[0]);
        return;
    }
    for (int i = 0; i < count; i++) { /* each line to its place among those before it */
        char line[LINE_BYTES];
        int at = i;
        const int size = snprintf(line, sizeof line, "%s %016" PRIx64 "\n", names[i], hashes[i]);
        LEAT_ASSERT(size < LINE_BYTES);
        for (; at > 0 && strcmp(lines[at - 1], line) > 0; at--)
            memcpy(lines[at], lines[at - 1], LINE_BYTES);
        memcpy(lines[at], line, LINE_BYTES);
    }
    leat_sha256_init(&sha);
    for (int i = 0; i < count; i++) leat_sha256_update(&sha, lines[i], (int64_t)strlen(lines[i]));
    leat_sha256_final(&sha, digest);
    leat_sha256_hex(digest, hex);
    snprintf(out, LEAT_KERNEL_CLASS_BYTES, "%.16s", hex);
}

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

static leat_code verify(const char *name, const char *variant, uint64_t *hash, leat_error *err) {
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

leat_code leat_kernel_class(const char *const *suites, const char *variant,
                            char out[LEAT_KERNEL_CLASS_BYTES], leat_error *err) {
    uint64_t hashes[LEAT_SUITES_MAX];
    int count = 0;
    out[0] = 0;
    for (; suites[count] != NULL; count++) {
        LEAT_ASSERT(count < LEAT_SUITES_MAX);
        LEAT_TRY(verify(suites[count], variant, &hashes[count], err));
    }
    leat_kernel_class_of(suites, hashes, count, out);
    return LEAT_OK;
}
