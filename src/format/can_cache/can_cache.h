/*
 * A cache of CAN graphs on disk: its files, the tensors of each split, and the JSON beside them.
 * The contract between ingest, which writes caches, and load. docs/can-graphs.md, "The cache".
 *
 *   <split>.safetensors, <split>.pages    for train, val and each test_...
 *   vocab.json, scaler.json, cache_metadata.json
 *   .complete                             SHA-256 of those three; written last
 *   inputs.json                           ingest's own: the files it was made from
 */
#ifndef LEAT_FORMAT_CAN_CACHE_CAN_CACHE_H
#define LEAT_FORMAT_CAN_CACHE_CAN_CACHE_H

#include "base/hash.h"
#include "format/complete.h"
#include "format/output.h"
#include "format/safetensors/safetensors.h"
#include "format/tensor_file.h"

#define LEAT_CAN_CACHE_FORMAT "leat.can"
#define LEAT_CAN_CACHE_VERSION 1

#define LEAT_CAN_INPUTS_NAME "inputs.json"
#define LEAT_CAN_COMPLETE_NAME LEAT_COMPLETE_NAME

/* What to do about a damaged cache, at the end of a message. */
#define LEAT_CAN_REBUILD "repeat the `leat ingest can` command of this cache with --replace"

/* The names of a cache's own files, as a list for base/workdir.h, with `prefix` before each. */
#define LEAT_CAN_CACHE_NAMES(prefix)                                                               \
    prefix LEAT_CAN_COMPLETE_NAME, prefix LEAT_CAN_INPUTS_NAME, prefix LEAT_REJECTED_NAME,         \
        prefix "vocab.json", prefix "scaler.json", prefix LEAT_CAN_METADATA_NAME,                  \
        prefix "train.safetensors", prefix "train.pages", prefix "val.safetensors",                \
        prefix "val.pages", prefix "test_*.safetensors", prefix "test_*.pages"
#define LEAT_CAN_TENSORS_SUFFIX LEAT_TENSORS_SUFFIX
#define LEAT_CAN_PAGES_SUFFIX LEAT_PAGES_SUFFIX

#define LEAT_CAN_SPLIT_TRAIN "train"
#define LEAT_CAN_SPLIT_VAL "val"
#define LEAT_CAN_SPLIT_TEST "test_" /* how the others begin */
#define LEAT_CAN_CACHE_SPLITS_MAX 512
#define LEAT_CAN_NAME_BYTES 128

/* "train", "val", or "test_" and letters, digits, "-", "_" and "."; fits LEAT_CAN_NAME_BYTES. */
bool leat_can_split_is_name(const char *name);

/* ---- Tensors of a split ------------------------------------------------------------------- */

/* Columns of x, of edge_attr and of frame_bytes: those of leat/graph.h. */
enum { LEAT_CAN_X_COLUMNS = 35, LEAT_CAN_EDGE_COLUMNS = 11, LEAT_CAN_BYTE_COLUMNS = 8 };
#define LEAT_CAN_CACHE_WINDOW_MAX 4096

/* In the order of the file, wide types first. */
typedef enum leat_can_tensor {
    LEAT_CAN_NODE_PTR,     /* i64 [G + 1] first node of each graph */
    LEAT_CAN_EDGE_PTR,     /* i64 [G + 1] */
    LEAT_CAN_WINDOW_START, /* i64 [G] frame of its capture */
    LEAT_CAN_FRAME_TIME,   /* f64 [G W], store "frames" */
    LEAT_CAN_X,            /* f32 [N, 35], unscaled; store "features", as the next three */
    LEAT_CAN_EDGE_ATTR,    /* f32 [E, 11] */
    LEAT_CAN_EDGE_INDEX,   /* i32 [2, E] nodes of their own graph: sources, then targets */
    LEAT_CAN_NODE_ID,      /* i32 [N] number of the identifier; 0: unknown */
    LEAT_CAN_FRAME_ID,     /* u32 [G W] index into leat_can_ids; store "frames" */
    LEAT_CAN_Y,            /* i32 [G] 1: some frame is an attack; else -1: some frame is unlabelled;
                              else 0: benign; i32 [G] as the next four */
    LEAT_CAN_ATTACK_TYPE,  /* -1: unlabelled */
    LEAT_CAN_ATTACK_FIRST, /* offset of the first frame labelled as an attack; -1 */
    LEAT_CAN_ATTACK_COUNT, /* frames labelled as attacks */
    LEAT_CAN_CAPTURE,      /* index into leat_can_meta.captures */
    LEAT_CAN_FRAME_BYTES,  /* i16 [G W, 8]; store "frames" */
    LEAT_CAN_TENSORS
} leat_can_tensor;
const char *leat_can_tensor_name(leat_can_tensor tensor); /* "node_ptr" */

