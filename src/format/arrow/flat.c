/*
 * Flatbuffers read in place: a table is an offset to a vtable of 16-bit slots, everything else is
 * forward offsets. Each access checks that what it reads lies in the buffer; the first that does
 * not sets `broken`, after which all give zeros, so that callers ask once at the end of a step.
 */
#include <string.h>

#include "format/arrow/arrow.h"

static uint16_t load16(const leat_flat *flat, int64_t at) {
    uint16_t value;
    memcpy(&value, flat->data + at, sizeof value);
    return value;
}

static uint32_t load32(const leat_flat *flat, int64_t at) {
    uint32_t value;
    memcpy(&value, flat->data + at, sizeof value);
    return value;
}

static bool inside(leat_flat *flat, int64_t at, int64_t bytes) {
    if (!flat->broken && at >= 0 && bytes <= flat->size && at <= flat->size - bytes) return true;
    flat->broken = true;
    return false;
}

static leat_flat_table table_at(leat_flat *flat, int64_t at) {
    leat_flat_table table = {0};
    if (!inside(flat, at, 4)) return table;
    int64_t vtable = at - (int32_t)load32(flat, at);
    if (!inside(flat, vtable, 4)) return table;
    int64_t vtable_bytes = load16(flat, vtable), bytes = load16(flat, vtable + 2);
    if (vtable_bytes < 4 || bytes < 4 || !inside(flat, vtable, vtable_bytes) ||
        !inside(flat, at, bytes)) {
        flat->broken = true;
        return table;
    }
    table.position = at;
    table.size = bytes;
    table.slots = vtable + 4;
    table.slot_count = (vtable_bytes - 4) / 2;
    return table;
}

/* Where a slot's value of `bytes` lies; 0 if the table does not have it. */
static int64_t slot_at(leat_flat *flat, const leat_flat_table *table, int slot, int bytes) {
    if (flat->broken || table->position == 0 || slot >= table->slot_count) return 0;
    int64_t offset = load16(flat, table->slots + 2 * slot);
    if (offset == 0) return 0;
    if (offset < 4 || offset + bytes > table->size) {
        flat->broken = true;
        return 0;
    }
    return table->position + offset;
}

leat_flat_table leat_flat_root(leat_flat *flat) {
    leat_flat_table none = {0};
    return inside(flat, 0, 4) ? table_at(flat, load32(flat, 0)) : none;
}

int64_t leat_flat_int(leat_flat *flat, const leat_flat_table *table, int slot, int bytes,
                      int64_t missing) {
    int64_t at = slot_at(flat, table, slot, bytes), wide;
    if (at == 0) return missing;
    switch (bytes) {
    case 1: return (int8_t)flat->data[at];
    case 2: return (int16_t)load16(flat, at);
    case 4: return (int32_t)load32(flat, at);
    default: memcpy(&wide, flat->data + at, sizeof wide); return wide;
    }
}

leat_flat_table leat_flat_child(leat_flat *flat, const leat_flat_table *table, int slot) {
    leat_flat_table none = {0};
    int64_t at = slot_at(flat, table, slot, 4);
    return at == 0 ? none : table_at(flat, at + load32(flat, at));
}

leat_flat_vector leat_flat_items(leat_flat *flat, const leat_flat_table *table, int slot,
                                 int item_bytes) {
    leat_flat_vector items = {0};
    int64_t at = slot_at(flat, table, slot, 4);
    if (at == 0) return items;
    at += load32(flat, at);
    if (!inside(flat, at, 4)) return items;
    int64_t count = load32(flat, at);
    if (!inside(flat, at + 4, count * item_bytes)) return items;
    items.position = at + 4;
    items.count = count;
    return items;
}

leat_flat_table leat_flat_item(leat_flat *flat, const leat_flat_vector *items, int64_t index) {
    leat_flat_table none = {0};
    if (flat->broken || index < 0 || index >= items->count) {
        flat->broken = true;
        return none;
    }
    int64_t at = items->position + 4 * index;
    return table_at(flat, at + load32(flat, at));
}
