/*
 * The DCGAN's unit and steps against PyTorch's float64 run of GANNs-with-friends
 * (golden/nn/dcgan_small), and the same bits for all kernels and numbers of threads.
 */
/* TSan: micro-batches on a pool. */
#include "nn/models/dcgan/dcgan.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>

#include "nn/ops/adam.h"
#include "nn_support.h"

enum { WIDTH = 6, LATENT = 100, MICRO = 8, MICROS = 2, STEPS = 3 };

typedef struct fixture {
    leat_dcgan_shape model;
    nn_golden *golden;
    float *parameters, *running, *noise;
    uint8_t *images;
    leat_dcgan_result result;
} fixture;

/* The tensor "GROUP/NAME" of every parameter, one after the other. */
static void load_parameters(fixture *f, const char *group, float *out) {
    for (int i = 0; i < f->model.param_count; i++) {
        const leat_param *param = &f->model.params[i];
        char name[100];
        int64_t count;
        snprintf(name, sizeof name, "%s/%s", group, param->name);
        const float *values = nn_golden_floats(f->golden, name, &count);
        assert_int_equal(count, param->count);
        memcpy(out + param->offset, values, sizeof *out * (size_t)count);
    }
}

static void open_fixture(fixture *f) {
    int64_t count;
    f->golden = nn_golden_open("dcgan_small.safetensors");
    assert_ok(leat_dcgan_shape_set(&f->model, WIDTH, LATENT, err));
    f->parameters = nn_zeros(f->model.size);
    load_parameters(f, "init", f->parameters);
    f->noise = nn_golden_floats(f->golden, "noise", &count);
    assert_int_equal(count, STEPS * MICROS * MICRO * LATENT);
    const float *levels = nn_golden_floats(f->golden, "images_u8", &count);
    assert_int_equal(count, MICROS * MICRO * LEAT_IMAGE_VALUES);
    f->images = (uint8_t *)nn_zeros(count / 4);
    for (int64_t i = 0; i < count; i++) f->images[i] = (uint8_t)levels[i];
    const int64_t values = (int64_t)LEAT_IMAGE_VALUES * MICRO * MICROS;
    f->result = (leat_dcgan_result){
        .gradient = nn_zeros(f->model.size),
        .moments = nn_zeros(MICROS * leat_dcgan_shape_moments(&f->model)),
        .logits_images = nn_zeros(MICRO * MICROS),
        .logits_fakes = nn_zeros(MICRO * MICROS),
        .fakes = nn_zeros(values),
    };
    f->running = nn_zeros(2 * (f->model.g_channels + f->model.d_channels));
    for (int64_t i = 0; i < f->model.g_channels; i++) f->running[f->model.g_channels + i] = 1;
    for (int64_t i = 0; i < f->model.d_channels; i++)
        f->running[2 * f->model.g_channels + f->model.d_channels + i] = 1;
}

static void close_fixture(fixture *f) {
    nn_golden_close(f->golden);
    nn_free_all();
}

/* Compares what a layer's channels have with "GROUP/NETWORK.main.NUMBER.KIND"; the number of a
 * normalisation is that of its weights. */
static void check_running(const fixture *f, const char *group, const char *end) {
    const int64_t g = f->model.g_channels, d = f->model.d_channels;
    for (int i = 0; i < 2 * LEAT_DCGAN_LAYERS; i++) {
        const bool is_g = i < LEAT_DCGAN_LAYERS;
        const leat_dcgan_layer *layer = is_g ? &f->model.g[i] : &f->model.d[i - LEAT_DCGAN_LAYERS];
        if (!layer->norm) continue;
        char stem[100], name[200];
        for (int p = 0; p < f->model.param_count; p++) {
            if (f->model.params[p].offset == layer->norm_weight)
                snprintf(stem, sizeof stem, "%.40s", f->model.params[p].name);
        }
        *strstr(stem, ".weight") = 0;
        const float *mean = f->running + (is_g ? 0 : 2 * g) + layer->moments;
        snprintf(name, sizeof name, "%s/%s.running_mean%s", group, stem, end);
        nn_assert_golden(mean, f->golden, name, 2e-5);
        snprintf(name, sizeof name, "%s/%s.running_var%s", group, stem, end);
        nn_assert_golden(mean + (is_g ? g : d), f->golden, name, 2e-5);
    }
}

