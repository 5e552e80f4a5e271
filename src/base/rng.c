/*
 * Counter-based random numbers: the three words are mixed one after the other with the finalizer of
 * splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014), each
 * added with a different odd constant so that equal words in different positions give different
 * results.
 */
#include "base/rng.h"

#include "base/error.h"

uint64_t leat_random(uint64_t seed, uint64_t stream, uint64_t position) {
    uint64_t x = leat_random_mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    x = leat_random_mix(x ^ (stream + UINT64_C(0xd1b54a32d192ed03)));
    return leat_random_mix(x ^ (position + UINT64_C(0x8cb92ba72f3d8dd7)));
}

double leat_random_unit(uint64_t bits) { return (double)(bits >> 11) * 0x1.0p-53; }

uint64_t leat_random_below(uint64_t bits, uint64_t bound) {
    return (uint64_t)(((unsigned __int128)bits * bound) >> 64);
}

/* ---- permutations ------------------------------------------------------------------------- */

/* Halves of one or two bits mix slowly: sizes 5 to 7 are measurably uneven after 16 rounds. */
static int count_rounds(int bits) { return bits <= 8 ? 24 : 10; }

/* What a round adds to one half, computed from the other: its top bits are used. */
static uint64_t round_bits(uint64_t key, int round, uint64_t half) {
    return leat_random_mix(key ^ (half + (uint64_t)(round + 1) * UINT64_C(0x9e3779b97f4a7c15)));
}

/*
 * The halves have low = floor(bits / 2) and high = bits - low bits. Even rounds change the high
 * half using the low one, odd rounds the low half using the high one; so each round is its own
 * inverse.
 */
static uint64_t permute_bits(uint64_t key, int bits, uint64_t value, bool inverse) {
    int low_bits = bits / 2, high_bits = bits - low_bits, rounds = count_rounds(bits);
    uint64_t low = low_bits == 0 ? 0 : value & ((UINT64_C(1) << low_bits) - 1);
    uint64_t high = value >> low_bits;
    for (int i = 0; i < rounds; i++) {
        int round = inverse ? rounds - 1 - i : i;
        if (round % 2 == 0) high ^= round_bits(key, round, low) >> (64 - high_bits);
        else if (low_bits > 0) low ^= round_bits(key, round, high) >> (64 - low_bits);
    }
    return high << low_bits | low;
}

static int64_t permute(uint64_t key, int64_t size, int64_t position, bool inverse) {
    LEAT_ASSERT(size >= 1 && size <= LEAT_PERMUTE_SIZE_MAX && position >= 0 && position < size);
    if (size == 1) return 0;
    int bits = 64 - __builtin_clzll((uint64_t)(size - 1));
    uint64_t value = (uint64_t)position;
    /* terminates: the walk is on a cycle of a permutation, which leads back to its beginning */
    do value = permute_bits(key, bits, value, inverse);
    while (value >= (uint64_t)size);
    return (int64_t)value;
}

int64_t leat_permute(uint64_t key, int64_t size, int64_t position) {
    return permute(key, size, position, false);
}

int64_t leat_permute_inverse(uint64_t key, int64_t size, int64_t value) {
    return permute(key, size, value, true);
}

/* As many as a processor can process at once: each step depends on the round before. */
enum { ABREAST = 4 };

/* Even rounds of permute_bits and odd ones, of sizes of two bits and more. */
static void permute_abreast(uint64_t key, int bits, int64_t first, uint64_t out[ABREAST]) {
    int low_bits = bits / 2, high_bits = bits - low_bits, rounds = count_rounds(bits);
    uint64_t low[ABREAST], high[ABREAST];
    for (int k = 0; k < ABREAST; k++) {
        low[k] = (uint64_t)(first + k) & ((UINT64_C(1) << low_bits) - 1);
        high[k] = (uint64_t)(first + k) >> low_bits;
    }
    for (int i = 0; i < rounds; i += 2) {
        for (int k = 0; k < ABREAST; k++) high[k] ^= round_bits(key, i, low[k]) >> (64 - high_bits);
        for (int k = 0; k < ABREAST; k++)
            low[k] ^= round_bits(key, i + 1, high[k]) >> (64 - low_bits);
    }
    for (int k = 0; k < ABREAST; k++) out[k] = high[k] << low_bits | low[k];
}

void leat_permute_some(uint64_t key, int64_t size, int64_t first, int64_t count, uint32_t *out) {
    LEAT_ASSERT(size >= 1 && size <= INT64_C(1) << 32 && first >= 0 && count >= 0 &&
                count <= size - first);
    int bits = size <= 2 ? 0 : 64 - __builtin_clzll((uint64_t)(size - 1));
    int64_t i = 0;
    for (; bits > 0 && i + ABREAST <= count; i += ABREAST) {
        uint64_t value[ABREAST];
        permute_abreast(key, bits, first + i, value);
        for (int k = 0; k < ABREAST; k++) {
            while (value[k] >= (uint64_t)size) value[k] = permute_bits(key, bits, value[k], false);
            out[i + k] = (uint32_t)value[k];
        }
    }
    for (; i < count; i++) out[i] = (uint32_t)leat_permute(key, size, first + i);
}
