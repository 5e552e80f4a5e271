/* Small CAN caches: see make_graphs.h. */
#include "make_graphs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/sink.h"
#include "leat/format.h"

/* ---- windows ------------------------------------------------------------------------------------
 */

static void make_window(int split, int64_t g, int64_t at, const make_cache *of_cache,
                        made_graphs *made) {
    int64_t first = at * made->window, graphs = of_cache->graphs[split];
    uint64_t jitter = of_cache->whole ? 61 : 97; /* more would go back in time */
    uint64_t most = made->window < MAKE_IDS ? (uint64_t)made->window : MAKE_IDS;
    uint64_t ids = 2 + leat_random_below(leat_random(7, 1, (uint64_t)g), most - 1);
    ids = (ids + 2 + (most - 2) * (uint64_t)g / (uint64_t)graphs) / 2; /* more and more */
    for (int64_t i = 0; i < made->window; i++) {
        uint64_t draw = leat_random((uint64_t)split, 2, (uint64_t)(g * made->window + i));
        uint64_t pick = leat_random_below(draw, ids) * 7 + (uint64_t)g;
        made->frame_time[first + i] = (double)(first + i) / 1024 + (double)(draw % jitter) / 65536;
        made->frame_id[first + i] = (uint32_t)(pick % MAKE_IDS);
        for (int k = 0; k < LEAT_CAN_BYTES; k++)
            made->frame_bytes[first + i][k] = (int16_t)(draw >> (8 * k) & (k < 3 ? 0xff : 0x3));
    }
}

static void *grow(void *array, int64_t count, int64_t item_bytes) {
    return realloc(array, (size_t)(count * item_bytes + 1));
}

/* Graph `number` at place g. */
static void add_graph(made_graphs *made, int64_t g, int64_t number, const leat_graph *graph,
                      int32_t **ends) {
    int64_t n = graph->node_count, e = graph->edge_count, at = made->nodes, edge = made->edges;
    made->x = grow(made->x, (at + n) * LEAT_NODE_FEATURES, 4);
    made->node_id = grow(made->node_id, at + n, 4);
    memcpy(made->x + at * LEAT_NODE_FEATURES, graph->x, (size_t)n * LEAT_NODE_FEATURES * 4);
    memcpy(made->edge_attr + edge * LEAT_EDGE_FEATURES, graph->edge_attr,
           (size_t)e * LEAT_EDGE_FEATURES * 4);
    memcpy(ends[0] + edge, graph->source, (size_t)e * 4);
    memcpy(ends[1] + edge, graph->target, (size_t)e * 4);
    for (int64_t i = 0; i < n; i++)
        made->node_id[at + i] = graph->node[i] < MAKE_VOCAB ? (int32_t)graph->node[i] + 1 : 0;
    made->nodes += n;
    made->edges += e;
    made->node_ptr[g + 1] = made->nodes;
    made->edge_ptr[g + 1] = made->edges;
    made->window_start[g] = number * 10;
    made->capture[g] = (int32_t)(number % 2);
    made->y[g] = number % 5 == 3;
    made->attack_type[g] = number % 5 == 3 ? 1 + (int32_t)(number % 4) : 0;
    made->attack_first[g] = number % 5 == 3 ? 4 : -1;
    made->attack_count[g] = number % 5 == 3 ? 6 : 0;
}

/* ---- whole caches -------------------------------------------------------------------------------
 *
 * Each of the two captures has windows of train, two that are dropped, and windows of val.
 */

enum { STRIDE = 10, TAIL = 3, GAP = 2 };

static int64_t windows_of(const make_cache *of_cache) {
    return of_cache->graphs[0] / 2 + GAP + of_cache->graphs[1] / 2;
}

static int64_t start_of(int split, int64_t number, const make_cache *of_cache) {
    return ((split == 0 ? 0 : of_cache->graphs[0] / 2 + GAP) + number / 2) * STRIDE;
}

static int64_t frames_of(const make_cache *of_cache) {
    return (windows_of(of_cache) - 1) * STRIDE + of_cache->window + TAIL;
}

/* Numbers of graphs by (nodes, capture, window). */
static int64_t *order_graphs(int split, const make_cache *of_cache, made_graphs *made,
                             leat_graph_workspace *workspace) {
    int64_t graphs = made->graphs, at = 0;
    int64_t *order = calloc((size_t)graphs, 8), *nodes = calloc((size_t)graphs, 8);
    for (int64_t g = 0; g < graphs; g++) {
        make_window(split, g, g, of_cache, made);
        nodes[g] =
            leat_graph_node_count(workspace, made->frame_id + g * made->window, made->window);
    }
    for (int64_t size = 0; size <= MAKE_IDS; size++) {
        for (int64_t i = 0; i < graphs; i++) {
            int64_t number = i < graphs / 2 ? 2 * i : 2 * (i - graphs / 2) + 1;
            if (nodes[number] == size) order[at++] = number;
        }
    }
    free(nodes);
    return order;
}

