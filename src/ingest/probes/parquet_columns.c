/*
 * Columns of Parquet files: which types they may have, and how files and columns appear in queries.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ingest/probes/parquet.h"
#include "ingest/probes/parquet_convert.h"
#include "ingest/probes/parquet_fields.h"

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
    {"DOUBLE", DUCKDB_TYPE_DOUBLE, 1, false, true},
    /* timestamps of files in their plain form */
    {"", DUCKDB_TYPE_BIGINT, 1000, false, false},
    {"", DUCKDB_TYPE_BIGINT, 1000000, false, false},
    {"", DUCKDB_TYPE_BIGINT, 1000000000, false, false},
};
enum { PLAIN_TYPES = 3, TIME_TYPES = sizeof time_types / sizeof *time_types };

const leat_time_type *leat_time_type_at(int index) {
    LEAT_ASSERT(index >= 0 && index < TIME_TYPES);
    return &time_types[index];
}

int leat_time_type_find(const char *name, int64_t size_bytes) {
    for (int i = 0; i < TIME_TYPES - PLAIN_TYPES; i++) {
        if ((int64_t)strlen(time_types[i].name) == size_bytes &&
            memcmp(time_types[i].name, name, (size_t)size_bytes) == 0) {
            return i;
        }
    }
    return -1;
}