static void check_unit(fixture *f, const leat_dcgan *work) {
    char name[100];
    float *mean = nn_zeros(f->model.size);
    assert_float_equal(f->result.weight, MICRO * MICROS, 0);
    for (int64_t i = 0; i < f->model.size; i++)
        mean[i] = f->result.gradient[i] / (float)f->result.weight;
    for (int i = 0; i < f->model.param_count; i++) {
        const leat_param *param = &f->model.params[i];
        int64_t whole;
        snprintf(name, sizeof name, "unit/grad/%s.f64", param->name);
        (void)nn_golden_every(f->golden, name, &whole);
        assert_int_equal(whole, param->count);
        nn_assert_golden(mean + param->offset, f->golden, name, 2e-5);
    }
    nn_assert_golden(f->result.logits_images, f->golden, "unit/d_real.f64", 2e-5);
    nn_assert_golden(f->result.logits_fakes, f->golden, "unit/d_fake.f64", 2e-5);
    const int64_t image = LEAT_IMAGE_VALUES, pixels = (int64_t)LEAT_IMAGE_SIZE * LEAT_IMAGE_SIZE;
    float *two = nn_zeros(4 * image); /* of each micro-batch, [color][y][x] */
    for (int64_t i = 0; i < 4 * image; i++) {
        const int64_t n = i / image / 2 * MICRO + i / image % 2, color = i % image / pixels;
        two[i] = f->result.fakes[n * image + i % pixels * LEAT_IMAGE_COLORS + color];
    }
    nn_assert_golden(two, f->golden, "unit/fake.f64", 2e-5);
    const struct {
        const char *name;
        double sum;
    } losses[] = {{"unit/loss_d_real.f64", f->result.loss_d_images},
                  {"unit/loss_d_fake.f64", f->result.loss_d_fakes},
                  {"unit/loss_g.f64", f->result.loss_g}};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        int64_t count;
        const double *want = nn_golden_doubles(f->golden, losses[i].name, &count);
        assert_int_equal(count, MICROS);
        assert_float_equal(losses[i].sum / MICRO, want[0] + want[1], 1e-6);
    }
    leat_dcgan_fold(work, LEAT_DCGAN_BOTH, MICROS, f->result.moments, f->running);
    check_running(f, "unit/running", ".f64");
}

static leat_dcgan *work_of(const leat_device *device) {
    leat_dcgan *work;
    const leat_dcgan_options options = {
        .width = WIDTH,
        .latent = LATENT,
        .micro_batch = MICRO,
        .threads = device->pool == NULL ? 1 : leat_pool_threads(device->pool),
        .kernels = device->kernels->name};
    assert_ok(leat_dcgan_create(&work, &options, err));
    return work;
}

static void test_unit(void **state) {
    (void)state;
    fixture f;
    leat_device device;
    float *first = NULL;
    open_fixture(&f);
    for (int i = 0; nn_variant(i, true, &device); i++) {
        leat_dcgan *work = work_of(&device);
        assert_ok(leat_dcgan_unit(work, LEAT_DCGAN_BOTH, MICROS, f.parameters, f.images, f.noise,
                                  &f.result, err));
        if (first == NULL) {
            check_unit(&f, work);
            first = nn_zeros(f.model.size);
            memcpy(first, f.result.gradient, sizeof *first * (size_t)f.model.size);
        }
        nn_assert_same(f.result.gradient, first, f.model.size);
        leat_dcgan_destroy(work);
    }
    close_fixture(&f);
}

