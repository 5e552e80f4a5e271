/* A batch of rows of tokens: the layout of its arrays, and how the ring makes its rows. */
#include <string.h>

#include "load/probes/loader.h"

/* Bytes of one of the six arrays, and of the data after them. */
static bool part_bytes(int64_t row_count, int64_t length, int64_t *array, int64_t *tail) {
    int64_t values = 0;
    *array = *tail = 0;
    if (!leat_mul_size(row_count, length, &values) || values > (INT64_C(1) << 40)) return false;
    *array = leat_slot_array_bytes(values * (int64_t)sizeof(int32_t));
    *tail = leat_slot_array_bytes(row_count * (int64_t)(sizeof(int64_t) + sizeof(leat_made)));
    return true;
}

bool leat_token_slot_bytes(int64_t row_count, int64_t length, int64_t *size_bytes) {
    int64_t array = 0, tail = 0;
    *size_bytes = 0;
    if (!part_bytes(row_count, length, &array, &tail)) return false;
    *size_bytes = 6 * array + tail;
    return true;
}

static void lay_out(const void *context, leat_slot *slot) {
    const leat_loader_plan *plan = context;
    leat_token_slot *ours = (leat_token_slot *)slot;
    leat_batch *batch = &ours->batch;
    int64_t array = 0, tail = 0;
    bool fits = part_bytes(plan->row_count, plan->sample.length, &array, &tail);
    LEAT_ASSERT(fits);
    const int32_t **arrays[6] = {
        &batch->inputs,
        &batch->targets,
        &batch->inputs_position,
        &batch->targets_position,
        &batch->inputs_segmentation,
        &batch->targets_segmentation,
    };
    for (int i = 0; i < 6; i++) *arrays[i] = (const int32_t *)(void *)(slot->block + i * array);
    int64_t *rows = (int64_t *)(void *)(slot->block + 6 * array);
    memcpy(rows, plan->rows, (size_t)plan->row_count * sizeof(*rows));
    batch->rows = rows;
    batch->row_count = plan->row_count;
    batch->length = plan->sample.length;
    ours->made = (leat_made *)(void *)(rows + plan->row_count);
}

/* The six arrays at one row: the batch is read-only to its owners; its makers are not owners yet.
 */
static leat_arrays arrays_at(const leat_batch *batch, int64_t index) {
    int64_t at = index * batch->length;
    return (leat_arrays){
        .inputs = (int32_t *)(uintptr_t)batch->inputs + at,
        .targets = (int32_t *)(uintptr_t)batch->targets + at,
        .inputs_position = (int32_t *)(uintptr_t)batch->inputs_position + at,
        .targets_position = (int32_t *)(uintptr_t)batch->targets_position + at,
        .inputs_segmentation = (int32_t *)(uintptr_t)batch->inputs_segmentation + at,
        .targets_segmentation = (int32_t *)(uintptr_t)batch->targets_segmentation + at,
    };
}

static leat_code make(leat_maker *maker, leat_token_slot *slot, int64_t part, leat_error *err) {
    leat_arrays arrays = arrays_at(&slot->batch, part);
    return leat_maker_make(maker, slot->slot.step, slot->batch.rows[part], &arrays,
                           &slot->made[part], err);
}

static leat_code make_row(void *maker, leat_slot *slot, int64_t part, leat_error *err) {
    leat_token_slot *ours = (leat_token_slot *)slot;
    const leat_loader_plan *plan = leat_maker_plan(maker);
    leat_taken taken;
    if (plan->ahead == NULL ||
        leat_loader_plan_is_past_end(plan, slot->step, ours->batch.rows[part]))
        return make(maker, ours, part, err);
    LEAT_TRY(leat_readahead_take(plan->ahead, part, slot->step, &taken, err));
    leat_maker_take(maker, &taken);
    leat_code code = make(maker, ours, part, err);
    leat_maker_take(maker, NULL);
    leat_readahead_return(plan->ahead, part, &taken);
    return code;
}

static leat_code maker_create(const void *plan, void **maker, leat_error *err) {
    return leat_maker_create((leat_maker **)maker, plan, err);
}

static void maker_destroy(void *maker) { leat_maker_destroy(maker); }

leat_ring_work leat_token_work(const leat_loader_plan *plan) {
    leat_ring_work work = {
        .plan = plan,
        .parts = plan->row_count,
        .slot_bytes = (int64_t)sizeof(leat_token_slot),
        .lay_out = lay_out,
        .maker_create = maker_create,
        .maker_destroy = maker_destroy,
        .make = make_row,
    };
    bool fits = leat_token_slot_bytes(plan->row_count, plan->sample.length, &work.block_bytes);
    LEAT_ASSERT(fits);
    return work;
}

/* ---- owners -------------------------------------------------------------------------------------
 */

static leat_slot *slot_of(const leat_batch *batch) {
    uintptr_t at = (uintptr_t)batch - offsetof(leat_token_slot, batch);
    return (leat_slot *)at;
}

void leat_batch_retain(const leat_batch *batch) {
    if (batch != NULL) leat_slot_retain(slot_of(batch));
}

void leat_batch_release(const leat_batch *batch) {
    if (batch != NULL) leat_slot_release(slot_of(batch));
}
