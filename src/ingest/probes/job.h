/*
 * One run of `leat ingest probes`: what its steps share.
 *
 *   folder   lock the output folder; everything is written to DIR/.leat
 *   scan     inputs -> partitioned measurements in memory, or in the temporary folder if they do
 *            not fit; then state.json
 *   write    buckets -> shards in DIR/.leat/out, each published with its part
 *   publish  index, manifest, run.json; then a journal, and DIR/.leat/out becomes the data set
 *
 * A killed run is continued from state.json (the scan is complete) and from the existing shards; if
 * it had written its journal, the next run continues from there. Without state.json it begins
 * again: the scan was not complete, or its result was in memory only.
 */
#ifndef LEAT_INGEST_PROBES_JOB_H
#define LEAT_INGEST_PROBES_JOB_H

#include "base/json.h"
#include "base/ticker.h"
#include "format/dataset/index.h"
#include "format/dataset/journal.h"
#include "format/dataset/manifest.h"
#include "ingest/folder.h"
#include "ingest/probes/memory.h"
#include "ingest/probes/notes.h"
#include "leat/ingest.h"

typedef leat_ingest_folder leat_job_folder;
/* What is in the folder besides. */
typedef struct leat_job_output {
    char parts[LEAT_PATH_BYTES];     /* DIR/.leat/parts */
    int64_t old_shards[LEAT_SPLITS]; /* of the data set to be replaced */
} leat_job_output;

/* The number of the rules by which inputs are read, in run.json. Data sets of development versions
 * have smaller ones, or none, which is 1. */
#define LEAT_PROBES_READER 6

/* Known once the scan is complete; saved in DIR/.leat/state.json. */
typedef struct leat_job_state {
    bool scanned;
    int workers; /* of the scan: the number of spill files */
    int bucket_bits;
    int64_t probes[LEAT_SPLITS], shards[LEAT_SPLITS];
    int64_t shard_probes[LEAT_SPLITS]; /* upper bound for the fullest shard */
    leat_census_bound bound;           /* of the ordered split */
    int64_t rows_read, measurements, bytes_spilled;
    int64_t rejected[LEAT_REJECT_COUNT];
    leat_warnings warnings;
    int64_t mapped; /* measurements with an IPv4-mapped address */
    /* not saved: see leat_partition_worker */
    int64_t late_ms, late_far;
    int64_t uneven, untimed, plain_objects, with_unit; /* as in leat_notes */
    unsigned rtt_units;                                /* the same */
    int64_t shaped;
    char shape[LEAT_SHAPE_BYTES]; /* see leat_notes_shape */
    /* known at the end, not saved */
    int64_t probes_over_limit;
    int64_t duplicates; /* -1: an earlier version of leat wrote the data set */
    uint8_t manifest_sha256[32];
} leat_job_state;

typedef struct leat_job {
    const leat_probes_ingest_options *options;
    leat_probes_ingest_result *result;
    leat_job_folder folder;
    leat_job_output output;   /* of the folder */
    leat_input_list inputs;   /* hashed with --verify, or as recorded by an earlier run */
    const char **input_paths; /* inputs' paths, for the reject log */
    leat_manifest manifest;   /* its options from the beginning, its shards at the end */
    leat_job_state state;
    leat_buckets buckets;
    int64_t reader;           /* of the data set that an earlier run completed */
    bool committed;           /* the journal is written: the data set counts as complete */
    leat_spill *spills;       /* of each worker and group, open once the scan is complete */
    leat_spill_texts **texts; /* of each worker's spills */
    leat_spill_pool *pools;   /* of each worker; NULL: the spills are in their files */
    leat_ticker ticker;
    int64_t begin_ns;
} leat_job;

/* folder.c */
/* leat_ingest_folder_open for probes; *output must stay where it is. */
LEAT_MUST_CHECK leat_code leat_job_folder_open(leat_job_folder *folder, leat_job_output *output,
                                               const char *out_dir,
                                               const leat_probes_ingest_options *options,
                                               leat_error *err);
/* Creates the folders in it, for a run that writes; a run that only publishes uses what is left in
 * the stage, and must not find additional files there. */
LEAT_MUST_CHECK leat_code leat_job_folder_prepare(const leat_job_folder *folder, leat_error *err);

/* folder_publish.c */
/* The data set in the stage is complete and on disk: from here on it is the one of DIR. */
LEAT_MUST_CHECK leat_code leat_job_folder_commit(const leat_job_folder *folder,
                                                 const leat_job_state *state, leat_error *err);
/* Moves the committed data set into place and removes the rest of the previous one; can be repeated
 * if interrupted. LEAT_ERR_CORRUPT: it is not what was committed; LEAT_ERR_NOT_FOUND: its journal
 * was removed meanwhile. */
LEAT_MUST_CHECK leat_code leat_job_folder_publish(const leat_job_folder *folder, leat_error *err);

