/* See kernel_suites.h. */
#include "nn/kernel_suites.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

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

leat_code leat_kernel_class(const char *const *suites, const char *variant,
                            char out[LEAT_KERNEL_CLASS_BYTES], leat_error *err) {
    uint64_t hashes[LEAT_SUITES_MAX];
    int count = 0;
    out[0] = 0;
    for (; suites[count] != NULL; count++) {
        LEAT_ASSERT(count < LEAT_SUITES_MAX);
        LEAT_TRY(leat_kernel_suite_once(suites[count], variant, &hashes[count], err));
    }
    leat_kernel_class_of(suites, hashes, count, out);
    return LEAT_OK;
}
