/*
 * Checkpoints of a run, in RUN/checkpoints:
 *
 *     step-000000300.safetensors   the state (weights.h)
 *     step-000000300.json          run, step, hash of the state, position in the data,
 *                                  measurements
 *     step-000000300.sha256        hashes of both, as sha256sum writes them; written last
 *
 * Without the last file it is not a checkpoint. Each file appears complete or not at all.
 */
#ifndef LEAT_TRAIN_RUN_CHECKPOINT_H
#define LEAT_TRAIN_RUN_CHECKPOINT_H

#include "base/file.h"
#include "train/run/train_options.h"
#include "train/step/trainer.h"

typedef struct leat_checkpoint {
    const leat_task *task; /* of the run */
    int64_t step;
    int64_t position; /* of the next sample */
    char run[65];     /* hash of the run (identity.h) */
    char state[65];   /* hash of the state */
    char sha256[65];  /* of the weights' file */
    /* By task->measures, of which a checkpoint has the first task->saved_measures; NaN: not
     * measured at this step, or not one of those. */
    double measured[LEAT_MEASURES_MAX];
} leat_checkpoint;

typedef struct leat_checkpoints {
    const leat_task *task;
    leat_checkpoint *items; /* by step; those whose documents are whole */
    int64_t count, capacity;
    int64_t damaged; /* the last step whose document is damaged; -1: none */
    leat_error why;  /* what is wrong with it */
} leat_checkpoints;

/*
 * Lists those of a folder, which may be missing, and in which a process may train meanwhile. A
 * damaged document, or one of another run than `run` (the hash of one of `task`), is
 * LEAT_ERR_CORRUPT, or, with `tolerant`, left out.
 */
LEAT_MUST_CHECK leat_code leat_checkpoints_list(leat_checkpoints *list, const leat_task *task,
                                                const char *dir, const char *run, bool tolerant,
                                                leat_error *err);
void leat_checkpoints_free(leat_checkpoints *list);
/* NULL: there is none of this step (-1: none at all; otherwise the last). */
const leat_checkpoint *leat_checkpoints_find(const leat_checkpoints *list, int64_t step);
/* LEAT_ERR_OPTION: there is none of this step, but of these; with the epochs that they have seen of
 * that many samples (0: without). LEAT_ERR_CORRUPT: there is one, and it is damaged. */
LEAT_MUST_CHECK leat_code leat_checkpoints_refuse(const leat_checkpoints *list, int64_t step,
                                                  int64_t samples, leat_error *err);
/* The best by the measure that decides (patience.h), of steps up to `last`, and of equal ones the
 * first. NULL: none has such a measure. */
const leat_checkpoint *leat_checkpoints_best(const leat_checkpoints *list, int64_t last);

/* The step of the name of one of its files; -1: it is another file. */
int64_t leat_checkpoint_step(const char *name);
/* Path of the weights. */
LEAT_MUST_CHECK leat_code leat_checkpoint_path(const char *dir, int64_t step,
                                               char path[LEAT_PATH_BYTES], leat_error *err);
/* Writes one; `of` has the task, the run and what was measured, and receives the rest. */
LEAT_MUST_CHECK leat_code leat_checkpoint_save(const char *dir, leat_trainer *trainer,
                                               leat_checkpoint *of, leat_error *err);
/* Reads the state; LEAT_ERR_CORRUPT names the file that is damaged. */
LEAT_MUST_CHECK leat_code leat_checkpoint_load(const char *dir, const leat_checkpoint *of,
                                               leat_trainer *trainer, leat_error *err);
/*
 * Of the checkpoints up to step `last`, the one just saved, removes all but `keep` and the best
 * one; and files that an interrupted run has left. Later ones are damaged, or the run would not
 * have continued before them: they are not counted, and stay until they are written again.
 */
LEAT_MUST_CHECK leat_code leat_checkpoints_prune(const char *dir, const leat_task *task,
                                                 const char *run, int64_t keep, int64_t last,
                                                 leat_error *err);

#endif
