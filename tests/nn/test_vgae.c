/*
 * The VGAE against the reference (golden/can): activations, losses of three steps, gradients,
 * weights after steps; its loss and gradients against loops in double, and their differences; the
 * same bits for every variant and number of threads. That what is drawn for a graph is the same in
 * any micro-batch is checked in test_graph_random.c.
 */
/* TSan: micro-batches on a pool. */
#include "nn/models/vgae/model.h"

#include <math.h>
#include <stdio.h>

#include "graphs.h"
#include "nn/models/vgae/vgae.h"
#include "vgae_double.h"

/* A net with memory for one batch; everything is freed by nn_free_all. */
typedef struct net {
    leat_vgae_shape shape;
    leat_vgae_scratch scratch;
    leat_vgae_pass pass;
} net;

static void net_make(net *of, const leat_device *device, const leat_graph_micro *batch,
                     int64_t vocabulary) {
    leat_float_layout floats = {0};
    assert_ok(leat_vgae_shape_set(&of->shape, LEAT_VGAE_SMALL, vocabulary, err));
    leat_vgae_lay_out(&of->scratch, &of->shape, device, batch->nodes, batch->edges, &floats);
    float *block = nn_zeros(floats.used + LEAT_LANES);
    block += (64 - (uintptr_t)block % 64) % 64 / sizeof *block;
    leat_float_layout_place(&floats, block);
    leat_vgae_lay_out(&of->scratch, &of->shape, device, batch->nodes, batch->edges, &floats);
    leat_float_layout_end(&floats);
    of->pass = (leat_vgae_pass){
        .shape = &of->shape, .device = *device, .scratch = &of->scratch, .batch = batch};
}

/* ---- The reference -------------------------------------------------------------------------- */

enum { VOCABULARY = 51, STEPS = 3 };

static nn_golden *open_golden(void) {
    return nn_golden_open_path(golden_left_out("golden/can/vgae_ref.safetensors"));
}

static float *params_of(nn_golden *golden, const leat_vgae_shape *shape, const char *folder) {
    float *out = nn_zeros(shape->size);
    for (int i = 0; i < shape->param_count; i++) {
        const leat_param *param = &shape->params[i];
        char name[128];
        int64_t n;
        snprintf(name, sizeof name, "%s/%s", folder, param->name);
        const float *values = nn_golden_floats(golden, name, &n);
        assert_int_equal(n, param->count);
        memcpy(out + param->offset, values, sizeof *out * (size_t)n);
    }
    return out;
}

static leat_vgae_random random_of(nn_golden *golden, int step, int64_t nodes, int64_t values) {
    char name[64];
    int64_t n;
    uint8_t *hidden = (uint8_t *)nn_zeros(nodes);
    int32_t *drawn = nn_ints(nodes * LEAT_VGAE_DRAWS);
    snprintf(name, sizeof name, "random/%d/mask_uniform", step);
    const float *uniform = nn_golden_floats(golden, name, &n);
    for (int64_t i = 0; i < nodes; i++) hidden[i] = uniform[i] < LEAT_VGAE_HIDDEN;
    snprintf(name, sizeof name, "random/%d/neg_ids", step);
    const double *ids = nn_golden_doubles(golden, name, &n);
    assert_int_equal(n, nodes * LEAT_VGAE_DRAWS);
    for (int64_t i = 0; i < n; i++) drawn[i] = (int32_t)ids[i];
    snprintf(name, sizeof name, "random/%d/noise", step);
    const float *noise = nn_to_rows(nn_golden_floats(golden, name, &n), nodes, values);
    return (leat_vgae_random){.hidden = hidden, .noise = noise, .drawn = drawn};
}

static double number_at(json_t *json, int step, const char *name) {
    return json_number_value(
        json_object_get(json_array_get(json_object_get(json, "losses_f64"), (size_t)step), name));
}

static void check_losses(json_t *json, int step, const leat_vgae_losses *losses) {
    const struct {
        const char *name;
        double got;
    } all[] = {{"total", losses->total},
               {"recon", losses->recon},
               {"canid", losses->id},
               {"nbr", losses->neighbours},
               {"kl", losses->kl}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const double want = number_at(json, step, all[i].name);
        /* later steps begin at weights of our own */
        if (fabs(all[i].got - want) > (step == 0 ? 1e-6 : 1e-5) * fabs(want))
            fail_msg("step %d, %s: %.9g, not %.9g", step, all[i].name, all[i].got, want);
    }
}

