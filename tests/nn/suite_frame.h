/* What the tests of suites of kernels share: every variant that runs here, the pinned hash, and
 * kernels that are wrong on purpose. */
#ifndef TESTS_NN_SUITE_FRAME_H
#define TESTS_NN_SUITE_FRAME_H

#include <inttypes.h>
#include <stdio.h>

#include "check.h"
#include "nn/kernel_suites.h"
#include "nn/kernels/suite.h"

typedef struct tested_suite {
    const char *name;
    uint64_t pinned; /* hash of every variant on every machine */
    bool (*check)(const leat_kernels *kernels, uint64_t *hash, char *message, size_t size);
} tested_suite;

static inline void suite_every_variant(const tested_suite *suite) {
    const leat_kernels *kernels;
    for (int i = 0; (kernels = leat_kernels_at(i)) != NULL; i++) {
        char message[300];
        if (!leat_kernels_supported(kernels)) continue; /* test_suite.c tells */
        uint64_t hash;
        if (!suite->check(kernels, &hash, message, sizeof message)) fail_msg("%s", message);
        if (hash != suite->pinned) fail_msg("%s: the hash is %016" PRIx64, kernels->name, hash);
    }
}

/* The suite is found by its name, and its class is its hash. */
static inline void suite_is_known(const tested_suite *suite) {
    const char *const suites[] = {suite->name, NULL};
    char class[LEAT_KERNEL_CLASS_BYTES], hex[LEAT_KERNEL_CLASS_BYTES];
    snprintf(hex, sizeof hex, "%016" PRIx64, suite->pinned);
    assert_ok(leat_kernel_class(suites, NULL, class, err));
    assert_string_equal(class, hex);
    assert_fails(leat_kernel_class(suites, "none", class, err), LEAT_ERR_OPTION, "\"none\"");
}

/* Kernels with one that is wrong, and how the message about it begins. */
typedef struct suite_canary {
    leat_kernels kernels;
    const char *words;
} suite_canary;

static inline void suite_catches(const tested_suite *suite, const suite_canary *canaries,
                                 size_t count) {
    for (size_t i = 0; i < count; i++) {
        char message[300];
        uint64_t hash;
        assert_false(suite->check(&canaries[i].kernels, &hash, message, sizeof message));
        if (strstr(message, canaries[i].words) == NULL) fail_msg("canary %zu: %s", i, message);
    }
}

#endif
