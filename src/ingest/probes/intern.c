/* The table of source addresses: see intern.h. */
#include "ingest/probes/intern.h"

#include <string.h>

#include "base/hash.h"

#define SLOTS_MIN 4096

void leat_intern_create(leat_intern *table, int64_t limit_bytes) {
    *table = (leat_intern){.slot_limit = SLOTS_MIN};
    while (table->slot_limit * 2 * (int64_t)sizeof(leat_intern_slot) <= limit_bytes) {
        table->slot_limit *= 2;
    }
}

void leat_intern_destroy(leat_intern *table) {
    leat_block_free(table->slots, table->slot_count * (int64_t)sizeof *table->slots);
    *table = (leat_intern){0};
}

uint64_t leat_intern_hash(const char *text, int32_t size_bytes) {
    return leat_xxh3(text, size_bytes);
}

static leat_code resize(leat_intern *table, int64_t slot_count, leat_error *err) {
    leat_intern next = *table;
    next.slots = NULL;
    next.slot_count = slot_count;
    LEAT_TRY(leat_block_alloc((void **)&next.slots, slot_count * (int64_t)sizeof *next.slots, err));
    for (int64_t i = 0; i < table->slot_count; i++) {
        const leat_intern_slot *slot = &table->slots[i];
        if (slot->size == 0) continue;
        uint64_t hash = leat_intern_hash(slot->text, slot->size);
        *leat_intern_find(&next, hash, slot->text, slot->size) = *slot;
    }
    leat_block_free(table->slots, table->slot_count * (int64_t)sizeof *table->slots);
    *table = next;
    return LEAT_OK;
}

leat_code leat_intern_make_room(leat_intern *table, int64_t more, leat_error *err) {
    while ((table->used + more) * 4 > table->slot_count * 3) {
        if (table->slot_count < table->slot_limit) {
            int64_t slot_count = table->slot_count == 0 ? SLOTS_MIN : table->slot_count * 2;
            LEAT_TRY(resize(table, slot_count, err));
            continue;
        }
        if (table->used == 0) break; /* a batch larger than the table: prevented by SLOTS_MIN */
        memset(table->slots, 0, (size_t)table->slot_count * sizeof *table->slots);
        table->used = 0;
        table->generations++;
    }
    return LEAT_OK;
}
