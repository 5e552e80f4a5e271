/*
 * Copies one graph out of a file.
 *
 * Stored features are read where they are mapped, scaled, and written once, to their place in the
 * batch; so a batch costs little more than a memcpy of it. The time goes into memory latency, since
 * the graphs of a batch are scattered over the file: while one is copied, the bytes of the next are
 * prefetched, and before that, for several graphs at once, their page translations, of which the
 * TLB holds few. Stored frames are copied out first, and the graph made from them is copied like
 * stored features.
 */
#include "load/can/copy.h"

/* As in leat_paged_read: each retry follows the failure of one more page. */
enum { TRIES_MAX = 1000 };

struct leat_graph_copier {
    const leat_graph_file *file;
    const leat_graph_scale *scale;
    bool stream;
    /* with stored frames: those of the current graph */
    leat_graph_workspace *workspace;
    double *time;
    uint32_t *id;
    int16_t (*bytes)[LEAT_CAN_BYTES];
};

/* ---- scaling ------------------------------------------------------------------------------------
 */

static void repeat(float *rows, const double *row, int columns) {
    int count = LEAT_SCALE_ROWS * columns + LEAT_PUT_SPARE;
    for (int i = 0; i < count; i++) rows[i] = (float)row[i % columns];
}

void leat_graph_scale_make(leat_graph_scale *scale, const leat_can_scaler_values *scaler) {
    repeat(scale->x_center, scaler->x_center, LEAT_NODE_FEATURES);
    repeat(scale->x_scale, scaler->x_scale, LEAT_NODE_FEATURES);
    repeat(scale->edge_center, scaler->edge_center, LEAT_EDGE_FEATURES);
    repeat(scale->edge_scale, scaler->edge_scale, LEAT_EDGE_FEATURES);
}

/* ---- create and destroy ------------------------------------------------------------------------
 */

static leat_code make_room(leat_graph_copier *copier, leat_error *err) {
    int64_t window = copier->file->shape.window;
    if (!copier->file->shape.frames) return LEAT_OK;
    LEAT_TRY(leat_graph_workspace_create(&copier->workspace, window, err));
    LEAT_TRY(LEAT_NEW(&copier->time, window, err));
    LEAT_TRY(LEAT_NEW(&copier->id, window, err));
    return LEAT_NEW(&copier->bytes, window, err);
}

leat_code leat_graph_copier_create(leat_graph_copier **out, const leat_graph_file *file,
                                   const leat_graph_scale *scale, bool stream, leat_error *err) {
    leat_graph_copier *copier = NULL;
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&copier, 1, err));
    copier->file = file;
    copier->scale = scale;
    copier->stream = stream;
    leat_code code = make_room(copier, err);
    if (code != LEAT_OK) {
        leat_graph_copier_destroy(copier);
        return code;
    }
    *out = copier;
    return LEAT_OK;
}

void leat_graph_copier_destroy(leat_graph_copier *copier) {
    if (copier == NULL) return;
    leat_graph_workspace_destroy(copier->workspace);
    leat_free(copier->time);
    leat_free(copier->id);
    leat_free(copier->bytes);
    leat_free(copier);
}

int64_t leat_graph_copier_bytes(const leat_graph_file *file) {
    int64_t window = file->shape.window;
    if (!file->shape.frames) return 0;
    int64_t frame_bytes = sizeof(double) + sizeof(uint32_t) + LEAT_CAN_BYTES * sizeof(int16_t);
    return leat_graph_workspace_bytes(window) + window * frame_bytes;
}

/* ---- a graph ------------------------------------------------------------------------------------
 */

/* Rows of graphs in their file. */
typedef struct extent {
    int64_t node, edge; /* the first ones */
    int64_t nodes, edges;
} extent;

/* Of graphs first .. end - 1. */
static extent extent_between(const leat_graph_file *file, int64_t first, int64_t end) {
    extent e = {.node = file->node_ptr[first], .edge = file->edge_ptr[first]};
    e.nodes = file->node_ptr[end] - e.node;
    e.edges = file->edge_ptr[end] - e.edge;
    return e;
}

static extent extent_of(const leat_graph_file *file, int64_t graph) {
    return extent_between(file, graph, graph + 1);
}

enum { X_BYTES = LEAT_NODE_FEATURES * 4, EDGE_BYTES = LEAT_EDGE_FEATURES * 4 };

static leat_put_rows node_rows(const leat_graph_copier *copier, const float *values,
                               int64_t nodes) {
    const leat_graph_scale *scale = copier->scale;
    return (leat_put_rows){.values = values,
                           .center = scale == NULL ? NULL : scale->x_center,
                           .scale = scale == NULL ? NULL : scale->x_scale,
                           .count = nodes * LEAT_NODE_FEATURES,
                           .period = LEAT_SCALE_ROWS * LEAT_NODE_FEATURES,
                           .stream = copier->stream};
}

