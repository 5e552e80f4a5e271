/* leat batches of a CAN cache: its options in the form that the library takes, and steps as
 * places. */
#include <stdio.h>
#include <string.h>

#include "batches/graphs.h"

/* ---- Options ------------------------------------------------------------------------------ */

/* none, random, or a file of scores. */
static void read_curriculum(graphs_job *job) {
    const char *text = leat_cli_text(job->run.cli, "curriculum");
    leat_graph_batch_options *batches = &job->options.batches;
    if (text == NULL) return;
    if (strcmp(text, "none") == 0) batches->curriculum = LEAT_CURRICULUM_NONE;
    else if (strcmp(text, "random") == 0) batches->curriculum = LEAT_CURRICULUM_RANDOM;
    else {
        batches->curriculum = LEAT_CURRICULUM_SCORES;
        job->options.scores = text;
    }
}

static int find_split(graphs_job *job) {
    leat_error err = {0};
    leat_code code = leat_can_cache_find_split(job->cache, job->options.split, &job->split, &err);
    return code == LEAT_OK ? 0 : leat_cli_fail(job->run.cli, &err);
}

static int model_of(const char *name) {
    for (int i = 0; leat_graph_model_name(i) != NULL; i++)
        if (strcmp(leat_graph_model_name(i), name) == 0) return i;
    return 0;
}

static int check_budget_usage(leat_cli *cli, const leat_graph_batch_options *batches) {
    static const char *const limits[] = {"max-nodes", "max-edges"};
    if (leat_cli_given(cli, "device-memory") != leat_cli_given(cli, "model"))
        return leat_cli_usage(cli, "--device-memory and --model require each other: the memory, "
                                   "and the model whose step uses it");
    if (!leat_cli_given(cli, "device-memory")) return 0;
    for (int i = 0; i < 2; i++)
        if (leat_cli_given(cli, limits[i]))
            return leat_cli_usage(cli,
                                  "--device-memory and --%s both limit the nodes and edges of a "
                                  "batch; give only one of them",
                                  limits[i]);
    if (batches->pack == LEAT_PACK_FIXED)
        return leat_cli_usage(cli, "--device-memory: --pack fixed has no budget; use --batch to "
                                   "set the number of graphs per batch");
    return 0;
}

static const char *const budget[] = {"max-nodes", "max-edges", "oversize"};
static const char *const ramp[] = {"tiers", "curriculum-start", "curriculum-end"};

bool graphs_is_idle(const char *name, const void *options) {
    const leat_graph_batch_options *batches = options;
    const bool fixed = batches->pack == LEAT_PACK_FIXED;
    if (strcmp(name, "batch") == 0) return !fixed;
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, budget[i]) == 0) return fixed;
        if (strcmp(name, ramp[i]) == 0) return batches->curriculum == LEAT_CURRICULUM_NONE;
    }
    return false;
}

/* Options that have no effect with the others are refused: the run is not the one intended. */
static int refuse_idle(leat_cli *cli, const leat_graph_batch_options *batches) {
    char pack[LEAT_SETTING_BYTES];
    bool fixed = batches->pack == LEAT_PACK_FIXED;
    if (!fixed && leat_cli_given(cli, "batch"))
        return leat_cli_usage(
            cli,
            "--batch is for --pack fixed; with --pack %s, --max-nodes and --max-edges limit the "
            "size of a batch",
            leat_settings_get(leat_graph_batch_options_table(), batches, "pack", pack));
    for (int i = 0; fixed && i < 3; i++)
        if (leat_cli_given(cli, budget[i]))
            return leat_cli_usage(cli,
                                  "--%s: --pack fixed has no budget; use --batch to set the number "
                                  "of graphs per batch",
                                  budget[i]);
    if (batches->curriculum != LEAT_CURRICULUM_NONE && batches->epochs == 0)
        return leat_cli_usage(cli, "--curriculum requires --epochs N (now 0: never ends)");
    for (int i = 0; batches->curriculum == LEAT_CURRICULUM_NONE && i < 3; i++)
        if (leat_cli_given(cli, ramp[i]))
            return leat_cli_usage(cli,
                                  "--%s requires a curriculum; give --curriculum random or "
                                  "FILE",
                                  ramp[i]);
    return 0;
}

