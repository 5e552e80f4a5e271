/* The LSTM against plain loops in double, its gradients against finite differences, and the same
 * bits for every variant and number of threads. */
/* TSan: pieces of rows on a pool. */
#include "nn/ops/lstm.h"

#include <math.h>

#include "nn_support.h"

enum { ROWS = 3, STEPS = 3, COLUMNS = 5, IN_STEP = 16, HIDDEN = 16, GATES = 4 * HIDDEN };
enum { WX = GATES * COLUMNS, WH = GATES * HIDDEN, WEIGHTS = 2 * (WX + WH + 2 * GATES) };
enum { X = STEPS * ROWS * IN_STEP, OUT = STEPS * ROWS * 2 * HIDDEN };

static leat_lstm_weights weights_at(const float *w, int direction) {
    w += direction * (WEIGHTS / 2);
    return (leat_lstm_weights){w, w + WX, w + WX + WH, w + WX + WH + GATES};
}

static leat_lstm_gradient gradient_at(float *w, int direction) {
    w += direction * (WEIGHTS / 2);
    return (leat_lstm_gradient){w, w + WX, w + WX + WH, w + WX + WH + GATES};
}

typedef struct results {
    float *out, *down, *gradient;
} results;

static results run(const leat_device *device, int rows, int steps, const float *w, const float *x,
                   const float *up) {
    leat_lstm lstm = {.rows = rows,
                      .columns = COLUMNS,
                      .hidden = HIDDEN,
                      .steps = steps,
                      .weights = {weights_at(w, 0), weights_at(w, 1)}};
    const int64_t out_count = (int64_t)steps * rows * 2 * HIDDEN;
    const results out = {nn_zeros(out_count), nn_zeros((int64_t)steps * rows * IN_STEP),
                         nn_zeros(WEIGHTS)};
    const leat_lstm_gradient gradient[2] = {gradient_at(out.gradient, 0),
                                            gradient_at(out.gradient, 1)};
    float *used = nn_zeros(out_count);
    memcpy(used, up, sizeof *up * (size_t)out_count);
    lstm.gates = nn_zeros(leat_lstm_gate_count(&lstm));
    lstm.cells = nn_zeros(leat_lstm_cell_count(&lstm));
    lstm.work = nn_zeros(leat_lstm_work_count(device, &lstm));
    assert_ok(leat_lstm_forward(device, &lstm, x, out.out, err));
    const leat_lstm_flow flow = {x, out.out, used, out.down};
    assert_ok(leat_lstm_backward(device, &lstm, &flow, gradient, err));
    return out;
}

static float *inputs(uint64_t seed, int64_t count) {
    float *x = nn_numbers(seed, count);
    for (int64_t i = 0; i < count; i++)
        if (i % IN_STEP >= COLUMNS) x[i] = NAN; /* unused lanes show nowhere */
    return x;
}

