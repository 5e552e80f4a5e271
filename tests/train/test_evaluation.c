/*
 * Detectors evaluated on small caches: labels of a test decide nothing, threads change nothing, a
 * calibration is kept and never trusted with other weights, and scores are those of another
 * program. What metrics are of scores is checked in tests/train/eval.
 */
/* TSan: batches on a pool. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "evaluation_support.h"
#include "leat/train_eval.h"
#include "load/can/loader.h"
#include "load/graph_support.h"
#include "train/tasks/graphs/detector.h"
#include "train/tasks/graphs/split_windows.h"
#include "train_support.h"

enum { F = LEAT_MICRO_NODE_FEATURES, TRAIN = 40, VAL = 16, TEST = 20, RUNS = 3 };

static char data[256], flipped[256];
static const char *vgae, *other_vgae, *gat;

/* ---- Runs ----------------------------------------------------------------------------------- */

static const char *train_measured(const char *model, const char *name, uint64_t seed,
                                  bool measured) {
    evaluation_training of = {.model = model, .cache = data, .seed = seed, .measured = measured};
    const char *run = evaluation_train(&of, name);
    assert_null(strstr(of.note, "not made yet"));
    return run;
}

static const char *train_detector(const char *model, const char *name, uint64_t seed) {
    return train_measured(model, name, seed, false);
}

static void flip_labels(made_graphs *test) {
    for (int64_t g = 0; g < test->graphs; g++) {
        const bool attack = test->y[g] == 0;
        test->y[g] = attack;
        test->attack_type[g] = attack ? 2 : 0;
        test->attack_first[g] = attack ? 7 : -1;
        test->attack_count[g] = attack;
    }
}

static int setup(void **state) {
    make_cache options = {.graphs = {TRAIN, VAL, TEST}, .window = 20, .frames = true};
    (void)state;
    graphs_make("data", &options, data);
    options.change_test = flip_labels;
    graphs_make("flipped", &options, flipped);
    vgae = train_detector("vgae", "vgae", 1);
    other_vgae = train_detector("vgae", "other", 2);
    gat = train_detector("gat", "gat", 1);
    return 0;
}

static int teardown(void **state) { return loader_teardown(state) + train_teardown(state); }

static leat_evaluation *evaluate(const char *cache, const leat_evaluation_options *options) {
    const char *const runs[RUNS] = {vgae, other_vgae, gat};
    leat_evaluation *out = NULL;
    assert_ok(leat_evaluation_create(&out, runs, RUNS, cache, options, err));
    return out;
}

/* ---- What decides --------------------------------------------------------------------------- */

static void same_scores(const leat_evaluation *a, const leat_evaluation *b) {
    assert_int_equal(a->method_count, RUNS + 5);
    for (int m = 0; m < a->method_count; m++) {
        const leat_threshold *one = &a->methods[m].threshold, *two = &b->methods[m].threshold;
        assert_true(one->value == two->value && one->allowed == two->allowed);
        assert_string_equal(one->split, "val");
        assert_int_equal(one->benign + one->attacks, VAL);
        assert_memory_equal(a->splits[0].scores[m], b->splits[0].scores[m], TEST * sizeof(double));
    }
    for (int r = 0; r < RUNS; r++) {
        assert_string_equal(a->runs[r].state, b->runs[r].state);
        assert_int_equal(a->runs[r].step, 4);
        assert_memory_equal(a->splits[0].blamed_features[r], b->splits[0].blamed_features[r],
                            TEST * sizeof(int32_t));
    }
}

static void labels_of_a_test_decide_nothing(void **state) {
    (void)state;
    leat_evaluation_options options = evaluation_options();
    for (int rule = LEAT_THRESHOLD_FPR; rule <= LEAT_THRESHOLD_F1; rule++) {
        options.threshold = (leat_threshold_rule)rule;
        options.keep = false; /* so that all of it is computed twice */
        leat_evaluation *one = evaluate(data, &options), *two = evaluate(flipped, &options);
        same_scores(one, two);
        for (int m = 0; m < one->method_count; m++) {
            const leat_eval_group *a = &one->splits[0].results[m].summary->groups[0];
            const leat_eval_group *b = &two->splits[0].results[m].summary->groups[0];
            assert_int_equal(a->attack_windows + b->attack_windows, TEST);
            assert_true(fabs(a->metrics[LEAT_EVAL_AUROC].value + b->metrics[LEAT_EVAL_AUROC].value -
                             1) < 1e-12);
            assert_int_equal(a->counts.true_positives, b->counts.false_positives);
        }
        leat_evaluation_destroy(one);
        leat_evaluation_destroy(two);
    }
}

