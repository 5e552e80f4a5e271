/*
 * The columns of a csv, from its header and --column. Names are compared without case, blanks and
 * punctuation. A name decides what a column means; the first lines decide only what no name can:
 * whether a DLC counts bits, and whether bytes in columns of their own are decimal.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ingest/can/read/pieces.h"
#include "ingest/can/read/table.h"

/* A header, or without one the first line of several cells. */
typedef struct header {
    leat_text cells[LEAT_CAN_COLUMNS_MAX];
    int count;
    int line; /* that line's number, from 0 */
    char part;
    bool named; /* it is a header */
    const leat_text *lines;
    int line_count;
    const leat_can_line_options *options;
    char *why;
} header;

static bool refuse(const header *head, const char *format, ...) LEAT_PRINTF(2, 3);
static bool refuse(const header *head, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(head->why, LEAT_CAN_WHY_BYTES, format, args);
    va_end(args);
    return false;
}

/* A name as shown in a message. */
typedef struct shown {
    char text[48];
} shown;
static shown show(leat_text name) {
    shown out;
    leat_text_show(out.text, sizeof out.text, name.data, name.size_bytes);
    return out;
}

/* ---- usual names ---------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int8_t column;
    leat_can_unit unit;
} usual[] = {
    {"timestamp", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_NONE},
    {"timestamps", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_NONE},
    {"time", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_NONE},
    {"times", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_S},
    {"timems", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_MS},
    {"timestampms", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_MS},
    {"timeus", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_US},
    {"timestampus", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_US},
    {"timens", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_NS},
    {"timestampns", LEAT_CAN_COLUMN_TIME, LEAT_CAN_UNIT_NS},
    {"arbitrationid", LEAT_CAN_COLUMN_ID, LEAT_CAN_UNIT_NONE},
    {"arbid", LEAT_CAN_COLUMN_ID, LEAT_CAN_UNIT_NONE},
    {"canid", LEAT_CAN_COLUMN_ID, LEAT_CAN_UNIT_NONE},
    {"messageid", LEAT_CAN_COLUMN_ID, LEAT_CAN_UNIT_NONE},
    {"identifier", LEAT_CAN_COLUMN_ID, LEAT_CAN_UNIT_NONE},
    {"id", LEAT_CAN_COLUMN_ID, LEAT_CAN_UNIT_NONE},
    {"datafield", LEAT_CAN_COLUMN_PAYLOAD, LEAT_CAN_UNIT_NONE},
    {"payload", LEAT_CAN_COLUMN_PAYLOAD, LEAT_CAN_UNIT_NONE},
    {"payloadhex", LEAT_CAN_COLUMN_PAYLOAD, LEAT_CAN_UNIT_HEX},
    {"data", LEAT_CAN_COLUMN_PAYLOAD, LEAT_CAN_UNIT_NONE},
    {"datahex", LEAT_CAN_COLUMN_PAYLOAD, LEAT_CAN_UNIT_HEX},
    {"dlc", LEAT_CAN_COLUMN_DLC, LEAT_CAN_UNIT_NONE},
    {"len", LEAT_CAN_COLUMN_DLC, LEAT_CAN_UNIT_NONE},
    {"length", LEAT_CAN_COLUMN_DLC, LEAT_CAN_UNIT_NONE},
    {"datalength", LEAT_CAN_COLUMN_DLC, LEAT_CAN_UNIT_NONE},
};

/* "data_0", "D1", "Byte 7": bytes in columns of their own; *number is that of the byte. */
static bool is_byte_name(leat_text name, int *number) {
    static const char *const prefixes[] = {"data", "d", "byte", "b", "databyte", "payload"};
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    size_t letters = strcspn(plain, "0123456789"), size = strlen(plain);
    leat_text digits = {plain + letters, (int32_t)(size - letters)};
    if (size - letters > 2 || !read_count(digits, LEAT_CAN_FD_BYTES, number)) return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strlen(prefixes[i]) == letters && memcmp(prefixes[i], plain, letters) == 0) return true;
    }
    return false;
}

static bool is_signal_name(leat_text name) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    return strncmp(plain, "signal", 6) == 0;
}

static int8_t usual_column(leat_text name, leat_can_unit *unit) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        if (strcmp(plain, usual[i].name) != 0) continue;
        *unit = usual[i].unit;
        return usual[i].column;
    }
    return leat_can_mark_column(name);
}

bool leat_can_is_usual(leat_text name) {
    leat_can_unit unit = LEAT_CAN_UNIT_NONE;
    int number = 0;
    return usual_column(name, &unit) != LEAT_CAN_COLUMN_OTHER || is_byte_name(name, &number);
}

