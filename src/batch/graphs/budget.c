/*
 * What a training step of a graph model takes in memory, from the sizes of its layers.
 *
 * The rule: every tensor that the forward pass makes is kept for the backward pass and has a
 * gradient of its size, and no memory is used twice: an upper bound for any order of work. Values
 * that are cheaply had again from a kept one are not kept (leaky ReLU of the sum L + R + E of a
 * GATv2 layer, messages alpha L). The batch itself is there twice, since the next one is copied
 * while this one is worked on. float32 and int32 alike: 4 bytes.
 *
 * What the functions below add up, for D = heads x width, of the detectors of graphids:
 *
 *                         a node                          an edge             a graph
 *   batch                 x 35, id, graph number          edge_attr 11, 2     y, type, 2 offsets
 *   self-loops rewritten  the same again: 13              13
 *   GATv2                 L, R, out: 3 D; maximum and     sum D, score and
 *                         sum of the softmax: 2 heads;    weight: 2 heads
 *                         its self-loop: as an edge
 *   GraphNorm             normalised, out: 2 D                                mean, deviation: 2 D
 *   ReLU, dropout         2 D
 *   VGAE                  mu, logvar, noise, z: 4 D;                          3 terms of the score
 *                         error 35; two layers of the
 *                         neighbour head: 6 D; 32 random
 *                         ids, in use, logit: 96;
 *                         logits of V ids for masked      logit and id of a
 *                         nodes                           neighbour: 2
 *   GAT, T layers,        both directions, each step:                         mean D; two layers:
 *   h = T D / 2           4 gates, cell, its tanh,                            6 D; logits and
 *                         hidden: 7 h; score and weight                       probabilities: 4
 *                         of a layer: 2 T; mean D
 *
 * 15 % of nodes are masked; a fifth is counted, which 1,000 nodes or more never pass.
 */
#include "leat/batch.h"

#include "base/error.h"
#include "batch/graphs/features.h"

enum {
    NODE_FEATURES = LEAT_BATCH_NODE_FEATURES,
    EDGE_FEATURES = LEAT_BATCH_EDGE_FEATURES,
    RANDOM_IDS = 32,
    MASKED_PART = 5,
    NUMBER_BYTES = 4,
    VOCABULARY_MAX = 1 << 24,
};

typedef enum family { VGAE, GAT } family;

typedef struct shape {
    family family;
    int64_t embedding, layers, heads, width;
} shape;

static const shape shapes[LEAT_GRAPH_MODELS] = {
    [LEAT_GRAPH_VGAE] = {VGAE, 32, 1, 4, 16},
    [LEAT_GRAPH_VGAE_LARGE] = {VGAE, 32, 1, 4, 32},
    [LEAT_GRAPH_GAT] = {GAT, 16, 2, 4, 24},
    [LEAT_GRAPH_GAT_LARGE] = {GAT, 16, 3, 8, 64},
};

const char *leat_graph_model_name(int model) {
#define NAME(model, name) name,
    static const char *const names[] = {LEAT_GRAPH_MODEL_TABLE(NAME)};
#undef NAME
    return model >= 0 && model < LEAT_GRAPH_MODELS ? names[model] : NULL;
}

/* Numbers: of a node, an edge, a graph in the step's tensors (each has a gradient), and trained. */
typedef struct numbers {
    int64_t node, edge, graph, trained;
} numbers;

static int64_t linear(int64_t in, int64_t out) { return in * out + out; }

static void add_gatv2(numbers *n, int64_t in, int64_t heads, int64_t width) {
    int64_t out = heads * width, edge = out + 2 * heads;
    n->node += 3 * out + 2 * heads + edge;
    n->edge += edge;
    n->trained += 2 * linear(in, out) + EDGE_FEATURES * out + 2 * out;
}

static numbers count_vgae(const shape *it, int64_t vocabulary) {
    int64_t in = it->embedding + NODE_FEATURES, d = it->heads * it->width;
    numbers n = {.node = in, .trained = it->embedding * (vocabulary + 1)};
    add_gatv2(&n, in, it->heads, it->width);
    n.node += 2 * d + 2 * d + 4 * d; /* GraphNorm; ReLU, dropout; latent */
    n.graph += 2 * d + 3;
    n.trained += 3 * d + 2 * linear(d, d);
    add_gatv2(&n, d, 1, NODE_FEATURES); /* the decoder */
    n.node += NODE_FEATURES;
    n.node += vocabulary / MASKED_PART + 1; /* which identifier */
    n.trained += linear(d, vocabulary);
    n.node += 6 * d + 3 * RANDOM_IDS; /* which neighbours */
    n.edge += 2;
    n.trained += 2 * linear(d, d) + linear(d, vocabulary);
    return n;
}

