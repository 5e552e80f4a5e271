/* The page of `leat batches CACHE --report`. */
#include <stdio.h>
#include <string.h>

#include "batches/graphs_report.h"

enum { OVERSIZE_ROWS = 50 };

/* ---- What was counted --------------------------------------------------------------------- */

/* So that what is shown is accepted as options: scores are given by their file. */
static bool is_left_out(const char *name, const void *options) {
    const leat_graph_batch_options *batches = options;
    const bool scores = batches->curriculum == LEAT_CURRICULUM_SCORES;
    return graphs_is_idle(name, options) || (scores && strcmp(name, "curriculum") == 0);
}

static void put_options(leat_textbuf *out, const graphs_job *job) {
    leat_textbuf_put(out, "<p class=\"note\">Options: <code>");
    leat_page_settings(out, leat_graph_loader_options_table(), &job->options, NULL);
    leat_page_settings(out, leat_graph_batch_options_table(), &job->options.batches, is_left_out);
    if (job->options.scores != NULL) {
        leat_textbuf_put(out, "<span class=\"item\">--curriculum ");
        leat_html_text(out, job->options.scores);
        leat_textbuf_put(out, "</span>");
    }
    leat_textbuf_put(out, "</code> split: ");
    leat_html_text(out, job->split.name);
    leat_textbuf_put(out, "</p>\n");
}

/* A heading that names the split where the page has several. */
static void put_heading(leat_textbuf *out, const graphs_job *job, const char *words) {
    leat_textbuf_put(out, "<h2>");
    if (job->all) {
        leat_html_text(out, job->split.name);
        leat_textbuf_put(out, words[0] == 0 ? "" : ": ");
    }
    leat_textbuf_printf(out, "%s</h2>\n", words);
}

static void put_extent(leat_textbuf *out, const graphs_report *report) {
    const graphs_sums *all = &report->all;
    char words[LEAT_WORDS_BYTES];
    leat_textbuf_printf(out, "<p class=\"sub\">Batches of window graphs: %s of ",
                        leat_words_count(words, all->batches));
    leat_textbuf_printf(out, "%s, epoch %lld batch %lld to epoch %lld batch %lld</p>\n",
                        leat_things(words, all->graphs, "graph"), (long long)report->first.epoch,
                        (long long)report->first.batch, (long long)report->last.epoch,
                        (long long)report->last.batch);
    put_options(out, report->job);
}

static void put_cards(leat_textbuf *out, const graphs_report *report) {
    const graphs_sums *all = &report->all;
    leat_textbuf_put(out, "<div class=\"cards\">\n");
    leat_page_card(out, "batches", LEAT_DISPLAY_COUNT, (double)all->batches);
    leat_page_card(out, "graphs per batch", LEAT_DISPLAY_COUNT,
                   leat_ratio(all->graphs, all->batches));
    if (report->max_nodes > 0)
        leat_page_card(out, "of the node budget", LEAT_DISPLAY_SHARE,
                       graphs_fill(all->nodes, all->batches, report->max_nodes));
    if (report->max_edges > 0)
        leat_page_card(out, "of the edge budget", LEAT_DISPLAY_SHARE,
                       graphs_fill(all->edges, all->batches, report->max_edges));
    leat_page_card(out, "graphs with an attack", LEAT_DISPLAY_SHARE,
                   leat_ratio(all->attacks, all->graphs));
    if (all->unlabelled > 0)
        leat_page_card(out, "unlabelled graphs", LEAT_DISPLAY_SHARE,
                       leat_ratio(all->unlabelled, all->graphs));
    if (report->facts.left_out > 0)
        leat_page_card(out, "graphs left out by --graphs", LEAT_DISPLAY_COUNT,
                       (double)report->facts.left_out);
    leat_page_card(out, "graphs that exceed a budget", LEAT_DISPLAY_COUNT,
                   (double)report->facts.oversize_count);
    leat_textbuf_put(out, "</div>\n");
}

static void put_budget(leat_textbuf *out, const graphs_budget *budget) {
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    if (!budget->asked) return;
    const leat_graph_memory *memory = &budget->memory;
    leat_textbuf_printf(out,
                        "<div class=\"panel\"><h3>Device memory</h3><p>A training step of "
                        "<b>%s</b> with %s identifiers takes %s bytes, and %s",
                        budget->model, leat_words_count(a, budget->vocabulary),
                        leat_words_count(b, memory->fixed_bytes),
                        leat_words_count(c, memory->node_bytes));
    leat_textbuf_printf(out, " per node, %s per edge, %s per graph. ",
                        leat_words_count(a, memory->edge_bytes),
                        leat_words_count(b, memory->graph_bytes));
    leat_textbuf_printf(out, "%s hold %s nodes and %s edges.</p></div>\n",
                        leat_words_bytes(a, budget->device_bytes),
                        leat_words_count(c, budget->max_nodes),
                        leat_words_count(d, budget->max_edges));
}