static void threads_change_nothing(void **state) {
    (void)state;
    leat_evaluation_options options = evaluation_options();
    for (int score = 0; score < LEAT_WINDOW_SCORES; score++) {
        leat_evaluation *made[2];
        options.score = (leat_window_score)score;
        options.keep = false;
        for (int i = 0; i < 2; i++) {
            options.threads = 1 + 2 * i;
            assert_ok(leat_evaluation_create(&made[i], &vgae, 1, data, &options, err));
        }
        assert_int_equal(made[0]->method_count, 1 + LEAT_PLAIN_SCORES);
        for (int m = 0; m < made[0]->method_count; m++) {
            const leat_evaluation_split *a = &made[0]->splits[0], *b = &made[1]->splits[0];
            assert_true(made[0]->methods[m].threshold.value == made[1]->methods[m].threshold.value);
            assert_memory_equal(a->scores[m], b->scores[m], TEST * sizeof(double));
            for (int k = 0; k < LEAT_EVAL_METRIC_COUNT; k++) {
                const leat_eval_interval *one = &a->results[m].summary->groups[0].intervals[k];
                const leat_eval_interval *two = &b->results[m].summary->groups[0].intervals[k];
                assert_true(one->undefined == two->undefined);
                assert_true(one->low == two->low || (isnan(one->low) && isnan(two->low)));
            }
        }
        leat_evaluation_destroy(made[0]);
        leat_evaluation_destroy(made[1]);
    }
}

/* ---- Another program ------------------------------------------------------------------------ */

/* Of a split: residuals, and what a net makes of it openly, node by node. */
typedef struct nodes {
    int64_t count, graphs;
    int64_t first[128];
    int32_t id[128 * 64], y[128];
    float residual[128 * 64][F], latent[128 * 64][64];
    double divergence[128 * 64], difficulty[128];
} nodes;

static leat_code take_nodes(void *context, const leat_graph_scores *scores, leat_error *err) {
    nodes *to = context;
    const leat_graph_micro *batch = scores->batch;
    (void)err;
    assert_int_equal(scores->width, 64);
    for (int64_t g = 0; g < batch->graphs; g++) {
        to->first[to->graphs] = to->count;
        to->y[to->graphs] = batch->label[g];
        to->difficulty[to->graphs++] = scores->difficulty[g];
        for (int64_t i = batch->node_first[g]; i < batch->node_first[g + 1]; i++) {
            to->id[to->count] = batch->node_id[i];
            memcpy(to->latent[to->count], scores->latent + i * 64, sizeof *to->latent);
            to->divergence[to->count] = scores->divergence[i];
            memcpy(to->residual[to->count++], scores->residual + i * F, sizeof *to->residual);
        }
        to->first[to->graphs] = to->count;
    }
    return LEAT_OK;
}

static nodes *nodes_of(const leat_detector *detector, leat_can_cache *cache, const char *split) {
    nodes *out = calloc(1, sizeof *out);
    leat_graph_scoring scoring = detector->scoring;
    leat_graph_walk walk = {
        .cache = cache, .scoring = &scoring, .threads = 1, .take = take_nodes, .context = out};
    scoring.wants = LEAT_GRAPH_WANT_RESIDUAL | LEAT_GRAPH_WANT_OPEN;
    assert_ok(leat_can_cache_file(cache, split, &walk.file, err));
    assert_ok(leat_graph_walk_run(&walk, err));
    return out;
}

/* Mean and deviation of a feature over nodes of benign graphs of an identifier; -1: of all. */
static int64_t fit(const nodes *of, int32_t id, int feature, double *mean, double *deviation) {
    int64_t count = 0;
    *mean = *deviation = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t g = 0; g < of->graphs; g++) {
            for (int64_t i = of->first[g]; i < of->first[g + 1]; i++) {
                if (of->y[g] != 0 || (id >= 0 && of->id[i] != id)) continue;
                const double r = (double)of->residual[i][feature];
                if (pass == 0) *mean += r;
                else *deviation += (r - *mean) * (r - *mean);
                count += pass == 0;
            }
        }
        if (pass == 0) *mean /= (double)count;
    }
    *deviation = sqrt(*deviation / (double)count);
    return count;
}

