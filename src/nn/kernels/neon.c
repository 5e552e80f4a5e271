/* The kernels for NEON, which every arm64 processor has. */
#if defined(__aarch64__)
#define LEAT_VEC 128
#include "each.h"
#include "kernels.h"
#include "norm.h"
#include "tile.h"

const leat_kernels leat_kernels_neon = {
    .name = "neon",
    .width = VW,
    .tile_rows = TILE_ROWS,
    .tile_columns = TILE_VECTORS * VW,
    .tile = tile,
    .transpose = transpose,
    .sums = sums,
    .squares = squares,
    .norm = norm,
    .norm_sums = norm_sums,
    .norm_back = norm_back,
    .leaky = leaky,
    .leaky_back = leaky_back,
    .tanh_back = tanh_back,
    .add_scaled = add_scaled,
    .adam = adam,
};
#else
typedef int leat_kernels_none; /* an empty file is not C */
#endif
