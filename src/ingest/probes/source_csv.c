/*
 * CSV, and TSV, which differs in its separator alone: a header with the names of the columns, then
 * records. Fields are used in place in the record, and quotes are removed in place. A line that
 * cannot be parsed is rejected as a whole, so that nobody has to guess what a partial row meant.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/address.h"
#include "base/number.h"
#include "ingest/probes/identity.h"
#include "ingest/probes/source_parts.h"
#include "ingest/value_text.h"

const char *const leat_source_fields[LEAT_COLUMNS] = {"event_time", "src_addr", "dst_addr",
                                                      "ip_version", "rtt",      "probe"};

int leat_source_names(const leat_source_columns *columns, const char *names[LEAT_COLUMNS]) {
    names[LEAT_COLUMN_TIME] = columns->event_time;
    names[LEAT_COLUMN_SRC] = columns->src_addr;
    names[LEAT_COLUMN_DST] = columns->dst_addr;
    names[LEAT_COLUMN_VERSION] = columns->ip_version;
    names[LEAT_COLUMN_RTT] = columns->rtt;
    names[LEAT_COLUMN_PROBE] = columns->probe;
    return columns->probe != NULL ? LEAT_COLUMNS : LEAT_COLUMN_PROBE;
}

bool leat_source_is_mapped(const leat_source_options *options, int column) {
    const char *names[LEAT_COLUMNS];
    if (column == LEAT_COLUMN_PROBE) return false; /* it is a name of the input in any case */
    (void)leat_source_names(&options->columns, names);
    return options->mapped[column] || strcmp(names[column], leat_source_fields[column]) != 0;
}

/* Adds a name to the list of existing ones, as far as it fits into a message. */
static void list_name(char *list, size_t size, const leat_text *field) {
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%.*s", used > 0 ? ", " : "",
             field->size_bytes < 64 ? field->size_bytes : 64, field->data);
}

/* Why a header lacks columns, if it is not separated by commas, or not a header. */
static leat_code refuse_header(const char *path, const char *list, const leat_text *only,
                               bool has_address, bool tabs, leat_error *err) {
    static const char separators[] = ";|";
    for (int i = 0; only != NULL && separators[i] != 0; i++) {
        if (memchr(only->data, separators[i], (size_t)only->size_bytes) == NULL) continue;
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\" is separated by %s, not by commas: \"%s\"; convert it to CSV with "
                         "commas",
                         path, separators[i] == ';' ? "semicolons" : "vertical bars", list);
    }
    if (has_address)
        return leat_fail(
            err, LEAT_ERR_INPUT,
            "\"%s\" has no header: its first line is a record, \"%s\"; add a line with "
            "the names of the columns, such as %s",
            path, list,
            tabs ? "event_time, src_addr, dst_addr and rtt with tabs between them"
                 : "event_time,src_addr,dst_addr,rtt");
    return LEAT_OK;
}

leat_code leat_text_refuse_cr(const char *path, leat_error *err) {
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\": its lines end in CR alone; convert them: tr '\\r' '\\n' < FILE > NEW",
                     path != NULL ? path : "");
}

/* The first CR of a line outside of quotes, which is not its end; NULL: there is none. */
static const char *find_cr(const char *at, const char *end) {
    bool quoted = false;
    if (memchr(at, '\r', (size_t)(end - at)) == NULL) return NULL;
    for (; at < end; at++) {
        if (*at == '"') quoted = !quoted;
        if (*at == '\r' && !quoted) return at;
    }
    return NULL;
}

/* ---- blanks ---- */

/* Tabs are blanks unless they separate. */
static bool is_blank(char letter, char separator) {
    return leat_is_blank(letter) && letter != separator;
}

/* Moves `at` behind blanks; whether there were any. */
static bool skip_blanks(char **at, const char *end, char separator) {
    const char *begin = *at;
    while (*at < end && is_blank(**at, separator)) ++*at;
    return *at > begin;
}

