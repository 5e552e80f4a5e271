/*
 * The windowed order of graphs: for a cache larger than memory, an epoch takes its batches from one
 * window after the other, so that each part of the file is read once an epoch, in large pieces.
 *
 * The graphs of a split are cut, in the order of the file, into chunks of about the same number of
 * bytes. An epoch puts all chunks into a random order, and cuts that into windows of as many chunks
 * each, or one less. The batches of a window hold its graphs, all of them and no others.
 *
 * A pure function of (sizes, window_bytes, seed, epoch). A graph's bytes are those that it has in a
 * batch, so that caches of frames and of features make the same batches.
 */
#ifndef LEAT_BATCH_GRAPHS_WINDOWS_H
#define LEAT_BATCH_GRAPHS_WINDOWS_H

#include "batch/graphs/pack.h"

typedef struct leat_graph_windows {
    int64_t *first; /* [chunk_count + 1] first graph of each chunk */
    int64_t chunk_count;
    int64_t count; /* windows of an epoch; the same in each */
} leat_graph_windows;

/* Memory: 8 bytes a chunk. */
LEAT_MUST_CHECK leat_code leat_graph_windows_create(leat_graph_windows *windows,
                                                    const leat_graph_sizes *sizes,
                                                    int64_t window_bytes, leat_error *err);
void leat_graph_windows_free(leat_graph_windows *windows);

/* Window 0 <= w < count has the places begin(w) .. begin(w + 1) - 1 of an epoch's order, and
 * chunk() says which chunk stands at a place. */
int64_t leat_graph_windows_begin(const leat_graph_windows *windows, int64_t window);
int64_t leat_graph_windows_chunk(const leat_graph_windows *windows, uint64_t seed, int64_t epoch,
                                 int64_t place);
/* Fills window[graph] for all graphs. */
void leat_graph_windows_of(const leat_graph_windows *windows, uint64_t seed, int64_t epoch,
                           uint32_t *window);

#endif
