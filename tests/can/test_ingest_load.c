/*
 * Logs to batches: caches as ingest makes them, of synthetic vehicles and of the real samples, read
 * by the loader. Stored features and stored frames give the same batches, in every way that ingest
 * can be set; labels and counts are those that ingest tells of.
 */
/* TSan: an ingest and a loader, each with threads, in one process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "check.h"
#include "golden_files.h"
#include "leat/ingest.h"
#include "leat/load_can.h"
#include "leat/synth.h"

static char top[] = "/tmp/leat_can_XXXXXX";
static char logs[64];

typedef struct run_counts {
    int64_t graphs, attacks, unlabelled;
} run_counts;

typedef struct way {
    const char *name, *preset;
    const char *set[4][2]; /* settings */
} way;

static const way ways[] = {
    {"default", "default", {{0}}},
    {"reference", "reference", {{0}}},
    {"overlapping", "default", {{"stride", "30"}, {"window", "50"}, {"scaler", "z_all"}}},
    {"apart", "default", {{"stride", "140"}, {"edge-step", "own"}, {"self-loops", "ignore"}}},
    {"merged", "default", {{"captures", "merged"}, {"vocab", "all"}, {"scaler", "robust_benign"}}},
    {"plain", "default", {{"val-split", "random"}, {"scaler", "none"}}},
};

static void ingest(const char *from, const way *how, const char *store,
                   leat_can_ingest_result *result) {
    leat_can_ingest_options options = leat_can_ingest_options_default();
    char out[128];
    assert_ok(leat_can_settings_preset(&options.settings, how->preset, err));
    for (int i = 0; i < 4 && how->set[i][0] != NULL; i++)
        assert_ok(leat_settings_set(leat_can_settings_table(), &options.settings, how->set[i][0],
                                    how->set[i][1], err));
    assert_ok(leat_settings_set(leat_can_settings_table(), &options.settings, "store", store, err));
    options.threads = 2;
    snprintf(out, sizeof out, "%s/%s_%s", top, how->name, store);
    assert_ok(leat_can_ingest(&from, 1, out, &options, result, err));
}

/* A run of two epochs of a split, as a hash; its graphs by label. */
static void run_split(const leat_can_cache *cache, const char *split, int threads, char text[65],
                      run_counts *counts) {
    leat_graph_loader_options options = leat_graph_loader_options_default();
    leat_graph_loader *loader = NULL;
    leat_batch_hash *hash = NULL;
    const leat_graph_batch *batch = NULL;
    options.split = split;
    options.threads = threads;
    options.batches.epochs = 2;
    options.batches.max_nodes = 1500;
    *counts = (run_counts){0};
    assert_ok(leat_graph_loader_create(&loader, cache, &options, err));
    assert_ok(leat_batch_hash_create(&hash, err));
    for (;;) {
        assert_ok(leat_graph_loader_next(loader, &batch, err));
        if (batch == NULL) break;
        leat_batch_hash_add_graphs(hash, batch, NULL);
        for (int64_t i = 0; i < batch->graph_count; i++) {
            counts->attacks += batch->y[i] > 0;
            counts->unlabelled += batch->y[i] < 0;
            assert_int_equal(batch->attack_type[i] < 0, batch->y[i] < 0);
        }
        counts->graphs += batch->graph_count;
        leat_graph_batch_release(batch);
    }
    leat_batch_hash_text(hash, text);
    leat_batch_hash_destroy(hash);
    leat_graph_loader_destroy(loader);
}

static void expect_cache(leat_can_cache *const caches[2], const leat_can_ingest_result *result) {
    leat_can_facts facts[2];
    for (int c = 0; c < 2; c++) {
        leat_can_cache_get_facts(caches[c], &facts[c]);
        assert_int_equal(facts[c].frames, c);
        assert_string_equal(facts[c].fingerprint, result[c].digest);
        assert_int_equal(facts[c].split_count, result[c].split_count);
        assert_int_equal(facts[c].vocab_count, result[c].vocabulary);
    }
    assert_string_not_equal(facts[0].fingerprint, facts[1].fingerprint);
    for (int s = 0; s < facts[0].split_count; s++) {
        leat_can_split split;
        assert_ok(leat_can_cache_get_split(caches[0], s, &split, err));
        assert_string_equal(split.name, result[0].split_name[s]);
        assert_int_equal(split.graph_count, result[0].split_graphs[s]);
        if (split.graph_count == 0) continue;
        char text[2][65];
        for (int c = 0; c < 2; c++) {
            run_counts counts;
            run_split(caches[c], split.name, 1 + c, text[c], &counts);
            assert_int_equal(counts.graphs, 2 * split.graph_count);
            assert_int_equal(counts.attacks, 2 * result[c].split_attacks[s]);
            assert_int_equal(counts.unlabelled, 2 * result[c].split_unlabelled[s]);
        }
        assert_string_equal(text[0], text[1]);
    }
}

static void expect_way(const char *from, const way *how) {
    static leat_can_ingest_result result[2];
    leat_can_cache *caches[2] = {NULL, NULL};
    ingest(from, how, "features", &result[0]);
    ingest(from, how, "frames", &result[1]);
    for (int c = 0; c < 2; c++) {
        char parent[128];
        leat_can_cache *again = NULL;
        assert_ok(leat_can_cache_open(&caches[c], result[c].cache, err));
        snprintf(parent, sizeof parent, "%s/%s_%s", top, how->name, c ? "frames" : "features");
        assert_ok(leat_can_cache_open(&again, parent, err)); /* that holds it alone */
        leat_can_cache_close(again);
    }
    expect_cache(caches, result);
    for (int c = 0; c < 2; c++) leat_can_cache_close(caches[c]);
}

static void synthetic(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) expect_way(logs, &ways[i]);
}

static void real(void **state) {
    (void)state;
    static const char *const names[] = {"v40", "gvret", "candump"};
    for (int i = 0; i < 3; i++) {
        char name[64];
        way how = ways[0];
        how.name = names[i];
        snprintf(name, sizeof name, "data/can/%s", names[i]);
        expect_way(golden_path(name), &how);
    }
}

static int setup(void **state) {
    (void)state;
    leat_synth_can_options options = leat_synth_can_options_default();
    leat_synth_can_result result;
    options.vehicles = 3;
    options.frames = 60000;
    options.seed = 5;
    options.attacks = LEAT_SYNTH_CAN_ALL;
    if (mkdtemp(top) == NULL) return 1;
    snprintf(logs, sizeof logs, "%s/logs", top);
    return leat_synth_can(logs, &options, &result, NULL) == LEAT_OK ? 0 : 1;
}

static int teardown(void **state) {
    (void)state;
    return leat_path_remove_tree(top, NULL) == LEAT_OK ? 0 : 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(synthetic), cmocka_unit_test(real)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
