/*
 * The loader's interface: create, next batch, seek.
 */
#include "load/probes/loader.h"

#include <string.h>

#include "load/state.h"

/* ---- counters -----------------------------------------------------------------------------------
 */

/* One thread writes, any may read. */
static void count_more(leat_loader *loader, leat_count what, int64_t more) {
    _Atomic int64_t *count = &loader->counts[what];
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

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
        if (sums[i] != 0) count_more(loader, (leat_count)i, sums[i]);
    }
}

void leat_loader_get_counters(const leat_loader *loader, leat_loader_counters *out) {
    int64_t counts[LEAT_COUNTS];
    for (int i = 0; i < LEAT_COUNTS; i++) {
        counts[i] = atomic_load_explicit(&loader->counts[i], memory_order_relaxed);
    }
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
        .stall_ns = leat_ring_stall_ns(loader->ring),
        .work_ns = leat_ring_work_ns(loader->ring),
        .memory_bytes = loader->memory_bytes,
        .prefetch = loader->prefetch,
    };
}

/* ---- create and destroy ------------------------------------------------------------------------
 */

static leat_code fill(leat_loader *loader, const leat_loader_options *options, leat_error *err) {
    leat_plan *plan = loader->plan;
    LEAT_TRY(leat_plan_budget(plan, &loader->prefetch, &loader->memory_bytes, err));
    loader->payload_before = leat_dataset_payload_bytes(plan->dataset);
    leat_ring_work work = leat_token_work(plan);
    return leat_ring_create(&loader->ring, &work, loader->prefetch, leat_plan_end(plan),
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
    leat_code code = leat_plan_create(&loader->plan, dataset, options, err);
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
    if (loader->ring != NULL && leat_ring_check_process(loader->ring, NULL) != LEAT_OK) return;
    leat_ring_destroy(loader->ring);
    leat_plan_destroy(loader->plan);
    leat_quarantine_destroy(&loader->quarantine);
    leat_free(loader);
}

/* ---- batches ------------------------------------------------------------------------------------
 */

static bool at_end(const leat_loader *loader) {
    return leat_ring_step(loader->ring) >= leat_plan_end(loader->plan);
}

bool leat_loader_wait(leat_loader *loader, int64_t timeout_ms) {
    if (leat_ring_check_process(loader->ring, NULL) != LEAT_OK || at_end(loader)) return true;
    return leat_ring_wait(loader->ring, timeout_ms);
}

leat_code leat_loader_next(leat_loader *loader, const leat_batch **out, leat_error *err) {
    leat_slot *slot = NULL;
    *out = NULL;
    LEAT_TRY(leat_ring_check_process(loader->ring, err));
    if (at_end(loader)) return LEAT_OK;
    LEAT_TRY(leat_ring_next(loader->ring, &slot, err));
    leat_token_slot *ours = (leat_token_slot *)slot;
    ours->batch.step = slot->step;
    count_batch(loader, ours);
    *out = &ours->batch;
    return LEAT_OK;
}

leat_code leat_loader_seek(leat_loader *loader, int64_t step, leat_error *err) {
    LEAT_TRY(leat_ring_check_process(loader->ring, err));
    int64_t end = leat_plan_end(loader->plan);
    if (step < 0 || step > end) {
        return leat_fail(err, LEAT_ERR_OPTION, "no step %lld: steps are 0 to %lld", (long long)step,
                         (long long)end);
    }
    leat_ring_park(loader->ring);
    leat_ring_seek(loader->ring, step, end);
    return LEAT_OK;
}

leat_code leat_loader_quarantine(const leat_loader *loader, leat_quarantined **items,
                                 int64_t *count, leat_error *err) {
    leat_loader *ours = (leat_loader *)(uintptr_t)loader; /* for its lock */
    *items = NULL;
    *count = 0;
    LEAT_TRY(leat_ring_check_process(loader->ring, err));
    return leat_quarantine_copy(&ours->quarantine, items, count, err);
}

int64_t leat_loader_step(const leat_loader *loader) { return leat_ring_step(loader->ring); }

int64_t leat_loader_step_count(const leat_loader *loader) { return loader->plan->step_count; }

int64_t leat_loader_epoch_sequences(const leat_loader *loader) {
    return loader->plan->epoch_sequences;
}

/* ---- state --------------------------------------------------------------------------------------
 */

static leat_state_form state_form(const leat_loader *loader) {
    const leat_plan *plan = loader->plan;
    return (leat_state_form){
        .fingerprint = plan->fingerprint,
        .words = plan->words,
        .hash = plan->hash,
        .seed = plan->sample.seed,
        .place_count = 1,
        .place_name = {"step"},
        .place_max = LEAT_STEPS_MAX,
    };
}

void leat_loader_state(const leat_loader *loader, char text[LEAT_LOADER_STATE_BYTES]) {
    leat_state_form form = state_form(loader);
    int64_t step = leat_loader_step(loader);
    leat_state_text(&form, &step, text);
}

leat_code leat_loader_save(const leat_loader *loader, const char *path, leat_error *err) {
    leat_state_form form = state_form(loader);
    int64_t step = leat_loader_step(loader);
    return leat_state_save(&form, &step, path, err);
}

leat_code leat_loader_restore(leat_loader *loader, const char *text, leat_error *err) {
    leat_state_form form = state_form(loader);
    int64_t step = 0;
    LEAT_TRY(leat_ring_check_process(loader->ring, err));
    LEAT_TRY(leat_state_parse(&form, text, (int64_t)strlen(text), &step, err));
    return leat_loader_seek(loader, step, err);
}

leat_code leat_loader_load(leat_loader *loader, const char *path, leat_error *err) {
    leat_state_form form = state_form(loader);
    int64_t step = 0;
    LEAT_TRY(leat_ring_check_process(loader->ring, err));
    LEAT_TRY(leat_state_load(&form, path, &step, err));
    return leat_loader_seek(loader, step, err);
}
