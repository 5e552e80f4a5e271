/* Verification of a CAN cache: every graph of a split by itself, and its place in the order. */
#include <math.h>
#include <string.h>

#include "load/can/copy.h"
#include "load/can/verify.h"

/* Graphs of a piece, at least. */
enum { GRAPHS = 256 };
/* Columns of x that the edges and the window decide. */
enum { MSG_COUNT = LEAT_NODE_MSG_COUNT, IN_DEGREE = 33, OUT_DEGREE = 34 };

/* Scratch space of a thread, for the largest graph. */
typedef struct looker {
    leat_graph_copier *copier;
    float *x, *edge_attr;
    int32_t *node_id, *source, *target;
    double *time;      /* of stored frames */
    int32_t *in, *out; /* degrees */
} looker;

typedef struct looking {
    leat_can_verify *job;
    const leat_can_meta_split *split;
    const char *name, *captures; /* of the tensors' file; the split to which the captures of its
                                    windows belong */
    const leat_graph_file *file;
    int64_t piece_graphs;
    looker *lookers; /* of each thread */
} looking;

static leat_code looker_make(looker *self, const leat_graph_file *file, leat_error *err) {
    int64_t window = file->shape.window;
    if (self->out != NULL) return LEAT_OK;
    LEAT_TRY(leat_graph_copier_create(&self->copier, file, NULL, false, err));
    LEAT_TRY(LEAT_NEW(&self->x, window * LEAT_NODE_FEATURES, err));
    LEAT_TRY(LEAT_NEW(&self->edge_attr, window * LEAT_EDGE_FEATURES, err));
    LEAT_TRY(LEAT_NEW(&self->node_id, window, err));
    LEAT_TRY(LEAT_NEW(&self->source, window, err));
    LEAT_TRY(LEAT_NEW(&self->target, window, err));
    LEAT_TRY(LEAT_NEW(&self->time, window, err));
    LEAT_TRY(LEAT_NEW(&self->in, window, err));
    return LEAT_NEW(&self->out, window, err);
}

static void looker_free(looker *self) {
    leat_graph_copier_destroy(self->copier);
    leat_free(self->x);
    leat_free(self->edge_attr);
    leat_free(self->node_id);
    leat_free(self->source);
    leat_free(self->target);
    leat_free(self->time);
    leat_free(self->in);
    leat_free(self->out);
}

/* ---- labels and order ----------------------------------------------------------------------- */

static const char *labels_problem(const leat_can_graph_facts *facts, int64_t window) {
    if (facts->attack_count < 0 || facts->attack_count > window)
        return "attack_count is not possible for the window";
    if (facts->y < 0 && facts->attack_count > 0)
        return "y says unlabelled, but frames are labelled as attacks";
    if (facts->y >= 0 && facts->y != (facts->attack_count > 0)) return "y is not attack_count > 0";
    if (facts->attack_count == 0 && facts->attack_first != -1)
        return "attack_first is set, but no frame is labelled";
    if (facts->attack_count > 0 &&
        (facts->attack_first < 0 || facts->attack_first > window - facts->attack_count))
        return "attack_first leaves fewer than attack_count frames in the window";
    if (leat_can_attack_name(facts->attack_type)[0] == 0) return "attack_type is not a valid code";
    return NULL;
}

/* Whether a window's attack is decided by its frames, not by the name of its file. */
static bool is_by_frame(const leat_can_meta *meta) {
    const char *how = leat_can_meta_get(meta, "attack-type");
    return how != NULL && strcmp(how, "frame") == 0;
}

static bool is_before(const leat_can_graph_facts *a, const leat_can_graph_facts *b) {
    if (a->node_count != b->node_count) return a->node_count < b->node_count;
    if (a->capture != b->capture) return a->capture < b->capture;
    return a->window_start < b->window_start;
}

static const char *place_problem(const looking *of, const leat_can_graph_facts *before,
                                 const leat_can_graph_facts *facts) {
    const leat_can_meta *meta = &of->job->meta;
    const leat_can_meta_capture *capture = &meta->captures[facts->capture];
    if (strcmp(capture->split, of->captures) != 0) return "its capture is of another split";
    if (facts->window_start < 0 || facts->window_start % meta->stride != 0 ||
        facts->window_start / meta->stride >= capture->windows)
        return "window_start is not where a window of its capture begins";
    if (before != NULL && !is_before(before, facts))
        return "it is out of order (by nodes, capture, window)";
    if (facts->edge_count != meta->window - 2) return "its number of edges is not window - 2";
    if (is_by_frame(meta) && facts->y == 0 && facts->attack_type != 0)
        return "attack_type is set, but no frame is labelled";
    return NULL;
}

/* ---- features ------------------------------------------------------------------------------- */

static bool all_finite(const float *values, int64_t count) {
    float sum = 0; /* 0 times a value is 0, unless the value is not finite */
    for (int64_t i = 0; i < count; i++) sum += 0 * values[i];
    return sum == 0;
}

/* Known identifiers ascend, then come those without a number. */
static const char *nodes_problem(const looker *self, int64_t nodes) {
    for (int64_t i = 1; i < nodes; i++) {
        int32_t before = self->node_id[i - 1], id = self->node_id[i];
        if (id != 0 && (before == 0 || before >= id)) return "node_id is out of order";
    }
    return NULL;
}

