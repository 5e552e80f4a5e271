/*
 * A batch of graphs: the layout of its arrays, and how a part of it is made for the ring.
 *
 * The parts are stretches of the batch's graphs. Each thread adds up the sizes of the graphs before
 * its own, so no thread waits for another to know where a graph goes.
 */
#include "load/can/loader.h"

/* Parts of a step: one for each thread, up to the number where adding up sizes costs too much. */
enum { PARTS_MAX = 16 };
/* Larger batches are written past the CPU caches, which cannot hold them. */
#define CACHES_BYTES (INT64_C(8) << 20)

typedef struct maker {
    const leat_graph_loader *loader;
    leat_graph_copier *copier;
} maker;

/* ---- the arrays ---------------------------------------------------------------------------------
 */

static int64_t take(leat_graph_layout *layout, int64_t count, int64_t item_bytes) {
    int64_t at = layout->size_bytes;
    layout->size_bytes += leat_slot_array_bytes(count * item_bytes);
    return at;
}

leat_graph_layout leat_graph_layout_of(const leat_graph_limits *largest) {
    leat_graph_layout layout = {0};
    layout.x = take(&layout, largest->nodes, LEAT_NODE_FEATURES * 4);
    layout.edge_attr = take(&layout, largest->edges, LEAT_EDGE_FEATURES * 4);
    layout.edge_index = take(&layout, largest->edges, 2 * 4);
    layout.node_id = take(&layout, largest->nodes, 4);
    layout.node_graph = take(&layout, largest->nodes, 4);
    layout.node_ptr = take(&layout, largest->graphs + 1, 8);
    layout.edge_ptr = take(&layout, largest->graphs + 1, 8);
    layout.y = take(&layout, largest->graphs, 4);
    layout.attack_type = take(&layout, largest->graphs, 4);
    layout.graph = take(&layout, largest->graphs, 8);
    return layout;
}

static void lay_out(const void *context, leat_slot *slot) {
    const leat_graph_layout *at = &((const leat_graph_loader *)context)->layout;
    leat_graph_batch *batch = &((leat_graph_slot *)slot)->batch;
    uint8_t *block = slot->block;
    batch->x = (const float *)(void *)(block + at->x);
    batch->edge_attr = (const float *)(void *)(block + at->edge_attr);
    batch->edge_index = (const int32_t *)(void *)(block + at->edge_index);
    batch->node_id = (const int32_t *)(void *)(block + at->node_id);
    batch->node_graph = (const int32_t *)(void *)(block + at->node_graph);
    batch->node_ptr = (const int64_t *)(void *)(block + at->node_ptr);
    batch->edge_ptr = (const int64_t *)(void *)(block + at->edge_ptr);
    batch->y = (const int32_t *)(void *)(block + at->y);
    batch->attack_type = (const int32_t *)(void *)(block + at->attack_type);
    batch->graph = (const int64_t *)(void *)(block + at->graph);
}

/* The batch is read-only to its owners; its makers are not owners yet. */
#define WRITABLE(type, array) ((type *)(uintptr_t)(array))

/* ---- a part -------------------------------------------------------------------------------------
 */

/* The graphs of a batch, and the stretch of them to be made. */
typedef struct stretch {
    const uint32_t *graphs;
    int64_t graph_count, node_count, edge_count; /* of the complete batch */
    int64_t begin, end;
    int64_t node, edge; /* at `begin` */
} stretch;

static stretch stretch_of(const leat_graph_loader *loader, const leat_graph_epoch *epoch,
                          int64_t batch, int64_t part, int64_t parts) {
    stretch s = {0};
    if (batch >= epoch->batch_count) return s;
    s.graphs = epoch->graph + epoch->first[batch];
    s.graph_count = epoch->first[batch + 1] - epoch->first[batch];
    s.begin = s.graph_count * part / parts;
    s.end = s.graph_count * (part + 1) / parts;
    for (int64_t i = 0; i < s.graph_count; i++) {
        if (i == s.begin) {
            s.node = s.node_count;
            s.edge = s.edge_count;
        }
        s.node_count += loader->nodes[s.graphs[i]];
        s.edge_count += loader->edges[s.graphs[i]];
    }
    return s;
}

static void describe(leat_graph_slot *slot, const leat_graph_turn *turn, int64_t number,
                     const stretch *s) {
    leat_graph_batch *batch = &slot->batch;
    batch->epoch = turn->epoch.number;
    batch->batch = number;
    batch->batch_count = turn->epoch.batch_count;
    batch->graph_count = s->graph_count;
    batch->node_count = s->node_count;
    batch->edge_count = s->edge_count;
    WRITABLE(int64_t, batch->node_ptr)[s->graph_count] = s->node_count;
    WRITABLE(int64_t, batch->edge_ptr)[s->graph_count] = s->edge_count;
}

