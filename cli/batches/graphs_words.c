/* leat batches of a CAN cache: the result in words. */
#include "batches/graphs_report.h"
#include "leat/format.h"

enum { OVERSIZE_SHOWN = 5 };

/* ---- The summary -------------------------------------------------------------------------- */

void graphs_write_staged(const graphs_job *job) {
    char a[LEAT_WORDS_BYTES];
    if (job->staged.path[0] == 0) return;
    leat_out(job->run.cli, "staged     ");
    leat_out_name(job->run.cli, job->staged.path);
    leat_out(job->run.cli, ", %s%s\n", leat_words_bytes(a, job->staged.size_bytes),
             job->staged.reused ? ", already there" : "");
}

void graphs_write_budget(graphs_job *job) {
    const graphs_budget *budget = &job->budget;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES], d[LEAT_WORDS_BYTES];
    if (!budget->asked) return;
    const leat_graph_memory *memory = &budget->memory;
    leat_out(job->run.cli, "budget     %s hold %s nodes and %s edges per batch\n",
             leat_words_bytes(a, budget->device_bytes), leat_words_count(b, budget->max_nodes),
             leat_words_count(c, budget->max_edges));
    leat_out(job->run.cli, "           %s, %s identifiers: bytes = %s + %s x nodes + %s x edges",
             budget->model, leat_words_count(a, budget->vocabulary),
             leat_words_count(b, memory->fixed_bytes), leat_words_count(c, memory->node_bytes),
             leat_words_count(d, memory->edge_bytes));
    leat_out(job->run.cli, " + %s x graphs\n", leat_words_count(a, memory->graph_bytes));
}

static void write_fill(graphs_job *job, const leat_graph_loader_counters *counters) {
    const leat_graph_batch_options *options = &job->options.batches;
    char a[LEAT_WORDS_BYTES];
    const char *between = "";
    if (options->pack == LEAT_PACK_FIXED || (options->max_nodes == 0 && options->max_edges == 0))
        return;
    leat_out(job->run.cli, "filled     ");
    if (options->max_nodes > 0) {
        leat_out(job->run.cli, "%.3g %% of %s nodes",
                 100 * leat_ratio(counters->nodes, counters->batches * options->max_nodes),
                 leat_words_count(a, options->max_nodes));
        between = ", ";
    }
    if (options->max_edges > 0)
        leat_out(job->run.cli, "%s%.3g %% of %s edges", between,
                 100 * leat_ratio(counters->edges, counters->batches * options->max_edges),
                 leat_words_count(a, options->max_edges));
    leat_out(job->run.cli, "\n");
}

void graphs_write_split(const graphs_job *job) {
    char a[LEAT_WORDS_BYTES];
    leat_out(job->run.cli, "split      ");
    leat_out_name(job->run.cli, job->split.name);
    leat_out(job->run.cli, ": %s of %.1f nodes, %.1f edges\n",
             leat_things(a, job->split.graph_count, "graph"), job->split.nodes.mean,
             job->split.edges.mean);
}

void graphs_write_left_out(const graphs_job *job) {
    leat_graph_loader_facts facts;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], graphs[LEAT_SETTING_BYTES];
    leat_graph_loader_get_facts(job->loader, &facts);
    if (facts.left_out == 0) return;
    leat_out(job->run.cli, "left out   %s by --graphs %s, %s remain\n",
             leat_things(a, facts.left_out, "graph"),
             leat_settings_get(leat_graph_batch_options_table(), &job->options.batches, "graphs",
                               graphs),
             leat_words_count(b, facts.split_graphs - facts.left_out));
}

static void write_oversize(graphs_job *job) {
    leat_graph_loader_facts facts;
    char a[LEAT_WORDS_BYTES];
    leat_graph_loader_get_facts(job->loader, &facts);
    if (facts.oversize_count == 0) return;
    bool skipped = job->options.batches.oversize == LEAT_OVERSIZE_SKIP;
    leat_out(job->run.cli,
             "oversize   %s over a budget, %s:", leat_things(a, facts.oversize_count, "graph"),
             skipped ? "left out" : "each in its own batch");
    for (int64_t i = 0; i < facts.oversize_count && i < OVERSIZE_SHOWN; i++)
        leat_out(job->run.cli, " %u", facts.oversize[i]);
    leat_out(job->run.cli, "%s\n",
             facts.oversize_count > OVERSIZE_SHOWN ? " ... (--json lists them all)" : "");
}

/* The epoch that the run began in. */
static void write_epoch(graphs_job *job) {
    leat_graph_epoch_facts facts;
    leat_error err = {0};
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
    if (leat_graph_loader_get_epoch(job->loader, job->first.epoch, &facts, &err) != LEAT_OK) return;
    leat_out(job->run.cli, "epoch      %lld has %s batch%s of %s", (long long)job->first.epoch,
             leat_words_count(a, facts.batch_count), facts.batch_count == 1 ? "" : "es",
             leat_things(b, facts.graph_count, "graph"));
    if (job->options.host_count > 1)
        leat_out(job->run.cli, ", %s per host", leat_things(a, facts.step_count, "step"));
    if (job->options.batches.curriculum != LEAT_CURRICULUM_NONE)
        leat_out(job->run.cli, "; %lld of %lld tiers", (long long)facts.tiers,
                 (long long)job->options.batches.tiers);
    leat_out(job->run.cli, "\n");
}

