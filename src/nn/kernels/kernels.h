/*
 * The kernels of the room nn: one table of functions for each instruction set, all with the same
 * results, bit for bit. `scalar` is their specification: plain C with fmaf.
 *
 * What makes the results equal: every output element of a product is one chain of fused
 * multiply-adds over k in ascending order, and every sum has 16 lanes however wide the vectors are.
 * Vectors run over independent outputs only.
 *
 * Files of this folder include libc headers and each other only (lint checks it), so that they can
 * be compiled and tested for another processor without leat's libraries. They know no threads, no
 * errors and no memory: sizes are checked by the ops.
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
} leat_tile;

typedef struct leat_kernels {
    const char *name; /* "scalar", "avx2", "avx512", "neon" */
    int width;        /* lanes of a vector */
    int tile_rows, tile_columns;

    void (*tile)(const leat_tile *tile);
    /* out[j * out_step + i] = in[i * in_step + j] for i < rows, j < columns. */
    void (*transpose)(int64_t rows, int64_t columns, const float *in, int64_t in_step, float *out,
                      int64_t out_step);
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
bool leat_kernels_run(const leat_kernels *kernels);
/* The variant of this name; NULL if there is none. `name` NULL: the widest that runs here. */
const leat_kernels *leat_kernels_find(const char *name);

#endif
