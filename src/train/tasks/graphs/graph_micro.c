/* See graph_micro.h. */
#include "train/tasks/graphs/graph_micro.h"

#include <stdalign.h>
#include <stddef.h>

#include "base/mem.h"
#include "base/thread.h"
#include "leat/graph.h"
#include "load/can/copy.h"

_Static_assert((int)LEAT_MICRO_NODE_FEATURES == (int)LEAT_NODE_FEATURES, "rows of nodes");
_Static_assert((int)LEAT_MICRO_EDGE_FEATURES == (int)LEAT_EDGE_FEATURES, "rows of edges");

/* ---- Scratch space, one for each thread that makes some ------------------------------------- */

struct leat_graph_makers {
    const leat_graph_file *file;
    leat_graph_scale scale;
    pthread_mutex_t lock;     /* of the list */
    leat_graph_copier **idle; /* with room for all that there are */
    int64_t idle_count, count, capacity;
};

leat_code leat_graph_makers_create(leat_graph_makers **out, const leat_can_cache *cache,
                                   const leat_graph_file *file, leat_error *err) {
    leat_graph_makers *self = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&self, 1, err));
    self->file = file;
    leat_graph_scale_make(&self->scale, leat_can_cache_scaler(cache));
    pthread_mutex_init(&self->lock, NULL);
    *out = self;
    return LEAT_OK;
}

void leat_graph_makers_destroy(leat_graph_makers *makers) {
    if (makers == NULL) return;
    LEAT_ASSERT(makers->idle_count == makers->count); /* no thread is at it */
    for (int64_t i = 0; i < makers->idle_count; i++) leat_graph_copier_destroy(makers->idle[i]);
    pthread_mutex_destroy(&makers->lock);
    leat_free(makers->idle);
    leat_free(makers);
}

int64_t leat_graph_makers_bytes(const leat_graph_file *file, int threads) {
    const int64_t copier = leat_graph_copier_bytes(file) + 256 + (int64_t)sizeof(void *);
    return (int64_t)sizeof(leat_graph_makers) + threads * copier;
}

static leat_code take(leat_graph_makers *self, leat_graph_copier **out, leat_error *err) {
    leat_code code = LEAT_OK;
    pthread_mutex_lock(&self->lock);
    if (self->idle_count > 0) {
        *out = self->idle[--self->idle_count];
    } else {
        code = LEAT_GROW(&self->idle, &self->capacity, self->count + 1, err);
        if (code == LEAT_OK)
            code = leat_graph_copier_create(out, self->file, &self->scale, false, err);
        self->count += code == LEAT_OK;
    }
    pthread_mutex_unlock(&self->lock);
    return code;
}

static void give(leat_graph_makers *self, leat_graph_copier *copier) {
    pthread_mutex_lock(&self->lock);
    self->idle[self->idle_count++] = copier;
    pthread_mutex_unlock(&self->lock);
}

/* ---- Its arrays ----------------------------------------------------------------------------- */

/* The next array of a block; NULL while the block is only measured. */
static void *next(uint8_t *base, int64_t *used, int64_t count, int64_t item_bytes) {
    void *at = base == NULL ? NULL : base + *used;
    *used += (count * item_bytes + 63) / 64 * 64;
    return at;
}

static int64_t lay_out(uint8_t *base, const leat_graph_limits *most, leat_graph_micro *micro) {
    int64_t used = 0;
    next(base, &used, 1, sizeof *micro);
    micro->x = next(base, &used, most->nodes, LEAT_MICRO_NODE_FEATURES * 4);
    micro->edge_attr = next(base, &used, most->edges, LEAT_MICRO_EDGE_FEATURES * 4);
    micro->source = next(base, &used, most->edges, 4);
    micro->target = next(base, &used, most->edges, 4);
    micro->node_id = next(base, &used, most->nodes, 4);
    micro->node_first = next(base, &used, most->graphs + 1, 8);
    micro->edge_first = next(base, &used, most->graphs + 1, 8);
    micro->label = next(base, &used, most->graphs, 4);
    micro->number = next(base, &used, most->graphs, 8);
    return used;
}

int64_t leat_graph_micro_bytes(const leat_graph_limits *most) {
    leat_graph_micro unused;
    return lay_out(NULL, most, &unused);
}

leat_graph_micro *leat_graph_micro_place(void *memory, const leat_graph_limits *most) {
    const size_t alignment = alignof(max_align_t);
    leat_graph_micro *micro = memory;
    LEAT_ASSERT((uintptr_t)memory % alignment == 0);
    *micro = (leat_graph_micro){0};
    lay_out(memory, most, micro);
    return micro;
}