/* Removes blanks at the end; whether there were any. */
static bool cut_blanks(leat_text *field, char separator) {
    const int32_t size = field->size_bytes;
    while (field->size_bytes > 0 && is_blank(field->data[field->size_bytes - 1], separator))
        field->size_bytes--;
    return field->size_bytes < size;
}

/* A cell, or a part of a quoted one between its commas, without blanks and quotation marks around
 * it. */
static leat_text plain_cell(leat_text cell) {
    cell = leat_text_trim(cell);
    if (cell.size_bytes > 0 && *cell.data == '"')
        cell = (leat_text){cell.data + 1, cell.size_bytes - 1};
    if (cell.size_bytes > 0 && cell.data[cell.size_bytes - 1] == '"') cell.size_bytes--;
    return leat_text_trim(cell);
}

/* ---- lines that name columns ---- */

/* A line of a file, without the byte order mark that another part may begin with. */
static leat_line without_mark(const leat_line *line) {
    leat_line plain = *line;
    if (plain.size_bytes < 3 || memcmp(plain.data, "\xef\xbb\xbf", 3) != 0) return plain;
    plain.data += 3;
    plain.size_bytes -= 3;
    return plain;
}

/* How many of the columns a line names, in any case; *all: exactly, and none is missing. Quotes are
 * left in place. */
static int count_names(const leat_line *line, char separator, const leat_source_columns *columns,
                       bool *all) {
    const char *names[LEAT_COLUMNS];
    bool exact[LEAT_COLUMNS] = {false}, similar[LEAT_COLUMNS] = {false};
    leat_line plain = without_mark(line);
    const char *at = plain.data, *end = at + plain.size_bytes;
    const int name_count = leat_source_names(columns, names);
    while (at != NULL) {
        const char *comma = at < end ? memchr(at, separator, (size_t)(end - at)) : NULL;
        const char *stop = comma != NULL ? comma : end;
        while (at < stop && is_blank(*at, separator)) at++;
        leat_text field = {at, (int32_t)(stop - at)};
        (void)cut_blanks(&field, separator);
        bool quoted = field.size_bytes > 1 && at[0] == '"' && at[field.size_bytes - 1] == '"';
        if (quoted) field = (leat_text){at + 1, field.size_bytes - 2};
        for (int k = 0; k < name_count; k++) {
            exact[k] = exact[k] || leat_text_is(field, names[k]);
            similar[k] =
                similar[k] || (field.size_bytes == (int32_t)strlen(names[k]) &&
                               strncasecmp(field.data, names[k], (size_t)field.size_bytes) == 0);
        }
        at = comma != NULL ? comma + 1 : NULL;
    }
    *all = exact[LEAT_COLUMN_TIME] && exact[LEAT_COLUMN_SRC] && exact[LEAT_COLUMN_DST] &&
           exact[LEAT_COLUMN_RTT] && (columns->probe == NULL || exact[LEAT_COLUMN_PROBE]);
    int count = 0;
    for (int k = 0; k < LEAT_COLUMNS; k++) count += similar[k];
    return count;
}

/* A header with tabs is TSV, unless it has commas, and more of the names between these. */
static char find_separator(const leat_line *line, const leat_source_columns *columns) {
    const size_t size = (size_t)line->size_bytes;
    bool all = false;
    if (size == 0 || memchr(line->data, '\t', size) == NULL) return ',';
    if (memchr(line->data, ',', size) == NULL) return '\t';
    const int by_commas = count_names(line, ',', columns, &all);
    return !all && count_names(line, '\t', columns, &all) > by_commas ? '\t' : ',';
}

/* ---- the header ---- */

