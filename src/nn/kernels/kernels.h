/*
 * The kernels of the room nn: one table of functions for each instruction set, all with the same
 * results, bit for bit. `scalar` is their specification: plain C with fmaf.
 *
 * What makes the results equal: every output element of a product is one chain of fused
 * multiply-adds over k in ascending order, and every sum has 16 lanes however wide the vectors are.
 * Vectors run over independent outputs only.
 *
 * Files of this folder include libc headers, each other and base/cpu.h only (lint checks it), so
 * that they can be compiled and tested for another processor without leat's libraries. They know no
 * threads, no errors and no memory: sizes, and which arrays may overlap, are checked by the ops. A
 * kernel that gets a size it has no code for (rows of a tile, a function) writes nothing.
 */
#ifndef LEAT_NN_KERNELS_KERNELS_H
#define LEAT_NN_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

/* Lanes of a sum, and what rows of activations are padded to. */
#define LEAT_LANES 16
/* No variant has larger tiles. */
#define LEAT_TILE_ROWS_MAX 16
#define LEAT_TILE_COLUMNS_MAX 32
#define LEAT_TILE_TAPS_MAX 64

/*
 * A tile of a product: c[row][column] (+)= sum over taps t, then k, of
 *   a[a_tap[t] + k * a_step + row] * b[b_tap[t] + k * b_step + column].
 * The chain of an element runs over t and, within it, over k, both ascending.
 */
typedef struct leat_tile {
    int rows;    /* 1 .. tile_rows */
    int columns; /* a multiple of LEAT_LANES up to tile_columns */
    int taps;    /* >= 0 */
    int64_t depth;
    const float *a, *b;
    const int64_t *a_tap, *b_tap;
    int64_t a_step, b_step;
    float *c;
    int64_t c_step; /* from row to row */
    bool add;       /* the chain continues from c; otherwise it starts from +0 */
    bool across;    /* a_step is from row to row instead, and the k are next to each other */
} leat_tile;

/* Normalisation of a channel c: fma(x - mean[c], scale[c], shift[c]), then the activation with this
 * slope below 0 (1: none, 0: ReLU). */
typedef struct leat_normalization {
    const float *mean, *scale, *shift;
    const float *ones, *products; /* of norm_back alone */
    float slope;
} leat_normalization;

/* Normalisation of LEAT_LANES channels of one graph's rows; ops/graphnorm.h has the formulas. */
typedef struct leat_graph_norm {
    const float *weight, *bias, *mean_scale; /* [LEAT_LANES], as all */
    float eps;
    float *mean, *root; /* written forward, read backward */
    /* of graph_norm_back alone, which adds to them: gradients */
    float *of_weight, *of_bias, *of_mean_scale;
} leat_graph_norm;

/* One head of attention over edges, which its pointers begin at; ops/gatv2.h has the formulas. */
typedef struct leat_edge_head {
    int64_t width, heads;  /* columns of this head; from an edge's score to the next edge's */
    int64_t step;          /* from row to row */
    const int32_t *source; /* [edges] rows of left */
    const float *left, *right, *edge; /* right: one row; edge: a row for each edge */
    const float *weight;              /* [width] */
    float slope;                      /* below 0; itself above it */
} leat_edge_head;

/* The columns of one head of rows that edges name. */
typedef struct leat_edge_rows {
    int64_t width, heads, step;
    const int32_t *index;
    const float *rows;
} leat_edge_rows;

/* Values of latent vectors; ops/latent.h has the formulas. */
typedef struct leat_latent_values {
    float most; /* of |logvar| */
    float factor;
    const float *mu, *logvar;
    const float *noise; /* NULL: 0 */
} leat_latent_values;

/* What follows a product, for each row: c + bias, then the activation with this slope below 0. */
typedef struct leat_finish {
    const float *bias; /* [columns]; NULL: none */
    float slope;       /* 1: none, 0: ReLU */
} leat_finish;

/* Rows that are named one by one; columns is a multiple of LEAT_LANES. */
typedef struct leat_gather {
    int64_t columns, step;
    const int32_t *index;
} leat_gather;

