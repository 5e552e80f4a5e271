/*
 * The self-test of the kernels, see suite.h. A case is a row of `cases`: a function that computes
 * something with the kernels of the run, and gives results and reference to `compare`. What a case
 * computes must not depend on the sizes of the variant, so that the hash does not: a product larger
 * than a tile is cut into tiles.
 */
#include "suite.h"

#include <math.h>

#include "suite_run.h"

/* ---- products ----------------------------------------------------------------------------- */

enum {
    ROWS_MAX = LEAT_TILE_ROWS_MAX,
    COLUMNS_MAX = LEAT_TILE_COLUMNS_MAX,
    TAPS_MAX = 3,
    DEPTH_MAX = 17,
    B_STEP = COLUMNS_MAX + 3,
    C_STEP = COLUMNS_MAX + 5,
    C_SIZE = ROWS_MAX * C_STEP
};

/* rows x columns of c, with a[tap][row][k] and b[tap][k][column]. */
typedef struct suite_product {
    int rows, columns, taps, depth;
    bool add, across;
    float a[TAPS_MAX][ROWS_MAX][DEPTH_MAX], b[TAPS_MAX][DEPTH_MAX][B_STEP];
} suite_product;

static void multiply(const suite_product *p, float *c) {
    for (int row = 0; row < p->rows; row++) {
        for (int column = 0; column < p->columns; column++) {
            float sum = p->add ? c[row * C_STEP + column] : 0.0f;
            for (int tap = 0; tap < p->taps; tap++) {
                for (int k = 0; k < p->depth; k++)
                    sum = fmaf(p->a[tap][row][k], p->b[tap][k][column], sum);
            }
            c[row * C_STEP + column] = sum;
        }
    }
}

/* The same with the tiles of the variant; taps in memory in descending order. */
static void multiply_tiles(const leat_kernels *kernels, const suite_product *p, float *c) {
    for (int row0 = 0; row0 < p->rows; row0 += kernels->tile_rows) {
        const int left = p->rows - row0;
        const int rows = left < kernels->tile_rows ? left : kernels->tile_rows;
        const int row_step = p->across ? DEPTH_MAX : 1, k_step = p->across ? 1 : rows + 1;
        float a[TAPS_MAX * DEPTH_MAX * (ROWS_MAX + 1)];
        int64_t a_tap[TAPS_MAX], b_tap[TAPS_MAX];
        for (int tap = 0; tap < p->taps; tap++) {
            a_tap[tap] = (int64_t)(p->taps - 1 - tap) * DEPTH_MAX * (rows + 1);
            b_tap[tap] = (int64_t)tap * DEPTH_MAX * B_STEP;
            for (int k = 0; k < p->depth; k++) {
                for (int row = 0; row < rows; row++)
                    a[a_tap[tap] + k * k_step + row * row_step] = p->a[tap][row0 + row][k];
            }
        }
        for (int column = 0; column < p->columns; column += kernels->tile_columns) {
            const int wide = p->columns - column;
            const leat_tile tile = {
                .rows = rows,
                .columns = wide < kernels->tile_columns ? wide : kernels->tile_columns,
                .taps = p->taps,
                .depth = p->depth,
                .a = a,
                .b = &p->b[0][0][column],
                .a_tap = a_tap,
                .b_tap = b_tap,
                .a_step = p->across ? row_step : k_step,
                .across = p->across,
                .b_step = B_STEP,
                .c = c + row0 * C_STEP + column,
                .c_step = C_STEP,
                .add = p->add,
            };
            kernels->tile(&tile);
        }
    }
}

static void compare_product(suite_run *run, const char *name, const suite_product *p) {
    float expected[C_SIZE], got[C_SIZE];
    fill(run, C_SIZE, expected);
    memcpy(got, expected, sizeof got);
    multiply(p, expected);
    multiply_tiles(run->kernels, p, got);
    char sizes[100];
    snprintf(sizes, sizeof sizes, "%d x %d, %d taps of depth %d, %s%s", p->rows, p->columns,
             p->taps, p->depth, p->add ? "added" : "from 0", p->across ? ", across" : "");
    compare(run, name, sizes, C_SIZE, got, expected); /* with what must not change */
}