leat_code leat_csv_read_header(leat_line *line, const char *path,
                               const leat_source_columns *columns, leat_csv_map *map,
                               leat_error *err) {
    const char *names[LEAT_COLUMNS];
    const int count = leat_source_names(columns, names);
    bool seen[LEAT_COLUMNS] = {false}, has_address = false;
    leat_text field = {NULL, 0};
    char list[256] = "";
    const char separator = map->separator != 0 ? map->separator : find_separator(line, columns);
    *map = (leat_csv_map){.separator = separator};
    if (line->fault != LEAT_LINE_GOOD) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\": line %lld is not a CSV header: it is longer than %lld bytes, or "
                         "a quote is not closed",
                         path, (long long)line->number, (long long)LEAT_LINE_BYTES_MAX);
    }
    char *at = line->data, *end = line->data + line->size_bytes;
    /* the names of the first line may all be there, and its last one have the records behind it */
    if (find_cr(at, end) != NULL) return leat_text_refuse_cr(path, err);
    while (at != NULL) {
        if (map->field_count == LEAT_CSV_FIELDS_MAX) {
            return leat_fail(err, LEAT_ERR_LIMIT, "\"%s\": the header has more than %d columns",
                             path, LEAT_CSV_FIELDS_MAX);
        }
        if (skip_blanks(&at, end, separator)) map->blanks = true;
        if (!leat_line_field_of(&at, end, separator, &field)) {
            return leat_fail(err, LEAT_ERR_INPUT,
                             "\"%s\": line %lld: invalid quoting in the header", path,
                             (long long)line->number);
        }
        if (cut_blanks(&field, separator)) map->blanks = true;
        list_name(list, sizeof list, &field);
        if (leat_address_parse(field.data, field.size_bytes, NULL) != 0) has_address = true;
        int slot = -1;
        for (int k = 0; k < count; k++) {
            if (!leat_text_is(field, names[k])) continue;
            if (seen[k]) {
                return leat_fail(err, LEAT_ERR_INPUT,
                                 "\"%s\": column \"%s\" appears twice in the header", path,
                                 names[k]);
            }
            seen[k] = true;
            slot = k;
        }
        if (slot < 0 && leat_text_is(field, "prb_id")) slot = LEAT_CSV_PRB_ID;
        map->slot[map->field_count++] = (int8_t)slot;
    }
    map->has_version = seen[LEAT_COLUMN_VERSION];
    for (int k = 0; k < count; k++) {
        if (seen[k] || k == LEAT_COLUMN_VERSION) continue;
        LEAT_TRY(refuse_header(path, list, map->field_count == 1 ? &field : NULL, has_address,
                               separator == '\t', err));
        return leat_source_missing(path, names, count, seen, list, err);
    }
    return LEAT_OK;
}

/* Splits a record by the map; false if the quoting is invalid or the number of fields differs. */
static bool split(const leat_csv_map *map, leat_line *line, leat_text fields[LEAT_CSV_PRB_ID + 1]) {
    char *at = line->data, *end = line->data + line->size_bytes;
    int32_t count = 0;
    while (at != NULL) {
        leat_text field;
        if (map->blanks) (void)skip_blanks(&at, end, map->separator);
        if (count == map->field_count || !leat_line_field_of(&at, end, map->separator, &field))
            return false;
        if (map->blanks) (void)cut_blanks(&field, map->separator);
        int slot = map->slot[count++];
        if (slot >= 0) fields[slot] = field;
    }
    return count == map->field_count;
}

/* ---- lines before and after the header ---- */

/* Called for every line: the name of the time, which no record holds, decides quickly. */
bool leat_csv_is_header(const leat_line *line, char separator, const leat_source_columns *columns) {
    bool all = false;
    if (line->fault != LEAT_LINE_GOOD ||
        memmem(line->data, (size_t)line->size_bytes, columns->event_time,
               strlen(columns->event_time)) == NULL)
        return false;
    return count_names(line, separator, columns, &all) > 0 && all;
}

/* Whether a line before the header is something else: a comment, a line sep=, for a spreadsheet, or
 * a title, which has no separators. *header: it is the header, as a comment. */
