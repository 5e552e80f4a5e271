/*
 * The features of a window from the formulas of docs/can-graphs.md, in doubles and as slowly as
 * they are written: what the library is compared with.
 */
#ifndef LEAT_TESTS_WINDOW_REFERENCE_H
#define LEAT_TESTS_WINDOW_REFERENCE_H

#include "check.h"
#include "leat/graph.h"

/* A window with room for its frames, and for what the reference makes of it. */
typedef struct window {
    int64_t count;
    double time[LEAT_WINDOW_MAX];
    uint32_t id[LEAT_WINDOW_MAX];
    int16_t bytes[LEAT_WINDOW_MAX][LEAT_CAN_BYTES];

    int32_t node_count, edge_count;
    uint32_t node[LEAT_WINDOW_MAX];
    double x[LEAT_WINDOW_MAX][LEAT_NODE_FEATURES];
    int32_t source[LEAT_WINDOW_MAX], target[LEAT_WINDOW_MAX];
    double edge_attr[LEAT_WINDOW_MAX][LEAT_EDGE_FEATURES];
} window;

static inline leat_can_frames frames_of(const window *it) {
    return (leat_can_frames){it->time, it->id, it->bytes, it->count};
}

/* Fills the second part from the first. */
void reference_make(window *it, const leat_graph_options *options);
/* Fails, naming `what`, unless the graph is what the reference made. */
void expect_reference(const window *it, const leat_graph *graph, const char *what);

#endif
