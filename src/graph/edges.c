/*
 * The edges of a window, and the features of its nodes that depend on edges. Edges are counted in a
 * table of all pairs of nodes, which is small for the nodes of one window, and reset to 0 edge by
 * edge. Triangles are the common neighbours of two neighbours: the bits set in both sets.
 */
#include "graph/workspace.h"

#include <math.h>
#include <string.h>

int64_t leat_graph_edge_count(int64_t window) { return window < LEAT_WINDOW_MIN ? 0 : window - 2; }

/* All bytes of a frame at once, which compilers do not find out for themselves. */
typedef int16_t bytes __attribute__((vector_size(2 * LEAT_CAN_BYTES)));
typedef int32_t wide __attribute__((vector_size(4 * LEAT_CAN_BYTES)));
typedef float reals __attribute__((vector_size(4 * LEAT_CAN_BYTES)));

/* The step from a frame to the next one. */
static void step(const leat_can_frames *frames, int32_t to, float *row) {
    bytes now, before;
    memcpy(&now, frames->bytes[to], sizeof now);
    memcpy(&before, frames->bytes[to - 1], sizeof before);
    wide difference = __builtin_convertvector(now, wide) - __builtin_convertvector(before, wide);
    wide sign = difference >> 31; /* -1 below 0 */
    reals distance = __builtin_convertvector((difference ^ sign) - sign, reals);
    row[LEAT_EDGE_GAP] = (float)(frames->time[to] - frames->time[to - 1]);
    memcpy(row + LEAT_EDGE_BYTES, &distance, sizeof distance);
}

/* Fills source and target, counts pairs and degrees, and lists neighbours; returns how many pairs
 * of them there are. */
static int32_t count_edges(leat_graph_workspace *workspace, int32_t edge_count, int32_t n) {
    int32_t words = (n + 63) / 64, pair_count = 0;
    leat_node_links *links = workspace->links;
    memset(links, 0, (size_t)n * sizeof(*links));
    memset(workspace->adjacent, 0, (size_t)n * (size_t)words * sizeof(uint64_t));
    for (int32_t e = 0; e < edge_count; e++) {
        int32_t u = workspace->node_of[e + 1], v = workspace->node_of[e + 2];
        workspace->source[e] = u;
        workspace->target[e] = v;
        links[u].out++;
        links[v].in++;
        uint16_t *there = &workspace->pair_count[u * n + v];
        if ((*there)++ > 0) continue;
        if (u == v) {
            links[u].loop = 1;
        } else if (workspace->pair_count[v * n + u] == 0) {
            workspace->adjacent[u * words + v / 64] |= UINT64_C(1) << v % 64;
            workspace->adjacent[v * words + u / 64] |= UINT64_C(1) << u % 64;
            workspace->pairs[pair_count][0] = (uint16_t)u;
            workspace->pairs[pair_count++][1] = (uint16_t)v;
        }
    }
    return pair_count;
}

/* Bits that are 1, without an instruction that not every machine has. */
static int32_t ones(uint64_t x) {
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int32_t)(x * UINT64_C(0x0101010101010101) >> 56);
}

static void count_triangles(leat_graph_workspace *workspace, int32_t pair_count, int32_t n) {
    int32_t words = (n + 63) / 64;
    for (int32_t p = 0; p < pair_count; p++) {
        int32_t u = workspace->pairs[p][0], v = workspace->pairs[p][1], common = 0;
        const uint64_t *of_u = workspace->adjacent + u * words;
        const uint64_t *of_v = workspace->adjacent + v * words;
        for (int32_t i = 0; i < words; i++) common += ones(of_u[i] & of_v[i]);
        leat_node_links *a = &workspace->links[u], *b = &workspace->links[v];
        a->triangles_twice += common;
        b->triangles_twice += common;
        a->neighbours++;
        b->neighbours++;
        a->looped += b->loop;
        b->looped += a->loop;
    }
}

/* 2 T / (k (k - 1)); a self-loop counts as one more neighbour, so a node's neighbours find a
 * triangle with it that does not exist. */
static float clustering(const leat_node_links *links, leat_self_loops self_loops) {
    int32_t paths = links->triangles_twice, ends = links->neighbours;
    if (self_loops == LEAT_SELF_LOOPS_COUNT) {
        paths += links->loop * links->neighbours + links->looped;
        ends += links->loop;
    }
    return ends > 1 ? (float)paths / (float)(ends * (ends - 1)) : 0;
}

void leat_edges_make(leat_graph_workspace *workspace, const leat_graph_options *options,
                     const leat_can_frames *frames, int32_t node_count) {
    int32_t n = node_count, edge_count = (int32_t)leat_graph_edge_count(frames->count);
    int32_t pair_count = count_edges(workspace, edge_count, n);
    count_triangles(workspace, pair_count, n);
    /* edge e leads from frame e + 1 to frame e + 2 */
    int32_t compared = options->edge_step == LEAT_EDGE_STEP_OWN ? 2 : 1;
    for (int32_t e = 0; e < edge_count; e++) {
        int32_t u = workspace->source[e], v = workspace->target[e];
        float *row = workspace->edge_attr + (int64_t)e * LEAT_EDGE_FEATURES;
        step(frames, e + compared, row);
        row[LEAT_EDGE_BIDIRECTIONAL] = workspace->pair_count[v * n + u] > 0;
        row[LEAT_EDGE_FREQUENCY] = workspace->pair_count[u * n + v];
    }
    for (int32_t e = 0; e < edge_count; e++) {
        workspace->pair_count[workspace->source[e] * n + workspace->target[e]] = 0;
    }
    for (int32_t v = 0; v < n; v++) {
        const leat_node_links *links = &workspace->links[v];
        float *x = workspace->x + (int64_t)v * LEAT_NODE_FEATURES;
        x[LEAT_X_CLUSTERING] = clustering(links, options->self_loops);
        x[LEAT_X_IN_DEGREE] = (float)links->in;
        x[LEAT_X_OUT_DEGREE] = (float)links->out;
    }
}
