/* See split_windows.h. */
#include "train/tasks/graphs/split_windows.h"

#include "base/mem.h"
#include "format/can_cache/can_cache.h"
#include "train/eval/windows.h"

void leat_split_windows_free(leat_split_windows *windows) {
    leat_free(windows->label);
    leat_free(windows->attack);
    leat_free(windows->vehicle);
    leat_free(windows->capture);
    leat_free(windows->attack_first);
    leat_free(windows->start);
    leat_free(windows->seconds);
    leat_free(windows->injected_seconds);
    for (int i = 0; i < LEAT_PLAIN_SCORES; i++) leat_free(windows->plain[i]);
    leat_free(windows->plain_identifier);
    leat_free(windows->plain_feature);
    leat_free(windows->injected);
    *windows = (leat_split_windows){0};
}

static leat_plain_graph plain_of(const leat_can_graph *graph) {
    return (leat_plain_graph){graph->facts.node_count, graph->node_id, graph->x};
}

/* ---- The table ------------------------------------------------------------------------------ */

static leat_code add_benign(leat_plain *plain, leat_can_reader *reader, int64_t count,
                            leat_ticker *ticker, leat_error *err) {
    for (int64_t g = 0; g < count; g++) {
        leat_can_graph_facts facts;
        leat_can_graph graph;
        LEAT_TRY(leat_ticker_step(ticker, 1, err));
        LEAT_TRY(leat_can_reader_facts(reader, g, &facts, err));
        if (facts.y != 0) continue;
        LEAT_TRY(leat_can_reader_graph(reader, g, &graph, err));
        const leat_plain_graph of = plain_of(&graph);
        LEAT_TRY(leat_plain_add(plain, &of, g, err));
    }
    return LEAT_OK;
}

leat_code leat_split_windows_table(const leat_can_cache *cache, leat_plain_table **out,
                                   leat_ticker *ticker, leat_error *err) {
    leat_plain *plain = NULL;
    leat_can_reader *reader = NULL;
    leat_can_facts facts;
    leat_can_split split;
    *out = NULL;
    leat_can_cache_get_facts(cache, &facts);
    LEAT_TRY(leat_can_cache_find_split(cache, LEAT_CAN_SPLIT_TRAIN, &split, err));
    leat_ticker_stage(ticker, "plain table", "graphs", split.graph_count);
    LEAT_TRY(leat_plain_create(&plain, facts.vocab_count + 1, LEAT_NODE_FEATURES, err));
    leat_code code =
        leat_can_reader_create(&reader, cache, LEAT_CAN_SPLIT_TRAIN, LEAT_SCALE_NONE, err);
    if (code == LEAT_OK) code = add_benign(plain, reader, split.graph_count, ticker, err);
    if (code == LEAT_OK) code = leat_plain_finish(plain, out, err);
    leat_can_reader_destroy(reader);
    leat_plain_destroy(plain);
    return code;
}

/* ---- Columns -------------------------------------------------------------------------------- */

static leat_code make_room(leat_split_windows *self, int64_t count, leat_error *err) {
    int32_t **const narrow[] = {
        &self->label,        &self->attack,        &self->vehicle,          &self->capture,
        &self->attack_first, &self->plain_feature, &self->plain_identifier, &self->injected};
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        LEAT_TRY(LEAT_NEW(narrow[i], count, err));
    LEAT_TRY(LEAT_NEW(&self->start, count, err));
    LEAT_TRY(LEAT_NEW(&self->seconds, count, err));
    LEAT_TRY(LEAT_NEW(&self->injected_seconds, count, err));
    for (int i = 0; i < LEAT_PLAIN_SCORES; i++) LEAT_TRY(LEAT_NEW(&self->plain[i], count, err));
    return LEAT_OK;
}

int64_t leat_split_node_of_frame(const leat_can_graph *graph, int64_t frame) {
    const int64_t edges = graph->facts.edge_count;
    const int32_t *source = graph->edge_index, *target = source + edges;
    if (edges < 1 || frame < 0 || frame > edges + 1) return -1;
    if (frame > edges) return target[edges - 1];
    if (frame > 0) return source[frame - 1];
    for (int64_t n = 0; n < graph->facts.node_count; n++) {
        int64_t seen = target[edges - 1] == n;
        for (int64_t e = 0; e < edges; e++) seen += source[e] == n;
        if (leat_can_node_frames(graph, n) == seen + 1) return n;
    }
    return -1;
}

/* The number of the identifier of a node, if no other node has the same one: unknown identifiers
 * all have number 0, and which of several is meant cannot be told. -1: it cannot, or node is -1. */
static int32_t identifier_alone(const leat_can_graph *graph, int64_t node) {
    if (node < 0) return -1;
    const int32_t number = graph->node_id[node];
    for (int64_t n = 0; n < graph->facts.node_count; n++)
        if (n != node && graph->node_id[n] == number) return -1;
    return number;
}

