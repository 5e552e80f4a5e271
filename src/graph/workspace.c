/*
 * The memory of a workspace: one block, mapped, so that the pages of pairs of nodes that no window
 * has are never there.
 */
#include "graph/workspace.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/portable_math.h"

#define ALIGNMENT 64

/* The next `count` items of the block, which begins at 0 while it is only measured. */
static void *carve(char *block, int64_t *used, int64_t count, size_t item_bytes) {
    int64_t at = *used;
    *used += (count * (int64_t)item_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return block == NULL ? NULL : block + at;
}

#define CARVE(member, count)                                                                       \
    (workspace->member = carve(block, &used, (count), sizeof(*workspace->member)))

/* Returns the bytes that the arrays take together. */
static int64_t lay_out(leat_graph_workspace *workspace, char *block) {
    int64_t w = workspace->window, used = 0;
    CARVE(x_ln_x, LEAT_BYTE_SUM_MAX + 1);
    CARVE(slots, INT64_C(1) << workspace->slot_bits);
    CARVE(slot_of, w);
    CARVE(keys, w);
    CARVE(rank, w);
    CARVE(node, w);
    CARVE(node_of, w);
    CARVE(first, w + 1);
    CARVE(frame, w);
    CARVE(entropy, w);
    CARVE(gap, w);
    CARVE(links, w);
    CARVE(pairs, w);
    CARVE(source, w);
    CARVE(target, w);
    CARVE(x, w * LEAT_NODE_FEATURES);
    CARVE(edge_attr, w * LEAT_EDGE_FEATURES);
    CARVE(adjacent, w * ((w + 63) / 64));
    CARVE(pair_count, w * w);
    return used;
}

/* Places for the numbers of nodes: at most a third of them are taken. */
static int slot_bits_of(int64_t window) {
    int bits = 3;
    while ((INT64_C(1) << bits) < 3 * window) bits++;
    return bits;
}

int64_t leat_graph_workspace_bytes(int64_t window) {
    leat_graph_workspace measured = {.window = (int32_t)window, .slot_bits = slot_bits_of(window)};
    return (int64_t)sizeof measured + lay_out(&measured, NULL);
}

leat_code leat_graph_workspace_create(leat_graph_workspace **out, int64_t window, leat_error *err) {
    *out = NULL;
    if (window < LEAT_WINDOW_MIN || window > LEAT_WINDOW_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION, "a window has %lld frames; it must have %d to %d",
                         (long long)window, LEAT_WINDOW_MIN, LEAT_WINDOW_MAX);
    }
    leat_graph_workspace *workspace = NULL;
    LEAT_TRY(LEAT_NEW(&workspace, 1, err));
    workspace->window = (int32_t)window;
    workspace->slot_bits = slot_bits_of(window);
    workspace->block_bytes = lay_out(workspace, NULL);
    leat_code code = leat_block_alloc(&workspace->block, workspace->block_bytes, err);
    if (code != LEAT_OK) {
        leat_free(workspace);
        return code;
    }
    lay_out(workspace, workspace->block);
    for (int i = 1; i <= LEAT_BYTE_SUM_MAX; i++) workspace->x_ln_x[i] = i * leat_ln(i);
    *out = workspace;
    return LEAT_OK;
}

void leat_graph_workspace_destroy(leat_graph_workspace *workspace) {
    if (workspace == NULL) return;
    leat_block_free(workspace->block, workspace->block_bytes);
    leat_free(workspace);
}