/* One micro-batch, whose ops are divided among threads, and either pass alone. */
static void test_parts(void **state) {
    (void)state;
    fixture f;
    leat_device device;
    open_fixture(&f);
    float *first = nn_zeros(f.model.size);
    const int64_t g = f.model.g_size, size = f.model.size;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        leat_dcgan *work = work_of(&device);
        assert_ok(leat_dcgan_unit(work, LEAT_DCGAN_BOTH, 1, f.parameters, f.images, f.noise,
                                  &f.result, err));
        if (i == 0) memcpy(first, f.result.gradient, sizeof *first * (size_t)size);
        nn_assert_same(f.result.gradient, first, size);
        assert_ok(leat_dcgan_unit(work, LEAT_DCGAN_D, 1, f.parameters, f.images, f.noise, &f.result,
                                  err));
        nn_assert_same(f.result.gradient + g, first + g, size - g);
        for (int64_t j = 0; j < g; j++) assert_true(f.result.gradient[j] == 0);
        assert_ok(
            leat_dcgan_unit(work, LEAT_DCGAN_G, 1, f.parameters, NULL, f.noise, &f.result, err));
        nn_assert_same(f.result.gradient, first, g);
        for (int64_t j = g; j < size; j++) assert_true(f.result.gradient[j] == 0);
        leat_dcgan_destroy(work);
    }
    close_fixture(&f);
}

/* More threads than the one processor that they may use: slow, the same bits, and it ends. */
static void test_one_processor(void **state) {
    (void)state;
    fixture f;
    cpu_set_t before, one;
    open_fixture(&f);
    float *first = nn_zeros(f.model.size);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    }
    for (int pinned = 0; pinned < 2; pinned++) {
        const leat_dcgan_options options = {WIDTH, LATENT, MICRO, 5, NULL};
        leat_dcgan *dcgan;
        if (pinned) assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
        assert_ok(leat_dcgan_create(&dcgan, &options, err));
        assert_ok(leat_dcgan_unit(dcgan, LEAT_DCGAN_BOTH, MICROS, f.parameters, f.images, f.noise,
                                  &f.result, err));
        leat_dcgan_destroy(dcgan);
        if (!pinned) memcpy(first, f.result.gradient, sizeof *first * (size_t)f.model.size);
    }
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    nn_assert_same(f.result.gradient, first, f.model.size);
    close_fixture(&f);
}

/* How far a step's result is from PyTorch's: the README of golden/nn says how far is right. */
static void check_near(const fixture *f, const char *group, const float *values) {
    for (int i = 0; i < f->model.param_count; i++) {
        const leat_param *param = &f->model.params[i];
        char name[100];
        int64_t count, whole, off = 0;
        snprintf(name, sizeof name, "%s/%s", group, param->name);
        const double *want = nn_golden_doubles(f->golden, name, &count);
        const int64_t every = nn_golden_every(f->golden, name, &whole);
        assert_int_equal(whole, param->count);
        double largest = 0, difference = 0, norm = 0;
        for (int64_t j = 0; j < count; j++) largest = fmax(largest, fabs(want[j]));
        for (int64_t j = 0; j < count; j++) {
            const double by = fabs(values[param->offset + j * every] - want[j]);
            difference += by * by;
            norm += want[j] * want[j];
            if (by > 2e-5 * largest) off++;
            if (by > 1.2e-3) fail_msg("%s: value %lld is off by %g", name, (long long)j, by);
        }
        if (sqrt(difference / norm) > 5e-5 || off * 1000 > count)
            fail_msg("%s: off by %g, %lld of %lld values", name, sqrt(difference / norm),
                     (long long)off, (long long)count);
    }
}

