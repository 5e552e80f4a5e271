/*
 * How much memory a frame store requires. Tables turn out not to fit only once they have grown too
 * large, and later steps take more of them. So when memory runs out in the scan, the remaining
 * lines are still read and counted, and the limit that is named is enough for all of it.
 *
 * Distinct identifiers are counted without storing them (HyperLogLog, standard error 1.04 /
 * sqrt(registers); the count is increased by a tenth).
 */
#include <math.h>

#include "ingest/can/store/merge.h"
#include "ingest/can/store/tables.h"

/* The census of one worker, created with the worker. */
#define BUSES 65536
/* Lines per block if no block was seen. */
#define BATCH_LINES 65536

static void add_hash(uint8_t registers[LEAT_CAN_REGISTERS], uint64_t hash) {
    uint64_t rest = hash << LEAT_CAN_REGISTER_BITS | UINT64_C(1) << (LEAT_CAN_REGISTER_BITS - 1);
    uint8_t rank = (uint8_t)(__builtin_clzll(rest) + 1);
    uint8_t *at = &registers[hash >> (64 - LEAT_CAN_REGISTER_BITS)];
    if (rank > *at) *at = rank;
}

void leat_can_census_id(leat_can_census *census, uint64_t id_hash) {
    add_hash(census->ids, leat_random_mix(id_hash));
}

void leat_can_census_met(leat_can_census *census, uint64_t id_hash, uint32_t meeting) {
    add_hash(census->met, leat_random_mix(id_hash ^ leat_random_mix((uint64_t)meeting + 1)));
}

void leat_can_census_batch(leat_can_census *census, const leat_can_batch *batch,
                           const leat_can_store *store) {
    uint8_t seen[BUSES / 8] = {0};
    for (int64_t i = 0; i < batch->count; i++) {
        const leat_can_line *line = &batch->lines[i];
        if (i > 0 && leat_can_is_new(store, line[-1].time, line->time)) {
            census->falls++;
            memset(seen, 0, sizeof seen);
        }
        uint64_t hash = leat_can_id_hash(line->id, line->bus);
        leat_can_census_id(census, hash);
        leat_can_census_met(census, hash, leat_can_meeting(batch->file_index, line->attack));
        uint8_t bit = (uint8_t)(1 << (line->bus & 7));
        if ((seen[line->bus / 8] & bit) != 0) continue;
        seen[line->bus / 8] |= bit;
        census->blocks++;
        if (line->bus >= census->buses) census->buses = line->bus + 1;
    }
}

static double estimate(const uint8_t registers[LEAT_CAN_REGISTERS]) {
    double sum = 0, m = LEAT_CAN_REGISTERS;
    int empty = 0;
    for (int i = 0; i < LEAT_CAN_REGISTERS; i++) {
        sum += ldexp(1, -registers[i]);
        empty += registers[i] == 0;
    }
    double count = 0.7213 / (1 + 1.079 / m) * m * m / sum;
    return count < 2.5 * m && empty > 0 ? m * log(m / empty) : count;
}

static int64_t at_most(const uint8_t registers[LEAT_CAN_REGISTERS], int64_t frames) {
    double count = estimate(registers) * 1.1 + 64;
    return count < (double)frames ? (int64_t)count : frames;
}

static void merge(uint8_t to[LEAT_CAN_REGISTERS], const uint8_t from[LEAT_CAN_REGISTERS]) {
    for (int i = 0; i < LEAT_CAN_REGISTERS; i++) {
        if (from[i] > to[i]) to[i] = from[i];
    }
}

void leat_can_census_add(leat_can_census *to, const leat_can_census *from) {
    merge(to->ids, from->ids);
    merge(to->met, from->met);
    to->frames += from->frames;
    to->blocks += from->blocks;
    to->falls += from->falls;
    if (from->buses > to->buses) to->buses = from->buses;
    if (from->batch_most > to->batch_most) to->batch_most = from->batch_most;
}

/* The most captures of a recording. */
static int64_t most_buses(const leat_can_store *store) {
    int64_t most = 0, buses = 0;
    for (int64_t i = 0; i < store->capture_count; i++) {
        bool same = i > 0 && store->captures[i].recording == store->captures[i - 1].recording;
        buses = same ? buses + 1 : 1;
        if (buses > most) most = buses;
    }
    return most;
}

