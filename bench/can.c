/*
 * One sample of reading a cache of window graphs, in a fresh process:
 *
 *   bench_can batches CACHE MAX_NODES   batches of the training graphs by one thread: an epoch
 *                                       whose pages are checked at their first access, then the
 *                                       next one; and their bound, memcpy of the same bytes
 *   bench_can open CACHE                opening the cache, and planning an epoch of its training
 *                                       graphs with each packer, for batches of 2 and of 64 graphs
 *
 * memcpy reads the bytes from the same file: in its order, and graph by graph in the order of the
 * batches. A cache of frames has no such bytes, so it has no such bounds. bench/can.py runs it.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench.h"
#include "leat/load_can.h"

/* As many as a loader has ahead plus the caller's, so that copies leave the processor's caches. */
enum { SLOTS = 9 };
enum { NODE_BYTES = 4 * LEAT_NODE_FEATURES, EDGE_BYTES = 4 * LEAT_EDGE_FEATURES };

static leat_can_cache *open_cache(const char *path) {
    leat_can_cache *cache = NULL;
    leat_error err = {0};
    bench_must(leat_can_cache_open(&cache, path, &err), &err);
    return cache;
}

static leat_graph_loader *make_loader(const leat_can_cache *cache,
                                      const leat_graph_loader_options *options) {
    leat_graph_loader *loader = NULL;
    leat_error err = {0};
    bench_must(leat_graph_loader_create(&loader, cache, options, &err), &err);
    return loader;
}

static leat_can_split split_of(const leat_can_cache *cache) {
    leat_can_split split;
    leat_error err = {0};
    bench_must(leat_can_cache_get_split(cache, 0, &split, &err), &err);
    if (split.graph_count == 0) bench_die("the cache has no training graph");
    return split;
}

/* ---- batches ------------------------------------------------------------------------------ */

/* The graphs of an epoch, batch by batch. */
typedef struct epoch {
    int64_t *graphs, *begin; /* begin[batch_count] is the end of the last */
    int64_t *bytes;          /* of each batch */
    int64_t batch_count, graph_count, bytes_most;
} epoch;

typedef struct pass {
    double seconds;
    int64_t bytes, graphs, nodes;
} pass;

static int64_t bytes_of(const leat_graph_batch *batch) {
    int64_t graph_bytes = 2 * 8 + 2 * 4 + 8, node_bytes = NODE_BYTES + 2 * 4;
    return batch->node_count * node_bytes + batch->edge_count * (EDGE_BYTES + 2 * 4) +
           batch->graph_count * graph_bytes + 2 * 8;
}

static void remember(epoch *out, const leat_graph_batch *batch) {
    int64_t bytes = bytes_of(batch), at = out->graph_count;
    memcpy(out->graphs + at, batch->graph, (size_t)batch->graph_count * sizeof *batch->graph);
    out->bytes[out->batch_count++] = bytes;
    out->graph_count = out->begin[out->batch_count] = at + batch->graph_count;
    if (bytes > out->bytes_most) out->bytes_most = bytes;
}

/* All batches of one epoch; `seen`, unless NULL, records them. */
static pass make_epoch(leat_graph_loader *loader, int64_t number, epoch *seen) {
    leat_error err = {0};
    pass out = {0};
    double begin = bench_seconds();
    for (int64_t at = 0, end = 1; at < end; at++) {
        const leat_graph_batch *batch = NULL;
        bench_must(leat_graph_loader_next(loader, &batch, &err), &err);
        if (batch == NULL || batch->epoch != number)
            bench_die("epoch %lld is cut", (long long)number);
        end = batch->batch_count;
        out.bytes += bytes_of(batch);
        out.graphs += batch->graph_count;
        out.nodes += batch->node_count;
        if (seen != NULL) remember(seen, batch);
        leat_graph_batch_release(batch);
    }
    out.seconds = bench_seconds() - begin;
    return out;
}

/* ---- bounds ------------------------------------------------------------------------------- */

