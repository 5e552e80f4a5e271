/*
 * The lines that convert columns: see parquet_convert.h. They are commands of a shell, so a path or
 * a name in them is quoted as it is at its place: for the shell, and for SQL. One that cannot be
 * shown as it is, or that leaves no room in the message, is replaced by FILE.
 */
#include "ingest/probes/parquet_convert.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "ingest/probes/parquet.h"
#include "ingest/probes/parquet_fields.h"

#if LEAT_HAVE_DUCKDB

bool leat_parquet_is_misread(const leat_parquet_column *column) {
    const char *declared = column->declared, *type = column->type;
    if (declared[0] == 0 || type[0] == 0) return false;
    if (strcmp(declared, "UNSIGNED INTEGER") == 0) return type[0] != 'U';
    return strcmp(declared, type) != 0;
}

/* ---- quoting ---- */

/* Whether a message shows the text as it is, and has room for it. */
static bool is_shown(const char *text) {
    char word[LEAT_MESSAGE_BYTES];
    return leat_shell_word(word, sizeof word, text);
}

/* Of a text that is shown. */
static leat_code add_word(leat_buf *out, const char *text, leat_error *err) {
    char word[LEAT_MESSAGE_BYTES];
    const bool fits = leat_shell_word(word, sizeof word, text);
    LEAT_ASSERT(fits);
    return leat_buf_append(out, word, (int64_t)strlen(word), err);
}

/* SQL within double quotes of a shell. */
static leat_code add_sql(leat_buf *out, const leat_buf *sql, leat_error *err) {
    for (int64_t i = 0; i < sql->size; i++) {
        const char letter = (char)sql->data[i];
        if (strchr("\"\\$`", letter) != NULL) LEAT_TRY(leat_buf_append(out, "\\", 1, err));
        LEAT_TRY(leat_buf_append(out, &letter, 1, err));
    }
    return LEAT_OK;
}

/* ---- DuckDB ---- */

/* How a column becomes another. */
typedef struct change {
    const char *before, *after;        /* of its name */
    const char *unit;                  /* what it is right for */
    const char *first;                 /* another statement */
    const char *names;                 /* of which NAME is one; NULL: it is not in the line */
    const leat_parquet_fields *fields; /* of it that are read; NULL: it is not a struct */
} change;

static bool is_whole_decimal(const char *type) {
    return strncmp(type, "DECIMAL(", 8) == 0 && strstr(type, ",0)") != NULL;
}

static bool is_integer(const char *type) {
    return strstr(type, "INT") != NULL && strncmp(type, "INTERVAL", 8) != 0 &&
           strpbrk(type, "[(") == NULL;
}

/* "DOUBLE[]": a list of numbers. */
static bool is_list(const char *type) {
    const char *bracket = strpbrk(type, "[("); /* a struct may have a field that is an INTEGER */
    if (bracket == NULL || strcmp(bracket, "[]") != 0) return false;
    return strcmp(type, "DOUBLE[]") == 0 || strcmp(type, "FLOAT[]") == 0 ||
           (strstr(type, "INT") != NULL && strncmp(type, "INTERVAL", 8) != 0);
}

/* A struct in place of an rtt. */
static bool change_struct(const leat_parquet_fields *fields, change *change) {
    const bool one = fields->value[0] != 0;
    change->fields = fields;
    change->names = one ? NULL : fields->names;
    change->before = "(";
    change->after = ")::DOUBLE";
    change->unit = fields->unit[0] != 0 ? " to its number of milliseconds"
                   : one                ? " to its number, if that is milliseconds"
                                        : " to one of its fields, if that is milliseconds";
    return true;
}

/* What was meant by dates in words, by decimals and by whole milliseconds is clear,
 * by other types it is not: then false. Times with an offset are TIMESTAMPTZ: TIMESTAMP drops it.
 */
