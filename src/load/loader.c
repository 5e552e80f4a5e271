/*
 * The loader as its caller sees it: made, asked for the next batch, moved to another step.
 */
#include "load/loader.h"

#include <string.h>
#include <unistd.h>

/* ---- counters -----------------------------------------------------------------------------------
 */

/* One thread writes, any may read. */
void leat_loader_count(leat_loader *loader, leat_count what, int64_t more) {
    _Atomic int64_t *count = &loader->counts[what];
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

static void count_batch(leat_loader *loader, const leat_slot *slot) {
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
        if (sums[i] != 0) leat_loader_count(loader, (leat_count)i, sums[i]);
    }
}

void leat_loader_get_counters(const leat_loader *loader, leat_loader_counters *out) {
    int64_t counts[LEAT_COUNTS];
    int64_t since_ns = atomic_load_explicit(&loader->waiting_since_ns, memory_order_relaxed);
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
        .stall_ns = counts[LEAT_COUNT_STALL_NS],
        .memory_bytes = loader->memory_bytes,
        .prefetch = loader->prefetch,
    };
    if (since_ns != 0) out->stall_ns += leat_clock_ns() - since_ns;
    for (int i = 0; i < loader->worker_count; i++) {
        out->work_ns += atomic_load_explicit(&loader->workers[i].work_ns, memory_order_relaxed);
    }
}

/* ---- the ring -----------------------------------------------------------------------------------
 */

static leat_slot **place_of(leat_loader *loader, int64_t step) {
    return &loader->ring[step % loader->ring_size];
}

static int64_t no_further(const leat_loader *loader, int64_t limit) {
    int64_t count = loader->plan->step_count;
    return count >= 0 && limit > count ? count : limit;
}

/* Nobody may be at work. */
static void begin_at(leat_loader *loader, int64_t step) {
    for (int64_t i = 0; i < loader->ring_size; i++) {
        leat_slot_begin(*place_of(loader, step + i), step + i);
    }
    atomic_store(&loader->step, step);
    atomic_store(&loader->first_step, step);
    atomic_store(&loader->ticket, 0);
    atomic_store(&loader->limit, no_further(loader, step + loader->prefetch));
}

/* Steps below `limit` may be worked on from now. */
static void allow(leat_loader *loader, int64_t limit) {
    limit = no_further(loader, limit);
    if (limit <= atomic_load(&loader->limit)) return;
    atomic_store(&loader->limit, limit);
    leat_loader_announce_work(loader);
}

/* ---- made and destroyed ------------------------------------------------------------------------
 */

static leat_code fill(leat_loader *loader, const leat_loader_options *options, leat_error *err) {
    leat_plan *plan = loader->plan;
    loader->slots.row_count = plan->row_count;
    loader->slots.length = plan->sample.length;
    loader->slots.rows = plan->rows;
    LEAT_TRY(leat_plan_budget(plan, &loader->prefetch, &loader->memory_bytes, err));
    loader->ring_size = loader->prefetch > 0 ? loader->prefetch : 1;
    LEAT_TRY(LEAT_NEW(&loader->ring, loader->ring_size, err));
    for (int64_t i = 0; i < loader->ring_size; i++) {
        LEAT_TRY(leat_slots_take(&loader->slots, 0, &loader->ring[i], err));
    }
    loader->payload_before = leat_dataset_payload_bytes(plan->dataset);
    begin_at(loader, 0);
    return leat_loader_start(loader, options->threads, err);
}

leat_code leat_loader_create(leat_loader **out, const leat_dataset *dataset,
                             const leat_loader_options *options, leat_error *err) {
    leat_loader *loader = NULL;
    leat_loader_options defaults = leat_loader_options_default();
    *out = NULL;
    if (options == NULL) options = &defaults;
    LEAT_TRY(LEAT_NEW(&loader, 1, err));
    loader->process = getpid();
    pthread_mutex_init(&loader->lock, NULL);
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
    /* a forked child has no workers, and what they were doing may be half done */
    if (loader->process != getpid()) return;
    leat_loader_stop(loader);
    leat_slots_close(&loader->slots);
    leat_free(loader->ring);
    leat_plan_destroy(loader->plan);
    leat_quarantine_destroy(&loader->quarantine);
    pthread_mutex_destroy(&loader->lock);
    leat_free(loader);
}

