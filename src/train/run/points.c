/* See points.h. */
#include "train/run/points.h"

#include <math.h>

#include "base/mem.h"

leat_code leat_points_create(leat_points *points, int64_t most, leat_error *err) {
    LEAT_ASSERT(most >= 2);
    *points = (leat_points){.most = most / 2 * 2, .span = 1}; /* even: neighbours are merged */
    LEAT_TRY(LEAT_NEW(&points->points, points->most, err));
    return LEAT_NEW(&points->known, points->most, err);
}

void leat_points_free(leat_points *points) {
    leat_free(points->points);
    leat_free(points->known);
    *points = (leat_points){0};
}

void leat_points_clear(leat_points *points) {
    points->count = points->in_last = 0;
    points->span = 1;
}

static void add_number(double *to, int64_t *known, double more, int64_t more_known) {
    if (more_known == 0) return;
    *known += more_known;
    if (*known == more_known) *to = more;
    else *to += (more - *to) * ((double)more_known / (double)*known);
}

static void merge(leat_run_point *to, int64_t known[LEAT_POINT_NUMBERS], const leat_run_point *more,
                  const int64_t more_known[LEAT_POINT_NUMBERS]) {
    to->step = more->step;
    for (int i = 0; i < LEAT_STEP_VALUES_MAX; i++)
        add_number(&to->values[i], &known[i], more->values[i], more_known[i]);
    add_number(&to->seconds, &known[LEAT_STEP_VALUES_MAX], more->seconds,
               more_known[LEAT_STEP_VALUES_MAX]);
}

static void halve(leat_points *points) {
    for (int64_t i = 0; i < points->most / 2; i++) {
        leat_run_point point = points->points[2 * i];
        int64_t known[LEAT_POINT_NUMBERS];
        for (int k = 0; k < LEAT_POINT_NUMBERS; k++) known[k] = points->known[2 * i][k];
        merge(&point, known, &points->points[2 * i + 1], points->known[2 * i + 1]);
        points->points[i] = point;
        for (int k = 0; k < LEAT_POINT_NUMBERS; k++) points->known[i][k] = known[k];
    }
    points->count = points->most / 2;
    points->span *= 2;
}

void leat_points_add(leat_points *points, const leat_run_point *step) {
    int64_t known[LEAT_POINT_NUMBERS];
    for (int i = 0; i < LEAT_STEP_VALUES_MAX; i++) known[i] = isfinite(step->values[i]) != 0;
    known[LEAT_STEP_VALUES_MAX] = isfinite(step->seconds) != 0;
    if (points->count > 0 && points->in_last < points->span) {
        points->in_last++;
        merge(&points->points[points->count - 1], points->known[points->count - 1], step, known);
        return;
    }
    if (points->count == points->most) halve(points); /* all of them are full */
    leat_run_point *to = &points->points[points->count];
    *to = *step;
    for (int i = 0; i < LEAT_STEP_VALUES_MAX; i++)
        if (known[i] == 0) to->values[i] = NAN;
    if (known[LEAT_STEP_VALUES_MAX] == 0) to->seconds = NAN;
    for (int i = 0; i < LEAT_POINT_NUMBERS; i++) points->known[points->count][i] = known[i];
    points->count++;
    points->in_last = 1;
}