static leat_put_rows edge_rows(const leat_graph_copier *copier, const float *values,
                               int64_t edges) {
    const leat_graph_scale *scale = copier->scale;
    return (leat_put_rows){.values = values,
                           .center = scale == NULL ? NULL : scale->edge_center,
                           .scale = scale == NULL ? NULL : scale->edge_scale,
                           .count = edges * LEAT_EDGE_FEATURES,
                           .period = LEAT_SCALE_ROWS * LEAT_EDGE_FEATURES,
                           .stream = copier->stream};
}

/* An error inside a graph whose page hashes match. */
static leat_code refuse(const leat_graph_file *file, int64_t graph, const char *what,
                        leat_error *err) {
    return leat_fail(err, LEAT_ERR_CORRUPT, "\"%s\": graph %lld: %s; " LEAT_CAN_REBUILD,
                     leat_map_path(file->paged.map), (long long)graph, what);
}

typedef struct span {
    int64_t offset, size_bytes;
} span;

/* ---- stored features ----------------------------------------------------------------------------
 */

/* The byte ranges of graphs in the file. */
enum { X, EDGE_ATTR, SOURCE, TARGET, NODE_ID, SPANS };

static void find_stored(const leat_graph_file *file, const extent *e, span spans[SPANS]) {
    const int64_t *at = file->at;
    int64_t source = at[LEAT_CAN_EDGE_INDEX] + e->edge * 4;
    spans[X] = (span){at[LEAT_CAN_X] + e->node * X_BYTES, e->nodes * X_BYTES};
    spans[EDGE_ATTR] = (span){at[LEAT_CAN_EDGE_ATTR] + e->edge * EDGE_BYTES, e->edges * EDGE_BYTES};
    spans[SOURCE] = (span){source, e->edges * 4};
    spans[TARGET] = (span){source + file->shape.edges * 4, e->edges * 4};
    spans[NODE_ID] = (span){at[LEAT_CAN_NODE_ID] + e->node * 4, e->nodes * 4};
}

static void want_graph(leat_look *look, const span spans[SPANS]) {
    for (int k = 0; k < SPANS; k++) {
        if (spans[k].size_bytes > 0) leat_look_want(look, spans[k].offset, spans[k].size_bytes);
    }
}

static leat_ahead ahead_of(const leat_graph_file *file, const span *s) {
    return (leat_ahead){file->paged.data + s->offset, s->size_bytes};
}

/* From checked pages; false: a node or identifier is out of range. */
static bool put_stored(const leat_graph_copier *copier, const extent *e, const span here[SPANS],
                       const span next[SPANS], const leat_graph_place *place) {
    const leat_graph_file *file = copier->file;
    const void *from[SPANS];
    for (int k = 0; k < SPANS; k++) from[k] = file->paged.data + here[k].offset;
    leat_put_rows nodes = node_rows(copier, from[X], e->nodes);
    leat_put_rows edges = edge_rows(copier, from[EDGE_ATTR], e->edges);
    for (int k = SOURCE; k < SPANS; k++) {
        leat_ahead ahead = ahead_of(file, &next[k]);
        leat_ahead_fetch(&ahead);
    }
    nodes.ahead = ahead_of(file, &next[X]);
    edges.ahead = ahead_of(file, &next[EDGE_ATTR]);
    leat_put_rows_to(place->x, &nodes);
    leat_put_rows_to(place->edge_attr, &edges);
    int32_t last = (int32_t)e->nodes - 1;
    bool good = leat_put_numbers(place->source, from[SOURCE], e->edges, last, place->first_node);
    good &= leat_put_numbers(place->target, from[TARGET], e->edges, last, place->first_node);
    good &=
        leat_put_numbers(place->node_id, from[NODE_ID], e->nodes, (int32_t)file->vocab_count, 0);
    return good;
}

static leat_code copy_stored(const leat_graph_copier *copier, int64_t graph, const extent *next,
                             const leat_graph_place *place, leat_error *err) {
    const leat_graph_file *file = copier->file;
    extent e = extent_of(file, graph);
    span here[SPANS], then[SPANS];
    leat_look look;
    find_stored(file, &e, here);
    find_stored(file, next, then);
    for (int try = 0; try < TRIES_MAX; try++) {
        bool good = false;
        leat_look_begin(&look, &file->paged);
        want_graph(&look, here);
        leat_code code = leat_look_check(&look, err);
        if (code == LEAT_OK) good = put_stored(copier, &e, here, then, place);
        if (!leat_look_holds(&look)) continue;
        if (code != LEAT_OK || good) return code;
        return refuse(file, graph, "an edge or a node's identifier is out of range", err);
    }
    return leat_map_check(file->paged.map, err);
}

