/* leat batches of a CAN cache: its options as the library wants them, and steps as places. */
#include <stdio.h>
#include <string.h>

#include "batches_graphs.h"

/* ---- Options ------------------------------------------------------------------------------ */

/* none, random, or a file of scores. */
static int read_curriculum(graphs_job *job) {
    const char *text = leat_cli_text(job->run.cli, "curriculum");
    leat_graph_batch_options *batches = &job->options.batches;
    if (strcmp(text, "none") == 0) batches->curriculum = LEAT_CURRICULUM_NONE;
    else if (strcmp(text, "random") == 0) batches->curriculum = LEAT_CURRICULUM_RANDOM;
    else {
        batches->curriculum = LEAT_CURRICULUM_SCORES;
        job->options.scores = text;
    }
    return 0;
}

/* The options of the library have the same names and texts here and there. */
static int read_batch_options(graphs_job *job) {
    leat_cli *cli = job->run.cli;
    const char *name = NULL;
    for (int i = 0; (name = leat_graph_loader_option_name(i)) != NULL; i++) {
        leat_error err = {0};
        if (strcmp(name, "curriculum") == 0) continue;
        const char *text = leat_cli_text(cli, name);
        if (text == NULL) continue;
        if (leat_graph_loader_option_set(&job->options, name, text, &err) != LEAT_OK)
            return leat_cli_usage(cli, "--%s: %s", name, err.message);
    }
    return read_curriculum(job);
}

static int find_split(graphs_job *job) {
    leat_error err = {0};
    for (int i = 0; i < job->facts.split_count; i++) {
        if (leat_can_cache_get_split(job->cache, i, &job->split, &err) != LEAT_OK)
            return leat_cli_fail(job->run.cli, &err);
        if (strcmp(job->split.name, job->options.split) == 0) return 0;
    }
    job->split = (leat_can_split){0};
    return 0; /* the loader tells which there are */
}

static int model_of(const char *name) {
    for (int i = 0; leat_graph_model_name(i) != NULL; i++)
        if (strcmp(leat_graph_model_name(i), name) == 0) return i;
    return 0;
}

static int check_budget_usage(leat_cli *cli) {
    static const char *const limits[] = {"max-nodes", "max-edges"};
    if (leat_cli_given(cli, "device-memory") != leat_cli_given(cli, "model"))
        return leat_cli_usage(cli, "--device-memory and --model go together: how much memory, and "
                                   "whose step it is for");
    if (!leat_cli_given(cli, "device-memory")) return 0;
    for (int i = 0; i < 2; i++)
        if (leat_cli_given(cli, limits[i]))
            return leat_cli_usage(cli,
                                  "--device-memory says how many nodes and edges a batch may "
                                  "have, --%s says it too: give one of them",
                                  limits[i]);
    if (strcmp(leat_cli_text(cli, "pack"), "fixed") == 0)
        return leat_cli_usage(cli, "--pack fixed looks at no budget, and so not at "
                                   "--device-memory");
    return 0;
}

/* Options that decide nothing as the others stand: the run would not be the one that was meant. */
static int refuse_idle(leat_cli *cli) {
    static const char *const budget[] = {"max-nodes", "max-edges", "oversize"};
    static const char *const ramp[] = {"tiers", "curriculum-start", "curriculum-end"};
    const char *pack = leat_cli_text(cli, "pack");
    bool fixed = strcmp(pack, "fixed") == 0;
    if (!fixed && leat_cli_given(cli, "batch"))
        return leat_cli_usage(cli,
                              "--batch is for --pack fixed; batches of --pack %s are as large as "
                              "--max-nodes and --max-edges let them",
                              pack);
    for (int i = 0; fixed && i < 3; i++)
        if (leat_cli_given(cli, budget[i]))
            return leat_cli_usage(cli,
                                  "--pack fixed looks at no budget, and so not at --%s: --batch "
                                  "says how many graphs a batch has",
                                  budget[i]);
    for (int i = 0; strcmp(leat_cli_text(cli, "curriculum"), "none") == 0 && i < 3; i++)
        if (leat_cli_given(cli, ramp[i]))
            return leat_cli_usage(cli, "--%s is for a curriculum: give --curriculum random or FILE",
                                  ramp[i]);
    return 0;
}

