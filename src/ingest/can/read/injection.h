/*
 * Which frames of a capture were injected, where a file beside the log says so
 * (cache/capture_metadata.h): those of intervals of time that have one of some identifiers and fit
 * a pattern of digits.
 */
#ifndef LEAT_INGEST_CAN_READ_INJECTION_H
#define LEAT_INGEST_CAN_READ_INJECTION_H

#include "base/lines.h"
#include "ingest/can/store/frame.h"

typedef enum leat_can_injection_kind {
    LEAT_CAN_INJECTION_UNSAID,   /* nothing says anything about the log */
    LEAT_CAN_INJECTION_NONE,     /* nothing was injected */
    LEAT_CAN_INJECTION_UNKNOWN,  /* there is an attack, but not where */
    LEAT_CAN_INJECTION_INTERVAL, /* these frames: */
} leat_can_injection_kind;

/* An interval, both ends included, in microseconds: times of logs have no more digits, and
 * differences of doubles are not exact. */
typedef struct leat_can_span {
    int64_t begin_us, end_us;
} leat_can_span;

typedef struct leat_can_injection {
    leat_can_injection_kind kind;
    bool absolute; /* the intervals are since 1970, as the log's times are, not its first frame */
    bool any_id;
    int64_t span_first, span_count, id_first, id_count; /* of the lists of all injections */
    const leat_can_span *spans;                         /* in order of time, without overlaps */
    const uint32_t *ids;                                /* keys of identifiers in ascending order */
    int digit_count;                                    /* of the whole payload; 0: any payload */
    int8_t digits[2 * LEAT_CAN_BYTES];                  /* -1: any digit */
} leat_can_injection;

/* Ends of intervals above this are times since 1970. */
#define LEAT_CAN_INJECTION_MAX_S 1e9

/* The key of an identifier in hexadecimal digits, also with 0x; only X: any. False: it is neither.
 */
bool leat_can_injection_id(leat_text text, uint32_t *key, bool *any);
/* A payload of up to eight bytes in hexadecimal digits, X for any. False: it is none. */
bool leat_can_injection_data(leat_text text, leat_can_injection *injection);
/* Whether one of the intervals includes this frame; origin_s: the time of the first frame of its
 * log. */
bool leat_can_is_injected(const leat_can_injection *injection, double origin_s,
                          const leat_can_line *line);

#endif
