/*
 * Chunks are a sixty-fourth of a window: enough places of the file for a window to mix, each large
 * enough to be read in few pieces.
 */
#include "batch/graphs/windows.h"

#include "base/mem.h"
#include "base/rng.h"
#include "batch/graphs/features.h"
#include "batch/random_streams.h"

#define CHUNKS_OF_WINDOW 64
#define CHUNK_BYTES_MAX (INT64_C(2) << 20)

/* Of x and node_id; of edge_attr and edge_index. */
enum { NODE_BYTES = LEAT_BATCH_NODE_FEATURES * 4 + 4 };
enum { EDGE_BYTES = LEAT_BATCH_EDGE_FEATURES * 4 + 8 };

static int64_t graph_bytes(const leat_graph_sizes *sizes, int64_t graph) {
    return (int64_t)sizes->nodes[graph] * NODE_BYTES + (int64_t)sizes->edges[graph] * EDGE_BYTES;
}

/* Cuts chunks, into first[] unless that is NULL; returns their number. */
static int64_t cut(const leat_graph_sizes *sizes, int64_t chunk_bytes, int64_t *first) {
    int64_t chunks = 0, bytes = 0;
    for (int64_t g = 0; g < sizes->count; g++) {
        if (bytes == 0 && first != NULL) first[chunks] = g;
        bytes += graph_bytes(sizes, g) + 1; /* graphs without nodes end a chunk, too */
        if (bytes < chunk_bytes && g + 1 < sizes->count) continue;
        chunks++;
        bytes = 0;
    }
    if (first != NULL) first[chunks] = sizes->count;
    return chunks;
}

leat_code leat_graph_windows_create(leat_graph_windows *windows, const leat_graph_sizes *sizes,
                                    int64_t window_bytes, leat_error *err) {
    int64_t chunk_bytes = window_bytes / CHUNKS_OF_WINDOW, total = 0;
    if (chunk_bytes > CHUNK_BYTES_MAX) chunk_bytes = CHUNK_BYTES_MAX;
    LEAT_ASSERT(sizes->count >= 1 && chunk_bytes >= 1);
    for (int64_t g = 0; g < sizes->count; g++) total += graph_bytes(sizes, g);
    *windows = (leat_graph_windows){.chunk_count = cut(sizes, chunk_bytes, NULL)};
    LEAT_TRY(LEAT_NEW(&windows->first, windows->chunk_count + 1, err));
    (void)cut(sizes, chunk_bytes, windows->first);
    windows->count = (total + window_bytes - 1) / window_bytes;
    if (windows->count < 1) windows->count = 1;
    if (windows->count > windows->chunk_count) windows->count = windows->chunk_count;
    return LEAT_OK;
}

void leat_graph_windows_free(leat_graph_windows *windows) {
    leat_free(windows->first);
    *windows = (leat_graph_windows){0};
}

int64_t leat_graph_windows_begin(const leat_graph_windows *windows, int64_t window) {
    LEAT_ASSERT(window >= 0 && window <= windows->count);
    return windows->chunk_count * window / windows->count;
}

int64_t leat_graph_windows_chunk(const leat_graph_windows *windows, uint64_t seed, int64_t epoch,
                                 int64_t place) {
    uint64_t key = leat_random(seed, LEAT_STREAM_GRAPH_CHUNK, (uint64_t)epoch);
    return leat_permute(key, windows->chunk_count, place);
}

void leat_graph_windows_of(const leat_graph_windows *windows, uint64_t seed, int64_t epoch,
                           uint32_t *window) {
    for (int64_t w = 0; w < windows->count; w++) {
        int64_t end = leat_graph_windows_begin(windows, w + 1);
        for (int64_t i = leat_graph_windows_begin(windows, w); i < end; i++) {
            int64_t chunk = leat_graph_windows_chunk(windows, seed, epoch, i);
            for (int64_t g = windows->first[chunk]; g < windows->first[chunk + 1]; g++)
                window[g] = (uint32_t)w;
        }
    }
}
