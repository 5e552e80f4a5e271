/*
 * Intervals against SciPy, thresholds, and resampling: what must not change an interval, and what
 * must.
 */
#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "check.h"
#include "train/eval/bootstrap.h"
#include "train/eval/interval.h"
#include "train/eval/threshold.h"

static void near(const char *what, double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%s: %.17g, not %.17g", what, value, expected);
}

/* scipy.stats.chi2.ppf(0.025, 2 k) / 2 and chi2.ppf(0.975, 2 k + 2) / 2, SciPy 1.17.1 */
static void poisson(void **state) {
    (void)state;
    static const struct {
        int64_t count;
        double low, high;
    } cases[] = {
        {0, 0, 3.6888794541139354},
        {1, 0.025317807984289876, 5.571643390938898},
        {2, 0.24220927854396496, 7.22468766772396},
        {5, 1.6234863901184207, 11.66833207932267},
        {10, 4.7953886961324335, 18.39035604201778},
        {32, 21.887976311284564, 45.17445207942047},
        {41, 29.42230786845528, 55.62112956573492},
        {100, 81.36399125092314, 121.62679379242638},
        {1000, 938.9730184076952, 1063.952136016302},
        {12345, 12128.18090789908, 12564.722206913333},
        {1000000, 998040.9833402939, 1001961.9119454322},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const leat_eval_interval interval = leat_interval_poisson(cases[i].count);
        near("low", interval.low, cases[i].low, 1e-11);
        near("high", interval.high, cases[i].high, 1e-11);
    }
}

/* scipy.stats.binomtest(k, n).proportion_ci(method="wilson") */
static void wilson(void **state) {
    (void)state;
    static const struct {
        int64_t count, all;
        double low, high;
    } cases[] = {
        {0, 10, 0, 0.27753279986288926},
        {10, 10, 0.7224672001371107, 1},
        {1, 10, 0.017876213095072896, 0.4041500267952385},
        {5, 10, 0.236593090512564, 0.7634069094874361},
        {32, 782, 0.029133283149512357, 0.057196418674190425},
        {91, 100, 0.8377378714728368, 0.9519274599974349},
        {37, 708, 0.03814975522066398, 0.0712024858663526},
        {0, 1, 0, 0.7934506856227626},
        {499999, 1000000, 0.4990190198938482, 0.5009789801138347},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const leat_eval_interval interval =
            leat_interval_wilson(cases[i].count, cases[i].all, LEAT_EVAL_NO_ATTACK);
        near("low", interval.low, cases[i].low, 1e-13);
        near("high", interval.high, cases[i].high, 1e-13);
    }
    const leat_eval_interval none = leat_interval_wilson(0, 0, LEAT_EVAL_NO_ATTACK);
    assert_int_equal(none.undefined, LEAT_EVAL_NO_ATTACK);
    assert_true(isnan(none.low) && isnan(none.high));
}

/* ---- thresholds --------------------------------------------------------------------------- */

static leat_eval_windows scored(const double *score, const int32_t *label, int64_t count) {
    return (leat_eval_windows){
        .count = count, .window = 100, .stride = 100, .score = score, .label = label};
}

