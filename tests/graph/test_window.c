/*
 * The graph of a window: a worked example number by number, many windows of all kinds beside the
 * formulas as they are written (window_reference.c), and the same bits on every machine.
 */
#include "window_reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/rng.h"

static window it;

/* ---- the worked example ---- */

typedef float node_row[LEAT_NODE_FEATURES];
typedef float edge_row[LEAT_EDGE_FEATURES];

/* Nodes 0C1, 0C9, 316, 7DF. */
static const struct {
    const char *name;
    float of[4];
} example_nodes[LEAT_NODE_FEATURES] = {
    {"byte_0_mean", {4, 254.6667f, 5, 2}},
    {"byte_1_mean", {12.75f, 1, 0, 1}},
    {"byte_2_mean", {34, 42.66667f, 0, 5}},
    {"byte_3_mean", {51, 0, 0, 0}},
    {"byte_4_mean", {68, 0, 0, 0}},
    {"byte_5_mean", {85, 0, 0, 0}},
    {"byte_6_mean", {102, 0, 0, 0}},
    {"byte_7_mean", {120.5f, 0, 0, 0}},
    {"byte_0_std", {8, .5773503f, 7.071068f, 0}},
    {"byte_1_std", {8.5f, 1, 0, 0}},
    {"byte_2_std", {0, 73.90083f, 0, 0}},
    {"byte_3_std", {0, 0, 0, 0}},
    {"byte_4_std", {0, 0, 0, 0}},
    {"byte_5_std", {0, 0, 0, 0}},
    {"byte_6_std", {0, 0, 0, 0}},
    {"byte_7_std", {1.290994f, 0, 0, 0}},
    {"byte_0_range", {16, 1, 10, 0}},
    {"byte_1_range", {17, 2, 0, 0}},
    {"byte_2_range", {0, 128, 0, 0}},
    {"byte_3_range", {0, 0, 0, 0}},
    {"byte_4_range", {0, 0, 0, 0}},
    {"byte_5_range", {0, 0, 0, 0}},
    {"byte_6_range", {0, 0, 0, 0}},
    {"byte_7_range", {3, 0, 0, 0}},
    {"msg_count", {4, 3, 2, 1}},
    {"entropy_mean", {1.806953f, .2306523f, 0, .9002562f}},
    {"skewness", {0, 0, 0, 0}},
    {"kurtosis", {-.3366667f, -.5625f, -.25f, 0}},
    {"clustering_coeff", {.5f, 0, .5f, 0}},
    {"split_half_ratio", {.5f, .3333333f, 1, 0}},
    {"change_rate", {.2916667f, .3125f, .125f, 0}},
    {"node_iat_mean", {.001416667f, .00275f, .0005f, 0}},
    {"node_iat_std", {.0003818813f, .00106066f, 0, 0}},
    {"in_degree", {3, 2, 2, 1}},
    {"out_degree", {3, 3, 2, 0}},
};

static const struct {
    int32_t source, target;
    edge_row row;
} example_edges[] = {
    {1, 0, {.0005f, 255, 17, 34, 51, 68, 85, 102, 119, 1, 2}},
    {0, 2, {.001f, 255, 17, 34, 51, 68, 85, 102, 120, 1, 1}},
    {2, 2, {0, 0, 17, 34, 51, 68, 85, 102, 120, 1, 1}},
    {2, 0, {.0005f, 10, 0, 0, 0, 0, 0, 0, 0, 1, 1}},
    {0, 1, {.00125f, 6, 0, 34, 51, 68, 85, 102, 121, 1, 2}},
    {1, 0, {.00075f, 238, 1, 34, 51, 68, 85, 102, 121, 1, 2}},
    {0, 1, {.00025f, 254, 16, 34, 51, 68, 85, 102, 122, 1, 2}},
    {1, 3, {.00175f, 255, 15, 94, 51, 68, 85, 102, 122, 0, 1}},
};

/* The identifiers stand in a larger table, of which they are these. */
static const uint32_t example_table[] = {17, 18, 400, 70000};

static void set_example(void) {
    static const struct {
        double time;
        int id;
        int16_t bytes[LEAT_CAN_BYTES];
    } frames[] = {
        {100.000000, 0, {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77}},
        {100.000500, 1, {0xff, 0x00}},
        {100.001500, 0, {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x78}},
        {100.001500, 2, {0}},
        {100.002000, 2, {0x0a, 0x00}},
        {100.003250, 0, {0x10, 0x00, 0x22, 0x33, 0x44, 0x55, 0x66, 0x79}},
        {100.004000, 1, {0xfe, 0x01}},
        {100.004250, 0, {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x7a}},
        {100.006000, 1, {0xff, 0x02, 0x80}},
        {100.006500, 3, {0x02, 0x01, 0x05}},
    };
    it.count = sizeof(frames) / sizeof(*frames);
    for (int64_t i = 0; i < it.count; i++) {
        it.time[i] = frames[i].time;
        it.id[i] = example_table[frames[i].id];
        memcpy(it.bytes[i], frames[i].bytes, sizeof(it.bytes[i]));
    }
}

