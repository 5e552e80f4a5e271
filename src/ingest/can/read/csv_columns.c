/*
 * What the columns of a csv mean, by --column and by their names. Names are compared without case,
 * blanks and punctuation.
 */
#include <stdio.h>

#include "ingest/can/read/attack_types.h"
#include "ingest/can/read/column_option.h"
#include "ingest/can/read/csv_header.h"
#include "ingest/can/read/known_logs.h"
#include "ingest/can/read/labels.h"

/* ---- usual names ---------------------------------------------------------------------------- */

/* "data_0", "D1", "Byte 7": bytes in columns of their own; *number is that of the byte. */
static bool is_byte_name(leat_text name, int *number) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    char *digits = plain + strcspn(plain, "0123456789");
    if (strlen(digits) > 2 || !read_count(text_of(digits), LEAT_CAN_FD_BYTES, number)) return false;
    *digits = 0;
    return is_listed(plain, leat_can_byte_names);
}

static int8_t usual_column(leat_text name, leat_can_unit *unit) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    for (const leat_can_column_row *row = leat_can_column_names; row->name != NULL; row++) {
        if (strcmp(plain, row->name) != 0) continue;
        *unit = row->unit;
        return row->column;
    }
    return leat_can_mark_column(name);
}

/* "Time (µs)", in UTF-8 with either of its letters, or in Latin-1: plain names have letters of
 * ASCII alone, so that this one is "times". */
static bool has_micro(leat_text name) {
    for (int i = 0; i < name.size_bytes; i++) {
        const uint8_t before = i > 0 ? (uint8_t)name.data[i - 1] : 0,
                      letter = (uint8_t)name.data[i];
        bool micro = letter == 0xb5 && (before == 0xc2 || before < 0x80);
        if (micro || (before == 0xce && letter == 0xbc)) return true;
    }
    return false;
}

/* The meaning of a header's cell, and the unit that it names. */
static int8_t column_of(const leat_can_header *head, int cell, leat_can_unit *unit) {
    const int8_t column = usual_column(head->cells[cell], unit);
    if (column == LEAT_CAN_COLUMN_TIME && has_micro(head->cells[cell])) *unit = LEAT_CAN_UNIT_US;
    return column;
}

bool leat_can_is_usual(leat_text name) {
    leat_can_unit unit = LEAT_CAN_UNIT_NONE;
    int number = 0;
    return usual_column(name, &unit) != LEAT_CAN_COLUMN_OTHER || is_byte_name(name, &number);
}

/* IntID1, id_dec */
bool leat_can_is_decimal_name(leat_text name) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    bool decimal = strncmp(plain, "int", 3) == 0 || strstr(plain, "dec") != NULL;
    return decimal && strstr(plain, "id") != NULL;
}

bool leat_can_may_be_decimal_name(leat_text name) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    return is_listed(plain, leat_can_maybe_decimal_names);
}

/* ---- --column ------------------------------------------------------------------------------- */

static const int8_t role_columns[LEAT_CAN_ROLE_COUNT] = {
    [LEAT_CAN_ROLE_TIME] = LEAT_CAN_COLUMN_TIME,
    [LEAT_CAN_ROLE_ID] = LEAT_CAN_COLUMN_ID,
    [LEAT_CAN_ROLE_BUS] = LEAT_CAN_COLUMN_BUS,
    [LEAT_CAN_ROLE_DLC] = LEAT_CAN_COLUMN_DLC,
    [LEAT_CAN_ROLE_DATA] = LEAT_CAN_COLUMN_PAYLOAD,
    [LEAT_CAN_ROLE_LABEL] = LEAT_CAN_COLUMN_LABEL,
    [LEAT_CAN_ROLE_ATTACK] = LEAT_CAN_COLUMN_ATTACK,
    [LEAT_CAN_ROLE_EXTENDED] = LEAT_CAN_COLUMN_EXTENDED,
    [LEAT_CAN_ROLE_REMOTE] = LEAT_CAN_COLUMN_REMOTE,
    [LEAT_CAN_ROLE_ERROR] = LEAT_CAN_COLUMN_ERROR,
};

