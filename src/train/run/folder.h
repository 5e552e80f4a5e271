/*
 * The folder of a run:
 *
 *     training.json     what the run is (identity.h), and its settings; without it, no run
 *     config.yaml       the settings, for --config
 *     metrics.jsonl     a line a step and a line an epoch (metrics.h)
 *     ledger.jsonl      who computed what, if many machines train it (ledger.h)
 *     reference.json    of a task: what was measured of the data
 *     detector.json     of a feed: what the data decide that others need
 *     calibration-000000100.safetensors    of a task: what the scores of step 100 are compared with
 *     checkpoints/      states (checkpoint.h)
 *     samples/          step-000000100.png, ...: what a task keeps of steps that were measured
 *     report.html       the command's
 *     rewound-100/      what came after step 100 before the run was rewound to it (rewind.h)
 *     .leat.rewind/     the same while it is moved
 *     .leat.lock        while a process trains in it
 */
#ifndef LEAT_TRAIN_RUN_FOLDER_H
#define LEAT_TRAIN_RUN_FOLDER_H

#include "base/lock.h"
#include "train/run/identity.h"

#define LEAT_RUN_TRAINING "training.json"
#define LEAT_RUN_CONFIG "config.yaml"
#define LEAT_RUN_METRICS "metrics.jsonl"
#define LEAT_RUN_LEDGER "ledger.jsonl"
#define LEAT_RUN_REFERENCE "reference.json"
#define LEAT_RUN_DETECTOR "detector.json"
#define LEAT_RUN_CALIBRATION "calibration-" /* begins the names of a detector's calibrations */
#define LEAT_RUN_REPORT "report.html"       /* of the command */
#define LEAT_RUN_CHECKPOINTS "checkpoints"
#define LEAT_RUN_SAMPLES "samples"
#define LEAT_RUN_REWIND ".leat.rewind"
#define LEAT_RUN_REWOUND "rewound-" /* and the step */

typedef struct leat_run_folder {
    char path[LEAT_PATH_BYTES];
    char checkpoints[LEAT_PATH_BYTES], samples[LEAT_PATH_BYTES];
    leat_lock lock; /* held between open and close */
    bool exists;    /* it holds a run */
    bool created;   /* the folder was created by leat_run_folder_open */
} leat_run_folder;

/*
 * Takes the lock of a folder in which to train. LEAT_ERR_EXISTS: it holds something else, or a run
 * and `resume` is not set; LEAT_ERR_BUSY: another process trains in it; LEAT_ERR_INPUT: a file of
 * the run is a link. A folder that is missing is created, and removed again by close if nothing was
 * written.
 */
LEAT_MUST_CHECK leat_code leat_run_folder_open(leat_run_folder *folder, const char *path,
                                               bool resume, leat_error *err);
void leat_run_folder_close(leat_run_folder *folder);
/* The same errors, as far as nothing has to be taken or written: for what comes before. */
LEAT_MUST_CHECK leat_code leat_run_folder_check(const char *path, bool resume, leat_error *err);
/* Removes what a run that could not begin has written, as far as that is possible: of a folder that
 * is open and held no run when it was opened, and so nothing; of others, nothing. */
void leat_run_folder_clear(const leat_run_folder *folder);
/* The paths alone, for readers. */
LEAT_MUST_CHECK leat_code leat_run_folder_look(leat_run_folder *folder, const char *path,
                                               leat_error *err);

/* "<folder>/<name>". */
LEAT_MUST_CHECK leat_code leat_run_folder_join(const leat_run_folder *folder, const char *name,
                                               char path[LEAT_PATH_BYTES], leat_error *err);

/* What a task keeps of a step is one file of RUN/samples, "step-000000100" and its `ending`, such
 * as
 * ".png"; and the step of such a name, -1: it is another file. `ending` NULL: nothing is kept. */
LEAT_MUST_CHECK leat_code leat_run_kept_path(const leat_run_folder *folder, const char *ending,
                                             int64_t step, char path[LEAT_PATH_BYTES],
                                             leat_error *err);
int64_t leat_run_kept_step(const char *name, const char *ending);

/* Writes training.json and config.yaml with the options that a run keeps, and makes the folders, in
 * this order: what has training.json is a run, and what does not is nobody's. `version`: of leat
 * when the run began. */
LEAT_MUST_CHECK leat_code leat_training_save(const leat_run_folder *folder,
                                             const leat_identity *identity,
                                             const leat_run_options *options, const char *version,
                                             leat_error *err);
/* Reads training.json. `options` are the defaults with the run's settings, which also are texts of
 * *settings (json_decref), and `version` is that of leat when it began. LEAT_ERR_CORRUPT: it is not
 * what was written; LEAT_ERR_NOT_FOUND: there is no run; LEAT_ERR_UNSUPPORTED: leat has no such
 * model. */
#define LEAT_RUN_VERSION_BYTES 32
LEAT_MUST_CHECK leat_code leat_training_load(const leat_run_folder *folder, leat_identity *identity,
                                             leat_run_options *options, json_t **settings,
                                             char version[LEAT_RUN_VERSION_BYTES], leat_error *err);

/* The settings that a run keeps, as a JSON object of texts on one line, and back: those of a run of
 * `model`. LEAT_ERR_CORRUPT: it is anything else; LEAT_ERR_OPTION: there is no such model. */
LEAT_MUST_CHECK leat_code leat_settings_write(const leat_run_options *options, leat_buf *out,
                                              leat_error *err);
LEAT_MUST_CHECK leat_code leat_settings_read(const char *text, const char *model,
                                             leat_run_options *options, leat_error *err);

#endif