static bool would_do(const graphs_budget *budget, const leat_graph_totals *totals, int64_t bytes) {
    int64_t nodes = 0, edges = 0;
    return leat_graph_budget(&budget->memory, bytes, totals, &nodes, &edges, NULL) == LEAT_OK;
}

/* Tells the least --device-memory that would do, as it is typed. */
static int refuse_budget(leat_cli *cli, const graphs_budget *budget,
                         const leat_graph_totals *totals, leat_error *err) {
    int64_t few = budget->device_bytes >> 10, enough = INT64_C(1) << 50;
    size_t size = strlen(err->message);
    if (err->code != LEAT_ERR_LIMIT || !would_do(budget, totals, enough << 10))
        return leat_cli_fail(cli, err);
    while (few + 1 < enough) {
        int64_t middle = few + (enough - few) / 2;
        if (would_do(budget, totals, middle << 10)) enough = middle;
        else few = middle;
    }
    int64_t whole = (enough + 1023) >> 10;
    bool mib = whole >= 10; /* rounding up costs less than a tenth then */
    snprintf(err->message + size, sizeof err->message - size, "; --device-memory %lld%s would do",
             (long long)(mib ? whole : enough), mib ? "M" : "K");
    return leat_cli_fail(cli, err);
}

static int read_budget(graphs_job *job) {
    leat_cli *cli = job->run.cli;
    graphs_budget *budget = &job->budget;
    const leat_can_split *split = &job->split;
    leat_error err = {0};
    int status = check_budget_usage(cli);
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
    int status = read_batch_options(job);
    if (status == 0) status = refuse_idle(cli);
    if (status != 0) return status;
    if (leat_cli_given(cli, "split")) options->split = leat_cli_text(cli, "split");
    options->host_index = leat_cli_int(cli, "host");
    options->host_count = leat_cli_int(cli, "hosts");
    if (leat_cli_given(cli, "threads")) options->threads = (int)leat_cli_int(cli, "threads");
    if (leat_cli_given(cli, "prefetch")) options->prefetch = leat_cli_int(cli, "prefetch");
    options->memory_bytes = leat_cli_int(cli, "memory");
    status = find_split(job);
    return status == 0 ? read_budget(job) : status;
}

/* ---- Steps -------------------------------------------------------------------------------- */

/* What is done of the whole, in epochs or, where a step is looked for, in steps: how long it will
 * take is known then. */
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
        if (step == *passed) return LEAT_OK; /* need not be planned */
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
                          "--explain: step %lld is behind the last, %lld, of --epochs %lld",
                          (long long)step, (long long)(passed - 1), (long long)epochs);
}

/* The number of the step that the loader stands at. */
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
    const char *text = leat_cli_text(run->cli, "steps");
    int64_t resumed = 0;
    leat_error err = {0};
    if (leat_cli_given(run->cli, "resume") && step_of_loader(job, &resumed, &err) != LEAT_OK)
        return leat_cli_fail(run->cli, &err);
    run->first = resumed;
    int status = batches_split_steps(run->cli, &run->first, &run->end);
    if (status != 0) return status;
    if (run->first != resumed && leat_cli_given(run->cli, "resume"))
        return leat_cli_usage(run->cli,
                              "--steps begins at %lld and the state of --resume at %lld: leave the "
                              "first step out (:END)",
                              (long long)run->first, (long long)resumed);
    if (run->end < 0 && !run->times && job->options.batches.epochs == 0)
        return leat_cli_usage(run->cli,
                              "--steps: \"%.100s\" has no end, and without --epochs the data has "
                              "none",
                              text);
    return run->first == resumed ? 0 : seek_step(job, run->first);
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