/* ---- Batch by batch ----------------------------------------------------------------------- */

typedef double column_value(const graphs_report *report, const graphs_sums *column);

static double node_fill(const graphs_report *report, const graphs_sums *column) {
    return graphs_fill(column->nodes, column->batches, report->max_nodes);
}
static double edge_fill(const graphs_report *report, const graphs_sums *column) {
    return graphs_fill(column->edges, column->batches, report->max_edges);
}
static double attack_share(const graphs_report *report, const graphs_sums *column) {
    (void)report;
    return leat_ratio(column->attacks, column->graphs);
}

static double highest(const graphs_report *report, column_value *value) {
    double most = 0;
    for (int i = 0; i < report->column_count; i++) {
        double here = value(report, &report->column[i]);
        if (here > most) most = here;
    }
    return most;
}

/* The value of each column over its batches, counted from 0. */
static void draw_columns(leat_plot *plot, const graphs_report *report, column_value *value,
                         const char *class_name) {
    double xs[GRAPHS_COLUMNS + 1], ys[GRAPHS_COLUMNS + 1];
    double at = 0;
    for (int i = 0; i < report->column_count; i++) {
        xs[i] = at;
        ys[i] = value(report, &report->column[i]);
        at += (double)report->column[i].batches;
        xs[i + 1] = at;
        ys[i + 1] = ys[i];
    }
    leat_plot_line(plot, xs, ys, report->column_count + 1, true, class_name);
}

static leat_plot batch_plot(leat_page *page, const graphs_report *report, double high,
                            const char *y_label) {
    return (leat_plot){.page = page,
                       .x = {LEAT_DISPLAY_COUNT, false, 0, (double)report->all.batches,
                             "batch, from 0, in the order of training"},
                       .y = {LEAT_DISPLAY_SHARE, false, 0, leat_axis_end(high), y_label}};
}

static void put_key(leat_page *page, const char *class_name, const char *name, double share) {
    char words[LEAT_WORDS_BYTES];
    leat_figure_item(page, class_name, name, leat_display_words(words, LEAT_DISPLAY_SHARE, share));
}