int leat_can_number_of(const char *name) {
    int number = 0;
    return read_count(text_of(name), LEAT_CAN_COLUMNS_MAX, &number) ? number : 0;
}

bool leat_can_is_same_name(leat_text cell, const char *name, bool exact) {
    if (exact) return is_word(cell, name);
    char a[LEAT_CAN_PLAIN_BYTES], b[LEAT_CAN_PLAIN_BYTES];
    plain_name(cell, a);
    plain_name(text_of(name), b);
    return a[0] != 0 && strcmp(a, b) == 0;
}

/* The column of this name, or else without case and punctuation, or else of this number. */
static bool find_named(const leat_can_header *head, const char *role, const char *name,
                       int *column) {
    for (int exact = 1; head->named && exact >= 0; exact--) {
        int found = 0;
        for (int i = 0; i < head->count; i++) {
            if (!leat_can_is_same_name(head->cells[i], name, exact == 1)) continue;
            *column = i;
            found++;
        }
        if (found == 1) return true;
        if (found > 1)
            return leat_can_header_refuse(
                head,
                "%d columns have the name \"%.40s\" of --column %s; use the number "
                "of one of them",
                found, name, role);
    }
    int number = leat_can_number_of(name);
    *column = number - 1;
    if (number > 0 && number <= head->count) return true;
    return leat_can_header_refuse(
        head,
        "there is no column \"%.40s\", which --column %s names, among %d columns; "
        "name another one or give its number",
        name, role, head->count);
}

static bool map_role(const leat_can_header *head, int role, const leat_can_mapped *mapped,
                     leat_can_layout *layout) {
    int first = 0, last = 0;
    const char *name = leat_can_role_names[role];
    if (!find_named(head, name, mapped->name, &first)) return false;
    last = first;
    if (mapped->last[0] != 0 && !find_named(head, name, mapped->last, &last)) return false;
    if (last < first)
        return leat_can_header_refuse(
            head,
            "--column data: \"%.40s\" is after \"%.40s\"; name the first byte "
            "first",
            mapped->name, mapped->last);
    for (int i = first; i <= last; i++) {
        if (layout->column[i] != LEAT_CAN_COLUMN_OTHER)
            return leat_can_header_refuse(head, "--column uses column %d twice; use it once",
                                          i + 1);
        layout->column[i] = mapped->last[0] != 0 ? LEAT_CAN_COLUMN_BYTE : role_columns[role];
        layout->byte[i] = (int8_t)(i - first);
    }
    if (role == (int)LEAT_CAN_ROLE_TIME) layout->time_unit = mapped->unit;
    if (layout->time_unit == LEAT_CAN_UNIT_GAP) {
        layout->gaps = true;
        layout->time_unit = LEAT_CAN_UNIT_NONE;
        if (head->named) (void)column_of(head, first, &layout->time_unit);
    }
    if (role == (int)LEAT_CAN_ROLE_ID) layout->id_unit = mapped->unit;
    if (role == (int)LEAT_CAN_ROLE_DLC) layout->dlc_unit = mapped->unit;
    if (role == (int)LEAT_CAN_ROLE_DATA) layout->data_unit = mapped->unit;
    if (role == (int)LEAT_CAN_ROLE_LABEL && head->named)
        layout->label_of_type |= leat_can_is_attack_type(head->cells[first]);
    if (role == (int)LEAT_CAN_ROLE_LABEL && head->named) {
        uint8_t type = leat_can_word_type(head->cells[first], head->options->longer);
        if (type > LEAT_CAN_TYPE_UNKNOWN) layout->label_type[first] = type;
    }
    if (role == (int)LEAT_CAN_ROLE_LABEL && head->named &&
        leat_can_is_benign_name(head->cells[first])) {
        layout->label_inverted[first / 64] |= UINT64_C(1) << first % 64;
        layout->doubts |= LEAT_CAN_DOUBT_INVERTED;
    }
    return true;
}