static bool is_enough(const graphs_budget *budget, const leat_graph_totals *totals, int64_t bytes) {
    int64_t nodes = 0, edges = 0;
    return leat_graph_budget(&budget->memory, bytes, totals, &nodes, &edges, NULL) == LEAT_OK;
}

/* Names the smallest --device-memory that is enough, as typed on the command line. */
static int refuse_budget(leat_cli *cli, const graphs_budget *budget,
                         const leat_graph_totals *totals, leat_error *err) {
    int64_t few = budget->device_bytes >> 10, enough = INT64_C(1) << 50;
    size_t size = strlen(err->message);
    if (err->code != LEAT_ERR_LIMIT || !is_enough(budget, totals, enough << 10))
        return leat_cli_fail(cli, err);
    while (few + 1 < enough) {
        int64_t middle = few + (enough - few) / 2;
        if (is_enough(budget, totals, middle << 10)) enough = middle;
        else few = middle;
    }
    int64_t whole = (enough + 1023) >> 10;
    bool mib = whole >= 10; /* rounding up costs less than a tenth then */
    snprintf(err->message + size, sizeof err->message - size,
             "; use --device-memory %lld%s or "
             "more",
             (long long)(mib ? whole : enough), mib ? "M" : "K");
    return leat_cli_fail(cli, err);
}

static int read_budget(graphs_job *job) {
    leat_cli *cli = job->run.cli;
    graphs_budget *budget = &job->budget;
    const leat_can_split *split = &job->split;
    leat_error err = {0};
    int status = check_budget_usage(cli, &job->options.batches);
    if (status != 0 || !leat_cli_given(cli, "device-memory") || split->name == NULL) return status;
    *budget = (graphs_budget){.asked = true,
                              .model = leat_cli_text(cli, "model"),
                              .device_bytes = leat_cli_int(cli, "device-memory"),
                              .vocabulary = job->facts.vocab_count + 1};
    leat_graph_totals totals = {.nodes = split->node_count,
                                .edges = split->edge_count,
                                .nodes_least = split->nodes.min > 0 ? split->nodes.min : 1,
                                .nodes_most = split->nodes.max,
                                .edges_most = split->edges.max};
    leat_graph_model model = (leat_graph_model)model_of(budget->model);
    if (leat_graph_memory_of(model, budget->vocabulary, &budget->memory, &err) != LEAT_OK)
        return leat_cli_fail(cli, &err);
    if (leat_graph_budget(&budget->memory, budget->device_bytes, &totals, &budget->max_nodes,
                          &budget->max_edges, &err) != LEAT_OK)
        return refuse_budget(cli, budget, &totals, &err);
    job->options.batches.max_nodes = budget->max_nodes;
    job->options.batches.max_edges = budget->max_edges;
    return 0;
}

int graphs_read_options(graphs_job *job) {
    leat_cli *cli = job->run.cli;
    leat_graph_loader_options *options = &job->options;
    *options = leat_graph_loader_options_default();
    int status = leat_cli_set(cli, leat_graph_batch_options_table(), &options->batches);
    if (status == 0) status = leat_cli_set(cli, leat_graph_loader_options_table(), options);
    read_curriculum(job);
    if (status == 0) status = refuse_idle(cli, &options->batches);
    if (status != 0) return status;
    if (job->split.name != NULL) options->split = job->split.name;
    else if (leat_cli_given(cli, "split")) options->split = leat_cli_text(cli, "split");
    status = find_split(job);
    return status == 0 ? read_budget(job) : status;
}

/* ---- Steps -------------------------------------------------------------------------------- */

/* Progress in epochs or, when looking for a step, in steps, because the remaining time is then
 * known. */
