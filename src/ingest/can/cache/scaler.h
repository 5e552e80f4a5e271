/*
 * Statistics for scaling features, computed from training graphs: means and deviations in one pass,
 * summed in an order that does not depend on threads; medians and quartiles exactly, by counting
 * digits of the values in three passes.
 */
#ifndef LEAT_INGEST_CAN_CACHE_SCALER_H
#define LEAT_INGEST_CAN_CACHE_SCALER_H

#include "format/can_cache/can_cache.h"
#include "leat/graph.h"
#include "leat/ingest.h"

enum { LEAT_CAN_COLUMNS = LEAT_NODE_FEATURES + LEAT_EDGE_FEATURES }; /* of nodes, then of edges */

/* Consecutive rows of nodes and of edges. */
typedef struct leat_can_rows {
    const float *x, *edge_attr;
    int64_t nodes, edges;
} leat_can_rows;

/* ---- means ---- */

typedef struct leat_can_moments {
    int64_t count[2]; /* nodes, edges */
    double mean[LEAT_CAN_COLUMNS];
    double squares[LEAT_CAN_COLUMNS]; /* of the differences from the mean, summed */
} leat_can_moments;
/* Those of the given rows only. */
void leat_can_moments_take(leat_can_moments *moments, const leat_can_rows *rows);
/* Adds those of the rows that follow. */
void leat_can_moments_add(leat_can_moments *moments, const leat_can_moments *more);

/* z_benign, z_all (section 4.3 of the design) or none. */
void leat_can_scaler_from_moments(leat_can_scaler_values *scaler, leat_can_scaler kind,
                                  const leat_can_moments *moments);

/* ---- order statistics ---- */

enum { LEAT_CAN_QUANTILES = 3, LEAT_CAN_RANKS = 2 * LEAT_CAN_QUANTILES, LEAT_CAN_PASSES = 3 };
enum { LEAT_CAN_DIGITS = 2048 };
/* Counts of one pass: of values that share the prefix found so far, by next digit. */
typedef struct leat_can_counts {
    int64_t of[LEAT_CAN_COLUMNS][LEAT_CAN_RANKS][LEAT_CAN_DIGITS];
} leat_can_counts;
/* What is known of the values of the wanted ranks. */
typedef struct leat_can_ranks {
    int64_t count[2]; /* values of a column of nodes, of edges */
    int pass;
    int64_t rank[LEAT_CAN_COLUMNS][LEAT_CAN_RANKS]; /* among those with the prefix */
    uint32_t prefix[LEAT_CAN_COLUMNS][LEAT_CAN_RANKS];
} leat_can_ranks;
void leat_can_ranks_begin(leat_can_ranks *ranks, int64_t nodes, int64_t edges);
/* Counts rows in the current pass; `counts` belongs to one thread. */
void leat_can_ranks_count(const leat_can_ranks *ranks, const leat_can_rows *rows,
                          leat_can_counts *counts);
/* Ends a pass with the sum of the counts of all threads. */
void leat_can_ranks_narrow(leat_can_ranks *ranks, const leat_can_counts *counts);
/* After LEAT_CAN_PASSES passes: median and interquartile range. */
void leat_can_scaler_from_ranks(leat_can_scaler_values *scaler, const leat_can_ranks *ranks);

#endif
