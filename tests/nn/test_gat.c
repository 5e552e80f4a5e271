/*
 * The GAT as a model: activations, losses, gradients and weights of three steps against the
 * reference's own code (golden/can/gat_ref), scores (scores_ref), and the same bits for every
 * variant, number of threads and way to cut graphs into batches; blame against differences.
 */
/* TSan: units on a pool. */
#include "nn/models/gat/model.h"

#include <math.h>

#include "gat_support.h"
#include "graphs.h"
#include "nn/float_mode.h"

/* The batches of a unit are these. */
typedef struct batches {
    const leat_graph_micro *list;
} batches;

static leat_code get(void *context, int64_t index, int worker, const void **batch,
                     leat_error *err) {
    (void)worker;
    (void)err;
    *batch = ((const batches *)context)->list + index;
    return LEAT_OK;
}

static void *create(leat_gat_settings settings, int threads, const char *kernels) {
    void *model = NULL;
    leat_model_sizes sizes;
    const leat_model_setup setup = {
        .settings = &settings, .micro_batch = 1, .threads = threads, .kernels = kernels};
    assert_ok(leat_gat_class.sizes(&setup, &sizes, err));
    assert_ok(leat_gat_class.create(&model, &setup, err));
    return model;
}

static leat_unit_numbers unit(void *model, const leat_graph_micro *list, int count, int64_t size,
                              const float *parameters) {
    leat_unit_numbers out = {.gradient = nn_zeros(size)};
    batches of = {list};
    const leat_unit_batches source = {count, get, &of};
    assert_ok(leat_gat_class.unit(model, 0, &source, parameters, &out, err));
    return out;
}

/* ---- The reference -------------------------------------------------------------------------- */

static void check_weights(const gat_reference *reference, const char *group,
                          const float *parameters, int steps) {
    const float *want = gat_parameters(reference, group);
    int64_t far = 0;
    for (int64_t i = 0; i < reference->shape.size; i++) {
        const double off = fabs((double)parameters[i] - (double)want[i]);
        assert_true(off <= steps * 2e-3); /* 2 lr: Adam turns a gradient near 0 into such a step */
        far += off > 1e-5;
    }
    assert_true(far * 1000 <= reference->shape.size);
}

/* One step from the stored gradients. */
static void check_step(const gat_reference *reference, void *model) {
    const int64_t size = reference->shape.size;
    float *w = gat_parameters(reference, "w"), *gradient = gat_parameters(reference, "grad");
    const float *want = gat_parameters(reference, "after1");
    const leat_model_step step = {.gradient = gradient,
                                  .weight = 1,
                                  .parameters = w,
                                  .first = nn_zeros(size),
                                  .second = nn_zeros(size)};
    assert_ok(leat_gat_class.step(model, &step, err));
    for (int64_t i = 0; i < size; i++) assert_true(fabs((double)w[i] - (double)want[i]) <= 5e-7);
}

