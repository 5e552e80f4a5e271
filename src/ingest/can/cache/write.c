/*
 * Graphs to a safetensors file, one part of the cache at a time. Threads take steps of a few dozen
 * graphs in the order of the file, build them in their own memory, and write each tensor's piece to
 * its place; so the bytes do not depend on the threads. Statistics for the scaler are summed in the
 * order of the steps.
 */
#include <string.h>

#include "base/hash.h"
#include "base/sink.h"
#include "ingest/can/cache/write.h"

/* Graphs of a step, if they have the usual size; and the maximum memory of a step. */
enum { STEP_GRAPHS = 64 };

/* The i32 tensors of a graph are adjacent. */
enum { LABELS = LEAT_CAN_CAPTURE - LEAT_CAN_Y + 1 };
#define STEP_BYTES (INT64_C(2) << 20)
/* The amount of the file that is hashed or written back at a time. */
#define PIECE_BYTES (INT64_C(1) << 20)
#define WRITEBACK_BYTES (INT64_C(128) << 10)

_Static_assert((int)LEAT_CAN_X_COLUMNS == LEAT_NODE_FEATURES &&
                   (int)LEAT_CAN_EDGE_COLUMNS == LEAT_EDGE_FEATURES &&
                   (int)LEAT_CAN_BYTE_COLUMNS == LEAT_CAN_BYTES,
               "a cache has the columns that graphs have");

typedef struct writing {
    leat_can_write *job;
    const leat_can_plan *plan;
    int part;
    const uint32_t *order; /* windows of the part */
    int64_t graphs, nodes, edges, step_graphs, steps;
    int64_t *node_begin; /* of each step */
    leat_file *file;
    leat_tensor tensors[LEAT_CAN_TENSORS];
    int64_t tensor_count, file_bytes;
    bool moments;         /* this part decides the scaler */
    struct maker *makers; /* one per worker */
} writing;

/* The buffers of one thread for a step. */
typedef struct maker {
    leat_graph_workspace *graph;
    leat_can_frames_out frames; /* of a step's windows, one after the other */
    float *x, *edge_attr;
    int32_t *edge_index[2], *node_id, *labels[LABELS];
    int64_t *node_ptr, *edge_ptr, *window_start;
    float *scaled_x, *scaled_edges; /* rows for the scaler's statistics */
    leat_can_rows scaled;
    leat_can_moments moments, quiet; /* quiet: of the windows without a long pause, if some have */
    int64_t decided[2];              /* the numbers of windows of both */
} maker;

/* ---- memory of a thread --------------------------------------------------------------------- */

static int64_t graph_bytes(int64_t window) {
    return window * (LEAT_NODE_FEATURES + LEAT_EDGE_FEATURES) * 2 * (int64_t)sizeof(float) +
           window * 64;
}

static int64_t graphs_of_step(int64_t window) {
    int64_t graphs = STEP_BYTES / graph_bytes(window);
    return graphs < 1 ? 1 : graphs < STEP_GRAPHS ? graphs : STEP_GRAPHS;
}

int64_t leat_can_write_bytes(int64_t window) {
    return graphs_of_step(window) * graph_bytes(window) + (INT64_C(1) << 20) +
           leat_graph_workspace_bytes(window);
}

int64_t leat_can_rank_bytes(int64_t window) {
    return graph_bytes(window) + leat_graph_workspace_bytes(window) +
           (int64_t)sizeof(leat_can_counts);
}

int64_t leat_can_pages_bytes(int64_t graphs, int64_t window, int64_t ids) {
    /* of a node: x and node_id; of an edge: edge_attr and edge_index; of a stored frame: its time,
     * identifier and bytes; of a graph: three first rows and its labels */
    int64_t node = LEAT_NODE_FEATURES * 4 + 4, edge = LEAT_EDGE_FEATURES * 4 + 8;
    int64_t frame = 8 + 4 + LEAT_CAN_BYTES * 2, graph = 24 + LABELS * 4;
    int64_t features = (ids < window ? ids : window) * node + window * edge;
    int64_t file = graphs * ((features > window * frame ? features : window * frame) + graph);
    return (file / LEAT_PAGE_BYTES + 16) * (int64_t)sizeof(uint64_t); /* 16: the header */
}