/* What dropout draws: see ops/graph_random.h. */
typedef struct leat_dropout {
    uint64_t key;
    int32_t below; /* 24 bits of an element that is kept; 0 to 2^24 */
    float scale;
} leat_dropout;

/* A root mean square norm of rows; ops/rms_norm.h has the formulas. */
typedef struct leat_rms_rows {
    int64_t rows, columns, step;
    float eps;
    const float *weight; /* [columns] */
    const float *x;      /* [rows][step], as all rows */
    float *scale;        /* [rows] written forward, read backward */
} leat_rms_rows;

/* Rows whose heads, `width` values each, are turned by their position; ops/rope.h. */
typedef struct leat_turn {
    int64_t rows, step, heads, width; /* width: even */
    const int32_t *position;          /* [rows] */
    const float *table;               /* [position][cos, sin][width / 2] */
    float sign;                       /* 1; -1: back */
} leat_turn;

/* A tile of attention: `rows` queries against the keys of a tile. Of row r, the first `keys` + r of
 * these count, at most all; ops/attention.h has the formulas. */
#define LEAT_ATTENTION_TILE 64
typedef struct leat_attend {
    int rows;           /* up to LEAT_ATTENTION_TILE */
    int keys;           /* of row 0, at least 1 */
    bool begin;         /* of attend: the first tile of these rows */
    float scale;        /* above 0 */
    float *scores;      /* [rows][LEAT_ATTENTION_TILE] */
    int64_t heads;      /* from row to row of the next three, which have a value for each row */
    float *most, *sum;  /* the largest scaled score so far, and the sum of exponentials */
    const float *delta; /* of attend_back alone */
    int64_t width, step;
    float *out; /* [rows][step], of which `width` columns; of attend and attend_end */
} leat_attend;

/* The numbers of one step of Adam; see ops/adam.h. */
typedef struct leat_adam_step {
    float gradient_factor, keep_weight;
    float more1, keep2, more2; /* 1 - beta1, beta2, 1 - beta2 */
    float size, root, eps;     /* rate / (1 - beta1^t), sqrt(1 - beta2^t) */
} leat_adam_step;

/* Functions of one number, see functions.h: within 2 ulp, sin and cos NaN beyond 2^20. */
typedef enum leat_function {
    LEAT_FUNCTION_EXP,
    LEAT_FUNCTION_LOG,
    LEAT_FUNCTION_TANH,
    LEAT_FUNCTION_SIGMOID,
    LEAT_FUNCTION_SOFTPLUS,
    LEAT_FUNCTION_SIN,
    LEAT_FUNCTION_COS,
    LEAT_FUNCTIONS /* their number */
} leat_function;