typedef struct mapped {
    const uint8_t *bytes, *data; /* the file, and what follows its header */
    int64_t size;
    const uint8_t *x, *edge_attr, *edge_index, *node_id;
    const int64_t *node_ptr, *edge_ptr;
} mapped;

/* The beginning of a tensor according to the header. */
static const uint8_t *find_tensor(const mapped *file, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr((const char *)file->bytes + 8, key);
    if (at != NULL) at = strstr(at, "\"data_offsets\":[");
    if (at == NULL) bench_die("the file has no tensor %s", name);
    return file->data + strtoll(at + strlen("\"data_offsets\":["), NULL, 10);
}

static mapped map_file(const char *folder) {
    char path[4096];
    struct stat facts;
    uint64_t header = 0;
    snprintf(path, sizeof path, "%s/train.safetensors", folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &facts) != 0) bench_die("\"%s\" cannot be read", path);
    mapped file = {.size = facts.st_size};
    file.bytes = mmap(NULL, (size_t)file.size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    close(fd);
    if (file.bytes == MAP_FAILED) bench_die("\"%s\" cannot be mapped", path);
    memcpy(&header, file.bytes, sizeof header);
    file.data = file.bytes + 8 + header;
    file.x = find_tensor(&file, "x");
    file.edge_attr = find_tensor(&file, "edge_attr");
    file.edge_index = find_tensor(&file, "edge_index");
    file.node_id = find_tensor(&file, "node_id");
    file.node_ptr = (const int64_t *)(const void *)find_tensor(&file, "node_ptr");
    file.edge_ptr = (const int64_t *)(const void *)find_tensor(&file, "edge_ptr");
    return file;
}

static double copy_straight(const mapped *file, const epoch *made, uint8_t *slots[SLOTS]) {
    int64_t at = 0;
    double begin = bench_seconds();
    for (int64_t b = 0; b < made->batch_count; b++) {
        if (at + made->bytes[b] > file->size) at = 0;
        if (made->bytes[b] > file->size) bench_die("a batch is larger than the file");
        memcpy(slots[b % SLOTS], file->bytes + at, (size_t)made->bytes[b]);
        __asm__ volatile("" ::: "memory");
        at += made->bytes[b];
    }
    return bench_seconds() - begin;
}

static uint8_t *copied(uint8_t *to, const uint8_t *from, int64_t size_bytes) {
    memcpy(to, from, (size_t)size_bytes);
    return to + size_bytes;
}

/* The arrays of a batch one after the other, as in the loader. */
static void gather(const mapped *file, const int64_t *graphs, int64_t count, int64_t split_edges,
                   uint8_t *slot) {
    int64_t nodes = 0, edges = 0;
    for (int64_t i = 0; i < count; i++) {
        nodes += file->node_ptr[graphs[i] + 1] - file->node_ptr[graphs[i]];
        edges += file->edge_ptr[graphs[i] + 1] - file->edge_ptr[graphs[i]];
    }
    uint8_t *x = slot, *attr = x + nodes * NODE_BYTES, *source = attr + edges * EDGE_BYTES;
    uint8_t *target = source + edges * 4, *id = target + edges * 4;
    for (int64_t i = 0; i < count; i++) {
        int64_t node = file->node_ptr[graphs[i]], edge = file->edge_ptr[graphs[i]];
        int64_t n = file->node_ptr[graphs[i] + 1] - node, e = file->edge_ptr[graphs[i] + 1] - edge;
        x = copied(x, file->x + node * NODE_BYTES, n * NODE_BYTES);
        attr = copied(attr, file->edge_attr + edge * EDGE_BYTES, e * EDGE_BYTES);
        source = copied(source, file->edge_index + edge * 4, e * 4);
        target = copied(target, file->edge_index + (split_edges + edge) * 4, e * 4);
        id = copied(id, file->node_id + node * 4, n * 4);
    }
}

