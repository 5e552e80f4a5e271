/*
 * Arrays of counter-based random numbers. Number i is a function of (key, i) alone, the same on
 * every machine, wherever an array begins and ends.
 *
 * `key` is 64 random bits, a value of leat_random(seed, stream, position) with a stream of
 * nn/random_streams.h. out[j] becomes number first + j, for 0 <= j < count; 0 <= first and
 * first + count < 2^62.
 */
#ifndef LEAT_NN_OPS_RANDOM_H
#define LEAT_NN_OPS_RANDOM_H

#include "nn/ops/op.h"

/* Uniform in [0, 1), multiples of 2^-24: the top 24 bits of leat_random_at(key, i). */
void leat_uniform_fill(const leat_device *device, uint64_t key, int64_t first, int64_t count,
                       float *out);
/*
 * Normal with mean 0 and variance 1, |x| < 6.7. Numbers 2 p and 2 p + 1 come from
 * leat_random_at(key, p): its top 31 bits give their distance from 0, the lowest 24 the angle
 * (leat_kernels.normal).
 */
void leat_normal_fill(const leat_device *device, uint64_t key, int64_t first, int64_t count,
                      float *out);
/* Those from number 0, with another mean and deviation: mean + deviation x, rounded twice. */
void leat_normal_values(const leat_device *device, uint64_t key, float mean, float deviation,
                        int64_t count, float *out);

#endif
