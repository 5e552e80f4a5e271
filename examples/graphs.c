/*
 * Opens a cache of CAN graphs and passes over its training split once, in batches.
 *
 * Build it after make install, and run it:
 *
 *   cc graphs.c $(pkg-config --cflags --libs leat) \
 *      -Wl,-rpath,"$(pkg-config --variable=libdir leat)" -o graphs
 *   ./graphs cache
 *
 * After make install PREFIX=$HOME/.local, this line comes first:
 *
 *   export PKG_CONFIG_PATH=$HOME/.local/lib/pkgconfig
 *
 * The checksum at the end is that of
 *
 *   leat batches cache --max-nodes 2000 --seed 1 --epochs 1 --hash
 */
#include <inttypes.h>
#include <leat/leat.h>
#include <stdio.h>

static leat_code show_splits(const leat_can_cache *cache, leat_error *err) {
    leat_can_facts facts;
    leat_can_cache_get_facts(cache, &facts);
    for (int i = 0; i < facts.split_count; i++) {
        leat_can_split split;
        leat_code code = leat_can_cache_get_split(cache, i, &split, err);
        if (code != LEAT_OK) return code;
        printf("%s: %" PRId64 " graphs\n", split.name, split.graph_count);
    }
    return LEAT_OK;
}

/* Graph g of a batch has the nodes node_ptr[g] .. node_ptr[g + 1] - 1, whose features are the rows
 * of x; edge_index holds the endpoints of all edges, and y the labels. */
static int64_t count_attacks(const leat_graph_batch *batch) {
    int64_t attacks = 0;
    for (int64_t g = 0; g < batch->graph_count; g++) attacks += batch->y[g] == 1;
    return attacks;
}

static leat_code take(leat_graph_loader *loader, leat_batch_hash *hash, leat_error *err) {
    for (;;) {
        const leat_graph_batch *batch;
        leat_code code = leat_graph_loader_next(loader, &batch, err);
        if (code != LEAT_OK || batch == NULL) return code; /* NULL: the epoch is over */
        printf("batch %" PRId64 " of %" PRId64 ": %" PRId64 " graphs, %" PRId64
               " attacks, x [%" PRId64 ", %d], edge_index [2, %" PRId64 "]\n",
               batch->batch, batch->batch_count, batch->graph_count, count_attacks(batch),
               batch->node_count, LEAT_NODE_FEATURES, batch->edge_count);
        leat_batch_hash_add_graphs(hash, batch, NULL);
        leat_graph_batch_release(batch);
    }
}

static leat_code run(const char *path, leat_error *err) {
    leat_can_cache *cache = NULL;
    leat_graph_loader *loader = NULL;
    leat_batch_hash *hash = NULL;
    leat_graph_loader_options options = leat_graph_loader_options_default();
    options.batches.max_nodes = 2000; /* a batch is filled up to this many nodes */
    options.batches.seed = 1;
    options.batches.epochs = 1;

    leat_code code = leat_can_cache_open(&cache, path, err);
    if (code == LEAT_OK) code = show_splits(cache, err);
    if (code == LEAT_OK) code = leat_graph_loader_create(&loader, cache, &options, err);
    if (code == LEAT_OK) code = leat_batch_hash_create(&hash, err);
    if (code == LEAT_OK) code = take(loader, hash, err);
    if (code == LEAT_OK) {
        char text[65];
        leat_batch_hash_text(hash, text);
        printf("%s\n", text);
    }
    /* In reverse order; each takes NULL. */
    leat_batch_hash_destroy(hash);
    leat_graph_loader_destroy(loader);
    leat_can_cache_close(cache);
    return code;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: graphs CACHE\n");
        return 2;
    }
    leat_error err;
    if (run(argv[1], &err) != LEAT_OK) {
        fprintf(stderr, "graphs: %s\n", err.message);
        return 1;
    }
    return 0;
}
