/*
 * leat/load_can.h: CAN caches opened for reading: graphs one by one, and the loader that makes
 * training batches from them. leat/load.h is the same for probe rows.
 */
#ifndef LEAT_LOAD_CAN_H
#define LEAT_LOAD_CAN_H

#include "leat/graph.h"
#include "leat/load.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The graphs of vehicle logs, as written by leat_can_ingest; docs/can-graphs.md says what they
 * hold. Opening reads no graph. A split is mapped when it is first used, and each 4 KiB page of it
 * is checked once, before anything in it is returned (LEAT_ERR_CORRUPT and LEAT_ERR_IO name file
 * and byte; the handler of SIGBUS that mapping installs is described in leat/load.h). Several
 * threads may read a cache at once. Texts belong to the cache.
 */
typedef struct leat_can_cache leat_can_cache;

/* Whether `path` is the folder of a cache, finished or not, or holds such folders: to be opened
 * with leat_can_cache_open, not leat_dataset_open. */
LEAT_API bool leat_can_cache_is_at(const char *path);
/* Lists the temporary folders of running or killed ingests and stagings: names that begin with
 * ".leat-" or ".stage-", sorted, separated by ", ", truncated to size_bytes (at least 1). Searches
 * `path`, or its parent if it is a cache itself. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_leftovers(const char *path, char *names,
                                                      size_t size_bytes, int64_t *count,
                                                      leat_error *err);
/* Opens the folder of a cache, or one that holds a single cache; if it holds several, the error
 * lists them. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_cache_open(leat_can_cache **out, const char *path,
                                                       leat_error *err);
/* After its readers and loaders. */
LEAT_API void leat_can_cache_close(leat_can_cache *cache);

typedef struct leat_can_facts {
    const char *path;        /* of the cache's own folder */
    const char *fingerprint; /* digest of inputs, settings and version, 64 hexadecimal digits */
    const char *dataset, *preset;
    const char *built_at;   /* UTC, if its writer stored it; "" in caches written by leat, for equal
                               bytes */
    int64_t window, stride; /* frames */
    bool frames;            /* frames are stored, and graphs are made from them while loading */
    int split_count;
    int64_t vocab_count, id_count; /* identifiers with a number; all, including unknown ones */
    int64_t capture_count;
    int64_t windows_dropped; /* between training and validation */
} leat_can_facts;
LEAT_API void leat_can_cache_get_facts(const leat_can_cache *cache, leat_can_facts *facts);
/* A setting that the cache was built with, by its name in leat_can_settings_table; NULL if there is
 * none. And the names that it has; NULL after the last. */
LEAT_API const char *leat_can_cache_setting(const leat_can_cache *cache, const char *name);
LEAT_API const char *leat_can_cache_setting_name(const leat_can_cache *cache, int index);
/* What the ingest found doubtful about the logs, or "". And the number of CAN-FD frames of which it
 * kept only the first 8 bytes. */
LEAT_API const char *leat_can_cache_warning(const leat_can_cache *cache);
LEAT_API int64_t leat_can_cache_frames_cut(const leat_can_cache *cache);
/* Identifier 0 <= index < id_count; those with a number come first; it is index + 1. */
LEAT_API const char *leat_can_cache_identifier(const leat_can_cache *cache, int64_t index);

typedef struct leat_can_scaler_facts {
    const char *strategy; /* "z_benign", ...; "z_all" also where no training graph is benign */
    double x_center[LEAT_NODE_FEATURES], x_scale[LEAT_NODE_FEATURES];
    double edge_center[LEAT_EDGE_FEATURES], edge_scale[LEAT_EDGE_FEATURES];
} leat_can_scaler_facts;
LEAT_API void leat_can_cache_get_scaler(const leat_can_cache *cache, leat_can_scaler_facts *scaler);

