/*
 * Batches of graphs of one label, and the weights of the labels.
 */
#include "graph_support.h"

#include "check.h"

/* ---- a filter -----------------------------------------------------------------------------------
 */

/* Graphs of one label: all of them, and no others. */
static void filtered(void **state) {
    (void)state;
    for (int c = 0; c < 8; c++) {
        make_cache of_cache = make_cache_default();
        of_cache.frames = c % 2 == 1;
        of_cache.unlabelled = c / 4 == 1; /* in neither */
        made_graphs made = make_graphs(0, &of_cache);
        int64_t count = 0;
        char dir[256], name[16];
        for (int64_t g = 0; g < made.graphs; g++) count += made.y[g] == c / 2 % 2;
        snprintf(name, sizeof name, "labels%d", c);
        graphs_make(name, &of_cache, dir);
        leat_can_cache *cache = graphs_open(dir);
        leat_graph_loader_options options = graphs_options();
        leat_graph_loader_facts facts;
        int64_t graphs[3] = {0};
        options.batches.graphs = c / 2 % 2 == 0 ? LEAT_FILTER_BENIGN : LEAT_FILTER_ATTACK;
        leat_graph_loader *loader = graphs_create(cache, &options);
        leat_graph_loader_get_facts(loader, &facts);
        assert_int_equal(facts.split_graphs, made.graphs);
        assert_int_equal(facts.graphs, count);
        assert_int_equal(facts.left_out, made.graphs - count);
        for (const leat_graph_batch *batch; (batch = graphs_next(loader)) != NULL;) {
            graphs_expect(&made, options.scale, batch);
            for (int64_t i = 0; i < batch->graph_count; i++)
                assert_int_equal(batch->y[i], c / 2 % 2);
            graphs[batch->epoch] += batch->graph_count;
            leat_graph_batch_release(batch);
        }
        for (int e = 0; e < 3; e++) assert_int_equal(graphs[e], count);
        leat_graph_loader_destroy(loader);
        leat_can_cache_close(cache);
        made_graphs_free(&made);
    }
}

static void filtered_to_nothing(void **state) {
    (void)state;
    make_cache of_cache = {.graphs = {9, 1}, .window = 10}; /* one graph of val, a benign one */
    leat_graph_loader_options options = graphs_options();
    leat_graph_loader *loader = NULL;
    leat_error err = {0};
    char dir[256];
    graphs_make("one", &of_cache, dir);
    leat_can_cache *cache = graphs_open(dir);
    options.split = "val";
    options.batches.graphs = LEAT_FILTER_ATTACK;
    assert_int_equal(leat_graph_loader_create(&loader, cache, &options, &err), LEAT_ERR_OPTION);
    assert_string_equal(err.message,
                        "split val: graphs attack: no graph has an attack (y = 1: 0 of "
                        "1; unlabelled: 0); use another split, or graphs all");
    assert_null(loader);
    options.batches.graphs = LEAT_FILTER_BENIGN;
    loader = graphs_create(cache, &options);
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

/* ---- class weights ------------------------------------------------------------------------------
 */

static void class_weights(void **state) {
    (void)state;
    make_cache of_cache = make_cache_default();
    leat_can_classes classes;
    leat_error err = {0};
    char dir[256];
    of_cache.unlabelled = true;
    graphs_make("weights", &of_cache, dir);
    leat_can_cache *cache = graphs_open(dir);
    for (int s = 0; s < 2; s++) {
        made_graphs made = make_graphs(s, &of_cache);
        double sum = 0;
        int64_t attacks = 0, unlabelled = 0;
        for (int64_t g = 0; g < made.graphs; g++) {
            attacks += made.y[g] == 1;
            unlabelled += made.y[g] == -1;
        }
        int64_t labelled = made.graphs - unlabelled;
        assert_true(attacks > 0 && unlabelled > 0 && attacks < labelled / 2);
        must(leat_can_cache_get_classes(cache, s == 0 ? "train" : "val", &classes, &err), &err);
        assert_int_equal(classes.graphs[0], labelled - attacks);
        assert_int_equal(classes.graphs[1], attacks);
        assert_int_equal(classes.unlabelled, unlabelled);
        assert_true(classes.weight[1] == (double)labelled / (2.0 * (double)attacks));
        assert_true(classes.weight[0] < 1 && classes.weight[1] > 1);
        for (int64_t g = 0; g < made.graphs; g++)
            if (made.y[g] >= 0) sum += classes.weight[made.y[g]];
        assert_true(sum > (double)labelled - 1e-9 && sum < (double)labelled + 1e-9);
        made_graphs_free(&made);
    }
    assert_int_equal(leat_can_cache_get_classes(cache, "dev", &classes, &err), LEAT_ERR_OPTION);
    assert_string_equal(err.message, "the cache has no split \"dev\"; it has train, val");
    assert_int_equal(classes.graphs[0], 0);
    leat_can_cache_close(cache);
}

/* A class without graphs has no weight, and the other one counts as it is. */
static void lone_class(void **state) {
    (void)state;
    make_cache of_cache = {.graphs = {9, 1}, .window = 10};
    leat_can_classes classes;
    leat_error err = {0};
    char dir[256];
    graphs_make("lone", &of_cache, dir);
    leat_can_cache *cache = graphs_open(dir);
    must(leat_can_cache_get_classes(cache, "val", &classes, &err), &err);
    assert_int_equal(classes.graphs[0], 1);
    assert_int_equal(classes.graphs[1], 0);
    assert_true(classes.weight[0] == 1 && classes.weight[1] == 0);
    leat_can_cache_close(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filtered),
        cmocka_unit_test(filtered_to_nothing),
        cmocka_unit_test(class_weights),
        cmocka_unit_test(lone_class),
    };
    return cmocka_run_group_tests(tests, graphs_setup, loader_teardown);
}
