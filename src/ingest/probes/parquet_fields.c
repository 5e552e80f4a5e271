/*
 * Structs in place of rtts: see parquet_fields.h. Types of Parquet say which fields are numbers and
 * which are texts, but not what a text holds: it is a unit if its name says so, and the query fails
 * at one that it does not know.
 */
#include "ingest/probes/parquet_fields.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { DEPTH_MAX = 4 };

/* What was found so far. */
typedef struct search {
    leat_parquet_fields *fields;
    int numbers, units, others;
} search;

typedef struct span {
    const char *data;
    int size;
} span;

static bool begins(span text, const char *word) {
    const int size = (int)strlen(word);
    return text.size >= size && memcmp(text.data, word, (size_t)size) == 0;
}

static bool is_number(span type) {
    static const char *const names[] = {"DOUBLE",   "FLOAT",     "TINYINT", "SMALLINT",
                                        "INTEGER",  "BIGINT",    "HUGEINT", "UTINYINT",
                                        "UINTEGER", "USMALLINT", "UBIGINT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins(type, names[i]) && type.size == (int)strlen(names[i])) return true;
    return begins(type, "DECIMAL(") && type.data[type.size - 1] == ')';
}

/* Takes a name, or a type, up to one of `ends`; quotes and parentheses are kept. */
static span take(const char **at, const char *end, const char *ends) {
    span taken = {*at, 0};
    int depth = 0;
    bool quoted = false;
    for (; *at < end && (quoted || depth > 0 || strchr(ends, **at) == NULL); ++*at) {
        if (**at == '"') quoted = !quoted;
        else if (!quoted) depth += (**at == '(') - (**at == ')');
    }
    taken.size = (int)(*at - taken.data);
    return taken;
}

static bool is_plain(span name) {
    for (int i = 0; i < name.size; i++) {
        const char letter = name.data[i], small = (char)(letter | 0x20);
        if (!(small >= 'a' && small <= 'z') && letter != '_' &&
            (i == 0 || letter < '0' || letter > '9'))
            return false;
    }
    return true;
}

/* Without the quotes that DuckDB gives to words of SQL: after a point they need none. */
static span bare(span name) {
    const span inner = {name.data + 1, name.size - 2};
    return name.size > 2 && name.data[0] == '"' && is_plain(inner) ? inner : name;
}

static void add_name(char names[LEAT_FIELD_NAMES_BYTES], const char *name) {
    const size_t used = strlen(names), left = LEAT_FIELD_NAMES_BYTES - used;
    const char *between = used > 0 ? ", " : "";
    if (strchr(name, '"') == NULL && strlen(between) + strlen(name) < left)
        snprintf(names + used, left, "%s%s", between, name);
}

/* A field that is not a struct, by its whole name. */
static void take_field(search *found, const char *name, span last, span type) {
    leat_parquet_fields *fields = found->fields;
    const bool number = is_number(type), text = begins(type, "VARCHAR") && type.size == 7;
    const bool unit = text && last.size >= 4 && strncasecmp(last.data, "unit", 4) == 0;
    if (!number && !text) return;
    if (number && found->numbers++ == 0) snprintf(fields->value, LEAT_FIELD_BYTES, "%s", name);
    if (unit && found->units++ == 0) snprintf(fields->unit, LEAT_FIELD_BYTES, "%s", name);
    found->others += text && !unit;
    add_name(fields->names, name + 1);
}

/* The fields of a struct, within its parentheses. False: a name is too long to be shown. */
static bool take_fields(search *found, span inside, const char *above, int depth) {
    const char *at = inside.data, *end = inside.data + inside.size;
    while (at < end) {
        char name[LEAT_FIELD_BYTES];
        const span own = bare(take(&at, end, " "));
        at += at < end;
        const span type = take(&at, end, ",");
        if (snprintf(name, sizeof name, "%s.%.*s", above, own.size, own.data) >= (int)sizeof name)
            return false;
        if (begins(type, "STRUCT(") && type.data[type.size - 1] == ')') {
            const span deeper = {type.data + 7, type.size - 8};
            if (depth == DEPTH_MAX || !take_fields(found, deeper, name, depth + 1)) return false;
        } else {
            take_field(found, name, own, type);
        }
        while (at < end && (*at == ',' || *at == ' ')) at++;
    }
    return true;
}

bool leat_parquet_fields_read(const char *type, leat_parquet_fields *fields) {
    const span all = {type, (int)strlen(type)};
    search found = {.fields = fields};
    *fields = (leat_parquet_fields){0};
    if (!begins(all, "STRUCT(") || type[all.size - 1] != ')') return false;
    if (!take_fields(&found, (span){type + 7, all.size - 8}, "", 1)) return false;
    if (found.numbers != 1 || found.others > 0 || found.units > 1)
        fields->value[0] = fields->unit[0] = 0;
    return fields->value[0] != 0 || fields->names[0] != 0;
}

leat_code leat_parquet_fields_write(leat_buf *sql, const leat_parquet_fields *fields,
                                    const char *name, leat_error *err) {
    const char *value = fields->value[0] != 0 ? fields->value : ".NAME";
    if (fields->unit[0] == 0) return leat_buf_printf(sql, err, "%s%s", name, value);
    return leat_buf_printf(sql, err,
                           "CASE WHEN %s%s NOTNULL THEN %s%s/CASE %s%s WHEN 's' THEN 1e-3 WHEN "
                           "'ms' THEN 1 WHEN 'us' THEN 1e3 WHEN '\u00b5s' THEN 1e3 WHEN 'ns' THEN "
                           "1e6 ELSE error('unit') END END",
                           name, value, name, value, name, fields->unit);
}