static bool is_preamble(leat_line *line, const leat_source_columns *columns, bool *header) {
    char *at = line->data, *end = at + line->size_bytes;
    *header = false;
    if (line->fault != LEAT_LINE_GOOD) return false;
    (void)skip_blanks(&at, end, ',');
    const int64_t size = end - at;
    if (size > 0 && at[0] == '#') {
        leat_line rest = *line;
        at++;
        (void)skip_blanks(&at, end, ',');
        rest.data = at;
        rest.size_bytes = end - at;
        *header = leat_csv_is_header(&rest, find_separator(&rest, columns), columns);
        if (*header) *line = rest;
        return true;
    }
    /* a spreadsheet that saves the file again puts it in quotes */
    const leat_text sep = plain_cell((leat_text){at, (int32_t)size});
    if (sep.size_bytes >= 4 && sep.size_bytes <= 6 && strncasecmp(sep.data, "sep=", 4) == 0)
        return true;
    for (int64_t i = 0; i < size; i++)
        if (strchr(",;|\t", at[i]) != NULL) return false;
    return true;
}

leat_code leat_csv_find_header(leat_lines *lines, const char *path,
                               const leat_source_columns *columns, leat_csv_map *map,
                               int64_t *preamble, leat_error *err) {
    leat_buf first = {0}; /* the first line, about which to complain */
    leat_line line, shown = {0};
    bool found = false, header = false;
    *preamble = 0;
    leat_code code = leat_lines_first(lines, &line, &found, err);
    *map = (leat_csv_map){0};
    if (code == LEAT_OK && !found) return LEAT_OK; /* it is empty */
    while (code == LEAT_OK && found && *preamble < LEAT_CSV_PREAMBLE_MAX &&
           is_preamble(&line, columns, &header) && !header) {
        if (++*preamble == 1) {
            shown = line;
            code = leat_buf_append(&first, line.data, line.size_bytes, err);
        }
        if (code == LEAT_OK) code = leat_lines_first(lines, &line, &found, err);
    }
    if (code == LEAT_OK && (!found || *preamble == LEAT_CSV_PREAMBLE_MAX)) {
        shown.data = (char *)first.data;
        line = shown;
    }
    if (code == LEAT_OK) code = leat_csv_read_header(&line, path, columns, map, err);
    if (code == LEAT_OK) leat_lines_separate(lines, map->separator);
    leat_buf_free(&first);
    return code;
}

/* Whether a cell is not a time or an address, not even one with an error: names hardly begin with a
 * digit, and have more letters than digits. */
static bool is_word(const leat_text *cell) {
    const char *at = cell->data;
    int32_t digits = 0, letters = 0;
    for (int32_t i = 0; i < cell->size_bytes; i++) {
        const char small = (char)(at[i] | 0x20);
        digits += at[i] >= '0' && at[i] <= '9';
        letters += (small >= 'a' && small <= 'z') || (uint8_t)at[i] >= 0x80;
    }
    return letters > 0 && digits <= letters && at[0] != '#' && (at[0] < '0' || at[0] > '9') &&
           leat_address_parse(at, cell->size_bytes, NULL) == 0;
}

static bool is_same(const leat_text *a, const leat_text *b) {
    return a->size_bytes == b->size_bytes && a->size_bytes > 0 &&
           memcmp(a->data, b->data, (size_t)a->size_bytes) == 0;
}

/* Whether one of the cells of a line, which has no names of columns in it, is a number or address:
 * records have such cells also where they are not read. */
static bool has_values(const leat_text *line, char separator) {
    const char *at = line->data, *end = at + line->size_bytes;
    while (at != NULL) {
        const char *comma = at < end ? memchr(at, separator, (size_t)(end - at)) : NULL;
        const leat_text cell =
            plain_cell((leat_text){at, (int32_t)((comma != NULL ? comma : end) - at)});
        double number;
        if (leat_decimal_parse(cell.data, cell.size_bytes, 0, &number) ||
            leat_address_parse(cell.data, cell.size_bytes, NULL) != 0)
            return true;
        at = comma != NULL ? comma + 1 : NULL;
    }
    return false;
}

