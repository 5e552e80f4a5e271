/*
 * Columns of Parquet files: which types they may have, and how files and columns stand in queries.
 */
#include <stdio.h>
#include <string.h>

#include "ingest/parquet.h"

#if LEAT_HAVE_DUCKDB

static const leat_time_type time_types[] = {
    {"TIMESTAMP", DUCKDB_TYPE_TIMESTAMP, 1000000, false, false},
    {"TIMESTAMP WITH TIME ZONE", DUCKDB_TYPE_TIMESTAMP_TZ, 1000000, false, false},
    {"TIMESTAMP_S", DUCKDB_TYPE_TIMESTAMP_S, 1, false, false},
    {"TIMESTAMP_MS", DUCKDB_TYPE_TIMESTAMP_MS, 1000, false, false},
    {"TIMESTAMP_NS", DUCKDB_TYPE_TIMESTAMP_NS, 1000000000, false, false},
    {"BIGINT", DUCKDB_TYPE_BIGINT, 1, false, true},
    {"INTEGER", DUCKDB_TYPE_BIGINT, 1, false, true},
    {"SMALLINT", DUCKDB_TYPE_BIGINT, 1, false, true},
    {"TINYINT", DUCKDB_TYPE_BIGINT, 1, false, true},
    {"UINTEGER", DUCKDB_TYPE_BIGINT, 1, false, true},
    {"USMALLINT", DUCKDB_TYPE_BIGINT, 1, false, true},
    {"UTINYINT", DUCKDB_TYPE_BIGINT, 1, false, true},
    {"UBIGINT", DUCKDB_TYPE_BIGINT, 1, true, true},
    {"HUGEINT", DUCKDB_TYPE_BIGINT, 1, true, true},
    {"UHUGEINT", DUCKDB_TYPE_BIGINT, 1, true, true},
};
enum { TIME_TYPES = sizeof time_types / sizeof *time_types };

const leat_time_type *leat_time_type_at(int index) {
    LEAT_ASSERT(index >= 0 && index < TIME_TYPES);
    return &time_types[index];
}

int leat_time_type_find(const char *name, int64_t size_bytes) {
    for (int i = 0; i < TIME_TYPES; i++) {
        if ((int64_t)strlen(time_types[i].name) == size_bytes &&
            memcmp(time_types[i].name, name, (size_t)size_bytes) == 0) {
            return i;
        }
    }
    return -1;
}

/* ---- queries ---- */

leat_code leat_parquet_path(leat_buf *buf, const char *path, leat_error *err) {
    if (path[0] != '/') LEAT_TRY(leat_buf_append(buf, "./", 2, err));
    return leat_buf_append(buf, path, (int64_t)strlen(path), err);
}

leat_code leat_parquet_path_literal(leat_buf *buf, const char *path, leat_error *err) {
    LEAT_TRY(leat_buf_append(buf, "'", 1, err));
    if (path[0] != '/') LEAT_TRY(leat_buf_append(buf, "./", 2, err));
    for (const char *at = path; *at != 0; at++) {
        char escaped[4] = {'[', *at, ']', 0};
        bool pattern = *at == '*' || *at == '?' || *at == '[';
        if (*at == '\'') LEAT_TRY(leat_buf_append(buf, "''", 2, err));
        else LEAT_TRY(leat_buf_append(buf, pattern ? escaped : at, pattern ? 3 : 1, err));
    }
    return leat_buf_append(buf, "'", 1, err);
}

leat_code leat_parquet_quote(leat_buf *buf, char mark, const char *text, leat_error *err) {
    LEAT_TRY(leat_buf_append(buf, &mark, 1, err));
    for (const char *at = text; *at != 0; at++) {
        if (*at == mark) LEAT_TRY(leat_buf_append(buf, at, 1, err));
        LEAT_TRY(leat_buf_append(buf, at, 1, err));
    }
    return leat_buf_append(buf, &mark, 1, err);
}

leat_code leat_parquet_from(leat_buf *buf, const leat_input *const *inputs, int64_t count,
                            leat_error *err) {
    LEAT_TRY(leat_buf_printf(buf, err, "read_parquet(["));
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) LEAT_TRY(leat_buf_append(buf, ",", 1, err));
        LEAT_TRY(leat_parquet_path_literal(buf, inputs[i]->path, err));
    }
    return leat_buf_printf(buf, err,
                           "], file_row_number=true, filename='" LEAT_PARQUET_PATH_COLUMN
                           "', binary_as_string=true, hive_partitioning=false, "
                           "union_by_name=false)");
}

leat_code leat_parquet_context(leat_error *err, leat_code code, const char *path) {
    return leat_error_context(err, code, "\"%s\": cannot be read as Parquet", path);
}

/* ---- what a file has ---- */

