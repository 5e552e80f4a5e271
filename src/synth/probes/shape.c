/*
 * How many measurements the probes of a synthetic data set have (see probes.h): the runs of A.
 *
 * The sum of A grows with c, so c is found by bisection. Computing one sum does not visit every
 * cycle or probe: where A falls fast (few cycles, many values) each cycle is a run; where it is
 * flat the end of a run is found by doubling steps.
 */
#include <math.h>

#include "synth/probes/probes.h"

#define SHAPE_HALVINGS 100

/* e of probes.h: where the law ends, at about 20 probes, so that a few probes never hold all the
 * data. */
static double floor_of(int64_t probes) {
    double share = 20 / (double)probes;
    return share < 0.0002 ? 0.0002 : share > 0.5 ? 0.5 : share;
}

/* A(k). Every operation is correctly rounded and monotone, so A never rises with k. */
static int64_t active_at(int64_t probes, double c, int64_t cycle) {
    double root = sqrt(1 + (double)cycle / c);
    double share = 1 / (root * sqrt(root));
    double low = floor_of(probes);
    double active = (double)probes * ((share - low) / (1 - low)) + 0.5;
    return active < 1 ? 0 : (int64_t)active;
}

/* The first cycle after `cycle`, at most limit, where A is below its value at `cycle`. */
static int64_t run_end(int64_t probes, double c, int64_t cycle, int64_t limit) {
    int64_t active = active_at(probes, c, cycle);
    int64_t step = 1, low = cycle;
    while (low + step < limit && active_at(probes, c, low + step) == active) {
        low += step;
        step *= 2;
    }
    int64_t high = low + step < limit ? low + step : limit;
    while (high - low > 1) { /* A(low) is the run's, A(high) is not (or high is the limit) */
        int64_t middle = low + (high - low) / 2;
        if (active_at(probes, c, middle) == active) low = middle;
        else high = middle;
    }
    return high;
}

/* The sum of A, or any value above `enough` once it exceeds that. */
static int64_t sum_at(int64_t probes, double c, int64_t enough) {
    int64_t sum = 0, cycle = 0;
    while (sum <= enough) {
        int64_t active = active_at(probes, c, cycle);
        if (active == 0) break;
        /* no run is longer than what is still missing, so products stay small */
        int64_t end = run_end(probes, c, cycle, cycle + (enough - sum) / active + 2);
        sum += active * (end - cycle);
        cycle = end;
    }
    return sum;
}

leat_code leat_synth_add_run(leat_synth *synth, int64_t active, int64_t cycles, leat_error *err) {
    leat_synth_run *last = synth->run_count > 0 ? &synth->runs[synth->run_count] : NULL;
    int64_t cycle = last == NULL ? 0 : last->cycle_first, row = last == NULL ? 0 : last->row_first;
    if (cycles == 0 || active == 0) return LEAT_OK;
    LEAT_TRY(LEAT_GROW(&synth->runs, &synth->run_capacity, synth->run_count + 2, err));
    synth->runs[synth->run_count++] = (leat_synth_run){cycle, row, active};
    synth->runs[synth->run_count] = (leat_synth_run){cycle + cycles, row + active * cycles, 0};
    return LEAT_OK;
}

/* The runs of A with c, and `left` rows more: left / P cycles of all probes first, and one of the
 * remainder where it belongs, so that the list still falls. */
static leat_code add_runs(leat_synth *synth, double c, int64_t left, leat_error *err) {
    int64_t probes = synth->probes, rest = left % probes, cycle = 0;
    LEAT_TRY(leat_synth_add_run(synth, probes, left / probes, err));
    for (;;) {
        int64_t active = active_at(probes, c, cycle);
        if (rest >= active) {
            LEAT_TRY(leat_synth_add_run(synth, rest, rest > 0, err));
            rest = 0;
        }
        if (active == 0) return LEAT_OK;
        int64_t end = run_end(probes, c, cycle, cycle + synth->measurements / active + 2);
        LEAT_TRY(leat_synth_add_run(synth, active, end - cycle, err));
        cycle = end;
    }
}

leat_code leat_synth_shape(leat_synth *synth, leat_error *err) {
    int64_t wanted = synth->measurements;
    double low = 0, high = (double)wanted;
    /* c = 0 is the shape of probes with one measurement each; 1 + k/0 is infinite, A is 0 there */
    for (int i = 0; i < SHAPE_HALVINGS; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) break;
        if (sum_at(synth->probes, middle, wanted) <= wanted) low = middle;
        else high = middle;
    }
    if (low <= 0) low = 1e-300;
    LEAT_TRY(add_runs(synth, low, wanted - sum_at(synth->probes, low, wanted), err));
    LEAT_ASSERT(synth->runs[synth->run_count].row_first == wanted);
    return LEAT_OK;
}

int64_t leat_synth_largest(const leat_synth *synth) {
    return synth->runs[synth->run_count].cycle_first;
}
