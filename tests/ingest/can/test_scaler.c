/* The statistics that features are scaled with, against sorting and adding up all values. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "ingest/can/cache/scaler.h"

enum { ROWS = 1237 };

typedef struct table {
    float x[ROWS * LEAT_NODE_FEATURES];
    float edge_attr[ROWS * LEAT_EDGE_FEATURES];
} table;

/* Columns of every kind: constant, few values, wide, negative, both zeros, huge and tiny. */
static float draw(int column, int64_t row) {
    uint64_t bits = leat_random(11, (uint64_t)column, (uint64_t)row);
    double unit = leat_random_unit(bits);
    switch (column % 6) {
    case 0: return 3.25f;
    case 1: return (float)(bits % 3);
    case 2: return (float)((unit - 0.5) * 1e4);
    case 3: return (float)exp((unit - 0.5) * 60);
    case 4: return bits % 2 ? 0.0f : -0.0f;
    default: return (float)(1e6 + unit);
    }
}

static void fill(table *of, int64_t rows) {
    for (int64_t i = 0; i < rows; i++) {
        for (int k = 0; k < LEAT_NODE_FEATURES; k++) of->x[i * LEAT_NODE_FEATURES + k] = draw(k, i);
        for (int k = 0; k < LEAT_EDGE_FEATURES; k++)
            of->edge_attr[i * LEAT_EDGE_FEATURES + k] = draw(LEAT_NODE_FEATURES + k, i);
    }
}

/* A column's center and scale as they are in the scaler. */
static void look(const leat_can_scaler_values *scaler, int column, double *center, double *scale) {
    bool edge = column >= LEAT_NODE_FEATURES;
    int k = edge ? column - LEAT_NODE_FEATURES : column;
    *center = edge ? scaler->edge_center[k] : scaler->x_center[k];
    *scale = edge ? scaler->edge_scale[k] : scaler->x_scale[k];
}

static void assert_near(double found, double wanted, double part, int column) {
    if (fabs(found - wanted) <= part * fabs(wanted) + 1e-300) return;
    fail_msg("column %d: %.17g, not %.17g", column, found, wanted);
}

/* ---- means ---- */

static void check_moments(leat_can_scaler kind, int64_t rows, int64_t step) {
    table *of = calloc(1, sizeof *of);
    fill(of, rows);
    leat_can_moments all = {0};
    for (int64_t at = 0; at < rows; at += step) {
        int64_t count = rows - at < step ? rows - at : step;
        leat_can_rows part = {of->x + at * LEAT_NODE_FEATURES,
                              of->edge_attr + at * LEAT_EDGE_FEATURES, count, count};
        leat_can_moments moments;
        leat_can_moments_take(&moments, &part);
        leat_can_moments_add(&all, &moments);
    }
    leat_can_scaler_values scaler = {0};
    leat_can_scaler_from_moments(&scaler, kind, &all);
    for (int k = 0; k < LEAT_CAN_COLUMNS; k++) {
        long double mean = 0, squares = 0;
        for (int64_t i = 0; i < rows; i++) mean += (long double)draw(k, i) / rows;
        for (int64_t i = 0; i < rows; i++) {
            long double from = (long double)draw(k, i) - mean;
            squares += from * from;
        }
        double center, scale, wanted = 1;
        look(&scaler, k, &center, &scale);
        bool constant = k % 6 == 0 || k % 6 == 4 || rows == 1;
        if (kind == LEAT_SCALER_NONE) mean = 0;
        else if (kind == LEAT_SCALER_Z_ALL)
            wanted = constant ? 1e-6 : (double)sqrtl(squares / (rows - 1));
        else if (!constant) wanted = (double)sqrtl(squares / rows);
        assert_near(center, (double)mean, 1e-12, k);
        assert_near(scale, wanted, k % 6 == 5 ? 1e-7 : 1e-12, k);
    }
    free(of);
}

static void test_moments(void **state) {
    (void)state;
    static const leat_can_scaler kinds[] = {LEAT_SCALER_Z_BENIGN, LEAT_SCALER_Z_ALL,
                                            LEAT_SCALER_NONE};
    for (int i = 0; i < 3; i++) {
        check_moments(kinds[i], ROWS, ROWS);
        check_moments(kinds[i], ROWS, 64);
        check_moments(kinds[i], ROWS, 1);
        check_moments(kinds[i], 1, 1);
    }
}

/* ---- order statistics ---- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* As numpy's percentile, on a sorted column. */
static double percentile(const double *sorted, int64_t count, double part) {
    double place = (double)(count - 1) * part, below = floor(place), rest = place - below;
    double a = sorted[(int64_t)below], b = sorted[(int64_t)ceil(place)];
    return rest < 0.5 ? a + (b - a) * rest : b - (b - a) * (1 - rest);
}

static void check_ranks(int64_t rows, int64_t step) {
    table *of = calloc(1, sizeof *of);
    leat_can_ranks *ranks = calloc(1, sizeof *ranks);
    leat_can_counts *counts = malloc(sizeof *counts);
    double *sorted = calloc((size_t)rows, sizeof *sorted);
    fill(of, rows);
    leat_can_ranks_begin(ranks, rows, rows);
    for (int pass = 0; pass < LEAT_CAN_PASSES; pass++) {
        memset(counts, 0, sizeof *counts);
        for (int64_t at = 0; at < rows; at += step) {
            int64_t count = rows - at < step ? rows - at : step;
            leat_can_rows part = {of->x + at * LEAT_NODE_FEATURES,
                                  of->edge_attr + at * LEAT_EDGE_FEATURES, count, count};
            leat_can_ranks_count(ranks, &part, counts);
        }
        leat_can_ranks_narrow(ranks, counts);
    }
    leat_can_scaler_values scaler = {0};
    leat_can_scaler_from_ranks(&scaler, ranks);
    for (int k = 0; k < LEAT_CAN_COLUMNS; k++) {
        for (int64_t i = 0; i < rows; i++) sorted[i] = (double)draw(k, i);
        qsort(sorted, (size_t)rows, sizeof *sorted, compare);
        double center, scale;
        double range = percentile(sorted, rows, 0.75) - percentile(sorted, rows, 0.25);
        look(&scaler, k, &center, &scale);
        if (center != percentile(sorted, rows, 0.5)) fail_msg("column %d: median %g", k, center);
        if (scale != (range > 0 ? range : 1)) fail_msg("column %d: range %g", k, scale);
    }
    free(of);
    free(ranks);
    free(counts);
    free(sorted);
}

static void test_ranks(void **state) {
    (void)state;
    for (int64_t rows = 1; rows < 12; rows++) check_ranks(rows, 3);
    check_ranks(ROWS, 64);
    check_ranks(ROWS - 1, ROWS);
    check_ranks(ROWS - 2, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