static double residual_expected(const nodes *train, const nodes *test, int64_t g) {
    double most = 0;
    for (int64_t i = test->first[g]; i < test->first[g + 1]; i++) {
        for (int f = 0; f < F; f++) {
            double mean, deviation, pooled_mean, pooled;
            fit(train, -1, f, &pooled_mean, &pooled);
            if (test->id[i] == 0 || fit(train, test->id[i], f, &mean, &deviation) == 0) {
                mean = pooled_mean;
                deviation = 0; /* nothing is usual of what benign training never had */
            }
            if (deviation < 0.05 * pooled) deviation = 0.05 * pooled;
            if (pooled == 0) deviation = 1;
            const double z = fabs((double)test->residual[i][f] - mean) / deviation;
            if (z > most) most = z;
        }
    }
    return most;
}

/* Mean and deviation (n - 1) of numbers of benign graphs. */
static void fit_benign(const nodes *of, const double *number, double *mean, double *deviation) {
    double count = 0;
    *mean = *deviation = 0;
    for (int64_t g = 0; g < of->graphs; g++) {
        if (of->y[g] != 0) continue;
        *mean += number[g];
        count++;
    }
    *mean /= count;
    for (int64_t g = 0; g < of->graphs; g++)
        if (of->y[g] == 0) *deviation += (number[g] - *mean) * (number[g] - *mean);
    *deviation = sqrt(*deviation / (count - 1));
}

static void fit_latent(const nodes *of, double mean[64], double deviation[64]) {
    for (int d = 0; d < 64; d++) {
        double count = 0, sum = 0, square = 0;
        for (int64_t g = 0; g < of->graphs; g++) {
            for (int64_t i = of->first[g]; i < of->first[g + 1] && of->y[g] == 0; i++) {
                sum += (double)of->latent[i][d];
                count++;
            }
        }
        mean[d] = sum / count;
        for (int64_t g = 0; g < of->graphs; g++) {
            for (int64_t i = of->first[g]; i < of->first[g + 1] && of->y[g] == 0; i++)
                square +=
                    ((double)of->latent[i][d] - mean[d]) * ((double)of->latent[i][d] - mean[d]);
        }
        deviation[d] = fmax(sqrt(square / (count - 1)), 1e-3);
    }
}

/* The three numbers of each graph: out[number][graph]. */
static void numbers_of(const nodes *of, const double mean[64], const double deviation[64],
                       double out[3][128]) {
    for (int64_t g = 0; g < of->graphs; g++) {
        const double count = (double)(of->first[g + 1] - of->first[g]);
        out[0][g] = out[1][g] = out[2][g] = 0;
        for (int64_t i = of->first[g]; i < of->first[g + 1]; i++) {
            for (int f = 0; f < F; f++)
                out[0][g] += pow((double)of->residual[i][f], 2) / (count * F);
            for (int d = 0; d < 64; d++)
                out[1][g] += pow(((double)of->latent[i][d] - mean[d]) / deviation[d], 2) / count;
            out[2][g] += of->divergence[i] / (count * 64);
        }
    }
}

static void reference_is_that_of_another_program(void **state) {
    (void)state;
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    leat_detector *detector = NULL;
    leat_can_cache *cache = graphs_open(data);
    double mean[64], deviation[64], of_val[3][128], of_test[3][128];
    options.keep = false;
    options.score = LEAT_WINDOW_SCORE_REFERENCE;
    assert_ok(leat_evaluation_create(&made, &vgae, 1, data, &options, err));
    assert_ok(leat_detector_open(&detector, vgae, -1, options.score, NULL, err));
    nodes *val = nodes_of(detector, cache, "val"), *test = nodes_of(detector, cache, "test_01");
    fit_latent(val, mean, deviation);
    numbers_of(val, mean, deviation, of_val);
    numbers_of(test, mean, deviation, of_test);
    for (int64_t g = 0; g < TEST; g++) {
        double expected = -INFINITY;
        for (int k = 0; k < 3; k++) {
            double center, spread;
            fit_benign(val, of_val[k], &center, &spread);
            expected = fmax(expected, (of_test[k][g] - center) / (spread + 1e-6));
        }
        const double got = made->splits[0].scores[0][g];
        if (!(fabs(got - expected) <= 1e-8 * fabs(expected) + 1e-10))
            fail_msg("%.17g, not %.17g", got, expected);
    }
    free(val);
    free(test);
    leat_detector_close(detector);
    leat_can_cache_close(cache);
    leat_evaluation_destroy(made);
}