static leat_code keep_planning(graphs_job *job, const char *unit, int64_t done, int64_t total,
                               leat_error *err) {
    leat_progress progress = {"planning epochs", unit, done, total};
    if (leat_cli_progress(job->run.cli, &progress)) return LEAT_OK;
    *err = (leat_error){LEAT_ERR_CANCELLED, "stopped while planning epochs"};
    return LEAT_ERR_CANCELLED;
}

/* *passed: steps before the place. */
static leat_code walk_to_step(graphs_job *job, int64_t step, graphs_place *place, int64_t *passed,
                              leat_error *err) {
    int64_t epochs = job->options.batches.epochs;
    *place = (graphs_place){0};
    *passed = 0;
    for (; epochs == 0 || place->epoch < epochs; place->epoch++) {
        leat_graph_epoch_facts facts;
        if (step == *passed) return LEAT_OK; /* already known without planning */
        leat_code code = keep_planning(job, "steps", *passed, step, err);
        if (code == LEAT_OK)
            code = leat_graph_loader_get_epoch(job->loader, place->epoch, &facts, err);
        if (code != LEAT_OK) return code;
        if (step - *passed < facts.step_count) {
            place->batch = (step - *passed) * job->options.host_count;
            *passed = step;
            return LEAT_OK;
        }
        *passed += facts.step_count;
    }
    return LEAT_OK;
}

leat_code graphs_place_of_step(graphs_job *job, int64_t step, graphs_place *place,
                               leat_error *err) {
    int64_t passed = 0;
    return walk_to_step(job, step, place, &passed, err);
}

int graphs_find_step(graphs_job *job, int64_t step, graphs_place *place) {
    int64_t passed = 0, epochs = job->options.batches.epochs;
    leat_error err = {0};
    if (walk_to_step(job, step, place, &passed, &err) != LEAT_OK)
        return leat_cli_fail(job->run.cli, &err);
    if (epochs == 0 || place->epoch < epochs) return 0;
    return leat_cli_usage(job->run.cli,
                          "--explain: step %lld is after the last step, %lld, of --epochs %lld",
                          (long long)step, (long long)(passed - 1), (long long)epochs);
}

/* The number of the loader's current step. */
static leat_code step_of_loader(graphs_job *job, int64_t *step, leat_error *err) {
    int64_t epoch = 0, batch = 0;
    leat_graph_loader_place(job->loader, &epoch, &batch);
    *step = batch / job->options.host_count;
    for (int64_t e = 0; e < epoch; e++) {
        leat_graph_epoch_facts facts;
        leat_code code = keep_planning(job, "epochs", e, epoch, err);
        if (code == LEAT_OK) code = leat_graph_loader_get_epoch(job->loader, e, &facts, err);
        if (code != LEAT_OK) return code;
        *step += facts.step_count;
    }
    return LEAT_OK;
}

static int seek_step(graphs_job *job, int64_t step) {
    leat_error err = {0};
    graphs_place place;
    if (graphs_place_of_step(job, step, &place, &err) != LEAT_OK ||
        leat_graph_loader_seek(job->loader, place.epoch, place.batch, &err) != LEAT_OK)
        return leat_cli_fail(job->run.cli, &err);
    return 0;
}

/* --steps FIRST:END. */
static int read_asked_steps(graphs_job *job) {
    batches_run *run = &job->run;
    leat_error err = {0};
    if (leat_cli_given(run->cli, "resume") && step_of_loader(job, &run->first, &err) != LEAT_OK)
        return leat_cli_fail(run->cli, &err);
    int64_t resumed = run->first;
    int status = batches_asked_steps(run, job->options.batches.epochs > 0);
    return status != 0 || run->first == resumed ? status : seek_step(job, run->first);
}

int graphs_read_steps(graphs_job *job) {
    batches_run *run = &job->run;
    bool epochs = job->options.batches.epochs > 0;
    run->end = -1;
    if (leat_cli_given(run->cli, "steps")) {
        int status = read_asked_steps(job);
        if (status != 0) return status;
    } else {
        run->relative = leat_cli_given(run->cli, "resume");
        if (!epochs && !run->times) run->end = BATCHES_STEPS;
    }
    run->ends = epochs || run->end >= 0;
    return 0;
}
