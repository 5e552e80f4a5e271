/*
 * What every op of the room gets, and how activations lie in memory.
 *
 * Activations of images are [height][width][channel][lane]: for each pixel a matrix of channels x
 * images, with the images of a micro-batch as the lanes of the vectors, rounded up to LEAT_LANES.
 * So a row of a product is contiguous however a kernel walks over the pixels, no image is copied
 * into columns, and taps outside an image are left out instead of multiplied by zero. Unused lanes
 * hold any numbers; nothing that is kept depends on them.
 *
 * Headers of ops that specify an order have formulas in which each operation is rounded, fma is
 * rounded once, and -x is 0 - x, so that it is +0 for both zeros.
 *
 * An op checks its sizes and allocates nothing: work space is the caller's, of a size that the op
 * tells. Its work is divided into parts that write different outputs, so its result is the same
 * bits for any number of threads.
 */
#ifndef LEAT_NN_OPS_OP_H
#define LEAT_NN_OPS_OP_H

#include "base/error.h"
#include "nn/device.h"
#include "nn/kernels/kernels.h"

/* No tensor of an op has more values. */
#define LEAT_OP_VALUES_MAX (INT64_C(1) << 40)

/* The variant of this name (NULL: the widest that runs here). LEAT_ERR_OPTION: there is none;
 * LEAT_ERR_UNSUPPORTED: this processor cannot run it. */
LEAT_MUST_CHECK leat_code leat_kernels_named(const char *name, const leat_kernels **out,
                                             leat_error *err);

/* The peak of one thread in GFLOP/s: the best of calls of some milliseconds, during at least
 * `least_seconds`. */
double leat_kernels_peak(const leat_kernels *kernels, double least_seconds);

/* Runs make(context, part) for all parts; on the pool of `device` if it has one. The caller has set
 * the mode for floating point (float_mode.h). LEAT_ERR_BUSY: the call comes from a part of a job on
 * the same pool. */
LEAT_MUST_CHECK leat_code leat_device_run(const leat_device *device, int64_t parts,
                                          void (*make)(void *context, int64_t part), void *context,
                                          leat_error *err);

/* The lanes of a row of `images` images; any count of floats, rounded up to LEAT_LANES. */
static inline int64_t leat_lanes(int64_t images) {
    return (images + LEAT_LANES - 1) / LEAT_LANES * LEAT_LANES;
}
static inline int64_t leat_min(int64_t a, int64_t b) { return a < b ? a : b; }

/* The rows of a packed matrix, divided evenly into blocks of at most tile_rows. */
static inline int64_t leat_block_count(const leat_device *device, int64_t rows) {
    LEAT_ASSERT(rows >= 0);
    const int64_t blocks = (rows + device->kernels->tile_rows - 1) / device->kernels->tile_rows;
    /* the largest block: the kernels write nothing for a higher tile */
    LEAT_ASSERT(blocks == 0 || (rows + blocks - 1) / blocks <= device->kernels->tile_rows);
    return blocks;
}
/* The first row of block `block` of `blocks`, which differ by at most one row; rows for block ==
 * blocks. */
static inline int64_t leat_block_first(int64_t rows, int64_t blocks, int64_t block) {
    return block * (rows / blocks) + leat_min(block, rows % blocks);
}

/* ---- What ops assert of their arguments. Sizes are errors, because they come from settings; these
 * are mistakes of a caller in this room, which would only show as wrong numbers. ---- */

/* Whether two arrays have no float in common; one that is NULL or empty has none. */
static inline bool leat_apart(const float *a, int64_t a_count, const float *b, int64_t b_count) {
    const uintptr_t a_first = (uintptr_t)a, b_first = (uintptr_t)b;
    return a == NULL || b == NULL || a_count < 1 || b_count < 1 ||
           a_first + sizeof *a * (size_t)a_count <= b_first ||
           b_first + sizeof *b * (size_t)b_count <= a_first;
}
/* Whether `out` may be written value by value while `in` is read. */
static inline bool leat_same_or_apart(const float *in, const float *out, int64_t count) {
    return in == out || leat_apart(in, count, out, count);
}
static inline bool leat_is_function(leat_function function) {
    return (unsigned)function < LEAT_FUNCTIONS;
}

#endif