void leat_graph_copy_soon(const leat_graph_copier *copier, const uint32_t *graphs, int64_t count) {
    const leat_graph_file *file = copier->file;
    if (file->shape.frames) return;
    for (int64_t i = 0; i < count; i++) {
        extent e = extent_of(file, graphs[i]);
        span spans[SPANS];
        find_stored(file, &e, spans);
        for (int k = 0; k < SPANS; k++) {
            int64_t end = spans[k].offset + spans[k].size_bytes;
            for (int64_t at = spans[k].offset; at < end; at = (at | (LEAT_PAGE_BYTES - 1)) + 1) {
                __builtin_prefetch(file->paged.data + at, 0, 3);
            }
        }
    }
}

/* ---- stored frames ------------------------------------------------------------------------------
 */

enum { FRAME_TIME, FRAME_ID, FRAME_BYTES, FRAME_SPANS };

/* Windows are stored with all of their frames, one behind the other. */
static void find_frames(const leat_graph_file *file, int64_t graph, int64_t count,
                        span spans[FRAME_SPANS]) {
    static const struct {
        leat_can_tensor tensor;
        int64_t frame_bytes;
    } stored[FRAME_SPANS] = {[FRAME_TIME] = {LEAT_CAN_FRAME_TIME, 8},
                             [FRAME_ID] = {LEAT_CAN_FRAME_ID, 4},
                             [FRAME_BYTES] = {LEAT_CAN_FRAME_BYTES, 2 * LEAT_CAN_BYTES}};
    int64_t window = file->shape.window;
    for (int k = 0; k < FRAME_SPANS; k++) {
        int64_t each = window * stored[k].frame_bytes;
        spans[k] = (span){file->at[stored[k].tensor] + graph * each, count * each};
    }
}

static leat_code read_frames(const leat_graph_copier *copier, int64_t graph, leat_error *err) {
    const leat_graph_file *file = copier->file;
    int64_t window = file->shape.window;
    void *const to[FRAME_SPANS] = {copier->time, copier->id, copier->bytes};
    span spans[FRAME_SPANS];
    find_frames(file, graph, 1, spans);
    for (int k = 0; k < FRAME_SPANS; k++) {
        LEAT_TRY(leat_paged_read(&file->paged, spans[k].offset, spans[k].size_bytes, to[k], err));
    }
    uint32_t most = 0;
    for (int64_t i = 0; i < window; i++) most = copier->id[i] > most ? copier->id[i] : most;
    return most < file->id_count ? LEAT_OK
                                 : refuse(file, graph, "a frame's identifier is out of range", err);
}

static leat_code copy_frames(const leat_graph_copier *copier, int64_t graph,
                             const leat_graph_place *place, leat_error *err) {
    const leat_graph_file *file = copier->file;
    const leat_can_frames frames = {copier->time, copier->id,
                                    (const int16_t(*)[LEAT_CAN_BYTES])copier->bytes,
                                    file->shape.window};
    extent e = extent_of(file, graph);
    leat_graph made;
    LEAT_TRY(read_frames(copier, graph, err));
    leat_graph_make(copier->workspace, &file->options, &frames, &made);
    if (made.node_count != e.nodes || made.edge_count != e.edges)
        return refuse(file, graph, "its frames make a different graph", err);
    leat_put_rows nodes = node_rows(copier, made.x, e.nodes);
    leat_put_rows edges = edge_rows(copier, made.edge_attr, e.edges);
    leat_put_rows_to(place->x, &nodes);
    leat_put_rows_to(place->edge_attr, &edges);
    for (int64_t i = 0; i < e.edges; i++) {
        place->source[i] = made.source[i] + place->first_node;
        place->target[i] = made.target[i] + place->first_node;
    }
    for (int64_t i = 0; i < e.nodes; i++) {
        bool known = made.node[i] < file->vocab_count;
        place->node_id[i] = known ? (int32_t)made.node[i] + 1 : 0;
    }
    return LEAT_OK;
}

/* ---- both ---------------------------------------------------------------------------------------
 */

void leat_graph_fetch(const leat_graph_file *file, int64_t first, int64_t end) {
    extent e = extent_between(file, first, end);
    span spans[SPANS];
    int count = file->shape.frames ? FRAME_SPANS : SPANS;
    if (file->shape.frames) find_frames(file, first, end - first, spans);
    else find_stored(file, &e, spans);
    for (int k = 0; k < count; k++) {
        leat_map_fetch(file->paged.map, spans[k].offset, spans[k].offset + spans[k].size_bytes);
    }
}

leat_code leat_graph_copy(leat_graph_copier *copier, int64_t graph, int64_t next,
                          const leat_graph_place *place, leat_error *err) {
    extent then = {0};
    if (copier->file->shape.frames) return copy_frames(copier, graph, place, err);
    if (next >= 0) then = extent_of(copier->file, next);
    return copy_stored(copier, graph, &then, place, err);
}
