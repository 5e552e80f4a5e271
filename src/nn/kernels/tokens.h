/*
 * Kernels over rows of tokens, see kernels.h: norms, rotary positions, gated units, and what lies
 * between the two products of attention. Vectors run over columns, or over the keys of a tile; the
 * last ones, if they are not a whole vector, are loaded with zeros and stored alone.
 */
#ifndef LEAT_NN_KERNELS_TOKENS_H
#define LEAT_NN_KERNELS_TOKENS_H

#include "functions.h"
#include "kernels.h"
#include "rows.h"
#include "vec.h"

/* ---- Root mean square norm ------------------------------------------------------------------ */

/* The first float of a vector: for a root and a quotient of one number. */
LEAT_INLINE float first_of(vf x) {
    float lanes[VW];
    vf_store(lanes, x);
    return lanes[0];
}

static void rms_norm(const leat_rms_rows *of, float *y) {
    const int64_t columns = of->columns;
    for (int64_t row = 0; row < of->rows; row++) {
        const float *x = of->x + row * of->step;
        const float squares = row_dot(columns, x, x) / (float)columns;
        const vf root = vf_sqrt(vf_set(squares + of->eps)), scale = vf_div(vf_set(1.0f), root);
        of->scale[row] = first_of(scale);
        for (int64_t c = 0; c < columns; c += VW) {
            const int64_t rest = columns - c;
            const vf out = vf_mul(vf_mul(load_columns(x + c, rest), scale),
                                  load_columns(of->weight + c, rest));
            store_columns(y + row * of->step + c, out, rest);
        }
    }
}

/* The inner product of up * weight and x * scale, with lanes as row_dot. */
LEAT_INLINE float rms_along(const leat_rms_rows *of, const float *x, const float *up, vf scale) {
    vf lanes[LANE_VECTORS];
#pragma GCC unroll 16
    for (int v = 0; v < LANE_VECTORS; v++) {
        vf sum = vf_set(0.0f);
        for (int64_t c = v * VW; c < of->columns; c += LEAT_LANES) {
            const int64_t rest = of->columns - c;
            const vf g = vf_mul(load_columns(up + c, rest), load_columns(of->weight + c, rest));
            sum = vf_fma(g, vf_mul(load_columns(x + c, rest), scale), sum);
        }
        lanes[v] = sum;
    }
    return sum_of_lanes(lanes);
}

static void rms_norm_back(const leat_rms_rows *of, const float *up, float *down) {
    const int64_t columns = of->columns;
    for (int64_t row = 0; row < of->rows; row++) {
        const float *x = of->x + row * of->step, *g = up + row * of->step;
        const vf scale = vf_set(of->scale[row]);
        const vf share = vf_minus(vf_set(rms_along(of, x, g, scale) / (float)columns));
        for (int64_t c = 0; c < columns; c += VW) {
            const int64_t rest = columns - c;
            const vf along = vf_mul(load_columns(g + c, rest), load_columns(of->weight + c, rest));
            const vf h = vf_mul(load_columns(x + c, rest), scale);
            store_columns(down + row * of->step + c, vf_mul(scale, vf_fma(share, h, along)), rest);
        }
    }
}

/* Four vectors at a time, so that a row's cache line is read once. */
static void rms_norm_weight(const leat_rms_rows *of, const float *up, float *of_weight) {
    enum { TOGETHER = 4 };
    for (int64_t c = 0; c < of->columns; c += TOGETHER * VW) {
        vf sum[TOGETHER];
#pragma GCC unroll 4
        for (int v = 0; v < TOGETHER; v++) {
            const int64_t rest = of->columns - c - v * VW;
            sum[v] = rest > 0 ? load_columns(of_weight + c + v * VW, rest) : vf_set(0.0f);
        }
        for (int64_t row = 0; row < of->rows; row++) {
            const float *x = of->x + row * of->step + c, *g = up + row * of->step + c;
            const vf scale = vf_set(of->scale[row]);
#pragma GCC unroll 4
            for (int v = 0; v < TOGETHER; v++) {
                const int64_t rest = of->columns - c - v * VW;
                if (rest <= 0) break;
                sum[v] = vf_fma(load_columns(g + v * VW, rest),
                                vf_mul(load_columns(x + v * VW, rest), scale), sum[v]);
            }
        }
#pragma GCC unroll 4
        for (int v = 0; v < TOGETHER; v++) {
            const int64_t rest = of->columns - c - v * VW;
            if (rest > 0) store_columns(of_weight + c + v * VW, sum[v], rest);
        }
    }
}

/* ---- Rotary positions ----------------------------------------------------------------------- */

static void turn(const leat_turn *of, float *x) {
    const int64_t half = of->width / 2;
    const vf sign = vf_set(of->sign);
    for (int64_t row = 0; row < of->rows; row++) {
        const float *cosine = of->table + of->position[row] * of->width, *sine = cosine + half;
        for (int64_t head = 0; head < of->heads; head++) {
            float *low = x + row * of->step + head * of->width, *high = low + half;
            for (int64_t c = 0; c < half; c += VW) {
                const int64_t rest = half - c;
                const vf a = load_columns(low + c, rest), b = load_columns(high + c, rest);
                const vf s = vf_mul(load_columns(sine + c, rest), sign);
                const vf t = load_columns(cosine + c, rest);
                store_columns(low + c, vf_fma(a, t, vf_minus(vf_mul(b, s))), rest);
                store_columns(high + c, vf_fma(b, t, vf_mul(a, s)), rest);
            }
        }
    }
}

