/*
 * The graph loader's interface: create, next batch, seek.
 */
#include "load/can/loader.h"

#include <string.h>

#include "load/counts.h"
#include "load/option_rows.h"

/* ---- the caller's position ----------------------------------------------------------------------
 */

/* Epoch and batches in one number, so that concurrent readers get a consistent pair. */
typedef struct graph_place {
    int64_t epoch, batch;
} graph_place;

static graph_place place_of(const leat_graph_loader *loader) {
    int64_t place = atomic_load_explicit(&loader->place, memory_order_relaxed);
    return (graph_place){place >> 32, place & UINT32_MAX};
}

static void set_place(leat_graph_loader *loader, int64_t epoch, int64_t batch) {
    atomic_store_explicit(&loader->place, epoch << 32 | batch, memory_order_relaxed);
}

static bool at_end(const leat_graph_loader *loader) {
    int64_t epochs = loader->options.batches.epochs;
    return epochs > 0 && place_of(loader).epoch >= epochs;
}

/* ---- counters -----------------------------------------------------------------------------------
 */

static void count_batch(leat_graph_loader *loader, const leat_graph_batch *batch) {
    leat_count_more(&loader->counts[LEAT_GRAPH_COUNT_BATCHES], batch->graph_count > 0);
    leat_count_more(&loader->counts[LEAT_GRAPH_COUNT_GRAPHS], batch->graph_count);
    leat_count_more(&loader->counts[LEAT_GRAPH_COUNT_NODES], batch->node_count);
    leat_count_more(&loader->counts[LEAT_GRAPH_COUNT_EDGES], batch->edge_count);
}

void leat_graph_loader_get_counters(const leat_graph_loader *loader,
                                    leat_graph_loader_counters *out) {
    int64_t counts[LEAT_GRAPH_COUNTS];
    leat_counts_read(loader->counts, LEAT_GRAPH_COUNTS, counts);
    *out = (leat_graph_loader_counters){
        .batches = counts[LEAT_GRAPH_COUNT_BATCHES],
        .graphs = counts[LEAT_GRAPH_COUNT_GRAPHS],
        .nodes = counts[LEAT_GRAPH_COUNT_NODES],
        .edges = counts[LEAT_GRAPH_COUNT_EDGES],
        .payload_bytes = leat_paged_checked_bytes(&loader->file->paged) - loader->payload_before,
        .stall_ns = leat_ring_stall_ns(loader->ring),
        .read_wait_ns = leat_fetcher_wait_ns(loader->fetcher),
        .work_ns = leat_ring_work_ns(loader->ring),
        .memory_bytes = loader->memory_bytes,
        .prefetch = loader->prefetch,
    };
}

/* ---- create and destroy ------------------------------------------------------------------------
 */

static leat_code take_sizes(leat_graph_loader *loader, leat_error *err) {
    const leat_graph_file *file = loader->file;
    int64_t count = file->shape.graphs;
    if (count == 0)
        return leat_fail(err, LEAT_ERR_OPTION, "loader: split %s has no graphs", file->split);
    LEAT_TRY(LEAT_NEW(&loader->nodes, count, err));
    LEAT_TRY(LEAT_NEW(&loader->edges, count, err));
    for (int64_t g = 0; g < count; g++) {
        loader->nodes[g] = (int32_t)(file->node_ptr[g + 1] - file->node_ptr[g]);
        loader->edges[g] = (int32_t)(file->edge_ptr[g + 1] - file->edge_ptr[g]);
    }
    return LEAT_OK;
}

static leat_code make_plan(leat_graph_loader *loader, const leat_graph_loader_options *options,
                           char scores_sha256[65], leat_error *err) {
    const leat_graph_file *file = loader->file;
    const leat_graph_sizes sizes = {loader->nodes, loader->edges, file->shape.graphs};
    double *scores = NULL;
    scores_sha256[0] = 0;
    if (options->batches.curriculum == LEAT_CURRICULUM_SCORES && options->scores != NULL) {
        LEAT_TRY(leat_graph_scores_load(&scores, scores_sha256, options->scores, loader->cache,
                                        file, err));
    }
    leat_code code =
        leat_graph_plan_create(&loader->plan, &options->batches, &sizes, file->y, scores, err);
    leat_free(scores);
    if (code != LEAT_OK) leat_error_context(err, code, "split %s", file->split);
    return code;
}