/* ---- Made ----------------------------------------------------------------------------------- */

/* What its reader may not write. */
#define WRITABLE(type, array) ((type *)(uintptr_t)(array))

static leat_code refuse_value(const leat_graph_file *file, int64_t graph, const char *row,
                              const char *feature, double value, leat_error *err) {
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%.300s\": graph %lld: %s has the %s %g once it is scaled, which is not a "
                     "number to train with; ingest the logs again, and if that does not help, "
                     "with another --scaler",
                     leat_map_path(file->paged.map), (long long)graph, row, feature, value);
}

/* An integer test, so that it is right in any mode for floating point, and vectors do it. */
static bool is_finite(const float *values, int64_t count) {
    uint32_t bad = 0;
    for (int64_t i = 0; i < count; i++) {
        const union {
            float value;
            uint32_t bits;
        } of = {values[i]};
        bad |= (of.bits & UINT32_C(0x7f800000)) == UINT32_C(0x7f800000);
    }
    return bad == 0;
}

/* The first that is not finite; -1: all are. */
static int64_t find_bad(const float *values, int64_t count) {
    if (is_finite(values, count)) return -1;
    int64_t i = 0;
    while (is_finite(values + i, 1)) i++;
    return i;
}

static leat_code check_graph(const leat_graph_file *file, int64_t graph, const leat_graph_place *at,
                             leat_error *err) {
    const int64_t nodes = file->node_ptr[graph + 1] - file->node_ptr[graph];
    const int64_t edges = file->edge_ptr[graph + 1] - file->edge_ptr[graph];
    const int64_t x = find_bad(at->x, nodes * LEAT_NODE_FEATURES);
    const int64_t attr = find_bad(at->edge_attr, edges * LEAT_EDGE_FEATURES);
    if (x >= 0)
        return refuse_value(file, graph, "a node",
                            leat_node_feature_name((int)(x % LEAT_NODE_FEATURES)), (double)at->x[x],
                            err);
    if (attr >= 0)
        return refuse_value(file, graph, "an edge",
                            leat_edge_feature_name((int)(attr % LEAT_EDGE_FEATURES)),
                            (double)at->edge_attr[attr], err);
    return LEAT_OK;
}

static leat_code put_graphs(leat_graph_makers *self, leat_graph_copier *copier,
                            leat_graph_micro *micro, leat_error *err) {
    const leat_graph_file *file = self->file;
    int64_t node = 0, edge = 0;
    for (int64_t g = 0; g < micro->graphs; g++) {
        const int64_t graph = micro->number[g];
        const int64_t after = g + 1 < micro->graphs ? micro->number[g + 1] : -1;
        const leat_graph_place place = {.x = WRITABLE(float, micro->x) + node * LEAT_NODE_FEATURES,
                                        .edge_attr = WRITABLE(float, micro->edge_attr) +
                                                     edge * LEAT_EDGE_FEATURES,
                                        .node_id = WRITABLE(int32_t, micro->node_id) + node,
                                        .source = WRITABLE(int32_t, micro->source) + edge,
                                        .target = WRITABLE(int32_t, micro->target) + edge,
                                        .first_node = (int32_t)node};
        WRITABLE(int64_t, micro->node_first)[g] = node;
        WRITABLE(int64_t, micro->edge_first)[g] = edge;
        WRITABLE(int32_t, micro->label)[g] = file->y[graph];
        LEAT_TRY(leat_graph_copy(copier, graph, after, &place, err));
        LEAT_TRY(check_graph(file, graph, &place, err));
        node += file->node_ptr[graph + 1] - file->node_ptr[graph];
        edge += file->edge_ptr[graph + 1] - file->edge_ptr[graph];
    }
    LEAT_ASSERT(node == micro->nodes && edge == micro->edges);
    WRITABLE(int64_t, micro->node_first)[micro->graphs] = node;
    WRITABLE(int64_t, micro->edge_first)[micro->graphs] = edge;
    return LEAT_OK;
}

leat_code leat_graph_micro_make(leat_graph_makers *makers, leat_graph_micro *micro,
                                leat_error *err) {
    leat_graph_copier *copier = NULL;
    LEAT_TRY(take(makers, &copier, err));
    const leat_code code = put_graphs(makers, copier, micro, err);
    give(makers, copier);
    return code;
}
