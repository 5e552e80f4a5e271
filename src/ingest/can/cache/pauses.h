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
/* Appends a warning if the pauses move a figure by more than 10 %. `all` and `quiet` are moments of
 * the windows that decide the scaler, all and without pauses above the bound; count[0] and [1] are
 * their numbers, 0 if there are no moments. `ids` are the names of the identifiers. */
void leat_can_pauses_warn(const leat_can_plan *plan, const leat_can_splits *splits,
                          const leat_can_moments *all, const leat_can_moments *quiet,
                          const int64_t count[2], const char *(*id_name)(const void *, uint32_t),
                          const void *ids, char *warning, size_t warning_bytes);

#endif
