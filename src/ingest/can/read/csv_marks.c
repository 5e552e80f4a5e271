/*
 * Columns of a csv that mark a frame (29 bits, remote, error) or name its bus, by the words that
 * their names consist of, and columns that nobody uses although they may. One table serves
 * all: what is read, what cannot be a label, and what the summary names.
 *
 * Words that leat has always known decide alone. Of the others, which other programs use for other
 * things too, the first lines must have values that fit, and no column may have a known one.
 */
#include <stdio.h>

#include "ingest/can/read/csv.h"
#include "ingest/can/read/known_logs.h"
#include "ingest/can/read/labels.h"

static const leat_can_mark_row *find_plain(const char *plain) {
    for (const leat_can_mark_row *row = leat_can_mark_names; row->name != NULL; row++) {
        if (strcmp(plain, row->name) == 0) return row;
    }
    return NULL;
}

/* Where the last part of a name begins, after a point (`points`) or any other separator, or where
 * capitals follow a small letter: CAN_DataFrame.BusChannel, can_rtr, FrameIDE. */
static leat_text last_part(leat_text name, bool points) {
    int at = name.size_bytes;
    while (at > 0) {
        char letter = name.data[at - 1], next = at < name.size_bytes ? name.data[at] : 0;
        bool small = letter >= 'a' && letter <= 'z', large = letter >= 'A' && letter <= 'Z';
        bool digit = letter >= '0' && letter <= '9';
        if (points ? letter == '.' : !small && !large && !digit) break;
        if (!points && (small || digit) && next >= 'A' && next <= 'Z') break;
        at--;
    }
    return (leat_text){name.data + at, name.size_bytes - at};
}

/* The word of a name: all of it, or (*part) what is after its last point. A part of a name is never
 * as good as all of it. */
static const leat_can_mark_row *find_word(leat_text name, bool *part) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    const leat_can_mark_row *found = find_plain(plain);
    *part = found == NULL;
    if (found != NULL) return found;
    plain_name(last_part(name, true), plain);
    return find_plain(plain);
}

int8_t leat_can_mark_column(leat_text name) {
    bool part = false;
    const leat_can_mark_row *word = find_word(name, &part);
    return word != NULL && word->sure == LEAT_CAN_SURE_ALONE && !part ? word->column
                                                                      : LEAT_CAN_COLUMN_OTHER;
}

bool leat_can_is_mark(leat_text name) {
    bool part = false;
    const leat_can_mark_row *word = find_word(name, &part);
    return word != NULL && word->sure != LEAT_CAN_SURE_NO_USE;
}

bool leat_can_may_be_mark(leat_text name) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    return strcmp(plain, leat_can_maybe_mark_name) == 0;
}

/* data8, D9: bytes beyond those that are read */
static bool is_byte(leat_text name) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    char *digits = plain + strcspn(plain, "0123456789");
    bool numbered = *digits != 0;
    *digits = 0;
    return numbered &&
           (is_listed(plain, leat_can_byte_names) || strcmp(plain, leat_can_signal_name) == 0);
}

static bool has_part(leat_text name, const char *word) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    while (name.size_bytes > 0) {
        leat_text last = last_part(name, false);
        plain_name(last, plain);
        if (strcmp(plain, word) == 0) return true;
        name.size_bytes -= last.size_bytes > 0 ? last.size_bytes : 1; /* a separator: CAN_ID */
    }
    return false;
}

/* The row of a name that is none of the known ones; NULL: it is not vague. */
static const leat_can_vague_row *find_vague(leat_text name) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    bool part = false;
    if (find_word(name, &part) != NULL || leat_can_label_like(name)) return NULL;
    plain_name(name, plain);
    for (const leat_can_vague_row *row = leat_can_vague_words; row->word != NULL; row++) {
        bool inside = row->where == LEAT_CAN_VAGUE_INSIDE && strstr(plain, row->word) != NULL;
        if (inside || strcmp(plain, row->word) == 0) return row;
        if (row->where == LEAT_CAN_VAGUE_PART && has_part(name, row->word)) return row;
    }
    return NULL;
}

bool leat_can_is_vague(leat_text name) { return find_vague(name) != NULL; }

bool leat_can_says_no_label(leat_text name) {
    bool part = false;
    return find_word(name, &part) != NULL || is_byte(name) || leat_can_may_be_mark(name) ||
           leat_can_is_vague(name);
}

