/* What helps with a csv whose lines are rejected: the option that says how its values are written,
 * or that they are not read. From the first rejected line, whose reason is known. And what helps
 * with a file whose first line no format has. */
#include "ingest/can/read/hints.h"

#include <stdio.h>
#include <string.h>

#include "ingest/can/read/column_option.h"
#include "ingest/can/read/csv_header.h"

static int64_t count_of(leat_text text, const char *letters) {
    int64_t count = 0;
    for (int i = 0; i < text.size_bytes; i++)
        count += text.data[i] != 0 && strchr(letters, text.data[i]) != NULL;
    return count;
}

static bool is_decimal(leat_text text) {
    return text.size_bytes > 0 && count_of(text, "0123456789") == text.size_bytes;
}

enum { NAME_BYTES = LEAT_CAN_COLUMN_NAME_BYTES };

/* A column, and what --column has already. */
typedef struct adviser {
    const char *given, *name;
} adviser;

typedef struct advised {
    char text[LEAT_CAN_ADVICE_BYTES];
} advised;
static advised option_of(const adviser *of, const char *role, const char *unit) {
    char item[2 * NAME_BYTES + 16];
    advised out;
    snprintf(item, sizeof item, "%s=%s:%s", role, of->name, unit);
    leat_can_advise_column(of->given, item, out.text, sizeof out.text);
    return out;
}

/* 1600000000000: too large for seconds. */
static void remedy_time(leat_text cell, const adviser *advice, char *remedy, size_t size) {
    int64_t digits = 0;
    while (digits < cell.size_bytes && cell.data[digits] >= '0' && cell.data[digits] <= '9')
        digits++;
    const char *unit = digits >= 18 ? "ns" : digits >= 15 ? "us" : "ms";
    bool number = digits == cell.size_bytes || cell.data[digits] == '.';
    if (number && digits >= 12)
        snprintf(remedy, size, "if its times are not seconds, use %s",
                 option_of(advice, "time", unit).text);
    else if (digits > 0 && digits < cell.size_bytes && cell.data[digits] == ',')
        snprintf(remedy, size, "times with a decimal comma are not read; write points");
    else if (count_of(cell, ":") > 0 || count_of(cell, "-/") > 1)
        snprintf(remedy, size, "dates are not read; convert times to seconds");
}

/* 305.0 */
static bool is_float(leat_text cell) { return without_zeros(cell).size_bytes < cell.size_bytes; }

/* 0x135h: hexadecimal both before and after. */
static bool is_marked_twice(leat_text cell) {
    const int last = cell.size_bytes - 1;
    return last > 2 && cell.data[0] == '0' && (cell.data[1] | 0x20) == 'x' &&
           ((cell.data[last] | 0x20) == 'h' || (cell.data[last] | 0x20) == 'x');
}

/* 217056561, 1G1, 305.0 */
static void remedy_id(leat_text cell, const adviser *advice, char *remedy, size_t size) {
    int64_t value = 0;
    for (int i = 0; i < cell.size_bytes && i < 12; i++) value = 10 * value + (cell.data[i] - '0');
    if (is_decimal(cell) && value <= LEAT_CAN_ID_29_MAX)
        snprintf(remedy, size, "if its identifiers are decimal, use %s",
                 option_of(advice, "id", "dec").text);
    else if (is_float(cell))
        snprintf(
            remedy, size,
            "numbers with a fraction of 0 are decimal, as pandas writes them; use %s, or write "
            "identifiers as text if they are hexadecimal",
            option_of(advice, "id", "dec").text);
    else if (is_marked_twice(cell))
        snprintf(remedy, size,
                 "identifiers have 0x before the digits or %c after them, not both; remove one",
                 cell.data[cell.size_bytes - 1]);
    else if (!is_decimal(cell) && cell.size_bytes > 0)
        snprintf(
            remedy, size,
            "if \"%s\" is not the column of identifiers, use --column id=NAME; identifiers are "
            "hexadecimal digits, as 1A4, 0x1A4, $1A4 or 1A4h, or decimal with %s",
            advice->name, option_of(advice, "id", "dec").text);
}