/* ---- Gated unit ----------------------------------------------------------------------------- */

static void swiglu(int64_t count, const float *gate, const float *x, float *y) {
    for (int64_t i = 0; i < count; i += VW) {
        const int64_t rest = count - i;
        const vf g = load_columns(gate + i, rest);
        const vf silu = vf_mul(g, vf_sigmoid(g));
        store_columns(y + i, vf_mul(silu, load_columns(x + i, rest)), rest);
    }
}

static void swiglu_back(int64_t count, float *gate, float *x, const float *up) {
    const vf one = vf_set(1.0f);
    for (int64_t i = 0; i < count; i += VW) {
        const int64_t rest = count - i;
        const vf g = load_columns(gate + i, rest), d = load_columns(up + i, rest);
        const vf s = vf_sigmoid(g), slope = vf_mul(s, vf_fma(g, vf_sub(one, s), one));
        const vf down = vf_mul(vf_mul(d, load_columns(x + i, rest)), slope);
        store_columns(x + i, vf_mul(d, vf_mul(g, s)), rest);
        store_columns(gate + i, down, rest);
    }
}

/* ---- Attention ------------------------------------------------------------------------------ */

/* The keys of a row that count. */
LEAT_INLINE int keys_of(const leat_attend *of, int row) {
    const int keys = of->keys + row;
    return keys < LEAT_ATTENTION_TILE ? keys : LEAT_ATTENTION_TILE;
}

/* What follows the keys that count. */
LEAT_INLINE void clear_keys(float *row, int keys) {
    for (int k = keys; k < LEAT_ATTENTION_TILE; k++) row[k] = 0.0f;
}

/* A product that is not fused with the difference, so that the largest score, of which `most` is
 * the same product, has 0: of large scores, the bits that a product loses are more than 1. */
LEAT_INLINE vf attend_exp_of(const float *x, vf scale, vf most) {
    return vf_exp(vf_sub(vf_mul(vf_load(x), scale), most));
}

/* Scores become exponentials, whose sum is returned. */
LEAT_INLINE float attend_exp(float *x, int count, vf scale, vf most) {
    vf lanes[LANE_VECTORS];
#pragma GCC unroll 16
    for (int v = 0; v < LANE_VECTORS; v++) {
        vf sum = vf_set(0.0f);
        for (int k = v * VW; k < count; k += LEAT_LANES) {
            vf e = attend_exp_of(x + k, scale, most);
            vf_store(x + k, e);
            if (k + VW > count) e = vf_load_some(x + k, count - k);
            sum = vf_add(sum, e);
        }
        lanes[v] = sum;
    }
    clear_keys(x, count);
    return sum_of_lanes(lanes);
}

static void attend(const leat_attend *of) {
    const vf scale = vf_set(of->scale);
    for (int row = 0; row < of->rows; row++) {
        float *x = of->scores + row * LEAT_ATTENTION_TILE;
        float *most = of->most + row * of->heads, *sum = of->sum + row * of->heads;
        const int count = keys_of(of, row);
        /* + 0: one zero, whichever was found */
        const float here = row_most(count, x) * of->scale + 0.0f;
        const float larger = of->begin || *most < here ? here : *most;
        const float more = attend_exp(x, count, scale, vf_set(larger));
        if (of->begin) {
            *sum = more;
        } else if (larger != *most) {
            float *out = of->out + row * of->step;
            const vf less = vf_exp(vf_sub(vf_set(*most), vf_set(larger)));
            *sum = first_of(vf_fma(vf_set(*sum), less, vf_set(more)));
            for (int64_t c = 0; c < of->width; c += VW) {
                const int64_t rest = of->width - c;
                store_columns(out + c, vf_mul(load_columns(out + c, rest), less), rest);
            }
        } else {
            *sum += more; /* as above: less is 1 */
        }
        *most = larger;
    }
}

static void attend_end(const leat_attend *of) {
    const vf zero = vf_set(0.0f);
    for (int row = 0; row < of->rows; row++) {
        float *out = of->out + row * of->step;
        const vf sum = vf_set(of->sum[row * of->heads]);
        for (int64_t c = 0; c < of->width; c += VW) {
            const int64_t rest = of->width - c;
            const vf all = vf_add(load_columns(out + c, rest), zero);
            store_columns(out + c, vf_div(all, sum), rest);
        }
    }
}

static void attend_back(const leat_attend *of, float *ups) {
    const vf scale = vf_set(of->scale);
    for (int row = 0; row < of->rows; row++) {
        float *x = of->scores + row * LEAT_ATTENTION_TILE, *up = ups + row * LEAT_ATTENTION_TILE;
        const int count = keys_of(of, row);
        const vf most = vf_set(of->most[row * of->heads]);
        const vf part = vf_div(vf_set(1.0f), vf_set(of->sum[row * of->heads]));
        const vf delta = vf_set(of->delta[row * of->heads]);
        for (int k = 0; k < count; k += VW) {
            const vf share = vf_mul(attend_exp_of(x + k, scale, most), part);
            const vf down = vf_mul(vf_mul(share, vf_sub(vf_load(up + k), delta)), scale);
            vf_store(x + k, share);
            vf_store(up + k, down);
        }
        clear_keys(x, count);
        clear_keys(up, count);
    }
}

#endif
