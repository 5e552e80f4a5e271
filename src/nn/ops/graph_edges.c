/* See graph_edges.h. Counting sorts: places from counts, which then run up to their ends. */
#include "nn/ops/graph_edges.h"

#include <string.h>

static void check_graphs(const leat_graph_micro *batch) {
    LEAT_ASSERT(batch->graphs >= 1 && batch->nodes >= batch->graphs && batch->edges >= 0);
    LEAT_ASSERT(batch->edges + batch->nodes <= INT32_MAX);
    LEAT_ASSERT(batch->node_first[0] == 0 && batch->node_first[batch->graphs] == batch->nodes);
    LEAT_ASSERT(batch->edge_first[0] == 0 && batch->edge_first[batch->graphs] == batch->edges);
    for (int64_t g = 0; g < batch->graphs; g++) {
        const int64_t first = batch->node_first[g], end = batch->node_first[g + 1];
        LEAT_ASSERT(first < end && batch->edge_first[g] <= batch->edge_first[g + 1]);
        for (int64_t e = batch->edge_first[g]; e < batch->edge_first[g + 1]; e++) {
            LEAT_ASSERT(batch->source[e] >= first && batch->source[e] < end);
            LEAT_ASSERT(batch->target[e] >= first && batch->target[e] < end);
        }
    }
}

/* From counts in first[1 ..] to the first place of each; what counts for node i is in first[i + 1],
 * so that first[i + 1] ends as the end of i when it is moved along with every place it gives. */
static void sum_up(int64_t nodes, int32_t *first) {
    int32_t sum = 0;
    first[0] = 0;
    for (int64_t i = 1; i <= nodes; i++) {
        const int32_t count = first[i];
        first[i] = sum;
        sum += count;
    }
}

static void put(const leat_graph_edges *out, int32_t at, int32_t source, int32_t target) {
    out->source[at] = source;
    out->target[at] = target;
    memset(out->features + at * (int64_t)LEAT_EDGE_STEP, 0, sizeof *out->features * LEAT_EDGE_STEP);
}

/* The self-loop of a node is after its `count` other edges. */
static void put_loop(const leat_graph_edges *out, int32_t node, int32_t first, int32_t count) {
    float *mean = out->features + (first + count) * (int64_t)LEAT_EDGE_STEP;
    put(out, first + count, node, node);
    for (int32_t k = first; k < first + count; k++)
        for (int f = 0; f < LEAT_MICRO_EDGE_FEATURES; f++)
            mean[f] += out->features[k * (int64_t)LEAT_EDGE_STEP + f];
    for (int f = 0; f < LEAT_MICRO_EDGE_FEATURES && count > 0; f++) mean[f] /= (float)count;
}

static void sort_by_target(const leat_graph_micro *batch, leat_graph_edges *out) {
    int32_t *end = out->target_first + 1;
    memset(out->target_first, 0, sizeof *end * (size_t)(batch->nodes + 1));
    for (int64_t i = 0; i < batch->nodes; i++) end[i] = 1; /* its self-loop */
    for (int64_t e = 0; e < batch->edges; e++)
        if (batch->source[e] != batch->target[e]) end[batch->target[e]]++;
    sum_up(batch->nodes, out->target_first);
    for (int64_t e = 0; e < batch->edges; e++) {
        const int32_t source = batch->source[e], target = batch->target[e];
        if (source == target) continue;
        const int32_t at = end[target]++;
        put(out, at, source, target);
        memcpy(out->features + at * (int64_t)LEAT_EDGE_STEP,
               batch->edge_attr + e * LEAT_MICRO_EDGE_FEATURES,
               sizeof *out->features * LEAT_MICRO_EDGE_FEATURES);
    }
    for (int32_t i = 0; i < batch->nodes; i++) {
        const int32_t first = out->target_first[i];
        put_loop(out, i, first, end[i] - first);
        end[i]++;
    }
    out->count = out->target_first[batch->nodes];
}

static void sort_by_source(leat_graph_edges *out) {
    int32_t *end = out->source_first + 1;
    memset(out->source_first, 0, sizeof *end * (size_t)(out->nodes + 1));
    for (int64_t k = 0; k < out->count; k++) end[out->source[k]]++;
    sum_up(out->nodes, out->source_first);
    for (int32_t k = 0; k < out->count; k++) out->place[end[out->source[k]]++] = k;
    LEAT_ASSERT(out->source_first[out->nodes] == out->count);
}

void leat_graph_edges_set(const leat_graph_micro *batch, leat_graph_edges *out) {
    check_graphs(batch);
    out->nodes = batch->nodes;
    sort_by_target(batch, out);
    sort_by_source(out);
}