/* ---- --column ------------------------------------------------------------------------------- */

static const int8_t role_columns[LEAT_CAN_ROLE_COUNT] = {
    LEAT_CAN_COLUMN_TIME,     LEAT_CAN_COLUMN_ID,      LEAT_CAN_COLUMN_BUS,
    LEAT_CAN_COLUMN_DLC,      LEAT_CAN_COLUMN_PAYLOAD, LEAT_CAN_COLUMN_LABEL,
    LEAT_CAN_COLUMN_EXTENDED, LEAT_CAN_COLUMN_REMOTE,  LEAT_CAN_COLUMN_ERROR,
};

/* The number from 1 that a name is; 0: none. */
static int number_of(const char *name) {
    int number = 0;
    leat_text text = {name, (int32_t)strlen(name)};
    return read_count(text, LEAT_CAN_COLUMNS_MAX, &number) ? number : 0;
}

static bool is_same_name(leat_text cell, const char *name, bool exact) {
    if (exact) return is_word(cell, name);
    char a[LEAT_CAN_PLAIN_BYTES], b[LEAT_CAN_PLAIN_BYTES];
    plain_name(cell, a);
    plain_name((leat_text){name, (int32_t)strlen(name)}, b);
    return a[0] != 0 && strcmp(a, b) == 0;
}

/* The column of this name, or else without case and punctuation, or else of this number. */
static bool find_column(const header *head, const char *role, const char *name, int *column) {
    for (int exact = 1; head->named && exact >= 0; exact--) {
        int found = 0;
        for (int i = 0; i < head->count; i++) {
            if (!is_same_name(head->cells[i], name, exact == 1)) continue;
            *column = i;
            found++;
        }
        if (found == 1) return true;
        if (found > 1)
            return refuse(head,
                          "%d columns have the name \"%.40s\" of --column %s; use the number "
                          "of one of them",
                          found, name, role);
    }
    int number = number_of(name);
    *column = number - 1;
    if (number > 0 && number <= head->count) return true;
    return refuse(head,
                  "there is no column \"%.40s\", which --column %s names, among %d columns; "
                  "name another one or give its number",
                  name, role, head->count);
}

static bool map_role(const header *head, int role, const leat_can_mapped *mapped,
                     leat_can_layout *layout) {
    int first = 0, last = 0;
    const char *name = leat_can_role_names[role];
    if (!find_column(head, name, mapped->name, &first)) return false;
    last = first;
    if (mapped->last[0] != 0 && !find_column(head, name, mapped->last, &last)) return false;
    if (last < first)
        return refuse(head,
                      "--column data: \"%.40s\" is after \"%.40s\"; name the first byte "
                      "first",
                      mapped->name, mapped->last);
    for (int i = first; i <= last; i++) {
        if (layout->column[i] != LEAT_CAN_COLUMN_OTHER)
            return refuse(head, "--column uses column %d twice; use it once", i + 1);
        layout->column[i] = mapped->last[0] != 0 ? LEAT_CAN_COLUMN_BYTE : role_columns[role];
        layout->byte[i] = (int8_t)(i - first);
    }
    if (role == (int)LEAT_CAN_ROLE_TIME) layout->time_unit = mapped->unit;
    if (layout->time_unit == LEAT_CAN_UNIT_GAP) {
        layout->gaps = true;
        layout->time_unit = LEAT_CAN_UNIT_NONE;
        if (head->named) (void)usual_column(head->cells[first], &layout->time_unit);
    }
    if (role == (int)LEAT_CAN_ROLE_ID) layout->id_unit = mapped->unit;
    if (role == (int)LEAT_CAN_ROLE_DLC) layout->dlc_unit = mapped->unit;
    if (role == (int)LEAT_CAN_ROLE_DATA) layout->data_unit = mapped->unit;
    if (role == (int)LEAT_CAN_ROLE_LABEL && head->named &&
        leat_can_is_benign_name(head->cells[first])) {
        layout->label_inverted = true;
        layout->doubts |= LEAT_CAN_DOUBT_INVERTED;
    }
    return true;
}

static bool map_columns(const header *head, leat_can_layout *layout) {
    const leat_can_mapping *mapping = head->options->columns;
    for (int role = 0; mapping != NULL && role < (int)LEAT_CAN_ROLE_COUNT; role++) {
        const leat_can_mapped *mapped = &mapping->roles[role];
        if (mapped->name[0] != 0 && !map_role(head, role, mapped, layout)) return false;
    }
    return true;
}

/* ---- columns by their usual names ----------------------------------------------------------- */

static int find_kind(const leat_can_layout *layout, int kind) {
    for (int i = 0; i < layout->column_count; i++) {
        if (layout->column[i] == kind) return i;
    }
    return -1;
}

