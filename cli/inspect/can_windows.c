/* Figures of `leat inspect --html` for a CAN cache: the windows that stand for their labels, drawn
 * as graphs. */
#include <stdio.h>
#include <stdlib.h>

#include "inspect/can.h"

enum { EDGES_SHOWN = 300 };

typedef struct ranked {
    int node;
    int64_t frames;
} ranked;

/* What is known of the identifiers that an attack sends. The cache keeps the first labelled frame
 * of a window and how many follow, not which. */
typedef enum sent {
    SENT_NONE,  /* no frame is labelled */
    SENT_FIRST, /* the identifier of the first one, which has as many frames from there on */
    SENT_ALONE, /* more are labelled: also those that are only in windows with an attack */
    SENT_ALL,   /* all frames from the first one on are labelled */
} sent;

/* A window as it is drawn. */
typedef struct drawing {
    const leat_can_cache *cache;
    const leat_can_summary *summary;
    const char *split;
    leat_can_graph graph;
    sent sent;
    bool is_sent[LEAT_WINDOW_MAX]; /* of each node */
    int64_t unplaced;              /* labelled frames that are of none of these */
    int pair_count;                /* distinct pairs of nodes with an edge */
    leat_network_edge pairs[LEAT_WINDOW_MAX];
    ranked order[LEAT_WINDOW_MAX]; /* nodes with the most frames first */
    int place[LEAT_WINDOW_MAX];    /* of each node on the circle; -1: not drawn */
    leat_network_node nodes[LEAT_NETWORK_NODES];
    leat_network_edge edges[LEAT_WINDOW_MAX];
    int node_count, edge_count;
    int64_t steps; /* of the edges that are drawn */
} drawing;

static const char *name_of(const drawing *of, int node) {
    int32_t number = of->graph.node_id[node];
    return number == 0 ? "?" : leat_can_cache_identifier(of->cache, number - 1);
}

/* ---- what an attack sends ---------------------------------------------------------------- */

/* The node of each frame from `first` on, -1: not known; returns their number. Edges are in the
 * order of time, from frame 1 to 2, 2 to 3, ...; frame 0 is of the node that has a frame more. */
static int list_frames(const leat_can_graph *graph, int first, int frames[LEAT_WINDOW_MAX]) {
    const int edges = graph->facts.edge_count, window = edges + 2;
    int64_t left[LEAT_WINDOW_MAX];
    for (int i = 0; i < graph->facts.node_count; i++) left[i] = leat_can_node_frames(graph, i);
    for (int frame = 1; frame < window && edges > 0; frame++) {
        int node = frame <= edges ? graph->edge_index[frame - 1] : graph->edge_index[2 * edges - 1];
        left[node]--;
        if (frame >= first) frames[frame - first] = node;
    }
    if (first > 0) return window - first;
    frames[0] = -1;
    for (int i = 0; i < graph->facts.node_count && edges > 0; i++)
        if (left[i] > 0) frames[0] = i;
    return window;
}

static bool is_alone(const drawing *of, int node) {
    int32_t number = of->graph.node_id[node];
    for (int64_t i = 0; i < of->summary->identifier_count; i++)
        if (number > 0 && of->summary->identifiers[i].number == number)
            return leat_can_is_attack_only(&of->summary->identifiers[i]);
    return false;
}

static void find_sent(drawing *of, int64_t window) {
    const leat_can_graph_facts *facts = &of->graph.facts;
    int frames[LEAT_WINDOW_MAX], first = facts->attack_first, count = 0;
    int64_t after[LEAT_WINDOW_MAX] = {0};
    if (facts->y <= 0 || first < 0 || first >= window || facts->edge_count + 2 != window) return;
    count = list_frames(&of->graph, first, frames);
    if (frames[0] < 0) return;
    for (int i = 0; i < count; i++) after[frames[i]]++;
    of->unplaced = facts->attack_count - after[frames[0]];
    of->is_sent[frames[0]] = true;
    of->sent = facts->attack_count >= count ? SENT_ALL : of->unplaced > 0 ? SENT_ALONE : SENT_FIRST;
    for (int i = 0; i < facts->node_count && of->sent != SENT_FIRST; i++) {
        if (after[i] == 0 || i == frames[0]) continue;
        if (of->sent == SENT_ALONE && !is_alone(of, i)) continue;
        of->is_sent[i] = true;
        of->unplaced -= after[i];
    }
}

/* ---- what is drawn ----------------------------------------------------------------------- */

