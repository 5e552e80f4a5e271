/*
 * The batches of an epoch of graphs, as lists of their numbers: a pure function of (sizes, options,
 * seed, epoch). Every graph of the epoch is in exactly one batch, or is one of the oversize ones
 * that are skipped. The contents of batches are drawn anew each epoch:
 *
 *   ffd       leat_pack_dealt over the graphs by descending size: batches hold graphs of all sizes
 *   next-fit  leat_pack_next_fit over a random order
 *   bucket    leat_pack_next_fit over leat_order_buckets: batches hold graphs of like size
 *   fixed     a random order cut every options->batch graphs, whatever their sizes
 *
 * and the order of the batches is a keyed permutation. In the windowed order (windows.h) each
 * window is packed by itself, and its batches follow each other. (Preset reference: ffd and
 * next-fit over the graphs by descending size, the same batches each epoch; only their order is
 * drawn.) With a curriculum an epoch has the graphs that are not benign (attacks, unlabelled ones),
 * and the benign ones of its active tiers. options->graphs leaves graphs out by their label; the
 * others keep their numbers.
 */
#ifndef LEAT_BATCH_GRAPHS_PLAN_H
#define LEAT_BATCH_GRAPHS_PLAN_H

#include "batch/graphs/windows.h"
#include "leat/batch.h"

typedef struct leat_graph_plan leat_graph_plan;

/*
 * `sizes` must live as long as the plan. `y` (NULL: all are benign) is above 0 for graphs with an
 * attack, 0 for benign ones, below 0 for unlabelled ones; `score` ranks the benign ones. Labels are
 * used by a filter or a curriculum, scores by a curriculum, and only here. Memory: some 16
 * bytes a graph, 24 a batch; 4 more a graph in the windowed order. LEAT_ERR_INPUT if a score is not
 * finite, or a graph is over a budget and options->oversize is `fail`: the message has its number
 * and sizes. LEAT_ERR_OPTION if options->graphs leaves none.
 */
LEAT_MUST_CHECK leat_code leat_graph_plan_create(leat_graph_plan **out,
                                                 const leat_graph_batch_options *options,
                                                 const leat_graph_sizes *sizes, const int32_t *y,
                                                 const double *score, leat_error *err);
void leat_graph_plan_destroy(leat_graph_plan *plan);

typedef struct leat_graph_plan_facts {
    int64_t graph_count;       /* of all tiers, without those left out or skipped */
    int64_t left_out;          /* by options->graphs */
    const uint32_t *oversize;  /* graphs over a budget alone, ascending; the plan's */
    int64_t oversize_count;    /* skipped, or a batch of their own, as options->oversize says */
    leat_graph_limits largest; /* what a batch of any epoch can hold at most */
} leat_graph_plan_facts;
void leat_graph_plan_get_facts(const leat_graph_plan *plan, leat_graph_plan_facts *facts);

/* The number of the rules by which epochs are planned. 2: ffd deals again where graphs do not fit
 * into the batches that are dealt to; all other epochs are those of rules 1. */
#define LEAT_GRAPH_PLAN_RULES 2

/* Batch b of an epoch is graph[first[b] .. first[b + 1] - 1]. */
typedef struct leat_graph_epoch {
    int64_t number;
    int64_t batch_count, graph_count;
    uint32_t *first, *graph;
    int64_t tiers;            /* that are active */
    bool dealt_again;         /* ffd: rules before LEAT_GRAPH_PLAN_RULES made other batches of it */
    leat_graph_limits limits; /* of a batch, by the options and their min_steps; INT32_MAX: none */
    /* The batches of window w are window[w] .. window[w + 1] - 1; one window in the global order.
     */
    uint32_t *window;
    int64_t window_count;
    int64_t first_capacity, graph_capacity, window_capacity;
} leat_graph_epoch;

/*
 * Plans epoch `number` >= 0 into *epoch, {0} at first; what it holds is replaced and its memory
 * kept (8 bytes a graph at most). One thread at a time may plan. An epoch has no batch if all its
 * graphs are skipped.
 */
LEAT_MUST_CHECK leat_code leat_graph_plan_epoch(leat_graph_plan *plan, int64_t number,
                                                leat_graph_epoch *epoch, leat_error *err);
void leat_graph_epoch_free(leat_graph_epoch *epoch);
/* The window of batch 0 <= b < batch_count. */
int64_t leat_graph_epoch_window(const leat_graph_epoch *epoch, int64_t batch);
/* The windows of the epochs; NULL in the global order. The plan's; any thread may read them. */
const leat_graph_windows *leat_graph_plan_windows(const leat_graph_plan *plan);

#endif