static leat_code start(leat_graph_loader *loader, leat_error *err) {
    leat_graph_epoch epoch = {0};
    leat_code code = leat_graph_plan_again(loader, 0, &epoch, err);
    if (code == LEAT_OK) {
        leat_ring_work work = leat_graph_work(loader);
        int64_t end = leat_graph_turns_begin(loader, &epoch);
        code = leat_ring_create(&loader->ring, &work, loader->prefetch, end,
                                loader->options.threads, err);
    }
    leat_graph_epoch_free(&epoch);
    if (code == LEAT_OK) leat_graph_turns_want(loader, 1);
    return code;
}

static int64_t chunks_of_window(const void *data, int64_t window) {
    const leat_graph_windows *windows =
        leat_graph_plan_windows(((const leat_graph_loader *)data)->plan);
    return leat_graph_windows_begin(windows, window + 1) -
           leat_graph_windows_begin(windows, window);
}

static void fetch_chunk(const void *data, int64_t epoch, int64_t window, int64_t chunk) {
    const leat_graph_loader *loader = data;
    const leat_graph_windows *windows = leat_graph_plan_windows(loader->plan);
    int64_t place = leat_graph_windows_begin(windows, window) + chunk;
    int64_t its = leat_graph_windows_chunk(windows, loader->options.batches.seed, epoch, place);
    leat_graph_fetch(loader->file, windows->first[its], windows->first[its + 1]);
}

static leat_code fill(leat_graph_loader *loader, const leat_can_cache *cache,
                      const leat_graph_loader_options *options, leat_error *err) {
    char scores_sha256[65];
    leat_can_facts facts;
    LEAT_TRY(leat_graph_loader_options_check(options, err));
    LEAT_TRY(leat_can_cache_check_process(cache, err));
    LEAT_TRY(leat_can_cache_file(cache, options->split, &loader->file, err));
    loader->cache = cache;
    loader->options = *options;
    loader->options.split = loader->options.scores = NULL; /* belong to the caller */
    loader->parts = leat_graph_parts(options->threads);
    leat_graph_scale_make(&loader->scale, leat_can_cache_scaler(cache));
    leat_can_cache_get_facts(cache, &facts);
    memcpy(loader->fingerprint, facts.fingerprint, 64);
    LEAT_TRY(take_sizes(loader, err));
    LEAT_TRY(make_plan(loader, options, scores_sha256, err));
    leat_graph_plan_get_facts(loader->plan, &loader->facts);
    loader->layout = leat_graph_layout_of(&loader->facts.largest);
    if (options->batches.window_bytes == 0) leat_loader_expect_all(loader->file->paged.map);
    loader->payload_before = leat_paged_checked_bytes(&loader->file->paged);
    LEAT_TRY(leat_graph_loader_describe(loader, options->split, scores_sha256, err));
    LEAT_TRY(leat_graph_loader_budget(loader, err));
    if (options->batches.window_bytes > 0) {
        leat_fetcher_work work = {.data = loader,
                                  .windows = leat_graph_plan_windows(loader->plan)->count,
                                  .epochs = options->batches.epochs,
                                  .chunks = chunks_of_window,
                                  .fetch = fetch_chunk};
        LEAT_TRY(leat_fetcher_create(&loader->fetcher, &work, err));
    }
    return start(loader, err);
}

leat_code leat_graph_loader_create(leat_graph_loader **out, const leat_can_cache *cache,
                                   const leat_graph_loader_options *options, leat_error *err) {
    leat_graph_loader *loader = NULL;
    leat_graph_loader_options defaults = leat_graph_loader_options_default();
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&loader, 1, err));
    pthread_mutex_init(&loader->lock, NULL);
    leat_code code = fill(loader, cache, options == NULL ? &defaults : options, err);
    if (code != LEAT_OK) {
        leat_graph_loader_destroy(loader);
        return code;
    }
    *out = loader;
    return LEAT_OK;
}

void leat_graph_loader_destroy(leat_graph_loader *loader) {
    if (loader == NULL) return;
    if (loader->ring != NULL && leat_ring_check_process(loader->ring, NULL) != LEAT_OK) return;
    leat_ring_destroy(loader->ring); /* its workers may wait for what is read ahead */
    leat_fetcher_destroy(loader->fetcher);
    leat_graph_turns_free(loader);
    leat_graph_plan_destroy(loader->plan);
    pthread_mutex_destroy(&loader->lock);
    leat_free(loader->nodes);
    leat_free(loader->edges);
    leat_free(loader->words);
    leat_free(loader);
}

/* ---- batches ------------------------------------------------------------------------------------
 */

bool leat_graph_loader_wait(leat_graph_loader *loader, int64_t timeout_ms) {
    if (leat_ring_check_process(loader->ring, NULL) != LEAT_OK || at_end(loader)) return true;
    return leat_ring_wait(loader->ring, timeout_ms);
}

