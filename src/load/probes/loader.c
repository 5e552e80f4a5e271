/*
 * The loader's interface: create, next batch, seek.
 */
#include "load/probes/loader.h"

#include "load/counts.h"

/* ---- counters -----------------------------------------------------------------------------------
 */

static void count_batch(leat_loader *loader, const leat_token_slot *slot) {
    int64_t sums[LEAT_COUNTS] = {[LEAT_COUNT_BATCHES] = 1};
    for (int64_t i = 0; i < slot->batch.row_count; i++) {
        const leat_made *made = &slot->made[i];
        sums[LEAT_COUNT_SEQUENCES] += !made->is_past_end;
        sums[LEAT_COUNT_MASKED] += made->is_masked;
        sums[LEAT_COUNT_TOKENS] += made->tokens;
        if (!made->is_past_end) sums[LEAT_COUNT_PADDING] += slot->batch.length - made->tokens;
        sums[LEAT_COUNT_SEGMENTS] += made->segments;
        sums[LEAT_COUNT_MEASUREMENTS] += made->measurements;
        sums[LEAT_COUNT_DROPPED] += made->dropped;
    }
    for (int i = 0; i < LEAT_COUNTS; i++) {
        if (sums[i] != 0) leat_count_more(&loader->counts[i], sums[i]);
    }
}

void leat_loader_get_counters(const leat_loader *loader, leat_loader_counters *out) {
    int64_t counts[LEAT_COUNTS];
    leat_counts_read(loader->counts, LEAT_COUNTS, counts);
    *out = (leat_loader_counters){
        .batches = counts[LEAT_COUNT_BATCHES],
        .sequences = counts[LEAT_COUNT_SEQUENCES],
        .masked = counts[LEAT_COUNT_MASKED],
        .tokens = counts[LEAT_COUNT_TOKENS],
        .padding = counts[LEAT_COUNT_PADDING],
        .segments = counts[LEAT_COUNT_SEGMENTS],
        .measurements = counts[LEAT_COUNT_MEASUREMENTS],
        .dropped = counts[LEAT_COUNT_DROPPED],
        .payload_bytes = leat_dataset_payload_bytes(loader->plan->dataset) - loader->payload_before,
        .stall_ns = leat_ring_stall_ns(loader->steps.ring),
        .work_ns = leat_ring_work_ns(loader->steps.ring),
        .memory_bytes = loader->memory_bytes,
        .prefetch = loader->prefetch,
        .read_wait_ns = loader->ahead == NULL ? 0 : leat_readahead_wait_ns(loader->ahead),
        .window_bytes = loader->ahead == NULL ? 0 : leat_loader_plan_window_bytes(loader->plan),
    };
}

/* The orders that have no windowed form, and third-party rows, which are read one by one in any
 * order, cannot be helped. */
bool leat_loader_exceeds_memory(const leat_loader *loader, int64_t *data_bytes,
                                int64_t *memory_bytes) {
    const leat_loader_plan *plan = loader->plan;
    *data_bytes = plan->dataset->facts.file_bytes;
    *memory_bytes = -1;
    return plan->blocks == NULL && plan->dataset->index != NULL && !plan->options.by_client &&
           plan->sample.sampler != LEAT_SAMPLER_ALL &&
           leat_data_exceeds_memory(*data_bytes, memory_bytes);
}

/* ---- create and destroy ------------------------------------------------------------------------
 */

static void on_seek(void *ahead, int64_t step) { leat_readahead_seek(ahead, step); }

static const char *const unlisted[] = {"order", "by", "addresses", NULL};

static leat_code fill(leat_loader *loader, const leat_loader_options *options, leat_error *err) {
    leat_loader_plan *plan = loader->plan;
    LEAT_TRY(leat_loader_plan_budget(plan, &loader->prefetch, &loader->memory_bytes, err));
    loader->payload_before = leat_dataset_payload_bytes(plan->dataset);
    loader->steps.end = leat_loader_plan_end(plan);
    loader->steps.form =
        leat_stepped_form(plan->fingerprint, plan->words, plan->hash, unlisted, plan->sample.seed);
    leat_ring_work work = leat_token_work(plan);
    if (plan->blocks != NULL) {
        LEAT_TRY(leat_readahead_create(&loader->ahead, plan, err));
        plan->ahead = loader->ahead;
        loader->steps.on_seek = on_seek;
        loader->steps.on_seek_context = loader->ahead;
    }
    return leat_ring_create(&loader->steps.ring, &work, loader->prefetch, loader->steps.end,
                            options->threads, err);
}

