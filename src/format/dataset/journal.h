/*
 * A data set on its way to its place: DIR/.leat/publish.json (docs/dataset.md).
 *
 * The journal is written once the new data set is complete and on the disk in DIR/.leat/out, and is
 * removed when all of its files are in DIR and those of the data set that it replaces are gone. As
 * long as it is there, the data set of DIR is the new one, each file either still in DIR/.leat/out
 * or, if not there, in DIR already. So a reader that asks leat_places_path for every file opens the
 * old data set until the journal is there, and the new one from then on.
 */
#ifndef LEAT_FORMAT_DATASET_JOURNAL_H
#define LEAT_FORMAT_DATASET_JOURNAL_H

#include "base/file.h"
#include "format/dataset/layout.h"

#define LEAT_JOURNAL_NAME "publish.json"
/* The folder in DIR/.leat where a data set grows. */
#define LEAT_STAGE_NAME LEAT_WORK_OUT_NAME

/* The names of files follow from the numbers of shards (leat_layout_shard_name). */
typedef struct leat_journal {
    uint8_t manifest_sha256[32];     /* of the new data set */
    int64_t shards[LEAT_SPLITS];     /* of the new data set */
    int64_t old_shards[LEAT_SPLITS]; /* of the one that it replaces; 0: none */
    bool has_rejected;               /* the new one has a rejected.csv */
} leat_journal;

/* Durable: after a power failure it is there, or it is not. */
LEAT_MUST_CHECK leat_code leat_journal_save(const leat_journal *journal, const char *work_dir,
                                            leat_error *err);
/* *there is false if there is none. LEAT_ERR_CORRUPT, also for one of another version. */
LEAT_MUST_CHECK leat_code leat_journal_load(const char *work_dir, leat_journal *journal,
                                            bool *there, leat_error *err);

/* Where the files of a data set are. */
typedef struct leat_places {
    char dir[LEAT_PATH_BYTES];
    char stage[LEAT_PATH_BYTES]; /* "": no journal, all of them are in dir */
} leat_places;

/* Looks for a journal in dir/.leat. A damaged one is an error: it is unknown which of two data sets
 * is there. */
LEAT_MUST_CHECK leat_code leat_places_find(leat_places *places, const char *dir, leat_error *err);

/* The same, and whether there is a data set in dir: one that is being moved into place has no
 * manifest there for a moment. */
LEAT_MUST_CHECK leat_code leat_places_look(leat_places *places, const char *dir, bool *there,
                                           leat_error *err);

/* The folder that a file is in: stage or dir. */
LEAT_MUST_CHECK leat_code leat_places_folder(const leat_places *places, const char *name,
                                             const char **folder, leat_error *err);

/* The path of a file, "manifest.json" or "train/train_shard_00000.arrayrecord". It may move at any
 * moment: a caller that does not find it there asks again. */
LEAT_MUST_CHECK leat_code leat_places_path(const leat_places *places, const char *name,
                                           char path[LEAT_PATH_BYTES], leat_error *err);

#endif
