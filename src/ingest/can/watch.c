/*
 * Columns of a csv that are not used, but may be labels: whatever their names, if all of their
 * values are 0 and 1, and both occur. Attacks may begin late, so the whole file decides. In a log
 * with labels, only columns whose names say so are watched, for words that name attacks: they count
 * if no frame of the log is labelled as one.
 */
#include <stdio.h>
#include <string.h>

#include "ingest/can/pieces.h"
#include "ingest/can/table.h"

/* Columns of two values that say nothing about attacks. */
static bool is_of_the_bus(leat_text name) {
    static const char *const names[] = {"extended",
                                        "isextended",
                                        "extendedid",
                                        "isextendedid",
                                        "ext",
                                        "ide",
                                        "remote",
                                        "isremote",
                                        "isremoteframe",
                                        "rtr",
                                        "srr",
                                        "error",
                                        "iserror",
                                        "iserrorframe",
                                        "fd",
                                        "isfd",
                                        "canfd",
                                        "fdf",
                                        "edl",
                                        "brs",
                                        "esi",
                                        "bitrateswitch",
                                        "isrx",
                                        "istx",
                                        "rx",
                                        "tx",
                                        "dir",
                                        "errorstateindicator",
                                        "ack",
                                        "direction",
                                        "bus",
                                        "channel",
                                        "interface",
                                        "canchannel",
                                        "port",
                                        "r0",
                                        "r1",
                                        "isextendedframe",
                                        "isfdframe"};
    static const char *const bytes[] = {"data", "d", "byte", "b", "databyte", "payload", "signal"};
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(plain, names[i]) == 0) return true;
    }
    size_t letters = strcspn(plain, "0123456789");
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        if (plain[letters] != 0 && strlen(bytes[i]) == letters &&
            strncmp(plain, bytes[i], letters) == 0)
            return true;
    }
    return false;
}

static uint8_t look_at(leat_text cell) {
    static const char *const zeros[] = {"0", "0.0", "-1", "-1.0", "false", "f", "no", "n", "nan"};
    static const char *const ones[] = {"1", "1.0", "true", "t", "yes", "y"};
    bool attack = false;
    uint8_t seen = 0;
    if (cell.size_bytes == 0) return LEAT_CAN_SEEN_ZERO;
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        if (is_word_of_any_case(cell, zeros[i])) return LEAT_CAN_SEEN_ZERO;
    }
    for (size_t i = 0; i < sizeof ones / sizeof *ones && seen == 0; i++) {
        if (is_word_of_any_case(cell, ones[i])) seen = LEAT_CAN_SEEN_ONE;
    }
    if (seen == 0) seen = LEAT_CAN_SEEN_OTHER;
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

void leat_can_watch_columns(const leat_text *lines, int count, const leat_text *names,
                            leat_can_layout *layout) {
    layout->watch_count = 0;
    for (int k = 0; k < layout->column_count && layout->watch_count < LEAT_CAN_WATCH_MAX; k++) {
        if (layout->column[k] != LEAT_CAN_COLUMN_OTHER) continue;
        bool named = names != NULL && leat_can_label_like(names[k]);
        if (layout->labelled ? !named : names != NULL && is_of_the_bus(names[k])) continue;
        int seen = look_at_column(lines, count, names != NULL ? 1 : 0, layout, k);
        if (!layout->labelled && (seen & LEAT_CAN_SEEN_OTHER) != 0) continue;
        layout->watch[layout->watch_count].column = k;
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
    for (int i = 0; i < layout->watch_count; i++) {
        file->seen[i] |= seen[i];
        bool two = !layout->labelled && (file->seen[i] & BOTH) == BOTH &&
                   (file->seen[i] & LEAT_CAN_SEEN_OTHER) == 0;
        bool attack = layout->labelled && (file->marks & attacks) == 0 &&
                      (file->seen[i] & LEAT_CAN_SEEN_ATTACK) != 0;
        if (file->watched || !(two || attack)) continue;
        memcpy(file->label_like, layout->watch[i].name, sizeof file->label_like);
        file->watched = true;
    }
}