static bool change_of(const leat_parquet_column *column, leat_parquet_fields *fields,
                      change *change) {
    const char *type = column->type;
    const bool text = strcmp(type, "VARCHAR") == 0, decimal = strncmp(type, "DECIMAL(", 8) == 0;
    *change = (struct change){"", "", "", "", NULL, NULL};
    if (column->number == LEAT_COLUMN_RTT && leat_parquet_fields_read(type, fields))
        return change_struct(fields, change);
    if (column->number == LEAT_COLUMN_TIME && text) {
        change->first = "SET TimeZone='UTC'; ";
        change->after = "::TIMESTAMPTZ";
        change->unit = " (if the texts are numbers, with ::BIGINT for ::TIMESTAMPTZ)";
    } else if (column->number == LEAT_COLUMN_TIME && is_whole_decimal(type)) {
        change->after = "::BIGINT"; /* whose unit its size tells */
    } else if (column->number == LEAT_COLUMN_TIME && strcmp(type, "DATE") == 0) {
        change->after = "::TIMESTAMP";
    } else if (column->number == LEAT_COLUMN_TIME && decimal) {
        change->before = "to_timestamp(";
        change->after = ")";
        change->unit = " if it is seconds since 1970";
    } else if (column->number == LEAT_COLUMN_RTT && text) {
        change->before = "nullif(";
        change->after = ", '')::DOUBLE"; /* that of a lost ping may be empty */
        change->unit = " if it is milliseconds";
    } else if (column->number == LEAT_COLUMN_RTT && (decimal || is_integer(type))) {
        change->after = "::DOUBLE";
        change->unit = " if it is milliseconds";
    } else if (column->number == LEAT_COLUMN_RTT && is_list(type)) {
        change->before = "unnest(coalesce(nullif(";
        change->after = ", []), [NULL]))::DOUBLE"; /* an empty list is a lost ping */
        change->unit = " to a row for each of its numbers, if they are milliseconds";
    } else if (column->number == LEAT_COLUMN_VERSION && (text || decimal)) {
        change->after = "::INTEGER";
    }
    return change->after[0] != 0;
}

/* The name of a column: the usual ones are no words of SQL. */
static leat_code add_name(leat_buf *sql, const char *name, leat_error *err) {
    if (strcmp(name, "event_time") == 0 || strcmp(name, "rtt") == 0)
        return leat_buf_append(sql, name, (int64_t)strlen(name), err);
    return leat_parquet_quote(sql, '"', name, err);
}

/* What the column becomes, before a cast. */
static leat_code add_value(leat_buf *sql, const char *name, const change *change, leat_error *err) {
    leat_buf quoted = {0};
    if (change->fields == NULL) return add_name(sql, name, err);
    leat_code code = add_name(&quoted, name, err);
    if (code == LEAT_OK) code = leat_buf_append(&quoted, "", 1, err);
    if (code == LEAT_OK)
        code = leat_parquet_fields_write(sql, change->fields, (const char *)quoted.data, err);
    leat_buf_free(&quoted);
    return code;
}

static leat_code add_duckdb(leat_buf *out, const leat_parquet_column *column, const char *path,
                            const change *change, leat_buf *sql, leat_error *err) {
    LEAT_TRY(
        leat_buf_printf(sql, err, "%sCOPY (SELECT * REPLACE (%s", change->first, change->before));
    LEAT_TRY(add_value(sql, column->name, change, err));
    LEAT_TRY(leat_buf_printf(sql, err, "%s AS ", change->after));
    LEAT_TRY(add_name(sql, column->name, err));
    LEAT_TRY(leat_buf_printf(sql, err, ") FROM read_parquet("));
    LEAT_TRY(leat_parquet_path_literal(sql, path, err));
    if (column->bytes || (change->fields != NULL && change->fields->unit[0] != 0))
        LEAT_TRY(leat_buf_printf(sql, err, ", binary_as_string=true"));
    if (strchr(path, '=') != NULL) LEAT_TRY(leat_buf_printf(sql, err, ", hive_partitioning=false"));
    LEAT_TRY(leat_buf_printf(sql, err, ")) TO 'converted.parquet'"));
    LEAT_TRY(leat_buf_printf(out, err, "duckdb -c \""));
    LEAT_TRY(add_sql(out, sql, err));
    return leat_buf_append(out, "\"", 1, err);
}

/* ---- PyArrow ---- */

/* What becomes of a column that DuckDB misreads, in Python; NULL: it is no such column. */
static const char *cast_of(const leat_parquet_column *column, const char **unit) {
    const bool date = strcmp(column->declared, "DATE") == 0;
    const bool decimal = strncmp(column->declared, "DECIMAL(", 8) == 0;
    *unit = "";
    switch (column->number) {
    case LEAT_COLUMN_TIME:
        if (date) return "t[c].cast('timestamp[us]')";
        if (!decimal || is_whole_decimal(column->declared)) return "t[c].cast('int64')";
        *unit = " if it is seconds since 1970";
        return "a.array([v if v is None else int(v*1000000)for v in t[c].to_pylist()],"
               "'timestamp[us]')";
    case LEAT_COLUMN_RTT:
        *unit = " if it is milliseconds";
        return date ? NULL : "t[c].cast('double')";
    case LEAT_COLUMN_VERSION: return date ? NULL : "t[c].cast('int64')";
    case LEAT_COLUMN_PROBE: return "t[c].cast('string')";
    default: return NULL;
    }
}

