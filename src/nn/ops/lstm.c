/* All gates of a step are products over the rows; what follows them is row by row, in pieces. */
#include "nn/ops/lstm.h"

#include <string.h>

#include "base/mem.h"
#include "nn/ops/product.h"
#include "nn/ops/rows.h"

#define PIECE 32 /* rows */

/* Sizes of one step in one direction, and where its arrays are. */
typedef struct step_of {
    const leat_lstm *lstm;
    const leat_device *device;
    int direction, at; /* the step's number in the sequence */
    bool first;        /* of the direction */
    float *gates, *cell, *before;
    float *bias, *carry, *work; /* parts of the work space */
} step_of;

static int64_t step_values(const leat_lstm *lstm) { return lstm->rows * lstm->hidden; }

int64_t leat_lstm_gate_count(const leat_lstm *lstm) { return 8 * lstm->steps * step_values(lstm); }
int64_t leat_lstm_cell_count(const leat_lstm *lstm) { return 2 * lstm->steps * step_values(lstm); }

/* ---- The products --------------------------------------------------------------------------- */

static int64_t input_step(const leat_lstm *lstm) { return leat_lanes(lstm->columns); }

/* The gates of all rows: from x, or (hidden) from the output of the step before, to which they are
 * added. */
static leat_product gates_of(const step_of *s, bool hidden, const float *in) {
    const leat_lstm *lstm = s->lstm;
    const leat_lstm_weights *w = &lstm->weights[s->direction];
    return (leat_product){.rows = lstm->rows,
                          .columns = 4 * lstm->hidden,
                          .depth = hidden ? lstm->hidden : lstm->columns,
                          .a = in,
                          .a_step = hidden ? 2 * lstm->hidden : input_step(lstm),
                          .b = hidden ? w->hidden : w->input,
                          .b_step = hidden ? lstm->hidden : lstm->columns,
                          .b_transposed = true,
                          .c = s->gates,
                          .c_step = 4 * lstm->hidden,
                          .add = hidden,
                          .bias = hidden || s->first ? s->bias : NULL};
}

/* The gradient of x or of the output before, which is added to. */
static leat_product down_of(const step_of *s, bool hidden, float *down) {
    const leat_lstm *lstm = s->lstm;
    const leat_lstm_weights *w = &lstm->weights[s->direction];
    const int64_t columns = hidden ? lstm->hidden : lstm->columns;
    return (leat_product){.rows = lstm->rows,
                          .columns = columns,
                          .depth = 4 * lstm->hidden,
                          .a = s->gates,
                          .a_step = 4 * lstm->hidden,
                          .b = hidden ? w->hidden : w->input,
                          .b_step = columns,
                          .c = down,
                          .c_step = hidden ? 2 * lstm->hidden : input_step(lstm),
                          .add = true};
}

/* The gradient of a matrix of weights, which is added to. */
static leat_product weights_of(const step_of *s, bool hidden, const float *in, float *gradient) {
    const leat_lstm *lstm = s->lstm;
    const int64_t columns = hidden ? lstm->hidden : lstm->columns;
    return (leat_product){.rows = 4 * lstm->hidden,
                          .columns = columns,
                          .depth = lstm->rows,
                          .a = s->gates,
                          .a_step = 4 * lstm->hidden,
                          .a_transposed = true,
                          .b = in,
                          .b_step = hidden ? 2 * lstm->hidden : input_step(lstm),
                          .c = gradient,
                          .c_step = columns,
                          .add = true};
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

int64_t leat_lstm_work_count(const leat_device *device, const leat_lstm *lstm) {
    const step_of s = {.lstm = lstm, .device = device};
    int64_t work = 0;
    for (int hidden = 0; hidden < 2; hidden++) {
        const leat_product products[] = {gates_of(&s, hidden, NULL), down_of(&s, hidden, NULL),
                                         weights_of(&s, hidden, NULL, NULL)};
        for (int i = 0; i < 3; i++) {
            /* between few rows and many, a factor that is packed changes: count as if both were */
            const leat_product *p = &products[i];
            work = most(work, p->rows * p->depth + (p->columns + LEAT_TILE_COLUMNS_MAX) * p->depth);
            const int64_t least = leat_product_work_count(device, p);
            LEAT_ASSERT(least <= work);
        }
    }
    return 4 * lstm->hidden + leat_lanes(step_values(lstm)) + work;
}

/* ---- Steps ---------------------------------------------------------------------------------- */

/* The index-th step of a direction, in its own order. */
static step_of step_at(const leat_device *device, const leat_lstm *lstm, int direction, int index) {
    const int64_t values = step_values(lstm);
    const int back = direction == 0 ? -1 : 1;
    step_of s = {.lstm = lstm, .device = device, .direction = direction, .first = index == 0};
    s.at = direction == 0 ? index : lstm->steps - 1 - index;
    const int64_t place = direction * lstm->steps + s.at;
    s.gates = lstm->gates + place * 4 * values;
    s.cell = lstm->cells + place * values;
    s.before = s.first ? NULL : s.cell + back * values;
    s.bias = lstm->work;
    s.carry = s.bias + 4 * lstm->hidden;
    s.work = s.carry + leat_lanes(values);
    return s;
}

/* Rows of a step: their outputs, and for the gradient what comes from above. */
typedef struct cell_job {
    const step_of *step;
    float *out;
    const float *up;
} cell_job;

static void cell_piece(void *context, int64_t part) {
    const cell_job *job = context;
    const step_of *s = job->step;
    const leat_kernels *kernels = s->device->kernels;
    const int64_t hidden = s->lstm->hidden, end = leat_min((part + 1) * PIECE, s->lstm->rows);
    for (int64_t row = part * PIECE; row < end; row++) {
        const int64_t at = row * hidden;
        const float *before = s->before == NULL ? NULL : s->before + at;
        if (job->up == NULL)
            kernels->lstm(hidden, s->gates + 4 * at, before, s->cell + at, job->out + 2 * at);
        else
            kernels->lstm_back(hidden, s->gates + 4 * at, before, s->cell + at, job->up + 2 * at,
                               s->carry + at);
    }
}

static leat_code run_cells(const step_of *s, float *out, const float *up, leat_error *err) {
    cell_job job = {s, out, up};
    return leat_device_run(s->device, (s->lstm->rows + PIECE - 1) / PIECE, cell_piece, &job, err);
}

bool leat_lstm_fits(const leat_lstm *lstm) {
    int64_t values = 0;
    return leat_mul_size(lstm->rows, most(lstm->hidden, lstm->columns), &values) &&
           values <= LEAT_OP_VALUES_MAX / (8 * LEAT_LSTM_STEPS_MAX);
}

static leat_code check(const leat_lstm *lstm, leat_error *err) {
    LEAT_ASSERT(lstm->rows >= 1 && lstm->columns >= 1 && lstm->hidden >= 1);
    LEAT_ASSERT(lstm->hidden % LEAT_LANES == 0);
    LEAT_ASSERT(lstm->steps >= 1 && lstm->steps <= LEAT_LSTM_STEPS_MAX);
    if (leat_lstm_fits(lstm)) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "LSTM of %lld rows with %lld values, %lld hidden: too many values for one op",
                     (long long)lstm->rows, (long long)lstm->columns, (long long)lstm->hidden);
}