static double copy_gathered(const mapped *file, const epoch *made, const leat_can_split *split,
                            uint8_t *slots[SLOTS]) {
    double begin = bench_seconds();
    for (int64_t b = 0; b < made->batch_count; b++) {
        const int64_t *graphs = made->graphs + made->begin[b];
        gather(file, graphs, made->begin[b + 1] - made->begin[b], split->edge_count,
               slots[b % SLOTS]);
        __asm__ volatile("" ::: "memory");
    }
    return bench_seconds() - begin;
}

static void measure_bounds(leat_json *json, const leat_can_cache *cache, const epoch *made,
                           const leat_can_split *split) {
    leat_can_facts facts;
    uint8_t *slots[SLOTS];
    double bytes = 0;
    leat_can_cache_get_facts(cache, &facts);
    mapped file = map_file(facts.path);
    for (int k = 0; k < SLOTS; k++) slots[k] = bench_room(made->bytes_most);
    for (int64_t b = 0; b < made->batch_count; b++) bytes += (double)made->bytes[b];
    leat_json_member_double(json, "copy_bytes_per_s", bytes / copy_straight(&file, made, slots));
    leat_json_member_double(json, "gather_bytes_per_s",
                            bytes / copy_gathered(&file, made, split, slots));
    for (int k = 0; k < SLOTS; k++) free(slots[k]);
    munmap((void *)(uintptr_t)file.bytes, (size_t)file.size);
}

/* ---- bench_can batches -------------------------------------------------------------------- */

static pass make_raw(const leat_can_cache *cache, const leat_graph_loader_options *scaled) {
    leat_graph_loader_options options = *scaled;
    options.scale = LEAT_SCALE_NONE;
    leat_graph_loader *loader = make_loader(cache, &options);
    (void)make_epoch(loader, 0, NULL); /* accesses its slots, as for the other loader */
    pass raw = make_epoch(loader, 1, NULL);
    leat_graph_loader_destroy(loader);
    return raw;
}

static void batches(const char *path, int64_t max_nodes) {
    leat_can_cache *cache = open_cache(path);
    leat_can_split split = split_of(cache);
    leat_graph_loader_options options = leat_graph_loader_options_default();
    leat_graph_loader_counters counters;
    leat_can_facts facts;
    int64_t words = (split.graph_count + 1) * (int64_t)sizeof(int64_t);
    epoch made = {bench_room(words), bench_room(words), bench_room(words), 0, 0, 0};
    made.begin[0] = 0;
    options.threads = 1;
    options.batches.max_nodes = max_nodes;
    options.batches.max_edges = 0;
    leat_graph_loader *loader = make_loader(cache, &options);
    pass fresh = make_epoch(loader, 0, &made), again = make_epoch(loader, 1, NULL);
    leat_graph_loader_get_counters(loader, &counters);
    leat_graph_loader_destroy(loader);
    pass raw = make_raw(cache, &options);

    leat_json *json = bench_json_begin();
    leat_can_cache_get_facts(cache, &facts);
    leat_json_member_double(json, "bytes_per_s", (double)again.bytes / again.seconds);
    leat_json_member_double(json, "fresh_bytes_per_s", (double)fresh.bytes / fresh.seconds);
    leat_json_member_double(json, "raw_bytes_per_s", (double)raw.bytes / raw.seconds);
    leat_json_member_double(json, "graphs_per_s", (double)again.graphs / again.seconds);
    leat_json_member_double(json, "nodes", (double)again.nodes / (double)again.graphs);
    leat_json_member_double(json, "edges", (double)split.edge_count / (double)split.graph_count);
    leat_json_member_int(json, "graphs", again.graphs);
    leat_json_member_int(json, "bytes", again.bytes);
    leat_json_member_int(json, "batches", made.batch_count);
    leat_json_member_int(json, "payload_bytes", counters.payload_bytes);
    leat_json_member_int(json, "memory_bytes", counters.memory_bytes);
    if (!facts.frames) measure_bounds(json, cache, &made, &split);
    bench_json_end(json);
    leat_can_cache_close(cache);
    free(made.graphs);
    free(made.begin);
    free(made.bytes);
}