static void check_activations(nn_golden *golden, const net *of) {
    const leat_vgae_scratch *s = &of->scratch;
    const int64_t nodes = of->pass.batch->nodes, values = of->shape.values;
    const struct {
        const char *name;
        const float *rows;
        int64_t columns;
        double share;
    } all[] = {{"act/out/input_encoder", s->input, LEAT_VGAE_INPUT, 0},
               {"act/out/encoder_layers.0", s->attended, values, 2e-6},
               {"act/in/z_mean", s->encoded, values, 7.5e-6},
               {"act/out/z_mean", s->mu, values, 3e-6},
               {"act/out/z_logvar", s->logvar, values, 3.8e-6},
               {"res/z", s->z, values, 2.1e-6},
               {"res/cont_out", s->recon, LEAT_MICRO_NODE_FEATURES, 3e-6}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const float *got = nn_from_rows(all[i].rows, nodes, all[i].columns);
        nn_assert_golden(got, golden, all[i].name, all[i].share);
    }
}

static void check_heads(nn_golden *golden, const net *of) {
    const leat_vgae_scratch *s = &of->scratch;
    const int64_t nodes = of->pass.batch->nodes, values = of->shape.values;
    nn_assert_golden(nn_from_rows(s->dense[0], nodes, values), golden,
                     "act/out/neighborhood_decoder.1", 3.4e-6);
    nn_assert_golden(nn_from_rows(s->dense[1], nodes, values), golden,
                     "act/out/neighborhood_decoder.4", 2.1e-6);
}

static void check_gradients(nn_golden *golden, const net *of) {
    for (int i = 0; i < of->shape.param_count; i++) {
        const leat_param *param = &of->shape.params[i];
        char name[128];
        snprintf(name, sizeof name, "grad/%s", param->name);
        nn_assert_golden(of->scratch.gradient + param->offset, golden, name, 5e-5);
    }
}

static void *model_make(int64_t vocabulary, int64_t nodes, int64_t edges, int threads,
                        const char *kernels) {
    leat_vgae_settings settings = leat_vgae_settings_default();
    void *self = NULL;
    settings.vocabulary = vocabulary;
    settings.max_nodes = nodes;
    settings.max_edges = edges;
    const leat_model_setup setup = {.settings = &settings, .threads = threads, .kernels = kernels};
    leat_model_sizes sizes;
    assert_ok(leat_vgae_class.sizes(&setup, &sizes, err));
    assert_ok(leat_vgae_class.create(&self, &setup, err));
    return self;
}

/* Adam turns a gradient near 0 into a step of its full size: nearly all weights agree, and none is
 * off by more than twice the rate a step. */
static void check_weights(nn_golden *golden, const leat_vgae_shape *shape, const float *got,
                          int steps, double near) {
    char folder[16];
    int64_t off = 0;
    snprintf(folder, sizeof folder, "after%d", steps);
    const float *want = params_of(golden, shape, folder);
    for (int64_t i = 0; i < shape->size; i++) {
        const double d = fabs((double)got[i] - (double)want[i]);
        if (!(d <= 2 * 2e-3 * steps)) fail_msg("weight %lld is off by %g", (long long)i, d);
        off += d > near;
    }
    if (off * 1000 > shape->size) fail_msg("%lld weights differ", (long long)off);
}

static void step_once(void *model, int step, const float *gradient, float *params, float *means,
                      int64_t size) {
    const leat_model_step of = {.step = step,
                                .gradient = gradient,
                                .weight = 1,
                                .parameters = params,
                                .first = means,
                                .second = means + size};
    assert_ok(leat_vgae_class.step(model, &of, err));
}

