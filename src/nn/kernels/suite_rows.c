/* The suite "rows": the kernels of rows.h, with plain loops, see suite.h. */
#include "suite.h"

#include <math.h>

#include "suite_run.h"

enum { ROWS_MAX = 5, STEP = LEAT_LANES + 3, SIZE = ROWS_MAX * STEP, WIDE = 2 };

static void case_row_sums(suite_run *run) {
    for (int n = 0; n < FILLS * (ROWS_MAX + 1); n++) {
        const int rows = n / FILLS;
        float x[SIZE], got[STEP], expected[STEP];
        char sizes[40];
        snprintf(sizes, sizeof sizes, "%d rows", rows);
        fills[n % FILLS](run, SIZE, x);
        fills[n % FILLS](run, STEP, got);
        memcpy(expected, got, sizeof got);
        for (int c = 0; c < LEAT_LANES; c++)
            for (int i = 0; i < rows; i++) expected[c] += x[i * STEP + c];
        run->kernels->row_sums(rows, STEP, x, got);
        compare(run, "sums of rows", sizes, STEP, got, expected);
    }
}

enum { DOT_MOST = 3 * LEAT_LANES + 1 };

/* What lies behind the last column is NaN, and shows nowhere. */
static void check_row_dot(suite_run *run, int columns, const char *what, float *a, float *b) {
    char sizes[40];
    snprintf(sizes, sizeof sizes, "%d columns%s", columns, what);
    for (int c = columns; c <= DOT_MOST; c++) a[c] = b[c] = NAN;
    const float expected = lanes_dot(columns, a, b);
    const float got = run->kernels->row_dot(columns, a, b);
    compare(run, "product of rows", sizes, 1, &got, &expected);
}

static void case_row_dot(suite_run *run) {
    for (int columns = 0; columns <= DOT_MOST; columns++) {
        float a[DOT_MOST + 1], b[DOT_MOST + 1];
        fill_rough(run, DOT_MOST + 1, a);
        fill_rough(run, DOT_MOST + 1, b);
        check_row_dot(run, columns, "", a, b);
    }
}

/* All products are -0: so would be the sum, if no lane were loaded with zeros. */
static void case_row_dot_of_nothing(suite_run *run) {
    for (int columns = 0; columns <= DOT_MOST; columns++) {
        float a[DOT_MOST + 1], b[DOT_MOST + 1];
        for (int c = 0; c < columns; c++) a[c] = -(b[c] = 0x1p-80f);
        check_row_dot(run, columns, " that underflow", a, b);
    }
}

/* Values behind the last one stay. */
static void case_softmax(suite_run *run) {
    enum { MOST = 3 * LEAT_LANES + 3 };
    for (int count = 1; count <= MOST; count++) {
        float x[MOST], expected[MOST], lanes[LEAT_LANES] = {0}, got[2];
        char sizes[40];
        snprintf(sizes, sizeof sizes, "%d values", count);
        fill_rough(run, MOST, x);
        for (int i = 0; i < MOST; i++) x[i] *= 40;
        memcpy(expected, x, sizeof x);
        float most = x[0];
        for (int i = 1; i < count; i++) most = x[i] > most ? x[i] : most;
        for (int i = 0; i < count; i++) {
            expected[i] = map_one(LEAT_FUNCTION_EXP, expected[i] - most);
            lanes[i % LEAT_LANES] += expected[i];
        }
        const float want[2] = {tree_of(lanes), most};
        got[0] = run->kernels->row_exp(count, x, &got[1]);
        compare(run, "exponentials of a row", sizes, MOST, x, expected);
        compare(run, "their sum, and the largest value", sizes, 2, got, want);
        for (int i = 0; i < count; i++) expected[i] = expected[i] / want[0] * 0.3f;
        run->kernels->row_scale(count, got[0], 0.3f, x);
        compare(run, "shares of a row", sizes, MOST, x, expected);
    }
}

static void case_relu_back(suite_run *run) {
    for (int count = 0; count <= STEP; count++) {
        float y[STEP], up[STEP], expected[STEP];
        char sizes[40];
        snprintf(sizes, sizeof sizes, "%d values", count);
        fills[count % FILLS](run, STEP, y);
        fills[count % FILLS](run, STEP, up);
        memcpy(expected, up, sizeof up);
        for (int i = 0; i < count; i++) expected[i] = y[i] > 0 ? up[i] * 1.25f : 0;
        run->kernels->relu_back(1.25f, count, y, up, up);
        compare(run, "gradient of ReLU and dropout", sizes, STEP, up, expected);
    }
}

