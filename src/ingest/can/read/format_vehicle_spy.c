/*
 * Vehicle Spy's csv. A preamble, which has a table of networks with their protocols, ends with one
 * or more headers, each for some of the protocols; rows of all networks follow. A row is read as
 * that of a csv (csv_line.c), by the header that is for CAN: the one with Arb ID, or else PT.
 *
 *   Network Description,Hardware,Network,Protocol,Baud Rate
 *   HS CAN,neoVI,HS CAN,CAN,500000,
 *   Line,Abs Time(Sec),Rel Time (Sec),...,Network,Node,Arb ID,Remote,Xtd,B1,B2,...
 *   1,2550.000834,0.000000,...,HS CAN,,2CC,F,F,59,00,...
 */
#include <stdio.h>

#include "ingest/can/read/csv.h"
#include "ingest/can/read/fields.h"
#include "ingest/can/read/formats.h"

/* The place of the first cell with such a name, which may be only how it begins; -1: none. */
static int find_cell(const leat_text *cells, int count, const char *name, bool begin) {
    for (int i = 0; i < count; i++) {
        char plain[LEAT_CAN_PLAIN_BYTES];
        plain_name(cells[i], plain);
        if (begin ? strncmp(plain, name, strlen(name)) == 0 : strcmp(plain, name) == 0) return i;
    }
    return -1;
}

/* The cells of a line, without those behind the most that a layout has. */
static int split(leat_text line, leat_text cells[LEAT_CAN_COLUMNS_MAX]) {
    const char *at = line.data, *end = at + line.size_bytes;
    int count = 0;
    while (at != NULL && count < LEAT_CAN_COLUMNS_MAX && take_field(&at, end, ',', &cells[count])) {
        cells[count] = leat_text_trim(cells[count]);
        count++;
    }
    return count;
}

/* Rows are numbered. */
static bool is_row(leat_text line) {
    line = leat_text_trim(line);
    return line.size_bytes > 0 && line.data[0] >= '0' && line.data[0] <= '9';
}

/* ---- the preamble --------------------------------------------------------------------------- */

/* The bytes B1, B2, ..., wherever they are: the number of columns up to the last of them; 0: there
 * are none, or one of them is missing. */
static int name_bytes(const leat_text *cells, int count, leat_can_layout *layout) {
    int columns = 0, end = LEAT_CAN_FD_BYTES;
    for (int i = 0; i < LEAT_CAN_FD_BYTES; i++) {
        char name[8];
        snprintf(name, sizeof name, "b%d", i + 1);
        int at = find_cell(cells, count, name, false);
        if (at < 0 && i < end) end = i;
        if (at >= 0 && i > end) return 0;
        if (at < 0) continue;
        layout->column[at] = LEAT_CAN_COLUMN_BYTE;
        layout->byte[at] = (int8_t)i;
        if (at >= columns) columns = at + 1;
    }
    return columns;
}

/* Where a header has the columns of a frame: its layout is complete, or it is none for CAN. */
static bool read_header(const leat_text *cells, int count, leat_can_layout *layout) {
    static const struct {
        const char *name;
        int8_t column;
        bool begin;
    } columns[] = {
        {"abstime", LEAT_CAN_COLUMN_TIME, true},  {"reltime", LEAT_CAN_COLUMN_TIME, true},
        {"er", LEAT_CAN_COLUMN_ERROR, false},     {"network", LEAT_CAN_COLUMN_BUS, false},
        {"arbid", LEAT_CAN_COLUMN_ID, false},     {"pt", LEAT_CAN_COLUMN_ID, false},
        {"remote", LEAT_CAN_COLUMN_REMOTE, true}, {"trgt", LEAT_CAN_COLUMN_REMOTE, false},
        {"xtd", LEAT_CAN_COLUMN_EXTENDED, false}, {"src", LEAT_CAN_COLUMN_EXTENDED, false},
    };
    int of[LEAT_CAN_COLUMN_KINDS];
    memset(of, -1, sizeof of);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        int found = find_cell(cells, count, columns[i].name, columns[i].begin);
        if (found < 0 || of[columns[i].column] >= 0) continue;
        of[columns[i].column] = found;
        if (strcmp(columns[i].name, "reltime") == 0) layout->gaps = true;
    }
    for (int kind = 0; kind < LEAT_CAN_COLUMN_KINDS; kind++) {
        bool needed = kind == LEAT_CAN_COLUMN_TIME || kind == LEAT_CAN_COLUMN_ID ||
                      kind == LEAT_CAN_COLUMN_EXTENDED;
        if (needed && of[kind] < 0) return false;
    }
    memset(layout->column, LEAT_CAN_COLUMN_OTHER, sizeof layout->column);
    for (int kind = 0; kind < LEAT_CAN_COLUMN_KINDS; kind++) {
        if (of[kind] >= 0) layout->column[of[kind]] = (int8_t)kind;
    }
    layout->column_count = name_bytes(cells, count, layout); /* whatever follows is not read */
    for (int kind = 0; kind < LEAT_CAN_COLUMN_KINDS; kind++) {
        if (of[kind] >= layout->column_count) return false;
    }
    return layout->column_count > 0;
}

