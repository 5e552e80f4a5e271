/* Ops over rows of tokens: norm, rotary positions, the gated unit, cross-entropy, the schedule.
 * Each against PyTorch, against plain loops in the order of its header (the same bits for every
 * variant and thread count), and its gradients against finite differences in double. */
/* TSan: parts of a pool. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "nn/ops/embedding.h"
#include "nn/ops/rms_norm.h"
#include "nn/ops/rope.h"
#include "nn/ops/schedule.h"
#include "nn/ops/swiglu.h"
#include "nn/ops/token_dropout.h"
#include "nn/ops/token_loss.h"
#include "nn/random_streams.h"
#include "nn/unit/one_pass.h"
#include "nn_support.h"

static const leat_device scalar = {.kernels = &leat_kernels_scalar};

/* [rows][columns] <-> [rows][step]; unused lanes get NaN. */
static float *to_rows(const float *in, int64_t rows, int64_t columns) {
    const int64_t step = leat_lanes(columns);
    float *out = nn_zeros(rows * step);
    for (int64_t i = 0; i < rows * step; i++)
        out[i] = i % step < columns ? in[i / step * columns + i % step] : NAN;
    return out;
}
static float *from_rows(const float *in, int64_t rows, int64_t columns) {
    const int64_t step = leat_lanes(columns);
    float *out = nn_zeros(rows * columns);
    for (int64_t i = 0; i < rows * columns; i++) out[i] = in[i / columns * step + i % columns];
    return out;
}

/* A case that a clone does not have. */
static nn_golden *left_out(const char *op) {
    char name[100];
    snprintf(name, sizeof name, "golden/nn/ops/%s.safetensors", op);
    return nn_golden_open_path(golden_left_out(name));
}

/* Fails unless the slope of `loss` at x[i] is `got`; loss reads x. */
#define ASSERT_SLOPE(got, x, i, loss)                                                              \
    do {                                                                                           \
        const double old_ = (x)[i], d_ = 1e-5;                                                     \
        (x)[i] = old_ + d_;                                                                        \
        const double above_ = (loss);                                                              \
        (x)[i] = old_ - d_;                                                                        \
        const double below_ = (loss);                                                              \
        (x)[i] = old_;                                                                             \
        assert_true(fabs((double)(got) - (above_ - below_) / (2 * d_)) < 2e-6);                    \
    } while (0)

/* ---- Norm ----------------------------------------------------------------------------------- */

typedef struct norm {
    leat_rms_norm of;
    int64_t step;
    float *x, *up, *y, *scale, *down, *of_weight;
} norm;

static norm run_norm(const leat_device *device, leat_rms_norm of, const float *x, const float *up) {
    norm n = {.of = of, .step = leat_lanes(of.columns)};
    const int64_t all = of.rows * n.step;
    n.x = to_rows(x, of.rows, of.columns);
    n.up = to_rows(up, of.rows, of.columns);
    n.y = nn_zeros(all);
    n.down = nn_zeros(all);
    n.scale = nn_zeros(of.rows);
    n.of_weight = nn_zeros(of.columns);
    for (int64_t c = 0; c < of.columns; c++) n.of_weight[c] = (float)c; /* it goes on */
    assert_ok(leat_rms_norm_forward(device, &of, n.x, n.y, n.scale, err));
    const leat_rms_norm_gradient gradient = {n.up, n.of_weight, n.down};
    assert_ok(leat_rms_norm_backward(device, &of, n.x, n.scale, &gradient, err));
    return n;
}

static void plain_norm(norm *n) {
    const leat_rms_norm *of = &n->of;
    for (int64_t row = 0; row < of->rows; row++) {
        const int64_t at = row * n->step;
        float h[512], p[512];
        const float squares = leat_kernels_scalar.row_dot(of->columns, n->x + at, n->x + at);
        n->scale[row] = 1 / sqrtf(squares / (float)of->columns + of->eps);
        for (int64_t c = 0; c < of->columns; c++) {
            h[c] = n->x[at + c] * n->scale[row];
            p[c] = n->up[at + c] * of->weight[c];
            n->y[at + c] = h[c] * of->weight[c];
            n->of_weight[c] = fmaf(n->up[at + c], h[c], n->of_weight[c]);
        }
        const float along = leat_kernels_scalar.row_dot(of->columns, p, h) / (float)of->columns;
        for (int64_t c = 0; c < of->columns; c++)
            n->down[at + c] = n->scale[row] * fmaf(0 - along, h[c], p[c]);
    }
}