leat_code leat_loader_check_process(const leat_loader *loader, leat_error *err) {
    if (loader->process == getpid()) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_OPTION,
                     "the loader was made before fork, by process %lld: its threads are there; "
                     "open data set and loader in the child",
                     (long long)loader->process);
}

/* ---- batches ------------------------------------------------------------------------------------
 */

static bool at_end(const leat_loader *loader) {
    int64_t count = loader->plan->step_count;
    return count >= 0 && atomic_load_explicit(&loader->step, memory_order_relaxed) >= count;
}

bool leat_loader_wait(leat_loader *loader, int64_t timeout_ms) {
    if (loader->process != getpid() || at_end(loader)) return true;
    int64_t step = atomic_load_explicit(&loader->step, memory_order_relaxed);
    allow(loader, step + 1);
    int64_t most_ms = INT64_MAX / 1000000;
    int64_t timeout_ns = timeout_ms < 0 || timeout_ms > most_ms ? -1 : timeout_ms * 1000000;
    return leat_slot_wait(loader, *place_of(loader, step), timeout_ns);
}

leat_code leat_loader_next(leat_loader *loader, const leat_batch **out, leat_error *err) {
    leat_slot *fresh = NULL;
    *out = NULL;
    LEAT_TRY(leat_loader_check_process(loader, err));
    if (at_end(loader)) return LEAT_OK;
    int64_t step = atomic_load_explicit(&loader->step, memory_order_relaxed);
    leat_slot **place = place_of(loader, step);
    leat_slot *slot = *place;
    allow(loader, step + 1); /* without prefetch it begins now */
    LEAT_ASSERT(leat_slot_wait(loader, slot, -1));
    if (slot->failed_row >= 0) return leat_error_copy(err, &slot->err);
    LEAT_TRY(leat_slots_take(&loader->slots, loader->ring_size + 1, &fresh, err));
    count_batch(loader, slot);
    leat_slot_begin(fresh, step + loader->ring_size);
    *place = fresh;
    atomic_store(&loader->step, step + 1);
    allow(loader, step + 1 + loader->prefetch);
    atomic_store_explicit(&slot->owners, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->state, LEAT_SLOT_HELD, memory_order_release);
    *out = &slot->batch;
    return LEAT_OK;
}

leat_code leat_loader_seek(leat_loader *loader, int64_t step, leat_error *err) {
    LEAT_TRY(leat_loader_check_process(loader, err));
    int64_t most = loader->plan->step_count;
    if (most < 0) most = LEAT_STEPS_MAX;
    if (step < 0 || step > most) {
        return leat_fail(err, LEAT_ERR_OPTION, "no step %lld: it must be 0 to %lld",
                         (long long)step, (long long)most);
    }
    leat_loader_park(loader);
    begin_at(loader, step);
    leat_loader_unpark(loader);
    return LEAT_OK;
}

leat_code leat_loader_quarantine(const leat_loader *loader, leat_quarantined **items,
                                 int64_t *count, leat_error *err) {
    leat_loader *ours = (leat_loader *)(uintptr_t)loader; /* for its lock */
    *items = NULL;
    *count = 0;
    LEAT_TRY(leat_loader_check_process(loader, err));
    return leat_quarantine_copy(&ours->quarantine, items, count, err);
}

int64_t leat_loader_step(const leat_loader *loader) { return atomic_load(&loader->step); }

int64_t leat_loader_step_count(const leat_loader *loader) { return loader->plan->step_count; }

int64_t leat_loader_epoch_sequences(const leat_loader *loader) {
    return loader->plan->epoch_sequences;
}
