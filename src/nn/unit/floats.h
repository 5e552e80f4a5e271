/*
 * One block of floats that is laid out twice by the same function: first without a block, to count
 * what it needs, then with it, to give everything its place.
 */
#ifndef LEAT_NN_UNIT_FLOATS_H
#define LEAT_NN_UNIT_FLOATS_H

#include "nn/ops/op.h"

typedef struct leat_floats {
    float *base; /* aligned to 64 bytes, as leat_block_alloc does; NULL: they are only counted */
    int64_t used;
} leat_floats;

/* The next `count` floats, aligned to 64 bytes; NULL while they are only counted. */
static inline float *leat_floats_take(leat_floats *floats, int64_t count) {
    LEAT_ASSERT(count >= 0);
    float *out = floats->base == NULL ? NULL : floats->base + floats->used;
    floats->used += leat_lanes(count);
    return out;
}

#endif
