/* The suite "segments": the kernels of segments.h, with plain loops, see suite.h. */
#include "suite.h"

#include <math.h>

#include "suite_run.h"

/* Rows hold HEADS heads of `width` columns, the one that is computed in between. */
enum { NODES = 4, EDGES_MOST = 6, WIDTH_MOST = 2 * LEAT_LANES + 3, HEADS = 3 };
enum { STEP = HEADS * WIDTH_MOST, ROWS = EDGES_MOST * STEP };

typedef struct suite_segment {
    int width, edges;
    char sizes[60];
    int32_t index[EDGES_MOST], places[EDGES_MOST];
    float rows[NODES * STEP], edge[ROWS], right[STEP], weight[STEP];
    float shares[EDGES_MOST * HEADS], out[STEP];
} suite_segment;

static void make_segment(suite_run *run, int width, int edges, suite_segment *s) {
    fill_function *const make = fills[(width + edges) % FILLS];
    *s = (suite_segment){.width = width, .edges = edges};
    snprintf(s->sizes, sizeof s->sizes, "%d edges, %d columns", edges, width);
    for (int k = 0; k < EDGES_MOST; k++) {
        s->index[k] = (int32_t)(next_bits(run) % NODES);
        s->places[k] = (int32_t)(next_bits(run) % EDGES_MOST);
    }
    make(run, NODES * STEP, s->rows);
    make(run, ROWS, s->edge);
    make(run, STEP, s->right);
    make(run, STEP, s->weight);
    make(run, EDGES_MOST * HEADS, s->shares);
    make(run, STEP, s->out);
}

static const float slope = 0.2f;
static float m_of(const suite_segment *s, int k, int c) {
    return s->rows[s->index[k] * STEP + c] + s->right[c] + s->edge[k * STEP + c];
}
static float bent(float m) { return m > 0 ? m : m * slope; }

static leat_edge_head head_of(const suite_segment *s, const float *edge) {
    const int at = s->width; /* the second head */
    return (leat_edge_head){.width = s->width,
                            .heads = HEADS,
                            .step = STEP,
                            .source = s->index,
                            .left = s->rows + at,
                            .right = s->right + at,
                            .edge = edge + at,
                            .weight = s->weight + at,
                            .slope = slope};
}

static void check_scores(suite_run *run, suite_segment *s) {
    float got[EDGES_MOST * HEADS], expected[EDGES_MOST * HEADS];
    memcpy(got, s->shares, sizeof got);
    memcpy(expected, s->shares, sizeof got);
    for (int k = 0; k < s->edges; k++) {
        float bend[WIDTH_MOST];
        for (int c = 0; c < s->width; c++) bend[c] = bent(m_of(s, k, s->width + c));
        expected[k * HEADS + 1] = lanes_dot(s->width, s->weight + s->width, bend);
    }
    const leat_edge_head head = head_of(s, s->edge);
    run->kernels->edge_scores(&head, s->edges, got + 1);
    compare(run, "scores of edges", s->sizes, EDGES_MOST * HEADS, got, expected);
}

static void check_scores_back(suite_run *run, suite_segment *s) {
    float edge[ROWS], weight[STEP], right[STEP];
    float want_edge[ROWS], want_weight[STEP], want_right[STEP];
    const int at = s->width;
    memcpy(weight, s->out, sizeof weight);
    memcpy(right, s->out, sizeof right);
    memcpy(edge, s->edge, sizeof edge);
    memcpy(want_weight, weight, sizeof weight);
    memcpy(want_right, right, sizeof right);
    memcpy(want_edge, edge, sizeof edge);
    for (int c = at; c < 2 * at; c++) {
        want_right[c] = 0;
        for (int k = 0; k < s->edges; k++) {
            const float up = s->shares[k * HEADS + 1], m = m_of(s, k, c), g = up * s->weight[c];
            want_edge[k * STEP + c] = m > 0 ? g : g * slope;
            want_right[c] += want_edge[k * STEP + c];
            want_weight[c] = fmaf(up, bent(m), want_weight[c]);
        }
    }
    const leat_edge_head head = head_of(s, edge); /* in place */
    run->kernels->edge_scores_back(&head, s->edges, s->shares + 1, weight + at, right + at,
                                   edge + at);
    compare(run, "gradients of edges", s->sizes, ROWS, edge, want_edge);
    compare(run, "gradient of their target", s->sizes, STEP, right, want_right);
    compare(run, "gradient of their weight", s->sizes, STEP, weight, want_weight);
}

