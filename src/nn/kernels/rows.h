/*
 * Kernels over rows of activations, [row][step], where vectors run over the columns, see kernels.h.
 * A chain runs over rows, ascending; what has LEAT_LANES columns is a block of them.
 */
#ifndef LEAT_NN_KERNELS_ROWS_H
#define LEAT_NN_KERNELS_ROWS_H

#include "functions.h"
#include "kernels.h"
#include "norm.h"
#include "vec.h"

LEAT_INLINE vf vf_minus(vf x) { return vf_sub(vf_set(0.0f), x); }

/* The columns of a row from one on, of which so many are left. */
LEAT_INLINE vf load_columns(const float *from, int64_t left) {
    return left >= VW ? vf_load(from) : vf_load_some(from, (int)left);
}
LEAT_INLINE void store_columns(float *to, vf x, int64_t left) {
    if (left >= VW) vf_store(to, x);
    else vf_store_some(to, x, (int)left);
}

static void row_sums(int64_t rows, int64_t step, const float *x, float *sums) {
    for (int v = 0; v < LEAT_LANES; v += VW) {
        vf sum = vf_load(sums + v);
        for (int64_t i = 0; i < rows; i++) sum = vf_add(sum, vf_load(x + i * step + v));
        vf_store(sums + v, sum);
    }
}

enum { LANE_VECTORS = LEAT_LANES / VW };

/* The sum of an inner product's lanes. Its last columns, if they are not a whole vector, are loaded
 * with zeros. These change no lane but one: where all products underflow to -0, it becomes +0, in
 * as many lanes as a vector has. Only a sum that is 0 can show it, so that it ends as +0. */
LEAT_INLINE float sum_of_lanes(const vf lanes[LANE_VECTORS]) { return vf_tree(lanes) + 0.0f; }

static float row_dot(int64_t columns, const float *a, const float *b) {
    vf lanes[LANE_VECTORS];
#pragma GCC unroll 16
    for (int v = 0; v < LANE_VECTORS; v++) {
        vf sum = vf_set(0.0f);
        int64_t c = v * VW;
        for (; c + VW <= columns; c += LEAT_LANES)
            sum = vf_fma(vf_load(a + c), vf_load(b + c), sum);
        if (c < columns) {
            const int rest = (int)(columns - c);
            sum = vf_fma(vf_load_some(a + c, rest), vf_load_some(b + c, rest), sum);
        }
        lanes[v] = sum;
    }
    return sum_of_lanes(lanes);
}

/* ---- After a product ------------------------------------------------------------------------ */

static void row_finish(const leat_finish *of, int64_t rows, int64_t columns, int64_t step,
                       float *c) {
    const vf slope = vf_set(of->slope);
    const bool bent = of->slope != 1, moved = of->bias != 0;
    for (int64_t v = 0; v < columns; v += VW) {
        const int64_t rest = columns - v;
        const vf bias = moved ? load_columns(of->bias + v, rest) : slope;
        for (int64_t row = 0; row < rows; row++) {
            float *at = c + row * step + v;
            vf x = load_columns(at, rest);
            if (moved) x = vf_add(x, bias);
            store_columns(at, bent ? leaky_of(x, slope) : x, rest);
        }
    }
}

/* ---- Softmax -------------------------------------------------------------------------------- */

/* The largest of at least one number; which zero it is, is not specified. A NaN counts if it is the
 * first. */
LEAT_INLINE float row_most(int64_t count, const float *x) {
    float lanes[VW];
    vf largest = vf_set(x[0]);
    int64_t i = 0;
    for (; i + VW <= count; i += VW) {
        const vf at = vf_load(x + i);
        largest = vf_pick(vf_lt(largest, at), at, largest);
    }
    vf_store(lanes, largest);
    for (int half = VW / 2; half >= 1; half /= 2)
        for (int v = 0; v < half; v++)
            lanes[v] = lanes[v] < lanes[v + half] ? lanes[v + half] : lanes[v];
    for (; i < count; i++) lanes[0] = lanes[0] < x[i] ? x[i] : lanes[0];
    return lanes[0];
}

/* Lanes behind the last value add nothing to what is not negative. */
static float row_exp(int64_t count, float *x, float *most) {
    vf lanes[LANE_VECTORS];
    *most = row_most(count, x);
    const vf largest = vf_set(*most);
#pragma GCC unroll 16
    for (int v = 0; v < LANE_VECTORS; v++) {
        vf sum = vf_set(0.0f);
        int64_t i = v * VW;
        for (; i + VW <= count; i += LEAT_LANES) {
            const vf e = vf_exp(vf_sub(vf_load(x + i), largest));
            vf_store(x + i, e);
            sum = vf_add(sum, e);
        }
        if (i < count) {
            const int rest = (int)(count - i);
            vf_store_some(x + i, vf_exp(vf_sub(vf_load_some(x + i, rest), largest)), rest);
            sum = vf_add(sum, vf_load_some(x + i, rest));
        }
        lanes[v] = sum;
    }
    return sum_of_lanes(lanes);
}

