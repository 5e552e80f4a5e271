/*
 * The plain scores of a complete cache against golden/can/baselines*.json, which an independent
 * program made with NumPy and scikit-learn: logs ingested, tables made, thresholds fitted, splits
 * summed up.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "golden_files.h"
#include "leat/ingest.h"
#include "leat/load_can.h"
#include "train/eval/plain.h"
#include "train/eval/summary.h"
#include "train/eval/threshold.h"

enum { TESTS = 3, SCORES = 2 };
/* From the first injected frame to the end of the window that alarms. */
static const double delay_ms[TESTS] = {12.000083923339844, 6.837129592895508, 247.45607376098633};
static const char *const tests[TESTS] = {"test_01_DoS", "test_02_fuzzing", "test_03_replay"};

/* Windows of one split, with every plain score. */
typedef struct scored {
    int64_t count;
    double *score[LEAT_PLAIN_SCORES], *seconds, *injected_seconds;
    int32_t *label, *attack, *capture, *attack_first, *vehicle;
    int64_t *start, *max_feature;
    int64_t pooled_nodes;
} scored;

static char dir[256];

static int setup(void **state) {
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/leat-baselines-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(dir, NULL) != LEAT_OK;
}

static void *room(int64_t count, int64_t size) {
    void *out = NULL;
    assert_ok(leat_alloc(&out, count, size, err));
    return out;
}

static void free_scored(scored *of) {
    for (int s = 0; s < LEAT_PLAIN_SCORES; s++) leat_free(of->score[s]);
    void *const all[] = {of->seconds,    of->injected_seconds, of->label,   of->attack,
                         of->capture,    of->attack_first,     of->vehicle, of->start,
                         of->max_feature};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) leat_free(all[i]);
    *of = (scored){0};
}

static leat_plain_table *make_table(const leat_can_cache *cache, int64_t ids) {
    leat_can_split split;
    leat_can_reader *reader = NULL;
    leat_plain *plain = NULL;
    leat_plain_table *table = NULL;
    assert_ok(leat_can_cache_find_split(cache, "train", &split, err));
    assert_ok(leat_can_reader_create(&reader, cache, "train", LEAT_SCALE_NONE, err));
    assert_ok(leat_plain_create(&plain, ids, LEAT_NODE_FEATURES, err));
    for (int64_t g = 0; g < split.graph_count; g++) {
        leat_can_graph graph;
        assert_ok(leat_can_reader_graph(reader, g, &graph, err));
        if (graph.facts.y != 0) continue;
        const leat_plain_graph one = {graph.facts.node_count, graph.node_id, graph.x};
        assert_ok(leat_plain_add(plain, &one, g, err));
    }
    assert_ok(leat_plain_finish(plain, &table, err));
    assert_ok(leat_plain_table_check(table, err));
    leat_plain_destroy(plain);
    leat_can_reader_destroy(reader);
    return table;
}

static scored score_split(const leat_can_cache *cache, const char *name,
                          const leat_plain_table *table) {
    leat_can_split split;
    leat_can_reader *reader = NULL;
    assert_ok(leat_can_cache_find_split(cache, name, &split, err));
    assert_ok(leat_can_reader_create(&reader, cache, name, LEAT_SCALE_NONE, err));
    const int64_t n = split.graph_count;
    scored out = {.count = n};
    for (int s = 0; s < LEAT_PLAIN_SCORES; s++) out.score[s] = room(n, sizeof(double));
    out.seconds = room(n, sizeof(double));
    out.injected_seconds = room(n, sizeof(double));
    int32_t **const narrow[] = {&out.label, &out.attack, &out.capture, &out.attack_first,
                                &out.vehicle};
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) *narrow[i] = room(n, 4);
    out.start = room(n, 8);
    out.max_feature = room(n, 8);
    for (int64_t g = 0; g < n; g++) {
        leat_can_graph graph;
        leat_plain_scores scores;
        assert_ok(leat_can_reader_graph(reader, g, &graph, err));
        out.seconds[g] = leat_eval_window_seconds(graph.edge_attr, graph.facts.edge_count,
                                                  LEAT_EDGE_FEATURES, 100, 100);
        const leat_plain_window window = {{graph.facts.node_count, graph.node_id, graph.x},
                                          g,
                                          LEAT_NODE_MSG_COUNT,
                                          out.seconds[g]};
        assert_ok(leat_plain_score(table, &window, &scores, err));
        for (int s = 0; s < LEAT_PLAIN_SCORES; s++)
            out.score[s][g] = leat_plain_score_value(&scores, s);
        if (graph.facts.y == 1)
            out.injected_seconds[g] =
                leat_eval_seconds_after(graph.edge_attr, graph.facts.edge_count, LEAT_EDGE_FEATURES,
                                        graph.facts.attack_first);
        out.label[g] = graph.facts.y;
        out.attack[g] = graph.facts.attack_type;
        out.capture[g] = graph.facts.capture;
        out.attack_first[g] = graph.facts.attack_first;
        out.start[g] = graph.facts.window_start;
        out.max_feature[g] = scores.max_feature;
        for (int64_t i = 0; i < graph.facts.node_count; i++) {
            if (table->count[graph.node_id[i]] == 0) out.pooled_nodes++;
        }
    }
    leat_can_reader_destroy(reader);
    return out;
}

