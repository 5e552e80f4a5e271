/* leat cat of a CAN cache: complete graphs as JSON lines or in words. */
#include <math.h>
#include <string.h>

#include "cat/cat.h"
#include "data_kinds.h"
#include "leat/format.h"
#include "leat/load_can.h"

typedef struct cat_graphs {
    leat_cli *cli;
    const leat_can_cache *cache;
    leat_can_facts facts;
    const char *split;
    bool words, scaled;
    leat_cat_range range;
} cat_graphs;

/* NULL: an identifier without a number. */
static const char *identifier_of(const cat_graphs *job, int32_t node_id) {
    return node_id == 0 ? NULL : leat_can_cache_identifier(job->cache, node_id - 1);
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void put_number(leat_cli *cli, float value) {
    char text[LEAT_WORDS_BYTES];
    leat_out(cli, "%s", isfinite(value) ? leat_words_float(text, value) : "null");
}

static void put_rows(leat_cli *cli, const char *name, const float *rows, int64_t count,
                     int columns) {
    leat_out(cli, ",\"%s\":[", name);
    for (int64_t i = 0; i < count; i++) {
        leat_out(cli, i > 0 ? ",[" : "[");
        for (int k = 0; k < columns; k++) {
            if (k > 0) leat_out_bytes(cli, ",", 1);
            put_number(cli, rows[i * columns + k]);
        }
        leat_out_bytes(cli, "]", 1);
    }
    leat_out_bytes(cli, "]", 1);
}

static void put_numbers(leat_cli *cli, const int32_t *numbers, int64_t count) {
    leat_out_bytes(cli, "[", 1);
    for (int64_t i = 0; i < count; i++) leat_out(cli, "%s%d", i > 0 ? "," : "", numbers[i]);
    leat_out_bytes(cli, "]", 1);
}

static void put_text(leat_cli *cli, const char *name, const char *text) {
    leat_out(cli, ",\"%s\":", name);
    leat_out_json_text(cli, text, (int64_t)strlen(text));
}

static void put_identifiers(const cat_graphs *job, const leat_can_graph *graph) {
    leat_out(job->cli, ",\"identifiers\":[");
    for (int64_t i = 0; i < graph->facts.node_count; i++) {
        const char *text = identifier_of(job, graph->node_id[i]);
        if (i > 0) leat_out_bytes(job->cli, ",", 1);
        if (text == NULL) leat_out(job->cli, "null");
        else leat_out_json_text(job->cli, text, (int64_t)strlen(text));
    }
    leat_out_bytes(job->cli, "]", 1);
}

static void write_json(const cat_graphs *job, const leat_can_graph *graph,
                       const leat_can_capture_facts *capture) {
    leat_cli *cli = job->cli;
    const leat_can_graph_facts *facts = &graph->facts;
    leat_out(cli, "{\"graph\":%lld", (long long)facts->graph);
    put_text(cli, "split", job->split);
    leat_out(cli, ",\"capture\":%d", facts->capture);
    put_text(cli, "file", capture->file);
    put_text(cli, "folder", capture->folder);
    leat_out(cli, ",\"window_start\":%lld,\"y\":%d,\"attack_type\":%d",
             (long long)facts->window_start, facts->y, facts->attack_type);
    put_text(cli, "attack", leat_can_attack_name_of(facts->y, facts->attack_type));
    leat_out(cli, ",\"attack_first\":%d,\"attack_count\":%d", facts->attack_first,
             facts->attack_count);
    put_identifiers(job, graph);
    leat_out(cli, ",\"node_id\":");
    put_numbers(cli, graph->node_id, facts->node_count);
    put_rows(cli, "x", graph->x, facts->node_count, LEAT_NODE_FEATURES);
    leat_out(cli, ",\"edge_index\":[");
    put_numbers(cli, graph->edge_index, facts->edge_count);
    leat_out_bytes(cli, ",", 1);
    put_numbers(cli, graph->edge_index + facts->edge_count, facts->edge_count);
    leat_out_bytes(cli, "]", 1);
    put_rows(cli, "edge_attr", graph->edge_attr, facts->edge_count, LEAT_EDGE_FEATURES);
    leat_out(cli, "}\n");
}

/* ---- words ------------------------------------------------------------------------------- */

static int column_of(const char *(*name_of)(int index), const char *name) {
    int index = 0;
    while (name_of(index) != NULL && strcmp(name_of(index), name) != 0) index++;
    if (name_of(index) == NULL) index = 0; /* a mistake in leat's own table */
    return index;
}

static void write_head(const cat_graphs *job, const leat_can_graph *graph,
                       const leat_can_capture_facts *capture) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    const leat_can_graph_facts *facts = &graph->facts;
    int64_t last = leat_frame_after(facts->window_start, job->facts.window - 1);
    leat_cli *cli = job->cli;
    leat_out(cli, "graph %s of ", leat_words_count(a, facts->graph));
    leat_out_name(cli, job->split);
    leat_out(cli, capture->file[0] != 0 ? ": " : ": all logs of ");
    leat_out_name(cli, capture->file[0] != 0 ? capture->folder : capture->split);
    if (capture->file[0] != 0) leat_out(cli, "/");
    leat_out_name(cli, capture->file);
    if (capture->recording > 1) leat_out(cli, ", recording %d", capture->recording);
    if (capture->bus >= 0) leat_out(cli, ", bus %d", capture->bus);
    if (capture->vehicle > 0) leat_out(cli, ", vehicle %d", capture->vehicle);
    leat_out(cli, ", frames %s to %s of %s\n", leat_words_count(a, facts->window_start),
             leat_words_count(b, last), leat_words_count(c, capture->frames));
    if (facts->y < 0) leat_out(cli, "  unlabelled\n");
    else if (facts->y == 0 && facts->attack_type == 0) leat_out(cli, "  benign\n");
    else if (facts->y == 0)
        leat_out(cli, "  benign, in a log of %s\n", leat_can_attack_name(facts->attack_type));
    else
        leat_out(cli, "  attack: %s, %s labelled, the first is %d\n",
                 facts->attack_type == 0 ? "of unknown type"
                                         : leat_can_attack_name(facts->attack_type),
                 leat_things(a, facts->attack_count, "frame"), facts->attack_first);
}

