/*
 * Slots: the memory of batches, handed out with an owner count and taken back when the last owner
 * lets go.
 *
 * One thread, the loader's caller, takes slots; any thread may return one, by turning HELD into
 * FREE, even after the loader is gone: then it finds ORPHAN instead, and frees the slot. A slot in
 * use is never moved, filled again or freed, so what an owner sees does not change.
 */
#include <string.h>

#include "base/sink.h"
#include "load/loader.h"

/* Arrays begin on pages of their own: that suits any vector width, and registering for transfer. */
static int64_t whole_pages(int64_t size_bytes) {
    return (size_bytes + LEAT_PAGE_BYTES - 1) / LEAT_PAGE_BYTES * LEAT_PAGE_BYTES;
}

/* Bytes of one of the six arrays, and of what stands behind them. */
static bool part_bytes(int64_t row_count, int64_t length, int64_t *array, int64_t *tail) {
    int64_t values = 0;
    *array = *tail = 0;
    if (!leat_mul_size(row_count, length, &values) || values > (INT64_C(1) << 40)) return false;
    *array = whole_pages(values * (int64_t)sizeof(int32_t));
    *tail = whole_pages(row_count * (int64_t)(sizeof(int64_t) + sizeof(leat_made)));
    return true;
}

bool leat_slot_bytes(int64_t row_count, int64_t length, int64_t *size_bytes) {
    int64_t array = 0, tail = 0;
    *size_bytes = 0;
    if (!part_bytes(row_count, length, &array, &tail)) return false;
    *size_bytes = 6 * array + tail;
    return true;
}

static void free_slot(leat_slot *slot) {
    leat_block_free(slot->block, slot->block_bytes);
    leat_free(slot);
}

static leat_code make_slot(const leat_slots *slots, leat_slot **out, leat_error *err) {
    leat_slot *slot = NULL;
    int64_t array = 0, tail = 0;
    *out = NULL;
    LEAT_ASSERT(part_bytes(slots->row_count, slots->length, &array, &tail));
    LEAT_TRY(LEAT_NEW(&slot, 1, err));
    slot->block_bytes = 6 * array + tail;
    leat_code code = leat_block_alloc((void **)&slot->block, slot->block_bytes, err);
    if (code != LEAT_OK) {
        leat_free(slot);
        return code;
    }
    const int32_t **arrays[6] = {
        &slot->batch.inputs,
        &slot->batch.targets,
        &slot->batch.inputs_position,
        &slot->batch.targets_position,
        &slot->batch.inputs_segmentation,
        &slot->batch.targets_segmentation,
    };
    for (int i = 0; i < 6; i++) *arrays[i] = (const int32_t *)(void *)(slot->block + i * array);
    int64_t *rows = (int64_t *)(void *)(slot->block + 6 * array);
    memcpy(rows, slots->rows, (size_t)slots->row_count * sizeof(*rows));
    slot->batch.rows = rows;
    slot->made = (leat_made *)(void *)(rows + slots->row_count);
    slot->batch.row_count = slots->row_count;
    slot->batch.length = slots->length;
    *out = slot;
    return LEAT_OK;
}

leat_code leat_slots_take(leat_slots *slots, int64_t spare, leat_slot **out, leat_error *err) {
    *out = NULL;
    for (int64_t i = 0; i < slots->count; i++) {
        leat_slot *slot = slots->items[i];
        if (atomic_load_explicit(&slot->state, memory_order_acquire) != LEAT_SLOT_FREE) continue;
        if (*out == NULL) {
            *out = slot;
        } else if (spare > 0) {
            spare--;
        } else {
            free_slot(slot);
            slots->items[i--] = slots->items[--slots->count];
        }
    }
    if (*out == NULL) {
        LEAT_TRY(LEAT_GROW(&slots->items, &slots->capacity, slots->count + 1, err));
        LEAT_TRY(make_slot(slots, out, err));
        slots->items[slots->count++] = *out;
    }
    atomic_store_explicit(&(*out)->state, LEAT_SLOT_RING, memory_order_relaxed);
    return LEAT_OK;
}

void leat_slot_begin(leat_slot *slot, int64_t step) {
    slot->batch.step = step;
    slot->err.code = LEAT_OK;
    slot->failed_row = -1;
    atomic_store_explicit(&slot->is_ready, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->rows_left, slot->batch.row_count, memory_order_relaxed);
}

void leat_slots_close(leat_slots *slots) {
    for (int64_t i = 0; i < slots->count; i++) {
        leat_slot *slot = slots->items[i];
        int held = LEAT_SLOT_HELD;
        if (!atomic_compare_exchange_strong(&slot->state, &held, LEAT_SLOT_ORPHAN)) free_slot(slot);
    }
    leat_free(slots->items);
    *slots = (leat_slots){0};
}

leat_arrays leat_slot_arrays(const leat_slot *slot, int64_t index) {
    /* the batch is read-only to its owners; its makers are not owners yet */
    int64_t at = index * slot->batch.length;
    return (leat_arrays){
        .inputs = (int32_t *)(uintptr_t)slot->batch.inputs + at,
        .targets = (int32_t *)(uintptr_t)slot->batch.targets + at,
        .inputs_position = (int32_t *)(uintptr_t)slot->batch.inputs_position + at,
        .targets_position = (int32_t *)(uintptr_t)slot->batch.targets_position + at,
        .inputs_segmentation = (int32_t *)(uintptr_t)slot->batch.inputs_segmentation + at,
        .targets_segmentation = (int32_t *)(uintptr_t)slot->batch.targets_segmentation + at,
    };
}

/* ---- owners -------------------------------------------------------------------------------------
 */

static leat_slot *slot_of(const leat_batch *batch) { return (leat_slot *)(uintptr_t)batch; }

void leat_batch_retain(const leat_batch *batch) {
    if (batch == NULL) return;
    int64_t before = atomic_fetch_add_explicit(&slot_of(batch)->owners, 1, memory_order_relaxed);
    LEAT_ASSERT(before > 0);
}

void leat_batch_release(const leat_batch *batch) {
    if (batch == NULL) return;
    leat_slot *slot = slot_of(batch);
    int64_t before = atomic_fetch_sub_explicit(&slot->owners, 1, memory_order_acq_rel);
    LEAT_ASSERT(before > 0);
    if (before > 1) return;
    int held = LEAT_SLOT_HELD;
    if (!atomic_compare_exchange_strong(&slot->state, &held, LEAT_SLOT_FREE)) free_slot(slot);
}
