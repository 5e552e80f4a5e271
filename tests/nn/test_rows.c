/* Sums, mixing and pooling of rows, and the losses of two classes: against plain loops in double,
 * gradients against finite differences, and the same bits for every variant and thread count. */
/* TSan: parts of a pool. */
#include "nn/ops/rows.h"

#include <math.h>

#include "nn/ops/class_loss.h"
#include "nn_support.h"

enum { ROWS = 70, COLUMNS = 19, STEP = 32, STEPS = 3, ALL = ROWS * STEP, SEGMENTS = 3 };
static const leat_rows of = {ROWS, COLUMNS, STEP};
static const int64_t first[] = {0, 1, 40, ROWS};

typedef struct results {
    float *sums, *shares, *mixed, *down, *scores, *pooled, *spread;
} results;

static results run(const leat_device *device, const float *x, const float *scores,
                   const float *up) {
    const results out = {nn_zeros(COLUMNS),     nn_zeros(STEPS * ROWS), nn_zeros(ALL),
                         nn_zeros(STEPS * ALL), nn_zeros(STEPS * ROWS), nn_zeros(SEGMENTS * STEP),
                         nn_zeros(ALL)};
    memcpy(out.shares, scores, sizeof *scores * STEPS * ROWS);
    assert_ok(leat_rows_sum(device, &of, x, out.sums, err));
    assert_ok(leat_rows_sum(device, &of, x + ALL, out.sums, err)); /* goes on */
    const leat_mix mix = {ROWS, COLUMNS, STEPS, x, out.shares};
    const leat_row_segments segments = {SEGMENTS, COLUMNS, first};
    assert_ok(leat_rows_mix(device, &mix, out.mixed, err));
    assert_ok(leat_rows_mix_backward(device, &mix, up, out.down, out.scores, err));
    assert_ok(leat_rows_pool(device, &segments, x, out.pooled, err));
    assert_ok(leat_rows_pool_backward(device, &segments, out.pooled, out.spread, err));
    return out;
}

static void test_bits(void **state) {
    (void)state;
    const float *x = nn_numbers(1, STEPS * ALL), *scores = nn_numbers(2, STEPS * ROWS);
    const float *up = nn_numbers(3, ALL);
    const leat_device scalar = {.kernels = &leat_kernels_scalar};
    const results want = run(&scalar, x, scores, up);
    leat_device device;
    for (int i = 1; nn_variant(i, true, &device); i++) {
        const results got = run(&device, x, scores, up);
        nn_assert_same(got.sums, want.sums, COLUMNS);
        nn_assert_same(got.shares, want.shares, STEPS * ROWS);
        nn_assert_same(got.mixed, want.mixed, ALL);
        nn_assert_same(got.down, want.down, STEPS * ALL);
        nn_assert_same(got.scores, want.scores, STEPS * ROWS);
        nn_assert_same(got.pooled, want.pooled, SEGMENTS * STEP);
        nn_assert_same(got.spread, want.spread, ALL);
    }
    for (int c = 0; c < COLUMNS; c++) { /* the orders of the header */
        float sum = 0;
        for (int i = 0; i < 2 * ROWS; i++) sum += x[i * STEP + c];
        nn_assert_same(&sum, want.sums + c, 1);
        sum = 0;
        for (int64_t i = first[1]; i < first[2]; i++) sum += x[i * STEP + c];
        sum /= 39;
        nn_assert_same(&sum, want.pooled + STEP + c, 1);
        sum /= 39;
        nn_assert_same(&sum, want.spread + 39 * STEP + c, 1);
    }
    nn_free_all();
}

static double mix(const double *x, const double *scores, const float *up) {
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
        double all = 0;
        for (int t = 0; t < STEPS; t++) all += exp(scores[t * ROWS + i]);
        for (int t = 0; t < STEPS; t++)
            for (int c = 0; c < COLUMNS; c++)
                sum += exp(scores[t * ROWS + i]) / all * x[t * ALL + i * STEP + c] *
                       (double)up[i * STEP + c];
    }
    return sum;
}