static void set_unit(leat_can_layout *layout, int column, leat_can_unit unit) {
    if (column == LEAT_CAN_COLUMN_TIME) layout->time_unit = unit;
    if (column == LEAT_CAN_COLUMN_PAYLOAD) layout->data_unit = unit;
}

/* Whatever --column has not given. */
static bool name_columns(const header *head, leat_can_layout *layout) {
    bool given[LEAT_CAN_COLUMN_KINDS] = {false};
    int of[LEAT_CAN_COLUMN_KINDS];
    for (int i = 0; i < head->count; i++) given[layout->column[i]] = true;
    given[LEAT_CAN_COLUMN_PAYLOAD] |= given[LEAT_CAN_COLUMN_BYTE];
    memset(of, -1, sizeof of);
    for (int i = 0; i < head->count; i++) {
        leat_can_unit unit = LEAT_CAN_UNIT_NONE;
        int8_t column = usual_column(head->cells[i], &unit);
        if (column == LEAT_CAN_COLUMN_OTHER || given[column] ||
            layout->column[i] != LEAT_CAN_COLUMN_OTHER)
            continue;
        if (of[column] >= 0) {
            static const char *const what[] = {"the time", "the identifier", "the payload"};
            return refuse(head,
                          "columns \"%s\" and \"%s\" may both be %s; choose one with --column",
                          show(head->cells[of[column]]).text, show(head->cells[i]).text,
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
static bool name_bytes(const header *head, leat_can_layout *layout) {
    int of[LEAT_CAN_FD_BYTES + 1], last = -1;
    if (find_kind(layout, LEAT_CAN_COLUMN_PAYLOAD) >= 0) return true;
    if (find_kind(layout, LEAT_CAN_COLUMN_BYTE) >= 0) return true;
    bool header =
        find_kind(layout, LEAT_CAN_COLUMN_TIME) >= 0 || find_kind(layout, LEAT_CAN_COLUMN_ID) >= 0;
    memset(of, -1, sizeof of);
    for (int i = 0; header && i < head->count; i++) {
        int number = 0;
        if (layout->column[i] != LEAT_CAN_COLUMN_OTHER || !is_byte_name(head->cells[i], &number))
            continue;
        if (of[number] >= 0)
            return refuse(head,
                          "columns \"%s\" and \"%s\" may both be byte %d; choose the payload with "
                          "--column data=FIRST..LAST",
                          show(head->cells[of[number]]).text, show(head->cells[i]).text, number);
        of[number] = i;
        if (number > last) last = number;
    }
    int first = of[0] >= 0 ? 0 : 1;
    for (int number = first; number <= last; number++) {
        if (of[number] < 0)
            return refuse(head,
                          "column \"%s\" looks like a byte of the payload, but there is none for "
                          "byte %d; choose the payload with --column data=FIRST..LAST",
                          show(head->cells[of[last]]).text, number);
        layout->column[of[number]] = LEAT_CAN_COLUMN_BYTE;
        layout->byte[of[number]] = (int8_t)(number - first);
    }
    return true;
}

/* The label: the first choice among the known names. Others are named as unused. */
static bool name_label(const header *head, leat_can_layout *layout) {
    int best = -1, best_rank = -1, other = -1;
    bool given = find_kind(layout, LEAT_CAN_COLUMN_LABEL) >= 0;
    for (int i = 0; i < head->count; i++) {
        int rank = leat_can_label_rank(head->cells[i]);
        if (layout->column[i] != LEAT_CAN_COLUMN_OTHER || rank < 0) continue;
        if (best >= 0 && rank == best_rank)
            return refuse(head,
                          "columns \"%s\" and \"%s\" may both be the label; choose one with "
                          "--column label=NAME, or its number",
                          show(head->cells[best]).text, show(head->cells[i]).text);
        if (given || (best >= 0 && rank > best_rank)) {
            other = i;
            continue;
        }
        if (best >= 0) other = best;
        best = i;
        best_rank = rank;
    }
    if (!given && best >= 0) layout->column[best] = LEAT_CAN_COLUMN_LABEL;
    if (other >= 0)
        leat_text_show(layout->label_like, sizeof layout->label_like, head->cells[other].data,
                       head->cells[other].size_bytes);
    return true;
}

/* ---- what only the lines say ---------------------------------------------------------------- */

static int count_taken(const header *head, const leat_can_layout *layout) {
    int count = 0;
    for (int i = head->named ? 1 : 0; i < head->line_count; i++) {
        leat_can_line line;
        leat_text text = head->lines[i];
        count += leat_can_parse_table(layout, head->options, text.data, text.data + text.size_bytes,
                                      &line) == LEAT_CAN_TAKEN;
    }
    return count;
}

/* A DLC above 8, which few logs have in bytes. */
static bool has_long_dlc(const header *head, const leat_can_layout *layout) {
    int column = find_kind(layout, LEAT_CAN_COLUMN_DLC);
    for (int i = head->named ? 1 : 0; i < head->line_count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX], text = head->lines[i];
        int count = leat_can_split_cells(text.data, text.data + text.size_bytes, layout->part,
                                         cells, LEAT_CAN_COLUMNS_MAX);
        if (column >= count) continue;
        leat_text whole = {cells[column].data, 0};
        while (whole.size_bytes < cells[column].size_bytes && whole.data[whole.size_bytes] != '.')
            whole.size_bytes++;
        int dlc = 0;
        if (read_count(whole, 8 * LEAT_CAN_FD_BYTES, &dlc) && dlc > LEAT_CAN_BYTES) return true;
    }
    return false;
}

/* DAGA counts the bits of a payload. Bytes in columns have no length to compare with, so there one
 * invalid cell could make bits of bytes: they need a DLC that is too large for bytes. */
static void guess_dlc(const header *head, leat_can_layout *layout) {
    if (layout->dlc_unit != LEAT_CAN_UNIT_NONE || find_kind(layout, LEAT_CAN_COLUMN_DLC) < 0)
        return;
    layout->dlc_unit = LEAT_CAN_UNIT_BYTES;
    if (find_kind(layout, LEAT_CAN_COLUMN_BYTE) >= 0 && !has_long_dlc(head, layout)) return;
    int bytes = count_taken(head, layout);
    layout->dlc_unit = LEAT_CAN_UNIT_BITS;
    if (count_taken(head, layout) <= bytes) layout->dlc_unit = LEAT_CAN_UNIT_BYTES;
}

/* What the cells of some columns look like. */
typedef struct digits {
    bool letters; /* A to F */
    bool long_;   /* more than two digits */
    bool padded;  /* two digits that begin with 0 */
    int pairs;    /* of two digits that do not */
} digits;

static void look_at(leat_text cell, digits *seen) {
    for (int i = 0; i < cell.size_bytes; i++) {
        char letter = (char)(cell.data[i] | 0x20);
        seen->letters = seen->letters || (letter >= 'a' && letter <= 'f');
    }
    seen->long_ = seen->long_ || (cell.size_bytes == 3 && digit_of(cell.data[0]) > 0);
    if (cell.size_bytes != 2) return;
    if (cell.data[0] == '0') seen->padded = true;
    else seen->pairs++;
}

static void look_at_column(const header *head, const leat_can_layout *layout, int kind,
                           digits *seen) {
    for (int i = head->named ? 1 : 0; i < head->line_count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX], text = head->lines[i];
        int count = leat_can_split_cells(text.data, text.data + text.size_bytes, layout->part,
                                         cells, LEAT_CAN_COLUMNS_MAX);
        for (int k = 0; k < count && k < layout->column_count; k++) {
            bool word =
                is_word_of_any_case(cells[k], "nan") || is_word_of_any_case(cells[k], "none");
            if (layout->column[k] == kind && !word) look_at(cells[k], seen);
        }
    }
}

/* The columns of CICIoV2024 up to its label, or all of them. */
static bool is_ciciov(const header *head, bool all) {
    static const char *const names[] = {"id",    "data0", "data1",    "data2",
                                        "data3", "data4", "data5",    "data6",
                                        "data7", "label", "category", "specificclass"};
    int count = (int)(sizeof names / sizeof *names);
    if (!head->named || (all && head->count != count)) return false;
    for (int i = 0; i < (all ? count : 10); i++) {
        if (i >= head->count || !is_same_name(head->cells[i], names[i], false)) return false;
    }
    return true;
}

/* Bytes in columns of their own are decimal if one has three digits, or if many have two and none
 * is padded or has a letter. CICIoV2024, whose files are of one notation each, then has decimal
 * identifiers too; its bytes are decimal unless something says otherwise, because a file of small
 * bytes would have other identifiers than its neighbours. */
static void guess_bytes(const header *head, leat_can_layout *layout) {
    enum { PAIRS_ENOUGH = 16 };
    digits bytes = {0}, ids = {0};
    if (layout->data_unit != LEAT_CAN_UNIT_NONE || find_kind(layout, LEAT_CAN_COLUMN_BYTE) < 0)
        return;
    look_at_column(head, layout, LEAT_CAN_COLUMN_BYTE, &bytes);
    look_at_column(head, layout, LEAT_CAN_COLUMN_ID, &ids);
    bool known = layout->id_unit == LEAT_CAN_UNIT_NONE && is_ciciov(head, true) && !ids.letters;
    bool decimal = !bytes.letters &&
                   (bytes.long_ || (!bytes.padded && (known || bytes.pairs >= PAIRS_ENOUGH)));
    layout->data_unit = decimal ? LEAT_CAN_UNIT_DEC : LEAT_CAN_UNIT_HEX;
    if (!known && !bytes.letters && !bytes.long_ && !bytes.padded)
        layout->doubts |= LEAT_CAN_DOUBT_BYTES;
    if (!decimal || ids.letters || layout->id_unit != LEAT_CAN_UNIT_NONE) return;
    if (is_ciciov(head, false)) layout->id_unit = LEAT_CAN_UNIT_DEC;
    else layout->id_named_decimal = true;
}

/* GVRET's columns, among others and with any separator. */
static bool is_gvret(const header *head) {
    static const char *const names[] = {"timestamp", "id", "extended", "bus", "len", "d1"};
    int found = 0;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        for (int k = 0; k < head->count; k++) {
            if (!is_same_name(head->cells[k], names[i], false)) continue;
            found++;
            break;
        }
    }
    return head->named && found == (int)(sizeof names / sizeof *names);
}

static bool is_whole(leat_text time) {
    const char *at = time.data, *end = at + time.size_bytes;
    while (at < end && *at >= '0' && *at <= '9') at++;
    if (at < end && *at == '.') at++;
    while (at < end && *at == '0') at++;
    return time.size_bytes > 0 && at == end;
}

/* Times whose unit neither the header nor --column gives are seconds, except GVRET's. Whole numbers
 * are doubtful if they change from most frames to the next: a bus has more than one a second. */
static void guess_time(const header *head, leat_can_layout *layout) {
    enum { FRAMES_ENOUGH = 8 };
    int column = find_kind(layout, LEAT_CAN_COLUMN_TIME), frames = 0, steps = 0;
    double last = 0;
    if (layout->time_unit != LEAT_CAN_UNIT_NONE || column < 0) return;
    for (int i = head->named ? 1 : 0; i < head->line_count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX], text = head->lines[i];
        double time = 0;
        int count = leat_can_split_cells(text.data, text.data + text.size_bytes, layout->part,
                                         cells, LEAT_CAN_COLUMNS_MAX);
        if (column >= count || !read_time(cells[column], 0, &time)) continue;
        if (!is_whole(cells[column])) return;
        steps += frames > 0 && time != last;
        last = time;
        frames++;
    }
    if (is_gvret(head)) layout->time_unit = LEAT_CAN_UNIT_US;
    else if (frames >= FRAMES_ENOUGH && 2 * steps >= frames) layout->doubts |= LEAT_CAN_DOUBT_TIME;
}