static void case_tile(suite_run *run) {
    static const int depths[] = {0, 1, 2, 3, 7, 16, 17};
    suite_product p;
    fill(run, sizeof p.a / sizeof(float), p.a[0][0]);
    fill(run, sizeof p.b / sizeof(float), p.b[0][0]);
    for (p.rows = 1; p.rows <= ROWS_MAX; p.rows++) {
        for (p.columns = LEAT_LANES; p.columns <= COLUMNS_MAX; p.columns += LEAT_LANES) {
            for (p.taps = 0; p.taps <= TAPS_MAX; p.taps++) {
                for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
                    p.depth = depths[i];
                    for (int add = 0; add < 2; add++) {
                        p.add = add;
                        p.across = (p.rows + p.depth + add) % 2 == 0;
                        compare_product(run, "tile", &p);
                    }
                }
            }
        }
    }
}

/* One special value in every row of a, the others in the columns of b. */
static void case_tile_special(suite_run *run) {
    suite_product p = {.rows = ROWS_MAX, .columns = COLUMNS_MAX, .taps = 1, .depth = 7};
    fill(run, sizeof p.a / sizeof(float), p.a[0][0]);
    fill(run, sizeof p.b / sizeof(float), p.b[0][0]);
    for (int i = 0; i < ROWS_MAX; i++) p.a[0][i][i % p.depth] = edges[i % EDGES];
    for (int i = 0; i < COLUMNS_MAX; i++) p.b[0][i / 3 % p.depth][i] = edges[i * 5 % EDGES];
    compare_product(run, "tile of special values", &p);
}

static void case_transpose(suite_run *run) {
    enum { SIZE = 37, STEP = 40 };
    static const int sizes[] = {0, 1, 3, 15, 16, 17, 32, 37};
    float in[SIZE * STEP], got[SIZE * STEP], expected[SIZE * STEP];
    fill(run, SIZE * STEP, in);
    for (size_t r = 0; r < sizeof sizes / sizeof *sizes; r++) {
        for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
            const int rows = sizes[r], columns = sizes[c];
            char text[40];
            snprintf(text, sizeof text, "%d x %d", rows, columns);
            fill(run, SIZE * STEP, expected);
            memcpy(got, expected, sizeof got);
            for (int i = 0; i < rows; i++) {
                for (int j = 0; j < columns; j++) expected[j * STEP + i] = in[i * STEP + j];
            }
            run->kernels->transpose(rows, columns, in, STEP, got, STEP);
            compare(run, "transpose", text, SIZE * STEP, got, expected);
        }
    }
}

/* ---- functions ---------------------------------------------------------------------------- */

static const char *const map_names[LEAT_FUNCTIONS] = {
    [LEAT_FUNCTION_EXP] = "exp",           [LEAT_FUNCTION_LOG] = "log",
    [LEAT_FUNCTION_TANH] = "tanh",         [LEAT_FUNCTION_SIGMOID] = "sigmoid",
    [LEAT_FUNCTION_SOFTPLUS] = "softplus", [LEAT_FUNCTION_SIN] = "sin",
    [LEAT_FUNCTION_COS] = "cos",
};

