/* The suite "segments" of the kernels, as test_suite.c: every variant that runs here, the hash, and
 * kernels that are wrong on purpose. */
#include "suite_frame.h"

/* Of every variant on every machine: a part of the kernel class of models that compute with edges.
 */
#define SUITE_HASH UINT64_C(0xed24be5a783e847a)
static const tested_suite suite = {LEAT_SUITE_SEGMENTS, SUITE_HASH, leat_segments_check};

static void every_variant(void **state) {
    (void)state;
    suite_every_variant(&suite);
}

static void known_by_name(void **state) {
    (void)state;
    suite_is_known(&suite);
}

/* Backwards. */
static void sums_from_the_end(const leat_edge_rows *of, int64_t edges, const float *shares,
                              float *sums) {
    for (int64_t k = edges - 1; k >= 0; k--) {
        leat_edge_rows one = *of;
        one.index += k;
        leat_kernels_scalar.edge_sums(&one, 1, shares == NULL ? NULL : shares + k * of->heads,
                                      sums);
    }
}

/* Leaves the slope out. */
static void scores_straight(const leat_edge_head *of, int64_t edges, float *scores) {
    leat_edge_head other = *of;
    other.slope = 1;
    leat_kernels_scalar.edge_scores(&other, edges, scores);
}

/* Begins of_weight at 0. */
static void scores_back_anew(const leat_edge_head *of, int64_t edges, const float *ups,
                             float *of_weight, float *of_right, float *of_edge) {
    for (int64_t c = 0; c < of->width; c++) of_weight[c] = 0;
    leat_kernels_scalar.edge_scores_back(of, edges, ups, of_weight, of_right, of_edge);
}

/* One chain over the columns. */
static void dots_in_order(const leat_edge_rows *of, int64_t edges, const float *with, float *dots) {
    for (int64_t k = 0; k < edges; k++) {
        float sum = 0;
        for (int64_t c = 0; c < of->width; c++)
            sum += of->rows[of->index[k] * of->step + c] * with[c];
        dots[k * of->heads] = sum;
    }
}

/* Takes the edges in the order of the targets. */
static void back_in_order(const leat_edge_rows *of, int64_t edges, const int32_t *places,
                          const float *shares, const float *more, float *sums) {
    static const int32_t in_order[] = {0, 1, 2, 3, 4, 5};
    (void)places;
    leat_kernels_scalar.edge_sums_back(of, edges, in_order, shares, more, sums);
}

/* One chain a lane. */
static void gather_in_lanes(const leat_gather *of, int64_t count, const float *rows,
                            const float *with, float *dots) {
    for (int64_t t = 0; t < count; t++)
        dots[t] = leat_kernels_scalar.row_dot(of->columns, with, rows + of->index[t] * of->step);
}

/* Leaves the last one out. */
static void gather_short(const leat_gather *of, int64_t count, const float *shares,
                         const float *with, float *rows) {
    leat_kernels_scalar.gather_add(of, count > 0 ? count - 1 : 0, shares, with, rows);
}

static void wrong_kernels_are_caught(void **state) {
    (void)state;
    suite_canary wrong[] = {
        {leat_kernels_scalar, "weighted sums over edges: "},
        {leat_kernels_scalar, "scores of edges: "},
        {leat_kernels_scalar, "gradient of their weight: "},
        {leat_kernels_scalar, "products of edges: "},
        {leat_kernels_scalar, "sums over edges of a source: "},
        {leat_kernels_scalar, "products of named rows: "},
        {leat_kernels_scalar, "named rows that are added to: "},
    };
    wrong[0].kernels.edge_sums = sums_from_the_end;
    wrong[1].kernels.edge_scores = scores_straight;
    wrong[2].kernels.edge_scores_back = scores_back_anew;
    wrong[3].kernels.edge_dots = dots_in_order;
    wrong[4].kernels.edge_sums_back = back_in_order;
    wrong[5].kernels.gather_dots = gather_in_lanes;
    wrong[6].kernels.gather_add = gather_short;
    suite_catches(&suite, wrong, sizeof wrong / sizeof *wrong);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant),
        cmocka_unit_test(known_by_name),
        cmocka_unit_test(wrong_kernels_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
