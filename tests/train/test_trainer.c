/*
 * Steps of a run: equal to loops written out with the functions of nn, for every schedule and
 * codec; the same for threads and kernels; computed in parts, through payloads; and what stops a
 * run.
 */
/* TSan: micro-batches on a pool. */
#include <math.h>
#include <stdlib.h>

#include "format/image_set_support.h"
#include "leat/batch.h"
#include "train/tasks/images/dcgan_task.h"
#include "train/tasks/images/generate.h"
#include "train/tasks/images/image_plan.h"
#include "train_support.h"

enum { IMAGES = 11, STEPS = 3 };

/* ---- a reference ---------------------------------------------------------------------------- */

/* What a step is, without the trainer: one unit after the other, through the bytes of a codec. */
typedef struct plain {
    leat_train_options options;
    leat_dcgan_settings settings;
    leat_dcgan *dcgan;
    int64_t size, moments;
    float *parameters, *first, *second, *running;
} plain;

static void through_bytes(leat_codec codec, uint64_t key, float *values, int64_t count) {
    uint8_t *bytes = malloc((size_t)leat_codec_bytes(codec, count) + 1);
    leat_codec_encode(codec, key, values, count, bytes);
    leat_codec_decode(codec, bytes, count, values);
    free(bytes);
}

static void plain_begin(plain *p, const leat_train_options *options) {
    const leat_dcgan_settings *own = options->settings;
    const leat_dcgan_options of = {own->width, own->latent, options->micro_batch, 1, NULL};
    p->options = *options;
    p->settings = *own;
    assert_ok(leat_dcgan_create(&p->dcgan, &of, err));
    p->size = leat_dcgan_size(p->dcgan);
    p->moments = leat_dcgan_moment_count(p->dcgan);
    p->parameters = calloc((size_t)p->size, 4);
    p->first = calloc((size_t)p->size, 4);
    p->second = calloc((size_t)p->size, 4);
    p->running = calloc((size_t)leat_dcgan_running_count(p->dcgan), 4);
    leat_dcgan_init(p->dcgan, options->seed, p->parameters);
    leat_dcgan_init_running(p->dcgan, p->running);
}

static void plain_end(plain *p) {
    leat_dcgan_destroy(p->dcgan);
    free(p->parameters);
    free(p->first);
    free(p->second);
    free(p->running);
}

static void plain_unit(plain *p, leat_dcgan_pass pass, const float *weights, int64_t step,
                       int64_t unit, float *sum, double *total) {
    const leat_train_options *o = &p->options;
    const int64_t n = o->unit_size, begin = (step * o->units + unit) * n;
    const int micros = (int)(n / o->micro_batch);
    uint8_t *images = malloc((size_t)(n * LEAT_IMAGE_VALUES));
    float *noise = malloc((size_t)(n * p->settings.latent) * 4);
    leat_dcgan_result result = {.gradient = calloc((size_t)p->size, 4),
                                .moments = calloc((size_t)(micros * p->moments), 4)};
    for (int64_t i = 0; i < n; i++)
        image_pixels(leat_image_at(o->seed, IMAGES, begin + i), LEAT_IMAGE_SIZE,
                     images + i * LEAT_IMAGE_VALUES);
    for (int64_t i = 0; i < n; i++)
        leat_dcgan_noise(p->dcgan, LEAT_NOISE_TRAINING, o->seed, begin + i, 1,
                         noise + i * p->settings.latent);
    assert_ok(leat_dcgan_unit(p->dcgan, pass, micros, weights, images, noise, &result, err));
    const uint64_t key =
        leat_trainer_key(o->seed, (step * o->units + unit) * n, pass == LEAT_DCGAN_G ? 1 : 0);
    through_bytes(o->codec_up, key, result.gradient, p->size);
    for (int64_t i = 0; i < p->size; i++)
        sum[i] = unit == 0 ? result.gradient[i] : sum[i] + result.gradient[i];
    *total += result.weight;
    leat_dcgan_fold(p->dcgan, pass, micros, result.moments, p->running);
    free(images);
    free(noise);
    free(result.gradient);
    free(result.moments);
}

