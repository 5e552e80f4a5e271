/*
 * Counter-based random numbers: value = f(key, counter), no state. The same on every machine.
 */
#ifndef LEAT_BASE_RNG_H
#define LEAT_BASE_RNG_H

#include <stdint.h>

/* 64 well-mixed bits from a seed, a stream number and a position (three rounds of multiply-xor). */
uint64_t leat_random(uint64_t seed, uint64_t stream, uint64_t position);
/* [0, 1), 53 bits. */
double leat_random_unit(uint64_t bits);
/* [0, bound), by 128-bit multiplication; bias below 2^-64 * bound. */
uint64_t leat_random_below(uint64_t bits, uint64_t bound);

#endif
