/*
 * The windows of a split as columns, and the plain scores of each (eval/plain.h), from the graphs
 * as the cache has them: what detectors are judged beside.
 */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_SPLIT_WINDOWS_H
#define LEAT_TRAIN_TASKS_GRAPHS_SPLIT_WINDOWS_H

#include "base/ticker.h"
#include "leat/load_can.h"
#include "leat/train_eval.h"
#include "train/eval/plain.h"

typedef struct leat_split_windows {
    leat_eval_windows windows; /* its columns are those below; without a score */
    int32_t *label, *attack, *vehicle, *capture, *attack_first;
    int64_t *start;
    double *seconds, *injected_seconds;
    double *plain[LEAT_PLAIN_SCORES]; /* [count] each */
    /* Number of the identifier, and the feature, of the largest |z|. */
    int32_t *plain_identifier, *plain_feature;
    /* Number of the identifier of the first injected frame; -1: there is none, the graph does not
     * say which it is, or it is unknown and one of several unknown ones of the window. */
    int32_t *injected;
    int64_t unlabelled;      /* windows without a label */
    int64_t unknown_windows; /* windows of unknown identifiers alone */
} leat_split_windows;

/* The table of benign training graphs. LEAT_ERR_INPUT: there is none. */
LEAT_MUST_CHECK leat_code leat_split_windows_table(const leat_can_cache *cache,
                                                   leat_plain_table **out, leat_ticker *ticker,
                                                   leat_error *err);
/* Of a split, which may have no window. LEAT_ERR_CORRUPT: a graph has another number of edges than
 * its window. */
LEAT_MUST_CHECK leat_code leat_split_windows_read(leat_split_windows *out,
                                                  const leat_can_cache *cache, const char *split,
                                                  const leat_plain_table *table,
                                                  leat_ticker *ticker, leat_error *err);
/* {0} as well. */
void leat_split_windows_free(leat_split_windows *windows);

/* The node of a frame of a window, by the graph's edges: frame f > 0 is where edge f - 1 begins, or
 * the last edge ends; the first frame has no edge, and is of the node that has one frame more than
 * its edges say. -1: a damaged count. `graph` is unscaled. */
int64_t leat_split_node_of_frame(const leat_can_graph *graph, int64_t frame);

#endif