static leat_code add_pyarrow(leat_buf *out, const leat_parquet_column *column, const char *path,
                             const char *cast, leat_error *err) {
    LEAT_TRY(leat_buf_printf(
        out, err,
        "python3 -c \"import sys,pyarrow as a,pyarrow.parquet as q;f,c=sys.argv[1:];"
        "t=q.ParquetFile(f).read();q.write_table(t.set_column(t.schema.get_field_index(c),c,%s),"
        "'converted.parquet')\" ",
        cast));
    LEAT_TRY(add_word(out, path, err));
    LEAT_TRY(leat_buf_append(out, " ", 1, err));
    return add_word(out, column->name, err);
}

/* ---- the message ---- */

/* Of the path, where the line has no room for it. */
enum { SHORT_NAME_BYTES = 80, TYPE_BYTES = 44 };

/* What a reader of the line replaces in it. */
static leat_code add_replaced(leat_buf *out, const change *change, bool own, leat_error *err) {
    if (own && change->names == NULL) return LEAT_OK;
    LEAT_TRY(leat_buf_printf(out, err, " (replace %s", own ? "" : "FILE by its path"));
    if (change->names != NULL)
        LEAT_TRY(leat_buf_printf(out, err, "%sNAME by one of %s", own ? "" : ", ", change->names));
    return leat_buf_append(out, ")", 1, err);
}

/* Appends the line, if there is one, with a path in it. */
static leat_code add_line(leat_buf *out, const leat_parquet_column *column, const char *path,
                          leat_error *err) {
    const bool misread = leat_parquet_is_misread(column), own = path == column->path;
    const char *unit = "", *cast = misread ? cast_of(column, &unit) : NULL;
    leat_parquet_fields fields;
    change change = {0};
    leat_buf sql = {0};
    if (!is_shown(column->name) || (misread ? cast == NULL : column->beside)) return LEAT_OK;
    if (!misread && !change_of(column, &fields, &change)) return LEAT_OK;
    LEAT_TRY(leat_buf_printf(out, err, "; convert it%s%s", misread ? " with PyArrow" : "",
                             misread ? unit : change.unit));
    LEAT_TRY(add_replaced(out, &change, own, err));
    LEAT_TRY(leat_buf_append(out, ": ", 2, err));
    if (misread) return add_pyarrow(out, column, path, cast, err);
    leat_code code = add_duckdb(out, column, path, &change, &sql, err);
    leat_buf_free(&sql);
    return code;
}

/* The message, with the line unless `path` is NULL. */
static leat_code write_message(leat_buf *out, const leat_parquet_column *column,
                               const char *accepted, const char *path, leat_error *err) {
    char name[160];
    out->size = 0;
    leat_inputs_name(column->path, name, path == column->path ? sizeof name : SHORT_NAME_BYTES);
    LEAT_TRY(leat_buf_printf(out, err, "\"%s\": column \"%.60s\" is ", name, column->name));
    if (!leat_parquet_is_misread(column))
        LEAT_TRY(leat_buf_printf(out, err, "%.*s%s, must be %s", TYPE_BYTES, column->type,
                                 strlen(column->type) > TYPE_BYTES ? "..." : "", accepted));
    else
        LEAT_TRY(leat_buf_printf(out, err, "%s, which DuckDB misreads as %s", column->declared,
                                 column->type));
    return path == NULL ? LEAT_OK : add_line(out, column, path, err);
}

leat_code leat_parquet_refuse_type(const leat_parquet_column *column, const char *accepted,
                                   leat_error *err) {
    leat_buf out = {0};
    const char *path = is_shown(column->path) ? column->path : "FILE";
    leat_code code = write_message(&out, column, accepted, path, err);
    if (code == LEAT_OK && out.size >= LEAT_MESSAGE_BYTES)
        code = write_message(&out, column, accepted, "FILE", err);
    if (code == LEAT_OK && out.size >= LEAT_MESSAGE_BYTES)
        code = write_message(&out, column, accepted, NULL, err);
    if (code == LEAT_OK)
        code = leat_fail(err, LEAT_ERR_INPUT, "%.*s", (int)out.size, (const char *)out.data);
    leat_buf_free(&out);
    return code;
}

#endif
