/*
 * A run in a database, looked at again and again by one that shows it to many: over one connection,
 * in a transaction a look, as any login may. What is returned has fixed sizes, whatever the number
 * of machines.
 */
#ifndef LEAT_CROWD_WATCH_H
#define LEAT_CROWD_WATCH_H

#include "crowd/stop.h"
#include "leat/crowd.h"

enum {
    LEAT_WATCH_WORKERS = 100,
    LEAT_WATCH_ACCOUNTS = 100,
    LEAT_WATCH_STEPS = 4000, /* whose values a look reads at most */
};

typedef struct leat_crowd_account {
    char account[65];
    int64_t machines, active; /* all that took part; that gave a sign of life in two minutes */
    int64_t accepted, refused, bytes;
} leat_crowd_account;

typedef struct leat_crowd_seen {
    int64_t id; /* of the run in the database */
    leat_crowd_run run;
    leat_crowd_worker workers[LEAT_WATCH_WORKERS]; /* those that work first, then by units */
    leat_crowd_account accounts_shown[LEAT_WATCH_ACCOUNTS]; /* by units */
    leat_crowd_event events[LEAT_CROWD_EVENTS];             /* the newest first */
    int worker_count, account_count, event_count;
    leat_crowd_account all; /* of all accounts; its name is "" */
    int64_t accounts;       /* how many there are */
    double unit_seconds;    /* of the finished units of two steps, the median, without the time
                               that a unit has waited for the one before; NaN: none */
    int64_t delivered;      /* machines that have finished these units */
} leat_crowd_seen;

/* Values of a step that is done. */
typedef struct leat_crowd_step {
    int64_t step;   /* from 1 */
    double seconds; /* since the step before; NaN: not known */
    char state[65]; /* hash of the state after it; "": not known */
    int32_t value_count;
    double values[LEAT_STEP_VALUES_MAX]; /* in the order of the names in leat_crowd_run.values */
} leat_crowd_step;
typedef void (*leat_crowd_step_fn)(void *user, const leat_crowd_step *step);

typedef struct leat_crowd_watch leat_crowd_watch;
/* Reads the URL; nothing is connected yet. `stop` (may be NULL) outlives the watch, and ends
 * waits. LEAT_ERR_OPTION: it is not valid. */
LEAT_MUST_CHECK leat_code leat_crowd_watch_create(leat_crowd_watch **out, const char *url,
                                                  const leat_stop *stop, leat_error *err);
void leat_crowd_watch_destroy(leat_crowd_watch *watch);
/* Connects if there is no connection, and looks. Calls `stepped` for steps after `after`, in order,
 * at most LEAT_WATCH_STEPS of them. Errors as leat_crowd_status_load; *seen is unchanged then. */
LEAT_MUST_CHECK leat_code leat_crowd_watch_look(leat_crowd_watch *watch, int64_t after,
                                                leat_crowd_seen *seen, leat_crowd_step_fn stepped,
                                                void *user, leat_error *err);

#endif
