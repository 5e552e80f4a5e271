/*
 * All graphs of a split, scored: consecutive ones are put together as far as a batch has room,
 * which decides no number. Threads take batches as they come; what they made is taken in order.
 */
#include "base/mem.h"
#include "base/pool.h"
#include "train/tasks/graphs/graph_micro.h"
#include "train/tasks/graphs/graph_score.h"

/* One thread's. */
typedef struct worker {
    leat_graph_scorer *scorer;
    void *memory; /* of a micro-batch */
    leat_graph_micro *batch;
    leat_graph_scores scores;
} worker;

typedef struct walking {
    const leat_graph_walk *walk;
    leat_graph_makers *makers;
    leat_graph_limits most;
    worker *workers; /* [threads] */
    int64_t next;    /* the first graph that is in no batch yet */
} walking;

static bool is_wanted(const leat_graph_walk *walk, int64_t graph) {
    const int32_t y = walk->file->y[graph];
    switch (walk->graphs) {
    case LEAT_FILTER_BENIGN: return y == 0;
    case LEAT_FILTER_ATTACK: return y == 1;
    case LEAT_FILTER_LABELLED: return y >= 0;
    default: return true;
    }
}

int64_t leat_graph_walk_count(const leat_graph_walk *walk) {
    int64_t count = 0;
    for (int64_t g = 0; g < walk->file->shape.graphs; g++) count += is_wanted(walk, g);
    return count;
}

/* ---- Batches -------------------------------------------------------------------------------- */

static int64_t at_least(int64_t value, int64_t least) { return value > least ? value : least; }

/* A graph has a node, so that there are no more graphs than nodes. */
static leat_graph_limits limits_for(int64_t nodes, int64_t edges) {
    const int64_t most = at_least(nodes, LEAT_GRAPH_SCORE_NODES);
    return (leat_graph_limits){
        .graphs = most, .nodes = most, .edges = at_least(edges, LEAT_GRAPH_SCORE_EDGES)};
}

static leat_code find_limits(walking *self, leat_error *err) {
    const leat_graph_file *file = self->walk->file;
    int64_t nodes = 0, edges = 0;
    for (int64_t g = 0; g < file->shape.graphs; g++) {
        const int64_t own = file->node_ptr[g + 1] - file->node_ptr[g];
        if (own < 1)
            return leat_fail(err, LEAT_ERR_CORRUPT, "\"%.300s\": graph %lld has no node; %s",
                             leat_map_path(file->paged.map), (long long)g, LEAT_CAN_REBUILD);
        nodes = at_least(own, nodes);
        edges = at_least(file->edge_ptr[g + 1] - file->edge_ptr[g], edges);
    }
    self->most = limits_for(nodes, edges);
    return LEAT_OK;
}

/* The next graphs that fit together, to the worker's batch. */
static leat_code fetch(void *context, int number, int64_t part, bool *more, leat_error *err) {
    walking *self = context;
    const leat_graph_file *file = self->walk->file;
    leat_graph_micro *batch = self->workers[number].batch;
    int64_t *numbers = leat_graph_micro_numbers(batch);
    (void)part;
    LEAT_TRY(leat_ticker_check(self->walk->ticker, err));
    batch->graphs = batch->nodes = batch->edges = 0;
    for (; self->next < file->shape.graphs; self->next++) {
        const int64_t g = self->next;
        if (!is_wanted(self->walk, g)) continue;
        const int64_t nodes = batch->nodes + file->node_ptr[g + 1] - file->node_ptr[g];
        const int64_t edges = batch->edges + file->edge_ptr[g + 1] - file->edge_ptr[g];
        if (nodes > self->most.nodes || edges > self->most.edges) break;
        numbers[batch->graphs++] = g;
        batch->nodes = nodes;
        batch->edges = edges;
    }
    *more = batch->graphs > 0;
    return LEAT_OK;
}

static leat_code make(void *context, int number, int64_t part, leat_error *err) {
    walking *self = context;
    worker *of = &self->workers[number];
    (void)part;
    LEAT_TRY(leat_graph_micro_make(self->makers, of->batch, err));
    return leat_graph_scorer_run(of->scorer, of->batch, &of->scores, err);
}

static leat_code take(void *context, int number, int64_t part, leat_error *err) {
    walking *self = context;
    const leat_graph_walk *walk = self->walk;
    const worker *of = &self->workers[number];
    (void)part;
    LEAT_TRY(walk->take(walk->context, &of->scores, err));
    return leat_ticker_step(walk->ticker, of->batch->graphs, err);
}

/* ---- All of them ---------------------------------------------------------------------------- */

static leat_code make_workers(walking *self, leat_error *err) {
    const leat_graph_walk *walk = self->walk;
    const int64_t bytes = leat_graph_micro_bytes(&self->most);
    LEAT_TRY(leat_graph_makers_create(&self->makers, walk->cache, walk->file, err));
    LEAT_TRY(LEAT_NEW(&self->workers, walk->threads, err));
    for (int i = 0; i < walk->threads; i++) {
        worker *of = &self->workers[i];
        LEAT_TRY(leat_alloc(&of->memory, 1, bytes, err));
        of->batch = leat_graph_micro_place(of->memory, &self->most);
        LEAT_TRY(leat_graph_scorer_create(&of->scorer, walk->scoring, &self->most, err));
    }
    return LEAT_OK;
}

leat_code leat_graph_walk_run(const leat_graph_walk *walk, leat_error *err) {
    walking self = {.walk = walk};
    const leat_pool_job job = {
        .threads = walk->threads, .context = &self, .fetch = fetch, .make = make, .take = take};
    LEAT_TRY(find_limits(&self, err));
    leat_code code = make_workers(&self, err);
    if (code == LEAT_OK) code = leat_pool_once(&job, err);
    for (int i = 0; i < walk->threads && self.workers != NULL; i++) {
        leat_graph_scorer_destroy(self.workers[i].scorer);
        leat_free(self.workers[i].memory);
    }
    leat_free(self.workers);
    leat_graph_makers_destroy(self.makers);
    return code;
}

leat_code leat_graph_walk_bytes(const leat_graph_scoring *of, int threads, int64_t nodes,
                                int64_t edges, int64_t *bytes, leat_error *err) {
    const leat_graph_limits most = limits_for(nodes, edges);
    int64_t scorer = 0;
    *bytes = 0;
    LEAT_TRY(leat_graph_scorer_bytes(of, &most, &scorer, err));
    *bytes = threads * (scorer + leat_graph_micro_bytes(&most));
    return LEAT_OK;
}