static void test_steps(void **state) {
    (void)state;
    static const double losses[] = {0.14954834787507532, 0.12255405610096812, 0.1030580651232432};
    static const double norms[] = {0.5086484634284677, 0.4018414508420907, 0.35031390713444804};
    const char *path = golden_left_out("golden/can/gat_ref.safetensors");
    gat_reference reference;
    gat_open(&reference, path);
    const int64_t size = reference.shape.size;
    leat_gat_settings settings = leat_gat_settings_default();
    settings.dropout = settings.id_drop = 0;
    settings.vocabulary = 51;
    settings.max_nodes = 260;
    settings.max_edges = 784;
    void *model = create(settings, 1, NULL);
    float *first = nn_zeros(size), *second = nn_zeros(size);
    check_step(&reference, model);
    for (int i = 0; i < 3; i++) {
        double norm[1];
        const leat_unit_numbers got = unit(model, &reference.batch, 1, size, reference.parameters);
        const leat_model_step step = {.step = i,
                                      .gradient = got.gradient,
                                      .weight = got.weight,
                                      .parameters = reference.parameters,
                                      .first = first,
                                      .second = second};
        assert_true(got.weight == 8);
        assert_true(fabs(got.sums[0] / 8 - losses[i]) < 1e-5 * losses[i]);
        leat_gat_class.norm(model, 0, got.gradient, got.weight, norm);
        assert_true(fabs(norm[0] - norms[i]) < 1e-4 * norms[i]);
        for (int64_t k = 0; i == 0 && k < size; k++) got.gradient[k] /= 8; /* exact */
        if (i == 0) gat_check_gradient(&reference, "", got.gradient);
        for (int64_t k = 0; i == 0 && k < size; k++) got.gradient[k] *= 8;
        assert_ok(leat_gat_class.step(model, &step, err));
        if (i == 0) check_weights(&reference, "after1", reference.parameters, 1);
    }
    check_weights(&reference, "after3", reference.parameters, 3);
    leat_gat_class.destroy(model);
    nn_golden_close(reference.golden);
    nn_free_all();
}

static void test_activations(void **state) {
    (void)state;
    const char *path = golden_left_out("golden/can/gat_ref.safetensors");
    gat_reference reference;
    gat_open(&reference, path);
    const leat_gat_bounds bounds = {252, 784};
    const leat_device device = {.kernels = leat_kernels_find(NULL)};
    leat_float_layout floats = {0};
    leat_gat_memory memory;
    assert_ok(leat_gat_lay_out(&memory, &reference.shape, &device, &bounds, &floats, err));
    assert_ok(leat_float_layout_alloc(&floats, err));
    assert_ok(leat_gat_lay_out(&memory, &reference.shape, &device, &bounds, &floats, err));
    const leat_gat_run run = {.shape = &reference.shape,
                              .device = device,
                              .memory = &memory,
                              .batch = &reference.batch,
                              .parameters = reference.parameters};
    const uint64_t mode = leat_float_mode_begin();
    assert_ok(leat_gat_forward(&run, err));
    leat_float_mode_end(mode);
    float *input = nn_zeros(252 * LEAT_GAT_INPUT);
    for (int i = 0; i < 252; i++)
        memcpy(input + i * LEAT_GAT_INPUT, memory.input + i * 64, sizeof *input * LEAT_GAT_INPUT);
    nn_assert_golden(input, reference.golden, "act/out/input_encoder", 0);
    nn_assert_golden(memory.kept[0].left, reference.golden, "act/out/convs.0.lin_l", 2e-6);
    nn_assert_golden(memory.kept[1].right, reference.golden, "act/out/convs.1.lin_r", 3e-6);
    nn_assert_golden(memory.head.layers, reference.golden, "act/in/jk.0", 2e-6);
    nn_assert_golden(memory.head.layers + 252 * 96, reference.golden, "act/in/jk.1", 1.3e-5);
    nn_assert_golden(memory.head.dense[0], reference.golden, "act/in/fc_layers.0", 4e-6);
    leat_float_layout_free(&floats);
    nn_golden_close(reference.golden);
    nn_free_all();
}

/* ---- Scores --------------------------------------------------------------------------------- */

