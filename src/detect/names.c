/* Numbers of identifiers, for each frame of a bus: two words are hashed and compared, no text is
 * put together. */
#include "detect/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

static uint32_t slots_of(int64_t count) {
    uint32_t slots = 64;
    while (slots < 2 * count) slots *= 2;
    return slots;
}

int64_t leat_names_bytes(int64_t count) {
    return slots_of(count) * (int64_t)sizeof(leat_name_slot);
}

/* Where it is, or would be. */
static uint32_t find(const leat_names *names, const char id[LEAT_NAME_BYTES], uint32_t bus) {
    uint64_t words[2];
    memcpy(words, id, sizeof words);
    uint64_t mixed = (words[0] ^ (words[1] << 1) ^ bus) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(mixed >> 32) & names->mask;
    while (names->slots[at].id[0] != 0 &&
           (names->slots[at].bus != bus || memcmp(names->slots[at].id, id, LEAT_NAME_BYTES) != 0))
        at = (at + 1) & names->mask;
    return at;
}

uint32_t leat_names_find(const leat_names *names, const char id[LEAT_NAME_BYTES], uint32_t bus) {
    const leat_name_slot *slot = &names->slots[find(names, id, bus)];
    return slot->id[0] != 0 ? slot->index : LEAT_NAME_UNKNOWN;
}

static leat_code add(leat_names *names, const char *text, bool has_bus, uint32_t index,
                     leat_error *err) {
    char id[LEAT_NAME_BYTES] = {0};
    uint32_t bus = 0;
    const char *name = text;
    for (; has_bus && *name >= '0' && *name <= '9' && bus <= UINT16_MAX; name++)
        bus = bus * 10 + (uint32_t)(*name - '0');
    const bool padded = has_bus && text[0] == '0' && name > text + 1; /* no cache writes 01:0F5 */
    const bool named = !has_bus || (name > text && !padded && bus <= UINT16_MAX && *name++ == ':');
    const size_t size = named ? strlen(name) : 0;
    if (size < 1 || size > LEAT_NAME_BYTES)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "identifier %lld of the detector, \"%.40s\", is not %s up to %d "
                         "characters; the run is damaged",
                         (long long)index + 1, text, has_bus ? "a bus, a colon, and" : "a text of",
                         LEAT_NAME_BYTES);
    memcpy(id, name, size);
    const uint32_t at = find(names, id, bus);
    if (names->slots[at].id[0] != 0)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "identifier \"%.40s\" is twice among those of the detector; the run is "
                         "damaged",
                         text);
    memcpy(names->slots[at].id, id, sizeof id);
    names->slots[at].bus = bus;
    names->slots[at].index = index;
    return LEAT_OK;
}

leat_code leat_names_make(leat_names *names, const leat_detect_context *context, leat_error *err) {
    const uint32_t slots = slots_of(context->identifier_count);
    *names = (leat_names){.mask = slots - 1};
    LEAT_TRY(LEAT_NEW(&names->slots, slots, err));
    leat_code code = LEAT_OK;
    for (int64_t i = 0; i < context->identifier_count && code == LEAT_OK; i++)
        code = add(names, context->identifiers[i], context->has_bus, (uint32_t)i, err);
    if (code != LEAT_OK) leat_names_free(names);
    return code;
}

void leat_names_free(leat_names *names) {
    leat_free(names->slots);
    *names = (leat_names){0};
}