/* Networks whose protocol is not CAN, by the table of the preamble: a line of it, or its header. */
static void read_network(const leat_text *cells, int count, int *name, int *protocol,
                         leat_can_layout *layout) {
    if (*name < 0) {
        *name = find_cell(cells, count, "network", false);
        *protocol = find_cell(cells, count, "protocol", false);
        if (*protocol < 0) *name = -1;
        return;
    }
    if (*name >= count || *protocol >= count || cells[*protocol].size_bytes == 0) return;
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(cells[*protocol], plain);
    if (strstr(plain, "can") == NULL) leat_can_note_bus(&layout->others, cells[*name]);
}

/* The text of the columns that are read, and the network; false: invalid quotes, or no columns. */
static bool cut_row(const leat_can_layout *layout, const char *at, const char **end,
                    leat_text *network) {
    *network = (leat_text){NULL, 0};
    if (layout->column_count == 0) return false; /* after a header of another kind */
    const char *next = at;
    for (int i = 0; i < layout->column_count && next != NULL; i++) {
        leat_text cell;
        if (!take_field(&next, *end, layout->part, &cell)) return false;
        if (layout->column[i] == LEAT_CAN_COLUMN_BUS) *network = leat_text_trim(cell);
    }
    if (next != NULL) *end = next - 1;
    return true;
}

static bool is_other(const leat_can_layout *layout, leat_text network) {
    for (int i = 0; i < layout->others.count; i++) {
        leat_text other = {layout->others.names[i].text, layout->others.names[i].size_bytes};
        if (other.size_bytes == network.size_bytes &&
            memcmp(other.data, network.data, (size_t)other.size_bytes) == 0)
            return true;
    }
    return false;
}

static void note_buses(leat_can_layout *layout, const char *text, const char *end) {
    for (const char *at = text; at < end;) {
        const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed != NULL ? feed : end;
        const char *cut = stop;
        leat_text network;
        if (is_row(text_between(at, stop)) && cut_row(layout, at, &cut, &network) &&
            !is_other(layout, network))
            leat_can_note_bus(&layout->buses, network);
        at = stop + 1;
    }
}

/* ---- decimal notation ------------------------------------------------------------------------ */

/* What the cells of the first rows look like. Nothing else says in which notation a file is
 * written, but hexadecimal bytes have two digits. */
typedef struct digits {
    bool hexadecimal; /* a letter, or a byte with a zero before its digit */
    bool decimal;     /* a byte of three digits */
    bool described;   /* the description of an identifier has it in hexadecimal digits */
    int single;       /* bytes of one digit */
} digits;

static bool has_letter(leat_text cell) {
    for (int i = 0; i < cell.size_bytes; i++) {
        if (digit_of(cell.data[i]) > 9) return true;
    }
    return false;
}

/* "HS CAN $2CC" beside 716: descriptions are hexadecimal. */
static bool is_described(leat_text cell, leat_text id) {
    uint32_t shown = 0, value = 0;
    const char *dollar = memrchr(cell.data, '$', (size_t)cell.size_bytes);
    if (dollar == NULL) return false;
    if (!read_hex(text_between(dollar + 1, cell.data + cell.size_bytes), &shown)) return false;
    return read_decimal(id, 10, LEAT_CAN_ID_29_MAX, &value) && value == shown;
}

static void look_at_row(const leat_can_layout *layout, const leat_text *cells, int count,
                        int description, digits *seen) {
    for (int i = 0; i < count && i < layout->column_count; i++) {
        leat_text cell = cells[i];
        if (layout->column[i] == LEAT_CAN_COLUMN_ID) {
            uint32_t value = 0;
            seen->hexadecimal = seen->hexadecimal || has_letter(cell);
            bool told =
                description >= 0 && description < count && is_described(cells[description], cell);
            seen->described = seen->described || (told && read_hex(cell, &value) && value > 9);
        }
        if (layout->column[i] != LEAT_CAN_COLUMN_BYTE || cell.size_bytes == 0) continue;
        uint32_t value = 0;
        bool padded = cell.size_bytes == 2 && cell.data[0] == '0';
        seen->hexadecimal = seen->hexadecimal || has_letter(cell) || padded;
        seen->decimal =
            seen->decimal || (cell.size_bytes == 3 && read_decimal(cell, 3, UINT8_MAX, &value));
        seen->single += cell.size_bytes == 1;
    }
}

