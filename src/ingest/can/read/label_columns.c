/*
 * Columns of a csv that are labels, by their names; and those that are not used, but may be labels:
 * whatever their names, if all of their values are 0 and 1, and both occur. Attacks may begin late,
 * so the whole file decides; so do words that name attacks. In a log with labels, only columns
 * whose names say so are watched, for such words: they count if no frame of the log is labelled as
 * one.
 *
 * A column Type, or of a name like that of a mark or a bus, may be one as well. It is named as
 * unused, as if the first lines had both of its values, unless another column is more like a label;
 * also in a log with labels.
 */
#include <stdio.h>

#include "ingest/can/read/csv.h"
#include "ingest/can/read/known.h"
#include "ingest/can/read/labels.h"

/* ---- names ---------------------------------------------------------------------------------- */

int leat_can_label_rank(leat_text name) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    for (int i = 0; leat_can_label_names[i] != NULL; i++) {
        if (strcmp(plain, leat_can_label_names[i]) == 0) return i;
    }
    return -1;
}

static bool begins_with(const char *plain, const char *begin) {
    return strncmp(plain, begin, strlen(begin)) == 0;
}

bool leat_can_label_like(leat_text name) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    for (const char *const *begin = leat_can_unlabel_begins; *begin != NULL; begin++) {
        if (begins_with(plain, *begin)) return false;
    }
    for (const char *const *part = leat_can_label_parts; *part != NULL; part++) {
        if (strstr(plain, *part) != NULL) return true;
    }
    return is_listed(plain, leat_can_maybe_label_names);
}

bool leat_can_is_benign_name(leat_text name) {
    char plain[LEAT_CAN_PLAIN_BYTES], *at = plain;
    plain_name(name, plain);
    for (const char *const *begin = leat_can_benign_begins; *begin != NULL; begin++) {
        size_t size = strlen(*begin);
        if (strlen(at) > size && begins_with(at, *begin)) at += size;
    }
    for (const char *const *end = leat_can_benign_ends; *end != NULL; end++) {
        size_t size = strlen(*end), all = strlen(at);
        if (all > size && strcmp(at + all - size, *end) == 0) at[all - size] = 0;
    }
    return is_listed(at, leat_can_benign_names);
}

/* ---- values --------------------------------------------------------------------------------- */

static uint8_t look_at(leat_text cell) {
    bool attack = false, zero = is_listed_word(cell, leat_can_zero_words) ||
                                is_listed_word(cell, leat_can_minus_words) ||
                                is_listed_word(cell, leat_can_no_words);
    if (cell.size_bytes == 0 || zero) return LEAT_CAN_SEEN_ZERO;
    bool one = is_listed_word(cell, leat_can_one_words) || is_listed_word(cell, leat_can_yes_words);
    uint8_t seen = one ? LEAT_CAN_SEEN_ONE : LEAT_CAN_SEEN_OTHER;
    return leat_can_label_word(cell, &attack) && attack ? seen | LEAT_CAN_SEEN_ATTACK : seen;
}

static int split(const leat_can_layout *layout, leat_text line,
                 leat_text cells[LEAT_CAN_COLUMNS_MAX]) {
    return leat_can_split_cells(line.data, line.data + line.size_bytes, layout->part, cells,
                                LEAT_CAN_COLUMNS_MAX);
}

/* What a column of the first lines has. */
static int look_at_column(const leat_text *lines, int count, int first,
                          const leat_can_layout *layout, int column) {
    int seen = 0;
    for (int i = first; i < count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX];
        if (column < split(layout, lines[i], cells)) seen |= look_at(cells[column]);
    }
    return seen;
}

/* ---- by name, or by the values of the first lines -------------------------------------------- */

/* Whether the values of a column look like labels: all of them, unless its name is vague, or some
 * in words that little else has. */
static bool has_label_values(const leat_text *lines, int count, int first,
                             const leat_can_layout *layout, int column, bool vague) {
    enum { SHORT_WORD = 5 }; /* R, T, yes, no, true, false */
    int words = 0, long_words = 0, seen = 0;
    for (int i = first; i < count; i++) {
        bool attack = false;
        leat_text cells[LEAT_CAN_COLUMNS_MAX];
        if (column >= split(layout, lines[i], cells)) continue;
        seen++;
        if (!leat_can_label_word(cells[column], &attack)) continue;
        words++;
        long_words += cells[column].size_bytes > SHORT_WORD;
    }
    return long_words > 0 || (!vague && words > 0 && words == seen);
}

