/*
 * Fault sweep over an evaluation: the n-th allocation, file call or thread fails, once or from then
 * on, until a VGAE and a GAT are evaluated untouched, with calibrations that are made, kept and
 * read again. Each time it fails with an error that says why, or gives the same scores; and leaves
 * neither drafts nor memory behind (under a sanitizer). And what scoring says that it takes, by
 * counted bytes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "check.h"
#include "count.h"
#include "leat/train_eval.h"
#include "load/make_graphs.h"
#include "sweep.h"
#include "train/tasks/graphs/detector.h"
#include "train/tasks/graphs/graph_micro.h"

enum { STEP = 127 }; /* a run takes 20 ms, and has thousands of points */

static char top[] = "/tmp/leat_evaluation_faults_XXXXXX";
static char cache[64], runs[2][64];

static void forget(void) {
    for (int i = 0; i < 2; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/calibration-000000001.safetensors", runs[i]);
        remove(path);
    }
}

static uint64_t hash_of(const leat_evaluation *of) {
    uint64_t hash = 0;
    const leat_evaluation_split *split = &of->splits[0];
    for (int m = 0; m < of->method_count; m++) {
        const double *scores = split->scores[m];
        const uint64_t parts[] = {hash, leat_xxh3(scores, split->windows.count * 8),
                                  leat_xxh3(&of->methods[m].threshold.value, 8),
                                  (uint64_t)split->results[m].share_count};
        hash = leat_xxh3(parts, sizeof parts);
    }
    return hash;
}

static leat_code evaluate(const int *kept, leat_error *err) {
    static uint64_t expected;
    const char *const of[] = {runs[0], runs[1]};
    leat_evaluation_options options = leat_evaluation_options_default();
    leat_evaluation *made = NULL;
    options.bootstrap.replicates = 3;
    options.threads = 2;
    options.keep = *kept != 0;
    LEAT_TRY(leat_evaluation_create(&made, of, 2, cache, &options, err));
    const uint64_t hash = hash_of(made);
    leat_evaluation_destroy(made);
    if (expected == 0) expected = hash;
    assert_true(hash == expected);
    return LEAT_OK;
}

static leat_code work(const void *of, leat_error *err) {
    const int *kept = of;
    if (*kept < 2) forget(); /* else what is kept is read */
    return evaluate(kept, err);
}

static void no_drafts(leat_code code) {
    (void)code;
    for (int i = 0; i < 2; i++) expect_no_drafts(runs[i]);
}

static void evaluations(void **state) {
    static const char *const names[] = {"made", "kept", "read"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        leat_error err = {0};
        if (work(&i, &err) != LEAT_OK) fail_msg("%s: %s", names[i], err.message);
        sweep_step = STEP;
        sweep_run(&(fault_sweep){names[i], work, &i, no_drafts, 5}, false);
        if (i > 0) continue;
        sweep_step = 4 * STEP;
        sweep_run(&(fault_sweep){names[i], work, &i, NULL, 2}, true);
    }
}

/* ---- Memory --------------------------------------------------------------------------------- */

static leat_code take(void *context, const leat_graph_scores *scores, leat_error *err) {
    (void)err;
    *(int64_t *)context += scores->batch->graphs;
    return LEAT_OK;
}

/* The most that scoring takes, and what it says. */
static void scoring_takes_what_it_says(void **state) {
    (void)state;
    for (int r = 0; r < 2; r++) {
        leat_detector *detector = NULL;
        leat_can_cache *opened = NULL;
        int64_t said = 0, graphs = 0;
        assert_ok(
            leat_detector_open(&detector, runs[r], -1, LEAT_WINDOW_SCORE_RESIDUAL, NULL, err));
        assert_ok(leat_can_cache_open(&opened, cache, err));
        detector->scoring.wants =
            LEAT_GRAPH_WANT_RESIDUAL | LEAT_GRAPH_WANT_OPEN | LEAT_GRAPH_WANT_BLAME;
        leat_graph_walk walk = {.cache = opened,
                                .scoring = &detector->scoring,
                                .threads = 2,
                                .take = take,
                                .context = &graphs};
        assert_ok(leat_can_cache_file(opened, "train", &walk.file, err));
        assert_ok(leat_graph_walk_bytes(&detector->scoring, 2, 16, 14, &said, err));
        said += leat_graph_makers_bytes(walk.file, 2);
        const int64_t before = count_live();
        count_restart();
        assert_ok(leat_graph_walk_run(&walk, err));
        const int64_t took = count_peak() - before;
        assert_int_equal(graphs, 12);
        if (took > said || said > took + took / 4)
            fail_msg("run %d takes %lld bytes, not %lld", r, (long long)took, (long long)said);
        leat_can_cache_close(opened);
        leat_detector_close(detector);
    }
}

static leat_code train(const char *model, const char *run, leat_error *err) {
    leat_train_options options = leat_train_options_default();
    leat_setting_memory settings;
    leat_train_result result;
    leat_train_settings_table(model)->set_defaults(&settings);
    options.settings = &settings;
    options.unit_size = 1;
    options.micro_batch = 16;
    options.steps = 1;
    options.sample_every = 0;
    options.threads = 1;
    return leat_train(model, cache, run, &options, &result, err);
}

static int setup(void **state) {
    const make_cache options = {.graphs = {12, 6, 6}, .window = 16};
    (void)state;
    if (mkdtemp(top) == NULL) return 1;
    snprintf(cache, sizeof cache, "%s/cache", top);
    snprintf(runs[0], sizeof runs[0], "%s/vgae", top);
    snprintf(runs[1], sizeof runs[1], "%s/gat", top);
    assert_ok(make_can_cache(cache, &options, err));
    assert_ok(train("vgae", runs[0], err));
    assert_ok(train("gat", runs[1], err));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scoring_takes_what_it_says),
                                       cmocka_unit_test(evaluations)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
