/*
 * What a model computes on: today the processor, with one variant of the kernels and its threads.
 *
 * Ops (the headers of nn/ops, each of which says what it computes and in which order) are the
 * boundary. A model knows shapes, the order of its ops, and where its arrays lie; it neither reads
 * nor writes the activations in them, nor their gradients. So another device is another
 * implementation of these headers, with a leat_device of its own, and the models stay as they are:
 *
 *   memory  All that a unit needs comes from one block, which is counted before it is made
 *           (nn/unit/float_layout.h).
 *   values  Batches get into the layout of the ops, and out of it what is kept, by ops
 *           (nn/ops/move.h).
 *   others  What crosses nn/model.h, such as parameters, the gradient of a unit and statistics, is
 *           plain arrays of the caller's, which ops read and write in place: first values, sums
 *           over units, norms and the step are computed there, by functions of nn/ops and nn/unit,
 *           which a device that does not share this memory would have copies for.
 *
 * scripts/lint has a rule for it: a model names no kernel, and has no other block of memory.
 */
#ifndef LEAT_NN_DEVICE_H
#define LEAT_NN_DEVICE_H

#include "base/pool.h"

struct leat_kernels;

/* What an op gets: whose kernels compute it, and the threads that share its parts. */
typedef struct leat_device {
    const struct leat_kernels *kernels;
    leat_pool *pool; /* NULL: the calling thread alone */
} leat_device;

#endif
