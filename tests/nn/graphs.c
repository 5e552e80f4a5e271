/* See graphs.h. */
#include "graphs.h"

#include <math.h>
#include <stdio.h>

#include "base/rng.h"

int32_t *nn_ints(int64_t count) { return (int32_t *)nn_zeros(count); }

static int64_t *nn_longs(int64_t count) { return (int64_t *)nn_zeros(2 * count); }

static int64_t below(uint64_t seed, int64_t at, int64_t bound) {
    return (int64_t)(leat_random(seed, 11, (uint64_t)at) % (uint64_t)bound);
}

static leat_graph_micro room_for(int64_t graphs, int64_t nodes, int64_t edges) {
    leat_graph_micro out = {.graphs = graphs, .nodes = nodes, .edges = edges};
    out.x = nn_zeros(nodes * LEAT_MICRO_NODE_FEATURES);
    out.edge_attr = nn_zeros(edges * LEAT_MICRO_EDGE_FEATURES);
    out.source = nn_ints(edges);
    out.target = nn_ints(edges);
    out.node_id = nn_ints(nodes);
    out.node_first = nn_longs(graphs + 1);
    out.edge_first = nn_longs(graphs + 1);
    out.label = nn_ints(graphs);
    out.number = nn_longs(graphs);
    return out;
}

leat_graph_micro nn_graphs(uint64_t seed, int graphs, int most, int ids) {
    leat_graph_micro out = room_for(graphs, (int64_t)graphs * most, 3LL * graphs * most);
    int64_t nodes = 0, edges = 0;
    for (int g = 0; g < graphs; g++) {
        const int64_t n = g < 2 ? 1 : 1 + below(seed, g, most);
        const int64_t e = g == 0 ? 0 : below(seed, 1000 + g, 3 * n) + (g == 1 ? 1 : 0);
        for (int64_t i = 0; i < e; i++) {
            const int64_t at = 10000 + 4 * (edges + i);
            const bool again = i > 0 && below(seed, at, 4) == 0; /* a parallel edge */
            int32_t *source = (int32_t *)out.source + edges + i;
            int32_t *target = (int32_t *)out.target + edges + i;
            *source = again ? source[-1] : (int32_t)(nodes + below(seed, at + 1, n));
            *target = again ? target[-1] : (int32_t)(nodes + below(seed, at + 2, n));
        }
        nodes += n;
        edges += e;
        ((int64_t *)out.node_first)[g + 1] = nodes;
        ((int64_t *)out.edge_first)[g + 1] = edges;
        ((int64_t *)out.number)[g] = 3 * g + 1;
    }
    for (int64_t i = 0; i < nodes; i++)
        ((int32_t *)out.node_id)[i] = (int32_t)below(seed, 1000000 + i, ids);
    out.nodes = nodes;
    out.edges = edges;
    out.x = nn_numbers(seed + 1, nodes * LEAT_MICRO_NODE_FEATURES);
    out.edge_attr = nn_numbers(seed + 2, edges * LEAT_MICRO_EDGE_FEATURES);
    out.seed = seed;
    return out;
}

static void take(nn_golden *golden, const char *name, int64_t count, int32_t *out) {
    int64_t n;
    const double *values = nn_golden_doubles(golden, name, &n);
    assert_true(n >= count);
    for (int64_t i = 0; i < count; i++) out[i] = (int32_t)values[i];
}

