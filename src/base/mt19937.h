/*
 * The Mersenne Twister MT19937, to reproduce the random numbers of other systems: CPython's
 * random.Random and PyTorch's generator on the CPU. leat's own numbers come from base/rng.h.
 */
#ifndef LEAT_BASE_MT19937_H
#define LEAT_BASE_MT19937_H

#include "base/error.h"

#define LEAT_MT19937_WORDS 624

typedef struct leat_mt19937 {
    uint32_t word[LEAT_MT19937_WORDS];
    int next;
} leat_mt19937;

/* The classic initializer; uses the low 32 bits of a larger seed, like torch.manual_seed. */
void leat_mt19937_seed(leat_mt19937 *mt, uint64_t seed);
/* random.Random(seed). */
void leat_mt19937_seed_python(leat_mt19937 *mt, uint32_t seed);
/* The next 32 bits, tempered. */
uint32_t leat_mt19937_next(leat_mt19937 *mt);
/* The next number of torch.rand: 24 bits, [0, 1). */
float leat_mt19937_unit(leat_mt19937 *mt);

/*
 * torch.randperm(count) with a generator of this seed: out[0 .. count - 1]. LEAT_ERR_LIMIT above
 * LEAT_MT19937_PERMUTATION_MAX numbers, where torch uses another method.
 */
#define LEAT_MT19937_PERMUTATION_MAX (UINT32_MAX / 20 - 1)
LEAT_MUST_CHECK leat_code leat_mt19937_permutation(uint64_t seed, int64_t count, int64_t *out,
                                                   leat_error *err);

#endif
