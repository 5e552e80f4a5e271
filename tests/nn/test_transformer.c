/*
 * The transformer: its loss and gradients against loops in double, and their differences; the same
 * bits for every variant and number of threads; a context has the same logits alone, packed and
 * moved; what is refused. And against Hugging Face's Llama (golden/nn/llama_tiny): logits,
 * gradients, three steps, what it says next, and that mistakes show.
 */
/* TSan: micro-batches on a pool. */
#include "nn/models/transformer/model.h"

#include <math.h>
#include <stdio.h>

#include "nn/ops/rope.h"
#include "nn/ops/rows.h"
#include "nn_support.h"
#include "transformer_double.h"
#include "transformer_support.h"

/* ---- In double ------------------------------------------------------------------------------ */

/* About `tried` of a parameter's values. */
static void check_differences(double dropout, int64_t tried) {
    const leat_transformer_shape *shape = shape_of(&small);
    const float *parameters = parameters_of(shape);
    tokens batch;
    tokens_make(&batch, 1);
    void *model = model_make(small, SEQUENCES, 1, NULL, dropout);
    float *gradient = nn_zeros(shape->count);
    double *p = (double *)nn_zeros(2 * shape->count);
    leat_unit_numbers numbers = {.gradient = gradient};
    const leat_unit_batches batches = {1, get, &batch};
    assert_ok(leat_transformer_class.unit(model, 0, &batches, parameters, &numbers, err));
    for (int64_t i = 0; i < shape->count; i++) p[i] = (double)parameters[i];
    assert_true(numbers.weight == 18);
    assert_true(fabs(numbers.sums[0] / 18 - double_loss(shape, &batch.micro, dropout, p)) < 2e-6);
    for (int i = 0; i < shape->param_count; i++) {
        const leat_param *param = &shape->params[i];
        for (int64_t k = param->offset; k < param->offset + param->count;
             k += 1 + param->count / tried) {
            const double old = p[k], d = 1e-5;
            p[k] = old + d;
            const double above = double_loss(shape, &batch.micro, dropout, p);
            p[k] = old - d;
            const double below = double_loss(shape, &batch.micro, dropout, p);
            p[k] = old;
            const double slope = (above - below) / (2 * d);
            if (!(fabs((double)gradient[k] / 18 - slope) < 2e-6 + 1e-5 * fabs(slope)))
                fail_msg("%s: %g, not %g", param->name, (double)gradient[k] / 18, slope);
        }
    }
    leat_transformer_class.destroy(model);
    nn_free_all();
}

static void test_differences(void **state) {
    (void)state;
    check_differences(0, 9);
    check_differences(0.25, 4);
}

/* ---- Bits ----------------------------------------------------------------------------------- */

enum { MICROS = 3 };

/* Of the first `micros` batches. */
static float *unit_of(const leat_transformer_shape *shape, const leat_device *device, int threads,
                      double dropout, int micros, tokens *batches, double *loss) {
    const float *parameters = parameters_of(shape);
    void *model = model_make(small, SEQUENCES, threads, device->kernels->name, dropout);
    float *gradient = nn_zeros(shape->count);
    leat_unit_numbers numbers = {.gradient = gradient};
    const leat_unit_batches all = {micros, get, batches};
    assert_ok(leat_transformer_class.unit(model, 0, &all, parameters, &numbers, err));
    assert_true(numbers.weight == micros * 18);
    *loss = numbers.sums[0];
    leat_transformer_class.destroy(model);
    return gradient;
}

