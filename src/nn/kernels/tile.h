/*
 * The tile of a product, see kernels.h: rows x vectors of accumulators that stay in registers over
 * the whole chain. Each k loads one row of b and multiplies it by each value of a, so the chains of
 * a tile, 12 to 28 of them, hide the latency of the multiply-add (about 8 are in flight).
 */
#ifndef LEAT_NN_KERNELS_TILE_H
#define LEAT_NN_KERNELS_TILE_H

#include "kernels.h"
#include "vec.h"

#if LEAT_VEC == 512
#define TILE_ROWS 14 /* 28 accumulators, 2 of b, 2 of a: 32 registers */
#define TILE_VECTORS 2
#elif LEAT_VEC == 256
#define TILE_ROWS 6 /* 12 + 2 + 2: 16 registers */
#define TILE_VECTORS 2
#elif LEAT_VEC == 128
#define TILE_ROWS 6 /* 24 + 4 + 1: 32 registers */
#define TILE_VECTORS 4
#else
#define TILE_ROWS 4
#define TILE_VECTORS 16
#endif

/* What the switches below have a case for: other tiles would be left out without a word. */
_Static_assert(TILE_ROWS == 4 || TILE_ROWS == 6 || TILE_ROWS == 14, "tile_rows_of");
_Static_assert(TILE_VECTORS *VW == LEAT_LANES || TILE_VECTORS * VW == 2 * LEAT_LANES,
               "tile_columns_of");
/* What ops reserve. */
_Static_assert(TILE_ROWS <= LEAT_TILE_ROWS_MAX && TILE_VECTORS * VW <= LEAT_TILE_COLUMNS_MAX,
               "kernels.h");

/* `rows` and `vectors` are constants where this is inlined. */
LEAT_INLINE void tile_of(const leat_tile *t, const bool across, const int rows, const int vectors) {
    vf sum[TILE_ROWS][TILE_VECTORS];
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 16
        for (int v = 0; v < vectors; v++)
            sum[r][v] = t->add ? vf_load(t->c + r * t->c_step + v * VW) : vf_set(0.0f);
    }
    const int64_t depth = t->depth, a_step = across ? 1 : t->a_step, b_step = t->b_step;
    const int64_t a_row = across ? t->a_step : 1;
    for (int tap = 0; tap < t->taps; tap++) {
        const float *a = t->a + t->a_tap[tap], *b = t->b + t->b_tap[tap];
        for (int64_t k = 0; k < depth; k++) {
            vf row[TILE_VECTORS];
#pragma GCC unroll 16
            for (int v = 0; v < vectors; v++) row[v] = vf_load(b + v * VW);
#pragma GCC unroll 16
            for (int r = 0; r < rows; r++) {
                const vf factor = vf_set(a[r * a_row]);
#pragma GCC unroll 16
                for (int v = 0; v < vectors; v++) sum[r][v] = vf_fma(factor, row[v], sum[r][v]);
            }
            a += a_step;
            b += b_step;
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 16
        for (int v = 0; v < vectors; v++) vf_store(t->c + r * t->c_step + v * VW, sum[r][v]);
    }
}

LEAT_INLINE void tile_rows_of(const leat_tile *t, const bool across, const int vectors) {
    switch (t->rows) {
    case 1: tile_of(t, across, 1, vectors); break;
    case 2: tile_of(t, across, 2, vectors); break;
    case 3: tile_of(t, across, 3, vectors); break;
    case 4: tile_of(t, across, 4, vectors); break;
#if TILE_ROWS > 4
    case 5: tile_of(t, across, 5, vectors); break;
    case 6: tile_of(t, across, 6, vectors); break;
#endif
#if TILE_ROWS > 6
    case 7: tile_of(t, across, 7, vectors); break;
    case 8: tile_of(t, across, 8, vectors); break;
    case 9: tile_of(t, across, 9, vectors); break;
    case 10: tile_of(t, across, 10, vectors); break;
    case 11: tile_of(t, across, 11, vectors); break;
    case 12: tile_of(t, across, 12, vectors); break;
    case 13: tile_of(t, across, 13, vectors); break;
    case 14: tile_of(t, across, 14, vectors); break;
#endif
    default: break;
    }
}

LEAT_INLINE void tile_columns_of(const leat_tile *t, const bool across) {
#if TILE_VECTORS * VW > LEAT_LANES
    if (t->columns > LEAT_LANES) {
        tile_rows_of(t, across, 2 * LEAT_LANES / VW);
        return;
    }
#endif
    tile_rows_of(t, across, LEAT_LANES / VW);
}

static void tile(const leat_tile *t) {
    if (t->across) tile_columns_of(t, true);
    else tile_columns_of(t, false);
}

static float peak(int64_t rounds) {
    vf sum[TILE_ROWS * TILE_VECTORS];
    const vf half = vf_set(0.5f), one = vf_set(1.0f);
#pragma GCC unroll 64
    for (int i = 0; i < TILE_ROWS * TILE_VECTORS; i++) sum[i] = vf_set((float)i);
    for (int64_t round = 0; round < rounds; round++) {
#pragma GCC unroll 64
        for (int i = 0; i < TILE_ROWS * TILE_VECTORS; i++) sum[i] = vf_fma(sum[i], half, one);
    }
    float out[VW], total = 0;
#pragma GCC unroll 64
    for (int i = 0; i < TILE_ROWS * TILE_VECTORS; i++) {
        vf_store(out, sum[i]);
        total += out[0];
    }
    return total;
}

/* A square of at most VW x VW; `rows` and `columns` are constants where it is whole. */
LEAT_INLINE void transpose_square(int rows, int columns, const float *in, int64_t in_step,
                                  float *out, int64_t out_step) {
    vf square[VW];
#pragma GCC unroll 16
    for (int v = 0; v < VW; v++) {
        square[v] = v >= rows       ? vf_set(0.0f)
                    : columns == VW ? vf_load(in + v * in_step)
                                    : vf_load_some(in + v * in_step, columns);
    }
    vf_square(square);
#pragma GCC unroll 16
    for (int v = 0; v < VW; v++) {
        if (v >= columns) break;
        if (rows == VW) vf_store(out + v * out_step, square[v]);
        else vf_store_some(out + v * out_step, square[v], rows);
    }
}

static void transpose(int64_t rows, int64_t columns, const float *in, int64_t in_step, float *out,
                      int64_t out_step) {
    for (int64_t i = 0; i < rows; i += VW) {
        const int high = rows - i < VW ? (int)(rows - i) : VW;
        for (int64_t j = 0; j < columns; j += VW) {
            const int wide = columns - j < VW ? (int)(columns - j) : VW;
            const float *from = in + i * in_step + j;
            float *to = out + j * out_step + i;
            if (high == VW && wide == VW) transpose_square(VW, VW, from, in_step, to, out_step);
            else if (wide == VW) transpose_square(high, VW, from, in_step, to, out_step);
            else transpose_square(high, wide, from, in_step, to, out_step);
        }
    }
}

#endif
