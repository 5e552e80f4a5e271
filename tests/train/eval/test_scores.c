/*
 * Metrics against scikit-learn and torchmetrics (golden/can/metrics_ref.json), what is undefined,
 * bad input, and curves that are thinned.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "golden_files.h"
#include "train/eval/scores.h"

enum { MOST = 64 };

typedef struct listed {
    int64_t count, attacks;
    double score[MOST], seconds[MOST];
    int32_t label[MOST];
} listed;

static leat_eval_windows windows_of(const listed *of) {
    return (leat_eval_windows){.count = of->count,
                               .window = 100,
                               .stride = 100,
                               .score = of->score,
                               .label = of->label,
                               .seconds = of->seconds};
}

static listed read_case(json_t *entry) {
    listed out = {0};
    json_t *scores = json_object_get(entry, "scores"), *labels = json_object_get(entry, "labels");
    out.count = (int64_t)json_array_size(scores);
    assert_in_range(out.count, 1, MOST);
    for (int64_t i = 0; i < out.count; i++) {
        out.score[i] = json_number_value(json_array_get(scores, (size_t)i));
        out.label[i] = (int32_t)json_integer_value(json_array_get(labels, (size_t)i));
        out.seconds[i] = 36;
        out.attacks += out.label[i];
    }
    return out;
}

static leat_eval_ranking rank(const listed *of) {
    leat_eval_ranking ranking;
    assert_ok(leat_eval_ranking_init(&ranking, of->score, of->label, of->count, err));
    return ranking;
}

static void near(const char *what, double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s: %.17g, not %.17g", what, value, expected);
}

static double number(json_t *object, const char *name) {
    json_t *found = json_object_get(object, name);
    assert_non_null(found);
    return json_is_string(found) ? (double)INFINITY : json_number_value(found);
}

/* ---- golden ------------------------------------------------------------------------------- */

static void check_curve(const listed *of, const leat_eval_ranking *ranking, json_t *roc) {
    leat_eval_point points[MOST + 2];
    const int64_t count = leat_eval_curve(ranking, MOST + 2, points);
    json_t *fpr = json_object_get(roc, "fpr"), *tpr = json_object_get(roc, "tpr");
    json_t *cut = json_object_get(roc, "thresholds");
    assert_int_equal(count, json_array_size(fpr));
    for (int64_t i = 0; i < count; i++) {
        const size_t at = (size_t)i;
        near("fpr", (double)points[i].false_positives / (double)(of->count - of->attacks),
             json_number_value(json_array_get(fpr, at)), 1e-12);
        near("tpr", (double)points[i].true_positives / (double)of->attacks,
             json_number_value(json_array_get(tpr, at)), 1e-12);
        if (i == 0) assert_true(isinf(points[i].score));
        else near("threshold", points[i].score, json_number_value(json_array_get(cut, at)), 0);
    }
}

/* scikit-learn's decisions are score >= threshold: the same as score > the double below. */
static void check_at(const listed *of, json_t *expected, double threshold) {
    const leat_eval_windows windows = windows_of(of);
    const double below = isinf(threshold) ? 1e300 : nextafter(threshold, -(double)INFINITY);
    const leat_eval_counts counts = leat_eval_count(&windows, NULL, below);
    leat_eval_number metrics[LEAT_EVAL_METRIC_COUNT];
    leat_eval_rates(&counts, metrics);
    const int64_t cells[4] = {counts.true_negatives, counts.false_positives, counts.false_negatives,
                              counts.true_positives};
    for (size_t i = 0; i < 4; i++) {
        json_t *row = json_array_get(json_object_get(expected, "confusion"), i / 2);
        assert_int_equal(cells[i], json_integer_value(json_array_get(row, i % 2)));
    }
    if (of->attacks == 0 || of->attacks == of->count) {
        const leat_eval_reason reason =
            of->attacks == 0 ? LEAT_EVAL_NO_ATTACK : LEAT_EVAL_NO_BENIGN;
        for (int m = LEAT_EVAL_F1; m <= LEAT_EVAL_MCC; m++) {
            assert_int_equal(metrics[m].undefined, reason);
            assert_true(isnan(metrics[m].value));
        }
        return;
    }
    near("mcc", metrics[LEAT_EVAL_MCC].value, number(expected, "mcc"), 1e-12);
    near("f1", metrics[LEAT_EVAL_F1].value, number(expected, "f1"), 1e-12);
    near("f1_macro", metrics[LEAT_EVAL_F1_MACRO].value, number(expected, "f1_macro"), 1e-12);
    if (json_object_get(expected, "recall") == NULL) return;
    near("recall", metrics[LEAT_EVAL_RECALL].value, number(expected, "recall"), 1e-12);
    if (counts.true_positives + counts.false_positives == 0) {
        assert_int_equal(metrics[LEAT_EVAL_PRECISION].undefined, LEAT_EVAL_NO_ALARM);
        assert_true(isnan(metrics[LEAT_EVAL_PRECISION].value));
    } else {
        near("precision", metrics[LEAT_EVAL_PRECISION].value, number(expected, "precision"), 1e-12);
    }
}