/* One column or several; a + may as well belong to the name of one. */
static bool map_labels(const leat_can_header *head, const leat_can_mapping *mapping,
                       leat_can_layout *layout) {
    layout->label_chosen = true;
    snprintf(layout->label_like.option, sizeof layout->label_like.option, "%s", mapping->label);
    for (int i = 0; head->named && i < head->count; i++) {
        leat_can_mapped whole = {.last = ""};
        if (mapping->label_count == 1 || !is_word(head->cells[i], mapping->label)) continue;
        snprintf(whole.name, sizeof whole.name, "%d", i + 1);
        return map_role(head, LEAT_CAN_ROLE_LABEL, &whole, layout);
    }
    for (int i = 0; i < mapping->label_count; i++) {
        leat_can_mapped one = {.last = ""};
        memcpy(one.name, mapping->labels[i], sizeof one.name);
        if (!map_role(head, LEAT_CAN_ROLE_LABEL, &one, layout)) return false;
    }
    return true;
}

bool leat_can_map_columns(const leat_can_header *head, leat_can_layout *layout) {
    const leat_can_mapping *mapping = head->options->columns;
    for (int role = 0; mapping != NULL && role < (int)LEAT_CAN_ROLE_COUNT; role++) {
        const leat_can_mapped *mapped = &mapping->roles[role];
        if (mapped->name[0] == 0) continue;
        bool good = role == (int)LEAT_CAN_ROLE_LABEL ? map_labels(head, mapping, layout)
                                                     : map_role(head, role, mapped, layout);
        if (!good) return false;
    }
    return true;
}

/* ---- headers that are always the same -------------------------------------------------------- */

bool leat_can_has_gvret_columns(const leat_can_header *head) {
    int found = 0;
    for (const char *const *name = leat_can_gvret_header; *name != NULL; name++) {
        for (int k = 0; k < head->count; k++) {
            if (!leat_can_is_same_name(head->cells[k], *name, false)) continue;
            found++;
            break;
        }
    }
    return head->named && found == count_listed(leat_can_gvret_header);
}

bool leat_can_is_ciciov(const leat_can_header *head, bool all) {
    int columns = count_listed(leat_can_ciciov_header);
    if (!head->named || (all && head->count != columns)) return false;
    for (int i = 0; i < (all ? columns : LEAT_CAN_CICIOV_COLUMNS); i++) {
        if (i >= head->count ||
            !leat_can_is_same_name(head->cells[i], leat_can_ciciov_header[i], false))
            return false;
    }
    return true;
}

bool leat_can_is_python_can(const leat_can_header *head) {
    int count = count_listed(leat_can_python_can_header);
    if (head->count != count || head->part != ',') return false;
    for (int i = 0; i < count; i++) {
        if (!is_word(head->cells[i], leat_can_python_can_header[i])) return false;
    }
    return true;
}

/* CANedge's converters and webCAN, unless --column names some of its columns: "DLC" is the code of
 * a CAN-FD frame there, "DataLength" the number of bytes. */
static void name_canedge(const leat_can_header *head, leat_can_layout *layout) {
    int columns = 0;
    for (; leat_can_canedge_header[columns].name != NULL; columns++) {
        if (columns >= head->count || layout->column[columns] != LEAT_CAN_COLUMN_OTHER ||
            !is_word(head->cells[columns], leat_can_canedge_header[columns].name))
            return;
    }
    if (columns != head->count) return;
    for (int i = 0; i < columns; i++) layout->column[i] = leat_can_canedge_header[i].column;
    layout->dlc_unit = LEAT_CAN_UNIT_BYTES;
}

/* Whether the payloads of an export are arrays in brackets, or hexadecimal bytes. False, and why:
 * arrays that are broken into several lines. */