/* Names of buses in the first lines; none if all are numbers, which stay what they are. */
static void note_buses(const header *head, leat_can_layout *layout) {
    int column = find_kind(layout, LEAT_CAN_COLUMN_BUS), number = 0;
    bool named = false;
    layout->buses.count = 0;
    for (int i = head->named ? 1 : 0; column >= 0 && i < head->line_count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX], text = head->lines[i];
        int count = leat_can_split_cells(text.data, text.data + text.size_bytes, layout->part,
                                         cells, LEAT_CAN_COLUMNS_MAX);
        if (column >= count) continue;
        bool is_number = read_count(cells[column], UINT16_MAX, &number);
        named = named || (!is_number && cells[column].size_bytes > 0);
        leat_can_note_bus(&layout->buses, cells[column]);
    }
    if (!named) layout->buses.count = 0;
}

/* The writer of python-can, whose data are base64; its lengths are checked against the DLC. */
static bool is_python_can(const header *head) {
    static const char *const names[] = {
        "timestamp", "arbitration_id", "extended", "remote", "error", "dlc", "data"};
    int count = (int)(sizeof names / sizeof *names);
    if (head->count != count || head->part != ',') return false;
    for (int i = 0; i < count; i++) {
        if (!is_word(head->cells[i], names[i])) return false;
    }
    return true;
}

