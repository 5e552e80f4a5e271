/*
 * Graph batches in the windowed order: each graph once an epoch, the same bytes whatever makes
 * them, resumed anywhere, and a window read before its first batch. How windows are drawn is tested
 * with the plan (tests/batch/graphs/test_windows.c).
 */
/* TSan: threads that read windows ahead, and seeks. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "graph_support.h"
#include "load/can/loader.h"

enum { GRAPHS = 1500, WINDOW = 60, EPOCHS = 2 };

static char stored[256], framed[256];
static made_graphs graphs;

static int setup(void **state) {
    make_cache options = {.graphs = {GRAPHS, 1}, .window = WINDOW};
    int result = graphs_setup(state);
    graphs_make("many", &options, stored);
    graphs = make_graphs(0, &options);
    options.frames = true;
    graphs_make("many-frames", &options, framed);
    return result;
}

static int teardown(void **state) {
    made_graphs_free(&graphs);
    return loader_teardown(state);
}

static leat_graph_loader_options windowed(void) {
    leat_graph_loader_options options = graphs_options();
    options.batches.max_nodes = 800;
    options.batches.max_edges = 0;
    options.batches.epochs = EPOCHS;
    options.batches.window_bytes = 1 << 20;
    return options;
}

static void each_graph_once(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(stored);
    leat_graph_loader_options options = windowed();
    leat_graph_loader *loader = graphs_create(cache, &options);
    int *seen = calloc(GRAPHS, sizeof(*seen));
    const leat_graph_batch *batch = NULL;
    while ((batch = graphs_next(loader)) != NULL) {
        graphs_expect(&graphs, LEAT_SCALE_STORED, batch);
        for (int64_t i = 0; i < batch->graph_count; i++)
            assert_int_equal(seen[batch->graph[i]]++, batch->epoch);
        leat_graph_batch_release(batch);
    }
    for (int g = 0; g < GRAPHS; g++) assert_int_equal(seen[g], EPOCHS);
    leat_graph_loader_counters counters;
    leat_graph_loader_get_counters(loader, &counters);
    assert_int_equal(counters.graphs, EPOCHS * GRAPHS);
    free(seen);
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

/* For any hosts, threads, prefetch and store; not for another size of windows, or none. */
static void identity(void **state) {
    (void)state;
    static const int hosts[] = {1, 2, 3, 5}, threads[] = {1, 2, 8};
    static const int64_t depths[] = {0, 3, LEAT_PREFETCH_AUTO};
    leat_can_cache *caches[2] = {graphs_open(stored), graphs_open(framed)};
    leat_graph_loader_options options = windowed();
    char expected[65], text[65];
    options.threads = 1;
    options.prefetch = 0;
    graphs_hash_run(caches[0], options, 1, expected);
    for (int c = 0; c < 2 * 4 * 3; c++) {
        options.threads = threads[c / 8];
        options.prefetch = depths[c % 3];
        graphs_hash_run(caches[c % 2], options, hosts[c / 2 % 4], text);
        if (strcmp(text, expected) != 0) fail_msg("case %d differs", c);
    }
    for (int more = 0; more < 2; more++) {
        options.batches.window_bytes = more == 0 ? 2 << 20 : 0;
        graphs_hash_run(caches[0], options, 1, text);
        assert_string_not_equal(text, expected);
    }
    leat_can_cache_close(caches[0]);
    leat_can_cache_close(caches[1]);
}