static bool note_asammdf(const leat_can_header *head, int payload, leat_can_layout *layout) {
    static const char begin[] = "\"[";
    int arrays = 0;
    for (int i = 1; i < head->line_count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX], line = head->lines[i];
        int count = leat_can_line_cells(head, i, cells);
        if (count < 0 && memmem(line.data, (size_t)line.size_bytes, begin, strlen(begin)) != NULL)
            return leat_can_header_refuse(
                head, "asammdf has broken its payloads into several lines; export them as "
                      "hexadecimal bytes, with mdf.can_logging_db = True before mdf.export()");
        arrays += payload < count && cells[payload].size_bytes > 0 && *cells[payload].data == '[';
    }
    layout->data_unit = arrays > 0 ? LEAT_CAN_UNIT_DEC : LEAT_CAN_UNIT_HEX;
    layout->id_unit = layout->data_unit;
    return true;
}

/* What asammdf exports of an MDF file of bus logging, unless --column names some of its columns.
 * Its identifiers are decimal if its payloads are arrays of decimal numbers, else hexadecimal. */
static bool name_asammdf(const leat_can_header *head, leat_can_layout *layout) {
    int of[LEAT_CAN_COLUMN_KINDS];
    memset(of, -1, sizeof of);
    if (head->options->columns != NULL || !is_word(head->cells[0], "timestamps")) return true;
    for (const leat_can_header_row *row = leat_can_asammdf_columns; row->name != NULL; row++) {
        int32_t size = (int32_t)strlen(row->name);
        for (int i = 1; i < head->count; i++) {
            leat_text name = head->cells[i];
            leat_text last = {name.data + name.size_bytes - size, size};
            if (name.size_bytes < size || !is_word(last, row->name)) continue;
            if (of[row->column] >= 0) return true; /* of several channels */
            of[row->column] = i;
        }
    }
    if (of[LEAT_CAN_COLUMN_ID] < 0 || of[LEAT_CAN_COLUMN_PAYLOAD] < 0) return true;
    if (of[LEAT_CAN_COLUMN_DLC] < 0)
        return leat_can_header_refuse(
            head, "asammdf fills payloads up, and there is no column CAN_DataFrame.DataLength that "
                  "says how many bytes a frame has; export it as well");
    for (int kind = 0; kind < LEAT_CAN_COLUMN_KINDS; kind++) {
        if (of[kind] >= 0) layout->column[of[kind]] = (int8_t)kind;
    }
    layout->dlc_unit = LEAT_CAN_UNIT_BYTES;
    layout->padded = true;
    return note_asammdf(head, of[LEAT_CAN_COLUMN_PAYLOAD], layout);
}

/* ---- columns by their usual names ----------------------------------------------------------- */

static void set_unit(leat_can_layout *layout, int column, leat_can_unit unit) {
    if (column == LEAT_CAN_COLUMN_TIME) layout->time_unit = unit;
    if (column == LEAT_CAN_COLUMN_PAYLOAD) layout->data_unit = unit;
}

/* Whatever --column has not given. */
static bool name_usual(const leat_can_header *head, leat_can_layout *layout) {
    bool given[LEAT_CAN_COLUMN_KINDS] = {false};
    int of[LEAT_CAN_COLUMN_KINDS];
    for (int i = 0; i < head->count; i++) given[layout->column[i]] = true;
    given[LEAT_CAN_COLUMN_PAYLOAD] |= given[LEAT_CAN_COLUMN_BYTE];
    memset(of, -1, sizeof of);
    for (int i = 0; i < head->count; i++) {
        leat_can_unit unit = LEAT_CAN_UNIT_NONE;
        int8_t column = column_of(head, i, &unit);
        if (column == LEAT_CAN_COLUMN_OTHER || given[column] ||
            layout->column[i] != LEAT_CAN_COLUMN_OTHER)
            continue;
        if (of[column] >= 0) {
            static const char *const what[] = {"the time", "the identifier", "the payload"};
            return leat_can_header_refuse(
                head, "columns \"%s\" and \"%s\" may both be %s; choose one with --column",
                leat_can_show_name(head->cells[of[column]]).text,
                leat_can_show_name(head->cells[i]).text,
                column <= LEAT_CAN_COLUMN_PAYLOAD ? what[column] : "meant");
        }
        of[column] = i;
        set_unit(layout, column, unit);
    }
    for (int kind = 0; kind < LEAT_CAN_COLUMN_KINDS; kind++) {
        if (of[kind] >= 0) layout->column[of[kind]] = (int8_t)kind;
    }
    return true;
}

