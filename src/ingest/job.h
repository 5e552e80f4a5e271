/*
 * One run of `leat ingest probes`: what its steps share.
 *
 *   folder   the output folder is ours, locked, and everything grows in DIR/.leat
 *   scan     inputs -> partitioned measurements in the temporary folder; then state.json
 *   write    buckets -> shards in DIR/.leat/out, each published with its part
 *   publish  index, manifest, run.json; then DIR/.leat/out becomes the data set
 *
 * A killed run is continued from state.json (the scan is whole) and from the shards that are there.
 */
#ifndef LEAT_INGEST_JOB_H
#define LEAT_INGEST_JOB_H

#include "base/ticker.h"
#include "format/index.h"
#include "format/manifest.h"
#include "ingest/memory.h"
#include "leat/ingest.h"

typedef struct leat_job_folder {
    char out[LEAT_PATH_BYTES];   /* DIR */
    char work[LEAT_PATH_BYTES];  /* DIR/.leat */
    char stage[LEAT_PATH_BYTES]; /* DIR/.leat/out, the data set as it grows */
    char parts[LEAT_PATH_BYTES]; /* DIR/.leat/parts */
    char temp[LEAT_PATH_BYTES];  /* DIR/.leat/temp, or in --temp */
    leat_file *lock;
    bool created;  /* DIR was made by this run */
    bool resuming; /* the state of an interrupted run is there and is to be used */
    bool finished; /* nothing is left to resume: what is there may be what the run is to make */
} leat_job_folder;

/* What is known once the scan is whole; DIR/.leat/state.json. */
typedef struct leat_job_state {
    bool scanned;
    bool publishing; /* the data set is complete in DIR/.leat/out and is being moved */
    int workers;     /* of the scan: so many spill files */
    int bucket_bits;
    int32_t block_bytes;
    int64_t probes[LEAT_SPLITS], shards[LEAT_SPLITS];
    int64_t shard_probes[LEAT_SPLITS]; /* of the fullest shard, at most */
    leat_census_bound bound;           /* of the ordered split */
    int64_t rows_read, measurements, bytes_spilled;
    int64_t rejected[LEAT_REJECT_COUNT];
    /* known once it is being published */
    int64_t probes_over_limit;
    uint8_t manifest_sha256[32];
} leat_job_state;

typedef struct leat_job {
    const leat_probes_ingest_options *options;
    leat_probes_ingest_result *result;
    leat_job_folder folder;
    leat_input_list inputs;
    const char **input_paths; /* inputs' paths, for the reject log */
    leat_manifest manifest;   /* its options from the beginning, its shards at the end */
    leat_job_state state;
    leat_buckets buckets;
    leat_spill *spills; /* of each worker and group, open once the scan is whole */
    leat_ticker ticker;
    int64_t begin_ns;
} leat_job;

/* folder.c */
/* Makes and locks DIR/.leat if the options allow to work in DIR as it is; LEAT_ERR_EXISTS says what
 * is there, LEAT_ERR_BUSY that another run is at work. */
LEAT_MUST_CHECK leat_code leat_job_folder_open(leat_job_folder *folder, const char *out_dir,
                                               const leat_probes_ingest_options *options,
                                               leat_error *err);
/* LEAT_ERR_EXISTS: DIR holds a complete data set. */
LEAT_MUST_CHECK leat_code leat_job_folder_refuse(const leat_job_folder *folder, leat_error *err);
/* Makes the folders in it, for a run that has something to write; one that is only to be published
 * has what is left in the stage and must find no more there. */
LEAT_MUST_CHECK leat_code leat_job_folder_prepare(const leat_job_folder *folder, leat_error *err);
/* Moves the finished data set to its place, that of the one that was there; can be repeated if it
 * was interrupted. finished_sha256: of the manifest, if an earlier run has made it, else NULL. */