/* "202 24 37", "[202, 24, 37]", "(202, 24, 37)", or 202 in a column of its own */
static bool has_decimal_bytes(leat_text cell) {
    char plain[512];
    const char *at = plain, *end = at + cell.size_bytes;
    int words = 0, value = 0;
    if (cell.size_bytes > (int)sizeof plain) return false;
    for (int i = 0; i < cell.size_bytes; i++)
        plain[i] = memchr("[](),", cell.data[i], 5) != NULL ? ' ' : cell.data[i];
    for (leat_text word; (word = next_word(&at, end)).size_bytes > 0; words++) {
        if (word.size_bytes > 3 || !read_count(word, 255, &value)) return false;
    }
    return words > 1 || cell.size_bytes == 3;
}

static void remedy_payload(leat_text cell, const adviser *advice, char *remedy, size_t size) {
    if (is_float(cell))
        snprintf(
            remedy, size,
            "numbers with a fraction of 0 are decimal, as pandas writes them; use %s, or write "
            "bytes as text if they are hexadecimal",
            option_of(advice, "data", "dec").text);
    else if (has_decimal_bytes(cell))
        snprintf(remedy, size, "if its bytes are decimal, use %s",
                 option_of(advice, "data", "dec").text);
    else if (cell.size_bytes >= 8 && count_of(cell, "01") == cell.size_bytes)
        snprintf(remedy, size, "if its payloads are bits, use %s",
                 option_of(advice, "data", "bits").text);
    else if (cell.size_bytes > 1 && (cell.data[0] == 'b' || cell.data[0] == 'B') &&
             cell.data[1] == '\'')
        snprintf(remedy, size, "payloads like b'...' are not read; write hexadecimal digits");
}

/* A column as --column takes it: its name, or its number where the option or another column has a
 * use for the name. */
static void name_column(const leat_can_layout *layout, const leat_text *names, int column,
                        char name[NAME_BYTES]) {
    bool good = names != NULL && names[column].size_bytes > 0;
    if (good) leat_text_show(name, NAME_BYTES, names[column].data, names[column].size_bytes);
    good = good && strlen(name) == (size_t)names[column].size_bytes &&
           strpbrk(name, ",:=") == NULL && strstr(name, "..") == NULL &&
           leat_can_number_of(name) == 0;
    for (int i = 0; i < layout->column_count && good; i++)
        good = i == column || !leat_can_is_same_name(names[i], name, true);
    if (!good) snprintf(name, NAME_BYTES, "%d", column + 1);
}

/* The column of this kind, and its name or number. */
static int find_column(const leat_can_layout *layout, const leat_text *names, int kind,
                       char name[NAME_BYTES]) {
    for (int i = 0; i < layout->column_count; i++) {
        if (layout->column[i] != kind) continue;
        name_column(layout, names, i, name);
        return i;
    }
    return -1;
}

/* Of bytes in columns of their own, the first that cannot be read, and all of them as FIRST..LAST;
 * -1: there is none, or they are in another order. */
static int find_byte(const leat_can_layout *layout, const leat_text *names, const leat_text *cells,
                     int count, char name[2 * NAME_BYTES]) {
    char first[NAME_BYTES] = "", last[NAME_BYTES] = "";
    int next = 0, found = -1;
    for (int i = 0; i < layout->column_count; i++) {
        int16_t byte = 0;
        if (layout->column[i] != LEAT_CAN_COLUMN_BYTE) continue;
        if (layout->byte[i] != next || (next > 0 && layout->column[i - 1] != LEAT_CAN_COLUMN_BYTE))
            return -1;
        name_column(layout, names, i, next++ == 0 ? first : last);
        if (found < 0 && i < count && cells[i].size_bytes > 0 &&
            !leat_can_take_byte(cells[i], true, &byte))
            found = i;
    }
    snprintf(name, 2 * NAME_BYTES, "%s..%s", first, last);
    return next > 1 ? found : -1;
}

