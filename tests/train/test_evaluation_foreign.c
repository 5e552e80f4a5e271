/*
 * Evaluations of what somebody else may have made or changed: calibrations that are links, pipes or
 * of another cache; caches whose graphs contradict each other; and what is said of splits that a
 * detector has seen. The rest is in test_evaluation.c.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "evaluation_support.h"
#include "leat/train_eval.h"
#include "load/graph_support.h"
#include "train/tasks/graphs/detector.h"
#include "train_support.h"

enum { TRAIN = 20, VAL = 12, TEST = 14 };

static char data[256];
static const char *gat;

static const char *train_on(const char *cache, const char *name) {
    evaluation_training of = {.model = "gat", .cache = cache};
    return evaluation_train(&of, name);
}

static int setup(void **state) {
    const make_cache options = {.graphs = {TRAIN, VAL, TEST}, .window = 20, .frames = true};
    (void)state;
    graphs_make("data", &options, data);
    gat = train_on(data, "gat");
    return 0;
}

static int teardown(void **state) { return loader_teardown(state) + train_teardown(state); }

static double evaluate_one(const char *run, bool *reused) {
    return evaluation_threshold(run, data, reused);
}

static void make_other(leat_can_meta *meta) {
    meta->digest[9] = 'a';
    assert_ok(leat_can_meta_set(meta, "allow-overlap", "true", err));
}

/* ---- Calibrations --------------------------------------------------------------------------- */

/* Of the same weights, but made of another cache. */
static void a_foreign_calibration_is_made_again(void **state) {
    (void)state;
    leat_detector *detector = NULL;
    leat_can_cache *cache = graphs_open(data);
    const leat_scoring_work with = {cache, 1, NULL};
    char path[LEAT_PATH_BYTES];
    bool reused = true;
    evaluation_forget(gat);
    const double threshold = evaluate_one(gat, &reused);
    evaluation_calibration_path(gat, EVALUATION_STEPS, path);
    assert_ok(leat_detector_open(&detector, gat, -1, LEAT_WINDOW_SCORE_RESIDUAL, NULL, err));
    assert_ok(leat_detector_calibrate(detector, &with, false, NULL, err));
    assert_true(detector->reused);
    detector->calibration->cache[3] ^= 1;
    assert_ok(leat_calibration_save(detector->calibration, path, err));
    assert_true(evaluate_one(gat, &reused) == threshold && !reused);
    leat_detector_close(detector);
    leat_can_cache_close(cache);
}

/* Nothing is written through a link, and nothing waits for who writes to a pipe. */
static void a_calibration_is_a_file(void **state) {
    (void)state;
    static const char own[] = "of somebody else";
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    const char *target = train_path("target");
    char path[LEAT_PATH_BYTES];
    int64_t size_bytes = 0;
    bool reused = true;
    evaluation_calibration_path(gat, EVALUATION_STEPS, path);
    assert_ok(leat_file_save(target, own, sizeof own, err));
    evaluation_forget(gat);
    assert_int_equal(symlink(target, path), 0);
    assert_ok(leat_evaluation_create(&made, &gat, 1, data, &options, err));
    assert_non_null(strstr(made->note, "is a link, and its target would be overwritten"));
    assert_false(made->runs[0].reused);
    const double threshold = made->methods[0].threshold.value;
    leat_evaluation_destroy(made);
    char *there = train_read(target, &size_bytes);
    assert_int_equal(size_bytes, sizeof own);
    assert_memory_equal(there, own, sizeof own);
    leat_free(there);
    evaluation_forget(gat);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_ok(leat_evaluation_create(&made, &gat, 1, data, &options, err));
    assert_non_null(strstr(made->note, "is not a file: remove it"));
    assert_true(made->methods[0].threshold.value == threshold && !made->runs[0].reused);
    leat_evaluation_destroy(made);
    evaluation_forget(gat);
    assert_true(evaluate_one(gat, &reused) == threshold && !reused);
}

static void is_told(const char *note, int64_t step) {
    char begin[128];
    snprintf(begin, sizeof begin,
             "the calibration of step %lld, without which leat detect has no threshold, could not "
             "be kept: \"",
             (long long)step);
    if (strncmp(note, begin, strlen(begin)) != 0 ||
        strstr(note, "is not a file: remove it; then run leat eval, which keeps it") == NULL)
        fail_msg("\"%s\"", note);
}

