/*
 * The transformer's steps and first values: AdamW with a clipped gradient against plain loops in
 * double, which tensors decay, sizes that have a name, and that a caller's mode for floating point
 * changes no bit.
 */
#include <math.h>
#include <string.h>

#include "float_modes.h"
#include "transformer_support.h"

/* ---- A step --------------------------------------------------------------------------------- */

/* By its name, which says more than the model's table of ranks. */
static bool decays(const leat_param *param) { return strstr(param->name, "norm") == NULL; }

/* With a gradient of 0 a weight of 1 changes by its decay alone: embedding and output have it. */
static void test_decay(void **state) {
    (void)state;
    const leat_transformer_shape *shape = shape_of(&small);
    void *model = model_make(small, 1, 1, NULL, 0);
    float *weights = nn_zeros(shape->count), *means = nn_zeros(2 * shape->count);
    int without = 0;
    for (int64_t i = 0; i < shape->count; i++) weights[i] = 1;
    const leat_model_step step = {.gradient = nn_zeros(shape->count),
                                  .weight = 1,
                                  .parameters = weights,
                                  .first = means,
                                  .second = means + shape->count};
    assert_ok(leat_transformer_class.step(model, &step, err));
    for (int i = 0; i < shape->param_count; i++) {
        const leat_param *param = &shape->params[i];
        const float want = decays(param) ? (float)(1 - constant.peak * 0.01) : 1;
        for (int64_t k = 0; k < param->count; k++)
            if (weights[param->offset + k] != want)
                fail_msg("%s: %a, not %a", param->name, (double)weights[param->offset + k],
                         (double)want);
        without += !decays(param);
    }
    assert_int_equal(without, 2 * small.layers + 1);
    leat_transformer_class.destroy(model);
    nn_free_all();
}

/* Decoupled decay; the first part of `w` is the weights, then the two means. */
static void double_step(const leat_transformer_shape *shape, double rate, int64_t t,
                        const float *gradient, double weight, double *w) {
    const int64_t count = shape->count;
    double *first = w + count, *second = w + 2 * count, norm = 0;
    for (int64_t i = 0; i < count; i++)
        norm += (double)gradient[i] / weight * ((double)gradient[i] / weight);
    norm = sqrt(norm);
    assert_true(norm > 2); /* so that it is clipped */
    for (int n = 0; n < shape->param_count; n++) {
        const leat_param *param = &shape->params[n];
        for (int64_t i = param->offset; i < param->offset + param->count; i++) {
            const double g = (double)gradient[i] / weight / (norm + 1e-6);
            first[i] = 0.9 * first[i] + 0.1 * g;
            second[i] = 0.999 * second[i] + 0.001 * g * g;
            if (decays(param)) w[i] *= 1 - rate * 0.01;
            w[i] -= rate * (first[i] / (1 - pow(0.9, (double)t))) /
                    (sqrt(second[i] / (1 - pow(0.999, (double)t))) + 1e-8);
        }
    }
}

/* Three steps at a rate that is large, so that the decay is far above rounding. */
static void test_step(void **state) {
    (void)state;
    const leat_transformer_shape *shape = shape_of(&small);
    const double rate = 0.05, weight = 3;
    const leat_transformer_settings settings = {small, {LEAT_SCHEDULE_CONSTANT, rate, 0, 0}, 0};
    const leat_model_setup setup = {&settings, 1, 1, NULL};
    const int64_t count = shape->count;
    void *model = NULL;
    float *means = nn_zeros(2 * count), *weights = parameters_of(shape);
    double *want = (double *)nn_zeros(2 * 3 * count);
    for (int64_t i = 0; i < count; i++) want[i] = (double)weights[i];
    assert_ok(leat_transformer_class.create(&model, &setup, err));
    for (int t = 1; t <= 3; t++) {
        const float *gradient = nn_numbers((uint64_t)t, count);
        const leat_model_step step = {0, t - 1, gradient, weight, weights, means, means + count};
        double_step(shape, rate, t, gradient, weight, want);
        assert_ok(leat_transformer_class.step(model, &step, err));
        for (int64_t i = 0; i < count; i++)
            if (!(fabs((double)weights[i] - want[i]) <= 2e-6))
                fail_msg("step %d: %g, not %g", t, (double)weights[i], want[i]);
        nn_assert_close(means, want + count, count, 1e-6);
        nn_assert_close(means + count, want + 2 * count, count, 1e-6);
    }
    leat_transformer_class.destroy(model);
    nn_free_all();
}

/* ---- Sizes and first values ----------------------------------------------------------------- */

