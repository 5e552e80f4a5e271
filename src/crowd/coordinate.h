/*
 * The coordinator of a run: it opens steps, adds the results of units in order as they arrive,
 * takes the step of the weights, and commits. It holds the run by a fence, so that of two
 * coordinators one writes; what it has in memory, in RUN and in the database may differ after any
 * crash, and begin_step (sync.c) says which one counts. The state after a step is that of `leat
 * train`.
 */
#ifndef LEAT_CROWD_COORDINATE_H
#define LEAT_CROWD_COORDINATE_H

#include <stdatomic.h>

#include "crowd/store.h"
#include "leat/train.h"

typedef struct leat_coordinate_options {
    const char *url;
    const char *name;      /* of the run in the database */
    const char *who;       /* this coordinator, for those who wait for it */
    const char *data_note; /* where volunteers find the data */
    leat_train_options train;
    int64_t part_bytes, lease_ms, renew_ms, silent_ms, hold_ms;
    int64_t poll_ms;  /* between looks at what has arrived */
    int64_t state_ms; /* the state is kept in the database at most this often */
    const atomic_bool *stop;
    void (*say)(void *user, const char *line);
    void *user;
} leat_coordinate_options;

/* Parts of 1 MiB, leases of 300 s renewed each 10 s, silent after 30 s, a hold of 15 s, a look each
 * 500 ms, the state each 30 s. */
leat_coordinate_options leat_coordinate_options_default(void);

typedef struct leat_coordinate_result {
    leat_train_result train;
    int64_t arrived, refused, own; /* units: that counted, that did not, computed here */
    int64_t connections;
} leat_coordinate_result;

/*
 * Trains `model` on `data` in the folder `run`, by whoever works; options->train.resume: continues
 * what RUN or the database has. Codes are those of leat_train; connections that are lost are made
 * again. LEAT_ERR_EXISTS: the database has an unfinished run of this name, and resume is not set.
 */
LEAT_MUST_CHECK leat_code leat_coordinate(const char *model, const char *data, const char *run,
                                          const leat_coordinate_options *options,
                                          leat_coordinate_result *result, leat_error *err);

#endif