int leat_time_type_plain(int64_t ticks_per_second) {
    for (int i = TIME_TYPES - PLAIN_TYPES; i < TIME_TYPES; i++) {
        if (time_types[i].ticks_per_second == ticks_per_second) return i;
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

leat_code leat_parquet_add_text(leat_buf *sql, const char *column, bool plain, int most,
                                leat_error *err) {
    LEAT_TRY(leat_buf_printf(sql, err, ",CASE WHEN %s(", plain ? "octet_length" : "strlen"));
    LEAT_TRY(leat_parquet_quote(sql, '"', column, err));
    LEAT_TRY(leat_buf_printf(sql, err, ") > %d THEN %s(", most, plain ? "array_slice" : "left"));
    LEAT_TRY(leat_parquet_quote(sql, '"', column, err));
    LEAT_TRY(leat_buf_printf(sql, err, ", %s%d) ELSE ", plain ? "1, " : "", most));
    LEAT_TRY(leat_parquet_quote(sql, '"', column, err));
    return leat_buf_printf(sql, err, " END");
}

leat_code leat_parquet_add_address(leat_buf *sql, const char *column, int number,
                                   const leat_parquet_facts *facts, leat_error *err) {
    if ((facts->nulls >> number & 1) == 0)
        return leat_parquet_add_text(sql, column, facts->plain, LEAT_REJECT_TEXT_BYTES, err);
    LEAT_TRY(leat_buf_printf(sql, err, ",CAST(CAST("));
    LEAT_TRY(leat_parquet_quote(sql, '"', column, err));
    return leat_buf_printf(sql, err, " AS VARCHAR) AS %s)", facts->plain ? "BLOB" : "VARCHAR");
}

leat_code leat_parquet_context(leat_error *err, leat_code code, const char *path) {
    return leat_error_context(err, code, "\"%s\": cannot be read as Parquet", path);
}

/* ---- what a file has ---- */

typedef struct columns {
    leat_input *input;
    const char *names[LEAT_COLUMNS];
    int name_count;
    char types[LEAT_COLUMNS][LEAT_FIELD_TYPE_BYTES];
    char number_type[48]; /* of the column with the numbers of RIPE Atlas; "": there is none */
    bool seen[LEAT_COLUMNS];
    bool null[LEAT_COLUMNS]; /* of the null type, which DuckDB takes for an integer */
    char declared[LEAT_COLUMNS][24];
    bool bytes[LEAT_COLUMNS]; /* see leat_parquet_column */
    bool long_decimal;        /* there is a column of LEAT_PARQUET_DIGITS_MAX digits and more */
    char list[256];
    leat_buf own;   /* the file's own names of its columns, each ending with a zero */
    int64_t nested; /* elements of the schema that follow and are not columns; -1: the root does */
} columns;

static bool is_name(const char *name, int name_bytes, const char *wanted) {
    return (int)strlen(wanted) == name_bytes && memcmp(wanted, name, (size_t)name_bytes) == 0;
}

/* Columns of the query: name, number of children, whether it is of the null type, what it is
 * declared as, digits of a decimal, whether it is bytes; the elements of the schema in order. */
static leat_code take_element(void *context, const leat_duckdb_value *values, leat_error *err) {
    columns *found = context;
    bool inner = found->nested != 0;
    int name_bytes = (int)values[0].text.size_bytes;
    if (found->nested < 0) { /* its children are the columns */
        found->nested = 0;
        return LEAT_OK;
    }
    found->nested += values[1].number - inner;
    if (inner || memchr(values[0].text.data, 0, (size_t)name_bytes) != NULL) return LEAT_OK;
    found->long_decimal = found->long_decimal || values[4].number > LEAT_PARQUET_DIGITS_MAX;
    for (int k = 0; k < found->name_count; k++) {
        if (!is_name(values[0].text.data, name_bytes, found->names[k])) continue;
        found->null[k] = found->null[k] || values[2].number != 0;
        found->bytes[k] = values[5].number != 0;
        snprintf(found->declared[k], sizeof found->declared[k], "%.*s",
                 (int)values[3].text.size_bytes, values[3].text.data);
    }
    size_t used = strlen(found->list);
    snprintf(found->list + used, sizeof found->list - used, "%s%.*s", used > 0 ? ", " : "",
             name_bytes < 64 ? name_bytes : 64, values[0].text.data);
    LEAT_TRY(leat_buf_append(&found->own, values[0].text.data, name_bytes, err));
    return leat_buf_append(&found->own, "", 1, err);
}

static leat_code read_names(leat_duckdb *db, columns *found, leat_error *err) {
    leat_buf sql = {0};
    found->nested = -1;
    leat_code code =
        leat_buf_printf(&sql, err,
                        "SELECT name, CAST(coalesce(num_children, 0) AS BIGINT), CAST(coalesce("
                        "logical_type LIKE 'Null%%', false) AS BIGINT), " LEAT_PARQUET_DECLARED
                        ", " LEAT_PARQUET_DIGITS ", CAST(type LIKE '%%BYTE_ARRAY' AND "
                        "converted_type IS NULL AND logical_type IS NULL AS BIGINT) "
                        "FROM parquet_schema(");
    if (code == LEAT_OK) code = leat_parquet_path_literal(&sql, found->input->path, err);
    if (code == LEAT_OK) code = leat_buf_append(&sql, ")", 2, err);
    if (code == LEAT_OK)
        code = leat_duckdb_rows(db, (const char *)sql.data, "tiitii", take_element, found, err);
    leat_buf_free(&sql);
    return code;
}

/* The first of the file's own names that equals `name` but for the case, other than the one at
 * `except`; NULL if there is none. */
static const char *find_similar(const columns *found, const char *name, const char *except) {
    const char *begin = (const char *)found->own.data, *end = begin + found->own.size;
    for (const char *at = begin; at < end; at += strlen(at) + 1) {
        if (at != except && strcasecmp(at, name) == 0) return at;
    }
    return NULL;
}

/* DuckDB does not distinguish case: it renames the second of `RTT` and `rtt` to `rtt_1`. */
static leat_code refuse_clash(const columns *found, const char *a, const char *b,
                              const char *wanted, leat_error *err) {
    if (strcmp(a, b) == 0)
        return leat_fail(err, LEAT_ERR_INPUT, "\"%s\" has two columns \"%.100s\"; rename one",
                         found->input->path, a);
    return leat_fail(err, LEAT_ERR_INPUT,
                     "\"%s\": columns \"%.100s\" and \"%.100s\" differ in case only, so \"%.100s\" "
                     "cannot be read reliably; rename one in the file",
                     found->input->path, a, b, wanted);
}

/* Whether DuckDB may give a second column called `name` the name `wanted`: name_1, name_2, ... */
static bool may_become(const char *name, const char *wanted) {
    size_t size = strlen(name);
    if (strncasecmp(name, wanted, size) != 0 || wanted[size] != '_') return false;
    const char *digits = wanted + size + 1;
    return digits[0] != 0 && digits[strspn(digits, "0123456789_")] == 0;
}

/* Which of the wanted columns the file has, by its own names. */
static leat_code judge_names(columns *found, leat_error *err) {
    const char *begin = (const char *)found->own.data, *end = begin + found->own.size;
    for (int k = 0; k < found->name_count; k++) {
        const char *wanted = found->names[k];
        for (const char *at = begin; at < end; at += strlen(at) + 1) {
            bool same = strcmp(at, wanted) == 0;
            found->seen[k] = found->seen[k] || same;
            const char *other = same ? find_similar(found, at, at) : NULL;
            if (other != NULL) return refuse_clash(found, at, other, wanted, err);
        }
        for (const char *at = begin; found->seen[k] && at < end; at += strlen(at) + 1) {
            const char *other = may_become(at, wanted) ? find_similar(found, at, at) : NULL;
            if (other != NULL) return refuse_clash(found, at, other, wanted, err);
        }
    }
    return LEAT_OK;
}

static leat_code take_column(void *context, const leat_duckdb_value *values, leat_error *err) {
    (void)err;
    columns *found = context;
    const char *name = values[0].text.data;
    int name_bytes = (int)values[0].text.size_bytes, type_bytes = (int)values[1].text.size_bytes;
    for (int k = 0; k < found->name_count; k++) {
        if (!found->seen[k] || !is_name(name, name_bytes, found->names[k])) continue;
        snprintf(found->types[k], sizeof found->types[k], "%.*s", type_bytes, values[1].text.data);
    }
    if (is_name(name, name_bytes, LEAT_PARQUET_ATLAS_COLUMN))
        snprintf(found->number_type, sizeof found->number_type, "%.*s", type_bytes,
                 values[1].text.data);
    return LEAT_OK;
}

static bool is_type(const char *type, const char *const *types, int count) {
    for (int i = 0; i < count; i++) {
        if (strcmp(type, types[i]) == 0) return true;
    }
    return false;
}

static const char *const narrow[] = {"TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT"};
static const char *const wide[] = {"BIGINT", "UINTEGER", "UBIGINT", "HUGEINT", "UHUGEINT"};

static bool is_real(const char *type) {
    return strcmp(type, "DOUBLE") == 0 || strcmp(type, "FLOAT") == 0;
}

static leat_parquet_column column_of(const columns *found, int field) {
    return (leat_parquet_column){.path = found->input->path,
                                 .name = found->names[field],
                                 .type = found->types[field],
                                 .declared = found->declared[field],
                                 .number = field,
                                 .bytes = found->bytes[field],
                                 .beside = found->long_decimal};
}

static leat_code wrong_type(const columns *found, int field, const char *accepted,
                            leat_error *err) {
    const leat_parquet_column column = column_of(found, field);
    return leat_parquet_refuse_type(&column, accepted, err);
}

/* Types that DuckDB takes for others, whatever is accepted. */
static leat_code refuse_misread(const columns *found, leat_error *err) {
    for (int k = 0; k < found->name_count; k++) {
        const leat_parquet_column column = column_of(found, k);
        if (leat_parquet_is_misread(&column)) return leat_parquet_refuse_type(&column, "", err);
    }
    return LEAT_OK;
}

/* Names of probes: numbers are their decimal digits. */
static leat_code judge_probe(columns *found, leat_error *err) {
    leat_parquet_facts *facts = &found->input->parquet;
    const char *type = found->types[LEAT_COLUMN_PROBE];
    facts->probe_type = LEAT_PARQUET_PROBE_ABSENT;
    if (found->name_count <= LEAT_COLUMN_PROBE) {
        const char *number = found->number_type;
        if (is_type(number, narrow, 5) || is_type(number, wide, 5) || is_real(number) ||
            strncmp(number, "DECIMAL(", 8) == 0)
            facts->probe_type = LEAT_PARQUET_PROBE_ATLAS;
        if (strcmp(number, "VARCHAR") == 0) facts->probe_type = LEAT_PARQUET_PROBE_ATLAS_TEXT;
        return LEAT_OK;
    }
    if (strcmp(type, "VARCHAR") == 0) facts->probe_type = LEAT_PARQUET_PROBE_TEXT;
    else if (is_type(type, narrow, 5) || is_type(type, wide, 5) || strcmp(type, "UUID") == 0)
        facts->probe_type = LEAT_PARQUET_PROBE_NUMBER;
    else if (is_real(type)) facts->probe_type = LEAT_PARQUET_PROBE_REAL;
    else return wrong_type(found, LEAT_COLUMN_PROBE, "text, a number or a UUID", err);
    return LEAT_OK;
}

static leat_code judge_types(columns *found, leat_error *err) {
    leat_parquet_facts *facts = &found->input->parquet;
    const char *time = found->types[LEAT_COLUMN_TIME];
    facts->time_type = leat_time_type_find(time, (int64_t)strlen(time));
    if (strcmp(time, "FLOAT") == 0)
        return leat_fail(err, LEAT_ERR_INPUT,
                         "\"%s\": column \"%s\" is FLOAT, which holds seconds since 1970 to the "
                         "nearest 128 only; write the times again, as integers or DOUBLE",
                         found->input->path, found->names[LEAT_COLUMN_TIME]);
    if (facts->time_type < 0) {
        return wrong_type(found, LEAT_COLUMN_TIME, "a timestamp, or a number since 1970", err);
    }
    facts->nulls = 0;
    for (int k = 0; k < LEAT_COLUMNS; k++) {
        bool any = k == LEAT_COLUMN_SRC || k == LEAT_COLUMN_DST || k == LEAT_COLUMN_RTT;
        if (any && found->null[k]) facts->nulls |= (uint8_t)(1U << k);
    }
    for (int k = LEAT_COLUMN_SRC; k <= LEAT_COLUMN_DST; k++) {
        if (found->null[k]) continue;
        if (strcmp(found->types[k], "VARCHAR") != 0) return wrong_type(found, k, "text", err);
    }
    const char *version = found->types[LEAT_COLUMN_VERSION];
    if (!found->seen[LEAT_COLUMN_VERSION]) facts->version_type = LEAT_PARQUET_VERSION_ABSENT;
    else if (is_type(version, narrow, 5)) facts->version_type = LEAT_PARQUET_VERSION_NARROW;
    else if (is_type(version, wide, 5)) facts->version_type = LEAT_PARQUET_VERSION_WIDE;
    else if (is_real(version)) facts->version_type = LEAT_PARQUET_VERSION_REAL;
    else return wrong_type(found, LEAT_COLUMN_VERSION, "a number", err);
    facts->rtt_double = strcmp(found->types[LEAT_COLUMN_RTT], "DOUBLE") == 0;
    if (!facts->rtt_double && !found->null[LEAT_COLUMN_RTT] &&
        strcmp(found->types[LEAT_COLUMN_RTT], "FLOAT") != 0) {
        return wrong_type(found, LEAT_COLUMN_RTT, "float or double", err);
    }
    return judge_probe(found, err);
}

static leat_code judge_columns(columns *found, leat_error *err) {
    for (int k = 0; k < found->name_count; k++) {
        if (found->seen[k] || k == LEAT_COLUMN_VERSION) continue;
        return leat_source_missing(found->input->path, found->names, found->name_count, found->seen,
                                   found->list, err);
    }
    LEAT_TRY(refuse_misread(found, err));
    return judge_types(found, err);
}

leat_code leat_parquet_columns(leat_duckdb *db, leat_input *input,
                               const leat_source_options *options, leat_error *err) {
    columns *found = NULL;
    leat_buf sql = {0};
    LEAT_TRY(LEAT_NEW(&found, 1, err));
    found->input = input;
    found->name_count = leat_source_names(&options->columns, found->names);
    const leat_input *one = input;
    leat_code code = read_names(db, found, err);
    if (code != LEAT_OK) code = leat_parquet_context(err, code, input->path);
    if (code == LEAT_OK) code = judge_names(found, err);
    if (code == LEAT_OK)
        code = leat_buf_printf(&sql, err,
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
    leat_buf_free(&found->own);
    leat_free(found);
    return code;
}

#endif