/* Of the score as a probability of an attack, and of the decision at 0.5 and how sure it was. */
static void check_ece(const char *name, const listed *of, json_t *entry) {
    leat_eval_number ece;
    assert_ok(leat_eval_ece(of->score, of->label, of->count, &ece, err));
    /* torchmetrics' bounds in float32 miss some of the scores k / 15; here each is in its bin */
    const bool edges = strcmp(name, "bin_edges") == 0;
    near(name, ece.value,
         edges ? 7.0 / 15 : number(json_object_get(entry, "torch_binary_0_5"), "ece"), 1e-6);
    listed decided = *of;
    for (int64_t i = 0; i < of->count; i++) {
        const bool alarm = of->score[i] > 0.5;
        decided.score[i] = alarm ? of->score[i] : 1 - of->score[i];
        decided.label[i] = alarm == (of->label[i] == 1);
    }
    assert_ok(leat_eval_ece(decided.score, decided.label, of->count, &ece, err));
    near("ece of decisions", ece.value, number(json_object_get(entry, "torch_two_class"), "ece"),
         1e-6);
}

static void golden_cases(void **state) {
    (void)state;
    json_t *golden = golden_json("golden/can/metrics_ref.json");
    const char *name = NULL;
    json_t *entry = NULL;
    int cases = 0;
    json_object_foreach(json_object_get(golden, "cases"), name, entry) {
        const listed of = read_case(entry);
        json_t *expected = json_object_get(entry, "sklearn");
        leat_eval_ranking ranking = rank(&of);
        const leat_eval_number auroc = leat_eval_auroc(&ranking, NULL);
        const leat_eval_number ap = leat_eval_average_precision(&ranking, NULL);
        const bool both = of.attacks > 0 && of.attacks < of.count;
        assert_int_equal(auroc.undefined == LEAT_EVAL_DEFINED, both);
        assert_int_equal(ap.undefined, auroc.undefined);
        if (both) {
            near(name, auroc.value, number(expected, "roc_auc"), 1e-12);
            near(name, ap.value, number(expected, "average_precision"), 1e-12);
            check_curve(&of, &ranking, json_object_get(expected, "roc"));
            check_at(&of, json_object_get(expected, "at_youden_ge"),
                     number(expected, "youden_threshold"));
        } else {
            assert_true(isnan(auroc.value) && isnan(ap.value));
        }
        check_at(&of, json_object_get(expected, "at_0_5_ge"), 0.5);
        if (strncmp(name, "raw", 3) != 0) check_ece(name, &of, entry);
        leat_eval_ranking_free(&ranking);
        cases++;
    }
    assert_int_equal(cases, 13);
    json_decref(golden);
}

/* ---- weights ------------------------------------------------------------------------------ */

/* A window that counts three times is the same as three windows. */
static void times_are_copies(void **state) {
    (void)state;
    static listed once, copied;
    int32_t times[MOST] = {0};
    once = (listed){.count = 20};
    copied = (listed){0};
    for (int64_t i = 0; i < once.count; i++) {
        const uint64_t bits = leat_random(7, 1, (uint64_t)i);
        once.score[i] = (double)(bits % 5);
        once.label[i] = (int32_t)(bits >> 32 & 1);
        once.seconds[i] = (double)(1 + bits % 7);
        times[i] = (int32_t)(bits >> 40 & 3);
        for (int32_t n = 0; n < times[i]; n++) {
            copied.score[copied.count] = once.score[i];
            copied.label[copied.count] = once.label[i];
            copied.seconds[copied.count++] = once.seconds[i];
        }
    }
    const listed *const of[2] = {&once, &copied};
    leat_eval_number metrics[2][LEAT_EVAL_METRIC_COUNT];
    for (int c = 0; c < 2; c++) {
        const leat_eval_windows windows = windows_of(of[c]);
        leat_eval_ranking ranking = rank(of[c]);
        leat_eval_measure(&windows, &ranking, c == 0 ? times : NULL, 2, metrics[c]);
        leat_eval_ranking_free(&ranking);
    }
    for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++) {
        assert_int_equal(metrics[0][m].undefined, LEAT_EVAL_DEFINED);
        near(leat_eval_metric_name((leat_eval_metric)m), metrics[0][m].value, metrics[1][m].value,
             1e-13);
    }
}

