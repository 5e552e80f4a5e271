/*
 * Progress of a job with several threads: calls the caller's function from time to time, never from
 * two threads at once, and remembers when it asked to stop.
 */
#ifndef LEAT_BASE_TICKER_H
#define LEAT_BASE_TICKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"

typedef struct leat_ticker {
    leat_progress_fn fn; /* may be NULL */
    void *user;
    const char *stage, *unit;
    int64_t total; /* -1: not known */
    atomic_llong done;
    atomic_llong next_ns; /* no report before this time */
    atomic_bool stopped;
    pthread_mutex_t lock;
} leat_ticker;

void leat_ticker_create(leat_ticker *ticker, leat_progress_fn fn, void *user);
void leat_ticker_destroy(leat_ticker *ticker);
/* In the following functions the ticker may be NULL: no progress is reported. */
/* Ends the previous stage and begins another, each with a report; the texts are static. Not while
 * other threads add. */
void leat_ticker_stage(leat_ticker *ticker, const char *stage, const char *unit, int64_t total);
/* Adds to the count; false once the caller has asked to stop. */
bool leat_ticker_add(leat_ticker *ticker, int64_t more);
/* LEAT_ERR_CANCELLED once the caller has asked to stop. */
LEAT_MUST_CHECK leat_code leat_ticker_check(const leat_ticker *ticker, leat_error *err);
/* Both of the above. */
LEAT_MUST_CHECK leat_code leat_ticker_step(leat_ticker *ticker, int64_t more, leat_error *err);
/* The same for a known total count instead of an increment; it never decreases. */
LEAT_MUST_CHECK leat_code leat_ticker_reach(leat_ticker *ticker, int64_t done, leat_error *err);

#endif
