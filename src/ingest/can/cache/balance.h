/* Whether training and validation have the windows that were asked for. */
#ifndef LEAT_INGEST_CAN_CACHE_BALANCE_H
#define LEAT_INGEST_CAN_CACHE_BALANCE_H

#include "ingest/can/cache/pauses.h"

/* Training and validation, as their windows turned out. */
typedef struct leat_can_sides {
    int64_t train, val, dropped; /* windows */
    double pause_s, pause_at_s;  /* the longest time without a frame, and when it begins */
    bool found;                  /* of an existing cache, which does not have its pauses */
    char option[LEAT_CAN_PAUSE_OPTION_BYTES]; /* that ends it, where it fills a block of time; "" */
} leat_can_sides;
/* What was read. */
typedef struct leat_can_recorded {
    const leat_can_capture *captures;
    int64_t capture_count;
    int64_t begins[2]; /* falls of clocks, and pauses, that begin captures */
} leat_can_recorded;
/*
 * LEAT_ERR_INPUT: there are no training windows, or blocks of time give most of them to the wrong
 * side. Appends what the user should know otherwise to `warning`.
 */
LEAT_MUST_CHECK leat_code leat_can_balance_check(const leat_can_plan *plan,
                                                 const leat_can_splits *splits,
                                                 const leat_can_recorded *recorded, char *warning,
                                                 int64_t warning_bytes, leat_error *err);
/* The same warnings for an existing cache. */
void leat_can_balance_warn(const leat_can_meta *meta, const leat_can_settings *settings,
                           char *warning, int64_t warning_bytes);

#endif
