/*
 * A bidirectional LSTM over a few steps, one sequence a row, and its gradients.
 *
 *     i, f, o = sigmoid, g = tanh of  x Wx^T + h_before Wh^T + bx + bh      (order i, f, g, o)
 *     cell = f * cell_before + i * g,   h = o * tanh(cell)
 *
 * Direction 0 goes from the first step to the last, direction 1 back; the output of a step has
 * direction 0's h, then direction 1's. Weights are PyTorch's: weight_ih_l0 [4 hidden][columns],
 * weight_hh_l0 [4 hidden][hidden], both biases [4 hidden], then those with _reverse.
 *
 * Order (this is the specification). A gate is one chain over the columns of x, then over those of
 * h_before, from +0; then the rounded sum bx + bh is added. The first step has no h_before and no
 * cell_before: cell = i * g; in others cell = fma(f, cell_before, i * g). Backward, with u the
 * gradient of h, c that of the cell from the step after (+0 at the last), t = tanh(cell):
 *
 *     d = fma(u * o, fma(-t, t, 1), c),   c of the step before = d * f
 *     i: d * g * fma(-i, i, i)   f: d * cell_before * fma(-f, f, f)
 *     g: d * i * fma(-g, g, 1)   o: u * t * fma(-o, o, o)
 *
 * The gradient of h goes on from that of the output by a chain over the gates of the step after it.
 * The gradient of x goes on from what the array holds: a chain over direction 0's gates, then over
 * direction 1's. Gradients of weights and biases go on from what they hold: chains over the rows,
 * ascending, of one step after the other, from the last of the direction to its first. Both biases
 * have the same gradient.
 * Source: Hochreiter and Schmidhuber (1997); PyTorch's nn.LSTM.
 */
#ifndef LEAT_NN_OPS_LSTM_H
#define LEAT_NN_OPS_LSTM_H

#include "nn/ops/op.h"

#define LEAT_LSTM_STEPS_MAX 16

typedef struct leat_lstm_weights {
    const float *input, *hidden, *input_bias, *hidden_bias;
} leat_lstm_weights;

/* Added to, and none of them overlaps another array. */
typedef struct leat_lstm_gradient {
    float *input, *hidden, *input_bias, *hidden_bias;
} leat_lstm_gradient;

typedef struct leat_lstm {
    int64_t rows, columns, hidden; /* at least one; hidden is a multiple of LEAT_LANES */
    int steps;                     /* 1 to LEAT_LSTM_STEPS_MAX */
    leat_lstm_weights weights[2];
    /* Forward writes them, backward reads them, and replaces gates by their gradients. */
    float *gates; /* [leat_lstm_gate_count]: [direction][step][row][4 hidden] */
    float *cells; /* [leat_lstm_cell_count]: [direction][step][row][hidden] */
    float *work;  /* [leat_lstm_work_count] */
} leat_lstm;

/* Whether the sizes are not refused: no array has more than LEAT_OP_VALUES_MAX values. */
bool leat_lstm_fits(const leat_lstm *lstm);
int64_t leat_lstm_gate_count(const leat_lstm *lstm);
int64_t leat_lstm_cell_count(const leat_lstm *lstm);
/* Of either call; for no fewer rows it is no smaller. */
int64_t leat_lstm_work_count(const leat_device *device, const leat_lstm *lstm);

/* out [step][row][2 hidden] from x [step][row][leat_lanes(columns)]. LEAT_ERR_OPTION: more than
 * LEAT_OP_VALUES_MAX values. */
LEAT_MUST_CHECK leat_code leat_lstm_forward(const leat_device *device, const leat_lstm *lstm,
                                            const float *x, float *out, leat_error *err);
/* From the gradient of the output, `up`, which is used up, and the output itself; that of x is
 * added to `down`. */
typedef struct leat_lstm_flow {
    const float *x, *out;
    float *up, *down;
} leat_lstm_flow;
LEAT_MUST_CHECK leat_code leat_lstm_backward(const leat_device *device, const leat_lstm *lstm,
                                             const leat_lstm_flow *flow,
                                             const leat_lstm_gradient gradient[2], leat_error *err);

#endif