static void run_steps(fixture *f, leat_dcgan *work, bool alternating, float *m, float *v) {
    const leat_adam adam = {2e-4, 0.5, 0.999, 1e-8, 0};
    for (int step = 1; step <= STEPS; step++) {
        const float *noise = f->noise + (step - 1) * MICROS * MICRO * LATENT;
        for (int pass = 0; pass < (alternating ? 2 : 1); pass++) {
            const leat_dcgan_pass what = !alternating ? LEAT_DCGAN_BOTH
                                         : pass == 0  ? LEAT_DCGAN_D
                                                      : LEAT_DCGAN_G;
            assert_ok(leat_dcgan_unit(work, what, MICROS, f->parameters, f->images, noise,
                                      &f->result, err));
            leat_dcgan_fold(work, what, MICROS, f->result.moments, f->running);
            assert_ok(leat_dcgan_step(work,
                                      &(leat_dcgan_update){.pass = what,
                                                           .adam = &adam,
                                                           .step = step,
                                                           .gradient = f->result.gradient,
                                                           .weight = f->result.weight,
                                                           .parameters = f->parameters,
                                                           .first = m,
                                                           .second = v},
                                      err));
        }
    }
}

static void check_steps(const char *group, bool alternating) {
    fixture f;
    char name[64];
    open_fixture(&f);
    const leat_device device = {.kernels = leat_kernels_find(NULL)};
    leat_dcgan *work = work_of(&device);
    float *m = nn_zeros(f.model.size), *v = nn_zeros(f.model.size);
    run_steps(&f, work, alternating, m, v);
    leat_dcgan_destroy(work);
    check_near(&f, group, f.parameters);
    snprintf(name, sizeof name, "%s/adam_m", group);
    check_near(&f, name, m);
    snprintf(name, sizeof name, "%s/adam_v", group);
    check_near(&f, name, v);
    check_running(&f, group, "");
    close_fixture(&f);
}

static void test_simultaneous(void **state) {
    (void)state;
    check_steps("simultaneous3", false);
}

static void test_alternating(void **state) {
    (void)state;
    check_steps("alternating3", true);
}

static void test_sizes(void **state) {
    (void)state;
    leat_dcgan_options options = leat_dcgan_options_default();
    leat_dcgan *dcgan = NULL;
    leat_parameter param;
    int64_t bytes = 0, many = 0, end = 0;
    assert_ok(leat_dcgan_bytes(&options, &bytes, err));
    options.threads = 2;
    assert_ok(leat_dcgan_bytes(&options, &many, err));
    assert_true(bytes > 0 && many > bytes && many < 2 * bytes);
    options.micro_batch = 2;
    assert_ok(leat_dcgan_create(&dcgan, &options, err));
    assert_int_equal(leat_dcgan_generator_size(dcgan), 3576704); /* crowd.md 1 */
    assert_int_equal(leat_dcgan_size(dcgan), 3576704 + 2765568);
    assert_int_equal(leat_dcgan_running_count(dcgan), 2 * (960 + 896));
    assert_int_equal(leat_dcgan_moment_count(dcgan), 2 * (960 + 2 * 896));
    int count = 0;
    for (; leat_dcgan_parameter_at(dcgan, count, &param); count++) {
        assert_int_equal(param.offset, end);
        end += param.count;
        if (count == 0) assert_string_equal(param.name, "G.main.0.weight");
        if (count == 13) assert_string_equal(param.name, "D.main.0.weight");
    }
    assert_int_equal(count, 24);
    assert_int_equal(end, leat_dcgan_size(dcgan));
    leat_dcgan_destroy(dcgan);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        leat_dcgan_options options;
        leat_code code;
        const char *words;
    } cases[] = {
        {{0, 100, 8, 1, NULL}, LEAT_ERR_OPTION, "width 0"},
        {{64, 5000, 8, 1, NULL}, LEAT_ERR_OPTION, "latent size 5000"},
        {{64, 100, 1, 1, NULL},
         LEAT_ERR_OPTION,
         "micro-batch must be between 2 and 1024 images, not 1"},
        {{64, 100, 8, 257, NULL}, LEAT_ERR_OPTION, "threads must be between 1 and 256, not 257"},
        {{64, 100, 8, 1, "sse"}, LEAT_ERR_OPTION, "no kernels \"sse\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_dcgan *dcgan = NULL;
        int64_t bytes;
        assert_fails(leat_dcgan_create(&dcgan, &cases[i].options, err), cases[i].code,
                     cases[i].words);
        assert_null(dcgan);
        assert_fails(leat_dcgan_bytes(&cases[i].options, &bytes, err), cases[i].code,
                     cases[i].words);
    }
    const leat_dcgan_options small = {4, 10, 2, 1, NULL};
    leat_dcgan_result result = {0};
    leat_dcgan *dcgan;
    assert_ok(leat_dcgan_create(&dcgan, &small, err));
    assert_fails(leat_dcgan_unit(dcgan, LEAT_DCGAN_BOTH, 0, NULL, NULL, NULL, &result, err),
                 LEAT_ERR_OPTION, "0 micro-batches");
    const leat_adam adam = {2e-4, 0.5, 0.999, 1e-8, 0};
    assert_fails(
        leat_dcgan_step(
            dcgan,
            &(leat_dcgan_update){.pass = LEAT_DCGAN_BOTH, .adam = &adam, .step = 1, .weight = 0},
            err),
        LEAT_ERR_OPTION, "total weight 0");
    leat_dcgan_destroy(dcgan);
}