static void plain_step(plain *p, int64_t step) {
    const leat_train_options *o = &p->options;
    const leat_dcgan_settings *own = &p->settings;
    const leat_adam adam = {own->learning_rate, own->beta1, own->beta2, 1e-8, 0};
    const bool both = own->schedule == LEAT_DCGAN_SIMULTANEOUS;
    float *sum = calloc((size_t)p->size, 4), *weights = malloc((size_t)p->size * 4);
    for (int i = 0; i < (both ? 1 : 2); i++) {
        const leat_dcgan_pass pass = both ? LEAT_DCGAN_BOTH : i == 0 ? LEAT_DCGAN_D : LEAT_DCGAN_G;
        double total = 0;
        memcpy(weights, p->parameters, (size_t)p->size * 4);
        through_bytes(o->codec_down, 0, weights, p->size);
        for (int64_t k = 0; k < o->units; k++) plain_unit(p, pass, weights, step, k, sum, &total);
        assert_ok(leat_dcgan_step(p->dcgan,
                                  &(leat_dcgan_update){.pass = pass,
                                                       .adam = &adam,
                                                       .step = step + 1,
                                                       .gradient = sum,
                                                       .weight = total,
                                                       .parameters = p->parameters,
                                                       .first = p->first,
                                                       .second = p->second},
                                  err));
    }
    free(sum);
    free(weights);
}

static void steps_are_those_of_plain_loops(void **state) {
    (void)state;
    for (int kind = 0; kind < 8; kind++) {
        leat_train_options options = train_small();
        leat_dcgan_settings own = train_small_settings();
        const leat_samples samples = train_samples(IMAGES);
        own.schedule = kind % 2 == 0 ? LEAT_DCGAN_SIMULTANEOUS : LEAT_DCGAN_ALTERNATING;
        options.settings = &own;
        options.codec_up = (leat_codec)(kind / 2 % 3);
        options.codec_down = kind / 2 == 1 ? LEAT_CODEC_BF16 : LEAT_CODEC_F32;
        options.units = kind >= 6 ? 1 : 3;
        options.seed = 5 + (uint64_t)kind;
        leat_trainer *trainer = train_create(&options, &samples);
        plain p;
        plain_begin(&p, &options);
        for (int64_t s = 0; s < STEPS; s++) {
            char hash[65];
            train_steps(trainer, 1, hash);
            plain_step(&p, s);
        }
        const leat_train_state *got = leat_trainer_state(trainer);
        assert_int_equal(got->step, STEPS);
        assert_memory_equal(got->parameters, p.parameters, (size_t)p.size * 4);
        assert_memory_equal(got->first, p.first, (size_t)p.size * 4);
        assert_memory_equal(got->second, p.second, (size_t)p.size * 4);
        assert_memory_equal(got->running, p.running, (size_t)leat_dcgan_running_count(p.dcgan) * 4);
        plain_end(&p);
        train_destroy(trainer);
    }
}

/* ---- what does not matter, and what does ----------------------------------------------------- */

static void hash_of(const leat_train_options *options, int64_t images, char hash[65]) {
    const leat_samples samples = train_samples(images);
    leat_trainer *trainer = train_create(options, &samples);
    train_steps(trainer, STEPS, hash);
    train_destroy(trainer);
}

static void threads_and_kernels_do_not_matter(void **state) {
    static const int threads[] = {2, 3, 8};
    leat_train_options options = train_small();
    leat_kernel_variant variant;
    char first[65], other[65];
    (void)state;
    options.unit_size = 6;
    hash_of(&options, IMAGES, first);
    for (int i = 0; i < 3; i++) {
        options.threads = threads[i];
        hash_of(&options, IMAGES, other);
        assert_string_equal(other, first);
    }
    for (int i = 0; leat_kernel_variant_at(i, &variant); i++) {
        if (!variant.runs) continue;
        options.kernels = variant.name;
        hash_of(&options, IMAGES, other);
        assert_string_equal(other, first);
    }
}