typedef struct leat_kernels {
    const char *name; /* "scalar", "avx2", "avx512", "neon" */
    int width;        /* lanes of a vector */
    int tile_rows, tile_columns;

    void (*tile)(const leat_tile *tile);
    /* As many multiply-adds as `rounds` times a full tile of depth 1, between registers only; the
     * result is of no use but to keep the compiler from leaving them out. */
    float (*peak)(int64_t rounds);
    /* out[j * out_step + i] = in[i * in_step + j] for i < rows, j < columns. */
    void (*transpose)(int64_t rows, int64_t columns, const float *in, int64_t in_step, float *out,
                      int64_t out_step);

    /* Activations [pixel][channel][lane], of which the first `images` lanes count; what is added
     * to is [channel][LEAT_LANES], see norm.h. */
    void (*sums)(int64_t pixels, int64_t channels, int64_t images, const float *x, float *lanes);
    void (*squares)(int64_t pixels, int64_t channels, int64_t images, const float *x,
                    const float *mean, float *lanes); /* of x - mean */
    void (*norm)(const leat_normalization *norm, int64_t pixels, int64_t channels, int64_t lanes,
                 const float *x, float *y);
    /* With g, the gradient before the activation: adds g to `ones`, g * (x - mean) to `products`.
     */
    void (*norm_sums)(const leat_normalization *norm, int64_t pixels, int64_t channels,
                      int64_t images, const float *x, const float *up, float *ones,
                      float *products);
    /* down = scale * (g - ones[c] - (x - mean) * products[c]); `down` may be `up`. */
    void (*norm_back)(const leat_normalization *norm, int64_t pixels, int64_t channels,
                      int64_t lanes, const float *x, const float *up, float *down);

    /* Values alone; the result may replace an argument. */
    void (*leaky)(float slope, int64_t count, const float *x, float *y);
    void (*leaky_back)(float slope, int64_t count, const float *y, const float *up, float *down);
    void (*tanh_back)(int64_t count, const float *y, const float *up, float *down);
    void (*add_scaled)(int64_t count, float factor, const float *x, float *sum);
    void (*adam)(const leat_adam_step *step, int64_t count, const float *gradient, float *weights,
                 float *first, float *second);

    /* out[i] = what(in[i]); `in` and `out` are the same array or do not overlap. */
    void (*map)(leat_function what, int64_t count, const float *in, float *out);
    /* out[i] = bits[i] / 2^24, for 0 <= bits[i] < 2^24: uniform in [0, 1). */
    void (*uniform)(int64_t count, const int32_t *bits, float *out);
    /*
     * Normal numbers, two from each pair of uniform ones, 0 <= radius[i] < 2^31 and
     * 0 <= angle[i] < 2^24 (Box and Muller, 1958):
     *   out[2 i], out[2 i + 1] = sqrt(-2 log((radius[i] + 1/2) / 2^31)) times cos and sin of 2 pi
     * angle[i] / 2^24.
     */
    void (*normal)(int64_t pairs, const int32_t *radius, const int32_t *angle, float *out);

    /* ---- Suite "rows": activations are rows, x[row * step + column] ---- */

    /* sums[c] += x of each row, ascending, for LEAT_LANES columns. */
    void (*row_sums)(int64_t rows, int64_t step, const float *x, float *sums);
    /* The inner product of two rows: lane l of LEAT_LANES adds columns l, l + 16, ... by fma from
     * +0; then lanes i and i + 8, i + 4, i + 2, i + 1; then + 0, so that no sum is -0. */
    float (*row_dot)(int64_t columns, const float *a, const float *b);
    void (*row_finish)(const leat_finish *of, int64_t rows, int64_t columns, int64_t step,
                       float *c);
    /* x becomes e = exp(x - most), most being the largest x; the sum of all e is returned, with
     * lanes as row_dot. count >= 1. */
    float (*row_exp)(int64_t count, float *x, float *most);
    /* x = (x / divisor) * factor. */
    void (*row_scale)(int64_t count, float divisor, float factor, float *x);
    /* z, and the terms of the divergence. */
    void (*latent)(const leat_latent_values *of, int64_t count, float *z, float *terms);
    /* down_mu may be up. */
    void (*latent_back)(const leat_latent_values *of, int64_t count, const float *up,
                        float *down_mu, float *down_logvar);
    /* down = up * scale where y is above 0, else +0; down may be up. */
    void (*relu_back)(float scale, int64_t count, const float *y, const float *up, float *down);
    /* y = x * scale where the top 24 bits of leat_random_at(key, first), (key, first + 1), ... are
     * below `below`, else +0; y may be x. */
    void (*dropout)(const leat_dropout *of, uint64_t first, int64_t count, const float *x,
                    float *y);
    /* y may be x, down may be up. */
    void (*graph_norm)(const leat_graph_norm *norm, int64_t rows, int64_t step, const float *x,
                       float *y);
    void (*graph_norm_back)(const leat_graph_norm *norm, int64_t rows, int64_t step, const float *x,
                            const float *up, float *down);
    /*
     * One row of an LSTM's step; hidden is a multiple of LEAT_LANES, ops/lstm.h has the formulas.
     * gates [4][hidden] are replaced by their values (lstm), and those by the gradients of the
     * gates (lstm_back). before: the cell of the step before, NULL in the first one. carry
     * [hidden]: the gradient of this cell from the step after it, replaced by that of `before`.
     */
    void (*lstm)(int64_t hidden, float *gates, const float *before, float *cell, float *out);
    void (*lstm_back)(int64_t hidden, float *gates, const float *before, const float *cell,
                      const float *up, float *carry);

    /* ---- Suite "segments": edges that share a node; m = (left + right) + edge ---- */

    /* scores[k * heads] = inner product of weight and leaky(m) of edge k, with lanes as row_dot. */
    void (*edge_scores)(const leat_edge_head *of, int64_t edges, float *scores);
    /* From the gradients of the scores: of_edge, in rows of `step`, = that of m, which may replace
     * `edge`; of_right = its chain of sums from +0; of_weight continues its chain of fma(up,
     * leaky(m), .). */
    void (*edge_scores_back)(const leat_edge_head *of, int64_t edges, const float *ups,
                             float *of_weight, float *of_right, float *of_edge);
    /* dots[k * heads] = inner product of row index[k] and `with`. */
    void (*edge_dots)(const leat_edge_rows *of, int64_t edges, const float *with, float *dots);
    /* sums continues its chain of fma(shares[k * heads], row index[k], .), or of sums of the rows
     * if shares is NULL. */
    void (*edge_sums)(const leat_edge_rows *of, int64_t edges, const float *shares, float *sums);
    /* sums = chain from +0 over the edges at p = places[k]: fma(shares[p * heads], row index[p],
     * .), then + row p of `more`. */
    void (*edge_sums_back)(const leat_edge_rows *of, int64_t edges, const int32_t *places,
                           const float *shares, const float *more, float *sums);
    /* dots[t] = chain over the columns, ascending, from +0: fma(with, row index[t] of rows, .), as
     * a product has it. */
    void (*gather_dots)(const leat_gather *of, int64_t count, const float *rows, const float *with,
                        float *dots);
    /* Row index[t] of rows = fma(shares[t], with, itself); the rows are different. */
    void (*gather_add)(const leat_gather *of, int64_t count, const float *shares, const float *with,
                       float *rows);

    /* ---- Suite "tokens": rows of a transformer; columns after the last one stay as they are ----
     */

    /* y may be x. */
    void (*rms_norm)(const leat_rms_rows *of, float *y);
    /* down may be up. */
    void (*rms_norm_back)(const leat_rms_rows *of, const float *up, float *down);
    /* of_weight[c] continues its chain of fma(up, x * scale, .) over the rows, for `columns`
     * columns, of which those of x and up are the first. */
    void (*rms_norm_weight)(const leat_rms_rows *of, const float *up, float *of_weight);
    /* In place. */
    void (*turn)(const leat_turn *of, float *x);
    /* y = (gate * sigmoid(gate)) * x; y may be one of them. */
    void (*swiglu)(int64_t count, const float *gate, const float *x, float *y);
    /* gate and x are replaced by their gradients; up is that of y. */
    void (*swiglu_back)(int64_t count, float *gate, float *x, const float *up);
    /* Scores become exponentials, +0 where a key does not count, up to LEAT_ATTENTION_TILE columns;
     * most, sum and out are brought to the new maximum. */
    void (*attend)(const leat_attend *of);
    /* out = (out + 0) / sum. */
    void (*attend_end)(const leat_attend *of);
    /* Scores become shares, and `ups`, the gradients of these, [rows][LEAT_ATTENTION_TILE], those
     * of the scores; both +0 where a key does not count. */
    void (*attend_back)(const leat_attend *of, float *ups);
} leat_kernels;

extern const leat_kernels leat_kernels_scalar;
#if defined(__x86_64__)
extern const leat_kernels leat_kernels_avx2, leat_kernels_avx512;
#elif defined(__aarch64__)
extern const leat_kernels leat_kernels_neon;
#endif

/* The variants that were built, from the narrowest to the widest; NULL after the last. */
const leat_kernels *leat_kernels_at(int index);
/* Whether this processor and its operating system run the variant. */
bool leat_kernels_supported(const leat_kernels *kernels);
/* The variant of this name; NULL if there is none. `name` NULL: the widest that runs here. */
const leat_kernels *leat_kernels_find(const char *name);

#endif