/* ---- bad input, nothing there ------------------------------------------------------------- */

static void bad_input(void **state) {
    (void)state;
    leat_eval_ranking ranking;
    leat_eval_number ece;
    const double nan[3] = {0, 1, (double)NAN}, infinite[2] = {0, (double)INFINITY};
    const double large[2] = {0.5, 1.5};
    const int32_t labels[3] = {0, 1, 1}, bad[2] = {0, 2}, unknown[2] = {0, -1};
    assert_fails(leat_eval_ranking_init(&ranking, nan, labels, 3, err), LEAT_ERR_INPUT,
                 "window 2: score nan is not finite");
    assert_fails(leat_eval_ranking_init(&ranking, infinite, labels, 2, err), LEAT_ERR_INPUT,
                 "window 1: score inf is not finite");
    assert_fails(leat_eval_ranking_init(&ranking, nan, bad, 2, err), LEAT_ERR_INPUT,
                 "window 1: label 2");
    assert_fails(leat_eval_ranking_init(&ranking, nan, unknown, 2, err), LEAT_ERR_INPUT,
                 "window 1 has no label");
    assert_fails(leat_eval_ece(large, labels, 2, &ece, err), LEAT_ERR_INPUT,
                 "window 1: 1.5 is not a probability");
    assert_ok(leat_eval_ece(large, labels, 0, &ece, err));
    assert_int_equal(ece.undefined, LEAT_EVAL_NO_WINDOW);
    assert_ok(leat_eval_ranking_init(&ranking, nan, labels, 0, err));
    assert_int_equal(leat_eval_auroc(&ranking, NULL).undefined, LEAT_EVAL_NO_WINDOW);
    leat_eval_ranking_free(&ranking);
    for (int r = 1; r <= LEAT_EVAL_FEW_BLOCKS; r++)
        assert_true(strlen(leat_eval_reason_text((leat_eval_reason)r)) > 5);
}

/* The double below a bound is in the bin below: two probabilities, of which one is right, are as
 * far off as each alone, and not as their mean. */
static void bounds_of_bins(void **state) {
    (void)state;
    const int32_t right[2] = {0, 1};
    for (int bin = 1; bin <= LEAT_EVAL_BINS; bin++) {
        const double bound = (double)bin / LEAT_EVAL_BINS;
        const double apart[2] = {nextafter(bound, 0), bound}, same[2] = {bound, bound};
        leat_eval_number ece;
        assert_ok(leat_eval_ece(apart, right, 2, &ece, err));
        near("apart", ece.value, 0.5, 1e-12); /* (b + 1 - b) / 2 */
        assert_ok(leat_eval_ece(same, right, 2, &ece, err));
        near("same", ece.value, fabs(0.5 - bound), 1e-12);
    }
}

/* ---- thinning ----------------------------------------------------------------------------- */

static void thinned_curve(void **state) {
    (void)state;
    enum { MANY = 5000 };
    static double score[MANY];
    static int32_t label[MANY];
    for (int i = 0; i < MANY; i++) {
        score[i] = leat_random_unit(leat_random(3, 1, (uint64_t)i));
        label[i] = leat_random_unit(leat_random(3, 2, (uint64_t)i)) < 0.2 * score[i];
    }
    leat_eval_ranking ranking;
    assert_ok(leat_eval_ranking_init(&ranking, score, label, MANY, err));
    for (int64_t most = 8; most <= 512; most *= 4) {
        leat_eval_point points[512];
        const int64_t count = leat_eval_curve(&ranking, most, points);
        assert_in_range(count, most / 4, most);
        assert_int_equal(points[0].true_positives + points[0].false_positives, 0);
        assert_int_equal(points[count - 1].true_positives + points[count - 1].false_positives,
                         MANY);
        /* the area under it is that of all points, but for a cell */
        double area = 0;
        for (int64_t i = 1; i < count; i++)
            area += 0.5 * (double)(points[i].true_positives + points[i - 1].true_positives) *
                    (double)(points[i].false_positives - points[i - 1].false_positives);
        area /=
            (double)points[count - 1].true_positives * (double)points[count - 1].false_positives;
        near("area", area, leat_eval_auroc(&ranking, NULL).value, 4.0 / (double)most);
    }
    leat_eval_ranking_free(&ranking);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_cases), cmocka_unit_test(times_are_copies),
        cmocka_unit_test(bad_input), cmocka_unit_test(bounds_of_bins),
        cmocka_unit_test(thinned_curve)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
