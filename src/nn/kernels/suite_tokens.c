/* The suite "tokens": the kernels of tokens.h, with plain loops, see suite.h. */
#include "suite.h"

#include <math.h>

#include "suite_run.h"

enum { ROWS_MOST = 3, STEP = 2 * LEAT_LANES + 5, SIZE = ROWS_MOST * STEP };

/* ---- Norm ----------------------------------------------------------------------------------- */

typedef struct suite_norm {
    int rows, columns;
    char sizes[40];
    float x[SIZE], up[SIZE], weight[STEP], scale[ROWS_MOST];
    float y[SIZE], down[SIZE], of_weight[STEP];
} suite_norm;

static const float eps = 1e-6f;

static void expect_norm(suite_norm *n) {
    for (int row = 0; row < n->rows; row++) {
        const float *x = n->x + row * STEP, *up = n->up + row * STEP;
        float h[STEP], p[STEP];
        n->scale[row] = 1 / sqrtf(lanes_dot(n->columns, x, x) / (float)n->columns + eps);
        for (int c = 0; c < n->columns; c++) {
            h[c] = x[c] * n->scale[row];
            p[c] = up[c] * n->weight[c];
            n->y[row * STEP + c] = h[c] * n->weight[c];
            n->of_weight[c] = fmaf(up[c], h[c], n->of_weight[c]);
        }
        const float share = 0 - lanes_dot(n->columns, p, h) / (float)n->columns;
        for (int c = 0; c < n->columns; c++)
            n->down[row * STEP + c] = n->scale[row] * fmaf(share, h[c], p[c]);
    }
}

/* Forward and backward in place. */
static void case_norm(suite_run *run) {
    for (int i = 0; i < 2 * (STEP - 1); i++) {
        suite_norm got, expected;
        got = (suite_norm){.rows = i % (ROWS_MOST + 1), .columns = 1 + i / 2};
        snprintf(got.sizes, sizeof got.sizes, "%d rows, %d columns", got.rows, got.columns);
        fills[i / 2 % FILLS](run, SIZE, got.x);
        fills[i / 2 % FILLS](run, SIZE, got.up);
        fills[i / 2 % FILLS](run, STEP, got.weight);
        fills[i / 2 % FILLS](run, STEP, got.of_weight);
        memcpy(got.y, got.x, sizeof got.y);
        memcpy(got.down, got.up, sizeof got.down);
        expected = got;
        expect_norm(&expected);
        leat_rms_rows of = {got.rows, got.columns, STEP, eps, got.weight, got.y, got.scale};
        run->kernels->rms_norm(&of, got.y);
        of.x = got.x;
        run->kernels->rms_norm_weight(&of, got.up, got.of_weight);
        run->kernels->rms_norm_back(&of, got.down, got.down);
        compare(run, "norm of rows", got.sizes, SIZE, got.y, expected.y);
        compare(run, "their scales", got.sizes, ROWS_MOST, got.scale, expected.scale);
        compare(run, "gradient of a norm", got.sizes, SIZE, got.down, expected.down);
        compare(run, "gradient of its weight", got.sizes, STEP, got.of_weight, expected.of_weight);
    }
}

/* ---- Positions ------------------------------------------------------------------------------ */

static void case_turn(suite_run *run) {
    enum { POSITIONS = 3, WIDTH_MOST = 2 * LEAT_LANES + 2, HEADS = 2 };
    for (int i = 0; i < WIDTH_MOST; i++) {
        static const int32_t position[ROWS_MOST] = {2, 0, 1};
        const int width = 2 * (1 + i / 2), half = width / 2, step = HEADS * WIDTH_MOST + 1;
        const float sign = i % 2 == 0 ? 1.0f : -1.0f;
        float x[ROWS_MOST * (HEADS * WIDTH_MOST + 1)], table[POSITIONS * WIDTH_MOST];
        float expected[sizeof x / sizeof *x];
        char sizes[40];
        snprintf(sizes, sizeof sizes, "heads of %d columns", width);
        fills[i / 2 % FILLS](run, sizeof x / sizeof *x, x);
        fill_rough(run, POSITIONS * width, table);
        memcpy(expected, x, sizeof x);
        for (int k = 0; k < ROWS_MOST * HEADS * half; k++) {
            const int row = k / (HEADS * half), head = k / half % HEADS, c = k % half;
            float *low = &expected[row * step + head * width + c], *high = low + half;
            const float a = *low, b = *high, t = table[position[row] * width + c];
            const float s = table[position[row] * width + half + c] * sign;
            *low = fmaf(a, t, 0 - b * s);
            *high = fmaf(b, t, a * s);
        }
        const leat_turn of = {ROWS_MOST, step, HEADS, width, position, table, sign};
        run->kernels->turn(&of, x);
        compare(run, "turned heads", sizes, sizeof x / sizeof *x, x, expected);
    }
}