/* False, and why: the numbers seem to be decimal. */
static bool check_notation(const leat_can_first_lines *of, int first, int description,
                           const leat_can_layout *layout, char why[LEAT_CAN_WHY_BYTES]) {
    enum { SINGLE_ENOUGH = 16 };
    digits seen = {0};
    for (int i = first; i < of->count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX];
        int count = split(of->lines[i], cells);
        if (is_row(of->lines[i])) look_at_row(layout, cells, count, description, &seen);
    }
    bool bytes = !seen.hexadecimal && (seen.decimal || seen.single >= SINGLE_ENOUGH);
    if (!bytes && !seen.described) return true;
    snprintf(why, LEAT_CAN_WHY_BYTES,
             "its identifiers or bytes seem to be decimal; save it with hexadecimal numbers, or "
             "remove what is above the header with Arb ID and use --column \"time=Abs "
             "Time(Sec),id=Arb ID:dec,data=B1..B8:dec,bus=Network,extended=Xtd\"");
    return false;
}

static bool lay_out(const leat_can_first_lines *of, const leat_can_line_options *options,
                    leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]) {
    (void)options;
    int name = -1, protocol = -1, description = -1;
    bool found = false, sure = false;
    leat_can_layout from = *layout;
    enum { ROW_CELLS = 8 };
    int i = 0, row = -1; /* before a header: it is listed, or read as those after it */
    for (; i < of->count && !(found && is_row(of->lines[i])); i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX];
        int count = split(of->lines[i], cells);
        bool header = count > 0 && is_word_of_any_case(cells[0], "line");
        if (header) *first = i + 1; /* what follows belongs to the log */
        else if (row < 0 && is_row(of->lines[i]) && count >= ROW_CELLS) row = i;
        if (!header && !found) read_network(cells, count, &name, &protocol, &from);
        leat_can_layout made = from;
        if (!header || sure || !read_header(cells, count, &made)) continue;
        found = true;
        sure = find_cell(cells, count, "arbid", false) >= 0;
        *layout = made;
        layout->clock.mode = made.gaps ? 'R' : 'A';
        description = find_cell(cells, count, "description", false);
    }
    if (row >= 0 && row < *first) *first = row;
    layout->part = ',';
    layout->named = true;
    layout->id_unit = LEAT_CAN_UNIT_HEX;
    layout->data_unit = LEAT_CAN_UNIT_HEX;
    for (; i < of->count && found; i++)
        note_buses(layout, of->lines[i].data, of->lines[i].data + of->lines[i].size_bytes);
    return found && check_notation(of, *first, description, layout, why);
}

/* ---- a row ---------------------------------------------------------------------------------- */

static leat_can_reject parse(const leat_can_layout *layout, const leat_can_line_options *options,
                             const char *at, const char *end, leat_can_line *line) {
    leat_text network;
    if (!is_row(text_between(at, end))) return LEAT_CAN_REJECT_EVENT;
    if (!cut_row(layout, at, &end, &network)) return LEAT_CAN_REJECT_LINE;
    if (is_other(layout, network)) return LEAT_CAN_REJECT_EVENT;
    return leat_can_parse_table(layout, options, at, end, line);
}

/* Files that were put together have a header each. That of CAN holds for the rows after it; where
 * their times are of another kind, they cannot be read beside the others. */
static void follow(leat_can_layout *layout, const char *at, const char *end) {
    leat_text cells[LEAT_CAN_COLUMNS_MAX], line = text_between(at, end);
    leat_can_layout made = *layout;
    if (is_row(line)) return;
    int count = split(line, cells);
    if (count == 0 || !is_word_of_any_case(cells[0], "line") ||
        find_cell(cells, count, "arbid", false) < 0)
        return;
    made.gaps = false;
    if (!read_header(cells, count, &made)) return;
    const bool relative = find_cell(cells, count, "abstime", true) < 0;
    memcpy(layout->column, made.column, sizeof layout->column);
    memcpy(layout->byte, made.byte, sizeof layout->byte);
    layout->column_count = relative == (layout->clock.mode == 'R') ? made.column_count : 0;
}

const leat_can_format_lines leat_can_vehicle_spy = {.lay_out = lay_out,
                                                    .parse = parse,
                                                    .find_time = leat_can_find_table_time,
                                                    .note_buses = note_buses,
                                                    .follow = follow};
