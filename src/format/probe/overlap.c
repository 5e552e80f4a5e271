/* What two splits share: see overlap.h. */
#include "format/probe/overlap.h"

#include <math.h>

#include "base/mem.h"

/* Marks of a pair: it is in train; the count is that of its measurements in test. */
#define IN_TRAIN (UINT64_C(1) << 63)
/* Marks of a host, by what it is in which split. */
#define TRAIN_SOURCE (UINT64_C(1) << 63)
#define TRAIN_TARGET (UINT64_C(1) << 62)
#define TEST_SOURCE (UINT64_C(1) << 61)
#define TEST_TARGET (UINT64_C(1) << 60)
#define COUNT_OF ((UINT64_C(1) << 60) - 1)

enum { SLOTS_LEAST = 1024, MEMORY_PER_PAIR = 8192, MOST_MAX = 1 << 18 };

void leat_overlap_create(leat_overlap *overlap, int64_t most) {
    *overlap = (leat_overlap){.pairs.most = most, .hosts.most = most};
    pthread_mutex_init(&overlap->lock, NULL);
}

void leat_overlap_destroy(leat_overlap *overlap) {
    leat_free(overlap->pairs.slots);
    leat_free(overlap->hosts.slots);
    pthread_mutex_destroy(&overlap->lock);
}

int64_t leat_overlap_most(int64_t memory_bytes) {
    int64_t most = SLOTS_LEAST / 2;
    while (most < MOST_MAX && most * 2 <= memory_bytes / MEMORY_PER_PAIR) most *= 2;
    return most;
}

/* Two tables of twice as many slots, and another one while one of them is built anew. */
int64_t leat_overlap_bytes(int64_t most) {
    return 3 * 2 * most * (int64_t)sizeof(leat_overlap_entry);
}

/* ---- tables ---- */

static uint64_t merge(uint64_t a, uint64_t b) {
    return ((a | b) & ~COUNT_OF) | (((a & COUNT_OF) + (b & COUNT_OF)) & COUNT_OF);
}

static inline bool is_in(uint64_t hash, int halved) {
    return halved == 0 || hash >> (64 - halved) == 0;
}

static bool is_kept(const leat_overlap_table *table, uint64_t hash) {
    return is_in(hash, table->halved);
}

/* The slot of a hash, which is empty or has it. The highest bits decide whether it is kept. */
static leat_overlap_entry *find(leat_overlap_entry *slots, int64_t slot_count, uint64_t hash) {
    uint64_t mask = (uint64_t)slot_count - 1, at = hash >> 1 & mask;
    while (slots[at].hash != 0 && slots[at].hash != hash) at = (at + 1) & mask;
    return &slots[at];
}

static leat_code rebuild(leat_overlap_table *table, int64_t slot_count, leat_error *err) {
    leat_overlap_entry *slots = NULL;
    LEAT_TRY(LEAT_NEW(&slots, slot_count, err));
    table->used = 0;
    for (int64_t i = 0; i < table->slot_count; i++) {
        const leat_overlap_entry *entry = &table->slots[i];
        if (entry->hash == 0 || !is_kept(table, entry->hash)) continue;
        *find(slots, slot_count, entry->hash) = *entry;
        table->used++;
    }
    leat_free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    return LEAT_OK;
}

static leat_code enter(leat_overlap_table *table, const leat_overlap_entry *entry,
                       leat_error *err) {
    if (!is_kept(table, entry->hash)) return LEAT_OK;
    if (table->slots == NULL) LEAT_TRY(rebuild(table, SLOTS_LEAST, err));
    leat_overlap_entry *slot = find(table->slots, table->slot_count, entry->hash);
    if (slot->hash == 0) {
        while (table->used == table->most) {
            table->halved++;
            LEAT_TRY(rebuild(table, table->slot_count, err));
        }
        if (!is_kept(table, entry->hash)) return LEAT_OK;
        if (table->used * 2 >= table->slot_count)
            LEAT_TRY(rebuild(table, table->slot_count * 2, err));
        slot = find(table->slots, table->slot_count, entry->hash);
        slot->hash = entry->hash;
        table->used++;
    }
    slot->value = merge(slot->value, entry->value);
    return LEAT_OK;
}

/* ---- workers ---- */

static leat_code hand_over(leat_overlap_worker *worker, leat_error *err) {
    leat_overlap *all = worker->all;
    leat_code code = LEAT_OK;
    pthread_mutex_lock(&all->lock);
    for (int i = 0; i < worker->pair_count && code == LEAT_OK; i++)
        code = enter(&all->pairs, &worker->pairs[i], err);
    for (int i = 0; i < worker->host_count && code == LEAT_OK; i++)
        code = enter(&all->hosts, &worker->hosts[i], err);
    worker->pairs_halved = all->pairs.halved;
    worker->hosts_halved = all->hosts.halved;
    pthread_mutex_unlock(&all->lock);
    worker->pair_count = worker->host_count = 0;
    return code;
}

/* The same for both directions. */
static uint64_t hash_of(uint64_t a, uint64_t b) {
    uint64_t low = a < b ? a : b, high = a < b ? b : a;
    uint64_t hash = (low ^ (high << 31 | high >> 33)) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    hash = (hash ^ hash >> 29) + low + high;
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return hash | 1;
}

