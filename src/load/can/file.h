/*
 * The file of one split of a CAN cache, mapped: where the rows of each graph are, and their bytes,
 * returned only from checked pages. Any number of threads may read it.
 */
#ifndef LEAT_LOAD_CAN_FILE_H
#define LEAT_LOAD_CAN_FILE_H

#include "format/can_cache/can_cache.h"
#include "format/paged.h"
#include "leat/graph.h"
#include "leat/load_can.h"

typedef struct leat_graph_file {
    char *split; /* its name */
    leat_paged paged;
    uint64_t *page_hashes;
    leat_can_shape shape;          /* store, graphs, nodes, edges, window */
    int64_t at[LEAT_CAN_TENSORS];  /* where each tensor of the store begins */
    leat_graph_options options;    /* with stored frames: how graphs are made from them */
    int64_t id_count, vocab_count; /* identifiers; those with a number above 0 */
    int64_t capture_count;
    int64_t *node_ptr, *edge_ptr; /* [graphs + 1] first row of each graph */
    int32_t *y, *attack_type;     /* [graphs] both -1: unlabelled */
} leat_graph_file;

/* What the cache says about the file. */
typedef struct leat_graph_file_facts {
    const char *path, *pages_path;
    const leat_can_meta *meta;
    const leat_can_meta_split *split;
    leat_graph_options options; /* how graphs are made from stored frames */
} leat_graph_file_facts;

/* Maps the file and reads its header, the places of its graphs and their labels: 24 bytes a graph.
 * LEAT_ERR_CORRUPT if it has changed since it was written, or contradicts itself or the facts. */
LEAT_MUST_CHECK leat_code leat_graph_file_open(leat_graph_file **out,
                                               const leat_graph_file_facts *facts, leat_error *err);
void leat_graph_file_close(leat_graph_file *file);

/* The facts of a graph in the file. */
LEAT_MUST_CHECK leat_code leat_graph_file_facts_of(const leat_graph_file *file, int64_t graph,
                                                   leat_can_graph_facts *out, leat_error *err);

#endif
