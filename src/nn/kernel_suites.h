/*
 * Suites of kernels by name, and the kernel class of what computes with them. A suite (suite.h of
 * the kernels) is a self-test with a hash of its results. Kernels that are added get a suite of
 * their own, so that the class of models that do not use them stays.
 */
#ifndef LEAT_NN_KERNEL_SUITES_H
#define LEAT_NN_KERNEL_SUITES_H

#include "base/error.h"
#include "leat/nn.h"

#define LEAT_SUITE_CORE "core"         /* products, convolutions, functions of one number, Adam */
#define LEAT_SUITE_ROWS "rows"         /* rows of activations: GraphNorm, LSTM */
#define LEAT_SUITE_SEGMENTS "segments" /* edges that share a node: GATv2 */
#define LEAT_SUITE_TOKENS "tokens"     /* rows of tokens: attention, norms, rotary positions */
#define LEAT_SUITES_MAX 8
#define LEAT_KERNEL_CLASS_BYTES 17

/* leat_kernel_suite_verify once in a process: a suite that has passed with this variant is not run
 * again, because it may take longer than a step of a small model. */
LEAT_MUST_CHECK leat_code leat_kernel_suite_once(const char *suite, const char *variant,
                                                 uint64_t *hash, leat_error *err);
/* Runs these suites (names; NULL ends the list) with a variant of the kernels, unless this process
 * has done so, and gives their class. Errors as leat_kernel_suite_verify. */
LEAT_MUST_CHECK leat_code leat_kernel_class(const char *const *suites, const char *variant,
                                            char out[LEAT_KERNEL_CLASS_BYTES], leat_error *err);
/* The class of suites with these hashes, 16 hexadecimal digits: the hash of the only one; otherwise
 * the first half of the SHA-256 of the lines "name hash\n", sorted. */
void leat_kernel_class_of(const char *const *names, const uint64_t *hashes, int count,
                          char out[LEAT_KERNEL_CLASS_BYTES]);

#endif
