/*
 * Probes seen by one worker of the scan: their addresses, or their names -> bucket and number in
 * the stream, so that an address is checked and hashed to its src_id once, not once per
 * measurement.
 *
 * One cache line per address, open addressing. The table never exceeds its limit: when it is full
 * it is emptied (a new generation), and addresses that occur again are defined again. So memory is
 * bounded for any number of addresses, and only the spill grows a little.
 */
#ifndef LEAT_INGEST_PROBES_INTERN_H
#define LEAT_INGEST_PROBES_INTERN_H

#include "base/address.h"
#include "base/mem.h"

typedef struct leat_intern_slot {
    uint32_t tag;    /* upper half of the hash; the slot is empty if size is 0 */
    uint32_t source; /* number of the definition in its stream */
    uint16_t bucket;
    uint8_t size;    /* of the text */
    uint8_t version; /* 4 or 6 */
    char text[LEAT_ADDRESS_TEXT_BYTES];
    bool mapped; /* an IPv4-mapped address, whose stored text is another one */
    char pad[2];
    uint32_t probe; /* logged last for the address (identity.h) */
} leat_intern_slot;
_Static_assert(sizeof(leat_intern_slot) == 64, "an address takes one cache line");

typedef struct leat_intern {
    leat_intern_slot *slots; /* NULL until the first address */
    int64_t slot_count;      /* a power of two */
    int64_t used;
    int64_t slot_limit;  /* slot_count grows up to this */
    int64_t generations; /* how often the table was emptied */
} leat_intern;

/* limit_bytes is rounded down to a power of two of slots, at least 4096. While the table grows, the
 * old and the new one exist side by side, which takes at most 1.5 times the limit. */
void leat_intern_create(leat_intern *table, int64_t limit_bytes);
void leat_intern_destroy(leat_intern *table);

uint64_t leat_intern_hash(const char *text, int32_t size_bytes);

/*
 * The slot of a text of 1..45 bytes: found (size != 0), or an empty one for the caller to fill and
 * count in `used`. A slot is valid until leat_intern_make_room.
 */
static inline leat_intern_slot *leat_intern_find(const leat_intern *table, uint64_t hash,
                                                 const char *text, int32_t size_bytes) {
    uint64_t mask = (uint64_t)table->slot_count - 1;
    for (uint64_t at = hash & mask;; at = (at + 1) & mask) {
        leat_intern_slot *slot = &table->slots[at];
        if (slot->size == 0) return slot;
        if (slot->tag == (uint32_t)(hash >> 32) && slot->size == size_bytes &&
            __builtin_memcmp(slot->text, text, (size_t)size_bytes) == 0) {
            return slot;
        }
    }
}

/* Makes room for `more` further addresses: grows the table, or empties it at its limit. */
LEAT_MUST_CHECK leat_code leat_intern_make_room(leat_intern *table, int64_t more, leat_error *err);

#endif