/* From every place of an epoch, by its state and by seeking, in a loader that was elsewhere. */
static void resumed(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(stored);
    leat_graph_loader_options options = windowed();
    leat_error err = {0};
    char text[LEAT_LOADER_STATE_BYTES];
    leat_graph_loader *loader = graphs_create(cache, &options);
    leat_graph_loader *other = graphs_create(cache, &options);
    const leat_graph_batch *batch = NULL, *again = NULL;
    int64_t places = 0;
    for (int64_t i = 0; (batch = graphs_next(loader)) != NULL; i++) {
        if (i % 3 == 0) {
            must(leat_graph_loader_seek(other, batch->epoch, batch->batch, &err), &err);
            for (int back = 0; back < 2; back++) {
                again = graphs_next(other);
                assert_int_equal(again->graph_count, batch->graph_count);
                assert_memory_equal(again->graph, batch->graph, (size_t)batch->graph_count * 8);
                assert_memory_equal(again->x, batch->x,
                                    (size_t)batch->node_count * LEAT_NODE_FEATURES * 4);
                leat_graph_loader_state(other, text);
                leat_graph_batch_release(again);
                must(leat_graph_loader_seek(other, batch->epoch, batch->batch, &err), &err);
            }
            places++;
        }
        leat_graph_batch_release(batch);
        leat_graph_loader_state(loader, text);
        if (i % 7 == 0) must(leat_graph_loader_restore(other, text, &err), &err);
    }
    assert_true(places > 20);
    must(leat_graph_loader_restore(other, text, &err), &err);
    assert_null(graphs_next(other));
    leat_graph_loader_destroy(other);
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

/* A state names the order: places of one mean nothing in another. */
static void states(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(stored);
    leat_graph_loader_options options = windowed();
    leat_error err = {0};
    char text[LEAT_LOADER_STATE_BYTES];
    leat_graph_loader *loader = graphs_create(cache, &options);
    leat_graph_batch_release(graphs_next(loader));
    leat_graph_loader_state(loader, text);
    for (int more = 0; more < 2; more++) {
        options.batches.window_bytes = more == 0 ? 2 << 20 : 0;
        leat_graph_loader *other = graphs_create(cache, &options);
        assert_int_equal(leat_graph_loader_restore(other, text, &err), LEAT_ERR_INPUT);
        assert_non_null(strstr(err.message, "use the options with which the state was saved"));
        assert_non_null(strstr(err.message, "The hash covers scale, graphs, pack, batch, "));
        assert_non_null(strstr(err.message, ", order"));
        leat_graph_loader_destroy(other);
    }
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

/* Whether all pages of graphs [first, end) that hold features are in memory. */
static bool is_there(const leat_graph_file *file, int64_t first, int64_t end) {
    int64_t row = LEAT_NODE_FEATURES * 4, at = file->at[LEAT_CAN_X];
    int64_t begin = at + file->node_ptr[first] * row, stop = at + file->node_ptr[end] * row;
    unsigned char pages[4096];
    begin -= begin % 4096;
    int64_t count = (stop - begin + 4095) / 4096;
    assert_in_range(count, 0, sizeof pages);
    uint8_t *data = (uint8_t *)(uintptr_t)file->paged.data + begin;
    assert_int_equal(mincore(data, (size_t)(stop - begin), pages), 0);
    for (int64_t i = 0; i < count; i++) {
        if ((pages[i] & 1) == 0) return false;
    }
    return true;
}

/* A window is read before a batch of it is made: all of it, and not page by page. The first two may
 * have been read before the pages were dropped. */
static void read_ahead(void **state) {
    (void)state;
    make_cache of_cache = {.graphs = {GRAPHS, 1}, .window = WINDOW};
    char dir[256];
    graphs_make("read-ahead", &of_cache, dir);
    leat_can_cache *cache = graphs_open(dir);
    leat_graph_loader_options options = windowed();
    options.prefetch = 0;
    leat_graph_loader *loader = graphs_create(cache, &options);
    int file = open(leat_map_path(loader->file->paged.map), O_RDONLY);
    assert_true(file >= 0 && fsync(file) == 0);
    assert_int_equal(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), 0);
    close(file);
    const leat_graph_windows *windows = leat_graph_plan_windows(loader->plan);
    for (int64_t w = 0; w < windows->count; w++) {
        leat_fetcher_need(loader->fetcher, 0, w);
        for (int64_t i = leat_graph_windows_begin(windows, w);
             w >= 2 && i < leat_graph_windows_begin(windows, w + 1); i++) {
            int64_t chunk = leat_graph_windows_chunk(windows, options.batches.seed, 0, i);
            assert_true(is_there(loader->file, windows->first[chunk], windows->first[chunk + 1]));
        }
    }
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
}

static void refused(void **state) {
    (void)state;
    leat_can_cache *cache = graphs_open(stored);
    leat_graph_loader_options options = windowed();
    leat_graph_loader *loader = NULL;
    leat_error err = {0};
    options.batches.preset = LEAT_GRAPHS_REFERENCE;
    assert_int_equal(leat_graph_loader_create(&loader, cache, &options, &err), LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "order windowed is not for preset reference"));
    options = windowed();
    options.batches.window_bytes = 1000;
    assert_int_equal(leat_graph_loader_create(&loader, cache, &options, &err), LEAT_ERR_OPTION);
    assert_non_null(strstr(err.message, "window_bytes is 1000"));
    leat_can_cache_close(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_graph_once), cmocka_unit_test(identity),   cmocka_unit_test(resumed),
        cmocka_unit_test(states),          cmocka_unit_test(read_ahead), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