made_graphs make_graphs(int split, const make_cache *of_cache) {
    int64_t graphs = of_cache->graphs[split], window = of_cache->window;
    int64_t edges = graphs * (window - 2), frames = graphs * window;
    const leat_graph_options options = {
        of_cache->own_step ? LEAT_EDGE_STEP_OWN : LEAT_EDGE_STEP_PREVIOUS,
        of_cache->no_loops ? LEAT_SELF_LOOPS_IGNORE : LEAT_SELF_LOOPS_COUNT};
    leat_graph_workspace *workspace = NULL;
    made_graphs made = {.window = window, .graphs = graphs};
    int32_t *ends = calloc((size_t)edges * 2, 4);
    made.frame_time = calloc((size_t)frames, 8);
    made.frame_id = calloc((size_t)frames, 4);
    made.frame_bytes = calloc((size_t)frames, 2 * LEAT_CAN_BYTES);
    made.edge_attr = calloc((size_t)edges * LEAT_EDGE_FEATURES, 4);
    made.node_ptr = calloc((size_t)graphs + 1, 8);
    made.edge_ptr = calloc((size_t)graphs + 1, 8);
    made.window_start = calloc((size_t)graphs, 8);
    int32_t **labels[] = {&made.capture, &made.y, &made.attack_type, &made.attack_first,
                          &made.attack_count};
    for (int i = 0; i < 5; i++) *labels[i] = calloc((size_t)graphs, 4);
    if (leat_graph_workspace_create(&workspace, window, NULL) != LEAT_OK) abort();
    int64_t *order = of_cache->whole ? order_graphs(split, of_cache, &made, workspace) : NULL;
    for (int64_t g = 0; g < graphs; g++) {
        leat_graph graph;
        int64_t number = order != NULL ? order[g] : g;
        make_window(split, number, g, of_cache, &made);
        const leat_can_frames of_window = {
            made.frame_time + g * window, made.frame_id + g * window,
            (const int16_t(*)[LEAT_CAN_BYTES])made.frame_bytes + g * window, window};
        leat_graph_make(workspace, &options, &of_window, &graph);
        add_graph(&made, g, number, &graph, (int32_t *[]){ends, ends + edges});
        if (of_cache->whole) made.window_start[g] = start_of(split, number, of_cache);
        if (of_cache->unlabelled && number % 5 == 1) made.y[g] = made.attack_type[g] = -1;
    }
    free(order);
    made.edge_index = ends;
    leat_graph_workspace_destroy(workspace);
    return made;
}

void made_graphs_free(made_graphs *made) {
    void *arrays[] = {made->node_ptr,   made->edge_ptr,    made->window_start, made->capture,
                      made->y,          made->attack_type, made->attack_first, made->attack_count,
                      made->x,          made->edge_attr,   made->edge_index,   made->node_id,
                      made->frame_time, made->frame_id,    made->frame_bytes};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
    *made = (made_graphs){0};
}

leat_can_scaler_values make_scaler(void) {
    leat_can_scaler_values scaler;
    for (int i = 0; i < LEAT_NODE_FEATURES; i++) {
        scaler.x_center[i] = 1.5 + i * 0.3;
        scaler.x_scale[i] = i % 7 == 0 ? 1 : 0.7 + i * 0.11;
    }
    for (int i = 0; i < LEAT_EDGE_FEATURES; i++) {
        scaler.edge_center[i] = 0.01 * i;
        scaler.edge_scale[i] = 3 - 0.2 * i;
    }
    return scaler;
}

/* ---- files --------------------------------------------------------------------------------------
 */

static const void *data_of(const made_graphs *made, const char *name) {
    const struct {
        const char *name;
        const void *data;
    } all[] = {
        {"node_ptr", made->node_ptr},
        {"edge_ptr", made->edge_ptr},
        {"window_start", made->window_start},
        {"capture", made->capture},
        {"y", made->y},
        {"attack_type", made->attack_type},
        {"attack_first", made->attack_first},
        {"attack_count", made->attack_count},
        {"x", made->x},
        {"edge_attr", made->edge_attr},
        {"edge_index", made->edge_index},
        {"node_id", made->node_id},
        {"frame_time", made->frame_time},
        {"frame_id", made->frame_id},
        {"frame_bytes", made->frame_bytes},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(all[i].name, name) == 0) return all[i].data;
    }
    abort();
}

