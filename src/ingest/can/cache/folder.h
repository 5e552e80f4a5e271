/*
 * The folders of `leat ingest can`: CACHE/<name>-<digest>, which appears complete by a rename, and
 * CACHE/.leat-<digest>, the work folder (base/workdir.h) where it is written, under the lock
 * CACHE/.leat-<digest>.lock. The digest is of the inputs' contents and of the settings. inputs.json
 * in the cache records paths, sizes and times of the inputs, so that they need not be read again to
 * recognise them. Frames are spilled to the work folder's folder for temporary files, which may be
 * in temp_dir.
 */
#ifndef LEAT_INGEST_CAN_CACHE_FOLDER_H
#define LEAT_INGEST_CAN_CACHE_FOLDER_H

#include "base/lock.h"
#include "base/workdir.h"
#include "ingest/can/cache/splits.h"

typedef struct leat_can_folder {
    const char *parent;          /* the folder of caches, as given */
    char cache[LEAT_PATH_BYTES]; /* where it is, or will be */
    char work[LEAT_PATH_BYTES];
    char out[LEAT_PATH_BYTES]; /* in `work`: the cache being written */
    char lock_path[LEAT_PATH_BYTES];
    char digest[65];
    leat_workdir workdir; /* `work`, and the folder of temporary files */
    const char *temp_dir; /* of the options */
    leat_lock lock;
    bool found;           /* the cache exists: nothing is locked */
    bool created;         /* the parent was created by this run */
    bool hashed;          /* the digest is of the inputs' actual contents, not of inputs.json */
    bool in_place;        /* `cache` contains files, which the new ones replace one by one */
    int64_t older_reader; /* of a cache of the same logs and settings, by other rules; or 0 */
    char older[LEAT_PATH_BYTES]; /* that cache */
    char warning[1024];          /* what could not be cleaned up; "" */
} leat_can_folder;

/* Of a finished scan, in the work folder. */
#define LEAT_CAN_STATE_NAME "scan.state"
#define LEAT_CAN_COUNTS_NAME "scan.json"

/*
 * Finds the cache of these inputs and settings, whatever its name, or else creates and locks its
 * work folder, and one for temporary files in temp_dir, which must exist. Both are empty unless the
 * run is to resume, except for inputs.json in `out`, by which other runs recognise this one. With
 * options->replace an existing cache is not found; its folder becomes the place of the new one.
 * Fills the files' sha256 unless the cache is found without reading them. LEAT_ERR_EXISTS:
 * something other than a complete cache is in its place, or the parent holds a data set of probe
 * rows. LEAT_ERR_BUSY: another process is building the cache; usually known before the inputs are
 * hashed.
 */
LEAT_MUST_CHECK leat_code leat_can_folder_open(leat_can_folder *folder, const char *parent,
                                               leat_can_splits *splits,
                                               const leat_can_ingest_options *options,
                                               leat_ticker *ticker, leat_error *err);
/* Empties the work folder, except for inputs.json: the run starts over, with another number. */
LEAT_MUST_CHECK leat_code leat_can_folder_clear(leat_can_folder *folder,
                                                const leat_can_splits *splits,
                                                const leat_can_settings *settings, leat_error *err);
/* Checks the files of a cache that was found against its metadata: their names and sizes; with
 * options->verify also the pages of all splits, and the number of rejected lines. LEAT_ERR_CORRUPT
 * names the file and how to rebuild the cache. */
LEAT_MUST_CHECK leat_code leat_can_folder_check(const leat_can_folder *folder,
                                                const leat_can_meta *meta,
                                                const leat_can_ingest_options *options,
                                                leat_ticker *ticker, leat_error *err);
/* `out` becomes the cache, and the work folder is removed. Everything in `out` must be on disk.
 * What cannot be removed is a warning: the cache is complete without it. */
LEAT_MUST_CHECK leat_code leat_can_folder_publish(leat_can_folder *folder, leat_error *err);
/* Releases the lock. Removes what is left of the work unless it is to be resumed, and the parent if
 * this run has created it and it is empty. */
void leat_can_folder_close(leat_can_folder *folder, bool resumable);

#endif