static leat_edge_rows rows_of(const suite_segment *s) {
    return (leat_edge_rows){s->width, HEADS, STEP, s->index, s->rows + s->width};
}

static void check_dots(suite_run *run, suite_segment *s) {
    float got[EDGES_MOST * HEADS], expected[EDGES_MOST * HEADS];
    memcpy(got, s->shares, sizeof got);
    memcpy(expected, s->shares, sizeof got);
    for (int k = 0; k < s->edges; k++)
        expected[k * HEADS + 1] =
            lanes_dot(s->width, s->rows + s->index[k] * STEP + s->width, s->right + s->width);
    const leat_edge_rows rows = rows_of(s);
    run->kernels->edge_dots(&rows, s->edges, s->right + s->width, got + 1);
    compare(run, "products of edges", s->sizes, EDGES_MOST * HEADS, got, expected);
}

static void check_sums(suite_run *run, suite_segment *s, bool weighted) {
    float got[STEP], expected[STEP];
    memcpy(got, s->out, sizeof got);
    memcpy(expected, s->out, sizeof got);
    for (int k = 0; k < s->edges; k++) {
        for (int c = s->width; c < 2 * s->width; c++) {
            const float row = s->rows[s->index[k] * STEP + c];
            expected[c] =
                weighted ? fmaf(s->shares[k * HEADS + 1], row, expected[c]) : expected[c] + row;
        }
    }
    const leat_edge_rows rows = rows_of(s);
    run->kernels->edge_sums(&rows, s->edges, weighted ? s->shares + 1 : NULL, got + s->width);
    compare(run, weighted ? "weighted sums over edges" : "sums over edges", s->sizes, STEP, got,
            expected);
}

static void check_sums_back(suite_run *run, suite_segment *s) {
    float got[STEP], expected[STEP];
    memcpy(got, s->out, sizeof got);
    memcpy(expected, s->out, sizeof got);
    for (int c = s->width; c < 2 * s->width; c++) {
        expected[c] = 0;
        for (int k = 0; k < s->edges; k++) {
            const int p = s->places[k];
            expected[c] =
                fmaf(s->shares[p * HEADS + 1], s->rows[s->index[p] * STEP + c], expected[c]);
            expected[c] += s->edge[p * STEP + c];
        }
    }
    const leat_edge_rows rows = rows_of(s);
    run->kernels->edge_sums_back(&rows, s->edges, s->places, s->shares + 1, s->edge + s->width,
                                 got + s->width);
    compare(run, "sums over edges of a source", s->sizes, STEP, got, expected);
}

static void case_segments(suite_run *run) {
    for (int width = 1; width <= WIDTH_MOST; width++) {
        for (int edges = 0; edges <= EDGES_MOST; edges += 1 + width % 3) {
            suite_segment s;
            make_segment(run, width, edges, &s);
            check_scores(run, &s);
            check_scores_back(run, &s);
            check_dots(run, &s);
            check_sums(run, &s, true);
            check_sums(run, &s, false);
            check_sums_back(run, &s);
        }
    }
}

/* All products of scores and of dots are -0: so would be their sums, if no lane were loaded with
 * zeros. */
static void case_underflow(suite_run *run) {
    for (int width = 1; width <= WIDTH_MOST; width++) {
        suite_segment s;
        make_segment(run, width, EDGES_MOST, &s);
        for (int i = 0; i < NODES * STEP; i++) s.rows[i] = 0x1p-78f;
        for (int i = 0; i < ROWS; i++) s.edge[i] = 0x1p-80f;
        for (int i = 0; i < STEP; i++) s.right[i] = s.weight[i] = -0x1p-80f;
        check_scores(run, &s);
        check_dots(run, &s);
    }
}