static void scores_are_those_of_another_program(void **state) {
    (void)state;
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    leat_detector *detector = NULL;
    leat_can_cache *cache = graphs_open(data);
    options.keep = false;
    assert_ok(leat_evaluation_create(&made, &vgae, 1, data, &options, err));
    assert_ok(leat_detector_open(&detector, vgae, -1, LEAT_WINDOW_SCORE_RESIDUAL, NULL, err));
    nodes *train = nodes_of(detector, cache, "train"), *test = nodes_of(detector, cache, "test_01");
    for (int64_t g = 0; g < TEST; g += 7) {
        const double expected = residual_expected(train, test, g);
        const double got = made->splits[0].scores[0][g];
        if (!(fabs(got - expected) <= 1e-9 * expected)) fail_msg("%.17g, not %.17g", got, expected);
    }
    leat_evaluation_destroy(made);
    options.score = LEAT_WINDOW_SCORE_DIFFICULTY;
    assert_ok(leat_evaluation_create(&made, &vgae, 1, data, &options, err));
    assert_memory_equal(made->splits[0].scores[0], test->difficulty, TEST * sizeof(double));
    leat_evaluation_destroy(made);
    free(train);
    free(test);
    leat_detector_close(detector);
    leat_can_cache_close(cache);
}

static void frames_are_of_their_nodes(void **state) {
    (void)state;
    const make_cache options = {.graphs = {TRAIN, VAL, TEST}, .window = 20, .frames = true};
    made_graphs made = make_graphs(2, &options);
    leat_can_cache *cache = graphs_open(data);
    leat_can_reader *reader = NULL;
    assert_ok(leat_can_reader_create(&reader, cache, "test_01", LEAT_SCALE_NONE, err));
    for (int64_t g = 0; g < TEST; g++) {
        leat_can_graph graph;
        assert_ok(leat_can_reader_graph(reader, g, &graph, err));
        for (int64_t f = 0; f < 20; f++) {
            const int64_t node = leat_split_node_of_frame(&graph, f);
            const uint32_t id = made.frame_id[g * 20 + f];
            assert_in_range(node, 0, graph.facts.node_count - 1);
            assert_int_equal(graph.node_id[node], id < MAKE_VOCAB ? id + 1 : 0);
        }
        assert_int_equal(leat_split_node_of_frame(&graph, 20), -1);
    }
    leat_can_reader_destroy(reader);
    leat_can_cache_close(cache);
    made_graphs_free(&made);
}

static leat_split_windows test_windows(const leat_can_cache *cache) {
    leat_plain_table *table = NULL;
    leat_split_windows windows;
    leat_ticker ticker = {0};
    leat_ticker_create(&ticker, NULL, NULL);
    assert_ok(leat_split_windows_table(cache, &table, &ticker, err));
    assert_ok(leat_split_windows_read(&windows, cache, "test_01", table, &ticker, err));
    leat_plain_table_destroy(table);
    leat_ticker_destroy(&ticker);
    return windows;
}

/* An unknown identifier can be told from others if it is the only unknown one of its window. */
static void unknown_identifiers_are_not_one(void **state) {
    (void)state;
    const make_cache options = {.graphs = {TRAIN, VAL, TEST}, .window = 20, .frames = true};
    made_graphs made = make_graphs(2, &options);
    leat_can_cache *cache = graphs_open(data);
    leat_split_windows windows = test_windows(cache);
    int told = 0, not_told = 0;
    for (int64_t g = 0; g < TEST; g++) {
        const uint32_t *ids = made.frame_id + g * 20;
        int32_t expected = -1;
        if (made.y[g] == 1) {
            const uint32_t injected = ids[made.attack_first[g]];
            expected = injected < MAKE_VOCAB ? (int32_t)injected + 1 : 0;
            for (int f = 0; f < 20 && injected >= MAKE_VOCAB; f++)
                if (ids[f] >= MAKE_VOCAB && ids[f] != injected) expected = -1;
            told += expected >= 0;
            not_told += expected < 0;
        }
        assert_int_equal(windows.injected[g], expected);
    }
    assert_true(told > 0 && not_told > 0);
    leat_split_windows_free(&windows);
    leat_can_cache_close(cache);
    made_graphs_free(&made);
}