leat_graph_micro nn_golden_graphs(nn_golden *golden) {
    int64_t graphs, nodes, edges, n;
    const double *ptr = nn_golden_doubles(golden, "input/ptr", &graphs);
    nn_golden_doubles(golden, "input/node_id", &nodes);
    const double *index = nn_golden_doubles(golden, "input/edge_index", &edges);
    graphs--;
    edges /= 2;
    leat_graph_micro out = room_for(graphs, nodes, edges);
    take(golden, "input/node_id", nodes, (int32_t *)out.node_id);
    take(golden, "input/y", graphs, (int32_t *)out.label);
    for (int64_t e = 0; e < edges; e++) {
        ((int32_t *)out.source)[e] = (int32_t)index[e];
        ((int32_t *)out.target)[e] = (int32_t)index[edges + e];
    }
    for (int64_t g = 0, e = 0; g <= graphs; g++) {
        ((int64_t *)out.node_first)[g] = (int64_t)ptr[g];
        while (e < edges && out.source[e] < (int32_t)ptr[g]) e++;
        ((int64_t *)out.edge_first)[g] = e;
    }
    out.x = nn_golden_floats(golden, "input/x", &n);
    out.edge_attr = nn_golden_floats(golden, "input/edge_attr", &n);
    return out;
}

static const float *in_split(nn_golden *golden, const char *split, const char *name,
                             int64_t *count) {
    char full[64];
    snprintf(full, sizeof full, "%s%s", split, name);
    return nn_golden_floats(golden, full, count);
}

nn_split nn_split_of(const char *name, nn_golden *graphs, nn_golden *scaled) {
    int64_t n, two_rows;
    nn_split out = {.node_first = in_split(graphs, name, "node_ptr", &n),
                    .edge_first = in_split(graphs, name, "edge_ptr", &n),
                    .node_id = in_split(graphs, name, "node_id", &n),
                    .x = in_split(scaled, name, "x", &n),
                    .edge_attr = in_split(scaled, name, "edge_attr", &n)};
    out.index = in_split(graphs, name, "edge_index", &two_rows);
    out.edges = two_rows / 2;
    return out;
}

static int32_t *ints_of(const float *from, int64_t count) {
    int32_t *out = nn_ints(count);
    for (int64_t i = 0; i < count; i++) out[i] = (int32_t)from[i];
    return out;
}

leat_graph_micro nn_graph_of(const nn_split *of, int at) {
    const int64_t node = (int64_t)of->node_first[at], edge = (int64_t)of->edge_first[at];
    int64_t *first = nn_longs(5);
    first[1] = (int64_t)of->node_first[at + 1] - node;
    first[3] = (int64_t)of->edge_first[at + 1] - edge;
    return (leat_graph_micro){.graphs = 1,
                              .nodes = first[1],
                              .edges = first[3],
                              .x = of->x + node * LEAT_MICRO_NODE_FEATURES,
                              .edge_attr = of->edge_attr + edge * LEAT_MICRO_EDGE_FEATURES,
                              .source = ints_of(of->index + edge, first[3]),
                              .target = ints_of(of->index + of->edges + edge, first[3]),
                              .node_id = ints_of(of->node_id + node, first[1]),
                              .node_first = first,
                              .edge_first = first + 2,
                              .number = first + 4};
}

leat_graph_edges nn_graph_edges(const leat_graph_micro *batch) {
    const int64_t most = batch->edges + batch->nodes;
    leat_graph_edges out = {.target_first = nn_ints(batch->nodes + 1),
                            .source_first = nn_ints(batch->nodes + 1),
                            .source = nn_ints(most),
                            .target = nn_ints(most),
                            .place = nn_ints(most),
                            .features = nn_zeros(most * LEAT_EDGE_STEP)};
    leat_graph_edges_set(batch, &out);
    return out;
}

float *nn_to_rows(const float *in, int64_t rows, int64_t columns) {
    const int64_t step = leat_lanes(columns);
    float *out = nn_zeros(rows * step);
    for (int64_t i = 0; i < rows * step; i++)
        out[i] = i % step < columns ? in[i / step * columns + i % step] : NAN;
    return out;
}

float *nn_from_rows(const float *in, int64_t rows, int64_t columns) {
    float *out = nn_zeros(rows * columns);
    for (int64_t i = 0; i < rows * columns; i++)
        out[i] = in[i / columns * leat_lanes(columns) + i % columns];
    return out;
}
