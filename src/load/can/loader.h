/*
 * The graph loader, private part.
 *
 *   plan     which graphs an epoch's batches hold: room batch. (batch/graphs/plan.h)
 *   turns    the current epoch and the next one, planned. (order.c)
 *   fetcher  reads windows ahead of the batches, in the windowed order. (load/fetcher.h)
 *   slot     one batch's arrays; a part of its step is a stretch of its graphs. (slot.c)
 *   ring     threads that fill slots ahead of the caller. (ring.h)
 *   loader   all of them, and the caller's position. (loader.c)
 *
 * Steps of the ring count through all epochs; how many an epoch has is known when it is planned.
 * The steps of a planned epoch can be made; meanwhile an idle thread of the ring plans the next
 * epoch into the turn of an epoch whose batches were all returned.
 */
#ifndef LEAT_LOAD_CAN_LOADER_H
#define LEAT_LOAD_CAN_LOADER_H

#include "batch/graphs/plan.h"
#include "load/can/cache.h"
#include "load/can/copy.h"
#include "load/fetcher.h"
#include "load/ring.h"
#include "load/state.h"

/* A planned epoch. */
typedef struct leat_graph_turn {
    leat_graph_epoch epoch;
    int64_t first_step, step_count; /* of the ring; at least one step, which may have no graph */
    leat_error failure;             /* of planning it, with which its only step fails */
} leat_graph_turn;

/* Where the arrays of a batch begin in its block. */
typedef struct leat_graph_layout {
    int64_t x, edge_attr, edge_index, node_id, node_graph, node_ptr, edge_ptr, y, attack_type,
        graph;
    int64_t size_bytes;
} leat_graph_layout;

typedef struct leat_graph_slot {
    leat_slot slot;
    leat_graph_batch batch;
} leat_graph_slot;

typedef enum leat_graph_count {
    LEAT_GRAPH_COUNT_BATCHES,
    LEAT_GRAPH_COUNT_GRAPHS,
    LEAT_GRAPH_COUNT_NODES,
    LEAT_GRAPH_COUNT_EDGES,
    LEAT_GRAPH_COUNTS
} leat_graph_count;

struct leat_graph_loader {
    const leat_can_cache *cache;
    const leat_graph_file *file;
    leat_graph_loader_options options; /* its pointers are NULL */
    leat_graph_scale scale;
    int32_t *nodes, *edges; /* of each graph */
    leat_graph_plan *plan;
    leat_graph_plan_facts facts; /* of the plan */
    leat_graph_layout layout;
    int64_t parts; /* of a step */

    leat_graph_turn turns[2]; /* indexed by epoch mod 2 */
    _Atomic int64_t newest;   /* first step of the epoch planned last, times 2, and its turn */
    _Atomic int64_t planned, wanted; /* epochs: planned last, and to be planned last */
    _Atomic int planning;
    pthread_mutex_t lock; /* of plan and turns, taken once per epoch */

    leat_fetcher *fetcher; /* NULL in the global order */
    leat_ring *ring;
    int64_t prefetch, memory_bytes;
    /* Of the caller's thread, read by others. */
    _Atomic int64_t place; /* epoch * 2^32 + batches of it that are done, by all hosts */
    _Atomic int64_t counts[LEAT_GRAPH_COUNTS]; /* of the batches returned */
    int64_t payload_before;                    /* of the file, at create */

    char fingerprint[65];
    char *words; /* the options that decide bytes, as JSON */
    char hash[17];
};

/* ---- order.c ---- */

/* Plans an epoch into *epoch, {0} at first; any thread. */
LEAT_MUST_CHECK leat_code leat_graph_plan_again(const leat_graph_loader *loader, int64_t number,
                                                leat_graph_epoch *epoch, leat_error *err);
/* Steps of this host in an epoch of batch_count batches. */
int64_t leat_graph_steps(const leat_graph_loader *loader, int64_t batch_count);
/* Begins with a planned epoch, of which it takes ownership; no worker may be active. Returns where
 * its steps end; they begin at 0. */
int64_t leat_graph_turns_begin(leat_graph_loader *loader, leat_graph_epoch *epoch);
/* Requests planning of the epochs up to `number`, if the run has them. All batches of epoch number
 * - 2 must have been returned. */
void leat_graph_turns_want(leat_graph_loader *loader, int64_t number);
/* Plans the next requested epoch, unless another thread does: leat_ring_work.aside. */
bool leat_graph_turns_plan(leat_graph_loader *loader);
/* The turn of a step in work. */
const leat_graph_turn *leat_graph_turn_of(const leat_graph_loader *loader, int64_t step);
void leat_graph_turns_free(leat_graph_loader *loader);

/* ---- slot.c ---- */

/* Offsets of the arrays of the largest batch. */
leat_graph_layout leat_graph_layout_of(const leat_graph_limits *largest);
/* Parts of a step for this many threads. */
int64_t leat_graph_parts(int threads);
/* The work of a loader's ring. */
leat_ring_work leat_graph_work(const leat_graph_loader *loader);

/* ---- scores.c ---- */

/* The scores of a file, one a graph of the split, NaN where it has none; the caller frees *scores.
 * `sha256` receives the hash of the file. */
LEAT_MUST_CHECK leat_code leat_graph_scores_load(double **scores, char sha256[65], const char *path,
                                                 const leat_can_cache *cache,
                                                 const leat_graph_file *file, leat_error *err);

/* ---- loader_options.c ---- */

#define LEAT_GRAPH_EPOCHS_MAX INT32_MAX
#define LEAT_GRAPH_HOSTS_MAX (INT64_C(1) << 20)
/* LEAT_ERR_OPTION unless the run has an epoch of this number. */
LEAT_MUST_CHECK leat_code leat_graph_loader_check_epoch(const leat_graph_loader *loader,
                                                        int64_t number, leat_error *err);

LEAT_MUST_CHECK leat_code leat_graph_loader_options_check(const leat_graph_loader_options *options,
                                                          leat_error *err);
/* Fills words and hash. */
LEAT_MUST_CHECK leat_code leat_graph_loader_describe(leat_graph_loader *loader, const char *split,
                                                     const char *scores_sha256, leat_error *err);
/* Fills prefetch and memory_bytes. */
LEAT_MUST_CHECK leat_code leat_graph_loader_budget(leat_graph_loader *loader, leat_error *err);

#endif