static leat_code save(const char *dir, const char *name, const char *suffix, const void *bytes,
                      int64_t size, leat_error *err) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s%s", dir, name, suffix);
    return leat_file_save(path, bytes, size, err);
}

leat_code make_pages(const char *dir, const char *split, const uint8_t *bytes, int64_t size,
                     uint64_t *hash, leat_error *err) {
    int64_t pages = (size + LEAT_PAGE_BYTES - 1) / LEAT_PAGE_BYTES;
    uint64_t *hashes = calloc((size_t)pages, 8);
    for (int64_t p = 0; p < pages; p++) {
        int64_t at = p * LEAT_PAGE_BYTES, left = size - at;
        hashes[p] = leat_xxh3(bytes + at, left < LEAT_PAGE_BYTES ? left : LEAT_PAGE_BYTES);
    }
    *hash = leat_xxh3(hashes, pages * 8);
    leat_code code = save(dir, split, LEAT_CAN_PAGES_SUFFIX, hashes, pages * 8, err);
    free(hashes);
    return code;
}

static leat_code save_split(const char *dir, const made_graphs *made, const make_cache *options,
                            leat_can_meta_split *split, leat_error *err) {
    leat_can_shape shape = {made->graphs, made->nodes, made->edges, made->window, options->frames};
    const char *const metadata[] = {"format", LEAT_CAN_CACHE_FORMAT};
    leat_tensor tensors[LEAT_CAN_TENSORS];
    leat_buf header = {0};
    int64_t count = leat_can_tensors(&shape, tensors);
    LEAT_TRY(leat_safetensors_plan(tensors, count, metadata, options->whole, &header,
                                   &split->file_bytes, err));
    uint8_t *bytes = calloc(1, (size_t)split->file_bytes);
    memcpy(bytes, header.data, (size_t)header.size);
    for (int64_t i = 0; i < count; i++) {
        if (tensors[i].size_bytes == 0) continue;
        memcpy(bytes + tensors[i].offset, data_of(made, tensors[i].name),
               (size_t)tensors[i].size_bytes);
    }
    leat_buf_free(&header);
    leat_code code = save(dir, split->name, LEAT_CAN_TENSORS_SUFFIX, bytes, split->file_bytes, err);
    if (code == LEAT_OK)
        code = make_pages(dir, split->name, bytes, split->file_bytes, &split->pages_hash, err);
    free(bytes);
    return code;
}

/* ---- what is said of them -----------------------------------------------------------------------
 */

static void describe_split(const made_graphs *made, leat_can_meta_split *split) {
    int64_t attacks = 0;
    split->graphs = made->graphs;
    split->nodes = made->nodes;
    split->edges = made->edges;
    if (strcmp(split->name, LEAT_CAN_SPLIT_VAL) != 0)
        split->raw_samples = made->graphs * made->window;
    for (int64_t g = 0; g < made->graphs; g++) {
        int64_t nodes = made->node_ptr[g + 1] - made->node_ptr[g];
        if (g == 0 || nodes < split->node_count.min) split->node_count.min = nodes;
        if (nodes > split->node_count.max) split->node_count.max = nodes;
        attacks += made->y[g] > 0;
    }
    int64_t edges = made->graphs == 0 ? 0 : made->window - 2;
    split->node_count.mean = split->node_count.p95 = split->node_count.p99 =
        (double)split->node_count.max;
    split->edge_count = (leat_can_sizes){edges, edges, (double)edges, (double)edges, (double)edges};
    split->balance[0] = (leat_can_balance){"benign", made->graphs - attacks};
    split->balance[1] = (leat_can_balance){"dos", attacks};
    split->balance_count = 2;
}

static int64_t nodes_at(const void *context, int64_t i) {
    const made_graphs *made = context;
    return made->node_ptr[i + 1] - made->node_ptr[i];
}

static void describe_whole(const made_graphs *made, const make_cache *options,
                           leat_can_meta_split *split) {
    split->node_count = leat_can_sizes_of(nodes_at, made, made->graphs, made->nodes);
    if (split->raw_samples > 0) split->raw_samples = 2 * frames_of(options);
    split->balance_count = 0;
    for (int type = -1; type < 5; type++) {
        leat_can_balance *of = &split->balance[split->balance_count];
        *of = (leat_can_balance){0};
        snprintf(of->attack, sizeof of->attack, "%s", leat_can_attack_name(type));
        for (int64_t g = 0; g < made->graphs; g++) of->windows += made->attack_type[g] == type;
        split->balance_count += of->windows > 0;
    }
}

