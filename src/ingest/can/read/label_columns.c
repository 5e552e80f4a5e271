/*
 * Columns of a csv that are labels, by their names; and those that are not used, but may be labels:
 * whatever their names, if all of their values are 0 and 1, and both occur. Attacks may begin late,
 * so the whole file decides; so do words that name attacks. In a log with labels, only columns
 * whose names say so are watched, for such words: they count if no frame of the log is labelled as
 * one. But if --column has chosen the label, others that are named for labels or attacks may be as
 * good, as where each attack has a column; those of attacks that the log does not have are 0 only.
 *
 * A column Type, or of a name like that of a mark or a bus, may be one as well. It is named as
 * unused, as if the first lines had both of its values.
 */
#include <stdio.h>

#include "ingest/can/read/csv.h"
#include "ingest/can/read/known_logs.h"
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

/* How --column takes a column: by its name, if no shell and no other column has a use for it. */
static void show_option(const leat_text *names, int count, int column,
                        char option[LEAT_CAN_LABEL_NAME_BYTES]) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    leat_text name = names != NULL ? names[column] : (leat_text){"", 0};
    int number = 0;
    bool good = name.size_bytes > 0 && name.size_bytes < LEAT_CAN_LABEL_NAME_BYTES &&
                !read_count(name, LEAT_CAN_COLUMNS_MAX, &number);
    for (int i = 0; i < name.size_bytes && good; i++)
        good = memchr(plain, name.data[i], sizeof plain - 1) != NULL;
    for (int i = 0; i < count && good; i++)
        good = i == column || names[i].size_bytes != name.size_bytes ||
               memcmp(names[i].data, name.data, (size_t)name.size_bytes) != 0;
    if (good) snprintf(option, LEAT_CAN_LABEL_NAME_BYTES, "%.*s", name.size_bytes, name.data);
    else snprintf(option, LEAT_CAN_LABEL_NAME_BYTES, "%d", column + 1);
}

static void show_name(const leat_text *names, int column, char name[LEAT_CAN_LABEL_NAME_BYTES]) {
    if (names == NULL) snprintf(name, LEAT_CAN_LABEL_NAME_BYTES, "%d", column + 1);
    else
        leat_text_show(name, LEAT_CAN_LABEL_NAME_BYTES, names[column].data,
                       names[column].size_bytes);
}

static void add_label_like(const char *name, const char *option, leat_can_label_columns *to) {
    static const char rest[] = ", ...";
    size_t names = strlen(to->names), options = strlen(to->option), end = sizeof rest - 1;
    bool full = names >= end && strcmp(to->names + names - end, rest) == 0;
    bool fits = names + strlen(name) + 4 + sizeof rest <= sizeof to->names &&
                options + strlen(option) + 2 <= sizeof to->option;
    if (!full && !fits) snprintf(to->names + names, sizeof to->names - names, "%s", rest);
    if (full || !fits) return;
    snprintf(to->names + names, sizeof to->names - names, "%s\"%s\"", names > 0 ? ", " : "", name);
    snprintf(to->option + options, sizeof to->option - options, "%s%s", options > 0 ? "+" : "",
             option);
}

void leat_can_add_label_like(const leat_text *names, int count, int column,
                             leat_can_label_columns *to) {
    char name[LEAT_CAN_LABEL_NAME_BYTES], option[LEAT_CAN_LABEL_NAME_BYTES];
    show_name(names, column, name);
    show_option(names, count, column, option);
    add_label_like(name, option, to);
}

void leat_can_find_label_like(const leat_text *lines, int count, const leat_text *names,
                              leat_can_layout *layout) {
    if (layout->labelled) return;
    for (int k = 0; k < layout->column_count; k++) {
        if (layout->column[k] != LEAT_CAN_COLUMN_OTHER) continue;
        if (names != NULL && leat_can_is_mark(names[k])) continue;
        bool named =
            names != NULL && leat_can_label_like(names[k]) && !leat_can_may_be_mark(names[k]);
        bool vague = names != NULL && leat_can_is_vague(names[k]);
        if (named || has_label_values(lines, count, names != NULL ? 1 : 0, layout, k, vague))
            leat_can_add_label_like(names, layout->column_count, k, &layout->label_like);
    }
}

