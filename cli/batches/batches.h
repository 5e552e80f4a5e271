/* leat batches: what its files share. */
#ifndef LEAT_CLI_BATCHES_BATCHES_H
#define LEAT_CLI_BATCHES_BATCHES_H

#include "command/cli.h"
#include "leat/load.h"

#define BATCHES_STEPS 10             /* without --steps, where epochs do not end them */
#define BATCHES_TIME_NS 3000000000LL /* duration of --time without --steps */

/* ---- run.c: steps one after the other, of any kind of data ---- */

typedef struct batches_run batches_run;

/* What a loader does, for a run. */
typedef struct batches_kind {
    bool (*wait)(batches_run *run, int64_t timeout_ms);
    /* Adds the next batch to hash and text; *more is false after the last one. */
    leat_code (*take)(batches_run *run, bool *more, leat_error *err);
    leat_code (*save)(batches_run *run, const char *path, leat_error *err);
    void (*write_summary)(batches_run *run);
    int (*json_summary)(batches_run *run); /* the exit status */
    int (*note)(batches_run *run);         /* reports warnings on stderr; returns the exit status */
} batches_kind;

struct batches_run {
    const batches_kind *kind;
    leat_cli *cli;
    bool hashes, lines; /* --hash, --hash=rows */
    bool times, words, json;
    const char *label;  /* written after the hash; NULL: nothing */
    int64_t first, end; /* steps; end -1: until the last one, or until the time is up */
    bool ends;          /* the number of steps is finite */
    bool relative;      /* steps are counted from the start of the run */
    int64_t done;       /* the step after the last one built */
    bool stopped;       /* by a signal, before the end */
    int64_t begun_ns, ended_ns;
    leat_batch_hash *hash;
    leat_textbuf *text; /* of the current batch; NULL: not requested */
    leat_textbuf *kept; /* of all batches, for --json */
};

batches_run batches_run_begin(leat_cli *cli, const batches_kind *kind);
void batches_run_end(batches_run *run);
/* Builds the steps, writes the requested output and the state, and returns the exit status. The
 * loader must be at the first step. */
int batches_run_steps(batches_run *run);
/* Parses "3:7"; an omitted bound keeps its value. */
int batches_split_steps(leat_cli *cli, int64_t *first, int64_t *end);
/* Reads --steps into run.first, which holds the loader's current step, and run.end. `epochs`: they
 * end the steps. Returns 0, or 2 after reporting an error. */
int batches_asked_steps(batches_run *run, bool epochs);
/* For loaders whose place is a step: reads --steps of a loader at step `first`, with `count` steps,
 * -1 without end. The same result. */
int batches_read_steps(batches_run *run, int64_t first, int64_t count);
/* "steps": the first one that was built, and the one after the last. */
void batches_json_steps(leat_json *json, const batches_run *run);
/* With --hash, "hash" of all batches; and "text", unless it is NULL. */
void batches_json_result(leat_json *json, const batches_run *run, const char *text,
                         int64_t text_bytes);
/* What a loader has made, and in what time of its threads. */
typedef struct batches_made {
    const char *things; /* tokens, graphs, images */
    int64_t count;
    int64_t work_ns;      /* of all threads, with that of the next line */
    int64_t read_wait_ns; /* waiting for data */
    int64_t stall_ns;     /* of the command, waiting for batches */
} batches_made;
/* With --time, "time": as batches_write_time. */
void batches_json_time(leat_json *json, const batches_run *run, const batches_made *made);
/* The lines that name the page of --report, and the folder of --figures. */
void batches_write_page_names(leat_cli *cli);
/* With --time: rates of what was made, and the share of the time that the command waited for
 * batches. */
void batches_write_time(const batches_run *run, const batches_made *made);

/* With --time in the windowed order: the share of their time that threads waited for data. */
void batches_write_reading(const batches_run *run, const batches_made *made);

/* A note if `data` ("data set"), of so many bytes, is larger than memory and is to be read in the
 * global order. */
void batches_note_memory(leat_cli *cli, const char *data, int64_t size_bytes);

/* ---- Probe rows --------------------------------------------------------------------------- */

#define BATCHES_ROWS_MAX 8192 /* accepted by --rows */

typedef struct batches_job {
    batches_run run; /* first, so that a pointer to one is a pointer to the other */
    leat_dataset *dataset;
    leat_dataset_facts facts;
    leat_loader_options options;
    int64_t rows[BATCHES_ROWS_MAX]; /* storage of options.rows */
    leat_loader *loader;
} batches_job;

/* ---- tokens_options.c: from the command line ---- */
/* Returns 0, or the exit status after reporting an error. */
int batches_read_options(batches_job *job);

/* ---- tokens_words.c ---- */
/* Before the steps, and after them. */
void batches_write_start(batches_job *job);
void batches_write_summary(batches_job *job);
int batches_write_explanation(batches_job *job, const leat_explanation *explanation);
/* Reports on stderr what was masked. Returns 0, or the exit status of a failure. */
int batches_note_quarantine(batches_job *job);

/* ---- tokens_report.c ---- */
/* Writes the page of --report, and its numbers in words or as JSON. end -1: the report chooses the
 * end. */
int batches_write_report(leat_cli *cli, const leat_dataset *dataset,
                         const leat_loader_options *options, int64_t first, int64_t end);

/* ---- tokens_json.c ---- */
int batches_json_summary(batches_job *job);
int batches_json_explanation(batches_job *job, const leat_explanation *explanation);

#endif