static leat_code put_graph(const maker *self, const leat_graph_batch *batch, const stretch *s,
                           int64_t i, leat_error *err) {
    const leat_graph_loader *loader = self->loader;
    uint32_t graph = s->graphs[i];
    int64_t next = i + 1 < s->end ? (int64_t)s->graphs[i + 1] : -1;
    int64_t node = s->node, edge = s->edge, nodes = loader->nodes[graph];
    int32_t *source = WRITABLE(int32_t, batch->edge_index) + edge;
    int32_t *node_graph = WRITABLE(int32_t, batch->node_graph) + node;
    const leat_graph_place place = {
        .x = WRITABLE(float, batch->x) + node * LEAT_NODE_FEATURES,
        .edge_attr = WRITABLE(float, batch->edge_attr) + edge * LEAT_EDGE_FEATURES,
        .node_id = WRITABLE(int32_t, batch->node_id) + node,
        .source = source,
        .target = source + s->edge_count,
        .first_node = (int32_t)node,
    };
    WRITABLE(int64_t, batch->node_ptr)[i] = node;
    WRITABLE(int64_t, batch->edge_ptr)[i] = edge;
    WRITABLE(int32_t, batch->y)[i] = loader->file->y[graph];
    WRITABLE(int32_t, batch->attack_type)[i] = loader->file->attack_type[graph];
    WRITABLE(int64_t, batch->graph)[i] = graph;
    for (int64_t k = 0; k < nodes; k++) node_graph[k] = (int32_t)i;
    return leat_graph_copy(self->copier, graph, next, &place, err);
}

static leat_code make_part(void *context, leat_slot *slot, int64_t part, leat_error *err) {
    const maker *self = context;
    const leat_graph_loader *loader = self->loader;
    leat_graph_slot *ours = (leat_graph_slot *)slot;
    const leat_graph_turn *turn = leat_graph_turn_of(loader, slot->step);
    if (turn->failure.code != LEAT_OK) return leat_error_copy(err, &turn->failure);
    int64_t number =
        (slot->step - turn->first_step) * loader->options.host_count + loader->options.host_index;
    if (loader->fetcher != NULL && number < turn->epoch.batch_count) {
        leat_fetcher_need(loader->fetcher, turn->epoch.number,
                          leat_graph_epoch_window(&turn->epoch, number));
    }
    stretch s = stretch_of(loader, &turn->epoch, number, part, loader->parts);
    const leat_graph_limits *most = &loader->facts.largest;
    LEAT_ASSERT(s.graph_count <= most->graphs && s.node_count <= most->nodes &&
                s.edge_count <= most->edges);
    if (part == 0) describe(ours, turn, number, &s);
    for (int64_t i = s.begin; i < s.end; i++) {
        if ((i - s.begin) % LEAT_SOON_GRAPHS == 0) {
            int64_t left = s.end - i;
            leat_graph_copy_soon(self->copier, s.graphs + i,
                                 left < LEAT_SOON_GRAPHS ? left : LEAT_SOON_GRAPHS);
        }
        leat_code code = put_graph(self, &ours->batch, &s, i, err);
        if (code != LEAT_OK) {
            return leat_error_context(err, code, "epoch %lld, batch %lld, %s graph %u",
                                      (long long)turn->epoch.number, (long long)number,
                                      loader->file->split, s.graphs[i]);
        }
        s.node += loader->nodes[s.graphs[i]];
        s.edge += loader->edges[s.graphs[i]];
    }
    leat_put_settle();
    return LEAT_OK;
}

/* ---- for the ring -------------------------------------------------------------------------------
 */

static void maker_destroy(void *context) {
    maker *self = context;
    if (self == NULL) return;
    leat_graph_copier_destroy(self->copier);
    leat_free(self);
}

static leat_code maker_create(const void *context, void **out, leat_error *err) {
    const leat_graph_loader *loader = context;
    bool is_scaled = loader->options.scale == LEAT_SCALE_STORED;
    bool is_large = loader->layout.size_bytes * (loader->prefetch + 1) > CACHES_BYTES;
    maker *self = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->loader = loader;
    leat_code code = leat_graph_copier_create(&self->copier, loader->file,
                                              is_scaled ? &loader->scale : NULL, is_large, err);
    if (code != LEAT_OK) {
        maker_destroy(self);
        return code;
    }
    *out = self;
    return LEAT_OK;
}

static bool plan_aside(void *context) {
    const maker *self = context;
    return leat_graph_turns_plan((leat_graph_loader *)(uintptr_t)self->loader);
}

leat_ring_work leat_graph_work(const leat_graph_loader *loader) {
    return (leat_ring_work){
        .plan = loader,
        .parts = loader->parts,
        .slot_bytes = (int64_t)sizeof(leat_graph_slot),
        .block_bytes = loader->layout.size_bytes,
        .lay_out = lay_out,
        .maker_create = maker_create,
        .maker_destroy = maker_destroy,
        .make = make_part,
        .aside = plan_aside,
    };
}

int64_t leat_graph_parts(int threads) { return threads < PARTS_MAX ? threads : PARTS_MAX; }

/* ---- owners -------------------------------------------------------------------------------------
 */

static leat_slot *slot_of(const leat_graph_batch *batch) {
    uintptr_t at = (uintptr_t)batch - offsetof(leat_graph_slot, batch);
    return (leat_slot *)at;
}

void leat_graph_batch_retain(const leat_graph_batch *batch) {
    if (batch != NULL) leat_slot_retain(slot_of(batch));
}

void leat_graph_batch_release(const leat_graph_batch *batch) {
    if (batch != NULL) leat_slot_release(slot_of(batch));
}
