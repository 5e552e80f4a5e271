/* Identifiers by name: see vocab.h. */
#include "ingest/can/cache/vocab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct named {
    char name[LEAT_CAN_ID_NAME_BYTES];
    bool known;
    int64_t like;           /* its index in the cache to be like; -1: it has none */
    bool trained, attacked; /* it is in training, in frames that are not attacks; in attacks only */
    int64_t id;             /* in the store */
} named;

int64_t leat_can_names_bytes(int64_t ids) {
    return ids * (int64_t)(LEAT_CAN_ID_NAME_BYTES + sizeof(uint32_t));
}

int64_t leat_can_naming_bytes(int64_t ids) {
    return leat_can_names_bytes(ids) + ids * (int64_t)sizeof(named);
}

static int compare(const void *a, const void *b) {
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order != 0) return order;
    if (x->known != y->known)
        return x->known ? -1 : 1; /* among equal names the known one comes first */
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Where an identifier is in training. */
static void look_in_training(const leat_can_store *store, const leat_can_splits *splits,
                             named *item) {
    bool met = false;
    for (int64_t i = 0; i < splits->inputs.count && !item->trained; i++) {
        if (splits->files[i].split != 0) continue;
        item->trained = leat_can_store_met_beside_attacks(store, item->id, (int32_t)i);
        met = met || leat_can_store_met(store, item->id, (int32_t)i);
    }
    item->attacked = met && !item->trained;
}

static bool is_known(const named *item, leat_can_vocab vocab) {
    return vocab == LEAT_VOCAB_ALL || item->trained ||
           (vocab == LEAT_VOCAB_TRAIN && item->attacked);
}

/* Identifiers of training by name: those of attacks alone, and the others. */
static void count_training(leat_can_names *names, const named *sorted, int64_t count) {
    for (int64_t i = 0; i < count;) {
        bool trained = false, attacked = false;
        int64_t end = i;
        for (; end < count && strcmp(sorted[end].name, sorted[i].name) == 0; end++) {
            trained = trained || sorted[end].trained;
            attacked = attacked || sorted[end].attacked;
        }
        names->trained += trained;
        names->attacked += attacked && !trained;
        i = end;
    }
}

/* Names have no bus prefix if all frames are of one bus, or if buses are merged. */
static bool needs_bus(const leat_can_id *ids, int64_t count, const leat_can_settings *settings) {
    if (settings->bus != LEAT_BUS_SEPARATE) return false;
    for (int64_t i = 1; i < count; i++) {
        if (ids[i].bus != ids[0].bus) return true;
    }
    return false;
}

/* Numbers the known identifiers, or the unknown ones; equal names are one identifier. */
static void number(leat_can_names *names, const named *sorted, int64_t count, bool known) {
    for (int64_t i = 0; i < count;) {
        int64_t end = i + 1;
        while (end < count && strcmp(sorted[end].name, sorted[i].name) == 0) end++;
        if (sorted[i].known == known) {
            memcpy(names->name[names->count], sorted[i].name, sizeof sorted[i].name);
            for (int64_t k = i; k < end; k++) names->number[sorted[k].id] = (uint32_t)names->count;
            names->count++;
        }
        i = end;
    }
}

/* The identifiers of a cache, with the numbers that they have there. */
static void number_like(leat_can_names *names, const named *sorted, int64_t count,
                        const leat_can_like *like) {
    _Static_assert((int)LEAT_CAN_ID_TEXT_BYTES == (int)LEAT_CAN_ID_NAME_BYTES, "the same texts");
    for (int64_t i = 0; i < like->count; i++)
        memcpy(names->name[i], like->name[i], sizeof *names->name);
    for (int64_t i = 0; i < count; i++) {
        if (sorted[i].like >= 0) names->number[sorted[i].id] = (uint32_t)sorted[i].like;
    }
    names->count = like->count;
}

/* Whether names have their bus: as in the cache to be like, which must not have one bus where these
 * logs have several. */
static leat_code choose_bus(const leat_can_id *ids, int64_t count,
                            const leat_can_settings *settings, const leat_can_like *like, bool *bus,
                            leat_error *err) {
    char use[LEAT_CAN_LIKE_BUS_BYTES];
    *bus = needs_bus(ids, count, settings);
    if (like->digest[0] == 0) return LEAT_OK;
    leat_can_like_advise_bus(like->bus, use);
    if (*bus && !like->has_bus)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "--like: the identifiers of that cache are of one bus, and these logs "
                         "have several, %u and others; use %s",
                         ids[0].bus, use);
    *bus = like->has_bus;
    return LEAT_OK;
}

leat_code leat_can_names_make(leat_can_names *names, const leat_can_store *store,
                              const leat_can_splits *splits, const leat_can_settings *settings,
                              const leat_can_like *like, leat_error *err) {
    *names = (leat_can_names){0};
    const leat_can_id *ids = NULL;
    const bool fixed = like->digest[0] != 0;
    int64_t count = leat_can_store_ids(store, &ids);
    named *sorted = NULL;
    bool bus = false;
    LEAT_TRY(choose_bus(ids, count, settings, like, &bus, err));
    LEAT_TRY(LEAT_NEW(&sorted, count, err));
    for (int64_t i = 0; i < count; i++) {
        char number_text[8] = "";
        if (bus) snprintf(number_text, sizeof number_text, "%u:", ids[i].bus);
        snprintf(sorted[i].name, sizeof sorted[i].name, "%s%.*s", number_text, LEAT_CAN_ID_BYTES,
                 ids[i].text);
        bool used = settings->bus < 0 || ids[i].bus == settings->bus;
        sorted[i].id = i;
        if (used) look_in_training(store, splits, &sorted[i]);
        sorted[i].known = used && is_known(&sorted[i], settings->vocab);
        sorted[i].like = leat_can_like_find(like, sorted[i].name);
        if (fixed) sorted[i].known = sorted[i].like >= 0;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    count_training(names, sorted, count);
    leat_code code = LEAT_NEW(&names->name, count + like->count, err);
    if (code == LEAT_OK) code = LEAT_NEW(&names->number, count, err);
    if (code == LEAT_OK) {
        if (fixed) number_like(names, sorted, count, like);
        else number(names, sorted, count, true);
        names->known = names->count;
        number(names, sorted, count, false);
    }
    leat_free(sorted);
    if (code != LEAT_OK) leat_can_names_free(names);
    return code;
}

void leat_can_names_warn(const leat_can_names *names, const leat_can_settings *settings,
                         char *warning, size_t warning_bytes) {
    size_t used = strlen(warning);
    bool all_attacks = names->trained == 0;
    if (settings->vocab == LEAT_VOCAB_BENIGN || all_attacks || names->attacked <= names->trained)
        return;
    snprintf(warning + used, warning_bytes - used,
             "%s%lld of the %lld identifiers of the vocabulary occur only in attack frames of the "
             "training "
             "logs; use --vocab benign to leave these unknown, as they are to a detector",
             used > 0 ? "; " : "", (long long)names->attacked,
             (long long)(names->attacked + names->trained));
}

void leat_can_names_free(leat_can_names *names) {
    leat_free(names->name);
    leat_free(names->number);
    *names = (leat_can_names){0};
}