typedef struct leat_can_shape {
    int64_t graphs, nodes, edges, window; /* G, N, E, W */
    bool frames;                          /* store "frames", else "features" */
} leat_can_shape;

/* Fills tensors[] (name, type, shape) for leat_safetensors_plan; returns how many there are. */
int64_t leat_can_tensors(const leat_can_shape *shape, leat_tensor tensors[LEAT_CAN_TENSORS]);
/*
 * Whether a file has just the tensors of this shape, aligned to their types: LEAT_ERR_CORRUPT if
 * not. offsets[] are then their places in the file, -1 for those of the other store. The caller
 * that maps the file checks the contents of node_ptr and edge_ptr.
 */
LEAT_MUST_CHECK leat_code leat_can_tensors_check(const leat_safetensors *tensors,
                                                 const leat_can_shape *shape,
                                                 int64_t offsets[LEAT_CAN_TENSORS],
                                                 leat_error *err);

/* ---- What the JSON says ------------------------------------------------------------------- */

#define LEAT_CAN_ID_TEXT_BYTES 24 /* "65535:" and up to 16 characters, and a NUL */
#define LEAT_CAN_WORD_BYTES 32

/* All identifiers: those with a number first, index + 1; then the unknown ones. Texts of printable
 * ASCII, each part ascending by bytes, none twice. */
typedef struct leat_can_ids {
    char (*text)[LEAT_CAN_ID_TEXT_BYTES];
    int64_t count, known, capacity;
} leat_can_ids;

/* SHA-256 of [["001", 1], ...] over those with a number, in hexadecimal digits. */
void leat_can_vocab_digest(const leat_can_ids *ids, char digest[65]);

/* A feature becomes (feature - center) / scale. */
typedef struct leat_can_scaler_values {
    double x_center[LEAT_CAN_X_COLUMNS], x_scale[LEAT_CAN_X_COLUMNS];
    double edge_center[LEAT_CAN_EDGE_COLUMNS], edge_scale[LEAT_CAN_EDGE_COLUMNS];
} leat_can_scaler_values;

typedef struct leat_can_interval {
    uint32_t id; /* index into leat_can_ids */
    int64_t frames;
    double mean_s; /* from one of its frames to the next; 0 where there is one frame */
} leat_can_interval;

/* One bus of one recording in one file; or, merged, all of a split. */
typedef struct leat_can_meta_capture {
    char *file, *folder;             /* names; "" where captures are merged */
    int32_t recording;               /* number in its file, from 1; 0 where captures are merged */
    char split[LEAT_CAN_NAME_BYTES]; /* train, or the test that it belongs to */
    int32_t bus;                     /* -1: buses are mixed */
    int32_t vehicle;                 /* leat_can_vehicle of the file; 0: not known */
    /* tail, between and dropped: frames of no window, or of dropped ones alone. */
    int64_t frames, windows, tail, between, dropped, rejected;
    double first_s, last_s;
    leat_can_interval *intervals; /* by id, ascending */
    int64_t interval_count, interval_capacity;
} leat_can_meta_capture;
/* The number that a log's name ends with, as "DoS-3.csv.gz"; 0: none. */
int32_t leat_can_vehicle(const char *file);

typedef struct leat_can_sizes {
    int64_t min, max;
    double mean, p95, p99;
} leat_can_sizes; /* all 0 without graphs */

