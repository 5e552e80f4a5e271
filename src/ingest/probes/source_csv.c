/*
 * CSV: a header with the names of the columns, then records. Fields are used in place in the
 * record, and quotes are removed in place. A line that cannot be parsed is rejected as a whole, so
 * that nobody has to guess what a partial row meant.
 */
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "ingest/probes/source_parts.h"
#include "ingest/values.h"

void leat_source_names(const leat_source_columns *columns, const char *names[LEAT_COLUMNS]) {
    names[LEAT_COLUMN_TIME] = columns->event_time;
    names[LEAT_COLUMN_SRC] = columns->src_addr;
    names[LEAT_COLUMN_DST] = columns->dst_addr;
    names[LEAT_COLUMN_VERSION] = columns->ip_version;
    names[LEAT_COLUMN_RTT] = columns->rtt;
}

static bool is_name(const leat_text *field, const char *name) {
    return field->size_bytes == (int32_t)strlen(name) &&
           memcmp(field->data, name, (size_t)field->size_bytes) == 0;
}

/* Adds a name to the list of existing ones, as far as it fits into a message. */
static void list_name(char *list, size_t size, const leat_text *field) {
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%.*s", used > 0 ? ", " : "",
             field->size_bytes < 64 ? field->size_bytes : 64, field->data);
}

/* Why a header does not have a column: it is often not separated by commas, or not a header. */
static leat_code refuse_header(const char *path, const char *name, const char *list,
                               const leat_text *only, bool has_address, leat_error *err) {
    static const char separators[] = ";\t|";
    for (int i = 0; only != NULL && separators[i] != 0; i++) {
        if (memchr(only->data, separators[i], (size_t)only->size_bytes) == NULL) continue;
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\" is separated by %s, not by commas: \"%s\"; convert it to CSV with "
                         "commas",
                         path,
                         separators[i] == ';'    ? "semicolons"
                         : separators[i] == '\t' ? "tabs"
                                                 : "vertical bars",
                         list);
    }
    if (has_address)
        return leat_fail(
            err, LEAT_ERR_INPUT,
            "\"%s\" has no header: its first line is a record, \"%s\"; add a line with "
            "the names of the columns, such as event_time,src_addr,dst_addr,rtt",
            path, list);
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\" has no column \"%s\"; its columns are: %s (use --column "
                     "event_time=NAME,... if it has another name)",
                     path, name, list);
}

leat_code leat_csv_read_header(leat_line *line, const char *path,
                               const leat_source_columns *columns, leat_csv_map *map,
                               leat_error *err) {
    const char *names[LEAT_COLUMNS];
    leat_source_names(columns, names);
    bool seen[LEAT_COLUMNS] = {false}, has_address = false;
    leat_text field = {NULL, 0};
    char list[256] = "";
    memset(map, 0, sizeof *map);
    if (line->fault != LEAT_LINE_GOOD) {
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\": line %lld is not a CSV header: it is longer than %lld bytes, or "
                         "a quote is not closed",
                         path, (long long)line->number, (long long)LEAT_LINE_BYTES_MAX);
    }
    char *at = line->data, *end = line->data + line->size_bytes;
    while (at != NULL) {
        if (map->field_count == LEAT_CSV_FIELDS_MAX) {
            return leat_fail(err, LEAT_ERR_LIMIT, "\"%s\": the header has more than %d columns",
                             path, LEAT_CSV_FIELDS_MAX);
        }
        if (!leat_line_field(&at, end, &field)) {
            return leat_fail(err, LEAT_ERR_INPUT,
                             "\"%s\": line %lld: invalid quoting in the header", path,
                             (long long)line->number);
        }
        list_name(list, sizeof list, &field);
        if (leat_address_parse(field.data, field.size_bytes, NULL) != 0) has_address = true;
        int slot = -1;
        for (int k = 0; k < LEAT_COLUMNS; k++) {
            if (!is_name(&field, names[k])) continue;
            if (seen[k]) {
                return leat_fail(err, LEAT_ERR_INPUT,
                                 "\"%s\": column \"%s\" appears twice in the header", path,
                                 names[k]);
            }
            seen[k] = true;
            slot = k;
        }
        map->slot[map->field_count++] = (int8_t)slot;
    }
    map->has_version = seen[LEAT_COLUMN_VERSION];
    for (int k = 0; k < LEAT_COLUMNS; k++) {
        if (seen[k] || k == LEAT_COLUMN_VERSION) continue;
        return refuse_header(path, names[k], list, map->field_count == 1 ? &field : NULL,
                             has_address, err);
    }
    return LEAT_OK;
}

/* Splits a record by the map; false if the quoting is invalid or the number of fields differs. */
static bool split(const leat_csv_map *map, leat_line *line, leat_text fields[LEAT_COLUMNS]) {
    char *at = line->data, *end = line->data + line->size_bytes;
    int32_t count = 0;
    while (at != NULL) {
        leat_text field;
        if (count == map->field_count || !leat_line_field(&at, end, &field)) return false;
        int slot = map->slot[count++];
        if (slot >= 0) fields[slot] = field;
    }
    return count == map->field_count;
}

leat_code leat_csv_take(leat_text_worker *worker, leat_line *line, leat_error *err) {
    const char *text = line->data;
    int64_t text_bytes = line->size_bytes;
    if (memchr(line->data, '"', (size_t)line->size_bytes) != NULL) {
        /* removing quotes changes the line; keep its beginning for rejected.csv */
        if (text_bytes > LEAT_REJECT_TEXT_BYTES) text_bytes = LEAT_REJECT_TEXT_BYTES;
        memcpy(worker->head, line->data, (size_t)text_bytes);
        text = worker->head;
    }
    leat_text fields[LEAT_COLUMNS] = {{NULL, 0}};
    leat_source_row row = {.row = line->number};
    const leat_text *time = &fields[LEAT_COLUMN_TIME], *version = &fields[LEAT_COLUMN_VERSION];
    const leat_text *rtt = &fields[LEAT_COLUMN_RTT];
    if (line->fault != LEAT_LINE_GOOD || !split(&worker->map, line, fields) ||
        !leat_time_of_text(time->data, time->size_bytes, &row.time_us) ||
        !leat_version_parse(version->data, version->size_bytes, &row.ip_version) ||
        !leat_rtt_parse(rtt->data, rtt->size_bytes, &row.rtt)) {
        return leat_text_reject(worker, line->number, LEAT_REJECT_LINE, text, text_bytes, err);
    }
    row.src = fields[LEAT_COLUMN_SRC];
    row.dst = fields[LEAT_COLUMN_DST];
    return leat_rows_add(&worker->rows, &row, err);
}
