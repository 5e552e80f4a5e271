/*
 * Slots: the memory of batches, returned with an owner count and reused after the last owner has
 * released it.
 *
 * One thread, the ring's caller, takes slots; any thread may release one, by turning HELD into
 * FREE, even after the ring is destroyed: then it finds ORPHAN instead, and frees the slot. A slot
 * in use is never moved, filled again or freed, so its contents do not change for an owner.
 */
#include "base/sink.h"
#include "load/ring.h"

int64_t leat_slot_array_bytes(int64_t size_bytes) {
    return (size_bytes + LEAT_PAGE_BYTES - 1) / LEAT_PAGE_BYTES * LEAT_PAGE_BYTES;
}

static void free_slot(leat_slot *slot) {
    leat_block_free(slot->block, slot->block_bytes);
    leat_free(slot);
}

static leat_code make_slot(const leat_ring_work *work, leat_slot **out, leat_error *err) {
    leat_slot *slot = NULL;
    *out = NULL;
    LEAT_TRY(leat_alloc((void **)&slot, 1, work->slot_bytes, err));
    slot->block_bytes = work->block_bytes;
    leat_code code = leat_block_alloc((void **)&slot->block, slot->block_bytes, err);
    if (code != LEAT_OK) {
        leat_free(slot);
        return code;
    }
    work->lay_out(work->plan, slot);
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
        LEAT_TRY(make_slot(slots->work, out, err));
        slots->items[slots->count++] = *out;
    }
    LEAT_ASSERT(atomic_load_explicit(&(*out)->owners, memory_order_relaxed) == 0);
    atomic_store_explicit(&(*out)->state, LEAT_SLOT_RING, memory_order_relaxed);
    return LEAT_OK;
}

void leat_slots_close(leat_slots *slots) {
    for (int64_t i = 0; i < slots->count; i++) {
        leat_slot *slot = slots->items[i];
        int state = LEAT_SLOT_HELD;
        if (atomic_compare_exchange_strong(&slot->state, &state, LEAT_SLOT_ORPHAN)) continue;
        LEAT_ASSERT(state == LEAT_SLOT_FREE || state == LEAT_SLOT_RING);
        free_slot(slot);
    }
    leat_free(slots->items);
    *slots = (leat_slots){0};
}

/* ---- owners -------------------------------------------------------------------------------------
 */

void leat_slot_retain(leat_slot *slot) {
    int64_t before = atomic_fetch_add_explicit(&slot->owners, 1, memory_order_relaxed);
    LEAT_ASSERT(before > 0);
}

void leat_slot_release(leat_slot *slot) {
    int64_t before = atomic_fetch_sub_explicit(&slot->owners, 1, memory_order_acq_rel);
    LEAT_ASSERT(before > 0);
    if (before > 1) return;
    int state = LEAT_SLOT_HELD;
    if (atomic_compare_exchange_strong(&slot->state, &state, LEAT_SLOT_FREE)) return;
    LEAT_ASSERT(state == LEAT_SLOT_ORPHAN);
    free_slot(slot);
}
