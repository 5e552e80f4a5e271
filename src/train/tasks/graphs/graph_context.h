/*
 * What a detector needs of the data that it was trained on, RUN/detector.json: how windows become
 * graphs, the numbers of identifiers, the scaler, and how often each identifier comes in benign
 * training windows. Whoever scores other windows with its weights, of another cache or of a live
 * bus, makes them in the same way.
 *
 *     {
 *       "format": "leat.detector", "version": 1,
 *       "hash": "...",                       SHA-256 of what follows, as one line of JSON
 *       "cache": "...",                      fingerprint of the cache
 *       "dataset": "v40", "preset": "default", "window": 100, "stride": 100,
 *       "settings": {"payload": "strict", ...},    of the cache, by their names in leat ingest can
 *       "scaler": {"strategy": "z_benign", "x_center": [...], "x_scale": [...],
 *                  "edge_center": [...], "edge_scale": [...]},
 *       "benign": {"windows": 3491, "seconds": 217.4},    of the training split
 *       "identifiers": [{"id": "001", "frames": 12, "interval_s": 0.01}, ...]
 *     }
 *
 * Identifier i, from 0, has the number i + 1 (leat_graph_micro.node_id); "frames" are those in
 * benign training windows, and "interval_s" is "seconds" divided by it, the mean time from one to
 * the next; null where there is none. Windows that overlap count each time.
 */
#ifndef LEAT_TRAIN_TASKS_GRAPHS_GRAPH_CONTEXT_H
#define LEAT_TRAIN_TASKS_GRAPHS_GRAPH_CONTEXT_H

#include "format/can_cache/can_cache.h"
#include "leat/load_can.h"

typedef struct leat_graph_identifier {
    char text[LEAT_CAN_ID_TEXT_BYTES];
    int64_t frames;    /* in benign training windows */
    double interval_s; /* NaN: frames is 0 */
} leat_graph_identifier;

typedef struct leat_graph_context {
    char cache[65]; /* fingerprint */
    char dataset[LEAT_CAN_NAME_BYTES], preset[LEAT_CAN_WORD_BYTES];
    int64_t window, stride; /* frames */
    leat_can_meta_setting settings[LEAT_CAN_SETTINGS_MAX];
    int setting_count;
    char scaler_strategy[LEAT_CAN_WORD_BYTES];
    leat_can_scaler_values scaler;
    int64_t benign_windows;
    double benign_seconds;
    leat_graph_identifier *identifiers; /* [identifier_count] by number - 1 */
    int64_t identifier_count;
} leat_graph_context;

/* That of a cache, without `frames` and times, which are 0 and NaN: leat_graph_context_count. Reads
 * no graph. */
LEAT_MUST_CHECK leat_code leat_graph_context_make(leat_graph_context **out,
                                                  const leat_can_cache *cache, leat_error *err);
void leat_graph_context_destroy(leat_graph_context *context);
/* Counts the frames and seconds of the cache's benign training windows: reads each of them once, on
 * the caller's thread. */
LEAT_MUST_CHECK leat_code leat_graph_context_count(leat_graph_context *context,
                                                   const leat_can_cache *cache, leat_error *err);

/* A setting of the cache by its name, "edge-step"; NULL: it has none. */
const char *leat_graph_context_setting(const leat_graph_context *context, const char *name);

/* Writes detector.json into the folder of a run; equal contexts give equal bytes. */
LEAT_MUST_CHECK leat_code leat_graph_context_save(const leat_graph_context *context,
                                                  const char *run, leat_error *err);
/* Reads it. LEAT_ERR_NOT_FOUND: the run has none; LEAT_ERR_CORRUPT: it is not what was written;
 * LEAT_ERR_UNSUPPORTED: it is of another version. */
LEAT_MUST_CHECK leat_code leat_graph_context_load(leat_graph_context **out, const char *run,
                                                  leat_error *err);
/* Whether it is of the cache with this fingerprint, on which the run was trained: one of another
 * run is whole, and would change every score in silence. LEAT_ERR_CORRUPT: it is not. */
LEAT_MUST_CHECK leat_code leat_graph_context_check(const leat_graph_context *context,
                                                   const char *run, const char *data,
                                                   leat_error *err);

/*
 * Whether the graphs of a cache mean to the model what those of its training did: windows and
 * features made in the same way, the same identifiers and the same scaler. It may be another cache.
 * LEAT_ERR_OPTION names what differs, with both values, and how to ingest the logs.
 */
LEAT_MUST_CHECK leat_code leat_graph_context_compare(const leat_graph_context *context,
                                                     const leat_can_cache *cache, leat_error *err);

#endif
