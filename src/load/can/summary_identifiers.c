/*
 * Statistics per identifier, of the windows that are read: sums of whole numbers, which each thread
 * adds up for itself, so that the result does not depend on their number. /
 */
#include <stdlib.h>

#include "load/can/summary.h"

void leat_identifier_tally_add(leat_identifier_tally *tallies, const leat_can_graph *graph) {
    leat_can_label label = leat_can_label_of(&graph->facts);
    bool unknown = false;
    for (int64_t i = 0; i < graph->facts.node_count; i++) {
        int32_t number = graph->node_id[i];
        leat_identifier_tally *of = &tallies[number];
        of->frames[label] += leat_can_node_frames(graph, i);
        /* several nodes may have no number, but the window counts once */
        of->windows[label] += number > 0 || !unknown;
        unknown |= number == 0;
    }
}

static int64_t all_frames(const leat_can_summary_identifier *of) {
    int64_t sum = 0;
    for (int label = 0; label < LEAT_CAN_LABELS; label++) sum += of->frames[label];
    return sum;
}

/* The most frames first, then in the order of numbers, in which they are before. */
static int compare(const void *a, const void *b) {
    const leat_can_summary_identifier *x = a, *y = b;
    if (all_frames(x) != all_frames(y)) return all_frames(x) > all_frames(y) ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

leat_code leat_identifier_tallies_rank(leat_identifier_tally *const *tallies, int tally_count,
                                       const leat_can_cache *cache, leat_can_summary *summary,
                                       leat_error *err) {
    int64_t known = cache->meta.ids.known;
    LEAT_TRY(LEAT_NEW(&summary->identifiers, known + 1, err));
    for (int64_t number = 0; number <= known; number++) {
        leat_can_summary_identifier one = {.number = (int32_t)number};
        int64_t windows = 0;
        for (int i = 0; i < tally_count; i++) {
            const leat_identifier_tally *tally = &tallies[i][number];
            for (int label = 0; label < LEAT_CAN_LABELS; label++) {
                one.windows[label] += tally->windows[label];
                one.frames[label] += tally->frames[label];
                windows += tally->windows[label];
            }
        }
        if (windows == 0) continue;
        if (number > 0) one.text = leat_can_cache_identifier(cache, number - 1);
        summary->identifiers[summary->identifier_count++] = one;
    }
    qsort(summary->identifiers, (size_t)summary->identifier_count, sizeof *summary->identifiers,
          compare);
    return LEAT_OK;
}
