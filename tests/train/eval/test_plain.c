/*
 * Plain scores against a NumPy program on the graphs of golden/can/features_ref, and by hand: what
 * identifiers without a table, unknown ones and constant features get; bad input.
 */
#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "format/safetensors/safetensors.h"
#include "golden_files.h"
#include "leat/graph.h"
#include "train/eval/plain.h"

static void near(const char *what, double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%s: %.17g, not %.17g", what, value, expected);
}

/* ---- golden graphs ------------------------------------------------------------------------ */

typedef struct graphs {
    const float *x;
    const int64_t *node_id, *node_ptr, *y;
} graphs;

enum { IDS = 51, NODES_MAX = 100 };

static leat_plain_graph graph_of(const graphs *of, int64_t g, int32_t ids[NODES_MAX]) {
    const int64_t first = of->node_ptr[g], count = of->node_ptr[g + 1] - first;
    assert_in_range(count, 1, NODES_MAX);
    for (int64_t n = 0; n < count; n++) ids[n] = (int32_t)of->node_id[first + n];
    return (leat_plain_graph){count, ids, of->x + first * LEAT_NODE_FEATURES};
}

static leat_plain_table *table_of(const graphs *of, int64_t count) {
    leat_plain *plain = NULL;
    leat_plain_table *table = NULL;
    int32_t ids[NODES_MAX];
    assert_ok(leat_plain_create(&plain, IDS, LEAT_NODE_FEATURES, err));
    for (int64_t g = 0; g < count; g++) {
        const leat_plain_graph graph = graph_of(of, g, ids);
        if (of->y[g] == 0) assert_ok(leat_plain_add(plain, &graph, g, err));
    }
    assert_ok(leat_plain_finish(plain, &table, err));
    assert_ok(leat_plain_table_check(table, err));
    leat_plain_destroy(plain);
    return table;
}

static void check_table(const leat_plain_table *table) {
    static const struct {
        int feature;
        double mean, deviation;
    } cases[] = {{0, 88.6377599371339, 97.8001328463059},
                 {8, 0.059602005722172224, 2.1361917449993415},
                 {24, 3.3283157718682053, 1.075080454157177},
                 {34, 3.261749456430841, 1.0552049332681352}};
    assert_int_equal(table->graphs, 199);
    assert_int_equal(table->rows, 5979);
    for (int64_t id = 0; id < IDS; id++) assert_int_equal(table->count[id] > 0, id > 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        near("mean", table->pooled_mean[cases[i].feature], cases[i].mean, 1e-11);
        near("deviation", table->pooled_deviation[cases[i].feature], cases[i].deviation, 1e-11);
    }
}

static void check_scores(const graphs *of, const leat_plain_table *table) {
    static const struct {
        int graph;
        double mean_abs_z, max_abs_z;
        int node, feature;
        double frame_count;
        int frame_count_node;
    } cases[] = {{0, 13.19050670457699, 1333.4297426973703, 15, 8, 9.454110657980124, 31},
                 {7, 7.844164843383829, 623.0319377381991, 17, 30, 37.20651774974228, 37},
                 {12, 8.262381964859125, 693.5486526708742, 3, 8, 10.394155162323754, 33},
                 {24, 4.892439325902668, 623.0319377381991, 17, 30, 37.20651774974228, 39}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t ids[NODES_MAX];
        leat_plain_scores scores;
        const leat_plain_window window = {graph_of(of, cases[i].graph, ids), 0, LEAT_NODE_MSG_COUNT,
                                          0.0625};
        assert_ok(leat_plain_score(table, &window, &scores, err));
        near("mean_abs_z", scores.mean_abs_z, cases[i].mean_abs_z, 1e-11);
        near("max_abs_z", scores.max_abs_z, cases[i].max_abs_z, 1e-11);
        near("frame_count", scores.frame_count, cases[i].frame_count, 1e-11);
        assert_int_equal(scores.max_node, cases[i].node);
        assert_int_equal(scores.max_feature, cases[i].feature);
        assert_int_equal(scores.frame_count_node, cases[i].frame_count_node);
        assert_true(scores.unknown_identifiers == 0 && scores.duration == -0.0625);
    }
}

static const void *data_of(const leat_safetensors *tensors, const uint8_t *bytes, const char *name,
                           leat_dtype dtype, int rank) {
    const leat_tensor *tensor = NULL;
    assert_ok(leat_safetensors_find(tensors, name, dtype, rank, NULL, &tensor, err));
    return bytes + tensor->offset;
}

