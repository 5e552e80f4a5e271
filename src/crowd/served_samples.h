/*
 * The samples of units, for a worker without the data set of a run that keeps it in the database.
 * Those of one unit are read while those of the next are fetched, in calls of a part at most, so
 * that leases are renewed in between.
 */
#ifndef LEAT_CROWD_SERVED_SAMPLES_H
#define LEAT_CROWD_SERVED_SAMPLES_H

#include "crowd/database.h"
#include "train/step/feed.h"

/* What a unit uses: each sample once, by number. */
typedef struct leat_served_unit {
    int64_t *numbers; /* ascending */
    uint8_t *bytes;   /* of each */
    int64_t count, fetched;
} leat_served_unit;

typedef struct leat_served_samples {
    leat_samples samples; /* of the unit that is read */
    char fingerprint[65];
    int64_t samples_most; /* of a unit; 0: no memory is taken */
    const leat_feed *feed;
    leat_served_unit units[2];
    int reading; /* which of them; the other one is fetched */
} leat_served_samples;

/* The data set that a run has, whose samples are for a feed; *served must stay where it is. */
void leat_served_samples_open(leat_served_samples *served, const leat_database_run *run);
/* Takes the memory of two units of the feed, which must outlive it; and how much that is. */
int64_t leat_served_samples_bytes(const leat_served_samples *served, const leat_feed *feed);
LEAT_MUST_CHECK leat_code leat_served_samples_reserve(leat_served_samples *served,
                                                      const leat_feed *feed, leat_error *err);
void leat_served_samples_close(leat_served_samples *served);

/* Begins to fetch a unit, in place of another one. */
LEAT_MUST_CHECK leat_code leat_served_samples_begin(leat_served_samples *served, int64_t step,
                                                    int64_t unit, leat_error *err);
bool leat_served_samples_complete(const leat_served_samples *served);
/* One call of the database, unless it is complete. Fails as leat_database_samples does. */
LEAT_MUST_CHECK leat_code leat_served_samples_fetch(leat_served_samples *served, leat_pg *pg,
                                                    int64_t run, int64_t part_bytes,
                                                    leat_error *err);
/* The unit that was fetched is read from now on, while nobody reads. */
void leat_served_samples_turn(leat_served_samples *served);

#endif
