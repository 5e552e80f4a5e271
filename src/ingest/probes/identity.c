/* Numbers and addresses of RIPE Atlas probes: see identity.h. Numbers, and then addresses, go into
 * a table; if it is too small, the logs are read once per share of them. */
#include "ingest/probes/identity.h"

#include <string.h>

#include "base/rng.h"
#include "ingest/probes/intern.h"
#include "ingest/probes/spill.h"

/* ---- the pairs ---- */

enum { SLOTS_LEAST = 1024, MEMORY_PER_PAIR = 512 };

int64_t leat_identity_most(int64_t memory_bytes) {
    int64_t most = memory_bytes / MEMORY_PER_PAIR;
    if (most > LEAT_IDENTITY_PAIRS_MAX) return LEAT_IDENTITY_PAIRS_MAX;
    return most < SLOTS_LEAST ? SLOTS_LEAST : most;
}

/* 2^-n of all probes have at least the level n. */
enum { LEVEL_BITS = 6, LEVEL_MAX = (1 << LEVEL_BITS) - 2, LEVEL_SHIFT = 64 - LEVEL_BITS };

static int level_of(uint32_t probe) {
    uint64_t bits = leat_random(0, 1, probe & LEAT_PROBE_NUMBER_MAX);
    return __builtin_ctzll(bits | UINT64_C(1) << LEVEL_MAX);
}

/* The slot of a hash, which is empty or has it. */
static uint64_t *find_slot(uint64_t *slots, int64_t slot_count, uint64_t hash) {
    uint64_t mask = (uint64_t)slot_count - 1, at = hash & mask;
    while (slots[at] != 0 && slots[at] != hash) at = (at + 1) & mask;
    return &slots[at];
}

/* Moves what is in the sample into a table of this size. */
static leat_code rebuild(leat_identity_set *set, int64_t slot_count, leat_error *err) {
    uint64_t *slots = NULL;
    LEAT_TRY(LEAT_NEW(&slots, slot_count, err));
    set->used = 0;
    for (int64_t i = 0; i < set->slot_count; i++) {
        uint64_t hash = set->slots[i];
        if (hash == 0 || (int)(hash >> LEVEL_SHIFT) < set->level) continue;
        *find_slot(slots, slot_count, hash) = hash;
        set->used++;
    }
    leat_free(set->slots);
    set->slots = slots;
    set->slot_count = slot_count;
    return LEAT_OK;
}

static leat_code enter_hash(leat_identity_set *set, uint64_t hash, bool *fresh, leat_error *err) {
    const int level = (int)(hash >> LEVEL_SHIFT);
    if (level < set->level) return LEAT_OK;
    if (set->used * 2 >= set->slot_count) {
        int64_t slot_count = set->slot_count == 0 ? SLOTS_LEAST : set->slot_count * 2;
        LEAT_TRY(rebuild(set, slot_count, err));
    }
    if (*find_slot(set->slots, set->slot_count, hash) == hash) return LEAT_OK;
    while (set->used == set->most) {
        set->level++;
        LEAT_TRY(rebuild(set, set->slot_count, err));
    }
    if (level < set->level) return LEAT_OK;
    *find_slot(set->slots, set->slot_count, hash) = hash;
    set->used++;
    *fresh = true;
    return LEAT_OK;
}

leat_code leat_identity_enter(leat_identity_set *set, uint32_t probe, const leat_text *address,
                              bool *fresh, leat_error *err) {
    uint64_t hash = leat_random(leat_intern_hash(address->data, address->size_bytes), 0, probe);
    hash = (uint64_t)level_of(probe) << LEVEL_SHIFT | hash >> LEVEL_BITS;
    *fresh = false;
    pthread_mutex_lock(&set->lock);
    leat_code code = enter_hash(set, hash != 0 ? hash : 1, fresh, err);
    pthread_mutex_unlock(&set->lock);
    return code;
}

void leat_identity_set_free(leat_identity_set *set) {
    leat_free(set->slots);
    set->slots = NULL;
    set->slot_count = set->used = 0;
}

/* ---- their counts ---- */

leat_code leat_identity_add(leat_census_log *log, uint32_t probe, leat_split split,
                            const leat_text *address, leat_error *err) {
    return leat_census_log_add(log, probe, split, address->data, address->size_bytes, err);
}

/* Addresses that many networks use behind their routers: RFC 1918, 6598, 3927, 4193, 4291. */
static bool is_private(const leat_census_entry *item) {
    uint8_t b[16];
    switch (leat_address_parse(item->text, item->size_bytes, b)) {
    case 4:
        return b[0] == 10 || (b[0] == 172 && (b[1] & 0xf0) == 16) || (b[0] == 192 && b[1] == 168) ||
               (b[0] == 100 && (b[1] & 0xc0) == 64) || (b[0] == 169 && b[1] == 254);
    case 6: return (b[0] & 0xfe) == 0xfc || (b[0] == 0xfe && (b[1] & 0xc0) == 0x80);
    default: return false;
    }
}

