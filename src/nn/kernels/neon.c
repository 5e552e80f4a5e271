/* The kernels for NEON, which every arm64 processor has. */
#if defined(__aarch64__)
#define LEAT_VEC 128
#include "kernels.h"
#include "tile.h"

const leat_kernels leat_kernels_neon = {
    .name = "neon",
    .width = VW,
    .tile_rows = TILE_ROWS,
    .tile_columns = TILE_VECTORS * VW,
    .tile = tile,
    .transpose = transpose,
};
#else
typedef int leat_kernels_none; /* an empty file is not C */
#endif