/* ---- one separator -------------------------------------------------------------------------- */

/* Appends to a list, after the separator if it is not the first item. */
static void add_item(char *list, size_t list_bytes, const char *separator, const char *item) {
    size_t used = strlen(list);
    snprintf(list + used, list_bytes - used, "%s%s", used > 0 ? separator : "", item);
}

/* What is missing, and what helps. */
static bool report_missing(const header *head, const leat_can_layout *layout) {
    bool time = find_kind(layout, LEAT_CAN_COLUMN_TIME) >= 0 || head->options->no_time > 0;
    bool id = find_kind(layout, LEAT_CAN_COLUMN_ID) >= 0;
    bool data = find_kind(layout, LEAT_CAN_COLUMN_PAYLOAD) >= 0 ||
                find_kind(layout, LEAT_CAN_COLUMN_BYTE) >= 0;
    char what[64] = "", how[128] = "", name[64] = "id=NAME";
    if (time && id && data) return true;
    for (int i = 0; i < head->count && head->named; i++) {
        leat_text cell = head->cells[i];
        if (!data && is_signal_name(cell))
            return refuse(head,
                          "it contains decoded signals (column \"%s\"), not payloads; use the "
                          "recorded frames instead",
                          show(cell).text);
        if (leat_can_is_decimal_name(cell))
            snprintf(name, sizeof name, "id=%s:dec", show(cell).text);
    }
    bool none = find_kind(layout, LEAT_CAN_COLUMN_TIME) < 0 && !id && !data;
    if (none && head->options->columns == NULL) return false; /* not a header */
    if (id && data)
        return refuse(head, "no column for time; name it with --column time=NAME, or use --no-time "
                            "RATE if it has none");
    if (!time) add_item(what, sizeof what, ", ", "time");
    if (!id) add_item(what, sizeof what, ", ", "id");
    if (!data) add_item(what, sizeof what, ", ", "data");
    if (!time) add_item(how, sizeof how, ",", "time=NAME");
    if (!id) add_item(how, sizeof how, ",", name);
    if (!data) add_item(how, sizeof how, ",", "data=NAME");
    double number = 0;
    if (read_time(head->cells[0], 0, &number)) /* there is no header */
        leat_can_hint_numbers(head->options->columns, how, sizeof how);
    return refuse(head, "no column for %s; use --column %s", what, how);
}

