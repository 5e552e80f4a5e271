/* Terms of neighbours: which there are, against a plain search; logits and gradients where a term
 * needs them, the same bits as those of all identifiers; the losses against loops in double. */
/* TSan: parts of a pool. */
#include "nn/ops/neighbours.h"

#include <math.h>

#include "graphs.h"
#include "nn/ops/linear.h"

enum { IN = 80, DRAWS = 9, FROM = 3 };

typedef struct made {
    leat_graph_micro batch;
    leat_neighbours found;
    leat_neighbour_terms terms;
} made;

/* Of the nodes from FROM on; without hidden ones, or with every third. */
static made make(int ids, bool hides) {
    made out = {.batch = nn_graphs(7, 9, 20, ids)};
    const int64_t nodes = out.batch.nodes, edges = out.batch.edges;
    const int64_t most = leat_neighbour_terms_most(nodes, DRAWS, edges);
    int32_t *drawn = nn_ints(nodes * DRAWS);
    uint8_t *hidden = (uint8_t *)nn_zeros(nodes);
    for (int64_t i = 0; i < nodes * DRAWS; i++) drawn[i] = (int32_t)(i * i * 7919 % 104729 % ids);
    for (int64_t i = 0; i < nodes; i++) hidden[i] = hides && i % 3 == 0;
    out.found = (leat_neighbours){.ids = ids,
                                  .draws = DRAWS,
                                  .drawn = drawn,
                                  .first = nn_ints(nodes + 1),
                                  .positive = nn_ints(edges),
                                  .kept = (uint8_t *)nn_zeros(nodes * DRAWS)};
    out.terms = (leat_neighbour_terms){.ids = ids,
                                       .first = nn_ints(nodes + 1),
                                       .id = nn_ints(most),
                                       .times = nn_zeros(most),
                                       .logit = nn_zeros(most),
                                       .counts = nn_zeros(leat_neighbour_work_count(ids))};
    leat_neighbours_set(&out.batch, hidden, &out.found);
    leat_neighbour_terms_set(&out.found, FROM, nodes - FROM, &out.terms);
    return out;
}

/* How often an identifier occurs for a node. */
static float times_of(const made *of, int64_t node, int32_t id) {
    float positive = 0, negative = 0;
    for (int32_t k = of->found.first[node]; k < of->found.first[node + 1]; k++)
        positive += of->found.positive[k] == id;
    for (int i = 0; i < DRAWS; i++) negative += of->found.drawn[node * DRAWS + i] == id;
    return positive > 0 ? -positive : negative;
}

static void test_terms(void **state) {
    (void)state;
    static const int sizes[] = {1, 21, 64, 65, 4096, 5000};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        const int ids = sizes[i / 2];
        const made of = make(ids, i % 2 == 0);
        for (int64_t row = 0; row < of.terms.rows; row++) {
            int32_t at = of.terms.first[row];
            for (int32_t id = 0; id < ids; id++) {
                const float times = times_of(&of, FROM + row, id);
                if (times == 0) continue;
                assert_true(at < of.terms.first[row + 1]);
                assert_int_equal(of.terms.id[at], id);
                assert_true(of.terms.times[at++] == times);
            }
            assert_int_equal(at, of.terms.first[row + 1]);
        }
        nn_assert_same(of.terms.counts, nn_zeros(leat_neighbour_work_count(ids)),
                       leat_neighbour_work_count(ids)); /* as it was */
        nn_free_all();
    }
}

/* ---- Logits --------------------------------------------------------------------------------- */

enum { WEIGHTS, BIAS, DOWN, LOGITS, RESULTS };