typedef struct leat_can_sizes_facts {
    int64_t min, max;
    double mean, p95, p99;
} leat_can_sizes_facts;
typedef struct leat_can_attack_count {
    const char *name; /* of the attack type, as leat_can_attack_name_of */
    int64_t graphs;
} leat_can_attack_count;

typedef struct leat_can_split {
    const char *name; /* "train", "val", "test_..." */
    int64_t graph_count, node_count, edge_count;
    leat_can_sizes_facts nodes, edges; /* of a graph */
    int64_t frames;                    /* of its logs; those of val are counted in train */
    int64_t file_bytes;
    const leat_can_attack_count *attacks;
    int attack_count;
} leat_can_split;
/* Split 0 <= index < split_count: train, val, then tests. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_cache_get_split(const leat_can_cache *cache, int index,
                                                            leat_can_split *out, leat_error *err);
/* The split of this name; LEAT_ERR_OPTION lists those that there are. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_cache_find_split(const leat_can_cache *cache,
                                                             const char *name, leat_can_split *out,
                                                             leat_error *err);

#define LEAT_CAN_CLASSES 2
typedef struct leat_can_classes {
    int64_t graphs[LEAT_CAN_CLASSES]; /* with y = 0 (benign) and y = 1 (attack) */
    int64_t unlabelled;               /* with y = -1 */
    double weight[LEAT_CAN_CLASSES];  /* n / (classes graphs[c]) */
} leat_can_classes;
/*
 * Counts the labels of a split, which is mapped for it, and weighs the classes so that each counts
 * the same in a loss: n is the number of labelled graphs, `classes` the number of classes that have
 * a graph, and the weights of all labelled graphs sum to n. A class without graphs has weight 0;
 * the other one then has 1. LEAT_ERR_OPTION if the cache has no split of this name.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_cache_get_classes(const leat_can_cache *cache,
                                                              const char *split,
                                                              leat_can_classes *out,
                                                              leat_error *err);

/* One bus of one recording in a log; or, merged, all logs of a split. */
typedef struct leat_can_capture_facts {
    const char *file, *folder; /* names; "" where captures are merged */
    const char *split;         /* "train" or a test */
    int32_t bus;               /* -1: mixed */
    int32_t vehicle;           /* by the file's name; 0: not known */
    int64_t frames, windows;
    int64_t tail, between, dropped; /* frames of no window, or of dropped ones alone */
    int64_t rejected;               /* lines */
    double first_s, last_s;
    int32_t recording; /* number in its log, whose clock falls back between two; 0: not known */
} leat_can_capture_facts;
/* Capture 0 <= index < capture_count. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_cache_get_capture(const leat_can_cache *cache,
                                                              int64_t index,
                                                              leat_can_capture_facts *out,
                                                              leat_error *err);

/* ---- Copies on fast storage --------------------------------------------------------------- */

typedef struct leat_can_stage_options {
    int threads; /* 1 .. 256 */
    leat_progress_fn progress;
    void *progress_user;
} leat_can_stage_options;
/* All processors, no progress. */
LEAT_API leat_can_stage_options leat_can_stage_options_default(void);

#define LEAT_CAN_STAGE_PATH_BYTES 4096
typedef struct leat_can_stage_result {
    char path[LEAT_CAN_STAGE_PATH_BYTES]; /* of the copy, which opens like any cache */
    bool reused;                          /* it existed already */
    int64_t size_bytes;                   /* of its files */
} leat_can_stage_result;

/*
 * Copies the cache (a path as for leat_can_cache_open) to "<dir>/<name of its folder>", unless that
 * exists and is complete: then only sizes and JSON are checked, and pages when they are loaded, as
 * always. Every byte is checked against its hash while it is copied, and the copy gets its name
 * when it is on the disk, so a folder of that name is complete; one that was truncated, or copied
 * from an earlier cache of the same inputs, is replaced. Of several processes one copies and the
 * others wait. LEAT_ERR_NO_SPACE says how many bytes are needed, LEAT_ERR_EXISTS that something
 * else has the name, LEAT_ERR_CORRUPT which byte of the cache is damaged. A failed call leaves no
 * files, and the next call removes those of a killed process. NULL options: the defaults.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_cache_stage(const char *cache, const char *dir,
                                                        const leat_can_stage_options *options,
                                                        leat_can_stage_result *result,
                                                        leat_error *err);

/* ---- Graphs one by one -------------------------------------------------------------------- */