/* Columns named Data0, Data1, ... or from 1 on, wherever they are, if there is no payload in one
 * column. Each byte has the place of its number. */
static bool name_bytes(const leat_can_header *head, leat_can_layout *layout) {
    int of[LEAT_CAN_FD_BYTES + 1], last = -1;
    if (leat_can_find_column(layout, LEAT_CAN_COLUMN_PAYLOAD) >= 0) return true;
    if (leat_can_find_column(layout, LEAT_CAN_COLUMN_BYTE) >= 0) return true;
    bool header = leat_can_find_column(layout, LEAT_CAN_COLUMN_TIME) >= 0 ||
                  leat_can_find_column(layout, LEAT_CAN_COLUMN_ID) >= 0;
    memset(of, -1, sizeof of);
    for (int i = 0; header && i < head->count; i++) {
        int number = 0;
        if (layout->column[i] != LEAT_CAN_COLUMN_OTHER || !is_byte_name(head->cells[i], &number))
            continue;
        if (of[number] >= 0)
            return leat_can_header_refuse(
                head,
                "columns \"%s\" and \"%s\" may both be byte %d; choose the payload with "
                "--column data=FIRST..LAST",
                leat_can_show_name(head->cells[of[number]]).text,
                leat_can_show_name(head->cells[i]).text, number);
        of[number] = i;
        if (number > last) last = number;
    }
    int first = of[0] >= 0 ? 0 : 1;
    for (int number = first; number <= last; number++) {
        if (of[number] < 0)
            return leat_can_header_refuse(
                head,
                "column \"%s\" looks like a byte of the payload, but there is none for "
                "byte %d; choose the payload with --column data=FIRST..LAST",
                leat_can_show_name(head->cells[of[last]]).text, number);
        layout->column[of[number]] = LEAT_CAN_COLUMN_BYTE;
        layout->byte[of[number]] = (int8_t)(number - first);
    }
    return true;
}

/* The label: the first choice among the known names. Others are named as unused. */
static bool name_label(const leat_can_header *head, leat_can_layout *layout) {
    int best = -1, best_rank = -1;
    bool given = leat_can_find_column(layout, LEAT_CAN_COLUMN_LABEL) >= 0;
    for (int i = 0; i < head->count; i++) {
        int rank = leat_can_label_rank(head->cells[i]);
        if (layout->column[i] != LEAT_CAN_COLUMN_OTHER || rank < 0) continue;
        if (best >= 0 && rank == best_rank)
            return leat_can_header_refuse(
                head,
                "columns \"%s\" and \"%s\" may both be the label; choose one with "
                "--column label=NAME, or its number",
                leat_can_show_name(head->cells[best]).text,
                leat_can_show_name(head->cells[i]).text);
        if (given || (best >= 0 && rank > best_rank)) continue;
        best = i;
        best_rank = rank;
    }
    if (!given && best >= 0) layout->column[best] = LEAT_CAN_COLUMN_LABEL;
    for (int i = 0; i < head->count; i++) {
        if (layout->column[i] == LEAT_CAN_COLUMN_OTHER && leat_can_label_rank(head->cells[i]) >= 0)
            leat_can_add_label_like(head->cells, head->count, i, &layout->label_like);
    }
    return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */

bool leat_can_name_columns(const leat_can_header *head, leat_can_layout *layout) {
    name_canedge(head, layout);
    if (!name_asammdf(head, layout)) return false;
    if (!name_usual(head, layout) || !name_label(head, layout) || !name_bytes(head, layout))
        return false;
    leat_can_name_marks(head->lines, head->line_count, head->cells, layout);
    return true;
}