static void test_mix_differences(void **state) {
    (void)state;
    static double x[STEPS * ALL], scores[STEPS * ROWS];
    const float *x_in = nn_numbers(1, STEPS * ALL), *scores_in = nn_numbers(2, STEPS * ROWS);
    const float *up = nn_numbers(3, ALL);
    const leat_device scalar = {.kernels = &leat_kernels_scalar};
    const results got = run(&scalar, x_in, scores_in, up);
    for (int i = 0; i < STEPS * ALL; i++) x[i] = (double)x_in[i];
    for (int i = 0; i < STEPS * ROWS; i++) scores[i] = (double)scores_in[i];
    for (int i = 0; i < STEPS * ROWS; i += 7) {
        double slope[2];
        double *at[2] = {&scores[i], &x[i * STEP + i % COLUMNS]};
        for (int k = 0; k < 2; k++) {
            const double old = *at[k];
            *at[k] = old + 1e-4;
            slope[k] = mix(x, scores, up);
            *at[k] = old - 1e-4;
            slope[k] = (slope[k] - mix(x, scores, up)) / 2e-4;
            *at[k] = old;
        }
        assert_float_equal(got.scores[i], slope[0], 2e-6);
        assert_float_equal(got.down[i * STEP + i % COLUMNS], slope[1], 2e-6);
    }
    nn_free_all();
}

/* ---- Losses --------------------------------------------------------------------------------- */

enum { LABELS = 5 };
static const int32_t label[LABELS] = {0, 1, 1, 0, 0};
static const leat_class_loss_kind kinds[] = {LEAT_CLASS_LOSS_FOCAL, LEAT_CLASS_LOSS_CE,
                                             LEAT_CLASS_LOSS_WEIGHTED};

static double loss_of(leat_class_loss_kind kind, const double *logits) {
    double sum = 0, weight = 0;
    for (int i = 0; i < LABELS; i++) {
        const double d = logits[2 * i + 1 - label[i]] - logits[2 * i + label[i]];
        const double ce = log1p(exp(d)), p = 1 / (1 + exp(d));
        const double w = kind == LEAT_CLASS_LOSS_WEIGHTED && label[i] == 1 ? 5 : 1;
        sum += w * (kind == LEAT_CLASS_LOSS_FOCAL ? pow(1 - p, 2) : 1) * ce;
        weight += w;
    }
    return sum / weight;
}

static void test_losses(void **state) {
    (void)state;
    const float *from = nn_numbers(4, 2 * LABELS);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        float logits[LABELS * LEAT_LANES], gradient[LABELS * LEAT_LANES], work[4 * LABELS];
        float first_gradient[LABELS * LEAT_LANES];
        double in[2 * LABELS], loss = 0;
        const leat_class_loss how = {kinds[k], {1, 5}, LABELS, label, work};
        for (int i = 0; i < LABELS * LEAT_LANES; i++) logits[i] = NAN;
        for (int i = 0; i < 2 * LABELS; i++)
            in[i] = (double)(logits[i / 2 * LEAT_LANES + i % 2] = 3 * from[i]);
        leat_device device;
        for (int v = 0; nn_variant(v, false, &device); v++) {
            leat_class_loss_run(&device, &how, logits, &loss, gradient);
            if (v == 0) memcpy(first_gradient, gradient, sizeof gradient);
            nn_assert_same(gradient, first_gradient, LABELS * LEAT_LANES);
            assert_true(fabs(loss - loss_of(kinds[k], in)) < 1e-6 * loss);
        }
        for (int i = 0; i < 2 * LABELS; i++) {
            const double old = in[i];
            in[i] = old + 1e-5;
            const double above = loss_of(kinds[k], in);
            in[i] = old - 1e-5;
            const double below = loss_of(kinds[k], in);
            in[i] = old;
            assert_float_equal(gradient[i / 2 * LEAT_LANES + i % 2], (above - below) / 2e-5, 1e-6);
        }
        assert_true(gradient[2] == 0 && gradient[LEAT_LANES - 1] == 0);
    }
    nn_free_all();
}

/* Sure and wrong, sure and right, by far: nothing overflows or becomes NaN. */
static void test_far_logits(void **state) {
    (void)state;
    const leat_device scalar = {.kernels = &leat_kernels_scalar};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        float logits[LABELS * LEAT_LANES] = {0}, gradient[LABELS * LEAT_LANES], work[4 * LABELS];
        float probability[LABELS];
        double loss = 0;
        const leat_class_loss how = {kinds[k], {1, 5}, LABELS, label, work};
        logits[0] = 2e4f;
        logits[LEAT_LANES] = 2e4f;
        leat_class_loss_run(&scalar, &how, logits, &loss, gradient);
        assert_true(isfinite(loss) && loss > 1e3);
        for (int i = 0; i < LABELS * LEAT_LANES; i++) assert_true(isfinite(gradient[i]));
        leat_class_probability(&scalar, LABELS, logits, probability);
        assert_true(probability[0] == 0 && probability[2] == 0.5f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_mix_differences),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_far_logits),
    };
    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