/* What is known of a graph without looking at it. */
typedef struct leat_can_graph_facts {
    int64_t graph;        /* in its split */
    int64_t window_start; /* first frame of the window, in its capture */
    int32_t capture;
    int32_t node_count, edge_count;
    int32_t y; /* 1: some frame is an attack; else -1: some frame is unlabelled; else 0: benign */
    int32_t attack_type;  /* leat_can_attack_name_of has its name; -1 if y is -1 */
    int32_t attack_first; /* frame of the window, -1: none */
    int32_t attack_count; /* frames labelled as attacks */
} leat_can_graph_facts;

typedef enum leat_scale {
    LEAT_SCALE_STORED, /* f32(x - center) / scale, by the cache's scaler */
    LEAT_SCALE_NONE
} leat_scale;

typedef struct leat_can_graph {
    leat_can_graph_facts facts;
    const float *x;            /* [N, LEAT_NODE_FEATURES] */
    const float *edge_attr;    /* [E, LEAT_EDGE_FEATURES] */
    const int32_t *edge_index; /* [2, E] nodes 0 .. N - 1: sources, then targets */
    const int32_t *node_id;    /* [N] number of the identifier; 0: unknown */
} leat_can_graph;

/* Reads graphs of one split, for one thread. */
typedef struct leat_can_reader leat_can_reader;
/* LEAT_ERR_OPTION if the cache has no split of this name; the message lists those it has. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_reader_create(leat_can_reader **out,
                                                          const leat_can_cache *cache,
                                                          const char *split, leat_scale scale,
                                                          leat_error *err);
LEAT_API void leat_can_reader_destroy(leat_can_reader *reader);
LEAT_API LEAT_MUST_CHECK leat_code leat_can_reader_facts(leat_can_reader *reader, int64_t graph,
                                                         leat_can_graph_facts *facts,
                                                         leat_error *err);
/* The arrays belong to the reader, until its next graph. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_reader_graph(leat_can_reader *reader, int64_t graph,
                                                         leat_can_graph *out, leat_error *err);
/* The frames of a node of a graph read with LEAT_SCALE_NONE; 0 if a damaged count is not one. */
LEAT_API int64_t leat_can_node_frames(const leat_can_graph *graph, int64_t node);

/* ---- Summary and verification ---------------------------------------------------------------- */

typedef struct leat_can_summary_options {
    int threads;            /* 1..256; the result does not depend on it */
    int64_t read_bytes_max; /* read graphs up to about this many bytes; -1: all; 0: none */
    leat_progress_fn progress;
    void *progress_user;
} leat_can_summary_options;
/* All processors, 4 GiB. */
LEAT_API leat_can_summary_options leat_can_summary_options_default(void);

typedef struct leat_can_summary_attack {
    int32_t type; /* leat_can_attack_name has its name; -1: unlabelled */
    bool unknown; /* type 0, but frames are attacks: neither their labels nor the log's name give
                     the kind of attack */
    int64_t graphs;
    int64_t frames; /* labelled as attacks, of those graphs; where windows overlap, of each window
                     */
} leat_can_summary_attack;

typedef struct leat_can_summary_id {
    const char *text;
    int64_t frames;
} leat_can_summary_id;