static void test_norm_bits(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {3, 16}, {130, 67}, {70, 320}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int64_t rows = sizes[k][0], columns = sizes[k][1];
        const leat_rms_norm of = {rows, columns, 1e-6f, nn_numbers(3, columns)};
        const float *x = nn_numbers(1, rows * columns), *up = nn_numbers(2, rows * columns);
        norm want = run_norm(&scalar, of, x, up);
        for (int64_t c = 0; c < columns; c++) want.of_weight[c] = (float)c;
        plain_norm(&want);
        leat_device device;
        for (int i = 0; nn_variant(i, true, &device); i++) {
            const norm got = run_norm(&device, of, x, up);
            nn_assert_same(got.y, want.y, rows * want.step);
            nn_assert_same(got.scale, want.scale, rows);
            nn_assert_same(got.down, want.down, rows * want.step);
            nn_assert_same(got.of_weight, want.of_weight, columns);
            assert_ok(leat_rms_norm_forward(&device, &of, got.x, got.x, got.scale, err));
            const leat_rms_norm_gradient in_place = {got.up, got.of_weight, got.up};
            assert_ok(leat_rms_norm_backward(&device, &of, want.x, got.scale, &in_place, err));
            for (int64_t row = 0; row < rows; row++) { /* in place, unused lanes as they were */
                nn_assert_same(got.x + row * want.step, want.y + row * want.step, columns);
                nn_assert_same(got.up + row * want.step, want.down + row * want.step, columns);
            }
        }
        nn_free_all();
    }
}

static double norm_loss(int64_t columns, const double *x, const double *w, const float *up) {
    double squares = 0, sum = 0;
    for (int64_t c = 0; c < columns; c++) squares += x[c] * x[c] / (double)columns;
    for (int64_t c = 0; c < columns; c++) sum += (double)up[c] * x[c] / sqrt(squares + 1e-6) * w[c];
    return sum;
}

static void test_norm_differences(void **state) {
    (void)state;
    enum { COLUMNS = 19 };
    const float *weight = nn_numbers(3, COLUMNS), *from = nn_numbers(1, COLUMNS);
    const float *up = nn_numbers(2, COLUMNS);
    const norm got = run_norm(&scalar, (leat_rms_norm){1, COLUMNS, 1e-6f, weight}, from, up);
    double x[COLUMNS], w[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
        x[c] = (double)from[c];
        w[c] = (double)weight[c];
    }
    for (int c = 0; c < COLUMNS; c++) {
        ASSERT_SLOPE(got.down[c], x, c, norm_loss(COLUMNS, x, w, up));
        ASSERT_SLOPE(got.of_weight[c] - (float)c, w, c, norm_loss(COLUMNS, x, w, up));
    }
    nn_free_all();
}

static void check_norm_golden(nn_golden *golden, int64_t rows, int64_t columns) {
    int64_t count;
    const leat_rms_norm of = {rows, columns, 1e-6f, nn_golden_floats(golden, "in.w", &count)};
    const float *x = nn_golden_floats(golden, "in.x", &count);
    const float *up = nn_golden_floats(golden, "up.y", &count);
    const norm got = run_norm(&scalar, of, x, up);
    for (int64_t c = 0; c < columns; c++) got.of_weight[c] = 0;
    const leat_rms_norm_gradient gradient = {got.up, got.of_weight, got.down};
    assert_ok(leat_rms_norm_backward(&scalar, &of, got.x, got.scale, &gradient, err));
    nn_assert_golden(from_rows(got.y, rows, columns), golden, "out.y.f64", 2e-6);
    nn_assert_golden(from_rows(got.down, rows, columns), golden, "grad.x.f64", 2e-6);
    nn_assert_golden(got.of_weight, golden, "grad.w.f64", 2e-6);
    nn_golden_close(golden);
    nn_free_all();
}

