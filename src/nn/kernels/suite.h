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
 * is "". The variant must run on this processor.
 */
bool leat_kernels_check(const leat_kernels *kernels, char *message, size_t size);
/* A hash of all results of the same cases: one number for every right variant. */
uint64_t leat_kernels_hash(const leat_kernels *kernels);

/* The same of the suite "rows". */
bool leat_rows_check(const leat_kernels *kernels, char *message, size_t size);
uint64_t leat_rows_hash(const leat_kernels *kernels);

/* The same of the suite "segments". */
bool leat_segments_check(const leat_kernels *kernels, char *message, size_t size);
uint64_t leat_segments_hash(const leat_kernels *kernels);

#endif
