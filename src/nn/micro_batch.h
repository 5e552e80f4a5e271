/*
 * Kinds of micro-batches: what a model computes from, and what somebody else makes for it. A model
 * names the kind that it takes, and whoever makes batches names theirs; the names must be equal.
 */
#ifndef LEAT_NN_MICRO_BATCH_H
#define LEAT_NN_MICRO_BATCH_H

#include "leat/nn.h"

/* Images as levels, in their order; their number is the model's micro-batch. What a model draws at
 * random beside image i is a function of the seed and of position + i. */
#define LEAT_MICRO_BATCH_IMAGES "images"
#define LEAT_MICRO_BATCH_POSITIONS (INT64_C(1) << 60)
typedef struct leat_image_micro {
    const uint8_t *levels; /* [image][LEAT_IMAGE_VALUES] */
    uint64_t seed;
    int64_t position; /* of the first image, below LEAT_MICRO_BATCH_POSITIONS */
} leat_image_micro;

#endif
