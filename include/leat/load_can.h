/*
 * leat/load_can.h: CAN caches opened for reading, graphs one by one. Beside leat/load.h, which is
 * about probe rows.
 */
#ifndef LEAT_LOAD_CAN_H
#define LEAT_LOAD_CAN_H

#include "leat/graph.h"
#include "leat/load.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The graphs of vehicle logs, as leat_can_ingest leaves them; docs/can-graphs.md says what they
 * hold. Opening reads no graph. A split is mapped at its first touch, and each 4 KiB page of it is
 * checked once, before anything of it is handed out (LEAT_ERR_CORRUPT and LEAT_ERR_IO name file and
 * byte). Several threads may read a cache at once. Texts belong to the cache.
 */
typedef struct leat_can_cache leat_can_cache;

/* The folder of a cache, or one that holds a single cache: of several, the error lists them. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_cache_open(leat_can_cache **out, const char *path,
                                                       leat_error *err);
/* After its readers and loaders. */
LEAT_API void leat_can_cache_close(leat_can_cache *cache);

typedef struct leat_can_facts {
    const char *path;        /* of the cache's own folder */
    const char *fingerprint; /* digest of inputs, settings and version, 64 hexadecimal digits */
    const char *dataset, *preset;
    const char *built_at;   /* UTC */
    int64_t window, stride; /* frames */
    bool frames;            /* frames are stored, and graphs made of them while loading */
    int split_count;
    int64_t vocab_count, id_count; /* identifiers with a number; all of them, unknown ones too */
    int64_t capture_count;
    int64_t windows_dropped; /* between training and validation */
} leat_can_facts;
LEAT_API void leat_can_cache_get_facts(const leat_can_cache *cache, leat_can_facts *facts);
/* What the cache was made with, by the names of leat_can_setting_name; NULL: no such. And the names
 * that it has; NULL behind the last. */
LEAT_API const char *leat_can_cache_setting(const leat_can_cache *cache, const char *name);
LEAT_API const char *leat_can_cache_setting_name(const leat_can_cache *cache, int index);
/* Identifier 0 <= index < id_count; those with a number come first, theirs is index + 1. */
LEAT_API const char *leat_can_cache_identifier(const leat_can_cache *cache, int64_t index);

typedef struct leat_can_scaler_facts {
    const char *strategy; /* "z_benign", ... */
    double x_center[LEAT_NODE_FEATURES], x_scale[LEAT_NODE_FEATURES];
    double edge_center[LEAT_EDGE_FEATURES], edge_scale[LEAT_EDGE_FEATURES];
} leat_can_scaler_facts;
LEAT_API void leat_can_cache_get_scaler(const leat_can_cache *cache, leat_can_scaler_facts *scaler);

typedef struct leat_can_sizes_facts {
    int64_t min, max;
    double mean, p95, p99;
} leat_can_sizes_facts;
typedef struct leat_can_attack_count {
    const char *name; /* of the attack type: "benign", "dos", ... */
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

typedef struct leat_can_capture_facts { /* one bus of one log; or, merged, all logs of a split */
    const char *file, *folder;          /* names; "" where captures are merged */
    const char *split;                  /* "train" or a test */
    int32_t bus;                        /* -1: mixed */
    int32_t vehicle;                    /* by the file's name; 0: not known */
    int64_t frames, windows;
    int64_t tail, between, dropped; /* frames of no window, or of dropped ones alone */
    int64_t rejected;               /* lines */
    double first_s, last_s;
} leat_can_capture_facts;
/* Capture 0 <= index < capture_count. */
LEAT_API LEAT_MUST_CHECK leat_code leat_can_cache_get_capture(const leat_can_cache *cache,
                                                              int64_t index,
                                                              leat_can_capture_facts *out,
                                                              leat_error *err);

/* ---- Graphs one by one -------------------------------------------------------------------- */

/* What is known of a graph without looking at it. */
typedef struct leat_can_graph_facts {
    int64_t graph;        /* in its split */
    int64_t window_start; /* first frame of the window, in its capture */
    int32_t capture;
    int32_t node_count, edge_count;
    int32_t y; /* 1: some frame is labelled an attack */
    int32_t attack_type;
    int32_t attack_first; /* frame of the window, -1: none */
    int32_t attack_count;
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
/* LEAT_ERR_OPTION if the cache has no split of this name: the message lists those it has. */
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

#ifdef __cplusplus
}
#endif
#endif