static leat_code whole_capture(const make_cache *options, leat_can_meta_capture *capture,
                               leat_error *err) {
    capture->windows = windows_of(options);
    capture->frames = frames_of(options);
    capture->tail = TAIL;
    capture->dropped =
        start_of(1, 0, options) - start_of(0, options->graphs[0] - 1, options) - options->window;
    LEAT_TRY(LEAT_NEW(&capture->intervals, 2, err));
    capture->interval_count = capture->interval_capacity = 2;
    capture->intervals[0] = (leat_can_interval){2, 10, 0.5};
    capture->intervals[1] = (leat_can_interval){MAKE_VOCAB + 1, capture->frames - 10, 0.25};
    return LEAT_OK;
}

static leat_code describe_cache(const make_cache *options, leat_can_meta *meta, leat_error *err) {
    memset(meta->digest, '0', 64);
    meta->digest[0] = options->frames ? 'f' : 'e';
    snprintf(meta->dataset, sizeof meta->dataset, "made");
    snprintf(meta->preset, sizeof meta->preset, "default");
    snprintf(meta->preprocessing_version, sizeof meta->preprocessing_version, "1");
    snprintf(meta->built_at, sizeof meta->built_at, "2026-01-01T00:00:00Z");
    snprintf(meta->scaler_strategy, sizeof meta->scaler_strategy, "z_benign");
    meta->window = options->window;
    meta->stride = 10;
    meta->val_fraction = 0.2;
    meta->frames = options->frames;
    meta->scaler = options->given != NULL ? options->scaler : make_scaler();
    LEAT_TRY(leat_can_meta_set(meta, "edge-step", options->own_step ? "own" : "previous", err));
    LEAT_TRY(leat_can_meta_set(meta, "self-loops", options->no_loops ? "ignore" : "count", err));
    int64_t ids = options->given != NULL ? options->ids : MAKE_IDS;
    LEAT_TRY(LEAT_NEW(&meta->ids.text, ids, err));
    meta->ids.count = meta->ids.capacity = ids;
    meta->ids.known = options->given != NULL ? ids : MAKE_VOCAB;
    for (int i = 0; i < ids; i++) snprintf(meta->ids.text[i], 24, "%03X", 0x100 + i);
    LEAT_TRY(LEAT_NEW(&meta->captures, 2, err));
    meta->capture_count = meta->capture_capacity = 2;
    for (int c = 0; c < 2; c++) {
        leat_can_meta_capture *capture = &meta->captures[c];
        LEAT_TRY(leat_strdup(&capture->file, c == 0 ? "quiet-1.csv" : "DoS-2.csv", err));
        LEAT_TRY(leat_strdup(&capture->folder, "train", err));
        snprintf(capture->split, sizeof capture->split, "train");
        capture->vehicle = 1 + c;
        capture->last_s = 10;
        if (options->whole) LEAT_TRY(whole_capture(options, capture, err));
    }
    if (!options->whole) return LEAT_OK;
    meta->windows_dropped = 2 * GAP;
    LEAT_TRY(leat_can_meta_set(meta, "attack-type", "frame", err));
    LEAT_TRY(leat_can_meta_set(meta, "val-split", "blocks", err));
    return LEAT_OK;
}

static leat_code make_splits(const char *dir, const make_cache *options, leat_can_meta *meta,
                             leat_error *err) {
    static const char *const names[] = {"train", "val", "test_01"};
    meta->split_count = options->graphs[2] > 0 ? 3 : 2;
    LEAT_TRY(LEAT_NEW(&meta->splits, meta->split_count, err));
    for (int s = 0; s < meta->split_count; s++) {
        leat_can_meta_split *split = &meta->splits[s];
        made_graphs made = options->given != NULL ? options->given[s] : make_graphs(s, options);
        snprintf(split->name, sizeof split->name, "%s", names[s]);
        describe_split(&made, split);
        if (options->whole) describe_whole(&made, options, split);
        if (s == 0 && options->change != NULL) options->change(&made);
        if (s == 2 && options->change_test != NULL) options->change_test(&made);
        leat_code code = save_split(dir, &made, options, split, err);
        if (options->given == NULL) made_graphs_free(&made);
        if (code != LEAT_OK) return code;
    }
    return LEAT_OK;
}

make_cache make_cache_default(void) { return (make_cache){.graphs = {60, 12}, .window = 20}; }

leat_code make_can_cache(const char *dir, const make_cache *options, leat_error *err) {
    leat_can_meta meta = {0};
    LEAT_TRY(leat_path_make_dir(dir, err));
    leat_code code = describe_cache(options, &meta, err);
    if (code == LEAT_OK) code = make_splits(dir, options, &meta, err);
    if (code == LEAT_OK && options->change_meta != NULL) options->change_meta(&meta);
    if (code == LEAT_OK) code = leat_can_meta_save(&meta, dir, err);
    leat_can_meta_free(&meta);
    return code;
}