leat_can_store_facts leat_can_store_get_facts(const leat_can_store *store) {
    leat_can_census all = store->census;
    for (int i = 0; store->workers != NULL && i < store->spill_count; i++) {
        if (store->workers[i] == NULL) continue;
        leat_can_census_add(&all, &store->workers[i]->census);
        all.blocks += store->workers[i]->block_count;
    }
    if (store->block_count > all.blocks) all.blocks = store->block_count;
    int64_t frames = all.frames;
    leat_can_store_facts facts = {
        .workers = store->spill_count,
        .frames = frames,
        .ids = store->finished ? store->id_count : at_most(all.ids, frames),
        .met = store->finished ? store->met_count : at_most(all.met, frames),
        .blocks = all.blocks,
        .batch_most = all.batch_most,
    };
    /* a store that was loaded has counted nothing */
    for (int64_t i = 0; frames == 0 && i < store->capture_count; i++) {
        facts.frames += store->captures[i].frames;
    }
    if (facts.batch_most == 0) facts.batch_most = BATCH_LINES;
    if (store->finished) {
        facts.captures = store->capture_count;
        facts.buses = most_buses(store);
        return facts;
    }
    /* a bus of a recording is a capture; only at the end do blocks show how many there are, and how
     * many falls lie between them, which are few of all falls */
    int64_t most = ((int64_t)store->file_count + 2 * all.falls) * all.buses;
    facts.captures = most < all.blocks ? most : all.blocks;
    facts.buses = all.buses < facts.captures ? all.buses : facts.captures;
    return facts;
}

/* Identifiers, or pairs with files, of all workers: each may meet every one of them. */
static int64_t uses(const leat_can_store_facts *facts, int64_t different) {
    int64_t all = different * facts->workers;
    return all < facts->frames ? all : facts->frames;
}

/* Tables double, and the old one exists next to the new one unless it is moved. */
enum { SLOTS_FACTOR = 6, GROWN_FACTOR = 2 };

/* What stays after the scan. */
static int64_t kept_bytes(const leat_can_store_facts *facts) {
    return uses(facts, facts->ids) * (int64_t)sizeof(uint32_t) +
           facts->ids * (int64_t)sizeof(leat_can_id) + facts->met * (int64_t)sizeof(uint64_t) +
           facts->blocks * (int64_t)sizeof(leat_can_block) +
           facts->captures * (int64_t)(sizeof(leat_can_capture) + sizeof(leat_can_recording));
}

/* What the order takes in addition. */
static int64_t order_bytes(const leat_can_store_facts *facts) {
    int64_t segments = leat_can_task_segments(facts->blocks) + facts->blocks;
    return 2 * segments * (int64_t)sizeof(leat_can_segment) +
           facts->blocks * (int64_t)sizeof(leat_can_task) +
           (facts->ids + uses(facts, facts->ids)) * (int64_t)sizeof(uint32_t) +
           facts->captures * (int64_t)sizeof(leat_can_stream_parts);
}

int64_t leat_can_facts_kept_bytes(const leat_can_store_facts *facts) {
    return kept_bytes(facts) + order_bytes(facts);
}

int64_t leat_can_facts_least_bytes(const leat_can_store_facts *facts, int64_t held_bytes) {
    int64_t ids = uses(facts, facts->ids), met = uses(facts, facts->met);
    int64_t line = 2 * LEAT_CAN_ROW_BYTES + (int64_t)sizeof(uint32_t);
    int64_t worker = (facts->batch_most + facts->batch_most / 8) * line +
                     BUSES * (int64_t)sizeof(uint16_t) + (int64_t)sizeof(leat_can_worker) + 65536;
    int64_t tables = ids * (GROWN_FACTOR * (int64_t)sizeof(leat_can_known) + SLOTS_FACTOR * 4) +
                     met * SLOTS_FACTOR * 8 +
                     GROWN_FACTOR * facts->blocks * (int64_t)sizeof(leat_can_block);
    int64_t scan = facts->workers * worker + tables;
    /* the tables of the workers still exist when they are joined */
    int64_t entry = 48;
    int64_t join = tables + ids * entry + met * 8 + kept_bytes(facts);
    int64_t order = leat_can_facts_kept_bytes(facts) + held_bytes +
                    leat_can_merge_least_bytes(facts->blocks, facts->buses) +
                    (int64_t)sizeof(leat_can_spill);
    int64_t least = scan > join ? scan : join;
    return least > order ? least : order;
}
