/* Attention within segments: against PyTorch, against plain loops in the order of its header (the
 * same bits for every variant and thread count), against finite differences in double; and a
 * segment has the same bits alone, packed and moved. */
/* TSan: parts of a pool. */
#include "nn/ops/attention.h"

#include <math.h>

#include "base/rng.h"
#include "nn_support.h"

/* ---- What is computed ----------------------------------------------------------------------- */

typedef struct arrays {
    leat_attention of;
    float *q, *k, *v, *up; /* inputs */
    float *y, *d_q, *d_k, *d_v;
    int64_t rows, q_step, kv_step, q_all, kv_all;
} arrays;

/* Outputs begin as NaN, but for unused lanes, which stay as they are. */
static float *output_of(int64_t rows, int64_t columns) {
    const int64_t step = leat_lanes(columns);
    float *out = nn_zeros(rows * step);
    for (int64_t i = 0; i < rows * step; i++) out[i] = i % step < columns ? NAN : 0;
    return out;
}

static arrays outputs_of(arrays a) {
    const int64_t columns = a.of.heads * a.of.width, key_columns = a.of.kv_heads * a.of.width;
    a.of.most = nn_zeros(a.rows * a.of.heads);
    a.of.sum = nn_zeros(a.rows * a.of.heads);
    a.y = output_of(a.rows, columns);
    a.d_q = output_of(a.rows, columns);
    a.d_k = output_of(a.rows, key_columns);
    a.d_v = output_of(a.rows, key_columns);
    return a;
}

static arrays sizes_of(leat_attention of) {
    arrays a = {.of = of, .rows = of.sequences * of.length};
    a.q_step = leat_lanes(of.heads * of.width);
    a.kv_step = leat_lanes(of.kv_heads * of.width);
    a.q_all = a.rows * a.q_step;
    a.kv_all = a.rows * a.kv_step;
    return a;
}

static void take_inputs(arrays *a) {
    a->of.q = a->q;
    a->of.k = a->k;
    a->of.v = a->v;
}

/* Numbers for all inputs; NaN in rows of padding and in unused lanes, which show nowhere. */
static arrays inputs_of(leat_attention of) {
    arrays a = sizes_of(of);
    a.q = nn_numbers(1, a.q_all);
    a.k = nn_numbers(2, a.kv_all);
    a.v = nn_numbers(3, a.kv_all);
    a.up = nn_numbers(4, a.q_all);
    for (int64_t i = 0; i < a.q_all; i++) {
        a.q[i] *= 4;
        if (of.segment[i / a.q_step] == 0 || i % a.q_step >= of.heads * of.width)
            a.q[i] = a.up[i] = NAN;
    }
    for (int64_t i = 0; i < a.kv_all; i++)
        if (of.segment[i / a.kv_step] == 0 || i % a.kv_step >= of.kv_heads * of.width)
            a.k[i] = a.v[i] = NAN;
    take_inputs(&a);
    return a;
}

static arrays run(const leat_device *device, const arrays *in) {
    const arrays a = outputs_of(*in);
    const leat_attention_gradient gradient = {a.y,   a.up,  a.d_q,
                                              a.d_k, a.d_v, nn_zeros(a.rows * a.of.heads)};
    assert_ok(leat_attention_forward(device, &a.of, a.y, err));
    assert_ok(leat_attention_backward(device, &a.of, &gradient, err));
    return a;
}

static void assert_same_results(const arrays *a, const arrays *b) {
    nn_assert_same(a->y, b->y, a->q_all);
    nn_assert_same(a->d_q, b->d_q, a->q_all);
    nn_assert_same(a->d_k, b->d_k, a->kv_all);
    nn_assert_same(a->d_v, b->d_v, a->kv_all);
}

/* ---- The order of the header, in plain loops ------------------------------------------------- */

enum { TILE = 64, MOST = 160 };

static float exp_of(float x) {
    leat_kernels_scalar.map(LEAT_FUNCTION_EXP, 1, &x, &x);
    return x;
}

static float chain(int64_t count, const float *a, const float *b) {
    float sum = 0;
    for (int64_t c = 0; c < count; c++) sum = fmaf(a[c], b[c], sum);
    return sum;
}

static float lanes_of(int64_t count, const float *x) {
    float lanes[16] = {0};
    for (int64_t i = 0; i < count; i++) lanes[i % 16] += x[i];
    for (int half = 8; half >= 1; half /= 2)
        for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
    return lanes[0];
}

