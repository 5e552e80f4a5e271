/*
 * The head of the GAT, from the layers' outputs to the gradients, against the reference's own code
 * (golden/can/gat_ref), and the same bits for every variant and number of threads; what dropout
 * changes.
 */
/* TSan: ops on a pool. */
#include <math.h>

#include "gat_support.h"
#include "nn/float_mode.h"

typedef struct run_of {
    leat_gat_head head;
    leat_float_layout floats;
    float *gradient;
    double loss;
} run_of;

static run_of run(const leat_device *device, const gat_reference *reference, const float *layers,
                  leat_class_loss_kind kind, double dropout, int64_t room) {
    const leat_gat_shape *shape = &reference->shape;
    const leat_graph_micro *batch = &reference->batch;
    const int64_t nodes = batch->nodes;
    run_of out = {.gradient = nn_zeros(shape->size)};
    leat_gat_head_lay_out(&out.head, shape, device, nodes + room, &out.floats);
    assert_ok(leat_float_layout_alloc(&out.floats, err));
    leat_gat_head_lay_out(&out.head, shape, device, nodes + room, &out.floats);
    leat_float_layout_end(&out.floats);
    leat_gat_head_set(&out.head, shape, nodes + room);
    memcpy(out.head.layers, layers, sizeof *layers * (size_t)(shape->layers * nodes * 96));
    const leat_gat_pass pass = {.shape = shape,
                                .device = *device,
                                .head = &out.head,
                                .batch = batch,
                                .parameters = reference->parameters,
                                .gradient = out.gradient,
                                .dropout = dropout};
    const leat_class_loss loss = {kind, {1, 5}, batch->graphs, batch->label, out.head.work};
    const uint64_t mode = leat_float_mode_begin();
    assert_ok(leat_gat_head_forward(&pass, err));
    leat_class_loss_run(device, &loss, out.head.dense[LEAT_GAT_DENSE], &out.loss,
                        out.head.up_dense[0]);
    assert_ok(leat_gat_head_backward(&pass, err));
    leat_float_mode_end(mode);
    return out;
}

/* [node][layer][values] of the file to [layer][node][values]. */
static double *layers_first(const double *in, int64_t nodes, int64_t values) {
    double *out = (double *)nn_zeros(4 * nodes * values);
    for (int64_t i = 0; i < 2 * nodes * values; i++) {
        const int64_t v = i % values, t = i / values % 2, n = i / values / 2;
        out[(t * nodes + n) * values + v] = in[i];
    }
    return out;
}

static float *layers_of(const gat_reference *reference) {
    float *layers = nn_zeros(2 * 252 * 96);
    for (int t = 0; t < 2; t++)
        memcpy(layers + t * 252 * 96,
               gat_tensor(reference->golden, "act/in", t == 0 ? "jk.0" : "jk.1"),
               sizeof *layers * 252 * 96);
    return layers;
}

static void test_golden(void **state) {
    (void)state;
    const char *path = golden_left_out("golden/can/gat_ref.safetensors");
    static const struct {
        leat_class_loss_kind kind;
        double loss;
    } losses[] = {{LEAT_CLASS_LOSS_CE, 0.6356258093154966},
                  {LEAT_CLASS_LOSS_WEIGHTED, 0.5529333554534849},
                  {LEAT_CLASS_LOSS_FOCAL, 0.14954834787507532}};
    gat_reference reference;
    gat_open(&reference, path);
    const float *layers = layers_of(&reference);
    int64_t count;
    const double *hidden = nn_golden_doubles(reference.golden, "act/out/jk.lstm.0", &count);
    /* the others have the same bits, as the next test shows; scalar takes a second */
    const leat_device device = {.kernels = leat_kernels_find(NULL)};
    for (size_t k = 0; k < sizeof losses / sizeof *losses; k++) {
        run_of got = run(&device, &reference, layers, losses[k].kind, 0, 0);
        float logits[16];
        assert_true(fabs(got.loss - losses[k].loss) < 2e-6 * losses[k].loss);
        for (int j = 0; j < 16; j++)
            logits[j] = got.head.dense[LEAT_GAT_DENSE][j / 2 * LEAT_LANES + j % 2];
        nn_assert_close(got.head.hidden, layers_first(hidden, 252, 192), count, 1.1e-4);
        nn_assert_golden(got.head.mixed, reference.golden, "act/out/jk", 7e-6);
        nn_assert_golden(got.head.dense[0], reference.golden, "act/in/fc_layers.0", 3e-6);
        nn_assert_golden(got.head.dense[1], reference.golden, "act/out/fc_layers.1", 3e-6);
        nn_assert_golden(logits, reference.golden, "res/logits", 4e-6);
        if (losses[k].kind == LEAT_CLASS_LOSS_FOCAL) {
            gat_check_gradient(&reference, "jk.", got.gradient);
            gat_check_gradient(&reference, "fc_layers.", got.gradient);
        }
        leat_float_layout_free(&got.floats);
    }
    nn_golden_close(reference.golden);
    nn_free_all();
}

/* A small batch of made-up numbers: no file is needed. */
enum { NODES = 5 };
static const int64_t node_first[] = {0, 1, NODES}, number[] = {3, 9};
static const int32_t label[] = {1, 0};

static void test_bits(void **state) {
    (void)state;
    gat_reference made = {.batch = {.graphs = 2,
                                    .nodes = NODES,
                                    .node_first = node_first,
                                    .label = label,
                                    .number = number,
                                    .seed = 5}};
    assert_ok(leat_gat_shape_set(&made.shape, LEAT_GAT_SMALL, 3, err));
    made.parameters = nn_numbers(1, made.shape.size);
    for (int64_t i = 0; i < made.shape.size; i++) made.parameters[i] *= 0.1f;
    const float *layers = nn_numbers(2, 2 * NODES * 96);
    const leat_device scalar = {.kernels = &leat_kernels_scalar};
    run_of want = run(&scalar, &made, layers, LEAT_CLASS_LOSS_FOCAL, 0.3, 0);
    run_of without = run(&scalar, &made, layers, LEAT_CLASS_LOSS_FOCAL, 0, 0);
    assert_true(want.loss != without.loss);
    leat_device device;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        /* with room for more nodes, too */
        run_of got = run(&device, &made, layers, LEAT_CLASS_LOSS_FOCAL, 0.3, i % 3);
        assert_true(got.loss == want.loss);
        nn_assert_same(got.gradient, want.gradient, made.shape.size);
        nn_assert_same(got.head.up_layers, want.head.up_layers, 2 * NODES * 96);
        leat_float_layout_free(&got.floats);
    }
    leat_float_layout_free(&want.floats);
    leat_float_layout_free(&without.floats);
    nn_free_all();
}

static void test_refused(void **state) {
    (void)state;
    leat_gat_shape shape;
    assert_fails(leat_gat_shape_set(&shape, LEAT_GAT_SMALL, 0, err), LEAT_ERR_OPTION,
                 "--vocabulary");
    assert_ok(leat_gat_shape_set(&shape, LEAT_GAT_LARGE, 60, err));
    assert_int_equal(shape.size, 9528323 + 16 * 60); /* of the reference */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("head of the GAT", tests, NULL, NULL);
}
