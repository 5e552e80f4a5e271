/*
 * What a step of a model takes: parameters as graphids counts them, a layer added up by
 * hand, and budgets that fill the memory and never pass it.
 */
#include "base/rng.h"
#include "batch_support.h"

/* can-graphs.md, 7.2 and 7.4 of the design: so many, and so many for each identifier. */
static void parameters(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t fixed, each;
    } cases[LEAT_GRAPH_MODELS] = {
        {"vgae", 31405, 162},
        {"vgae-large", 95021, 290},
        {"gat", 199107, 16},
        {"gat-large", 9528323, 16},
    };
    static const int64_t vocabularies[] = {1, 51, 2047, 1 << 24};
    for (int m = 0; m < LEAT_GRAPH_MODELS; m++) {
        assert_string_equal(leat_graph_model_name(m), cases[m].name);
        for (int v = 0; v < 4; v++) {
            leat_graph_memory memory;
            assert_fine(leat_graph_memory_of((leat_graph_model)m, vocabularies[v], &memory, err));
            int64_t want = cases[m].fixed + cases[m].each * vocabularies[v];
            assert_int_equal(memory.parameters, want);
            assert_int_equal(memory.fixed_bytes, 16 * want); /* weight, gradient, two moments */
        }
    }
    assert_null(leat_graph_model_name(LEAT_GRAPH_MODELS));
    assert_null(leat_graph_model_name(-1));
}

/* Every tensor of a step written out, in numbers of a node, an edge and a graph. */
static void small_models(void **state) {
    (void)state;
    static const int64_t vgae_node[] = {
        32 + 35, /* embedding and features */
        64,
        64,
        64,
        4,
        4,
        64,
        4,
        4, /* L, R, out; maximum, sum; self-loop's sum, score, weight */
        64,
        64,
        64,
        64, /* normalised, GraphNorm, ReLU, dropout */
        64,
        64,
        64,
        64, /* mu, logvar, noise, z */
        35,
        35,
        35,
        1,
        1,
        35,
        1,
        1,  /* the decoder's GATv2 */
        35, /* error */
        64,
        64,
        64,
        64,
        64,
        64,
        32,
        32,
        32,           /* neighbour head */
        1000 / 5 + 1, /* logits of identifiers */
        0};
    static const int64_t gat_node[] = {
        16 + 35, 96, 96, 96, 4,      4,  96, 4,  4,  96, 96, /* GATv2, ReLU, dropout */
        96,      96, 96, 4,  4,      96, 4,  4,  96, 96,     /* again */
        4 * 96,  96, 96, 96, 4 * 96, 96, 96, 96, /* forward: gates, cell, tanh, hidden; two steps */
        4 * 96,  96, 96, 96, 4 * 96, 96, 96, 96, /* backward */
        2,       2,  96,                         /* score and weight of a layer, mean */
        0};
    int64_t vgae = 0, gat = 0;
    for (const int64_t *at = vgae_node; *at != 0; at++) vgae += *at;
    for (const int64_t *at = gat_node; *at != 0; at++) gat += *at;
    leat_graph_memory memory;
    assert_fine(leat_graph_memory_of(LEAT_GRAPH_VGAE, 1000, &memory, err));
    assert_int_equal(memory.node_bytes, 4 * (2 * vgae + 2 * (35 + 1 + 1) + 11 + 2));
    assert_int_equal(memory.edge_bytes,
                     4 * (2 * (64 + 4 + 4 + 35 + 1 + 1 + 2) + 2 * (11 + 2) + 11 + 2));
    assert_int_equal(memory.graph_bytes, 4 * (2 * (64 + 64 + 3) + 2 * 4));
    assert_fine(leat_graph_memory_of(LEAT_GRAPH_GAT, 1000, &memory, err));
    assert_int_equal(memory.node_bytes, 4 * (2 * gat + 2 * (35 + 1 + 1) + 11 + 2));
    assert_int_equal(memory.edge_bytes, 4 * (2 * (2 * (96 + 4 + 4)) + 2 * (11 + 2) + 11 + 2));
    assert_int_equal(memory.graph_bytes, 4 * (2 * (96 + 6 * 96 + 2 + 2) + 2 * 4));
}

/* The bytes of a batch within the budget, with as many graphs as it can have. */
static int64_t bytes_of(const leat_graph_memory *memory, int64_t nodes, int64_t edges,
                        int64_t nodes_least) {
    return memory->fixed_bytes + nodes * memory->node_bytes + edges * memory->edge_bytes +
           nodes / nodes_least * memory->graph_bytes;
}