#define LEAT_CAN_SUMMARY_ATTACKS 66
#define LEAT_CAN_SUMMARY_IDS 2048 /* as many as 11 bits make */
typedef struct leat_can_summary_split {
    leat_can_split facts;
    leat_distribution nodes;                                   /* of a graph */
    int64_t attack_count, benign_count, unlabelled_count;      /* graphs with y = 1, 0, -1 */
    leat_can_summary_attack attacks[LEAT_CAN_SUMMARY_ATTACKS]; /* those that occur, by type; then
                                                                  unknown, and unlabelled */
    int attack_types;
    /* Of the split's captures; those of val are counted in train. Frames in no window: at the end,
     * between windows, in windows dropped at a cut; rejected lines. */
    int64_t captures, tail, between, dropped, rejected;
    /* Identifiers without a number in its captures, by metadata, the most frequent first. */
    int64_t unknown_ids, unknown_frames;
    leat_can_summary_id unknown[LEAT_CAN_SUMMARY_IDS];
    int unknown_shown;
    /* Of the graphs that were read: nodes, and those without a number. */
    int64_t read_graphs, read_nodes, unknown_nodes;
} leat_can_summary_split;

/* Windows by their label. */
typedef enum leat_can_label {
    LEAT_CAN_LABEL_BENIGN,
    LEAT_CAN_LABEL_ATTACK,
    LEAT_CAN_LABEL_UNLABELLED,
    LEAT_CAN_LABELS
} leat_can_label;

/* The window that stands for all of a label: the one with the median number of nodes (of an even
 * number of windows, the lower of the two in the middle); of windows with that many, the first, in
 * the order of splits and graphs. */
typedef struct leat_can_summary_window {
    int split; /* of the summary; -1: no window has this label */
    leat_can_graph_facts facts;
} leat_can_summary_window;

/* Of the graphs that were read, of all splits. */
typedef struct leat_can_summary_identifier {
    const char *text;                 /* NULL: all identifiers without a number together */
    int32_t number;                   /* 0: those */
    int64_t windows[LEAT_CAN_LABELS]; /* that have it, by their label */
    int64_t
        frames[LEAT_CAN_LABELS]; /* of it in these; if windows overlap, a frame counts in each */
} leat_can_summary_identifier;

#define LEAT_CAN_COURSE 128
typedef struct leat_can_summary_capture {
    leat_can_capture_facts facts;
    int64_t graphs, attack_graphs, unlabelled_graphs; /* of all splits */
    /* Those whose window overlaps each LEAT_CAN_COURSE-th of its frames. */
    int32_t course[LEAT_CAN_COURSE], attack_course[LEAT_CAN_COURSE],
        unlabelled_course[LEAT_CAN_COURSE];
    /* When each of these parts ends, in seconds after its first frame, from the steps of the graphs
     * that were read, scaled to the time of the capture; all 0: not known. */
    double course_end_s[LEAT_CAN_COURSE];
} leat_can_summary_capture;

typedef struct leat_can_feature_facts {
    double min, mean, max;
    double zeros; /* share of the values that are 0 */
} leat_can_feature_facts;

/* Texts belong to the cache. */
typedef struct leat_can_summary {
    leat_can_summary_split *splits;
    int split_count;
    leat_can_summary_capture *captures;
    int64_t capture_count;
    leat_can_summary_window window[LEAT_CAN_LABELS];
    int64_t graphs, read_graphs; /* of all splits; the following is of those that were read */
    leat_can_summary_identifier *identifiers; /* those that occur, the most frames first */
    int64_t identifier_count;
    /* Unscaled, of the graphs of train that were read: all of them, or a sample that depends only
     * on their number. */
    leat_can_feature_facts x[LEAT_NODE_FEATURES], edge_attr[LEAT_EDGE_FEATURES];
} leat_can_summary;