static void test_bits(void **state) {
    (void)state;
    static const struct { int rows, steps; } shapes[] = {{1, 1}, {1, 3}, {70, 2}, {300, 2}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const int rows = shapes[s].rows, steps = shapes[s].steps;
        const float *w = nn_numbers(1, WEIGHTS), *x = inputs(2, (int64_t)steps * rows * IN_STEP);
        const float *up = nn_numbers(3, (int64_t)steps * rows * 2 * HIDDEN);
        const leat_device scalar = {.kernels = &leat_kernels_scalar};
        const results want = run(&scalar, rows, steps, w, x, up);
        leat_device device;
        for (int i = 1; nn_variant(i, true, &device); i += rows > 1 ? 1 : 2) {
            const results got = run(&device, rows, steps, w, x, up);
            nn_assert_same(got.out, want.out, (int64_t)steps * rows * 2 * HIDDEN);
            nn_assert_same(got.down, want.down, (int64_t)steps * rows * IN_STEP);
            nn_assert_same(got.gradient, want.gradient, WEIGHTS);
        }
        nn_free_all();
    }
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* h and the cell of one row and step. */
static void cell_of(const double *w, const double *x, const double *h, double *cell, double *out) {
    for (int c = 0; c < HIDDEN; c++) {
        double g[4];
        for (int i = 0; i < 4; i++) {
            const int gate = i * HIDDEN + c;
            g[i] = w[WX + WH + gate] + w[WX + WH + GATES + gate];
            for (int k = 0; k < COLUMNS; k++) g[i] += x[k] * w[gate * COLUMNS + k];
            for (int k = 0; k < HIDDEN; k++) g[i] += h[k] * w[WX + gate * HIDDEN + k];
        }
        cell[c] = sigmoid(g[1]) * cell[c] + sigmoid(g[0]) * tanh(g[2]);
        out[c] = sigmoid(g[3]) * tanh(cell[c]);
    }
}

static double loss(const double *w, const double *x, const float *up, double *outs) {
    static const double none[HIDDEN];
    double sum = 0;
    for (int row = 0; row < ROWS; row++) {
        for (int direction = 0; direction < 2; direction++) {
            double cell[HIDDEN] = {0};
            const double *h = none;
            for (int i = 0; i < STEPS; i++) {
                const int t = direction == 0 ? i : STEPS - 1 - i;
                const int at = (t * ROWS + row) * 2 * HIDDEN + direction * HIDDEN;
                cell_of(w + direction * (WEIGHTS / 2), x + (t * ROWS + row) * IN_STEP, h, cell,
                        outs + at);
                h = outs + at;
                for (int c = 0; c < HIDDEN; c++) sum += outs[at + c] * (double)up[at + c];
            }
        }
    }
    return sum;
}

static double w_in[WEIGHTS], x_in[X], outs[OUT];

static double slope_at(double *at, const float *up) {
    const double old = *at, step = 1e-5;
    *at = old + step;
    const double above = loss(w_in, x_in, up, outs);
    *at = old - step;
    const double below = loss(w_in, x_in, up, outs);
    *at = old;
    return (above - below) / (2 * step);
}

static void test_differences(void **state) {
    (void)state;
    const leat_device scalar = {.kernels = &leat_kernels_scalar};
    const float *w = nn_numbers(1, WEIGHTS), *x = inputs(2, X), *up = nn_numbers(3, OUT);
    const results got = run(&scalar, ROWS, STEPS, w, x, up);
    double want[X] = {0}, of_weights[WEIGHTS];
    float some[WEIGHTS];
    for (int i = 0; i < WEIGHTS; i++) w_in[i] = (double)w[i];
    for (int i = 0; i < X; i++) x_in[i] = (double)x[i];
    loss(w_in, x_in, up, outs);
    nn_assert_close(got.out, outs, OUT, 1e-6);
    for (int i = 0; i < X; i++)
        if (i % IN_STEP < COLUMNS) want[i] = slope_at(&x_in[i], up);
    nn_assert_close(got.down, want, X, 1e-5);
    int count = 0;
    for (int i = 0; i < WEIGHTS; i += 17, count++) { /* every one would take half a second */
        of_weights[count] = slope_at(&w_in[i], up);
        some[count] = got.gradient[i];
    }
    nn_assert_close(some, of_weights, count, 1e-5);
    for (int d = 0; d < 2; d++) {
        const leat_lstm_gradient g = gradient_at(got.gradient, d);
        nn_assert_same(g.input_bias, g.hidden_bias, GATES);
    }
    nn_free_all();
}

static void test_refused(void **state) {
    (void)state;
    const leat_device scalar = {.kernels = &leat_kernels_scalar};
    const leat_lstm lstm = {.rows = INT64_C(1) << 40, .columns = 16, .hidden = 16, .steps = 1};
    assert_fails(leat_lstm_forward(&scalar, &lstm, NULL, NULL, err), LEAT_ERR_OPTION,
                 "1099511627776 rows");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("LSTM", tests, NULL, NULL);
}