static void expect_near(float got, float want, const char *name, int row) {
    if (fabsf(got - want) <= 1e-6f * fmaxf(fabsf(want), 1e-3f)) return;
    fail_msg("row %d: %s is %.9g, not %.9g", row, name, got, want);
}

static leat_graph make(leat_graph_workspace *workspace, leat_graph_options options) {
    leat_can_frames frames = frames_of(&it);
    leat_graph graph;
    leat_graph_make(workspace, &options, &frames, &graph);
    return graph;
}

static leat_graph_workspace *workspace_for(int64_t count) {
    leat_graph_workspace *workspace = NULL;
    assert_ok(leat_graph_workspace_create(&workspace, count, err));
    return workspace;
}

static void worked_example(void **state) {
    (void)state;
    set_example();
    leat_graph_workspace *workspace = workspace_for(10);
    leat_graph graph = make(workspace, (leat_graph_options){0});
    assert_int_equal(graph.node_count, 4);
    assert_int_equal(graph.edge_count, 8);
    for (int v = 0; v < 4; v++) {
        assert_int_equal(graph.node[v], example_table[v]);
        for (int c = 0; c < LEAT_NODE_FEATURES; c++) {
            assert_string_equal(leat_node_feature_name(c), example_nodes[c].name);
            expect_near(graph.x[v * LEAT_NODE_FEATURES + c], example_nodes[c].of[v],
                        example_nodes[c].name, v);
        }
    }
    for (int e = 0; e < 8; e++) {
        assert_int_equal(graph.source[e], example_edges[e].source);
        assert_int_equal(graph.target[e], example_edges[e].target);
        for (int c = 0; c < LEAT_EDGE_FEATURES; c++) {
            expect_near(graph.edge_attr[e * LEAT_EDGE_FEATURES + c], example_edges[e].row[c],
                        leat_edge_feature_name(c), e);
        }
    }
    /* by its own step edge e has the numbers that edge e + 1 has by the one before */
    leat_graph own = make(workspace, (leat_graph_options){.edge_step = LEAT_EDGE_STEP_OWN});
    for (int e = 0; e < 7; e++) {
        for (int c = 0; c <= LEAT_CAN_BYTES; c++) {
            expect_near(own.edge_attr[e * LEAT_EDGE_FEATURES + c], example_edges[e + 1].row[c],
                        leat_edge_feature_name(c), e);
        }
    }
    /* neighbours of 0C1 are 0C9 and 316, of 316 only 0C1: no triangle without the loop of 316 */
    leat_graph plain = make(workspace, (leat_graph_options){.self_loops = LEAT_SELF_LOOPS_IGNORE});
    for (int v = 0; v < 4; v++) assert_true(plain.x[v * LEAT_NODE_FEATURES + 28] == 0);
    leat_graph_workspace_destroy(workspace);
}

/* ---- windows of all kinds ---- */

typedef enum payload {
    PAYLOAD_CONSTANT, /* of each identifier */
    PAYLOAD_CAN,      /* some bytes constant, some counting, some of any value */
    PAYLOAD_SMALL,    /* 0, 1 or 2: many ties, sums of 0 */
    PAYLOAD_TINY,     /* -1, 0 or 1: sums of 0 that are not of zeros */
    PAYLOAD_RARE,     /* nearly always the same: moments beyond what is clipped */
    PAYLOAD_SIGNED,   /* -15..255 */
    PAYLOAD_ANY,      /* whatever 16 bits hold */
    PAYLOADS
} payload;

typedef struct kind {
    int64_t count;
    uint32_t ids;     /* at most so many */
    uint32_t id_step; /* between numbers of identifiers: clashes in a hash table */
    payload bytes;
    int stay;  /* percent of frames with the identifier of the frame before */
    int still; /* percent of frames at the time of the frame before */
} kind;

static uint64_t draws;
static uint64_t below(uint64_t bound) {
    return leat_random_below(leat_random(6, 0, draws++), bound);
}