leat_code leat_lstm_forward(const leat_device *device, const leat_lstm *lstm, const float *x,
                            float *out, leat_error *err) {
    LEAT_TRY(check(lstm, err));
    const int64_t out_step = 2 * step_values(lstm), x_step = lstm->rows * input_step(lstm);
    LEAT_ASSERT(leat_apart(x, lstm->steps * x_step, out, lstm->steps * out_step));
    for (int direction = 0; direction < 2; direction++) {
        const leat_lstm_weights *w = &lstm->weights[direction];
        float *half = out + direction * lstm->hidden, *last = NULL;
        for (int64_t c = 0; c < 4 * lstm->hidden; c++)
            lstm->work[c] = w->input_bias[c] + w->hidden_bias[c];
        for (int i = 0; i < lstm->steps; i++) {
            const step_of s = step_at(device, lstm, direction, i);
            const leat_product input = gates_of(&s, false, x + s.at * x_step);
            LEAT_TRY(leat_product_run(device, &input, s.work, err));
            if (!s.first) {
                const leat_product hidden = gates_of(&s, true, last);
                LEAT_TRY(leat_product_run(device, &hidden, s.work, err));
            }
            last = half + s.at * out_step;
            LEAT_TRY(run_cells(&s, last, NULL, err));
        }
    }
    return LEAT_OK;
}

/* What one step adds, once its gates hold their gradients: x and down of the step; out and up are
 * those of the step before, which the first one does not have. */
static leat_code add_step(const step_of *s, const leat_lstm_flow *flow,
                          const leat_lstm_gradient *gradient, leat_error *err) {
    const leat_rows gates = {s->lstm->rows, 4 * s->lstm->hidden, 4 * s->lstm->hidden};
    const leat_product input = weights_of(s, false, flow->x, gradient->input);
    const leat_product below = down_of(s, false, flow->down);
    LEAT_TRY(leat_product_run(s->device, &input, s->work, err));
    LEAT_TRY(leat_product_run(s->device, &below, s->work, err));
    LEAT_TRY(leat_rows_sum(s->device, &gates, s->gates, gradient->input_bias, err));
    LEAT_TRY(leat_rows_sum(s->device, &gates, s->gates, gradient->hidden_bias, err));
    if (s->first) return LEAT_OK;
    const leat_product hidden = weights_of(s, true, flow->out, gradient->hidden);
    const leat_product earlier = down_of(s, true, flow->up);
    LEAT_TRY(leat_product_run(s->device, &hidden, s->work, err));
    return leat_product_run(s->device, &earlier, s->work, err);
}

leat_code leat_lstm_backward(const leat_device *device, const leat_lstm *lstm,
                             const leat_lstm_flow *flow, const leat_lstm_gradient gradient[2],
                             leat_error *err) {
    LEAT_TRY(check(lstm, err));
    const int64_t out_step = 2 * step_values(lstm), x_step = lstm->rows * input_step(lstm);
    LEAT_ASSERT(leat_apart(flow->up, lstm->steps * out_step, flow->down, lstm->steps * x_step) &&
                leat_apart(flow->out, lstm->steps * out_step, flow->up, lstm->steps * out_step));
    for (int direction = 0; direction < 2; direction++) {
        const int64_t half = direction * lstm->hidden;
        for (int i = lstm->steps - 1; i >= 0; i--) {
            const step_of s = step_at(device, lstm, direction, i);
            const int64_t at = s.at * out_step + half;
            const int64_t before = direction == 0 ? at - out_step : at + out_step;
            const leat_lstm_flow of = {.x = flow->x + s.at * x_step,
                                       .down = flow->down + s.at * x_step,
                                       .out = s.first ? NULL : flow->out + before,
                                       .up = s.first ? NULL : flow->up + before};
            if (i == lstm->steps - 1)
                memset(s.carry, 0, sizeof *s.carry * (size_t)step_values(lstm));
            LEAT_TRY(run_cells(&s, NULL, flow->up + at, err));
            LEAT_TRY(add_step(&s, &of, &gradient[direction], err));
        }
    }
    return LEAT_OK;
}