void leat_can_find_label_like(const leat_text *lines, int count, const leat_text *names,
                              leat_can_layout *layout) {
    if (layout->label_like[0] != 0 || layout->labelled) return;
    for (int k = 0; k < layout->column_count; k++) {
        if (layout->column[k] != LEAT_CAN_COLUMN_OTHER) continue;
        if (names != NULL && leat_can_is_mark(names[k])) continue;
        bool named =
            names != NULL && leat_can_label_like(names[k]) && !leat_can_may_be_mark(names[k]);
        bool vague = names != NULL && leat_can_is_vague(names[k]);
        if (!named && !has_label_values(lines, count, names != NULL ? 1 : 0, layout, k, vague))
            continue;
        if (names == NULL) snprintf(layout->label_like, sizeof layout->label_like, "%d", k + 1);
        else
            leat_text_show(layout->label_like, sizeof layout->label_like, names[k].data,
                           names[k].size_bytes);
        return;
    }
}

/* ---- by the values of the complete file ------------------------------------------------------ */

void leat_can_watch_columns(const leat_text *lines, int count, const leat_text *names,
                            leat_can_layout *layout) {
    layout->watch_count = 0;
    for (int k = 0; k < layout->column_count && layout->watch_count < LEAT_CAN_WATCH_MAX; k++) {
        if (layout->column[k] != LEAT_CAN_COLUMN_OTHER) continue;
        bool named = names != NULL && layout->labelled && leat_can_label_like(names[k]);
        bool mark = names != NULL && !named &&
                    (leat_can_may_be_mark(names[k]) || leat_can_is_vague(names[k]));
        bool none = names != NULL && !mark && leat_can_says_no_label(names[k]);
        if (layout->labelled ? !named && !mark : none) continue;
        int seen = look_at_column(lines, count, names != NULL ? 1 : 0, layout, k);
        if (!named && (seen & LEAT_CAN_SEEN_OTHER) != 0) continue;
        layout->watch[layout->watch_count].column = k;
        layout->watch[layout->watch_count].may_be_mark = mark;
        char *name = layout->watch[layout->watch_count++].name;
        if (names == NULL) snprintf(name, LEAT_CAN_LABEL_NAME_BYTES, "%d", k + 1);
        else leat_text_show(name, LEAT_CAN_LABEL_NAME_BYTES, names[k].data, names[k].size_bytes);
    }
}

void leat_can_watch_line(const leat_can_layout *layout, leat_text line,
                         uint8_t seen[LEAT_CAN_WATCH_MAX]) {
    leat_text cells[LEAT_CAN_COLUMNS_MAX];
    int count = split(layout, line, cells);
    for (int i = 0; i < layout->watch_count; i++) {
        if (layout->watch[i].column < count) seen[i] |= look_at(cells[layout->watch[i].column]);
    }
}

void leat_can_watch_add(const leat_can_layout *layout, const uint8_t seen[LEAT_CAN_WATCH_MAX],
                        leat_can_file *file) {
    enum { BOTH = LEAT_CAN_SEEN_ZERO | LEAT_CAN_SEEN_ONE };
    const int attacks = LEAT_CAN_MARK_ATTACK | LEAT_CAN_MARK_MORE;
    if (layout->watch_count == 0) return;
    if (file->watched) file->label_like[0] = 0;
    file->watched = false;
    file->doubts &= ~LEAT_CAN_DOUBT_MARK;
    for (int i = 0; i < layout->watch_count; i++) {
        file->seen[i] |= seen[i];
        bool mark = layout->watch[i].may_be_mark, vague = (file->doubts & LEAT_CAN_DOUBT_MARK) != 0;
        bool two = (!layout->labelled || mark) && (file->seen[i] & BOTH) == BOTH &&
                   (file->seen[i] & LEAT_CAN_SEEN_OTHER) == 0;
        bool attack = (!layout->labelled || (file->marks & attacks) == 0) &&
                      (file->seen[i] & LEAT_CAN_SEEN_ATTACK) != 0;
        if (!(two || attack) || (file->watched && (mark || !vague))) continue;
        memcpy(file->label_like, layout->watch[i].name, sizeof file->label_like);
        file->watched = true;
        file->doubts &= ~LEAT_CAN_DOUBT_MARK;
        if (mark) file->doubts |= LEAT_CAN_DOUBT_MARK;
    }
}