/*
 * Summarises a cache, which must outlive the summary: labels and sizes cover every graph, features
 * those that are read. Damage fails the call (leat_can_cache_verify lists all of it). Memory: 72 KB
 * a split, 2.8 KB a capture, 64 bytes an identifier of the vocabulary, and 2 MB; while it is made,
 * all identifiers, 2 KB a capture, and 48 bytes for each of the vocabulary and thread.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_summary_create(leat_can_summary **out,
                                                           const leat_can_cache *cache,
                                                           const leat_can_summary_options *options,
                                                           leat_error *err);
LEAT_API void leat_can_summary_destroy(leat_can_summary *summary);

typedef struct leat_can_verify_report {
    int64_t splits, captures, graphs, nodes, edges, file_bytes; /* read and checked */
    /* Input files at the paths in inputs.json: unchanged, changed, missing. */
    int64_t inputs_same, inputs_changed, inputs_missing;
    int64_t problem_count, note_count;
    leat_verify_finding *findings; /* by file, byte and graph; those of the entire cache come last
                                    */
    int64_t finding_count;
} leat_can_verify_report;

/*
 * Reads all of a cache and checks it (docs/inspect.md lists what). As with leat_verify, damage does
 * not fail the call; findings name graphs instead of records. NULL options: the defaults. Memory: 8
 * bytes a page of the largest split, 40 bytes a graph of all, its JSON, and 2 MB a thread.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_cache_verify(const char *path,
                                                         const leat_verify_options *options,
                                                         leat_can_verify_report **out,
                                                         leat_error *err);
LEAT_API void leat_can_verify_report_destroy(leat_can_verify_report *report);

/* ---- A capture over time --------------------------------------------------------------------- */

#define LEAT_CAN_RASTER_COLUMNS 96
#define LEAT_CAN_RASTER_ROWS 32

/* The windows of the capture that begin in its frames first .. end - 1. */
typedef struct leat_can_raster_column {
    int64_t first, end;
    int64_t windows[LEAT_CAN_LABELS]; /* all of them, by label */
    int64_t read_windows;
    int64_t steps;  /* of the windows that were read, from one frame to the next: their edges */
    double seconds; /* that these take */
    double end_s;   /* when the column ends, in seconds after the capture's first frame */
} leat_can_raster_column;

typedef struct leat_can_raster_row {
    const char *text; /* the identifier; NULL: all those without a number together */
    int64_t frames; /* in the windows that were read; if windows overlap, a frame counts in each */
    int64_t cell[LEAT_CAN_RASTER_COLUMNS]; /* those of each column */
} leat_can_raster_row;

/* Texts belong to the cache. */
typedef struct leat_can_raster {
    leat_can_capture_facts capture;
    int64_t windows, read_windows;                           /* of the capture, in all splits */
    leat_can_raster_column columns[LEAT_CAN_RASTER_COLUMNS]; /* equally many places for windows */
    leat_can_raster_row rows[LEAT_CAN_RASTER_ROWS];          /* the most frames first */
    leat_can_raster_row others;                              /* all other identifiers together */
    int64_t other_count;
    int column_count, row_count;
    /* By what share the times of the columns, which are those of their steps, had to be scaled to
     * that of the capture; negative: no times are known, and all ends are 0. */
    double scaled;
} leat_can_raster;

/*
 * Counts the frames of each identifier over the course of a capture, in all splits that have
 * windows of it. Of the options, read_bytes_max and progress count. Memory: 28 bytes an identifier
 * of the vocabulary while it is made, and 33 KB.
 */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_raster_create(leat_can_raster **out,
                                                          const leat_can_cache *cache,
                                                          int32_t capture,
                                                          const leat_can_summary_options *options,
                                                          leat_error *err);
LEAT_API void leat_can_raster_destroy(leat_can_raster *raster);

/* ---- Batches of graphs -------------------------------------------------------------------- */

/*
 * A leat_loader for the graphs of one split: a batch is a pure function of cache, split, options,
 * epoch and its number in the epoch, and what leat/load.h says of threads, slots, waiting and
 * processes applies here too. Batches are drawn anew each epoch, so their number differs between
 * epochs.
 */
typedef struct leat_graph_loader leat_graph_loader;