/* What C says of these, or the true value rounded. */
static const struct {
    leat_function what;
    float in, out;
} special[] = {
    {LEAT_FUNCTION_EXP, 0.0f, 1.0f},
    {LEAT_FUNCTION_EXP, -0.0f, 1.0f},
    {LEAT_FUNCTION_EXP, 0x1p-149f, 1.0f},
    {LEAT_FUNCTION_EXP, 1.0f, 0x1.5bf0a8p+1f},
    {LEAT_FUNCTION_EXP, 0x1.62e42ep+6f, 0x1.ffff08p+127f}, /* the last that is finite */
    {LEAT_FUNCTION_EXP, 0x1.62e43p+6f, INFINITY},
    {LEAT_FUNCTION_EXP, 89.0f, INFINITY},
    {LEAT_FUNCTION_EXP, INFINITY, INFINITY},
    {LEAT_FUNCTION_EXP, -100.0f, 0x1.bp-145f},
    {LEAT_FUNCTION_EXP, -0x1.9fe368p+6f, 0x1p-149f}, /* the last above half of 2^-149 */
    {LEAT_FUNCTION_EXP, -0x1.9fe36ap+6f, 0.0f},
    {LEAT_FUNCTION_EXP, -0x1.fffffep+127f, 0.0f},
    {LEAT_FUNCTION_EXP, -INFINITY, 0.0f},
    {LEAT_FUNCTION_LOG, 0.0f, -INFINITY},
    {LEAT_FUNCTION_LOG, -0.0f, -INFINITY},
    {LEAT_FUNCTION_LOG, -0x1p-149f, NAN},
    {LEAT_FUNCTION_LOG, -1.0f, NAN},
    {LEAT_FUNCTION_LOG, -INFINITY, NAN},
    {LEAT_FUNCTION_LOG, 1.0f, 0.0f},
    {LEAT_FUNCTION_LOG, 0x1p-149f, -0x1.9d1dap+6f},
    {LEAT_FUNCTION_LOG, 0x1p-127f, -0x1.601e68p+6f},
    {LEAT_FUNCTION_LOG, 0x1.fffffep+127f, 0x1.62e43p+6f},
    {LEAT_FUNCTION_LOG, INFINITY, INFINITY},
    {LEAT_FUNCTION_TANH, 0.0f, 0.0f},
    {LEAT_FUNCTION_TANH, -0.0f, -0.0f},
    {LEAT_FUNCTION_TANH, -0x1p-149f, -0x1p-149f},
    {LEAT_FUNCTION_TANH, 0x1p-20f, 0x1p-20f},
    {LEAT_FUNCTION_TANH, 10.0f, 1.0f},
    {LEAT_FUNCTION_TANH, INFINITY, 1.0f},
    {LEAT_FUNCTION_TANH, -INFINITY, -1.0f},
    {LEAT_FUNCTION_SIGMOID, 0.0f, 0.5f},
    {LEAT_FUNCTION_SIGMOID, -0.0f, 0.5f},
    {LEAT_FUNCTION_SIGMOID, 20.0f, 1.0f},
    {LEAT_FUNCTION_SIGMOID, INFINITY, 1.0f},
    {LEAT_FUNCTION_SIGMOID, -100.0f, 0x1.bp-145f},
    {LEAT_FUNCTION_SIGMOID, -INFINITY, 0.0f},
    {LEAT_FUNCTION_SOFTPLUS, 0.0f, 0x1.62e43p-1f},
    {LEAT_FUNCTION_SOFTPLUS, -0.0f, 0x1.62e43p-1f},
    {LEAT_FUNCTION_SOFTPLUS, -100.0f, 0x1.bp-145f},
    {LEAT_FUNCTION_SOFTPLUS, -INFINITY, 0.0f},
    {LEAT_FUNCTION_SOFTPLUS, 100.0f, 100.0f},
    {LEAT_FUNCTION_SOFTPLUS, 0x1.fffffep+127f, 0x1.fffffep+127f},
    {LEAT_FUNCTION_SOFTPLUS, INFINITY, INFINITY},
    {LEAT_FUNCTION_SIN, 0.0f, 0.0f},
    {LEAT_FUNCTION_SIN, -0.0f, -0.0f},
    {LEAT_FUNCTION_SIN, -0x1p-149f, -0x1p-149f},
    {LEAT_FUNCTION_SIN, 0x1.921fb6p+0f, 1.0f},
    {LEAT_FUNCTION_SIN, 0x1.921fb6p+1f, -0x1.777a5cp-24f}, /* pi minus its float */
    {LEAT_FUNCTION_SIN, 0x1p+20f, 0x1.526cccp-2f},
    {LEAT_FUNCTION_SIN, 0x1.000002p+20f, NAN},
    {LEAT_FUNCTION_SIN, -INFINITY, NAN},
    {LEAT_FUNCTION_COS, 0.0f, 1.0f},
    {LEAT_FUNCTION_COS, 0x1.921fb6p+0f, -0x1.777a5cp-25f},
    {LEAT_FUNCTION_COS, -0x1p+20f, 0x1.e33adap-1f},
    {LEAT_FUNCTION_COS, -0x1.000002p+20f, NAN},
    {LEAT_FUNCTION_COS, INFINITY, NAN},
};