static void test_norm_golden(void **state) {
    (void)state;
    check_norm_golden(nn_golden_open("ops/rmsnorm.3x37.safetensors"), 3, 37);
}

/* Rows of zeros, and so small that eps counts. */
static void test_norm_golden_edges(void **state) {
    (void)state;
    check_norm_golden(left_out("rmsnorm.7x64"), 7, 64);
}

/* ---- Positions ------------------------------------------------------------------------------ */

static void test_rope_bits(void **state) {
    (void)state;
    enum { ROWS = 70, POSITIONS = 40 };
    static const int64_t shapes[][2] = {{1, 2}, {3, 16}, {2, 20}, {5, 64}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const int64_t heads = shapes[k][0], width = shapes[k][1], half = width / 2;
        const int64_t step = leat_lanes(heads * width);
        float *table = nn_zeros(POSITIONS * width);
        int32_t position[ROWS];
        for (int i = 0; i < ROWS; i++) position[i] = (7 * i) % POSITIONS;
        leat_rope_fill(POSITIONS, width, 10000, table);
        const leat_rope of = {ROWS, heads, width, POSITIONS, table, position};
        const float *x = to_rows(nn_numbers(1, ROWS * heads * width), ROWS, heads * width);
        float *want = nn_zeros(ROWS * step), *got = nn_zeros(ROWS * step);
        memcpy(want, x, sizeof *x * (size_t)(ROWS * step));
        for (int64_t i = 0; i < ROWS * heads * half; i++) {
            const int64_t row = i / (heads * half), j = i % half;
            const int64_t low = row * step + i / half % heads * width + j, high = low + half;
            const float t = table[position[row] * width + j];
            const float s = table[position[row] * width + half + j];
            want[low] = fmaf(x[low], t, 0 - x[high] * s);
            want[high] = fmaf(x[high], t, x[low] * s);
        }
        leat_device device;
        for (int i = 0; nn_variant(i, true, &device); i++) {
            memcpy(got, x, sizeof *x * (size_t)(ROWS * step));
            assert_ok(leat_rope_forward(&device, &of, got, err));
            nn_assert_same(got, want, ROWS * step);
            assert_ok(leat_rope_backward(&device, &of, got, err)); /* it turns back */
            for (int64_t c = 0; c < ROWS * step; c++)
                assert_true(isnan(x[c]) || fabsf(got[c] - x[c]) < 1e-6f);
        }
        nn_free_all();
    }
}

static void test_rope_golden(void **state) {
    (void)state;
    enum { BATCH = 2, HEADS = 3, LENGTH = 37, WIDTH = 16, ALL = BATCH * HEADS * LENGTH * WIDTH };
    nn_golden *golden = left_out("rope.2x3x37x16");
    int64_t count;
    const float *pos = nn_golden_floats(golden, "in.pos", &count);
    float *x[2] = {nn_golden_floats(golden, "in.x", &count),
                   nn_golden_floats(golden, "up.y", &count)};
    int32_t position[BATCH * HEADS * LENGTH], last = 0;
    /* every head is a row */
    for (int i = 0; i < BATCH * HEADS * LENGTH; i++) {
        position[i] = (int32_t)pos[i / (HEADS * LENGTH) * LENGTH + i % LENGTH];
        last = position[i] > last ? position[i] : last;
    }
    assert_true(last > 1000);
    float *table = nn_zeros((last + 1) * WIDTH);
    leat_rope_fill(last + 1, WIDTH, 10000, table);
    const leat_rope of = {BATCH * HEADS * LENGTH, 1, WIDTH, last + 1, table, position};
    assert_ok(leat_rope_forward(&scalar, &of, x[0], err));
    assert_ok(leat_rope_backward(&scalar, &of, x[1], err));
    nn_assert_golden(x[0], golden, "out.y.f64", 2e-6);
    nn_assert_golden(x[1], golden, "grad.x.f64", 2e-6);
    nn_golden_close(golden);
    nn_free_all();
}

/* Tables are those of the C library in double, rounded once, but for a last bit; far positions,
 * too.
 */
