/* What the views of a database say of a run: read on a connection that stays, or on one of its own.
 */
#ifndef LEAT_CROWD_STATUS_H
#define LEAT_CROWD_STATUS_H

#include "crowd/database.h"
#include "leat/crowd.h"

struct leat_crowd_status {
    int64_t run_id;
    leat_crowd_run run;
    leat_crowd_worker *workers;
    int64_t worker_count, worker_capacity;
    leat_crowd_event events[LEAT_CROWD_EVENTS];
    int event_count;
};

typedef struct leat_status_wanted {
    const char *run;     /* its name; "": the newest */
    int64_t workers_max; /* those with most units first */
    bool active_first;   /* and before them those that work now */
} leat_status_wanted;

/* Fills a status that is all zeros, within a transaction of the caller's. Errors as
 * leat_crowd_status_load; what was read so far stays, and is freed with the status. */
LEAT_MUST_CHECK leat_code leat_status_read(leat_pg *pg, const leat_status_wanted *wanted,
                                           leat_crowd_status *status, leat_error *err);
/* An error of it for people: that there is no schema yet. Returns its code. */
LEAT_MUST_CHECK leat_code leat_status_explain(const leat_error *why, leat_error *err);

#endif