static leat_eval_windows windows_of(const scored *of, int score) {
    return (leat_eval_windows){.count = of->count,
                               .window = 100,
                               .stride = 100,
                               .score = of->score[score],
                               .label = of->label,
                               .attack = of->attack,
                               .vehicle = of->vehicle,
                               .capture = of->capture,
                               .start = of->start,
                               .attack_first = of->attack_first,
                               .seconds = of->seconds,
                               .injected_seconds = of->injected_seconds};
}

/* ---- against the golden files ------------------------------------------------------------- */

static void same_whole(json_t *object, const char *name, int64_t value) {
    json_t *expected = json_object_get(object, name);
    if (!json_is_integer(expected) || json_integer_value(expected) != value)
        fail_msg("%s: %lld, not %lld", name, (long long)value,
                 (long long)json_integer_value(expected));
}

static void near(json_t *object, const char *name, double value, double relative) {
    const double expected = json_number_value(json_object_get(object, name));
    if (!(fabs(value - expected) <= relative * fabs(expected)) || !json_object_get(object, name))
        fail_msg("%s: %.17g, not %.17g", name, value, expected);
}

static void check_group(json_t *golden, const leat_eval_group *all) {
    same_whole(golden, "windows", all->windows);
    same_whole(golden, "attack_windows", all->attack_windows);
    same_whole(golden, "true_positives", all->counts.true_positives);
    same_whole(golden, "false_positives", all->counts.false_positives);
    same_whole(golden, "false_negatives", all->counts.false_negatives);
    same_whole(golden, "true_negatives", all->counts.true_negatives);
    static const leat_eval_metric metrics[] = {LEAT_EVAL_AUROC,
                                               LEAT_EVAL_AVERAGE_PRECISION,
                                               LEAT_EVAL_PRECISION,
                                               LEAT_EVAL_RECALL,
                                               LEAT_EVAL_F1,
                                               LEAT_EVAL_MCC,
                                               LEAT_EVAL_REALISED_FPR,
                                               LEAT_EVAL_PER_HOUR,
                                               LEAT_EVAL_PER_BENIGN_HOUR};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        near(golden, leat_eval_metric_name(metrics[i]), all->metrics[metrics[i]].value, 1e-11);
    near(golden, "bus_seconds", all->time.seconds, 1e-12);
    near(golden, "gap_to_threshold", all->gap_to_threshold, 1e-6);
    same_whole(golden, "episodes", all->episodes.count);
    same_whole(golden, "episodes_detected", all->episodes.detected);
    near(golden, "episode_median_delay_frames", all->episodes.median_frames.value, 0);
}

static void check_delay(json_t *golden, const leat_eval_group *capture, double ms) {
    same_whole(golden, "capture", capture->number);
    same_whole(golden, "first_injected_frame", capture->delay.first_injected);
    same_whole(golden, "first_alarm_window_start", capture->delay.alarm_start);
    same_whole(golden, "delay_frames", capture->delay.frames);
    assert_int_equal(json_is_true(json_object_get(golden, "that_window_is_attack")),
                     capture->delay.is_attack);
    /* by the times of the frames in the log; the last step of the window is not in the cache */
    if (!(fabs(capture->delay.ms - ms) < 4 && fabs(capture->delay.ms - ms) < 0.6 * ms))
        fail_msg("%g ms, not %g", capture->delay.ms, ms);
}

/* Whether the interval has the number, and is one. */
static void check_interval(const leat_eval_group *group, leat_eval_metric metric) {
    const leat_eval_interval interval = group->intervals[metric];
    const double value = group->metrics[metric].value;
    if (!(interval.low <= value && value <= interval.high))
        fail_msg("%s: %g in [%g, %g]", leat_eval_metric_name(metric), value, interval.low,
                 interval.high);
}