static void put_fill(leat_page *page, const graphs_report *report) {
    static const char title[] = "How full batches are";
    const graphs_sums *all = &report->all;
    bool has_nodes = report->max_nodes > 0, has_edges = report->max_edges > 0;
    if ((!has_nodes && !has_edges) || all->batches == 0) {
        leat_figure_empty(page, title,
                          all->batches == 0 ? "no batches"
                                            : "batches have no limit on nodes or edges");
        return;
    }
    double nodes = highest(report, node_fill), edges = highest(report, edge_fill);
    double high = nodes > edges ? nodes : edges;
    leat_plot plot = batch_plot(page, report, high > 1 ? high : 1, "share of the budget");
    leat_figure_begin(page, title);
    leat_figure_say(page, "overall:");
    if (has_nodes) put_key(page, "line l1", "nodes", node_fill(report, all));
    if (has_edges) put_key(page, "line l2", "edges", edge_fill(report, all));
    plot.series = "nodes";
    leat_plot_begin(&plot, false);
    plot.series = "edges";
    if (has_edges) draw_columns(&plot, report, edge_fill, "line l2");
    plot.series = "nodes";
    if (has_nodes) draw_columns(&plot, report, node_fill, "line l1");
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* The shares of a column's batches, from the smallest to the largest. */
static void draw_ranges(leat_plot *plot, const graphs_report *report) {
    static const char *const ends[] = {"least", "most"};
    char words[LEAT_FIGURE_WORDS], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    char d[LEAT_WORDS_BYTES], e[LEAT_WORDS_BYTES];
    int64_t at = 0;
    for (int i = 0; i < report->column_count; i++) {
        const graphs_sums *column = &report->column[i];
        snprintf(words, sizeof words, "batches %s to %s: %s to %s of the graphs, overall %s",
                 leat_words_count(a, at), leat_words_count(b, at + column->batches - 1),
                 leat_display_words(c, LEAT_DISPLAY_SHARE, column->attacks_least),
                 leat_display_words(d, LEAT_DISPLAY_SHARE, column->attacks_most),
                 leat_display_words(e, LEAT_DISPLAY_SHARE, attack_share(report, column)));
        leat_plot_range(plot, (leat_plot_span){(double)at, (double)(at + column->batches)},
                        (leat_plot_span){column->attacks_least, column->attacks_most}, ends,
                        "bar range", words);
        at += column->batches;
    }
}

static void put_attacks(leat_page *page, const graphs_report *report) {
    static const char title[] = "Graphs with an attack, by batch";
    const graphs_sums *all = &report->all;
    char words[2 * LEAT_WORDS_BYTES], a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    if (all->attacks == 0) {
        leat_figure_empty(page, title, "no graph has an attack");
        return;
    }
    /* A column of several batches has their mean and their range. */
    bool ranges = report->column_batches > 1;
    leat_plot plot = batch_plot(page, report, all->attacks_most, "share of the batch's graphs");
    leat_figure_begin(page, title);
    put_key(page, "line l1", "overall", attack_share(report, all));
    snprintf(words, sizeof words, "%s to %s",
             leat_display_words(a, LEAT_DISPLAY_SHARE, all->attacks_least),
             leat_display_words(b, LEAT_DISPLAY_SHARE, all->attacks_most));
    leat_figure_item(page, ranges ? "bar range" : NULL, "per batch", words);
    if (ranges) {
        snprintf(words, sizeof words, "of %s batches a column",
                 leat_words_count(a, report->column_batches));
        leat_figure_say(page, words);
    }
    plot.series = "overall";
    leat_plot_begin(&plot, false);
    if (ranges) draw_ranges(&plot, report);
    draw_columns(&plot, report, attack_share, "line l1");
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* ---- The curriculum ----------------------------------------------------------------------- */

static void put_tiers(leat_page *page, const graphs_report *report) {
    static const char title[] = "Tiers and graphs of an epoch";
    double xs[GRAPHS_EPOCHS], tiers[GRAPHS_EPOCHS], graphs[GRAPHS_EPOCHS];
    int count = report->epoch_count;
    if (count == 0) return;
    for (int i = 0; i < count; i++) {
        xs[i] = (double)report->epoch_number[i];
        tiers[i] = leat_ratio(report->epoch[i].tiers, report->job->options.batches.tiers);
        graphs[i] = leat_ratio(report->epoch[i].graph_count, report->facts.graphs);
    }
    leat_plot plot = {.page = page,
                      .x = {LEAT_DISPLAY_COUNT, false, 0, xs[count - 1], "epoch"},
                      .y = {LEAT_DISPLAY_SHARE, false, 0, 1, "share of all"},
                      .points = true,
                      .series = "graphs"};
    leat_figure_begin(page, title);
    leat_figure_say(page, "in the first epoch:");
    put_key(page, "line l1", "tiers", tiers[0]);
    put_key(page, "line l2", "graphs", graphs[0]);
    leat_plot_begin(&plot, false);
    leat_plot_line(&plot, xs, graphs, count, true, "line l2");
    plot.series = "tiers";
    leat_plot_line(&plot, xs, tiers, count, true, "line l1");
    leat_plot_end(&plot);
    leat_figure_end(page);
}

/* ---- Sizes -------------------------------------------------------------------------------- */

static void put_figures(leat_page *page, const graphs_report *report) {
    static const leat_histogram graphs = {.title = "Graphs of a batch",
                                          .x_label = "graphs",
                                          .y_label = "share of the batches",
                                          .things = "batches",
                                          .empty = "no batches"},
                                nodes = {.title = "Nodes of a batch",
                                         .x_label = "nodes",
                                         .y_label = "share of the batches",
                                         .things = "batches",
                                         .empty = "no batches"},
                                edges = {.title = "Edges of a batch",
                                         .x_label = "edges",
                                         .y_label = "share of the batches",
                                         .things = "batches",
                                         .empty = "no batches"},
                                sizes = {.title = "Nodes of a graph",
                                         .x_label = "nodes",
                                         .y_label = "share of the graphs",
                                         .things = "graphs",
                                         .empty = "no graphs"};
    put_heading(page->out, report->job, "Batches");
    leat_textbuf_put(page->out, "<div class=\"figures\">\n");
    put_fill(page, report);
    put_attacks(page, report);
    put_tiers(page, report);
    leat_figure_histogram(page, &graphs, &report->graphs);
    leat_figure_histogram(page, &nodes, &report->nodes);
    leat_figure_histogram(page, &edges, &report->edges);
    leat_figure_histogram(page, &sizes, &report->graph_nodes);
    leat_textbuf_put(page->out, "</div>\n");
}

/* ---- Tables ------------------------------------------------------------------------------- */

static void put_balance(leat_textbuf *out, const graphs_job *job) {
    const leat_can_split *split = &job->split;
    put_heading(out, job, "Labels of the split");
    leat_textbuf_put(out, "<div class=\"panel scroll\"><table>\n"
                          "<thead><tr><th>label</th><th>graphs</th><th>share</th></tr></thead>\n"
                          "<tbody>\n");
    for (int i = 0; i < split->attack_count; i++) {
        leat_textbuf_put(out, "<tr><td>");
        leat_html_text(out, split->attacks[i].name);
        leat_textbuf_put(out, "</td>");
        leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)split->attacks[i].graphs);
        leat_page_cell(out, LEAT_DISPLAY_SHARE,
                       leat_ratio(split->attacks[i].graphs, split->graph_count));
        leat_textbuf_put(out, "</tr>\n");
    }
    leat_textbuf_put(out, "</tbody></table></div>\n");
}

