/* Means, deviations, medians and quartiles of features: see scaler.h. */
#include "ingest/can/cache/scaler.h"

#include <float.h>
#include <math.h>
#include <string.h>

static bool is_edge(int column) { return column >= LEAT_NODE_FEATURES; }

static int64_t rows_of(const int64_t count[2], int column) { return count[is_edge(column)]; }

/* ---- means ---------------------------------------------------------------------------------- */

/* Sums, then squares of the differences from the mean, of `width` columns. */
static void take(const float *values, int64_t rows, int width, double *mean, double *squares) {
    for (int64_t i = 0; i < rows; i++) {
        for (int k = 0; k < width; k++) mean[k] += (double)values[i * width + k];
    }
    for (int k = 0; k < width && rows > 0; k++) mean[k] /= (double)rows;
    for (int64_t i = 0; i < rows; i++) {
        for (int k = 0; k < width; k++) {
            double from = (double)values[i * width + k] - mean[k];
            squares[k] += from * from;
        }
    }
}

void leat_can_moments_take(leat_can_moments *moments, const leat_can_rows *rows) {
    memset(moments, 0, sizeof *moments);
    moments->count[0] = rows->nodes;
    moments->count[1] = rows->edges;
    take(rows->x, rows->nodes, LEAT_NODE_FEATURES, moments->mean, moments->squares);
    take(rows->edge_attr, rows->edges, LEAT_EDGE_FEATURES, moments->mean + LEAT_NODE_FEATURES,
         moments->squares + LEAT_NODE_FEATURES);
}

void leat_can_moments_add(leat_can_moments *moments, const leat_can_moments *more) {
    for (int i = 0; i < LEAT_CAN_COLUMNS; i++) {
        double a = (double)rows_of(moments->count, i), b = (double)rows_of(more->count, i);
        if (b == 0) continue;
        double from = more->mean[i] - moments->mean[i], all = a + b;
        moments->mean[i] += from * (b / all);
        moments->squares[i] += more->squares[i] + from * from * (a * (b / all));
    }
    moments->count[0] += more->count[0];
    moments->count[1] += more->count[1];
}

/* The destination of a column's values. */
static void put(leat_can_scaler_values *scaler, int column, double center, double scale) {
    if (is_edge(column)) {
        scaler->edge_center[column - LEAT_NODE_FEATURES] = center;
        scaler->edge_scale[column - LEAT_NODE_FEATURES] = scale;
    } else {
        scaler->x_center[column] = center;
        scaler->x_scale[column] = scale;
    }
}

void leat_can_scaler_from_moments(leat_can_scaler_values *scaler, leat_can_scaler kind,
                                  const leat_can_moments *moments) {
    for (int i = 0; i < LEAT_CAN_COLUMNS; i++) {
        double rows = (double)rows_of(moments->count, i), mean = moments->mean[i];
        double center = mean, scale = 1;
        if (kind == LEAT_SCALER_NONE || rows == 0) {
            center = 0;
        } else if (kind == LEAT_SCALER_Z_ALL) {
            scale = rows > 1 ? sqrt(moments->squares[i] / (rows - 1)) : 0;
            scale = scale > 1e-6 ? scale : 1e-6;
        } else {
            double variance = moments->squares[i] / rows, small = rows * mean * DBL_EPSILON;
            bool constant = variance <= rows * DBL_EPSILON * variance + small * small;
            scale = constant ? 1 : sqrt(variance);
        }
        put(scaler, i, center, scale);
    }
}

/* ---- order statistics ----------------------------------------------------------------------- */

/* The bit offset of a pass's digit, and its width. */
static const int digit_shift[LEAT_CAN_PASSES] = {21, 10, 0};
static const int digit_bits[LEAT_CAN_PASSES] = {11, 11, 10};

/* Integers with the same order as the floats; both zeros are equal. */
static inline uint32_t key_of(float value) {
    uint32_t bits;
    value += 0.0f;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static double value_of(uint32_t key) {
    uint32_t bits = key & 0x80000000u ? key & 0x7fffffffu : ~key;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static const double quantiles[LEAT_CAN_QUANTILES] = {0.25, 0.5, 0.75};

void leat_can_ranks_begin(leat_can_ranks *ranks, int64_t nodes, int64_t edges) {
    *ranks = (leat_can_ranks){.count = {nodes, edges}};
    for (int i = 0; i < LEAT_CAN_COLUMNS; i++) {
        int64_t last = rows_of(ranks->count, i) - 1;
        for (int k = 0; k < LEAT_CAN_QUANTILES; k++) {
            int64_t below = (int64_t)floor((double)last * quantiles[k]);
            ranks->rank[i][2 * k] = below;
            ranks->rank[i][2 * k + 1] = below < last ? below + 1 : below;
        }
    }
}

static void count_column(const leat_can_ranks *ranks, int column, const float *values, int64_t rows,
                         int width, leat_can_counts *counts) {
    int shift = digit_shift[ranks->pass], bits = digit_bits[ranks->pass];
    uint32_t mask = (1u << bits) - 1;
    for (int64_t i = 0; i < rows; i++) {
        uint32_t key = key_of(values[i * width]);
        uint32_t head = ranks->pass == 0 ? 0 : key >> (shift + bits);
        for (int k = 0; k < LEAT_CAN_RANKS; k++) {
            if (ranks->prefix[column][k] == head) counts->of[column][k][key >> shift & mask]++;
        }
    }
}

void leat_can_ranks_count(const leat_can_ranks *ranks, const leat_can_rows *rows,
                          leat_can_counts *counts) {
    for (int i = 0; i < LEAT_CAN_COLUMNS; i++) {
        if (is_edge(i)) {
            count_column(ranks, i, rows->edge_attr + i - LEAT_NODE_FEATURES, rows->edges,
                         LEAT_EDGE_FEATURES, counts);
        } else {
            count_column(ranks, i, rows->x + i, rows->nodes, LEAT_NODE_FEATURES, counts);
        }
    }
}

void leat_can_ranks_narrow(leat_can_ranks *ranks, const leat_can_counts *counts) {
    int bits = digit_bits[ranks->pass];
    for (int i = 0; i < LEAT_CAN_COLUMNS; i++) {
        for (int k = 0; k < LEAT_CAN_RANKS; k++) {
            const int64_t *of = counts->of[i][k];
            uint32_t digit = 0;
            while (digit + 1 < 1u << bits && ranks->rank[i][k] >= of[digit])
                ranks->rank[i][k] -= of[digit++];
            ranks->prefix[i][k] = ranks->prefix[i][k] << bits | digit;
        }
    }
    ranks->pass++;
}

/* Between the two values around a quantile, rounded like numpy's linear interpolation. */
static double between(double below, double above, double part) {
    double distance = above - below;
    return part < 0.5 ? below + distance * part : above - distance * (1 - part);
}

void leat_can_scaler_from_ranks(leat_can_scaler_values *scaler, const leat_can_ranks *ranks) {
    for (int i = 0; i < LEAT_CAN_COLUMNS; i++) {
        double last = (double)(rows_of(ranks->count, i) - 1), at[LEAT_CAN_QUANTILES];
        for (int k = 0; k < LEAT_CAN_QUANTILES; k++) {
            double place = last * quantiles[k];
            at[k] = between(value_of(ranks->prefix[i][2 * k]),
                            value_of(ranks->prefix[i][2 * k + 1]), place - floor(place));
        }
        double range = at[2] - at[0];
        put(scaler, i, last < 0 ? 0 : at[1], last >= 0 && range > 0 ? range : 1);
    }
}
