/*
 * Pauses of a log that alone move what a cache knows of time: the scaler's deviations, and the mean
 * intervals of identifiers. No window is dropped for one, because ordinary pauses are many times as
 * long as the usual time between two frames; the summary names them, and what ends a capture there.
 */
#ifndef LEAT_INGEST_CAN_CACHE_PAUSES_H
#define LEAT_INGEST_CAN_CACHE_PAUSES_H

#include "ingest/can/cache/plan.h"
#include "ingest/can/cache/scaler.h"

/* Whether the longest pause of a stream is far from ordinary, whatever it moves. */
bool leat_can_is_long_pause(const leat_can_stream *stream);
/* A longer pause in a training window is left out of the figures without pauses: at least half as
 * long as the longest one of training; INFINITY if that is ordinary. */
double leat_can_pause_bound(const leat_can_plan *plan);
/* The option that begins a new capture at pauses as long as the longest of a stream; "" if no
 * option does, because other buses of the log have frames in between. */
enum { LEAT_CAN_PAUSE_OPTION_BYTES = 80 };
void leat_can_pause_option(const leat_can_plan *plan, const leat_can_stream *stream,
                           char option[LEAT_CAN_PAUSE_OPTION_BYTES]);
/* What pauses may move. */
typedef struct leat_can_time_figures {
    /* Of the windows that decide the scaler: all, and those without pauses above the bound. */
    const leat_can_moments *all, *quiet;
    int64_t count[2]; /* of these windows; 0 if there are no moments */
    const char *(*id_name)(const void *ids, uint32_t number);
    const void *ids; /* their names */
} leat_can_time_figures;
/* Appends a warning if the pauses move a figure by more than 10 %. */
void leat_can_pauses_warn(const leat_can_plan *plan, const leat_can_splits *splits,
                          const leat_can_time_figures *figures, char *warning,
                          size_t warning_bytes);

#endif
