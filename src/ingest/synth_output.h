/*
 * How synthetic data comes to its place, whatever it is: progress and cancelling of several
 * threads, and an output that appears whole or not at all. A file or a folder is written under
 * "<path>.tmp" and takes its name when the last byte is on the disk.
 */
#ifndef LEAT_INGEST_SYNTH_OUTPUT_H
#define LEAT_INGEST_SYNTH_OUTPUT_H

#include "base/file.h"
#include "base/thread.h"

/* Of one run, shared by its threads. */
typedef struct leat_synth_progress {
    const char *unit; /* what is counted: "rows" */
    int64_t total, done;
    leat_progress_fn report; /* NULL: nobody asks */
    void *user;
    pthread_mutex_t lock;  /* around the report */
    atomic_bool stopped;   /* a thread failed or the caller wants no more */
    atomic_bool cancelled; /* the caller wants no more */
} leat_synth_progress;

void leat_synth_progress_init(leat_synth_progress *progress, const char *unit, int64_t total,
                              leat_progress_fn report, void *user);
void leat_synth_progress_destroy(leat_synth_progress *progress);
/* `count` more are done; false: stop. The first argument is the progress. */
bool leat_synth_advance(void *progress, int64_t count);
/* What a thread that ends with `code` returns: an error makes the others stop, and one that was
 * stopped so has no error of its own, which could hide the first. */
LEAT_MUST_CHECK leat_code leat_synth_ended(leat_synth_progress *progress, leat_code code);

typedef struct leat_synth_output {
    const char *what; /* which begins messages: "synthetic probes" */
    const char *path;
    bool is_folder, replace;
    /* Whether a run of ours may have made the file or folder of this name in the output folder
     * ("part-00000.parquet", "train/x.csv"): only such are ever removed. */
    bool (*is_ours)(const char *name);
    /* Makes the file or folder `temp`, which is not there, and has it on the disk. */
    leat_code (*write)(void *context, const char *temp, leat_error *err);
    void *context;
    const leat_synth_progress *progress;
} leat_synth_output;

/* LEAT_ERR_EXISTS: something is at the path and `replace` is not set, or it is not ours. On any
 * error nothing of this run is left. */
LEAT_MUST_CHECK leat_code leat_synth_publish(const leat_synth_output *output, leat_error *err);
/* Waits until the file at `path` is on the disk and tells its size. */
LEAT_MUST_CHECK leat_code leat_synth_settle(const char *path, int64_t *size_bytes, leat_error *err);

#endif
