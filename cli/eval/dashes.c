/* Why numbers of a table are dashes. */
#include <stdio.h>
#include <string.h>

#include "eval/eval.h"

static void append(char text[LEAT_PLAIN_BYTES], const char *between, const char *more) {
    const size_t used = strlen(text);
    snprintf(text + used, LEAT_PLAIN_BYTES - used, "%s%s", used > 0 ? between : "", more);
}

static const char *column_of(const char *key) {
    static const char *const columns[][2] = {
        {"auroc", "AUROC"},
        {"average_precision", "AP"},
        {"precision", "precision"},
        {"recall", "recall"},
        {"f1", "F1"},
        {"mcc", "MCC"},
        {"realised_fpr", "FPR"},
        {"false_alarms_per_hour", "FA/h"},
        {"delay", "delay"},
        {"intervals_95", "95 %"},
    };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (strcmp(columns[i][0], key) == 0) return columns[i][1];
    return NULL; /* not in the table */
}

/* The numbers of a table that are dashes, each with its reason, and the reasons in order. */
typedef struct lacking {
    const char *column[LEAT_EVAL_REASONS], *reason[LEAT_EVAL_REASONS];
    int count;
} lacking;

static void list_lacking(lacking *out, const leat_eval_item *item) {
    leat_eval_missing at;
    bool auroc = true;
    out->count = 0;
    for (int i = 0; leat_eval_missing_at(item, i, &at) && out->count < LEAT_EVAL_REASONS; i++) {
        const char *column = column_of(at.key);
        if (strcmp(at.key, "auroc") == 0) auroc = false;
        /* the column has the interval of AUROC */
        if (column == NULL || (!auroc && strcmp(at.key, "intervals_95") == 0)) continue;
        out->column[out->count] = column;
        out->reason[out->count++] = at.reason;
    }
}

/* "AUROC, AP: no window with an attack; delay: no attack was detected". */
static void words_of_dashes(char text[LEAT_PLAIN_BYTES], const leat_eval_item *item) {
    lacking all;
    text[0] = 0;
    list_lacking(&all, item);
    for (int i = 0; i < all.count; i++) {
        const char *reason = all.reason[i];
        char keys[LEAT_PLAIN_BYTES] = "";
        for (int k = i; reason != NULL && k < all.count; k++) {
            if (all.reason[k] == NULL || strcmp(all.reason[k], reason) != 0) continue;
            append(keys, ", ", all.column[k]);
            all.reason[k] = NULL; /* it is said */
        }
        if (reason == NULL) continue;
        append(keys, ": ", reason);
        append(text, "; ", keys);
    }
}

void leat_eval_dashes_add(leat_eval_dashes *of, const leat_eval_item *item) {
    char what[LEAT_PLAIN_BYTES];
    int at = 0;
    of->all++;
    words_of_dashes(what, item);
    if (what[0] == 0) return;
    while (at < of->count && strcmp(of->what[at], what) != 0) at++;
    if (at == LEAT_EVAL_REASONS) return; /* the document has them all */
    if (at == of->count) {
        snprintf(of->what[at], LEAT_PLAIN_BYTES, "%s", what);
        of->who[at][0] = 0;
        of->rows[at] = 0;
        of->count++;
    }
    append(of->who[at], ", ", item->name);
    of->rows[at]++;
}