static numbers count_gat(const shape *it, int64_t vocabulary) {
    int64_t in = it->embedding + NODE_FEATURES, d = it->heads * it->width;
    int64_t steps = it->layers, hidden = steps * d / 2;
    numbers n = {.node = in, .trained = it->embedding * vocabulary};
    for (int64_t layer = 0; layer < it->layers; layer++) {
        add_gatv2(&n, layer == 0 ? in : d, it->heads, it->width);
        n.node += 2 * d;
    }
    n.node += 2 * steps * 7 * hidden + 2 * steps + d; /* which layer */
    n.trained += 2 * (4 * hidden * (d + hidden) + 8 * hidden) + linear(2 * hidden, 1);
    n.graph += d + 6 * d + 4; /* the head */
    n.trained += 2 * linear(d, d) + linear(d, 2);
    return n;
}

leat_code leat_graph_memory_of(leat_graph_model model, int64_t vocabulary, leat_graph_memory *out,
                               leat_error *err) {
    *out = (leat_graph_memory){0};
    if ((int)model < 0 || model >= LEAT_GRAPH_MODELS) {
        return leat_fail(err, LEAT_ERR_OPTION, "no graph model has the number %d", (int)model);
    }
    if (vocabulary < 1 || vocabulary > VOCABULARY_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION,
                         "a vocabulary of %lld identifiers; it must have 1 to %d",
                         (long long)vocabulary, VOCABULARY_MAX);
    }
    const shape *it = &shapes[model];
    numbers n = it->family == VGAE ? count_vgae(it, vocabulary) : count_gat(it, vocabulary);
    int64_t batch_node = NODE_FEATURES + 2, batch_edge = EDGE_FEATURES + 2, batch_graph = 4;
    *out = (leat_graph_memory){
        .parameters = n.trained,
        .fixed_bytes = 4 * NUMBER_BYTES * n.trained,
        .node_bytes = NUMBER_BYTES * (2 * n.node + 2 * batch_node + batch_edge),
        .edge_bytes = NUMBER_BYTES * (2 * n.edge + 2 * batch_edge + batch_edge),
        .graph_bytes = NUMBER_BYTES * (2 * n.graph + 2 * batch_graph),
    };
    return LEAT_OK;
}

/* ---- the budget ---------------------------------------------------------------------------- */

__extension__ typedef __int128 wide; /* products of sizes */
static const int64_t most_nodes = INT64_C(1) << 50;

static int64_t at_most_int32(int64_t value) { return value < INT32_MAX ? value : INT32_MAX; }

static leat_code check_totals(const leat_graph_totals *totals, leat_error *err) {
    bool good = totals->nodes_least >= 1 && totals->nodes_most >= totals->nodes_least &&
                totals->nodes >= totals->nodes_most && totals->edges_most >= 0 &&
                totals->edges >= totals->edges_most && totals->nodes <= most_nodes &&
                totals->edges <= most_nodes && totals->nodes_most <= INT32_MAX &&
                totals->edges_most <= INT32_MAX;
    if (good) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "budget for graphs of %lld to %lld nodes and up to %lld edges, %lld nodes and "
                     "%lld edges in all: these totals contradict each other",
                     (long long)totals->nodes_least, (long long)totals->nodes_most,
                     (long long)totals->edges_most, (long long)totals->nodes,
                     (long long)totals->edges);
}

/* The number of bytes from which `part` of the `whole` of `all` bytes is reached. */
static int64_t bytes_for(int64_t part, int64_t whole, wide all) {
    wide bytes = whole == 0 ? 0 : (all * part + whole - 1) / whole;
    return bytes < INT64_MAX / 2 ? (int64_t)bytes : INT64_MAX / 2;
}

leat_code leat_graph_budget(const leat_graph_memory *memory, int64_t memory_bytes,
                            const leat_graph_totals *totals, int64_t *max_nodes, int64_t *max_edges,
                            leat_error *err) {
    *max_nodes = *max_edges = 0;
    LEAT_TRY(check_totals(totals, err));
    /* a batch of n nodes has at most n / nodes_least graphs */
    int64_t graph_share = (memory->graph_bytes + totals->nodes_least - 1) / totals->nodes_least;
    int64_t node_bytes = memory->node_bytes + graph_share, fixed = memory->fixed_bytes;
    int64_t bytes = memory_bytes > fixed ? memory_bytes - fixed : 0;
    wide all = (wide)node_bytes * totals->nodes + (wide)memory->edge_bytes * totals->edges;
    int64_t nodes = at_most_int32((int64_t)((wide)bytes * totals->nodes / all));
    int64_t edges = at_most_int32((bytes - nodes * node_bytes) / memory->edge_bytes);
    if (nodes < totals->nodes_most || edges < totals->edges_most) {
        int64_t for_nodes = bytes_for(totals->nodes_most, totals->nodes, all);
        int64_t for_edges = bytes_for(totals->edges_most, totals->edges, all);
        return leat_fail(
            err, LEAT_ERR_LIMIT,
            "device memory of %lld bytes is too small: the model alone requires %lld, and batches "
            "that hold the largest graphs (%lld nodes, %lld edges) require %lld with it",
            (long long)memory_bytes, (long long)fixed, (long long)totals->nodes_most,
            (long long)totals->edges_most,
            (long long)(fixed + (for_nodes > for_edges ? for_nodes : for_edges)));
    }
    *max_nodes = nodes;
    *max_edges = edges;
    return LEAT_OK;
}