/* ---- Gated unit ----------------------------------------------------------------------------- */

static void case_swiglu(suite_run *run) {
    enum { GATE, X, UP, Y, ARRAYS };
    for (int i = 0; i < 2 * STEP; i++) {
        const int count = i / 2;
        float got[ARRAYS][STEP], expected[ARRAYS][STEP];
        char sizes[40];
        snprintf(sizes, sizeof sizes, "%d values", count);
        fills[i % FILLS](run, ARRAYS * STEP, got[0]);
        for (int c = 0; c < STEP; c++) got[GATE][c] *= 16;
        memcpy(expected, got, sizeof got);
        for (int c = 0; c < count; c++) {
            const float g = got[GATE][c], s = map_one(LEAT_FUNCTION_SIGMOID, g), up = got[UP][c];
            expected[Y][c] = g * s * got[X][c];
            expected[GATE][c] = up * got[X][c] * (s * fmaf(g, 1 - s, 1));
            expected[X][c] = up * (g * s);
        }
        run->kernels->swiglu(count, got[GATE], got[X], got[Y]);
        compare(run, "gated values", sizes, STEP, got[Y], expected[Y]);
        run->kernels->swiglu_back(count, got[GATE], got[X], got[UP]);
        compare(run, "gradient of gated values", sizes, 2 * STEP, got[GATE], expected[GATE]);
    }
}

/* ---- Attention ------------------------------------------------------------------------------ */

enum { TILE = LEAT_ATTENTION_TILE, HEADS = 3 };

/* Values of a tile of attention; of HEADS heads, the one in between is computed. */
typedef struct suite_attend {
    int keys, width;
    bool begin;
    char sizes[60];
    float scores[ROWS_MOST * TILE], ups[ROWS_MOST * TILE], out[SIZE];
    float most[ROWS_MOST * HEADS], sum[ROWS_MOST * HEADS], delta[ROWS_MOST * HEADS];
} suite_attend;

static leat_attend attend_of(suite_attend *s) {
    return (leat_attend){.rows = ROWS_MOST,
                         .keys = s->keys,
                         .begin = s->begin,
                         .scale = 0.3f,
                         .scores = s->scores,
                         .heads = HEADS,
                         .most = s->most + 1,
                         .sum = s->sum + 1,
                         .delta = s->delta + 1,
                         .width = s->width,
                         .step = STEP,
                         .out = s->out};
}

static int keys_of(const suite_attend *s, int row) {
    return s->keys + row < TILE ? s->keys + row : TILE;
}

static void expect_row(const leat_attend *of, int row, int count) {
    float *x = of->scores + row * TILE, *most = of->most + row * HEADS, here = x[0];
    float *sum = of->sum + row * HEADS, lanes[LEAT_LANES] = {0};
    for (int k = 1; k < count; k++) here = here < x[k] ? x[k] : here;
    here = here * of->scale + 0.0f;
    const float larger = of->begin || *most < here ? here : *most;
    for (int k = 0; k < TILE; k++) {
        x[k] = k < count ? map_one(LEAT_FUNCTION_EXP, x[k] * of->scale - larger) : 0;
        lanes[k % LEAT_LANES] += x[k];
    }
    const float more = tree_of(lanes), less = map_one(LEAT_FUNCTION_EXP, *most - larger);
    *sum = of->begin ? more : fmaf(*sum, less, more);
    for (int c = 0; c < of->width && !of->begin; c++) of->out[row * STEP + c] *= less;
    *most = larger;
}