static void budgets(void **state) {
    (void)state;
    int64_t held = 0, refused = 0;
    for (uint64_t number = 0; number < 2000; number++) {
        uint64_t key = leat_random(1, 2, number);
        leat_graph_memory memory;
        leat_graph_model model = (leat_graph_model)(number % LEAT_GRAPH_MODELS);
        assert_fine(leat_graph_memory_of(
            model, 1 + (int64_t)leat_random_below(leat_random_at(key, 0), 3000), &memory, err));
        int64_t graphs = 1 + (int64_t)leat_random_below(leat_random_at(key, 1), 100000);
        int64_t least = 1 + (int64_t)leat_random_below(leat_random_at(key, 2), 40);
        int64_t mean = least + (int64_t)leat_random_below(leat_random_at(key, 3), 30);
        int64_t edges_mean = (int64_t)leat_random_below(leat_random_at(key, 4), 200);
        leat_graph_totals totals = {
            .nodes = graphs * mean + (int64_t)number % 7,
            .edges = graphs * edges_mean + (int64_t)number % 11,
            .nodes_least = least,
            .nodes_most = mean + (int64_t)number % 7,
            .edges_most = edges_mean + (int64_t)number % 11,
        };
        int64_t bytes = (int64_t)(leat_random_at(key, 5) >> (24 + number % 20)), nodes = 0;
        int64_t edges = 0, needed = 0;
        leat_error err = {0};
        leat_code code = leat_graph_budget(&memory, bytes, &totals, &nodes, &edges, &err);
        if (code != LEAT_OK) {
            assert_int_equal(code, LEAT_ERR_LIMIT);
            assert_true(nodes == 0 && edges == 0);
            const char *at = strstr(err.message, " require ");
            assert_non_null(at);
            needed = strtoll(at + 9, NULL, 10);
            assert_true(needed > bytes);
            assert_fine(leat_graph_budget(&memory, needed, &totals, &nodes, &edges, err));
            bytes = needed;
            refused++;
        }
        held += code == LEAT_OK;
        assert_true(nodes >= totals.nodes_most && edges >= totals.edges_most);
        assert_true(bytes_of(&memory, nodes, edges, least) <= bytes);
        /* no more of either, as the data set has them */
        int64_t more =
            bytes_of(&memory, nodes + 2, (nodes + 2) * totals.edges / totals.nodes + 2, least);
        assert_true(more + memory.graph_bytes + nodes + 2 > bytes || nodes == INT32_MAX);
    }
    assert_true(held > 500 && refused > 100);
}

static void refused(void **state) {
    (void)state;
    static const leat_graph_totals cases[] = {
        {100, 200, 0, 10, 20},       {100, 200, 11, 10, 20},
        {9, 200, 5, 10, 20},         {100, 19, 5, 10, 20},
        {100, 200, 5, 10, -1},       {INT64_MAX, 200, 5, 10, 20},
        {100, INT64_MAX, 5, 10, 20}, {INT64_C(1) << 40, 200, 5, INT64_C(1) << 32, 20},
    };
    leat_graph_memory memory;
    int64_t nodes = 1, edges = 1;
    leat_error err = {0};
    assert_int_equal(leat_graph_memory_of(LEAT_GRAPH_MODELS, 10, &memory, &err), LEAT_ERR_OPTION);
    assert_int_equal(memory.node_bytes, 0);
    assert_int_equal(leat_graph_memory_of(LEAT_GRAPH_GAT, 0, &memory, &err), LEAT_ERR_OPTION);
    assert_int_equal(leat_graph_memory_of(LEAT_GRAPH_GAT, (1 << 24) + 1, &memory, &err),
                     LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "a vocabulary of 16777217 identifiers"));
    assert_fine(leat_graph_memory_of(LEAT_GRAPH_GAT, 10, &memory, err));
    for (size_t c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        assert_int_equal(leat_graph_budget(&memory, 1 << 30, &cases[c], &nodes, &edges, &err),
                         LEAT_ERR_INPUT);
        assert_true(nodes == 0 && edges == 0);
        assert_non_null(strstr(err.message, "these totals contradict each other"));
    }
    static const leat_graph_totals good = {100, 200, 5, 10, 20};
    static const int64_t bytes[] = {INT64_MIN, -1, 0, 1000};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(leat_graph_budget(&memory, bytes[i], &good, &nodes, &edges, &err),
                         LEAT_ERR_LIMIT);
        assert_non_null(strstr(err.message, "the model alone requires 3188272"));
    }
    assert_fine(leat_graph_budget(&memory, INT64_MAX, &good, &nodes, &edges, err));
    assert_true(nodes == INT32_MAX && edges == INT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters),
        cmocka_unit_test(small_models),
        cmocka_unit_test(budgets),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("budget of graph batches", tests, NULL, NULL);
}