static void case_finish(suite_run *run) {
    static const float slopes[] = {1, 0, 0.2f};
    for (int i = 0; i < 6 * STEP; i++) {
        const int columns = 1 + i / 6, rows = i % (ROWS_MAX + 1);
        float c[SIZE], bias[STEP], expected[SIZE];
        char sizes[60];
        const leat_finish of = {i % 2 == 0 ? NULL : bias, slopes[i % 3]};
        snprintf(sizes, sizeof sizes, "%d rows, %d columns", rows, columns);
        fills[i / 6 % FILLS](run, SIZE, c);
        fills[i / 6 % FILLS](run, STEP, bias);
        memcpy(expected, c, sizeof c);
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                float *at = &expected[row * STEP + column];
                if (of.bias != NULL) *at += bias[column];
                if (of.slope != 1 && !(*at > 0) && *at == *at)
                    *at = of.slope == 0 ? 0 : *at * of.slope;
            }
        }
        run->kernels->row_finish(&of, rows, columns, STEP, c);
        compare(run, "end of a product", sizes, SIZE, c, expected);
    }
}

typedef struct suite_latent {
    float mu, logvar, noise, up, z, term, down_mu, down_logvar;
} suite_latent;

static void latent_of(suite_latent *s, float most, float factor, bool noisy) {
    const float v = s->logvar > most ? most : s->logvar < -most ? -most : s->logvar;
    const float deviation = map_one(LEAT_FUNCTION_EXP, 0.5f * v);
    const float variance = map_one(LEAT_FUNCTION_EXP, v);
    const bool inside = s->logvar <= most && s->logvar >= -most;
    const float noise = noisy ? s->noise : 0;
    s->z = noisy ? s->mu + deviation * noise : s->mu;
    s->term = -0.5f * (((1 + v) - s->mu * s->mu) - variance);
    s->down_mu = s->up + factor * s->mu;
    s->down_logvar =
        inside ? (s->up * noise) * (0.5f * deviation) + (0.5f * factor) * (variance - 1) : 0;
}

/* With noise or without; the gradient of mu in place. Values behind the last one stay. */
static void case_latent(suite_run *run) {
    enum { MOST = LEAT_LANES + 3, ARRAYS = 7 };
    for (int i = 0; i < 4 * MOST; i++) {
        const int count = 1 + i / 4;
        const bool noisy = i % 2 == 0;
        float values[ARRAYS][MOST], expected[ARRAYS][MOST];
        char sizes[40];
        snprintf(sizes, sizeof sizes, "%d values%s", count, noisy ? "" : ", no noise");
        fills[i / 2 % FILLS](run, ARRAYS * MOST, values[0]);
        for (int c = 0; c < MOST; c++) values[1][c] *= 8;
        memcpy(expected, values, sizeof values);
        for (int c = 0; c < count; c++) {
            suite_latent s = {values[0][c], values[1][c], values[2][c], values[3][c], 0, 0, 0, 0};
            latent_of(&s, 3, 0.3f, noisy);
            expected[4][c] = s.z;
            expected[5][c] = s.term;
            expected[3][c] = s.down_mu;
            expected[6][c] = s.down_logvar;
        }
        const leat_latent_values of = {3, 0.3f, values[0], values[1], noisy ? values[2] : NULL};
        run->kernels->latent(&of, count, values[4], values[5]);
        run->kernels->latent_back(&of, count, values[3], values[3], values[6]);
        compare(run, "latent vector", sizes, 2 * MOST, values[4], expected[4]);
        compare(run, "its gradient", sizes, 4 * MOST, values[0], expected[0]);
        compare(run, "its gradient", sizes, MOST, values[6], expected[6]);
    }
}

/* Keys whose counters run over, and shares of 0 and 1. */
static void case_dropout(suite_run *run) {
    enum { MOST = 2 * LEAT_LANES + 3 };
    for (int count = 0; count <= MOST; count++) {
        float x[MOST], y[MOST], expected[MOST];
        char sizes[40];
        const uint64_t first = next_bits(run);
        const leat_dropout of = {
            .key = next_bits(run), .below = (int32_t)(count % 8 * (1 << 24) / 7), .scale = 1.25f};
        snprintf(sizes, sizeof sizes, "%d values", count);
        fills[count % FILLS](run, MOST, x);
        fills[count % FILLS](run, MOST, y);
        memcpy(expected, y, sizeof y);
        for (int i = 0; i < count; i++) {
            suite_run draw = {.state = of.key + (first + (uint64_t)i) * DRAWS_APART};
            expected[i] = (int32_t)(next_bits(&draw) >> 40) < of.below ? x[i] * of.scale : 0.0f;
        }
        run->kernels->dropout(&of, first, count, x, y);
        compare(run, "dropout", sizes, MOST, y, expected);
    }
}