/* Gradients come from numbers in place of the loss's slopes. */
static void run(const leat_device *device, bool all, int ids, float *out[RESULTS],
                int64_t counts[RESULTS]) {
    const made of = make(ids, false);
    const int64_t rows = of.terms.rows, terms = of.terms.first[rows];
    const float *x = nn_numbers(1, rows * IN), *weight = nn_numbers(2, (int64_t)ids * IN);
    const float *bias = nn_numbers(3, ids), *slopes = nn_numbers(4, terms);
    counts[WEIGHTS] = (int64_t)ids * IN;
    counts[BIAS] = ids;
    counts[DOWN] = rows * IN;
    counts[LOGITS] = terms;
    out[WEIGHTS] = nn_numbers(5, counts[WEIGHTS]); /* the chains continue from these */
    out[BIAS] = nn_numbers(6, counts[BIAS]);
    out[DOWN] = nn_numbers(7, counts[DOWN]);
    out[LOGITS] = nn_zeros(terms);
    leat_linear linear = {rows, IN, ids, weight, bias, false, NULL};
    linear.work = nn_zeros(leat_linear_work_count(device, &linear));
    float *logits = nn_zeros(rows * leat_lanes(ids));
    const leat_neighbour_logits few = {&of.terms, IN, x, weight, bias};
    if (all) {
        assert_ok(leat_linear_forward(device, &linear, x, logits, err));
        leat_neighbour_terms_take(&of.terms, logits);
    } else {
        assert_ok(leat_neighbour_logits_forward(device, &few, err));
    }
    memcpy(out[LOGITS], of.terms.logit, sizeof *slopes * (size_t)terms);
    memcpy(of.terms.logit, slopes, sizeof *slopes * (size_t)terms);
    if (all) {
        const leat_linear_gradient gradient = {out[WEIGHTS], out[BIAS], out[DOWN], false};
        leat_neighbour_terms_put(&of.terms, logits);
        assert_ok(leat_linear_backward(device, &linear, x, logits, &gradient, err));
    } else {
        const leat_neighbour_gradient gradient = {out[WEIGHTS], out[BIAS], out[DOWN]};
        assert_ok(leat_neighbour_logits_backward(device, &few, &gradient, err));
    }
}

static void test_logits(void **state) {
    (void)state;
    static const int sizes[] = {1, 33, 300};
    leat_device device;
    for (int i = 0; nn_variant(i, true, &device); i++) {
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            float *few[RESULTS], *all[RESULTS];
            int64_t counts[RESULTS];
            run(&device, true, sizes[n], all, counts);
            run(&device, false, sizes[n], few, counts);
            for (int r = 0; r < RESULTS; r++) nn_assert_same(few[r], all[r], counts[r]);
            nn_free_all();
        }
    }
}

/* ---- Loss ----------------------------------------------------------------------------------- */

static void test_loss(void **state) {
    (void)state;
    leat_device device;
    float *first = NULL;
    const made of = make(33, true);
    const int64_t rows = of.terms.rows, terms = of.terms.first[rows];
    const float *logits = nn_numbers(4, terms);
    for (int i = 0; nn_variant(i, true, &device); i++) {
        double *sums[2] = {(double *)nn_zeros(2 * rows), (double *)nn_zeros(2 * rows)};
        const leat_neighbour_loss loss = {&of.terms, 0.5f, 0.25f};
        memcpy(of.terms.logit, logits, sizeof *logits * (size_t)terms);
        assert_ok(leat_neighbour_loss_run(&device, &loss, sums[0], sums[1], err));
        for (int64_t row = 0; row < rows; row++) {
            double want[2] = {0, 0};
            for (int32_t t = of.terms.first[row]; t < of.terms.first[row + 1]; t++) {
                const double times = (double)of.terms.times[t], x = (double)logits[t];
                const bool negative = times > 0;
                want[negative] += fabs(times) * log1p(exp(negative ? x : -x));
                const double slope = times / (1 + exp(negative ? -x : x)) * (negative ? 0.25 : 0.5);
                assert_true(fabs((double)of.terms.logit[t] - slope) <= 1e-6 * fabs(slope));
            }
            for (int k = 0; k < 2; k++)
                assert_true(fabs(sums[k][row] - want[k]) <= 1e-6 * fabs(want[k]));
        }
        if (first == NULL) {
            first = nn_zeros(terms);
            memcpy(first, of.terms.logit, sizeof *first * (size_t)terms);
        }
        nn_assert_same(of.terms.logit, first, terms);
    }
    nn_free_all();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_logits),
        cmocka_unit_test(test_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
