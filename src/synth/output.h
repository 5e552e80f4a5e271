/*
 * Writing and publishing synthetic data of any kind: an output appears completely or not at all. A
 * file or a folder is written next to its final place under a temporary name (leat_path_draft) and
 * renamed when the last byte is on disk.
 */
#ifndef LEAT_SYNTH_OUTPUT_H
#define LEAT_SYNTH_OUTPUT_H

#include "base/file.h"
#include "base/ticker.h"

typedef struct leat_synth_output {
    const char *what; /* the prefix of messages: "synthetic probes" */
    const char *path;
    bool is_folder, replace;
    /* Whether leat may have written the file or folder of this name in the output folder
     * ("part-00000.parquet", "train/x.csv"): only such files are ever removed. */
    bool (*is_ours)(const char *name);
    /* Creates and syncs the file or folder `temp`, which does not exist. */
    leat_code (*write)(void *context, const char *temp, leat_error *err);
    void *context;
    const leat_ticker *ticker; /* knows whether the run was stopped */
} leat_synth_output;

/* LEAT_ERR_EXISTS: the path exists and `replace` is not set, or it was not written by leat. On any
 * error nothing of this run is left. */
LEAT_MUST_CHECK leat_code leat_synth_publish(const leat_synth_output *output, leat_error *err);
/* Waits until the file at `path` is on disk and returns its size. */
LEAT_MUST_CHECK leat_code leat_synth_settle(const char *path, int64_t *size_bytes, leat_error *err);

#endif
