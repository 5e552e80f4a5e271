/*
 * The header of a csv: which line it is, what separates its columns, and whether they are enough to
 * read frames by. csv_columns.c says what they mean, csv_units.c how they are written.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/hash.h"
#include "ingest/can/read/column_option.h"
#include "ingest/can/read/csv_header.h"
#include "ingest/can/read/hints.h"
#include "ingest/can/read/known_logs.h"
#include "ingest/can/read/labels.h"

bool leat_can_header_refuse(const leat_can_header *head, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(head->why, LEAT_CAN_WHY_BYTES, format, args);
    va_end(args);
    return false;
}

leat_can_shown leat_can_show_name(leat_text name) {
    leat_can_shown out;
    leat_text_show(out.text, sizeof out.text, name.data, name.size_bytes);
    return out;
}

int leat_can_find_column(const leat_can_layout *layout, int kind) {
    for (int i = 0; i < layout->column_count; i++) {
        if (layout->column[i] == kind) return i;
    }
    return -1;
}

int leat_can_line_cells(const leat_can_header *head, int line,
                        leat_text cells[LEAT_CAN_COLUMNS_MAX]) {
    const char *at = head->lines[line].data, *end = at + head->lines[line].size_bytes;
    return leat_can_split_cells(at, end, head->part, cells, LEAT_CAN_COLUMNS_MAX);
}

int leat_can_count_frames(const leat_can_header *head, const leat_can_layout *layout) {
    int count = 0;
    for (int i = head->named ? 1 : 0; i < head->line_count; i++) {
        leat_can_line line;
        leat_text text = head->lines[i];
        count += leat_can_parse_table(layout, head->options, text.data, text.data + text.size_bytes,
                                      &line) == LEAT_CAN_TAKEN;
    }
    return count;
}

/* ---- what is missing ------------------------------------------------------------------------- */

static bool is_signal_name(leat_text name) {
    char plain[LEAT_CAN_PLAIN_BYTES];
    plain_name(name, plain);
    return strncmp(plain, leat_can_signal_name, strlen(leat_can_signal_name)) == 0;
}

/* Appends to a list, after the separator if it is not the first item. */
static void add_item(char *list, size_t list_bytes, const char *separator, const char *item) {
    size_t used = strlen(list);
    snprintf(list + used, list_bytes - used, "%s%s", used > 0 ? separator : "", item);
}

/* By name, or by number where a shell or the option has another use for the name. */
static void advise_decimal(const leat_can_header *head, int i, char *out, size_t out_bytes) {
    const leat_can_shown name = leat_can_show_name(head->cells[i]);
    bool plain = strpbrk(name.text, " \t'\"\\`$&|;<>()[]{}*?!#~:,") == NULL;
    if (plain) snprintf(out, out_bytes, "id=%s:dec", name.text);
    else snprintf(out, out_bytes, "id=%d:dec", i + 1);
}

