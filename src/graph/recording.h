/*
 * Where a log, or a running bus, begins a new recording: the rules that ingest and live detection
 * share. Windows never span two recordings.
 */
#ifndef LEAT_GRAPH_RECORDING_H
#define LEAT_GRAPH_RECORDING_H

#include <stdbool.h>

/* A frame earlier than the one before it by more than this, which is more than the buffers of a
 * logger and the clocks of its buses differ by, is of another recording. */
#define LEAT_CAN_CLOCK_FALL_S 1.0
/* Times have microseconds, and differences of doubles are not exact. */
#define LEAT_CAN_CLOCK_SLACK_S 5e-7

static inline bool leat_can_clock_falls(double from_s, double to_s) {
    return from_s - to_s > LEAT_CAN_CLOCK_FALL_S + LEAT_CAN_CLOCK_SLACK_S;
}

/* A longer time than pause_s without a frame; infinite: none is. */
static inline bool leat_can_clock_pauses(double pause_s, double from_s, double to_s) {
    return to_s - from_s > pause_s + LEAT_CAN_CLOCK_SLACK_S;
}

#endif