typedef struct leat_graph_loader_options {
    /* Packing, budgets, curriculum, seed (below 2^63), epochs: leat/batch.h. */
    leat_graph_batch_options batches;
    leat_scale scale;
    const char *split;  /* as `scores`, used only by create */
    const char *scores; /* file of the scores of a curriculum by scores; NULL: none */
    /* Step s of an epoch is its batch s host_count + host_index, empty if there is no such batch,
     * so that all hosts have equally many steps. */
    int64_t host_index, host_count;
    int threads;      /* 1 .. 256 */
    int64_t prefetch; /* as in leat_loader_options */
    int64_t memory_bytes;
} leat_graph_loader_options;
/* Default batches, stored scale, train, one host, all processors, LEAT_PREFETCH_AUTO, 512 MiB. */
LEAT_API leat_graph_loader_options leat_graph_loader_options_default(void);
/* The options besides `batches` (leat_graph_batch_options_table), by name: "scale", "threads", ...
 */
LEAT_API const leat_setting_table *leat_graph_loader_options_table(void);

/* The cache must outlive the loader. NULL options: the defaults. */
LEAT_API LEAT_MUST_CHECK leat_code
leat_graph_loader_create(leat_graph_loader **out, const leat_can_cache *cache,
                         const leat_graph_loader_options *options, leat_error *err);
LEAT_API void leat_graph_loader_destroy(leat_graph_loader *loader);

/* The disjoint union of G graphs, with N nodes and E edges; each array on pages of its own,
 * read-only, except that the only owner of a batch may write to its arrays until it is released. */
typedef struct leat_graph_batch {
    int64_t epoch;
    int64_t batch, batch_count; /* its number in the epoch, and how many the epoch has */
    int64_t graph_count, node_count, edge_count;
    const float *x;                     /* [N, LEAT_NODE_FEATURES] */
    const float *edge_attr;             /* [E, LEAT_EDGE_FEATURES] */
    const int32_t *edge_index;          /* [2, E] nodes 0 .. N - 1: sources, then targets */
    const int32_t *node_id;             /* [N] number of the identifier; 0: unknown */
    const int32_t *node_graph;          /* [N] 0 .. G - 1, ascending */
    const int64_t *node_ptr, *edge_ptr; /* [G + 1] first node and edge of each graph */
    const int32_t *y, *attack_type;     /* [G] */
    const int64_t *graph;               /* [G] number in the split */
} leat_graph_batch;

/* The next batch, owned by the caller until leat_graph_batch_release; *out is NULL at the end of
 * the epochs. A step that failed fails again until leat_graph_loader_seek, with its first graph's
 * error. */
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_loader_next(leat_graph_loader *loader,
                                                          const leat_graph_batch **out,
                                                          leat_error *err);
LEAT_API bool leat_graph_loader_wait(leat_graph_loader *loader, int64_t timeout_ms);
LEAT_API void leat_graph_batch_retain(const leat_graph_batch *batch);
LEAT_API void leat_graph_batch_release(const leat_graph_batch *batch);

/* The position: epoch of the next batch, and the number of its batches that all hosts together have
 * done. */
LEAT_API void leat_graph_loader_place(const leat_graph_loader *loader, int64_t *epoch,
                                      int64_t *batch);
/* Moves to a position; `batch` is a multiple of host_count. Plans that epoch, as create plans the
 * first. */
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_loader_seek(leat_graph_loader *loader, int64_t epoch,
                                                          int64_t batch, leat_error *err);
/* As leat_loader_state, with the position {"epoch", "batch"}: a run may resume with another number
 * of hosts if it divides `batch`. */
LEAT_API void leat_graph_loader_state(const leat_graph_loader *loader,
                                      char text[LEAT_LOADER_STATE_BYTES]);
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_loader_restore(leat_graph_loader *loader,
                                                             const char *text, leat_error *err);
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_loader_save(const leat_graph_loader *loader,
                                                          const char *path, bool replace,
                                                          leat_error *err);
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_loader_load(leat_graph_loader *loader,
                                                          const char *path, leat_error *err);

