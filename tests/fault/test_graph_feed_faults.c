/*
 * Fault sweep over the feed of graphs: the n-th allocation or file call fails, once or from then
 * on, until its units are made untouched. Each time it fails with an error that says why, or makes
 * the right micro-batches; and leaves no memory behind (under a sanitizer).
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "load/make_graphs.h"
#include "sweep.h"
#include "train/tasks/graphs/graph_feed.h"

enum { STEPS = 9 };

static char top[] = "/tmp/leat_feed_faults_XXXXXX";
static char folder[2][64]; /* stored features, stored frames */

typedef struct settings {
    leat_graph_bounds bounds;
    leat_graph_settings graphs;
} settings;

static void get(const void *of, leat_graph_bounds *out) { *out = ((const settings *)of)->bounds; }
static void set(void *to, const leat_graph_bounds *of) { ((settings *)to)->bounds = *of; }
static const leat_graph_feed row = {.class = LEAT_GRAPH_FEED_CLASS,
                                    .graphs = LEAT_FILTER_LABELLED,
                                    .settings = offsetof(settings, graphs),
                                    .get = get,
                                    .set = set};

static leat_code make_unit(const leat_feed *feed, int64_t step, int64_t unit, void *batch,
                           uint64_t *hash, leat_error *err) {
    leat_unit_place place;
    double weight = 0;
    LEAT_TRY(leat_feed_place(feed, step, unit, &place, err));
    LEAT_TRY(leat_feed_weight(feed, &place, &weight, err));
    for (int64_t i = 0; i < place.batches; i++) {
        const leat_graph_micro *micro = batch;
        LEAT_TRY(feed->class->make(feed, &place, i, batch, err));
        const uint64_t parts[] = {*hash, (uint64_t)weight,
                                  leat_xxh3(micro->x, micro->nodes * LEAT_NODE_FEATURES * 4),
                                  leat_xxh3(micro->number, micro->graphs * 8)};
        *hash = leat_xxh3(parts, sizeof parts);
    }
    return LEAT_OK;
}

static leat_code make_units(const leat_feed *feed, uint64_t *hash, leat_error *err) {
    void *batch = malloc((size_t)feed->batch_bytes);
    leat_code code = LEAT_OK;
    for (int64_t step = 0; step < STEPS && code == LEAT_OK; step++) {
        int64_t units = 0;
        code = leat_feed_units(feed, step, &units, err);
        for (int64_t u = 0; u < units && code == LEAT_OK; u++)
            code = make_unit(feed, step, u, batch, hash, err);
    }
    free(batch);
    return code;
}

static leat_code use(leat_feed *feed, const char *path, uint64_t *hash, leat_error *err) {
    settings all = {.graphs = leat_graph_settings_default()};
    leat_train_options options = leat_train_options_default();
    int64_t steps = 0;
    options.settings = &all;
    options.epochs = 5;
    options.units = 2;
    options.unit_size = 1;
    options.micro_batch = 2;
    all.graphs.curriculum = LEAT_CURRICULUM_RANDOM;
    all.graphs.curriculum_epochs = 3;
    LEAT_TRY(leat_feed_open(feed, &row.class, path, err));
    LEAT_TRY(leat_feed_settle(feed, &options, &all, err));
    LEAT_TRY(leat_feed_plan(feed, &options, err));
    LEAT_TRY(leat_feed_steps(feed, &options, &steps, err));
    return make_units(feed, hash, err);
}

static leat_code work(const void *of, leat_error *err) {
    static uint64_t expected[2];
    const int which = *(const int *)of;
    leat_feed feed;
    uint64_t hash = 0;
    const leat_code code = use(&feed, folder[which], &hash, err);
    leat_feed_close(&feed);
    if (code != LEAT_OK) return code;
    if (expected[which] == 0) expected[which] = hash;
    assert_true(hash == expected[which]);
    return LEAT_OK;
}

static void all(void **state) {
    static const char *const names[] = {"features", "frames"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        leat_error err = {0};
        if (work(&i, &err) != LEAT_OK) fail_msg("%s: %s", names[i], err.message);
        sweep_faults(&(fault_sweep){names[i], work, &i, NULL, 20});
    }
}

static int setup(void **state) {
    make_cache options = {.graphs = {12, 4}, .window = 16};
    (void)state;
    if (mkdtemp(top) == NULL) return 1;
    for (int f = 0; f < 2; f++) {
        leat_error err = {0};
        options.frames = f == 1;
        snprintf(folder[f], sizeof folder[f], "%s/cache_%d", top, f);
        if (make_can_cache(folder[f], &options, &err) != LEAT_OK) fail_msg("%s", err.message);
    }
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
