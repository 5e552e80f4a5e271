/*
 * Fault sweep over the feed of graphs: the n-th allocation or file call fails, once or from then
 * on, until its units are made untouched. Each time it fails with an error that says why, or makes
 * the right micro-batches; and leaves no memory behind (under a sanitizer). So does detector.json,
 * which is written and read. And what a feed says that it takes, by counted bytes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "count.h"
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

/* ---- detector.json -------------------------------------------------------------------------- */

static leat_code keep(leat_feed *feed, const char *path, const char *run, leat_error *err) {
    LEAT_TRY(leat_feed_open(feed, &row.class, path, err));
    LEAT_TRY(feed->class->keep(feed, run, err)); /* written */
    return feed->class->keep(feed, run, err);    /* read */
}

static leat_code work_keep(const void *of, leat_error *err) {
    leat_feed feed;
    char file[100];
    snprintf(file, sizeof file, "%s/detector.json", top);
    remove(file);
    const leat_code code = keep(&feed, folder[*(const int *)of], top, err);
    leat_feed_close(&feed);
    return code;
}

static void contexts(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++)
        sweep_faults(&(fault_sweep){i == 0 ? "of features" : "of frames", work_keep, &i, NULL, 20});
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* What a feed of a cache takes after three epochs, with batches of one graph; and what it says. */
static int64_t taken(const char *path, int64_t *said) {
    settings all = {.graphs = leat_graph_settings_default()};
    leat_train_options options = leat_train_options_default();
    leat_error err = {0};
    leat_feed feed;
    int64_t steps = 0;
    const int64_t before = count_live();
    options.settings = &all;
    options.epochs = 3;
    options.unit_size = 1;
    options.threads = 1;
    all.graphs.pack = LEAT_PACK_FFD; /* which takes most */
    leat_code code = leat_feed_open(&feed, &row.class, path, &err);
    if (code == LEAT_OK) code = leat_feed_settle(&feed, &options, &all, &err);
    all.bounds.max_nodes = 16; /* no two graphs */
    all.bounds.max_edges = 14;
    if (code == LEAT_OK) code = leat_feed_plan(&feed, &options, &err);
    if (code == LEAT_OK) code = leat_feed_steps(&feed, &options, &steps, &err);
    if (code != LEAT_OK) fail_msg("%s", err.message);
    assert_int_equal(steps, 3 * feed.count);
    *said = feed.bytes;
    const int64_t live = count_live() - before;
    leat_feed_close(&feed);
    return live;
}

/* Of each graph more; what it takes anyway is of no size. */
static void bytes_of_graphs(void **state) {
    enum { FEW = 100, MORE = 1100 };
    char few[100], many[100];
    make_cache options = {.graphs = {FEW, 4}, .window = 16};
    leat_error err = {0};
    int64_t said[2];
    (void)state;
    snprintf(few, sizeof few, "%s/few", top);
    snprintf(many, sizeof many, "%s/many", top);
    assert_int_equal(make_can_cache(few, &options, &err), LEAT_OK);
    options.graphs[0] = MORE;
    assert_int_equal(make_can_cache(many, &options, &err), LEAT_OK);
    const int64_t live = -taken(few, &said[0]) + taken(many, &said[1]);
    const int64_t more = said[1] - said[0];
    if (live > more || 2 * live < more)
        fail_msg("%d graphs more take %lld bytes, not %lld", MORE - FEW, (long long)live,
                 (long long)more);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(all), cmocka_unit_test(contexts),
                                       cmocka_unit_test(bytes_of_graphs)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
