/*
 * Identifiers of the frame store. A worker numbers them in order of appearance, in its own table;
 * after the scan the tables are merged into one list by bus and text, which does not depend on the
 * scheduling of workers, and rows keep their worker's number, translated when they are read.
 */
#include "ingest/can/store/tables.h"

#define SLOTS_MIN 256

/* ---- one worker ------------------------------------------------------------------------------ */

static leat_code grow_slots(leat_can_store *store, leat_can_intern *intern, leat_error *err) {
    int64_t count = intern->slot_count == 0 ? SLOTS_MIN : intern->slot_count * 2;
    uint64_t mask = (uint64_t)count - 1;
    uint32_t *slots = NULL;
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &slots, count, err));
    for (int64_t i = 0; i < intern->count; i++) {
        const leat_can_known *known = &intern->known[i];
        uint64_t at = leat_can_id_hash(known->text, known->bus) & mask;
        while (slots[at] != 0) at = (at + 1) & mask;
        slots[at] = (uint32_t)i + 1;
    }
    LEAT_CAN_ROOM_FREE(store, intern->slots, intern->slot_count);
    intern->slots = slots;
    intern->slot_count = count;
    return LEAT_OK;
}

/* A row has so many bits for the number of its identifier. */
static leat_code fail_many(leat_error *err) {
    return leat_fail(err, LEAT_ERR_LIMIT, "more than %lld different identifiers",
                     (long long)LEAT_CAN_IDS_MAX);
}

leat_code leat_can_intern_add(leat_can_store *store, leat_can_worker *worker,
                              const leat_can_line *line, uint16_t lane, uint32_t *number,
                              leat_error *err) {
    leat_can_intern *intern = &worker->intern;
    uint64_t hash = leat_can_id_hash(line->id, line->bus);
    *number = LEAT_CAN_UNKNOWN;
    if (intern->count == LEAT_CAN_IDS_MAX) {
        return fail_many(err);
    }
    if (intern->count * 2 >= intern->slot_count) LEAT_TRY(grow_slots(store, intern, err));
    LEAT_TRY(LEAT_CAN_ROOM_GROW(store, &intern->known, &intern->capacity, intern->count + 1, err));
    leat_can_known *known = &intern->known[intern->count];
    *known = (leat_can_known){.bus = line->bus, .lane = lane, .last_file = {-1, -1}};
    leat_can_census_id(&worker->census, hash);
    memcpy(known->text, line->id, LEAT_CAN_ID_BYTES);
    uint64_t mask = (uint64_t)intern->slot_count - 1;
    uint64_t at = hash & mask;
    while (intern->slots[at] != 0) at = (at + 1) & mask;
    intern->slots[at] = (uint32_t)++intern->count;
    *number = (uint32_t)(intern->count - 1);
    return LEAT_OK;
}

/* Adds a key to a set with free slots; false if it was already there. */
static bool put_met(uint64_t *met, int64_t slots, uint64_t key) {
    uint64_t mask = (uint64_t)slots - 1;
    uint64_t at = leat_random_mix(key) & mask;
    while (met[at] != 0) {
        if (met[at] == key) return false;
        at = (at + 1) & mask;
    }
    met[at] = key;
    return true;
}

static leat_code grow_met(leat_can_store *store, leat_can_intern *intern, leat_error *err) {
    int64_t slots = intern->met_slots == 0 ? SLOTS_MIN : intern->met_slots * 2;
    uint64_t *met = NULL;
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &met, slots, err));
    for (int64_t i = 0; i < intern->met_slots; i++) {
        if (intern->met[i] != 0) (void)put_met(met, slots, intern->met[i]);
    }
    LEAT_CAN_ROOM_FREE(store, intern->met, intern->met_slots);
    intern->met = met;
    intern->met_slots = slots;
    return LEAT_OK;
}

leat_code leat_can_intern_meet(leat_can_store *store, leat_can_worker *worker, uint32_t number,
                               int32_t file_index, bool attack, leat_error *err) {
    leat_can_intern *intern = &worker->intern;
    if (intern->met_count * 2 >= intern->met_slots) LEAT_TRY(grow_met(store, intern, err));
    uint32_t meeting = leat_can_meeting(file_index, attack);
    uint64_t key = ((uint64_t)number << 32 | meeting) + 1;
    if (put_met(intern->met, intern->met_slots, key)) intern->met_count++;
    leat_can_known *known = &intern->known[number];
    leat_can_census_met(&worker->census, leat_can_id_hash(known->text, known->bus), meeting);
    known->last_file[attack] = file_index;
    return LEAT_OK;
}

void leat_can_intern_free(leat_can_store *store, leat_can_intern *intern) {
    LEAT_CAN_ROOM_FREE(store, intern->known, intern->capacity);
    LEAT_CAN_ROOM_FREE(store, intern->slots, intern->slot_count);
    LEAT_CAN_ROOM_FREE(store, intern->met, intern->met_slots);
    *intern = (leat_can_intern){0};
}

/* ---- all workers ----------------------------------------------------------------------------- */

