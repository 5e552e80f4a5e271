/*
 * Kernels over the edges of a graph, sorted by a node that they share, see kernels.h. A chain runs
 * over these edges in their order; vectors run over the columns of one head of attention, whose
 * last ones, if they are no whole vector, are loaded with zeros and stored alone. Rows that are
 * gathered by number have whole blocks of columns; in their products, a lane is a row.
 */
#ifndef LEAT_NN_KERNELS_SEGMENTS_H
#define LEAT_NN_KERNELS_SEGMENTS_H

#include "kernels.h"
#include "rows.h"
#include "vec.h"

/* (left + right) + edge of one edge, at the columns from c on; `right` is loaded already. */
LEAT_INLINE vf joined(const leat_edge_head *of, int64_t k, int64_t c, vf right) {
    const int64_t rest = of->width - c;
    const vf left = load_columns(of->left + of->source[k] * of->step + c, rest);
    return vf_add(vf_add(left, right), load_columns(of->edge + k * of->step + c, rest));
}

/* leaky_of and leaky_back_of for a slope above 0. */
LEAT_INLINE vf bent(vf m, vf slope) { return vf_pick(vf_lt(vf_set(0.0f), m), m, vf_mul(m, slope)); }
LEAT_INLINE vf bent_back(vf m, vf slope, vf up) {
    return vf_pick(vf_lt(vf_set(0.0f), m), up, vf_mul(up, slope));
}

/* The lanes of one edge from the columns c + v on, added to those of the columns before. */
LEAT_INLINE void add_score(const leat_edge_head *of, int64_t k, int64_t c, vf slope,
                           vf lanes[LANE_VECTORS]) {
#pragma GCC unroll 16
    for (int v = 0; v < LANE_VECTORS; v++) {
        const int64_t at = c + v * VW, rest = of->width - at;
        if (rest <= 0) break;
        lanes[v] =
            vf_fma(load_columns(of->weight + at, rest),
                   bent(joined(of, k, at, load_columns(of->right + at, rest)), slope), lanes[v]);
    }
}

static void edge_scores(const leat_edge_head *of, int64_t edges, float *scores) {
    const vf slope = vf_set(of->slope);
    for (int64_t k = 0; k < edges; k++) {
        vf lanes[LANE_VECTORS];
#pragma GCC unroll 16
        for (int v = 0; v < LANE_VECTORS; v++) lanes[v] = vf_set(0.0f);
        for (int64_t c = 0; c < of->width; c += LEAT_LANES) add_score(of, k, c, slope, lanes);
        scores[k * of->heads] = sum_of_lanes(lanes);
    }
}

static void edge_scores_back(const leat_edge_head *of, int64_t edges, const float *ups,
                             float *of_weight, float *of_right, float *of_edge) {
    const vf slope = vf_set(of->slope);
    for (int64_t c = 0; c < of->width; c += VW) {
        const int64_t rest = of->width - c;
        const vf weight = load_columns(of->weight + c, rest);
        const vf right = load_columns(of->right + c, rest);
        vf weights = load_columns(of_weight + c, rest), rights = vf_set(0.0f);
        for (int64_t k = 0; k < edges; k++) {
            const vf up = vf_set(ups[k * of->heads]), m = joined(of, k, c, right);
            const vf down = bent_back(m, slope, vf_mul(up, weight));
            weights = vf_fma(up, bent(m, slope), weights);
            rights = vf_add(rights, down);
            store_columns(of_edge + k * of->step + c, down, rest);
        }
        store_columns(of_weight + c, weights, rest);
        store_columns(of_right + c, rights, rest);
    }
}

static void edge_dots(const leat_edge_rows *of, int64_t edges, const float *with, float *dots) {
    for (int64_t k = 0; k < edges; k++)
        dots[k * of->heads] = row_dot(of->width, of->rows + of->index[k] * of->step, with);
}

/* `vectors` of whole columns, whose chains do not wait for each other; a constant where this is
 * inlined. */
LEAT_INLINE void sums_of(const leat_edge_rows *of, int64_t edges, const float *shares, int64_t c,
                         const int vectors, float *sums) {
    vf sum[4];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) sum[v] = vf_load(sums + c + v * VW);
    for (int64_t k = 0; k < edges; k++) {
        const float *row = of->rows + of->index[k] * of->step + c;
        const vf share = shares == NULL ? vf_set(1.0f) : vf_set(shares[k * of->heads]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            const vf x = vf_load(row + v * VW);
            sum[v] = shares == NULL ? vf_add(sum[v], x) : vf_fma(share, x, sum[v]);
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) vf_store(sums + c + v * VW, sum[v]);
}

static void edge_sums(const leat_edge_rows *of, int64_t edges, const float *shares, float *sums) {
    int64_t c = 0;
    for (; c + 4 * VW <= of->width; c += 4 * VW) sums_of(of, edges, shares, c, 4, sums);
    for (; c + VW <= of->width; c += VW) sums_of(of, edges, shares, c, 1, sums);
    if (c >= of->width) return;
    const int rest = (int)(of->width - c);
    vf sum = vf_load_some(sums + c, rest);
    for (int64_t k = 0; k < edges; k++) {
        const vf row = vf_load_some(of->rows + of->index[k] * of->step + c, rest);
        sum = shares == NULL ? vf_add(sum, row) : vf_fma(vf_set(shares[k * of->heads]), row, sum);
    }
    vf_store_some(sums + c, sum, rest);
}

static void edge_sums_back(const leat_edge_rows *of, int64_t edges, const int32_t *places,
                           const float *shares, const float *more, float *sums) {
    for (int64_t c = 0; c < of->width; c += VW) {
        const int64_t rest = of->width - c;
        vf sum = vf_set(0.0f);
        for (int64_t k = 0; k < edges; k++) {
            const int64_t place = places[k];
            const vf row = load_columns(of->rows + of->index[place] * of->step + c, rest);
            sum = vf_fma(vf_set(shares[place * of->heads]), row, sum);
            sum = vf_add(sum, load_columns(more + place * of->step + c, rest));
        }
        store_columns(sums + c, sum, rest);
    }
}

/* VW rows at a time: squares of them are transposed, so that a lane is a row. */
static void gather_dots(const leat_gather *of, int64_t count, const float *rows, const float *with,
                        float *dots) {
    for (int64_t t = 0; t < count; t += VW) {
        const float *row[VW];
        vf sum = vf_set(0.0f);
        for (int v = 0; v < VW; v++)
            row[v] = rows + of->index[t + v < count ? t + v : count - 1] * of->step;
        for (int64_t c = 0; c < of->columns; c += VW) {
            vf square[VW];
#pragma GCC unroll 16
            for (int v = 0; v < VW; v++) square[v] = vf_load(row[v] + c);
            vf_square(square);
#pragma GCC unroll 16
            for (int v = 0; v < VW; v++) sum = vf_fma(vf_set(with[c + v]), square[v], sum);
        }
        store_columns(dots + t, sum, count - t);
    }
}

static void gather_add(const leat_gather *of, int64_t count, const float *shares, const float *with,
                       float *rows) {
    for (int64_t t = 0; t < count; t++) {
        const vf share = vf_set(shares[t]);
        float *row = rows + of->index[t] * of->step;
        for (int64_t c = 0; c < of->columns; c += VW)
            vf_store(row + c, vf_fma(share, vf_load(with + c), vf_load(row + c)));
    }
}

#endif
