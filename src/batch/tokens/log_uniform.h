/* A whole number whose logarithm is uniform, in arithmetic that gives the same on every machine. */
#ifndef LEAT_BATCH_TOKENS_LOG_UNIFORM_H
#define LEAT_BATCH_TOKENS_LOG_UNIFORM_H

#include <stdint.h>

/* floor(exp(U ln n)) in 1..n, U in [0, 1) made of `bits`; 1 <= n <= 2^53. */
int64_t leat_log_uniform(uint64_t bits, int64_t n);

#endif