/* `mark` is one of the four, the highest bits. */
static leat_code add_host(leat_overlap_worker *worker, uint64_t host, uint64_t mark,
                          leat_error *err) {
    const uint64_t known = host << 4 | mark >> 60;
    uint64_t *recent = &worker->recent[(host >> 1 ^ mark >> 60) & (LEAT_OVERLAP_RECENT - 1)];
    if (*recent == known || !is_in(host, worker->hosts_halved)) return LEAT_OK;
    *recent = known;
    if (worker->host_count == LEAT_OVERLAP_WAITING) LEAT_TRY(hand_over(worker, err));
    worker->hosts[worker->host_count++] = (leat_overlap_entry){host, mark};
    return LEAT_OK;
}

leat_code leat_overlap_add(leat_overlap_worker *worker, leat_split split, uint64_t source,
                           uint64_t target, leat_error *err) {
    const bool test = split == LEAT_SPLIT_TEST;
    const uint64_t hash = hash_of(source, target), value = test ? 1 : IN_TRAIN;
    leat_overlap_entry *near = &worker->near[hash >> 1 & (LEAT_OVERLAP_NEAR - 1)];
    if (near->hash == hash) {
        near->value = merge(near->value, value);
    } else if (is_in(hash, worker->pairs_halved)) {
        if (worker->pair_count == LEAT_OVERLAP_WAITING) LEAT_TRY(hand_over(worker, err));
        if (near->hash != 0) worker->pairs[worker->pair_count++] = *near;
        *near = (leat_overlap_entry){hash, value};
    }
    LEAT_TRY(add_host(worker, source, test ? TEST_SOURCE : TRAIN_SOURCE, err));
    return add_host(worker, target, test ? TEST_TARGET : TRAIN_TARGET, err);
}

leat_code leat_overlap_flush(leat_overlap_worker *worker, leat_error *err) {
    for (int i = 0; i < LEAT_OVERLAP_NEAR; i++) {
        if (worker->near[i].hash == 0) continue;
        if (worker->pair_count == LEAT_OVERLAP_WAITING) LEAT_TRY(hand_over(worker, err));
        worker->pairs[worker->pair_count++] = worker->near[i];
        worker->near[i] = (leat_overlap_entry){0};
    }
    return hand_over(worker, err);
}

void leat_overlap_count(const leat_overlap *overlap, leat_split_overlap *out) {
    *out = (leat_split_overlap){.known = true,
                                .pairs_halved = overlap->pairs.halved,
                                .hosts_halved = overlap->hosts.halved};
    for (int64_t i = 0; i < overlap->pairs.slot_count; i++) {
        const uint64_t value = overlap->pairs.slots[i].value;
        out->measurements += (int64_t)(value & COUNT_OF);
        if ((value & IN_TRAIN) != 0) out->mirrored += (int64_t)(value & COUNT_OF);
    }
    for (int64_t i = 0; i < overlap->hosts.slot_count; i++) {
        const uint64_t value = overlap->hosts.slots[i].value;
        const bool source = (value & TEST_SOURCE) != 0, target = (value & TEST_TARGET) != 0;
        out->sources += source;
        out->sources_shared += source && (value & (TRAIN_SOURCE | TRAIN_TARGET)) != 0;
        out->destinations += target;
        out->destinations_shared += target && (value & TRAIN_TARGET) != 0;
    }
}

/* ---- documents ---- */

/* The names of the counts, and of the share of pairs or hosts that they are of. */
typedef struct member {
    const char *name;
    size_t at;
} member;
#define COUNT(name)                                                                                \
    { #name, offsetof(leat_split_overlap, name) }
static const member counts[] = {COUNT(measurements), COUNT(mirrored),
                                COUNT(sources),      COUNT(sources_shared),
                                COUNT(destinations), COUNT(destinations_shared)};
enum { COUNTS = sizeof counts / sizeof *counts, HALVED_MAX = 60 };

void leat_overlap_put(leat_json *json, const leat_split_overlap *overlap) {
    leat_json_key(json, "overlap");
    if (!overlap->known) {
        leat_json_null(json);
        return;
    }
    leat_json_begin_object(json);
    for (int i = 0; i < COUNTS; i++)
        leat_json_member_int(
            json, counts[i].name,
            *(const int64_t *)(const void *)((const char *)overlap + counts[i].at));
    leat_json_member_double(json, "pairs_sample", ldexp(1, -overlap->pairs_halved));
    leat_json_member_double(json, "hosts_sample", ldexp(1, -overlap->hosts_halved));
    leat_json_end_object(json);
}

/* The share of a sample, 2^-n; -1 if it is something else. */
static int halved_of(const json_t *value) {
    const double share = json_number_value(value);
    for (int halved = 0; halved <= HALVED_MAX; halved++)
        if (share == ldexp(1, -halved)) return halved;
    return -1;
}

void leat_overlap_get(const json_t *root, leat_split_overlap *out) {
    const json_t *object = json_object_get(root, "overlap");
    leat_split_overlap found = {.known = json_is_object(object)};
    *out = (leat_split_overlap){0};
    for (int i = 0; i < COUNTS && found.known; i++) {
        const json_t *value = json_object_get(object, counts[i].name);
        found.known = json_is_integer(value) && json_integer_value(value) >= 0;
        *(int64_t *)(void *)((char *)&found + counts[i].at) = json_integer_value(value);
    }
    found.pairs_halved = halved_of(json_object_get(object, "pairs_sample"));
    found.hosts_halved = halved_of(json_object_get(object, "hosts_sample"));
    if (found.known && found.pairs_halved >= 0 && found.hosts_halved >= 0) *out = found;
}