static void test_rope_table(void **state) {
    (void)state;
    enum { POSITIONS = 3000, WIDTH = 64 };
    static const double bases[] = {1, 10000, 5e5};
    float *table = nn_zeros(POSITIONS * WIDTH);
    for (int k = 0; k < 3; k++) {
        leat_rope_fill(POSITIONS, WIDTH, bases[k], table);
        for (int i = 0; i < POSITIONS * WIDTH; i++) {
            const int j = i % (WIDTH / 2), sine = i / (WIDTH / 2) % 2;
            const double angle = i / WIDTH * pow(bases[k], -2.0 * j / WIDTH);
            assert_true(fabs((double)table[i] - (sine ? sin(angle) : cos(angle))) <= 0x1.01p-25);
        }
    }
    nn_free_all();
}

/* ---- Gated unit ----------------------------------------------------------------------------- */

static void test_swiglu_bits(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    const float *gate = nn_numbers(1, COUNT), *x = nn_numbers(2, COUNT), *up = nn_numbers(3, COUNT);
    float *want[3] = {nn_zeros(COUNT), nn_zeros(COUNT), nn_zeros(COUNT)};
    float *got[3] = {nn_zeros(COUNT), nn_zeros(COUNT), nn_zeros(COUNT)};
    leat_kernels_scalar.map(LEAT_FUNCTION_SIGMOID, COUNT, gate, want[1]);
    for (int i = 0; i < COUNT; i++) {
        const float s = want[1][i], g = gate[i];
        want[0][i] = g * s * x[i];
        want[1][i] = up[i] * x[i] * (s * fmaf(g, 1 - s, 1));
        want[2][i] = up[i] * (g * s);
    }
    leat_device device;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        const int64_t count = COUNT - i % 5; /* the rest of a vector stays */
        memcpy(got[1], gate, sizeof *x * COUNT);
        memcpy(got[2], x, sizeof *x * COUNT);
        assert_ok(leat_swiglu_forward(&device, count, gate, x, got[0], err));
        assert_ok(leat_swiglu_backward(&device, count, got[1], got[2], up, err));
        for (int k = 0; k < 3; k++) nn_assert_same(got[k], want[k], count);
        for (int k = 0; k < 2; k++) { /* in the place of gate, or of x */
            memcpy(got[0], k == 0 ? gate : x, sizeof *x * COUNT);
            assert_ok(leat_swiglu_forward(&device, count, k == 0 ? got[0] : gate,
                                          k == 0 ? x : got[0], got[0], err));
            nn_assert_same(got[0], want[0], count);
        }
        for (int64_t c = count; c < COUNT; c++)
            assert_true(got[1][c] == gate[c] && got[2][c] == x[c]);
    }
    nn_free_all();
}

static double silu(double g) { return g / (1 + exp(-g)); }

static void test_swiglu_differences(void **state) {
    (void)state;
    enum { COUNT = 20 };
    float *gate = nn_numbers(1, COUNT), *x = nn_numbers(2, COUNT), *up = nn_numbers(3, COUNT);
    double g[COUNT], v[COUNT];
    for (int i = 0; i < COUNT; i++) {
        g[i] = (double)gate[i];
        v[i] = (double)x[i];
    }
    assert_ok(leat_swiglu_backward(&scalar, COUNT, gate, x, up, err));
    for (int i = 0; i < COUNT; i++) {
        ASSERT_SLOPE(gate[i], g, i, (double)up[i] * silu(g[i]) * v[i]);
        ASSERT_SLOPE(x[i], v, i, (double)up[i] * silu(g[i]) * v[i]);
    }
    nn_free_all();
}

static void test_swiglu_golden(void **state) {
    (void)state;
    nn_golden *golden = nn_golden_open("ops/swiglu.safetensors");
    int64_t count;
    float *gate = nn_golden_floats(golden, "in.gate", &count);
    float *x = nn_golden_floats(golden, "in.up", &count), *y = nn_zeros(count);
    const float *up = nn_golden_floats(golden, "up.y", &count);
    assert_ok(leat_swiglu_forward(&scalar, count, gate, x, y, err));
    assert_ok(leat_swiglu_backward(&scalar, count, gate, x, up, err));
    nn_assert_golden(y, golden, "out.y.f64", 2e-6);
    nn_assert_golden(gate, golden, "grad.gate.f64", 2e-6);
    nn_assert_golden(x, golden, "grad.up.f64", 2e-6);
    nn_golden_close(golden);
    nn_free_all();
}