static void row_scale(int64_t count, float divisor, float factor, float *x) {
    const vf below = vf_set(divisor), times = vf_set(factor);
    int64_t i = 0;
    for (; i + VW <= count; i += VW) vf_store(x + i, vf_mul(vf_div(vf_load(x + i), below), times));
    if (i < count) {
        const int rest = (int)(count - i);
        vf_store_some(x + i, vf_mul(vf_div(vf_load_some(x + i, rest), below), times), rest);
    }
}

/* ---- Latent vectors ------------------------------------------------------------------------- */

LEAT_INLINE vf clamped(vf x, vf most) {
    const vf least = vf_minus(most);
    return vf_pick(vf_lt(most, x), most, vf_pick(vf_lt(x, least), least, x));
}

static void latent(const leat_latent_values *of, int64_t count, float *z, float *terms) {
    const vf most = vf_set(of->most), half = vf_set(0.5f), one = vf_set(1.0f);
    for (int64_t c = 0; c < count; c += VW) {
        const int64_t rest = count - c;
        const vf mu = load_columns(of->mu + c, rest);
        const vf v = clamped(load_columns(of->logvar + c, rest), most);
        const vf inner = vf_sub(vf_sub(vf_add(one, v), vf_mul(mu, mu)), vf_exp(v));
        vf out = mu;
        if (of->noise != 0)
            out = vf_add(mu, vf_mul(vf_exp(vf_mul(half, v)), load_columns(of->noise + c, rest)));
        store_columns(z + c, out, rest);
        store_columns(terms + c, vf_mul(vf_set(-0.5f), inner), rest);
    }
}

static void latent_back(const leat_latent_values *of, int64_t count, const float *up,
                        float *down_mu, float *down_logvar) {
    const vf most = vf_set(of->most), half = vf_set(0.5f), one = vf_set(1.0f), zero = vf_set(0.0f);
    const vf factor = vf_set(of->factor), half_factor = vf_mul(half, factor);
    for (int64_t c = 0; c < count; c += VW) {
        const int64_t rest = count - c;
        const vf g = load_columns(up + c, rest), logvar = load_columns(of->logvar + c, rest);
        const vf noise = of->noise == 0 ? zero : load_columns(of->noise + c, rest);
        const vf v = clamped(logvar, most), deviation = vf_exp(vf_mul(half, v));
        const vf down = vf_add(vf_mul(vf_mul(g, noise), vf_mul(half, deviation)),
                               vf_mul(half_factor, vf_sub(vf_exp(v), one)));
        const vf inside = vf_pick(vf_le(logvar, most), down, zero);
        const vf mu = load_columns(of->mu + c, rest);
        store_columns(down_mu + c, vf_add(g, vf_mul(factor, mu)), rest);
        store_columns(down_logvar + c, vf_pick(vf_le(vf_minus(most), logvar), inside, zero), rest);
    }
}

/* ---- Dropout -------------------------------------------------------------------------------- */

static void relu_back(float scale, int64_t count, const float *y, const float *up, float *down) {
    const vf times = vf_set(scale), zero = vf_set(0.0f);
    for (int64_t i = 0; i < count; i += VW) {
        const int64_t rest = count - i;
        const vf kept = vf_mul(load_columns(up + i, rest), times);
        store_columns(down + i, vf_pick(vf_lt(zero, load_columns(y + i, rest)), kept, zero), rest);
    }
}

static void dropout(const leat_dropout *of, uint64_t first, int64_t count, const float *x,
                    float *y) {
    const vf scale = vf_set(of->scale), zero = vf_set(0.0f);
    const vi below = vi_set(of->below);
    uint64_t at = of->key + (first + 1) * DRAW_STEP;
    for (int64_t i = 0; i < count; i += VW, at += VW * DRAW_STEP) {
        const vm kept = vi_gt(below, vi_draw(at));
        const int64_t rest = count - i;
        if (rest >= VW) vf_store(y + i, vf_pick(kept, vf_mul(vf_load(x + i), scale), zero));
        else
            vf_store_some(y + i, vf_pick(kept, vf_mul(vf_load_some(x + i, (int)rest), scale), zero),
                          (int)rest);
    }
}

/* ---- Normalisation of a graph's rows ------------------------------------------------------- */

