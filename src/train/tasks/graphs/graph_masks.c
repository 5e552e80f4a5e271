/* See graph_masks.h. */
#include "train/tasks/graphs/graph_masks.h"

#include "base/error.h"
#include "base/rng.h"
#include "nn/random_streams.h"

/* Of the format of scores: with another seed, they would be other scores. */
enum { MASK_SEED = 0 };

void leat_graph_masks(int64_t nodes, uint8_t *mask) {
    LEAT_ASSERT(nodes >= 1);
    const uint64_t key = leat_random(MASK_SEED, LEAT_STREAM_SCORE_MASK, (uint64_t)nodes);
    for (int64_t i = 0; i < nodes; i++)
        mask[i] = (uint8_t)(leat_permute(key, nodes, i) % LEAT_GRAPH_MASKS);
}

void leat_graph_masks_of(const leat_graph_micro *batch, uint8_t *mask) {
    for (int64_t g = 0; g < batch->graphs; g++) {
        const int64_t first = batch->node_first[g];
        leat_graph_masks(batch->node_first[g + 1] - first, mask + first);
    }
}