static int16_t byte_of(payload bytes, uint32_t id, int64_t i, int k) {
    switch (bytes) {
    case PAYLOAD_CONSTANT: return (int16_t)((id * 31 + (uint32_t)k * 7) % 256);
    case PAYLOAD_CAN:
        if (k % 3 == 0) return (int16_t)(id % 256);
        return (int16_t)(k % 3 == 1 ? (uint64_t)i % 256 : below(256));
    case PAYLOAD_SMALL: return (int16_t)below(3);
    case PAYLOAD_TINY: return (int16_t)((int)below(3) - 1);
    case PAYLOAD_RARE: return (int16_t)((below(150) == 0) == (k % 2 == 0) ? 255 : 0);
    case PAYLOAD_SIGNED: return (int16_t)((int)below(271) - 15);
    default: return (int16_t)((int)below(65536) - 32768);
    }
}

static void set_window(const kind *kind) {
    double time = 1.58e9;
    it.count = kind->count;
    for (int64_t i = 0; i < it.count; i++) {
        bool stays = i > 0 && (int)below(100) < kind->stay;
        it.id[i] = stays ? it.id[i - 1] : (uint32_t)below(kind->ids) * kind->id_step;
        if ((int)below(100) >= kind->still) time += (double)(1 + below(5000)) * 1e-6;
        it.time[i] = time;
        for (int k = 0; k < LEAT_CAN_BYTES; k++) {
            it.bytes[i][k] = byte_of(kind->bytes, it.id[i], i, k);
        }
    }
}

static void expect_all_ways(leat_graph_workspace *workspace, const kind *kind) {
    char what[128];
    for (int way = 0; way < 4; way++) {
        leat_graph_options options = {(leat_edge_step)(way % 2), (leat_self_loops)(way / 2)};
        snprintf(what, sizeof(what), "window of %d, %u ids, step %u, bytes %d, way %d",
                 (int)kind->count, kind->ids, kind->id_step, (int)kind->bytes, way);
        reference_make(&it, &options);
        leat_graph graph = make(workspace, options);
        expect_reference(&it, &graph, what);
    }
    assert_int_equal(leat_graph_node_count(workspace, it.id, it.count), it.node_count);
}

static void random_windows(void **state) {
    (void)state;
    /* the second: all want the last place of the hash table */
    static const uint32_t steps[] = {1, 3954393975u, 1u << 20, 77};
    leat_graph_workspace *workspace = workspace_for(200);
    for (int i = 0; i < 4000; i++) {
        kind kind = {
            .count = 3 + (int64_t)below(i % 4 == 0 ? 8 : 198),
            .ids = (uint32_t)(1 + below(i % 3 == 0 ? 5 : 300)),
            .id_step = steps[i % 4],
            .bytes = (payload)(i % PAYLOADS),
            .stay = i % 5 == 0 ? 60 : 5,
            .still = i % 7 == 0 ? 90 : 10,
        };
        set_window(&kind);
        expect_all_ways(workspace, &kind);
    }
    leat_graph_workspace_destroy(workspace);
}

static void largest_windows(void **state) {
    (void)state;
    leat_graph_workspace *workspace = workspace_for(LEAT_WINDOW_MAX);
    static const kind kinds[] = {
        {LEAT_WINDOW_MAX, 1, 1, PAYLOAD_ANY, 0, 10},
        {LEAT_WINDOW_MAX, 1, 1, PAYLOAD_SIGNED, 0, 10},
        {LEAT_WINDOW_MAX, 6, 1, PAYLOAD_SIGNED, 0, 10},
        {LEAT_WINDOW_MAX, 4, 1, PAYLOAD_CAN, 0, 10},
        {LEAT_WINDOW_MAX, 60, 1, PAYLOAD_CAN, 5, 10},
        {LEAT_WINDOW_MAX, 3, 1, PAYLOAD_RARE, 5, 10},
        {LEAT_WINDOW_MAX, 700, 9, PAYLOAD_SIGNED, 5, 10},
        {LEAT_WINDOW_MAX, 1u << 30, 3, PAYLOAD_CAN, 0, 10},
        {LEAT_WINDOW_MAX - 1, 64, 1, PAYLOAD_ANY, 5, 100},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        set_window(&kinds[i]);
        expect_all_ways(workspace, &kinds[i]);
    }
    leat_graph_workspace_destroy(workspace);
}

/* Nothing of a window is left for the next one, however large the workspace is. */
static void reuse(void **state) {
    (void)state;
    leat_graph_workspace *used = workspace_for(500);
    for (int i = 0; i < 200; i++) {
        kind kind = {3 + (int64_t)below(498), (uint32_t)(1 + below(500)), 5, PAYLOAD_CAN, 10, 10};
        set_window(&kind);
        leat_graph_workspace *fresh = workspace_for(it.count);
        leat_graph a = make(used, (leat_graph_options){0});
        leat_graph b = make(fresh, (leat_graph_options){0});
        assert_int_equal(a.node_count, b.node_count);
        assert_memory_equal(a.x, b.x, (size_t)a.node_count * sizeof(node_row));
        assert_memory_equal(a.edge_attr, b.edge_attr, (size_t)a.edge_count * sizeof(edge_row));
        leat_graph_workspace_destroy(fresh);
    }
    leat_graph_workspace_destroy(used);
}

