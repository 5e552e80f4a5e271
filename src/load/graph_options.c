/*
 * The options of a loader of graphs: what is accepted, which of them decide bytes, what they cost
 * in memory. Threads, hosts, prefetch and memory decide none, nor does the number of epochs where
 * no curriculum follows it.
 */
#include <string.h>

#include "base/setting.h"
#include "load/graph_loader.h"

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

static const leat_setting table[] = {
    {"scale", LEAT_SETTING_CHOICE, offsetof(leat_graph_loader_options, scale), "stored|none", 0, 0},
    {.name = NULL},
};

const char *leat_graph_loader_option_name(int index) {
    return index == 0 ? table[0].name : leat_graph_batch_option_name(index - 1);
}

leat_code leat_graph_loader_option_set(leat_graph_loader_options *options, const char *name,
                                       const char *value, leat_error *err) {
    const leat_setting *own = leat_setting_find(table, name);
    if (own != NULL) return leat_setting_set(own, options, value, err);
    return leat_graph_batch_option_set(&options->batches, name, value, err);
}

leat_code leat_graph_loader_option_get(const leat_graph_loader_options *options, const char *name,
                                       char text[LEAT_SAMPLE_OPTION_BYTES], leat_error *err) {
    const leat_setting *own = leat_setting_find(table, name);
    text[0] = 0;
    if (own == NULL) return leat_graph_batch_option_get(&options->batches, name, text, err);
    LEAT_TRY(leat_settings_check(table, options, err));
    leat_setting_get(own, options, text);
    return LEAT_OK;
}

/* ---- what is accepted ---------------------------------------------------------------------------
 */

static leat_code check_range(const char *name, int64_t value, int64_t least, int64_t most,
                             leat_error *err) {
    if (value >= least && value <= most) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION, "loader: %s is %lld, must be %lld to %lld", name,
                     (long long)value, (long long)least, (long long)most);
}

leat_code leat_graph_loader_options_check(const leat_graph_loader_options *options,
                                          leat_error *err) {
    LEAT_TRY(leat_graph_batch_options_check(&options->batches, err));
    LEAT_TRY(leat_settings_check(table, options, err));
    if (options->batches.seed > INT64_MAX) {
        return leat_fail(err, LEAT_ERR_OPTION, "loader: seed is %llu, must be 0 to %lld",
                         (unsigned long long)options->batches.seed, (long long)INT64_MAX);
    }
    LEAT_TRY(check_range("hosts", options->host_count, 1, LEAT_GRAPH_HOSTS_MAX, err));
    LEAT_TRY(check_range("host", options->host_index, 0, options->host_count - 1, err));
    LEAT_TRY(check_range("threads", options->threads, 1, LEAT_THREADS_MAX, err));
    if (options->prefetch != LEAT_PREFETCH_AUTO)
        LEAT_TRY(check_range("prefetch", options->prefetch, 0, LEAT_PREFETCH_MAX, err));
    return check_range("memory_bytes", options->memory_bytes, 1, INT64_MAX, err);
}

leat_code leat_graph_loader_check_epoch(const leat_graph_loader *loader, int64_t number,
                                        leat_error *err) {
    int64_t epochs = loader->options.batches.epochs;
    int64_t most = epochs > 0 ? epochs - 1 : LEAT_GRAPH_EPOCHS_MAX;
    return check_range("epoch", number, 0, most, err);
}

/* ---- what decides bytes ------------------------------------------------------------------------
 */

static leat_code put_options(const leat_graph_loader_options *options, leat_json *json,
                             leat_error *err) {
    bool is_ramp = options->batches.curriculum != LEAT_CURRICULUM_NONE;
    const char *name = NULL;
    for (int i = 0; (name = leat_graph_loader_option_name(i)) != NULL; i++) {
        char text[LEAT_SAMPLE_OPTION_BYTES];
        if (strcmp(name, "seed") == 0) continue; /* stands in the state itself */
        if (strcmp(name, "epochs") == 0 && !is_ramp) continue;
        LEAT_TRY(leat_graph_loader_option_get(options, name, text, err));
        leat_json_member_string(json, name, text);
    }
    return LEAT_OK;
}

leat_code leat_graph_loader_describe(leat_graph_loader *loader, const char *split,
                                     const char *scores_sha256, leat_error *err) {
    leat_json *json = NULL;
    LEAT_TRY(leat_json_create(&json, true, err));
    leat_json_begin_object(json);
    leat_code code = put_options(&loader->options, json, err);
    leat_json_member_string(json, "split", split);
    if (scores_sha256[0] != 0) leat_json_member_string(json, "scores", scores_sha256);
    leat_json_end_object(json);
    if (code == LEAT_OK) code = leat_state_words(json, &loader->words, loader->hash, err);
    leat_json_destroy(json);
    return code;
}

/* ---- what it costs ------------------------------------------------------------------------------
 */

/* Of tables, a graph: sizes here, the plan and two epochs of it, places and labels in the cache. */
enum { GRAPH_BYTES = 8 + 40 + 16 + 24 };
/* Of a thread besides its copier: what its stack touches. */
enum { THREAD_BYTES = 128 << 10 };

/* Batches of so many graphs, whatever their sizes, have no other bound. */
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
                     "loader: a batch of %lld graphs of up to %lld nodes or edges is too large: at "
                     "most 2^31 - 1 of them can be numbered",
                     (long long)graphs, (long long)most);
}

leat_code leat_graph_loader_budget(leat_graph_loader *loader, leat_error *err) {
    const leat_graph_loader_options *options = &loader->options;
    const leat_graph_limits *largest = &loader->facts.largest;
    int64_t slot = loader->layout.size_bytes, need = 0;
    int64_t fixed = loader->file->shape.graphs * GRAPH_BYTES;
    fixed += options->threads * (THREAD_BYTES + leat_graph_copier_bytes(loader->file));
    LEAT_TRY(check_fixed(loader, err));
    bool fits = leat_ring_budget(fixed, slot, options->prefetch, options->memory_bytes,
                                 &loader->prefetch, &need);
    if (fits && need <= options->memory_bytes) {
        loader->memory_bytes = need;
        return LEAT_OK;
    }
    if (!fits) need = INT64_MAX;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "loader: memory_bytes is %lld, but %lld are needed: %lld for each batch of up "
                     "to %lld graphs, %lld nodes and %lld edges, %lld for tables and threads; "
                     "allow more memory, or lower max-nodes, max-edges, batch, prefetch or threads",
                     (long long)options->memory_bytes, (long long)need, (long long)slot,
                     (long long)largest->graphs, (long long)largest->nodes,
                     (long long)largest->edges, (long long)fixed);
}