static void blame_is_counted(void **state) {
    (void)state;
    leat_evaluation_options options = evaluation_options();
    options.target_fpr = 0.5; /* for many alarms */
    leat_evaluation *made = evaluate(data, &options);
    const leat_evaluation_split *split = &made->splits[0];
    leat_can_cache *cache = graphs_open(data);
    leat_split_windows all = test_windows(cache);
    for (int m = 0; m < made->method_count; m++) {
        const leat_evaluation_result *of = &split->results[m];
        const leat_eval_counts *counts = &of->summary->groups[0].counts;
        int64_t windows = 0, attacks = 0, features = 0, detected = 0, known = 0;
        if (split->blamed_identifiers[m] == NULL) {
            assert_true(of->identifier_count == 0 && of->share_count == 0);
            continue;
        }
        for (int64_t i = 0; i < of->identifier_count; i++) {
            windows += of->identifiers[i].windows;
            attacks += of->identifiers[i].attack_windows;
            if (i > 0) assert_true(of->identifiers[i].windows <= of->identifiers[i - 1].windows);
        }
        for (int64_t i = 0; i < of->feature_count; i++) features += of->features[i].windows;
        for (int64_t i = 1; i < of->share_count; i++) detected += of->shares[i].detected;
        assert_int_equal(windows, counts->true_positives + counts->false_positives);
        assert_int_equal(features, windows);
        assert_int_equal(attacks, counts->true_positives);
        assert_int_equal(of->shares[0].detected, counts->true_positives);
        for (int64_t i = 0; i < TEST; i++)
            known += all.label[i] == 1 && all.injected[i] >= 0 &&
                     split->scores[m][i] > made->methods[m].threshold.value;
        assert_int_equal(of->shares[0].known, known);
        assert_int_equal(detected, counts->true_positives);
    }
    leat_evaluation_destroy(made);
    leat_split_windows_free(&all);
    leat_can_cache_close(cache);
}

/* ---- Kept ----------------------------------------------------------------------------------- */

static double evaluate_one(const char *run, bool *reused) {
    return evaluation_threshold(run, data, reused);
}

static void put_file(const char *path, const uint8_t *bytes, int64_t size_bytes) {
    assert_ok(leat_file_save(path, bytes, size_bytes, err));
}

static void a_calibration_is_kept_and_checked(void **state) {
    (void)state;
    const char *const runs[] = {vgae, gat};
    for (int r = 0; r < 2; r++) {
        char path[LEAT_PATH_BYTES], others[LEAT_PATH_BYTES];
        uint8_t *bytes = NULL, *foreign = NULL;
        int64_t size_bytes = 0, foreign_bytes = 0;
        bool reused = true;
        evaluation_forget(runs[r]);
        const double threshold = evaluate_one(runs[r], &reused);
        assert_false(reused);
        assert_true(evaluate_one(runs[r], &reused) == threshold && reused);
        evaluation_calibration_path(runs[r], 4, path);
        assert_ok(leat_file_load(path, INT64_C(1) << 24, &bytes, &size_bytes, err));
        for (int64_t at = 3; at < size_bytes; at += size_bytes / 4) { /* damaged */
            bytes[at] ^= 16;
            put_file(path, bytes, size_bytes);
            bytes[at] ^= 16;
            assert_true(evaluate_one(runs[r], &reused) == threshold);
            assert_false(reused);
        }
        put_file(path, bytes, size_bytes / 2); /* torn */
        assert_true(evaluate_one(runs[r], &reused) == threshold && !reused);
        if (r == 0) { /* of another run's weights */
            evaluate_one(other_vgae, &reused);
            evaluation_calibration_path(other_vgae, 4, others);
            assert_ok(leat_file_load(others, INT64_C(1) << 24, &foreign, &foreign_bytes, err));
            put_file(path, foreign, foreign_bytes);
            assert_true(evaluate_one(runs[r], &reused) == threshold && !reused);
        }
        leat_free(bytes);
        leat_free(foreign);
    }
}

