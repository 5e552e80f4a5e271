/*
 * One run of `leat ingest can`: what its steps share.
 *
 *   splits   which files are training, which are which test
 *   folder   the cache that these inputs and settings make: there already, or its work folder,
 *            locked, in the parent
 *   scan     lines -> frames in the store (spilled)
 *   plan     vocabulary; streams in time order; windows with their node counts and labels; which
 *            are validation; the order of graphs
 *   write    graph by graph into one safetensors file a split, with page hashes; the scaler
 *   publish  metadata, then the work folder becomes the cache
 */
#ifndef LEAT_INGEST_CAN_JOB_H
#define LEAT_INGEST_CAN_JOB_H

#include "base/ticker.h"
#include "format/can_cache.h"
#include "ingest/can_lines.h"
#include "ingest/can_store.h"
#include "ingest/source.h"
#include "leat/ingest.h"

/* A file of the job; file_index of lines and frames counts these. */
typedef struct leat_can_source {
    int split;       /* 0 training, 1.. tests */
    int attack_code; /* by its name (leat_can_attack_code) */
    char *folder;    /* name of the folder that holds it */
    char *name;      /* its own */
    uint8_t sha256[32];
} leat_can_source;

typedef struct leat_can_splits {
    leat_input_list inputs; /* by split, then path; files has as many */
    leat_can_source *files;
    int count;                                           /* 1 + tests */
    char name[LEAT_CAN_SPLITS_MAX][LEAT_CAN_NAME_BYTES]; /* "train", "test_..." */
} leat_can_splits;

/* can_settings.c */
LEAT_MUST_CHECK leat_code leat_can_settings_check(const leat_can_settings *settings,
                                                  leat_error *err);

/* can_splits.c */
LEAT_MUST_CHECK leat_code leat_can_splits_find(const char *const *paths, int64_t path_count,
                                               const leat_can_ingest_options *options,
                                               leat_can_splits *splits, leat_error *err);
void leat_can_splits_free(leat_can_splits *splits);
/* The code of the attack that a file's name tells of (page 1.5); 0: none. `longer`: the later list.
 */
int leat_can_attack_code(const char *name, const char *folder, bool longer);

/* One window. */
typedef struct leat_can_window {
    uint32_t stream;
    uint32_t number; /* it begins at frame number * stride of the stream */
    uint16_t nodes;
    int16_t attack_first;  /* offset of the first labelled frame; -1 */
    uint16_t attack_count; /* labelled frames */
    uint16_t part;         /* of the cache; LEAT_CAN_SPLITS_MAX: dropped */
    uint8_t attack_type;
} leat_can_window;

/* What is known of a stream: a capture, or the captures of a split merged. */
typedef struct leat_can_stream {
    int split;
    int32_t file; /* its capture's, -1: of several */
    int32_t bus;  /* -1: of several */
    int64_t frames, windows;
    int64_t first_window; /* in the plan's list */
    double first_s, last_s;
    int64_t between, tail, dropped; /* frames in no window, or in dropped ones alone */
    leat_can_interval *intervals;   /* of the identifiers in it, ascending */
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
} leat_can_plan;

/*
 * can_plan.c: from the store, whose streams are in order, to the graphs of each part.
 * stream_split[i] is the split of stream i, file_code[i] the attack code of file i.
 */
LEAT_MUST_CHECK leat_code leat_can_plan_make(leat_can_plan *plan, leat_can_store *store,
                                             const leat_can_stream *streams, int32_t stream_count,
                                             const leat_can_splits *splits,
                                             const leat_can_settings *settings, int threads,
                                             leat_ticker *ticker, leat_error *err);
void leat_can_plan_free(leat_can_plan *plan);
/* Bytes that the plan of so many windows takes, without the streams' intervals; while it is made,
 * each thread with a table of so many identifiers; then, with all threads done, the choice of
 * validation windows. */
int64_t leat_can_plan_bytes(int64_t windows);
int64_t leat_can_planner_bytes(int64_t window, int64_t ids);
int64_t leat_can_permutation_bytes(int64_t windows, const leat_can_settings *settings);

/* can_counts.c */
LEAT_MUST_CHECK leat_code leat_can_counts_save(const leat_can_file *files, int64_t count,
                                               const char *path, leat_error *err);
/* LEAT_ERR_CORRUPT: it is damaged, or of another scan than the one that filled the store. */
LEAT_MUST_CHECK leat_code leat_can_counts_load(leat_can_file *files, int64_t count,
                                               const leat_can_store *store, const char *path,
                                               leat_error *err);

/* can_blocks.c: which part of time is validation. */
enum { LEAT_CAN_BLOCKS = 20 };
/* The cuts of each training stream; streams that overlap in time have the same. */
typedef struct leat_can_cuts {
    double first_s, last_s;
    bool validation[LEAT_CAN_BLOCKS];
} leat_can_cuts;
LEAT_MUST_CHECK leat_code leat_can_cuts_make(const leat_can_stream *streams, int32_t count,
                                             double fraction, uint64_t seed, leat_can_cuts *cuts,
                                             leat_error *err);
/* 0 training, 1 validation, 2: a window from first_s to last_s is over a cut between them. */
int leat_can_cuts_part(const leat_can_cuts *cuts, double first_s, double last_s);

#endif