static void test_named_sizes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        leat_transformer_size size;
        int64_t count;
    } named[] = {
        {"tiny",
         {.layers = 4,
          .width = 128,
          .heads = 4,
          .kv_heads = 4,
          .head_width = 32,
          .mlp = 352,
          .vocabulary = 267,
          .length = 256,
          .rope_base = 10000},
         872320},
        {"small",
         {.layers = 6,
          .width = 320,
          .heads = 5,
          .kv_heads = 5,
          .head_width = 64,
          .mlp = 1024,
          .vocabulary = 267,
          .length = 1024,
          .rope_base = 10000},
         8530880},
        {"base",
         {.layers = 20,
          .width = 640,
          .heads = 10,
          .kv_heads = 10,
          .head_width = 64,
          .mlp = 2048,
          .vocabulary = 267,
          .length = 1024,
          .rope_base = 10000},
         111779200},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        leat_transformer_size size;
        assert_true(leat_transformer_size_named(named[i].name, &size));
        assert_memory_equal(&size, &named[i].size, sizeof size); /* it has no padding */
        assert_int_equal(shape_of(&size)->count, named[i].count);
    }
}

/* Weights of norms are 1; others are normal, of deviation 0.02, by the seed. */
static void test_first_values(void **state) {
    (void)state;
    const leat_transformer_size size = {1, 64, 4, 2, 16, 96, 50, 8, 10000};
    const leat_transformer_shape *shape = shape_of(&size);
    void *model = model_make(size, 1, 1, NULL, 0);
    float *got = nn_zeros(shape->count), *other = nn_zeros(shape->count);
    leat_transformer_class.init(model, 7, got, NULL);
    leat_transformer_class.init(model, 8, other, NULL);
    for (int i = 0; i < shape->param_count; i++) {
        const leat_param *param = &shape->params[i];
        const float *values = got + param->offset;
        const double count = (double)param->count;
        double mean = 0, squares = 0;
        int64_t same = 0;
        for (int64_t k = 0; k < param->count; k++) {
            mean += (double)values[k] / count;
            squares += (double)values[k] * (double)values[k] / count;
            same += values[k] == other[param->offset + k];
        }
        if (!decays(param)) {
            assert_true(mean == 1 && squares == 1);
            continue;
        }
        assert_true(fabs(mean) < 5 * 0.02 / sqrt(count));
        assert_true(fabs(sqrt(squares) / 0.02 - 1) < 5 / sqrt(2 * count));
        assert_true(same * 100 < param->count);
    }
    leat_transformer_class.destroy(model);
    nn_free_all();
}

/* ---- The caller's mode ---------------------------------------------------------------------- */

/* All that a model computes, one after the other. */
typedef struct results {
    float *first_values, *gradient, *parameters, *means, *logits;
    double loss, norm;
} results;

static results results_in(float_mode mode, tokens *batch) {
    const leat_transformer_shape *shape = shape_of(&small);
    const int64_t count = shape->count;
    const leat_unit_batches batches = {1, get, batch};
    results r = {.first_values = nn_zeros(count),
                 .gradient = nn_zeros(count),
                 .parameters = parameters_of(shape),
                 .means = nn_zeros(2 * count),
                 .logits = nn_zeros(ROWS * small.vocabulary)};
    leat_unit_numbers numbers = {.gradient = r.gradient};
    leat_model_step step = {0, 0, r.gradient, 0, r.parameters, r.means, r.means + count};
    double norms[LEAT_MODEL_NORMS_MAX];
    set_mode(mode);
    void *model = model_make(small, SEQUENCES, 2, NULL, 0.25);
    leat_transformer_class.init(model, 5, r.first_values, NULL);
    assert_ok(leat_transformer_class.unit(model, 0, &batches, r.parameters, &numbers, err));
    leat_transformer_class.norm(model, 0, r.gradient, numbers.weight, norms);
    step.weight = numbers.weight;
    assert_ok(leat_transformer_class.step(model, &step, err));
    assert_ok(leat_transformer_logits(model, &batch->micro, r.parameters, r.logits, err));
    const float_mode after = get_mode();
    set_mode(DEFAULT_MODE);
    assert_int_equal(after, mode);
    leat_transformer_class.destroy(model);
    r.loss = numbers.sums[0];
    r.norm = norms[0];
    return r;
}

static void test_modes(void **state) {
    (void)state;
    const int64_t count = shape_of(&small)->count;
    tokens batch;
    tokens_make(&batch, 1);
    const results want = results_in(DEFAULT_MODE, &batch);
    for (int mode = UPWARD; mode < FLOAT_MODES; mode++) {
        const results got = results_in((float_mode)mode, &batch);
        nn_assert_same(got.first_values, want.first_values, count);
        nn_assert_same(got.gradient, want.gradient, count);
        nn_assert_same(got.parameters, want.parameters, count);
        nn_assert_same(got.means, want.means, 2 * count);
        nn_assert_same(got.logits, want.logits, ROWS * small.vocabulary);
        assert_true(got.loss == want.loss && got.norm == want.norm);
    }
    nn_free_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decay),       cmocka_unit_test(test_step),
        cmocka_unit_test(test_named_sizes), cmocka_unit_test(test_first_values),
        cmocka_unit_test(test_modes),
    };
    return cmocka_run_group_tests_name("steps of the transformer", tests, NULL, NULL);
}
