/*
 * Counter-based random numbers: the three words are mixed one after the other with the finalizer of
 * splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014), each
 * added with an odd constant of its own so that equal words in different places differ.
 */
#include "base/rng.h"

static uint64_t mix(uint64_t x) {
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x;
}

uint64_t leat_random(uint64_t seed, uint64_t stream, uint64_t position) {
    uint64_t x = mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    x = mix(x ^ (stream + UINT64_C(0xd1b54a32d192ed03)));
    return mix(x ^ (position + UINT64_C(0x8cb92ba72f3d8dd7)));
}

double leat_random_unit(uint64_t bits) { return (double)(bits >> 11) * 0x1.0p-53; }

uint64_t leat_random_below(uint64_t bits, uint64_t bound) {
    return (uint64_t)(((unsigned __int128)bits * bound) >> 64);
}