typedef struct leat_graph_loader_facts {
    int64_t split_graphs;
    int64_t graphs;           /* of them, in batches: without those left out or skipped */
    int64_t left_out;         /* by the option graphs */
    const uint32_t *oversize; /* graphs over a budget, ascending; owned by the loader */
    int64_t oversize_count;   /* skipped, or each in a batch of its own, as the option says */
    int64_t most_graphs, most_nodes, most_edges; /* of any batch */
} leat_graph_loader_facts;
LEAT_API void leat_graph_loader_get_facts(const leat_graph_loader *loader,
                                          leat_graph_loader_facts *out);

typedef struct leat_graph_epoch_facts {
    int64_t batch_count, step_count; /* step_count: of each host, at least 1 */
    int64_t graph_count;
    int64_t tiers; /* active ones of the curriculum */
} leat_graph_epoch_facts;
/* Plans the epoch to find out; any thread. */
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_loader_get_epoch(const leat_graph_loader *loader,
                                                               int64_t epoch,
                                                               leat_graph_epoch_facts *out,
                                                               leat_error *err);

typedef struct leat_graph_loader_counters { /* of the batches returned so far, unless noted */
    int64_t batches, graphs, nodes, edges;
    int64_t payload_bytes; /* of the split's file, read and checked since create, each page once */
    int64_t stall_ns;      /* that the caller has waited, including the current wait */
    int64_t work_ns;       /* that all threads together have worked */
    int64_t memory_bytes;  /* that the loader needs by its own count */
    int64_t prefetch;      /* in use */
    int64_t read_wait_ns;  /* windowed order: that threads waited for windows to be read */
} leat_graph_loader_counters;
LEAT_API void leat_graph_loader_get_counters(const leat_graph_loader *loader,
                                             leat_graph_loader_counters *out);

/* leat_batch_hash_add for graphs: a batch's line is "epoch batch sha256", over its arrays in the
 * order of leat_graph_batch, little-endian; an empty batch has no line. */
LEAT_API void leat_batch_hash_add_graphs(leat_batch_hash *hash, const leat_graph_batch *batch,
                                         leat_textbuf *lines);

typedef struct leat_graph_explanation {
    int64_t epoch, batch, batch_count;
    int64_t tiers;
    int64_t graph_count, node_count, edge_count;
    leat_can_graph_facts *graphs; /* in the order of the batch */
} leat_graph_explanation;
/* Says which graphs a batch of any host holds, by planning its epoch again; any thread. */
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_loader_explain(const leat_graph_loader *loader,
                                                             int64_t epoch, int64_t batch,
                                                             leat_graph_explanation **out,
                                                             leat_error *err);
LEAT_API void leat_graph_explanation_destroy(leat_graph_explanation *explanation);

/* All batches of an epoch, of all hosts: batch b has the graphs graph[first[b] .. first[b + 1] -
 * 1].
 */
typedef struct leat_graph_epoch_lists {
    int64_t epoch, batch_count, graph_count;
    int64_t tiers;
    int64_t max_nodes, max_edges; /* of a batch, by budget and min_steps; INT32_MAX: no limit */
    const uint32_t *first;        /* [batch_count + 1] */
    const uint32_t *graph;        /* [graph_count] */
    /* Of each graph of the split; owned by the loader and its cache. */
    const int32_t *nodes, *edges, *y;
} leat_graph_epoch_lists;
/* Plans the epoch; reads no graph. Any thread. */
LEAT_API LEAT_MUST_CHECK leat_code leat_graph_loader_list_epoch(const leat_graph_loader *loader,
                                                                int64_t epoch,
                                                                leat_graph_epoch_lists **out,
                                                                leat_error *err);
LEAT_API void leat_graph_epoch_lists_destroy(leat_graph_epoch_lists *lists);

#ifdef __cplusplus
}
#endif
#endif
