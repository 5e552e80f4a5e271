/*
 * The loader of graphs, private part.
 *
 *   plan    which graphs an epoch's batches hold: room sample. (sample/graph_plan.h)
 *   turns   the epoch at hand and the one after it, planned. (graph_turns.c)
 *   slot    one batch's arrays; a part of its step is a stretch of its graphs. (graph_slot.c)
 *   ring    threads that fill slots ahead of the caller. (ring.h)
 *   loader  all of them, and the caller's place. (graph_loader.c)
 *
 * Steps of the ring count through all epochs; how many an epoch has is known when it is planned.
 * The steps of a planned epoch can be made; the next epoch is planned meanwhile by a thread of the
 * ring that has nothing else to do, into the turn of an epoch whose batches were all handed out.
 */
#ifndef LEAT_LOAD_GRAPH_LOADER_H
#define LEAT_LOAD_GRAPH_LOADER_H

#include "load/graph_cache.h"
#include "load/graph_copy.h"
#include "load/ring.h"
#include "load/state.h"
#include "sample/graph_plan.h"

/* An epoch that is planned. */
typedef struct leat_graph_turn {
    leat_graph_epoch epoch;
    int64_t first_step, step_count; /* of the ring; at least one step, which may have no graph */
    leat_error failure;             /* of planning it: what its only step fails with */
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

    leat_graph_turn turns[2]; /* that of an epoch: its number mod 2 */
    _Atomic int64_t newest;   /* first step of the epoch planned last, times 2, and its turn */
    _Atomic int64_t planned, wanted; /* epochs: the one planned last, the last one to be planned */
    _Atomic int planning;
    pthread_mutex_t lock; /* of plan and turns, taken once an epoch */

    leat_ring *ring;
    int64_t prefetch, memory_bytes;
    /* Of the caller's thread, read by others. */
    _Atomic int64_t place; /* epoch * 2^32 + batches of it that are done, by all hosts */
    _Atomic int64_t counts[LEAT_GRAPH_COUNTS]; /* of what was handed out */
    int64_t payload_before;                    /* of the file, at create */

    char fingerprint[65];
    char *words; /* the options that decide bytes, as JSON */
    char hash[17];
};

/* ---- graph_turns.c ---- */

/* Plans an epoch into *epoch, {0} at first; any thread. */
LEAT_MUST_CHECK leat_code leat_graph_plan_again(const leat_graph_loader *loader, int64_t number,
                                                leat_graph_epoch *epoch, leat_error *err);
/* Steps of this host that an epoch of so many batches has. */
int64_t leat_graph_steps(const leat_graph_loader *loader, int64_t batch_count);
/* Begins with an epoch that was planned, which it takes over; nobody may be at work. Returns where
 * its steps end; they begin at 0. */
int64_t leat_graph_turns_begin(leat_graph_loader *loader, leat_graph_epoch *epoch);
/* Epochs up to `number` shall be planned, if there are so many: not before all batches of the one
 * two before it were handed out. */
void leat_graph_turns_want(leat_graph_loader *loader, int64_t number);
/* Plans the next epoch that is wanted, if there is one and nobody else does: leat_ring_work.aside.
 */
bool leat_graph_turns_plan(leat_graph_loader *loader);
/* The turn of a step that is worked on. */
const leat_graph_turn *leat_graph_turn_of(const leat_graph_loader *loader, int64_t step);
void leat_graph_turns_free(leat_graph_loader *loader);

/* ---- graph_slot.c ---- */

/* Places of the arrays of the largest batch. */
leat_graph_layout leat_graph_layout_of(const leat_graph_limits *largest);
/* Parts of a step for so many threads. */
int64_t leat_graph_parts(int threads);
/* What the ring of a loader makes. */
leat_ring_work leat_graph_work(const leat_graph_loader *loader);

/* ---- graph_scores.c ---- */

/* The scores of a file, one a graph of the split, NaN where it has none; *scores is the caller's.
 * `sha256` gets the hash of the file. */
LEAT_MUST_CHECK leat_code leat_graph_scores_load(double **scores, char sha256[65], const char *path,
                                                 const leat_can_cache *cache,
                                                 const leat_graph_file *file, leat_error *err);

/* ---- graph_options.c ---- */

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
