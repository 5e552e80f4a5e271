/* MT19937 (Matsumoto, Nishimura 1998), its two initializers, and what PyTorch computes from its
 * words. */
#include "base/mt19937.h"

enum { WORDS = LEAT_MT19937_WORDS, MIDDLE = 397 };

void leat_mt19937_seed(leat_mt19937 *mt, uint64_t seed) {
    uint32_t *x = mt->word;
    x[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < WORDS; i++) x[i] = 1812433253u * (x[i - 1] ^ x[i - 1] >> 30) + i;
    mt->next = 0;
}

/* init_by_array with one word. */
void leat_mt19937_seed_python(leat_mt19937 *mt, uint32_t seed) {
    uint32_t *x = mt->word;
    leat_mt19937_seed(mt, 19650218);
    int i = 1;
    for (int n = 0; n < WORDS; n++) {
        x[i] = (x[i] ^ (x[i - 1] ^ x[i - 1] >> 30) * 1664525u) + seed;
        if (++i == WORDS) {
            x[0] = x[WORDS - 1];
            i = 1;
        }
    }
    for (int n = 0; n < WORDS - 1; n++) {
        x[i] = (x[i] ^ (x[i - 1] ^ x[i - 1] >> 30) * 1566083941u) - (uint32_t)i;
        if (++i == WORDS) {
            x[0] = x[WORDS - 1];
            i = 1;
        }
    }
    x[0] = 0x80000000u;
}

/* Words are generated one at a time, on demand: the same as all of them at once. */
uint32_t leat_mt19937_next(leat_mt19937 *mt) {
    uint32_t *x = mt->word;
    int i = mt->next;
    mt->next = (i + 1) % WORDS;
    uint32_t y = (x[i] & 0x80000000u) | (x[(i + 1) % WORDS] & 0x7fffffffu);
    y = x[i] = x[(i + MIDDLE) % WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

float leat_mt19937_unit(leat_mt19937 *mt) {
    return (float)(leat_mt19937_next(mt) & 0xffffff) * 0x1p-24f;
}

leat_code leat_mt19937_permutation(uint64_t seed, int64_t count, int64_t *out, leat_error *err) {
    if (count < 0 || count > LEAT_MT19937_PERMUTATION_MAX) {
        return leat_fail(err, LEAT_ERR_LIMIT,
                         "PyTorch's permutation of %lld items: 0 to %u items are supported",
                         (long long)count, LEAT_MT19937_PERMUTATION_MAX);
    }
    leat_mt19937 mt;
    leat_mt19937_seed(&mt, seed);
    for (int64_t i = 0; i < count; i++) out[i] = i;
    for (int64_t i = 0; i + 1 < count; i++) {
        int64_t j = i + (int64_t)(leat_mt19937_next(&mt) % (uint32_t)(count - i));
        int64_t held = out[i];
        out[i] = out[j];
        out[j] = held;
    }
    return LEAT_OK;
}