static void threshold_fpr(void **state) {
    (void)state;
    static double score[102];
    static int32_t label[102];
    for (int i = 0; i < 100; i++) score[i] = (i * 37) % 100; /* 0 .. 99, each once */
    score[100] = 1000;
    label[100] = 1;
    score[101] = 2000;
    label[101] = -1;
    const leat_eval_windows windows = scored(score, label, 102);
    static const struct {
        double target, value;
    } cases[] = {{0, 99}, {0.0099, 99}, {0.01, 98}, {0.05, 94}, {0.29, 70}, {0.57, 42}, {0.999, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        leat_threshold out;
        assert_ok(leat_threshold_fit_fpr(&out, &windows, "val", cases[i].target, err));
        near("threshold", out.value, cases[i].value, 0);
        assert_int_equal(out.exceeding, 99 - (int64_t)cases[i].value);
        assert_int_equal(out.allowed, out.exceeding);
        assert_int_equal(out.benign, 100);
        assert_int_equal(out.attacks, 1);
        assert_string_equal(out.split, "val");
    }
    const double ties[5] = {1, 3, 3, 3, 2};
    const int32_t benign[5] = {0};
    const leat_eval_windows tied = scored(ties, benign, 5);
    leat_threshold out;
    assert_ok(leat_threshold_fit_fpr(&out, &tied, "val", 0.4, err));
    near("tied", out.value, 3, 0);
    assert_int_equal(out.allowed, 2);
    assert_int_equal(out.exceeding, 0);
    assert_true(isnan(out.f1));
}

static void threshold_f1(void **state) {
    (void)state;
    static const struct {
        const char *what;
        int64_t count;
        double score[6];
        int32_t label[6];
        double value, f1;
    } cases[] = {
        {"apart", 5, {5, 4, 2, 1, 0}, {1, 1, 0, 0, 0}, 3, 1},
        {"the highest of equally good ones", 4, {4, 3, 2, 1}, {1, 0, 1, 0}, 1.5, 0.8},
        {"all", 3, {3, 2, 1}, {0, 1, 1}, 1 - 0x1p-53, 0.8},
        {"a tie cannot be cut", 4, {2, 2, 1, 1}, {1, 0, 0, 0}, 1.5, 2.0 / 3},
        {"first of two maxima", 6, {6, 5, 4, 3, 2, 1}, {1, 0, 0, 1, 0, 0}, 5.5, 2.0 / 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const leat_eval_windows windows = scored(cases[i].score, cases[i].label, cases[i].count);
        leat_threshold out;
        assert_ok(leat_threshold_fit_f1(&out, &windows, "val", err));
        near(cases[i].what, out.value, cases[i].value, 0);
        near(cases[i].what, out.f1, cases[i].f1, 1e-15);
        assert_true(isnan(out.target_fpr));
    }
    /* neighbours: the threshold is the lower one, which does not exceed itself */
    const double close[2] = {nextafter(1, 2), 1};
    const int32_t label[2] = {1, 0};
    const leat_eval_windows windows = scored(close, label, 2);
    leat_threshold out;
    assert_ok(leat_threshold_fit_f1(&out, &windows, "val", err));
    near("neighbours", out.f1, 1, 0);
}

static void threshold_as_json(void **state) {
    (void)state;
    const double score[3] = {1, 3, 2};
    const int32_t label[3] = {0, 1, 0};
    const leat_eval_windows windows = scored(score, label, 3);
    leat_threshold out;
    leat_json *json = NULL;
    const char *text = NULL;
    int64_t bytes = 0;
    assert_ok(leat_threshold_fit_f1(&out, &windows, "val", err));
    assert_ok(leat_json_create(&json, true, err));
    leat_json_begin_object(json);
    leat_threshold_json(json, &out);
    leat_json_end_object(json);
    assert_ok(leat_json_finish(json, &text, &bytes, err));
    assert_string_equal(text,
                        "{\"threshold\":2.5,\"rule\":\"f1\",\"fitted_on\":{\"split\":\"val\","
                        "\"benign_windows\":2,\"attack_windows\":1,\"benign_windows_above\":0,"
                        "\"f1\":1.0}}\n");
    leat_json_destroy(json);
}

static void threshold_noted(void **state) {
    (void)state;
    static const struct {
        leat_threshold of;
        const char *note;
    } cases[] = {
        {{.split = "val", .benign = 99, .target_fpr = 0.01},
         "1 % of 99 benign windows of val is less than one window, so the threshold is the highest "
         "of their scores; validation data with more benign windows allows a better one"},
        {{.split = "val", .benign = 1, .target_fpr = 0.0005},
         "0.05 % of 1 benign window of val is less than one window, so the threshold is the "
         "highest of their scores; validation data with more benign windows allows a better one"},
        {{.split = "val", .benign = 100, .target_fpr = 0.01, .allowed = 1}, ""},
        {{.split = "val", .benign = 10, .target_fpr = 0}, ""}, /* as it was asked for */
        {{.rule = LEAT_THRESHOLD_F1, .split = "val", .benign = 10, .target_fpr = NAN}, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[LEAT_THRESHOLD_NOTE_BYTES];
        assert_string_equal(leat_threshold_note(&cases[i].of, text), cases[i].note);
        assert_true(leat_threshold_is_weak(&cases[i].of) == (cases[i].note[0] != 0));
    }
}

static void threshold_refused(void **state) {
    (void)state;
    const double score[2] = {1, 2}, broken[2] = {1, (double)NAN};
    const int32_t attacks[2] = {1, 1}, benign[2] = {0, 0}, unknown[2] = {-1, -1};
    const leat_eval_windows no_benign = scored(score, attacks, 2);
    const leat_eval_windows no_attack = scored(score, benign, 2);
    const leat_eval_windows no_label = scored(score, unknown, 2);
    const leat_eval_windows not_finite = scored(broken, unknown, 2);
    leat_threshold out;
    assert_fails(leat_threshold_fit_fpr(&out, &no_benign, "val", 0.01, err), LEAT_ERR_INPUT,
                 "split \"val\": no benign window among 2, so no threshold can be chosen; ingest");
    assert_fails(leat_threshold_fit_fpr(&out, &no_label, "val", 0.01, err), LEAT_ERR_INPUT,
                 "no benign window");
    assert_fails(leat_threshold_fit_f1(&out, &no_attack, "val", err), LEAT_ERR_INPUT,
                 "no window with an attack among 2");
    assert_fails(leat_threshold_fit_fpr(&out, &not_finite, "val", 0.01, err), LEAT_ERR_INPUT,
                 "window 1: score nan");
    assert_fails(leat_threshold_fit_fpr(&out, &no_attack, "val", 1, err), LEAT_ERR_OPTION,
                 "target-fpr: 1;");
    assert_fails(leat_threshold_fit_fpr(&out, &no_attack, "val", (double)NAN, err), LEAT_ERR_OPTION,
                 "target-fpr: nan;");
    assert_true(out.value == 0 && out.split == NULL);
}

/* ---- resampling --------------------------------------------------------------------------- */

enum { WINDOWS = 400 };

typedef struct series {
    double score[WINDOWS], seconds[WINDOWS];
    int32_t label[WINDOWS], capture[WINDOWS];
} series;

/* Alarms in runs of `run` windows: 1 in 8 runs, of benign windows. Each tenth has an attack. */
static void make_series(series *out, int64_t run) {
    *out = (series){0};
    for (int64_t i = 0; i < WINDOWS; i++) {
        out->label[i] = i % 10 == 9;
        const bool alarm = leat_random(11, 1, (uint64_t)(i / run)) % 8 == 0;
        out->score[i] = out->label[i] == 1 || alarm ? 1 : 0;
        out->seconds[i] = 0.0625;
    }
}

static void resample(const series *of, const leat_bootstrap_options *options, int64_t count,
                     leat_eval_interval out[LEAT_EVAL_METRIC_COUNT]) {
    leat_eval_windows windows = scored(of->score, of->label, count);
    windows.seconds = of->seconds;
    windows.capture = of->capture;
    leat_eval_ranking ranking;
    assert_ok(leat_eval_ranking_init(&ranking, of->score, of->label, count, err));
    assert_ok(leat_bootstrap(&windows, &ranking, 0.5, options, out, err));
    leat_eval_ranking_free(&ranking);
}

static double width(const leat_eval_interval out[LEAT_EVAL_METRIC_COUNT]) {
    return out[LEAT_EVAL_REALISED_FPR].high - out[LEAT_EVAL_REALISED_FPR].low;
}

static void blocks(void **state) {
    (void)state;
    static series single, runs;
    make_series(&single, 1);
    make_series(&runs, 20);
    leat_bootstrap_options options = {.seed = 5, .replicates = 400, .block_windows = 1};
    leat_eval_interval out[LEAT_EVAL_METRIC_COUNT], again[LEAT_EVAL_METRIC_COUNT];
    resample(&single, &options, WINDOWS, out);
    /* single windows: as wide as Wilson's */
    int64_t alarms = 0, benign = 0;
    for (int i = 0; i < WINDOWS; i++) {
        benign += single.label[i] == 0;
        alarms += single.label[i] == 0 && single.score[i] > 0;
    }
    const leat_eval_interval independent = leat_interval_wilson(alarms, benign, LEAT_EVAL_DEFINED);
    near("width", width(out), independent.high - independent.low, 0.15);
    /* all attacks are found, in each replicate; their share cannot be told from one number */
    assert_true(out[LEAT_EVAL_RECALL].low == 1 && out[LEAT_EVAL_RECALL].high == 1);
    resample(&runs, &options, WINDOWS, out);
    options.block_windows = 20;
    resample(&runs, &options, WINDOWS, again);
    assert_true(width(again) > 2 * width(out));
    resample(&runs, &options, WINDOWS, out);
    assert_memory_equal(out, again, sizeof out);
    options.seed = 6;
    resample(&runs, &options, WINDOWS, out);
    assert_memory_not_equal(out, again, sizeof out);
}

static void no_interval(void **state) {
    (void)state;
    static series of;
    make_series(&of, 1);
    leat_eval_interval out[LEAT_EVAL_METRIC_COUNT];
    leat_bootstrap_options options = {.replicates = 50, .block_windows = 20};
    resample(&of, &options, 180, out); /* nine blocks */
    assert_int_equal(out[LEAT_EVAL_AUROC].undefined, LEAT_EVAL_FEW_BLOCKS);
    assert_true(isnan(out[LEAT_EVAL_AUROC].low));
    resample(&of, &options, 181, out);
    assert_int_equal(out[LEAT_EVAL_AUROC].undefined, LEAT_EVAL_DEFINED);
    /* blocks end with their capture */
    for (int i = 90; i < WINDOWS; i++) of.capture[i] = 1;
    resample(&of, &options, 180, out); /* 20 20 20 20 10, twice */
    assert_int_equal(out[LEAT_EVAL_AUROC].undefined, LEAT_EVAL_DEFINED);
    resample(&of, &options, 0, out);
    assert_int_equal(out[LEAT_EVAL_AUROC].undefined, LEAT_EVAL_NO_WINDOW);
    for (int i = 0; i < WINDOWS; i++) of.label[i] = 0;
    resample(&of, &options, WINDOWS, out);
    assert_int_equal(out[LEAT_EVAL_AUROC].undefined, LEAT_EVAL_NO_ATTACK);
    assert_int_equal(out[LEAT_EVAL_REALISED_FPR].undefined, LEAT_EVAL_DEFINED);
    options.replicates = 0;
    resample(&of, &options, WINDOWS, out);
    assert_int_equal(out[LEAT_EVAL_REALISED_FPR].undefined, LEAT_EVAL_FEW_BLOCKS);
    const leat_eval_windows nothing = {.window = 100, .stride = 100};
    const leat_eval_ranking none = {0};
    options.block_windows = 0;
    assert_fails(leat_bootstrap(&nothing, &none, 0, &options, out, err), LEAT_ERR_OPTION,
                 "block of 0 windows");
    options = (leat_bootstrap_options){.replicates = -1, .block_windows = 1};
    assert_fails(leat_bootstrap(&nothing, &none, 0, &options, out, err), LEAT_ERR_OPTION,
                 "replicates: -1;");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisson),           cmocka_unit_test(wilson),
        cmocka_unit_test(threshold_fpr),     cmocka_unit_test(threshold_f1),
        cmocka_unit_test(threshold_as_json), cmocka_unit_test(threshold_noted),
        cmocka_unit_test(threshold_refused), cmocka_unit_test(blocks),
        cmocka_unit_test(no_interval)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