/* Of a few ulp, however small: tails that are lost beside the largest value would show nowhere. */
static void assert_tails(const float *got, const double *want, int64_t count, double ulps) {
    for (int64_t i = 0; i < count; i++) {
        const double ulp = fmax(fabs(want[i]), 0x1p-126) * 0x1p-23;
        if (!(fabs((double)got[i] - want[i]) <= ulps * ulp + 1e-38))
            fail_msg("value %lld: %a, not %a", (long long)i, (double)got[i], want[i]);
    }
}

/* The gated unit with x = 1 is silu; its arguments are the edges of float. */
static void test_silu_golden(void **state) {
    (void)state;
    nn_golden *golden = nn_golden_open("ops/silu.safetensors");
    int64_t count;
    float *gate = nn_golden_floats(golden, "in.x", &count), *y = nn_zeros(count);
    float *ones = nn_zeros(count);
    for (int64_t i = 0; i < count; i++) ones[i] = 1;
    const float *up = nn_golden_floats(golden, "up.y", &count);
    assert_ok(leat_swiglu_forward(&scalar, count, gate, ones, y, err));
    assert_tails(y, nn_golden_doubles(golden, "out.y.f64", &count), count, 4);
    assert_ok(leat_swiglu_backward(&scalar, count, gate, ones, up, err));
    nn_assert_golden(gate, golden, "grad.x.f64", 2e-6);
    nn_golden_close(golden);
    nn_free_all();
}

/* ---- Cross-entropy -------------------------------------------------------------------------- */

enum { LOSS_ROWS = 70, LOSS_IDS = 267, LOSS_STEP = 272 };

static void test_loss_bits(void **state) {
    (void)state;
    const float *x = to_rows(nn_numbers(1, LOSS_ROWS * LOSS_IDS), LOSS_ROWS, LOSS_IDS);
    float *want = nn_zeros(LOSS_ROWS * LOSS_STEP), *got = nn_zeros(LOSS_ROWS * LOSS_STEP);
    float *terms = nn_zeros(LOSS_ROWS);
    int32_t target[LOSS_ROWS], counted[LOSS_ROWS];
    double wanted = 0;
    int64_t wanted_count = 0;
    for (int row = 0; row < LOSS_ROWS; row++) {
        counted[row] = row % 4 == 0 ? 0 : row;
        target[row] = counted[row] == 0 ? -1 : (row * 31) % LOSS_IDS;
        wanted_count += counted[row] != 0;
    }
    for (int row = 0; row < LOSS_ROWS; row++) {
        float *e = want + row * LOSS_STEP, most;
        if (counted[row] == 0) continue;
        memcpy(e, x + row * LOSS_STEP, sizeof *e * LOSS_IDS);
        const float right = e[target[row]];
        const float sum = leat_kernels_scalar.row_exp(LOSS_IDS, e, &most);
        float logarithm;
        leat_kernels_scalar.map(LEAT_FUNCTION_LOG, 1, &sum, &logarithm);
        wanted += (double)(logarithm - (right - most));
        const float factor = 1 / (float)wanted_count;
        for (int c = 0; c < LOSS_IDS; c++)
            e[c] = c == target[row] ? (e[c] / sum - 1) * factor : e[c] / sum * factor;
    }
    leat_device device;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        const leat_token_loss of = {LOSS_ROWS, LOSS_IDS, target, counted, terms};
        double sum = 0;
        int64_t count = 0;
        memcpy(got, x, sizeof *x * LOSS_ROWS * LOSS_STEP);
        assert_ok(leat_token_loss_run(&device, &of, got, &sum, &count, err));
        nn_assert_same(got, want, LOSS_ROWS * LOSS_STEP);
        assert_true(sum == wanted && count == wanted_count && terms[0] == 0 && terms[1] > 0);
        memcpy(got, x, sizeof *x * LOSS_ROWS * LOSS_STEP);
        assert_ok(leat_token_loss_terms(&device, &of, got, &sum, &count, err));
        assert_true(sum == wanted && count == wanted_count);
    }
    nn_free_all();
}

