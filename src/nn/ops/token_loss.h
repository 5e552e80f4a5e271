/*
 * Cross-entropy of tokens: logits [row][leat_lanes(ids)] against want [row], of the rows that
 * count.
 *
 *     e = exp(x - largest),  s = sum of e,  term = log(s) - (x of want - largest)
 *     gradient = (e / s - 1 at want) factor,  factor = 1 / (number of rows that count)
 *
 * Orders (this is the specification): s has LEAT_LANES lanes (lane l: columns l, l + 16, ...; then
 * lanes i and i + 8, i + 4, i + 2, i + 1), e / s and the factor are rounded first. A term is a
 * float; terms are added in double in the order of the rows, by the calling thread. Parts are
 * pieces of the rows.
 */
#ifndef LEAT_NN_OPS_TOKEN_LOSS_H
#define LEAT_NN_OPS_TOKEN_LOSS_H

#include "nn/ops/op.h"

typedef struct leat_token_loss {
    int64_t rows, ids;      /* at least one identifier */
    const int32_t *want;    /* [rows] 0 .. ids - 1, where the row counts */
    const int32_t *counted; /* [rows] 0: the row does not count */
    float *terms;           /* [rows], written: 0 where the row does not count */
} leat_token_loss;

/* *sum: that of the terms, *count: the rows that count; both are 0 if none does. The logits become
 * the gradient of the mean: +0 in rows that do not count, and in unused lanes. */
LEAT_MUST_CHECK leat_code leat_token_loss_run(const leat_device *device, const leat_token_loss *of,
                                              float *logits, double *sum, int64_t *count,
                                              leat_error *err);
/* The same without the gradient; the logits become any numbers. */
LEAT_MUST_CHECK leat_code leat_token_loss_terms(const leat_device *device,
                                                const leat_token_loss *of, float *logits,
                                                double *sum, int64_t *count, leat_error *err);

#endif
