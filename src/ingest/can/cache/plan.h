/*
 * Windows: which graphs a cache has, of which part, in which order.
 */
#ifndef LEAT_INGEST_CAN_CACHE_PLAN_H
#define LEAT_INGEST_CAN_CACHE_PLAN_H

#include "base/ticker.h"
#include "format/can_cache/can_cache.h"
#include "ingest/can/cache/splits.h"
#include "ingest/can/store/store.h"

/* ---- windows and parts (plan.c) ---- */

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
    double pause_s, pause_at_s; /* the longest time between two frames, and when it begins */
    uint32_t paused_id;         /* whose mean interval that moves most, of frequent ones */
    double paused_mean_s, unpaused_mean_s; /* with and without it; 0: it is of none */
    int64_t between, tail, dropped;        /* frames in no window, or in dropped ones only */
    leat_can_interval *intervals;          /* of its identifiers, ascending */
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

/* What a plan is made of. */
typedef struct leat_can_planned {
    leat_can_store *store; /* its streams are in order */
    const leat_can_stream *streams;
    int32_t stream_count;
    const leat_can_splits *splits;
    const leat_can_settings *settings;
} leat_can_planned;

/* From the frames of a store to the graphs of each part. */
LEAT_MUST_CHECK leat_code leat_can_plan_make(leat_can_plan *plan, const leat_can_planned *of,
                                             int threads, leat_ticker *ticker, leat_error *err);
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

/* ---- which part of time is validation (validation.c) ---- */

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