static void maker_free(maker *self) {
    leat_graph_workspace_destroy(self->graph);
    leat_free(self->frames.time);
    leat_free(self->frames.id);
    leat_free(self->frames.bytes);
    leat_free(self->frames.attack);
    leat_free(self->x);
    leat_free(self->edge_attr);
    leat_free(self->edge_index[0]);
    leat_free(self->edge_index[1]);
    leat_free(self->node_id);
    for (int i = 0; i < LABELS; i++) leat_free(self->labels[i]);
    leat_free(self->node_ptr);
    leat_free(self->edge_ptr);
    leat_free(self->window_start);
    leat_free(self->scaled_x);
    leat_free(self->scaled_edges);
}

static leat_code maker_new(maker *self, int64_t window, int64_t graphs, leat_error *err) {
    int64_t frames = graphs * window;
    *self = (maker){0};
    LEAT_TRY(leat_graph_workspace_create(&self->graph, window, err));
    LEAT_TRY(LEAT_NEW(&self->frames.time, frames, err));
    LEAT_TRY(LEAT_NEW(&self->frames.id, frames, err));
    LEAT_TRY(LEAT_NEW(&self->frames.bytes, frames, err));
    LEAT_TRY(LEAT_NEW(&self->x, frames * LEAT_NODE_FEATURES, err));
    LEAT_TRY(LEAT_NEW(&self->edge_attr, frames * LEAT_EDGE_FEATURES, err));
    LEAT_TRY(LEAT_NEW(&self->scaled_x, frames * LEAT_NODE_FEATURES, err));
    LEAT_TRY(LEAT_NEW(&self->scaled_edges, frames * LEAT_EDGE_FEATURES, err));
    LEAT_TRY(LEAT_NEW(&self->edge_index[0], frames, err));
    LEAT_TRY(LEAT_NEW(&self->edge_index[1], frames, err));
    LEAT_TRY(LEAT_NEW(&self->node_id, frames, err));
    for (int i = 0; i < LABELS; i++) LEAT_TRY(LEAT_NEW(&self->labels[i], graphs, err));
    LEAT_TRY(LEAT_NEW(&self->node_ptr, graphs + 1, err));
    LEAT_TRY(LEAT_NEW(&self->edge_ptr, graphs + 1, err));
    return LEAT_NEW(&self->window_start, graphs, err);
}

static void makers_free(maker *makers, int count) {
    for (int i = 0; i < count && makers != NULL; i++) maker_free(&makers[i]);
    leat_free(makers);
}

/* On failure they must still be freed. */
static leat_code makers_new(maker **out, int count, int64_t window, int64_t graphs,
                            leat_error *err) {
    LEAT_TRY(LEAT_NEW(out, count, err));
    for (int i = 0; i < count; i++) LEAT_TRY(maker_new(&(*out)[i], window, graphs, err));
    return LEAT_OK;
}

/* ---- one step ------------------------------------------------------------------------------- */

static const leat_tensor *tensor_of(const writing *job, leat_can_tensor which) {
    const char *name = leat_can_tensor_name(which);
    const leat_tensor *found = NULL;
    for (int64_t i = 0; i < job->tensor_count; i++) {
        if (strcmp(job->tensors[i].name, name) == 0) found = &job->tensors[i];
    }
    LEAT_ASSERT(found != NULL);
    return found;
}

/* Rows [begin, begin + count) of a tensor. Writeback of large pieces starts at once, so that the
 * disk works while graphs are built. */
static leat_code put(const writing *job, leat_can_tensor which, const void *values, int64_t begin,
                     int64_t count, leat_error *err) {
    const leat_tensor *tensor = tensor_of(job, which);
    int64_t bytes = leat_dtype_bytes(tensor->dtype) * (tensor->rank == 2 ? tensor->shape[1] : 1);
    int64_t offset = tensor->offset + begin * bytes;
    LEAT_TRY(leat_file_pwrite(job->file, values, count * bytes, offset, err));
    if (count * bytes >= WRITEBACK_BYTES)
        leat_file_start_writeback(job->file, offset, count * bytes);
    return LEAT_OK;
}

/* The same for columns: one end of edges, of the tensor that has sources in its first row and
 * targets in its second. */
