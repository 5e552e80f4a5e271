/*
 * A run taken back to an earlier checkpoint. What it holds of later steps moves to RUN/rewound-STEP
 * (or rewound-STEP-2, ... if that exists):
 *
 *     rewind.json       the run and the step
 *     metrics.jsonl     the lines of later steps, if there are any
 *     checkpoints/, samples/
 *
 * The folder is RUN/.leat.rewind while it is filled. The lines are copied first; with rewind.json,
 * the rewind is decided, and all that follows are renames, which can be repeated: whoever trains in
 * the folder next completes them. At any time a reader finds complete checkpoints.
 */
#ifndef LEAT_TRAIN_RUN_REWIND_H
#define LEAT_TRAIN_RUN_REWIND_H

#include "train/run/folder.h"

typedef struct leat_rewound {
    int64_t step;
    char path[LEAT_PATH_BYTES]; /* where it is now; "": nothing was moved */
} leat_rewound;

/* The run: its folder, which is open, its hash, and the ending of what its task keeps of steps
 * (leat_run_kept_path). */
typedef struct leat_rewind_of {
    const leat_run_folder *folder;
    const char *run, *kept;
} leat_rewind_of;

/* Moves what is later than `step`, of which
 * there must be a checkpoint. A ledger receives a line about it. LEAT_ERR_CORRUPT: the ledger is
 * damaged, and nothing was moved. */
LEAT_MUST_CHECK leat_code leat_rewind(const leat_rewind_of *what, int64_t step, leat_rewound *out,
                                      leat_error *err);
/* Completes a rewind that was interrupted, if there is one. LEAT_ERR_CORRUPT: RUN/.leat.rewind is
 * not what leat has written for this run. */
LEAT_MUST_CHECK leat_code leat_rewind_complete(const leat_rewind_of *what, leat_rewound *out,
                                               leat_error *err);

#endif