/* With blanks between columns, a blank in a name ("CAN ID") shifts all columns after it, and a
 * payload of several words, or bytes that may be missing, hide that. A DLC would not agree. */
static bool check_words(const header *head, const leat_can_layout *layout) {
    int unused = find_kind(layout, LEAT_CAN_COLUMN_OTHER);
    if (head->part != ' ' || !head->named || unused < 0 ||
        find_kind(layout, LEAT_CAN_COLUMN_DLC) >= 0)
        return true;
    for (int i = 1; i < head->line_count; i++) {
        const char *at = head->lines[i].data, *end = at + head->lines[i].size_bytes;
        int count = 0;
        while (next_word(&at, end).size_bytes > 0) count++;
        if (count != head->count)
            return refuse(head,
                          "its header has %d words, \"%s\" of unknown meaning, but a line has %d; "
                          "remove blanks from the names of columns, or remove the header and use "
                          "--column time=1,id=2,data=3",
                          head->count, show(head->cells[unused]).text, count);
    }
    return true;
}

/* Bits that are read as CAN-FD frames would be cut. With a DLC that agrees they are none. */
static bool check_payloads(const header *head, leat_can_layout *layout) {
    char why[LEAT_CAN_WHY_BYTES];
    const leat_text *names = head->named ? head->cells : NULL;
    if (!head->options->strict ||
        leat_can_doubt_payloads(head->lines, head->line_count, names, layout, why))
        return true;
    if (find_kind(layout, LEAT_CAN_COLUMN_DLC) >= 0 && count_taken(head, layout) > 0) return true;
    return refuse(head, "%s", why);
}

/* Whether identifiers without a letter are probably decimal, since programs write such under this
 * name: not where all are equal, nor with GVRET's columns. */
static bool may_be_decimal(const header *head, int id) {
    leat_text first = {NULL, 0};
    bool differ = false;
    if (!leat_can_may_be_decimal_name(head->cells[id]) || is_gvret(head)) return false;
    for (int i = 1; i < head->line_count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX], text = head->lines[i];
        int count = leat_can_split_cells(text.data, text.data + text.size_bytes, head->part, cells,
                                         LEAT_CAN_COLUMNS_MAX);
        if (id >= count) continue;
        if (first.data == NULL) first = cells[id];
        differ = differ || first.size_bytes != cells[id].size_bytes ||
                 memcmp(first.data, cells[id].data, (size_t)first.size_bytes) != 0;
    }
    return differ;
}

/* The time's column as --column takes it. */
static void name_time(const header *head, leat_can_layout *layout) {
    int column = find_kind(layout, LEAT_CAN_COLUMN_TIME);
    char *name = layout->time_name;
    if (column < 0) return;
    if (head->named)
        leat_text_show(name, sizeof layout->time_name, head->cells[column].data,
                       head->cells[column].size_bytes);
    bool whole = head->named && strlen(name) == (size_t)head->cells[column].size_bytes;
    if (!whole || strpbrk(name, ",:=\"'$") != NULL)
        snprintf(name, sizeof layout->time_name, "%d", column + 1);
}