static void other_checkpoints_have_their_own(void **state) {
    (void)state;
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    char path[LEAT_PATH_BYTES];
    leat_path_facts facts;
    options.step = 2;
    assert_ok(leat_evaluation_create(&made, &vgae, 1, data, &options, err));
    assert_int_equal(made->runs[0].step, 2);
    leat_evaluation_destroy(made);
    evaluation_calibration_path(vgae, 2, path);
    assert_ok(leat_path_stat(path, &facts, err));
    assert_int_equal(facts.kind, LEAT_PATH_FILE);
    options.step = 3;
    assert_fails(leat_evaluation_create(&made, &vgae, 1, data, &options, err), LEAT_ERR_OPTION,
                 "3");
}

static void training_ends_with_a_calibration(void **state) {
    (void)state;
    static const char *const models[] = {"vgae", "gat"};
    for (int m = 0; m < 2; m++) {
        char name[32];
        leat_run *opened = NULL;
        bool reused = false;
        snprintf(name, sizeof name, "measured-%s", models[m]);
        const char *run = train_measured(models[m], name, 3, true);
        const double threshold = evaluate_one(run, &reused);
        assert_true(reused);
        assert_ok(leat_run_open(&opened, run, err));
        const leat_checkpoint *best = leat_checkpoints_best(&opened->checkpoints, INT64_MAX);
        char path[LEAT_PATH_BYTES];
        evaluation_calibration_path(run, (int)best->step, path);
        assert_ok(leat_path_remove(path, err));
        assert_true(evaluate_one(run, &reused) == threshold && !reused);
        leat_run_close(opened);
    }
}

/* Another one must not pass for it. */
static void a_lost_best_checkpoint_is_noted(void **state) {
    (void)state;
    static const char *const files[] = {"sha256", "json", "safetensors"};
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    leat_run *opened = NULL;
    char path[LEAT_PATH_BYTES], name[64], expected[128];
    const char *run = train_measured("vgae", "lost", 3, true);
    assert_ok(leat_run_open(&opened, run, err));
    const leat_checkpoint *best = leat_checkpoints_best(&opened->checkpoints, INT64_MAX);
    const int step = (int)best->step;
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "checkpoints/step-%09d.%s", step, files[i]);
        assert_ok(leat_path_join(path, sizeof path, run, name, err));
        assert_ok(leat_path_remove(path, err));
    }
    leat_run_close(opened);
    assert_ok(leat_evaluation_create(&made, &run, 1, data, &options, err));
    snprintf(expected, sizeof expected, "the best by val_loss, step %d (", step);
    assert_non_null(strstr(made->note, expected));
    snprintf(expected, sizeof expected, "step %d is the best of those left",
             (int)made->runs[0].step);
    assert_non_null(strstr(made->note, expected));
    assert_int_not_equal(made->runs[0].step, step);
    assert_false(made->runs[0].best);
    options.step = made->runs[0].step; /* asked for */
    leat_evaluation_destroy(made);
    assert_ok(leat_evaluation_create(&made, &run, 1, data, &options, err));
    assert_string_equal(made->note, "");
    leat_evaluation_destroy(made);
}

static void change_digest(leat_can_meta *meta) { meta->digest[9] = 'a'; }

/* Whose windows mean the same: with the calibration of the run's own, and not without. */
static void another_cache_needs_a_calibration(void **state) {
    (void)state;
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *own = NULL, *other = NULL;
    make_cache of_cache = {.graphs = {TRAIN, VAL, TEST}, .window = 20, .frames = true};
    char dir[256];
    bool reused = false;
    of_cache.change_meta = change_digest;
    graphs_make("other-cache", &of_cache, dir);
    evaluation_forget(vgae);
    assert_fails(leat_evaluation_create(&other, &vgae, 1, dir, &options, err), LEAT_ERR_INPUT,
                 "there is no calibration of step 4");
    evaluate_one(vgae, &reused);
    assert_ok(leat_evaluation_create(&own, &vgae, 1, data, &options, err));
    assert_ok(leat_evaluation_create(&other, &vgae, 1, dir, &options, err));
    assert_non_null(strstr(other->note, "was trained on another cache"));
    assert_true(own->methods[0].threshold.value == other->methods[0].threshold.value);
    assert_memory_equal(own->splits[0].scores[0], other->splits[0].scores[0],
                        TEST * sizeof(double));
    leat_evaluation_destroy(own);
    leat_evaluation_destroy(other);
}