static leat_code put_ends(const writing *job, int row, const int32_t *values, int64_t begin,
                          int64_t count, leat_error *err) {
    const leat_tensor *tensor = tensor_of(job, LEAT_CAN_EDGE_INDEX);
    int64_t at = row * tensor->shape[1] + begin, bytes = leat_dtype_bytes(tensor->dtype);
    return leat_file_pwrite(job->file, values, count * bytes, tensor->offset + at * bytes, err);
}

static leat_code read_window(const writing *job, const maker *self, const leat_can_window *window,
                             int64_t at, leat_error *err) {
    leat_can_frames_out out = {.time = self->frames.time + at,
                               .id = self->frames.id + at,
                               .bytes = self->frames.bytes + at};
    const leat_can_settings *settings = job->plan->settings;
    return leat_can_store_read(job->job->store, (int32_t)window->stream,
                               (int64_t)window->number * settings->stride, settings->window, &out,
                               err);
}

/* Whether this window counts for the scaler. */
static bool decides(const writing *job, const leat_can_window *window) {
    return job->plan->scale_all || window->y == 0;
}

/* Appends graph i of a step, after `nodes` nodes, to the step. */
static leat_code make_graph(const writing *job, maker *self, const leat_can_window *window,
                            int64_t i, int64_t nodes, leat_error *err) {
    const leat_can_settings *settings = job->plan->settings;
    const int64_t at = i * settings->window, edges = i * leat_graph_edge_count(settings->window);
    const leat_graph_options options = {settings->edge_step, settings->self_loops};
    const leat_can_frames frames = {.time = self->frames.time + at,
                                    .id = self->frames.id + at,
                                    .bytes =
                                        (const int16_t(*)[LEAT_CAN_BYTES])self->frames.bytes + at,
                                    .count = settings->window};
    leat_graph graph;
    leat_graph_make(self->graph, &options, &frames, &graph);
    if (graph.node_count != window->nodes)
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "a window has %d nodes, but had %d when it was planned: temporary files "
                         "were changed while they were in use; run the ingest again",
                         (int)graph.node_count, (int)window->nodes);
    size_t x_bytes = (size_t)graph.node_count * LEAT_NODE_FEATURES * sizeof(float);
    size_t edge_bytes = (size_t)graph.edge_count * LEAT_EDGE_FEATURES * sizeof(float);
    size_t index_bytes = (size_t)graph.edge_count * sizeof(int32_t);
    memcpy(self->x + nodes * LEAT_NODE_FEATURES, graph.x, x_bytes);
    memcpy(self->edge_attr + edges * LEAT_EDGE_FEATURES, graph.edge_attr, edge_bytes);
    memcpy(self->edge_index[0] + edges, graph.source, index_bytes);
    memcpy(self->edge_index[1] + edges, graph.target, index_bytes);
    for (int32_t n = 0; n < graph.node_count; n++) {
        bool known = graph.node[n] < job->job->vocab_count;
        self->node_id[nodes + n] = known ? (int32_t)graph.node[n] + 1 : 0;
    }
    if (!job->moments || !decides(job, window)) return LEAT_OK;
    memcpy(self->scaled_x + self->scaled.nodes * LEAT_NODE_FEATURES, graph.x, x_bytes);
    memcpy(self->scaled_edges + self->scaled.edges * LEAT_EDGE_FEATURES, graph.edge_attr,
           edge_bytes);
    self->scaled.nodes += graph.node_count;
    self->scaled.edges += graph.edge_count;
    return LEAT_OK;
}

