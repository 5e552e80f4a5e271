/* Records that sequences were masked for: see loader_quarantine.h. */
#include "load/probes/loader_quarantine.h"

#include <stdio.h>
#include <string.h>

void leat_quarantine_init(leat_quarantine *list) {
    *list = (leat_quarantine){0};
    pthread_mutex_init(&list->lock, NULL);
}

void leat_quarantine_destroy(leat_quarantine *list) {
    leat_free(list->items);
    pthread_mutex_destroy(&list->lock);
}

/* Where the row is, or would be put. */
static int64_t find(const leat_quarantine *list, int64_t row) {
    int64_t low = 0, high = list->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (list->items[middle].row < row) low = middle + 1;
        else high = middle;
    }
    return low;
}

static leat_quarantined describe(const leat_dataset *dataset, int64_t row, const leat_error *why) {
    int64_t shard = leat_dataset_shard_of(dataset, row);
    const char *name = dataset->shards[shard].name;
    size_t size = strlen(name);
    leat_error found = {0};
    leat_quarantined item = {
        .row = row,
        .record_index = row - dataset->shards[shard].facts.first_row,
        .byte = leat_dataset_damaged_byte(dataset, row, &found),
    };
    /* the first damage in the record, whichever part a sequence met first; so the list does not
     * depend on the thread */
    if (item.byte >= 0) why = &found;
    if (size >= sizeof item.shard) name += size - (sizeof item.shard - 1);
    snprintf(item.shard, sizeof item.shard, "%s", name);
    memcpy(item.reason, why->message, sizeof item.reason);
    return item;
}

leat_code leat_quarantine_add(leat_quarantine *list, const leat_dataset *dataset, int64_t row,
                              const leat_error *why, leat_error *err) {
    leat_code code = LEAT_OK;
    pthread_mutex_lock(&list->lock);
    int64_t at = find(list, row);
    bool is_known = at < list->count && list->items[at].row == row;
    if (!is_known && list->count < LEAT_QUARANTINE_MAX) {
        code = LEAT_GROW(&list->items, &list->capacity, list->count + 1, err);
        if (code == LEAT_OK) {
            leat_quarantined *place = &list->items[at];
            memmove(place + 1, place, (size_t)(list->count - at) * sizeof *place);
            *place = describe(dataset, row, why);
            list->count++;
        }
    }
    pthread_mutex_unlock(&list->lock);
    return code;
}

leat_code leat_quarantine_copy(leat_quarantine *list, leat_quarantined **items, int64_t *count,
                               leat_error *err) {
    *count = 0;
    pthread_mutex_lock(&list->lock);
    leat_code code = LEAT_NEW(items, list->count, err);
    if (code == LEAT_OK) {
        *count = list->count;
        if (list->count > 0) memcpy(*items, list->items, (size_t)list->count * sizeof **items);
    }
    pthread_mutex_unlock(&list->lock);
    return code;
}

void leat_quarantine_free(leat_quarantined *items) { leat_free(items); }
