/*
 * Fault sweep over CAN caches and the loader of graphs: the n-th allocation, file call or start of
 * a thread fails, once or from then on, until the work succeeds untouched. Each time it fails with
 * an error that says why, or gives the right batches; and leaves no memory behind (under a
 * sanitizer) and no half file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "load/make_graphs.h"
#include "sweep.h"

static char top[] = "/tmp/leat_graph_faults_XXXXXX";
static char folder[2][64]; /* stored features, stored frames */
static char state_path[128], scores_path[128];

typedef struct task {
    const char *name;
    int folder, threads;
    leat_curriculum curriculum;
} task;
static const task tasks[] = {
    {"features", 0, 1, LEAT_CURRICULUM_NONE},
    {"features, two threads", 0, 2, LEAT_CURRICULUM_RANDOM},
    {"frames, two threads", 1, 2, LEAT_CURRICULUM_NONE},
    {"scores", 0, 1, LEAT_CURRICULUM_SCORES},
};
static char expected[4][65]; /* hash of a task's batches */

static leat_code take(leat_graph_loader *loader, const task *work, leat_error *err) {
    leat_batch_hash *hash = NULL;
    char text[65];
    LEAT_TRY(leat_batch_hash_create(&hash, err));
    for (const leat_graph_batch *batch = NULL;;) {
        batch = (const leat_graph_batch *)1;
        leat_code code = leat_graph_loader_next(loader, &batch, err);
        if (code != LEAT_OK) {
            assert_null(batch);
            leat_batch_hash_destroy(hash);
            return code;
        }
        if (batch == NULL) break;
        leat_batch_hash_add_graphs(hash, batch, NULL);
        leat_graph_batch_release(batch);
    }
    leat_batch_hash_text(hash, text);
    leat_batch_hash_destroy(hash);
    if (expected[work - tasks][0] == 0) memcpy(expected[work - tasks], text, sizeof text);
    assert_string_equal(text, expected[work - tasks]);
    return LEAT_OK;
}

/* What stands beside batches. */
static leat_code look(leat_graph_loader *loader, leat_error *err) {
    leat_graph_explanation *told = NULL;
    leat_graph_epoch_facts facts;
    int64_t place[2][2];
    leat_graph_loader_place(loader, &place[0][0], &place[0][1]);
    LEAT_TRY(leat_graph_loader_save(loader, state_path, false, err));
    LEAT_TRY(leat_graph_loader_seek(loader, 1, 0, err));
    LEAT_TRY(leat_graph_loader_load(loader, state_path, err));
    leat_graph_loader_place(loader, &place[1][0], &place[1][1]);
    assert_memory_equal(place[0], place[1], sizeof place[0]);
    LEAT_TRY(leat_graph_loader_get_epoch(loader, 1, &facts, err));
    leat_code code = leat_graph_loader_explain(loader, 1, 0, &told, err);
    if (code != LEAT_OK) assert_null(told);
    else assert_int_equal(told->batch_count, facts.batch_count);
    leat_graph_explanation_destroy(told);
    if (code != LEAT_OK) return code;
    leat_graph_epoch_lists *lists = (leat_graph_epoch_lists *)1;
    code = leat_graph_loader_list_epoch(loader, 1, &lists, err);
    if (code != LEAT_OK) assert_null(lists);
    else assert_int_equal(lists->batch_count, facts.batch_count);
    if (code == LEAT_OK) leat_graph_epoch_lists_destroy(lists);
    return code;
}

static leat_code read_one(const leat_can_cache *cache, leat_error *err) {
    leat_can_reader *reader = (leat_can_reader *)1;
    leat_can_graph graph = {.x = (const float *)1};
    leat_code code = leat_can_reader_create(&reader, cache, "val", LEAT_SCALE_NONE, err);
    if (code != LEAT_OK) {
        assert_null(reader);
        return code;
    }
    code = leat_can_reader_graph(reader, 3, &graph, err);
    if (code != LEAT_OK) assert_null(graph.x);
    leat_can_reader_destroy(reader);
    return code;
}

static leat_code do_task(const void *of, leat_error *err) {
    const task *work = of;
    leat_can_cache *cache = (leat_can_cache *)1;
    leat_graph_loader *loader = (leat_graph_loader *)1;
    leat_graph_loader_options options = leat_graph_loader_options_default();
    options.batches.max_nodes = 40;
    options.batches.epochs = 3;
    options.batches.curriculum = work->curriculum;
    options.threads = work->threads;
    options.prefetch = 1;
    if (work->curriculum == LEAT_CURRICULUM_SCORES) options.scores = scores_path;
    leat_code code = leat_can_cache_open(&cache, folder[work->folder], err);
    if (code != LEAT_OK) {
        assert_null(cache);
        return code;
    }
    leat_can_classes classes = {.graphs = {1}};
    code = leat_can_cache_get_classes(cache, "train", &classes, err);
    assert_int_equal(classes.graphs[0] > 0, code == LEAT_OK);
    if (code == LEAT_OK) code = leat_graph_loader_create(&loader, cache, &options, err);
    else loader = NULL;
    if (code != LEAT_OK) assert_null(loader);
    if (code == LEAT_OK) code = take(loader, work, err);
    if (code == LEAT_OK) code = look(loader, err);
    if (code == LEAT_OK) code = read_one(cache, err);
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
    return code;
}

static void look_after(leat_code code) {
    (void)code;
    expect_no_drafts(top);
}

static void all(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        leat_error err = {0};
        if (do_task(&tasks[i], &err) != LEAT_OK) fail_msg("%s: %s", tasks[i].name, err.message);
        sweep_faults(&(fault_sweep){tasks[i].name, do_task, &tasks[i], look_after, 20});
    }
}

static void write_scores(const make_cache *options) {
    made_graphs made = make_graphs(0, options);
    FILE *out = fopen(scores_path, "w");
    assert_non_null(out);
    fprintf(out, "{\"fingerprint\":\"e%063d\"", 0);
    for (int list = 0; list < 3; list++) {
        static const char *const names[] = {"capture", "window_start", "score"};
        fprintf(out, ",\"%s\":[", names[list]);
        for (int64_t g = 0; g < made.graphs; g++) {
            int64_t values[] = {made.capture[g], made.window_start[g], g * 7 % 13};
            fprintf(out, "%s%lld", g == 0 ? "" : ",", (long long)values[list]);
        }
        fputs("]", out);
    }
    fputs("}", out);
    assert_int_equal(fclose(out), 0);
    made_graphs_free(&made);
}

static int setup(void **state) {
    (void)state;
    make_cache options = {.graphs = {12, 4}, .window = 16};
    if (mkdtemp(top) == NULL) return 1;
    snprintf(state_path, sizeof state_path, "%s/state.json", top);
    snprintf(scores_path, sizeof scores_path, "%s/scores.json", top);
    for (int f = 0; f < 2; f++) {
        leat_error err = {0};
        options.frames = f == 1;
        snprintf(folder[f], sizeof folder[f], "%s/cache_%d", top, f);
        if (make_can_cache(folder[f], &options, &err) != LEAT_OK) fail_msg("%s", err.message);
    }
    write_scores(&options);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