LEAT_MUST_CHECK leat_code leat_job_folder_publish(const leat_job_folder *folder,
                                                  const uint8_t *finished_sha256, leat_error *err);
/* Where the manifest of the data set is that is being published: the stage, or DIR. */
LEAT_MUST_CHECK leat_code leat_job_folder_manifest(const leat_job_folder *folder, const char **dir,
                                                   leat_error *err);
typedef enum leat_job_outcome {
    LEAT_JOB_DONE,      /* published: what is left of the work goes */
    LEAT_JOB_FAILED,    /* everything that the run has made goes */
    LEAT_JOB_RESUMABLE, /* everything stays for --resume */
} leat_job_outcome;
void leat_job_folder_close(leat_job_folder *folder, leat_job_outcome outcome);

/* state.c */
#define LEAT_STATE_NAME "state.json"
/* As much of the state as needs no run to be understood. */
typedef struct leat_job_peek {
    bool there;
    bool publishing;
    uint8_t manifest_sha256[32];
} leat_job_peek;
/* A state that is damaged is there, and no more is known of it. */
LEAT_MUST_CHECK leat_code leat_job_state_peek(const leat_job_folder *folder, leat_job_peek *peek,
                                              leat_error *err);
LEAT_MUST_CHECK leat_code leat_job_state_save(const leat_job *job, leat_error *err);
/* Reads the state of an interrupted run into job->state and the streams of its spills, and opens
 * them; state.scanned stays false if there is none. LEAT_ERR_OPTION names what differs. */
LEAT_MUST_CHECK leat_code leat_job_state_load(leat_job *job, leat_error *err);
/* SHA-256 of all that decides the content: options, columns, and the inputs as they are. */
LEAT_MUST_CHECK leat_code leat_job_setting_sha256(const leat_job *job, char digest[65],
                                                  leat_error *err);
LEAT_MUST_CHECK leat_code leat_job_spill_path(const leat_job *job, int worker, int group,
                                              char path[LEAT_PATH_BYTES], leat_error *err);
/* Room for the spills of state.workers and the groups of buckets. */
LEAT_MUST_CHECK leat_code leat_job_spills_new(leat_job *job, leat_error *err);
leat_spill *leat_job_spill(const leat_job *job, int worker, int group);
void leat_job_spills_close(leat_job *job);

/* scan.c: fills state and spills. */
LEAT_MUST_CHECK leat_code leat_job_scan(leat_job *job, leat_error *err);

/* sizes.c: what decides how much memory the write takes, from the state and the spills' streams. */
LEAT_MUST_CHECK leat_code leat_job_sizes(const leat_job *job, leat_write_sizes *sizes,
                                         leat_error *err);
/* Bytes that the serialised measurements of a row may take: --max-row-size, or what Arrow can. */
int64_t leat_job_row_limit(const leat_probes_ingest_options *options);

/* write.c: shards and their parts. */
LEAT_MUST_CHECK leat_code leat_job_write(leat_job *job, leat_error *err);

/* publish.c: index, manifest, run.json in the stage. */
LEAT_MUST_CHECK leat_code leat_job_finish(leat_job *job, leat_error *err);
/* Fills the result with what the data set has that an interrupted run has finished. */
LEAT_MUST_CHECK leat_code leat_job_count(leat_job *job, leat_error *err);

/* Whether the data set in DIR was made of these inputs with these options, as its run.json says;
 * if so, what it says is in state and result. */
LEAT_MUST_CHECK leat_code leat_job_is_finished(leat_job *job, bool *finished, leat_error *err);

/* The set of buckets that holds a split: with the ordered split both share one. */
static inline leat_split leat_job_bucket_set(const leat_job *job, leat_split split) {
    return job->options->split == LEAT_SPLIT_ORDERED ? LEAT_SPLIT_TRAIN : split;
}

static inline double leat_job_seconds(const leat_job *job, int64_t now_ns) {
    return (double)(now_ns - job->begin_ns) * 1e-9;
}

#endif
