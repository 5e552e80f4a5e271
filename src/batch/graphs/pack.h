/*
 * Packing graphs into batches that keep to a budget: which batch each graph goes to, from sizes
 * alone. Numbers of batches count from 0 in the order in which they were opened.
 */
#ifndef LEAT_BATCH_GRAPHS_PACK_H
#define LEAT_BATCH_GRAPHS_PACK_H

#include "base/error.h"

/* Nodes and edges of graphs 0 .. count - 1, none negative. */
typedef struct leat_graph_sizes {
    const int32_t *nodes, *edges;
    int64_t count;
} leat_graph_sizes;

/* What a batch may hold at most, 1 .. INT32_MAX each. */
typedef struct leat_graph_limits {
    int64_t graphs, nodes, edges;
} leat_graph_limits;

/* Whether a batch may hold this graph at all. */
bool leat_graph_fits(const leat_graph_sizes *sizes, const leat_graph_limits *limits, int64_t graph);

/* What the packers take: graphs that fit, in this order; the batch of each is written to bin[]. */
typedef struct leat_pack_list {
    const leat_graph_sizes *sizes;
    const leat_graph_limits *limits;
    const uint32_t *order; /* [count] */
    int64_t count;
    uint32_t *bin; /* [count] */
} leat_pack_list;

/* Next-fit: each goes to the batch before it, or opens the next one if it does not fit there.
 * Returns the number of batches. */
int64_t leat_pack_next_fit(const leat_pack_list *list);

/* The state of first-fit; keeps its memory (some 24 bytes a batch) from call to call. {0} is empty.
 */
typedef struct leat_packer {
    struct leat_packer_room *room; /* of each batch */
    int32_t *most;                 /* a tree over batches: the most room for edges */
    uint64_t *asleep;              /* a heap of batches without room for the nodes of a graph */
    int64_t room_capacity, most_capacity, asleep_capacity;
    int64_t bin_count, leaves, asleep_count;
} leat_packer;
void leat_packer_free(leat_packer *packer);

/*
 * First-fit decreasing: the nodes do not increase along the list; each graph goes to the first
 * batch that has room for its nodes and edges. limits->graphs is ignored. n log n.
 *
 * Dealt, batches mix sizes: of the least number B of batches that could hold all, each run of B
 * graphs gives one to every batch, as `key` says; where it does not fit there it goes to the first
 * batch with room, as above. So batches fill evenly, with graphs of all sizes, and differ from key
 * to key. The last graphs are the smallest ones, and those fit in somewhere, unless there are many
 * batches, each with a little room: then they open a batch of their own, which has attacks alone if
 * those are small.
 *
 * All dealt is the same, but if a graph has opened a batch, all are dealt again to more batches,
 * until none does: *again.
 */
LEAT_MUST_CHECK leat_code leat_pack_first_fit(leat_packer *packer, const leat_pack_list *list,
                                              leat_error *err);
LEAT_MUST_CHECK leat_code leat_pack_dealt(leat_packer *packer, const leat_pack_list *list,
                                          uint64_t key, leat_error *err);
LEAT_MUST_CHECK leat_code leat_pack_all_dealt(leat_packer *packer, const leat_pack_list *list,
                                              uint64_t key, bool *again, leat_error *err);
/* The number of batches is packer->bin_count. */

#endif