/* One query of one head, which reads rows first .. row: y, m and l. */
static void plain_query(const arrays *a, int64_t first, int64_t row, int64_t head) {
    const leat_attention *of = &a->of;
    const int64_t kv = head / (of->heads / of->kv_heads), width = of->width;
    const float scale = (float)(1 / sqrt((double)width));
    float *y = a->y + row * a->q_step + head * width, m = 0, l = 0;
    for (int64_t tile = first; tile <= row; tile += TILE) {
        const int64_t count = row + 1 - tile < TILE ? row + 1 - tile : TILE;
        float e[TILE], largest = -INFINITY;
        for (int64_t j = 0; j < count; j++) {
            e[j] = chain(width, a->q + row * a->q_step + head * width,
                         a->k + (tile + j) * a->kv_step + kv * width);
            largest = fmaxf(largest, e[j]);
        }
        const float old = m;
        m = tile == first ? largest * scale : fmaxf(m, largest * scale);
        for (int64_t j = 0; j < count; j++) e[j] = exp_of(e[j] * scale - m);
        const float less = exp_of(old - m), more = lanes_of(count, e);
        l = tile == first ? more : fmaf(l, less, more);
        for (int64_t c = 0; c < width; c++) {
            float sum = tile == first ? 0 : y[c] * less;
            for (int64_t j = 0; j < count; j++)
                sum = fmaf(e[j], a->v[(tile + j) * a->kv_step + kv * width + c], sum);
            y[c] = sum;
        }
    }
    for (int64_t c = 0; c < width; c++) y[c] = (y[c] + 0.0f) / l;
    of->most[row * of->heads + head] = m;
    of->sum[row * of->heads + head] = l;
}

static void plain_query_back(const arrays *a, int64_t first, int64_t row, int64_t head) {
    const leat_attention *of = &a->of;
    const int64_t kv = head / (of->heads / of->kv_heads), width = of->width;
    const float scale = (float)(1 / sqrt((double)width));
    const int64_t at = row * a->q_step + head * width, which = row * of->heads + head;
    const float delta = leat_kernels_scalar.row_dot(width, a->up + at, a->y + at);
    for (int64_t j = first; j <= row; j++) {
        const int64_t key = j * a->kv_step + kv * width;
        const float s = chain(width, a->q + at, a->k + key);
        const float p = exp_of(s * scale - of->most[which]) * (1 / of->sum[which]);
        const float ds = p * (chain(width, a->up + at, a->v + key) - delta) * scale;
        for (int64_t c = 0; c < width; c++) {
            a->d_q[at + c] = fmaf(ds, a->k[key + c], a->d_q[at + c]);
            a->d_k[key + c] = fmaf(ds, a->q[at + c], a->d_k[key + c]);
            a->d_v[key + c] = fmaf(p, a->up[at + c], a->d_v[key + c]);
        }
    }
}

static int64_t first_of(const arrays *a, int64_t row) {
    const int32_t *segment = a->of.segment;
    int64_t first = row;
    while (first % a->of.length > 0 && segment[first - 1] == segment[row]) first--;
    return first;
}

static arrays plain(const arrays *in) {
    arrays a = outputs_of(*in);
    a.y = nn_zeros(a.q_all);
    a.d_q = nn_zeros(a.q_all);
    a.d_k = nn_zeros(a.kv_all);
    a.d_v = nn_zeros(a.kv_all);
    for (int64_t head = 0; head < a.of.heads; head++) {
        for (int64_t row = 0; row < a.rows; row++)
            if (a.of.segment[row] != 0) plain_query(&a, first_of(&a, row), row, head);
        for (int64_t row = 0; row < a.rows; row++)
            if (a.of.segment[row] != 0) plain_query_back(&a, first_of(&a, row), row, head);
    }
    for (int64_t i = 0; i < a.q_all; i++) a.d_q[i] += 0.0f;
    for (int64_t i = 0; i < a.kv_all; i++) a.d_k[i] += 0.0f;
    for (int64_t i = 0; i < a.kv_all; i++) a.d_v[i] += 0.0f;
    return a;
}

/* A sequence of segments of these lengths (0 ends them), padding between the third and the fourth,
 * and behind the last. */
static int32_t *segments_of(int64_t length, const int64_t *counts, int32_t *out) {
    int64_t row = 0;
    for (int32_t n = 1; counts[n - 1] > 0; n++) {
        if (n == 4) out[row++] = 0;
        for (int64_t i = 0; i < counts[n - 1]; i++) out[row++] = n;
    }
    assert_true(row <= length);
    while (row < length) out[row++] = 0;
    return out;
}