static void case_map_special(suite_run *run) {
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        char text[60];
        float got;
        snprintf(text, sizeof text, "%s(%a)", map_names[special[i].what], (double)special[i].in);
        run->kernels->map(special[i].what, 1, &special[i].in, &got);
        compare(run, "function", text, 1, &got, &special[i].out);
    }
    for (int what = 0; what < LEAT_FUNCTIONS; what++) {
        const float in[2] = {float_of(0x7fc00000), float_of(0xffc00001)};
        float got[2];
        run->kernels->map((leat_function)what, 2, in, got);
        compare(run, "function of NaN", map_names[what], 2, got, in);
    }
}

/* Floats of all exponents, in arrays of every length up to that of the blocks. */
static void case_map(suite_run *run) {
    enum { BLOCK = 48 };
    const uint32_t step = 65537 * 5;
    for (int what = 0; what < LEAT_FUNCTIONS; what++) {
        int count = 0, length = 1;
        float in[BLOCK], got[BLOCK], expected[BLOCK];
        for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step) {
            in[count++] = float_of((uint32_t)bits);
            if (count < length) continue;
            memset(got, 0, sizeof got);
            memset(expected, 0, sizeof expected);
            leat_kernels_scalar.map((leat_function)what, count, in, expected);
            run->kernels->map((leat_function)what, count, in, got);
            compare(run, "function", map_names[what], BLOCK, got, expected);
            count = 0;
            length = length % BLOCK + 1;
        }
    }
}

static void case_random(suite_run *run) {
    enum { COUNT = 77 };
    int32_t radius[COUNT], angle[COUNT];
    float got[2 * COUNT], expected[2 * COUNT];
    for (int i = 0; i < COUNT; i++) {
        radius[i] = (int32_t)(next_bits(run) >> 33);
        angle[i] = (int32_t)(next_bits(run) >> 40);
    }
    radius[0] = 0;
    radius[1] = INT32_MAX;
    angle[2] = 0;
    angle[3] = (1 << 24) - 1;
    for (int count = 0; count <= COUNT; count++) {
        char text[40];
        snprintf(text, sizeof text, "%d of them", count);
        memset(got, 0, sizeof got);
        memset(expected, 0, sizeof expected);
        for (int i = 0; i < count; i++) expected[i] = (float)angle[i] * 0x1p-24f;
        run->kernels->uniform(count, angle, got);
        compare(run, "uniform numbers", text, COUNT, got, expected);
        leat_kernels_scalar.normal(count, radius, angle, expected);
        run->kernels->normal(count, radius, angle, got);
        compare(run, "normal numbers", text, (int64_t)2 * COUNT, got, expected);
    }
}

/* ---- normalisation ------------------------------------------------------------------------ */

enum {
    PIXELS_MAX = 5,
    CHANNELS_MAX = 3,
    WIDE_MAX = 48, /* lanes of the most images */
    NORM_MAX = PIXELS_MAX * CHANNELS_MAX * WIDE_MAX,
    LANES_MAX = CHANNELS_MAX * LEAT_LANES
};

typedef struct suite_norm {
    int64_t pixels, channels, images, lanes;
    float slope;
    char sizes[100];
    float x[NORM_MAX], up[NORM_MAX];
    float mean[CHANNELS_MAX], scale[CHANNELS_MAX], shift[CHANNELS_MAX];
    float ones[CHANNELS_MAX], products[CHANNELS_MAX];
} suite_norm;

