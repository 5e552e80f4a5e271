/*
 * The memory behind decoded measurements: arrays that only grow, and the table of address texts.
 *
 * A row has one source and a few dozen destinations, so each text is parsed and stored once and a
 * measurement holds two indices. The hash table probes a bounded number of slots; after them a text
 * is simply stored again, so texts chosen to collide cost memory but no time.
 */
#include <string.h>

#include "base/hash.h"
#include "format/probe/read.h"

#define PROBES_MAX 16
#define SLOTS_MIN 256

leat_code leat_probe_room_get(leat_measurements *out, leat_error *err) {
    return out->room ? LEAT_OK : LEAT_NEW(&out->room, 1, err);
}

void leat_measurements_free(leat_measurements *measurements) {
    if (!measurements) return;
    leat_probe_room *room = measurements->room;
    leat_free(measurements->time_us);
    leat_free(measurements->src);
    leat_free(measurements->dst);
    leat_free(measurements->ip_version);
    leat_free(measurements->rtt);
    leat_free(measurements->addresses);
    if (room) {
        leat_free(room->slots);
        leat_free(room->entries[0]);
        leat_free(room->entries[1]);
        leat_free(room->view_spans);
        leat_buf_free(&room->record);
        leat_buf_free(&room->heap.metadata);
        leat_buf_free(&room->heap.decoded);
        for (int i = 0; i < 3; i++) leat_buf_free(&room->parts[i]);
        leat_buf_free(&room->views);
        leat_free(room);
    }
    memset(measurements, 0, sizeof *measurements);
}

leat_code leat_probe_room_grow(leat_measurements *out, int64_t count, leat_error *err) {
    leat_probe_room *room = out->room;
    LEAT_TRY(LEAT_GROW(&out->time_us, &room->time_capacity, count, err));
    LEAT_TRY(LEAT_GROW(&out->src, &room->src_capacity, count, err));
    LEAT_TRY(LEAT_GROW(&out->dst, &room->dst_capacity, count, err));
    LEAT_TRY(LEAT_GROW(&out->ip_version, &room->version_capacity, count, err));
    return LEAT_GROW(&out->rtt, &room->rtt_capacity, count, err);
}

/* Empties the table: a large one, left from a row of many addresses, only where it was used. */
static void clear_slots(leat_measurements *out) {
    leat_probe_room *room = out->room;
    if (out->address_count >= room->slot_count / 64) {
        if (room->slots) memset(room->slots, 0, (size_t)room->slot_count * sizeof *room->slots);
        return;
    }
    for (int64_t i = 0; i < out->address_count; i++) {
        const leat_probe_address *address = &out->addresses[i];
        int64_t mask = room->slot_count - 1;
        int64_t slot = (int64_t)leat_xxh3(address->text, address->text_bytes) & mask;
        for (int j = 0; j < PROBES_MAX; j++) room->slots[(slot + j) & mask] = 0;
    }
}

void leat_probe_room_clear(leat_measurements *out) {
    leat_probe_room *room = out->room;
    clear_slots(out);
    out->count = out->address_count = 0;
    room->entry_count[0] = room->entry_count[1] = 0;
    room->has_dictionary[0] = room->has_dictionary[1] = false;
}

/* A free slot for the text, or the one that has it; -1 if the slots looked at have other texts. */
static int64_t find_slot(const leat_measurements *out, const char *text, int64_t size_bytes) {
    const leat_probe_room *room = out->room;
    int64_t mask = room->slot_count - 1, slot = (int64_t)leat_xxh3(text, size_bytes) & mask;
    for (int i = 0; i < PROBES_MAX; i++, slot = (slot + 1) & mask) {
        if (room->slots[slot] == 0) return slot;
        const leat_probe_address *have = &out->addresses[room->slots[slot] - 1];
        if (have->text_bytes == size_bytes && memcmp(have->text, text, (size_t)size_bytes) == 0)
            return slot;
    }
    return -1;
}

static leat_code grow_slots(leat_measurements *out, leat_error *err) {
    leat_probe_room *room = out->room;
    int64_t count = room->slot_count ? 4 * room->slot_count : SLOTS_MIN;
    int32_t *slots;
    LEAT_TRY(LEAT_NEW(&slots, count, err));
    leat_free(room->slots);
    room->slots = slots;
    room->slot_count = count;
    for (int64_t i = 0; i < out->address_count; i++) {
        const leat_probe_address *address = &out->addresses[i];
        int64_t slot = find_slot(out, address->text, address->text_bytes);
        if (slot >= 0) slots[slot] = (int32_t)(i + 1);
    }
    return LEAT_OK;
}

leat_code leat_probe_intern(leat_measurements *out, const char *text, int64_t size_bytes,
                            int32_t *index, leat_error *err) {
    leat_probe_room *room = out->room;
    *index = -1;
    if (size_bytes >= (int64_t)sizeof out->addresses[0].text) return LEAT_OK;
    if (out->address_count >= room->slot_count / 2) LEAT_TRY(grow_slots(out, err));
    int64_t slot = find_slot(out, text, size_bytes);
    if (slot >= 0 && room->slots[slot] != 0) {
        *index = room->slots[slot] - 1;
        return LEAT_OK;
    }
    if (out->address_count == INT32_MAX)
        return leat_fail(err, LEAT_ERR_LIMIT, "more than %d addresses in one table", INT32_MAX);
    LEAT_TRY(LEAT_GROW(&out->addresses, &room->address_capacity, out->address_count + 1, err));
    if (!leat_probe_address_read(&out->addresses[out->address_count], text, size_bytes))
        return LEAT_OK;
    *index = (int32_t)out->address_count++;
    if (slot >= 0) room->slots[slot] = *index + 1;
    return LEAT_OK;
}

void leat_measurements_get(const leat_measurements *measurements, int64_t index,
                           leat_measurement *out) {
    const leat_probe_address *src = &measurements->addresses[measurements->src[index]];
    const leat_probe_address *dst = &measurements->addresses[measurements->dst[index]];
    out->time_us = measurements->time_us[index];
    out->rtt = measurements->rtt[index];
    out->ip_version = measurements->ip_version[index];
    out->src = src->text;
    out->src_size = src->text_bytes;
    out->dst = dst->text;
    out->dst_size = dst->text_bytes;
    memcpy(out->src_bytes, src->bytes, sizeof out->src_bytes);
    memcpy(out->dst_bytes, dst->bytes, sizeof out->dst_bytes);
}