/* ---- Several runs, scores as JSON ------------------------------------------------------------ */

static void runs_have_a_spread(void **state) {
    (void)state;
    const char *const runs[] = {vgae, other_vgae};
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    assert_ok(leat_evaluation_create(&made, runs, 2, data, &options, err));
    const leat_evaluation_split *split = &made->splits[0];
    const double a = split->results[0].summary->groups[0].metrics[LEAT_EVAL_AUROC].value;
    const double b = split->results[1].summary->groups[0].metrics[LEAT_EVAL_AUROC].value;
    assert_true(fabs(split->spread[0].mean[LEAT_EVAL_AUROC].value - (a + b) / 2) < 1e-12);
    assert_true(fabs(split->spread[0].deviation[LEAT_EVAL_AUROC].value - fabs(a - b) / sqrt(2)) <
                1e-12);
    leat_evaluation_destroy(made);
    made = evaluate(data, &options); /* of two models */
    assert_null(made->splits[0].spread);
    leat_evaluation_destroy(made);
}

static void a_run_is_one_seed(void **state) {
    (void)state;
    const char *const runs[] = {vgae, other_vgae, vgae};
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    assert_fails(leat_evaluation_create(&made, runs, 3, data, &options, err), LEAT_ERR_OPTION,
                 "are the same run");
    assert_null(made);
}

static void scores_are_read_by_a_curriculum(void **state) {
    (void)state;
    leat_evaluation_options options = evaluation_options();
    const char *path = train_path("scores.json");
    leat_scores_output out = {.path = path};
    leat_evaluation *made = NULL;
    leat_can_cache *cache = graphs_open(data);
    const leat_graph_file *file = NULL;
    double *scores = NULL;
    char sha256[65];
    options.score = LEAT_WINDOW_SCORE_DIFFICULTY;
    options.split = "train";
    assert_ok(leat_evaluation_save_scores(vgae, data, &options, &out, err));
    assert_string_equal(out.note, "");
    assert_fails(leat_evaluation_save_scores(vgae, data, &options, &out, err), LEAT_ERR_EXISTS,
                 "scores.json");
    assert_ok(leat_evaluation_create(&made, &vgae, 1, data, &options, err));
    assert_ok(leat_can_cache_file(cache, "train", &file, err));
    assert_ok(leat_graph_scores_load(&scores, sha256, path, cache, file, err));
    assert_memory_equal(scores, made->splits[0].scores[0], TRAIN * sizeof(double));
    json_t *document = json_load_file(path, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(document, "score_name")), "difficulty");
    assert_string_equal(json_string_value(json_object_get(document, "model")), "vgae");
    assert_non_null(strstr(made->note, "the split train is no test"));
    json_decref(document);
    leat_free(scores);
    leat_evaluation_destroy(made);
    leat_can_cache_close(cache);
}

/* ---- Refused -------------------------------------------------------------------------------- */

static bool stop(void *user, const leat_progress *progress) {
    (void)user;
    (void)progress;
    return false;
}

static void drop_a_word(leat_can_meta *meta) { snprintf(meta->ids.text[0], 24, "0FF"); }

static void change_scaler(leat_can_meta *meta) { meta->scaler.x_center[4] += 1; }

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    char dir[256];
    make_cache of_cache = {.graphs = {TRAIN, VAL}, .window = 20, .frames = true};
    graphs_make("no-test", &of_cache, dir);
    assert_fails(leat_evaluation_create(&made, &vgae, 1, dir, &options, err), LEAT_ERR_INPUT,
                 "has no test");
    of_cache.graphs[2] = TEST;
    of_cache.change_meta = drop_a_word;
    graphs_make("words", &of_cache, dir);
    assert_fails(leat_evaluation_create(&made, &vgae, 1, dir, &options, err), LEAT_ERR_OPTION,
                 "0FF");
    of_cache.change_meta = change_scaler;
    graphs_make("scaler", &of_cache, dir);
    assert_fails(leat_evaluation_create(&made, &vgae, 1, dir, &options, err), LEAT_ERR_OPTION,
                 "scaler");
    options.score = LEAT_WINDOW_SCORE_REFERENCE;
    assert_fails(leat_evaluation_create(&made, &gat, 1, data, &options, err), LEAT_ERR_OPTION,
                 "leave --score out");
    options = evaluation_options();
    options.split = "test_02";
    assert_fails(leat_evaluation_create(&made, &vgae, 1, data, &options, err), LEAT_ERR_OPTION,
                 "test_01");
    options = evaluation_options();
    options.target_fpr = 1;
    assert_fails(leat_evaluation_create(&made, &vgae, 1, data, &options, err), LEAT_ERR_OPTION,
                 "target-fpr");
    options = evaluation_options();
    options.progress = stop;
    assert_fails(leat_evaluation_create(&made, &vgae, 1, data, &options, err), LEAT_ERR_CANCELLED,
                 "");
    const char *nothing = train_path("nothing");
    options = evaluation_options();
    assert_fails(leat_evaluation_create(&made, &nothing, 1, data, &options, err),
                 LEAT_ERR_NOT_FOUND, "nothing");
    const char *images = train_path("images");
    const leat_train_options of_images = train_options(1);
    train_run(images, &of_images);
    assert_fails(leat_evaluation_create(&made, &images, 1, data, &options, err),
                 LEAT_ERR_UNSUPPORTED, "does not score windows");
    assert_null(made);
}

