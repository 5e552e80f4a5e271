/*
 * Distributions and timelines of fixed size.
 *
 * The grid of a distribution is log-linear: each value below 64 has its own bin; above that, every
 * octave [2^k, 2^(k+1)) is divided into 64 equal bins. The number of a bin is computed with shifts
 * only, two distributions are added bin by bin, and the order of the values does not matter.
 *
 * A timeline does not know its range in advance. It begins with the finest step and, when a time
 * falls outside, moves up a ladder of steps, each of which divides the next, so that each old bin
 * falls entirely into one new bin. The step that is reached depends only on the smallest and the
 * largest time.
 */
#include <math.h>
#include <string.h>

#include "leat/base.h"

#define SUB_BITS 6
#define SUB_BINS (1 << SUB_BITS)

_Static_assert(LEAT_DISTRIBUTION_BINS == SUB_BINS * (63 - SUB_BITS + 1),
               "an octave for each leading bit");

int leat_distribution_bin(int64_t value) {
    if (value < SUB_BINS) return value < 0 ? 0 : (int)value;
    int octave = 63 - __builtin_clzll((uint64_t)value); /* SUB_BITS..62 */
    int shift = octave - SUB_BITS;
    return (shift << SUB_BITS) + (int)(value >> shift);
}

int64_t leat_distribution_bin_low(int bin) {
    if (bin < 0) return 0;
    if (bin >= LEAT_DISTRIBUTION_BINS) return INT64_MAX;
    if (bin < 2 * SUB_BINS) return bin;
    int shift = (bin >> SUB_BITS) - 1;
    return (int64_t)((bin & (SUB_BINS - 1)) | SUB_BINS) << shift;
}

static void sum_add(uint64_t sum[2], unsigned __int128 more) {
    unsigned __int128 total = ((unsigned __int128)sum[1] << 64 | sum[0]) + more;
    sum[0] = (uint64_t)total;
    sum[1] = (uint64_t)(total >> 64);
}

void leat_distribution_add(leat_distribution *dist, int64_t value, int64_t times) {
    if (times <= 0) return;
    if (value < 0) value = 0;
    if (dist->count == 0 || value < dist->min) dist->min = value;
    if (dist->count == 0 || value > dist->max) dist->max = value;
    dist->count += times;
    sum_add(dist->sum, (unsigned __int128)(uint64_t)value * (uint64_t)times);
    dist->bins[leat_distribution_bin(value)] += times;
}

void leat_distribution_merge(leat_distribution *to, const leat_distribution *from) {
    if (from->count == 0) return;
    if (to->count == 0 || from->min < to->min) to->min = from->min;
    if (to->count == 0 || from->max > to->max) to->max = from->max;
    to->count += from->count;
    sum_add(to->sum, (unsigned __int128)from->sum[1] << 64 | from->sum[0]);
    for (int bin = 0; bin < LEAT_DISTRIBUTION_BINS; bin++) to->bins[bin] += from->bins[bin];
}

double leat_distribution_mean(const leat_distribution *dist) {
    if (dist->count == 0) return 0;
    return (ldexp((double)dist->sum[1], 64) + (double)dist->sum[0]) / (double)dist->count;
}

double leat_distribution_quantile(const leat_distribution *dist, double share) {
    if (dist->count == 0) return 0;
    double exact = ceil(share * (double)dist->count);
    int64_t rank = exact < 1 ? 1 : exact >= (double)dist->count ? dist->count : (int64_t)exact;
    if (rank == 1) return (double)dist->min;
    if (rank == dist->count) return (double)dist->max;
    int bin = 0;
    for (int64_t before = 0; bin < LEAT_DISTRIBUTION_BINS; before += dist->bins[bin++]) {
        if (rank > before + dist->bins[bin]) continue;
        double low = (double)leat_distribution_bin_low(bin);
        double width = (double)leat_distribution_bin_low(bin + 1) - low;
        double place = ((double)(rank - before) - 0.5) / (double)dist->bins[bin];
        /* A bin of width 1 holds one value; wider bins are assumed to be filled evenly. */
        double value = width <= 1 ? low : low + width * place;
        if (value < (double)dist->min) return (double)dist->min;
        return value > (double)dist->max ? (double)dist->max : value;
    }
    return (double)dist->max;
}