static const char *degrees_problem(looker *self, int64_t nodes, int64_t edges, int64_t window) {
    double frames = 0;
    memset(self->in, 0, (size_t)nodes * sizeof *self->in);
    memset(self->out, 0, (size_t)nodes * sizeof *self->out);
    for (int64_t i = 0; i < edges; i++) {
        self->out[self->source[i]]++;
        self->in[self->target[i]]++;
    }
    for (int64_t i = 0; i < nodes; i++) {
        const float *row = self->x + i * LEAT_NODE_FEATURES;
        if (row[IN_DEGREE] != (float)self->in[i] || row[OUT_DEGREE] != (float)self->out[i])
            return "degrees are not those of its edges";
        frames += (double)row[MSG_COUNT];
    }
    return frames == (double)window ? NULL : "msg_count of all nodes is not the window";
}

static const char *values_problem(looker *self, const leat_can_graph_facts *facts, int64_t window) {
    int64_t nodes = facts->node_count, edges = facts->edge_count;
    if (!all_finite(self->x, nodes * LEAT_NODE_FEATURES)) return "x has a value that is not finite";
    if (!all_finite(self->edge_attr, edges * LEAT_EDGE_FEATURES))
        return "edge_attr has a value that is not finite";
    for (int64_t i = 0; i < edges; i++)
        if (self->edge_attr[i * LEAT_EDGE_FEATURES] < 0)
            return "time goes backwards along its edges";
    const char *problem = nodes_problem(self, nodes);
    return problem != NULL ? problem : degrees_problem(self, nodes, edges, window);
}

/* Edges do not include the time of the last frame. */
static leat_code read_times(const looking *of, looker *self, int64_t graph, const char **problem,
                            leat_error *err) {
    const leat_graph_file *file = of->file;
    int64_t window = file->shape.window, bytes = window * (int64_t)sizeof(double);
    if (!file->shape.frames) return LEAT_OK;
    LEAT_TRY(leat_paged_read(&file->paged, file->at[LEAT_CAN_FRAME_TIME] + graph * bytes, bytes,
                             self->time, err));
    for (int64_t i = 0; i < window; i++) {
        if (!isfinite(self->time[i])) *problem = "frame_time has a value that is not finite";
        else if (i > 0 && self->time[i] < self->time[i - 1]) *problem = "frame_time goes backwards";
    }
    return LEAT_OK;
}

/* ---- pieces --------------------------------------------------------------------------------- */

static leat_code check_graph(looking *of, looker *self, int64_t graph,
                             const leat_can_graph_facts *before, leat_can_graph_facts *facts,
                             leat_findings *findings, leat_error *err) {
    leat_error cause = {0};
    const char *problem = NULL;
    int64_t window = of->file->shape.window;
    const leat_graph_place place = {.x = self->x,
                                    .edge_attr = self->edge_attr,
                                    .node_id = self->node_id,
                                    .source = self->source,
                                    .target = self->target};
    leat_code code = leat_graph_file_facts_of(of->file, graph, facts, &cause);
    if (code == LEAT_OK) code = leat_graph_copy(self->copier, graph, -1, &place, &cause);
    if (code == LEAT_OK) code = read_times(of, self, graph, &problem, &cause);
    if (code != LEAT_OK) return leat_checks_tell(findings, of->name, graph, &cause, err);
    if (problem == NULL) problem = labels_problem(facts, window);
    if (problem == NULL) problem = place_problem(of, before, facts);
    if (problem == NULL) problem = values_problem(self, facts, window);
    if (problem != NULL) LEAT_PROBLEM(findings, of->name, graph, "%s", problem);
    return LEAT_OK;
}

static leat_code check_piece(void *context, int thread, int64_t piece, leat_findings *findings,
                             leat_error *err) {
    looking *of = context;
    looker *self = &of->lookers[thread];
    leat_can_graph_facts facts[2] = {{0}};
    int64_t first = piece * of->piece_graphs, end = first + of->piece_graphs;
    if (end > of->split->graphs) end = of->split->graphs;
    LEAT_TRY(looker_make(self, of->file, err));
    bool known =
        first > 0 && leat_graph_file_facts_of(of->file, first - 1, &facts[0], NULL) == LEAT_OK;
    for (int64_t g = first; g < end; g++) {
        const leat_can_graph_facts *before = known ? &facts[(g - first) % 2] : NULL;
        int64_t problems = findings->problems;
        LEAT_TRY(check_graph(of, self, g, before, &facts[(g - first + 1) % 2], findings, err));
        known = findings->problems == problems; /* report one out of order only once */
    }
    int64_t bytes = of->split->file_bytes, graphs = of->split->graphs;
    return leat_ticker_step(&of->job->checks.ticker, bytes / graphs * (end - first), err);
}

leat_code leat_can_verify_graphs(leat_can_verify *job, const leat_can_meta_split *split,
                                 leat_error *err) {
    const leat_can_file_name name = leat_can_tensors_name(split);
    bool val = strcmp(split->name, LEAT_CAN_SPLIT_VAL) == 0;
    looking of = {.job = job,
                  .split = split,
                  .name = name.text,
                  .captures = val ? LEAT_CAN_SPLIT_TRAIN : split->name};
    leat_error cause = {0};
    if (leat_can_cache_file(job->cache, split->name, &of.file, &cause) != LEAT_OK)
        return leat_checks_tell(&job->checks.findings, name.text, -1, &cause, err);
    if (split->graphs == 0) return LEAT_OK;
    int64_t least = (split->graphs + LEAT_CHECKS_PIECES_MAX - 1) / LEAT_CHECKS_PIECES_MAX;
    of.piece_graphs = least > GRAPHS ? least : GRAPHS;
    LEAT_TRY(LEAT_NEW(&of.lookers, job->checks.options.threads, err));
    leat_code code =
        leat_checks_pieces(&job->checks, (split->graphs + of.piece_graphs - 1) / of.piece_graphs,
                           check_piece, &of, err);
    for (int i = 0; i < job->checks.options.threads; i++) looker_free(&of.lookers[i]);
    leat_free(of.lookers);
    return code;
}