static void test_scores(void **state) {
    (void)state;
    const char *weights = golden_left_out("golden/can/gat_ref.safetensors");
    const char *wanted = golden_left_out("golden/can/scores_ref.safetensors");
    static const int trained[] = {0, 1, 2, 3, 4, 5, 8, 15, 35, 67, 99, 131, 163, 195};
    enum { TRAINED = sizeof trained / sizeof *trained, SCORED = 23 };
    gat_reference reference;
    gat_open(&reference, weights);
    nn_golden *scores = nn_golden_open_path(wanted);
    nn_golden *graphs = nn_golden_open_path(golden_path("golden/can/features_ref.safetensors"));
    nn_golden *scaled =
        nn_golden_open_path(golden_path("golden/can/features_scaled_ref.safetensors"));
    const nn_split training = nn_split_of("", graphs, scaled);
    const nn_split test = nn_split_of("test/", graphs, scaled);
    leat_gat_settings settings = leat_gat_settings_default();
    settings.vocabulary = 51;
    settings.max_nodes = settings.max_edges = 100;
    void *model = create(settings, 1, NULL);
    const float *w = gat_parameters(&reference, "after3");
    float logits[2 * SCORED], probability[SCORED];
    for (int i = 0; i < SCORED; i++) {
        const leat_graph_micro batch = i < TRAINED ? nn_graph_of(&training, trained[i])
                                                   : nn_graph_of(&test, 3 * (i - TRAINED));
        const leat_gat_scores out = {logits + 2 * i, probability + i, NULL};
        assert_ok(leat_gat_score(model, &batch, w, &out, err));
    }
    nn_assert_golden(logits, scores, "gat/logits", 2.3e-6);
    nn_assert_golden(probability, scores, "gat/prob_attack", 1e-6);
    leat_gat_class.destroy(model);
    nn_golden_close(graphs);
    nn_golden_close(scaled);
    nn_golden_close(scores);
    nn_golden_close(reference.golden);
    nn_free_all();
}

/* ---- Made-up graphs ------------------------------------------------------------------------- */

/* Three: one node without an edge; a self-loop, parallel edges, a node without incoming ones; and
 * one in which every node is joined with the next. */
enum { NODES = 10, EDGES = 12, VOCABULARY = 6, FEATURES = LEAT_MICRO_NODE_FEATURES };
static const int64_t node_first[] = {0, 1, 4, NODES}, edge_first[] = {0, 0, 5, EDGES};
static const int32_t source[] = {1, 1, 1, 3, 2, 4, 5, 6, 7, 8, 9, 4};
static const int32_t target[] = {1, 2, 2, 2, 1, 5, 6, 7, 8, 9, 4, 4};
static const int32_t node_id[] = {0, 1, 2, 3, 1, 2, 3, 4, 5, 0}, label[] = {0, 1, 1};
static const int64_t number[] = {4, 0, 77};

static leat_graph_micro made_up(void) {
    return (leat_graph_micro){.graphs = 3,
                              .nodes = NODES,
                              .edges = EDGES,
                              .x = nn_numbers(1, NODES * FEATURES),
                              .edge_attr = nn_numbers(2, EDGES * LEAT_MICRO_EDGE_FEATURES),
                              .source = source,
                              .target = target,
                              .node_id = node_id,
                              .node_first = node_first,
                              .edge_first = edge_first,
                              .label = label,
                              .number = number,
                              .seed = 11,
                              .epoch = 2};
}

static leat_gat_settings small_settings(void) {
    leat_gat_settings settings = leat_gat_settings_default();
    settings.vocabulary = VOCABULARY;
    settings.max_nodes = NODES;
    settings.max_edges = EDGES;
    settings.id_drop = 0.3;
    return settings;
}

static float *first_weights(void *model, int64_t *size) {
    leat_model_tensor tensor;
    *size = 0;
    for (int i = 0; leat_gat_class.tensor(model, i, &tensor); i++)
        *size = tensor.offset + tensor.count;
    float *out = nn_zeros(*size);
    leat_gat_class.init(model, 3, out, NULL);
    return out;
}