/* ---- GraphNorm ------------------------------------------------------------------------------ */

/* Of one channel of one graph. */
typedef struct channel {
    float weight, bias, minus_scale, mean, root, of_weight, of_bias, of_scale;
} channel;

static void norm_of(channel *of, float eps, int rows, const float *x, float *y) {
    float sum = 0, squares = 0;
    for (int i = 0; i < rows; i++) sum += x[i * STEP];
    of->mean = sum / (float)rows;
    for (int i = 0; i < rows; i++) {
        const float off = fmaf(of->minus_scale, of->mean, x[i * STEP]);
        squares = fmaf(off, off, squares);
    }
    of->root = sqrtf(squares / (float)rows + eps);
    for (int i = 0; i < rows; i++)
        y[i * STEP] =
            fmaf(of->weight, fmaf(of->minus_scale, of->mean, x[i * STEP]) / of->root, of->bias);
}

static void norm_back_of(channel *of, int rows, const float *x, const float *up, float *down) {
    float along = 0, sum = 0, h[ROWS_MAX];
    for (int i = 0; i < rows; i++) {
        h[i] = fmaf(of->minus_scale, of->mean, x[i * STEP]) / of->root;
        along = fmaf(up[i * STEP] * of->weight, h[i], along);
        of->of_weight = fmaf(up[i * STEP], h[i], of->of_weight);
        of->of_bias += up[i * STEP];
    }
    along = 0.0f - along / (float)rows;
    for (int i = 0; i < rows; i++) {
        const float q = fmaf(along, h[i], up[i * STEP] * of->weight) / of->root;
        sum += q;
        of->of_scale = fmaf(0.0f - of->mean, q, of->of_scale);
        down[i * STEP] = q;
    }
    sum /= (float)rows;
    for (int i = 0; i < rows; i++) down[i * STEP] = fmaf(of->minus_scale, sum, down[i * STEP]);
}

typedef struct suite_norm {
    int rows;
    char sizes[40];
    float values[8][LEAT_LANES]; /* in the order of leat_graph_norm */
    float x[SIZE], up[SIZE];
} suite_norm;

static leat_graph_norm norm_with(float values[8][LEAT_LANES]) {
    return (leat_graph_norm){.weight = values[0],
                             .bias = values[1],
                             .mean_scale = values[2],
                             .eps = 1e-5f,
                             .mean = values[3],
                             .root = values[4],
                             .of_weight = values[5],
                             .of_bias = values[6],
                             .of_mean_scale = values[7]};
}

static void expect_norm(float values[8][LEAT_LANES], const suite_norm *n, float *y, float *down) {
    for (int c = 0; c < LEAT_LANES; c++) {
        channel of = {.weight = values[0][c],
                      .bias = values[1][c],
                      .minus_scale = 0.0f - values[2][c],
                      .of_weight = values[5][c],
                      .of_bias = values[6][c],
                      .of_scale = values[7][c]};
        norm_of(&of, 1e-5f, n->rows, n->x + c, y + c);
        norm_back_of(&of, n->rows, n->x + c, n->up + c, down + c);
        values[3][c] = of.mean;
        values[4][c] = of.root;
        values[5][c] = of.of_weight;
        values[6][c] = of.of_bias;
        values[7][c] = of.of_scale;
    }
}

static void compare_norm(suite_run *run, suite_norm *n, bool in_place) {
    float expected[8][LEAT_LANES], y[SIZE], down[SIZE], got_y[SIZE], got_down[SIZE];
    memcpy(expected, n->values, sizeof expected);
    memcpy(y, in_place ? n->x : n->up, sizeof y);
    memcpy(down, in_place ? n->up : n->x, sizeof down);
    memcpy(got_y, y, sizeof y);
    memcpy(got_down, down, sizeof down);
    expect_norm(expected, n, y, down);
    const leat_graph_norm norm = norm_with(n->values);
    run->kernels->graph_norm(&norm, n->rows, STEP, in_place ? got_y : n->x, got_y);
    run->kernels->graph_norm_back(&norm, n->rows, STEP, n->x, in_place ? got_down : n->up,
                                  got_down);
    compare(run, "normalisation of a graph", n->sizes, SIZE, got_y, y);
    compare(run, "its gradient", n->sizes, SIZE, got_down, down);
    compare(run, "its parameters", n->sizes, 8 * LEAT_LANES, n->values[0], expected[0]);
}

