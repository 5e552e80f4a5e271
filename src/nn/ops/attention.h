/*
 * Causal attention within segments: rows are tokens of sequences, one after the other, with heads
 * side by side. q and y are [row][leat_lanes(heads * width)], k and v
 * [row][leat_lanes(kv_heads * width)]; unused lanes may hold any numbers, and stay as they are.
 * Query head h reads key-value head h / (heads / kv_heads). A segment is a run of rows of one
 * sequence with the same number that is not 0; each of its rows reads itself and the rows before
 * it. Rows with 0 are padding: y is +0 there, and so are gradients.
 *
 *     s = q . k,  m = the largest s, * scale,  e = exp(s scale - m),  l = sum of e
 *     y = (sum of e v) / l,   scale = 1 / sqrt(width)
 *
 * Orders (this is the specification). Rows of a segment are counted from its first one, in tiles of
 * 64, so that it has the same bits wherever it is packed, and alone. Tiles without a pair of a
 * query and a key that it reads are left out, and no array of rows x rows is made.
 *
 * s is a chain of fma over the columns from +0. For each tile of keys, ascending: m' = the larger
 * of m and (the largest s of the tile * scale, rounded), e = exp((s scale, rounded) - m'), their
 * sum t with LEAT_LANES lanes (lane i: keys i, i + 16, ... of the tile, from +0; then lanes i and i
 * + 8, i + 4, i + 2, i + 1). In the first tile l = t; after it, with d = exp(m - m'), l = fma(l, d,
 * t), and the sum of e v is multiplied by d; then its chain of fma continues over the keys of the
 * tile. At the end + 0, so that no sum is -0, and one division.
 *
 * With g the gradient of y:
 *
 *     p  = e (1 / l),  dp = g . v: a chain over the columns,  D = g . y with lanes as row_dot
 *     ds = (p (dp - D)) scale
 *     dq = chain over keys of ds k, ascending;  dv, dk = chains over the heads that read it, then
 *          over queries, both ascending, of p g and ds q;  at the end + 0
 *
 * Where the tiles of keys and queries are the same, pairs are computed in blocks of 16 x 16: blocks
 * in which all keys are later than all queries are left out, and in one on the diagonal, a key that
 * is later than the query is a term of +0 times its value. So it changes no bit, unless that value
 * is not finite.
 *
 * Parts are key-value heads of sequences. Nothing is allocated; a part has less than 256 KiB of
 * buffers on its stack.
 * Source: Vaswani et al., Attention Is All You Need, arXiv:1706.03762; tiles as in Dao et al.,
 * FlashAttention, arXiv:2205.14135.
 */
#ifndef LEAT_NN_OPS_ATTENTION_H
#define LEAT_NN_OPS_ATTENTION_H

#include "nn/ops/op.h"

#define LEAT_ATTENTION_WIDTH_MAX 128

typedef struct leat_attention {
    int64_t sequences, length; /* rows = sequences * length; at least one of each */
    int64_t heads, kv_heads;   /* at least 1; kv_heads divides heads */
    int64_t width;             /* of a head, up to LEAT_ATTENTION_WIDTH_MAX */
    const int32_t *segment;    /* [rows] */
    const float *q, *k, *v;
    float *most, *sum; /* [rows][heads] m and l: written forward, read backward */
} leat_attention;

LEAT_MUST_CHECK leat_code leat_attention_forward(const leat_device *device,
                                                 const leat_attention *of, float *y,
                                                 leat_error *err);

typedef struct leat_attention_gradient {
    const float *y, *up; /* of forward, and its gradient */
    float *q, *k, *v;    /* written */
    float *work;         /* [rows][heads] */
} leat_attention_gradient;
LEAT_MUST_CHECK leat_code leat_attention_backward(const leat_device *device,
                                                  const leat_attention *of,
                                                  const leat_attention_gradient *gradient,
                                                  leat_error *err);

#endif
