/* The shortest payload of each identifier: a hash table that never grows. */
#include "ingest/can/read/shortest.h"

#include <string.h>

/* Where an identifier is, or would be. */
static int32_t find(const leat_can_shortest *table, const char id[LEAT_CAN_ID_BYTES]) {
    uint64_t words[2];
    memcpy(words, id, sizeof words);
    const uint64_t mixed = (words[0] ^ words[1] << 1) * UINT64_C(0x9e3779b97f4a7c15);
    int32_t at = (int32_t)(mixed >> 40) % LEAT_CAN_SHORTEST_SLOTS;
    while (table->slots[at].id[0] != 0 && memcmp(table->slots[at].id, id, LEAT_CAN_ID_BYTES) != 0)
        at = (at + 1) % LEAT_CAN_SHORTEST_SLOTS;
    return at;
}

void leat_can_shortest_note(leat_can_shortest *table, const leat_can_line *line) {
    const int32_t at = find(table, line->id);
    if (table->slots[at].id[0] != 0) {
        if (line->size_bytes < table->slots[at].size_bytes)
            table->slots[at].size_bytes = line->size_bytes;
        return;
    }
    if (table->count == LEAT_CAN_SHORTEST_MAX) return;
    memcpy(table->slots[at].id, line->id, LEAT_CAN_ID_BYTES);
    table->slots[at].size_bytes = line->size_bytes;
    table->count++;
}

bool leat_can_is_shorter(const leat_can_shortest *table, const leat_can_line *line) {
    const int32_t at = find(table, line->id);
    return table->slots[at].id[0] != 0 && table->slots[at].size_bytes > line->size_bytes;
}
