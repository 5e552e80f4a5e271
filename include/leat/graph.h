/*
 * leat/graph.h: the arithmetic that turns a window of CAN frames into a graph. Nodes are the
 * identifiers in the window, edges the steps from each frame to the next. Plain arrays in, plain
 * arrays out, the same bits on every machine: the same code for ingest, loader and live detection.
 * docs/can-graphs.md has the formulas.
 */
#ifndef LEAT_GRAPH_H
#define LEAT_GRAPH_H

#include "leat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LEAT_NODE_FEATURES 35
#define LEAT_EDGE_FEATURES 11
#define LEAT_CAN_BYTES 8
/* Columns that summaries read: frames of a node; seconds of an edge's step. */
#define LEAT_NODE_MSG_COUNT 24
#define LEAT_EDGE_IAT 0
/* Frames of a window. */
#define LEAT_WINDOW_MIN 3
#define LEAT_WINDOW_MAX 4096

/* Names of the columns, "byte_0_mean", ...; NULL for any other index. */
LEAT_API const char *leat_node_feature_name(int index);
LEAT_API const char *leat_edge_feature_name(int index);

/* A frame as a log or a running bus gives it. */
#define LEAT_CAN_FRAME_ID_BYTES 17
typedef struct leat_can_frame {
    double time_s;                    /* bus time: the log's, never that of this machine */
    int64_t line;                     /* of the log, from 1 */
    int16_t bytes[LEAT_CAN_BYTES];    /* the payload, 0 where there is none; negative: see below */
    uint16_t bus;                     /* 0 where the log has none */
    uint8_t size_bytes;               /* of its payload, of which `bytes` has the first ones */
    int8_t label;                     /* 1: an attack, 0: benign, -1: the log has no label */
    bool cut;                         /* a CAN-FD frame, of which only 8 bytes are kept */
    char id[LEAT_CAN_FRAME_ID_BYTES]; /* canonical: 3 or 8 upper-case hexadecimal digits; or as
                                         written; zero padded */
} leat_can_frame;

#define LEAT_BUS_SEPARATE (-1) /* each bus of a log is a separate capture */
#define LEAT_BUS_MERGE (-2)    /* the buses of a log are one capture */

/* The frames of one window in time order. */
typedef struct leat_can_frames {
    const double *time; /* seconds */
    /* Index into the table of all identifiers, whose order is that of the nodes: known ones by
     * vocabulary index, then unknown ones by canonical text. */
    const uint32_t *id;
    /* The payload, 0 where there is none. Negative: a signed byte of a lenient payload. */
    const int16_t (*bytes)[LEAT_CAN_BYTES];
    int64_t count;
} leat_can_frames;

typedef enum leat_edge_step {
    LEAT_EDGE_STEP_PREVIOUS, /* an edge's features compare its source frame with the one before */
    LEAT_EDGE_STEP_OWN,      /* they compare the frame it leads to with its source frame */
} leat_edge_step;

typedef enum leat_self_loops {
    LEAT_SELF_LOOPS_COUNT, /* in the clustering coefficient, as in graphids (docs/README.md) */
    LEAT_SELF_LOOPS_IGNORE,
} leat_self_loops;

/* {0}: like graphids. */
typedef struct leat_graph_options {
    leat_edge_step edge_step;
    leat_self_loops self_loops;
} leat_graph_options;

/* Nodes and edges of one window. The arrays belong to the workspace, until its next window. */
typedef struct leat_graph {
    int32_t node_count, edge_count;
    const uint32_t *node;   /* [N] index into the table of identifiers, ascending */
    const float *x;         /* [N, LEAT_NODE_FEATURES] */
    const int32_t *source;  /* [E] node, 0..N-1; edges in time order */
    const int32_t *target;  /* [E] */
    const float *edge_attr; /* [E, LEAT_EDGE_FEATURES] */
} leat_graph;

/*
 * Scratch space to make graphs, one per thread, for windows of up to `window` frames
 * (LEAT_WINDOW_MIN..LEAT_WINDOW_MAX, else LEAT_ERR_OPTION): at most 1 KB a frame, and 2 window^2
 * bytes of which only 2 node_count^2 are ever touched. Nothing is allocated later.
 */
typedef struct leat_graph_workspace leat_graph_workspace;
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_workspace_create(leat_graph_workspace **out,
                                                               int64_t window, leat_error *err);
LEAT_API void leat_graph_workspace_destroy(leat_graph_workspace *workspace);
/* The memory that a workspace for this many frames allocates. */
LEAT_API int64_t leat_graph_workspace_bytes(int64_t window);

/* Edges of a window of this many frames: window - 2, since its first frame has no step. */
LEAT_API int64_t leat_graph_edge_count(int64_t window);
/* The graph of a window of LEAT_WINDOW_MIN frames up to the workspace's. Cannot fail. */
LEAT_API void leat_graph_make(leat_graph_workspace *workspace, const leat_graph_options *options,
                              const leat_can_frames *frames, leat_graph *graph);
/* Only its number of nodes, to plan ahead; `count` is 0 up to the workspace's window. */
LEAT_API int32_t leat_graph_node_count(leat_graph_workspace *workspace, const uint32_t *id,
                                       int64_t count);

#ifdef __cplusplus
}
#endif
#endif
