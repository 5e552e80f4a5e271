/*
 * A run while it is trained, whoever computes its steps: the data, the folder, the state, and what
 * a run keeps. Order of what is written after a step: its samples, its line in metrics.jsonl, then,
 * if it is due, a checkpoint, before which the line is on disk; so a run that is killed anywhere
 * resumes at a checkpoint whose metrics and samples are there.
 */
#ifndef LEAT_TRAIN_RUN_SESSION_H
#define LEAT_TRAIN_RUN_SESSION_H

#include "base/ticker.h"
#include "train/run/metrics.h"
#include "train/run/task.h"
#include "train/step/trainer.h"

typedef struct leat_session {
    leat_run_options all;              /* not to be moved */
    const leat_train_options *options; /* of `all` */
    leat_train_result *result;
    const leat_task *task;
    leat_feed feed;
    int64_t steps;   /* of the run: after it has ended early, those that it has taken */
    int64_t planned; /* by options->steps or epochs: the most */
    leat_trainer *trainer;
    leat_identity identity;
    leat_run_folder folder;
    char version[LEAT_RUN_VERSION_BYTES]; /* of leat when the run began */
    void *measure;                        /* of the task; NULL: nothing is measured */
    leat_metrics metrics;
    leat_ticker ticker;
    int64_t begin_ns, saved_ns, epoch_ns;
    int64_t saved_step;                 /* of the last checkpoint; -1: none */
    int64_t taken, samples;             /* steps, and what they used, in this process */
    bool may_rewind;                    /* nothing but the folder has a later state */
    bool exported;                      /* once at least */
    bool export_failed;                 /* the last one; the caller knows it */
    double measured[LEAT_MEASURES_MAX]; /* after the last step, or as its checkpoint has them */
    double train_seconds;
} leat_session;

/* Opens the data and makes the first state; *result and the texts of *options must outlive the
 * session. Whatever this and the following functions return, leat_session_close frees it all. */
LEAT_MUST_CHECK leat_code leat_session_begin(leat_session *session, const char *model,
                                             const char *data, const leat_train_options *options,
                                             leat_train_result *result, leat_error *err);
/* Opens or creates the folder; with options->resume, the state is that of its last checkpoint, or
 * of the one to which options->rewind takes it. */
LEAT_MUST_CHECK leat_code leat_session_open(leat_session *session, const char *run,
                                            leat_error *err);
/* Before the first step of this process: measures the untrained model. */
LEAT_MUST_CHECK leat_code leat_session_start(leat_session *session, leat_error *err);
/* False: the caller wants the run to stop, or the last step is done. */
bool leat_session_goes_on(const leat_session *session);
/* After a step of the trainer: keeps what is due. `seconds` it took. */
LEAT_MUST_CHECK leat_code leat_session_stepped(leat_session *session,
                                               const leat_step_numbers *numbers, double seconds,
                                               leat_error *err);
/* The state was replaced by a later one of the run, whose step was taken elsewhere: measures it if
 * it would have been measured here, so that a run of many machines ends early where any other does.
 */
LEAT_MUST_CHECK leat_code leat_session_arrived(leat_session *session, leat_error *err);
/* Once it does not go on: saves what is not saved. LEAT_ERR_CANCELLED: the run is not at its end.
 */
LEAT_MUST_CHECK leat_code leat_session_finish(leat_session *session, leat_error *err);
void leat_session_close(leat_session *session);

/* Adds a sentence to what the caller should know. */
void leat_session_note(leat_session *session, const char *format, ...) LEAT_PRINTF(2, 3);

#endif