void graphs_write_summary(graphs_job *job) {
    leat_graph_loader_counters counters;
    leat_cli *cli = job->run.cli;
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], c[LEAT_WORDS_BYTES];
    leat_graph_loader_get_counters(job->loader, &counters);
    if (!job->all) graphs_write_staged(job);
    graphs_write_split(job);
    graphs_write_budget(job);
    graphs_write_left_out(job);
    write_oversize(job);
    if (job->run.done == job->run.first) {
        leat_out(cli, "steps      none: the epochs are over, or --steps is empty\n");
        return;
    }
    leat_out(
        cli,
        "steps      %lld:%lld, the first epoch %lld batch %lld, the last epoch %lld batch %lld\n",
        (long long)job->run.first, (long long)job->run.done, (long long)job->first.epoch,
        (long long)job->first.batch, (long long)job->last.epoch, (long long)job->last.batch);
    write_epoch(job);
    leat_out(cli, "batches    %s graphs, %s nodes, %s edges each\n",
             leat_words_count(a, (int64_t)(leat_ratio(counters.graphs, counters.batches) + 0.5)),
             leat_words_count(b, (int64_t)(leat_ratio(counters.nodes, counters.batches) + 0.5)),
             leat_words_count(c, (int64_t)(leat_ratio(counters.edges, counters.batches) + 0.5)));
    write_fill(job, &counters);
    leat_out(cli, "read       %s of the split; %s of memory, %lld batches ahead\n",
             leat_words_bytes(a, counters.payload_bytes),
             leat_words_bytes(b, counters.memory_bytes), (long long)counters.prefetch);
    if (!job->run.times) return;
    const batches_made made = {"graphs", counters.graphs, counters.work_ns, counters.read_wait_ns,
                               counters.stall_ns};
    batches_write_time(&job->run, &made);
    if (job->options.batches.window_bytes > 0) batches_write_reading(&job->run, &made);
}

/* ---- --explain ---------------------------------------------------------------------------- */

/* "folder/file" of a capture; its number where captures are merged. */
static void write_capture(graphs_job *job, int32_t number) {
    leat_can_capture_facts capture;
    leat_error err = {0};
    if (leat_can_cache_get_capture(job->cache, number, &capture, &err) != LEAT_OK) return;
    if (capture.file[0] == 0) {
        leat_out(job->run.cli, "capture %d", number);
        return;
    }
    leat_out_name(job->run.cli, capture.folder);
    if (capture.folder[0] != 0) leat_out(job->run.cli, "/");
    leat_out_name(job->run.cli, capture.file);
    if (capture.recording > 1) leat_out(job->run.cli, " #%d", capture.recording);
    if (capture.bus > 0) leat_out(job->run.cli, " bus %d", capture.bus);
}

static const char *attack_of(int32_t type) {
    const char *name = leat_can_attack_name(type);
    return type == 0 || name[0] == 0 ? "of unknown type" : name;
}

void graphs_write_explanation(graphs_job *job, const leat_graph_explanation *explanation) {
    leat_cli *cli = job->run.cli;
    int64_t attacks = 0, unlabelled = 0;
    for (int64_t i = 0; i < explanation->graph_count; i++) {
        attacks += explanation->graphs[i].y > 0;
        unlabelled += explanation->graphs[i].y < 0;
    }
    leat_out(cli,
             "epoch %lld batch %lld of %lld: %lld graphs, %lld nodes, %lld edges, %lld with an "
             "attack",
             (long long)explanation->epoch, (long long)explanation->batch,
             (long long)explanation->batch_count, (long long)explanation->graph_count,
             (long long)explanation->node_count, (long long)explanation->edge_count,
             (long long)attacks);
    if (unlabelled > 0) leat_out(cli, ", %lld unlabelled", (long long)unlabelled);
    if (job->options.batches.curriculum != LEAT_CURRICULUM_NONE)
        leat_out(cli, "; %lld of %lld tiers", (long long)explanation->tiers,
                 (long long)job->options.batches.tiers);
    leat_out(cli, "\n");
    for (int64_t i = 0; i < explanation->graph_count && !leat_out_broken(cli); i++) {
        const leat_can_graph_facts *graph = &explanation->graphs[i];
        char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES];
        leat_out(cli, "graph %lld: %s, %s, ", (long long)graph->graph,
                 leat_things(a, graph->node_count, "node"),
                 leat_things(b, graph->edge_count, "edge"));
        write_capture(job, graph->capture);
        leat_out(cli, " frames %lld to %lld", (long long)graph->window_start,
                 (long long)leat_frame_after(graph->window_start, job->facts.window - 1));
        if (graph->attack_count > 0)
            leat_out(cli, ", attack %s, %s from %lld on", attack_of(graph->attack_type),
                     leat_things(a, graph->attack_count, "frame"),
                     (long long)leat_frame_after(graph->window_start, graph->attack_first));
        if (graph->y < 0) leat_out(cli, ", unlabelled");
        leat_out(cli, "\n");
    }
}

/* ---- Of the report ------------------------------------------------------------------------ */

double graphs_fill(int64_t count, int64_t batches, int64_t limit) {
    return limit == 0 ? 0 : leat_ratio(count, batches * limit);
}
