/*
 * Dropout of sequences of tokens, as leat_graph_dropout has it for graphs: y = x / (1 - share)
 * where an element is kept, else +0. What is drawn is a function of (seed, epoch, purpose, number
 * of the sequence in its epoch, element), never of the sequence's place in a micro-batch. The
 * element of a row of the sequence and a column:
 *
 *     place * 2^40 + row * columns + column
 *
 * Rows are [row][step], step = leat_lanes(columns); unused lanes become +0. Parts are sequences.
 */
#ifndef LEAT_NN_OPS_TOKEN_DROPOUT_H
#define LEAT_NN_OPS_TOKEN_DROPOUT_H

#include "nn/micro_batch.h"
#include "nn/ops/op.h"

#define LEAT_TOKEN_PLACES 4096
#define LEAT_TOKEN_ELEMENTS (INT64_C(1) << 40) /* of a sequence and place: rows x columns */

typedef struct leat_token_dropout {
    const leat_token_micro *batch; /* its counts, number, epoch and seed are read */
    int place;                     /* below LEAT_TOKEN_PLACES: tells layers apart */
    double share; /* of the elements that become 0, in [0, 1); 0: nothing is drawn */
} leat_token_dropout;

/* y may be x. The gradient is the same call on gradients. */
LEAT_MUST_CHECK leat_code leat_token_dropout_run(const leat_device *device,
                                                 const leat_token_dropout *of, int64_t columns,
                                                 const float *x, float *y, leat_error *err);

#endif
