/* leat batches of a CAN cache: what its files share. */
#ifndef LEAT_CLI_BATCHES_GRAPHS_H
#define LEAT_CLI_BATCHES_GRAPHS_H

#include "batches/batches.h"
#include "leat/load_can.h"
#include "page/page.h"

/* --device-memory and --model, and the resulting limits. */
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
    leat_can_stage_result staged; /* path "": not requested */
    leat_graph_loader_options options;
    graphs_budget budget;
    leat_graph_loader *loader;
    graphs_place first, last; /* batches built, of this host */
    bool all;                 /* --split all, for which the splits share: */
    leat_json *json;          /* with --json, else NULL */
    leat_page *page;          /* with --report, else NULL */
} graphs_job;

/* ---- graphs_splits.c ---- */
#define GRAPHS_ALL "all" /* no split of a cache has this name */
/* --split all: calls `one` with a job for each split in turn. Returns the exit status. */
int graphs_all_splits(const graphs_job *job, int (*one)(graphs_job *job));

/* ---- graphs_options.c ---- */
/* Returns 0, or the exit status after reporting an error. */
int graphs_read_options(graphs_job *job);
/* Whether an option of leat_graph_batch_options has no effect beside the others: `leat batches`
 * refuses it then. */
bool graphs_is_idle(const char *name, const void *options);
/* Seeks the first step of --steps, and fills run.end and run.ends. */
int graphs_read_steps(graphs_job *job);
/* The place of a step, counted from 0 across all epochs; after the last epoch, its end. Plans all
 * epochs before it. */
LEAT_MUST_CHECK leat_code graphs_place_of_step(graphs_job *job, int64_t step, graphs_place *place,
                                               leat_error *err);
/* The same for --explain. Returns 0, or the exit status after reporting that the step does not
 * exist. */
int graphs_find_step(graphs_job *job, int64_t step, graphs_place *place);

/* ---- graphs_words.c ---- */
void graphs_write_summary(graphs_job *job);
/* Nothing unless --stage was given. */
void graphs_write_staged(const graphs_job *job);
/* The name of the split and the sizes of its graphs. */
void graphs_write_split(const graphs_job *job);
/* Nothing unless --device-memory was given. */
void graphs_write_budget(graphs_job *job);
/* Nothing unless --graphs leaves graphs out. */
void graphs_write_left_out(const graphs_job *job);
void graphs_write_explanation(graphs_job *job, const leat_graph_explanation *explanation);

/* ---- graphs_json.c ---- */
int graphs_json_summary(graphs_job *job);
int graphs_json_explanation(graphs_job *job, const leat_graph_explanation *explanation);
/* A document of its own, or an item of that of all splits. */
int graphs_out_object(graphs_job *job, leat_out_members_fn *members, const void *of);
/* Members that the documents share. */
void graphs_json_options(leat_json *json, const graphs_job *job);
void graphs_json_budget(leat_json *json, const graphs_job *job);
/* How many graphs --graphs leaves out, and which are over a budget. */
void graphs_json_excluded(leat_json *json, const graphs_job *job);
/* [epoch, batch] */
void graphs_json_place(leat_json *json, graphs_place place);

/* ---- graphs_report.c ---- */
int graphs_write_report(graphs_job *job);

#endif
