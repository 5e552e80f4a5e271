/*
 * Curves and calibration of scores.h. Three things only grow along a curve: both rates and the
 * number of alarms. So cells of even grids over them bound the number of points that enter one.
 */
#include <math.h>

#include "base/error.h"
#include "base/portable_math.h"
#include "train/eval/scores.h"

enum { GRIDS = 3, CURVE_MIN = 8 };

static int64_t cell(double share, int64_t cells) { return (int64_t)(share * (double)cells); }

/* Where a point is in the grids. */
static void locate(const leat_eval_point *point, const leat_eval_point *last, int64_t cells,
                   int64_t at[GRIDS]) {
    const int64_t alarms = point->true_positives + point->false_positives;
    const int64_t all = last->true_positives + last->false_positives;
    at[0] = last->true_positives == 0
                ? 0
                : cell((double)point->true_positives / (double)last->true_positives, cells);
    at[1] = last->false_positives == 0
                ? 0
                : cell((double)point->false_positives / (double)last->false_positives, cells);
    at[2] = all < 2 ? 0 : cell(leat_ln((double)alarms) / leat_ln((double)all), cells);
}

/* The next point of a ranking; *at is the first window after it. */
static leat_eval_point next_point(const leat_eval_ranking *ranking, const leat_eval_point *before,
                                  int64_t *at) {
    leat_eval_point point = *before;
    point.score = ranking->score[*at];
    for (; *at < ranking->count && ranking->score[*at] == point.score; ++*at) {
        if (ranking->attack[*at]) point.true_positives++;
        else point.false_positives++;
    }
    return point;
}

int64_t leat_eval_curve(const leat_eval_ranking *ranking, int64_t most, leat_eval_point *points) {
    LEAT_ASSERT(most >= CURVE_MIN);
    const leat_eval_point none = {.score = (double)INFINITY};
    leat_eval_point last = none;
    int64_t steps = 0;
    for (int64_t at = 0; at < ranking->count; steps++) last = next_point(ranking, &last, &at);
    /* at most `cells` new cells in each grid, beside the first and the last point */
    const int64_t cells = (most - 2) / GRIDS;
    int64_t count = 0, before[GRIDS] = {0};
    points[count++] = none;
    leat_eval_point point = none;
    for (int64_t at = 0; at < ranking->count;) {
        point = next_point(ranking, &point, &at);
        int64_t here[GRIDS];
        locate(&point, &last, cells, here);
        const bool enters = here[0] != before[0] || here[1] != before[1] || here[2] != before[2];
        if (steps >= most && !enters && at < ranking->count) continue;
        LEAT_ASSERT(count < most);
        points[count++] = point;
        for (int i = 0; i < GRIDS; i++) before[i] = here[i];
    }
    return count;
}

leat_code leat_eval_ece(const double *probability, const int32_t *right, int64_t count,
                        leat_eval_number *out, leat_error *err) {
    *out = leat_eval_undefined(LEAT_EVAL_NO_WINDOW);
    double sum[LEAT_EVAL_BINS + 1] = {0};
    int64_t hits[LEAT_EVAL_BINS + 1] = {0};
    for (int64_t i = 0; i < count; i++) {
        if (!(probability[i] >= 0 && probability[i] <= 1))
            return leat_fail(err, LEAT_ERR_INPUT,
                             "window %lld: %g is not a probability; a calibration error exists "
                             "only for scores from 0 to 1",
                             (long long)i, probability[i]);
        /* exact at the bounds: b / 15, as a double is nearest to it, times 15 is b, and the double
         * below gives less (tests/train/eval/test_scores.c has all of them) */
        const int bin = (int)(probability[i] * LEAT_EVAL_BINS);
        sum[bin] += probability[i];
        if (right[i] == 1) hits[bin]++;
    }
    if (count == 0) return LEAT_OK;
    double distance = 0; /* |hits / n - sum / n| n / count, bin by bin */
    for (int bin = 0; bin <= LEAT_EVAL_BINS; bin++) distance += fabs((double)hits[bin] - sum[bin]);
    *out = leat_eval_defined(distance / (double)count);
    return LEAT_OK;
}
