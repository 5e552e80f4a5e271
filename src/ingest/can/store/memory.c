/*
 * The memory of a frame store: all tables and buffers are counted before they are allocated, by any
 * thread, so that exceeding the limit is an error with a number in it and never a larger process.
 */
#include "ingest/can/store/tables.h"

leat_code leat_can_room_fail(leat_can_store *store, int64_t need_bytes, leat_error *err) {
    atomic_store(&store->is_short, true);
    return leat_fail(
        err, LEAT_ERR_LIMIT,
        "frames between scan and windows may take %lld KiB of memory but require at least %lld KiB",
        (long long)(store->memory_bytes >> 10), (long long)((need_bytes + 1023) >> 10));
}

bool leat_can_store_is_short(const leat_can_store *store) { return atomic_load(&store->is_short); }

leat_code leat_can_room_take(leat_can_store *store, int64_t size_bytes, leat_error *err) {
    LEAT_ASSERT(size_bytes >= 0);
    int64_t used = atomic_fetch_add(&store->memory_used, size_bytes) + size_bytes;
    if (used <= store->memory_bytes) return LEAT_OK;
    leat_can_room_give(store, size_bytes);
    return leat_can_room_fail(store, used, err);
}

leat_code leat_can_store_hold(leat_can_store *store, int64_t size_bytes, leat_error *err) {
    return leat_can_room_take(store, size_bytes, err);
}

void leat_can_room_give(leat_can_store *store, int64_t size_bytes) {
    int64_t used = atomic_fetch_sub(&store->memory_used, size_bytes);
    LEAT_ASSERT(size_bytes >= 0 && size_bytes <= used); /* nothing is released that was not taken */
}

leat_code leat_can_room_alloc(leat_can_store *store, void **out, int64_t count, int64_t item_bytes,
                              leat_error *err) {
    *out = NULL;
    LEAT_TRY(leat_can_room_take(store, count * item_bytes, err));
    leat_code code = leat_alloc(out, count, item_bytes, err);
    if (code != LEAT_OK) leat_can_room_give(store, count * item_bytes);
    return code;
}

void leat_can_room_free(leat_can_store *store, void *items, int64_t count, int64_t item_bytes) {
    if (items == NULL) return;
    leat_free(items);
    leat_can_room_give(store, count * item_bytes);
}

leat_code leat_can_room_grow(leat_can_store *store, void **items, int64_t *capacity, int64_t need,
                             int64_t item_bytes, leat_error *err) {
    if (need <= *capacity) return LEAT_OK;
    int64_t wanted = *capacity * 2 > need ? *capacity * 2 : need;
    if (wanted < 16) wanted = 16; /* as leat_grow does: it takes what was counted */
    int64_t more = (wanted - *capacity) * item_bytes;
    LEAT_TRY(leat_can_room_take(store, more, err));
    leat_code code = leat_grow(items, capacity, wanted, item_bytes, err);
    if (code != LEAT_OK) leat_can_room_give(store, more);
    return code;
}

/* ---- sorting in place ------------------------------------------------------------------------ */

typedef struct heap {
    uint8_t *items;
    int64_t item_bytes;
    int (*compare)(const void *, const void *);
} heap;

/* Sifts item `at` of the first `count` down to its place. */
static void sink_item(const heap *self, int64_t at, int64_t count) {
    uint8_t moved[LEAT_CAN_SORT_BYTES_MAX];
    size_t item_bytes = (size_t)self->item_bytes;
    memcpy(moved, self->items + at * self->item_bytes, item_bytes);
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        const uint8_t *larger = self->items + child * self->item_bytes;
        if (child + 1 < count && self->compare(larger + item_bytes, larger) > 0) {
            larger += item_bytes;
            child++;
        }
        if (self->compare(larger, moved) <= 0) break;
        memcpy(self->items + at * self->item_bytes, larger, item_bytes);
        at = child;
    }
    memcpy(self->items + at * self->item_bytes, moved, item_bytes);
}

void leat_can_sort(void *items, int64_t count, int64_t item_bytes,
                   int (*compare)(const void *, const void *)) {
    LEAT_ASSERT(item_bytes <= LEAT_CAN_SORT_BYTES_MAX);
    heap self = {.items = items, .item_bytes = item_bytes, .compare = compare};
    for (int64_t i = count / 2 - 1; i >= 0; i--) sink_item(&self, i, count);
    for (int64_t i = count - 1; i > 0; i--) {
        uint8_t largest[LEAT_CAN_SORT_BYTES_MAX], *last = self.items + i * item_bytes;
        memcpy(largest, self.items, (size_t)item_bytes);
        memcpy(self.items, last, (size_t)item_bytes);
        memcpy(last, largest, (size_t)item_bytes);
        sink_item(&self, 0, i);
    }
}
