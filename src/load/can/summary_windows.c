/*
 * The windows that stand for their labels. Windows have at most a few thousand nodes, so counters
 * by the number of nodes find the median in one pass, whatever the number of windows.
 */
#include "load/can/summary.h"

leat_can_label leat_can_label_of(const leat_can_graph_facts *facts) {
    return facts->y > 0   ? LEAT_CAN_LABEL_ATTACK
           : facts->y < 0 ? LEAT_CAN_LABEL_UNLABELLED
                          : LEAT_CAN_LABEL_BENIGN;
}

void leat_window_sizes_add(leat_window_sizes sizes[LEAT_CAN_LABELS], int split,
                           const leat_can_graph_facts *facts) {
    leat_window_sizes *of = &sizes[leat_can_label_of(facts)];
    if (of->count[facts->node_count]++ > 0) return;
    of->first[facts->node_count] = facts->graph;
    of->split[facts->node_count] = split;
}

/* -1: there is no window. */
static int median_nodes(const leat_window_sizes *of) {
    int64_t total = 0, seen = 0;
    for (int nodes = 0; nodes <= LEAT_CAN_CACHE_WINDOW_MAX; nodes++) total += of->count[nodes];
    if (total == 0) return -1;
    int nodes = 0;
    while ((seen += of->count[nodes]) <= (total - 1) / 2) nodes++;
    return nodes;
}

leat_code leat_window_sizes_choose(const leat_window_sizes sizes[LEAT_CAN_LABELS],
                                   const leat_can_cache *cache, leat_can_summary *summary,
                                   leat_error *err) {
    for (int label = 0; label < LEAT_CAN_LABELS; label++) {
        const leat_graph_file *file = NULL;
        leat_can_summary_window *window = &summary->window[label];
        int nodes = median_nodes(&sizes[label]);
        window->split = nodes < 0 ? -1 : sizes[label].split[nodes];
        if (nodes < 0) continue;
        LEAT_TRY(leat_can_cache_file(cache, summary->splits[window->split].facts.name, &file, err));
        LEAT_TRY(leat_graph_file_facts_of(file, sizes[label].first[nodes], &window->facts, err));
    }
    return LEAT_OK;
}