/* Inputs of the sizes that are set. What the unused lanes hold must not show in a sum. */
static void fill_norm(suite_run *run, suite_norm *n, bool special) {
    void (*const make)(suite_run * run, int64_t count, float *out) =
        special ? fill_edges : fill_rough;
    n->lanes = (n->images + LEAT_LANES - 1) / LEAT_LANES * LEAT_LANES;
    snprintf(n->sizes, sizeof n->sizes, "%d pixels, %d channels, %d images, slope %g%s",
             (int)n->pixels, (int)n->channels, (int)n->images, (double)n->slope,
             special ? ", special values" : "");
    make(run, NORM_MAX, n->x);
    make(run, NORM_MAX, n->up);
    make(run, CHANNELS_MAX, n->mean);
    make(run, CHANNELS_MAX, n->scale);
    make(run, CHANNELS_MAX, n->shift);
    make(run, CHANNELS_MAX, n->ones);
    make(run, CHANNELS_MAX, n->products);
    for (int64_t i = 0; i < n->pixels * n->channels * n->lanes; i++) {
        if (i % n->lanes >= n->images) n->x[i] = n->up[i] = i % 3 == 0 ? INFINITY : NAN;
    }
}

static float leaky_of(float x, float slope) {
    if (x > 0) return x;
    if (slope > 0) return x * slope;
    return x != x ? x : 0.0f;
}

static float leaky_back_of(float x, float slope, float up) {
    if (x > 0) return up;
    return slope > 0 ? up * slope : 0.0f;
}

static void plain_sums(const suite_norm *n, float *sums, float *squares) {
    for (int64_t i = 0; i < n->pixels * n->channels * n->lanes; i++) {
        const int64_t image = i % n->lanes, c = i / n->lanes % n->channels;
        const int64_t at = c * LEAT_LANES + image % LEAT_LANES;
        if (image >= n->images) continue;
        const float off = n->x[i] - n->mean[c];
        sums[at] = sums[at] + n->x[i];
        squares[at] = fmaf(off, off, squares[at]);
    }
}

static void plain_norm_sums(const suite_norm *n, float *ones, float *products) {
    for (int64_t i = 0; i < n->pixels * n->channels * n->lanes; i++) {
        const int64_t image = i % n->lanes, c = i / n->lanes % n->channels;
        const int64_t at = c * LEAT_LANES + image % LEAT_LANES;
        if (image >= n->images) continue;
        const float off = n->x[i] - n->mean[c], out = fmaf(off, n->scale[c], n->shift[c]);
        const float gradient = leaky_back_of(out, n->slope, n->up[i]);
        ones[at] = ones[at] + gradient;
        products[at] = fmaf(gradient, off, products[at]);
    }
}

static void compare_sums(suite_run *run, const suite_norm *n) {
    const leat_normalization norm = {n->mean, n->scale, n->shift, n->ones, n->products, n->slope};
    float got[2][LANES_MAX], expected[2][LANES_MAX];
    fill_rough(run, LANES_MAX, got[0]); /* sums continue from what is there */
    fill_rough(run, LANES_MAX, got[1]);
    memcpy(expected, got, sizeof got);
    plain_sums(n, expected[0], expected[1]);
    run->kernels->sums(n->pixels, n->channels, n->images, n->x, got[0]);
    compare(run, "sums", n->sizes, LANES_MAX, got[0], expected[0]);
    run->kernels->squares(n->pixels, n->channels, n->images, n->x, n->mean, got[1]);
    compare(run, "squares", n->sizes, LANES_MAX, got[1], expected[1]);
    fill_rough(run, LANES_MAX, got[0]);
    fill_rough(run, LANES_MAX, got[1]);
    memcpy(expected, got, sizeof got);
    plain_norm_sums(n, expected[0], expected[1]);
    run->kernels->norm_sums(&norm, n->pixels, n->channels, n->images, n->x, n->up, got[0], got[1]);
    compare(run, "sums of gradients", n->sizes, LANES_MAX, got[0], expected[0]);
    compare(run, "sums of gradients times x", n->sizes, LANES_MAX, got[1], expected[1]);
}