static double loss_of(const double *x, int ids, int want) {
    double sum = 0;
    for (int c = 0; c < ids; c++) sum += exp(x[c]);
    return log(sum) - x[want];
}

/* Two rows that count, and one that does not; then none: 0, not NaN. */
static void test_loss_differences(void **state) {
    (void)state;
    enum { IDS = 5, ROWS = 3 };
    static const int32_t target[ROWS] = {4, 0, 0}, counted[ROWS] = {1, 0, 7}, none[ROWS] = {0};
    float *logits = to_rows(nn_numbers(1, ROWS * IDS), ROWS, IDS), terms[ROWS];
    double x[ROWS * LEAT_LANES], sum = 0;
    int64_t count = 0;
    for (int i = 0; i < ROWS * LEAT_LANES; i++) x[i] = (double)logits[i];
    leat_token_loss of = {ROWS, IDS, target, counted, terms};
    assert_ok(leat_token_loss_run(&scalar, &of, logits, &sum, &count, err));
    const double *last = x + 2 * LEAT_LANES;
    assert_int_equal(count, 2);
    assert_true(fabs(sum - loss_of(x, IDS, 4) - loss_of(last, IDS, 0)) < 1e-6);
    for (int c = 0; c < IDS; c++) {
        ASSERT_SLOPE(logits[c], x, c, loss_of(x, IDS, 4) / 2);
        ASSERT_SLOPE(logits[2 * LEAT_LANES + c], x, 2 * LEAT_LANES + c, loss_of(last, IDS, 0) / 2);
    }
    of.counted = none;
    assert_ok(leat_token_loss_run(&scalar, &of, logits, &sum, &count, err));
    assert_true(sum == 0 && count == 0);
    for (int i = 0; i < ROWS * LEAT_LANES; i++) assert_true(logits[i] == 0);
    nn_free_all();
}

static void test_loss_golden(void **state) {
    (void)state;
    enum { ROWS = 11 };
    nn_golden *golden = left_out("cross_entropy_masked.11x267");
    int64_t count;
    int32_t target[ROWS], counted[ROWS];
    float terms[ROWS];
    const float *want = nn_golden_floats(golden, "in.target", &count);
    const float *mask = nn_golden_floats(golden, "in.mask", &count);
    float *logits = to_rows(nn_golden_floats(golden, "in.x", &count), ROWS, LOSS_IDS);
    const double *each = nn_golden_doubles(golden, "out.per_position.f64", &count);
    const float up = nn_golden_floats(golden, "up.y", &count)[0];
    for (int i = 0; i < ROWS; i++) {
        target[i] = (int32_t)want[i];
        counted[i] = (int32_t)mask[i];
    }
    const leat_token_loss of = {ROWS, LOSS_IDS, target, counted, terms};
    double sum = 0;
    assert_ok(leat_token_loss_run(&scalar, &of, logits, &sum, &count, err));
    for (int i = 0; i < ROWS; i++)
        if (counted[i] != 0) assert_true(fabs((double)terms[i] - each[i]) <= 2e-6 * each[i]);
    const float mean = (float)(sum / (double)count);
    nn_assert_golden(&mean, golden, "out.y.f64", 2e-6);
    float *gradient = from_rows(logits, ROWS, LOSS_IDS);
    for (int64_t i = 0; i < ROWS * LOSS_IDS; i++) gradient[i] *= up;
    nn_assert_golden(gradient, golden, "grad.x.f64", 2e-6);
    nn_golden_close(golden);
    nn_free_all();
}

/* ---- Embedding of tokens --------------------------------------------------------------------- */