/* Its `count` graphs, of so many nodes. */
static leat_code put_step(const writing *job, const maker *self, int64_t step, int64_t count,
                          int64_t nodes, leat_error *err) {
    int64_t window = job->plan->settings->window, edges = leat_graph_edge_count(window);
    int64_t first = step * job->step_graphs, node_begin = job->node_begin[step];
    int64_t edge_begin = first * edges;
    bool last = first + count == job->graphs;
    for (int i = 0; i < LABELS; i++)
        LEAT_TRY(put(job, LEAT_CAN_Y + i, self->labels[i], first, count, err));
    LEAT_TRY(put(job, LEAT_CAN_NODE_PTR, self->node_ptr, first, count + last, err));
    LEAT_TRY(put(job, LEAT_CAN_EDGE_PTR, self->edge_ptr, first, count + last, err));
    LEAT_TRY(put(job, LEAT_CAN_WINDOW_START, self->window_start, first, count, err));
    if (job->plan->settings->store == LEAT_STORE_FRAMES) {
        const leat_can_frames_out *frames = &self->frames;
        int64_t at = first * window, more = count * window;
        LEAT_TRY(put(job, LEAT_CAN_FRAME_TIME, frames->time, at, more, err));
        LEAT_TRY(put(job, LEAT_CAN_FRAME_ID, frames->id, at, more, err));
        return put(job, LEAT_CAN_FRAME_BYTES, frames->bytes, at, more, err);
    }
    LEAT_TRY(put(job, LEAT_CAN_X, self->x, node_begin, nodes, err));
    LEAT_TRY(put(job, LEAT_CAN_EDGE_ATTR, self->edge_attr, edge_begin, count * edges, err));
    for (int row = 0; row < 2; row++)
        LEAT_TRY(put_ends(job, row, self->edge_index[row], edge_begin, count * edges, err));
    return put(job, LEAT_CAN_NODE_ID, self->node_id, node_begin, nodes, err);
}

static void label(const writing *job, maker *self, const leat_can_window *window, int64_t i) {
    const int32_t values[LABELS] = {
        [LEAT_CAN_Y - LEAT_CAN_Y] = window->y,
        [LEAT_CAN_ATTACK_TYPE - LEAT_CAN_Y] = window->attack_type,
        [LEAT_CAN_ATTACK_FIRST - LEAT_CAN_Y] = window->attack_first,
        [LEAT_CAN_ATTACK_COUNT - LEAT_CAN_Y] = window->attack_count,
        [LEAT_CAN_CAPTURE - LEAT_CAN_Y] = (int32_t)window->stream,
    };
    for (int k = 0; k < LABELS; k++) self->labels[k][i] = values[k];
    self->window_start[i] = (int64_t)window->number * job->plan->settings->stride;
}

static bool has_pause(const double *time, int64_t frames, double pause_s) {
    for (int64_t i = 1; i < frames; i++) {
        if (time[i] - time[i - 1] > pause_s) return true;
    }
    return false;
}

static bool is_paused(const writing *job, const maker *self, int64_t i) {
    int64_t length = job->plan->settings->window;
    return has_pause(self->frames.time + i * length, length, job->job->pause_s);
}

/* Of all rows of the step, and then of those that no window with a pause has. */
static void take_moments(const writing *job, maker *self, int64_t first, int64_t count) {
    int64_t edges = leat_graph_edge_count(job->plan->settings->window);
    int64_t node = 0, edge = 0; /* rows of the windows before */
    leat_can_rows *kept = &self->scaled;
    leat_can_moments_take(&self->moments, kept);
    self->decided[0] = self->decided[1] = 0;
    for (int64_t i = 0; i < count; i++) {
        bool deciding = decides(job, &job->plan->windows[job->order[first + i]]);
        self->decided[0] += deciding;
        self->decided[1] += deciding && !is_paused(job, self, i);
    }
    if (self->decided[1] == self->decided[0]) return;
    kept->nodes = kept->edges = 0;
    for (int64_t i = 0; i < count; i++) {
        const leat_can_window *at = &job->plan->windows[job->order[first + i]];
        if (!decides(job, at)) continue;
        if (!is_paused(job, self, i)) {
            memmove(self->scaled_x + kept->nodes * LEAT_NODE_FEATURES,
                    self->scaled_x + node * LEAT_NODE_FEATURES,
                    (size_t)at->nodes * LEAT_NODE_FEATURES * sizeof(float));
            memmove(self->scaled_edges + kept->edges * LEAT_EDGE_FEATURES,
                    self->scaled_edges + edge * LEAT_EDGE_FEATURES,
                    (size_t)edges * LEAT_EDGE_FEATURES * sizeof(float));
            kept->nodes += at->nodes;
            kept->edges += edges;
        }
        node += at->nodes;
        edge += edges;
    }
    leat_can_moments_take(&self->quiet, kept);
}

