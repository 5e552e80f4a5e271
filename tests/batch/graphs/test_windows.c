/*
 * The windowed order of graphs: what chunks and windows are, and what it costs. That each batch is
 * of one window, with any options, test_plan.c shows.
 */
#include "base/hash.h"
#include "graph_support.h"

enum { COUNT = 20000 };
#define WINDOW_BYTES (INT64_C(8) << 20)

static int64_t bytes_of(const test_graphs *graphs, int64_t graph) {
    return graphs->nodes[graph] * INT64_C(144) + graphs->edges[graph] * INT64_C(52);
}

/* Chunks are the file, cut; windows have as many each, or one less, and about as many bytes as they
 * may. */
static void chunks(void **state) {
    (void)state;
    test_graphs graphs = make_graphs(GRAPHS_WINDOWS, 4, COUNT);
    leat_graph_windows windows;
    assert_fine(leat_graph_windows_create(&windows, &graphs.sizes, WINDOW_BYTES, err));
    assert_int_equal(windows.first[0], 0);
    assert_int_equal(windows.first[windows.chunk_count], COUNT);
    int64_t largest = 0;
    for (int64_t c = 0; c < windows.chunk_count; c++) {
        int64_t bytes = 0;
        assert_true(windows.first[c + 1] > windows.first[c]);
        for (int64_t g = windows.first[c]; g < windows.first[c + 1]; g++)
            bytes += bytes_of(&graphs, g);
        if (bytes > largest) largest = bytes;
    }
    assert_in_range(largest, WINDOW_BYTES / 64, WINDOW_BYTES / 64 + 20000);
    int64_t least = windows.chunk_count / windows.count;
    uint32_t *window = calloc(COUNT, sizeof(*window));
    leat_graph_windows_of(&windows, 1, 0, window);
    for (int64_t w = 0; w < windows.count; w++) {
        int64_t places =
            leat_graph_windows_begin(&windows, w + 1) - leat_graph_windows_begin(&windows, w);
        int64_t bytes = 0;
        assert_in_range(places, least, least + 1);
        for (int64_t g = 0; g < COUNT; g++) bytes += window[g] == w ? bytes_of(&graphs, g) : 0;
        assert_true(bytes <= WINDOW_BYTES + 4 * largest);
    }
    free(window);
    leat_graph_windows_free(&windows);
    free_graphs(&graphs);
}

/* Each epoch has another order of all chunks. */
static void orders(void **state) {
    (void)state;
    test_graphs graphs = make_graphs(GRAPHS_MIXED, 5, COUNT);
    leat_graph_windows windows;
    assert_fine(leat_graph_windows_create(&windows, &graphs.sizes, WINDOW_BYTES, err));
    int64_t count = windows.chunk_count, kept = 0;
    for (int64_t epoch = 0; epoch < 5; epoch++) {
        bool *seen = calloc((size_t)count, sizeof(*seen));
        for (int64_t i = 0; i < count; i++) {
            int64_t chunk = leat_graph_windows_chunk(&windows, 9, epoch, i);
            assert_in_range(chunk, 0, count - 1);
            assert_false(seen[chunk]);
            seen[chunk] = true;
            kept += chunk == leat_graph_windows_chunk(&windows, 9, epoch + 1, i);
        }
        free(seen);
    }
    assert_true(kept < count / 10);
    leat_graph_windows_free(&windows);
    free_graphs(&graphs);
}

static void hash_epoch(leat_sha256 *sha, const leat_graph_epoch *epoch) {
    leat_sha256_update(sha, epoch->first, (epoch->batch_count + 1) * 4);
    leat_sha256_update(sha, epoch->graph, epoch->graph_count * 4);
    leat_sha256_update(sha, epoch->window, (epoch->window_count + 1) * 4);
}

/* Windows cost few batches more, and what an epoch holds never changes: states that were saved name
 * places in it. */
static void pinned(void **state) {
    (void)state;
    static const char *const wanted[] = {
        "d81e994b3793598486e5910ead525ba5a405830e65a9419e311019d4b8d40133",
        "ebb1d10bce9b0096f52828cc28777025d7e8cd8a1eda78412aaad15a035eb97f",
        "33de1018bbc5480de4917ca10054d66e6d8efc73ba8f5c51489fb94b6c745bd4",
        "aa68a6aa121e4f8de19829fbae62d56dc6c83d414ba388f17e3730ecf4df4a96"};
    test_graphs graphs = make_graphs(GRAPHS_WINDOWS, 6, COUNT);
    int wrong = 0;
    for (int pack = 0; pack < 4; pack++) {
        leat_graph_batch_options options = leat_graph_batch_options_default();
        leat_graph_epoch global = {0}, windowed = {0};
        leat_sha256 sha;
        uint8_t digest[32];
        char hex[65];
        options.pack = (leat_graph_pack)pack;
        options.max_nodes = 2000;
        leat_graph_plan *plan = plan_of(&options, &graphs.sizes, NULL, NULL);
        assert_fine(leat_graph_plan_epoch(plan, 0, &global, err));
        leat_graph_plan_destroy(plan);
        options.window_bytes = WINDOW_BYTES;
        plan = plan_of(&options, &graphs.sizes, NULL, NULL);
        leat_sha256_init(&sha);
        for (int64_t epoch = 0; epoch < 3; epoch++) {
            assert_fine(leat_graph_plan_epoch(plan, epoch, &windowed, err));
            assert_int_equal(windowed.graph_count, COUNT);
            assert_true(windowed.window_count > 20);
            int64_t more = windowed.batch_count - global.batch_count;
            assert_true(more >= 0 && more <= windowed.window_count);
            hash_epoch(&sha, &windowed);
        }
        leat_sha256_final(&sha, digest);
        leat_sha256_hex(digest, hex);
        if (strcmp(hex, wanted[pack]) != 0) print_error("pack %d: %s\n", pack, hex), wrong++;
        leat_graph_epoch_free(&global);
        leat_graph_epoch_free(&windowed);
        leat_graph_plan_destroy(plan);
    }
    assert_int_equal(wrong, 0);
    free_graphs(&graphs);
}

/* Data smaller than a window is one window; a few graphs are no less than that. */
static void small(void **state) {
    (void)state;
    for (int64_t count = 1; count < 5; count++) {
        test_graphs graphs = make_graphs(GRAPHS_TINY, 7, count);
        leat_graph_windows windows;
        assert_fine(leat_graph_windows_create(&windows, &graphs.sizes, INT64_C(1) << 40, err));
        assert_int_equal(windows.count, 1);
        assert_int_equal(leat_graph_windows_begin(&windows, 1), windows.chunk_count);
        assert_int_equal(windows.first[windows.chunk_count], count);
        leat_graph_windows_free(&windows);
        free_graphs(&graphs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks),
        cmocka_unit_test(orders),
        cmocka_unit_test(pinned),
        cmocka_unit_test(small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
