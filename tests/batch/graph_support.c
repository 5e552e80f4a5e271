/* Made-up graphs for the tests of graph batches. */
#include "graph_support.h"

#include "base/rng.h"

static int32_t between(uint64_t key, int64_t i, int32_t least, int32_t most) {
    uint64_t bits = leat_random_at(key, (uint64_t)i);
    return least + (int32_t)leat_random_below(bits, (uint64_t)(most - least + 1));
}

test_graphs make_graphs(graph_kind kind, uint64_t seed, int64_t count) {
    static const int32_t range[GRAPHS_KINDS][4] = {
        {5, 68, 98, 98}, {1, 40, 0, 120}, {1, 300, 1, 300}, {1, 20, 180, 240}, {0, 3, 0, 3},
    };
    uint64_t key = leat_random(seed, (uint64_t)kind, 0), other = leat_random(seed, 77, 1);
    test_graphs graphs = {.nodes = calloc((size_t)count + 1, sizeof(int32_t)),
                          .edges = calloc((size_t)count + 1, sizeof(int32_t))};
    for (int64_t i = 0; i < count; i++) {
        const int32_t *its = range[kind];
        int32_t n = between(key, i, its[0], its[1]), e = between(other, i, its[2], its[3]);
        bool swapped = kind == GRAPHS_OPPOSED && between(key, i + count, 0, 1) == 1;
        graphs.nodes[i] = swapped ? e : n;
        graphs.edges[i] = swapped ? n : e;
    }
    graphs.sizes = (leat_graph_sizes){graphs.nodes, graphs.edges, count};
    return graphs;
}

void free_graphs(test_graphs *graphs) {
    free(graphs->nodes);
    free(graphs->edges);
    *graphs = (test_graphs){.nodes = NULL};
}

int32_t *numbers_of(const json_t *list, int64_t *count) {
    *count = (int64_t)json_array_size(list);
    int32_t *out = calloc((size_t)*count + 1, sizeof(*out));
    for (int64_t i = 0; i < *count; i++) {
        out[i] = (int32_t)json_integer_value(json_array_get(list, (size_t)i));
    }
    return out;
}

leat_graph_plan *plan_of(const leat_graph_batch_options *options, const leat_graph_sizes *sizes,
                         const int32_t *attack, const double *score) {
    leat_graph_plan *plan = NULL;
    assert_fine(leat_graph_plan_create(&plan, options, sizes, attack, score, err));
    return plan;
}