static leat_code make_step(void *context, int worker, int64_t step, leat_error *err) {
    writing *job = context;
    maker *self = &job->makers[worker];
    int64_t window = job->plan->settings->window, first = step * job->step_graphs;
    int64_t left = job->graphs - first, edges = leat_graph_edge_count(window), nodes = 0;
    int64_t count = left < job->step_graphs ? left : job->step_graphs;
    self->scaled = (leat_can_rows){self->scaled_x, self->scaled_edges, 0, 0};
    bool graphs = job->moments || job->plan->settings->store == LEAT_STORE_FEATURES;
    for (int64_t i = 0; i < count; i++) {
        const leat_can_window *at = &job->plan->windows[job->order[first + i]];
        LEAT_TRY(read_window(job, self, at, i * window, err));
        if (graphs) LEAT_TRY(make_graph(job, self, at, i, nodes, err));
        label(job, self, at, i);
        self->node_ptr[i] = job->node_begin[step] + nodes;
        self->edge_ptr[i] = (first + i) * edges;
        nodes += at->nodes;
    }
    self->node_ptr[count] = job->node_begin[step] + nodes;
    self->edge_ptr[count] = (first + count) * edges;
    LEAT_TRY(put_step(job, self, step, count, nodes, err));
    if (job->moments) take_moments(job, self, first, count);
    return leat_ticker_step(job->job->ticker, count, err);
}

static leat_code add_moments(void *context, int worker, int64_t step, leat_error *err) {
    writing *job = context;
    (void)step, (void)err;
    const maker *self = &job->makers[worker];
    bool all = self->decided[0] == self->decided[1];
    leat_can_moments_add(&job->job->moments, &self->moments);
    leat_can_moments_add(&job->job->quiet, all ? &self->moments : &self->quiet);
    for (int i = 0; i < 2; i++) job->job->decided[i] += self->decided[i];
    return LEAT_OK;
}

static leat_code make_steps(writing *job, leat_error *err) {
    int threads = job->job->threads;
    leat_pool_job steps = {.parts = job->steps,
                           .threads = threads,
                           .context = job,
                           .make = make_step,
                           .take = job->moments ? add_moments : NULL};
    leat_code code =
        makers_new(&job->makers, threads, job->plan->settings->window, job->step_graphs, err);
    if (code == LEAT_OK) code = leat_pool_run(job->job->pool, &steps, err);
    makers_free(job->makers, threads);
    job->makers = NULL;
    return code;
}

/* ---- page hashes ---------------------------------------------------------------------------- */

typedef struct hashing {
    leat_file *file, *pages;
    int64_t file_bytes;
    leat_ticker *ticker;
    uint8_t **room; /* PIECE_BYTES for each worker */
} hashing;

static leat_code hash_piece(void *context, int worker, int64_t piece, leat_error *err) {
    const hashing *job = context;
    uint8_t *bytes = job->room[worker];
    int64_t offset = piece * PIECE_BYTES;
    uint64_t hashes[PIECE_BYTES / LEAT_PAGE_BYTES];
    int64_t left = job->file_bytes - offset, size = left < PIECE_BYTES ? left : PIECE_BYTES;
    int64_t count = 0;
    LEAT_TRY(leat_file_pread(job->file, bytes, size, offset, err));
    for (int64_t at = 0; at < size; at += LEAT_PAGE_BYTES) {
        int64_t page = size - at < LEAT_PAGE_BYTES ? size - at : LEAT_PAGE_BYTES;
        hashes[count++] = leat_xxh3(bytes + at, page);
    }
    leat_file_start_writeback(job->file, offset, size);
    LEAT_TRY(leat_file_pwrite(job->pages, hashes, count * 8, offset / LEAT_PAGE_BYTES * 8, err));
    return leat_ticker_step(job->ticker, size, err);
}

static leat_code hash_pieces(hashing *pages, const leat_can_write *write, leat_error *err) {
    leat_pool_job pieces = {.parts = (pages->file_bytes + PIECE_BYTES - 1) / PIECE_BYTES,
                            .threads = write->threads,
                            .context = pages,
                            .make = hash_piece};
    leat_code code = LEAT_NEW(&pages->room, write->threads, err);
    for (int i = 0; i < write->threads && code == LEAT_OK; i++)
        code = LEAT_NEW(&pages->room[i], PIECE_BYTES, err);
    if (code == LEAT_OK) code = leat_pool_run(write->pool, &pieces, err);
    for (int i = 0; i < write->threads && pages->room != NULL; i++) leat_free(pages->room[i]);
    leat_free(pages->room);
    return code;
}