/* Threads take micro-batches; of a single one, parts of its ops. */
static void test_bits(void **state) {
    (void)state;
    static const struct {
        double dropout;
        int micros, threads[4];
    } cases[] = {{0, MICROS, {1, 3}}, {0.25, MICROS, {1, 3}}, {0.25, 1, {1, 2, 3, 8}}};
    const leat_transformer_shape *shape = shape_of(&small);
    tokens batches[MICROS];
    for (int i = 0; i < MICROS; i++) tokens_make(&batches[i], i);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const double dropout = cases[k].dropout;
        const int micros = cases[k].micros;
        const leat_device scalar = {.kernels = &leat_kernels_scalar};
        double want_loss, loss;
        const float *want = unit_of(shape, &scalar, 1, dropout, micros, batches, &want_loss);
        leat_device device;
        for (int i = 0; nn_variant(i, false, &device); i++) {
            for (int t = 0; t < 4 && cases[k].threads[t] > 0; t++) {
                const float *got =
                    unit_of(shape, &device, cases[k].threads[t], dropout, micros, batches, &loss);
                nn_assert_same(got, want, shape->count);
                assert_true(loss == want_loss);
            }
        }
        nn_free_all();
    }
}

/* With dropout, a step is another one, and the same one again. */
static void test_dropout(void **state) {
    (void)state;
    const leat_transformer_shape *shape = shape_of(&small);
    const leat_device device = {.kernels = leat_kernels_find(NULL)};
    tokens batches[MICROS];
    double loss[4];
    for (int i = 0; i < MICROS; i++) tokens_make(&batches[i], i);
    unit_of(shape, &device, 1, 0, MICROS, batches, &loss[0]);
    unit_of(shape, &device, 1, 0.25, MICROS, batches, &loss[1]);
    unit_of(shape, &device, 1, 0.25, MICROS, batches, &loss[2]);
    batches[0].epoch[0]++;
    unit_of(shape, &device, 1, 0.25, MICROS, batches, &loss[3]);
    assert_true(loss[0] != loss[1] && loss[1] == loss[2] && loss[2] != loss[3]);
    nn_free_all();
}

/* Logits are those of a model without it. */
static void test_logits_without_dropout(void **state) {
    (void)state;
    const leat_transformer_shape *shape = shape_of(&small);
    const float *parameters = parameters_of(shape);
    const int64_t count = ROWS * small.vocabulary;
    float *logits[2];
    tokens batch;
    tokens_make(&batch, 1);
    for (int k = 0; k < 2; k++) {
        void *model = model_make(small, SEQUENCES, 1, NULL, 0.5 * k);
        logits[k] = nn_zeros(count);
        assert_ok(leat_transformer_logits(model, &batch.micro, parameters, logits[k], err));
        leat_transformer_class.destroy(model);
    }
    nn_assert_same(logits[1], logits[0], count);
    nn_free_all();
}

/* The segment of seven tokens of the second sequence, alone and behind others. */
static void test_alone_packed_moved(void **state) {
    (void)state;
    enum { FIRST = LENGTH + 5, COUNT = 7 };
    const leat_transformer_shape *shape = shape_of(&small);
    const float *parameters = parameters_of(shape);
    const int64_t ids = small.vocabulary;
    tokens packed;
    tokens_make(&packed, 1);
    void *model = model_make(small, SEQUENCES, 1, NULL, 0);
    float *want = nn_zeros(ROWS * ids), *got = nn_zeros(ROWS * ids);
    assert_ok(leat_transformer_logits(model, &packed.micro, parameters, want, err));
    for (int place = 0; place <= 4; place += 2) {
        tokens alone = {
            .inputs = {1, 2, 3, 4}, .segments = {2, 2, 2, 2}, .positions = {0, 1, 2, 3}};
        for (int i = 0; i < COUNT; i++) {
            alone.inputs[place + i] = packed.inputs[FIRST + i];
            alone.positions[place + i] = i;
            alone.segments[place + i] = 1;
        }
        alone.micro = (leat_token_micro){.sequences = 1,
                                         .length = place + COUNT,
                                         .inputs = alone.inputs,
                                         .positions = alone.positions,
                                         .segments = alone.segments};
        assert_ok(leat_transformer_logits(model, &alone.micro, parameters, got, err));
        nn_assert_same(got + place * ids, want + FIRST * ids, COUNT * ids);
    }
    leat_transformer_class.destroy(model);
    nn_free_all();
}

