/* leat batches CACHE --report: counted from the plans of epochs, without reading graphs; written in
 * words, as JSON and as a page. */
#include "batches/graphs_report.h"

/* ---- Counting ----------------------------------------------------------------------------- */

static void add_sums(graphs_sums *to, const graphs_sums *from) {
    if (to->batches == 0 || from->attacks_least < to->attacks_least)
        to->attacks_least = from->attacks_least;
    if (from->attacks_most > to->attacks_most) to->attacks_most = from->attacks_most;
    to->batches += from->batches;
    to->graphs += from->graphs;
    to->nodes += from->nodes;
    to->edges += from->edges;
    to->attacks += from->attacks;
    to->unlabelled += from->unlabelled;
}

/* When all columns are used, pairs are merged, and each column holds twice as many batches. */
static void add_column(graphs_report *report, const graphs_sums *batch) {
    int last = report->column_count - 1;
    if (last < 0 || report->column[last].batches == report->column_batches) {
        if (report->column_count == GRAPHS_COLUMNS) {
            for (int i = 0; i < GRAPHS_COLUMNS / 2; i++) {
                report->column[i] = report->column[2 * i];
                add_sums(&report->column[i], &report->column[2 * i + 1]);
            }
            report->column_count = GRAPHS_COLUMNS / 2;
            report->column_batches *= 2;
        }
        last = report->column_count++;
        report->column[last] = (graphs_sums){0};
    }
    add_sums(&report->column[last], batch);
}

static void count_batch(graphs_report *report, const leat_graph_epoch_lists *lists, int64_t b) {
    graphs_sums batch = {.batches = 1};
    for (uint32_t i = lists->first[b]; i < lists->first[b + 1]; i++) {
        uint32_t graph = lists->graph[i];
        batch.graphs++;
        batch.nodes += lists->nodes[graph];
        batch.edges += lists->edges[graph];
        batch.attacks += lists->y[graph] > 0;
        batch.unlabelled += lists->y[graph] < 0;
        leat_distribution_add(&report->graph_nodes, lists->nodes[graph], 1);
    }
    batch.attacks_least = batch.attacks_most = leat_ratio(batch.attacks, batch.graphs);
    if (report->all.batches == 0) report->first = (graphs_place){lists->epoch, b};
    report->last = (graphs_place){lists->epoch, b};
    leat_distribution_add(&report->graphs, batch.graphs, 1);
    leat_distribution_add(&report->nodes, batch.nodes, 1);
    leat_distribution_add(&report->edges, batch.edges, 1);
    add_sums(&report->all, &batch);
    add_column(report, &batch);
}

static int64_t limit_of(int64_t limit) { return limit == INT32_MAX ? 0 : limit; }

static leat_code count_batches(graphs_report *report, graphs_place first, graphs_place end,
                               leat_error *err) {
    leat_cli *cli = report->job->run.cli;
    for (int64_t e = first.epoch; e < end.epoch || (e == end.epoch && end.batch > 0); e++) {
        leat_graph_epoch_lists *lists = NULL;
        leat_progress progress = {"counting batches", "epochs", e, end.epoch};
        if (!leat_cli_progress(cli, &progress)) {
            *err = (leat_error){LEAT_ERR_CANCELLED, "stopped while counting batches"};
            return LEAT_ERR_CANCELLED;
        }
        leat_code code = leat_graph_loader_list_epoch(report->job->loader, e, &lists, err);
        if (code != LEAT_OK) return code;
        int64_t to =
            e == end.epoch && end.batch < lists->batch_count ? end.batch : lists->batch_count;
        report->max_nodes = limit_of(lists->max_nodes);
        report->max_edges = limit_of(lists->max_edges);
        for (int64_t b = e == first.epoch ? first.batch : 0; b < to; b++)
            count_batch(report, lists, b);
        leat_graph_epoch_lists_destroy(lists);
    }
    return LEAT_OK;
}