/* Past the step of this slot. */
static void step_on(leat_graph_loader *loader, const leat_graph_slot *slot) {
    const leat_graph_batch *batch = &slot->batch;
    int64_t done = (batch->batch / loader->options.host_count + 1) * loader->options.host_count;
    if (done < batch->batch_count) {
        set_place(loader, batch->epoch, done);
        return;
    }
    set_place(loader, batch->epoch + 1, 0);
    leat_graph_turns_want(loader, batch->epoch + 2);
}

leat_code leat_graph_loader_next(leat_graph_loader *loader, const leat_graph_batch **out,
                                 leat_error *err) {
    leat_slot *slot = NULL;
    *out = NULL;
    LEAT_TRY(leat_ring_check_process(loader->ring, err));
    if (at_end(loader)) return LEAT_OK;
    LEAT_TRY(leat_ring_next(loader->ring, &slot, err));
    leat_graph_slot *ours = (leat_graph_slot *)slot;
    count_batch(loader, &ours->batch);
    step_on(loader, ours);
    *out = &ours->batch;
    return LEAT_OK;
}

static leat_code check_place(const leat_graph_loader *loader, graph_place to, int64_t batch_count,
                             leat_error *err) {
    int64_t hosts = loader->options.host_count;
    if (to.batch > 0 && to.batch >= batch_count) {
        return leat_fail(err, LEAT_ERR_OPTION, "no batch %lld: epoch %lld has %lld batches",
                         (long long)to.batch, (long long)to.epoch, (long long)batch_count);
    }
    if (to.batch % hosts == 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "%lld hosts cannot resume at batch %lld: it must be a multiple of %lld",
                     (long long)hosts, (long long)to.batch, (long long)hosts);
}

/* After the last epoch there is nothing to plan, and no step to make. */
static leat_code seek_end(leat_graph_loader *loader, graph_place to, leat_error *err) {
    LEAT_TRY(check_place(loader, to, 0, err));
    leat_ring_park(loader->ring);
    atomic_store(&loader->wanted, atomic_load(&loader->planned));
    set_place(loader, to.epoch, 0);
    leat_ring_seek(loader->ring, 0, 0);
    return LEAT_OK;
}

static leat_code seek(leat_graph_loader *loader, graph_place to, leat_error *err) {
    leat_graph_epoch epoch = {0};
    int64_t epochs = loader->options.batches.epochs;
    int64_t most = epochs > 0 ? epochs : LEAT_GRAPH_EPOCHS_MAX;
    if (to.epoch < 0 || to.epoch > most || to.batch < 0 || to.batch > INT32_MAX) {
        return leat_fail(
            err, LEAT_ERR_OPTION,
            "no batch %lld of epoch %lld: epochs are 0 to %lld, and batches count from 0",
            (long long)to.batch, (long long)to.epoch, (long long)most);
    }
    if (epochs > 0 && to.epoch == epochs) return seek_end(loader, to, err);
    leat_code code = leat_graph_plan_again(loader, to.epoch, &epoch, err);
    if (code == LEAT_OK) code = check_place(loader, to, epoch.batch_count, err);
    if (code == LEAT_OK) {
        leat_ring_park(loader->ring);
        if (loader->fetcher != NULL && to.batch < epoch.batch_count) {
            leat_fetcher_seek(loader->fetcher, to.epoch, leat_graph_epoch_window(&epoch, to.batch));
        }
        int64_t end = leat_graph_turns_begin(loader, &epoch);
        set_place(loader, to.epoch, to.batch);
        leat_ring_seek(loader->ring, to.batch / loader->options.host_count, end);
        leat_graph_turns_want(loader, to.epoch + 1);
    }
    leat_graph_epoch_free(&epoch);
    return code;
}

leat_code leat_graph_loader_seek(leat_graph_loader *loader, int64_t epoch, int64_t batch,
                                 leat_error *err) {
    LEAT_TRY(leat_ring_check_process(loader->ring, err));
    return seek(loader, (graph_place){epoch, batch}, err);
}

void leat_graph_loader_place(const leat_graph_loader *loader, int64_t *epoch, int64_t *batch) {
    graph_place place = place_of(loader);
    *epoch = place.epoch;
    *batch = place.batch;
}

/* ---- facts --------------------------------------------------------------------------------------
 */

void leat_graph_loader_get_facts(const leat_graph_loader *loader, leat_graph_loader_facts *out) {
    const leat_graph_plan_facts *facts = &loader->facts;
    *out = (leat_graph_loader_facts){
        .split_graphs = loader->file->shape.graphs,
        .graphs = facts->graph_count,
        .left_out = facts->left_out,
        .oversize_count = facts->oversize_count,
        .oversize = facts->oversize,
        .most_graphs = facts->largest.graphs,
        .most_nodes = facts->largest.nodes,
        .most_edges = facts->largest.edges,
    };
}

