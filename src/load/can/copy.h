/* Copies one graph out of a file to its place in a batch, checked, scaled, and renumbered. */
#ifndef LEAT_LOAD_CAN_COPY_H
#define LEAT_LOAD_CAN_COPY_H

#include "load/can/file.h"
#include "load/can/put.h"

/* Rows of center and scale, repeated so that loops over them need not check for the end of each. */
#define LEAT_SCALE_ROWS 8
typedef struct leat_graph_scale {
    float x_center[LEAT_SCALE_ROWS * LEAT_NODE_FEATURES + LEAT_PUT_SPARE];
    float x_scale[LEAT_SCALE_ROWS * LEAT_NODE_FEATURES + LEAT_PUT_SPARE];
    float edge_center[LEAT_SCALE_ROWS * LEAT_EDGE_FEATURES + LEAT_PUT_SPARE];
    float edge_scale[LEAT_SCALE_ROWS * LEAT_EDGE_FEATURES + LEAT_PUT_SPARE];
} leat_graph_scale;
void leat_graph_scale_make(leat_graph_scale *scale, const leat_can_scaler_values *scaler);

/* Where a graph goes: rows of its own nodes and edges. */
typedef struct leat_graph_place {
    float *x, *edge_attr;
    int32_t *node_id, *source, *target;
    int32_t first_node; /* added to source and target */
} leat_graph_place;

/* The scratch space of a thread that copies graphs of one file. */
typedef struct leat_graph_copier leat_graph_copier;
/* NULL scale: values stay unchanged. `stream`: see leat_put_rows; the caller calls leat_put_settle.
 * File and scale outlive the copier. */
LEAT_MUST_CHECK leat_code leat_graph_copier_create(leat_graph_copier **out,
                                                   const leat_graph_file *file,
                                                   const leat_graph_scale *scale, bool stream,
                                                   leat_error *err);
void leat_graph_copier_destroy(leat_graph_copier *copier);
/* Its size in bytes for the windows of this file. */
int64_t leat_graph_copier_bytes(const leat_graph_file *file);

/* Reads the bytes of graphs first .. end - 1 from the disk in large pieces, as far as they are not
 * in memory: leat_map_fetch. */
void leat_graph_fetch(const leat_graph_file *file, int64_t first, int64_t end);

/*
 * These graphs will be copied soon: makes the processor look up the pages of all of them in
 * parallel. Worthwhile for about LEAT_SOON_GRAPHS at once.
 */
#define LEAT_SOON_GRAPHS 32
void leat_graph_copy_soon(const leat_graph_copier *copier, const uint32_t *graphs, int64_t count);

/*
 * Copies a graph of the file. `next` will be copied after it and is prefetched meanwhile; -1: none.
 * LEAT_ERR_CORRUPT or LEAT_ERR_IO name file, page or graph; the contents of the place are then
 * undefined.
 */
LEAT_MUST_CHECK leat_code leat_graph_copy(leat_graph_copier *copier, int64_t graph, int64_t next,
                                          const leat_graph_place *place, leat_error *err);

#endif