/* ---- by the values of the complete file ------------------------------------------------------ */

static bool is_named_already(const char *name, const leat_can_label_columns *columns) {
    char quoted[LEAT_CAN_LABEL_NAME_BYTES + 4];
    snprintf(quoted, sizeof quoted, "\"%s\"", name);
    return strstr(columns->names, quoted) != NULL;
}

/* Whether a column, given by its place among `names` or without them, is worth watching. */
static bool is_to_watch(const leat_can_layout *layout, const leat_text *names, int column, int seen,
                        bool *mark) {
    bool named = names != NULL && layout->labelled && leat_can_label_like(names[column]);
    bool vague =
        names != NULL && (leat_can_may_be_mark(names[column]) || leat_can_is_vague(names[column]));
    bool none = names != NULL && leat_can_says_no_label(names[column]);
    bool type = names != NULL && leat_can_is_attack_type(names[column]);
    bool any = (layout->label_chosen && names == NULL) ||
               (!layout->labelled && layout->label_like.names[0] == 0);
    *mark = vague && !named;
    if (named) return true;
    return (seen & LEAT_CAN_SEEN_OTHER) == 0 &&
           (*mark || (!none && (any || (type && (layout->label_chosen || !layout->labelled)))));
}

void leat_can_watch_columns(const leat_text *lines, int count, const leat_text *names,
                            leat_can_layout *layout) {
    layout->watch_count = 0;
    for (int k = 0; k < layout->column_count && layout->watch_count < LEAT_CAN_WATCH_MAX; k++) {
        char name[LEAT_CAN_LABEL_NAME_BYTES];
        bool mark = false;
        if (layout->column[k] != LEAT_CAN_COLUMN_OTHER) continue;
        show_name(names, k, name);
        if (is_named_already(name, &layout->label_like)) continue;
        int seen = look_at_column(lines, count, names != NULL ? 1 : 0, layout, k), at;
        if (!is_to_watch(layout, names, k, seen, &mark)) continue;
        at = layout->watch_count++;
        layout->watch[at].column = k;
        layout->watch[at].may_be_mark = mark;
        layout->watch[at].of_type = names != NULL && leat_can_is_attack_type(names[k]);
        memcpy(layout->watch[at].name, name, sizeof name);
        show_option(names, layout->column_count, k, layout->watch[at].option);
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

/* Whether the values of a watched column are those of a label. */
static bool is_label(const leat_can_layout *layout, const leat_can_file *file, int watched) {
    enum { BOTH = LEAT_CAN_SEEN_ZERO | LEAT_CAN_SEEN_ONE };
    const int attacks = LEAT_CAN_MARK_ATTACK | LEAT_CAN_MARK_MORE, seen = file->seen[watched];
    bool any = !layout->labelled || layout->label_chosen || layout->watch[watched].may_be_mark;
    bool two = any && (seen & (BOTH | LEAT_CAN_SEEN_OTHER)) == BOTH;
    bool none = !layout->labelled || (file->marks & attacks) == 0;
    return two || (none && (seen & LEAT_CAN_SEEN_ATTACK) != 0);
}

void leat_can_watch_add(const leat_can_layout *layout, const uint8_t seen[LEAT_CAN_WATCH_MAX],
                        leat_can_file *file) {
    bool typed = layout->label_of_type;
    if (layout->watch_count == 0) return;
    file->label_like = layout->label_like;
    file->late_mark[0] = 0;
    for (int i = 0; i < layout->watch_count; i++) {
        file->seen[i] |= seen[i];
        typed = typed || (layout->watch[i].of_type && is_label(layout, file, i));
    }
    for (int i = 0; i < layout->watch_count; i++) {
        bool other = typed && layout->watch[i].of_type && file->seen[i] == LEAT_CAN_SEEN_ZERO;
        const char *name = layout->watch[i].name;
        if (!other && !is_label(layout, file, i)) continue;
        if (!layout->watch[i].may_be_mark)
            add_label_like(name, layout->watch[i].option, &file->label_like);
        else if (file->late_mark[0] == 0) memcpy(file->late_mark, name, sizeof file->late_mark);
    }
}