static leat_code write_pages(writing *job, const char *path, leat_error *err) {
    leat_ticker *ticker = job->job->ticker;
    hashing pages = {.file = job->file, .file_bytes = job->file_bytes, .ticker = ticker};
    leat_ticker_stage(ticker, "hashing graphs", "bytes", job->file_bytes);
    LEAT_TRY(leat_file_open(&pages.pages, path, LEAT_FILE_CREATE, err));
    leat_code code = hash_pieces(&pages, job->job, err);
    leat_file_close(pages.pages);
    return code;
}

/* ---- one part ------------------------------------------------------------------------------- */

static leat_code count_part(writing *job, leat_error *err) {
    const leat_can_plan *plan = job->plan;
    job->order = plan->order + plan->part_begin[job->part];
    job->graphs = plan->part_begin[job->part + 1] - plan->part_begin[job->part];
    job->step_graphs = graphs_of_step(plan->settings->window);
    job->steps = (job->graphs + job->step_graphs - 1) / job->step_graphs;
    job->edges = job->graphs * leat_graph_edge_count(plan->settings->window);
    LEAT_TRY(LEAT_NEW(&job->node_begin, job->steps, err));
    for (int64_t i = 0; i < job->graphs; i++) {
        if (i % job->step_graphs == 0) job->node_begin[i / job->step_graphs] = job->nodes;
        job->nodes += plan->windows[job->order[i]].nodes;
    }
    return LEAT_OK;
}

/* Header and tensor offsets; the pointers of a part without graphs are its single 0. */
static leat_code begin_file(writing *job, leat_error *err) {
    const leat_can_settings *settings = job->plan->settings;
    const leat_can_shape shape = {job->graphs, job->nodes, job->edges, settings->window,
                                  settings->store == LEAT_STORE_FRAMES};
    leat_buf header = {0};
    job->tensor_count = leat_can_tensors(&shape, job->tensors);
    const char *const metadata[] = {"format", LEAT_CAN_CACHE_FORMAT};
    leat_code code = leat_safetensors_plan(job->tensors, job->tensor_count, metadata, 1, &header,
                                           &job->file_bytes, err);
    if (code == LEAT_OK) code = leat_file_pwrite(job->file, header.data, header.size, 0, err);
    if (code == LEAT_OK) code = leat_file_truncate(job->file, job->file_bytes, err);
    leat_buf_free(&header);
    return code;
}

static leat_code write_part(writing *job, const char *path, const char *pages, leat_error *err) {
    LEAT_TRY(count_part(job, err));
    LEAT_TRY(leat_file_open(&job->file, path, LEAT_FILE_CREATE, err));
    LEAT_TRY(begin_file(job, err));
    leat_ticker_stage(job->job->ticker, "writing", "graphs", job->graphs);
    LEAT_TRY(make_steps(job, err));
    return write_pages(job, pages, err);
}

leat_code leat_can_write_part(leat_can_write *job, int part, const char *path, const char *pages,
                              int64_t *file_bytes, leat_error *err) {
    leat_can_scaler kind = job->plan->settings->scaler;
    writing state = {
        .job = job,
        .plan = job->plan,
        .part = part,
        .moments = part == 0 && job->like->digest[0] == 0 &&
                   (kind == LEAT_SCALER_Z_BENIGN || kind == LEAT_SCALER_Z_ALL),
    };
    leat_code code = write_part(&state, path, pages, err);
    leat_file_close(state.file);
    leat_free(state.node_begin);
    *file_bytes = code == LEAT_OK ? state.file_bytes : 0;
    return code;
}

/* ---- medians and quartiles ------------------------------------------------------------------ */

typedef struct ranking {
    writing step; /* of one graph */
    const leat_can_ranks *ranks;
    leat_can_counts *counts; /* one per worker */
    int64_t graphs;
} ranking;