leat_code leat_graph_loader_get_epoch(const leat_graph_loader *loader, int64_t number,
                                      leat_graph_epoch_facts *out, leat_error *err) {
    leat_graph_epoch epoch = {0};
    *out = (leat_graph_epoch_facts){0};
    LEAT_TRY(leat_ring_check_process(loader->ring, err));
    LEAT_TRY(leat_graph_loader_check_epoch(loader, number, err));
    leat_code code = leat_graph_plan_again(loader, number, &epoch, err);
    if (code == LEAT_OK) {
        *out = (leat_graph_epoch_facts){
            .batch_count = epoch.batch_count,
            .step_count = leat_graph_steps(loader, epoch.batch_count),
            .graph_count = epoch.graph_count,
            .tiers = epoch.tiers,
        };
    }
    leat_graph_epoch_free(&epoch);
    return code;
}

/* ---- state --------------------------------------------------------------------------------------
 */

static const char rules_name[] = "plan";

static const char *const unlisted[] = {"order", NULL};

static leat_state_form state_form(const leat_graph_loader *loader) {
    return (leat_state_form){
        .fingerprint = loader->fingerprint,
        .words = loader->words,
        .hash = loader->hash,
        .unlisted = unlisted,
        .seed = loader->options.batches.seed,
        .place_count = 3,
        .place_name = {"epoch", "batch", rules_name},
        .place_max = LEAT_GRAPH_EPOCHS_MAX,
        .rules_name = rules_name,
    };
}

void leat_graph_loader_state(const leat_graph_loader *loader, char text[LEAT_LOADER_STATE_BYTES]) {
    leat_state_form form = state_form(loader);
    graph_place place = place_of(loader);
    leat_state_text(&form, (int64_t[]){place.epoch, place.batch, LEAT_GRAPH_PLAN_RULES}, text);
}

leat_code leat_graph_loader_save(const leat_graph_loader *loader, const char *path, bool replace,
                                 leat_error *err) {
    leat_state_form form = state_form(loader);
    graph_place place = place_of(loader);
    int64_t numbers[] = {place.epoch, place.batch, LEAT_GRAPH_PLAN_RULES};
    return leat_state_save(&form, numbers, path, replace, err);
}

/* Other rules may have made other batches of the epoch: the rest of it would repeat some of its
 * graphs and leave out others. At batch 0 nothing of it was given yet. */
static leat_code check_rules(const leat_graph_loader *loader, const int64_t place[3],
                             leat_error *err) {
    leat_graph_epoch epoch = {0};
    int64_t epochs = loader->options.batches.epochs;
    if (place[2] > LEAT_GRAPH_PLAN_RULES)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "cannot resume: the state was saved by rules of planning %lld, but this "
                         "version of leat has rules %d; use a newer version",
                         (long long)place[2], LEAT_GRAPH_PLAN_RULES);
    if (place[2] == LEAT_GRAPH_PLAN_RULES || place[1] == 0) return LEAT_OK;
    if (epochs > 0 && place[0] >= epochs) return LEAT_OK;
    LEAT_TRY(leat_graph_plan_again(loader, place[0], &epoch, err));
    bool differs = epoch.dealt_again;
    leat_graph_epoch_free(&epoch);
    if (!differs) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "cannot resume: the state is in epoch %lld of rules of planning %lld, which "
                     "made other batches of it than rules %d; begin the epoch again by seeking to "
                     "its batch 0, or resume with the version of leat that saved the state",
                     (long long)place[0], (long long)place[2], LEAT_GRAPH_PLAN_RULES);
}

static leat_code resume(leat_graph_loader *loader, const int64_t place[3], leat_error *err) {
    LEAT_TRY(check_rules(loader, place, err));
    return seek(loader, (graph_place){place[0], place[1]}, err);
}

leat_code leat_graph_loader_restore(leat_graph_loader *loader, const char *text, leat_error *err) {
    leat_state_form form = state_form(loader);
    int64_t place[3] = {0};
    LEAT_TRY(leat_ring_check_process(loader->ring, err));
    LEAT_TRY(leat_state_parse(&form, text, (int64_t)strlen(text), place, err));
    return resume(loader, place, err);
}

leat_code leat_graph_loader_load(leat_graph_loader *loader, const char *path, leat_error *err) {
    leat_state_form form = state_form(loader);
    int64_t place[3] = {0};
    LEAT_TRY(leat_ring_check_process(loader->ring, err));
    LEAT_TRY(leat_state_load(&form, path, place, err));
    return resume(loader, place, err);
}
