/*
 * Embeddings of identifiers beside features: a row becomes table[id], then its features, then +0,
 * [row][leat_lanes(width + features)]. Where a mask is given and set, the features are +0.
 *
 * The gradient of a row of the table is the chain of sums over the rows with its id, ascending,
 * continued from what the array holds: the rows are sorted by id (stable counting sort, on the
 * calling thread), then parts are blocks of ids.
 */
#ifndef LEAT_NN_OPS_EMBEDDING_H
#define LEAT_NN_OPS_EMBEDDING_H

#include "nn/ops/op.h"

typedef struct leat_embedding {
    int64_t rows;                 /* below 2^31 */
    int64_t ids, width, features; /* at least one of each; features may be 0 */
    const int32_t *id;            /* [rows], 0 .. ids - 1 */
    const float *table;           /* [ids][width] */
} leat_embedding;

/* x [rows][features], mask [rows] or NULL. */
LEAT_MUST_CHECK leat_code leat_embedding_forward(const leat_device *device,
                                                 const leat_embedding *of, const float *x,
                                                 const uint8_t *mask, float *out, leat_error *err);
/* Integers of work space. */
int64_t leat_embedding_work_count(int64_t rows, int64_t ids);
/* gradient [ids][width] from up, the gradient of what forward made. */
LEAT_MUST_CHECK leat_code leat_embedding_backward(const leat_device *device,
                                                  const leat_embedding *of, const float *up,
                                                  float *gradient, int32_t *work, leat_error *err);

#endif