/* ---- bench_can open ----------------------------------------------------------------------- */

typedef struct way {
    const char *name;
    leat_graph_pack pack;
    int64_t fit; /* graphs of a batch, or as many as fit on average */
} way;

static const way WAYS[] = {
    {"ffd_2", LEAT_PACK_FFD, 2},           {"ffd_64", LEAT_PACK_FFD, 64},
    {"next_fit_2", LEAT_PACK_NEXT_FIT, 2}, {"next_fit_64", LEAT_PACK_NEXT_FIT, 64},
    {"bucket_2", LEAT_PACK_BUCKET, 2},     {"bucket_64", LEAT_PACK_BUCKET, 64},
    {"fixed_2", LEAT_PACK_FIXED, 2},       {"fixed_64", LEAT_PACK_FIXED, 64},
};
enum { WAY_COUNT = sizeof WAYS / sizeof WAYS[0], PLANS = 3 };

/* Creating a loader plans its first epoch; the others are planned separately. */
static void plan(leat_json *json, const leat_can_cache *cache, const leat_can_split *split,
                 const way *how) {
    leat_graph_loader_options options = leat_graph_loader_options_default();
    leat_graph_epoch_facts facts = {0};
    leat_error err = {0};
    double samples[PLANS];
    int64_t mean = (split->node_count + split->graph_count - 1) / split->graph_count;
    options.threads = 1;
    options.prefetch = 0;
    options.memory_bytes = INT64_C(1) << 34;
    options.batches.pack = how->pack;
    options.batches.batch = how->fit;
    options.batches.max_nodes = how->fit * mean;
    options.batches.max_edges = 0;
    options.batches.epochs = 1; /* so that none is planned ahead */
    double begin = bench_seconds();
    leat_graph_loader *loader = make_loader(cache, &options);
    double create_s = bench_seconds() - begin;
    for (int i = 0; i < PLANS; i++) {
        begin = bench_seconds();
        bench_must(leat_graph_loader_get_epoch(loader, 0, &facts, &err), &err);
        samples[i] = bench_seconds() - begin;
    }
    leat_graph_loader_destroy(loader);
    leat_json_key(json, how->name);
    leat_json_begin_object(json);
    leat_json_member_double(json, "create_s", create_s);
    leat_json_member_double(json, "plan_s", bench_median(samples, PLANS));
    leat_json_member_int(json, "batches", facts.batch_count);
    leat_json_member_int(json, "graphs", facts.graph_count);
    leat_json_end_object(json);
}

static void open_and_plan(const char *path) {
    int64_t before_bytes = leat_rss_bytes();
    double begin = bench_seconds();
    leat_can_cache *cache = open_cache(path);
    double open_ms = (bench_seconds() - begin) * 1e3;
    leat_can_split split = split_of(cache);
    double split_ms = (bench_seconds() - begin) * 1e3;
    leat_json *json = bench_json_begin();
    leat_json_member_double(json, "open_ms", open_ms);
    leat_json_member_double(json, "split_ms", split_ms);
    leat_json_member_int(json, "open_bytes", leat_rss_bytes() - before_bytes);
    leat_json_member_int(json, "graphs", split.graph_count);
    leat_json_member_int(json, "file_bytes", split.file_bytes);
    leat_json_member_double(json, "nodes", (double)split.node_count / (double)split.graph_count);
    for (int i = 0; i < WAY_COUNT; i++) plan(json, cache, &split, &WAYS[i]);
    bench_json_end(json);
    leat_can_cache_close(cache);
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "batches") == 0) batches(argv[2], bench_number(argv[3], 1));
    else if (argc == 3 && strcmp(argv[1], "open") == 0) open_and_plan(argv[2]);
    else bench_die("usage: bench_can batches CACHE MAX_NODES | bench_can open CACHE");
    return 0;
}