/* state.c */
#define LEAT_STATE_NAME "state.json"
#define LEAT_STREAMS_NAME "streams.bin"
LEAT_MUST_CHECK leat_code leat_job_state_save(const leat_job *job, leat_error *err);
/* Reads the state of an interrupted run into job->state and the streams of its spills, and opens
 * them; state.scanned stays false if there is none. LEAT_ERR_OPTION names the difference. */
LEAT_MUST_CHECK leat_code leat_job_state_load(leat_job *job, leat_error *err);
/* ingest_options.c */
LEAT_MUST_CHECK leat_code leat_probes_options_check(const leat_probes_ingest_options *o,
                                                    leat_error *err);
/* The column whose values are the probes; NULL: addresses are. */
const char *leat_probes_column(const leat_probes_ingest_options *o);
/* Adds everything that decides the contents of the data set to the manifest. */
LEAT_MUST_CHECK leat_code leat_probes_options_describe(const leat_probes_ingest_options *o,
                                                       leat_manifest *manifest, leat_error *err);

/* SHA-256 of everything that decides the contents: options, columns, and the facts of the inputs.
 */
LEAT_MUST_CHECK leat_code leat_job_setting_sha256(const leat_job *job, char digest[65],
                                                  leat_error *err);
LEAT_MUST_CHECK leat_code leat_job_spill_path(const leat_job *job, int worker, int group,
                                              char path[LEAT_PATH_BYTES], leat_error *err);
/* Allocates the spills of state.workers and the groups of buckets, and their (null) texts. */
LEAT_MUST_CHECK leat_code leat_job_spills_new(leat_job *job, leat_error *err);
leat_spill *leat_job_spill(const leat_job *job, int worker, int group);
void leat_job_spills_close(leat_job *job);
/* Writes spills that are in memory to their files, except those that were released, and saves the
 * state: the run can be resumed, and has their memory. */
LEAT_MUST_CHECK leat_code leat_job_spills_write(leat_job *job, leat_error *err);

/* contents.c: --verify */
/* The member "sha256" of input i, if the inputs are hashed. */
void leat_job_write_contents(leat_json *json, const leat_job *job, int64_t i);
/* Reads the same members of a list of all inputs, in order, into the inputs; they count as hashed
 * if all have one. */
void leat_job_read_contents(leat_job *job, const json_t *inputs);
/* Hashes the inputs and compares with the hashes read before: LEAT_ERR_EXISTS names the first one
 * with different contents. `what` is "the data set" or "the interrupted ingest". */
LEAT_MUST_CHECK leat_code leat_job_verify_contents(leat_job *job, const char *what,
                                                   leat_error *err);

/* scan.c: fills state and spills. */
LEAT_MUST_CHECK leat_code leat_job_scan(leat_job *job, leat_error *err);

/* rejects.c */
/* LEAT_ERR_INPUT if the inputs have no measurement: why, and what to do. */
LEAT_MUST_CHECK leat_code leat_job_check_not_empty(const leat_job *job, leat_error *err);
/* The warning if more than half of the rows were rejected; "" otherwise. */
void leat_job_warn_rejected(const leat_job *job, char *text, int64_t size_bytes);

/* state.c: the member "warnings", in the state and in run.json; it may be missing. */
void leat_job_write_warnings(leat_json *json, const leat_job_state *state);
void leat_job_read_warnings(const json_t *root, leat_job_state *state);

/* sizes.c: what decides how much memory the write takes, from the state and the spills' streams. */
LEAT_MUST_CHECK leat_code leat_job_sizes(const leat_job *job, leat_write_sizes *sizes,
                                         leat_error *err);
/* Maximum bytes of a row's serialised measurements: --max-row-size, or Arrow's limit. */
int64_t leat_job_row_limit(const leat_probes_ingest_options *options);

/* write.c: shards and their parts. */
LEAT_MUST_CHECK leat_code leat_job_write(leat_job *job, leat_error *err);

/* publish.c: index, manifest, run.json in the stage. */
LEAT_MUST_CHECK leat_code leat_job_finish(leat_job *job, leat_error *err);
/* Fills the result with the contents of a data set finished by an interrupted run. */
LEAT_MUST_CHECK leat_code leat_job_count(leat_job *job, leat_error *err);

/* Whether the data set in DIR was written from these inputs with these options, according to its
 * run.json; if so, sets state and result from it. */
LEAT_MUST_CHECK leat_code leat_job_is_finished(leat_job *job, bool *finished, leat_error *err);

/* The set of buckets that holds a split: with the ordered split both share one. */
static inline leat_split leat_job_bucket_set(const leat_job *job, leat_split split) {
    return job->options->split == LEAT_SPLIT_ORDERED ? LEAT_SPLIT_TRAIN : split;
}

static inline double leat_job_seconds(const leat_job *job, int64_t now_ns) {
    return (double)(now_ns - job->begin_ns) * 1e-9;
}

#endif