static int compare_ends(const void *a, const void *b) {
    const leat_network_edge *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

static int compare_counts(const void *a, const void *b) {
    const leat_network_edge *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return compare_ends(a, b);
}

static int compare_ranks(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->frames != y->frames) return x->frames > y->frames ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Parallel edges become one with their number. */
static void count_pairs(drawing *of) {
    int edges = of->graph.facts.edge_count;
    for (int i = 0; i < edges; i++)
        of->pairs[i] =
            (leat_network_edge){of->graph.edge_index[i], of->graph.edge_index[edges + i], 1};
    qsort(of->pairs, (size_t)edges, sizeof *of->pairs, compare_ends);
    of->pair_count = 0;
    for (int i = 0; i < edges; i++) {
        leat_network_edge *last = of->pairs + of->pair_count - 1;
        if (of->pair_count > 0 && compare_ends(last, &of->pairs[i]) == 0) last->count++;
        else of->pairs[of->pair_count++] = of->pairs[i];
    }
}

/* Those with the most frames, in the order of the graph. */
static void choose_nodes(drawing *of, const char *class_name) {
    int count = of->graph.facts.node_count;
    for (int i = 0; i < count; i++) {
        of->order[i] = (ranked){i, leat_can_node_frames(&of->graph, i)};
        of->place[i] = -1;
    }
    qsort(of->order, (size_t)count, sizeof *of->order, compare_ranks);
    for (int i = 0; i < count && i < LEAT_NETWORK_NODES; i++) of->place[of->order[i].node] = 0;
    of->node_count = 0;
    for (int i = 0; i < count; i++) {
        if (of->place[i] < 0) continue;
        of->place[i] = of->node_count;
        of->nodes[of->node_count++] =
            (leat_network_node){name_of(of, i), leat_can_node_frames(&of->graph, i),
                                of->graph.node_id[i] == 0, of->is_sent[i] ? " bad" : class_name};
    }
}

/* The edges between them with the most steps; those are below the others. */
static void choose_edges(drawing *of) {
    of->edge_count = 0;
    for (int i = 0; i < of->pair_count; i++) {
        const leat_network_edge *pair = &of->pairs[i];
        int source = of->place[pair->source], target = of->place[pair->target];
        if (source >= 0 && target >= 0)
            of->edges[of->edge_count++] = (leat_network_edge){source, target, pair->count};
    }
    qsort(of->edges, (size_t)of->edge_count, sizeof *of->edges, compare_counts);
    if (of->edge_count > EDGES_SHOWN) of->edge_count = EDGES_SHOWN;
    of->steps = 0;
    for (int i = 0; i < of->edge_count; i++) of->steps += of->edges[i].count;
}

/* ---- the figure -------------------------------------------------------------------------- */

static void say_window(leat_page *page, const drawing *of, const leat_can_capture_facts *capture,
                       int64_t window) {
    const leat_can_graph_facts *facts = &of->graph.facts;
    int64_t last = leat_frame_after(facts->window_start, window - 1);
    char words[LEAT_FIGURE_WORDS], name[LEAT_PLAIN_BYTES], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    snprintf(words, sizeof words, "graph %lld of %.60s: %.60s, frames %s to %s%s",
             (long long)facts->graph, of->split, leat_can_capture_words(name, capture),
             leat_words_count(a, facts->window_start), leat_words_count(b, last),
             facts->y > 0 ? "" : ";");
    leat_figure_say(page, words);
    if (facts->y <= 0) return;
    snprintf(words, sizeof words, "(%s, %s labelled);",
             leat_can_attack_name_of(facts->y, facts->attack_type),
             leat_things(a, facts->attack_count, "frame"));
    leat_figure_say(page, words);
}

/* Whose the labelled frames are, as far as that is known. */
static void say_sent(leat_page *page, const drawing *of) {
    static const char *const words[] = {
        [SENT_FIRST] = "identifier of the first labelled frame",
        [SENT_ALONE] = "of the first labelled frame, or in windows with an attack only",
        [SENT_ALL] = "identifiers of labelled frames"};
    bool drawn = false;
    if (of->graph.facts.y <= 0) return;
    for (int i = 0; i < of->graph.facts.node_count; i++)
        drawn |= of->is_sent[i] && of->place[i] >= 0;
    if (drawn) leat_figure_item(page, "bar bad", words[of->sent], NULL);
    if (!drawn) leat_figure_say(page, "no identifier is known to have labelled frames;");
    else if (of->unplaced > 0)
        leat_figure_say(page, "the cache does not record which others are labelled;");
}

/* The scales, and what is not drawn. */
static void say_rest(leat_page *page, const drawing *of, const char *class_name) {
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    char ring[16];
    int nodes = of->graph.facts.node_count, edges = of->graph.facts.edge_count;
    bool unknown = false;
    for (int i = 0; i < of->node_count; i++) unknown |= of->nodes[i].hollow;
    leat_figure_item(page, NULL, "largest node", leat_things(a, of->order[0].frames, "frame"));
    if (of->edge_count > 0)
        leat_figure_item(page, NULL, "widest edge", leat_things(a, of->edges[0].count, "step"));
    snprintf(ring, sizeof ring, "ring%s", class_name);
    if (unknown) leat_figure_item(page, ring, "not in the vocabulary", NULL);
    if (nodes == of->node_count && edges == of->steps) return;
    snprintf(words, sizeof words, "drawn: the %s of %s identifiers with the most frames,",
             leat_words_count(a, of->node_count), leat_words_count(b, nodes));
    leat_figure_say(page, words);
    snprintf(words, sizeof words, "and %s of %s steps; the table has all of them",
             leat_words_count(a, of->steps), leat_words_count(b, edges));
    leat_figure_say(page, words);
}

static void put_end(leat_textbuf *csv, const drawing *of, int node) {
    leat_textbuf_printf(csv, "%d,", node);
    leat_csv_text(csv, name_of(of, node));
    leat_textbuf_printf(csv, ",%lld,", (long long)leat_can_node_frames(&of->graph, node));
}

static void put_table(leat_textbuf *csv, const drawing *of) {
    leat_textbuf_put(csv, "source_node,source,source_frames,target_node,target,"
                          "target_frames,steps\n");
    for (int i = 0; i < of->pair_count; i++) {
        put_end(csv, of, of->pairs[i].source);
        put_end(csv, of, of->pairs[i].target);
        leat_textbuf_printf(csv, "%lld\n", (long long)of->pairs[i].count);
    }
}

static leat_code draw(leat_page *page, drawing *of, const char *title, const char *class_name,
                      leat_error *err) {
    leat_can_capture_facts capture;
    leat_can_facts facts;
    leat_code code = leat_can_cache_get_capture(of->cache, of->graph.facts.capture, &capture, err);
    if (code != LEAT_OK) return code;
    leat_can_cache_get_facts(of->cache, &facts);
    count_pairs(of);
    find_sent(of, facts.window);
    choose_nodes(of, class_name);
    choose_edges(of);
    leat_figure_begin(page, title);
    say_window(page, of, &capture, facts.window);
    say_sent(page, of);
    say_rest(page, of, class_name);
    put_table(page->csv, of);
    leat_network_draw(&(leat_network){.page = page,
                                      .sizes = "frame",
                                      .counts = "step",
                                      .nodes = of->nodes,
                                      .edges = of->edges,
                                      .node_count = of->node_count,
                                      .edge_count = of->edge_count});
    leat_figure_end(page);
    return LEAT_OK;
}

static const struct {
    const char *title, *class_name, *missing;
} labels[LEAT_CAN_LABELS] = {
    [LEAT_CAN_LABEL_BENIGN] = {"A benign window as a graph", "", "no window is labelled as benign"},
    [LEAT_CAN_LABEL_ATTACK] = {"A window with an attack as a graph", "",
                               "no window is labelled as an attack"},
    [LEAT_CAN_LABEL_UNLABELLED] = {"An unlabelled window as a graph", " zero", NULL},
};

static void draw_window(leat_page *page, const leat_can_report *report, leat_can_label label) {
    const leat_can_summary_window *window = &report->summary->window[label];
    leat_can_reader *reader = NULL;
    leat_error err = {0};
    drawing of = {.cache = report->cache, .summary = report->summary};
    of.split = report->summary->splits[window->split].facts.name;
    leat_code code =
        leat_can_reader_create(&reader, report->cache, of.split, LEAT_SCALE_NONE, &err);
    if (code == LEAT_OK) code = leat_can_reader_graph(reader, window->facts.graph, &of.graph, &err);
    if (code == LEAT_OK)
        code = draw(page, &of, labels[label].title, labels[label].class_name, &err);
    leat_can_reader_destroy(reader);
    if (code != LEAT_OK && page->err.code == LEAT_OK) page->err = err;
}

/* How to print the windows that are drawn, in words of a shell. */
static void put_commands(leat_textbuf *out, const leat_can_report *report) {
    char path[LEAT_MESSAGE_BYTES], split[LEAT_MESSAGE_BYTES];
    if (!leat_shell_word(path, sizeof path, report->name)) snprintf(path, sizeof path, "CACHE");
    for (int label = 0; label < LEAT_CAN_LABELS; label++) {
        const leat_can_summary_window *window = &report->summary->window[label];
        if (window->split < 0) continue;
        leat_textbuf_put(out, "<code class=\"item\">leat cat ");
        leat_html_text(out, path);
        leat_textbuf_put(out, " --split ");
        if (!leat_shell_word(split, sizeof split,
                             report->summary->splits[window->split].facts.name))
            snprintf(split, sizeof split, "SPLIT");
        leat_html_text(out, split);
        leat_textbuf_printf(out, " --graph %lld --format words</code>\n",
                            (long long)window->facts.graph);
    }
}

void leat_can_report_windows(leat_page *page, const leat_can_report *report) {
    leat_textbuf *out = page->out;
    leat_textbuf_put(
        out, "<h2>Windows as graphs</h2>\n<p class=\"note\">Of each label, the window with the "
             "median number of identifiers; of several, the first. Identifiers are in ascending "
             "order, clockwise from the top. The area of a node grows with its frames, the width "
             "of an edge with the number of steps from one identifier to the next. Print them "
             "with:</p>\n<p class=\"note\">");
    put_commands(out, report);
    leat_textbuf_put(out, "</p>\n<div class=\"figures\">\n");
    for (int label = 0; label < LEAT_CAN_LABELS; label++) {
        if (report->summary->window[label].split >= 0) draw_window(page, report, label);
        else if (labels[label].missing != NULL)
            leat_figure_empty(page, labels[label].title, labels[label].missing);
    }
    leat_textbuf_put(out, "</div>\n");
}
