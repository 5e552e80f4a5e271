/*
 * Counter-based random numbers: value = f(key, counter), no state; and keyed permutations. The same
 * on every machine.
 */
#ifndef LEAT_BASE_RNG_H
#define LEAT_BASE_RNG_H

#include <stdint.h>

/* The finalizer of splitmix64: a fixed bijection; changing one bit changes half of the result. */
static inline uint64_t leat_random_mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
/* 64 well-mixed bits from a seed, a stream number and a position (three rounds of multiply-xor). */
uint64_t leat_random(uint64_t seed, uint64_t stream, uint64_t position);
/*
 * The same for many draws under one key, which is itself 64 random bits (such as a value of
 * leat_random): number `position` of splitmix64 seeded with `key`, one round. Inlined, for hot
 * loops.
 */
static inline uint64_t leat_random_at(uint64_t key, uint64_t position) {
    return leat_random_mix(key + (position + 1) * UINT64_C(0x9e3779b97f4a7c15));
}
/* [0, 1), 53 bits. */
double leat_random_unit(uint64_t bits);
/* [0, bound), by 128-bit multiplication; bias below 2^-64 * bound. */
uint64_t leat_random_below(uint64_t bits, uint64_t bound);

/*
 * A keyed permutation of 0 .. size - 1 (1 <= size <= 2^62) without memory: the image of `position`,
 * and its inverse. A Feistel network of 10 rounds (24 up to size 256) on as many bits as size - 1
 * has, repeated until the result is below `size` (less than twice on average). `key` must be well
 * mixed: a value of leat_random computed from seed, epoch and purpose.
 */
#define LEAT_PERMUTE_SIZE_MAX (INT64_C(1) << 62)
int64_t leat_permute(uint64_t key, int64_t size, int64_t position);
int64_t leat_permute_inverse(uint64_t key, int64_t size, int64_t value);
/* The images of positions first .. first + count - 1, several computed in parallel; size <= 2^32.
 */
void leat_permute_some(uint64_t key, int64_t size, int64_t first, int64_t count, uint32_t *out);

#endif