typedef struct columns {
    leat_input *input;
    const char *names[LEAT_FIELDS];
    char types[LEAT_FIELDS][48];
    bool seen[LEAT_FIELDS];
    char list[256];
} columns;

static bool is_name(const char *name, int name_bytes, const char *wanted) {
    return (int)strlen(wanted) == name_bytes && memcmp(wanted, name, (size_t)name_bytes) == 0;
}

static leat_code take_column(void *context, const leat_duckdb_value *values, leat_error *err) {
    (void)err;
    columns *found = context;
    const char *name = values[0].text.data;
    int name_bytes = (int)values[0].text.size_bytes, type_bytes = (int)values[1].text.size_bytes;
    if (is_name(name, name_bytes, LEAT_PARQUET_PATH_COLUMN) ||
        is_name(name, name_bytes, "file_row_number")) {
        return LEAT_OK;
    }
    size_t used = strlen(found->list);
    snprintf(found->list + used, sizeof found->list - used, "%s%.*s", used > 0 ? ", " : "",
             name_bytes < 64 ? name_bytes : 64, name);
    for (int k = 0; k < LEAT_FIELDS; k++) {
        if (!is_name(name, name_bytes, found->names[k])) continue;
        found->seen[k] = true;
        snprintf(found->types[k], sizeof found->types[k], "%.*s", type_bytes, values[1].text.data);
    }
    return LEAT_OK;
}

static leat_code wrong_type(const columns *found, int field, const char *accepted,
                            leat_error *err) {
    return leat_fail(err, LEAT_ERR_INPUT, "\"%s\": column \"%s\" is %s, must be %s",
                     found->input->path, found->names[field], found->types[field], accepted);
}

static bool is_type(const char *type, const char *const *types, int count) {
    for (int i = 0; i < count; i++) {
        if (strcmp(type, types[i]) == 0) return true;
    }
    return false;
}

static leat_code judge_types(columns *found, leat_error *err) {
    static const char *const narrow[] = {"TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT"};
    static const char *const wide[] = {"BIGINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT"};
    leat_parquet_facts *facts = &found->input->parquet;
    const char *time = found->types[LEAT_FIELD_TIME];
    facts->time_type = leat_time_type_find(time, (int64_t)strlen(time));
    if (facts->time_type < 0) {
        return wrong_type(found, LEAT_FIELD_TIME,
                          "a timestamp, or an integer of seconds since 1970", err);
    }
    for (int k = LEAT_FIELD_SRC; k <= LEAT_FIELD_DST; k++) {
        if (strcmp(found->types[k], "VARCHAR") != 0) return wrong_type(found, k, "text", err);
    }
    const char *version = found->types[LEAT_FIELD_VERSION];
    if (!found->seen[LEAT_FIELD_VERSION]) facts->version_type = LEAT_VERSION_ABSENT;
    else if (is_type(version, narrow, 5)) facts->version_type = LEAT_VERSION_NARROW;
    else if (is_type(version, wide, 5)) facts->version_type = LEAT_VERSION_WIDE;
    else return wrong_type(found, LEAT_FIELD_VERSION, "an integer", err);
    facts->rtt_double = strcmp(found->types[LEAT_FIELD_RTT], "DOUBLE") == 0;
    if (!facts->rtt_double && strcmp(found->types[LEAT_FIELD_RTT], "FLOAT") != 0) {
        return wrong_type(found, LEAT_FIELD_RTT, "float or double", err);
    }
    return LEAT_OK;
}

static leat_code judge_columns(columns *found, leat_error *err) {
    for (int k = 0; k < LEAT_FIELDS; k++) {
        if (found->seen[k] || k == LEAT_FIELD_VERSION) continue;
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\" has no column \"%s\"; it has: %s (--column event_time=NAME,... "
                         "renames)",
                         found->input->path, found->names[k], found->list);
    }
    return judge_types(found, err);
}

leat_code leat_parquet_columns(leat_duckdb *db, leat_input *input,
                               const leat_source_options *options, leat_error *err) {
    columns *found = NULL;
    leat_buf sql = {0};
    LEAT_TRY(LEAT_NEW(&found, 1, err));
    found->input = input;
    leat_source_names(&options->columns, found->names);
    const leat_input *one = input;
    leat_code code = leat_buf_printf(&sql, err,
                                     "SELECT column_name, column_type FROM (DESCRIBE "
                                     "SELECT * FROM ");
    if (code == LEAT_OK) code = leat_parquet_from(&sql, &one, 1, err);
    if (code == LEAT_OK) code = leat_buf_printf(&sql, err, ")");
    if (code == LEAT_OK) {
        code = leat_duckdb_rows(db, (const char *)sql.data, "tt", take_column, found, err);
        if (code != LEAT_OK) code = leat_parquet_context(err, code, input->path);
    }
    if (code == LEAT_OK) code = judge_columns(found, err);
    leat_buf_free(&sql);
    leat_free(found);
    return code;
}

#endif
