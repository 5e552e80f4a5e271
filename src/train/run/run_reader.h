/* A run opened for reading, private part. */
#ifndef LEAT_TRAIN_RUN_RUN_READER_H
#define LEAT_TRAIN_RUN_RUN_READER_H

#include "train/run/checkpoint.h"
#include "train/run/folder.h"
#include "train/run/task.h"

struct leat_run {
    const leat_task *task;
    leat_run_folder folder;
    leat_identity identity;
    leat_run_options options; /* the run's settings; the machine's are defaults */
    json_t *settings;
    leat_checkpoints checkpoints;
    int64_t *kept; /* the steps of which it keeps a file (leat_run_kept_path), ascending */
    int64_t kept_count;
    char version[LEAT_RUN_VERSION_BYTES]; /* of leat, that began it */
    leat_train_reference reference;
};

/* A trainer with the state of a checkpoint (-1: the last), without data: for samples and exports.
 * *checkpoint (may be NULL) belongs to the run. */
LEAT_MUST_CHECK leat_code leat_run_load(const leat_run *run, int64_t step, int threads,
                                        const char *kernels, leat_trainer **trainer,
                                        const leat_checkpoint **checkpoint, leat_error *err);

#endif