static void put_facts(leat_split_windows *self, int64_t at, const leat_can_graph *graph) {
    const leat_can_graph_facts *facts = &graph->facts;
    const bool attack = facts->y == 1;
    const int64_t node = attack ? leat_split_node_of_frame(graph, facts->attack_first) : -1;
    self->label[at] = facts->y;
    self->attack[at] = facts->attack_type;
    self->capture[at] = facts->capture;
    self->attack_first[at] = facts->attack_first;
    self->start[at] = facts->window_start;
    self->injected[at] = identifier_alone(graph, node);
    self->seconds[at] =
        leat_eval_window_seconds(graph->edge_attr + LEAT_EDGE_IAT, facts->edge_count,
                                 LEAT_EDGE_FEATURES, self->windows.window, self->windows.stride);
    self->injected_seconds[at] =
        attack ? leat_eval_seconds_after(graph->edge_attr + LEAT_EDGE_IAT, facts->edge_count,
                                         LEAT_EDGE_FEATURES, facts->attack_first)
               : 0;
    bool known = false;
    for (int64_t n = 0; n < facts->node_count; n++) known |= graph->node_id[n] > 0;
    self->unlabelled += facts->y < 0;
    self->unknown_windows += !known;
}

static leat_code put_scores(leat_split_windows *self, int64_t at, const leat_can_graph *graph,
                            const leat_plain_table *table, leat_error *err) {
    const leat_plain_window window = {.graph = plain_of(graph),
                                      .number = at,
                                      .count_feature = LEAT_NODE_MSG_COUNT,
                                      .seconds = self->seconds[at]};
    leat_plain_scores scores;
    LEAT_TRY(leat_plain_score(table, &window, &scores, err));
    for (int i = 0; i < LEAT_PLAIN_SCORES; i++)
        self->plain[i][at] = leat_plain_score_value(&scores, i);
    self->plain_identifier[at] = graph->node_id[scores.max_node];
    self->plain_feature[at] = (int32_t)scores.max_feature;
    return LEAT_OK;
}

/* What times and frames are found by: every frame after the second is the end of an edge; and the
 * first injected frame of a window that has one. */
static leat_code check_frames(const leat_split_windows *self, const leat_can_graph *graph,
                              leat_error *err) {
    const leat_can_graph_facts *facts = &graph->facts;
    const int64_t edges = self->windows.window - 2;
    if (facts->edge_count != edges)
        return leat_fail(err, LEAT_ERR_CORRUPT,
                         "graph %lld: %lld edges; a window of %lld frames has %lld; %s",
                         (long long)facts->graph, (long long)facts->edge_count,
                         (long long)self->windows.window, (long long)edges, LEAT_CAN_REBUILD);
    if (facts->y != 1 || (facts->attack_first >= 0 && facts->attack_first <= facts->edge_count + 1))
        return LEAT_OK;
    return leat_fail(err, LEAT_ERR_CORRUPT, "graph %lld: first injected frame %d; %s",
                     (long long)facts->graph, (int)facts->attack_first, LEAT_CAN_REBUILD);
}

static leat_code read_all(leat_split_windows *self, leat_can_reader *reader,
                          const leat_can_cache *cache, const leat_plain_table *table,
                          leat_ticker *ticker, leat_error *err) {
    leat_can_capture_facts capture = {0};
    int32_t last = -1;
    for (int64_t g = 0; g < self->windows.count; g++) {
        leat_can_graph graph;
        LEAT_TRY(leat_ticker_step(ticker, 1, err));
        LEAT_TRY(leat_can_reader_graph(reader, g, &graph, err));
        LEAT_TRY(check_frames(self, &graph, err));
        if (graph.facts.capture != last)
            LEAT_TRY(leat_can_cache_get_capture(cache, graph.facts.capture, &capture, err));
        last = graph.facts.capture;
        self->vehicle[g] = capture.vehicle;
        put_facts(self, g, &graph);
        LEAT_TRY(put_scores(self, g, &graph, table, err));
    }
    return LEAT_OK;
}

leat_code leat_split_windows_read(leat_split_windows *out, const leat_can_cache *cache,
                                  const char *split, const leat_plain_table *table,
                                  leat_ticker *ticker, leat_error *err) {
    leat_can_reader *reader = NULL;
    leat_can_split of;
    leat_can_facts facts;
    *out = (leat_split_windows){0};
    leat_can_cache_get_facts(cache, &facts);
    LEAT_TRY(leat_can_cache_find_split(cache, split, &of, err));
    leat_ticker_stage(ticker, "reading", "graphs", of.graph_count);
    out->windows = (leat_eval_windows){
        .count = of.graph_count, .window = facts.window, .stride = facts.stride};
    leat_code code = make_room(out, of.graph_count, err);
    if (code == LEAT_OK) code = leat_can_reader_create(&reader, cache, split, LEAT_SCALE_NONE, err);
    if (code == LEAT_OK) code = read_all(out, reader, cache, table, ticker, err);
    leat_can_reader_destroy(reader);
    if (code != LEAT_OK) {
        leat_split_windows_free(out);
        return leat_error_context(err, code, "split %s", split);
    }
    leat_eval_windows *columns = &out->windows;
    columns->label = out->label;
    columns->attack = out->attack;
    columns->vehicle = out->vehicle;
    columns->capture = out->capture;
    columns->start = out->start;
    columns->attack_first = out->attack_first;
    columns->seconds = out->seconds;
    columns->injected_seconds = out->injected_seconds;
    return LEAT_OK;
}