static void no_validation_is_refused(void **state) {
    (void)state;
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    char dir[256];
    make_cache of_cache = {.graphs = {TRAIN, 0, TEST}, .window = 20, .frames = true};
    graphs_make("no-val", &of_cache, dir);
    assert_fails(leat_evaluation_create(&made, &gat, 1, dir, &options, err), LEAT_ERR_INPUT,
                 "split \"val\": no benign window among 0");
    assert_null(made);
}

static void make_benign(made_graphs *test) {
    for (int64_t g = 0; g < test->graphs; g++) {
        test->y[g] = test->attack_type[g] = test->attack_count[g] = 0;
        test->attack_first[g] = -1;
    }
}

static void make_unknown(made_graphs *test) {
    for (int64_t g = 0; g < test->graphs; g++) test->y[g] = test->attack_type[g] = -1;
}

static void one_class_is_undefined(void **state) {
    (void)state;
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    char dir[256];
    make_cache of_cache = {.graphs = {TRAIN, VAL, TEST}, .window = 20, .frames = true};
    of_cache.change_test = make_benign;
    graphs_make("one-class", &of_cache, dir);
    assert_ok(leat_evaluation_create(&made, &gat, 1, dir, &options, err));
    const leat_eval_number *metrics = made->splits[0].results[0].summary->groups[0].metrics;
    assert_int_equal(metrics[LEAT_EVAL_AUROC].undefined, LEAT_EVAL_NO_ATTACK);
    assert_true(isnan(metrics[LEAT_EVAL_AUROC].value));
    assert_int_equal(metrics[LEAT_EVAL_REALISED_FPR].undefined, LEAT_EVAL_DEFINED);
    assert_int_equal(made->splits[0].results[0].shares[0].share.undefined, LEAT_EVAL_NO_ATTACK);
    leat_evaluation_destroy(made);
    of_cache.change_test = make_unknown;
    graphs_make("no-label", &of_cache, dir);
    assert_ok(leat_evaluation_create(&made, &gat, 1, dir, &options, err));
    assert_null(made->splits[0].results[0].summary);
    assert_int_equal(made->splits[0].unlabelled, TEST);
    assert_non_null(strstr(made->note, "test_01 has no window with a label"));
    leat_evaluation_destroy(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_of_a_test_decide_nothing),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(scores_are_those_of_another_program),
        cmocka_unit_test(reference_is_that_of_another_program),
        cmocka_unit_test(frames_are_of_their_nodes),
        cmocka_unit_test(unknown_identifiers_are_not_one),
        cmocka_unit_test(blame_is_counted),
        cmocka_unit_test(a_calibration_is_kept_and_checked),
        cmocka_unit_test(other_checkpoints_have_their_own),
        cmocka_unit_test(training_ends_with_a_calibration),
        cmocka_unit_test(another_cache_needs_a_calibration),
        cmocka_unit_test(a_lost_best_checkpoint_is_noted),
        cmocka_unit_test(runs_have_a_spread),
        cmocka_unit_test(a_run_is_one_seed),
        cmocka_unit_test(scores_are_read_by_a_curriculum),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(no_validation_is_refused),
        cmocka_unit_test(one_class_is_undefined),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
