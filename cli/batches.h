/* leat batches: what its files share. */
#ifndef LEAT_CLI_BATCHES_H
#define LEAT_CLI_BATCHES_H

#include "cli.h"
#include "leat/load.h"

#define BATCHES_STEPS 10             /* without --steps, where epochs do not end them */
#define BATCHES_TIME_NS 3000000000LL /* that --time runs without --steps */

#define BATCHES_ROWS_MAX 8192 /* that --rows takes */

typedef struct batches_job {
    leat_cli *cli;
    leat_dataset *dataset;
    leat_dataset_facts facts;
    leat_loader_options options;
    int64_t rows[BATCHES_ROWS_MAX]; /* behind options.rows */
    leat_loader *loader;
    bool hashes, lines; /* --hash, --hash=rows */
    bool times, words, json;
    int64_t first, end; /* steps; end -1: until the time is over */
    int64_t done;       /* the step after the last one that was made */
    bool stopped;       /* by a signal, before `end` */
    int64_t begun_ns, ended_ns;
    leat_batch_hash *hash;
    leat_textbuf *text; /* of the batch at hand */
    leat_textbuf *kept; /* of all of them, for --json */
} batches_job;

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

/* ---- batches_json.c ---- */
int batches_json_summary(batches_job *job);
int batches_json_explanation(batches_job *job, const leat_explanation *explanation);

#endif
