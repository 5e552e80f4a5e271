/*
 * The self-test of the kernels: a fixed table of cases, each with its inputs and a plain reference.
 * It needs libc only, so that it runs wherever the kernels do.
 */
#ifndef LEAT_NN_KERNELS_SUITE_H
#define LEAT_NN_KERNELS_SUITE_H

#include "kernels.h"

#include <stddef.h>

/*
 * Whether all results of the variant are those of the reference, bit for bit (all NaN are equal).
 * If not, `message`, of `size` bytes, names the first case, its sizes and the two values; else it
 * is "". `hash`, of all results, is one number for every right variant. The variant must run on
 * this processor.
 */
bool leat_kernels_check(const leat_kernels *kernels, uint64_t *hash, char *message, size_t size);
/* The same of the suites "rows", "segments" and "tokens". */
bool leat_rows_check(const leat_kernels *kernels, uint64_t *hash, char *message, size_t size);
bool leat_segments_check(const leat_kernels *kernels, uint64_t *hash, char *message, size_t size);
bool leat_tokens_check(const leat_kernels *kernels, uint64_t *hash, char *message, size_t size);

#endif
