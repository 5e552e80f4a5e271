/*
 * One run of `leat ingest can`: what its steps share.
 *
 *   splits   which files are training, which are which test
 *   folder   the cache of these inputs and settings if it exists, or else its work folder,
 *            locked, in the parent
 *   scan     lines -> frames in the store (spilled)
 *   plan     vocabulary; streams in time order; windows with their node counts and labels; which
 *            are validation; the order of graphs
 *   write    graph by graph into one safetensors file per split, with page hashes; the scaler
 *   publish  metadata, then the work folder becomes the cache
 */
#ifndef LEAT_INGEST_CAN_CACHE_JOB_H
#define LEAT_INGEST_CAN_CACHE_JOB_H

#include "base/ticker.h"
#include "format/can_cache/can_cache.h"
#include "ingest/can/read/scan.h"
#include "ingest/can/store/store.h"
#include "ingest/source.h"
#include "leat/ingest.h"

/* A file of the job; file_index of lines and frames is an index of this list. */
typedef struct leat_can_source {
    int split;        /* 0 training, 1.. tests */
    int attack_code;  /* by its name (leat_can_attack_code) */
    bool unlabelled;  /* nothing says whether its frames are attacks; after the scan */
    char *folder;     /* name of the folder that contains it */
    char *name;       /* the file's own name */
    bool in_test;     /* in a folder test_..., which is, or is in, the path that was given */
    bool may_be_test; /* its name, or that of such a folder, may say so */
} leat_can_source;

typedef struct leat_can_splits {
    leat_input_list inputs; /* by split, then path; files has as many */
    leat_can_source *files;
    int count;                                           /* 1 + tests */
    char name[LEAT_CAN_SPLITS_MAX][LEAT_CAN_NAME_BYTES]; /* "train", "test_..." */
    bool chosen; /* by options, or by folders train_... and test_... */
} leat_can_splits;

/* settings.c: the value of a setting; NULL if it is one that is not set, which metadata and digests
 * then leave out. */
const char *leat_can_setting_text(const leat_setting *row, const leat_can_settings *settings,
                                  char text[LEAT_SETTING_BYTES]);

/* notes.c: appends to the warning what the user should know about how files were read. */
LEAT_MUST_CHECK leat_code leat_can_note_files(const leat_can_file *files,
                                              const leat_can_splits *splits,
                                              const leat_can_settings *settings, char *warning,
                                              size_t warning_bytes, leat_error *err);

/* Appends a warning if nearly all training graphs have an attack, which few recordings do. */
void leat_can_note_attacks(const leat_can_ingest_result *result, char *warning,
                           size_t warning_bytes);

/* found.c: counts the labels of result->cache, which already exists: split_attacks and
 * split_unlabelled. LEAT_ERR_CORRUPT: it is damaged. */
LEAT_MUST_CHECK leat_code leat_can_found_labels(const leat_can_meta *meta,
                                                leat_can_ingest_result *result, leat_error *err);

/* splits.c */
LEAT_MUST_CHECK leat_code leat_can_splits_find(const char *const *paths, int64_t path_count,
                                               const leat_can_ingest_options *options,
                                               leat_can_splits *splits, leat_error *err);
void leat_can_splits_free(leat_can_splits *splits);
/* The code of the attack that a file's name indicates (page 1.5); 0: none. `longer`: the later
 * list. */
int leat_can_attack_code(const char *name, const char *folder, bool longer);
/* Whether the name of a file or of its folder says that it has no attacks: it contains a word of
 * that list for benign logs, and none for an attack. */
bool leat_can_name_is_benign(const char *name, const char *folder);
/* Logs with frames, but without labels: benign ones, and unlabelled ones. */
typedef struct leat_can_label_counts {
    int64_t benign, unlabelled;
} leat_can_label_counts;
/* After the scan, which filled files[]: decides which logs are unlabelled. */
void leat_can_splits_label(leat_can_splits *splits, const leat_can_file *files,
                           leat_can_unlabelled rule, leat_can_label_counts *counts);

/* One window. */
typedef struct leat_can_window {
    uint32_t stream;
    uint32_t number; /* it begins at frame number * stride of the stream */
    uint16_t nodes;
    int16_t attack_first;  /* offset of the first frame labelled as an attack; -1 */
    uint16_t attack_count; /* frames labelled as attacks */
    uint16_t part;         /* of the cache; LEAT_CAN_SPLITS_MAX: dropped */
    int8_t y;              /* 1: attack_count > 0; else -1: a frame is unlabelled; else 0: benign */
    int8_t attack_type;    /* -1: unlabelled */
} leat_can_window;

