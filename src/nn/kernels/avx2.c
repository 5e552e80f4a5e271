/* The kernels for AVX2 and FMA; compiled with -mavx2 -mfma. */
#if defined(__x86_64__)
#define LEAT_VEC 256
#include "each.h"
#include "kernels.h"
#include "norm.h"
#include "tile.h"

const leat_kernels leat_kernels_avx2 = {
    .name = "avx2",
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
