/*
 * A batch of graphs against that of torch_geometric, made of the graphs and the scaler of
 * graphids (golden/can): every tensor bit for bit. The golden files' graphs are put into a
 * cache; the batch's eight graphs are one split.
 */
#include "golden_files.h"
#include "graph_support.h"

typedef struct golden {
    uint8_t *bytes;
    leat_safetensors *tensors;
} golden;

static void load_golden(const char *name, golden *file) {
    const char *path = golden_path(name);
    int64_t size = 0;
    leat_error err = {0};
    must(leat_file_load(path, INT64_C(1) << 26, &file->bytes, &size, &err), &err);
    must(leat_safetensors_parse(&file->tensors, file->bytes, size, size, path, &err), &err);
}

static void free_golden(golden *file) {
    leat_safetensors_destroy(file->tensors);
    leat_free(file->bytes);
}

static const void *data_of(const golden *file, const char *name, leat_dtype dtype, int rank) {
    const leat_tensor *tensor = NULL;
    leat_error err = {0};
    must(leat_safetensors_find(file->tensors, name, dtype, rank, NULL, &tensor, &err), &err);
    return file->bytes + tensor->offset;
}

static const int64_t *whole(const golden *file, const char *prefix, const char *name, int rank) {
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    return data_of(file, full, LEAT_DTYPE_I64, rank);
}

static const float *real(const golden *file, const char *prefix, const char *name) {
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    return data_of(file, full, LEAT_DTYPE_F32, 2);
}

enum { GRAPHS = 8, NODES_MAX = 1000 };

/* Graph `from` of the golden graphs, behind those that `made` has. */
static void add_graph(made_graphs *made, const golden *file, bool is_test, int64_t from) {
    const char *prefix = is_test ? "test/" : "";
    const int64_t *node_ptr = whole(file, prefix, "node_ptr", 1);
    const int64_t *edge_ptr = whole(file, prefix, "edge_ptr", 1);
    const int64_t *ends = whole(file, prefix, "edge_index", 2);
    const int64_t *ids = whole(file, prefix, "node_id", 1);
    int64_t g = made->graphs, all = edge_ptr[is_test ? 25 : 225];
    int64_t nodes = node_ptr[from + 1] - node_ptr[from];
    int64_t edges = edge_ptr[from + 1] - edge_ptr[from];
    memcpy(made->x + made->nodes * LEAT_NODE_FEATURES,
           real(file, prefix, "x") + node_ptr[from] * LEAT_NODE_FEATURES,
           (size_t)nodes * LEAT_NODE_FEATURES * 4);
    memcpy(made->edge_attr + made->edges * LEAT_EDGE_FEATURES,
           real(file, prefix, "edge_attr") + edge_ptr[from] * LEAT_EDGE_FEATURES,
           (size_t)edges * LEAT_EDGE_FEATURES * 4);
    for (int64_t i = 0; i < nodes; i++)
        made->node_id[made->nodes + i] = (int32_t)ids[node_ptr[from] + i];
    for (int64_t i = 0; i < edges; i++) {
        for (int end = 0; end < 2; end++) {
            made->edge_index[end * GRAPHS * edges + made->edges + i] =
                (int32_t)ends[end * all + edge_ptr[from] + i];
        }
    }
    made->y[g] = (int32_t)whole(file, prefix, "y", 1)[from];
    made->attack_type[g] = (int32_t)whole(file, prefix, "attack_type", 1)[from];
    made->nodes += nodes;
    made->edges += edges;
    made->graphs = g + 1;
    made->node_ptr[g + 1] = made->nodes;
    made->edge_ptr[g + 1] = made->edges;
}