/* The progress of a curriculum: epochs evenly spaced from the first to the last. */
static leat_code look_at_epochs(graphs_report *report, leat_error *err) {
    const leat_graph_batch_options *options = &report->job->options.batches;
    int64_t epochs = options->epochs;
    if (options->curriculum == LEAT_CURRICULUM_NONE || epochs < 2) return LEAT_OK;
    int count = epochs < GRAPHS_EPOCHS ? (int)epochs : GRAPHS_EPOCHS;
    for (int i = 0; i < count; i++) {
        int64_t number = i * (epochs - 1) / (count - 1);
        leat_progress progress = {"planning epochs", "epochs", i, count};
        if (!leat_cli_progress(report->job->run.cli, &progress)) {
            *err = (leat_error){LEAT_ERR_CANCELLED, "stopped while planning epochs"};
            return LEAT_ERR_CANCELLED;
        }
        leat_code code =
            leat_graph_loader_get_epoch(report->job->loader, number, &report->epoch[i], err);
        if (code != LEAT_OK) return code;
        report->epoch_number[i] = number;
        report->epoch_count = i + 1;
    }
    return LEAT_OK;
}

/* --steps, or the first epoch. An open end is the end of --epochs or, in an endless run, the end of
 * the epoch of the first step. */
static int read_extent(graphs_job *job, graphs_place *first, graphs_place *end) {
    int64_t first_step = 0, end_step = -1;
    leat_error err = {0};
    int status = batches_split_steps(job->run.cli, &first_step, &end_step);
    if (status != 0) return status;
    if (graphs_place_of_step(job, first_step, first, &err) != LEAT_OK)
        return leat_cli_fail(job->run.cli, &err);
    int64_t epochs = leat_cli_given(job->run.cli, "steps") ? job->options.batches.epochs : 0;
    *end = (graphs_place){epochs > 0 ? epochs : first->epoch + 1, 0};
    if (end_step >= 0 && graphs_place_of_step(job, end_step, end, &err) != LEAT_OK)
        return leat_cli_fail(job->run.cli, &err);
    bool none = first->epoch > end->epoch ||
                (first->epoch == end->epoch && first->batch >= end->batch) ||
                (job->options.batches.epochs > 0 && first->epoch >= job->options.batches.epochs);
    if (!none) return 0;
    return leat_cli_usage(job->run.cli, "--steps: \"%.100s\" contains no step of the run",
                          leat_cli_text(job->run.cli, "steps"));
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void put_epochs(leat_json *json, const graphs_report *report) {
    if (report->epoch_count == 0) return;
    leat_json_key(json, "epochs");
    leat_json_begin_array(json);
    for (int i = 0; i < report->epoch_count; i++) {
        leat_json_begin_object(json);
        leat_json_member_int(json, "epoch", report->epoch_number[i]);
        leat_json_member_int(json, "tiers", report->epoch[i].tiers);
        leat_json_member_int(json, "graphs", report->epoch[i].graph_count);
        leat_json_member_int(json, "batches", report->epoch[i].batch_count);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

/* What the page draws by batch. */
static void put_columns(leat_json *json, const graphs_report *report) {
    leat_json_key(json, "in_order");
    leat_json_begin_array(json);
    for (int i = 0; i < report->column_count; i++) {
        const graphs_sums *column = &report->column[i];
        leat_json_begin_object(json);
        leat_json_member_int(json, "batches", column->batches);
        leat_json_member_int(json, "graphs", column->graphs);
        leat_json_member_int(json, "nodes", column->nodes);
        leat_json_member_int(json, "edges", column->edges);
        leat_json_member_int(json, "attacks", column->attacks);
        leat_json_member_int(json, "unlabelled", column->unlabelled);
        leat_json_member_double(json, "attacks_least", column->attacks_least);
        leat_json_member_double(json, "attacks_most", column->attacks_most);
        leat_json_end_object(json);
    }
    leat_json_end_array(json);
}

static void json_members(leat_json *json, const void *of) {
    const graphs_report *report = of;
    const graphs_sums *all = &report->all;
    leat_json_member_string(json, "cache", report->job->facts.path);
    graphs_json_options(json, report->job);
    graphs_json_budget(json, report->job);
    leat_json_key(json, "first");
    graphs_json_place(json, report->first);
    leat_json_key(json, "last");
    graphs_json_place(json, report->last);
    leat_json_member_int(json, "batches", all->batches);
    leat_json_member_int(json, "graphs", all->graphs);
    leat_json_member_int(json, "nodes", all->nodes);
    leat_json_member_int(json, "edges", all->edges);
    leat_json_member_int(json, "attacks", all->attacks);
    leat_json_member_int(json, "unlabelled", all->unlabelled);
    leat_json_member_double(json, "node_fill",
                            graphs_fill(all->nodes, all->batches, report->max_nodes));
    leat_json_member_double(json, "edge_fill",
                            graphs_fill(all->edges, all->batches, report->max_edges));
    leat_json_member_double(json, "attacks_least", report->all.attacks_least);
    leat_json_member_double(json, "attacks_most", report->all.attacks_most);
    leat_json_distribution(json, "batch_graphs", &report->graphs, 1);
    leat_json_distribution(json, "batch_nodes", &report->nodes, 1);
    leat_json_distribution(json, "batch_edges", &report->edges, 1);
    leat_json_distribution(json, "graph_nodes", &report->graph_nodes, 1);
    put_columns(json, report);
    put_epochs(json, report);
    graphs_json_excluded(json, report->job);
}

/* ---- In words ----------------------------------------------------------------------------- */

static void write_words(const graphs_report *report) {
    leat_cli *cli = report->job->run.cli;
    const graphs_sums *all = &report->all;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    leat_out(cli, "counted    %s %s, epoch %lld batch %lld to epoch %lld batch %lld\n",
             leat_words_count(a, all->batches), all->batches == 1 ? "batch" : "batches",
             (long long)report->first.epoch, (long long)report->first.batch,
             (long long)report->last.epoch, (long long)report->last.batch);
    leat_out(cli, "graphs     %s, %s of them with an attack: %s", leat_words_count(a, all->graphs),
             leat_words_count(b, all->attacks),
             leat_display_words(c, LEAT_DISPLAY_SHARE, leat_ratio(all->attacks, all->graphs)));
    leat_out(cli, ", %s to %s per batch\n",
             leat_display_words(a, LEAT_DISPLAY_SHARE, report->all.attacks_least),
             leat_display_words(b, LEAT_DISPLAY_SHARE, report->all.attacks_most));
    if (all->unlabelled > 0)
        leat_out(
            cli, "           %s of them unlabelled: %s\n", leat_words_count(a, all->unlabelled),
            leat_display_words(b, LEAT_DISPLAY_SHARE, leat_ratio(all->unlabelled, all->graphs)));
    if (report->max_nodes > 0)
        leat_out(cli, "nodes      %s of %s per batch\n",
                 leat_display_words(a, LEAT_DISPLAY_SHARE,
                                    graphs_fill(all->nodes, all->batches, report->max_nodes)),
                 leat_words_count(b, report->max_nodes));
    if (report->max_edges > 0)
        leat_out(cli, "edges      %s of %s per batch\n",
                 leat_display_words(a, LEAT_DISPLAY_SHARE,
                                    graphs_fill(all->edges, all->batches, report->max_edges)),
                 leat_words_count(b, report->max_edges));
    if (report->facts.oversize_count > 0)
        leat_out(cli, "oversize   %s\n", leat_things(a, report->facts.oversize_count, "graph"));
}

/* ---- The whole of it ---------------------------------------------------------------------- */

/* A page of its own, or a part of that of all splits. */
static leat_code put_page(const graphs_report *report, leat_error *err) {
    const leat_page_places places = leat_page_asked(report->job->run.cli, "report");
    if (report->job->page == NULL) return leat_page_save(&places, graphs_report_page, report, err);
    graphs_report_split(report->job->page, report);
    return LEAT_OK;
}

int graphs_write_report(graphs_job *job) {
    leat_cli *cli = job->run.cli;
    graphs_report report = {.job = job, .column_batches = 1};
    graphs_place first, end;
    leat_error err = {0};
    int status = read_extent(job, &first, &end);
    if (status != 0) return status;
    leat_graph_loader_get_facts(job->loader, &report.facts);
    leat_code code = count_batches(&report, first, end, &err);
    if (code == LEAT_OK) code = look_at_epochs(&report, &err);
    leat_cli_progress_end(cli);
    if (code == LEAT_OK) code = put_page(&report, &err);
    if (code != LEAT_OK) return leat_cli_fail(cli, &err);
    if (leat_cli_flag(cli, "json")) return graphs_out_object(job, json_members, &report);
    if (job->page != NULL) graphs_write_split(job);
    graphs_write_budget(job);
    graphs_write_left_out(job);
    write_words(&report);
    if (job->page == NULL) batches_write_page_names(cli);
    return 0;
}