static bool resolve(const header *head, leat_can_layout *layout) {
    layout->column_count = head->count;
    layout->part = head->part;
    layout->named = head->named;
    memset(layout->column, LEAT_CAN_COLUMN_OTHER, sizeof layout->column);
    if (!map_columns(head, layout)) return false;
    if (head->named) {
        leat_can_name_canedge(head->cells, head->count, layout);
        if (!name_columns(head, layout) || !name_label(head, layout) || !name_bytes(head, layout))
            return false;
        leat_can_name_marks(head->lines, head->line_count, head->cells, head->options->reader,
                            layout);
    }
    if (!report_missing(head, layout) || !check_words(head, layout)) return false;
    layout->no_time = find_kind(layout, LEAT_CAN_COLUMN_TIME) < 0;
    layout->labelled = find_kind(layout, LEAT_CAN_COLUMN_LABEL) >= 0;
    int id = find_kind(layout, LEAT_CAN_COLUMN_ID);
    bool open = head->named && layout->id_unit == LEAT_CAN_UNIT_NONE;
    layout->id_named_decimal = open && leat_can_is_decimal_name(head->cells[id]);
    layout->id_may_be_decimal = open && may_be_decimal(head, id);
    if (head->named && layout->data_unit == LEAT_CAN_UNIT_NONE && is_python_can(head)) {
        layout->data_unit = LEAT_CAN_UNIT_BASE64;
        layout->dlc_unit = LEAT_CAN_UNIT_BYTES;
    }
    name_time(head, layout);
    note_buses(head, layout);
    guess_time(head, layout);
    guess_bytes(head, layout);
    guess_dlc(head, layout);
    if (!check_payloads(head, layout)) return false;
    leat_can_find_label_like(head->lines, head->line_count, head->named ? head->cells : NULL,
                             layout);
    if (layout->label_like[0] == 0)
        leat_can_watch_columns(head->lines, head->line_count, head->named ? head->cells : NULL,
                               layout);
    if (head->named) leat_can_find_unused(head->lines, head->line_count, head->cells, layout);
    return true;
}

/* ---- the plain table ------------------------------------------------------------------------ */

/* Whether no sampled payload or other cell needs more than the fast parser reads: blanks around it,
 * 0x, or bytes with separators. A lenient payload is what the reference system makes of it. */
static bool has_plain_lines(const header *head, const leat_can_layout *layout) {
    for (int i = 1; i < head->line_count && head->options->strict; i++) {
        const char *at = head->lines[i].data, *end = at + head->lines[i].size_bytes;
        for (int k = 0; k < head->count && at != NULL; k++) {
            leat_text cell;
            if (!leat_can_field(&at, end, &cell)) break;
            if (trim(cell).size_bytes != cell.size_bytes) return false;
            for (int n = 0; layout->column[k] == LEAT_CAN_COLUMN_PAYLOAD && n < cell.size_bytes;
                 n++) {
                char letter = cell.data[n];
                if (letter != 0 && strchr(" -:.,;[]xX", letter) != NULL) return false;
            }
        }
    }
    return true;
}

/* timestamp, arbitration_id or arb_id, data_field or payload, and a label or none: the columns that
 * the fast parser reads, with any others that have no meaning. */
static bool is_plain(const header *head, const leat_can_layout *layout) {
    if (head->part != ',' || layout->no_time) return false;
    const char *at = head->lines[0].data, *end = at + head->lines[0].size_bytes;
    for (int i = 0; i < head->count; i++) {
        leat_text cell;
        int column = layout->column[i];
        if (!leat_can_field(&at, end, &cell) || trim(cell).size_bytes != cell.size_bytes)
            return false;
        bool known = column == LEAT_CAN_COLUMN_OTHER || column == LEAT_CAN_COLUMN_LABEL ||
                     (column == LEAT_CAN_COLUMN_TIME && is_word(cell, "timestamp")) ||
                     (column == LEAT_CAN_COLUMN_ID &&
                      (is_word(cell, "arbitration_id") || is_word(cell, "arb_id"))) ||
                     (column == LEAT_CAN_COLUMN_PAYLOAD &&
                      (is_word(cell, "data_field") || is_word(cell, "payload")));
        if (!known) return false;
    }
    return has_plain_lines(head, layout);
}

/* ---- any csv -------------------------------------------------------------------------------- */