/* Neither training nor what only writes scores fails because of it, and neither is silent. */
static void what_cannot_be_kept_is_told(void **state) {
    (void)state;
    evaluation_training of = {.model = "vgae", .cache = data, .measured = true};
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    const char *run = evaluation_train(&of, "told");
    leat_scores_output scores = {.path = train_path("scores.json"), .replace = true};
    char path[LEAT_PATH_BYTES], dir[256];
    make_cache of_cache = {.graphs = {TRAIN, VAL, TEST}, .window = 20, .frames = true};
    assert_string_equal(of.note, "");
    assert_ok(leat_evaluation_create(&made, &run, 1, data, &options, err));
    const int64_t step = made->runs[0].step;
    assert_true(made->runs[0].reused);
    leat_evaluation_destroy(made);
    of_cache.change_meta = make_other;
    graphs_make("another", &of_cache, dir);
    assert_ok(leat_evaluation_save_scores(run, dir, &options, &scores, err));
    assert_non_null(strstr(scores.note, "told\" was trained on another cache"));
    evaluation_calibration_path(run, step, path);
    leat_path_discard(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_ok(leat_evaluation_save_scores(run, data, &options, &scores, err));
    is_told(scores.note, step);
    options.keep = false;
    assert_ok(leat_evaluation_save_scores(run, data, &options, &scores, err));
    assert_string_equal(scores.note, "");
    of.resume = true;
    evaluation_train(&of, "told");
    is_told(of.note, step);
}

/* ---- What was seen -------------------------------------------------------------------------- */

static void has_notes(const char *run, const char *cache, const char *split, const char *word,
                      const char *none) {
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    options.split = split;
    assert_ok(leat_evaluation_create(&made, &run, 1, cache, &options, err));
    if (strstr(made->note, word) == NULL) fail_msg("%s: no \"%s\"", made->note, word);
    if (strstr(made->note, none) != NULL) fail_msg("%s: \"%s\"", made->note, none);
    leat_evaluation_destroy(made);
}

/* A split that is no test, and windows of validation that overlap those of training: of the cache
 * that a run was trained on, and of another one. */
static void what_was_seen_is_told(void **state) {
    (void)state;
    make_cache of_cache = {.graphs = {TRAIN, VAL, TEST}, .window = 20, .frames = true};
    static const char overlap[] = "validation windows have frames of training windows";
    char dir[256], quoted[64];
    bool reused = false;
    of_cache.change_meta = make_other;
    graphs_make("overlapping", &of_cache, dir);
    const char *run = train_on(dir, "overlapped");
    evaluate_one(gat, &reused); /* so that there is a calibration */
    has_notes(gat, data, "train", "the split train is no test: detectors were trained on", overlap);
    has_notes(gat, data, "val", "the split val is no test: detectors were chosen on it", overlap);
    has_notes(gat, dir, "train", "no test: plain scores were made of it", "trained on it");
    has_notes(gat, dir, "val", "no test: plain scores were fitted to it", "detectors were");
    has_notes(gat, dir, NULL, overlap, "no test");
    has_notes(run, dir, NULL, overlap, "another cache");
    has_notes(run, dir, NULL, overlap, "its validation windows");
    snprintf(quoted, sizeof quoted, "overlapped\": its %.30s", overlap);
    has_notes(run, data, NULL, quoted, "no test");
}

/* ---- Damaged -------------------------------------------------------------------------------- */

/* Of 18 edges that each graph has, those of the first go to the next nine, two to each: no graph
 * has more than its window, and no frame of the first can be found. */
static void move_edges(made_graphs *test) {
    test->y[0] = test->attack_type[0] = test->attack_count[0] = 1;
    test->attack_first[0] = 0;
    for (int64_t g = 0; g < 10; g++) test->edge_ptr[g + 1] = 20 * g;
}

static void damaged_graphs_are_refused(void **state) {
    (void)state;
    leat_evaluation_options options = evaluation_options();
    leat_evaluation *made = NULL;
    char dir[256];
    make_cache of_cache = {.graphs = {TRAIN, VAL, TEST}, .window = 20};
    bool reused = false;
    of_cache.change_test = move_edges;
    graphs_make("moved", &of_cache, dir);
    evaluate_one(gat, &reused); /* so that there is a calibration */
    assert_fails(leat_evaluation_create(&made, &gat, 1, dir, &options, err), LEAT_ERR_CORRUPT,
                 "split test_01: graph 0: 0 edges; a window of 20 frames has 18; repeat the");
    assert_null(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_foreign_calibration_is_made_again),
        cmocka_unit_test(a_calibration_is_a_file),
        cmocka_unit_test(what_cannot_be_kept_is_told),
        cmocka_unit_test(what_was_seen_is_told),
        cmocka_unit_test(damaged_graphs_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