/* An entry of a worker, for the list of all workers. */
typedef struct entry {
    char text[LEAT_CAN_ID_BYTES];
    int64_t frames;
    uint32_t number;
    uint16_t bus, worker;
} entry;

static int compare_ids(const void *a, const void *b) {
    const entry *one = a, *other = b;
    if (one->bus != other->bus) return one->bus < other->bus ? -1 : 1;
    return memcmp(one->text, other->text, LEAT_CAN_ID_BYTES);
}

static bool same_id(const entry *a, const entry *b) { return compare_ids(a, b) == 0; }

/* Fills ids and the spills' numbers from the sorted entries of all workers. */
static leat_code number_ids(leat_can_store *store, const entry *entries, int64_t count,
                            leat_error *err) {
    int64_t different = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i == 0 || !same_id(&entries[i - 1], &entries[i])) different++;
    }
    if (different > LEAT_CAN_IDS_MAX) return fail_many(err);
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &store->ids, different, err));
    for (int64_t i = 0; i < count; i++) {
        const entry *item = &entries[i];
        if (i == 0 || !same_id(&entries[i - 1], item)) {
            leat_can_id *id = &store->ids[store->id_count++];
            id->bus = item->bus;
            memcpy(id->text, item->text, LEAT_CAN_ID_BYTES);
        }
        store->ids[store->id_count - 1].frames += item->frames;
        store->spills[item->worker].id[item->number] = (uint32_t)(store->id_count - 1);
    }
    return LEAT_OK;
}

static leat_code merge_ids(leat_can_store *store, leat_error *err) {
    int64_t count = 0, at = 0;
    for (int w = 0; w < store->spill_count; w++) {
        leat_can_spill *spill = &store->spills[w];
        spill->id_count = store->workers[w]->intern.count;
        LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &spill->id, spill->id_count, err));
        count += spill->id_count;
    }
    entry *entries = NULL;
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &entries, count, err));
    for (int w = 0; w < store->spill_count; w++) {
        const leat_can_intern *intern = &store->workers[w]->intern;
        for (int64_t i = 0; i < intern->count; i++) {
            const leat_can_known *known = &intern->known[i];
            entry *item = &entries[at++];
            *item = (entry){.frames = known->frames,
                            .number = (uint32_t)i,
                            .bus = known->bus,
                            .worker = (uint16_t)w};
            memcpy(item->text, known->text, LEAT_CAN_ID_BYTES);
        }
    }
    leat_can_sort(entries, count, (int64_t)sizeof *entries, compare_ids);
    leat_code code = number_ids(store, entries, count, err);
    LEAT_CAN_ROOM_FREE(store, entries, count);
    return code;
}

static int compare_keys(const void *a, const void *b) {
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

static leat_code merge_met(leat_can_store *store, leat_error *err) {
    int64_t count = 0, at = 0;
    for (int w = 0; w < store->spill_count; w++) count += store->workers[w]->intern.met_count;
    uint64_t *all = NULL;
    LEAT_TRY(LEAT_CAN_ROOM_NEW(store, &all, count, err));
    for (int w = 0; w < store->spill_count; w++) {
        const leat_can_intern *intern = &store->workers[w]->intern;
        for (int64_t i = 0; i < intern->met_slots; i++) {
            uint64_t key = intern->met[i] - 1;
            if (intern->met[i] == 0) continue;
            all[at++] = (uint64_t)store->spills[w].id[key >> 32] << 32 | (uint32_t)key;
        }
    }
    leat_can_sort(all, count, (int64_t)sizeof *all, compare_keys);
    int64_t different = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i == 0 || all[i] != all[i - 1]) different++;
    }
    leat_code code = LEAT_CAN_ROOM_NEW(store, &store->met, different, err);
    for (int64_t i = 0; i < count && code == LEAT_OK; i++) {
        if (i == 0 || all[i] != all[i - 1]) store->met[store->met_count++] = all[i];
    }
    LEAT_CAN_ROOM_FREE(store, all, count);
    return code;
}

leat_code leat_can_store_make_ids(leat_can_store *store, leat_error *err) {
    LEAT_TRY(merge_ids(store, err));
    return merge_met(store, err);
}

int64_t leat_can_store_ids(const leat_can_store *store, const leat_can_id **ids) {
    *ids = store->ids;
    return store->id_count;
}

static bool has_met(const leat_can_store *store, int64_t id, uint32_t meeting) {
    uint64_t key = (uint64_t)id << 32 | meeting;
    int64_t low = 0, high = store->met_count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (store->met[middle] < key) low = middle + 1;
        else high = middle;
    }
    return low < store->met_count && store->met[low] == key;
}

bool leat_can_store_met(const leat_can_store *store, int64_t id, int32_t file_index) {
    return has_met(store, id, leat_can_meeting(file_index, false)) ||
           has_met(store, id, leat_can_meeting(file_index, true));
}

bool leat_can_store_met_beside_attacks(const leat_can_store *store, int64_t id,
                                       int32_t file_index) {
    return has_met(store, id, leat_can_meeting(file_index, false));
}