/* ---- What is refused ------------------------------------------------------------------------ */

static void test_sizes_refused(void **state) {
    (void)state;
    static const struct {
        leat_transformer_size size;
        const char *words;
    } cases[] = {
        {{0, 20, 4, 2, 6, 22, 19, 40, 10000}, "layers must be between 1 and 32, not 0"},
        {{2, 5000, 4, 2, 6, 22, 19, 40, 10000}, "the width must be between"},
        {{2, 20, 4, 3, 6, 22, 19, 40, 10000}, "4 heads are not a multiple of its 3"},
        {{2, 20, 4, 2, 7, 22, 19, 40, 10000}, "must be even, not 7"},
        {{2, 20, 400, 2, 64, 22, 19, 40, 10000}, "heads times their width"},
        {{2, 20, 4, 2, 6, 22, 0, 40, 10000}, "the vocabulary must be"},
        {{2, 20, 4, 2, 6, 22, 19, 2000000, 10000}, "the length must be"},
        {{2, 20, 4, 2, 6, 22, 19, 40, NAN}, "the base of its rotary positions"},
    };
    static leat_transformer_shape shape;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(leat_transformer_shape_set(&shape, &cases[i].size, err), LEAT_ERR_OPTION,
                     cases[i].words);
    leat_transformer_size size;
    assert_true(leat_transformer_size_named("tiny", &size));
    assert_int_equal(shape_of(&size)->count, 872320);
    assert_false(leat_transformer_size_named("large", &size));
}