/* One value, whatever compiler and processor. */
static void bits(void **state) {
    (void)state;
    leat_graph_workspace *workspace = workspace_for(100);
    uint64_t all = 0;
    draws = 0;
    for (int i = 0; i < 600; i++) {
        kind kind = {100, 33, 1, (payload)(i % PAYLOADS), 5, 10};
        set_window(&kind);
        leat_graph graph = make(workspace, (leat_graph_options){0});
        all =
            leat_random_mix(all ^ leat_xxh3(graph.x, graph.node_count * (int64_t)sizeof(node_row)));
        all = leat_random_mix(
            all ^ leat_xxh3(graph.edge_attr, graph.edge_count * (int64_t)sizeof(edge_row)));
    }
    if (all != UINT64_C(0x828d60b9a46b7ad)) fail_msg("0x%llx", (unsigned long long)all);
    leat_graph_workspace_destroy(workspace);
}

/* ---- the rest ---- */

static void extreme_times(void **state) {
    (void)state;
    set_example();
    static const double times[] = {-1.7e308, -1.7e308, 1.7e308, 0, 0, 1e300, -1e300, 4e-320, 1, 2};
    memcpy(it.time, times, sizeof(times));
    leat_graph_workspace *workspace = workspace_for(10);
    leat_graph graph = make(workspace, (leat_graph_options){0});
    for (int i = 0; i < graph.node_count * LEAT_NODE_FEATURES; i++) assert_false(isnan(graph.x[i]));
    assert_true(graph.edge_attr[LEAT_EDGE_FEATURES] == INFINITY);
    leat_graph_workspace_destroy(workspace);
}

static void node_counts(void **state) {
    (void)state;
    leat_graph_workspace *workspace = workspace_for(8);
    static const struct {
        uint32_t id[8];
        int64_t count;
        int32_t nodes;
    } cases[] = {
        {{0}, 0, 0},
        {{UINT32_MAX}, 1, 1},
        {{0, 0, 0}, 3, 1},
        {{0, UINT32_MAX, 0, 5}, 4, 3},
        {{8, 7, 6, 5, 4, 3, 2, 1}, 8, 8},
        {{1, 1, 2, 2, 3, 3, 1, 1}, 7, 3},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(leat_graph_node_count(workspace, cases[i].id, cases[i].count),
                         cases[i].nodes);
    }
    leat_graph_workspace_destroy(workspace);
    assert_int_equal(leat_graph_edge_count(2), 0);
    assert_int_equal(leat_graph_edge_count(3), 1);
    assert_int_equal(leat_graph_edge_count(100), 98);
}

static void names(void **state) {
    (void)state;
    static const struct {
        const char *(*name)(int);
        int index;
        const char *want;
    } cases[] = {
        {leat_node_feature_name, 0, "byte_0_mean"},
        {leat_node_feature_name, 15, "byte_7_std"},
        {leat_node_feature_name, 17, "byte_1_range"},
        {leat_node_feature_name, 24, "msg_count"},
        {leat_node_feature_name, 28, "clustering_coeff"},
        {leat_node_feature_name, 34, "out_degree"},
        {leat_edge_feature_name, 0, "iat"},
        {leat_edge_feature_name, 8, "byte_7_diff"},
        {leat_edge_feature_name, 10, "edge_freq"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_string_equal(cases[i].name(cases[i].index), cases[i].want);
    }
    assert_null(leat_node_feature_name(-1));
    assert_null(leat_node_feature_name(LEAT_NODE_FEATURES));
    assert_null(leat_edge_feature_name(-1));
    assert_null(leat_edge_feature_name(LEAT_EDGE_FEATURES));
}

static void refused(void **state) {
    (void)state;
    static const int64_t counts[] = {INT64_MIN, -1, 0, 2, LEAT_WINDOW_MAX + 1, INT64_MAX};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        leat_graph_workspace *workspace = (leat_graph_workspace *)&it;
        leat_error err = {0};
        assert_int_equal(leat_graph_workspace_create(&workspace, counts[i], &err), LEAT_ERR_OPTION);
        assert_null(workspace);
        assert_non_null(strstr(err.message, "3 to 4096"));
    }
    leat_graph_workspace_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example),
        cmocka_unit_test(random_windows),
        cmocka_unit_test(largest_windows),
        cmocka_unit_test(reuse),
        cmocka_unit_test(bits),
        cmocka_unit_test(extreme_times),
        cmocka_unit_test(node_counts),
        cmocka_unit_test(names),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("graphs of windows", tests, NULL, NULL);
}