/* One graph of the batch, as a batch. */
static leat_graph_micro alone(const leat_graph_micro *batch, int64_t graph) {
    leat_graph_micro out = *batch;
    const int64_t node = batch->node_first[graph], edge = batch->edge_first[graph];
    int64_t *first = (int64_t *)nn_zeros(8);
    out.graphs = 1;
    out.nodes = batch->node_first[graph + 1] - node;
    out.edges = batch->edge_first[graph + 1] - edge;
    first[1] = out.nodes;
    first[3] = out.edges;
    out.node_first = first;
    out.edge_first = first + 2;
    int32_t *ends = (int32_t *)nn_zeros(2 * out.edges + 1);
    for (int64_t i = 0; i < out.edges; i++) {
        ends[i] = batch->source[edge + i] - (int32_t)node;
        ends[out.edges + i] = batch->target[edge + i] - (int32_t)node;
    }
    out.source = ends;
    out.target = ends + out.edges;
    out.x = batch->x + node * FEATURES;
    out.edge_attr = batch->edge_attr + edge * LEAT_MICRO_EDGE_FEATURES;
    out.node_id = batch->node_id + node;
    out.label = batch->label + graph;
    out.number = batch->number + graph;
    return out;
}

static void test_bits(void **state) {
    (void)state;
    const leat_graph_micro batch = made_up();
    const leat_graph_micro list[] = {alone(&batch, 0), alone(&batch, 1), alone(&batch, 2), batch};
    leat_unit_numbers want = {0};
    float *logits = nn_zeros(6), *probability = nn_zeros(3);
    int64_t size;
    const leat_kernels *kernels;
    for (int v = 0; (kernels = leat_kernels_at(v)) != NULL; v++) {
        if (!leat_kernels_supported(kernels)) continue;
        for (int threads = 1; threads <= 3; threads += 2) {
            void *model = create(small_settings(), threads, kernels->name);
            const float *w = first_weights(model, &size);
            const leat_unit_numbers got = unit(model, list, 4, size, w);
            if (want.gradient == NULL) want = got;
            assert_true(got.weight == 6 && got.sums[0] == want.sums[0]);
            nn_assert_same(got.gradient, want.gradient, size);
            const leat_gat_scores scores = {logits, probability, NULL};
            assert_ok(leat_gat_score(model, &batch, w, &scores, err));
            for (int g = 0; g < 3; g++) { /* a graph has its bits in any batch */
                float two[2], one;
                const leat_gat_scores by_itself = {two, &one, NULL};
                assert_ok(leat_gat_score(model, &list[g], w, &by_itself, err));
                nn_assert_same(two, logits + 2 * g, 2);
                nn_assert_same(&one, probability + g, 1);
            }
            leat_gat_class.destroy(model);
        }
    }
    assert_true(want.sums[0] > 0 && isfinite(want.sums[0]));
    nn_free_all();
}

/* The batch's loss is the mean of those of its graphs, whose masks are the same, also apart. */
static void test_cut(void **state) {
    (void)state;
    const leat_graph_micro batch = made_up();
    const leat_graph_micro list[] = {alone(&batch, 0), alone(&batch, 1), alone(&batch, 2)};
    int64_t size;
    void *model = create(small_settings(), 1, NULL);
    const float *w = first_weights(model, &size);
    const leat_unit_numbers apart = unit(model, list, 3, size, w);
    const leat_unit_numbers together = unit(model, &batch, 1, size, w);
    double *want = (double *)nn_zeros(2 * size);
    assert_true(fabs(apart.sums[0] - together.sums[0]) < 1e-6 * together.sums[0]);
    for (int64_t i = 0; i < size; i++) want[i] = (double)apart.gradient[i];
    nn_assert_close(together.gradient, want, size, 2e-6);
    leat_gat_class.destroy(model);
    nn_free_all();
}

/* With all identifiers hidden, only the unknown one is learned; with none, each that occurs. */
static void test_id_drop(void **state) {
    (void)state;
    const leat_graph_micro batch = made_up();
    for (int hidden = 0; hidden < 2; hidden++) {
        int64_t size;
        leat_gat_settings settings = small_settings();
        settings.id_drop = hidden;
        settings.dropout = 0;
        void *model = create(settings, 1, NULL);
        const float *w = first_weights(model, &size);
        const leat_unit_numbers got = unit(model, &batch, 1, size, w);
        for (int id = 0; id < VOCABULARY; id++) {
            double sum = 0;
            for (int c = 0; c < LEAT_GAT_EMBEDDING; c++)
                sum += fabs((double)got.gradient[id * LEAT_GAT_EMBEDDING + c]);
            assert_true((sum > 0) == (hidden == 0 || id == 0));
        }
        leat_gat_class.destroy(model);
    }
    nn_free_all();
}

