/* A value for each source, read from CSV: see src_table.h. */
#include "load/probes/src_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

#define FIELDS_MAX 256
#define VALUE_BYTES_MAX 255

typedef struct src_entry {
    int64_t src_id;
    int64_t text; /* place in `texts`; then the line, until the table is sorted */
} src_entry;

struct leat_src_table {
    src_entry *entries;
    int64_t count, capacity;
    leat_buf texts;
};

/* What is being read. */
typedef struct src_file {
    const char *path, *column;
    leat_lines *lines;
    int field_count, id_field, value_field;
} src_file;

static leat_code bad_line(const src_file *file, const leat_line *line, const char *what,
                          leat_error *err) {
    return leat_fail(err, LEAT_ERR_INPUT, "\"%s\", line %lld: %s", file->path,
                     (long long)line->number, what);
}

/* Splits a record; the number of fields, or -1 if its quotes are bad or it has too many. */
static int split(leat_line *line, leat_text fields[FIELDS_MAX]) {
    int count = 0;
    if (line->fault != LEAT_LINE_GOOD) return -1;
    for (char *at = line->data, *end = at + line->size_bytes; at != NULL; count++) {
        if (count == FIELDS_MAX || !leat_line_field(&at, end, &fields[count])) return -1;
    }
    return count;
}

static leat_code read_header(src_file *file, leat_line *line, leat_error *err) {
    leat_text fields[FIELDS_MAX];
    int count = split(line, fields);
    file->id_field = file->value_field = -1;
    if (count < 0) return bad_line(file, line, "is not a CSV header", err);
    for (int i = 0; i < count; i++) {
        if (leat_text_is(fields[i], "src_id")) file->id_field = i;
        if (leat_text_is(fields[i], file->column)) file->value_field = i;
    }
    file->field_count = count;
    if (file->id_field >= 0 && file->value_field >= 0) return LEAT_OK;
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\": the header must name the columns src_id and %s, but is \"%.*s\"",
                     file->path, file->column,
                     (int)(line->size_bytes < 100 ? line->size_bytes : 100), line->data);
}

static bool parse_id(const leat_text *field, int64_t *id) {
    int32_t begin = field->size_bytes > 1 && field->data[0] == '-' ? 1 : 0;
    *id = 0;
    if (field->size_bytes == begin) return false;
    for (int32_t i = begin; i < field->size_bytes; i++) {
        int digit = field->data[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(*id, 10, id) ||
            __builtin_sub_overflow(*id, digit, id)) {
            return false;
        }
    }
    /* counted downwards, where there is one number more */
    return begin == 1 || !__builtin_sub_overflow((int64_t)0, *id, id);
}

static leat_code add_line(leat_src_table *table, const src_file *file, leat_line *line,
                          leat_error *err) {
    leat_text fields[FIELDS_MAX];
    src_entry entry = {.text = table->texts.size};
    if (line->size_bytes == 0) return LEAT_OK;
    if (split(line, fields) != file->field_count) {
        return bad_line(file, line, "does not have as many fields as the header", err);
    }
    if (!parse_id(&fields[file->id_field], &entry.src_id)) {
        return bad_line(file, line, "its src_id is not a 64-bit whole number", err);
    }
    const leat_text *value = &fields[file->value_field];
    if (value->size_bytes > VALUE_BYTES_MAX || memchr(value->data, 0, (size_t)value->size_bytes))
        return bad_line(file, line, "its value is not a short text", err);
    LEAT_TRY(leat_buf_append(&table->texts, value->data, value->size_bytes, err));
    LEAT_TRY(leat_buf_append(&table->texts, "", 1, err));
    LEAT_TRY(LEAT_GROW(&table->entries, &table->capacity, table->count + 1, err));
    table->entries[table->count++] = entry;
    return LEAT_OK;
}

static int by_id(const void *a, const void *b) {
    const src_entry *one = a, *two = b;
    if (one->src_id != two->src_id) return one->src_id < two->src_id ? -1 : 1;
    return one->text < two->text ? -1 : one->text > two->text;
}

static leat_code read_all(leat_src_table *table, src_file *file, leat_error *err) {
    leat_line line;
    bool found = false;
    LEAT_TRY(leat_lines_next(file->lines, &line, &found, err));
    if (!found) return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" is empty", file->path);
    LEAT_TRY(read_header(file, &line, err));
    for (;;) {
        LEAT_TRY(leat_lines_next(file->lines, &line, &found, err));
        if (!found) break;
        LEAT_TRY(add_line(table, file, &line, err));
    }
    if (table->count > 0) {
        qsort(table->entries, (size_t)table->count, sizeof *table->entries, by_id);
    }
    for (int64_t i = 1; i < table->count; i++) {
        if (table->entries[i].src_id != table->entries[i - 1].src_id) continue;
        return leat_fail(err, LEAT_ERR_INPUT, "\"%s\": src_id %lld is listed twice", file->path,
                         (long long)table->entries[i].src_id);
    }
    return LEAT_OK;
}

leat_code leat_src_table_load(leat_src_table **out, const char *path, const char *column,
                              leat_error *err) {
    leat_src_table *table = NULL;
    src_file file = {.path = path, .column = column};
    leat_lines_options options = {.quotes = true};
    *out = NULL;
    LEAT_TRY(LEAT_NEW(&table, 1, err));
    leat_code code = leat_lines_open(&file.lines, path, &options, err);
    if (code == LEAT_OK) code = read_all(table, &file, err);
    leat_lines_close(file.lines);
    if (code != LEAT_OK) {
        leat_src_table_destroy(table);
        return code;
    }
    *out = table;
    return LEAT_OK;
}

void leat_src_table_destroy(leat_src_table *table) {
    if (table == NULL) return;
    leat_free(table->entries);
    leat_buf_free(&table->texts);
    leat_free(table);
}

int64_t leat_src_table_bytes(const leat_src_table *table) {
    return table->capacity * (int64_t)sizeof *table->entries + table->texts.capacity;
}

const char *leat_src_table_find(const leat_src_table *table, int64_t src_id) {
    int64_t low = 0, high = table->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (table->entries[middle].src_id < src_id) low = middle + 1;
        else high = middle;
    }
    if (low == table->count || table->entries[low].src_id != src_id) return NULL;
    return (const char *)table->texts.data + table->entries[low].text;
}

void leat_src_table_hash(const leat_src_table *table, uint8_t digest[32]) {
    leat_sha256 sha;
    leat_sha256_init(&sha);
    for (int64_t i = 0; i < table->count; i++) {
        const char *text = (const char *)table->texts.data + table->entries[i].text;
        leat_sha256_update(&sha, &table->entries[i].src_id, 8);
        leat_sha256_update(&sha, text, (int64_t)strlen(text) + 1);
    }
    leat_sha256_final(&sha, digest);
}