/* Copies the cells, without a # before one of them. True: there was one, and a cell has more than
 * one word, as in a comment. */
static bool skip_mark(const leat_text cells[LEAT_COLUMNS], leat_text fields[LEAT_COLUMNS]) {
    bool marked = false, phrase = false;
    for (int i = 0; i < LEAT_COLUMNS; i++) {
        leat_text cell = cells[i];
        if (cell.size_bytes > 0 && cell.data[0] == '#') {
            marked = true;
            cell = leat_text_trim((leat_text){cell.data + 1, cell.size_bytes - 1});
        }
        fields[i] = cell;
        phrase = phrase ||
                 (cell.size_bytes > 0 && memchr(cell.data, ' ', (size_t)cell.size_bytes) != NULL);
    }
    return marked && phrase;
}

/* What a line looks like that is not a record. */
typedef enum other_line { NOT_A_HEADER, MAYBE_A_HEADER, IS_A_HEADER } other_line;

/* A header with names of its own has a word where a record has its time, its addresses and its rtt.
 * It is only perhaps one if a record or a comment could have these words: no time, the same word
 * twice, a word for a lost ping, or numbers in the columns that are not read. */
static other_line look_for_names(const leat_text cells[LEAT_COLUMNS], const leat_text *line,
                                 char separator) {
    leat_text fields[LEAT_COLUMNS];
    const bool comment = skip_mark(cells, fields);
    const leat_text *time = &fields[LEAT_COLUMN_TIME], *rtt = &fields[LEAT_COLUMN_RTT];
    const leat_text *src = &fields[LEAT_COLUMN_SRC], *dst = &fields[LEAT_COLUMN_DST];
    double number;
    float missing;
    if ((time->size_bytes > 0 && !is_word(time)) || !is_word(src) || !is_word(dst) ||
        rtt->size_bytes == 0 || leat_decimal_parse(rtt->data, rtt->size_bytes, 0, &number))
        return NOT_A_HEADER;
    if (time->size_bytes == 0 || comment || leat_rtt_parse(rtt->data, rtt->size_bytes, &missing) ||
        is_same(src, dst) || is_same(time, src) || is_same(time, dst) || is_same(time, rtt) ||
        is_same(src, rtt) || is_same(dst, rtt) || has_values(line, separator))
        return MAYBE_A_HEADER;
    return IS_A_HEADER;
}

/* A line that is not a record may be a header that cannot be used: the records after it could be
 * read with the wrong columns. With some of the names it is one; with others, leat_notes_check
 * refuses it if there are records after it. `fields` is NULL if there are not as many cells as
 * columns. */
static leat_code refuse_other_header(const leat_text_worker *worker, const leat_line *line,
                                     const leat_text *text, const leat_text *fields,
                                     leat_error *err) {
    const leat_source_options *options = worker->rows.options;
    const char *probe = options->columns.probe;
    leat_line shown = *line;
    bool all = false;
    shown.data = (char *)(uintptr_t)text->data;
    shown.size_bytes = text->size_bytes;
    if (line->fault != LEAT_LINE_GOOD) return LEAT_OK;
    const char separator = worker->map.separator;
    if (count_names(&shown, separator, &options->columns, &all) < 2) {
        const other_line like =
            fields != NULL ? look_for_names(fields, text, separator) : NOT_A_HEADER;
        const int32_t file = worker->rows.file_index;
        if (like == MAYBE_A_HEADER) leat_notes_add_header(options->notes, file, line->number);
        if (like == IS_A_HEADER) leat_notes_add_table(options->notes, file, line->number, text);
        return LEAT_OK;
    }
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\": line %lld is another header, which does not have all of the columns "
                     "%s, %s, %s%s%s and %s: \"%.*s\"; split the file there, or correct the line",
                     worker->path != NULL ? worker->path : "", (long long)line->number,
                     options->columns.event_time, options->columns.src_addr,
                     options->columns.dst_addr, probe != NULL ? ", " : "",
                     probe != NULL ? probe : "", options->columns.rtt,
                     text->size_bytes < 100 ? text->size_bytes : 100, text->data);
}

