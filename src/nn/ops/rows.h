/*
 * Sums and products over rows of activations, [row][step], step = leat_lanes(columns), and rows
 * that are moved.
 */
#ifndef LEAT_NN_OPS_ROWS_H
#define LEAT_NN_OPS_ROWS_H

#include "nn/ops/op.h"

typedef struct leat_rows {
    int64_t rows, columns; /* at least one of each */
    int64_t step;          /* from row to row, at least leat_lanes(columns) */
} leat_rows;

/* sums[column] += each row's, a chain over the rows, ascending: the gradient of a bias. Bits as of
 * a product with a column of ones. sums [columns] */
LEAT_MUST_CHECK leat_code leat_rows_sum(const leat_device *device, const leat_rows *of,
                                        const float *x, float *sums, leat_error *err);

/*
 * Layers of a net by their weights: out[row] = sum over steps of share[step][row] x[step][row], a
 * chain of fma over the steps, ascending, from +0; shares are the softmax of the scores over the
 * steps: maximum; e = exp(score - maximum); their chain of sums; one division each.
 */
#define LEAT_MIX_STEPS_MAX 16
typedef struct leat_mix {
    int64_t rows, columns; /* at least one of each */
    int steps;             /* 1 to LEAT_MIX_STEPS_MAX */
    const float *x;        /* [steps][rows][step] */
    float *scores;         /* [steps][rows]; forward replaces them by the shares */
} leat_mix;
LEAT_MUST_CHECK leat_code leat_rows_mix(const leat_device *device, const leat_mix *of, float *out,
                                        leat_error *err);
/*
 * From the gradient `up` of out: that of x, down[step][row] = share up[row] (written), and that of
 * the scores, up_scores [steps][rows] = share (d - sum over steps of share d), where d is the inner
 * product of up and x (16 lanes, as leat_kernels.row_dot), and the sum is a chain of fma over the
 * steps from +0.
 */
LEAT_MUST_CHECK leat_code leat_rows_mix_backward(const leat_device *device, const leat_mix *of,
                                                 const float *up, float *down, float *up_scores,
                                                 leat_error *err);

/* Segments of rows, first[segment] .. first[segment + 1] - 1, from 0 on; each has a row. */
typedef struct leat_row_segments {
    int64_t segments, columns; /* at least one of each */
    const int64_t *first;      /* [segments + 1] */
} leat_row_segments;
/* out[segment] = the mean of its rows: a chain of sums, ascending, from +0, then one division.
 * out [segments][step]. */
LEAT_MUST_CHECK leat_code leat_rows_pool(const leat_device *device, const leat_row_segments *of,
                                         const float *x, float *out, leat_error *err);
/* down[row] = up[its segment] / (rows of the segment). */
LEAT_MUST_CHECK leat_code leat_rows_pool_backward(const leat_device *device,
                                                  const leat_row_segments *of, const float *up,
                                                  float *down, leat_error *err);

/* x, limited to [-most, most], without padding: out [rows][columns] from x [rows][step], step =
 * leat_lanes(columns), as below. most may be infinite; NaN stays. */
void leat_rows_out(int64_t rows, int64_t columns, float most, const float *x, float *out);
/* Rows out[i] = x[row[i]], and x[row[i]] += in[i]; rows are different. */
void leat_rows_gather(int64_t rows, int64_t columns, const int32_t *row, const float *x,
                      float *out);
void leat_rows_gather_backward(int64_t rows, int64_t columns, const int32_t *row, const float *in,
                               float *x);

#endif