/* Of `count` graphs with size(i) rows, ascending, `sum` all together. Percentiles lie between two
 * neighbours, as in numpy; reals have single precision, as in graphids.
 */
typedef int64_t (*leat_can_size_fn)(const void *context, int64_t i);
leat_can_sizes leat_can_sizes_of(leat_can_size_fn size, const void *context, int64_t count,
                                 int64_t sum);

#define LEAT_CAN_ATTACKS_MAX 64
typedef struct leat_can_balance {
    char attack[LEAT_CAN_WORD_BYTES]; /* as leat_can_attack_name_of */
    int64_t windows;
} leat_can_balance;

typedef struct leat_can_meta_split {
    char name[LEAT_CAN_NAME_BYTES];
    int64_t graphs, nodes, edges;
    leat_can_sizes node_count, edge_count; /* of a graph */
    leat_can_balance balance[LEAT_CAN_ATTACKS_MAX];
    int balance_count;
    leat_path_list source_dirs; /* of train and tests: names of folders */
    int64_t raw_samples;        /* frames they hold; those of val are counted in train */
    int64_t file_bytes;         /* of the tensors' file */
    uint64_t pages_hash;        /* XXH3-64 of the file of page hashes */
} leat_can_meta_split;

#define LEAT_CAN_SETTINGS_MAX 64
#define LEAT_CAN_SETTING_BYTES 512 /* of a value: that of `column` names columns */
typedef struct leat_can_meta_setting {
    char name[LEAT_CAN_WORD_BYTES], value[LEAT_CAN_SETTING_BYTES];
} leat_can_meta_setting;

/* The digest of a cache: of its settings, a text of lines, and of its input files in their order,
 * `content` being the SHA-256 of a file in hexadecimal digits. */
void leat_can_digest_begin(leat_sha256 *sha, const char *settings);
void leat_can_digest_file(leat_sha256 *sha, const char *split, const char *folder, const char *name,
                          const char *content);
void leat_can_digest_end(leat_sha256 *sha, char digest[65]);

#define LEAT_CAN_WARNING_BYTES 4096

/* {0} is the empty one. Arrays are the struct's own, from leat_alloc. */
typedef struct leat_can_meta {
    char digest[65]; /* of all that decides the content, in hexadecimal digits */
    char dataset[LEAT_CAN_NAME_BYTES];
    char preset[LEAT_CAN_WORD_BYTES];
    char preprocessing_version[LEAT_CAN_WORD_BYTES];
    char built_at[LEAT_CAN_WORD_BYTES]; /* "" in caches written by leat: equal inputs give equal
                                           bytes */
    int64_t window, stride, seed;
    double val_fraction;
    bool frames; /* the store */
    leat_can_meta_setting settings[LEAT_CAN_SETTINGS_MAX];
    int setting_count;
    char scaler_strategy[LEAT_CAN_WORD_BYTES];
    leat_can_scaler_values scaler;
    leat_can_ids ids;
    char vocab_digest[65]; /* of the identifiers with a number; saving and loading set it */
    int64_t windows_dropped;
    int64_t frames_cut; /* CAN-FD frames of which only the first 8 bytes were kept; read without
                           one: 0 */
    char warning[LEAT_CAN_WARNING_BYTES]; /* what the ingest found doubtful; read without one: "" */
    leat_can_meta_split *splits;          /* train, val, tests by name */
    int split_count;
    leat_can_meta_capture *captures;
    int64_t capture_count, capture_capacity;
} leat_can_meta;

void leat_can_meta_free(leat_can_meta *meta);
/* An existing name gets the new value. */
LEAT_MUST_CHECK leat_code leat_can_meta_set(leat_can_meta *meta, const char *name,
                                            const char *value, leat_error *err);
/* NULL if there is none. */
const char *leat_can_meta_get(const leat_can_meta *meta, const char *name);
const leat_can_meta_split *leat_can_meta_find_split(const leat_can_meta *meta, const char *name);