static const struct {
    int64_t heads, kv_heads, width;
} shapes[] = {{2, 2, 16}, {4, 2, 24}, {3, 1, 7}, {1, 1, 128}, {2, 1, 48}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const int64_t counts[][6] = {{MOST}, {63, 1, 64, 17}, {65, 2, 70}};

static void test_bits(void **state) {
    (void)state;
    int32_t segment[2 * MOST];
    for (int n = 0; n < SHAPES; n++) {
        segments_of(MOST, counts[n % 3], segment);
        segments_of(MOST, counts[(n + 1) % 3], segment + MOST);
        const arrays in = inputs_of((leat_attention){.sequences = 2,
                                                     .length = MOST,
                                                     .heads = shapes[n].heads,
                                                     .kv_heads = shapes[n].kv_heads,
                                                     .width = shapes[n].width,
                                                     .segment = segment});
        const arrays want = plain(&in);
        leat_device device;
        for (int i = 0; nn_variant(i, n == 1, &device); i++) {
            const arrays got = run(&device, &in);
            assert_same_results(&got, &want);
        }
        nn_free_all();
    }
}

/* A zero of either sign, or a number whose exponent is in -150 .. 59. */
static float rough_of(uint64_t seed, int64_t i) {
    const uint64_t bits = leat_random(seed, 1, (uint64_t)i);
    const float sign = bits % 2 == 0 ? 1.0f : -1.0f;
    if (bits / 2 % 8 == 0) return 0.0f * sign;
    return sign * ldexpf(1 + (float)(bits >> 40) * 0x1p-24f, (int)(bits / 16 % 210) - 150);
}

/* Products that underflow leave sums of -0, unless they end with + 0; others overflow. Scores of
 * which one is by far the largest give it all. */
static void test_rough_bits(void **state) {
    (void)state;
    static const int64_t few[] = {1, 2, 3, 66, 3, 0};
    static const leat_attention sizes[] = {{.heads = 3, .kv_heads = 1, .width = 7},
                                           {.heads = 2, .kv_heads = 2, .width = 33}};
    int32_t segment[MOST];
    for (int n = 0; n < 2; n++) {
        leat_attention of = sizes[n];
        of.sequences = 1;
        of.length = 80;
        of.segment = segments_of(of.length, few, segment);
        const arrays in = inputs_of(of);
        for (int64_t i = 0; i < in.q_all; i++) {
            if (!isnan(in.q[i])) in.q[i] = rough_of(1, i);
            if (!isnan(in.up[i])) in.up[i] = rough_of(2, i);
        }
        for (int64_t i = 0; i < in.kv_all; i++) {
            if (!isnan(in.k[i])) in.k[i] = rough_of(3, i);
            if (!isnan(in.v[i])) in.v[i] = rough_of(4, i);
        }
        const arrays want = plain(&in);
        for (int64_t i = 0; i < in.q_all; i++) assert_true(isfinite(want.y[i]));
        leat_device device;
        for (int i = 0; nn_variant(i, false, &device); i++) {
            const arrays got = run(&device, &in);
            assert_same_results(&got, &want);
        }
        nn_free_all();
    }
}

/* What is not finite is so in the same places, whatever the tiles of a product are. */
static void test_not_finite(void **state) {
    (void)state;
    int32_t segment[MOST];
    segments_of(MOST, counts[1], segment);
    const arrays in = inputs_of((leat_attention){.sequences = 1,
                                                 .length = MOST,
                                                 .heads = 2,
                                                 .kv_heads = 1,
                                                 .width = 16,
                                                 .segment = segment});
    in.v[20 * in.kv_step + 3] = INFINITY;
    in.k[70 * in.kv_step + 3] = INFINITY;
    in.up[100 * in.q_step] = NAN;
    const leat_device scalar = {.kernels = &leat_kernels_scalar};
    const arrays want = run(&scalar, &in);
    assert_true(isfinite(want.y[15 * in.q_step + 3]) && isnan(want.y[16 * in.q_step + 3]) &&
                isinf(want.y[20 * in.q_step + 3])); /* row 16 is of the block of key 20 */
    leat_device device;
    for (int i = 0; nn_variant(i, false, &device); i++) {
        const arrays got = run(&device, &in);
        assert_same_results(&got, &want);
    }
    nn_free_all();
}

/* ---- A segment by itself --------------------------------------------------------------------- */

static void assert_same_rows(const float *a, const float *b, int64_t rows, int64_t step) {
    nn_assert_same(a, b, rows * step);
}

/* The second segment of a sequence, alone, and in another place behind other ones. */
static void test_alone_packed_moved(void **state) {
    (void)state;
    enum { FIRST = 63, COUNT = 90 };
    static const int64_t packed[] = {FIRST, COUNT, 0};
    const leat_attention of = {.sequences = 1, .heads = 4, .kv_heads = 2, .width = 24};
    int32_t segment[MOST];
    leat_attention whole = of;
    whole.length = MOST;
    whole.segment = segments_of(MOST, packed, segment);
    const arrays in = inputs_of(whole);
    leat_device device;
    for (int i = 0; nn_variant(i, false, &device); i++) {
        const arrays want = run(&device, &in);
        for (int64_t place = 0; place <= 3; place += 3) {
            int32_t other[MOST] = {7, 7, 7};
            leat_attention moved = of;
            moved.length = COUNT + place;
            for (int64_t row = place; row < moved.length; row++) other[row] = 9;
            moved.segment = other;
            arrays one = inputs_of(moved);
            const int64_t at = FIRST * in.q_step, key_at = FIRST * in.kv_step;
            const size_t q_size = sizeof(float) * (size_t)(COUNT * in.q_step);
            const size_t kv_size = sizeof(float) * (size_t)(COUNT * in.kv_step);
            memcpy(one.q + place * in.q_step, in.q + at, q_size);
            memcpy(one.up + place * in.q_step, in.up + at, q_size);
            memcpy(one.k + place * in.kv_step, in.k + key_at, kv_size);
            memcpy(one.v + place * in.kv_step, in.v + key_at, kv_size);
            const arrays got = run(&device, &one);
            assert_same_rows(got.y + place * in.q_step, want.y + at, COUNT, in.q_step);
            assert_same_rows(got.d_q + place * in.q_step, want.d_q + at, COUNT, in.q_step);
            assert_same_rows(got.d_k + place * in.kv_step, want.d_k + key_at, COUNT, in.kv_step);
            assert_same_rows(got.d_v + place * in.kv_step, want.d_v + key_at, COUNT, in.kv_step);
        }
    }
    nn_free_all();
}

/* What comes later changes nothing of what was before. */
static void test_causal(void **state) {
    (void)state;
    enum { SHORT = 70, LONG = 75 };
    int32_t segment[LONG];
    for (int i = 0; i < LONG; i++) segment[i] = 1;
    const leat_attention of = {
        .sequences = 1, .length = LONG, .heads = 2, .kv_heads = 2, .width = 16, .segment = segment};
    const arrays in = inputs_of(of);
    arrays shorter = in;
    shorter.of.length = SHORT;
    leat_device device;
    for (int i = 0; nn_variant(i, false, &device); i++) {
        const arrays all = run(&device, &in), some = outputs_of(shorter);
        assert_ok(leat_attention_forward(&device, &some.of, some.y, err));
        assert_same_rows(some.y, all.y, SHORT, in.q_step);
    }
    nn_free_all();
}

/* ---- PyTorch -------------------------------------------------------------------------------- */

/* [B][H][L][D] <-> rows */
static float *to_rows(const float *in, int64_t batch, int64_t heads, int64_t length,
                      int64_t width) {
    const int64_t step = leat_lanes(heads * width);
    float *out = nn_zeros(batch * length * step);
    for (int64_t i = 0; i < batch * heads * length * width; i++) {
        const int64_t d = i % width, l = i / width % length, h = i / width / length % heads;
        out[(i / (width * length * heads) * length + l) * step + h * width + d] = in[i];
    }
    return out;
}
static float *from_rows(const float *in, int64_t batch, int64_t heads, int64_t length,
                        int64_t width) {
    const int64_t step = leat_lanes(heads * width);
    float *out = nn_zeros(batch * heads * length * width);
    for (int64_t i = 0; i < batch * heads * length * width; i++) {
        const int64_t d = i % width, l = i / width % length, h = i / width / length % heads;
        out[i] = in[(i / (width * length * heads) * length + l) * step + h * width + d];
    }
    return out;
}

static void check_golden(const char *name, leat_attention of) {
    nn_golden *golden = nn_golden_open_path(golden_left_out(name));
    int64_t count;
    const float *seg = nn_golden_floats(golden, "in.seg", &count);
    int32_t segment[128];
    for (int64_t i = 0; i < count; i++) segment[i] = (int32_t)seg[i];
    of.segment = segment;
    arrays in = sizes_of(of);
    const int64_t b = of.sequences, l = of.length, d = of.width;
    in.q = to_rows(nn_golden_floats(golden, "in.q", &count), b, of.heads, l, d);
    in.k = to_rows(nn_golden_floats(golden, "in.k", &count), b, of.kv_heads, l, d);
    in.v = to_rows(nn_golden_floats(golden, "in.v", &count), b, of.kv_heads, l, d);
    in.up = to_rows(nn_golden_floats(golden, "up.y", &count), b, of.heads, l, d);
    take_inputs(&in);
    leat_device device;
    for (int i = 0; nn_variant(i, false, &device); i++) {
        const arrays got = run(&device, &in);
        nn_assert_golden(from_rows(got.y, b, of.heads, l, d), golden, "out.y.f64", 2e-6);
        nn_assert_golden(from_rows(got.d_q, b, of.heads, l, d), golden, "grad.q.f64", 2e-6);
        nn_assert_golden(from_rows(got.d_k, b, of.kv_heads, l, d), golden, "grad.k.f64", 2e-6);
        nn_assert_golden(from_rows(got.d_v, b, of.kv_heads, l, d), golden, "grad.v.f64", 2e-6);
    }
    nn_golden_close(golden);
    nn_free_all();
}

static void test_golden(void **state) {
    (void)state;
    check_golden(
        "golden/nn/ops/attention_segments.2x3x37x16.safetensors",
        (leat_attention){.sequences = 2, .length = 37, .heads = 3, .kv_heads = 3, .width = 16});
    check_golden(
        "golden/nn/ops/attention_segments.gqa.2x6x2x19x8.safetensors",
        (leat_attention){.sequences = 2, .length = 19, .heads = 6, .kv_heads = 2, .width = 8});
}

/* ---- Finite differences --------------------------------------------------------------------- */

enum { SMALL = 9, SMALL_WIDTH = 5, SMALL_HEADS = 2, Q_STEP = 16, KV_STEP = 16 };

/* The sum of up * y, in double, of two heads that read one. */
static double loss_of(const arrays *a, const double *q, const double *k, const double *v) {
    double loss = 0;
    for (int64_t i = 0; i < SMALL * SMALL_HEADS; i++) {
        const int64_t row = i / SMALL_HEADS, head = i % SMALL_HEADS;
        double sum = 0, all = 0;
        if (a->of.segment[row] == 0) continue;
        for (int64_t j = first_of(a, row); j <= row; j++) {
            double s = 0, y = 0;
            for (int c = 0; c < SMALL_WIDTH; c++) {
                s += q[row * Q_STEP + head * SMALL_WIDTH + c] * k[j * KV_STEP + c];
                y += v[j * KV_STEP + c] * (double)a->up[row * Q_STEP + head * SMALL_WIDTH + c];
            }
            const double e = exp(s / sqrt(SMALL_WIDTH));
            all += e;
            sum += e * y;
        }
        loss += sum / all;
    }
    return loss;
}

static void test_differences(void **state) {
    (void)state;
    static const int32_t segment[SMALL] = {1, 1, 1, 1, 0, 2, 2, 2, 2};
    const arrays in = inputs_of((leat_attention){.sequences = 1,
                                                 .length = SMALL,
                                                 .heads = SMALL_HEADS,
                                                 .kv_heads = 1,
                                                 .width = SMALL_WIDTH,
                                                 .segment = segment});
    const leat_device scalar = {.kernels = &leat_kernels_scalar};
    const arrays got = run(&scalar, &in);
    const float *gradient[] = {got.d_q, got.d_k, got.d_v}, *from[] = {in.q, in.k, in.v};
    double x[3][SMALL * 16];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < SMALL * 16; i++) x[k][i] = (double)from[k][i];
    double loss = 0;
    for (int i = 0; i < SMALL * Q_STEP; i++)
        if (!isnan(in.up[i])) loss += (double)in.up[i] * (double)got.y[i];
    assert_true(fabs(loss - loss_of(&in, x[0], x[1], x[2])) < 1e-5);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < SMALL * 16; i++) {
            if (isnan(x[k][i])) continue; /* padding */
            const double old = x[k][i], d = 1e-5;
            x[k][i] = old + d;
            const double above = loss_of(&in, x[0], x[1], x[2]);
            x[k][i] = old - d;
            const double below = loss_of(&in, x[0], x[1], x[2]);
            x[k][i] = old;
            assert_true(fabs((double)gradient[k][i] - (above - below) / (2 * d)) < 2e-6);
        }
    }
    nn_free_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_causal),      cmocka_unit_test(test_alone_packed_moved),
        cmocka_unit_test(test_differences), cmocka_unit_test(test_golden),
        cmocka_unit_test(test_rough_bits),
    };
    return cmocka_run_group_tests_name("attention", tests, NULL, NULL);
}
