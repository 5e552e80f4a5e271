/*
 * The database of a run as a source of facts. Steps are read once, and kept as points that are
 * means of ever more steps. If the run has gone back, or is another one, all are read again; the
 * last step is compared with each look, because a run that went back may have passed it since.
 */
#ifndef LEAT_DASH_DATABASE_SOURCE_H
#define LEAT_DASH_DATABASE_SOURCE_H

#include "dash/facts.h"
#include "train/run/points.h"

/* States of the last steps, by their numbers. */
enum { LEAT_DATABASE_SOURCE_STATES = 256 };

typedef struct leat_database_source {
    leat_crowd_watch *watch;
    leat_crowd_seen seen; /* id 0: nothing was read yet */
    const char *problem;  /* NULL: none */
    int64_t looked_ns;    /* when `seen` was read */
    int64_t next_ns;      /* no look before, after one that failed */
    /* Names of the values: the model's, or as the database has them. */
    const leat_value *names;
    leat_value own_names[LEAT_STEP_VALUES_MAX + 1];
    char own_texts[LEAT_STEP_VALUES_MAX][49];
    leat_points points;
    int64_t version; /* another one each time that there are other points */
    char states[LEAT_DATABASE_SOURCE_STATES][65];
    leat_crowd_step last;
    bool changed; /* the last step is not what it was */
} leat_database_source;

/* Nothing is connected yet; `stop` outlives the source, and ends waits: LEAT_ERR_CANCELLED.
 * LEAT_ERR_OPTION: the URL is not valid. *source is to be destroyed in any case. */
LEAT_MUST_CHECK leat_code leat_database_source_create(leat_database_source *source, const char *url,
                                                      const leat_stop *stop, leat_error *err);
void leat_database_source_destroy(leat_database_source *source);
/* Looks, unless the last look has failed a few seconds ago. Errors as leat_crowd_watch_look; the
 * facts are then those from before. */
LEAT_MUST_CHECK leat_code leat_database_source_look(leat_database_source *source, leat_error *err);
/* The hash of the state after a step, one of the last LEAT_DATABASE_SOURCE_STATES; NULL: the
 * database does not say. */
const char *leat_database_source_state(const leat_database_source *source, int64_t step);
/* `alone`: no folder has said what the run is. */
void leat_database_source_fill(const leat_database_source *source, bool alone,
                               leat_dash_facts *facts);
void leat_database_source_draw(const leat_database_source *source, leat_dash_curves *curves);

#endif
