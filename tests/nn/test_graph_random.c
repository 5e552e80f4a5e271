/* Random numbers of graphs: functions of the graph's number, whatever batch it is in. */
/* TSan: parts of a pool. */
#include "nn/ops/graph_random.h"

#include <math.h>

#include "base/rng.h"
#include "nn/ops/each.h"
#include "nn/random_streams.h"
#include "nn_support.h"

enum { COLUMNS = 19, STEP = 32, NODES = 12, LAST = 7 };
static const int64_t node_first[] = {0, 1, 5, 12}, number[] = {40, 7, 1000000007};
static const leat_graph_micro batch = {
    .graphs = 3, .nodes = 12, .node_first = node_first, .number = number, .seed = 42, .epoch = 3};
/* its last graph, alone */
static const int64_t last_first[] = {0, LAST};
static const leat_graph_micro last = {.graphs = 1,
                                      .nodes = LAST,
                                      .node_first = last_first,
                                      .number = number + 2,
                                      .seed = 42,
                                      .epoch = 3};

typedef struct drawn {
    float *dropped, *normal;
    uint8_t mask[NODES];
    int32_t below[NODES * COLUMNS];
} drawn;

static drawn draw(const leat_device *device, const leat_graph_micro *from, const float *x) {
    drawn out = {.dropped = nn_zeros(from->nodes * STEP), .normal = nn_zeros(from->nodes * STEP)};
    leat_graph_random of = {.batch = from, .stream = LEAT_STREAM_DROPOUT, .place = 2, .share = 0.3};
    assert_ok(leat_graph_dropout(device, &of, COLUMNS, x, out.dropped, err));
    of.stream = LEAT_STREAM_LATENT;
    assert_ok(leat_graph_normal(device, &of, COLUMNS, out.normal, err));
    of.stream = LEAT_STREAM_NODE_MASK;
    assert_ok(leat_graph_mask(device, &of, 0.5f, out.mask, err));
    of.stream = LEAT_STREAM_NEGATIVES;
    assert_ok(leat_graph_below(device, &of, COLUMNS, 1000, out.below, err));
    return out;
}

static void test_bits(void **state) {
    (void)state;
    const float *x = nn_numbers(1, NODES * STEP);
    const leat_device scalar = {.kernels = &leat_kernels_scalar};
    const drawn want = draw(&scalar, &batch, x);
    leat_device device;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        const drawn got = draw(&device, &batch, x);
        nn_assert_same(got.dropped, want.dropped, NODES * STEP);
        nn_assert_same(got.normal, want.normal, NODES * STEP);
        assert_memory_equal(got.mask, want.mask, sizeof want.mask);
        assert_memory_equal(got.below, want.below, sizeof want.below);
    }
    const drawn alone = draw(&scalar, &last, x + 5 * STEP);
    nn_assert_same(alone.dropped, want.dropped + 5 * STEP, LAST * STEP);
    nn_assert_same(alone.normal, want.normal + 5 * STEP, LAST * STEP);
    assert_memory_equal(alone.mask, want.mask + 5, LAST);
    assert_memory_equal(alone.below, want.below + 5 * COLUMNS, LAST * COLUMNS * sizeof(int32_t));
    nn_free_all();
}

/* As the header says it. */
static void test_values(void **state) {
    (void)state;
    const float *x = nn_numbers(1, NODES * STEP);
    const leat_device scalar = {.kernels = &leat_kernels_scalar};
    const drawn got = draw(&scalar, &batch, x);
    const uint64_t epoch = leat_random(42, LEAT_STREAM_DROPOUT, 3);
    const uint64_t key = leat_random(epoch, LEAT_STREAM_DROPOUT, 1000000007);
    const leat_graph_random of = {.batch = &batch, .stream = LEAT_STREAM_DROPOUT};
    assert_true(leat_graph_key(&of, 2) == key && leat_graph_key(&of, 1) != key);
    int kept = 0;
    for (int i = 0; i < LAST; i++) {
        for (int c = 0; c < STEP; c++) {
            const uint64_t element = ((uint64_t)2 << 40) + (uint64_t)(i * COLUMNS + c);
            const bool stays =
                c < COLUMNS && (double)(leat_random_at(key, element) >> 40) < 0x1p24 * 0.7;
            const int at = (5 + i) * STEP + c;
            const float value = stays ? x[at] * (float)(1 / 0.7) : 0.0f;
            nn_assert_same(&got.dropped[at], &value, 1);
            kept += stays;
            if (c >= COLUMNS) assert_true(got.normal[at] == 0.0f && !signbit(got.normal[at]));
        }
    }
    assert_in_range(kept, 75, 112); /* of 133 */
    for (int i = 0; i < NODES * COLUMNS; i++) assert_in_range(got.below[i], 0, 999);
    nn_free_all();
}

static void test_shares(void **state) {
    (void)state;
    const leat_device scalar = {.kernels = &leat_kernels_scalar};
    leat_graph_random of = {.batch = &batch, .stream = LEAT_STREAM_NODE_MASK, .of_graphs = true};
    float *x = nn_numbers(1, 3 * STEP), *y = nn_zeros(3 * STEP);
    uint8_t mask[NODES];
    assert_ok(leat_graph_dropout(&scalar, &of, COLUMNS, x, y, err));
    for (int i = 0; i < 3; i++) nn_assert_same(y + i * STEP, x + i * STEP, COLUMNS);
    assert_true(y[COLUMNS] == 0);
    of.share = 0x1.fffffffp-1;
    assert_ok(leat_graph_dropout(&scalar, &of, COLUMNS, x, x, err));
    for (int i = 0; i < 3 * STEP; i++) assert_true(x[i] == 0); /* below 1 of 2^24 is kept */
    of.of_graphs = false;
    assert_ok(leat_graph_mask(&scalar, &of, 0, mask, err));
    for (int i = 0; i < NODES; i++) assert_int_equal(mask[i], 0);
    assert_ok(leat_graph_mask(&scalar, &of, 1, mask, err));
    for (int i = 0; i < NODES; i++) assert_int_equal(mask[i], 1);
    nn_free_all();
}

/* With ReLU before it: the same bits as drawn again, whatever is 0 and why. */
static void test_backward(void **state) {
    (void)state;
    leat_graph_random of = {.batch = &batch, .stream = LEAT_STREAM_DROPOUT, .share = 0.3};
    leat_device device;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        const int64_t all = NODES * STEP;
        float *x = nn_numbers(1, all), *y = nn_zeros(all), *up = nn_numbers(2, all);
        float *want = nn_zeros(all), *got = nn_zeros(all);
        x[0] = 0x1p-149f;
        x[1] = -0.0f;
        up[2] = NAN;
        of.share = i % 2 == 0 ? 0.3 : 0;
        assert_ok(leat_leaky(&device, 0, all, x, x, err));
        assert_ok(leat_graph_dropout(&device, &of, COLUMNS, x, y, err));
        assert_ok(leat_graph_dropout(&device, &of, COLUMNS, up, want, err));
        assert_ok(leat_leaky_backward(&device, 0, all, x, want, want, err));
        memcpy(got, up, sizeof *got * (size_t)all);
        assert_ok(leat_relu_dropout_backward(&device, leat_graph_dropout_scale(of.share), all, y,
                                             got, err));
        nn_assert_same(got, want, all);
        nn_free_all();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_backward),
    };
    return cmocka_run_group_tests_name("random numbers of graphs", tests, NULL, NULL);
}