/* ---- values --------------------------------------------------------------------------------- */

enum {
    FEW = 8, /* values of a column that the summary names */
    KNOWN = LEAT_CAN_BUSES_MAX
};

/* What the first lines have in a column. */
typedef struct values {
    int lines, marks; /* cells; those that are a mark, set or not, or empty */
    int names;        /* those that can name a bus */
    int set;          /* marks that are set */
    int long_set;     /* of those, with an identifier above 7FF */
    int long_all;     /* identifiers above 7FF */
    int different;    /* values, up to KNOWN + 1 */
    bool kinds;       /* of these values, one is a word for a kind of frame */
} values;

static bool is_long(leat_text cell) {
    int digits = 0, zeros = 0;
    bool wide = false, hex = false;
    cell = leat_can_id_digits(cell, &wide, &hex);
    if (wide) return true;
    while (zeros < cell.size_bytes && cell.data[zeros] == '0') zeros++;
    digits = cell.size_bytes - zeros;
    return digits > 3 || (digits == 3 && cell.data[zeros] > '7');
}

static bool is_same(leat_text a, leat_text b) {
    return a.size_bytes == b.size_bytes && memcmp(a.data, b.data, (size_t)a.size_bytes) == 0;
}

static values look_at(const leat_text *lines, int count, const leat_can_layout *layout,
                      int column) {
    leat_text known[KNOWN];
    values seen = {0};
    int id = -1;
    for (int k = 0; k < layout->column_count; k++) {
        if (layout->column[k] == LEAT_CAN_COLUMN_ID) id = k;
    }
    for (int i = layout->named ? 1 : 0; i < count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX], cell;
        int found = leat_can_split_cells(lines[i].data, lines[i].data + lines[i].size_bytes,
                                         layout->part, cells, LEAT_CAN_COLUMNS_MAX);
        if (column >= found || id >= found) continue;
        cell = cells[column];
        bool set = false, wide = id >= 0 && is_long(cells[id]);
        seen.lines++;
        seen.marks += leat_can_take_mark(cell, &set);
        seen.set += set;
        seen.long_set += set && wide;
        seen.long_all += wide;
        seen.names += cell.size_bytes > 0 && cell.size_bytes <= LEAT_CAN_BUS_NAME_MAX;
        int at = 0;
        while (at < seen.different && at < KNOWN && !is_same(known[at], cell)) at++;
        if (at == KNOWN) seen.different = KNOWN + 1;
        if (at >= KNOWN || at < seen.different) continue;
        char plain[LEAT_CAN_PLAIN_BYTES];
        plain_name(cell, plain);
        seen.kinds = seen.kinds || is_listed(plain, leat_can_kind_words);
        known[seen.different++] = cell;
    }
    return seen;
}

static bool fits(int8_t column, const values *seen) {
    if (seen->lines == 0) return false;
    if (column != LEAT_CAN_COLUMN_BUS) return seen->marks == seen->lines;
    return seen->names == seen->lines && seen->different <= LEAT_CAN_BUSES_MAX;
}

/* ---- what they mean ------------------------------------------------------------------------- */

static bool has_column(const leat_can_layout *layout, int8_t column) {
    for (int k = 0; k < layout->column_count; k++) {
        if (layout->column[k] == column) return true;
    }
    return false;
}

/* The first column that such a word names, by all of its name or the last part. */
static void name_one(const leat_text *lines, int count, const leat_text *names, int8_t column,
                     bool parts, leat_can_layout *layout) {
    for (int k = 0; k < layout->column_count && !has_column(layout, column); k++) {
        bool part = false;
        const leat_can_mark_row *word = find_word(names[k], &part);
        if (layout->column[k] != LEAT_CAN_COLUMN_OTHER || word == NULL || part != parts) continue;
        if (word->column != column || (!part && word->sure != LEAT_CAN_SURE_FITS)) continue;
        const values seen = look_at(lines, count, layout, k);
        if (fits(column, &seen)) layout->column[k] = column;
    }
}