static void golden_graphs(void **state) {
    (void)state;
    const char *path = golden_path("golden/can/features_ref.safetensors");
    uint8_t *bytes = NULL;
    int64_t size = 0;
    leat_safetensors *tensors = NULL;
    assert_ok(leat_file_load(path, INT64_C(1) << 26, &bytes, &size, err));
    assert_ok(leat_safetensors_parse(&tensors, bytes, size, size, path, err));
    const graphs train = {data_of(tensors, bytes, "x", LEAT_DTYPE_F32, 2),
                          data_of(tensors, bytes, "node_id", LEAT_DTYPE_I64, 1),
                          data_of(tensors, bytes, "node_ptr", LEAT_DTYPE_I64, 1),
                          data_of(tensors, bytes, "y", LEAT_DTYPE_I64, 1)};
    const graphs test = {data_of(tensors, bytes, "test/x", LEAT_DTYPE_F32, 2),
                         data_of(tensors, bytes, "test/node_id", LEAT_DTYPE_I64, 1),
                         data_of(tensors, bytes, "test/node_ptr", LEAT_DTYPE_I64, 1),
                         data_of(tensors, bytes, "test/y", LEAT_DTYPE_I64, 1)};
    leat_plain_table *table = table_of(&train, 225);
    check_table(table);
    check_scores(&test, table);
    leat_plain_table_destroy(table);
    leat_safetensors_destroy(tensors);
    leat_free(bytes);
}

/* ---- by hand ------------------------------------------------------------------------------ */

/* Identifiers 1 and 2 have nodes, 3 has none; 0 is unknown. The last feature is constant. */
static leat_plain_table *small_table(void) {
    static const int32_t ids[4] = {1, 1, 2, 0};
    static const float x[4 * 3] = {1, 10, 7, 3, 10, 7, 5, 20, 7, 7, 40, 7};
    leat_plain *plain = NULL;
    leat_plain_table *table = NULL;
    assert_ok(leat_plain_create(&plain, 4, 3, err));
    for (int n = 0; n < 4; n++) { /* a graph of a node each, and an empty one */
        const leat_plain_graph graph = {1, ids + n, x + 3 * n}, empty = {0};
        assert_ok(leat_plain_add(plain, &graph, 2 * n, err));
        assert_ok(leat_plain_add(plain, &empty, 2 * n + 1, err));
    }
    assert_ok(leat_plain_finish(plain, &table, err));
    leat_plain_destroy(plain);
    return table;
}

static void pooled_rows(void **state) {
    (void)state;
    leat_plain_table *table = small_table();
    assert_int_equal(table->rows, 4);
    assert_int_equal(table->graphs, 8);
    static const int64_t counts[4] = {0, 2, 1, 0};
    assert_memory_equal(table->count, counts, sizeof counts);
    /* feature 0: 1 3 5 7; feature 1: 10 10 20 40 */
    const double pooled[2] = {sqrt(5.0), sqrt(150.0)};
    static const double means[4 * 3] = {4, 20, 7, 2, 10, 7, 5, 20, 7, 4, 20, 7};
    const double deviations[4 * 3] = {
        pooled[0],        pooled[1],        1, 1,         0.05 * pooled[1], 1,
        0.05 * pooled[0], 0.05 * pooled[1], 1, pooled[0], pooled[1],        1};
    for (int i = 0; i < 12; i++) {
        near("mean", table->mean[i], means[i], 1e-14);
        near("deviation", table->deviation[i], deviations[i], 1e-14);
    }
    assert_true(table->pooled_deviation[2] == 0);
    static const int32_t ids[3] = {1, 0, 3};
    static const float x[3 * 3] = {3, 10, 7, 4, 20, 9, 4, 20, 5};
    leat_plain_scores scores;
    const leat_plain_window window = {{3, ids, x}, 0, 0, 2};
    assert_ok(leat_plain_score(table, &window, &scores, err));
    near("mean", scores.mean_abs_z, 5.0 / 9, 1e-14); /* 1, 2 and 2 */
    assert_true(scores.max_abs_z == 2 && scores.max_node == 1 && scores.max_feature == 2);
    assert_true(scores.frame_count == 1 && scores.frame_count_node == 0);
    assert_true(scores.unknown_identifiers == 1);
    static const char *const names[LEAT_PLAIN_SCORES] = {"mean_abs_z", "max_abs_z", "frame_count",
                                                         "window_duration", "unknown_identifiers"};
    const double values[LEAT_PLAIN_SCORES] = {scores.mean_abs_z, 2, 1, -2, 1};
    for (int i = 0; i < LEAT_PLAIN_SCORES; i++) {
        assert_string_equal(leat_plain_score_name(i), names[i]);
        assert_true(leat_plain_score_value(&scores, i) == values[i]);
    }
    leat_plain_table_destroy(table);
}

