/* A window's graph, put together, and the names of its columns. */
#include "graph/workspace.h"

#include "base/error.h"

#define OF_BYTES(before, after)                                                                    \
    before "0" after, before "1" after, before "2" after, before "3" after, before "4" after,      \
        before "5" after, before "6" after, before "7" after

const char *leat_node_feature_name(int index) {
    static const char *const names[LEAT_NODE_FEATURES] = {
        OF_BYTES("byte_", "_mean"),
        OF_BYTES("byte_", "_std"),
        OF_BYTES("byte_", "_range"),
        "msg_count",
        "entropy_mean",
        "skewness",
        "kurtosis",
        "clustering_coeff",
        "split_half_ratio",
        "change_rate",
        "node_iat_mean",
        "node_iat_std",
        "in_degree",
        "out_degree",
    };
    return index >= 0 && index < LEAT_NODE_FEATURES ? names[index] : NULL;
}

const char *leat_edge_feature_name(int index) {
    static const char *const names[LEAT_EDGE_FEATURES] = {
        "iat",
        OF_BYTES("byte_", "_diff"),
        "bidir",
        "edge_freq",
    };
    return index >= 0 && index < LEAT_EDGE_FEATURES ? names[index] : NULL;
}

void leat_graph_make(leat_graph_workspace *workspace, const leat_graph_options *options,
                     const leat_can_frames *frames, leat_graph *graph) {
    LEAT_ASSERT(frames->count >= LEAT_WINDOW_MIN && frames->count <= workspace->window);
    int32_t nodes = leat_nodes_find(workspace, frames->id, (int32_t)frames->count);
    leat_features_make(workspace, frames, nodes);
    leat_edges_make(workspace, options, frames, nodes);
    *graph = (leat_graph){
        .node_count = nodes,
        .edge_count = (int32_t)leat_graph_edge_count(frames->count),
        .node = workspace->node,
        .x = workspace->x,
        .source = workspace->source,
        .target = workspace->target,
        .edge_attr = workspace->edge_attr,
    };
}