leat_code leat_loader_create(leat_loader **out, const leat_dataset *dataset,
                             const leat_loader_options *options, leat_error *err) {
    leat_loader *loader = NULL;
    leat_loader_options defaults = leat_loader_options_default();
    *out = NULL;
    if (options == NULL) options = &defaults;
    LEAT_TRY(LEAT_NEW(&loader, 1, err));
    leat_quarantine_init(&loader->quarantine);
    leat_code code = leat_loader_plan_create(&loader->plan, dataset, options, err);
    if (code == LEAT_OK) loader->plan->quarantine = &loader->quarantine;
    if (code == LEAT_OK) code = fill(loader, options, err);
    if (code != LEAT_OK) {
        leat_loader_destroy(loader);
        return code;
    }
    *out = loader;
    return LEAT_OK;
}

void leat_loader_destroy(leat_loader *loader) {
    if (loader == NULL) return;
    if (loader->steps.ring != NULL && leat_ring_check_process(loader->steps.ring, NULL) != LEAT_OK)
        return;
    leat_ring_destroy(loader->steps.ring);
    leat_readahead_destroy(loader->ahead);
    leat_loader_plan_destroy(loader->plan);
    leat_quarantine_destroy(&loader->quarantine);
    leat_free(loader);
}

/* ---- batches ------------------------------------------------------------------------------------
 */

bool leat_loader_wait(leat_loader *loader, int64_t timeout_ms) {
    return leat_stepped_wait(&loader->steps, timeout_ms);
}

leat_code leat_loader_next(leat_loader *loader, const leat_batch **out, leat_error *err) {
    leat_slot *slot = NULL;
    *out = NULL;
    LEAT_TRY(leat_stepped_next(&loader->steps, &slot, err));
    if (slot == NULL) return LEAT_OK;
    leat_token_slot *ours = (leat_token_slot *)slot;
    ours->batch.step = slot->step;
    count_batch(loader, ours);
    *out = &ours->batch;
    return LEAT_OK;
}

leat_code leat_loader_seek(leat_loader *loader, int64_t step, leat_error *err) {
    return leat_stepped_seek(&loader->steps, step, err);
}

leat_code leat_loader_quarantine(const leat_loader *loader, leat_quarantined **items,
                                 int64_t *count, leat_error *err) {
    leat_loader *ours = (leat_loader *)(uintptr_t)loader; /* for its lock */
    *items = NULL;
    *count = 0;
    LEAT_TRY(leat_ring_check_process(loader->steps.ring, err));
    return leat_quarantine_copy(&ours->quarantine, items, count, err);
}

int64_t leat_loader_step(const leat_loader *loader) { return leat_ring_step(loader->steps.ring); }

int64_t leat_loader_step_count(const leat_loader *loader) { return loader->plan->step_count; }

int64_t leat_loader_epoch_sequences(const leat_loader *loader) {
    return loader->plan->epoch_sequences;
}

/* ---- state --------------------------------------------------------------------------------------
 */

void leat_loader_state(const leat_loader *loader, char text[LEAT_LOADER_STATE_BYTES]) {
    leat_stepped_state(&loader->steps, text);
}

leat_code leat_loader_save(const leat_loader *loader, const char *path, bool replace,
                           leat_error *err) {
    return leat_stepped_save(&loader->steps, path, replace, err);
}

leat_code leat_loader_restore(leat_loader *loader, const char *text, leat_error *err) {
    return leat_stepped_restore(&loader->steps, text, err);
}

leat_code leat_loader_load(leat_loader *loader, const char *path, leat_error *err) {
    return leat_stepped_load(&loader->steps, path, err);
}