static void test_golden(void **state) {
    (void)state;
    nn_golden *golden = open_golden();
    json_t *json = golden_json("golden/can/vgae_ref.json");
    const leat_graph_micro batch = nn_golden_graphs(golden);
    const leat_device device = {leat_kernels_find(NULL), NULL};
    net of;
    leat_vgae_losses losses;
    net_make(&of, &device, &batch, VOCABULARY);
    assert_int_equal(of.shape.size, json_integer_value(json_object_get(json, "parameters")));
    void *model = model_make(VOCABULARY, batch.nodes, batch.edges, 1, NULL);
    float *params = params_of(golden, &of.shape, "w"), *means = nn_zeros(2 * of.shape.size);
    of.pass.parameters = params;
    for (int step = 0; step < STEPS; step++) {
        of.pass.random = random_of(golden, step, batch.nodes, of.shape.values);
        assert_ok(leat_vgae_forward(&of.pass, err));
        if (step == 0) check_activations(golden, &of);
        assert_ok(leat_vgae_backward(&of.pass, &losses, err));
        if (step == 0) check_heads(golden, &of);
        if (step == 0) check_gradients(golden, &of);
        check_losses(json, step, &losses);
        step_once(model, step, of.scratch.gradient, params, means, of.shape.size);
        if (step != 1) check_weights(golden, &of.shape, params, step + 1, 1e-5);
    }
    leat_vgae_class.destroy(model);
    json_decref(json);
    nn_golden_close(golden);
    nn_free_all();
}

/* One step from the gradients of the reference. */
static void test_step(void **state) {
    (void)state;
    nn_golden *golden = open_golden();
    leat_vgae_shape shape;
    assert_ok(leat_vgae_shape_set(&shape, LEAT_VGAE_SMALL, VOCABULARY, err));
    void *model = model_make(VOCABULARY, 1, 1, 1, NULL);
    float *params = params_of(golden, &shape, "w"), *means = nn_zeros(2 * shape.size);
    step_once(model, 0, params_of(golden, &shape, "grad"), params, means, shape.size);
    const float *want = params_of(golden, &shape, "after1");
    for (int64_t i = 0; i < shape.size; i++) assert_true(fabsf(params[i] - want[i]) <= 5e-7f);
    leat_vgae_class.destroy(model);
    nn_golden_close(golden);
    nn_free_all();
}

/* ---- What scores are made of ---------------------------------------------------------------- */

enum { SCORED = 23, TRAINED = 14 };

/* By the rule of scores_ref.json, which numbers the nodes of all graphs. */
static uint8_t *hidden_of(int64_t first, int64_t nodes) {
    uint8_t *out = (uint8_t *)nn_zeros(nodes);
    for (int64_t i = 0; i < nodes; i++) out[i] = (7 * (first + i) + 11) % 20 < 3;
    return out;
}

/* The mean squared error of nodes with `mask` set, or of all. */
static double error_of(const leat_graph_micro *graph, const float *recon, const uint8_t *mask) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < graph->nodes * LEAT_MICRO_NODE_FEATURES; i++) {
        if (mask != NULL && mask[i / LEAT_MICRO_NODE_FEATURES] == 0) continue;
        const double d = (double)recon[i] - (double)graph->x[i];
        sum += d * d;
        count++;
    }
    return count == 0 ? 0 : sum / (double)count;
}

static double distance_of(nn_golden *scores, const float *mu, int64_t nodes, int64_t width) {
    int64_t n;
    const double *mean = nn_golden_doubles(scores, "vgae/calib/mu_mean", &n);
    const double *deviation = nn_golden_doubles(scores, "vgae/calib/mu_std", &n);
    double sum = 0;
    for (int64_t i = 0; i < nodes * width; i++) {
        const double z = ((double)mu[i] - mean[i % width]) / deviation[i % width];
        sum += z * z;
    }
    return sum / (double)nodes;
}

/* With nodes hidden: the error of these; without: the error of all, which is a graph's difficulty,
 * the distance of mu, and the divergence. */