/* Facts of a stream: a capture, or the captures of a split merged. */
typedef struct leat_can_stream {
    int split;
    int32_t file;      /* of its capture; -1: several */
    int32_t recording; /* number in its file, from 0; 0 if the file is -1 */
    int32_t bus;       /* -1: several */
    int64_t frames, windows;
    int64_t first_window; /* in the plan's list */
    double first_s, last_s;
    double pause_s, pause_at_s;     /* the longest time between two frames, and when it begins */
    int64_t between, tail, dropped; /* frames in no window, or in dropped ones only */
    leat_can_interval *intervals;   /* of its identifiers, ascending */
    int64_t interval_count;
} leat_can_stream;

/* Parts of a cache: 0 training, 1 validation, then the tests. */
typedef struct leat_can_plan {
    const leat_can_settings *settings;
    leat_can_stream *streams;
    int32_t stream_count;
    leat_can_window *windows; /* by stream, number */
    int64_t window_count;
    uint32_t *order; /* windows by part, nodes, stream, number; dropped ones last */
    int part_count;
    int64_t part_begin[LEAT_CAN_SPLITS_MAX + 1]; /* in `order` */
    int64_t windows_dropped;
    bool scale_all; /* the scaler takes all training windows: as set, or because none is benign */
} leat_can_plan;

/*
 * plan.c: from the store, whose streams are in order, to the graphs of each part.
 * stream_split[i] is the split of stream i, file_code[i] the attack code of file i.
 */
LEAT_MUST_CHECK leat_code leat_can_plan_make(leat_can_plan *plan, leat_can_store *store,
                                             const leat_can_stream *streams, int32_t stream_count,
                                             const leat_can_splits *splits,
                                             const leat_can_settings *settings, int threads,
                                             leat_ticker *ticker, leat_error *err);
void leat_can_plan_free(leat_can_plan *plan);
/* The name of the scaler that the training windows allow: z_all and robust_all where none of them
 * is benign, and none where there are no training windows. */
const char *leat_can_plan_scaler(const leat_can_plan *plan);
/* Bytes of a plan with the given number of windows, without the streams' intervals; while it is
 * built, also per thread with a table of the given number of identifiers; then, once all threads
 * are done, of the choice of validation windows. */
int64_t leat_can_plan_bytes(int64_t windows);
int64_t leat_can_planner_bytes(int64_t window, int64_t ids);
int64_t leat_can_permutation_bytes(int64_t windows, const leat_can_settings *settings);

/* balance.c: training and validation, as their windows turned out. */
typedef struct leat_can_sides {
    int64_t train, val, dropped; /* windows */
    double pause_s, pause_at_s;  /* the longest time without a frame, and when it begins */
} leat_can_sides;
/*
 * LEAT_ERR_INPUT: there are no training windows, or blocks of time give most of them to the wrong
 * side. Appends what the user should know otherwise to `warning`.
 */
LEAT_MUST_CHECK leat_code leat_can_sides_check(const leat_can_plan *plan,
                                               const leat_can_splits *splits,
                                               const leat_can_capture *captures,
                                               int64_t capture_count, int64_t clock_steps,
                                               char *warning, int64_t warning_bytes,
                                               leat_error *err);
/* The same warnings for an existing cache. */
void leat_can_sides_warn(const leat_can_meta *meta, const leat_can_settings *settings,
                         char *warning, int64_t warning_bytes);

/* counts.c */
LEAT_MUST_CHECK leat_code leat_can_counts_save(const leat_can_file *files, int64_t count,
                                               const char *path, leat_error *err);
/* LEAT_ERR_CORRUPT: it is damaged, or belongs to another scan than the one that filled the store.
 */
LEAT_MUST_CHECK leat_code leat_can_counts_load(leat_can_file *files, int64_t count,
                                               const leat_can_store *store, const char *path,
                                               leat_error *err);

/* validation.c: which part of time is validation. */
enum { LEAT_CAN_BLOCKS = 20 };
/* The boundaries of each training stream; streams that overlap in time have the same. */
typedef struct leat_can_cuts {
    double first_s, last_s;
    bool validation[LEAT_CAN_BLOCKS];
} leat_can_cuts;
LEAT_MUST_CHECK leat_code leat_can_cuts_make(const leat_can_stream *streams, int32_t count,
                                             double fraction, uint64_t seed, leat_can_cuts *cuts,
                                             leat_error *err);
/* 0 training, 1 validation, 2: a window from first_s to last_s crosses a boundary between them. */
int leat_can_cuts_part(const leat_can_cuts *cuts, double first_s, double last_s);

#endif