static void graph_norm(const leat_graph_norm *norm, int64_t rows, int64_t step, const float *x,
                       float *y) {
    const vf count = vf_set((float)rows);
    for (int v = 0; v < LEAT_LANES; v += VW, x += VW, y += VW) {
        const vf share = vf_minus(vf_load(norm->mean_scale + v));
        const vf weight = vf_load(norm->weight + v), bias = vf_load(norm->bias + v);
        vf sum = vf_set(0.0f), squares = vf_set(0.0f);
        for (int64_t i = 0; i < rows; i++) sum = vf_add(sum, vf_load(x + i * step));
        const vf mean = vf_div(sum, count);
        for (int64_t i = 0; i < rows; i++) {
            const vf off = vf_fma(share, mean, vf_load(x + i * step));
            squares = vf_fma(off, off, squares);
        }
        const vf root = vf_sqrt(vf_add(vf_div(squares, count), vf_set(norm->eps)));
        for (int64_t i = 0; i < rows; i++) {
            const vf off = vf_fma(share, mean, vf_load(x + i * step));
            vf_store(y + i * step, vf_fma(weight, vf_div(off, root), bias));
        }
        vf_store(norm->mean + v, mean);
        vf_store(norm->root + v, root);
    }
}

static void graph_norm_back(const leat_graph_norm *norm, int64_t rows, int64_t step, const float *x,
                            const float *up, float *down) {
    const vf count = vf_set((float)rows);
    for (int v = 0; v < LEAT_LANES; v += VW, x += VW, up += VW, down += VW) {
        const vf share = vf_minus(vf_load(norm->mean_scale + v)),
                 weight = vf_load(norm->weight + v);
        const vf mean = vf_load(norm->mean + v), root = vf_load(norm->root + v);
        vf of_weight = vf_load(norm->of_weight + v), of_bias = vf_load(norm->of_bias + v);
        vf of_scale = vf_load(norm->of_mean_scale + v), sum = vf_set(0.0f);
        for (int64_t i = 0; i < rows; i++) {
            const vf h = vf_div(vf_fma(share, mean, vf_load(x + i * step)), root);
            const vf g = vf_load(up + i * step);
            sum = vf_fma(vf_mul(g, weight), h, sum);
            of_weight = vf_fma(g, h, of_weight);
            of_bias = vf_add(of_bias, g);
        }
        const vf along = vf_minus(vf_div(sum, count));
        sum = vf_set(0.0f);
        for (int64_t i = 0; i < rows; i++) {
            const vf h = vf_div(vf_fma(share, mean, vf_load(x + i * step)), root);
            const vf g = vf_mul(vf_load(up + i * step), weight);
            const vf q = vf_div(vf_fma(along, h, g), root);
            sum = vf_add(sum, q);
            of_scale = vf_fma(vf_minus(mean), q, of_scale);
            vf_store(down + i * step, q);
        }
        const vf all = vf_div(sum, count);
        for (int64_t i = 0; i < rows; i++)
            vf_store(down + i * step, vf_fma(share, all, vf_load(down + i * step)));
        vf_store(norm->of_weight + v, of_weight);
        vf_store(norm->of_bias + v, of_bias);
        vf_store(norm->of_mean_scale + v, of_scale);
    }
}

/* ---- LSTM ----------------------------------------------------------------------------------- */

static void lstm(int64_t hidden, float *gates, const float *before, float *cell, float *out) {
    float *in = gates, *keep = in + hidden, *made = keep + hidden, *show = made + hidden;
    for (int64_t c = 0; c < hidden; c += VW) {
        const vf i = vf_sigmoid(vf_load(in + c)), f = vf_sigmoid(vf_load(keep + c));
        const vf g = vf_tanh(vf_load(made + c)), o = vf_sigmoid(vf_load(show + c));
        vf state = vf_mul(i, g);
        if (before != 0) state = vf_fma(f, vf_load(before + c), state);
        vf_store(in + c, i);
        vf_store(keep + c, f);
        vf_store(made + c, g);
        vf_store(show + c, o);
        vf_store(cell + c, state);
        vf_store(out + c, vf_mul(o, vf_tanh(state)));
    }
}

static void lstm_back(int64_t hidden, float *gates, const float *before, const float *cell,
                      const float *up, float *carry) {
    float *in = gates, *keep = in + hidden, *made = keep + hidden, *show = made + hidden;
    const vf one = vf_set(1.0f), zero = vf_set(0.0f);
    for (int64_t c = 0; c < hidden; c += VW) {
        const vf i = vf_load(in + c), f = vf_load(keep + c), g = vf_load(made + c);
        const vf o = vf_load(show + c), t = vf_tanh(vf_load(cell + c)), h = vf_load(up + c);
        const vf d = vf_fma(vf_mul(h, o), vf_fma(vf_minus(t), t, one), vf_load(carry + c));
        const vf old = before != 0 ? vf_mul(d, vf_load(before + c)) : zero;
        vf_store(in + c, vf_mul(vf_mul(d, g), vf_fma(vf_minus(i), i, i)));
        vf_store(keep + c, vf_mul(old, vf_fma(vf_minus(f), f, f)));
        vf_store(made + c, vf_mul(vf_mul(d, i), vf_fma(vf_minus(g), g, one)));
        vf_store(show + c, vf_mul(vf_mul(h, t), vf_fma(vf_minus(o), o, o)));
        vf_store(carry + c, vf_mul(d, f));
    }
}

#endif