static void test_embedding_golden(void **state) {
    (void)state;
    enum { IDS = 41, WIDTH = 16, ROWS = 74 };
    nn_golden *golden = left_out("embedding.41x16");
    int64_t count;
    int32_t id[ROWS], work[IDS + 1 + ROWS];
    const float *index = nn_golden_floats(golden, "in.idx", &count);
    assert_int_equal(count, ROWS);
    for (int i = 0; i < ROWS; i++) id[i] = (int32_t)index[i];
    const leat_embedding of = {ROWS, IDS, WIDTH, 0, id, nn_golden_floats(golden, "in.w", &count)};
    float *y = nn_zeros(ROWS * WIDTH), *gradient = nn_zeros(IDS * WIDTH);
    assert_ok(leat_embedding_forward(&scalar, &of, NULL, NULL, y, err));
    nn_assert_golden(y, golden, "out.y.f64", 0);
    assert_ok(leat_embedding_backward(&scalar, &of, nn_golden_floats(golden, "up.y", &count),
                                      gradient, work, err));
    nn_assert_golden(gradient, golden, "grad.w.f64", 2e-6);
    nn_golden_close(golden);
    nn_free_all();
}

/* ---- Softmax, and the norm of gradients ------------------------------------------------------ */

static void test_softmax_golden(void **state) {
    (void)state;
    nn_golden *golden = left_out("softmax.6x267");
    int64_t count;
    float *x = nn_golden_floats(golden, "in.x", &count);
    for (int row = 0; row < 6; row++) {
        float most, *at = x + row * LOSS_IDS;
        const float sum = scalar.kernels->row_exp(LOSS_IDS, at, &most);
        scalar.kernels->row_scale(LOSS_IDS, sum, 1, at);
    }
    nn_assert_golden(x, golden, "out.y.f64", 2e-6);
    /* x - largest is rounded: PyTorch's float32 is off by 10.5 */
    assert_tails(x, nn_golden_doubles(golden, "out.y.f64", &count), count, 12);
    nn_golden_close(golden);
    nn_free_all();
}

static void check_clip(const char *name) {
    static const char *const parts[] = {"a", "b", "c"};
    nn_golden *golden = left_out(name);
    int64_t count, all = 0;
    float *x = nn_zeros(100);
    const float k = nn_golden_floats(golden, "in.k", &count)[0];
    for (int i = 0; i < 3; i++) {
        char in[8];
        snprintf(in, sizeof in, "in.%s", parts[i]);
        const float *part = nn_golden_floats(golden, in, &count);
        for (int64_t c = 0; c < count; c++) x[all++] = part[c] * k;
    }
    const double norm = leat_one_pass_norm(all, x, 1);
    const float got = (float)norm;
    nn_assert_golden(&got, golden, "out.norm.f64", 2e-6);
    for (int64_t c = 0; c < all; c++) x[c] *= (float)leat_one_pass_clip(norm);
    for (int i = 0; i < 3; i++) {
        char out[16];
        snprintf(out, sizeof out, "out.%s.f64", parts[i]);
        nn_golden_doubles(golden, out, &count);
        nn_assert_golden(x, golden, out, 2e-6);
        x += count;
    }
    nn_golden_close(golden);
    nn_free_all();
}

static void test_clip_golden(void **state) {
    (void)state;
    check_clip("clip_global_norm.above");
    check_clip("clip_global_norm.below");
}

/* ---- Dropout -------------------------------------------------------------------------------- */