static void compare_norm(suite_run *run, const suite_norm *n) {
    const leat_normalization norm = {n->mean, n->scale, n->shift, n->ones, n->products, n->slope};
    float y[NORM_MAX], down[NORM_MAX], expected_y[NORM_MAX], expected_down[NORM_MAX];
    fill_rough(run, NORM_MAX, y);
    memcpy(expected_y, y, sizeof y);
    memcpy(down, n->up, sizeof down);
    memcpy(expected_down, down, sizeof down);
    for (int64_t i = 0; i < n->pixels * n->channels * n->lanes; i++) {
        const int64_t c = i / n->lanes % n->channels;
        const float off = n->x[i] - n->mean[c], out = fmaf(off, n->scale[c], n->shift[c]);
        const float gradient = leaky_back_of(out, n->slope, n->up[i]) - n->ones[c];
        expected_y[i] = leaky_of(out, n->slope);
        expected_down[i] = n->scale[c] * fmaf(off, 0.0f - n->products[c], gradient);
    }
    run->kernels->norm(&norm, n->pixels, n->channels, n->lanes, n->x, y);
    compare(run, "normalisation", n->sizes, NORM_MAX, y, expected_y);
    run->kernels->norm_back(&norm, n->pixels, n->channels, n->lanes, n->x, down, down);
    compare(run, "its gradient", n->sizes, NORM_MAX, down, expected_down);
}

static const float slopes[] = {0.0f, 0.2f, 1.0f};
enum { SLOPES = sizeof slopes / sizeof *slopes };

static void case_norm(suite_run *run) {
    static const int images[] = {1, 15, 16, 17, 33}, pixels[] = {1, 2, PIXELS_MAX};
    suite_norm n;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        n.images = images[i];
        for (size_t p = 0; p < sizeof pixels / sizeof *pixels; p++) {
            n.pixels = pixels[p];
            for (n.channels = 1; n.channels <= CHANNELS_MAX; n.channels += 2) {
                for (int s = 0; s < 2 * SLOPES; s++) {
                    n.slope = slopes[s / 2];
                    fill_norm(run, &n, s % 2 == 1);
                    compare_sums(run, &n);
                    compare_norm(run, &n);
                }
            }
        }
    }
}

/* ---- values alone ------------------------------------------------------------------------- */

enum { EACH_MAX = 49, EACH_SIZE = EACH_MAX + 3 };

typedef struct suite_each {
    int64_t count;
    bool in_place; /* the result replaces an argument */
    char sizes[60];
    float x[EACH_SIZE], up[EACH_SIZE], out[EACH_SIZE], more[EACH_SIZE];
} suite_each;

static void compare_leaky(suite_run *run, const suite_each *e, float slope) {
    float got[EACH_SIZE], expected[EACH_SIZE];
    char sizes[100];
    snprintf(sizes, sizeof sizes, "%s, slope %g", e->sizes, (double)slope);
    memcpy(got, e->in_place ? e->x : e->out, sizeof got);
    memcpy(expected, got, sizeof got);
    for (int64_t i = 0; i < e->count; i++) expected[i] = leaky_of(e->x[i], slope);
    run->kernels->leaky(slope, e->count, e->in_place ? got : e->x, got);
    compare(run, "leaky", sizes, EACH_SIZE, got, expected);
    memcpy(got, e->in_place ? e->up : e->out, sizeof got);
    memcpy(expected, got, sizeof got);
    for (int64_t i = 0; i < e->count; i++) expected[i] = leaky_back_of(e->x[i], slope, e->up[i]);
    run->kernels->leaky_back(slope, e->count, e->x, e->in_place ? got : e->up, got);
    compare(run, "gradient of leaky", sizes, EACH_SIZE, got, expected);
}

static void compare_each(suite_run *run, const suite_each *e) {
    static const float factors[] = {1.0f, 0.0f, -0x1.8p-130f, INFINITY, 0.3f};
    float got[EACH_SIZE], expected[EACH_SIZE];
    memcpy(got, e->in_place ? e->up : e->out, sizeof got);
    memcpy(expected, got, sizeof got);
    for (int64_t i = 0; i < e->count; i++)
        expected[i] = e->up[i] * fmaf(0.0f - e->x[i], e->x[i], 1.0f);
    run->kernels->tanh_back(e->count, e->x, e->in_place ? got : e->up, got);
    compare(run, "gradient of tanh", e->sizes, EACH_SIZE, got, expected);
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        memcpy(got, e->out, sizeof got);
        memcpy(expected, got, sizeof got);
        for (int64_t i = 0; i < e->count; i++) expected[i] = fmaf(factors[f], e->x[i], expected[i]);
        run->kernels->add_scaled(e->count, factors[f], e->x, got);
        compare(run, "sum with a factor", e->sizes, EACH_SIZE, got, expected);
    }
}

