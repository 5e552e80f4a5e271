/* leat batches of a CAN cache: what its files share. */
#ifndef LEAT_CLI_BATCHES_GRAPHS_H
#define LEAT_CLI_BATCHES_GRAPHS_H

#include "batches.h"
#include "leat/load_can.h"

/* --device-memory and --model, and what came of them. */
typedef struct graphs_budget {
    bool asked;
    const char *model;
    int64_t device_bytes, vocabulary;
    leat_graph_memory memory;
    int64_t max_nodes, max_edges;
} graphs_budget;

typedef struct graphs_place {
    int64_t epoch, batch; /* batch of the epoch, of all hosts' */
} graphs_place;

typedef struct graphs_job {
    batches_run run; /* first, so that a pointer to one is a pointer to the other */
    leat_can_cache *cache;
    leat_can_facts facts;
    leat_can_split split;
    leat_can_stage_result staged; /* path "": nothing was asked for */
    leat_graph_loader_options options;
    graphs_budget budget;
    leat_graph_loader *loader;
    graphs_place first, last; /* batches that were made; of this host */
} graphs_job;

/* ---- batches_graphs_options.c ---- */
/* 0, or the exit status after telling what is wrong. */
int graphs_read_options(graphs_job *job);
/* Seeks the first step of --steps, and fills run.end and run.ends. */
int graphs_read_steps(graphs_job *job);
/* The place of a step, counted from 0 through all epochs; behind the last epoch its end. Plans all
 * epochs before it. */
LEAT_MUST_CHECK leat_code graphs_place_of_step(graphs_job *job, int64_t step, graphs_place *place,
                                               leat_error *err);
/* The same for --explain: 0, or the exit status after telling that there is no such step. */
int graphs_find_step(graphs_job *job, int64_t step, graphs_place *place);

/* ---- batches_graphs_words.c ---- */
void graphs_write_summary(graphs_job *job);
/* Nothing unless --device-memory was given. */
void graphs_write_budget(graphs_job *job);
void graphs_write_explanation(graphs_job *job, const leat_graph_explanation *explanation);

/* ---- batches_graphs_json.c ---- */
int graphs_json_summary(graphs_job *job);
int graphs_json_explanation(graphs_job *job, const leat_graph_explanation *explanation);
/* Members that the documents share. */
void graphs_json_options(leat_json *json, const graphs_job *job);
void graphs_json_budget(leat_json *json, const graphs_job *job);
void graphs_json_oversize(leat_json *json, const graphs_job *job);

/* ---- batches_graphs_report.c ---- */
int graphs_write_report(graphs_job *job);

#endif
