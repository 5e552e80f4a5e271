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
        {"false_alarms_per_benign_hour", "FA/h"},
        {"delay", "delay"},
        {"intervals_95", "95 %"},
    };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (strcmp(columns[i][0], key) == 0) return columns[i][1];
    return NULL; /* not in the table */
}

/* ---- Too few blocks ----------------------------------------------------------------------- */

int64_t leat_eval_blocks(const leat_evaluation_split *split, int64_t block_windows) {
    const leat_eval_windows *windows = &split->windows;
    int64_t blocks = 0, size = 0, last = -1;
    for (int64_t i = 0; i < windows->count; i++) {
        if (windows->label[i] < 0) continue;
        if (blocks == 0 || size == block_windows || windows->capture[i] != last) {
            blocks++;
            size = 0;
        }
        size++;
        last = windows->capture[i];
    }
    return blocks;
}

/* The longest blocks of which a split has enough; 0: it has too few windows. */
static int64_t longest_blocks(const leat_evaluation_split *split, int64_t too_long) {
    int64_t low = 0, high = too_long; /* enough at low, too few at high */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (leat_eval_blocks(split, middle) >= LEAT_BOOTSTRAP_BLOCKS_MIN) low = middle;
        else high = middle;
    }
    return low;
}

/* Says how many there are, and what helps, of all windows of a split; false: that is not why. */
static bool describe_blocks(char text[LEAT_PLAIN_BYTES], const leat_eval_item *item) {
    const int64_t size = item->report->block_windows;
    if (item->group.kind != LEAT_EVAL_ALL) return false;
    const int64_t blocks = leat_eval_blocks(item->split, size);
    if (blocks >= LEAT_BOOTSTRAP_BLOCKS_MIN) return false;
    const int64_t better = longest_blocks(item->split, size);
    char a[LEAT_WORDS_BYTES], b[LEAT_WORDS_BYTES], advice[64] = "";
    if (better > 0)
        snprintf(advice, sizeof advice, "; use --block-windows %lld", (long long)better);
    snprintf(text, LEAT_PLAIN_BYTES, "%s of %s, %d are needed%s", leat_things(a, blocks, "block"),
             leat_things(b, size, "window"), LEAT_BOOTSTRAP_BLOCKS_MIN, advice);
    return true;
}

/* ---- Lines -------------------------------------------------------------------------------- */

/* The numbers of a table that are dashes, each with its reason, and the reasons in order. */
typedef struct lacking {
    const char *column[LEAT_EVAL_REASONS], *reason[LEAT_EVAL_REASONS];
    char blocks[LEAT_PLAIN_BYTES]; /* one of the reasons */
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
        const bool blocks =
            strcmp(at.key, "intervals_95") == 0 && describe_blocks(out->blocks, item);
        out->reason[out->count++] = blocks ? out->blocks : at.reason;
    }
}

static void add(leat_eval_dashes *of, const char *what, const char *who) {
    int at = 0;
    while (at < of->count && strcmp(of->what[at], what) != 0) at++;
    if (at == LEAT_EVAL_REASONS) return; /* the document has them all */
    if (at == of->count) {
        snprintf(of->what[at], LEAT_PLAIN_BYTES, "%s", what);
        of->who[at][0] = 0;
        of->rows[at] = 0;
        of->count++;
    }
    append(of->who[at], ", ", who);
    of->rows[at]++;
}

void leat_eval_dashes_add(leat_eval_dashes *of, const leat_eval_item *item) {
    lacking all;
    of->all++;
    list_lacking(&all, item);
    for (int i = 0; i < all.count; i++) {
        const char *reason = all.reason[i];
        char what[LEAT_PLAIN_BYTES] = "";
        if (reason == NULL) continue;
        for (int k = i; k < all.count; k++) {
            if (all.reason[k] == NULL || strcmp(all.reason[k], reason) != 0) continue;
            append(what, ", ", all.column[k]);
            all.reason[k] = NULL; /* it is said */
        }
        append(what, ": ", reason);
        add(of, what, item->name);
    }
}