static void check_test(json_t *golden, const scored *of, int score, double threshold, double ms) {
    const leat_eval_windows windows = windows_of(of, score);
    leat_eval_options options = {.threshold = threshold,
                                 .bootstrap = leat_bootstrap_options_default()};
    options.bootstrap.replicates = 100;
    leat_eval_summary *summary = NULL;
    assert_ok(leat_eval_summary_create(&summary, &windows, &options, err));
    assert_int_equal(summary->group_count, 3); /* all, the attack, the capture */
    check_group(golden, &summary->groups[0]);
    check_group(golden, &summary->groups[1]);
    assert_int_equal(summary->groups[2].kind, LEAT_EVAL_CAPTURE);
    check_delay(json_array_get(json_object_get(golden, "delay"), 0), &summary->groups[2], ms);
    for (int m = 0; m < LEAT_EVAL_METRIC_COUNT; m++)
        check_interval(&summary->groups[0], (leat_eval_metric)m);
    leat_eval_summary_destroy(summary);
}

static void check_score(json_t *golden, const scored *val, const scored of[TESTS], int score) {
    json_t *own = json_object_get(json_object_get(golden, "scores"), leat_plain_score_name(score));
    const leat_eval_windows windows = windows_of(val, score);
    leat_threshold threshold;
    assert_ok(leat_threshold_fit_fpr(&threshold, &windows, "val", 0.01, err));
    near(own, "threshold", threshold.value, 1e-12);
    same_whole(own, "benign_validation_windows", threshold.benign);
    same_whole(own, "exceeding", threshold.allowed);
    /* many of the largest z are equal: the same value of the same feature */
    if (score == 0) assert_int_equal(threshold.exceeding, threshold.allowed);
    else assert_int_equal(threshold.exceeding, threshold.allowed == 8 ? 5 : 1);
    leat_eval_ranking ranking;
    assert_ok(leat_eval_ranking_init(&ranking, windows.score, windows.label, windows.count, err));
    const leat_eval_number auroc = leat_eval_auroc(&ranking, NULL);
    leat_eval_ranking_free(&ranking);
    if (json_is_null(json_object_get(own, "validation_auroc")))
        assert_int_equal(auroc.undefined, LEAT_EVAL_NO_ATTACK);
    else near(own, "validation_auroc", auroc.value, 1e-12);
    for (int t = 0; t < TESTS; t++)
        check_test(json_object_get(json_object_get(own, "tests"), tests[t]), &of[t], score,
                   threshold.value, delay_ms[t]);
}

static void check_cache(const char *path, json_t *golden) {
    leat_can_cache *cache = NULL;
    leat_can_facts facts;
    assert_ok(leat_can_cache_open(&cache, path, err));
    leat_can_cache_get_facts(cache, &facts);
    leat_plain_table *table = make_table(cache, facts.vocab_count + 1);
    same_whole(golden, "benign_training_rows", table->rows);
    int64_t own = 0;
    for (int64_t id = 0; id < table->ids; id++) own += table->count[id] > 0;
    same_whole(golden, "identifiers_with_own_table", own);
    json_t *pooled = json_object_get(golden, "nodes_by_pooled_table");
    scored val = score_split(cache, "val", table), of[TESTS];
    same_whole(pooled, "val", val.pooled_nodes);
    for (int t = 0; t < TESTS; t++) {
        of[t] = score_split(cache, tests[t], table);
        same_whole(pooled, tests[t], of[t].pooled_nodes);
    }
    for (int score = 0; score < SCORES; score++) check_score(golden, &val, of, score);
    for (int t = 0; t < TESTS; t++) free_scored(&of[t]);
    free_scored(&val);
    leat_plain_table_destroy(table);
    leat_can_cache_close(cache);
}

/* `train` NULL: the folders as they are. */
static void check_baselines(const char *name, const char *train) {
    char file[64], cache[300];
    snprintf(file, sizeof file, "golden/can/%s.json", name);
    golden_left_out(file); /* the complete logs are not in the clone, either */
    json_t *golden = golden_json(file);
    const char *const logs = golden_path("data/can/v40");
    snprintf(cache, sizeof cache, "%s/%s", dir, name);
    leat_can_ingest_options options = leat_can_ingest_options_default();
    options.threads = 1;
    if (train != NULL) {
        options.train = &train;
        options.train_count = 1;
        options.test = tests;
        options.test_count = TESTS;
    }
    leat_can_ingest_result *result = room(1, sizeof *result);
    assert_ok(leat_can_ingest(&logs, 1, cache, &options, result, err));
    leat_free(result);
    check_cache(cache, golden);
    json_decref(golden);
}

static void with_attacks_in_training(void **state) {
    (void)state;
    check_baselines("baselines", NULL);
}

static void attack_free(void **state) {
    (void)state;
    check_baselines("baselines_free", "train_01_attack_free");
}

int main(void) {
    const struct CMUnitTest all[] = {cmocka_unit_test(with_attacks_in_training),
                                     cmocka_unit_test(attack_free)};
    return cmocka_run_group_tests(all, setup, teardown);
}