static bool split_header(header *head, char part) {
    leat_text line = head->lines[head->line];
    head->part = part;
    head->count = leat_can_split_cells(line.data, line.data + line.size_bytes, part, head->cells,
                                       LEAT_CAN_COLUMNS_MAX);
    if (head->count < 0 && memchr(line.data, part, (size_t)line.size_bytes) != NULL)
        return refuse(head,
                      "its first line has more than %d columns, or a quote that is not closed",
                      LEAT_CAN_COLUMNS_MAX);
    return head->count >= 2;
}

/* The columns of a file without a header: as many as its longest line has, or up to the last one of
 * --column where the words of a payload look like more. */
static int count_columns(const header *head) {
    int most = head->count, last = 0;
    bool range = false;
    for (int i = 1; i < head->line_count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX], text = head->lines[i];
        int count = leat_can_split_cells(text.data, text.data + text.size_bytes, head->part, cells,
                                         LEAT_CAN_COLUMNS_MAX);
        if (count > most) most = count;
    }
    for (int role = 0; role < (int)LEAT_CAN_ROLE_COUNT; role++) {
        const leat_can_mapped *mapped = &head->options->columns->roles[role];
        range = range || mapped->last[0] != 0;
        if (number_of(mapped->name) > last) last = number_of(mapped->name);
    }
    return head->part == ' ' && !range && last < most ? last : most;
}

/* Whether a line without a valid time or identifier is a header, not a damaged line: names do not
 * begin with a digit, but most cells of a frame do. */
static bool is_header(const header *head) {
    leat_text cells[LEAT_CAN_COLUMNS_MAX], line = head->lines[0];
    int count = leat_can_split_cells(line.data, line.data + line.size_bytes, head->part, cells,
                                     LEAT_CAN_COLUMNS_MAX);
    for (int i = 0; i < count; i++) {
        leat_text cell = cells[i];
        bool sign = cell.size_bytes > 1 && strchr("+-.", cell.data[0]) != NULL;
        unsigned digit = cell.size_bytes > 0 ? (unsigned)(uint8_t)cell.data[sign] - '0' : 10;
        if (digit <= 9) return false;
    }
    return true;
}

/* False if the first line is a header. */
static bool without_header(header *head, leat_can_layout *layout) {
    const leat_can_layout clear = *layout;
    leat_can_line line;
    leat_text first = head->lines[0];
    head->named = false;
    head->count = count_columns(head);
    if (resolve(head, layout)) {
        leat_can_reject reason = leat_can_parse_table(layout, head->options, first.data,
                                                      first.data + first.size_bytes, &line);
        bool invalid = reason == LEAT_CAN_REJECT_TIME || reason == LEAT_CAN_REJECT_ID;
        if (!invalid || !is_header(head)) return true;
    }
    *layout = clear;
    return false;
}

/* Whether every column of --column is a number. */
static bool all_numbers(const leat_can_mapping *mapping) {
    for (int role = 0; role < (int)LEAT_CAN_ROLE_COUNT; role++) {
        const leat_can_mapped *mapped = &mapping->roles[role];
        if (mapped->name[0] != 0 && number_of(mapped->name) == 0) return false;
        if (mapped->last[0] != 0 && number_of(mapped->last) == 0) return false;
    }
    return true;
}

/* The first line that has a separator: those before it are damaged. 0: none has. */
static int first_of_cells(const leat_text *lines, int count) {
    for (int i = 0; i < count; i++) {
        leat_text line = trim(lines[i]);
        for (int k = 0; k < line.size_bytes; k++) {
            if (memchr(",;\t ", line.data[k], 4) != NULL) return i;
        }
    }
    return 0;
}

bool leat_can_read_header(const leat_text *lines, int count, const leat_can_line_options *options,
                          leat_can_layout *layout, int *first, char why[LEAT_CAN_WHY_BYTES]) {
    static const char parts[] = ",;\t ";
    bool numbers = options->columns != NULL && all_numbers(options->columns);
    char other[LEAT_CAN_WHY_BYTES];
    const leat_can_layout clear = *layout;
    why[0] = 0;
    for (const char *part = parts; *part != 0; part++) {
        header head = {.line = numbers ? first_of_cells(lines, count) : 0,
                       .lines = lines,
                       .line_count = count,
                       .options = options,
                       .why = why[0] == 0 ? why : other}; /* the first one counts */
        if (!split_header(&head, *part)) continue;
        *first = 0;
        if (numbers && without_header(&head, layout)) {
            layout->table = true;
            return true;
        }
        if (head.line > 0 || (numbers && !split_header(&head, *part))) continue;
        head.named = true;
        *first = 1;
        *layout = clear;
        if (!resolve(&head, layout)) continue;
        layout->table = options->columns != NULL || !is_plain(&head, layout);
        return true;
    }
    *layout = clear;
    return false;
}