static double attack_logit(void *model, const leat_graph_micro *batch, const float *w) {
    float logits[6], probability[3];
    const leat_gat_scores scores = {logits, probability, NULL};
    assert_ok(leat_gat_score(model, batch, w, &scores, err));
    return (double)logits[1] + (double)logits[3] + (double)logits[5];
}

static void test_blame(void **state) {
    (void)state;
    leat_graph_micro batch = made_up();
    float *x = nn_numbers(1, NODES * FEATURES), *blame = nn_zeros(NODES * FEATURES);
    float logits[6], probability[3];
    const leat_gat_scores scores = {logits, probability, blame};
    int64_t size;
    void *model = create(small_settings(), 1, NULL);
    const float *w = first_weights(model, &size);
    batch.x = x;
    batch.label = NULL;
    assert_ok(leat_gat_score(model, &batch, w, &scores, err));
    for (int i = 0; i < NODES * FEATURES; i += 11) {
        const float old = x[i];
        x[i] = old + 0.01f;
        const double above = attack_logit(model, &batch, w);
        x[i] = old - 0.01f;
        const double below = attack_logit(model, &batch, w);
        x[i] = old;
        assert_float_equal(blame[i], fabs((above - below) / 0.02 * (double)old), 3e-4);
    }
    leat_gat_class.destroy(model);
    nn_free_all();
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        int64_t vocabulary, max_nodes, max_edges;
        const char *words;
    } cases[] = {{0, 10, 10, "--vocabulary"}, {5, 0, 10, "--max-nodes"}, {5, 10, 0, "--max-edges"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_gat_settings settings = leat_gat_settings_default();
        const leat_model_setup setup = {.settings = &settings, .micro_batch = 1, .threads = 1};
        leat_model_sizes sizes;
        void *model;
        settings.vocabulary = cases[i].vocabulary;
        settings.max_nodes = cases[i].max_nodes;
        settings.max_edges = cases[i].max_edges;
        assert_fails(leat_gat_class.sizes(&setup, &sizes, err), LEAT_ERR_OPTION, cases[i].words);
        assert_fails(leat_gat_class.create(&model, &setup, err), LEAT_ERR_OPTION, cases[i].words);
        assert_null(model);
    }
}

/* What the LSTM of the large net refuses is refused when the model is made, not in its first step.
 */
static void test_too_many_nodes(void **state) {
    (void)state;
    const int64_t most = LEAT_OP_VALUES_MAX / (8 * LEAT_LSTM_STEPS_MAX) / 768;
    leat_gat_settings settings = leat_gat_settings_default();
    const leat_model_setup setup = {.settings = &settings, .threads = 1};
    leat_model_sizes sizes;
    settings.size = LEAT_GAT_LARGE;
    settings.vocabulary = 60;
    settings.max_nodes = most;
    settings.max_edges = most;
    assert_ok(leat_gat_class.sizes(&setup, &sizes, err));
    settings.max_nodes = most + 1;
    assert_fails(leat_gat_class.sizes(&setup, &sizes, err), LEAT_ERR_OPTION,
                 "a GAT on 11184811 nodes and 11184810 edges at once: too many; use a smaller "
                 "--max-nodes");
    settings.size = LEAT_GAT_SMALL;
    assert_ok(leat_gat_class.sizes(&setup, &sizes, err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_id_drop),
        cmocka_unit_test(test_blame),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_many_nodes),
    };
    return cmocka_run_group_tests_name("GAT", tests, NULL, NULL);
}
