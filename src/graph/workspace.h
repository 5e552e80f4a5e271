/*
 * Building a graph, in parts: nodes.c finds the nodes of a window and the node of each frame,
 * features.c computes the features of nodes from their frames, edges.c the edges and the features
 * of nodes that depend on them. All use the arrays of one workspace.
 */
#ifndef LEAT_GRAPH_WORKSPACE_H
#define LEAT_GRAPH_WORKSPACE_H

#include "leat/graph.h"

/* Columns of x. */
enum {
    LEAT_X_MEAN = 0,
    LEAT_X_STD = 8,
    LEAT_X_RANGE = 16,
    LEAT_X_COUNT = 24,
    LEAT_X_ENTROPY,
    LEAT_X_SKEWNESS,
    LEAT_X_KURTOSIS,
    LEAT_X_CLUSTERING,
    LEAT_X_FIRST_HALF,
    LEAT_X_CHANGES,
    LEAT_X_GAP_MEAN,
    LEAT_X_GAP_STD,
    LEAT_X_IN_DEGREE,
    LEAT_X_OUT_DEGREE,
};

/* Columns of edge_attr. */
enum {
    LEAT_EDGE_GAP = 0,
    LEAT_EDGE_BYTES = 1,
    LEAT_EDGE_BIDIRECTIONAL = 9,
    LEAT_EDGE_FREQUENCY,
};

#define LEAT_BYTE_MAX 255
#define LEAT_BYTE_SUM_MAX (LEAT_CAN_BYTES * LEAT_BYTE_MAX)

/* A place of the hash table of identifiers. */
typedef struct leat_node_slot {
    uint32_t id;
    int32_t met; /* 1 + how many other identifiers were met before it; 0: the place is free */
} leat_node_slot;

/* What edges contribute to a node, for its clustering coefficient. */
typedef struct leat_node_links {
    int32_t in, out;         /* edges */
    int32_t neighbours;      /* different nodes with an edge from or to it */
    int32_t looped;          /* of them, with an edge to themselves */
    int32_t triangles_twice; /* it is part of, where an edge's direction does not matter */
    int32_t loop;            /* 1: it has an edge to itself */
} leat_node_links;

struct leat_graph_workspace {
    int32_t window;
    int64_t block_bytes;
    void *block;    /* all arrays below */
    double *x_ln_x; /* [LEAT_BYTE_SUM_MAX + 1] */

    leat_node_slot *slots; /* [1 << slot_bits], all free between windows */
    int32_t slot_bits;
    int32_t *slot_of; /* [N] place of each identifier in the order in which they were met */
    uint64_t *keys;   /* [N] */
    int32_t *rank;    /* [N] */

    uint32_t *node;   /* [N] */
    int32_t *node_of; /* [W] node of each frame */
    int32_t
        *first; /* [N + 1] the frames of node v are frame[first[v]] .. frame[first[v + 1] - 1] */
    int32_t *frame; /* [W] */

    double *entropy; /* [W] of each frame */
    double *gap;     /* [W] of one node */

    uint16_t *pair_count;   /* [N, N] edges from a node to another; all 0 between windows */
    uint64_t *adjacent;     /* [N, ceil(N / 64)] bit u of row v: an edge between u and v */
    uint16_t (*pairs)[2];   /* [E] the pairs of adjacent */
    leat_node_links *links; /* [N] */

    int32_t *source, *target; /* [E] */
    float *x, *edge_attr;
};

/* Identifiers of the window, in the order in which they are met: keys[] holds identifier << 32 | m
 * of identifier number m, and node_of[] (unless not `wanted`) m for each frame. Returns how many.
 */
int32_t leat_nodes_meet(leat_graph_workspace *workspace, const uint32_t *id, int32_t count,
                        bool wanted);
/* Fills node, node_of, first, frame; returns the number of nodes. */
int32_t leat_nodes_find(leat_graph_workspace *workspace, const uint32_t *id, int32_t count);
/* Fills the columns of x that frames decide. */
void leat_features_make(leat_graph_workspace *workspace, const leat_can_frames *frames,
                        int32_t node_count);
/* Fills source, target, edge_attr, and the columns of x that edges decide. */
void leat_edges_make(leat_graph_workspace *workspace, const leat_graph_options *options,
                     const leat_can_frames *frames, int32_t node_count);

#endif