/* x: gradient, up: weights, out: first moments, more: second moments, of which none is negative. */
static void compare_adam(suite_run *run, const suite_each *e) {
    static const leat_adam_step steps[] = {
        {1.0f, 1.0f, 0.5f, 0.999f, 0.001f, 4e-4f, 0.0316f, 1e-8f},
        {0x1p-9f, 0.99f, 0.1f, 0.98f, 0.02f, 2e-4f, 1.0f, 1e-5f},
        {3.0f, 1.0f, 1.0f, 0.0f, 1.0f, 1e-3f, 0.7f, 0.0f}, /* 0 / 0 where the gradient is 0 */
    };
    float got[3][EACH_SIZE], expected[3][EACH_SIZE];
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        const leat_adam_step *step = &steps[s];
        memcpy(got[0], e->up, sizeof got[0]);
        memcpy(got[1], e->out, sizeof got[1]);
        for (int i = 0; i < EACH_SIZE; i++) got[2][i] = e->more[i] > 0 ? e->more[i] : 0.0f;
        memcpy(expected, got, sizeof got);
        for (int64_t i = 0; i < e->count; i++) {
            const float g = e->x[i] * step->gradient_factor;
            const float kept = expected[0][i] * step->keep_weight, old = expected[1][i];
            const float m = fmaf(g - old, step->more1, old);
            const float square = step->more2 * g * g, v = fmaf(expected[2][i], step->keep2, square);
            const float divisor = sqrtf(v) / step->root + step->eps;
            expected[0][i] = fmaf(-step->size, m / divisor, kept);
            expected[1][i] = m;
            expected[2][i] = v;
        }
        run->kernels->adam(step, e->count, e->x, got[0], got[1], got[2]);
        compare(run, "first moments of Adam", e->sizes, EACH_SIZE, got[1], expected[1]);
        compare(run, "second moments of Adam", e->sizes, EACH_SIZE, got[2], expected[2]);
        compare(run, "weights of Adam", e->sizes, EACH_SIZE, got[0], expected[0]);
    }
}

static void case_each(suite_run *run) {
    suite_each e;
    for (e.count = 0; e.count <= EACH_MAX; e.count++) {
        for (int special = 0; special < 2; special++) {
            void (*const make)(suite_run * run, int64_t count, float *out) =
                special ? fill_edges : fill_rough;
            e.in_place = e.count / 2 % 2 == 1;
            snprintf(e.sizes, sizeof e.sizes, "%d of them%s%s", (int)e.count,
                     e.in_place ? ", in place" : "", special ? ", special values" : "");
            make(run, EACH_SIZE, e.x);
            make(run, EACH_SIZE, e.up);
            make(run, EACH_SIZE, e.out);
            make(run, EACH_SIZE, e.more);
            for (int s = 0; s < SLOPES; s++) compare_leaky(run, &e, slopes[s]);
            compare_each(run, &e);
            compare_adam(run, &e);
        }
    }
}

/* ---- all of them -------------------------------------------------------------------------- */

/* They are the suite "core", whose hash is the kernel class of runs that compute with it: another
 * case would end them all. New kernels get a suite of their own (nn/kernel_suites.h). */
static suite_case *const cases[] = {
    case_tile, case_tile_special, case_transpose, case_map_special,
    case_map,  case_random,       case_norm,      case_each,
};

bool leat_kernels_check(const leat_kernels *kernels, uint64_t *hash, char *message, size_t size) {
    return suite_check(cases, sizeof cases / sizeof *cases, kernels, hash, message, size);
}
