/* What the tests of graphs share: see graph_support.h. */
#include "graph_support.h"

char graphs_stored[256], graphs_framed[256];

int graphs_setup(void **state) {
    (void)state;
    make_cache options = make_cache_default();
    graphs_make("stored", &options, graphs_stored);
    options.frames = true;
    graphs_make("framed", &options, graphs_framed);
    return 0;
}

void graphs_make(const char *name, const make_cache *options, char dir[256]) {
    leat_error err = {0};
    snprintf(dir, 256, "%s/%s", loader_folder(), name);
    must(make_can_cache(dir, options, &err), &err);
}

leat_can_cache *graphs_open(const char *dir) {
    leat_error err = {0};
    leat_can_cache *cache = NULL;
    must(leat_can_cache_open(&cache, dir, &err), &err);
    return cache;
}

leat_graph_loader_options graphs_options(void) {
    leat_graph_loader_options options = leat_graph_loader_options_default();
    options.batches.max_nodes = 60;
    options.batches.max_edges = 200;
    options.batches.seed = 11;
    options.batches.epochs = 3;
    options.threads = 2;
    return options;
}

leat_graph_loader *graphs_create(const leat_can_cache *cache,
                                 const leat_graph_loader_options *options) {
    leat_error err = {0};
    leat_graph_loader *loader = NULL;
    must(leat_graph_loader_create(&loader, cache, options, &err), &err);
    return loader;
}

const leat_graph_batch *graphs_next(leat_graph_loader *loader) {
    leat_error err = {0};
    const leat_graph_batch *batch = NULL;
    must(leat_graph_loader_next(loader, &batch, &err), &err);
    return batch;
}

float graphs_scaled(float value, double center, double scale, leat_scale how) {
    if (how == LEAT_SCALE_NONE) return value;
    float difference = value - (float)center;
    return difference / (float)scale;
}

static void expect_graph(const made_graphs *made, leat_scale how, const leat_graph_batch *batch,
                         int64_t i) {
    const leat_can_scaler_values scaler = make_scaler();
    int64_t g = batch->graph[i], node = batch->node_ptr[i], edge = batch->edge_ptr[i];
    int64_t from = made->node_ptr[g], from_edge = made->edge_ptr[g];
    assert_in_range(g, 0, made->graphs - 1);
    assert_int_equal(batch->node_ptr[i + 1] - node, made->node_ptr[g + 1] - from);
    assert_int_equal(batch->edge_ptr[i + 1] - edge, made->edge_ptr[g + 1] - from_edge);
    assert_int_equal(batch->y[i], made->y[g]);
    assert_int_equal(batch->attack_type[i], made->attack_type[g]);
    for (int64_t n = 0; n < batch->node_ptr[i + 1] - node; n++) {
        assert_int_equal(batch->node_graph[node + n], i);
        assert_int_equal(batch->node_id[node + n], made->node_id[from + n]);
        for (int c = 0; c < LEAT_NODE_FEATURES; c++) {
            float value = made->x[(from + n) * LEAT_NODE_FEATURES + c];
            value = graphs_scaled(value, scaler.x_center[c], scaler.x_scale[c], how);
            assert_memory_equal(&batch->x[(node + n) * LEAT_NODE_FEATURES + c], &value, 4);
        }
    }
    for (int64_t e = 0; e < batch->edge_ptr[i + 1] - edge; e++) {
        for (int end = 0; end < 2; end++) {
            assert_int_equal(batch->edge_index[end * batch->edge_count + edge + e],
                             made->edge_index[end * made->edges + from_edge + e] + node);
        }
        for (int c = 0; c < LEAT_EDGE_FEATURES; c++) {
            float value = made->edge_attr[(from_edge + e) * LEAT_EDGE_FEATURES + c];
            value = graphs_scaled(value, scaler.edge_center[c], scaler.edge_scale[c], how);
            assert_memory_equal(&batch->edge_attr[(edge + e) * LEAT_EDGE_FEATURES + c], &value, 4);
        }
    }
}

void graphs_expect(const made_graphs *made, leat_scale how, const leat_graph_batch *batch) {
    int64_t graphs = batch->graph_count;
    assert_int_equal(batch->node_ptr[0], 0);
    assert_int_equal(batch->edge_ptr[0], 0);
    assert_int_equal(batch->node_ptr[graphs], batch->node_count);
    assert_int_equal(batch->edge_ptr[graphs], batch->edge_count);
    for (int64_t i = 0; i < graphs; i++) expect_graph(made, how, batch, i);
}

void graphs_hash(leat_graph_loader **loaders, int hosts, char text[65], char **lines) {
    leat_batch_hash *hash = NULL;
    leat_textbuf *all = NULL;
    const char *words = NULL;
    int64_t size = 0;
    leat_error err = {0};
    must(leat_batch_hash_create(&hash, &err), &err);
    must(leat_textbuf_create(&all, &err), &err);
    for (int left = hosts; left == hosts;) {
        left = 0;
        for (int h = 0; h < hosts; h++) {
            const leat_graph_batch *batch = graphs_next(loaders[h]);
            left += batch != NULL;
            if (batch != NULL) leat_batch_hash_add_graphs(hash, batch, all);
            leat_graph_batch_release(batch);
        }
        assert_true(left == 0 || left == hosts); /* all have as many steps */
    }
    leat_batch_hash_text(hash, text);
    must(leat_textbuf_finish(all, &words, &size, &err), &err);
    if (lines != NULL) *lines = strdup(words);
    leat_textbuf_destroy(all);
    leat_batch_hash_destroy(hash);
}

void graphs_hash_run(const leat_can_cache *cache, leat_graph_loader_options options, int hosts,
                     char text[65]) {
    leat_graph_loader *loaders[8];
    assert_in_range(hosts, 1, 8);
    options.host_count = hosts;
    for (int h = 0; h < hosts; h++) {
        options.host_index = h;
        loaders[h] = graphs_create(cache, &options);
    }
    graphs_hash(loaders, hosts, text, NULL);
    for (int h = 0; h < hosts; h++) leat_graph_loader_destroy(loaders[h]);
}