static void case_graph_norm(suite_run *run) {
    for (int i = 0; i < 2 * FILLS * ROWS_MAX; i++) {
        suite_norm n = {.rows = 1 + i / (2 * FILLS)};
        snprintf(n.sizes, sizeof n.sizes, "%d rows%s", n.rows, i % 2 == 1 ? ", in place" : "");
        fill_rough(run, 8 * LEAT_LANES, n.values[0]);
        fills[i / 2 % FILLS](run, SIZE, n.x);
        fills[i / 2 % FILLS](run, SIZE, n.up);
        compare_norm(run, &n, i % 2 == 1);
    }
}

/* ---- LSTM ----------------------------------------------------------------------------------- */

typedef struct suite_cell {
    float gates[4], before, cell, out, up, carry;
    bool first;
} suite_cell;

static void cell_of(suite_cell *s) {
    float *g = s->gates;
    for (int i = 0; i < 4; i++)
        g[i] = map_one(i == 2 ? LEAT_FUNCTION_TANH : LEAT_FUNCTION_SIGMOID, g[i]);
    s->cell = g[0] * g[2];
    if (!s->first) s->cell = fmaf(g[1], s->before, s->cell);
    s->out = g[3] * map_one(LEAT_FUNCTION_TANH, s->cell);
}

static void cell_back_of(suite_cell *s) {
    const float i = s->gates[0], f = s->gates[1], g = s->gates[2], o = s->gates[3];
    const float t = map_one(LEAT_FUNCTION_TANH, s->cell);
    const float d = fmaf(s->up * o, fmaf(0.0f - t, t, 1.0f), s->carry);
    s->gates[0] = d * g * fmaf(0.0f - i, i, i);
    s->gates[1] = (s->first ? 0.0f : d * s->before) * fmaf(0.0f - f, f, f);
    s->gates[2] = d * i * fmaf(0.0f - g, g, 1.0f);
    s->gates[3] = s->up * t * fmaf(0.0f - o, o, o);
    s->carry = d * f;
}

enum { HIDDEN = WIDE * LEAT_LANES, MORE = HIDDEN + 3 };

/* gates, cell, out, carry; values behind the last one stay. */
typedef struct suite_lstm {
    float gates[4 * HIDDEN + 3], cell[MORE], out[MORE], carry[MORE];
} suite_lstm;

static void expect_lstm(suite_lstm *e, int hidden, const float *before, const float *up,
                        bool back) {
    for (int c = 0; c < hidden; c++) {
        suite_cell s = {.before = before == NULL ? 0 : before[c],
                        .cell = e->cell[c],
                        .up = up[c],
                        .carry = e->carry[c],
                        .first = before == NULL};
        for (int i = 0; i < 4; i++) s.gates[i] = e->gates[i * hidden + c];
        if (back) cell_back_of(&s);
        else cell_of(&s);
        for (int i = 0; i < 4; i++) e->gates[i * hidden + c] = s.gates[i];
        e->cell[c] = s.cell;
        e->carry[c] = s.carry;
        if (!back) e->out[c] = s.out;
    }
}

static void case_lstm(suite_run *run) {
    for (int i = 0; i < 4 * WIDE; i++) {
        const int hidden = (1 + i / 4) * LEAT_LANES;
        float before[MORE], up[MORE];
        suite_lstm got, expected;
        char sizes[60];
        fill_function *const make = fills[i / 2 % FILLS];
        snprintf(sizes, sizeof sizes, "%d values%s", hidden, i % 2 == 0 ? ", first step" : "");
        make(run, sizeof got / sizeof(float), (float *)&got);
        make(run, MORE, before);
        make(run, MORE, up);
        for (int c = 0; c < 4 * hidden; c++) got.gates[c] *= 4;
        expected = got;
        const float *from = i % 2 == 0 ? NULL : before;
        expect_lstm(&expected, hidden, from, up, false);
        run->kernels->lstm(hidden, got.gates, from, got.cell, got.out);
        compare(run, "step of an LSTM", sizes, sizeof got / sizeof(float), (float *)&got,
                (float *)&expected);
        expect_lstm(&expected, hidden, from, up, true);
        run->kernels->lstm_back(hidden, got.gates, from, got.cell, up, got.carry);
        compare(run, "its gradient", sizes, sizeof got / sizeof(float), (float *)&got,
                (float *)&expected);
    }
}

static suite_case *const cases[] = {
    case_row_sums, case_row_dot, case_graph_norm, case_lstm,   case_row_dot_of_nothing,
    case_dropout,  case_softmax, case_finish,     case_latent, case_relu_back};

bool leat_rows_check(const leat_kernels *kernels, uint64_t *hash, char *message, size_t size) {
    return suite_check(cases, sizeof cases / sizeof *cases, kernels, hash, message, size);
}