/* What is known of a key. */
enum { IN_TRAIN = 1, IN_TEST = 2, IS_PRIVATE = 4 };

typedef struct key_set {
    int64_t *keys; /* -1: empty */
    uint8_t *marks;
    int64_t slot_count, pass, pass_count;
    int level;       /* of the probes that are counted */
    bool by_address; /* keys are addresses, else numbers */
    const leat_census_bound *bound;
} key_set;

static uint8_t marks_of(const key_set *set, const leat_census_entry *item) {
    const leat_census_bound *bound = set->bound;
    bool test = item->split == LEAT_SPLIT_TEST;
    if (bound != NULL)
        test = bound->size_bytes >= 0 &&
               leat_text_compare(item->text, item->size_bytes, bound->text, bound->size_bytes) >= 0;
    bool own_view = (item->src_id & LEAT_PROBE_OWN_VIEW) != 0;
    return (uint8_t)((test ? IN_TEST : IN_TRAIN) | (own_view && is_private(item) ? IS_PRIVATE : 0));
}

static leat_code add_key(void *context, const leat_census_entry *item, leat_error *err) {
    (void)err;
    key_set *set = context;
    if (set->level > 0 && level_of((uint32_t)item->src_id) < set->level) return LEAT_OK;
    int64_t key = set->by_address ? leat_address_src_id(item->text, item->size_bytes)
                                  : (item->src_id & LEAT_PROBE_NUMBER_MAX);
    uint64_t hash = leat_random(0, 0, (uint64_t)key), mask = (uint64_t)set->slot_count - 1;
    if ((int64_t)leat_random_below(hash, (uint64_t)set->pass_count) != set->pass) return LEAT_OK;
    uint64_t at = hash & mask;
    while (set->keys[at] >= 0 && set->keys[at] != key) at = (at + 1) & mask;
    set->keys[at] = key;
    set->marks[at] |= marks_of(set, item);
    return LEAT_OK;
}

static void count_keys(const key_set *set, leat_identities *out) {
    for (int64_t i = 0; i < set->slot_count; i++) {
        if (set->keys[i] < 0) continue;
        if (set->by_address) {
            out->addresses++;
            out->merged += (set->marks[i] & IS_PRIVATE) != 0;
        } else {
            out->probes++;
            out->test += (set->marks[i] & IN_TEST) != 0;
            out->shared += (set->marks[i] & (IN_TEST | IN_TRAIN)) == (IN_TEST | IN_TRAIN);
        }
    }
}

static leat_code count_passes(const leat_census_logs *logs, key_set *set, leat_ticker *ticker,
                              leat_identities *out, leat_error *err) {
    for (int by_address = 0; by_address < 2; by_address++) {
        set->by_address = by_address != 0;
        for (set->pass = 0; set->pass < set->pass_count; set->pass++) {
            memset(set->keys, 0xff, (size_t)set->slot_count * sizeof *set->keys);
            memset(set->marks, 0, (size_t)set->slot_count);
            for (int i = 0; i < logs->count; i++) {
                LEAT_TRY(leat_ticker_check(ticker, err));
                if (logs->logs[i].file != NULL)
                    LEAT_TRY(leat_census_for_each(&logs->logs[i], add_key, set, err));
            }
            count_keys(set, out);
        }
    }
    return LEAT_OK;
}

leat_code leat_identity_count(const leat_census_logs *logs, int level,
                              const leat_census_bound *bound, leat_ticker *ticker,
                              leat_identities *out, leat_error *err) {
    int64_t entries = 0;
    key_set set = {.slot_count = 1024, .level = level, .bound = bound};
    *out = (leat_identities){0};
    for (int i = 0; i < logs->count; i++) entries += logs->logs[i].entries;
    if (entries == 0) return LEAT_OK;
    while (set.slot_count < entries * 2 && set.slot_count * 18 <= logs->memory_bytes)
        set.slot_count *= 2;
    /* shares are equal up to chance; a load of one half leaves space for deviations */
    set.pass_count = (entries * 2 + set.slot_count - 1) / set.slot_count;
    leat_code code = LEAT_NEW(&set.keys, set.slot_count, err);
    if (code == LEAT_OK) code = LEAT_NEW(&set.marks, set.slot_count, err);
    if (code == LEAT_OK) code = count_passes(logs, &set, ticker, out, err);
    leat_free(set.keys);
    leat_free(set.marks);
    return code;
}