static void test_scores(void **state) {
    (void)state;
    static const int trained[TRAINED] = {0, 1, 2, 3, 4, 5, 8, 15, 35, 67, 99, 131, 163, 195};
    nn_golden *golden = open_golden();
    nn_golden *wanted = nn_golden_open_path(golden_left_out("golden/can/scores_ref.safetensors"));
    nn_golden *graphs = nn_golden_open_path(golden_path("golden/can/features_ref.safetensors"));
    nn_golden *scaled =
        nn_golden_open_path(golden_path("golden/can/features_scaled_ref.safetensors"));
    const nn_split training = nn_split_of("", graphs, scaled);
    const nn_split test = nn_split_of("test/", graphs, scaled);
    leat_vgae_shape shape;
    assert_ok(leat_vgae_shape_set(&shape, LEAT_VGAE_SMALL, VOCABULARY, err));
    const float *params = params_of(golden, &shape, "after3");
    void *model = model_make(VOCABULARY, 100, 100, 1, NULL);
    float recon[SCORED], distance[SCORED], kl[SCORED], all[SCORED];
    int64_t first = 0;
    assert_int_equal(leat_vgae_latent(model), shape.values);
    for (int i = 0; i < SCORED; i++) {
        const leat_graph_micro graph = i < TRAINED ? nn_graph_of(&training, trained[i])
                                                   : nn_graph_of(&test, 3 * (i - TRAINED));
        const uint8_t *hidden = hidden_of(first, graph.nodes);
        float *mu = nn_zeros(graph.nodes * shape.values);
        const leat_vgae_output out = {.recon = nn_zeros(graph.nodes * LEAT_MICRO_NODE_FEATURES),
                                      .mu = mu,
                                      .logvar = nn_zeros(graph.nodes * shape.values),
                                      .divergence = (double *)nn_zeros(2 * graph.nodes)};
        double sum = 0;
        assert_ok(leat_vgae_reconstruct(model, &graph, hidden, params, &out, err));
        recon[i] = (float)error_of(&graph, out.recon, hidden);
        assert_ok(leat_vgae_reconstruct(model, &graph, NULL, params, &out, err));
        all[i] = (float)error_of(&graph, out.recon, NULL);
        distance[i] = (float)distance_of(wanted, mu, graph.nodes, shape.values);
        for (int64_t j = 0; j < graph.nodes; j++) sum += out.divergence[j];
        kl[i] = (float)(sum / (double)(graph.nodes * shape.values));
        first += graph.nodes;
    }
    nn_assert_golden(recon, wanted, "vgae/mean/recon", 1e-6);
    nn_assert_golden(distance, wanted, "vgae/mean/mahal", 1.4e-6);
    nn_assert_golden(kl, wanted, "vgae/mean/kl", 2e-6);
    nn_assert_golden(all, wanted, "vgae/curriculum_mse", 1.7e-6);
    leat_vgae_class.destroy(model);
    nn_golden_close(golden);
    nn_golden_close(wanted);
    nn_golden_close(graphs);
    nn_golden_close(scaled);
    nn_free_all();
}

/* ---- Everywhere the same -------------------------------------------------------------------- */

enum { SMALL_IDS = 21, MANY_IDS = 70 };

static leat_vgae_random random_here(const leat_graph_micro *batch, int64_t values, int64_t ids,
                                    int hidden_every) {
    uint8_t *hidden = (uint8_t *)nn_zeros(batch->nodes);
    int32_t *drawn = nn_ints(batch->nodes * LEAT_VGAE_DRAWS);
    for (int64_t i = 0; i < batch->nodes; i++)
        hidden[i] = hidden_every > 0 && i % hidden_every == 0;
    for (int64_t i = 0; i < batch->nodes * LEAT_VGAE_DRAWS; i++)
        drawn[i] = (int32_t)(i * 7919 % 104729 % ids);
    return (leat_vgae_random){
        .hidden = hidden,
        .noise = nn_to_rows(nn_numbers(5, batch->nodes * values), batch->nodes, values),
        .drawn = drawn};
}

/* The largest value of each tensor's gradient, and one in its middle, against differences of the
 * loss in double. */
static void check_differences(net *of, const float *params) {
    const vd_case reference = {&of->shape, of->pass.batch, &of->pass.random, of->pass.dropout};
    const float *gradient = of->scratch.gradient;
    leat_vgae_losses losses;
    double *p = (double *)nn_zeros(2 * of->shape.size);
    for (int64_t i = 0; i < of->shape.size; i++) p[i] = (double)params[i];
    assert_ok(leat_vgae_forward(&of->pass, err));
    assert_ok(leat_vgae_backward(&of->pass, &losses, err));
    const double loss = vd_loss(&reference, p);
    assert_true(fabs(losses.total - loss) <= 1e-6 * loss);
    for (int i = 0; i < 2 * of->shape.param_count; i++) {
        const leat_param *param = &of->shape.params[i / 2];
        int64_t most = param->offset;
        for (int64_t k = param->offset; k < param->offset + param->count; k++)
            if (fabsf(gradient[k]) > fabsf(gradient[most])) most = k;
        const int64_t at = i % 2 == 0 ? most : param->offset + param->count / 2;
        const double old = p[at], step = 1e-6;
        p[at] = old + step;
        const double above = vd_loss(&reference, p);
        p[at] = old - step;
        const double slope = (above - vd_loss(&reference, p)) / (2 * step);
        p[at] = old;
        if (fabs(slope - (double)gradient[at]) > 2e-5 * (double)fabsf(gradient[most]) + 1e-8)
            fail_msg("%s: %.9g, by differences %.9g", param->name, (double)gradient[at], slope);
    }
}

