/* The table of one variant, which the including file has named: LEAT_VEC, LEAT_KERNELS and its
 * name. Everything else in that file is static. */
#include "each.h"
#include "kernels.h"
#include "map.h"
#include "norm.h"
#include "rows.h"
#include "segments.h"
#include "tile.h"
#include "tokens.h"

const leat_kernels LEAT_KERNELS = {
    .name = LEAT_KERNELS_NAME,
    .width = VW,
    .tile_rows = TILE_ROWS,
    .tile_columns = TILE_VECTORS * VW,
    .tile = tile,
    .peak = peak,
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
    .map = map,
    .uniform = uniform,
    .normal = normal,
    .row_sums = row_sums,
    .row_dot = row_dot,
    .row_finish = row_finish,
    .row_exp = row_exp,
    .row_scale = row_scale,
    .latent = latent,
    .latent_back = latent_back,
    .relu_back = relu_back,
    .dropout = dropout,
    .graph_norm = graph_norm,
    .graph_norm_back = graph_norm_back,
    .lstm = lstm,
    .lstm_back = lstm_back,
    .edge_scores = edge_scores,
    .edge_scores_back = edge_scores_back,
    .edge_dots = edge_dots,
    .edge_sums = edge_sums,
    .edge_sums_back = edge_sums_back,
    .gather_dots = gather_dots,
    .gather_add = gather_add,
    .rms_norm = rms_norm,
    .rms_norm_back = rms_norm_back,
    .rms_norm_weight = rms_norm_weight,
    .turn = turn,
    .swiglu = swiglu,
    .swiglu_back = swiglu_back,
    .attend = attend,
    .attend_end = attend_end,
    .attend_back = attend_back,
};
