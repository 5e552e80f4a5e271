/*
 * The options of a graph loader: which values are accepted, which options affect the bytes of
 * batches, what they cost in memory. Threads, hosts, prefetch and memory do not affect bytes, nor
 * does the number of epochs without a curriculum.
 */
#include <string.h>

#include "load/can/loader.h"
#include "load/option_rows.h"

leat_graph_loader_options leat_graph_loader_options_default(void) {
    return (leat_graph_loader_options){
        .batches = leat_graph_batch_options_default(),
        .split = "train",
        .host_count = 1,
        .threads = leat_cpu_count(),
        .prefetch = LEAT_PREFETCH_AUTO,
        .memory_bytes = INT64_C(512) << 20,
    };
}

/* ---- by name ------------------------------------------------------------------------------------
 */

#define AT(field) .place = offsetof(leat_graph_loader_options, field)

static const leat_setting rows[] = {
    {.name = "scale",
     .kind = LEAT_SETTING_CHOICE,
     AT(scale),
     .choices = "stored|none",
     .help = "scale features with the cache's scaler, or leave them unchanged"},
    {LEAT_LOADER_HOST(leat_graph_loader_options, LEAT_GRAPH_HOSTS_MAX)},
    {LEAT_LOADER_HOSTS(leat_graph_loader_options, LEAT_GRAPH_HOSTS_MAX)},
    {LEAT_LOADER_THREADS(leat_graph_loader_options)},
    {LEAT_LOADER_MEMORY(leat_graph_loader_options)},
    {LEAT_LOADER_PREFETCH(leat_graph_loader_options)},
    {.name = NULL},
};

static void set_defaults(void *options) {
    *(leat_graph_loader_options *)options = leat_graph_loader_options_default();
}

const leat_setting_table *leat_graph_loader_options_table(void) {
    static const leat_setting_table table = {"a loader of graphs", rows,
                                             sizeof(leat_graph_loader_options), set_defaults};
    return &table;
}

/* ---- what is accepted ---------------------------------------------------------------------------
 */

leat_code leat_graph_loader_options_check(const leat_graph_loader_options *options,
                                          leat_error *err) {
    LEAT_TRY(leat_graph_batch_options_check(&options->batches, err));
    LEAT_TRY(leat_settings_check(leat_graph_loader_options_table(), options, err));
    LEAT_TRY(leat_loader_check_seed(options->batches.seed, err));
    return leat_loader_check_range("host", options->host_index, 0, options->host_count - 1, err);
}

leat_code leat_graph_loader_check_epoch(const leat_graph_loader *loader, int64_t number,
                                        leat_error *err) {
    int64_t epochs = loader->options.batches.epochs;
    int64_t most = epochs > 0 ? epochs - 1 : LEAT_GRAPH_EPOCHS_MAX;
    return leat_loader_check_range("epoch", number, 0, most, err);
}

/* ---- what decides bytes ------------------------------------------------------------------------
 */

/* What is not in the words, or not in their hash: a state of a run without a filter may be older
 * than the filter, and must still be accepted. */
static bool is_left_out(const leat_setting *row, const leat_graph_batch_options *batches,
                        bool hashed) {
    if (row->neutral || strcmp(row->name, "seed") == 0) return true; /* in the state itself */
    if (strcmp(row->name, "epochs") == 0) return batches->curriculum == LEAT_CURRICULUM_NONE;
    if (strcmp(row->name, "order") == 0) return batches->window_bytes == 0; /* as in older states */
    return hashed && strcmp(row->name, "graphs") == 0 && batches->graphs == LEAT_FILTER_ALL;
}

static void put_options(const leat_setting_table *table, const leat_graph_loader *loader,
                        const void *options, bool hashed, leat_json *json) {
    for (const leat_setting *row = table->rows; row->name != NULL; row++) {
        char text[LEAT_SETTING_BYTES];
        if (is_left_out(row, &loader->options.batches, hashed)) continue;
        leat_json_member_string(json, row->name, leat_setting_get(row, options, text));
    }
}