/* The totals in the metadata over all splits, by key; false if a sum passes 2^63. */
typedef struct leat_can_sum {
    const char *key;
    int64_t value;
} leat_can_sum;
enum { LEAT_CAN_SUMS = 7 };
bool leat_can_meta_sum(const leat_can_meta *meta, leat_can_sum sums[LEAT_CAN_SUMS]);

/*
 * Writes vocab.json, scaler.json, cache_metadata.json and, last, .complete into the folder, each
 * complete or not at all, and synced; sets vocab_digest. Metadata that the reader would refuse is
 * LEAT_ERR_INPUT, or LEAT_ERR_LIMIT if it is too large. On failure none of them is there.
 */
LEAT_MUST_CHECK leat_code leat_can_meta_save(leat_can_meta *meta, const char *dir, leat_error *err);
/*
 * Reads them. `intervals`: of the identifiers of captures too, which may be most of it.
 * LEAT_ERR_NOT_FOUND: no complete cache; LEAT_ERR_CORRUPT: not what was written;
 * LEAT_ERR_UNSUPPORTED: of another version. `meta` need not be set before; free it after success.
 */
LEAT_MUST_CHECK leat_code leat_can_meta_load(leat_can_meta *meta, const char *dir, bool intervals,
                                             leat_error *err);
/* The same with all of it; *file is the name of the file that the failure is about. */
LEAT_MUST_CHECK leat_code leat_can_meta_load_all(leat_can_meta *meta, const char *dir,
                                                 const char **file, leat_error *err);

/* ---- Files of the splits ------------------------------------------------------------------- */

/* Bytes of a split's file of page hashes. */
int64_t leat_can_split_pages_bytes(const leat_can_meta_split *split);
/* DIR/<split><suffix>. */
LEAT_MUST_CHECK leat_code leat_can_split_path(const char *dir, const leat_can_meta_split *split,
                                              const char *suffix, char path[LEAT_PATH_BYTES],
                                              leat_error *err);
/* Its size and page hashes as the metadata has them. */
leat_tensor_file leat_can_split_file(const leat_can_meta_split *split);
/*
 * Checks the files of all splits: that they exist and have the sizes in the metadata; with `pages`
 * also the hashes of all their pages, with up to `threads` threads, under the ticker's stage
 * "verifying". LEAT_ERR_CORRUPT names the first file that is damaged or missing.
 */
LEAT_MUST_CHECK leat_code leat_can_files_check(const leat_can_meta *meta, const char *dir,
                                               bool pages, int threads, leat_ticker *ticker,
                                               leat_error *err);

/* ---- Single documents --------------------------------------------------------------------- */

typedef enum leat_can_document {
    LEAT_CAN_VOCAB,
    LEAT_CAN_SCALER,
    LEAT_CAN_METADATA, /* after the vocabulary, which its identifiers refer to */
    LEAT_CAN_DOCUMENTS
} leat_can_document;
const char *leat_can_document_name(leat_can_document which); /* "vocab.json" */
extern const leat_documents leat_can_documents;              /* by leat_can_document */
/* Checks the consistency of its part of *meta, for writing and reading alike: LEAT_ERR_INPUT names
 * what is inconsistent. */
LEAT_MUST_CHECK leat_code leat_can_document_check(const leat_can_meta *meta,
                                                  leat_can_document which, leat_error *err);
#define LEAT_CAN_DOCUMENT_BYTES_MAX LEAT_DOCUMENT_BYTES_MAX
#define LEAT_CAN_SPLIT_TEXT_BYTES_MAX (INT64_C(1) << 22) /* of a split in the metadata */

/* The text in pieces: indented by two, keys sorted, no newline at the end. */
LEAT_MUST_CHECK leat_code leat_can_document_write(leat_can_meta *meta, leat_can_document which,
                                                  leat_json_out_fn out, void *context,
                                                  leat_error *err);
/* Fills its part of *meta, which is to be freed on failure as well. `what` names the document. */
LEAT_MUST_CHECK leat_code leat_can_document_parse(leat_can_meta *meta, leat_can_document which,
                                                  leat_json_span text, bool intervals,
                                                  const char *what, leat_error *err);

#endif