/* What is missing, and what helps. */
static bool report_missing(const leat_can_header *head, const leat_can_layout *layout) {
    bool time =
        leat_can_find_column(layout, LEAT_CAN_COLUMN_TIME) >= 0 || head->options->no_time > 0;
    bool id = leat_can_find_column(layout, LEAT_CAN_COLUMN_ID) >= 0;
    bool data = leat_can_find_column(layout, LEAT_CAN_COLUMN_PAYLOAD) >= 0 ||
                leat_can_find_column(layout, LEAT_CAN_COLUMN_BYTE) >= 0;
    char what[64] = "", how[128] = "", name[64] = "id=NAME";
    if (time && id && data) return true;
    for (int i = 0; i < head->count && head->named; i++) {
        leat_text cell = head->cells[i];
        if (!data && is_signal_name(cell))
            return leat_can_header_refuse(
                head,
                "it contains decoded signals (column \"%s\"), not payloads; use the "
                "recorded frames instead",
                leat_can_show_name(cell).text);
        if (leat_can_is_decimal_name(cell)) advise_decimal(head, i, name, sizeof name);
    }
    bool none = leat_can_find_column(layout, LEAT_CAN_COLUMN_TIME) < 0 && !id && !data;
    if (none && head->options->columns == NULL) return false; /* not a header */
    if (!id && !data && head->named && is_word(head->cells[0], "timestamps"))
        return leat_can_header_refuse(
            head, "it seems to be an export of asammdf without frames; export the group with "
                  "CAN_DataFrame, without extract_bus_logging(), or name its columns with --column "
                  "id=NAME,data=NAME");
    if (id && data)
        return leat_can_header_refuse(
            head, "no column for time; name it with --column time=NAME, or use --no-time "
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
    return leat_can_header_refuse(head, "no column for %s; use --column %s", what, how);
}

/* With blanks between columns, a blank in a name ("CAN ID") shifts all columns after it, and a
 * payload of several words, or bytes that may be missing, hide that. A DLC would not agree. */
static bool check_words(const leat_can_header *head, const leat_can_layout *layout) {
    int unused = leat_can_find_column(layout, LEAT_CAN_COLUMN_OTHER);
    if (head->part != ' ' || !head->named || unused < 0 ||
        leat_can_find_column(layout, LEAT_CAN_COLUMN_DLC) >= 0)
        return true;
    for (int i = 1; i < head->line_count; i++) {
        const char *at = head->lines[i].data, *end = at + head->lines[i].size_bytes;
        int count = 0;
        while (next_word(&at, end).size_bytes > 0) count++;
        if (count != head->count)
            return leat_can_header_refuse(
                head,
                "its header has %d words, \"%s\" of unknown meaning, but a line has %d; "
                "remove blanks from the names of columns, or remove the header and use "
                "--column time=1,id=2,data=3",
                head->count, leat_can_show_name(head->cells[unused]).text, count);
    }
    return true;
}

/* Bits that are read as CAN-FD frames would be cut. With a DLC that agrees they are none. */
static bool check_payloads(const leat_can_header *head, leat_can_layout *layout) {
    char why[LEAT_CAN_WHY_BYTES];
    const leat_text *names = head->named ? head->cells : NULL;
    if (!head->options->strict ||
        leat_can_doubt_payloads(head->lines, head->line_count, names, layout, why))
        return true;
    if (leat_can_find_column(layout, LEAT_CAN_COLUMN_DLC) >= 0 &&
        leat_can_count_frames(head, layout) > 0)
        return true;
    return leat_can_header_refuse(head, "%s", why);
}

/* A type of attack says nothing of when there is one: files may have it in all of their lines. */
static bool check_attack(const leat_can_header *head, const leat_can_layout *layout) {
    if (leat_can_find_column(layout, LEAT_CAN_COLUMN_ATTACK) < 0 || layout->labelled) return true;
    const char *name = head->options->columns->roles[LEAT_CAN_ROLE_ATTACK].name;
    return leat_can_header_refuse(
        head,
        "--column attack=%.40s names the types of attacks, but no column says which frames are "
        "attacks; add label=NAME for that column, or use label=%.40s instead if its words do",
        name, name);
}

/* A column as --column takes it. */
static void name_column(const leat_can_header *head, const leat_can_layout *layout, int kind,
                        char name[LEAT_CAN_LABEL_NAME_BYTES]) {
    int column = leat_can_find_column(layout, kind);
    if (column < 0) return;
    if (head->named)
        leat_text_show(name, LEAT_CAN_LABEL_NAME_BYTES, head->cells[column].data,
                       head->cells[column].size_bytes);
    bool whole = head->named && strlen(name) == (size_t)head->cells[column].size_bytes;
    if (!whole || strpbrk(name, ",:=\"'$`\\!") != NULL || leat_can_number_of(name) > 0)
        snprintf(name, LEAT_CAN_LABEL_NAME_BYTES, "%d", column + 1);
}

/* The names in their order, without case, blanks and punctuation. */
static uint64_t hash_names(const leat_can_header *head) {
    uint64_t all = 0;
    for (int i = 0; i < head->count; i++) {
        struct {
            uint64_t before;
            char plain[LEAT_CAN_PLAIN_BYTES];
        } name = {.before = all};
        plain_name(head->cells[i], name.plain);
        all = leat_xxh3(&name, (int64_t)sizeof name.before + (int64_t)strlen(name.plain));
    }
    return all;
}

static bool resolve(const leat_can_header *head, leat_can_layout *layout) {
    layout->header = head->named ? hash_names(head) : 0;
    layout->column_count = head->count;
    layout->part = head->part;
    layout->named = head->named;
    memset(layout->column, LEAT_CAN_COLUMN_OTHER, sizeof layout->column);
    if (!leat_can_map_columns(head, layout)) return false;
    if (head->named && !leat_can_name_columns(head, layout)) return false;
    if (!report_missing(head, layout) || !check_words(head, layout)) return false;
    layout->no_time = leat_can_find_column(layout, LEAT_CAN_COLUMN_TIME) < 0;
    layout->labelled = leat_can_find_column(layout, LEAT_CAN_COLUMN_LABEL) >= 0;
    if (!check_attack(head, layout)) return false;
    layout->may_shift = leat_can_labels_may_shift(layout);
    int id = leat_can_find_column(layout, LEAT_CAN_COLUMN_ID);
    bool open = head->named && layout->id_unit == LEAT_CAN_UNIT_NONE;
    layout->id_named_decimal = open && leat_can_is_decimal_name(head->cells[id]);
    layout->id_may_be_decimal = open && leat_can_may_be_decimal(head, id);
    if (head->named && layout->data_unit == LEAT_CAN_UNIT_NONE && leat_can_is_python_can(head)) {
        layout->data_unit = LEAT_CAN_UNIT_BASE64;
        layout->dlc_unit = LEAT_CAN_UNIT_BYTES;
    }
    name_column(head, layout, LEAT_CAN_COLUMN_TIME, layout->time_name);
    name_column(head, layout, LEAT_CAN_COLUMN_ID, layout->id_name);
    leat_can_note_units(head, layout);
    if (!check_payloads(head, layout)) return false;
    const leat_text *names = head->named ? head->cells : NULL;
    leat_can_find_label_like(head->lines, head->line_count, names, layout);
    leat_can_watch_columns(head->lines, head->line_count, names, layout);
    leat_can_find_unused(head->lines, head->line_count, names, layout);
    return true;
}

/* ---- the plain table ------------------------------------------------------------------------ */

/* Whether no sampled payload or other cell needs more than the fast parser reads: blanks around it,
 * 0x, or bytes with separators. A lenient payload is what graphids makes of it. */
static bool has_plain_lines(const leat_can_header *head, const leat_can_layout *layout) {
    for (int i = 1; i < head->line_count && head->options->strict; i++) {
        const char *at = head->lines[i].data, *end = at + head->lines[i].size_bytes;
        for (int k = 0; k < head->count && at != NULL; k++) {
            leat_text cell;
            if (!take_field(&at, end, ',', &cell)) break;
            if (leat_text_trim(cell).size_bytes != cell.size_bytes) return false;
            for (int n = 0; layout->column[k] == LEAT_CAN_COLUMN_PAYLOAD && n < cell.size_bytes;
                 n++) {
                char letter = cell.data[n];
                if (letter != 0 && strchr(" -:.,;[]xX'\"", letter) != NULL) return false;
            }
        }
    }
    return true;
}

/* timestamp, arbitration_id or arb_id, data_field or payload, and a label or none: the columns that
 * the fast parser reads, with any others that have no meaning. */
static bool is_plain(const leat_can_header *head, const leat_can_layout *layout) {
    if (head->part != ',' || layout->no_time) return false;
    const char *at = head->lines[0].data, *end = at + head->lines[0].size_bytes;
    for (int i = 0; i < head->count; i++) {
        leat_text cell;
        int column = layout->column[i];
        if (!take_field(&at, end, ',', &cell) || leat_text_trim(cell).size_bytes != cell.size_bytes)
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

/* Of a line with too many columns, or with quotes that do not match. */
static bool refuse_line(leat_can_header *head, leat_text line, char part) {
    const char *at = line.data, *end = at + line.size_bytes;
    leat_text cell;
    int64_t count = 0;
    while (at != NULL && take_field(&at, end, part, &cell)) count++;
    if (at == NULL)
        return leat_can_header_refuse(
            head,
            "its first line has %lld columns, but at most %d are read, and a frame has up to %d "
            "bytes; remove columns that are not needed",
            (long long)count, LEAT_CAN_COLUMNS_MAX, LEAT_CAN_FD_BYTES);
    return leat_can_header_refuse(
        head, "column %lld of its first line has a quote that is not closed, or a text after one",
        (long long)count + 1);
}

static bool split_header(leat_can_header *head, char part) {
    leat_text line = head->lines[head->line];
    head->part = part;
    head->count = leat_can_split_cells(line.data, line.data + line.size_bytes, part, head->cells,
                                       LEAT_CAN_COLUMNS_MAX);
    if (head->count < 0 && memchr(line.data, part, (size_t)line.size_bytes) != NULL)
        return refuse_line(head, line, part);
    return head->count >= 2;
}

/* The columns of a file without a header: as many as its longest line has, or up to the last one of
 * --column where the words of a payload look like more. */
static int count_columns(const leat_can_header *head) {
    int most = head->count, last = 0;
    bool range = false;
    for (int i = 1; i < head->line_count; i++) {
        leat_text cells[LEAT_CAN_COLUMNS_MAX];
        int count = leat_can_line_cells(head, i, cells);
        if (count > most) most = count;
    }
    for (int role = 0; role < (int)LEAT_CAN_ROLE_COUNT; role++) {
        const leat_can_mapped *mapped = &head->options->columns->roles[role];
        range = range || mapped->last[0] != 0;
        if (leat_can_number_of(mapped->name) > last) last = leat_can_number_of(mapped->name);
    }
    for (int i = 0; i < head->options->columns->label_count; i++) {
        int label = leat_can_number_of(head->options->columns->labels[i]);
        if (label > last) last = label;
    }
    return head->part == ' ' && !range && last < most ? last : most;
}

/* Whether a line without a valid time or identifier is a header, not a damaged line: names do not
 * begin with a digit, but most cells of a frame do. */
static bool is_header(const leat_can_header *head) {
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
static bool without_header(leat_can_header *head, leat_can_layout *layout) {
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
        if (mapped->name[0] != 0 && leat_can_number_of(mapped->name) == 0) return false;
        if (mapped->last[0] != 0 && leat_can_number_of(mapped->last) == 0) return false;
    }
    for (int i = 0; i < mapping->label_count; i++) {
        if (leat_can_number_of(mapping->labels[i]) == 0) return false;
    }
    return true;
}

/* The first line that has a separator: those before it are damaged. 0: none has. */
static int first_of_cells(const leat_text *lines, int count) {
    for (int i = 0; i < count; i++) {
        leat_text line = leat_text_trim(lines[i]);
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
        leat_can_header head = {.line = numbers ? first_of_cells(lines, count) : 0,
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

bool leat_can_is_other_header(const leat_can_layout *layout, const leat_can_line_options *options,
                              leat_text line) {
    leat_can_layout other = {.format = LEAT_CAN_CSV};
    char why[LEAT_CAN_WHY_BYTES];
    int first = 0;
    return layout->format == LEAT_CAN_CSV && layout->named &&
           leat_can_read_header(&line, 1, options, &other, &first, why) && first == 1 &&
           other.header != layout->header;
}
