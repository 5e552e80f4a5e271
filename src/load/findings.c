/* What verification has found, in order: see findings.h. */
#include "load/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static void copy_name(char to[256], const char *name) {
    size_t size = strlen(name);
    if (size < 256) memcpy(to, name, size + 1);
    else snprintf(to, 256, "...%s", name + size - 252);
}

void leat_findings_add(leat_findings *list, bool note, const char *file, int64_t record,
                       const char *format, ...) {
    if (note) list->notes++;
    else list->problems++;
    if (list->count >= list->kept_max || list->failure.code != LEAT_OK) return;
    if (LEAT_GROW(&list->items, &list->capacity, list->count + 1, &list->failure) != LEAT_OK)
        return;
    leat_verify_finding *item = &list->items[list->count++];
    memset(item, 0, sizeof *item);
    item->note = note;
    item->record = record;
    copy_name(item->file, file);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(item->reason, sizeof item->reason, format, arguments);
    va_end(arguments);
}

void leat_findings_free(leat_findings *list) {
    leat_free(list->items);
    list->items = NULL;
    list->count = list->capacity = 0;
}

leat_code leat_findings_append(leat_findings *to, leat_findings *from, leat_error *err) {
    if (from->failure.code != LEAT_OK) return leat_error_copy(err, &from->failure);
    to->problems += from->problems;
    to->notes += from->notes;
    int64_t take = to->kept_max - to->count < from->count ? to->kept_max - to->count : from->count;
    if (take > 0) {
        LEAT_TRY(LEAT_GROW(&to->items, &to->capacity, to->count + take, err));
        memcpy(to->items + to->count, from->items, (size_t)take * sizeof *to->items);
        to->count += take;
    }
    leat_findings_free(from);
    return LEAT_OK;
}