/* Whether a line that is not a record consists of records that end in CR: not only of two, which
 * may be a line whose end is damaged. */
static bool has_records(const leat_csv_map *map, const char *text, int64_t text_bytes) {
    enum { ENOUGH = 4 };
    const char *at = text, *end = text + text_bytes;
    for (int parts = 0; parts < ENOUGH; parts++) {
        const char *stop = find_cr(at, end);
        int32_t fields = 1;
        if (stop == NULL) return false;
        for (; at < stop; at++) fields += *at == map->separator;
        if (fields != map->field_count) return false;
        at = stop + 1;
    }
    return true;
}

leat_code leat_csv_take(leat_text_worker *worker, leat_line *line, leat_error *err) {
    const leat_source_options *options = worker->rows.options;
    const char *text = line->data;
    if (leat_csv_is_header(line, worker->map.separator, &options->columns)) {
        leat_line header = without_mark(line);
        return leat_csv_read_header(&header, worker->path != NULL ? worker->path : "",
                                    &options->columns, &worker->map, err);
    }
    worker->records++;
    int64_t text_bytes = line->size_bytes;
    if (memchr(line->data, '"', (size_t)line->size_bytes) != NULL) {
        /* removing quotes changes the line; keep its beginning for rejected.csv */
        if (text_bytes > LEAT_REJECT_TEXT_BYTES) text_bytes = LEAT_REJECT_TEXT_BYTES;
        memcpy(worker->head, line->data, (size_t)text_bytes);
        text = worker->head;
    }
    leat_text fields[LEAT_CSV_PRB_ID + 1] = {{NULL, 0}};
    leat_source_row row = {.row = line->number};
    const leat_text *time = &fields[LEAT_COLUMN_TIME], *version = &fields[LEAT_COLUMN_VERSION];
    const leat_text *rtt = &fields[LEAT_COLUMN_RTT];
    bool whole = line->fault == LEAT_LINE_GOOD && split(&worker->map, line, fields);
    bool timed = whole && leat_time_read(time->data, time->size_bytes, options->time_unit,
                                         &row.time_us, &worker->units);
    const leat_text shown = {text, (int32_t)text_bytes};
    if (!timed || !leat_version_parse(version->data, version->size_bytes, &row.ip_version)) {
        if (!whole && has_records(&worker->map, text, text_bytes))
            return leat_text_refuse_cr(worker->path, err);
        LEAT_TRY(refuse_other_header(worker, line, &shown, whole && !timed ? fields : NULL, err));
        if (!whole || !timed) leat_notes_add_malformed(options->notes, !whole);
        return leat_text_reject(worker, line->number, LEAT_REJECT_LINE, text, text_bytes, err);
    }
    double answer;
    if (!leat_rtt_number(rtt->data, rtt->size_bytes, &answer)) {
        if (time->size_bytes == 0) LEAT_TRY(refuse_other_header(worker, line, &shown, fields, err));
        leat_notes_add_word(options->notes, rtt->data, rtt->size_bytes);
        return leat_text_reject(worker, line->number, LEAT_REJECT_RTT_BAD, text, text_bytes, err);
    }
    leat_digits_add(&worker->digits, time, row.time_us);
    row.src = fields[LEAT_COLUMN_SRC];
    row.dst = fields[LEAT_COLUMN_DST];
    row.name = fields[LEAT_COLUMN_PROBE];
    row.rtt = leat_text_rtt(worker, answer);
    const leat_text *number = &fields[LEAT_CSV_PRB_ID];
    int64_t probe = 0;
    if (number->size_bytes > 0 && leat_whole_parse(number->data, number->size_bytes, &probe) &&
        probe > 0 && probe <= LEAT_PROBE_NUMBER_MAX)
        row.probe = (uint32_t)probe;
    return leat_rows_add(&worker->rows, &row, err);
}
