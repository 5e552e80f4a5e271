/*
 * How often identifiers come in benign training windows: graph_context.h. A window's time is that
 * of its steps, of which each edge has one, carried on to all of its frames: so neighbouring
 * windows add up to the time of the bus, and an identifier that is too rare to be twice in a window
 * has its mean interval, too.
 */
#include <math.h>

#include "base/mem.h"
#include "leat/graph.h"
#include "load/can/cache.h"
#include "load/can/copy.h"
#include "train/tasks/graphs/graph_context.h"

/* A graph as the cache has it, unscaled. */
typedef struct counting {
    leat_graph_context *context;
    const leat_graph_file *file;
    leat_graph_copier *copier;
    leat_graph_place place;
} counting;

static leat_code begin(counting *self, leat_error *err) {
    const int64_t window = self->file->shape.window;
    LEAT_TRY(leat_graph_copier_create(&self->copier, self->file, NULL, false, err));
    LEAT_TRY(LEAT_NEW(&self->place.x, window * LEAT_NODE_FEATURES, err));
    LEAT_TRY(LEAT_NEW(&self->place.edge_attr, window * LEAT_EDGE_FEATURES, err));
    LEAT_TRY(LEAT_NEW(&self->place.node_id, window, err));
    LEAT_TRY(LEAT_NEW(&self->place.source, window, err));
    return LEAT_NEW(&self->place.target, window, err);
}

static void end(counting *self) {
    leat_graph_copier_destroy(self->copier);
    leat_free(self->place.x);
    leat_free(self->place.edge_attr);
    leat_free(self->place.node_id);
    leat_free(self->place.source);
    leat_free(self->place.target);
}

static leat_code count_graph(counting *self, int64_t graph, leat_error *err) {
    const leat_graph_file *file = self->file;
    const int64_t nodes = file->node_ptr[graph + 1] - file->node_ptr[graph];
    const int64_t edges = file->edge_ptr[graph + 1] - file->edge_ptr[graph];
    double seconds = 0;
    LEAT_TRY(leat_graph_copy(self->copier, graph, -1, &self->place, err));
    for (int64_t i = 0; i < nodes; i++) {
        const int64_t id = self->place.node_id[i];
        const double frames = (double)self->place.x[i * LEAT_NODE_FEATURES + LEAT_NODE_MSG_COUNT];
        if (id == 0 || !(frames >= 0 && frames <= (double)file->shape.window)) continue;
        self->context->identifiers[id - 1].frames += (int64_t)frames;
    }
    for (int64_t i = 0; i < edges; i++)
        seconds += (double)self->place.edge_attr[i * LEAT_EDGE_FEATURES + LEAT_EDGE_IAT];
    if (edges > 0 && isfinite(seconds))
        self->context->benign_seconds += seconds / (double)edges * (double)file->shape.window;
    self->context->benign_windows++;
    return LEAT_OK;
}

leat_code leat_graph_context_count(leat_graph_context *context, const leat_can_cache *cache,
                                   leat_error *err) {
    counting self = {.context = context};
    LEAT_TRY(leat_can_cache_file(cache, LEAT_CAN_SPLIT_TRAIN, &self.file, err));
    LEAT_ASSERT(self.file->vocab_count == context->identifier_count);
    context->benign_windows = 0;
    context->benign_seconds = 0;
    for (int64_t i = 0; i < context->identifier_count; i++) context->identifiers[i].frames = 0;
    leat_code code = begin(&self, err);
    for (int64_t g = 0; code == LEAT_OK && g < self.file->shape.graphs; g++)
        if (self.file->y[g] == 0) code = count_graph(&self, g, err);
    end(&self);
    for (int64_t i = 0; i < context->identifier_count; i++) {
        leat_graph_identifier *of = &context->identifiers[i];
        of->interval_s = of->frames > 0 ? context->benign_seconds / (double)of->frames : NAN;
    }
    return code;
}