/* A column named as a mark by --column or its header, with a word such as EXT. */
static bool remedy_mark(const leat_can_layout *layout, const leat_text *names,
                        const leat_text *cells, int count, char *remedy, size_t size) {
    static const struct {
        int kind;
        const char *role;
    } marks[] = {{LEAT_CAN_COLUMN_EXTENDED, "extended"},
                 {LEAT_CAN_COLUMN_REMOTE, "remote"},
                 {LEAT_CAN_COLUMN_ERROR, "error"}};
    char name[NAME_BYTES] = "", value[48];
    bool set = false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        int column = find_column(layout, names, marks[i].kind, name);
        if (column < 0 || column >= count || leat_can_take_mark(cells[column], &set)) continue;
        leat_text_show(value, sizeof value, cells[column].data, cells[column].size_bytes);
        snprintf(remedy, size,
                 "column %s was read as the mark \"%s\", which is 0, 1, or a word such as true, "
                 "and not %s; write 0 or 1 there, or leave the column out of --column",
                 name, marks[i].role, value);
        return true;
    }
    return false;
}

void leat_can_hint(const leat_can_layout *layout, const char *given, leat_text header,
                   leat_text line, leat_can_reject reason, char *remedy, size_t remedy_bytes) {
    enum { CELLS_MAX = LEAT_CAN_COLUMNS_MAX + LEAT_CAN_FD_BYTES };
    leat_text names[LEAT_CAN_COLUMNS_MAX], cells[CELLS_MAX];
    char name[2 * NAME_BYTES] = "";
    remedy[0] = 0;
    int kind = reason == LEAT_CAN_REJECT_TIME ? LEAT_CAN_COLUMN_TIME
               : reason == LEAT_CAN_REJECT_ID ? LEAT_CAN_COLUMN_ID
                                              : LEAT_CAN_COLUMN_PAYLOAD;
    if (reason == LEAT_CAN_REJECT_NO_LABEL) {
        snprintf(remedy, remedy_bytes,
                 "a line without a label is not taken for benign; if it is, use --unlabelled "
                 "benign-lines");
        return;
    }
    if (layout->format == LEAT_CAN_CL2000 && reason == LEAT_CAN_REJECT_TIME &&
        layout->clock.lack == LEAT_CAN_LACK_MONTH && !layout->clock.dated)
        snprintf(remedy, remedy_bytes,
                 "without its preamble, whose line \"# Time:\" has the month, a log is not read "
                 "after the end of a month; put the preamble back");
    if (layout->format != LEAT_CAN_CSV || reason == LEAT_CAN_REJECT_BUS) return;
    int count = leat_can_split_cells(header.data, header.data + header.size_bytes, layout->part,
                                     names, LEAT_CAN_COLUMNS_MAX);
    bool named = layout->named && count == layout->column_count;
    int column = find_column(layout, named ? names : NULL, kind, name);
    count = leat_can_split_cells(line.data, line.data + line.size_bytes, layout->part, cells,
                                 CELLS_MAX);
    if (reason == LEAT_CAN_REJECT_LINE &&
        remedy_mark(layout, named ? names : NULL, cells, count, remedy, remedy_bytes))
        return;
    if (column < 0 && reason == LEAT_CAN_REJECT_PAYLOAD)
        column = find_byte(layout, named ? names : NULL, cells, count, name);
    if (column < 0 || column >= count) return;
    const adviser advice = {given, name};
    if (kind == LEAT_CAN_COLUMN_TIME) remedy_time(cells[column], &advice, remedy, remedy_bytes);
    else if (kind == LEAT_CAN_COLUMN_ID) remedy_id(cells[column], &advice, remedy, remedy_bytes);
    else remedy_payload(cells[column], &advice, remedy, remedy_bytes);
}