static void test_settings_refused(void **state) {
    (void)state;
    const struct {
        leat_transformer_settings settings;
        int64_t micro_batch;
        const char *words;
    } cases[] = {
        {{small, constant, 1}, 1, "dropout must be"},
        {{small, {LEAT_SCHEDULE_CONSTANT, 0, 0, 0}, 0}, 1, "the learning rate must be above 0"},
        {{small, {LEAT_SCHEDULE_COSINE, 1, 10, 10}, 0},
         1,
         "of 10 steps cannot have a warm-up of 10"},
        {{small, constant, 0}, 0, "between 1 and 104857 sequences of 40 tokens, not 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const leat_model_setup setup = {&cases[i].settings, cases[i].micro_batch, 1, NULL};
        void *self = NULL;
        assert_fails(leat_transformer_class.create(&self, &setup, err), LEAT_ERR_OPTION,
                     cases[i].words);
        assert_null(self);
    }
}

static void test_batches_refused(void **state) {
    (void)state;
    const leat_transformer_shape *shape = shape_of(&small);
    const float *parameters = parameters_of(shape);
    void *model = model_make(small, SEQUENCES, 1, NULL, 0);
    leat_unit_numbers numbers = {.gradient = nn_zeros(shape->count)};
    float *logits = nn_zeros(1);
    for (int k = 0; k < 6; k++) {
        static const char *const words[] = {
            "token 2 of sequence 1 of a micro-batch: the input is 19",
            "the position is 40; this transformer takes 0 to 39",
            "the target is -1",
            "micro-batch 0 of a unit has no token to predict",
            "its sequences have 41 tokens; this transformer takes at most 40",
            "it has 7 sequences of 12 tokens; this transformer has memory for 6 of them"};
        tokens batch;
        tokens_make(&batch, 1);
        const leat_unit_batches batches = {1, get, &batch};
        if (k == 0) batch.inputs[LENGTH + 2] = 19;
        if (k == 1) batch.positions[3] = 40;
        if (k == 2) batch.targets[0] = -1;
        if (k == 3) memset(batch.target_segments, 0, sizeof batch.target_segments);
        if (k == 4) batch.micro.length = 41;
        if (k == 5) batch.micro.sequences = 7;
        assert_fails(leat_transformer_class.unit(model, 0, &batches, parameters, &numbers, err),
                     LEAT_ERR_INPUT, words[k]);
        assert_true(numbers.weight == 0 && numbers.sums[0] == 0);
        if (k < 4) continue;
        assert_fails(leat_transformer_logits(model, &batch.micro, parameters, logits, err),
                     LEAT_ERR_INPUT, words[k]);
    }
    leat_transformer_class.destroy(model);
    nn_free_all();
}

/* A cosine schedule has an end; a rate of its own at every step. */
static void test_schedule(void **state) {
    (void)state;
    const leat_transformer_shape *shape = shape_of(&small);
    const leat_transformer_settings settings = {small, {LEAT_SCHEDULE_COSINE, 1e-3, 4, 1}, 0};
    const leat_model_setup setup = {&settings, 1, 1, NULL};
    void *model = NULL;
    float *parameters = nn_zeros(shape->count), *means = nn_zeros(2 * shape->count);
    float *gradient = nn_zeros(shape->count);
    assert_ok(leat_transformer_class.create(&model, &setup, err));
    gradient[0] = 1; /* Adam then moves it by the rate, nearly */
    leat_model_step step = {.gradient = gradient,
                            .weight = 1,
                            .parameters = parameters,
                            .first = means,
                            .second = means + shape->count};
    double before = 0;
    for (; step.step < 4; step.step++) {
        assert_ok(leat_transformer_class.step(model, &step, err));
        const double moved = before - (double)parameters[0];
        assert_true(fabs(moved - leat_schedule_rate(&settings.schedule, step.step + 1)) < 2e-7);
        before = (double)parameters[0];
    }
    assert_fails(leat_transformer_class.step(model, &step, err), LEAT_ERR_OPTION,
                 "step 5 of a cosine schedule of 4 steps");
    leat_transformer_class.destroy(model);
    nn_free_all();
}

/* ---- Hugging Face's Llama ------------------------------------------------------------------- */

static const leat_transformer_size llama = {2, 64, 4, 2, 16, 176, 267, 128, 10000};
enum { STEPS = 3, L_SEQUENCES = 2, L_LENGTH = 128, L_ROWS = L_SEQUENCES * L_LENGTH };

static float *golden_params(nn_golden *golden, const leat_transformer_shape *shape,
                            const char *folder) {
    float *out = nn_zeros(shape->count);
    for (int i = 0; i < shape->param_count; i++) {
        const leat_param *param = &shape->params[i];
        char name[128];
        int64_t n;
        snprintf(name, sizeof name, "%s%s", folder, param->name);
        const float *values = nn_golden_floats(golden, name, &n);
        assert_int_equal(n, param->count);
        memcpy(out + param->offset, values, sizeof *out * (size_t)n);
    }
    return out;
}

static const int32_t *golden_ints(nn_golden *golden, const char *name) {
    int64_t n;
    const double *values = nn_golden_doubles(golden, name, &n);
    int32_t *out = (int32_t *)nn_zeros(n);
    assert_int_equal(n, L_ROWS);
    for (int64_t i = 0; i < n; i++) out[i] = (int32_t)values[i];
    return out;
}

/* The model and its batch, with what is expected of them. */
typedef struct reference {
    nn_golden *weights, *batch;
    json_t *json;
    leat_token_micro micro;
    float *parameters;
} reference;

static void reference_open(reference *r, const leat_transformer_shape *shape) {
    *r = (reference){
        .weights = nn_golden_open_path(golden_left_out("golden/nn/llama_tiny/model.safetensors")),
        .batch = nn_golden_open_path(golden_left_out("golden/nn/llama_tiny_batch.safetensors")),
        .json = golden_json("golden/nn/llama_tiny.json")};
    r->micro = (leat_token_micro){.sequences = L_SEQUENCES,
                                  .length = L_LENGTH,
                                  .inputs = golden_ints(r->batch, "inputs"),
                                  .positions = golden_ints(r->batch, "inputs_position"),
                                  .segments = golden_ints(r->batch, "inputs_segmentation"),
                                  .targets = golden_ints(r->batch, "targets"),
                                  .target_segments = golden_ints(r->batch, "targets_segmentation")};
    r->parameters = golden_params(r->weights, shape, "");
}

static void reference_close(reference *r) {
    nn_golden_close(r->weights);
    nn_golden_close(r->batch);
    json_decref(r->json);
    nn_free_all();
}

static leat_code get_golden(void *context, int64_t index, int worker, const void **batch,
                            leat_error *err) {
    (void)index;
    (void)worker;
    (void)err;
    *batch = context;
    return LEAT_OK;
}

/* The largest difference of the logits of rows that are not padding, and the largest of all. */
static double off_of(const reference *r, const float *got, double *largest) {
    int64_t n;
    const double *want = nn_golden_doubles(r->batch, "logits.f64", &n);
    double off = 0;
    *largest = 0;
    for (int64_t i = 0; i < n; i++) {
        if (r->micro.segments[i / llama.vocabulary] == 0) continue;
        *largest = fmax(*largest, fabs(want[i]));
        off = fmax(off, fabs((double)got[i] - want[i]));
    }
    return off;
}

static double loss_at(const reference *r, size_t step) {
    json_t *of = json_object_get(r->json, "f64");
    return json_real_value(
        json_array_get(json_object_get(of, "loss_before_step_1_2_3_and_after"), step));
}
static double norm_at(const reference *r, size_t step) {
    json_t *of = json_object_get(r->json, "f64");
    return json_real_value(json_array_get(json_object_get(of, "grad_norm_before_clip"), step));
}

/* As a whole nearly equal, and no value off by more than twice the rate a step. */
static void check_steps(const reference *r, const leat_transformer_shape *shape, const char *folder,
                        const float *got) {
    const float *want = golden_params(r->batch, shape, folder);
    for (int i = 0; i < shape->param_count; i++) {
        const leat_param *param = &shape->params[i];
        double off = 0, all = 0;
        for (int64_t k = param->offset; k < param->offset + param->count; k++) {
            const double d = (double)got[k] - (double)want[k];
            assert_true(fabs(d) <= 2 * 3e-4 * STEPS);
            off += d * d;
            all += (double)want[k] * (double)want[k];
        }
        if (!(sqrt(off) <= 1e-5 * sqrt(all)))
            fail_msg("%s%s: %g", folder, param->name, sqrt(off / all));
    }
}

static void test_golden(void **state) {
    (void)state;
    const leat_transformer_shape *shape = shape_of(&llama);
    reference r;
    reference_open(&r, shape);
    void *model = model_make(llama, L_SEQUENCES, 2, NULL, 0);
    float *logits = nn_zeros(L_ROWS * llama.vocabulary), *gradient = nn_zeros(shape->count);
    float *means = nn_zeros(2 * shape->count);
    double largest;
    assert_ok(leat_transformer_logits(model, &r.micro, r.parameters, logits, err));
    const double off = off_of(&r, logits, &largest);
    assert_true(off <= 1e-5 * largest);
    for (int step = 0; step <= STEPS; step++) {
        leat_unit_numbers numbers = {.gradient = gradient};
        const leat_unit_batches batches = {1, get_golden, &r.micro};
        double norms[LEAT_MODEL_NORMS_MAX];
        assert_ok(leat_transformer_class.unit(model, 0, &batches, r.parameters, &numbers, err));
        assert_true(numbers.weight == 234);
        const double want = loss_at(&r, (size_t)step);
        assert_true(fabs(numbers.sums[0] / 234 - want) <= 5e-6 * want);
        if (step == STEPS) break;
        leat_transformer_class.norm(model, 0, gradient, numbers.weight, norms);
        assert_true(fabs(norms[0] - norm_at(&r, (size_t)step)) <= 2e-5 * norms[0]);
        const leat_model_step of = {
            0, step, gradient, numbers.weight, r.parameters, means, means + shape->count};
        assert_ok(leat_transformer_class.step(model, &of, err));
        for (int i = 0; step == 0 && i < shape->param_count; i++) {
            const leat_param *param = &shape->params[i];
            char name[128];
            snprintf(name, sizeof name, "grad/%s.f64", param->name);
            float *mean = gradient + param->offset;
            for (int64_t k = 0; k < param->count; k++) mean[k] /= 234;
            nn_assert_golden(mean, r.batch, name, 2e-5);
        }
    }
    check_steps(&r, shape, "step3/", r.parameters);
    check_steps(&r, shape, "step3/adam_m/", means);
    check_steps(&r, shape, "step3/adam_v/", means + shape->count);
    leat_transformer_class.destroy(model);
    reference_close(&r);
}

static void test_greedy(void **state) {
    (void)state;
    const leat_transformer_shape *shape = shape_of(&llama);
    reference r;
    reference_open(&r, shape);
    void *model = model_make(llama, 1, 1, NULL, 0);
    float *logits = nn_zeros(L_LENGTH * llama.vocabulary);
    int32_t inputs[L_LENGTH], positions[L_LENGTH], segments[L_LENGTH];
    json_t *greedy = json_object_get(r.json, "greedy"), *prompt = json_object_get(greedy, "prompt");
    json_t *more = json_object_get(greedy, "continuation");
    int length = (int)json_array_size(prompt);
    assert_int_equal(length, 24);
    for (int i = 0; i < L_LENGTH; i++) {
        inputs[i] = (int32_t)json_integer_value(json_array_get(prompt, (size_t)i));
        positions[i] = i;
        segments[i] = 1;
    }
    for (size_t k = 0; k < json_array_size(more); k++, length++) {
        const leat_token_micro micro = {.sequences = 1,
                                        .length = length,
                                        .inputs = inputs,
                                        .positions = positions,
                                        .segments = segments};
        assert_ok(leat_transformer_logits(model, &micro, r.parameters, logits, err));
        const float *last = logits + (length - 1) * llama.vocabulary;
        int best = 0;
        for (int c = 1; c < llama.vocabulary; c++) best = last[c] > last[best] ? c : best;
        assert_int_equal(best, json_integer_value(json_array_get(more, k)));
        inputs[length] = best;
    }
    assert_int_equal(length, 40);
    leat_transformer_class.destroy(model);
    reference_close(&r);
}

/* ---- Mistakes that must show ----------------------------------------------------------------- */

/* Rows of a matrix in another order: of each head, or of heads. */
static void move_rows(float *matrix, int64_t rows, int64_t columns, int64_t (*from)(int64_t row)) {
    float *old = nn_zeros(rows * columns);
    memcpy(old, matrix, sizeof *old * (size_t)(rows * columns));
    for (int64_t row = 0; row < rows; row++)
        memcpy(matrix + row * columns, old + from(row) * columns, sizeof *old * (size_t)columns);
}

/* Turning neighbours is turning halves of heads whose rows were sorted so. */
static int64_t interleaved(int64_t row) { return row / 16 * 16 + row % 8 * 2 + row % 16 / 8; }
/* Reading key-value heads by mod is reading them in blocks by heads 0, 2, 1, 3. */
static int64_t by_mod(int64_t row) {
    static const int64_t heads[] = {0, 2, 1, 3};
    return heads[row / 16] * 16 + row % 16;
}

static void mistake_rope(float *p, const leat_transformer_shape *shape) {
    for (int i = 0; i < 2; i++) {
        move_rows(p + shape->layers[i].q, 64, 64, interleaved);
        move_rows(p + shape->layers[i].k, 32, 64, interleaved);
    }
}

static void mistake_heads(float *p, const leat_transformer_shape *shape) {
    for (int i = 0; i < 2; i++) {
        float *o = p + shape->layers[i].o, turned[64 * 64];
        move_rows(p + shape->layers[i].q, 64, 64, by_mod);
        for (int k = 0; k < 64 * 64; k++) turned[k] = o[k % 64 * 64 + k / 64];
        move_rows(turned, 64, 64, by_mod);
        for (int k = 0; k < 64 * 64; k++) o[k] = turned[k % 64 * 64 + k / 64];
    }
}

static void norm_eps(const leat_rms_rows *of, float *y) {
    leat_rms_rows other = *of;
    other.eps = 1e-5f;
    leat_kernels_find(NULL)->rms_norm(&other, y);
}

/* A net with memory for one batch, of kernels that may be wrong. */
static void run_pass(const reference *r, const leat_transformer_shape *shape,
                     const leat_kernels *kernels, float *logits, double *loss) {
    static leat_transformer_scratch scratch;
    const leat_device device = {kernels, NULL};
    leat_float_layout floats = {0};
    float *table = nn_zeros(L_LENGTH * llama.head_width);
    leat_transformer_lay_out(&scratch, shape, &device, L_ROWS, &floats);
    float *block = nn_zeros(floats.used + LEAT_LANES);
    block += (64 - (uintptr_t)block % 64) % 64 / sizeof *block;
    leat_float_layout_place(&floats, block);
    leat_transformer_lay_out(&scratch, shape, &device, L_ROWS, &floats);
    leat_float_layout_end(&floats);
    leat_rope_fill(L_LENGTH, llama.head_width, llama.rope_base, table);
    const leat_transformer_pass pass = {shape, device,        &scratch, &r->micro,
                                        table, r->parameters, 0};
    int64_t targets;
    assert_ok(leat_transformer_forward(&pass, err));
    leat_rows_out(L_ROWS, llama.vocabulary, INFINITY, scratch.logits, logits);
    assert_ok(leat_transformer_backward(&pass, loss, &targets, err));
}

/* How far logits and loss are off after a mistake, as golden/nn/README.md has it. */
static void test_mistakes(void **state) {
    (void)state;
    enum { RIGHT, ROPE, MASK, HEADS, EPS, TARGETS, MISTAKES };
    static const double logits_off[] = {0, 6.6, 7.5, 6.7, 0.005, 0};
    static const double loss_off[] = {0, 0.049, 0.011, 0.072, 1.3e-5, 0.031};
    const leat_transformer_shape *shape = shape_of(&llama);
    for (int k = 0; k < MISTAKES; k++) {
        reference r;
        double largest, loss;
        int32_t one[L_ROWS];
        leat_kernels kernels = *leat_kernels_find(NULL);
        reference_open(&r, shape);
        const int32_t *segments = r.micro.segments;
        for (int i = 0; i < L_ROWS; i++) one[i] = segments[i] != 0;
        if (k == ROPE) mistake_rope(r.parameters, shape);
        if (k == MASK) r.micro.segments = one;
        if (k == HEADS) mistake_heads(r.parameters, shape);
        if (k == EPS) kernels.rms_norm = norm_eps;
        if (k == TARGETS) r.micro.target_segments = segments;
        float *logits = nn_zeros(L_ROWS * llama.vocabulary);
        run_pass(&r, shape, &kernels, logits, &loss);
        r.micro.segments = segments;
        const double off = off_of(&r, logits, &largest), want = loss_at(&r, 0);
        const double lost = fabs(loss - want);
        if (logits_off[k] == 0) assert_true(off <= 1e-5 * largest);
        else assert_true(off > 1e-5 * largest && fabs(off / logits_off[k] - 1) < 0.1);
        if (k == RIGHT) assert_true(lost <= 5e-6 * want);
        else assert_true(fabs(lost / loss_off[k] - 1) < 0.1);
        reference_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differences),   cmocka_unit_test(test_bits),
        cmocka_unit_test(test_dropout),       cmocka_unit_test(test_alone_packed_moved),
        cmocka_unit_test(test_sizes_refused), cmocka_unit_test(test_settings_refused),
        cmocka_unit_test(test_golden),        cmocka_unit_test(test_greedy),
        cmocka_unit_test(test_mistakes),      cmocka_unit_test(test_batches_refused),
        cmocka_unit_test(test_schedule),      cmocka_unit_test(test_logits_without_dropout),
    };
    return cmocka_run_group_tests_name("transformer", tests, NULL, NULL);
}
