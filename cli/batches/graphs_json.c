/* leat batches of a CAN cache: the result as one JSON document. */
#include "batches/graphs.h"

int graphs_out_object(graphs_job *job, leat_out_members_fn *members, const void *of) {
    if (job->json == NULL) return leat_out_object(job->run.cli, members, of);
    leat_json_begin_object(job->json);
    members(job->json, of);
    leat_json_end_object(job->json);
    return 0;
}

/* ---- Members that documents share --------------------------------------------------------- */

void graphs_json_options(leat_json *json, const graphs_job *job) {
    leat_json_key(json, "options");
    leat_json_begin_object(json);
    leat_cli_json_settings(json, leat_graph_loader_options_table(), &job->options);
    leat_cli_json_settings(json, leat_graph_batch_options_table(), &job->options.batches);
    leat_json_member_string(json, "split", job->split.name);
    if (job->options.scores != NULL) leat_json_member_string(json, "scores", job->options.scores);
    leat_json_end_object(json);
}

void graphs_json_budget(leat_json *json, const graphs_job *job) {
    const graphs_budget *budget = &job->budget;
    if (!budget->asked) return;
    leat_json_key(json, "budget");
    leat_json_begin_object(json);
    leat_json_member_string(json, "model", budget->model);
    leat_json_member_int(json, "vocabulary", budget->vocabulary);
    leat_json_member_int(json, "device_bytes", budget->device_bytes);
    leat_json_member_int(json, "parameters", budget->memory.parameters);
    leat_json_member_int(json, "fixed_bytes", budget->memory.fixed_bytes);
    leat_json_member_int(json, "node_bytes", budget->memory.node_bytes);
    leat_json_member_int(json, "edge_bytes", budget->memory.edge_bytes);
    leat_json_member_int(json, "graph_bytes", budget->memory.graph_bytes);
    leat_json_member_int(json, "max_nodes", budget->max_nodes);
    leat_json_member_int(json, "max_edges", budget->max_edges);
    leat_json_end_object(json);
}

void graphs_json_excluded(leat_json *json, const graphs_job *job) {
    leat_graph_loader_facts facts;
    leat_graph_loader_get_facts(job->loader, &facts);
    leat_json_member_int(json, "left_out", facts.left_out);
    leat_json_key(json, "oversize");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < facts.oversize_count; i++) leat_json_int(json, facts.oversize[i]);
    leat_json_end_array(json);
}

void graphs_json_place(leat_json *json, graphs_place place) {
    leat_json_begin_array(json);
    leat_json_int(json, place.epoch);
    leat_json_int(json, place.batch);
    leat_json_end_array(json);
}

/* ---- The summary -------------------------------------------------------------------------- */

typedef struct json_source {
    const graphs_job *job;
    leat_graph_epoch_facts epoch; /* that the run began in */
    const char *text;
    int64_t text_bytes;
} json_source;

/* The steps built, and the epoch and batch of the first and the last. */
static void put_steps(leat_json *json, const json_source *source) {
    const graphs_job *job = source->job;
    batches_json_steps(json, &job->run);
    leat_json_key(json, "batches");
    leat_json_begin_array(json);
    if (job->run.done > job->run.first) {
        graphs_json_place(json, job->first);
        graphs_json_place(json, job->last);
    }
    leat_json_end_array(json);
    leat_json_key(json, "epoch");
    leat_json_begin_object(json);
    leat_json_member_int(json, "epoch", job->first.epoch);
    leat_json_member_int(json, "batches", source->epoch.batch_count);
    leat_json_member_int(json, "steps", source->epoch.step_count);
    leat_json_member_int(json, "graphs", source->epoch.graph_count);
    leat_json_member_int(json, "tiers", source->epoch.tiers);
    leat_json_end_object(json);
}