static void what_decides_the_weights_does_matter(void **state) {
    char first[65], other[65];
    leat_train_options options = train_small();
    (void)state;
    hash_of(&options, IMAGES, first);
    for (int i = 0; i < 9; i++) {
        leat_dcgan_settings own = train_small_settings();
        options = train_small();
        options.settings = &own;
        if (i == 0) options.seed = 1;
        if (i == 1) options.units = 1;
        if (i == 2) options.unit_size = 8;
        if (i == 3) options.micro_batch = 4;
        if (i == 4) options.codec_up = LEAT_CODEC_BF16;
        if (i == 5) options.codec_down = LEAT_CODEC_BF16;
        if (i == 6) own.learning_rate = 1e-3;
        if (i == 7) own.schedule = LEAT_DCGAN_ALTERNATING;
        if (i == 8) own.latent = 4;
        hash_of(&options, IMAGES, other);
        if (strcmp(first, other) == 0) fail_msg("case %d", i);
    }
    options = train_small();
    hash_of(&options, IMAGES + 1, other);
    assert_string_not_equal(first, other);
}

/* Runs are continued by later versions and other machines. */
static void a_hash_is_pinned(void **state) {
    leat_train_options options = train_small();
    char hash[65];
    (void)state;
    options.codec_up = LEAT_CODEC_INT8;
    options.codec_down = LEAT_CODEC_BF16;
    hash_of(&options, IMAGES, hash);
    assert_string_equal(hash, "ed03eda3c7b2308d9dd4267a86b253c70f1927b285f6854953b214020c247480");
}

/* ---- in parts -------------------------------------------------------------------------------- */