static leat_code rank_graph(const ranking *job, maker *self, int64_t i, leat_can_counts *counts,
                            leat_error *err) {
    const leat_can_plan *plan = job->step.plan;
    const leat_can_window *window = &plan->windows[plan->order[i]];
    if (!decides(&job->step, window)) return LEAT_OK;
    self->scaled = (leat_can_rows){self->scaled_x, self->scaled_edges, 0, 0};
    LEAT_TRY(read_window(&job->step, self, window, 0, err));
    LEAT_TRY(make_graph(&job->step, self, window, 0, 0, err));
    leat_can_ranks_count(job->ranks, &self->scaled, counts);
    return LEAT_OK;
}

static leat_code rank_graphs(void *context, int worker, int64_t part, leat_error *err) {
    ranking *job = context;
    int64_t first = part * STEP_GRAPHS, left = job->graphs - first;
    int64_t count = left < STEP_GRAPHS ? left : STEP_GRAPHS;
    for (int64_t i = first; i < first + count; i++)
        LEAT_TRY(rank_graph(job, &job->step.makers[worker], i, &job->counts[worker], err));
    return leat_ticker_step(job->step.job->ticker, count, err);
}

static leat_code rank_pass(leat_can_write *write, leat_can_ranks *ranks, leat_error *err) {
    const leat_can_plan *plan = write->plan;
    int threads = write->rank_threads;
    ranking job = {.step = {.job = write, .plan = plan, .moments = true},
                   .ranks = ranks,
                   .graphs = plan->part_begin[1]};
    leat_pool_job steps = {.parts = (job.graphs + STEP_GRAPHS - 1) / STEP_GRAPHS,
                           .threads = threads,
                           .context = &job,
                           .make = rank_graphs};
    leat_code code = makers_new(&job.step.makers, threads, plan->settings->window, 1, err);
    if (code == LEAT_OK) code = LEAT_NEW(&job.counts, threads, err);
    if (code == LEAT_OK) code = leat_pool_run(write->pool, &steps, err);
    for (int i = 1; i < threads && code == LEAT_OK; i++) {
        int64_t *sum = (int64_t *)job.counts[0].of;
        const int64_t *more = (const int64_t *)job.counts[i].of;
        for (size_t k = 0; k < sizeof(leat_can_counts) / sizeof(int64_t); k++) sum[k] += more[k];
    }
    if (code == LEAT_OK) leat_can_ranks_narrow(ranks, &job.counts[0]);
    makers_free(job.step.makers, threads);
    leat_free(job.counts);
    return code;
}

static leat_code scale_by_ranks(leat_can_write *write, leat_can_scaler_values *scaler,
                                leat_error *err) {
    const leat_can_plan *plan = write->plan;
    int64_t nodes = 0, graphs = 0;
    for (int64_t i = 0; i < plan->part_begin[1]; i++) {
        const leat_can_window *window = &plan->windows[plan->order[i]];
        if (!plan->scale_all && window->y != 0) continue;
        nodes += window->nodes;
        graphs++;
    }
    leat_can_ranks *ranks = NULL;
    LEAT_TRY(LEAT_NEW(&ranks, 1, err));
    leat_can_ranks_begin(ranks, nodes, graphs * leat_graph_edge_count(plan->settings->window));
    leat_code code = LEAT_OK;
    leat_ticker_stage(write->ticker, "scaling", "graphs", LEAT_CAN_PASSES * plan->part_begin[1]);
    for (int pass = 0; pass < LEAT_CAN_PASSES && graphs > 0 && code == LEAT_OK; pass++)
        code = rank_pass(write, ranks, err);
    if (code == LEAT_OK) leat_can_scaler_from_ranks(scaler, ranks);
    leat_free(ranks);
    return code;
}

leat_code leat_can_write_scaler(leat_can_write *write, leat_can_scaler_values *scaler,
                                leat_error *err) {
    leat_can_scaler kind = write->plan->settings->scaler;
    if (write->like->digest[0] != 0) {
        *scaler = write->like->scaler;
        return LEAT_OK;
    }
    if (kind == LEAT_SCALER_ROBUST_BENIGN) return scale_by_ranks(write, scaler, err);
    if (kind == LEAT_SCALER_Z_BENIGN && write->plan->scale_all) kind = LEAT_SCALER_Z_ALL;
    leat_can_scaler_from_moments(scaler, kind, &write->moments);
    return LEAT_OK;
}
