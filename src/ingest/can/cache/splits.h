/* Which logs are training, which are which test, and which of them have no labels. */
#ifndef LEAT_INGEST_CAN_CACHE_SPLITS_H
#define LEAT_INGEST_CAN_CACHE_SPLITS_H

#include "format/can_cache/can_cache.h"
#include "ingest/can/read/injection.h"
#include "ingest/can/read/scan.h"

/* A file of the job; file_index of lines and frames is an index of this list. */
typedef struct leat_can_source {
    int split;        /* 0 training, 1.. tests */
    int attack_code;  /* by its name (leat_can_attack_code) */
    bool unlabelled;  /* nothing says whether its frames are attacks; after the scan */
    char *folder;     /* name of the folder that contains it */
    char *name;       /* the file's own name */
    bool in_test;     /* in a folder test_..., which is, or is in, the path that was given */
    bool may_be_test; /* its name, or that of such a folder, may say so */
    int32_t metadata; /* the number of the metadata beside it, from 1; 0: none */
} leat_can_source;

typedef struct leat_can_splits {
    leat_input_list inputs; /* by split, then path; files has as many */
    leat_can_source *files;
    int count;                                           /* 1 + tests */
    char name[LEAT_CAN_SPLITS_MAX][LEAT_CAN_NAME_BYTES]; /* "train", "test_..." */
    bool chosen;   /* by options, or by folders train_... and test_... */
    char like[65]; /* the digest of the cache whose vocabulary and scaler are used; "" */
    /* What files beside the logs say (capture_metadata.h): of each of the inputs, or NULL; and
     * those files. */
    leat_can_injection *injections;
    leat_can_span *spans; /* of all injections */
    uint32_t *injected_ids;
    int64_t span_count, span_capacity, injected_count, injected_capacity;
    struct leat_can_metadata *metadata;
    int64_t metadata_count, metadata_capacity;
} leat_can_splits;

LEAT_MUST_CHECK leat_code leat_can_splits_find(const char *const *paths, int64_t path_count,
                                               const leat_can_ingest_options *options,
                                               leat_can_splits *splits, leat_error *err);
void leat_can_splits_free(leat_can_splits *splits);
/* ---- what names say (log_names.c) ---- */

/* The size of a name without ".gz" and without its last suffix. */
size_t leat_can_stem_bytes(const char *name);
/* Whether a folder's name is that of training or of a test; whether a name may be that of a test,
 * which such logs may as well not be. */
bool leat_can_name_is_train(const char *name, size_t size);
bool leat_can_name_is_test(const char *name, size_t size);
bool leat_can_name_may_be_test(const char *name, size_t size);
/* The code of the attack that a file's name indicates (page 1.5); 0: none. `longer`: the later
 * list. */
int leat_can_attack_code(const char *name, const char *folder, bool longer);
/* Whether the name of a file or of its folder says that it has no attacks: it contains a word of
 * that list for benign logs, and none for an attack. */
bool leat_can_name_is_benign(const char *name, const char *folder);
/* Whether a log beside metadata is named "ambient", as those of ROAD without attacks are; and
 * whether it is named for an attack, or is in a folder that is. */
bool leat_can_name_is_ambient(const char *name);
bool leat_can_name_has_attack(const char *name, const char *folder);

/* ---- logs without labels ---- */

/* Logs with frames, but without labels: benign ones, and unlabelled ones. */
typedef struct leat_can_label_counts {
    int64_t benign, unlabelled;
} leat_can_label_counts;
/* After the scan, which filled files[]: decides which logs are unlabelled. */
void leat_can_splits_label(leat_can_splits *splits, const leat_can_file *files,
                           leat_can_unlabelled rule, leat_can_label_counts *counts);

#endif