/* What a sequence draws does not depend on where it is; forward and backward draw the same. */
static void test_dropout(void **state) {
    (void)state;
    enum { SEQUENCES = 3, LENGTH = 5, COLUMNS = 19, STEP = 32, ALL = SEQUENCES * LENGTH * STEP };
    static const int64_t number[] = {7, 0, 3}, epoch[] = {0, 2, 2};
    const leat_token_micro batch = {
        .sequences = SEQUENCES, .length = LENGTH, .number = number, .epoch = epoch, .seed = 11};
    leat_token_dropout of = {&batch, 6, 0.3};
    const float *x =
        to_rows(nn_numbers(1, SEQUENCES * LENGTH * COLUMNS), SEQUENCES * LENGTH, COLUMNS);
    float *want = nn_zeros(ALL), *got = nn_zeros(ALL);
    int kept = 0;
    for (int i = 0; i < SEQUENCES * LENGTH * COLUMNS; i++) {
        const int sequence = i / (LENGTH * COLUMNS), row = i / COLUMNS,
                  element = i % (LENGTH * COLUMNS);
        const uint64_t key =
            leat_random(leat_random(11, LEAT_STREAM_TOKEN_DROPOUT, (uint64_t)epoch[sequence]),
                        LEAT_STREAM_TOKEN_DROPOUT, (uint64_t)number[sequence]);
        const uint64_t bits = leat_random_at(key, 6 * (UINT64_C(1) << 40) + (uint64_t)element);
        const int at = row * STEP + i % COLUMNS;
        if ((double)(bits >> 40) >= 0x1p24 * (1 - 0.3)) continue;
        want[at] = x[at] * (float)(1 / (1 - 0.3));
        kept++;
    }
    assert_true(kept > 170 && kept < 230); /* of 285 */
    leat_device device;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        assert_ok(leat_token_dropout_run(&device, &of, COLUMNS, x, got, err));
        nn_assert_same(got, want, ALL);
    }
    const leat_token_micro last = {
        .sequences = 1, .length = LENGTH, .number = number + 2, .epoch = epoch + 2, .seed = 11};
    of.batch = &last;
    memcpy(got, x + 2 * LENGTH * STEP, sizeof *x * LENGTH * STEP);
    assert_ok(leat_token_dropout_run(&scalar, &of, COLUMNS, got, got, err));
    nn_assert_same(got, want + 2 * LENGTH * STEP, LENGTH * STEP);
    of.share = 0;
    assert_ok(leat_token_dropout_run(&scalar, &of, COLUMNS, x, got, err));
    for (int i = 0; i < LENGTH * STEP; i++)
        assert_true(i % STEP < COLUMNS ? got[i] == x[i] : got[i] == 0);
    nn_free_all();
}

/* ---- Schedule ------------------------------------------------------------------------------- */

static void test_schedule(void **state) {
    (void)state;
    json_t *file = golden_json("golden/nn/ops/lr_schedule.json"), *each, *value;
    size_t i;
    const char *step;
    int checked = 0;
    json_array_foreach(json_object_get(file, "schedules"), i, each) {
        const leat_schedule of = {LEAT_SCHEDULE_COSINE,
                                  json_real_value(json_object_get(each, "peak")),
                                  json_integer_value(json_object_get(each, "steps")),
                                  json_integer_value(json_object_get(each, "warmup"))};
        json_object_foreach(json_object_get(each, "lr_of_step"), step, value) {
            const double want = json_real_value(value);
            const double got = leat_schedule_rate(&of, strtoll(step, NULL, 10));
            if (!(fabs(got - want) <= 1e-15 * of.peak)) fail_msg("step %s: %.17g", step, got);
            checked++;
        }
    }
    assert_true(checked > 20);
    json_decref(file);
    const leat_schedule constant = {.kind = LEAT_SCHEDULE_CONSTANT, .peak = 3e-4};
    assert_true(leat_schedule_rate(&constant, 1) == 3e-4 &&
                leat_schedule_rate(&constant, INT64_MAX) == 3e-4);
    assert_int_equal(leat_schedule_warmup(300), 15);
    assert_int_equal(leat_schedule_warmup(19), 0);
    assert_int_equal(leat_schedule_warmup(200000), 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_norm_bits),          cmocka_unit_test(test_norm_differences),
        cmocka_unit_test(test_norm_golden),        cmocka_unit_test(test_norm_golden_edges),
        cmocka_unit_test(test_rope_bits),          cmocka_unit_test(test_rope_golden),
        cmocka_unit_test(test_rope_table),         cmocka_unit_test(test_swiglu_bits),
        cmocka_unit_test(test_swiglu_differences), cmocka_unit_test(test_swiglu_golden),
        cmocka_unit_test(test_silu_golden),        cmocka_unit_test(test_loss_bits),
        cmocka_unit_test(test_loss_differences),   cmocka_unit_test(test_loss_golden),
        cmocka_unit_test(test_embedding_golden),   cmocka_unit_test(test_softmax_golden),
        cmocka_unit_test(test_clip_golden),        cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_schedule),
    };
    return cmocka_run_group_tests_name("tokens", tests, NULL, NULL);
}
