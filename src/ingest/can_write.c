/*
 * Graphs to a safetensors file, one part of the cache at a time. Threads take steps of a few dozen
 * graphs in the order of the file, make them in memory of their own, and write each tensor's piece
 * to its place; so the bytes do not depend on them. Statistics for the scaler are added up in the
 * order of the steps.
 */
#include <string.h>

#include "base/hash.h"
#include "base/sink.h"
#include "base/thread.h"
#include "ingest/can_write.h"

/* Graphs of a step, if they are as small as usual; and what a step may take of memory. */
enum { STEP_GRAPHS = 64 };

/* The i32 of a graph are neighbours among the tensors. */
enum { LABELS = LEAT_CAN_CAPTURE - LEAT_CAN_Y + 1 };
#define STEP_BYTES (INT64_C(2) << 20)
/* A part of the file that is hashed or sent to the disk at a time. */
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
    bool moments; /* this part decides the scaler */
    atomic_llong next;
    atomic_bool stop;
    pthread_mutex_t lock; /* for turn and the moments */
    pthread_cond_t turned;
    int64_t turn; /* the step whose moments come next */
} writing;

/* What one thread makes a step in. */
typedef struct maker {
    leat_graph_workspace *graph;
    leat_can_frames_out frames; /* of a step's windows, one behind the other */
    float *x, *edge_attr;
    int32_t *edge_index[2], *node_id, *labels[LABELS];
    int64_t *node_ptr, *edge_ptr, *window_start;
    float *benign_x, *benign_edges; /* rows that the scaler is made of */
    leat_can_rows benign;
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

int64_t leat_can_pages_bytes(int64_t graphs, int64_t window) {
    return graphs * graph_bytes(window) / LEAT_PAGE_BYTES * 8 + LEAT_PAGE_BYTES;
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
    leat_free(self->benign_x);
    leat_free(self->benign_edges);
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
    LEAT_TRY(LEAT_NEW(&self->benign_x, frames * LEAT_NODE_FEATURES, err));
    LEAT_TRY(LEAT_NEW(&self->benign_edges, frames * LEAT_EDGE_FEATURES, err));
    LEAT_TRY(LEAT_NEW(&self->edge_index[0], frames, err));
    LEAT_TRY(LEAT_NEW(&self->edge_index[1], frames, err));
    LEAT_TRY(LEAT_NEW(&self->node_id, frames, err));
    for (int i = 0; i < LABELS; i++) LEAT_TRY(LEAT_NEW(&self->labels[i], graphs, err));
    LEAT_TRY(LEAT_NEW(&self->node_ptr, graphs + 1, err));
    LEAT_TRY(LEAT_NEW(&self->edge_ptr, graphs + 1, err));
    return LEAT_NEW(&self->window_start, graphs, err);
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

/* Rows [begin, begin + count) of a tensor. The disk begins with large pieces at once, so that it is
 * at work while graphs are made. */
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

/* The same of columns: one end of edges, of the tensor that has sources in its first row and
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

/* Whether the scaler is made of this window. */
static bool decides(const writing *job, const leat_can_window *window) {
    leat_can_scaler kind = job->plan->settings->scaler;
    return kind == LEAT_SCALER_Z_ALL || window->attack_count == 0;
}

/* The graph of the step's frames from `at` on, behind what the step has. */
static void make_graph(const writing *job, maker *self, const leat_can_window *window, int64_t at,
                       int64_t nodes, int64_t edges) {
    const leat_can_settings *settings = job->plan->settings;
    const leat_graph_options options = {settings->edge_step, settings->self_loops};
    const leat_can_frames frames = {.time = self->frames.time + at,
                                    .id = self->frames.id + at,
                                    .bytes =
                                        (const int16_t(*)[LEAT_CAN_BYTES])self->frames.bytes + at,
                                    .count = settings->window};
    leat_graph graph;
    leat_graph_make(self->graph, &options, &frames, &graph);
    LEAT_ASSERT(graph.node_count == window->nodes);
    size_t x_bytes = (size_t)graph.node_count * LEAT_NODE_FEATURES * sizeof(float);
    size_t edge_bytes = (size_t)graph.edge_count * LEAT_EDGE_FEATURES * sizeof(float);
    size_t index_bytes = (size_t)graph.edge_count * sizeof(int32_t);
    memcpy(self->x + nodes * LEAT_NODE_FEATURES, graph.x, x_bytes);
    memcpy(self->edge_attr + edges * LEAT_EDGE_FEATURES, graph.edge_attr, edge_bytes);
    memcpy(self->edge_index[0] + edges, graph.source, index_bytes);
    memcpy(self->edge_index[1] + edges, graph.target, index_bytes);
    for (int32_t i = 0; i < graph.node_count; i++) {
        bool known = graph.node[i] < job->job->vocab_count;
        self->node_id[nodes + i] = known ? (int32_t)graph.node[i] + 1 : 0;
    }
    if (!job->moments || !decides(job, window)) return;
    memcpy(self->benign_x + self->benign.nodes * LEAT_NODE_FEATURES, graph.x, x_bytes);
    memcpy(self->benign_edges + self->benign.edges * LEAT_EDGE_FEATURES, graph.edge_attr,
           edge_bytes);
    self->benign.nodes += graph.node_count;
    self->benign.edges += graph.edge_count;
}

static leat_code put_step(const writing *job, const maker *self, int64_t first, int64_t count,
                          int64_t node_begin, int64_t nodes, leat_error *err) {
    int64_t window = job->plan->settings->window, edges = leat_graph_edge_count(window);
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
        [LEAT_CAN_Y - LEAT_CAN_Y] = window->attack_count > 0,
        [LEAT_CAN_ATTACK_TYPE - LEAT_CAN_Y] = window->attack_type,
        [LEAT_CAN_ATTACK_FIRST - LEAT_CAN_Y] = window->attack_first,
        [LEAT_CAN_ATTACK_COUNT - LEAT_CAN_Y] = window->attack_count,
        [LEAT_CAN_CAPTURE - LEAT_CAN_Y] = (int32_t)window->stream,
    };
    for (int k = 0; k < LABELS; k++) self->labels[k][i] = values[k];
    self->window_start[i] = (int64_t)window->number * job->plan->settings->stride;
}

/* Adds the step's moments when it is its turn. */
static void add_moments(writing *job, const maker *self, int64_t step) {
    leat_can_moments moments;
    leat_can_moments_take(&moments, &self->benign);
    pthread_mutex_lock(&job->lock);
    while (job->turn != step && !atomic_load(&job->stop))
        pthread_cond_wait(&job->turned, &job->lock);
    leat_can_moments_add(&job->job->moments, &moments);
    job->turn++;
    pthread_cond_broadcast(&job->turned);
    pthread_mutex_unlock(&job->lock);
}

static leat_code make_step(writing *job, maker *self, int64_t step, leat_error *err) {
    int64_t window = job->plan->settings->window, first = step * job->step_graphs;
    int64_t left = job->graphs - first, edges = leat_graph_edge_count(window), nodes = 0;
    int64_t count = left < job->step_graphs ? left : job->step_graphs;
    self->benign = (leat_can_rows){self->benign_x, self->benign_edges, 0, 0};
    bool graphs = job->moments || job->plan->settings->store == LEAT_STORE_FEATURES;
    for (int64_t i = 0; i < count; i++) {
        const leat_can_window *at = &job->plan->windows[job->order[first + i]];
        LEAT_TRY(read_window(job, self, at, i * window, err));
        if (graphs) make_graph(job, self, at, i * window, nodes, i * edges);
        label(job, self, at, i);
        self->node_ptr[i] = job->node_begin[step] + nodes;
        self->edge_ptr[i] = (first + i) * edges;
        nodes += at->nodes;
    }
    self->node_ptr[count] = job->node_begin[step] + nodes;
    self->edge_ptr[count] = (first + count) * edges;
    LEAT_TRY(put_step(job, self, first, count, job->node_begin[step], nodes, err));
    if (job->moments) add_moments(job, self, step);
    if (!leat_ticker_add(job->job->ticker, count)) return leat_ticker_check(job->job->ticker, err);
    return LEAT_OK;
}

static void stop(writing *job) {
    pthread_mutex_lock(&job->lock);
    atomic_store(&job->stop, true);
    pthread_cond_broadcast(&job->turned);
    pthread_mutex_unlock(&job->lock);
}

static leat_code make_steps(void *context, int index, leat_error *err) {
    (void)index;
    writing *job = context;
    maker self;
    leat_code code = maker_new(&self, job->plan->settings->window, job->step_graphs, err);
    while (code == LEAT_OK && !atomic_load(&job->stop)) {
        int64_t step = atomic_fetch_add(&job->next, 1);
        if (step >= job->steps) break;
        code = make_step(job, &self, step, err);
    }
    if (code != LEAT_OK) stop(job);
    maker_free(&self);
    return code;
}

/* ---- page hashes ---------------------------------------------------------------------------- */

typedef struct hashing {
    leat_file *file, *pages;
    int64_t file_bytes;
    leat_ticker *ticker;
    atomic_llong next;
    atomic_bool stop;
} hashing;

static leat_code hash_piece(const hashing *job, uint8_t *bytes, int64_t offset, leat_error *err) {
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
    return leat_ticker_add(job->ticker, size) ? LEAT_OK : leat_ticker_check(job->ticker, err);
}

static leat_code hash_pieces(void *context, int index, leat_error *err) {
    (void)index;
    hashing *job = context;
    uint8_t *bytes = NULL;
    leat_code code = LEAT_NEW(&bytes, PIECE_BYTES, err);
    while (code == LEAT_OK && !atomic_load(&job->stop)) {
        int64_t offset = atomic_fetch_add(&job->next, 1) * PIECE_BYTES;
        if (offset >= job->file_bytes) break;
        code = hash_piece(job, bytes, offset, err);
    }
    if (code != LEAT_OK) atomic_store(&job->stop, true);
    leat_free(bytes);
    return code;
}

static leat_code write_pages(writing *job, const char *path, leat_error *err) {
    leat_ticker *ticker = job->job->ticker;
    hashing pages = {.file = job->file, .file_bytes = job->file_bytes, .ticker = ticker};
    leat_ticker_stage(ticker, "hashing graphs", "bytes", job->file_bytes);
    LEAT_TRY(leat_file_open(&pages.pages, path, LEAT_FILE_CREATE, err));
    leat_code code = leat_threads_run(job->job->threads, hash_pieces, &pages, err);
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

/* Header, and where the tensors come to stand; a part without graphs has its pointers' 0. */
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
    LEAT_TRY(leat_threads_run(job->job->threads, make_steps, job, err));
    return write_pages(job, pages, err);
}

leat_code leat_can_write_part(leat_can_write *job, int part, const char *path, const char *pages,
                              int64_t *file_bytes, leat_error *err) {
    leat_can_scaler kind = job->plan->settings->scaler;
    writing state = {
        .job = job,
        .plan = job->plan,
        .part = part,
        .moments = part == 0 && (kind == LEAT_SCALER_Z_BENIGN || kind == LEAT_SCALER_Z_ALL),
    };
    pthread_mutex_init(&state.lock, NULL);
    pthread_cond_init(&state.turned, NULL);
    leat_code code = write_part(&state, path, pages, err);
    pthread_cond_destroy(&state.turned);
    pthread_mutex_destroy(&state.lock);
    leat_file_close(state.file);
    leat_free(state.node_begin);
    *file_bytes = code == LEAT_OK ? state.file_bytes : 0;
    return code;
}

/* ---- medians and quartiles ------------------------------------------------------------------ */

typedef struct ranking {
    leat_can_write *job;
    const leat_can_ranks *ranks;
    leat_can_counts *counts; /* of each thread */
    int64_t graphs;
    atomic_llong next;
    atomic_bool stop;
} ranking;

static leat_code rank_graphs(void *context, int index, leat_error *err) {
    ranking *job = context;
    const leat_can_plan *plan = job->job->plan;
    leat_ticker *ticker = job->job->ticker;
    writing step = {.job = job->job, .plan = plan, .moments = true};
    maker self;
    leat_code code = maker_new(&self, plan->settings->window, 1, err);
    while (code == LEAT_OK && !atomic_load(&job->stop)) {
        int64_t i = atomic_fetch_add(&job->next, 1);
        if (i >= job->graphs) break;
        if (!leat_ticker_add(ticker, 1)) code = leat_ticker_check(ticker, err);
        if (code != LEAT_OK) break;
        const leat_can_window *window = &plan->windows[plan->order[i]];
        if (!decides(&step, window)) continue;
        self.benign = (leat_can_rows){self.benign_x, self.benign_edges, 0, 0};
        code = read_window(&step, &self, window, 0, err);
        if (code != LEAT_OK) break;
        make_graph(&step, &self, window, 0, 0, 0);
        leat_can_ranks_count(job->ranks, &self.benign, &job->counts[index]);
    }
    if (code != LEAT_OK) atomic_store(&job->stop, true);
    maker_free(&self);
    return code;
}

static leat_code rank_pass(leat_can_write *write, leat_can_ranks *ranks, leat_error *err) {
    ranking job = {.job = write, .ranks = ranks, .graphs = write->plan->part_begin[1]};
    LEAT_TRY(LEAT_NEW(&job.counts, write->rank_threads, err));
    leat_code code = leat_threads_run(write->rank_threads, rank_graphs, &job, err);
    int64_t *sum = (int64_t *)job.counts[0].of;
    for (int i = 1; i < write->rank_threads && code == LEAT_OK; i++) {
        const int64_t *more = (const int64_t *)job.counts[i].of;
        for (size_t k = 0; k < sizeof(leat_can_counts) / sizeof(int64_t); k++) sum[k] += more[k];
    }
    if (code == LEAT_OK) leat_can_ranks_narrow(ranks, &job.counts[0]);
    leat_free(job.counts);
    return code;
}

static leat_code scale_by_ranks(leat_can_write *write, leat_can_scaler_values *scaler,
                                leat_error *err) {
    const leat_can_plan *plan = write->plan;
    int64_t nodes = 0, graphs = 0;
    for (int64_t i = 0; i < plan->part_begin[1]; i++) {
        const leat_can_window *window = &plan->windows[plan->order[i]];
        if (window->attack_count > 0) continue;
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
    if (kind == LEAT_SCALER_ROBUST_BENIGN) return scale_by_ranks(write, scaler, err);
    leat_can_scaler_from_moments(scaler, kind, &write->moments);
    return LEAT_OK;
}
