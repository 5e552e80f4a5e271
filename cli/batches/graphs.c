/* leat batches of a CAN cache: unions of graphs. */
#include <string.h>

#include "batches/graphs.h"
#include "data_kinds.h"

static graphs_job *job_of(batches_run *run) { return (graphs_job *)run; }

/* ---- A run -------------------------------------------------------------------------------- */

static bool wait_next(batches_run *run, int64_t timeout_ms) {
    return leat_graph_loader_wait(job_of(run)->loader, timeout_ms);
}

static leat_code take(batches_run *run, bool *more, leat_error *err) {
    graphs_job *job = job_of(run);
    const leat_graph_batch *batch = NULL;
    leat_code code = leat_graph_loader_next(job->loader, &batch, err);
    *more = batch != NULL;
    if (code != LEAT_OK || batch == NULL) return code;
    if (run->hashes) leat_batch_hash_add_graphs(run->hash, batch, run->text);
    job->last = (graphs_place){batch->epoch, batch->batch};
    if (run->done == run->first) job->first = job->last;
    leat_graph_batch_release(batch);
    return LEAT_OK;
}

static leat_code save(batches_run *run, const char *path, leat_error *err) {
    return leat_graph_loader_save(job_of(run)->loader, path, leat_cli_flag(run->cli, "replace"),
                                  err);
}

static void write_summary(batches_run *run) { graphs_write_summary(job_of(run)); }
static int json_summary(batches_run *run) { return graphs_json_summary(job_of(run)); }
static int note(batches_run *run) {
    (void)run;
    return 0;
}

static const batches_kind kind = {wait_next, take, save, write_summary, json_summary, note};

/* ---- What the command does ---------------------------------------------------------------- */

/* A step has one batch per host; the batch of --host is described. */
static int explain(graphs_job *job) {
    leat_cli *cli = job->run.cli;
    leat_graph_explanation *explanation = NULL;
    leat_error err = {0};
    graphs_place place;
    if (leat_cli_second(cli, "explain") != LEAT_CLI_NONE)
        return leat_cli_usage(cli, "--explain: for a CAN cache, give only the step, because its "
                                   "batches have no rows");
    int status = graphs_find_step(job, leat_cli_int(cli, "explain"), &place);
    if (status != 0) return status;
    if (leat_graph_loader_explain(job->loader, place.epoch, place.batch + job->options.host_index,
                                  &explanation, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    leat_cli_progress_end(cli);
    if (job->run.json) status = graphs_json_explanation(job, explanation);
    else graphs_write_explanation(job, explanation);
    leat_graph_explanation_destroy(explanation);
    return status;
}

static int with_loader(graphs_job *job) {
    leat_error err = {0};
    leat_cli *cli = job->run.cli;
    const char *state = leat_cli_text(cli, "resume");
    if (leat_cli_given(cli, "report")) return graphs_write_report(job);
    if (state != NULL && leat_graph_loader_load(job->loader, state, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    if (leat_cli_given(cli, "explain")) return explain(job);
    int status = graphs_read_steps(job);
    return status == 0 ? batches_run_steps(&job->run) : status;
}

static int with_split(graphs_job *job) {
    leat_error err = {0};
    int status = graphs_read_options(job);
    if (status != 0) return status;
    if (leat_graph_loader_create(&job->loader, job->cache, &job->options, &err) != LEAT_OK)
        return leat_cli_fail(job->run.cli, &err);
    bool is_planned_only = leat_cli_given(job->run.cli, "report");
    if (job->options.batches.window_bytes == 0 &&
        job->options.batches.preset == LEAT_GRAPHS_DEFAULT && !is_planned_only)
        batches_note_memory(job->run.cli, "split", job->split.file_bytes);
    status = with_loader(job);
    leat_graph_loader_destroy(job->loader);
    return status;
}

/* Each split has a run of its own. */
static int with_each_split(graphs_job *job) {
    job->run = batches_run_begin(job->run.cli, &kind);
    job->run.label = job->split.name;
    int status = with_split(job);
    batches_run_end(&job->run);
    return status;
}

static int with_cache(graphs_job *job) {
    const char *split = leat_cli_text(job->run.cli, "split");
    leat_can_cache_get_facts(job->cache, &job->facts);
    if (split == NULL || strcmp(split, GRAPHS_ALL) != 0) return with_split(job);
    return graphs_all_splits(job, with_each_split);
}

/* *path is the path of the copy. */
static int stage(graphs_job *job, const char **path) {
    leat_cli *cli = job->run.cli;
    const char *dir = leat_cli_text(cli, "stage");
    leat_can_stage_options options = leat_can_stage_options_default();
    leat_graph_loader_options loading = leat_graph_loader_options_default();
    leat_error err = {0};
    if (dir == NULL) return 0;
    int status = leat_cli_set(cli, leat_graph_loader_options_table(), &loading);
    if (status != 0) return status;
    options.threads = loading.threads;
    options.progress = leat_cli_progress;
    options.progress_user = cli;
    leat_code code = leat_can_cache_stage(*path, dir, &options, &job->staged, &err);
    leat_cli_progress_end(cli);
    if (code != LEAT_OK) return leat_cli_fail(cli, &err);
    *path = job->staged.path;
    return 0;
}

int leat_batches_can(leat_cli *cli) {
    graphs_job job = {.run = batches_run_begin(cli, &kind)};
    leat_error err = {0};
    const char *path = leat_cli_argument(cli, 0);
    int status = stage(&job, &path);
    if (status != 0) return status;
    if (leat_can_cache_open(&job.cache, path, &err) != LEAT_OK) return leat_cli_fail(cli, &err);
    status = with_cache(&job);
    batches_run_end(&job.run);
    leat_can_cache_close(job.cache);
    return status;
}