static void put_counters(leat_json *json, const graphs_job *job) {
    leat_graph_loader_counters counters;
    leat_graph_loader_get_counters(job->loader, &counters);
    leat_json_key(json, "counters");
    leat_json_begin_object(json);
    leat_json_member_int(json, "batches", counters.batches);
    leat_json_member_int(json, "graphs", counters.graphs);
    leat_json_member_int(json, "nodes", counters.nodes);
    leat_json_member_int(json, "edges", counters.edges);
    leat_json_member_int(json, "payload_bytes", counters.payload_bytes);
    leat_json_member_int(json, "memory_bytes", counters.memory_bytes);
    leat_json_member_int(json, "prefetch", counters.prefetch);
    leat_json_end_object(json);
    const batches_made made = {"graphs", counters.graphs, counters.work_ns, counters.read_wait_ns,
                               counters.stall_ns};
    batches_json_time(json, &job->run, &made);
}

static void put_summary(leat_json *json, const void *of) {
    const json_source *source = of;
    const graphs_job *job = source->job;
    char state[LEAT_LOADER_STATE_BYTES];
    leat_graph_loader_state(job->loader, state);
    leat_json_member_string(json, "path", job->facts.path);
    if (job->staged.path[0] != 0) leat_json_member_bool(json, "staged_before", job->staged.reused);
    graphs_json_options(json, job);
    leat_json_member_int(json, "split_graphs", job->split.graph_count);
    graphs_json_budget(json, job);
    put_steps(json, source);
    graphs_json_excluded(json, job);
    leat_json_member_string(json, "state", state);
    batches_json_result(json, &job->run, source->text, source->text_bytes);
    put_counters(json, job);
}

int graphs_json_summary(graphs_job *job) {
    json_source source = {.job = job};
    leat_error err = {0};
    leat_code code = LEAT_OK;
    if (job->run.done > job->run.first)
        code = leat_graph_loader_get_epoch(job->loader, job->first.epoch, &source.epoch, &err);
    if (code == LEAT_OK && job->run.lines)
        code = leat_textbuf_finish(job->run.kept, &source.text, &source.text_bytes, &err);
    return code == LEAT_OK ? graphs_out_object(job, put_summary, &source)
                           : leat_cli_fail(job->run.cli, &err);
}

/* ---- --explain ---------------------------------------------------------------------------- */

typedef struct explained {
    const graphs_job *job;
    const leat_graph_explanation *it;
} explained;

static void put_graph(leat_json *json, const graphs_job *job, const leat_can_graph_facts *graph) {
    leat_can_capture_facts capture;
    leat_error err = {0};
    leat_json_begin_object(json);
    leat_json_member_int(json, "graph", graph->graph);
    leat_json_member_int(json, "nodes", graph->node_count);
    leat_json_member_int(json, "edges", graph->edge_count);
    leat_json_member_int(json, "capture", graph->capture);
    if (leat_can_cache_get_capture(job->cache, graph->capture, &capture, &err) == LEAT_OK) {
        leat_json_member_string(json, "folder", capture.folder);
        leat_json_member_string(json, "file", capture.file);
    }
    leat_json_member_int(json, "window_start", graph->window_start);
    leat_json_member_int(json, "y", graph->y);
    leat_json_member_int(json, "attack_type", graph->attack_type);
    leat_json_member_int(json, "attack_first", graph->attack_first);
    leat_json_member_int(json, "attack_count", graph->attack_count);
    leat_json_end_object(json);
}

static void put_explanation(leat_json *json, const void *of) {
    const explained *source = of;
    const leat_graph_explanation *it = source->it;
    leat_json_member_int(json, "epoch", it->epoch);
    leat_json_member_int(json, "batch", it->batch);
    leat_json_member_int(json, "batch_count", it->batch_count);
    leat_json_member_int(json, "tiers", it->tiers);
    leat_json_member_int(json, "nodes", it->node_count);
    leat_json_member_int(json, "edges", it->edge_count);
    leat_json_key(json, "graphs");
    leat_json_begin_array(json);
    for (int64_t i = 0; i < it->graph_count; i++) put_graph(json, source->job, &it->graphs[i]);
    leat_json_end_array(json);
}

int graphs_json_explanation(graphs_job *job, const leat_graph_explanation *explanation) {
    explained source = {job, explanation};
    return leat_out_object(job->run.cli, put_explanation, &source);
}
