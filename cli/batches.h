/* leat batches: what its files share. */
#ifndef LEAT_CLI_BATCHES_H
#define LEAT_CLI_BATCHES_H

#include "cli.h"
#include "leat/load.h"

#define BATCHES_STEPS 10             /* without --steps, where epochs do not end them */
#define BATCHES_TIME_NS 3000000000LL /* that --time runs without --steps */
#define BATCHES_PROBE_ROWS 8         /* --batch, of probe rows */

/* ---- batches_run.c: steps one after the other, of either kind of data ---- */

typedef struct batches_run batches_run;

/* What a loader does, for a run. */
typedef struct batches_kind {
    bool (*wait)(batches_run *run, int64_t timeout_ms);
    /* Takes the next batch into hash and text; *more false: there is none. */
    leat_code (*take)(batches_run *run, bool *more, leat_error *err);
    leat_code (*save)(batches_run *run, const char *path, leat_error *err);
    void (*write_summary)(batches_run *run);
    int (*json_summary)(batches_run *run); /* the exit status */
    int (*note)(batches_run *run);         /* tells on stderr what was met; the exit status */
} batches_kind;

struct batches_run {
    const batches_kind *kind;
    leat_cli *cli;
    bool hashes, lines; /* --hash, --hash=rows */
    bool times, words, json;
    int64_t first, end; /* steps; end -1: as long as there are any, or until the time is over */
    bool ends;          /* steps come to an end */
    bool relative;      /* steps are counted from where the run began, wherever that is */
    int64_t done;       /* the step after the last one that was made */
    bool stopped;       /* by a signal, before the end */
    int64_t begun_ns, ended_ns;
    leat_batch_hash *hash;
    leat_textbuf *text; /* of the batch at hand; NULL: none is wanted */
    leat_textbuf *kept; /* of all of them, for --json */
};

batches_run batches_run_begin(leat_cli *cli, const batches_kind *kind);
void batches_run_end(batches_run *run);
/* Makes the steps, writes what is asked for and the state; the exit status. The loader stands at
 * the first step. */
int batches_run_steps(batches_run *run);
/* --report, which makes no batches, together with an option that asks for them: 2 after telling. */
int batches_refuse_jobs(leat_cli *cli);

/* ---- Probe rows --------------------------------------------------------------------------- */

#define BATCHES_ROWS_MAX 8192 /* that --rows takes */

typedef struct batches_job {
    batches_run run; /* first, so that a pointer to one is a pointer to the other */
    leat_dataset *dataset;
    leat_dataset_facts facts;
    leat_loader_options options;
    int64_t rows[BATCHES_ROWS_MAX]; /* behind options.rows */
    leat_loader *loader;
} batches_job;

/* ---- batches_probes.c ---- */
int batches_of_probes(leat_cli *cli);

/* ---- batches_options.c: from the command line ---- */
/* 0, or the exit status after telling what is wrong. */
int batches_read_options(batches_job *job);
int batches_read_steps(batches_job *job);
/* "3:7" as it stands; what is left out stays. */
int batches_split_steps(leat_cli *cli, int64_t *first, int64_t *end);

/* ---- batches_words.c ---- */
void batches_write_summary(batches_job *job);
int batches_write_explanation(batches_job *job, const leat_explanation *explanation);
/* Tells on stderr what was masked; 0, or the exit status of a failure. */
int batches_note_quarantine(batches_job *job);

/* ---- batches_report.c ---- */
/* Writes the page of --report, and its numbers in words or as JSON. end -1: as long as it chooses.
 */
int batches_write_report(leat_cli *cli, const leat_dataset *dataset,
                         const leat_loader_options *options, int64_t first, int64_t end);

/* ---- batches_graphs.c ---- */
int batches_of_graphs(leat_cli *cli);

/* ---- batches_json.c ---- */
int batches_json_summary(batches_job *job);
int batches_json_explanation(batches_job *job, const leat_explanation *explanation);

#endif