/* As a crowd does it: units computed by others, in any order, and sent as bytes. */
static void units_through_payloads_are_the_same(void **state) {
    leat_train_options options = train_small();
    const leat_samples samples = train_samples(IMAGES);
    char alone[65], crowd[65];
    (void)state;
    options.units = 3;
    options.codec_up = LEAT_CODEC_INT8;
    options.codec_down = LEAT_CODEC_BF16;
    hash_of(&options, IMAGES, alone);
    leat_trainer *one = train_create(&options, &samples), *two = train_create(&options, &samples);
    const leat_model_sizes sizes = leat_trainer_model(one)->sizes;
    const int sums = leat_trainer_model(one)->class->sums;
    const int64_t statistics = leat_trainer_feed(one)->batches_most * sizes.statistics;
    leat_payload_header header = {.codec = options.codec_up,
                                  .weight = (double)options.unit_size,
                                  .gradient_count = sizes.parameters,
                                  .statistics_count = statistics,
                                  .sum_count = sums};
    const int64_t bytes = leat_payload_bytes(header.codec, sizes.parameters, statistics, sums);
    uint8_t *payload[3];
    leat_unit_numbers got = {.gradient = malloc((size_t)sizes.parameters * 4),
                             .statistics = malloc((size_t)statistics * 4)};
    for (int k = 0; k < 3; k++) payload[k] = malloc((size_t)bytes);
    for (int64_t s = 0; s < STEPS; s++) {
        leat_step_numbers numbers;
        leat_unit_numbers unit;
        header.step = s;
        assert_ok(leat_trainer_begin(one, 0, err));
        assert_ok(leat_trainer_begin(two, 0, err));
        for (int k = 2; k >= 0; k--) { /* computed last to first */
            header.unit = k;
            assert_ok(leat_trainer_unit(two, k, &unit, err));
            assert_true(unit.weight == header.weight);
            const leat_payload_values values = {unit.gradient, unit.statistics, unit.sums};
            leat_payload_write(&header,
                               leat_trainer_key(options.seed, (3 * s + k) * options.unit_size, 0),
                               &values, payload[k]);
        }
        for (int k = 0; k < 3; k++) {
            leat_payload_values values = {got.gradient, got.statistics, got.sums};
            header.unit = k;
            assert_ok(leat_payload_read(payload[k], bytes, &header, &values, err));
            got.weight = header.weight;
            assert_ok(leat_trainer_add(one, k, &got, err));
        }
        assert_ok(leat_trainer_end(one, &numbers, err));
        const leat_train_state *from = leat_trainer_state(one);
        leat_train_state *to = leat_trainer_state(two);
        memcpy(to->parameters, from->parameters, (size_t)sizes.parameters * 4);
        to->step = from->step;
    }
    leat_trainer_hash(one, crowd);
    assert_string_equal(crowd, alone);
    for (int k = 0; k < 3; k++) free(payload[k]);
    free(got.gradient);
    free(got.statistics);
    train_destroy(one);
    train_destroy(two);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void norms_and_losses_are_of_the_mean(void **state) {
    leat_train_options options = train_small();
    const leat_samples samples = train_samples(IMAGES);
    leat_trainer *trainer = train_create(&options, &samples);
    const leat_model_sizes sizes = leat_trainer_model(trainer)->sizes;
    const int64_t generator = leat_generator_size(leat_trainer_model(trainer));
    leat_step_numbers numbers;
    double norm[2] = {0}, sums[3] = {0};
    float *sum = calloc((size_t)sizes.parameters, 4);
    leat_unit_numbers unit;
    (void)state;
    assert_ok(leat_trainer_begin(trainer, 0, err));
    for (int k = 0; k < 2; k++) {
        assert_ok(leat_trainer_unit(trainer, k, &unit, err));
        for (int64_t i = 0; i < sizes.parameters; i++) sum[i] += unit.gradient[i];
        for (int i = 0; i < 3; i++) sums[i] += unit.sums[i];
    }
    for (int64_t i = 0; i < sizes.parameters; i++)
        norm[i < generator] += (double)sum[i] * sum[i] / 64; /* of 8 images */
    assert_ok(leat_trainer_step(trainer, &numbers, err));
    assert_float_equal(numbers.norms[0], sqrt(norm[0]), 1e-9);
    assert_float_equal(numbers.norms[1], sqrt(norm[1]), 1e-9);
    assert_true(numbers.weight == 8);
    for (int i = 0; i < 3; i++) assert_true(numbers.sums[i] == sums[i]);
    free(sum);
    train_destroy(trainer);
}

static void what_is_not_finite_is_named(void **state) {
    static const char *const says[] = {"loss_d_images", "gradient of D", "loss_d_fakes"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        leat_train_options options = train_small();
        const leat_samples samples = train_samples(IMAGES);
        leat_trainer *trainer = train_create(&options, &samples);
        leat_step_numbers numbers;
        leat_unit_numbers unit;
        assert_ok(leat_trainer_begin(trainer, 0, err));
        for (int k = 0; k < 2; k++) {
            assert_ok(leat_trainer_unit(trainer, k, &unit, err));
            if (i != 1 && k == 1) unit.sums[i / 2] = i == 0 ? INFINITY : NAN;
            if (i == 1 && k == 1)
                unit.gradient[leat_generator_size(leat_trainer_model(trainer))] = NAN;
            assert_ok(leat_trainer_add(trainer, k, &unit, err));
        }
        assert_fails(leat_trainer_end(trainer, &numbers, err), LEAT_ERR_INPUT, says[i]);
        assert_fails(leat_trainer_end(trainer, &numbers, err), LEAT_ERR_INPUT, "step 1");
        train_destroy(trainer);
    }
}

/* What would be infinite after the step ends it, with the weights as they were; but for what is
 * infinite already. */
static void what_would_not_be_finite_is_named(void **state) {
    static const char *const says[] = {"the gradient of D is too large to be squared",
                                       "a running statistic is not finite", "a mean of gradients"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        leat_train_options options = train_small();
        const leat_samples samples = train_samples(IMAGES);
        leat_trainer *trainer = train_create(&options, &samples);
        const leat_model *model = leat_trainer_model(trainer);
        const leat_train_state *at = leat_trainer_state(trainer);
        const size_t bytes = (size_t)model->sizes.parameters * sizeof(float);
        float *before = malloc(bytes);
        leat_step_numbers numbers;
        leat_unit_numbers unit;
        memcpy(before, at->parameters, bytes);
        if (i == 2) at->second[7] = INFINITY;
        assert_ok(leat_trainer_begin(trainer, 0, err));
        for (int k = 0; k < 2; k++) {
            assert_ok(leat_trainer_unit(trainer, k, &unit, err));
            if (i == 0 && k == 1)
                unit.gradient[leat_generator_size(leat_trainer_model(trainer))] = 1e30F;
            for (int64_t m = 0; i == 1 && m < model->sizes.statistics; m++)
                unit.statistics[m] = 3.4e38F;
            assert_ok(leat_trainer_add(trainer, k, &unit, err));
        }
        assert_fails(leat_trainer_end(trainer, &numbers, err), LEAT_ERR_INPUT, says[i]);
        if (i < 2) assert_memory_equal(at->parameters, before, bytes);
        assert_int_equal(at->step, 0);
        free(before);
        train_destroy(trainer);
    }
}

static leat_code fail_read(const void *context, int64_t index, uint8_t *out, leat_error *err) {
    (void)context;
    (void)out;
    return leat_fail(err, LEAT_ERR_CORRUPT, "image %lld is damaged", (long long)index);
}

static void samples_that_cannot_be_read_end_the_step(void **state) {
    leat_train_options options = train_small();
    leat_samples samples = train_samples(IMAGES);
    leat_step_numbers numbers;
    (void)state;
    samples.read = fail_read;
    leat_trainer *trainer = train_create(&options, &samples);
    assert_fails(leat_trainer_step(trainer, &numbers, err), LEAT_ERR_CORRUPT, "is damaged");
    train_destroy(trainer);
}

static void bad_options_are_refused(void **state) {
    leat_train_options options = train_small();
    leat_samples samples = train_samples(IMAGES);
    leat_feed feed;
    leat_image_plan plan;
    int64_t steps = 0;
    (void)state;
    assert_fails(leat_image_plan_make(&plan, &options, 0, err), LEAT_ERR_INPUT, "no images");
    options.unit_size = 5;
    assert_fails(leat_image_plan_make(&plan, &options, 3, err), LEAT_ERR_OPTION, "unit-size 5");
    options = train_small();
    assert_ok(leat_image_plan_make(&plan, &options, IMAGES, err));
    samples.sample_bytes = 100;
    assert_ok(leat_feed_open_samples(&feed, leat_dcgan_task.feed, &samples, err));
    assert_fails(leat_feed_plan(&feed, &options, err), LEAT_ERR_OPTION, "--size 64");
    leat_feed_close(&feed);
    options.epochs = 2;
    options.steps = 0;
    assert_ok(leat_image_plan_steps(&plan, &options, &steps, err));
    assert_int_equal(steps, 3); /* ceil(2 * 11 / 8) */
    options.epochs = INT64_MAX / 4;
    assert_fails(leat_image_plan_steps(&plan, &options, &steps, err), LEAT_ERR_OPTION, "too many");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_plain_loops),
        cmocka_unit_test(threads_and_kernels_do_not_matter),
        cmocka_unit_test(what_decides_the_weights_does_matter),
        cmocka_unit_test(a_hash_is_pinned),
        cmocka_unit_test(units_through_payloads_are_the_same),
        cmocka_unit_test(norms_and_losses_are_of_the_mean),
        cmocka_unit_test(what_is_not_finite_is_named),
        cmocka_unit_test(what_would_not_be_finite_is_named),
        cmocka_unit_test(samples_that_cannot_be_read_end_the_step),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