const char *leat_can_hint_first(leat_text line) {
    const char *at = line.data, *end = at + line.size_bytes;
    leat_text word = next_word(&at, end);
    if (word.size_bytes == 0) return "";
    if (is_word(word, "VERSION") && next_word(&at, end).size_bytes > 0 && at == end &&
        line.data[line.size_bytes - 1] == '"')
        return "a database of messages (DBC), which says what frames mean; name the log itself";
    at = word.data + word.size_bytes;
    if (word.data[0] == '{')
        return "of JSON, only OpenXC traces with raw CAN messages are read: one object a line, "
               "with timestamp, bus, id and data";
    const int quote = word.data[0] == '"'; /* a spreadsheet that saves the file again adds it */
    bool separator = word.size_bytes >= 4 + quote && memcmp(word.data + quote, "sep=", 4) == 0;
    bool comment = word.data[0] == '#' &&
                   memmem(line.data, (size_t)line.size_bytes, "Logger type:", 12) == NULL;
    if (comment || separator || is_word(word, "//"))
        return "its first line is neither a header nor a frame; remove it";
    if (is_word(word, "Timestamp:") && memmem(at, (size_t)(end - at), "DLC:", 4) != NULL)
        return "hcrl-text has no labels; if the last column is one, use --column "
               "time=2,id=4,dlc=7,data=8..15,label=16";
    next_word(&at, end); /* interface identifier [length] */
    leat_text length = next_word(&at, end);
    if (length.size_bytes > 2 && length.data[0] == '[' && length.data[length.size_bytes - 1] == ']')
        return "candump wrote it for the screen, without times; record logs with candump -l or -L, "
               "or with -ta";
    return "";
}

void leat_can_hint_numbers(const leat_can_mapping *mapping, char *out, size_t out_bytes) {
    static const struct {
        leat_can_role role;
        const char *usual;
    } roles[] = {{LEAT_CAN_ROLE_TIME, "1"}, {LEAT_CAN_ROLE_ID, "2"}, {LEAT_CAN_ROLE_DATA, "3"}};
    size_t used = 0;
    out[0] = 0;
    for (size_t i = 0; i < sizeof roles / sizeof *roles && used < out_bytes; i++) {
        const leat_can_mapped *given = mapping != NULL ? &mapping->roles[roles[i].role] : NULL;
        bool is = given != NULL && given->name[0] != 0;
        used +=
            (size_t)snprintf(out + used, out_bytes - used, "%s%s=%.20s%s%.20s", i > 0 ? "," : "",
                             leat_can_role_names[roles[i].role], is ? given->name : roles[i].usual,
                             is && given->last[0] != 0 ? ".." : "", is ? given->last : "");
    }
}

/* ---- the option, as a shell takes it --------------------------------------------------------- */

static void append(char *out, size_t out_bytes, const char *separator, const char *text,
                   size_t size) {
    size_t used = strlen(out);
    snprintf(out + used, out_bytes - used, "%s%.*s", used > 0 ? separator : "", (int)size, text);
}

void leat_can_advise_column(const char *given, const char *item, char *out, size_t out_bytes) {
    static const char option[] = "--column ";
    char text[LEAT_CAN_ADVICE_MAX / 2] = "", word[LEAT_CAN_ADVICE_MAX];
    const size_t role = strcspn(item, "=") + 1;
    bool done = false;
    for (const char *at = given != NULL ? given : ""; *at != 0;) {
        const size_t size = strcspn(at, ",");
        const bool same = strncmp(at, item, role) == 0;
        append(text, sizeof text, ",", same ? item : at, same ? strlen(item) : size);
        done = done || same;
        at += size + (at[size] != 0);
    }
    if (!done) append(text, sizeof text, ",", item, strlen(item));
    bool fits = leat_shell_word(word, sizeof word, text) && strlen(text) + 1 < sizeof text &&
                strlen(word) + sizeof option <= out_bytes;
    if (fits) snprintf(out, out_bytes, "%s%s", option, word);
    else snprintf(out, out_bytes, "%s in --column", item);
}

const char *leat_can_plain_columns(leat_can_format format, bool labelled) {
    if (format == LEAT_CAN_HCRL && labelled) return "time=1,dlc=3,data=4..11,label=12";
    if (format == LEAT_CAN_SURVIVAL && !labelled) return "time=1,dlc=3,data=4";
    if (format == LEAT_CAN_CRYSYS && !labelled) return "time=1,dlc=4,data=5";
    return NULL;
}
