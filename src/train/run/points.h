/*
 * Steps as curves of few points, in one pass and bounded memory: a point is the mean of `span`
 * steps that follow each other, and whenever there are too many, neighbours are merged and the span
 * is doubled.
 *
 * A number that is not known, or not finite, is passed over: so a step without one takes nothing
 * from the curve but itself.
 */
#ifndef LEAT_TRAIN_RUN_POINTS_H
#define LEAT_TRAIN_RUN_POINTS_H

#include "leat/train.h"

enum { LEAT_POINT_NUMBERS = LEAT_STEP_VALUES_MAX + 1 }; /* the values and the seconds */

typedef struct leat_points {
    leat_run_point *points; /* [most] */
    int64_t count, most;
    int64_t span, in_last;                /* steps of a point, and of the last one so far */
    int64_t (*known)[LEAT_POINT_NUMBERS]; /* of how many steps a number of a point is the mean */
} leat_points;

/* `most`: at least 2. To be freed in any case. */
LEAT_MUST_CHECK leat_code leat_points_create(leat_points *points, int64_t most, leat_error *err);
void leat_points_free(leat_points *points);
void leat_points_clear(leat_points *points);
/* A step more; NaN or infinite: not known. */
void leat_points_add(leat_points *points, const leat_run_point *step);

#endif
