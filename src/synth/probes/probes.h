/*
 * Synthetic measurements: any row of a data set of any size as a pure function of (measurements,
 * probes, seed, row), so that a writer needs no state, no memory that grows, and no order.
 *
 * Shape. A data set has N measurements by P probes, numbered by decreasing size; A(k) of them have
 * more than k measurements, and the list A(0) = P >= A(1) >= ... with the sum N is the complete
 * shape. It is stored as runs of equal values; there are at most about sqrt(8 N) of them (distinct
 * numbers add up fast), 2 MiB for 10^9 rows. A follows a bounded Pareto law of exponent 3/4,
 *     A(k) = round(P ((1 + k/c)^-3/4 - e) / (1 - e)),   e = 20/P, at least 1/5000, at most 1/2,
 * with c searched so that the sum is N; the remainder from rounding is added as extra cycles.
 * Most probes then have few measurements; the largest has 1800 times the mean from P = 100,000 on:
 * 400,000 for a mean of 235.
 *
 * Activity. Time runs in cycles of 180 s, in each of which an active probe makes one measurement;
 * there are as many cycles as the largest probe has measurements. They begin with July 2025, or
 * with an earlier day (not before 1990) if they would otherwise go on after July 2026, so that no
 * measurement lies in the future. A lane is a sequence of probes, each of which begins when the
 * previous one has made its last measurement; so the number of active probes in a cycle is the
 * number of lanes that have not ended. All lanes have the length of the period within a few
 * percent: the rate is even, and probes begin and end at all times (lanes.c).
 *
 * Rows. The file is written cycle by cycle; the order of the lanes changes with each cycle.
 * Measurement times rise with the place in the cycle, over 120 of the 180 s, with up to 2 s of
 * noise, so consecutive measurements of a probe are 60 to 300 s apart and the file is in time order
 * except for that noise, like a real collection. Everything else (addresses, target, failure,
 * round-trip time) is drawn by counter.
 *
 * Only operations that IEEE 754 rounds correctly (+ - * / sqrt) are used, so the bytes are the same
 * on every machine.
 */
#ifndef LEAT_SYNTH_PROBES_H
#define LEAT_SYNTH_PROBES_H

#include "base/address.h"
#include "base/mem.h"
#include "base/ticker.h"
#include "leat/synth.h"

#define LEAT_SYNTH_START_US INT64_C(1751328000000000) /* 2025-07-01T00:00:00Z */
#define LEAT_SYNTH_END_US INT64_C(1785542400000000)   /* 2026-08-01T00:00:00Z */
#define LEAT_SYNTH_LEAST_US INT64_C(631152000000000)  /* 1990-01-01T00:00:00Z */
#define LEAT_SYNTH_DAY_US INT64_C(86400000000)
#define LEAT_SYNTH_CYCLE_US INT64_C(180000000)
#define LEAT_SYNTH_SPREAD_US INT64_C(118000000)
#define LEAT_SYNTH_NOISE_US INT64_C(2000000)
#define LEAT_SYNTH_ANCHORS 400 /* per IP version */
#define LEAT_SYNTH_ROWS_MAX INT64_C(10000000000)
#define LEAT_SYNTH_PROBES_MAX INT64_C(2000000000)

/* Cycles [cycle_first, next run's) have `active` rows each; the run begins at row row_first. As a
 * shape: `active` probes have more than cycle_first measurements. */
typedef struct leat_synth_run {
    int64_t cycle_first, row_first, active;
} leat_synth_run;

/* From cycle `begin` of a lane on, `count` probes of `size` measurements each; in the first lane
 * that has it these are probe_first and those after it, in the next lane the next ones. */
typedef struct leat_synth_segment {
    int64_t begin, size, count, probe_first;
} leat_synth_segment;

/* Lanes [lane_first, lane_first + lanes), which hold the same segments. */
typedef struct leat_synth_lanes {
    int64_t lane_first, lanes, length; /* in cycles */
    int64_t segment_first, segment_count;
} leat_synth_lanes;

typedef struct leat_synth_address {
    char text[LEAT_ADDRESS_TEXT_BYTES];
    uint8_t size_bytes;
} leat_synth_address;

typedef struct leat_synth {
    int64_t measurements, probes;
    uint64_t seed;
    int64_t start_us;     /* of the first cycle */
    leat_synth_run *runs; /* run_count, and one more that ends the last */
    int64_t run_count, run_capacity;
    leat_synth_lanes *lanes; /* the longest first */
    int64_t lanes_count, lanes_capacity;
    leat_synth_segment *segments;
    int64_t segment_count, segment_capacity;
    uint64_t anchor_bounds[LEAT_SYNTH_ANCHORS]; /* cumulative popularity, of 2^64 */
    leat_synth_address anchors[2][LEAT_SYNTH_ANCHORS];
} leat_synth;

/* 1 <= probes <= measurements, both at most the bounds above; else LEAT_ERR_OPTION. */
LEAT_MUST_CHECK leat_code leat_synth_create(leat_synth **out, int64_t measurements, int64_t probes,
                                            uint64_t seed, leat_error *err);
void leat_synth_destroy(leat_synth *synth);
/* Fills runs with the shape (shape.c). */
LEAT_MUST_CHECK leat_code leat_synth_shape(leat_synth *synth, leat_error *err);
/* Appends the given number of cycles of `active` rows each after the last run; nothing if there are
 * none. */
LEAT_MUST_CHECK leat_code leat_synth_add_run(leat_synth *synth, int64_t active, int64_t cycles,
                                             leat_error *err);
/* Packs the probes of the shape into lanes; runs are then those of the lanes (lanes.c). */
LEAT_MUST_CHECK leat_code leat_synth_pack(leat_synth *synth, leat_error *err);
/* The probe of a lane in a cycle, and the number of its measurement. */
void leat_synth_lane_find(const leat_synth *synth, int64_t lane, int64_t cycle, int64_t *probe,
                          int64_t *number);
/* The number of cycles, which is the number of measurements of probe 0, the largest. */
int64_t leat_synth_largest(const leat_synth *synth);

typedef struct leat_synth_row {
    int64_t probe, number; /* the number of the measurement in its probe */
    int64_t time_us;
    int ip_version;
    float rtt; /* milliseconds; -1: failed */
    leat_synth_address src;
    leat_synth_address own_target; /* if the target is not an anchor */
    const leat_synth_address *dst; /* own_target, or an anchor of the synth's */
} leat_synth_row;

/* A position in the data set, for one thread. */
typedef struct leat_synth_cursor {
    const leat_synth *synth;
    int64_t row, run, cycle, place;
    int64_t active, multiplier, shift; /* of the cycle: lane = (place * multiplier + shift) mod */
} leat_synth_cursor;
void leat_synth_seek(leat_synth_cursor *cursor, const leat_synth *synth, int64_t row);
/* The row at the cursor, which is advanced; false at the end. */
bool leat_synth_next(leat_synth_cursor *cursor, leat_synth_row *row);
/* Address of a probe and its IP version. */
int leat_synth_source(const leat_synth *synth, int64_t probe, leat_synth_address *address);

/* Rows [first, first + count). */
typedef struct leat_synth_span {
    int64_t first, count;
} leat_synth_span;

/* One Parquet file of these rows at `path` (created or replaced, not synced), written by DuckDB
 * within memory_bytes of its own. The ticker counts rows. */
LEAT_MUST_CHECK leat_code leat_synth_parquet(const leat_synth *synth, leat_synth_span rows,
                                             const char *path, int64_t memory_bytes,
                                             leat_ticker *ticker, leat_error *err);

#endif
