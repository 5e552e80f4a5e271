/* A table of destinations with linear probing: see destinations.h. */
#include "load/probes/destinations.h"

#include <string.h>

#include "base/address.h"
#include "base/hash.h"
#include "base/mem.h"

#define SLOTS_MIN 1024

static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

void leat_destinations_free(leat_destinations *table) {
    leat_free(table->slots);
    *table = (leat_destinations){.most = table->most};
}

void leat_destinations_clear(leat_destinations *table) {
    if (table->used > 0) memset(table->slots, 0, (size_t)table->slot_count * sizeof *table->slots);
    table->used = 0;
    table->level = 0;
}

static bool is_counted(uint64_t hash, int level) {
    return level == 0 || (level < 64 && hash >> (64 - level) == 0);
}

/* Its slot, or the empty one where it belongs: by the low bits, which the sample does not look at.
 */
static leat_destination *find(const leat_destinations *table, uint64_t hash,
                              const uint8_t address[16]) {
    uint64_t mask = (uint64_t)table->slot_count - 1;
    for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
        leat_destination *slot = &table->slots[at];
        if (slot->measurements == 0 || memcmp(slot->address, address, 16) == 0) return slot;
    }
}

/* Moves the destinations of this level to a table of so many slots. */
static leat_code rebuild(leat_destinations *table, int64_t slot_count, int level, leat_error *err) {
    leat_destinations next = {.slot_count = slot_count, .most = table->most, .level = level};
    LEAT_TRY(LEAT_NEW(&next.slots, slot_count, err));
    for (int64_t i = 0; i < table->slot_count; i++) {
        const leat_destination *slot = &table->slots[i];
        if (slot->measurements == 0) continue;
        uint64_t hash = leat_xxh3(slot->address, sizeof slot->address);
        if (!is_counted(hash, level)) continue;
        *find(&next, hash, slot->address) = *slot;
        next.used++;
    }
    leat_free(table->slots);
    *table = next;
    return LEAT_OK;
}

/* Makes place for one more: a higher level if there are enough already. */
static leat_code make_place(leat_destinations *table, leat_error *err) {
    if (table->used == table->most) return rebuild(table, table->slot_count, table->level + 1, err);
    if (2 * (table->used + 1) <= table->slot_count) return LEAT_OK;
    return rebuild(table, table->slot_count == 0 ? SLOTS_MIN : 2 * table->slot_count, table->level,
                   err);
}

leat_code leat_destinations_add(leat_destinations *table, const leat_destination *one,
                                leat_error *err) {
    uint64_t hash = leat_xxh3(one->address, sizeof one->address);
    leat_destination *slot = NULL;
    while (is_counted(hash, table->level)) {
        slot = table->slot_count > 0 ? find(table, hash, one->address) : NULL;
        if (slot != NULL && slot->measurements > 0) break;
        int64_t slots = table->slot_count;
        int level = table->level;
        LEAT_TRY(make_place(table, err));
        if (slots == table->slot_count && level == table->level) break;
    }
    if (!is_counted(hash, table->level)) return LEAT_OK;
    if (slot->measurements == 0) {
        memcpy(slot->address, one->address, sizeof slot->address);
        table->used++;
    }
    slot->measurements += one->measurements;
    slot->failures += one->failures;
    return LEAT_OK;
}

leat_code leat_destinations_merge(leat_destinations *table, const leat_destinations *from,
                                  leat_error *err) {
    for (int64_t i = 0; i < from->slot_count; i++)
        if (from->slots[i].measurements > 0)
            LEAT_TRY(leat_destinations_add(table, &from->slots[i], err));
    return LEAT_OK;
}

void leat_destination_key(const leat_probe_address *address, int ip_version, uint8_t key[16]) {
    bool four = address->version == 4 || (address->version == 0 && ip_version == 4);
    memcpy(key, mapped, sizeof mapped);
    if (four) memcpy(key + sizeof mapped, address->bytes, 4);
    else memcpy(key, address->bytes, 16);
}

/* ---- What a summary says ------------------------------------------------------------------ */

leat_loss leat_loss_of(int64_t failures, int64_t count) {
    static const int percent[] = {0, 1, 5, 20, 50};
    if (failures == count) return LEAT_LOSS_ALL;
    for (int i = 0; i < LEAT_LOSS_MOST; i++)
        if ((__int128)failures * 100 <= (__int128)count * percent[i]) return (leat_loss)i;
    return LEAT_LOSS_MOST;
}

/* A larger share first, then more measurements, then by address, so that the order is unique. */
static bool is_worse(const leat_destination *a, const leat_destination *b) {
    __int128 x = (__int128)a->failures * b->measurements;
    __int128 y = (__int128)b->failures * a->measurements;
    if (x != y) return x > y;
    if (a->measurements != b->measurements) return a->measurements > b->measurements;
    return memcmp(a->address, b->address, sizeof a->address) < 0;
}

static void put_text(const uint8_t address[16], char text[LEAT_PROBE_SRC_BYTES]) {
    bool four = memcmp(address, mapped, sizeof mapped) == 0;
    int size = leat_address_format(four ? 4 : 6, four ? address + sizeof mapped : address, text);
    text[size] = 0;
}

void leat_destinations_summarise(const leat_destinations *table, leat_summary *summary) {
    leat_destination worst[LEAT_SUMMARY_TOP];
    int count = 0;
    summary->destinations = table->used;
    summary->destinations_halved = table->level;
    for (int64_t i = 0; i < table->slot_count; i++) {
        const leat_destination *slot = &table->slots[i];
        if (slot->measurements < LEAT_SUMMARY_JUDGED) continue;
        summary->destinations_by_loss[leat_loss_of(slot->failures, slot->measurements)]++;
        if (slot->failures == 0) continue;
        if (count == LEAT_SUMMARY_TOP && !is_worse(slot, &worst[count - 1])) continue;
        int at = count < LEAT_SUMMARY_TOP ? count++ : count - 1;
        for (; at > 0 && is_worse(slot, &worst[at - 1]); at--) worst[at] = worst[at - 1];
        worst[at] = *slot;
    }
    for (int i = 0; i < count; i++) {
        put_text(worst[i].address, summary->worst[i].dst);
        summary->worst[i].measurements = worst[i].measurements;
        summary->worst[i].failures = worst[i].failures;
    }
    summary->worst_count = count;
}
