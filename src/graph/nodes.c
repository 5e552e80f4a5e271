/*
 * Which nodes a window has and which frames are whose. A hash table numbers the identifiers as they
 * are met; their order then takes a sort of as many keys as there are nodes, not frames. The table
 * is left as it was found by freeing the places that were taken: there are far fewer than places.
 */
#include "graph/workspace.h"

#include "base/error.h"

int32_t leat_nodes_meet(leat_graph_workspace *workspace, const uint32_t *id, int32_t count,
                        bool wanted) {
    leat_node_slot *slots = workspace->slots;
    uint32_t mask = (UINT32_C(1) << workspace->slot_bits) - 1;
    int shift = 32 - workspace->slot_bits, met = 0;
    for (int32_t i = 0; i < count; i++) {
        /* by the golden ratio: the next indices of a table fall into places far apart */
        uint32_t at = id[i] * UINT32_C(2654435769) >> shift;
        while (slots[at].met != 0 && slots[at].id != id[i]) at = (at + 1) & mask;
        if (slots[at].met == 0) {
            workspace->slot_of[met] = (int32_t)at;
            workspace->keys[met] = (uint64_t)id[i] << 32 | (uint32_t)met;
            slots[at] = (leat_node_slot){id[i], ++met};
        }
        if (wanted) workspace->node_of[i] = slots[at].met - 1;
    }
    for (int m = 0; m < met; m++) slots[workspace->slot_of[m]].met = 0;
    return met;
}

/* Shell's sort: some 30 keys as a rule, at most LEAT_WINDOW_MAX. */
static void sort(uint64_t *keys, int32_t count) {
    static const int32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof(gaps) / sizeof(*gaps); g++) {
        for (int32_t i = gaps[g]; i < count; i++) {
            uint64_t key = keys[i];
            int32_t to = i;
            for (; to >= gaps[g] && keys[to - gaps[g]] > key; to -= gaps[g]) {
                keys[to] = keys[to - gaps[g]];
            }
            keys[to] = key;
        }
    }
}

int32_t leat_nodes_find(leat_graph_workspace *workspace, const uint32_t *id, int32_t count) {
    int32_t nodes = leat_nodes_meet(workspace, id, count, true);
    int32_t *node_of = workspace->node_of, *first = workspace->first;
    sort(workspace->keys, nodes);
    for (int32_t v = 0; v < nodes; v++) {
        workspace->node[v] = (uint32_t)(workspace->keys[v] >> 32);
        workspace->rank[(uint32_t)workspace->keys[v]] = v;
        first[v] = 0;
    }
    for (int32_t i = 0; i < count; i++) first[node_of[i] = workspace->rank[node_of[i]]]++;
    for (int32_t v = 0, before = 0; v < nodes; v++) first[v] = before += first[v];
    first[nodes] = count;
    for (int32_t i = count - 1; i >= 0; i--) workspace->frame[--first[node_of[i]]] = i;
    return nodes;
}

int32_t leat_graph_node_count(leat_graph_workspace *workspace, const uint32_t *id, int64_t count) {
    LEAT_ASSERT(count >= 0 && count <= workspace->window);
    return leat_nodes_meet(workspace, id, (int32_t)count, false);
}