static void init_params(const leat_vgae_shape *shape, float *params) {
    void *model = model_make(shape->vocabulary, 1, 1, 1, NULL);
    leat_vgae_class.init(model, 3, params, NULL);
    leat_vgae_class.destroy(model);
}

/* No node is hidden; one in three is; with dropout, which draws the same every time; and with so
 * many identifiers that logits are computed for few of them. */
static void test_differences(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        const int ids = i == 3 ? LEAT_VGAE_ALL_IDS + 44 : SMALL_IDS;
        const leat_graph_micro batch = nn_graphs(50, 6, 7, ids);
        const leat_device device = {leat_kernels_find(NULL), NULL};
        net of;
        net_make(&of, &device, &batch, ids);
        float *params = nn_zeros(of.shape.size);
        init_params(&of.shape, params);
        /* of a graph with one node nothing is left by the whole mean, and differences are steep */
        for (int64_t c = 0; c < of.shape.values; c++) params[of.shape.norm_scale + c] = 0.7f;
        of.pass.parameters = params;
        of.pass.dropout = i == 2 ? 0.1 : 0;
        of.pass.random = random_here(&batch, of.shape.values, ids, i == 0 ? 0 : 3);
        check_differences(&of, params);
        nn_free_all();
    }
}

static void check_bits(const leat_graph_micro *batch, int ids, bool scalar) {
    float *first = NULL;
    leat_vgae_losses first_losses = {0};
    leat_device device;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        net of;
        leat_vgae_losses losses;
        if (device.kernels->width == 1 && !scalar) continue;
        net_make(&of, &device, batch, ids);
        float *params = nn_zeros(of.shape.size);
        init_params(&of.shape, params);
        of.pass.parameters = params;
        of.pass.dropout = 0.1;
        of.pass.random = random_here(batch, of.shape.values, ids, 4);
        assert_ok(leat_vgae_forward(&of.pass, err));
        assert_ok(leat_vgae_backward(&of.pass, &losses, err));
        if (first == NULL) first_losses = losses;
        if (first == NULL) first = of.scratch.gradient;
        nn_assert_same(of.scratch.gradient, first, of.shape.size);
        assert_memory_equal(&losses, &first_losses, sizeof losses);
    }
}

/* More nodes than a block of logits has, which is slow in plain C; and few. */
static void test_bits(void **state) {
    (void)state;
    const leat_graph_micro many = nn_graphs(60, 54, 11, MANY_IDS);
    const leat_graph_micro few = nn_graphs(61, 6, 5, MANY_IDS);
    const int ids = LEAT_VGAE_ALL_IDS + 44;
    const leat_graph_micro rare = nn_graphs(62, 6, 5, ids);
    assert_true(many.nodes > LEAT_VGAE_BLOCK);
    check_bits(&many, MANY_IDS, leat_kernels_find(NULL)->width == 1);
    check_bits(&few, MANY_IDS, true);
    check_bits(&rare, ids, true);
    nn_free_all();
}

/* ---- Units ---------------------------------------------------------------------------------- */

enum { MICROS = 5 };
static leat_code get(void *context, int64_t index, int worker, const void **batch,
                     leat_error *error) {
    (void)worker;
    (void)error;
    *batch = (const leat_graph_micro *)context + index;
    return LEAT_OK;
}