double leat_distribution_between(const leat_distribution *dist, double low, double high) {
    double total = 0;
    for (int bin = 0; bin < LEAT_DISTRIBUTION_BINS; bin++) {
        if (dist->bins[bin] == 0) continue;
        double begin = (double)leat_distribution_bin_low(bin),
               end = (double)leat_distribution_bin_low(bin + 1);
        double from = begin > low ? begin : low, to = end < high ? end : high;
        if (end - begin <= 1) total += begin >= low && begin < high ? (double)dist->bins[bin] : 0;
        else if (to > from) total += (double)dist->bins[bin] * (to - from) / (end - begin);
    }
    return total;
}

/* ---- Time lines --------------------------------------------------------------------------- */

#define SECOND INT64_C(1000000)
#define DAY (86400 * SECOND)
#define YEAR (364 * DAY)

/* Each divides the next; the last holds every int64 time in 256 bins. */
static const int64_t STEPS[] = {
    SECOND,         5 * SECOND,     10 * SECOND,   30 * SECOND,   60 * SECOND,
    300 * SECOND,   600 * SECOND,   1800 * SECOND, 3600 * SECOND, 10800 * SECOND,
    21600 * SECOND, 43200 * SECOND, DAY,           7 * DAY,       28 * DAY,
    YEAR,           10 * YEAR,      100 * YEAR,    1000 * YEAR,   10000 * YEAR,
};
#define STEP_COUNT ((int)(sizeof STEPS / sizeof STEPS[0]))

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* The smallest step, at least `step`, for which [min, max] needs at most LEAT_TIMELINE_BINS bins.
 */
static int64_t step_for(int64_t step, int64_t min_us, int64_t max_us) {
    for (int i = 0; i < STEP_COUNT; i++) {
        if (STEPS[i] < step) continue;
        if (floor_div(max_us, STEPS[i]) - floor_div(min_us, STEPS[i]) < LEAT_TIMELINE_BINS)
            return STEPS[i];
    }
    return STEPS[STEP_COUNT - 1];
}

/* Extends the line to [min_us, max_us]: bins 0..bins-1 cover exactly the old and the new range. */
static void timeline_widen(leat_timeline *line, int64_t min_us, int64_t max_us) {
    leat_timeline old = *line;
    if (old.step_us != 0) {
        if (old.begin_us < min_us) min_us = old.begin_us;
        int64_t old_last = old.begin_us + (old.bins - 1) * old.step_us;
        if (old_last > max_us) max_us = old_last;
    }
    int64_t step = step_for(old.step_us, min_us, max_us);
    int64_t first = floor_div(min_us, step);
    memset(line, 0, sizeof *line);
    line->step_us = step;
    line->begin_us = first * step;
    line->bins = (int32_t)(floor_div(max_us, step) - first + 1);
    for (int bin = 0; bin < old.bins; bin++) {
        int64_t to = floor_div(old.begin_us + bin * old.step_us, step) - first;
        line->measurements[to] += old.measurements[bin];
        line->failures[to] += old.failures[bin];
    }
}

void leat_timeline_add(leat_timeline *line, int64_t time_us, int64_t measurements,
                       int64_t failures) {
    /* Times before 1970 and after the year 30,000 are damage; they must not overflow the grid. */
    const int64_t limit = 30000 * YEAR;
    if (time_us < 0) time_us = 0;
    if (time_us > limit) time_us = limit;
    if (line->step_us == 0 || time_us < line->begin_us ||
        time_us >= line->begin_us + line->bins * line->step_us)
        timeline_widen(line, time_us, time_us);
    int64_t bin = (time_us - line->begin_us) / line->step_us;
    line->measurements[bin] += measurements;
    line->failures[bin] += failures;
}

void leat_timeline_merge(leat_timeline *to, const leat_timeline *from) {
    if (from->step_us == 0) return;
    /* Into the coarser of the two: the beginnings of its bins give no position on a finer grid. An
     * empty line counts as the finest. */
    if (to->step_us < from->step_us) {
        leat_timeline swapped = *from;
        leat_timeline_merge(&swapped, to);
        *to = swapped;
        return;
    }
    for (int bin = 0; bin < from->bins; bin++)
        if (from->measurements[bin] != 0)
            leat_timeline_add(to, from->begin_us + bin * from->step_us, from->measurements[bin],
                              from->failures[bin]);
}
