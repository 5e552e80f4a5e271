/*
 * What every op of the room gets, and how activations lie in memory.
 *
 * Activations of images are [height][width][channel][lane]: for each pixel a matrix of channels x
 * images, with the images of a micro-batch as the lanes of the vectors, rounded up to LEAT_LANES.
 * So a row of a product is contiguous however a kernel walks over the pixels, no image is copied
 * into columns, and taps outside an image are left out instead of multiplied by zero. Unused lanes
 * hold any numbers; nothing that is kept depends on them.
 *
 * An op checks its sizes and allocates nothing: work space is the caller's, of a size that the op
 * tells. Its work is divided into parts that write different outputs, so its result is the same
 * bits for any number of threads.
 */
#ifndef LEAT_NN_OPS_OP_H
#define LEAT_NN_OPS_OP_H

#include "base/pool.h"
#include "nn/kernels/kernels.h"

/* No tensor of an op has more values. */
#define LEAT_NN_VALUES_MAX (INT64_C(1) << 40)

typedef struct leat_nn {
    const leat_kernels *kernels;
    leat_pool *pool; /* NULL: the calling thread alone */
} leat_nn;

/* The variant of this name (NULL: the widest that runs here). LEAT_ERR_OPTION: there is none;
 * LEAT_ERR_UNSUPPORTED: this processor cannot run it. */
LEAT_MUST_CHECK leat_code leat_kernels_named(const char *name, const leat_kernels **out,
                                             leat_error *err);

/* The peak of one thread in FLOP/s * 1e-9: the best of calls of some milliseconds, during at least
 * `least_seconds`. */
double leat_kernels_peak(const leat_kernels *kernels, double least_seconds);

/* Runs make(context, part) for all parts; on the pool of `nn` if it has one. LEAT_ERR_BUSY: the
 * call comes from a part of a job on the same pool. */
LEAT_MUST_CHECK leat_code leat_nn_run(const leat_nn *nn, int64_t parts,
                                      void (*make)(void *context, int64_t part), void *context,
                                      leat_error *err);

/* The lanes of a row of `images` images; any count of floats, rounded up to LEAT_LANES. */
static inline int64_t leat_lanes(int64_t images) {
    return (images + LEAT_LANES - 1) / LEAT_LANES * LEAT_LANES;
}
static inline int64_t leat_min(int64_t a, int64_t b) { return a < b ? a : b; }

/* The rows of a packed matrix, divided evenly into blocks of at most tile_rows. */
static inline int64_t leat_block_count(const leat_nn *nn, int64_t rows) {
    return (rows + nn->kernels->tile_rows - 1) / nn->kernels->tile_rows;
}
/* The first row of block `block` of `blocks`, which differ by at most one row; rows for block ==
 * blocks. */
static inline int64_t leat_block_first(int64_t rows, int64_t blocks, int64_t block) {
    return block * (rows / blocks) + leat_min(block, rows % blocks);
}

#endif
