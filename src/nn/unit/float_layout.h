/*
 * One block of floats that is laid out twice by the same function: first without a block, to count
 * what it needs, then with it, to give everything its place. So what a model needs is known before
 * it is made, and is the memory of its device (nn/device.h).
 */
#ifndef LEAT_NN_UNIT_FLOAT_LAYOUT_H
#define LEAT_NN_UNIT_FLOAT_LAYOUT_H

#include "base/mem.h"
#include "nn/ops/op.h"

#define LEAT_FLOAT_LAYOUT_ALIGNMENT 64 /* bytes */
_Static_assert(LEAT_LANES * sizeof(float) % LEAT_FLOAT_LAYOUT_ALIGNMENT == 0,
               "what is taken ends there");

typedef struct leat_float_layout {
    float *base; /* aligned to 64 bytes, as leat_block_alloc does; NULL: they are only counted */
    int64_t used;
    int64_t size; /* of the block, as it was counted; 0: unchecked */
} leat_float_layout;

/* What was counted gets its block, of leat_float_layout_bytes: from here on the places are real. */
static inline void leat_float_layout_place(leat_float_layout *floats, void *block) {
    LEAT_ASSERT(floats->base == NULL && (uintptr_t)block % LEAT_FLOAT_LAYOUT_ALIGNMENT == 0);
    *floats = (leat_float_layout){.base = block, .size = floats->used};
}
static inline int64_t leat_float_layout_bytes(const leat_float_layout *floats) {
    return floats->used * (int64_t)sizeof(float);
}

/* The block of what was counted; leat_float_layout_free frees it, also one that was never made. */
LEAT_MUST_CHECK static inline leat_code leat_float_layout_alloc(leat_float_layout *floats,
                                                                leat_error *err) {
    void *block = NULL;
    LEAT_TRY(leat_block_alloc(&block, leat_float_layout_bytes(floats), err));
    leat_float_layout_place(floats, block);
    return LEAT_OK;
}
static inline void leat_float_layout_free(leat_float_layout *floats) {
    if (floats->base != NULL) leat_block_free(floats->base, floats->size * (int64_t)sizeof(float));
    *floats = (leat_float_layout){0};
}

/* The next `count` floats, aligned to 64 bytes; NULL while they are only counted. */
static inline float *leat_float_layout_take(leat_float_layout *floats, int64_t count) {
    LEAT_ASSERT(count >= 0);
    const int64_t end = floats->used + leat_lanes(count);
    LEAT_ASSERT(floats->size == 0 || end <= floats->size);
    float *out = floats->base == NULL ? NULL : floats->base + floats->used;
    floats->used = end;
    return out;
}

/* After the second time: it took what the first one has counted. */
static inline void leat_float_layout_end(const leat_float_layout *floats) {
    LEAT_ASSERT(floats->base != NULL && floats->used == floats->size);
}

#endif
