/*
 * The samples of units, for a worker without the data set of a run that keeps it in the database.
 * Those of one unit are read while those of the next are fetched, in calls of a part at most, so
 * that leases are renewed in between.
 */
#ifndef LEAT_CROWD_SERVED_H
#define LEAT_CROWD_SERVED_H

#include "crowd/store.h"
#include "train/model.h"

/* What a unit uses: each sample once, by number. */
typedef struct leat_served_unit {
    int64_t *numbers; /* ascending */
    uint8_t *bytes;   /* of each */
    int64_t count, fetched;
} leat_served_unit;

typedef struct leat_served {
    leat_samples samples; /* of the unit that is read */
    char fingerprint[65];
    leat_plan plan;
    leat_served_unit units[2];
    int reading; /* which of them; the other one is fetched */
} leat_served;

/* The data set that a run has; *served must stay where it is. LEAT_ERR_OPTION: its samples are not
 * those of a model. */
LEAT_MUST_CHECK leat_code leat_served_open(leat_served *served, const leat_store_run *run,
                                           leat_error *err);
/* Takes the memory of two units of a plan, and how much that is. */
int64_t leat_served_bytes(const leat_served *served, const leat_plan *plan);
LEAT_MUST_CHECK leat_code leat_served_reserve(leat_served *served, const leat_plan *plan,
                                              leat_error *err);
void leat_served_close(leat_served *served);

/* Begins to fetch a unit, in place of another one. */
void leat_served_begin(leat_served *served, int64_t step, int64_t unit);
bool leat_served_complete(const leat_served *served);
/* One call of the database, unless it is complete. Fails as leat_store_samples does. */
LEAT_MUST_CHECK leat_code leat_served_fetch(leat_served *served, leat_pg *pg, int64_t run,
                                            int64_t part_bytes, leat_error *err);
/* The unit that was fetched is read from now on, while nobody reads. */
void leat_served_turn(leat_served *served);

#endif