static void make_golden_cache(const golden *features, const golden *scaled, const golden *batch,
                              char dir[256]) {
    static float x[NODES_MAX * LEAT_NODE_FEATURES], edge_attr[NODES_MAX * LEAT_EDGE_FEATURES];
    static int64_t node_ptr[GRAPHS + 1], edge_ptr[GRAPHS + 1], zeros64[GRAPHS + 1];
    static int32_t labels[2][GRAPHS], zeros[GRAPHS], node_id[NODES_MAX], ends[2 * NODES_MAX];
    made_graphs made[2] = {{.window = 100,
                            .node_ptr = node_ptr,
                            .edge_ptr = edge_ptr,
                            .window_start = zeros64,
                            .capture = zeros,
                            .y = labels[0],
                            .attack_type = labels[1],
                            .attack_first = zeros,
                            .attack_count = zeros,
                            .x = x,
                            .edge_attr = edge_attr,
                            .edge_index = ends,
                            .node_id = node_id}};
    made[1] = made[0];
    made[1].node_ptr = made[1].edge_ptr = zeros64;
    for (int i = 0; i < GRAPHS; i++) {
        add_graph(&made[0], features, whole(batch, "", "graph_is_test", 1)[i] != 0,
                  whole(batch, "", "graph_index", 1)[i]);
    }
    make_cache options = {.window = 100, .given = made, .ids = 200};
    leat_can_scaler_values *to = &options.scaler;
    memcpy(to->x_center, data_of(scaled, "scaler/x_mean", LEAT_DTYPE_F64, 1), sizeof to->x_center);
    memcpy(to->x_scale, data_of(scaled, "scaler/x_scale", LEAT_DTYPE_F64, 1), sizeof to->x_scale);
    memcpy(to->edge_center, data_of(scaled, "scaler/edge_mean", LEAT_DTYPE_F64, 1),
           sizeof to->edge_center);
    memcpy(to->edge_scale, data_of(scaled, "scaler/edge_scale", LEAT_DTYPE_F64, 1),
           sizeof to->edge_scale);
    graphs_make("golden", &options, dir);
}

/* Graph i of our batch is one of theirs, whose batch has them in another order. */
static void expect_graph(const leat_graph_batch *ours, int64_t i, const golden *theirs) {
    int64_t g = ours->graph[i], edges = 98, all = GRAPHS * edges;
    int64_t node = whole(theirs, "slice/", "x", 1)[g];
    int64_t edge = whole(theirs, "slice/", "edge_attr", 1)[g];
    int64_t nodes = whole(theirs, "", "ptr", 1)[g + 1] - node, at = ours->node_ptr[i];
    assert_int_equal(ours->node_ptr[i + 1] - at, nodes);
    assert_int_equal(whole(theirs, "inc/", "edge_index", 1)[g], node);
    assert_memory_equal(ours->x + at * LEAT_NODE_FEATURES,
                        real(theirs, "", "x") + node * LEAT_NODE_FEATURES,
                        (size_t)nodes * LEAT_NODE_FEATURES * 4);
    assert_memory_equal(ours->edge_attr + ours->edge_ptr[i] * LEAT_EDGE_FEATURES,
                        real(theirs, "", "edge_attr") + edge * LEAT_EDGE_FEATURES,
                        (size_t)edges * LEAT_EDGE_FEATURES * 4);
    for (int64_t n = 0; n < nodes; n++) {
        assert_int_equal(ours->node_id[at + n], whole(theirs, "", "node_id", 1)[node + n]);
        assert_int_equal(ours->node_graph[at + n], i);
        assert_int_equal(whole(theirs, "", "batch", 1)[node + n], g);
    }
    for (int64_t e = 0; e < edges; e++) {
        for (int end = 0; end < 2; end++) {
            int64_t to = whole(theirs, "", "edge_index", 2)[end * all + edge + e];
            assert_int_equal(ours->edge_index[end * all + ours->edge_ptr[i] + e], to - node + at);
        }
    }
    assert_int_equal(ours->y[i], whole(theirs, "", "y", 1)[g]);
    assert_int_equal(ours->attack_type[i], whole(theirs, "", "attack_type", 1)[g]);
}

static void batch_of_reference(void **state) {
    (void)state;
    golden features = {0}, scaled = {0}, theirs = {0};
    char dir[256];
    load_golden("golden/can/features_ref.safetensors", &features);
    load_golden("golden/can/features_scaled_ref.safetensors", &scaled);
    load_golden("golden/can/batch_ref.safetensors", &theirs);
    make_golden_cache(&features, &scaled, &theirs, dir);
    leat_can_cache *cache = graphs_open(dir);
    leat_graph_loader_options options = graphs_options();
    options.batches.pack = LEAT_PACK_FIXED;
    options.batches.batch = GRAPHS;
    options.batches.epochs = 5;
    leat_graph_loader *loader = graphs_create(cache, &options);
    for (int e = 0; e < 5; e++) {
        int seen = 0;
        const leat_graph_batch *ours = graphs_next(loader);
        assert_int_equal(ours->graph_count, GRAPHS);
        assert_int_equal(ours->node_count, 252);
        for (int64_t i = 0; i < GRAPHS; i++) {
            expect_graph(ours, i, &theirs);
            seen |= 1 << ours->graph[i];
        }
        assert_int_equal(seen, 255);
        leat_graph_batch_release(ours);
    }
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
    free_golden(&features);
    free_golden(&scaled);
    free_golden(&theirs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(batch_of_reference)};
    return cmocka_run_group_tests(tests, NULL, loader_teardown);
}
