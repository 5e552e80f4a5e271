/*
 * Matrix products in all forms of transposition:
 *     c[i][j] = act((add ? c[i][j] : 0) + sum over k of a(i, k) b(k, j) + bias[j])
 *
 * a(i, k) is a[i * a_step + k], or a[k * a_step + i] if a_transposed; b(k, j) likewise. The sum is
 * one chain of fused multiply-adds over ascending k that begins with c or +0; the bias is added
 * after it, then the activation. From the first to the last value of c, gaps between its rows
 * included, no other array may overlap it.
 *
 * Rows of b or c may be padded: memory of leat_lanes(columns) floats, of which those after the
 * columns hold any numbers. These of b are read, and show nowhere; of c, they are overwritten with
 * any numbers. It saves copies, where columns are not a multiple of LEAT_LANES.
 */
#ifndef LEAT_NN_OPS_PRODUCT_H
#define LEAT_NN_OPS_PRODUCT_H

#include "nn/ops/op.h"

typedef enum leat_act { LEAT_ACT_NONE, LEAT_ACT_LEAKY, LEAT_ACT_FUNCTION } leat_act;

typedef struct leat_product {
    int64_t rows, columns, depth; /* of c, and of the sums; each may be 0 */
    const float *a, *b;
    int64_t a_step, b_step;
    bool a_transposed, b_transposed;
    bool b_padded; /* not with b_transposed */
    float *c;
    int64_t c_step;
    bool c_padded;
    bool add;
    const float *bias; /* [columns], or NULL */
    leat_act act;
    float slope;            /* of LEAT_ACT_LEAKY below 0, not negative; 0: ReLU */
    leat_function function; /* of LEAT_ACT_FUNCTION */
} leat_product;

/* Floats of work space; -1 if the sizes are refused. */
int64_t leat_product_work_count(const leat_device *device, const leat_product *product);
/* LEAT_ERR_OPTION, with the sizes: negative, a step that is too small, or a matrix of more than
 * LEAT_OP_VALUES_MAX values. */
LEAT_MUST_CHECK leat_code leat_product_run(const leat_device *device, const leat_product *product,
                                           float *work, leat_error *err);

/* A tile whose first `columns` columns are c's, by way of a buffer: what follows them in c belongs
 * to somebody else. b has all columns of the tile. */
void leat_tile_edge(const leat_kernels *kernels, leat_tile tile, int64_t columns);

#endif
