/*
 * The folder DIR that an ingest turns into a data set, for the kinds that are the folder itself:
 * probes and images. (CAN caches lie in folders of their own: ingest/can/cache/folder.h.)
 *
 * The output is written to DIR/.leat/out, in the work folder DIR/.leat (base/workdir.h), under the
 * lock DIR/.leat.lock, and moved into place at the end. Third-party files are never touched, and
 * nothing is removed except under the lock. What is in DIR decides, with the options, whether a run
 * may begin: nothing; a data set, with --replace; an interrupted run, with --resume or --replace. A
 * complete data set that a run could not move into place is moved first, whatever the options.
 */
#ifndef LEAT_INGEST_FOLDER_H
#define LEAT_INGEST_FOLDER_H

#include "base/lock.h"
#include "base/workdir.h"
#include "format/output.h"

typedef struct leat_ingest_folder leat_ingest_folder;

/* What a kind of data set consists of. */
typedef struct leat_ingest_folder_kind {
    leat_output_kind output;
    leat_workdir_names work_names; /* everything that a run keeps in DIR/.leat */
    const char *identity; /* the file that makes DIR a data set; its hash tells it from others */
    const char *state;    /* in DIR/.leat: with it, an interrupted run can be continued. It
                             is removed first, so a run that is killed while it removes its
                             work leaves no state that calls half of it complete */
    const char *last;     /* in DIR/.leat: removed after everything else; NULL: none */
    /* Whether the stage holds a complete data set, which is moved into place. */
    leat_code (*is_publishing)(const leat_ingest_folder *folder, bool *publishing, leat_error *err);
    /* The data set in DIR is to be replaced: LEAT_ERR_EXISTS if it is not one that can be. */
    leat_code (*look_at_old)(leat_ingest_folder *folder, leat_error *err);
    /* LEAT_ERR_EXISTS if third-party files are where the data set's go. */
    leat_code (*check_others)(const leat_ingest_folder *folder, leat_error *err);
    /* Moves a complete data set into place; can be repeated. LEAT_ERR_CORRUPT: it is not complete.
     */
    leat_code (*publish)(const leat_ingest_folder *folder, leat_error *err);
    /* --replace discards one that could not be moved. */
    leat_code (*give_up)(leat_ingest_folder *folder, leat_error *err);
} leat_ingest_folder_kind;

struct leat_ingest_folder {
    const leat_ingest_folder_kind *kind;
    void *context;               /* the kind's own */
    char out[LEAT_PATH_BYTES];   /* DIR */
    char work[LEAT_PATH_BYTES];  /* DIR/.leat */
    char stage[LEAT_PATH_BYTES]; /* DIR/.leat/out, the data set being written */
    leat_workdir workdir;        /* DIR/.leat, and the folder of temporary files */
    leat_lock lock;
    bool created;   /* DIR was made by this run */
    bool resuming;  /* the state of an interrupted run exists and is to be used */
    bool finished;  /* nothing is left to resume: the existing data set may be the requested one */
    bool published; /* this run moved the finished output of an interrupted run into place */
};

typedef struct leat_ingest_folder_options {
    bool resume, replace;
    const char *temp_dir; /* must exist; NULL: inside DIR/.leat */
} leat_ingest_folder_options;

/* Creates and locks DIR/.leat if the options allow it for DIR as it is; LEAT_ERR_EXISTS reports
 * what exists, LEAT_ERR_BUSY that another run is active. */
LEAT_MUST_CHECK leat_code leat_ingest_folder_open(leat_ingest_folder *folder,
                                                  const leat_ingest_folder_kind *kind,
                                                  void *context, const char *out_dir,
                                                  const leat_ingest_folder_options *options,
                                                  leat_error *err);

typedef enum leat_ingest_outcome {
    LEAT_INGEST_DONE,      /* published: removes what is left of the work */
    LEAT_INGEST_FAILED,    /* removes everything that the run has created */
    LEAT_INGEST_RESUMABLE, /* keeps everything for --resume */
} leat_ingest_outcome;
/* Also releases the lock. The next run finds what could not be removed. */
LEAT_MUST_CHECK leat_code leat_ingest_folder_close(leat_ingest_folder *folder,
                                                   leat_ingest_outcome outcome, leat_error *err);

/* Says what leat_ingest_folder_close has left of the work on a data set that is complete. */
void leat_ingest_folder_warn(const leat_ingest_folder *folder, const leat_error *left,
                             char *warning, size_t warning_bytes);

/* LEAT_ERR_EXISTS: DIR holds a complete data set. */
LEAT_MUST_CHECK leat_code leat_ingest_folder_refuse(const leat_ingest_folder *folder,
                                                    leat_error *err);
/* LEAT_ERR_EXISTS: the file `name` in `dir` is third-party. */
LEAT_MUST_CHECK leat_code leat_ingest_folder_refuse_other(const char *dir, const char *name,
                                                          leat_error *err);
/* Whether a file or folder of this name is in `dir`. */
LEAT_MUST_CHECK leat_code leat_ingest_folder_has(const char *dir, const char *name, bool *there,
                                                 leat_error *err);

#endif
