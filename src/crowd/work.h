/*
 * A machine that lends itself: it claims units of a run, computes them, and hands in the results,
 * until the run ends or it is told to stop. It needs the data set and a login, and nothing else.
 *
 * One thread talks to the database, one call at a time, over one connection; another one computes.
 * So a lease is renewed, and the result before is sent, while the next unit is computed.
 */
#ifndef LEAT_CROWD_WORK_H
#define LEAT_CROWD_WORK_H

#include <stdatomic.h>

#include "crowd/store.h"

typedef struct leat_work_options {
    const char *url;     /* of the database, may name the run: leat_pg_place_parse */
    const char *data;    /* data set */
    const char *machine; /* identity, 32 hexadecimal digits; no two processes have the same */
    const char *name, *hardware;
    int32_t threads;
    int64_t memory_bytes; /* 0: no limit */
    const char *kernels;
    bool once;               /* one unit */
    int64_t poll_ms;         /* while there is nothing to do */
    const atomic_bool *stop; /* set by the caller, from anywhere; NULL: never */
    /* A line on what happens, from one thread at a time; may be NULL. */
    void (*say)(void *user, const char *line);
    void *user;
} leat_work_options;

typedef struct leat_work_result {
    int64_t accepted, lost; /* units: handed in; computed, but not wanted any more */
    int64_t connections;    /* made */
    int64_t sent_bytes;
    char run[LEAT_PG_NAME_BYTES];
} leat_work_result;

/*
 * LEAT_OK: the run is finished, or `once` is done. LEAT_ERR_CANCELLED: stopped; its leases were
 * released. LEAT_ERR_OPTION: this machine cannot take part: other data, another model, kernel class
 * or version, too little memory; the message says which. A connection that is lost is made again.
 */
LEAT_MUST_CHECK leat_code leat_work(const leat_work_options *options, leat_work_result *result,
                                    leat_error *err);

#endif