static leat_code put_words(const leat_graph_loader *loader, const char *split,
                           const char *scores_sha256, bool hashed, char **words, char hash[17],
                           leat_error *err) {
    leat_json *json = NULL;
    LEAT_TRY(leat_json_create(&json, true, err));
    leat_json_begin_object(json);
    put_options(leat_graph_loader_options_table(), loader, &loader->options, hashed, json);
    put_options(leat_graph_batch_options_table(), loader, &loader->options.batches, hashed, json);
    leat_json_member_string(json, "split", split);
    if (scores_sha256[0] != 0) leat_json_member_string(json, "scores", scores_sha256);
    leat_json_end_object(json);
    leat_code code = leat_state_words(json, words, hash, err);
    leat_json_destroy(json);
    return code;
}

leat_code leat_graph_loader_describe(leat_graph_loader *loader, const char *split,
                                     const char *scores_sha256, leat_error *err) {
    char *hashed = NULL, hash[17];
    LEAT_TRY(put_words(loader, split, scores_sha256, false, &loader->words, hash, err));
    leat_code code = put_words(loader, split, scores_sha256, true, &hashed, loader->hash, err);
    leat_free(hashed);
    return code;
}

/* ---- what it costs ------------------------------------------------------------------------------
 */

/* Of tables, per graph: sizes here, the plan and two epochs of it, offsets and labels in the cache.
 */
enum { GRAPH_BYTES = 8 + 40 + 16 + 24 };
/* In the windowed order: the window of each. */
enum { WINDOW_BYTES = 4 };
/* Of a thread besides its copier: the part of its stack that is used. */
enum { THREAD_BYTES = 128 << 10 };

/* Batches of a fixed number of graphs have no other bound. */
static leat_code check_fixed(const leat_graph_loader *loader, leat_error *err) {
    const leat_graph_batch_options *batches = &loader->options.batches;
    int64_t most = 0, count = loader->file->shape.graphs;
    int64_t graphs = batches->batch < count ? batches->batch : count;
    if (batches->pack != LEAT_PACK_FIXED) return LEAT_OK;
    for (int64_t g = 0; g < count; g++) {
        if (loader->nodes[g] > most) most = loader->nodes[g];
        if (loader->edges[g] > most) most = loader->edges[g];
    }
    if (most == 0 || graphs <= INT32_MAX / most) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "loader: a batch of %lld graphs of up to %lld nodes or edges is too large: it "
                     "may have at most 2^31 - 1 nodes or edges",
                     (long long)graphs, (long long)most);
}

leat_code leat_graph_loader_budget(leat_graph_loader *loader, leat_error *err) {
    const leat_graph_loader_options *options = &loader->options;
    const leat_graph_limits *largest = &loader->facts.largest;
    int64_t slot = loader->layout.size_bytes, need = 0;
    bool windowed = options->batches.window_bytes > 0;
    int64_t fixed = loader->file->shape.graphs * (GRAPH_BYTES + (windowed ? WINDOW_BYTES : 0));
    if (windowed) fixed += leat_fetcher_bytes();
    fixed += options->threads * (THREAD_BYTES + leat_graph_copier_bytes(loader->file));
    LEAT_TRY(check_fixed(loader, err));
    bool fits = leat_ring_budget(fixed, slot, options->prefetch, options->memory_bytes,
                                 &loader->prefetch, &need);
    if (fits && need <= options->memory_bytes) {
        loader->memory_bytes = need;
        return LEAT_OK;
    }
    if (!fits) need = INT64_MAX;
    return leat_fail(
        err, LEAT_ERR_OPTION,
        "loader: memory_bytes is %lld, but %lld are required: %lld for each batch of up "
        "to %lld graphs, %lld nodes and %lld edges, %lld for tables and threads; "
        "allow more memory, or lower max-nodes, max-edges, batch, prefetch or threads",
        (long long)options->memory_bytes, (long long)need, (long long)slot,
        (long long)largest->graphs, (long long)largest->nodes, (long long)largest->edges,
        (long long)fixed);
}