static void expect_row_back(const leat_attend *of, int row, int count, float *ups) {
    float *x = of->scores + row * TILE, *up = ups + row * TILE;
    const float part = 1 / of->sum[row * HEADS];
    for (int k = 0; k < TILE; k++) {
        const float e = map_one(LEAT_FUNCTION_EXP, x[k] * of->scale - of->most[row * HEADS]);
        const float share = e * part;
        up[k] = k < count ? share * (up[k] - of->delta[row * HEADS]) * of->scale : 0;
        x[k] = k < count ? share : 0;
    }
}

static void make_attend(suite_run *run, int i, suite_attend *s) {
    fill_function *const make = fills[i % 3 == 2]; /* mostly numbers */
    *s = (suite_attend){.keys = 1 + i / 2 % TILE, .width = 1 + i / 2 % (STEP - 1)};
    s->begin = i % 2 == 0;
    snprintf(s->sizes, sizeof s->sizes, "%d keys, %d columns", s->keys, s->width);
    make(run, ROWS_MOST * TILE, s->scores);
    make(run, ROWS_MOST * TILE, s->ups);
    make(run, SIZE, s->out);
    fill(run, ROWS_MOST * HEADS, s->most);
    fill(run, ROWS_MOST * HEADS, s->delta);
    for (int k = 0; k < ROWS_MOST * TILE; k++) {
        if (i % 8 / 2 == 2) s->scores[k] = next_bits(run) % 2 == 0 ? 0.0f : -0.0f;
        s->scores[k] *= i % 8 / 2 == 3 ? 0x1p40f : 32; /* large, but finite */
    }
    for (int k = 0; k < ROWS_MOST * HEADS; k++) {
        s->most[k] *= i % 4 == 1 ? 20 : 1; /* it stays, or grows */
        s->sum[k] = 1.5f + s->delta[k];
    }
}

static void case_attend(suite_run *run) {
    for (int i = 0; i < 2 * TILE; i++) {
        suite_attend got, expected;
        make_attend(run, i, &got);
        expected = got;
        const leat_attend want = attend_of(&expected), of = attend_of(&got);
        for (int row = 0; row < ROWS_MOST; row++) expect_row(&want, row, keys_of(&got, row));
        run->kernels->attend(&of);
        compare(run, "exponentials of a tile", got.sizes, ROWS_MOST * TILE, got.scores,
                expected.scores);
        compare(run, "their largest", got.sizes, ROWS_MOST * HEADS, got.most, expected.most);
        compare(run, "their sums", got.sizes, ROWS_MOST * HEADS, got.sum, expected.sum);
        compare(run, "what they rescale", got.sizes, SIZE, got.out, expected.out);
        for (int k = 0; k < ROWS_MOST * got.width; k++) {
            float *at = &expected.out[k / got.width * STEP + k % got.width];
            *at = (*at + 0.0f) / expected.sum[k / got.width * HEADS + 1];
        }
        run->kernels->attend_end(&of);
        compare(run, "shares of attention", got.sizes, SIZE, got.out, expected.out);
    }
}

static void case_attend_back(suite_run *run) {
    for (int i = 0; i < 2 * TILE; i++) {
        suite_attend got, expected;
        make_attend(run, i, &got);
        expected = got;
        const leat_attend want = attend_of(&expected), of = attend_of(&got);
        for (int row = 0; row < ROWS_MOST; row++)
            expect_row_back(&want, row, keys_of(&got, row), expected.ups);
        run->kernels->attend_back(&of, got.ups);
        compare(run, "shares of a tile", got.sizes, ROWS_MOST * TILE, got.scores, expected.scores);
        compare(run, "gradients of its scores", got.sizes, ROWS_MOST * TILE, got.ups, expected.ups);
    }
}

static suite_case *const cases[] = {case_norm, case_turn, case_swiglu, case_attend,
                                    case_attend_back};

bool leat_tokens_check(const leat_kernels *kernels, uint64_t *hash, char *message, size_t size) {
    return suite_check(cases, sizeof cases / sizeof *cases, kernels, hash, message, size);
}