/* Sums of more columns than a few vectors of any width have. */
static void case_wide(suite_run *run) {
    enum { FROM = 4 * LEAT_LANES - 2, MOST = 6 * LEAT_LANES };
    for (int i = 0; i < 4 * (MOST - FROM + 1); i++) {
        const int width = FROM + i / 4, edges = 1 + i % EDGES_MOST;
        int32_t index[EDGES_MOST];
        float rows[NODES * (MOST + 1)], shares[EDGES_MOST], got[MOST + 1], expected[MOST + 1];
        const leat_edge_rows of = {width, 1, MOST + 1, index, rows};
        const bool weighted = i % 2 == 0;
        char sizes[60];
        snprintf(sizes, sizeof sizes, "%d edges, %d columns", edges, width);
        fills[i / 2 % FILLS](run, NODES * (MOST + 1), rows);
        fills[i / 2 % FILLS](run, EDGES_MOST, shares);
        fills[i / 2 % FILLS](run, MOST + 1, got);
        memcpy(expected, got, sizeof got);
        for (int k = 0; k < edges; k++) {
            index[k] = (int32_t)(next_bits(run) % NODES);
            for (int c = 0; c < width; c++) {
                const float x = rows[index[k] * (MOST + 1) + c];
                expected[c] = weighted ? fmaf(shares[k], x, expected[c]) : expected[c] + x;
            }
        }
        run->kernels->edge_sums(&of, edges, weighted ? shares : NULL, got);
        compare(run, "wide sums over edges", sizes, MOST + 1, got, expected);
    }
}

/* Rows that are named: some twice in a product, each once where it is added to. */
static void case_gather(suite_run *run) {
    enum { GATHERED = LEAT_LANES + 3, COLUMNS = 2 * LEAT_LANES, WIDE = COLUMNS + 1 };
    for (int i = 0; i <= 2 * GATHERED; i++) {
        const int count = i / 2;
        int32_t index[GATHERED];
        float rows[GATHERED * WIDE], got[GATHERED * WIDE], expected[GATHERED * WIDE];
        float with[COLUMNS], shares[GATHERED], dots[GATHERED], want[GATHERED];
        const leat_gather of = {(1 + i % 2) * LEAT_LANES, WIDE, index};
        char sizes[60];
        snprintf(sizes, sizeof sizes, "%d rows, %d columns", count, (int)of.columns);
        fills[i % FILLS](run, GATHERED * WIDE, rows);
        fills[i % FILLS](run, COLUMNS, with);
        fills[i % FILLS](run, GATHERED, shares);
        memcpy(dots, shares, sizeof dots);
        memcpy(want, shares, sizeof want);
        for (int t = 0; t < count; t++) {
            index[t] = (int32_t)(next_bits(run) % GATHERED);
            want[t] = 0;
            for (int c = 0; c < of.columns; c++)
                want[t] = fmaf(with[c], rows[index[t] * WIDE + c], want[t]);
        }
        run->kernels->gather_dots(&of, count, rows, with, dots);
        compare(run, "products of named rows", sizes, GATHERED, dots, want);
        memcpy(got, rows, sizeof got);
        memcpy(expected, rows, sizeof expected);
        for (int t = 0; t < count; t++) {
            index[t] = (7 * t + i) % GATHERED;
            for (int c = 0; c < of.columns; c++) {
                float *at = &expected[index[t] * WIDE + c];
                *at = fmaf(shares[t], with[c], *at);
            }
        }
        run->kernels->gather_add(&of, count, shares, with, got);
        compare(run, "named rows that are added to", sizes, GATHERED * WIDE, got, expected);
    }
}

static suite_case *const cases[] = {case_segments, case_underflow, case_gather, case_wide};

bool leat_segments_check(const leat_kernels *kernels, uint64_t *hash, char *message, size_t size) {
    return suite_check(cases, sizeof cases / sizeof *cases, kernels, hash, message, size);
}