/* A million seconds with a deviation of a millisecond: sums of squares would give nothing. */
static void large_means(void **state) {
    (void)state;
    leat_plain *plain = NULL;
    leat_plain_table *table = NULL;
    assert_ok(leat_plain_create(&plain, 3, 1, err));
    for (int i = 0; i < 1000; i++) {
        const int32_t id = 1 + i % 2;
        const float x = 1048576 + (float)(i % 4 / 2) * 0.125F;
        const leat_plain_graph graph = {1, &id, &x};
        assert_ok(leat_plain_add(plain, &graph, i, err));
    }
    assert_ok(leat_plain_finish(plain, &table, err));
    near("own", table->deviation[1], 0.0625, 1e-9);
    near("pooled", table->pooled_deviation[0], 0.0625, 1e-9);
    leat_plain_table_destroy(table);
    leat_plain_destroy(plain);
}

static void bad_input(void **state) {
    (void)state;
    leat_plain *plain = NULL;
    leat_plain_table *table = NULL;
    assert_fails(leat_plain_create(&plain, 0, 35, err), LEAT_ERR_LIMIT, "table of 0 identifiers");
    assert_fails(leat_plain_create(&plain, LEAT_PLAIN_IDS_MAX + 1, 1, err), LEAT_ERR_LIMIT,
                 "16777217 identifiers");
    assert_true(leat_plain_bytes(0, 1) == INT64_MAX && leat_plain_bytes(51, 35) < 40000);
    assert_ok(leat_plain_create(&plain, 4, 3, err));
    assert_fails(leat_plain_finish(plain, &table, err), LEAT_ERR_INPUT,
                 "no benign graph to take means from; ingest a log without attacks");
    const int32_t ids[2] = {1, 3}, outside[2] = {1, 4}, negative[2] = {1, -1};
    const float x[6] = {1, 2, 3, 4, 5, 6}, broken[6] = {1, 2, 3, 4, (float)NAN, 6};
    const leat_plain_graph bad[] = {{2, outside, x}, {2, negative, x}, {2, ids, broken}};
    static const char *const words[] = {"graph 40, node 1: identifier number 4;",
                                        "graph 41, node 1: identifier number -1;",
                                        "graph 42, node 1, feature 1: nan is not finite"};
    for (int i = 0; i < 3; i++)
        assert_fails(leat_plain_add(plain, &bad[i], 40 + i, err), LEAT_ERR_INPUT, words[i]);
    assert_fails(leat_plain_finish(plain, &table, err), LEAT_ERR_INPUT, "no benign graph");
    assert_null(table);
    leat_plain_destroy(plain);

    table = small_table();
    leat_plain_scores scores;
    leat_plain_window window = {{2, ids, broken}, 17, 0, 1};
    assert_fails(leat_plain_score(table, &window, &scores, err), LEAT_ERR_INPUT,
                 "graph 17, node 1, feature 1");
    window.graph.node_count = 0;
    assert_fails(leat_plain_score(table, &window, &scores, err), LEAT_ERR_INPUT,
                 "graph 17 has no node");
    assert_ok(leat_plain_table_check(table, err));
    table->deviation[4] = 0;
    assert_fails(leat_plain_table_check(table, err), LEAT_ERR_CORRUPT,
                 "identifier 1, feature 1: mean 10, deviation 0;");
    table->deviation[4] = 1;
    table->mean[11] = (double)INFINITY;
    assert_fails(leat_plain_table_check(table, err), LEAT_ERR_CORRUPT, "identifier 3, feature 2");
    table->mean[11] = 0;
    table->count[2] = -1;
    assert_fails(leat_plain_table_check(table, err), LEAT_ERR_CORRUPT, "identifier 2 has -1 nodes");
    table->count[2] = 0;
    table->pooled_mean[0] = (double)NAN;
    assert_fails(leat_plain_table_check(table, err), LEAT_ERR_CORRUPT, "feature 0: mean nan");
    leat_plain_table_destroy(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_graphs),
                                       cmocka_unit_test(pooled_rows), cmocka_unit_test(large_means),
                                       cmocka_unit_test(bad_input)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
