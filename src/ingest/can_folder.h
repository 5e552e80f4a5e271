/*
 * The folders of `leat ingest can`: CACHE/<name>-<digest>, which appears whole by a rename, and
 * CACHE/.leat-<digest>, where it grows, under the lock CACHE/.leat-<digest>.lock. The digest is of
 * the inputs' content and of the settings; inputs.json in the cache remembers where the inputs
 * were, how large and how old, so that they need not be read again to know that they are the same.
 * Frames are spilled to a folder of the run's own, in the work folder or in the one that temp_dir
 * names (temp.h).
 */
#ifndef LEAT_INGEST_CAN_FOLDER_H
#define LEAT_INGEST_CAN_FOLDER_H

#include "ingest/can_job.h"

typedef struct leat_can_folder {
    char cache[LEAT_PATH_BYTES]; /* where it is, or will be */
    char work[LEAT_PATH_BYTES];
    char temp[LEAT_PATH_BYTES]; /* for temporary files */
    bool temp_elsewhere;        /* not in `work`, where a file says then where it is */
    char lock_path[LEAT_PATH_BYTES];
    char digest[65];
    leat_file *lock;
    bool found; /* the cache is there: nothing is locked */
} leat_can_folder;

/*
 * Finds the cache of these inputs and settings, whatever its name, or locks its work folder, which
 * is made, as is `temp`; waits for another process that is making it. Both are empty unless the run
 * is to resume. Fills the files' sha256 unless it is found without reading.
 */
LEAT_MUST_CHECK leat_code leat_can_folder_open(leat_can_folder *folder, const char *parent,
                                               leat_can_splits *splits,
                                               const leat_can_ingest_options *options,
                                               leat_ticker *ticker, leat_error *err);
/* LEAT_ERR_INPUT names a log whose size, time or inode is not what it was when it was found: what
 * has been read of it need not be what was hashed. */
LEAT_MUST_CHECK leat_code leat_can_inputs_unchanged(const leat_can_splits *splits, leat_error *err);
/* Empties the work folder and `temp`: the run begins anew. */
LEAT_MUST_CHECK leat_code leat_can_folder_clear(const leat_can_folder *folder, leat_error *err);
/* inputs.json of the work folder. */
LEAT_MUST_CHECK leat_code leat_can_folder_describe(const leat_can_folder *folder,
                                                   const leat_can_splits *splits,
                                                   const leat_can_settings *settings,
                                                   leat_error *err);
/* `temp` goes, and the work folder becomes the cache. Everything in it must be on the disk. A temp
 * elsewhere that cannot be removed is no failure: the cache is whole without. */
LEAT_MUST_CHECK leat_code leat_can_folder_publish(leat_can_folder *folder, leat_error *err);
/* Gives the lock back; what is left of the work goes unless it is to be resumed. */
void leat_can_folder_close(leat_can_folder *folder, bool resumable);

#endif