static void write_nodes(const cat_graphs *job, const leat_can_graph *graph) {
    static const char *const names[] = {"msg_count",     "entropy_mean", "change_rate",
                                        "node_iat_mean", "node_iat_std", "in_degree",
                                        "out_degree"};
    enum { SHOWN = sizeof names / sizeof *names };
    char a[LEAT_WORDS_BYTES], name[LEAT_PLAIN_BYTES];
    leat_cli *cli = job->cli;
    leat_out(cli, "  %s%s\n    %4s %-12s %9s", leat_things(a, graph->facts.node_count, "node"),
             job->scaled ? ", features scaled" : "", "", "identifier", "number");
    for (int k = 0; k < SHOWN; k++) leat_out(cli, " %13s", names[k]);
    leat_out_bytes(cli, "\n", 1);
    for (int64_t i = 0; i < graph->facts.node_count; i++) {
        const char *text = identifier_of(job, graph->node_id[i]);
        leat_out(cli, "    %4lld %-12s %9d", (long long)i,
                 leat_plain(name, text != NULL ? text : "unknown"), graph->node_id[i]);
        for (int k = 0; k < SHOWN; k++) {
            int column = column_of(leat_node_feature_name, names[k]);
            leat_out(cli, " %13.5g", (double)graph->x[i * LEAT_NODE_FEATURES + column]);
        }
        leat_out_bytes(cli, "\n", 1);
    }
}

/* Gaps in ms; scaled ones have no unit. */
static void write_edges(const cat_graphs *job, const leat_can_graph *graph) {
    const char *step = leat_can_cache_setting(job->cache, "edge-step");
    bool own = step != NULL && strcmp(step, "own") == 0;
    int gap = column_of(leat_edge_feature_name, "iat");
    int frequency = column_of(leat_edge_feature_name, "edge_freq");
    int64_t edges = graph->facts.edge_count;
    char a[LEAT_WORDS_BYTES], source_name[LEAT_PLAIN_BYTES], target_name[LEAT_PLAIN_BYTES];
    leat_out(job->cli, "  %s in order of time; the gap is that of %s\n",
             leat_things(a, edges, "edge"), own ? "the edge itself" : "the step before");
    for (int64_t i = 0; i < edges; i++) {
        int32_t source = graph->edge_index[i], target = graph->edge_index[edges + i];
        const char *from = identifier_of(job, graph->node_id[source]);
        const char *to = identifier_of(job, graph->node_id[target]);
        const float *row = graph->edge_attr + i * LEAT_EDGE_FEATURES;
        leat_out(job->cli, "    %-12s -> %-12s  gap %.5g%s, edge_freq %.5g\n",
                 leat_plain(source_name, from != NULL ? from : "unknown"),
                 leat_plain(target_name, to != NULL ? to : "unknown"),
                 (double)row[gap] * (job->scaled ? 1 : 1e3), job->scaled ? "" : " ms",
                 (double)row[frequency]);
    }
}