static double run_unit(int threads, const char *kernels, leat_graph_micro *micros, float *gradient,
                       double *sums) {
    int64_t nodes = 0, edges = 1;
    for (int i = 0; i < MICROS; i++) {
        nodes = micros[i].nodes > nodes ? micros[i].nodes : nodes;
        edges = micros[i].edges > edges ? micros[i].edges : edges;
    }
    void *model = model_make(SMALL_IDS, nodes, edges, threads, kernels);
    leat_model_tensor tensor;
    int64_t size = 0;
    for (int i = 0; leat_vgae_class.tensor(model, i, &tensor); i++)
        size = tensor.offset + tensor.count;
    float *params = nn_zeros(size);
    leat_vgae_class.init(model, 9, params, NULL);
    const leat_unit_batches batches = {MICROS, get, micros};
    leat_unit_numbers numbers = {.gradient = gradient};
    assert_ok(leat_vgae_class.unit(model, 0, &batches, params, &numbers, err));
    memcpy(sums, numbers.sums, sizeof numbers.sums);
    leat_vgae_class.destroy(model);
    return numbers.weight;
}

static void test_units(void **state) {
    (void)state;
    leat_graph_micro micros[MICROS];
    leat_vgae_shape shape;
    assert_ok(leat_vgae_shape_set(&shape, LEAT_VGAE_SMALL, SMALL_IDS, err));
    double sums[2][LEAT_UNIT_SUMS_MAX], weight = 0;
    float *gradient[2] = {nn_zeros(shape.size), nn_zeros(shape.size)};
    for (int i = 0; i < MICROS; i++) {
        micros[i] = nn_graphs(70 + (uint64_t)i, 1 + i, 6, SMALL_IDS);
        micros[i].seed = 12;
        micros[i].epoch = 2;
        weight += (double)micros[i].nodes;
    }
    assert_true(run_unit(1, NULL, micros, gradient[0], sums[0]) == weight);
    for (int threads = 2; threads <= 3; threads++) {
        assert_true(run_unit(threads, threads == 2 ? "scalar" : NULL, micros, gradient[1],
                             sums[1]) == weight);
        nn_assert_same(gradient[1], gradient[0], shape.size);
        assert_memory_equal(sums[1], sums[0], sizeof sums[0]);
    }
    for (int64_t i = 0; i < shape.size; i++) assert_true(isfinite(gradient[0][i]));
    micros[0].epoch = 3; /* other numbers are drawn */
    run_unit(1, NULL, micros, gradient[1], sums[1]);
    assert_true(sums[1][0] != sums[0][0]);
    nn_free_all();
}

static void test_refused(void **state) {
    (void)state;
    leat_vgae_settings settings = leat_vgae_settings_default();
    const leat_model_setup setup = {.settings = &settings, .threads = 1};
    leat_model_sizes sizes;
    assert_fails(leat_vgae_class.sizes(&setup, &sizes, err), LEAT_ERR_OPTION, "--max-nodes");
    settings.max_nodes = 10;
    assert_fails(leat_vgae_class.sizes(&setup, &sizes, err), LEAT_ERR_OPTION, "--max-edges");
    settings.max_edges = 10;
    assert_fails(leat_vgae_class.sizes(&setup, &sizes, err), LEAT_ERR_OPTION, "--vocabulary");
    settings.vocabulary = 100;
    settings.size = LEAT_VGAE_LARGE;
    assert_ok(leat_vgae_class.sizes(&setup, &sizes, err));
    assert_int_equal(sizes.parameters, 95021 + 290 * 100);
    settings.size = LEAT_VGAE_SMALL;
    assert_ok(leat_vgae_class.sizes(&setup, &sizes, err));
    assert_int_equal(sizes.parameters, 31405 + 162 * 100);
    settings.max_nodes = LEAT_VGAE_NODES_MAX; /* the largest there is is counted, not refused */
    settings.max_edges = LEAT_VGAE_EDGES_MAX;
    settings.vocabulary = LEAT_VGAE_VOCABULARY_MAX;
    assert_ok(leat_vgae_class.sizes(&setup, &sizes, err));
    assert_true(sizes.bytes > 4 * sizes.parameters);
    settings.max_edges++;
    assert_fails(leat_vgae_class.sizes(&setup, &sizes, err), LEAT_ERR_OPTION, "--max-edges");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),  cmocka_unit_test(test_step),
        cmocka_unit_test(test_scores),  cmocka_unit_test(test_differences),
        cmocka_unit_test(test_bits),    cmocka_unit_test(test_units),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