/* A column Type of 0 and 1, where every identifier that needs 29 bits has a 1. */
static void name_type(const leat_text *lines, int count, const leat_text *names,
                      leat_can_layout *layout) {
    for (int k = 0; k < layout->column_count; k++) {
        if (has_column(layout, LEAT_CAN_COLUMN_EXTENDED)) return;
        if (layout->column[k] != LEAT_CAN_COLUMN_OTHER || !leat_can_may_be_mark(names[k])) continue;
        const values seen = look_at(lines, count, layout, k);
        if (seen.marks == seen.lines && seen.long_all > 0 && seen.long_set == seen.long_all)
            layout->column[k] = LEAT_CAN_COLUMN_EXTENDED;
    }
}

void leat_can_name_marks(const leat_text *lines, int count, const leat_text *names,
                         leat_can_layout *layout) {
    static const int8_t columns[] = {LEAT_CAN_COLUMN_BUS, LEAT_CAN_COLUMN_EXTENDED,
                                     LEAT_CAN_COLUMN_REMOTE, LEAT_CAN_COLUMN_ERROR};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        name_one(lines, count, names, columns[i], false, layout);
        name_one(lines, count, names, columns[i], true, layout);
    }
    name_type(lines, count, names, layout);
}

/* ---- columns that are not used --------------------------------------------------------------- */

enum { LINES_ENOUGH = 32 };

static bool is_few(const values *seen) {
    return seen->different > 1 && seen->different <= FEW && seen->names == seen->lines;
}

/* Whether the summary should name a column that has a number alone. */
static bool has_few_values(const leat_text *lines, int count, const leat_can_layout *layout,
                           int column) {
    const values seen = look_at(lines, count, layout, column);
    return (seen.kinds && seen.different <= FEW) ||
           (is_few(&seen) && seen.lines >= LINES_ENOUGH && seen.marks < seen.lines);
}

/* Whether the summary should name a column: its name is that of a mark or a bus, or nobody knows
 * it, and it has few values. */
static bool is_worth_naming(const leat_text *lines, int count, leat_text name,
                            const leat_can_layout *layout, int column) {
    bool part = false;
    char plain[LEAT_CAN_PLAIN_BYTES];
    const leat_can_mark_row *word = find_word(name, &part);
    plain_name(name, plain);
    const leat_can_vague_row *vague = find_vague(name);
    bool type = leat_can_may_be_mark(name),
         mark = word != NULL && word->sure != LEAT_CAN_SURE_NO_USE;
    if ((word != NULL && !mark) || is_byte(name) || plain[0] == 0) return false;
    if (!mark && !type && vague == NULL && (leat_can_label_like(name) || leat_can_is_usual(name)))
        return false;
    const values seen = look_at(lines, count, layout, column);
    if (mark && word->column != LEAT_CAN_COLUMN_BUS) return seen.marks < seen.lines || seen.set > 0;
    if (seen.kinds && seen.different <= FEW) return true;
    if (type) return seen.different > 1;
    if (vague != NULL && !vague->bus && seen.marks == seen.lines) return seen.set > 0;
    /* a second bus may come late */
    int least = vague != NULL && vague->bus && vague->where != LEAT_CAN_VAGUE_ALL ? 1 : 2;
    if (vague != NULL) return seen.different >= least && seen.different <= FEW;
    return is_few(&seen) && (mark || (seen.lines >= LINES_ENOUGH && seen.marks < seen.lines));
}

void leat_can_find_unused(const leat_text *lines, int count, const leat_text *names,
                          leat_can_layout *layout) {
    size_t used = 0, size = sizeof layout->unused;
    layout->unused[0] = 0;
    for (int k = 0; k < layout->column_count; k++) {
        char name[LEAT_CAN_LABEL_NAME_BYTES], text[LEAT_CAN_LABEL_NAME_BYTES + 4];
        if (layout->column[k] != LEAT_CAN_COLUMN_OTHER) continue;
        if (names == NULL) snprintf(name, sizeof name, "%d", k + 1);
        else leat_text_show(name, sizeof name, names[k].data, names[k].size_bytes);
        snprintf(text, sizeof text, "\"%s\"", name);
        if (strstr(layout->label_like.names, text) != NULL) continue;
        if (used + strlen(text) + 3 > size) continue;
        if (names == NULL ? !has_few_values(lines, count, layout, k)
                          : !is_worth_naming(lines, count, names[k], layout, k))
            continue;
        used += (size_t)snprintf(layout->unused + used, size - used, "%s%s", used > 0 ? ", " : "",
                                 text);
    }
}