static void write_words(const cat_graphs *job, const leat_can_graph *graph,
                        const leat_can_capture_facts *capture) {
    write_head(job, graph, capture);
    write_nodes(job, graph);
    write_edges(job, graph);
}

/* ---- graphs ------------------------------------------------------------------------------ */

static leat_code write_graphs(const cat_graphs *job, leat_can_reader *reader, leat_error *err) {
    bool to_file = leat_out_is_file();
    for (int64_t g = job->range.first; g < job->range.end && !leat_out_broken(job->cli); g++) {
        leat_can_graph graph;
        leat_can_capture_facts capture;
        leat_progress progress = {"writing", "graphs", g - job->range.first,
                                  job->range.end - job->range.first};
        if (to_file) leat_cli_progress(job->cli, &progress);
        leat_code code = leat_can_reader_graph(reader, g, &graph, err);
        if (code == LEAT_OK)
            code = leat_can_cache_get_capture(job->cache, graph.facts.capture, &capture, err);
        if (code != LEAT_OK) return code;
        if (job->words) write_words(job, &graph, &capture);
        else write_json(job, &graph, &capture);
    }
    return LEAT_OK;
}

/* One graph is 20 KB of JSON: without --graph the first one shows what they are. */
static void say_others(const cat_graphs *job, int64_t count) {
    char a[LEAT_WORDS_BYTES];
    if (count > 1)
        leat_cli_note(job->cli,
                      "the first of %s of %s; use --graph I for another one, --graph : for all",
                      leat_things(a, count, "graph"), job->split);
}

static int cat_cache(cat_graphs *job) {
    leat_can_reader *reader = NULL;
    leat_can_split split;
    leat_error err = {0};
    leat_can_cache_get_facts(job->cache, &job->facts);
    if (leat_can_cache_find_split(job->cache, job->split, &split, &err) != LEAT_OK ||
        leat_can_reader_create(&reader, job->cache, job->split,
                               job->scaled ? LEAT_SCALE_STORED : LEAT_SCALE_NONE, &err) != LEAT_OK)
        return leat_cli_fail(job->cli, &err);
    if (split.graph_count == 0) {
        leat_can_reader_destroy(reader);
        leat_cli_note(job->cli, "the split %s has no graphs; use --split for another one",
                      job->split);
        return 1;
    }
    int status = leat_cat_read_range(job->cli, "graph", "graph", split.graph_count, &job->range);
    if (!leat_cli_given(job->cli, "graph")) job->range.end = 1;
    if (status == 0 && write_graphs(job, reader, &err) != LEAT_OK)
        status = leat_cli_fail(job->cli, &err);
    if (status == 0 && !leat_cli_given(job->cli, "graph")) say_others(job, split.graph_count);
    leat_can_reader_destroy(reader);
    return status;
}

int leat_cat_can(leat_cli *cli) {
    const char *format = leat_cli_text(cli, "format");
    leat_can_cache *cache = NULL;
    leat_error err = {0};
    cat_graphs job = {.cli = cli,
                      .split = leat_cli_text(cli, "split"),
                      .words = strcmp(format, "words") == 0,
                      .scaled = strcmp(leat_cli_text(cli, "scale"), "stored") == 0};
    if (strcmp(format, "csv") == 0)
        return leat_cli_usage(cli, "--format csv is for probe rows; \"%.200s\" holds a CAN cache",
                              leat_cli_argument(cli, 0));
    if (leat_can_cache_open(&cache, leat_cli_argument(cli, 0), &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    job.cache = cache;
    int status = cat_cache(&job);
    leat_can_cache_close(cache);
    return status;
}