/* First values: the same numbers for every variant, of the right spread, and pinned. */
static void test_init(void **state) {
    (void)state;
    float *first = NULL, running[64];
    leat_device device;
    for (int i = 0; nn_variant(i, false, &device); i++) {
        const leat_dcgan_options options = {16, 20, 2, 1, device.kernels->name};
        leat_dcgan *dcgan;
        leat_parameter param;
        assert_ok(leat_dcgan_create(&dcgan, &options, err));
        float *values = nn_zeros(leat_dcgan_size(dcgan));
        leat_dcgan_init(dcgan, 7, values);
        if (first == NULL) first = values;
        nn_assert_same(values, first, leat_dcgan_size(dcgan));
        for (int p = 0; leat_dcgan_parameter_at(dcgan, p, &param); p++) {
            double sum = 0, squares = 0;
            for (int64_t j = param.offset; j < param.offset + param.count; j++)
                sum += values[j], squares += (double)values[j] * values[j];
            const double mean = sum / (double)param.count;
            const bool shift = strstr(param.name, ".bias") != NULL;
            assert_float_equal(mean, param.rank == 1 && !shift ? 1 : 0, 0.02);
            if (shift) assert_true(squares == 0);
            if (param.rank == 4 && param.count > 1000)
                assert_float_equal(squares / (double)param.count, 0.02 * 0.02, 4e-5);
        }
        leat_dcgan_destroy(dcgan);
    }
    const leat_dcgan_options tiny = {1, 1, 2, 1, NULL};
    leat_dcgan *dcgan;
    assert_ok(leat_dcgan_create(&dcgan, &tiny, err));
    const int64_t g = 8 + 4 + 2 + 1, d = 2 + 4 + 8;
    assert_int_equal(leat_dcgan_running_count(dcgan), 2 * (g + d));
    leat_dcgan_init_running(dcgan, running);
    for (int64_t i = 0; i < g; i++) assert_true(running[i] == 0 && running[g + i] == 1);
    for (int64_t i = 0; i < d; i++)
        assert_true(running[2 * g + i] == 0 && running[2 * g + d + i] == 1);
    leat_dcgan_destroy(dcgan);
    nn_free_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_init),         cmocka_unit_test(test_unit),
        cmocka_unit_test(test_parts),        cmocka_unit_test(test_one_processor),
        cmocka_unit_test(test_simultaneous), cmocka_unit_test(test_alternating),
    };
    return cmocka_run_group_tests_name("dcgan", tests, NULL, NULL);
}