/* A graph that exceeds a budget. */
static leat_code oversize_facts(const graphs_report *report, int64_t index,
                                leat_can_graph_facts *graph, leat_error *err) {
    leat_can_reader *reader = NULL;
    const graphs_job *job = report->job;
    leat_code code =
        leat_can_reader_create(&reader, job->cache, job->split.name, LEAT_SCALE_NONE, err);
    if (code == LEAT_OK)
        code = leat_can_reader_facts(reader, report->facts.oversize[index], graph, err);
    leat_can_reader_destroy(reader);
    return code;
}

static void put_oversize_row(leat_textbuf *out, const graphs_report *report, int64_t index) {
    leat_can_graph_facts graph;
    leat_can_capture_facts capture;
    leat_error err = {0};
    if (oversize_facts(report, index, &graph, &err) != LEAT_OK ||
        leat_can_cache_get_capture(report->job->cache, graph.capture, &capture, &err) != LEAT_OK)
        return;
    leat_textbuf_put(out, "<tr>");
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)graph.graph);
    leat_page_cell(out, LEAT_DISPLAY_COUNT, graph.node_count);
    leat_page_cell(out, LEAT_DISPLAY_COUNT, graph.edge_count);
    leat_textbuf_put(out, "<td>");
    leat_html_text(out, capture.folder);
    if (capture.folder[0] != 0) leat_textbuf_put(out, "/");
    leat_html_text(out, capture.file);
    if (capture.recording > 1) leat_textbuf_printf(out, " #%d", capture.recording);
    leat_textbuf_put(out, "</td>");
    leat_page_cell(out, LEAT_DISPLAY_COUNT, (double)graph.window_start);
    leat_textbuf_put(out, "</tr>\n");
}

static void put_oversize(leat_textbuf *out, const graphs_report *report) {
    int64_t count = report->facts.oversize_count;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    bool skipped = report->job->options.batches.oversize == LEAT_OVERSIZE_SKIP;
    if (count == 0) return;
    put_heading(out, report->job, "Graphs that exceed a budget");
    leat_textbuf_printf(
        out,
        "<p class=\"note\">%s, %s. The first "
        "%s:</p>\n<div class=\"panel "
        "scroll\"><table>\n<thead><tr><th>graph</th><th>nodes</th>"
        "<th>edges</th><th>capture</th><th>first frame</th></tr></thead>\n<tbody>\n",
        leat_things(a, count, "graph"), skipped ? "left out" : "each in its own batch",
        leat_words_count(b, count < OVERSIZE_ROWS ? count : OVERSIZE_ROWS));
    for (int64_t i = 0; i < count && i < OVERSIZE_ROWS; i++) put_oversize_row(out, report, i);
    leat_textbuf_put(out, "</tbody></table></div>\n");
}

/* ---- The page ----------------------------------------------------------------------------- */

static void put_rest(leat_page *page, const graphs_report *report) {
    leat_textbuf *out = page->out;
    put_cards(out, report);
    put_budget(out, &report->job->budget);
    put_figures(page, report);
    put_balance(out, report->job);
    put_oversize(out, report);
}

void graphs_report_end(leat_textbuf *out) {
    leat_page_end(out,
                  "Counted from the plans of epochs: the batches of a training run, over all "
                  "hosts. Point at a bar to see its numbers.",
                  NULL);
}

void graphs_report_page(leat_page *page, const void *user) {
    leat_textbuf *out = page->out;
    const graphs_report *report = user;
    leat_page_begin(out, report->job->facts.path, "leat batches");
    put_extent(out, report);
    leat_textbuf_put(out, "</header>\n");
    put_rest(page, report);
    graphs_report_end(out);
}

/* ---- The page of all splits --------------------------------------------------------------- */

void graphs_report_begin(leat_textbuf *out, const graphs_job *job) {
    leat_page_begin(out, job->facts.path, "leat batches");
    leat_textbuf_printf(out, "<p class=\"sub\">Batches of %d splits</p>\n</header>\n",
                        job->facts.split_count);
}

void graphs_report_split(leat_page *page, const graphs_report *report) {
    leat_textbuf *out = page->out;
    page->section = report->job->split.name;
    put_heading(out, report->job, "");
    put_extent(out, report);
    put_rest(page, report);
}

void graphs_report_no_batches(leat_textbuf *out, const graphs_job *job, const char *why) {
    put_heading(out, job, "");
    leat_textbuf_printf(out, "<p class=\"note\">No batches: %s.</p>\n", why);
}
