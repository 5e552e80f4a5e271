/* The kernels in plain C: the specification of all others. */
#define LEAT_VEC 1
#include "kernels.h"
#include "tile.h"

const leat_kernels leat_kernels_scalar = {
    .name = "scalar",
    .width = VW,
    .tile_rows = TILE_ROWS,
    .tile_columns = TILE_VECTORS * VW,
    .tile = tile,
    .transpose = transpose,
};
